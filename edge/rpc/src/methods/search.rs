//! Search by the beginning of a name, class, handler or address.

use super::accounts::{digits, lowest, with_prefix};
use crate::{
    App,
    read::{self, Snapshot},
    refusal::{Answer, Asked, Refusal},
};
use axum::{Json, extract::State};
use cowboy_api::{
    Hex,
    model::{self, MAX_SEARCH_RESULTS, SEARCH_CHARACTERS},
};
use cowboy_state::Key;
use cowboy_store::catalog::Word;
use cowboy_system::names::state as registered;
use cowboy_types::Address;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    text: String,
}

pub(crate) async fn find(State(app): State<App>, Asked(search): Asked<Search>) -> Answer<model::SearchResults> {
    let text = search.text.trim();
    if !SEARCH_CHARACTERS.contains(&text.chars().count()) {
        return Err(Refusal::bad("text", format!("give {} to {} letters", SEARCH_CHARACTERS.start(), SEARCH_CHARACTERS.end())));
    }
    let mut results = named(&app, &text.to_lowercase()).await?;
    let view = read::ledger(&app)?;
    for found in view.actors_with(text, 2 * MAX_SEARCH_RESULTS)? {
        let kind = if found.word == Word::Class { "class" } else { "handler" };
        results.push(model::SearchResult { kind: kind.into(), text: found.spelling, address: Hex(found.actor) });
    }
    // Two digits may be the beginning of a word; more of them, or the prefix, are those of an address.
    if let Some(prefix) = digits(text).filter(|digits| digits.len() >= 4) {
        let addresses = with_prefix(&view, &prefix, &lowest(&prefix), MAX_SEARCH_RESULTS)?;
        results.extend(addressed(&app, &addresses).await?);
    }
    Ok(Json(model::SearchResults { results }))
}

/// Registered names that begin with the text.
async fn named(app: &App, text: &str) -> Result<Vec<model::SearchResult>, Refusal> {
    Snapshot::newest(app)
        .ask(|world| {
            let listed = registered::names().list(world, text.as_bytes(), MAX_SEARCH_RESULTS)?;
            let found = listed.iter().filter_map(|name| std::str::from_utf8(name).ok()).filter(|name| name.starts_with(text));
            let found: Vec<&str> = found.collect();
            world.require(&found.iter().map(|name| registered::key(name)).collect::<Vec<Key>>())?;
            let result = |name: &&str| {
                let record = registered::registration(world, name)?;
                Ok(record.map(|record| model::SearchResult { kind: "name".into(), text: (*name).into(), address: Hex(record.actor) }))
            };
            found.iter().filter_map(|name| result(name).transpose()).collect()
        })
        .await
}

/// Addresses as results: actors and accounts.
async fn addressed(app: &App, addresses: &[Address]) -> Result<Vec<model::SearchResult>, Refusal> {
    Snapshot::newest(app)
        .ask(|world| {
            let result = |address: &Address| {
                let kind = if world.actor(*address)?.is_some() { "actor" } else { "account" };
                Ok(model::SearchResult { kind: kind.into(), text: address.to_string(), address: Hex(*address) })
            };
            addresses.iter().map(result).collect()
        })
        .await
}
