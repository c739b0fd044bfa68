//! What always holds of the registry's records: for tests, simulation and fuzzing.

use super::state::{self, Assignment, Holder, NUMBER, Permission};
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use cowboy_state::{Key, Kind};
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;

/// Asserts that every permission and assignment stands in its holder's list and nowhere else, and that its id follows from what it says.
pub fn check<'a>(records: impl Iterator<Item = (&'a Key, &'a Bytes)>) {
    let own: BTreeMap<&[u8], &Bytes> = records
        .filter(|(key, _)| key.kind == Kind::System && key.address == Address::system(NUMBER))
        .map(|(key, body)| (&key.name[..], body))
        .collect();
    let of = |prefix: &'static str| own.iter().filter_map(move |(name, body)| Some((name.strip_prefix(prefix.as_bytes())?, *body)));
    let hash = |name: &[u8]| Hash(name.try_into().expect("an id has 32 bytes"));
    let (mut permissions, mut assignments) = (BTreeMap::new(), BTreeMap::new());
    for (name, body) in of(state::PERMISSION) {
        let record = Permission::decode(body.clone()).expect("a record");
        let id = cowboy_types::permission::record_id(&record.grantee, &record.scope, &record.action, record.parent_id.as_ref());
        assert_eq!(hash(name), id, "a permission stands under its id");
        assert!(permissions.insert(id, record.grantee).is_none());
    }
    for (name, body) in of(state::ASSIGNMENT) {
        let (role, assignee) = name.split_at(32);
        assert_eq!(Assignment::decode(body.clone()).expect("a record").role, hash(role), "an assignment names its role");
        assignments.insert((hash(role), Address(assignee.try_into().expect("an address has 20 bytes"))), ());
    }
    for (name, body) in of(state::HOLDER) {
        let address = Address(name.try_into().expect("an address has 20 bytes"));
        let holder = Holder::decode(body.clone()).expect("a record");
        assert!(!holder.permissions.is_empty() || !holder.roles.is_empty(), "a holder of nothing has no record");
        for id in holder.permissions.iter() {
            assert_eq!(permissions.remove(id), Some(address), "a holder's list names its own permissions, each once");
        }
        for id in holder.roles.iter() {
            assert!(assignments.remove(&(*id, address)).is_some(), "a holder's list names its own roles, each once");
        }
    }
    assert!(permissions.is_empty() && assignments.is_empty(), "everything stands in a list");
}
