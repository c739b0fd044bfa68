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

/// The timers of an actor.
pub(crate) async fn of_actor(State(app): State<App>, Named(address): Named<Address>, Asked(page): Asked<Page>) -> Answer<model::Timers> {
    let (mut state, view) = (Snapshot::newest(&app), ledger(&app)?);
    let mut timers = state
        .ask(|world| {
            // A parameter bounds how many an actor has.
            let ids = Directory::timers_of(address).list(world, &[], usize::MAX)?;
            let ids: Vec<Hash> = ids.iter().filter_map(|id| id.as_ref().try_into().ok().map(Hash)).collect();
            live(&view, world, &ids)
        })
        .await?;
    timers.sort_by_key(|timer| (timer.height, timer.id));
    let total_count = count(timers.len());
    Ok(Json(model::Timers { timers: page.of(timers), total_count }))
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
            Ok((live(&view, world, &ids)?, world.read::<TimerBook>(&keys::timers())?))
        })
        .await?;
    Ok(Json(model::Timers { timers, total_count: book.map_or(0, |book| book.live.get()) }))
}

/// The timers of these names that live.
fn live(view: &View, world: &World, ids: &[Hash]) -> Result<Vec<model::Timer>, Miss> {
    let wanted: Vec<Key> = ids.iter().flat_map(|id| [keys::timer(id), keys::timer_payload(id)]).collect();
    world.require(&wanted)?;
    let mut timers = Vec::with_capacity(ids.len());
    for id in ids {
        let Some(timer) = world.read::<records::Timer>(&keys::timer(id))? else { continue };
        // A timer's payload is its own record, as plain bytes; an empty one has none.
        let payload = world.get(&keys::timer_payload(id))?.cloned().unwrap_or_default();
        let wake = woken(&payload, takes_timers(view, &timer.actor));
        timers.push(model::Timer {
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
        });
    }
    Ok(timers)
}
