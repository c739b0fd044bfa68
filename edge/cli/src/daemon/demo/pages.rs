//! The web pages of a devnet: prices, news and a service's status.

use axum::{
    Json, Router,
    extract::Path,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
    routing::get,
};
use cowboy_types::keccak256;
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Price sources, and how many cents each differs from the true price. The last one lies: a median bears it.
const SOURCES: [(&str, Offset); 5] = [
    ("alpha.example.com", Offset::Cents(-25)),
    ("beta.example.com", Offset::Cents(35)),
    ("gamma.example.com", Offset::Cents(-85)),
    ("delta.example.com", Offset::Cents(0)),
    ("epsilon.example.com", Offset::Lie),
];

/// A page about a company.
const NEWS: &str = "news.example.com";

/// A page that says whether a service is up.
const STATUS: &str = "status.example.com";

/// A page for whoever shows a key.
const LIBRARY: &str = "library.example.com";

/// Every name that is served.
pub(super) const HOSTS: [&str; 8] = [SOURCES[0].0, SOURCES[1].0, SOURCES[2].0, SOURCES[3].0, SOURCES[4].0, NEWS, STATUS, LIBRARY];

/// Cents of a few symbols; others get a price that follows from their name.
const PRICES: [(&str, u64); 4] = [("BTC", 9_731_250), ("CBY", 125), ("ETH", 301_275), ("SOL", 18_440)];

/// Visits after which the service's status changes.
const VISITS_OF_A_STATE: u64 = 3;

#[derive(Clone, Copy)]
enum Offset {
    Cents(i64),
    Lie,
}

/// All pages. A name has only its own: whoever asks another is told that there is no such page.
pub(super) fn router() -> Router {
    let visits = Arc::new(AtomicU64::new(0));
    Router::new()
        .route("/price/{symbol}", get(|headers: HeaderMap, Path(symbol): Path<String>| async move { price(host(&headers), &symbol) }))
        .route("/today", get(|headers: HeaderMap| async move { today(&headers) }))
        .route(
            "/service",
            get(move |headers: HeaderMap| async move {
                if host(&headers) != STATUS {
                    return nothing();
                }
                let visit = visits.fetch_add(1, Ordering::Relaxed);
                if (visit / VISITS_OF_A_STATE).is_multiple_of(2) { "up\n".into_response() } else { "down\n".into_response() }
            }),
        )
        .fallback(|| async { nothing() })
}

const TODAY: &str = "Cowboy Hats sells more than ever.\n85 of 100 analysts say buy, 10 say hold.\n";

const READING: &str = "A horse came to the river, and the river was wide.\n";

fn today(headers: &HeaderMap) -> Response {
    let has_key = headers.get(header::AUTHORIZATION).is_some_and(|key| key.as_bytes().starts_with(b"Bearer "));
    match host(headers) {
        NEWS => TODAY.into_response(),
        LIBRARY if has_key => READING.into_response(),
        LIBRARY => StatusCode::UNAUTHORIZED.into_response(),
        _ => nothing(),
    }
}

/// The name that a request is for, without a port.
fn host(headers: &HeaderMap) -> &str {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    host.split(':').next().unwrap_or_default()
}

fn price(host: &str, symbol: &str) -> Response {
    let Some((_, offset)) = SOURCES.iter().find(|(source, _)| *source == host) else { return nothing() };
    let symbol = symbol.to_ascii_uppercase();
    let cents = match offset {
        Offset::Lie => 99_999_999,
        // Every price is larger than every offset.
        Offset::Cents(offset) => true_price(&symbol).saturating_add_signed(*offset),
    };
    Json(json!({ "symbol": symbol, "price": format!("{}.{:02}", cents / 100, cents % 100), "currency": "USD" })).into_response()
}

/// Cents of a symbol: from the table, or between 1.00 and 1,000.99 by a hash of its name.
fn true_price(symbol: &str) -> u64 {
    let known = PRICES.iter().find(|(name, _)| *name == symbol).map(|(_, cents)| *cents);
    let hash = keccak256(&[b"demo-price:", symbol.as_bytes()]).0;
    known.unwrap_or_else(|| 100 + u64::from(u32::from_be_bytes([0, hash[0], hash[1], hash[2]])) % 100_000)
}

fn nothing() -> Response {
    (StatusCode::NOT_FOUND, Json(json!({ "error": "no such page" }))).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::daemon::examples;
    use std::collections::BTreeSet;

    #[test]
    fn every_host_of_an_example_is_served() {
        let mut named = BTreeSet::new();
        for name in examples::names() {
            let deployment = examples::deployment(name).expect("an example");
            let text = serde_json::to_value(deployment.grants()).expect("grants are JSON").to_string();
            named.extend(text.split('"').filter(|word| word.ends_with(".com")).map(str::to_owned));
        }
        assert_eq!(named, HOSTS.map(str::to_owned).into());
    }

    #[test]
    fn prices_are_above_every_offset() {
        for symbol in ["BTC", "CBY", "A", "", "XYZ"] {
            assert!(true_price(symbol) > 85, "{symbol}");
        }
    }
}
