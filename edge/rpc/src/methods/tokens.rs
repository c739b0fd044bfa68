//! Tokens of the protocol.

use super::{
    Page,
    accounts::{self, Cursor},
};
use crate::{
    App,
    read::{self, Snapshot},
    refusal::{Answer, Asked, Named, Refusal, parse},
};
use axum::{
    Json,
    extract::{Path, State},
};
use cowboy_api::{Hex, HexText, model};
use cowboy_state::{Key, Miss, World};
use cowboy_store::Place;
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
    let amount = amount_of(&app, &id, |world| state::units(world, &state::balance_key(&id, account))).await?;
    Ok(Json(model::TokenBalance { token_id: Hex(id), account: Hex(account), amount }))
}

pub(crate) async fn allowance(
    State(app): State<App>,
    Path((id, owner, spender)): Path<(String, String, String)>,
) -> Answer<model::TokenAllowance> {
    let (id, owner, spender): (Hash, Address, Address) = (parse(&id)?, parse(&owner)?, parse(&spender)?);
    let key = state::allowance_key(&id, owner, spender);
    let amount = amount_of(&app, &id, |world| Ok(state::allowed(world, &key)?.map_or(0, |allowed| allowed.amount))).await?;
    Ok(Json(model::TokenAllowance { token_id: Hex(id), owner: Hex(owner), spender: Hex(spender), amount }))
}

/// A number of this token's; fails where there is no such token.
async fn amount_of(app: &App, id: &Hash, read: impl Fn(&World) -> Result<u128, Miss>) -> Result<String, Refusal> {
    let found = Snapshot::newest(app).ask(|world| state::find(world, id)?.map(|_| read(world)).transpose()).await?;
    found.map(|amount| amount.to_string()).ok_or_else(|| Refusal::missing("token", *id))
}

/// The address or id that a cursor names: where the next page begins.
fn parsed_cursor<T: HexText>(cursor: Option<&str>) -> Result<Option<T>, Refusal> {
    cursor.map(T::parse).transpose().map_err(|_| Refusal::bad("cursor", "give `next_cursor` of the page before"))
}

pub(crate) async fn holders(State(app): State<App>, Named(id): Named<Hash>, Asked(asked): Asked<Cursor>) -> Answer<model::TokenHolders> {
    let from = parsed_cursor(asked.cursor.as_deref())?.unwrap_or(Address::ZERO);
    let limit = super::limit(asked.limit);
    let mut accounts = read::ledger(&app)?.holders(&id, &from, limit.saturating_add(1))?;
    let next_cursor = (accounts.len() > limit).then(|| accounts.pop()).flatten().map(|next| Hex(next).to_string());
    let amounts = Snapshot::newest(&app)
        .ask(|world| {
            let keys: Vec<Key> = accounts.iter().map(|account| state::balance_key(&id, *account)).collect();
            world.require(&keys)?;
            keys.iter().map(|key| state::units(world, key)).collect::<Result<Vec<_>, Miss>>()
        })
        .await?;
    let held = accounts.into_iter().zip(amounts).filter(|(_, amount)| *amount > 0);
    let holders =
        held.map(|(account, amount)| model::TokenBalance { token_id: Hex(id), account: Hex(account), amount: amount.to_string() });
    Ok(Json(model::TokenHolders { holders: holders.collect(), next_cursor }))
}

pub(crate) async fn of_account(
    State(app): State<App>,
    Named(address): Named<Address>,
    Asked(asked): Asked<Cursor>,
) -> Answer<model::AccountTokens> {
    let from = parsed_cursor(asked.cursor.as_deref())?.unwrap_or(Hash::ZERO);
    let limit = super::limit(asked.limit);
    let mut ids = read::ledger(&app)?.tokens_of(&address, &from, limit.saturating_add(1))?;
    let next_cursor = (ids.len() > limit).then(|| ids.pop()).flatten().map(|next| Hex(next).to_string());
    let tokens = Snapshot::newest(&app)
        .ask(|world| {
            let keys = ids.iter().flat_map(|id| [state::token_key(id), state::balance_key(id, address)]);
            world.require(&keys.collect::<Vec<Key>>())?;
            let holding = |id: &Hash| {
                let amount = state::units(world, &state::balance_key(id, address))?;
                let token = if amount > 0 { shown(world, id)? } else { None };
                Ok(token.map(|token| model::TokenHolding { token, amount: amount.to_string() }))
            };
            ids.iter().filter_map(|id| holding(id).transpose()).collect::<Result<Vec<_>, Miss>>()
        })
        .await?;
    Ok(Json(model::AccountTokens { tokens, next_cursor }))
}

pub(crate) async fn events(State(app): State<App>, Named(id): Named<Hash>, Asked(asked): Asked<Cursor>) -> Answer<model::TokenEvents> {
    let before = asked.cursor.as_deref().map(event_cursor).transpose()?;
    let limit = super::limit(asked.limit);
    let view = read::ledger(&app)?;
    let places = view.of_token(&id, before, limit)?;
    let last = places.last().filter(|_| places.len() == limit);
    let next_cursor = last.map(|(place, event)| format!("{}-{}-{event}", place.number, place.index));
    let (mut events, mut found) = (Vec::with_capacity(places.len()), read::Logs::of(&view));
    for (place, index) in places {
        events.extend(found.get(place, index)?);
    }
    Ok(Json(model::TokenEvents { events, next_cursor }))
}

/// The event that a cursor names.
fn event_cursor(cursor: &str) -> Result<(Place, u32), Refusal> {
    let (place, event) = cursor.rsplit_once('-').unwrap_or((cursor, ""));
    let event = event.parse().map_err(|_| Refusal::bad("cursor", "give `next_cursor` of the page before"))?;
    Ok((accounts::place_of(place)?, event))
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
