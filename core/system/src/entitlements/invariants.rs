//! What always holds of the registry's records: for tests, simulation and fuzzing.

use super::state::{self, Assignment, Grantor, Holder, NUMBER, Permission};
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use cowboy_state::{Key, Kind};
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;

/// Asserts that every permission and assignment stands in its holder's list or is counted as its grantor's, and that its id follows from
/// what it says.
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
        assert!(permissions.insert(id, (record.grantee, record.issuer)).is_none());
    }
    for (name, body) in of(state::ASSIGNMENT) {
        let (role, assignee) = name.split_at(32);
        let assignment = Assignment::decode(body.clone()).expect("a record");
        assert_eq!(assignment.role, hash(role), "an assignment names its role");
        assignments.insert((hash(role), Address(assignee.try_into().expect("an address has 20 bytes"))), assignment.issuer);
    }
    for (name, body) in of(state::HOLDER) {
        let address = Address(name.try_into().expect("an address has 20 bytes"));
        let holder = Holder::decode(body.clone()).expect("a record");
        assert!(!holder.permissions.is_empty() || !holder.roles.is_empty(), "a holder of nothing has no record");
        for id in holder.permissions.iter() {
            assert_eq!(
                permissions.remove(id).map(|(holder, _)| holder),
                Some(address),
                "a holder's list names its own permissions, each once"
            );
        }
        for id in holder.roles.iter() {
            assert!(assignments.remove(&(*id, address)).is_some(), "a holder's list names its own roles, each once");
        }
    }
    let mut open: BTreeMap<Address, u64> = BTreeMap::new();
    for issuer in permissions.into_values().map(|(_, issuer)| issuer).chain(assignments.into_values()) {
        *open.entry(issuer).or_default() += 1;
    }
    let counted = of(state::GRANTOR).map(|(name, body)| {
        let grantor = Address(name.try_into().expect("an address has 20 bytes"));
        (grantor, Grantor::decode(body.clone()).expect("a record").open.0)
    });
    assert_eq!(counted.collect::<BTreeMap<_, _>>(), open, "what stands in no list is counted as its grantor's");
}
