//! Queries and simulations over committed state.

use bytes::Bytes;
use cowboy_chain::engine::Exception;
use cowboy_chain::query::QueryError;
use cowboy_testkit::chain::{Chain, address, execution, unsigned};
use cowboy_types::error;
use cowboy_types::units::{Cells, Cycles, Price};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_query_reads_and_changes_nothing,
    side_effects_trap_in_queries,
    queries_fail_by_name,
    a_simulation_is_what_happens,
];

/// a query reads committed state, sees no caller, and changes nothing.
#[test]
fn a_query_reads_and_changes_nothing() {
    let mut chain = Chain::new();
    let actor = chain
        .deploy("handler put\n set 'a' 'seven'\nhandler get\n context\n self\n height\n grant 'storage.kv'\n get 'a'\n return $last\n");
    chain.call(actor, "put", b"");
    let state = chain.state.clone();
    let answer = chain.ask(actor, "get", b"", None);
    assert_eq!(answer.result, Ok(Bytes::from_static(b"seven")));
    assert!(answer.cycles_used > Cycles(0));
    assert_eq!(chain.state, state);
}

/// every side effect traps at once, whatever the handler would catch; so does everything outside the table.
#[test]
fn side_effects_trap_in_queries() {
    let calls = [
        ("set 'a' 'b'", "SetState"),
        ("delete 'a'", "DeleteState"),
        ("blob 'a'", "BlobCommit"),
        ("emit 'a' 'b'", "EmitEvent"),
        ("send @3 'x'", "SendMessage"),
        ("call @3 'x' '' 1", "CallActor"),
        ("pay @3 1", "TransferBalance"),
        ("timer 99 'x'", "ScheduleTimer"),
        ("cancel 0x00", "CancelTimer"),
        ("scan 'a'", "ScanStatePrefix"),
        ("random 'a'", "Randomness"),
        ("spawn 'x'", "SpawnActor"),
        ("job 'x'", "SubmitJob"),
        ("owner", "ActorOwner"),
    ];
    let handlers: String =
        calls.iter().enumerate().map(|(place, (call, _))| format!("handler h{place}\n try {call}\n return 'caught'\n")).collect();
    let mut chain = Chain::new();
    let actor = chain.deploy(&handlers);
    for (place, (call, _)) in calls.iter().enumerate() {
        let answer = chain.ask(actor, &format!("h{place}"), b"", None);
        assert!(matches!(answer.result, Err(QueryError::SideEffect { .. })), "{call}: {:?}", answer.result);
    }
}

/// the cycle cap and exceptions have their own names.
#[test]
fn queries_fail_by_name() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler burn\n burn 500000\nhandler raise\n raise\n");
    assert_eq!(chain.ask(actor, "burn", b"", Some(100_000)).result, Err(QueryError::CycleLimit { limit: Cycles(100_000) }));
    assert!(chain.ask(actor, "burn", b"", None).result.is_ok(), "10,000,000 by default");
    let raised = chain.ask(actor, "raise", b"", None).result;
    let Err(QueryError::Failed { abort, exception: Some(Exception { name, .. }) }) = raised else { unreachable!("it raises: {raised:?}") };
    assert_eq!((abort, name.as_str()), (error::HANDLER_RAISED, "ValueError"));
    let nobody = chain.ask(address(3), "get", b"", None).result;
    assert!(matches!(nobody, Err(QueryError::Failed { abort, .. }) if abort == error::ACTOR_NOT_FOUND));
}

/// a simulation says what the transaction will use, and the transaction uses that.
#[test]
fn a_simulation_is_what_happens() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler put\n set 'a' $payload\n emit 'e' 'x'\n return 'ok'\n");
    let mut transaction = unsigned(1, 0, execution(actor, "put", b"abc", 0));
    (transaction.cycles_limit, transaction.cells_limit) = (Cycles(0), Cells(0));
    (transaction.max_fee_per_cycle, transaction.max_fee_per_cell) = (Price(0), Price(0));
    (transaction.max_priority_fee_per_cycle, transaction.max_priority_fee_per_cell) = (Price(0), Price(0));
    let state = chain.state.clone();
    let (tried, trace) = chain.try_out(transaction).result.expect("it has the form of a transaction");
    assert_eq!(chain.state, state);
    assert_eq!(trace.calls.len(), 1);
    let receipt = chain.call(actor, "put", b"abc");
    assert_eq!((tried.cycles_used, tried.cells_used, &tried.return_data), (receipt.cycles_used, receipt.cells_used, &receipt.return_data));
    assert_eq!(tried.events, receipt.events);
}
