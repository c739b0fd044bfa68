//! Keys and what is stored under them.

use bytes::Bytes;
use cowboy_state::{Key, Kind};
use cowboy_types::{Address, blake3};
use proptest::prelude::*;

/// Decision 124, A-88: blake3(kind ‖ vm namespace ‖ address ‖ name).
#[test]
fn a_digest_is_as_defined() {
    let key = Key::storage(Address([3; 20]), &b"name"[..]);
    let expected = blake3(&[&[0x03, 0x00], &[3; 20], b"name"]);
    assert_eq!(key.digest().0, expected.0);
}

/// Numbers of kinds are single and stand for themselves.
#[test]
fn kinds_have_single_numbers() {
    for (number, kind) in Kind::ALL {
        assert_eq!((Kind::from_number(*number), kind.number()), (Some(*kind), *number));
    }
    assert!(Kind::ALL.is_sorted_by(|one, other| one.0 < other.0));
    assert_eq!(Kind::from_number(0xFF), None);
}

fn key() -> impl Strategy<Value = Key> {
    (0..Kind::ALL.len(), any::<[u8; 20]>(), prop::collection::vec(any::<u8>(), 0..80))
        .prop_map(|(kind, address, name)| Key::named(Kind::ALL[kind].1, Address(address), name))
}

proptest! {
    /// What is sealed opens to the same key and body, and nothing shorter does.
    #[test]
    fn a_sealed_record_names_its_key(key in key(), body in prop::collection::vec(any::<u8>(), 0..80)) {
        let sealed = key.seal(&body);
        prop_assert_eq!(Key::open(&sealed), Some((key.clone(), Bytes::from(body))));
        prop_assert_eq!(Key::open(&sealed.slice(..21)), None);
    }

    /// The order of keys is that of their parts.
    #[test]
    fn keys_order_by_their_parts(one in key(), other in key()) {
        let parts = |key: &Key| (key.kind, key.address, key.name.clone());
        prop_assert_eq!(one.cmp(&other), parts(&one).cmp(&parts(&other)));
    }
}
