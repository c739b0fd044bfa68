//! What an actor owes for its storage, and what was pruned of it.

use crate::{
    App,
    read::{Snapshot, ledger},
    refusal::{Answer, Asked, Named, Refusal},
};
use axum::{Json, extract::State};
use cowboy_api::{Hex, model};
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_system::{
    rent_rate,
    storage::{rent, state},
};
use cowboy_types::{Address, Hash, Height};

pub(crate) async fn of_actor(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Rent> {
    let mut state = Snapshot::newest(&app);
    let (params, height) = (state.params(&app.chain.params).await?, state.head.height);
    let found = state.ask(|world| look(world, &params, height, address)).await?;
    found.map(Json).ok_or_else(|| Refusal::missing("actor", address))
}

fn look(world: &World, params: &Params, height: Height, address: Address) -> Result<Option<model::Rent>, Miss> {
    let Some(actor) = world.actor(address)? else { return Ok(None) };
    let account = state::account(world, address)?;
    let dormancy = state::dormancy(world, address)?;
    let rate = rent_rate::current(world, params)?;
    let bytes = if address.is_rent_exempt() { 0 } else { rent::billable(params, &actor) };
    let unpaid = account.as_ref().map_or(0, |account| account.unpaid.get());
    let status = match (&dormancy, unpaid) {
        _ if address.is_rent_exempt() => "exempt",
        (Some(_), _) => "dormant",
        (None, 0) => "paid",
        (None, unpaid) if unpaid < params.rent.grace_epochs => "overdue",
        (None, _) => "eviction_imminent",
    };
    let debt = dormancy.as_ref().map(|dormancy| dormancy.debt).or(account.as_ref().map(|account| account.debt));
    Ok(Some(model::Rent {
        actor: Hex(address),
        state: status.into(),
        size: rent::size(&actor).get(),
        quota: actor.storage_quota.get().max(params.execution.storage_quota_per_actor),
        per_epoch: rent::per_epoch(params, rate, bytes).get(),
        next_epoch: account
            .as_ref()
            .filter(|account| account.next_at != rent::NEVER)
            .map(|account| rent::epoch_of(params, account.next_at)),
        epoch: rent::epoch_of(params, height),
        prepaid: account.as_ref().map_or(0, |account| account.prepaid.get()),
        debt: debt.map_or(0, cowboy_types::Amount::get),
        unpaid,
        bond: account.as_ref().map_or(0, |account| account.bond.get()),
        reserve: rent::reserve(params, rate, bytes).get(),
        missing: dormancy.map_or(0, |dormancy| dormancy.missing.get()),
    }))
}

/// Which of its pieces are missing.
pub(crate) async fn missing(
    State(app): State<App>,
    Named(address): Named<Address>,
    Asked(page): Asked<super::Page>,
) -> Answer<model::MissingChunks> {
    let (first, most) = (super::count(page.offset), page.limit());
    let look = |world: &World| {
        let Some(dormancy) = state::dormancy(world, address)? else { return Ok(None) };
        let numbers = (first..dormancy.chunks.get()).take(most);
        world.require(&numbers.clone().map(|number| state::chunk_key(address, number)).collect::<Vec<_>>())?;
        let chunk = |number| Ok(state::chunk(world, address, number)?.map(|hash| model::MissingChunk { number, hash: Hex(hash) }));
        let chunks = numbers.filter_map(|number| chunk(number).transpose()).collect::<Result<_, Miss>>()?;
        Ok(Some(model::MissingChunks { chunks, total: dormancy.chunks.get() }))
    };
    let found = Snapshot::newest(&app).ask(look).await?;
    found.map(Json).ok_or_else(|| Refusal::missing("dormant actor", address))
}

/// A piece that this node pruned, and keeps.
pub(crate) async fn chunk(State(app): State<App>, Named(hash): Named<Hash>) -> Answer<model::Chunk> {
    let bytes = ledger(&app)?.chunk(&hash)?.ok_or_else(|| Refusal::missing("chunk", hash))?;
    Ok(Json(model::Chunk { hash: Hex(hash), bytes: Hex(bytes) }))
}
