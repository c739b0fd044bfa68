//! What holds between the registry's records.

use super::state::{self, Assignment, Grantor, Holder, NUMBER, Permission, Role};
use crate::records::{Broken, Records, address_of, equal, holds};
use cowboy_types::permission::record_id;
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;

/// The records that stand in no holder's list yet, with their issuers.
#[derive(Default)]
struct Unlisted {
    permissions: BTreeMap<Hash, (Address, Address)>,
    assignments: BTreeMap<(Hash, Address), Address>,
}

/// A permission stands under the id that follows from what it says; every permission and assignment stands in its holder's list once, or is
/// counted as its grantor's; and open permissions are listed.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let mut left = all(records)?;
    for (name, holder) in records.of::<Holder>(NUMBER, state::HOLDER)? {
        let (address, _) = address_of(name)?;
        holds("a holder of nothing has no record", !holder.permissions.is_empty() || !holder.roles.is_empty(), &address)?;
        for id in holder.permissions.iter() {
            let is_own = left.permissions.remove(id).is_some_and(|(grantee, _)| grantee == address);
            holds("a holder's list names its own permissions, each once", is_own, id)?;
        }
        for id in holder.roles.iter() {
            let is_own = left.assignments.remove(&(*id, address)).is_some();
            holds("a holder's list names its own roles, each once", is_own, id)?;
        }
    }
    let mut places: Vec<Vec<u8>> = left.permissions.iter().map(|(id, (grantee, _))| [&grantee.0[..], &id.0].concat()).collect();
    places.sort_unstable();
    let listed: Vec<Vec<u8>> = records.names(state::open()).iter().map(|name| name.to_vec()).collect();
    equal("permissions that stand in no holder's list are listed as open", &listed, &places)?;
    let mut open: BTreeMap<Address, u64> = BTreeMap::new();
    for issuer in left.permissions.into_values().map(|(_, issuer)| issuer).chain(left.assignments.into_values()) {
        *open.entry(issuer).or_default() += 1;
    }
    let mut counted = BTreeMap::new();
    for (name, grantor) in records.of::<Grantor>(NUMBER, state::GRANTOR)? {
        counted.insert(address_of(name)?.0, grantor.open.0);
    }
    equal("what stands in no holder's list is counted as its grantor's", &counted, &open)?;
    roles(records)
}

/// A role counts the addresses that have it or may accept it; one that has none may be gone. 0x07 has the deposits of roles.
fn roles(records: &Records<'_>) -> Result<(), Broken> {
    let mut assigned: BTreeMap<Hash, u64> = BTreeMap::new();
    for (_, assignment) in records.of::<Assignment>(NUMBER, state::ASSIGNMENT)? {
        *assigned.entry(assignment.role).or_default() += 1;
        holds("an assignment is of a role", records.bytes(&state::role(&assignment.role)).is_some(), &assignment.role)?;
    }
    let mut counted = BTreeMap::new();
    for (name, count) in records.of::<Count>(NUMBER, state::ASSIGNED)? {
        counted.insert(Hash(name.try_into().unwrap_or_default()), count.0);
    }
    equal("a role counts its assignments", &counted, &assigned)?;
    let deposits: u128 = records.of::<Role>(NUMBER, state::ROLE)?.iter().map(|(_, role)| u128::from(role.deposit.0)).sum();
    records.covers("0x07 has the deposits of roles", Address::system(NUMBER), deposits)
}

fn all(records: &Records<'_>) -> Result<Unlisted, Broken> {
    let mut all = Unlisted::default();
    for (name, record) in records.of::<Permission>(NUMBER, state::PERMISSION)? {
        let id = record_id(&record.grantee, &record.scope, &record.action, record.parent_id.as_ref());
        equal("a permission stands under its id", &name, &&id.0[..])?;
        all.permissions.insert(id, (record.grantee, record.issuer));
    }
    for (name, assignment) in records.of::<Assignment>(NUMBER, state::ASSIGNMENT)? {
        let (role, assignee) = name.split_at(name.len().saturating_sub(20));
        equal("an assignment names its role", &&assignment.role.0[..], &role)?;
        all.assignments.insert((assignment.role, address_of(assignee)?.0), assignment.issuer);
    }
    Ok(all)
}
