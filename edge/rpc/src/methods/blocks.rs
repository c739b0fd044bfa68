//! Blocks.

use super::Page;
use crate::{
    App, read,
    refusal::{Answer, Asked, Refusal, Segment},
    trace,
};
use axum::{Json, extract::State};
use cowboy_api::{convert, model};
use cowboy_store::ledger::View;
use cowboy_types::Hash;

pub(crate) async fn list(State(app): State<App>, Asked(page): Asked<Page>) -> Answer<model::Blocks> {
    let view = read::ledger(&app)?;
    let tip = view.tip()?.unwrap_or(0);
    let mut blocks = Vec::new();
    for number in page.of((1..=tip).rev()) {
        let receipts = view.receipts(number)?.len();
        blocks.push(convert::block_summary(&read::block(&view, number)?, receipts));
    }
    Ok(Json(model::Blocks { blocks, total_count: tip }))
}

pub(crate) async fn block(State(app): State<App>, Segment(id): Segment) -> Answer<model::Block> {
    let view = read::ledger(&app)?;
    let number = number_of(&view, &id)?;
    let block = read::block(&view, number)?;
    let receipts = view.receipts(number)?;
    Ok(Json(convert::block(&block, &receipts, view.certificate(number)?, |id| trace::of(&app, id))))
}

/// The number of the block that this names: a height, a hash or `latest`.
fn number_of(view: &View, id: &str) -> Result<u64, Refusal> {
    if id == "latest" {
        return view.tip()?.ok_or_else(|| Refusal::missing("block", "latest"));
    }
    if let Ok(height) = id.parse::<u64>() {
        return read::number_at(view, height);
    }
    let hash: Hash = id.parse().map_err(|_| {
        Refusal::bad("block", format!("{} is no height, no hash, and not `latest`", id.chars().take(100).collect::<String>()))
    })?;
    view.number_of(&hash)?.ok_or_else(|| Refusal::missing("block", hash))
}
