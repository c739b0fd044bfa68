//! Blocks.

use super::limit;
use crate::{
    App, read,
    refusal::{Answer, Asked, Refusal, Segment},
    trace,
};
use axum::{Json, extract::State};
use commonware_codec::EncodeSize as _;
use cowboy_api::{consensus::Agreement, convert, model};
use cowboy_store::View;
use cowboy_types::Hash;
use serde::Deserialize;

/// Bytes of blocks after which a page ends.
pub(super) const PAGE_BYTES: usize = model::BLOCK_PAGE_MIB * 1024 * 1024;

/// The most blocks without receipts, or left out by `offset`, that one request for busy blocks steps over.
const MAX_STEPS: usize = 10_000;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BlockPage {
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    before: Option<u64>,
    #[serde(default)]
    busy: bool,
}

pub(crate) async fn list(State(app): State<App>, Asked(page): Asked<BlockPage>) -> Answer<model::Blocks> {
    let view = read::ledger(&app)?;
    let (oldest, tip) = (read::oldest(&view)?, view.tip()?.unwrap_or(0));
    let end = match page.before {
        Some(height) if height <= app.node.head().height.get() => read::first_from(&view, height)?.min(tip.saturating_add(1)),
        _ => tip.saturating_add(1),
    };
    let limit = limit(page.limit);
    let numbers = match page.busy {
        true => busy(&view, end, page.offset, limit)?,
        false => (oldest..end).rev().skip(page.offset).take(limit).collect(),
    };
    let (mut blocks, mut bytes) = (Vec::with_capacity(numbers.len()), 0usize);
    for number in numbers {
        let block = read::block(&view, number)?;
        bytes = bytes.saturating_add(block.encode_size());
        blocks.push(convert::block_summary(&block, view.receipt_count(number)?));
        if bytes > PAGE_BYTES {
            break;
        }
    }
    Ok(Json(model::Blocks { blocks, total_count: tip.saturating_add(1).saturating_sub(oldest) }))
}

/// The newest blocks below `end` that have a receipt.
fn busy(view: &View, mut end: u64, offset: usize, limit: usize) -> Result<Vec<u64>, Refusal> {
    let mut numbers = Vec::new();
    for _ in 0..offset.saturating_add(limit).min(MAX_STEPS) {
        let Some(number) = view.busy_before(end)? else { break };
        numbers.push(number);
        end = number;
    }
    Ok(numbers.into_iter().skip(offset).collect())
}

pub(crate) async fn block(State(app): State<App>, Segment(id): Segment) -> Answer<model::Block> {
    let view = read::ledger(&app)?;
    let number = number_of(&view, &id)?;
    let block = read::block(&view, number)?;
    let receipts = view.receipts(number)?;
    let agreement = agreement(&view, number)?;
    Ok(Json(convert::block(&block, &receipts, agreement, |id| trace::of(&app, &view, id).brief())))
}

/// What the ledger has of the validators' agreement on a block. A damaged neighbour does not keep a block from being shown.
fn agreement(view: &View, number: u64) -> Result<Agreement, Refusal> {
    let header = |number| view.header(number).ok().flatten();
    let finalized_by = view.certificate_from(number).ok().flatten();
    Ok(Agreement {
        certificate: view.certificate(number)?,
        finalized_by: finalized_by.and_then(|(last, _)| header(last)).map(|header| header.height().get()),
        child: number.checked_add(1).and_then(header),
    })
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
        Refusal::bad("block", format!("{} is neither a height, a hash nor `latest`", id.chars().take(100).collect::<String>()))
    })?;
    view.number_of(&hash)?.ok_or_else(|| Refusal::missing("block", hash))
}
