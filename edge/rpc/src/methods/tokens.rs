//! Tokens of the protocol.

use super::Page;
use crate::{
    App,
    read::Snapshot,
    refusal::{Answer, Asked, Named, Refusal, parse},
};
use axum::{
    Json,
    extract::{Path, State},
};
use cowboy_api::{Hex, model};
use cowboy_state::{Key, Miss, World};
use cowboy_system::tokens::state;
use cowboy_types::{Address, Hash};

pub(crate) async fn list(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Tokens> {
    let mut state = Snapshot::newest(&app);
    let (tokens, total_count) = state
        .ask(|world| {
            let names = page.of(state::tokens().list(world, &[], page.end())?);
            let ids: Vec<Hash> = names.iter().filter_map(|name| name[..].try_into().ok().map(Hash)).collect();
            world.require(&ids.iter().map(state::token_key).collect::<Vec<Key>>())?;
            let tokens = ids.iter().filter_map(|id| shown(world, id).transpose()).collect::<Result<Vec<_>, Miss>>()?;
            Ok((tokens, state::tokens().count(world)?))
        })
        .await?;
    Ok(Json(model::Tokens { tokens, total_count }))
}

pub(crate) async fn token(State(app): State<App>, Named(id): Named<Hash>) -> Answer<model::Token> {
    let found = Snapshot::newest(&app).ask(|world| shown(world, &id)).await?;
    found.map(Json).ok_or_else(|| Refusal::missing("token", id))
}

pub(crate) async fn balance(State(app): State<App>, Path((id, account)): Path<(String, String)>) -> Answer<model::TokenBalance> {
    let (id, account): (Hash, Address) = (parse(&id)?, parse(&account)?);
    let amount = units(&app, &id, state::balance_key(&id, account)).await?;
    Ok(Json(model::TokenBalance { token_id: Hex(id), account: Hex(account), amount }))
}

pub(crate) async fn allowance(
    State(app): State<App>,
    Path((id, owner, spender)): Path<(String, String, String)>,
) -> Answer<model::TokenAllowance> {
    let (id, owner, spender): (Hash, Address, Address) = (parse(&id)?, parse(&owner)?, parse(&spender)?);
    let amount = units(&app, &id, state::allowance_key(&id, owner, spender)).await?;
    Ok(Json(model::TokenAllowance { token_id: Hex(id), owner: Hex(owner), spender: Hex(spender), amount }))
}

/// The number under a key of this token; fails where there is no such token.
async fn units(app: &App, id: &Hash, key: Key) -> Result<String, Refusal> {
    let found = Snapshot::newest(app).ask(|world| state::find(world, id)?.map(|_| state::units(world, &key)).transpose()).await?;
    found.map(|amount| amount.to_string()).ok_or_else(|| Refusal::missing("token", *id))
}

fn shown(world: &World, id: &Hash) -> Result<Option<model::Token>, Miss> {
    let Some(token) = state::find(world, id)? else { return Ok(None) };
    Ok(Some(model::Token {
        token_id: Hex(*id),
        name: token.name.to_string(),
        symbol: token.symbol.to_string(),
        decimals: token.decimals,
        owner: Hex(token.owner),
        supply: token.supply.to_string(),
        max_supply: token.max_supply.to_string(),
        hook: token.hook.map(Hex),
        metadata_uri: token.metadata_uri.to_string(),
        created_at: token.created_at.0,
    }))
}
