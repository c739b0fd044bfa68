//! Golden values of everything that is named by a hash. A change here forks the chain.

use cowboy_chain::{message_id, nested_id};
use cowboy_state::records::{Payload, keys};
use cowboy_state::{Directory, Key};
use cowboy_testkit::chain::{Chain, address};
use cowboy_types::instruction::HandlerName;
use cowboy_types::units::Amount;
use cowboy_types::{Address, Hash, keccak256};

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
