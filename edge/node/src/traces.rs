//! Traces as the ledger keeps them: only those that say more than their receipts, as CBOR.

use bytes::Bytes;
use cowboy_chain::{
    Trace,
    engine::Exception,
    input::{CallTrace, Change, SentMessage},
};
use cowboy_state::Key;
use cowboy_store::catalog::Outline;
use cowboy_types::{
    Abort, Address, Amount, Cycles, Hash, Receipt,
    cbor::{self, Value},
};

/// The most bytes of one text; longer ones are cut.
const MAX_TEXT: usize = 16 * 1024;

/// The most lines of a traceback; of longer ones the header and the innermost stay.
const MAX_LINES: usize = 64;

/// The most bytes of an argument; longer ones are left out.
const MAX_PAYLOAD: usize = 64 * 1024;

/// The most handlers and the most messages of one trace; further ones are left out.
const MAX_ROWS: usize = 4_096;

/// The most bytes of the records that a trace names as changed; those beyond it are left out.
const MAX_CHANGED_BYTES: usize = 16 * 1024;

/// The trace of a delivery of which the receipt says everything: one handler, no exception, nothing printed, sent or changed.
pub fn plain(receipt: &Receipt) -> Trace {
    let call = CallTrace {
        depth: 0,
        sender: receipt.sender,
        target: receipt.target,
        handler: receipt.handler.to_string(),
        value: receipt.value,
        cycles_used: receipt.cycles_used,
        abort: receipt.abort.clone(),
        exception: None,
        printed: String::new(),
    };
    Trace {
        id: receipt.id,
        kind: receipt.kind.clone(),
        origin: receipt.origin,
        parent: Hash::ZERO,
        payload: Bytes::new(),
        calls: vec![call],
        sent: Vec::new(),
        changes: Vec::new(),
        sources: Vec::new(),
    }
}

/// The handler whose failure made a delivery fail: its own, or the one that a system actor handed the request on to, as the gateway registry
/// does.
pub fn failing(trace: &Trace) -> Option<&CallTrace> {
    let (own, others) = trace.calls.split_first()?;
    // A system actor that hands a request on has ended, and without a failure: what it called stands beside it, not below.
    let handed = others.first().filter(|call| call.depth == 0 && call.abort.is_some());
    Some(handed.filter(|_| own.abort.is_none() && own.exception.is_none()).unwrap_or(own))
}

/// What the ledger keeps of a block's traces: those that are not [`plain`], each with its receipt's place.
pub fn rows(receipts: &[Receipt], traces: &[Trace]) -> Vec<(u32, Vec<u8>)> {
    let told = (0u32..).zip(receipts.iter().zip(traces));
    told.filter(|(_, (receipt, trace))| **trace != plain(receipt)).map(|(place, (_, trace))| (place, to_bytes(trace))).collect()
}

fn to_bytes(trace: &Trace) -> Vec<u8> {
    let value = Value::Array(vec![
        Value::Bytes(trace.parent.0.to_vec()),
        Value::Bytes(if trace.payload.len() > MAX_PAYLOAD { Vec::new() } else { trace.payload.to_vec() }),
        Value::Array(trace.calls.iter().take(MAX_ROWS).map(call_value).collect()),
        Value::Array(trace.sent.iter().take(MAX_ROWS).map(sent_value).collect()),
        Value::Array(short(&trace.changes).map(change_value).collect()),
    ]);
    value.encode()
}

/// What the ledger keeps of the sources that actors got in a block. Those that a transaction deploys stand in it.
pub fn outlines(receipts: &[Receipt], traces: &[Trace]) -> Vec<Outline> {
    let of_delivery = |(receipt, trace): (&Receipt, &Trace)| {
        let own = trace.sources.iter().filter(|one| receipt.created != Some(one.actor));
        own.map(|one| Outline::of(one.actor, &String::from_utf8_lossy(&one.source))).collect::<Vec<_>>()
    };
    receipts.iter().zip(traces).flat_map(of_delivery).collect()
}

/// The first changes whose records have at most [`MAX_CHANGED_BYTES`] together.
fn short(changes: &[Change]) -> impl Iterator<Item = &Change> {
    let mut bytes = 0;
    changes.iter().take_while(move |change| {
        bytes += [&change.before, &change.after].into_iter().flatten().map(Bytes::len).sum::<usize>() + change.key.name.len();
        bytes <= MAX_CHANGED_BYTES
    })
}

/// The trace of a receipt out of a row of the ledger, or `None` where the bytes are none.
pub fn from_bytes(receipt: &Receipt, bytes: &[u8]) -> Option<Trace> {
    let value = cbor::decode(bytes).ok()?;
    // Rows of an older program end before the changes.
    let (head, changes) = items(&value)?.split_at_checked(4)?;
    let [parent, payload, calls, sent] = head else { return None };
    let changes = changes.first().map_or(Some([].as_slice()), items)?;
    Some(Trace {
        parent: Hash(parent.as_bytes()?.try_into().ok()?),
        payload: Bytes::copy_from_slice(payload.as_bytes()?),
        calls: items(calls)?.iter().map(call_of).collect::<Option<_>>()?,
        sent: items(sent)?.iter().map(sent_of).collect::<Option<_>>()?,
        changes: changes.iter().map(change_of).collect::<Option<_>>()?,
        ..plain(receipt)
    })
}

fn call_value(call: &CallTrace) -> Value {
    Value::Array(vec![
        Value::uint(u64::from(call.depth)),
        Value::Bytes(call.sender.0.to_vec()),
        Value::Bytes(call.target.0.to_vec()),
        text(&call.handler),
        Value::uint(call.value.0),
        Value::uint(call.cycles_used.0),
        call.abort.as_ref().map_or(Value::Null, |abort| Value::uint(u64::from(abort.code))),
        call.exception.as_ref().map_or(Value::Null, exception_value),
        text(&call.printed),
    ])
}

fn call_of(value: &Value) -> Option<CallTrace> {
    // Rows of an older program end before the prints.
    let (head, printed) = items(value)?.split_at_checked(8)?;
    let [depth, sender, target, handler, amount, cycles, abort, exception] = head else { return None };
    let printed = printed.first().map_or(Some(""), Value::as_text)?;
    Some(CallTrace {
        depth: u32::try_from(depth.as_u64()?).ok()?,
        sender: address(sender)?,
        target: address(target)?,
        handler: handler.as_text()?.to_owned(),
        value: Amount(amount.as_u64()?),
        cycles_used: Cycles(cycles.as_u64()?),
        abort: abort.as_u64().and_then(|code| u16::try_from(code).ok()).map(|code| Abort { code }),
        exception: exception_of(exception),
        printed: printed.to_owned(),
    })
}

fn exception_value(exception: &Exception) -> Value {
    let outer = exception.traceback.len().saturating_sub(MAX_LINES);
    let header = (outer > 0).then(|| text("Traceback (most recent call last):"));
    let cut = outer + usize::from(outer > 0);
    let lines = header.into_iter().chain(exception.traceback.iter().skip(cut).map(|line| text(line))).collect();
    Value::Array(vec![text(&exception.name), text(&exception.message), Value::Array(lines)])
}

fn exception_of(value: &Value) -> Option<Exception> {
    let [name, message, lines] = items(value)? else { return None };
    let traceback = items(lines)?.iter().map(|line| line.as_text().map(str::to_owned)).collect::<Option<_>>()?;
    Some(Exception { name: name.as_text()?.to_owned(), message: message.as_text()?.to_owned(), traceback })
}

fn sent_value(sent: &SentMessage) -> Value {
    Value::Array(vec![
        Value::Bytes(sent.receipt.0.to_vec()),
        Value::Bytes(sent.id.0.to_vec()),
        Value::Bytes(sent.target.0.to_vec()),
        text(&sent.handler),
        Value::uint(sent.value.0),
    ])
}

fn sent_of(value: &Value) -> Option<SentMessage> {
    let [receipt, id, target, handler, amount] = items(value)? else { return None };
    Some(SentMessage {
        receipt: Hash(receipt.as_bytes()?.try_into().ok()?),
        id: Hash(id.as_bytes()?.try_into().ok()?),
        target: address(target)?,
        handler: handler.as_text()?.to_owned(),
        value: Amount(amount.as_u64()?),
    })
}

fn change_value(change: &Change) -> Value {
    let record = |bytes: &Option<Bytes>| bytes.as_ref().map_or(Value::Null, |bytes| Value::Bytes(bytes.to_vec()));
    Value::Array(vec![Value::Bytes(change.key.seal(&[]).to_vec()), record(&change.before), record(&change.after)])
}

fn change_of(value: &Value) -> Option<Change> {
    let [key, before, after] = items(value)? else { return None };
    let record = |value: &Value| value.as_bytes().map(Bytes::copy_from_slice);
    let (key, _) = Key::open(&Bytes::copy_from_slice(key.as_bytes()?))?;
    Some(Change { key, before: record(before), after: record(after) })
}

fn items(value: &Value) -> Option<&[Value]> {
    match value {
        Value::Array(items) => Some(items),
        _ => None,
    }
}

fn address(value: &Value) -> Option<Address> {
    Some(Address(value.as_bytes()?.try_into().ok()?))
}

/// The text, cut where it is too long.
fn text(text: &str) -> Value {
    Value::text(&text[..text.floor_char_boundary(MAX_TEXT)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::{receipt::ReceiptKind, wire::Text};

    fn receipt() -> Receipt {
        let (ids, addresses) = ((Hash([10; 32]), Hash([9; 32])), (Address([1; 20]), Address([2; 20])));
        Receipt {
            handler: Text::new("boom").expect("a short name"),
            value: Amount(3),
            cycles_used: Cycles(4),
            abort: Some(cowboy_types::error::OUT_OF_CYCLES),
            ..Receipt::unpaid(ReceiptKind::Message, ids, addresses, Address([1; 20]))
        }
    }

    /// An entry of storage that was not there before and has this many bytes now.
    fn change(name: &'static [u8], size: usize) -> Change {
        Change { key: Key::storage(Address([2; 20]), name), before: None, after: Some(vec![7; size].into()) }
    }

    fn trace() -> Trace {
        let exception = Exception { name: "ValueError".into(), message: "too hot".into(), traceback: vec!["line 7, in boom".into()] };
        let inner =
            CallTrace { depth: 1, abort: None, exception: Some(exception), printed: "n = 5\n".into(), ..plain(&receipt()).calls.remove(0) };
        let sent =
            SentMessage { receipt: Hash([5; 32]), id: Hash([6; 32]), target: Address([7; 20]), handler: "hear".into(), value: Amount(8) };
        let changes = vec![change(b"count", 3)];
        let mut trace =
            Trace { parent: Hash([11; 32]), payload: Bytes::from_static(b"now"), sent: vec![sent], changes, ..plain(&receipt()) };
        trace.calls.push(inner);
        trace
    }

    #[test]
    fn a_trace_comes_back_as_it_was() {
        let trace = trace();
        let bytes = to_bytes(&trace);
        assert_eq!(from_bytes(&receipt(), &bytes), Some(trace));
        assert_eq!(from_bytes(&receipt(), &bytes[1..]), None);
    }

    /// Rows that were written before changes and prints were kept.
    #[test]
    fn a_trace_of_an_older_program_has_no_changes_and_no_prints() {
        let mut trace = trace();
        let Ok(Value::Array(mut parts)) = cbor::decode(&to_bytes(&trace)) else { panic!("a trace is an array") };
        parts.truncate(4);
        let Value::Array(calls) = &mut parts[2] else { panic!("its calls are an array") };
        for call in calls {
            let Value::Array(fields) = call else { panic!("a call is an array") };
            fields.truncate(8);
        }
        trace.changes.clear();
        trace.calls[1].printed.clear();
        assert_eq!(from_bytes(&receipt(), &Value::Array(parts).encode()), Some(trace));
    }

    #[test]
    fn large_changes_are_left_out() {
        let trace = Trace { changes: vec![change(b"a", 10_000), change(b"b", 6_000), change(b"c", 1_000)], ..trace() };
        let kept = from_bytes(&receipt(), &to_bytes(&trace)).expect("it comes back");
        assert_eq!(kept.changes, trace.changes[..2]);
    }

    /// A handler that a system actor handed a request on to stands beside the system actor's; what a handler called and caught does not count.
    #[test]
    fn the_failing_handler_is_found() {
        let found = |trace: &Trace| failing(trace).map(|call| (call.target, call.handler.clone()));
        let call = |target: u8, handler: &str, depth, is_failed: bool| CallTrace {
            depth,
            target: Address([target; 20]),
            handler: handler.into(),
            abort: is_failed.then_some(cowboy_types::error::HANDLER_RAISED),
            ..plain(&receipt()).calls.remove(0)
        };
        let rows: [(&str, Vec<CallTrace>, Option<(u8, &str)>); 5] = [
            ("its own", vec![call(1, "boom", 0, true)], Some((1, "boom"))),
            ("handed on", vec![call(15, "dispatch", 0, false), call(1, "http.request", 0, true)], Some((1, "http.request"))),
            ("called by its own", vec![call(1, "boom", 0, true), call(2, "inner", 1, true)], Some((1, "boom"))),
            ("a source that its own tried to deploy", vec![call(1, "boom", 0, true), call(2, "<module>", 0, true)], Some((1, "boom"))),
            ("nothing ran", vec![], None),
        ];
        for (name, calls, expected) in rows {
            let expected = expected.map(|(target, handler)| (Address([target; 20]), handler.to_owned()));
            assert_eq!(found(&Trace { calls, ..plain(&receipt()) }), expected, "{name}");
        }
    }

    #[test]
    fn only_what_the_receipt_does_not_say_is_kept() {
        let kept = rows(&[receipt(), receipt()], &[plain(&receipt()), trace()]);
        assert_eq!(kept, [(1, to_bytes(&trace()))]);
    }

    #[test]
    fn what_is_too_long_is_cut() {
        let mut trace = trace();
        let exception = trace.calls[1].exception.get_or_insert_default();
        exception.message = "é".repeat(MAX_TEXT);
        exception.traceback = (0..1_000).map(|line| format!("line {line}")).collect();
        let cut = from_bytes(&receipt(), &to_bytes(&trace))
            .and_then(|mut trace| trace.calls.remove(1).exception)
            .expect("the exception is there");
        assert_eq!(cut.message.len(), MAX_TEXT);
        assert_eq!((cut.traceback.len(), cut.traceback.last().map(String::as_str)), (MAX_LINES, Some("line 999")));
    }
}
