//! Timers that wait, of one actor or of all.

use super::{Page, count};
use crate::{
    App,
    read::{Snapshot, ledger},
    refusal::{Answer, Asked, Named},
    trace::takes_timers,
};
use axum::{Json, extract::State};
use cowboy_api::{Hex, convert::woken, model};
use cowboy_state::{
    Directory, Key, Miss, World,
    records::{self, TimerBook, keys},
};
use cowboy_store::View;
use cowboy_types::{Address, Hash};

/// Bytes of payloads with which a page of timers ends. A payload may have a megabyte, and strangers choose how many stand beside each other (decision 704).
const PAGE_BYTES: u64 = 8 * 1024 * 1024;

/// A timer without its payload.
type Bare = (Hash, records::Timer);

/// The timers of an actor.
pub(crate) async fn of_actor(State(app): State<App>, Named(address): Named<Address>, Asked(page): Asked<Page>) -> Answer<model::Timers> {
    let (mut state, view) = (Snapshot::newest(&app), ledger(&app)?);
    let (timers, total_count) = state
        .ask(|world| {
            // A parameter bounds how many an actor has.
            let ids = Directory::timers_of(address).list(world, &[], usize::MAX)?;
            let ids: Vec<Hash> = ids.iter().filter_map(|id| id.as_ref().try_into().ok().map(Hash)).collect();
            let mut timers = live(world, &ids)?;
            timers.sort_by_key(|(id, timer)| (timer.height, *id));
            let total_count = count(timers.len());
            Ok((shown(&view, world, page.of(timers))?, total_count))
        })
        .await?;
    Ok(Json(model::Timers { timers, total_count }))
}

/// All timers, the next to fire first.
pub(crate) async fn all(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Timers> {
    let (mut state, view) = (Snapshot::newest(&app), ledger(&app)?);
    let (timers, book) = state
        .ask(|world| {
            let mut names = Directory::timers().list(world, &[], page.end())?;
            names.extend(Directory::timers_put_off().list(world, &[], page.end())?);
            names.sort_unstable();
            names.truncate(page.end());
            // A name ends with the timer's id.
            let ids: Vec<Hash> = page.of(names).iter().filter_map(|name| name.last_chunk::<32>().map(|id| Hash(*id))).collect();
            Ok((shown(&view, world, live(world, &ids)?)?, world.read::<TimerBook>(&keys::timers())?))
        })
        .await?;
    Ok(Json(model::Timers { timers, total_count: book.map_or(0, |book| book.live.get()) }))
}

/// The timers of these names that live.
fn live(world: &World, ids: &[Hash]) -> Result<Vec<Bare>, Miss> {
    let wanted: Vec<Key> = ids.iter().map(keys::timer).collect();
    world.require(&wanted)?;
    let found = ids.iter().map(|id| Ok(world.read::<records::Timer>(&keys::timer(id))?.map(|timer| (*id, timer))));
    found.filter_map(Result::transpose).collect()
}

/// How many of these payloads a page has room for: one at least.
fn fitting(lengths: impl Iterator<Item = u64>) -> usize {
    let mut left = PAGE_BYTES;
    let fits = |(place, length): &(usize, u64)| {
        let rest = left.checked_sub(*length);
        left = rest.unwrap_or(0);
        rest.is_some() || *place == 0
    };
    lengths.enumerate().take_while(fits).count()
}

/// The first of these timers, as many as a page has room for, with their payloads.
fn shown(view: &View, world: &World, mut timers: Vec<Bare>) -> Result<Vec<model::Timer>, Miss> {
    timers.truncate(fitting(timers.iter().map(|(_, timer)| timer.payload_bytes.get())));
    let wanted: Vec<Key> = timers.iter().map(|(id, _)| keys::timer_payload(id)).collect();
    world.require(&wanted)?;
    let timer = |(id, timer): &Bare| {
        // A timer's payload is its own record, as plain bytes; an empty one has none.
        let payload = world.get(&keys::timer_payload(id))?.cloned().unwrap_or_default();
        let wake = woken(&payload, takes_timers(view, &timer.actor));
        Ok(model::Timer {
            id: Hex(*id),
            actor: Hex(timer.actor),
            height: timer.height.get(),
            every: timer.interval.as_ref().map(|interval| interval.every.get()),
            failures: timer.interval.as_ref().map_or(0, |interval| interval.failures.get()),
            is_paused: timer.interval.as_ref().is_some_and(|interval| interval.is_paused),
            handler: wake.map_or_else(|| timer.handler.to_string(), |wake| wake.handler),
            payload: Hex(payload.to_vec()),
            fee_payer: Hex(timer.fee_payer),
            gas_limit: timer.cycles_limit.get(),
            cells_limit: timer.cells_limit.get(),
            expires_at: timer.expires_at.get(),
        })
    };
    timers.iter().map(timer).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 704: a page of timers has a bound of payloads, and one timer at least, so that lists have an end.
    #[test]
    fn pages_have_a_bound_of_bytes() {
        let most = usize::try_from(PAGE_BYTES).expect("a few megabytes");
        let rows: [(&[u64], usize); 6] = [
            (&[], 0),
            (&[0, 0, 0], 3),
            (&[PAGE_BYTES], 1),
            (&[PAGE_BYTES, 0, 1], 2),
            (&[PAGE_BYTES + 1, 0, 1], 2),
            (&[1, PAGE_BYTES, 1], 1),
        ];
        for (lengths, fit) in rows {
            assert_eq!(fitting(lengths.iter().copied()), fit, "{lengths:?}");
        }
        assert_eq!(fitting(std::iter::repeat_n(1_024, 2 * most)), most / 1_024);
    }
}
