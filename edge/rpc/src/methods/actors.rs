//! Actors: what they are, hold and wait for, and questions to them.

use super::{count, entitlements::granted};
use crate::{
    App,
    limits::Peer,
    read::{self, Snapshot},
    refusal::{Answer, Asked, Body, Named, Refusal},
    trace,
};
use axum::{Json, extract::State};
use base64::{Engine as _, prelude::BASE64_STANDARD};
use cowboy_api::{
    ApiError, Hex, cbor,
    error::{BAD_REQUEST, TIMEOUT},
    model,
};
use cowboy_chain::{
    Query,
    query::{Answer as Answered, At, QUERIES, QueryError, Question},
    resume::run_async,
};
use cowboy_state::{
    Directory, Key, Kind, Miss, World,
    records::{self, keys},
};
use cowboy_system::entitlements::{
    lifecycle::{Standing, Standings},
    state::deprecations,
};
use cowboy_types::{Address, Cycles, Hash, Height, error as aborts};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// How long a question waits for the block it names.
const MIN_BLOCK_PATIENCE: Duration = Duration::from_secs(30);

/// The most events that one answer looks through to count them.
const MAX_COUNTED_LOGS: usize = 100_000;

pub(crate) async fn list(State(app): State<App>, Asked(asked): Asked<super::accounts::Cursor>) -> Answer<model::Actors> {
    let from = asked.cursor.as_deref().map(hex_cursor).transpose()?.unwrap_or_default();
    let limit = super::limit(asked.limit);
    let mut state = Snapshot::newest(&app);
    let mut names = state.ask(|world| Directory::actors().list(world, &from, limit.saturating_add(1))).await?;
    let next_cursor = (names.len() > limit).then(|| names.pop()).flatten().map(|next| Hex(next.to_vec()).to_string());
    let addresses: Vec<Address> = names.iter().filter_map(|name| Some(Address(name.as_ref().try_into().ok()?))).collect();
    let (found, total_count) = state
        .ask(|world| {
            let keys = addresses.iter().flat_map(|address| [Key::of(Kind::Actor, *address), Key::account(*address)]);
            world.require(&keys.collect::<Vec<Key>>())?;
            let row = |address: &Address| Ok(world.actor(*address)?.zip(Some(world.account(*address)?.balance)));
            let rows = addresses.iter().map(row).collect::<Result<Vec<_>, Miss>>()?;
            Ok((rows, Directory::actors().count(world)?))
        })
        .await?;
    let view = read::ledger(&app)?;
    let mut actors = Vec::with_capacity(addresses.len());
    for (address, row) in addresses.into_iter().zip(found) {
        let Some((actor, balance)) = row else { continue };
        actors.push(model::ActorRow {
            address: Hex(address),
            class_name: view.class_of(&address)?,
            owner: Hex(actor.owner),
            created_at: actor.created_at.get(),
            status: status(&actor.status).into(),
            balance: balance.get(),
            storage_bytes: actor.storage_bytes.get(),
            timer_count: actor.timers_live.get(),
        });
    }
    Ok(Json(model::Actors { actors, total_count, next_cursor }))
}

pub(crate) async fn actor(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Actor> {
    let mut state = Snapshot::newest(&app);
    let actor = state.actor(address).await?;
    let params = state.params(&app.chain.params).await?;
    let (account, mailbox, manifest, standings) = state
        .ask(|world| {
            let mailbox = Key::of(Kind::Mailbox, address);
            let manifest = Key::of(Kind::Manifest, address);
            world.require([&Key::account(address), &mailbox, &manifest, &deprecations()])?;
            let standings = Standings::read(world)?;
            Ok((world.account(address)?, world.read::<records::Mailbox>(&mailbox)?, world.get(&manifest)?.cloned(), standings))
        })
        .await?;
    let entries = state.ask(|world| storage_entries(world, address, &[], model::DEFAULT_LIMIT)).await?;
    let handlers = match source(&mut state, &actor).await? {
        Some(source) => cowboy_api::source::handlers(&source),
        None => Vec::new(),
    };
    let quota = if actor.storage_quota.get() == 0 { params.execution.storage_quota_per_actor } else { actor.storage_quota.get() };
    let entitlements = granted(&manifest.unwrap_or_default(), &standings, state.head.height);
    // Whether it runs follows from its manifest at once; its record follows when the removal event is emitted.
    let is_removed = |grant: &model::Entitlement| standings.of(&grant.id, state.head.height) == Standing::Removed;
    let status = if entitlements.iter().any(is_removed) { "non_executable" } else { status(&actor.status) };
    Ok(Json(model::Actor {
        address: Hex(address),
        code_hash: Hex(actor.code_hash),
        balance: account.balance.get(),
        nonce: actor.children.get(),
        mailbox_count: mailbox.map_or(0, |mailbox| mailbox.count.get()),
        timer_count: actor.timers_live.get(),
        storage: entries.into_iter().map(|entry| (entry.key, entry.value)).collect(),
        storage_bytes: actor.storage_bytes.get(),
        storage_quota: quota,
        entitlements,
        owner: Hex(actor.owner),
        creator: Hex(actor.creator),
        created_at: actor.created_at.get(),
        status: status.into(),
        handlers,
    }))
}

fn status(status: &records::ActorStatus) -> &'static str {
    match status {
        records::ActorStatus::Active => "active",
        records::ActorStatus::NonExecutable => "non_executable",
        records::ActorStatus::Dormant => "dormant",
    }
}

/// An actor's canonical source; none for a system actor.
async fn source(state: &mut Snapshot, actor: &records::Actor) -> Result<Option<String>, Refusal> {
    if actor.code_hash == Hash::ZERO {
        return Ok(None);
    }
    let code = state.ask(|world| world.get(&keys::code(&actor.code_hash)).map(|found| found.cloned())).await?;
    Ok(code.map(|code| String::from_utf8_lossy(&code).into_owned()))
}

pub(crate) async fn code(State(app): State<App>, Named(address): Named<Address>) -> Answer<model::Code> {
    let mut state = Snapshot::newest(&app);
    let actor = state.actor(address).await?;
    let source = source(&mut state, &actor).await?.ok_or_else(|| Refusal::missing("code", address))?;
    Ok(Json(model::Code { code_hash: Hex(actor.code_hash), source }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LogPage {
    from: Option<u64>,
    #[serde(default)]
    offset: usize,
    limit: Option<usize>,
    order: Option<String>,
}

pub(crate) async fn logs(State(app): State<App>, Named(address): Named<Address>, Asked(page): Asked<LogPage>) -> Answer<model::Logs> {
    Snapshot::newest(&app).actor(address).await?;
    let view = read::ledger(&app)?;
    let number = page.from.map_or(Ok(0), |height| read::first_from(&view, height))?;
    let mut places = view.of_emitter(&address, cowboy_store::Place { number, index: 0 }, MAX_COUNTED_LOGS)?;
    let total_count = count(places.len());
    match page.order.as_deref() {
        None | Some("asc") => {}
        Some("desc") => places.reverse(),
        Some(other) => return Err(Refusal::bad("order", format!("asc or desc, not {other}"))),
    }
    let (mut logs, mut found) = (Vec::new(), read::Logs::of(&view));
    for (place, index) in places.into_iter().skip(page.offset).take(super::limit(page.limit)) {
        logs.extend(found.get(place, index)?);
    }
    Ok(Json(model::Logs { logs, total_count }))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StorageAsked {
    prefix: Option<String>,
    cursor: Option<String>,
    limit: Option<usize>,
}

pub(crate) async fn storage(
    State(app): State<App>,
    Named(address): Named<Address>,
    Asked(asked): Asked<StorageAsked>,
) -> Answer<model::StoragePage> {
    let mut state = Snapshot::newest(&app);
    state.actor(address).await?;
    let prefix = asked.prefix.as_deref().map(key_bytes).transpose()?.unwrap_or_default();
    let from = match &asked.cursor {
        Some(cursor) => hex_cursor(cursor)?,
        None => prefix.clone(),
    };
    let limit = super::limit(asked.limit);
    let mut entries = state.ask(|world| storage_entries(world, address, &from, limit.saturating_add(1))).await?;
    entries.retain(|entry| entry.key_bytes.starts_with(&prefix));
    let next_cursor = (entries.len() > limit).then(|| entries.pop()).flatten().map(|next| next.key_bytes.to_string());
    Ok(Json(model::StoragePage { entries, next_cursor }))
}

/// A storage key: hex with `0x`, else text.
pub(crate) fn key_bytes(text: &str) -> Result<Vec<u8>, Refusal> {
    if text.starts_with("0x") { crate::refusal::parse(text) } else { Ok(text.as_bytes().to_vec()) }
}

fn hex_cursor(cursor: &str) -> Result<Vec<u8>, Refusal> {
    crate::refusal::parse(cursor).map_err(|_| Refusal::bad("cursor", "give `next_cursor` of the page before"))
}

/// Entries of an actor's storage from a key on, ascending.
fn storage_entries(world: &World, address: Address, from: &[u8], limit: usize) -> Result<Vec<model::StorageEntry>, Miss> {
    let names = Directory::storage(address).list(world, from, limit)?;
    let keys: Vec<Key> = names.iter().map(|name| Key::storage(address, name.clone())).collect();
    world.require(&keys)?;
    let mut entries = Vec::with_capacity(names.len());
    for (name, key) in names.iter().zip(&keys) {
        let value = world.get(key)?.cloned().unwrap_or_default();
        let key = match std::str::from_utf8(name) {
            Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
            _ => format!("0x{}", Hex(name.to_vec()).to_string().trim_start_matches("0x")),
        };
        entries.push(model::StorageEntry {
            key,
            key_bytes: Hex(name.to_vec()),
            value: cbor::decode_or_hex(&value),
            value_bytes: Hex(value.to_vec()),
        });
    }
    Ok(entries)
}

pub(crate) async fn mailbox(
    State(app): State<App>,
    Named(address): Named<Address>,
    Asked(asked): Asked<super::accounts::Cursor>,
) -> Answer<model::MailboxPage> {
    let mut state = Snapshot::newest(&app);
    state.actor(address).await?;
    let from = asked.cursor.as_deref().map(hex_cursor).transpose()?.unwrap_or_default();
    let limit = super::limit(asked.limit);
    let (mut messages, mut places) = state.ask(|world| waiting(world, address, &from, limit.saturating_add(1))).await?;
    let next_cursor = (places.len() > limit).then(|| places.pop()).flatten().map(|next| Hex(next.to_vec()).to_string());
    messages.truncate(limit);
    Ok(Json(model::MailboxPage { messages, next_cursor }))
}

/// Messages that wait for an address, from a place of the queue on.
fn waiting(world: &World, address: Address, from: &[u8], limit: usize) -> Result<(Vec<model::Message>, Vec<bytes::Bytes>), Miss> {
    let places = Directory::mailbox(address).list(world, from, limit)?;
    let keys: Vec<Key> = places.iter().map(|place| Key::named(Kind::Message, Address::ZERO, place.clone())).collect();
    world.require(&keys)?;
    let mut messages = Vec::with_capacity(keys.len());
    for key in &keys {
        let Some(message) = world.read::<records::Message>(key)? else { continue };
        messages.push(model::Message {
            id: Hex(message.id),
            origin: Hex(message.origin),
            sender: Hex(message.sender),
            handler: message.handler.to_string(),
            payload: Hex(message.payload.to_vec()),
            value: message.value.get(),
        });
    }
    Ok((messages, places))
}

pub(crate) async fn read_handler(
    State(app): State<App>,
    Named(address): Named<Address>,
    peer: Peer,
    Body(asked): Body<model::ReadHandler>,
) -> Answer<model::ReadAnswer> {
    let payload = BASE64_STANDARD.decode(&asked.payload).map_err(|error| Refusal::bad("payload", format!("not base64: {error}")))?;
    if let Some(height) = asked.min_block {
        let mut heads = app.node.watch_head();
        let reached = heads.wait_for(|head| head.height.get() >= height);
        if tokio::time::timeout(MIN_BLOCK_PATIENCE, reached).await.is_err() {
            return Err(Refusal::new(TIMEOUT, json!({ "min_block": height, "height": app.node.head().height.get() })));
        }
    }
    let question =
        Question { target: address, handler: asked.selector, payload: payload.into(), cycles_limit: asked.max_cycles.map(Cycles) };
    let (height, answer) = ask(&app, &peer, question).await?;
    Ok(Json(model::ReadAnswer {
        block_height: height.get(),
        result: BASE64_STANDARD.encode(&answer.result),
        cycles_used: answer.cycles_used.get(),
    }))
}

/// What a handler returned.
pub(super) struct Returned {
    /// The bytes.
    pub(super) result: bytes::Bytes,
    /// Cycles it used.
    pub(super) cycles_used: Cycles,
}

/// Runs a question among the client's others. Answers the height whose state it saw, too.
pub(super) async fn ask(app: &App, peer: &Peer, question: Question) -> Result<(Height, Returned), Refusal> {
    let asked = {
        let app = app.clone();
        move |runtime: &tokio::runtime::Handle| runtime.block_on(answer(&app, question))
    };
    let (height, answer) = app.limits.run(peer.client(), asked).await??;
    let result = answer.result.map_err(|error| explain(&error))?;
    Ok((height, Returned { result, cycles_used: answer.cycles_used }))
}

/// Runs a question against the newest state, fetching what it misses: the state of the moment when its turn has come, for older ones are
/// not kept for long. Answers its height too.
async fn answer(app: &App, question: Question) -> Result<(Height, Answered), Refusal> {
    let state = Snapshot::newest(app);
    let answer = run_async(&mut Query::new(at(app, &state)?, question), |keys| state.fetch(keys)).await?;
    Ok((state.head.height, answer))
}

/// The committed block on whose state the execution runs.
pub(crate) fn at(app: &App, state: &Snapshot) -> Result<At, Refusal> {
    Ok(app.node.at(state.head.number)?)
}

/// Why a question has no answer, in the API's words.
fn explain(error: &QueryError) -> ApiError {
    match error {
        QueryError::SideEffect { function } => ApiError {
            what: format!("The handler called {function}, which a query may not."),
            why: QUERIES.to_owned(),
            fix: "Send a transaction with the same arguments (cowboy actor execute), or let the handler read what transactions keep under known keys."
                .to_owned(),
            ..ApiError::of_fault(BAD_REQUEST).with(json!({ "error": "ERR_QUERY_NO_SIDE_EFFECTS", "function": function }))
        },
        QueryError::CycleLimit { limit } => ApiError::of_abort(aborts::OUT_OF_CYCLES)
            .with(json!({ "error": "ERR_QUERY_CYCLE_LIMIT", "limit": limit.get(), "reason": error.to_string() })),
        QueryError::Failed { abort, exception } => {
            let context = exception.as_ref().map_or(serde_json::Value::Null, |exception| json!({ "trace": trace::text(exception) }));
            ApiError::of_abort(abort.clone()).with(context)
        }
    }
}
