//! Accounts.

use crate::{
    App,
    read::{self, Snapshot},
    refusal::{Answer, Asked, Named, Refusal},
    trace,
};
use axum::{Json, extract::State};
use cowboy_api::{convert, model};
use cowboy_state::{Key, records::Account};
use cowboy_store::ledger::Place;
use cowboy_types::Address;
use serde::Deserialize;

pub(crate) async fn account(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Account> {
    let mut state = Snapshot::newest(&app);
    let found: Option<Account> = state.ask(|world| world.read(&Key::account(address))).await?;
    let found = found.ok_or_else(|| Refusal::missing("account", address))?;
    Ok(Json(convert::account(address, found.nonce.get(), found.balance.get())))
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cursor {
    pub(crate) cursor: Option<String>,
    pub(crate) limit: Option<usize>,
}

pub(crate) async fn history(State(app): State<App>, Named(address): Named<Address>, Asked(asked): Asked<Cursor>) -> Answer<model::History> {
    let before = asked.cursor.as_deref().map(parse).transpose()?;
    let limit = super::limit(asked.limit);
    let view = read::ledger(&app)?;
    let places = view.of_account(&address, before, limit)?;
    let mut entries = Vec::with_capacity(places.len());
    for place in &places {
        if let Some(found) = read::at(&view, *place)? {
            entries.push(convert::history_entry(&found.receipt, &found.api_place(), &trace::of(&app, &found.receipt.id)));
        }
    }
    let next_cursor = places.last().filter(|_| places.len() == limit).map(|place| format!("{}-{}", place.number, place.index));
    Ok(Json(model::History { entries, next_cursor }))
}

/// The place that a cursor names.
fn parse(cursor: &str) -> Result<Place, Refusal> {
    let parts = cursor.split_once('-').and_then(|(number, index)| Some(Place { number: number.parse().ok()?, index: index.parse().ok()? }));
    parts.ok_or_else(|| Refusal::bad("cursor", "give `next_cursor` of the page before"))
}
