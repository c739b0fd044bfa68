//! What holds between the records of rent.

use super::types::{Dormancy, RentAccount};
use super::{NUMBER, state};
use crate::records::{Broken, Records, address_of, equal, holds};
use crate::volumes::invariants::escrows;
use cowboy_state::records::Timer;
use cowboy_state::{Directory, Kind};
use cowboy_types::Address;
use std::collections::BTreeMap;

/// A rent account stands in the directory of collections once; 0x0A has what is prepaid, for timers too, bonded and in escrow for volumes; a dormant actor misses as many chunks as
/// it counts.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let (mut places, mut owed) = (Vec::new(), 0);
    for (name, account) in records.of::<RentAccount>(NUMBER, "rent:")? {
        let (actor, _) = address_of(name)?;
        places.push(state::listing(account.next_at, actor));
        owed += u128::from(account.prepaid.0) + u128::from(account.bond.0);
    }
    places.sort_unstable();
    let listed: Vec<Vec<u8>> = records.names(Directory::rents()).iter().map(|name| name.to_vec()).collect();
    equal("every rent account is listed once, by its height", &listed, &places)?;
    owed += escrows(records)?;
    owed +=
        records.of_kind::<Timer>(Kind::Timer)?.iter().filter_map(|(_, timer)| Some(u128::from(timer.rent.as_ref()?.held.0))).sum::<u128>();
    records.covers("0x0A has what is prepaid, for timers too, bonded and in escrow", Address::system(NUMBER), owed)?;
    let mut missing: BTreeMap<Address, u64> = BTreeMap::new();
    for (name, _) in records.named(NUMBER, "pruned:") {
        let (actor, _) = address_of(name)?;
        *missing.entry(actor).or_default() += 1;
    }
    for (name, dormancy) in records.of::<Dormancy>(NUMBER, "dormant:")? {
        let (actor, _) = address_of(name)?;
        let found = missing.remove(&actor).unwrap_or_default();
        equal("a dormant actor counts the chunks that it misses", &dormancy.missing.0, &found)?;
        holds("no more chunks are missing than were pruned", dormancy.missing <= dormancy.chunks, &dormancy)?;
    }
    holds("who misses chunks is dormant", missing.is_empty(), &missing)
}
