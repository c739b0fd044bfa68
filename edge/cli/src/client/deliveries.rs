//! What reaches an actor: messages that wait, deliveries as they happen, and those that failed.

use super::listing;
use super::session::Session;
use cowboy_api::{HexHash, model, traceback};
use cowboy_console::{amount, failure::Failure, output};
use cowboy_system::gateways;
use cowboy_types::Address;
use std::{collections::BTreeSet, time::Duration};

/// Entries of a history that are asked for at once.
const PAGE: usize = 100;

/// The most pages of the gateway registry's history that are asked for.
const MAX_PAGES: usize = 10;

/// The entitlement of an actor that takes requests of gateways.
const INGRESS: &str = "ingress.http";

/// Time between two questions to the node.
const ASK_EVERY: Duration = Duration::from_millis(300);

/// Prints the messages that wait for an actor.
pub(super) async fn messages(session: &Session, address: &Address) -> Result<(), Failure> {
    let model::MailboxPage { messages, .. } = session.client.all(&format!("/actors/{address}/mailbox")).await?;
    let line = |message: &model::Message| {
        let value = if message.value > 0 { format!(", {}", amount::cby(message.value)) } else { String::new() };
        let payload = cowboy_api::cbor::decode(&message.payload.0).map_or_else(|| message.payload.to_string(), |value| value.to_string());
        format!("{} → {}{value}: {payload}\n          {}", message.sender, message.handler, message.id)
    };
    session.output.result(&messages, listing::lines(&messages, line, "no messages wait"));
    Ok(())
}

/// Prints each new delivery to an actor, until there were `count`.
pub(super) async fn watch(session: &Session, address: &Address, count: Option<u64>) -> Result<(), Failure> {
    let mut known: BTreeSet<HexHash> = newest(session, address).await?.entries.into_iter().map(|entry| entry.id).collect();
    session.output.progress(format_args!("watching {address}"));
    let timers: model::Timers = session.client.all(&format!("/timers/{address}")).await?;
    timers.timers.iter().filter(|timer| timer.is_paused).for_each(|timer| session.output.progress(paused(timer)));
    let mut printed = 0;
    loop {
        for entry in unknown(session, address, &known).await? {
            let receipt = session.client.receipt(&entry.id.0).await?;
            match session.output.json {
                true => session.output.document(&receipt),
                false => output::line(delivery(&entry, &receipt)),
            }
            known.insert(entry.id);
            printed += 1;
            if count.is_some_and(|count| printed >= count) {
                return Ok(());
            }
        }
        tokio::time::sleep(ASK_EVERY).await;
    }
}

/// What is said of an interval that does not fire.
fn paused(timer: &model::Timer) -> String {
    let model::Timer { id, handler, failures, .. } = timer;
    format!("the interval {handler} is paused after {failures} failures in a row; resume_interval({id}) in the actor continues it")
}

/// The deliveries to an actor that are not known yet, the oldest first.
async fn unknown(session: &Session, address: &Address, known: &BTreeSet<HexHash>) -> Result<Vec<model::HistoryEntry>, Failure> {
    let mut page = newest(session, address).await?;
    let mut found = Vec::new();
    loop {
        let length = page.entries.len();
        let new: Vec<_> = page.entries.into_iter().take_while(|entry| !known.contains(&entry.id)).collect();
        let is_last = new.len() < length || known.is_empty();
        found.extend(new);
        let Some(next) = page.next_cursor.filter(|_| !is_last) else { break };
        page = session.client.get(&format!("/account/{address}/history?limit={PAGE}&cursor={next}")).await?;
    }
    found.retain(|entry| entry.target.0 == *address);
    found.reverse();
    Ok(found)
}

async fn newest(session: &Session, address: &Address) -> Result<model::History, Failure> {
    Ok(session.client.get(&format!("/account/{address}/history?limit={PAGE}")).await?)
}

/// A delivery in a line, and its events or its exception in further ones.
fn delivery(entry: &model::HistoryEntry, receipt: &model::Receipt) -> String {
    if entry.status == "failed" {
        return failure(entry, receipt);
    }
    let events: String = receipt.events.iter().map(|event| format!("\n          event {} {}", event.name, event.value)).collect();
    let returned = if receipt.return_value.is_null() { String::new() } else { format!(" → {}", receipt.return_value) };
    format!("{:>8}  {} {}{returned}, {} cycles{events}", entry.block_height, entry.kind, receipt.handler, receipt.cycles_used)
}

/// A failed delivery: its exception and line, and its id.
fn failure(entry: &model::HistoryEntry, receipt: &model::Receipt) -> String {
    let trace = receipt.error.as_ref().and_then(|error| error.context["trace"].as_str()).unwrap_or_default().to_owned();
    let exception = traceback::exception(&trace).map(str::to_owned);
    let why = exception.or_else(|| receipt.error.as_ref().map(|error| error.what.clone())).unwrap_or_default();
    let place = traceback::place(&[trace]).map_or_else(String::new, |place| format!(", {place}"));
    // A command's receipt is that of the gateway registry.
    let handler = if entry.target == receipt.target && entry.kind == receipt.kind { &receipt.handler } else { &entry.handler };
    format!("{:>8}  {} {handler} failed: {why}{place}\n          {}", entry.block_height, entry.kind, entry.id)
}

/// Transactions, messages, timers, callbacks and commands of gateways that reached an actor and failed there: the newest last, each with its
/// exception and line.
pub(super) async fn failures(session: &Session, address: &Address, limit: usize) -> Result<(), Failure> {
    let (history, _) = session.client.list::<model::History>(&format!("/account/{address}/history"), None, limit).await?;
    let is_failed = |entry: &model::HistoryEntry| entry.status == "failed" && entry.target.0 == *address;
    let mut failed: Vec<model::HistoryEntry> = history.entries.into_iter().filter(is_failed).collect();
    failed.extend(failed_commands(session, address, limit).await?);
    // Within a block the newest comes first here.
    failed.reverse();
    failed.sort_by_key(|entry| entry.block_height);
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for entry in failed {
        let receipt = session.client.receipt(&entry.id.0).await?;
        lines.push(failure(&entry, &receipt));
        rows.push(receipt);
    }
    session.output.result(&rows, listing::lines(&lines, String::clone, "no failures"));
    Ok(())
}

/// Commands that gateways dispatched to an actor and that failed there, the newest first. Their receipts are those of the gateway registry.
async fn failed_commands(session: &Session, address: &Address, limit: usize) -> Result<Vec<model::HistoryEntry>, Failure> {
    let takes_requests = |actor: model::Actor| actor.entitlements.iter().any(|grant| grant.id == INGRESS);
    if !session.client.actor(address).await.is_ok_and(takes_requests) {
        return Ok(Vec::new());
    }
    let registry = Address::system(gateways::NUMBER);
    let path = format!("/account/{registry}/history?kind=transaction&status=failed&handler={}&limit={PAGE}", gateways::DISPATCH);
    let (mut failed, mut cursor, mut seen) = (Vec::new(), String::new(), 0);
    for _ in 0..MAX_PAGES {
        let history: model::History = session.client.get(&format!("{path}{cursor}")).await?;
        for entry in history.entries {
            seen += 1;
            let Ok(transaction) = session.client.transaction(&entry.id.0).await else { continue };
            if goes_to(&transaction, address) {
                failed.push(model::HistoryEntry { kind: "command".to_owned(), handler: gateways::HANDLER.to_owned(), ..entry });
            }
        }
        match history.next_cursor {
            Some(next) if seen < limit => cursor = format!("&cursor={next}"),
            _ => break,
        }
    }
    Ok(failed)
}

/// Whether a dispatch is for this actor.
fn goes_to(dispatch: &model::Transaction, actor: &Address) -> bool {
    let target = dispatch.instruction.payload_value.as_ref().and_then(|payload| payload["target"].as_str());
    target == Some(actor.to_string().as_str())
}
