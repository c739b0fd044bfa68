//! What holds between the records of validators.

use super::state;
use super::types::{StakeTotal, Validator, ValidatorSet};
use crate::records::{Broken, Records, address_of, ascending, equal, holds};
use cowboy_state::Directory;
use cowboy_types::Address;
use cowboy_types::actors::GOVERNANCE as NUMBER;
use std::collections::BTreeMap;

/// Validators are listed once, by address and by network key; so are faults; all stakes are where stakes stand; the set of the running epoch is ordered,
/// and counted.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let (mut listed, mut keys, mut owed) = (Vec::new(), BTreeMap::new(), 0);
    for (name, validator) in records.of::<Validator>(NUMBER, "validator:")? {
        let (address, _) = address_of(name)?;
        listed.push(address.0.to_vec());
        keys.insert(validator.network_key.0.to_vec(), address);
        owed += u128::from(validator.stake.0);
    }
    let names: Vec<Vec<u8>> = records.names(Directory::validators()).iter().map(|name| name.to_vec()).collect();
    equal("every validator is listed once", &names, &listed)?;
    let mut found = BTreeMap::new();
    for (key, address) in records.named(NUMBER, "validator_key:") {
        found.insert(key.to_vec(), address_of(address)?.0);
    }
    equal::<BTreeMap<Vec<u8>, Address>>("a validator is found by its network key", &found, &keys)?;
    records.covers("all stakes are where stakes stand", state::stakes(), owed)?;
    let kept: Vec<&[u8]> = records.named(NUMBER, state::FAULT).map(|(name, _)| name).collect();
    let places = records.names(state::faults());
    let mut named: Vec<&[u8]> = places.iter().map(|place| place.split_at(place.len().min(8)).1).collect();
    named.sort_unstable();
    equal("every fault is listed once, to be forgotten", &named, &kept)?;
    let Some(total) = records.record::<StakeTotal>(&state::total_key())? else { return Ok(()) };
    let set = records.record::<ValidatorSet>(&state::set_key(total.epoch.0))?;
    let Some(set) = set else { return holds("the set of the running epoch is kept", false, &total) };
    let members: Vec<_> = set.members.iter().map(|member| member.network_key).collect();
    ascending("a set ascends by network key", &members.iter().map(|key| key.0).collect::<Vec<_>>())?;
    let stake: u128 = set.members.iter().map(|member| u128::from(member.stake.0)).sum();
    let counted = (u128::from(total.stake.0), usize::try_from(total.members.0).unwrap_or(usize::MAX));
    equal("the stake of the running set is counted", &counted, &(stake, members.len()))
}
