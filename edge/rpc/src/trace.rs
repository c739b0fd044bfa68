//! What happened inside a delivery, as text for people.

use crate::App;
use bytes::Bytes;
use commonware_codec::DecodeExt as _;
use cowboy_api::{
    Hex,
    convert::Inside,
    model::{Event, StateChange},
    wake::TIMER_HANDLER,
};
use cowboy_chain::{
    Trace,
    engine::Exception,
    input::{CallTrace, Change},
};
use cowboy_node::traces::failing;
use cowboy_state::{Kind, records::Account};
use cowboy_store::View;
use cowboy_types::{Address, Hash, ReceiptKind, error};

/// What Python prints about an exception, without the frames of the SDK.
pub(crate) fn text(exception: &Exception) -> String {
    cowboy_api::traceback::folded(&exception.traceback)
}

/// The traceback of the exception that made a delivery fail, where one did. One of another actor than the receipt's says whose it is.
fn failure(trace: &Trace) -> Option<String> {
    let failing = failing(trace)?;
    let traceback = failing.exception.as_ref().map(text)?;
    let is_own = trace.calls.first().is_some_and(|own| own.target == failing.target);
    Some(if is_own { traceback } else { cowboy_api::traceback::of_handler(&failing.target, &failing.handler, &traceback) })
}

/// What the node knows of a delivery beside its receipt. The ledger is asked only about timers; one view of it serves a whole answer.
pub(crate) fn inside(view: Option<&View>, trace: &Trace) -> Inside {
    let is_own = |call: &CallTrace| view.is_some_and(|view| takes_timers(view, &call.target));
    Inside {
        failure: failure(trace),
        parent: Some(trace.parent).filter(|parent| *parent != Hash::ZERO),
        payload: (trace.kind != ReceiptKind::Transaction).then(|| trace.payload.to_vec()),
        printed: trace.calls.iter().map(|call| call.printed.as_str()).collect(),
        takes_timers: trace.kind == ReceiptKind::Timer && trace.calls.first().is_some_and(is_own),
    }
}

/// Whether an actor defines the handler of timers itself; not where the ledger does not know its source.
pub(crate) fn takes_timers(view: &View, actor: &Address) -> bool {
    view.has_handler(actor, TIMER_HANDLER).unwrap_or(false)
}

/// What the node knows by the receipt's name; nothing where the node no longer knows.
pub(crate) fn of(app: &App, view: &View, receipt: &Hash) -> Inside {
    app.node.trace(view, receipt).ok().flatten().map(|trace| inside(Some(view), &trace)).unwrap_or_default()
}

/// The event of a timer that failed names the handler that the timer's payload names, as the receipt does.
pub(crate) fn name_handler(event: &mut Event, handler: &str) {
    if event.name == "timer.failed" && event.value["handler"] == TIMER_HANDLER {
        event.value["handler"] = handler.into();
    }
}

/// A change as the API shows it: of an account its balance.
pub(crate) fn change(change: &Change) -> StateChange {
    let is_entry = change.key.kind == Kind::Storage;
    let bytes = |record: &Option<Bytes>| record.as_ref().filter(|_| is_entry).map(|bytes| Hex(bytes.to_vec()));
    // An account that does not exist holds nothing.
    let balance = |record: &Option<Bytes>| {
        let account = record.clone().map(Account::decode).transpose().ok()?;
        (!is_entry).then(|| account.map_or(0, |account| account.balance.get()))
    };
    StateChange {
        address: Hex(change.key.address),
        key_bytes: is_entry.then(|| Hex(change.key.name.to_vec())),
        before: bytes(&change.before),
        after: bytes(&change.after),
        balance_before: balance(&change.before),
        balance_after: balance(&change.after),
    }
}

/// What ran, one line a call, indented by depth, and below it what the call printed.
pub(crate) fn calls(trace: &Trace) -> Vec<String> {
    let mut lines: Vec<String> = trace.calls.iter().flat_map(call).collect();
    for message in &trace.sent {
        lines.push(format!("sent {} to {} with {}, delivered as {}", message.handler, message.target, message.value, message.receipt));
    }
    lines
}

fn call(call: &CallTrace) -> Vec<String> {
    let indent = "  ".repeat(usize::try_from(call.depth).unwrap_or(0));
    let outcome = call.abort.as_ref().map_or_else(String::new, |abort| format!(", failed: {}", error::row(abort.code).slug));
    let head =
        format!("{indent}{} → {}.{} value {} cycles {}{outcome}", call.sender, call.target, call.handler, call.value, call.cycles_used);
    [head].into_iter().chain(call.printed.lines().map(|line| format!("{indent}  printed: {line}"))).collect()
}
