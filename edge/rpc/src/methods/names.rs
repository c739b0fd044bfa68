//! Names, and the gateways that serve them.

use super::{Page, accounts::Cursor, limit};
use crate::{
    App,
    read::Snapshot,
    refusal::{Answer, Asked, Named, Refusal},
};
use axum::{
    Json,
    extract::{Path, State},
};
use cowboy_api::{Hex, model};
use cowboy_params::Params;
use cowboy_state::{Key, Miss, World};
use cowboy_system::gateways;
use cowboy_system::names::{
    label, price, state,
    types::{NAME_BYTES, Registration},
};
use cowboy_types::{Address, Height};

pub(crate) async fn list(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Names> {
    let mut snapshot = Snapshot::newest(&app);
    let (height, params) = (snapshot.head.height, snapshot.params(&app.chain.params).await?);
    let (names, total_count) = snapshot
        .ask(|world| {
            let listed = state::names().list(world, &[], page.end())?;
            let rows: Vec<String> = page.of(listed).iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
            let keys: Vec<Key> = rows.iter().flat_map(|name| [state::key(name), state::key(label::root_of(name))]).collect();
            world.require(&keys)?;
            let names: Vec<_> = rows.iter().map(|name| row(world, &params, name, height)).collect::<Result<_, _>>()?;
            Ok((names, state::names().count(world)?))
        })
        .await?;
    let names = names.into_iter().flatten().map(|name| counted(&app, name)).collect();
    Ok(Json(model::Names { names, total_count }))
}

pub(crate) async fn name(State(app): State<App>, Path(name): Path<String>) -> Answer<model::Name> {
    let mut snapshot = Snapshot::newest(&app);
    let (height, params) = (snapshot.head.height, snapshot.params(&app.chain.params).await?);
    label::check(&params, &name).map_err(|abort| Refusal(cowboy_api::ApiError::of_abort(abort)))?;
    let found = snapshot.ask(|world| row(world, &params, &name, height)).await?;
    found.map(|name| Json(counted(&app, name))).ok_or_else(|| Refusal::missing("name", name))
}

pub(crate) async fn of_actor(
    State(app): State<App>,
    Named(address): Named<Address>,
    Asked(asked): Asked<Cursor>,
) -> Answer<model::ActorNames> {
    let (from, limit) = (asked.cursor.unwrap_or_default(), limit(asked.limit));
    if from.len() > NAME_BYTES {
        return Err(Refusal::bad("cursor", "give the `next_cursor` of the previous page"));
    }
    let mut snapshot = Snapshot::newest(&app);
    let (height, params) = (snapshot.head.height, snapshot.params(&app.chain.params).await?);
    let (rows, next_cursor) = snapshot
        .ask(|world| {
            let mut names = state::of_actor(world, address, &from, limit.saturating_add(1))?;
            let next = (names.len() > limit).then(|| names.pop()).flatten();
            let keys: Vec<Key> = names.iter().flat_map(|name| [state::key(name), state::key(label::root_of(name))]).collect();
            world.require(&keys)?;
            let rows: Vec<_> = names.iter().map(|name| row(world, &params, name, height)).collect::<Result<_, _>>()?;
            Ok((rows, next))
        })
        .await?;
    let names = rows.into_iter().flatten().map(|name| counted(&app, name)).collect();
    Ok(Json(model::ActorNames { names, next_cursor }))
}

/// With where the gateway in this process serves it, and what it counted.
fn counted(app: &App, name: model::Name) -> model::Name {
    let Some(sites) = app.sites.get() else { return name };
    let url = (name.is_dns && name.stage == "live").then(|| format!("http://{}.localhost:{}", name.name, sites.port));
    model::Name { url, requests_served: Some((sites.served)(&name.name)), ..name }
}

/// A name's own record, whether it still counts or not.
fn row(world: &World, params: &Params, name: &str, height: Height) -> Result<Option<model::Name>, Miss> {
    let (Some(record), Some(root)) = (state::registration(world, name)?, state::registration(world, label::root_of(name))?) else {
        return Ok(None);
    };
    let expires_at = record.expires_at.min(root.expires_at);
    let is_void = record.root_registered_at != root.registered_at;
    Ok(Some(shown(params, name, &record, expires_at, is_void, height)))
}

fn shown(params: &Params, name: &str, record: &Registration, expires_at: Height, is_void: bool, height: Height) -> model::Name {
    let stage = price::stage(params, expires_at, height.next());
    let fee = price::taken(params, name, stage, params.economics.year);
    model::Name {
        name: name.to_owned(),
        actor_address: Hex(record.actor),
        owner: Hex(record.owner),
        registered_at: record.registered_at.get(),
        expires_at: expires_at.get(),
        subdomain_policy: u64::from(record.policy.number()),
        stage: if is_void { "void" } else { stage.name() }.to_owned(),
        fee: fee.get(),
        is_dns: name.split('.').all(|label| label.len() <= label::DNS_LABEL),
        requests_served: None,
        url: None,
    }
}

pub(crate) async fn gateways(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Gateways> {
    let mut snapshot = Snapshot::newest(&app);
    let (height, params) = (snapshot.head.height, snapshot.params(&app.chain.params).await?);
    let (rows, total_count, pool) = snapshot
        .ask(|world| {
            let listed = gateways::state::listed(world, page.end())?;
            let rows = gateways_of(world, &params, &page.of(listed), height)?;
            Ok((rows, gateways::state::active().count(world)?, world.account(gateways::state::pool())?.balance))
        })
        .await?;
    Ok(Json(model::Gateways { gateways: rows, total_count, pool: pool.get() }))
}

pub(crate) async fn one_gateway(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Gateway> {
    let mut snapshot = Snapshot::newest(&app);
    let (height, params) = (snapshot.head.height, snapshot.params(&app.chain.params).await?);
    let found = snapshot.ask(|world| gateway(world, &params, address, height)).await?;
    found.map(Json).ok_or_else(|| Refusal::missing("gateway", address))
}

/// The gateways at these addresses. All records are asked for at once, also those that only gateways that leave have: one after another, those that are
/// there would be read anew for each that is missing (decision 758).
fn gateways_of(world: &World, params: &Params, addresses: &[Address], height: Height) -> Result<Vec<model::Gateway>, Miss> {
    let of = |address: &Address| [gateways::state::gateway_key(*address), gateways::state::held_key(*address)];
    let keys: Vec<Key> = addresses.iter().flat_map(of).collect();
    world.require(&keys)?;
    addresses.iter().filter_map(|address| gateway(world, params, *address, height).transpose()).collect()
}

fn gateway(world: &World, params: &Params, address: Address, height: Height) -> Result<Option<model::Gateway>, Miss> {
    let Some(record) = gateways::state::gateway(world, address)? else { return Ok(None) };
    let leaving = gateways::state::free_at(world, address, &record)?;
    Ok(Some(model::Gateway {
        address: Hex(address),
        endpoint: record.endpoint.to_string(),
        http_port: u64::from(record.http_port),
        stake_amount: record.stake.get(),
        health: record.health(params, height),
        is_active: record.is_active(params, height),
        last_heartbeat: record.last_heartbeat.get(),
        registered_at: record.registered_at.get(),
        leaving: leaving.map(|until| until.get()),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 758: a list of gateways asks for all their records at once, whether or not they leave.
    #[test]
    fn gateways_are_read_together() {
        let addresses: Vec<Address> = (0..100).map(|number| Address([number; 20])).collect();
        let missed = gateways_of(&World::default(), &Params::GENESIS, &addresses, Height(1)).expect_err("nothing is here yet");
        assert_eq!(missed.0.len(), 200);
    }
}
