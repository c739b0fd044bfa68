//! Sending transactions, trying them out, and looking at what came of them.

use crate::{
    App,
    limits::Peer,
    methods::actors::at,
    read::{self, Found, Snapshot},
    refusal::{Answer, Asked, Named, Raw, Refusal, from_json},
    trace,
};
use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use cowboy_api::{
    ApiError, Hex, convert,
    error::{BODY_TOO_LARGE, BUSY, NOT_FOUND, TIMEOUT},
    model::{self, DEFAULT_TIMEOUT_MS, MAX_SUBMISSION_TRANSACTIONS, MAX_TIMEOUT_MS, SubmitResult},
};
use cowboy_chain::{Invalid, SignedTransaction, Simulation, query::Tried, resume::run_async};
use cowboy_node::{FinalizedBlock, mempool::Refused};
use cowboy_overlay::Pool;
use cowboy_serve::Client;
use cowboy_state::records::keys;
use cowboy_store::View;
use cowboy_types::{Hash, Instruction, ReceiptKind, Transaction, error as aborts};
use serde::Deserialize;
use serde_json::json;
use std::{collections::HashMap, sync::Arc, time::Duration};
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// How often a transaction is forwarded on its way to a validator.
pub(crate) const MAX_HOPS: u8 = 3;

/// Receipts that one answer names as set off by another.
const MAX_DELIVERIES: usize = 1_024;

pub(crate) async fn submit(State(app): State<App>, peer: Peer, headers: HeaderMap, Raw(body): Raw) -> Result<Response, Refusal> {
    let submission = submission(&headers, &body)?;
    Ok(answer(take(&app, peer, submission, MAX_HOPS).await?))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Wait {
    timeout_ms: Option<u64>,
}

pub(crate) async fn submit_wait(
    State(app): State<App>,
    Asked(wait): Asked<Wait>,
    peer: Peer,
    headers: HeaderMap,
    Raw(body): Raw,
) -> Result<Response, Refusal> {
    let timeout = Duration::from_millis(wait.timeout_ms.unwrap_or(DEFAULT_TIMEOUT_MS).min(MAX_TIMEOUT_MS));
    let submission = submission(&headers, &body)?;
    // Listening begins before the first transaction is taken, so that no receipt is missed.
    let blocks = app.node.subscribe();
    let mut results = take(&app, peer, submission, MAX_HOPS).await?;
    receipts(&app, peer.client(), blocks, &mut results, timeout).await?;
    Ok(answer(results))
}

/// The transactions' bytes in a body.
fn submission(headers: &HeaderMap, body: &[u8]) -> Result<Vec<Vec<u8>>, Refusal> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if content_type.starts_with("application/octet-stream") {
        return Ok(vec![body.to_vec()]);
    }
    let submission: model::Submission = from_json(body)?;
    match submission.transactions.len() {
        0 => Err(Refusal::bad("transactions", "give at least one")),
        1..=MAX_SUBMISSION_TRANSACTIONS if has_twice(&submission) => Err(Refusal::bad("transactions", "a transaction is given twice")),
        1..=MAX_SUBMISSION_TRANSACTIONS => Ok(submission.transactions.into_iter().map(|bytes| bytes.0).collect()),
        more => Err(Refusal::new(BODY_TOO_LARGE, json!({ "transactions": more, "most": MAX_SUBMISSION_TRANSACTIONS }))),
    }
}

/// Whether a submission gives a transaction twice: each would wait for its receipt.
fn has_twice(submission: &model::Submission) -> bool {
    let mut all: Vec<&[u8]> = submission.transactions.iter().map(|bytes| &bytes.0[..]).collect();
    all.sort_unstable();
    all.windows(2).any(|pair| pair[0] == pair[1])
}

/// Checks transactions and puts them into the mempool, each for itself. A follower gives them to the node it follows.
///
/// `hops` says how often they may still be forwarded: nodes that follow each other would forward them for ever.
pub(crate) async fn take(app: &App, peer: Peer, submission: Vec<Vec<u8>>, hops: u8) -> Result<Vec<SubmitResult>, Refusal> {
    let decode = move || submission.iter().map(|bytes| SignedTransaction::decode(bytes).map_err(Refused::from)).collect::<Vec<_>>();
    // Recovering a batch's signatures takes milliseconds, for which other requests must not wait.
    let signed = app.limits.check(peer.client(), decode).await?;
    if let Some(upstream) = &app.upstream {
        let hops = hops.checked_sub(1).ok_or(BUSY)?;
        return forward(app, upstream, peer.client(), signed, hops).await;
    }
    let digests: Vec<Option<Hash>> = signed.iter().map(|signed| signed.as_ref().ok().map(|signed| *signed.digest())).collect();
    let answers = app.node.submit_signed(signed).await?;
    let mut results = Vec::with_capacity(answers.len());
    for (answer, digest) in answers.into_iter().zip(digests) {
        results.push(match (answer, digest) {
            (Ok(digest), _) | (Err(Refused::Known), Some(digest)) => taken(digest),
            // Sent again after it was included: as good as taken.
            (Err(Refused::Invalid(Invalid::NonceTooLow { .. })), Some(digest)) if app.node.view()?.place_of(&digest)?.is_some() => {
                taken(digest)
            }
            (Err(refused), _) => SubmitResult { error: Some(explain(&refused)), ..SubmitResult::default() },
        });
    }
    Ok(results)
}

/// Gives the well-formed ones among the transactions to another node, whose results they get. Nobody proposes from the mempool of a
/// node that votes on nothing, so a transaction that waited there would be lost.
async fn forward(
    app: &App,
    upstream: &Pool,
    client: Client,
    signed: Vec<Result<SignedTransaction, Refused>>,
    hops: u8,
) -> Result<Vec<SubmitResult>, Refusal> {
    let _turn = app.forwarded.turn(client).await.ok_or(BUSY)?;
    // What was handed on a moment ago has come back, or is on its way.
    let begun: Vec<&SignedTransaction> = signed.iter().flatten().filter(|signed| app.forwarded.begin(signed.digest())).collect();
    let given: Vec<Vec<u8>> = begun.iter().map(|signed| signed.transaction().to_bytes().to_vec()).collect();
    let asked = if given.is_empty() { Ok(Vec::new()) } else { upstream.submit(given, hops).await };
    let answers = asked.as_deref().unwrap_or_default();
    let mut by_digest: HashMap<Hash, SubmitResult> = HashMap::new();
    for (place, signed) in begun.iter().enumerate() {
        let answer = answers.get(place).cloned().unwrap_or_default();
        if answer.tx_hash.is_none() {
            app.forwarded.failed(signed.digest());
        }
        by_digest.insert(*signed.digest(), answer);
    }
    asked?;
    let result = |signed: &Result<SignedTransaction, Refused>| match signed {
        Ok(signed) => by_digest.get(signed.digest()).cloned().unwrap_or_else(|| taken(*signed.digest())),
        Err(refused) => SubmitResult { error: Some(explain(refused)), ..SubmitResult::default() },
    };
    Ok(signed.iter().map(result).collect())
}

fn taken(digest: Hash) -> SubmitResult {
    SubmitResult { tx_hash: Some(Hex(digest)), ..SubmitResult::default() }
}

/// Why the mempool did not take a transaction.
pub(crate) fn explain(refused: &Refused) -> ApiError {
    let abort = match refused {
        Refused::Invalid(invalid) => return explain_invalid(invalid),
        Refused::Known | Refused::Underpriced { .. } | Refused::Replaced => aborts::REPLACEMENT_UNDERPRICED,
        Refused::FundsOfQueue { .. } => aborts::INSUFFICIENT_FEE,
        Refused::Expired { .. } => aborts::TRANSACTION_EXPIRED,
        Refused::SetApart { .. } => aborts::SENDER_SET_APART,
        Refused::TooSlow { .. } => aborts::TRANSACTION_TOO_SLOW,
        Refused::TooFarAhead { .. } => aborts::NONCE_GAP,
        Refused::SenderFull { .. } | Refused::Full => aborts::POOL_FULL,
    };
    ApiError::of_abort(abort).with(json!({ "reason": refused.to_string() }))
}

/// Why the protocol refuses a transaction.
pub(crate) fn explain_invalid(invalid: &Invalid) -> ApiError {
    ApiError::of_abort(invalid.abort()).with(json!({ "reason": invalid.to_string() }))
}

/// The results as an answer: refused as a whole only where every one is.
fn answer(results: Vec<SubmitResult>) -> Response {
    let refusal =
        if results.iter().any(|result| result.tx_hash.is_some()) { None } else { results.iter().find_map(|result| result.error.as_ref()) };
    let status = refusal.map_or(StatusCode::OK, |error| StatusCode::from_u16(error.status()).unwrap_or(StatusCode::BAD_REQUEST));
    (status, Json(model::Submitted { results })).into_response()
}

/// Waits until every taken transaction has its receipt, or the time is over.
pub(crate) async fn receipts(
    app: &App,
    client: Client,
    mut blocks: Receiver<Arc<FinalizedBlock>>,
    results: &mut [SubmitResult],
    timeout: Duration,
) -> Result<(), Refusal> {
    let deadline = tokio::time::Instant::now() + timeout;
    let mut seen = Seen(app.node.head().number);
    look_up(app, client, results).await?;
    while results.iter().any(is_waiting) {
        match tokio::time::timeout_at(deadline, blocks.recv()).await {
            Ok(Ok(block)) => {
                fill(&block, results);
                if seen.misses(block.block.header().number.0) {
                    look_up(app, client, results).await?;
                }
            }
            // Blocks were missed: the ledger has them.
            Ok(Err(RecvError::Lagged(_))) => look_up(app, client, results).await?,
            Ok(Err(RecvError::Closed)) | Err(_) => break,
        }
        give_up_dropped(app, results);
    }
    if results.iter().any(is_waiting) {
        // A node that is stopped by now says nothing more, and the time is over all the same.
        let _ = look_up(app, client, results).await;
    }
    for result in results.iter_mut().filter(|result| is_waiting(result)) {
        result.error = Some(late(app, result));
    }
    Ok(())
}

/// The wait for a transaction is over: how far the chain is, and what the transaction waits for, if it waits in this node.
fn late(app: &App, result: &SubmitResult) -> ApiError {
    let (chain, height) = (app.node.chain().ok(), app.node.head().height.get());
    let waits = result.tx_hash.and_then(|hash| chain?.mempool.waits(&hash.0));
    ApiError::of_fault(TIMEOUT).with(match waits {
        Some(waits) => json!({ "height": height, "waits": waits.to_string() }),
        None => json!({ "height": height }),
    })
}

fn is_waiting(result: &SubmitResult) -> bool {
    result.tx_hash.is_some() && result.receipt.is_none() && result.error.is_none()
}

/// The newest block that a waiter saw. Of a block that was written to the ledger when its node was stopped, nobody is told when the node starts again: the next
/// one shows that it was missed.
struct Seen(u64);

impl Seen {
    /// Takes note of a block. Whether one before it was not seen.
    fn misses(&mut self, number: u64) -> bool {
        let is_missed = number > self.0.saturating_add(1);
        self.0 = self.0.max(number);
        is_missed
    }
}

/// Takes the receipts that are waited for out of a block.
fn fill(block: &FinalizedBlock, results: &mut [SubmitResult]) {
    let header = block.block.header();
    for result in results.iter_mut().filter(|result| is_waiting(result)) {
        let Some(index) = result.tx_hash.and_then(|hash| block.place_of(&hash.0)) else { continue };
        let Some(receipt) = block.receipts.get(index) else { continue };
        let place = convert::place(header, block.block.hash(), index);
        let inside = block.traces.get(index).map(|trace| trace::inside(None, trace).brief()).unwrap_or_default();
        result.receipt = Some(convert::receipt(receipt, &place, inside, Vec::new()));
    }
}

/// Takes the receipts that are final out of the ledger. Each may name a thousand others, whose names are read on the readers (decision 704). Where those have no room, the results say so:
/// the transactions were taken all the same.
async fn look_up(app: &App, client: Client, results: &mut [SubmitResult]) -> Result<(), Refusal> {
    let hashes: Vec<Hash> = results.iter().filter(|result| is_waiting(result)).filter_map(|result| Some(result.tx_hash?.0)).collect();
    let included = included(app, hashes)?;
    if included.is_empty() {
        return Ok(());
    }
    let (reading, wanted) = (app.clone(), included.clone());
    let read = app.limits.read(client, move || final_receipts(&reading, &wanted)).await;
    let (mut found, refusal) = match read.and_then(|found| found) {
        Ok(found) => (found, None),
        Err(refusal) => (HashMap::new(), Some(refusal.0)),
    };
    for result in results.iter_mut().filter(|result| is_waiting(result)) {
        let Some(hash) = result.tx_hash.map(|hash| hash.0).filter(|hash| included.contains(hash)) else { continue };
        (result.receipt, result.error) = (found.remove(&hash), refusal.clone());
    }
    Ok(())
}

/// Those of these transactions that are in the ledger.
fn included(app: &App, hashes: Vec<Hash>) -> Result<Vec<Hash>, Refusal> {
    let view = read::ledger(app)?;
    let mut included = Vec::new();
    for hash in hashes {
        if view.place_of(&hash)?.is_some() {
            included.push(hash);
        }
    }
    Ok(included)
}

/// The receipts of these transactions.
fn final_receipts(app: &App, hashes: &[Hash]) -> Result<HashMap<Hash, model::Receipt>, Refusal> {
    let (view, mut receipts) = (read::ledger(app)?, HashMap::new());
    for hash in hashes {
        if let Some(found) = read::receipt(&view, hash)? {
            receipts.insert(*hash, full_receipt(&view, &found, trace::of(app, &view, &found.receipt.id).brief())?);
        }
    }
    Ok(receipts)
}

/// Ends the wait for transactions that the pool has dropped since. One of a node that starts again keeps what it has.
fn give_up_dropped(app: &App, results: &mut [SubmitResult]) {
    let Ok(chain) = app.node.chain() else { return };
    for result in results.iter_mut().filter(|result| is_waiting(result)) {
        let dropped = result.tx_hash.and_then(|hash| chain.mempool.dropped(&hash));
        result.error = dropped.map(|reason| explain(&reason));
    }
}

pub(crate) async fn transaction(State(app): State<App>, Named(hash): Named<Hash>) -> Answer<model::Transaction> {
    let view = read::ledger(&app)?;
    if let Some(found) = read::receipt(&view, &hash)? {
        let index = usize::try_from(found.place.index).unwrap_or(usize::MAX);
        let block = read::block(&view, found.place.number)?;
        let sent = block.transactions.get(index).ok_or_else(|| {
            Refusal::new(NOT_FOUND, json!({ "hash": hash.to_string(), "reason": "this names a delivery, not a transaction; it has a receipt only", "origin": found.receipt.origin.to_string() }))
        })?;
        return Ok(Json(convert::transaction(sent, Some((&found.api_place(), &found.receipt)))));
    }
    waiting(&app, &hash)
}

pub(crate) async fn receipt(State(app): State<App>, Named(hash): Named<Hash>) -> Answer<model::Receipt> {
    let view = read::ledger(&app)?;
    // A timer's name stands for the receipt of its fire.
    let fire = view.of_origin(&hash, 1)?.first().copied();
    let named = match (read::receipt(&view, &hash)?, fire) {
        (None, Some(place)) => read::at(&view, place)?,
        (named, _) => named,
    };
    let found = named.map_or_else(|| Err(without_receipt(&app, &hash)), Ok)?;
    let mut inside = trace::of(&app, &view, &found.receipt.id);
    if found.receipt.kind == ReceiptKind::Timer && inside.payload.as_ref().is_none_or(Vec::is_empty) {
        // A fire that nobody could pay ran nothing, and an interval still has its payload.
        let key = keys::timer_payload(&found.receipt.origin);
        let payload = Snapshot::newest(&app).ask(|world| Ok(world.get(&key)?.cloned())).await?;
        inside.payload = payload.map(|payload| payload.to_vec()).or(inside.payload);
        inside.takes_timers = trace::takes_timers(&view, &found.receipt.target);
    }
    Ok(Json(full_receipt(&view, &found, inside)?))
}

/// A receipt with the names of what it set off.
fn full_receipt(view: &View, found: &Found, inside: convert::Inside) -> Result<model::Receipt, Refusal> {
    // What a fire sets off begins with the timer, whose name is not the fire's.
    let begin = if found.receipt.kind == ReceiptKind::Timer { &found.receipt.origin } else { &found.receipt.id };
    let mut deliveries = Vec::new();
    for place in view.of_origin(begin, MAX_DELIVERIES)? {
        deliveries.extend(view.receipt_id(place)?.filter(|id| *id != found.receipt.id));
    }
    let mut receipt = convert::receipt(&found.receipt, &found.api_place(), inside, deliveries);
    receipt.events.iter_mut().for_each(|event| trace::name_handler(event, &receipt.handler));
    Ok(receipt)
}

pub(crate) async fn pending(State(app): State<App>, Named(hash): Named<Hash>) -> Answer<model::Transaction> {
    waiting(&app, &hash)
}

fn waiting(app: &App, hash: &Hash) -> Answer<model::Transaction> {
    let mempool = &app.node.chain()?.mempool;
    let found = mempool.get(hash).ok_or_else(|| without_receipt(app, hash))?;
    let waits = mempool.waits(hash).map(|waits| waits.to_string());
    Ok(Json(model::Transaction { waits, ..convert::transaction(found.transaction(), None) }))
}

/// Why a name has no receipt: its transaction waits, and for what; or was dropped, and why; or nobody sent it.
fn without_receipt(app: &App, hash: &Hash) -> Refusal {
    let chain = match app.node.chain() {
        Ok(chain) => chain,
        Err(stopped) => return stopped.into(),
    };
    let detail = match (chain.mempool.waits(hash), chain.mempool.dropped(hash)) {
        (Some(waits), _) => json!({ "hash": hash.to_string(), "status": "pending", "waits": waits.to_string() }),
        (None, Some(reason)) => json!({ "hash": hash.to_string(), "dropped": reason.to_string() }),
        (None, None) => json!({ "hash": hash.to_string(), "status": "unknown" }),
    };
    Refusal::new(NOT_FOUND, detail)
}

/// Room over what a simulation used, in percent: the state may change before the transaction runs.
const HEADROOM_PERCENT: u64 = 125;

/// Room for each message that the transaction sends: its delivery, and what that sends in turn.
const MESSAGE_CYCLES: u64 = 250_000;

/// The same for cells.
const MESSAGE_CELLS: u64 = 10_000;

/// How many times the present base fee the proposed maximum price is.
const PRICE_FACTOR: u64 = 2;

pub(crate) async fn simulate(State(app): State<App>, peer: Peer, headers: HeaderMap, Raw(body): Raw) -> Answer<model::Simulated> {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let bytes = if content_type.starts_with("application/octet-stream") {
        body.to_vec()
    } else {
        from_json::<model::Simulate>(&body)?.transaction.0
    };
    let transaction = Transaction::from_bytes(&bytes)
        .map_err(|error| Refusal(ApiError::of_abort(aborts::NOT_CANONICAL).with(json!({ "reason": error.to_string() }))))?;
    // What runs no program, a transfer above all, stands neither in the queue of programs nor in that of submissions.
    let is_program = matches!(transaction.instruction, Instruction::Actor(_));
    let (client, runtime) = (peer.client(), tokio::runtime::Handle::current());
    let try_it = {
        let app = app.clone();
        move || runtime.block_on(simulated(&app, transaction))
    };
    let simulated = match is_program {
        true => app.limits.run(client, move |_| try_it()).await??,
        false => app.limits.read(client, try_it).await??,
    };
    Ok(Json(simulated))
}

/// Tries a transaction on the newest state: that of the moment when its turn has come, for older ones are not kept for long.
async fn simulated(app: &App, transaction: Transaction) -> Result<model::Simulated, Refusal> {
    let mut state = Snapshot::newest(app);
    let params = state.params(&app.chain.params).await?;
    let tried = try_out(app, &state, transaction).await?;
    let lane = tried.lane;
    let (receipt, trace) = tried.result.map_err(|invalid| Refusal(explain_invalid(&invalid)))?;
    // Messages draw on what the transaction leaves of its limits, and what they do not use comes back.
    let sent = u64::try_from(trace.sent.len()).unwrap_or(u64::MAX);
    let roomy = |used: u64, message: u64, most: u64| {
        let with_room = u128::from(used) * u128::from(HEADROOM_PERCENT) / 100 + u128::from(sent) * u128::from(message);
        u64::try_from(with_room).unwrap_or(u64::MAX).min(most)
    };
    let place = convert::Place {
        height: state.head.height.get().saturating_add(1),
        block: Hash::ZERO,
        timestamp_ms: state.head.timestamp_ms.get(),
        index: 0,
    };
    let receipt = convert::receipt(&receipt, &place, trace::inside(None, &trace), Vec::new());
    Ok(model::Simulated {
        block_height: state.head.height.get(),
        cycles_limit: roomy(receipt.cycles_used, MESSAGE_CYCLES, lane.budget(&params).get()),
        cells_limit: roomy(receipt.cells_used, MESSAGE_CELLS, params.fees.block_cells),
        max_fee_per_cycle: tried.base_fees.cycle.get().saturating_mul(PRICE_FACTOR),
        max_fee_per_cell: tried.base_fees.cell.get().saturating_mul(PRICE_FACTOR),
        fee: receipt.fee.total,
        trace: trace::calls(&trace),
        receipt,
    })
}

/// Runs a transaction against the state, fetching what it misses.
async fn try_out(app: &App, state: &Snapshot, transaction: Transaction) -> Result<Tried, Refusal> {
    run_async(&mut Simulation::new(at(app, state)?, transaction), |keys| state.fetch(keys)).await
}

pub(crate) async fn changes(State(app): State<App>, Named(hash): Named<Hash>) -> Answer<model::StateChanges> {
    read::receipt(&read::ledger(&app)?, &hash)?.ok_or_else(|| Refusal::missing("receipt", hash))?;
    let changes = app.node.trace(&read::ledger(&app)?, &hash)?.map(|trace| trace.changes).unwrap_or_default();
    Ok(Json(model::StateChanges { changes: changes.iter().map(trace::change).collect() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 768: who waits for a receipt looks into the ledger where the blocks that it is told of do not follow each other.
    #[test]
    fn a_block_without_a_notice_is_missed() {
        let mut seen = Seen(7);
        let rows = [(7, false), (8, false), (10, true), (9, false), (11, false), (u64::MAX, true)];
        for (number, is_missed) in rows {
            assert_eq!(seen.misses(number), is_missed, "block {number}");
        }
    }
}
