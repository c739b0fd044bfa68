//! What holds between the records of timers, which 0x06 keeps.

use crate::records::{Broken, Records, equal, holds};
use crate::timers::{line, listing};
use cowboy_state::records::{Actor, Timer, TimerBook, keys};
use cowboy_state::{Directory, Kind};
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;

/// Every timer is listed once by its height and once for who pays for it; the chain and every actor count their timers; and a timer has the
/// payload that it names.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    let (mut places, mut put_off): (Vec<Vec<u8>>, Vec<Vec<u8>>) = (Vec::new(), Vec::new());
    let mut of: BTreeMap<Address, Vec<Vec<u8>>> = BTreeMap::new();
    let mut bytes: BTreeMap<Address, u64> = BTreeMap::new();
    let timers = records.of_kind::<Timer>(Kind::Timer)?;
    let book = records.record::<TimerBook>(&keys::timers())?;
    equal("the chain counts its timers", &book.as_ref().map_or(0, |book| book.live.0), &u64::try_from(timers.len()).unwrap_or(u64::MAX))?;
    for (key, timer) in &timers {
        let id = Hash(key.name[..].try_into().unwrap_or_default());
        let places = if line(timer) == Directory::timers() { &mut places } else { &mut put_off };
        places.push(listing(timer.height, timer.sequence, &id));
        of.entry(timer.fee_payer).or_default().push(id.0.to_vec());
        *bytes.entry(timer.fee_payer).or_default() += timer.payload_bytes.0;
        let payload = records.bytes(&keys::timer_payload(&id)).map_or(0, bytes::Bytes::len);
        equal("a timer has the payload that it names", &u64::try_from(payload).unwrap_or(u64::MAX), &timer.payload_bytes.0)?;
        holds("a timer's place was taken", book.as_ref().is_some_and(|book| timer.sequence < book.sequence), &id)?;
    }
    for (line, mut places) in [(Directory::timers(), places), (Directory::timers_put_off(), put_off)] {
        places.sort_unstable();
        equal("every timer is listed once by height", &records.names(line), &places.into_iter().map(Into::into).collect())?;
    }
    let payers = records.of_kind::<Actor>(Kind::Actor)?;
    for (key, actor) in &payers {
        let count = of.get(&key.address).map_or(0, Vec::len);
        equal("an actor counts its live timers", &actor.timers_live.0, &u64::try_from(count).unwrap_or(u64::MAX))?;
        let size = bytes.get(&key.address).copied().unwrap_or_default();
        equal("an actor counts the bytes of its timers", &actor.timer_bytes.0, &size)?;
        holds("an account without timers has none listed", count > 0 || records.names(Directory::timers_of(key.address)).is_empty(), key)?;
    }
    for (payer, ids) in of {
        let ids = ids.into_iter().map(Into::into).collect();
        equal("who pays for timers lists them", &records.names(Directory::timers_of(payer)), &ids)?;
    }
    Ok(())
}
