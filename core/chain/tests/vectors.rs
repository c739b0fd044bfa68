//! Golden values of everything that is named by a hash. A change here forks the chain.

use cowboy_chain::{canonical_source, message_id, nested_id};
use cowboy_state::records::{Payload, keys};
use cowboy_state::{Directory, Key};
use cowboy_testkit::chain::{Chain, address};
use cowboy_types::instruction::HandlerName;
use cowboy_types::units::Amount;
use cowboy_types::{Address, Hash, keccak256};

/// Source is normalised before it is hashed. A crate that knows newer characters composes more, so its version of Unicode is a rule (decision 757).
#[test]
fn source_is_normalised_by_one_version_of_unicode() {
    assert_eq!(unicode_normalization::UNICODE_VERSION, (18, 0, 0));
    let rows = [
        ("e\u{301}", "\u{e9}"),
        ("\u{212b}", "\u{c5}"),
        ("\u{958}", "\u{915}\u{93c}"),
        ("\u{105d2}\u{307}", "\u{105c9}"),
        ("\u{113c2}\u{113c2}", "\u{113c5}"),
        ("\u{16d67}\u{16d67}", "\u{16d68}"),
    ];
    for (code, expected) in rows {
        assert_eq!(canonical_source(code.as_bytes()).as_deref(), Some(expected), "{code:?}");
    }
}

#[test]
fn ids_are_golden() {
    let (one, two) = (Address([1; 20]), Address([2; 20]));
    let handler = HandlerName::new("greet").expect("fits");
    let payload = Payload::new(b"hello".to_vec()).expect("fits");
    let rows = [
        ("message", message_id(&one, 7, &two, &handler, Amount(9), &payload).to_string()),
        ("nested", nested_id(&Hash([3; 32]), 5).to_string()),
        ("actor", Address::of_actor(&one, &Hash::ZERO, &keccak256(&[b"pass\n"])).to_string()),
        ("account key", Hash(Key::account(one).digest().0).to_string()),
        ("storage key", Hash(Key::storage(one, &b"k"[..]).digest().0).to_string()),
        ("markets key", Hash(keys::markets().digest().0).to_string()),
        ("timers key", Hash(Directory::timers().first_key().digest().0).to_string()),
        ("bucket", cowboy_chain::genesis::bucket_address("team").to_string()),
        ("test account", address(1).to_string()),
        ("test genesis", Chain::new().config.genesis.to_string()),
    ];
    let shown: String = rows.iter().map(|(name, value)| format!("{name} {value}\n")).collect();
    assert_eq!(shown, include_str!("vectors.txt"), "an id changed");
}
