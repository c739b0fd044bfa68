//! Timers: 003 §5.1a, line by line.

use super::harness::{ALL, Chain, address, execution, parameters, signed};
use cowboy_state::Kind;
use cowboy_state::records::Timer;
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Count, Cycles, Height};
use cowboy_types::{Address, Hash, Receipt, error, keccak256};

fn id_of(receipt: &Receipt) -> Hash {
    Hash(receipt.return_data[..].try_into().expect("a timer's id"))
}

/// An actor that sets timers for heights in its payload's place: `at N`.
fn setter(chain: &mut Chain, lines: &str) -> Address {
    chain.deploy(&format!("handler handle_timer\n emit 'fired' $payload\n{lines}"))
}

/// charged at most, run after transactions, refunded, removed.
#[test]
fn a_timer_fires_at_its_height_and_pays_what_it_used() {
    let mut chain = Chain::new();
    let actor = setter(&mut chain, "handler at\n timer 5 'abc'\n return $last\n");
    let set = chain.call(actor, "at", b"");
    assert_eq!(set.cycles_used, Cycles(21_000 + 20 + 200), "A-121: 200 cycles, not refunded");
    let expected = keccak256(&[&actor.0, &5u64.to_be_bytes(), b"abc", &0u64.to_be_bytes()]);
    assert_eq!(id_of(&set), expected, "decision 128");
    assert!(chain.idle(2).is_empty());
    let before = chain.balance(actor);
    let nonce = chain.nonce(1);
    let outcome = chain.block(vec![signed(1, nonce, execution(actor, "at", b"", 0))]);
    assert_eq!(chain.height, Height(5));
    let fired = &outcome.receipts[1];
    assert_eq!((&fired.kind, fired.origin, fired.sender, fired.target), (&ReceiptKind::Timer, expected, actor, actor));
    assert_eq!(fired.events[0].data[..], *b"abc");
    assert_eq!(fired.fee.reserved, Amount(550_000 * 10_000 * 2), "A-111: gas × cycle fee + cells × cell fee");
    assert_eq!(fired.fee.burned.0 + fired.fee.refunded.0, fired.fee.reserved.0);
    assert_eq!(chain.balance(actor), before - fired.fee.burned.0);
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());
}

/// The refusals of scheduling, in their order., decision 113.
#[test]
fn scheduling_is_refused_by_name() {
    let rows = [
        ("timer_ex 2 'x'", "timer_in_past"),
        ("timer_ex 3 'x'", "timer_in_past"),
        ("timer_ex 100 'x' '' 550001", "timer_limit"),
        ("timer_ex 100 'x' '' 0 550001", "timer_limit"),
        ("timer_ex 100 'x' '' 0 0 99", "timer_expiry"),
        ("timer_ex 100 'x' '' 0 0 3000000", "timer_expiry"),
        ("timer_ex 3000000 'x'", "timer_expiry"),
        ("timer_ex 100 'x' @2", "bad_fee_payer"),
        ("timer_ex 100 'x' 0x0000000000000000000000000000000000000006", "bad_fee_payer"),
        ("timer_ex 100 'x' 0x0000000000000000000000000000000000000000", "bad_fee_payer"),
    ];
    for (line, expected) in rows {
        let mut chain = Chain::new();
        let actor = setter(&mut chain, &format!("handler run\n try {line}\n return $last\n"));
        chain.idle(1);
        let receipt = chain.call(actor, "run", b"");
        assert_eq!(std::str::from_utf8(&receipt.return_data).ok(), Some(expected), "{line}");
    }
    let mut chain = Chain::new();
    let actor = setter(&mut chain, "handler run\n timer_ex 100 'x' @1\n");
    assert!(chain.call(actor, "run", b"").is_success(), "who signed may pay (decision 113)");
    assert_eq!(chain.all::<Timer>(Kind::Timer)[0].1.fee_payer, address(1));
}

/// the parameter's cap refuses, the manifest's ends the handler.
#[test]
fn live_timers_are_capped() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("timers.timers_per_actor", 2)]));
    let script = "handler run\n timer 100 'a'\n timer 101 'a'\n try timer 102 'a'\n return $last\n";
    let actor = chain.deploy(script);
    assert_eq!(chain.call(actor, "run", b"").return_data[..], *b"too_many_timers");
    assert_eq!(chain.actor(actor).timers_live, Count(2));
    let mut chain = Chain::new();
    let actor = chain.deploy_with(script, &[("timer.schedule", &[("max_timers", 2)])], 0);
    assert_eq!(chain.call(actor, "run", b"").abort, Some(error::ENTITLEMENT_QUOTA));
    assert_eq!(cowboy_params::Params::GENESIS.timers.timers_per_actor, 1_024);
}

/// within a height, and over heights, in the order of scheduling.
#[test]
fn timers_are_first_in_first_out() {
    let mut chain = Chain::new();
    let actor = setter(&mut chain, "handler run\n timer 6 'b'\n timer 5 'a'\n timer 6 'c'\n timer 6 'b'\n");
    chain.call(actor, "run", b"");
    let fired: Vec<Vec<u8>> = chain.idle(5).iter().map(|receipt| receipt.events[0].data.to_vec()).collect();
    assert_eq!(fired, [b"a".to_vec(), b"b".to_vec(), b"c".to_vec(), b"b".to_vec()]);
}

/// nobody pays, nothing fires, and it says so.
#[test]
fn an_unfunded_timer_is_removed_with_an_event() {
    let mut chain = Chain::new();
    let actor = chain.deploy_with("handler run\n timer 4 'x'\nhandler handle_timer\n set 'fired' 'x'\n", ALL, 5_000_000_000);
    chain.call(actor, "run", b"");
    let receipts = chain.idle(2);
    assert_eq!((receipts.len(), receipts[0].abort.clone()), (1, Some(error::TIMER_UNFUNDED)));
    assert_eq!(&receipts[0].events[0].name[..], "TimerCancelledInsufficientFunds");
    let data = cowboy_types::cbor::decode(&receipts[0].events[0].data).expect("CBOR");
    assert_eq!(data.get("required").and_then(|value| value.as_u64()), Some(11_000_000_000));
    assert_eq!(data.get("available").and_then(|value| value.as_u64()), Some(5_000_000_000));
    assert_eq!(chain.balance(actor), 5_000_000_000, "nothing was charged");
    assert!(chain.idle(3).is_empty() && chain.stored(actor, "fired").is_none());
}

/// what the lane has no room for fires in the next block, unless its time is over by then.
#[test]
fn timers_past_the_lane_wait_and_expire() {
    let mut chain = Chain::new();
    let many: String = (0..40).map(|number| format!(" timer 4 'n{number:02}'\n")).collect();
    let actor = setter(&mut chain, &format!("handler run\n{many} timer_ex 4 'late' '' 0 0 4\nhandler burn\n burn 540000\n"));
    chain.call(actor, "run", b"");
    chain.idle(1);
    let first = chain.block(vec![]);
    // Each declares 550,000 and uses little: what it leaves goes back to the lane.
    assert_eq!(first.receipts.len(), 41, "unused gas returns to the lane (decision 108)");
    assert!(first.usage.timer.cycles <= Cycles(8_888_890), "A-116");

    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("execution.burst_reserve", 0)]));
    let actor =
        chain.deploy(&format!("handler handle_timer\n burn 540000\n emit 'f' $payload\nhandler run\n{many} timer_ex 4 'late' '' 0 0 4\n"));
    chain.call(actor, "run", b"");
    chain.idle(1);
    let mut fired = Vec::new();
    let mut expired = 0;
    for _ in 0..4 {
        let outcome = chain.block(vec![]);
        assert!(outcome.usage.timer.cycles <= Cycles(8_888_890), "A-116");
        for receipt in outcome.receipts {
            match receipt.abort {
                None => fired.push(receipt.events[0].data.to_vec()),
                Some(abort) => {
                    assert_eq!((abort, &receipt.events[0].name[..]), (error::TIMER_EXPIRED, "TimerExpired"));
                    expired += 1;
                }
            }
        }
    }
    let expected: Vec<Vec<u8>> = (0..40).map(|number| format!("n{number:02}").into_bytes()).collect();
    assert_eq!((fired, expired), (expected, 1), "every live timer fired in its turn; the one that had only its height did not");
}

/// removals have a lane of their own; what does not fit waits, and live timers fire meanwhile.
#[test]
fn a_storm_of_unpaid_timers_does_not_stop_others() {
    let mut chain =
        Chain::with(|genesis| genesis.parameters = parameters(&[("timers.cleanup_cycles", 10_000), ("timers.cleanup_cost", 500)]));
    let lines: String = (0..60).map(|number| format!(" timer 5 'n{number}'\n")).collect();
    let poor = chain.deploy_with(&format!("handler run\n{lines}"), ALL, 1);
    let rich = setter(&mut chain, "handler run\n timer 5 'ok'\n");
    let nonce = chain.nonce(1);
    chain.block(vec![signed(1, nonce, execution(poor, "run", b"", 0)), signed(1, nonce + 1, execution(rich, "run", b"", 0))]);
    chain.idle(1);
    let storm = chain.idle(1);
    assert_eq!(storm.iter().filter(|receipt| receipt.is_success()).count(), 1, "the live one fired");
    assert_eq!(storm.iter().filter(|receipt| !receipt.is_success()).count(), 20, "10,000 cycles of cleanup at 500");
    assert_eq!(chain.idle(1).len(), 20);
    assert_eq!(chain.idle(1).len(), 20);
    assert_eq!(chain.actor(poor).timers_live, Count(0));
}

/// the owner actor cancels and extends; others are refused; what is gone is no error.
#[test]
fn only_the_owner_actor_changes_a_timer() {
    let mut chain = Chain::new();
    let actor = setter(
        &mut chain,
        "handler run\n timer 50 'x'\n return $last\nhandler cancel\n try cancel $payload\n return $last\nhandler extend\n try extend $payload 80\n return $last\n",
    );
    let other =
        chain.deploy("handler cancel\n try cancel $payload\n return $last\nhandler extend\n try extend $payload 80\n return $last\n");
    let id = id_of(&chain.call(actor, "run", b""));
    assert_eq!(chain.call(other, "cancel", &id.0).return_data[..], *b"timer_not_owned");
    assert_eq!(chain.call(other, "extend", &id.0).return_data[..], *b"timer_not_owned");
    assert_eq!(chain.call(actor, "extend", &id.0).return_data[..], *b"None");
    assert_eq!(chain.all::<Timer>(Kind::Timer)[0].1.expires_at, Height(80));
    assert_eq!(chain.call(actor, "cancel", &id.0).return_data[..], *b"None");
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());
    assert_eq!(chain.call(actor, "cancel", &id.0).return_data[..], *b"None", "cancelling again changes nothing");
    assert_eq!(chain.call(actor, "extend", &id.0).return_data[..], *b"timer_not_found");
}

/// instructions 48, 49 and 50, for system deployers, in the system lane.
#[test]
fn governance_changes_timers_and_their_limits() {
    let mut chain = Chain::new();
    let actor =
        setter(&mut chain, "handler run\n timer 50 'x'\n return $last\nhandler more\n try timer_ex 100 'y' '' 300000\n return $last\n");
    let id = id_of(&chain.call(actor, "run", b""));
    let extend = Instruction::System(System::ExtendTimer { timer: id, expires_at: Height(90) });
    assert_eq!(chain.send(1, extend.clone()).abort, Some(error::SYSTEM_UNAUTHORIZED));
    let extended = chain.send(9, extend);
    assert_eq!(&extended.events[0].name[..], "timer.extended_by_governance");
    assert_eq!(chain.all::<Timer>(Kind::Timer)[0].1.expires_at, Height(90));
    let cancel = Instruction::System(System::CancelTimer { timer: id });
    assert_eq!(&chain.send(9, cancel.clone()).events[0].name[..], "timer.cancelled_by_governance");
    let again = chain.send(9, cancel);
    assert!(again.is_success() && again.events.is_empty(), "idempotent");
    let update = |cycles| {
        Instruction::System(System::UpdateTimerConfig {
            ttl_blocks: Count(2_000_000),
            cycles_per_fire: Cycles(cycles),
            cells_per_fire: cowboy_types::Cells(550_000),
            timers_per_actor: Count(10),
            cleanup_cycles: Cycles(5_000_000),
        })
    };
    assert_eq!(chain.send(9, update(1)).abort, Some(error::INVALID_ARGUMENT), "out of range");
    let outcome = {
        let nonce = chain.nonce(9);
        chain.block(vec![signed(9, nonce, update(200_000))])
    };
    assert!(outcome.usage.system.cycles > Cycles(0) && outcome.usage.user.cycles == Cycles(0), "A-59");
    assert_eq!(chain.call(actor, "more", b"").return_data[..], *b"timer_limit", "from the next block on");
}

/// A timer's own messages are paid by what the fire left, by its payer.
#[test]
fn a_timer_may_send() {
    let mut chain = Chain::new();
    let receiver = chain.deploy("handler hi\n set 'a' 'b'\n");
    let actor = chain.deploy(&format!(
        "handler run\n timer 5 'x'\n return $last\nhandler handle_timer\n send 0x{} '' 3 'hi'\n",
        receiver.to_string().trim_start_matches("0x")
    ));
    let id = id_of(&chain.call(actor, "run", b""));
    chain.idle(2);
    let receipts = chain.idle(1);
    assert_eq!((receipts[0].origin, &receipts[0].kind), (id, &ReceiptKind::Message));
    assert_eq!(receipts[0].fee.payer, actor);
    assert!(receipts[0].is_success());
}

/// A failing handler is charged all the same, and the timer is gone (background §2).
#[test]
fn a_failing_timer_is_charged_and_gone() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler run\n timer 4 'x'\nhandler handle_timer\n timer 9 'y'\n raise\n");
    chain.call(actor, "run", b"");
    chain.idle(1);
    let receipts = chain.idle(1);
    assert_eq!(receipts[0].abort, Some(error::HANDLER_RAISED));
    assert!(receipts[0].fee.burned > Amount(0));
    assert!(chain.all::<Timer>(Kind::Timer).is_empty(), "what it scheduled is undone");
}

/// Decision 136: heights may be jumped; every due timer still fires, in order.
#[test]
fn a_jump_over_heights_loses_no_timer() {
    let mut chain = Chain::new();
    let actor = setter(&mut chain, "handler run\n timer 1000 'b'\n timer 500 'a'\n");
    chain.call(actor, "run", b"");
    chain.height = Height(2_000);
    let fired: Vec<Vec<u8>> = chain.idle(1).iter().map(|receipt| receipt.events[0].data.to_vec()).collect();
    assert_eq!(fired, [b"a".to_vec(), b"b".to_vec()]);
}

/// Instructions and methods of the system actors are the same handlers: 0x06 by name does what SYS 48 does.
#[test]
fn governance_reaches_timers_by_method_too() {
    use cowboy_types::cbor::Value;
    let mut chain = Chain::new();
    let actor = setter(&mut chain, "handler run\n timer 50 'x'\n return $last\n");
    let id = id_of(&chain.call(actor, "run", b""));
    let argument = Value::map([("timer_id", Value::Bytes(id.0.to_vec()))]).encode();
    let basefee = Address::system(6);
    assert_eq!(chain.send(1, execution(basefee, "cancel_timer", &argument, 0)).abort, Some(error::SYSTEM_UNAUTHORIZED));
    assert_eq!(chain.send(9, execution(basefee, "cancel_timer", b"\xff", 0)).abort, Some(error::INVALID_ARGUMENT));
    let cancelled = chain.send(9, execution(basefee, "cancel_timer", &argument, 0));
    assert_eq!(&cancelled.events[0].name[..], "timer.cancelled_by_governance");
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());
    let name = Value::map([("name", Value::text("timers.timers_per_actor"))]).encode();
    let asked = chain.send(1, execution(Address::system(9), "get_param", &name, 0));
    assert_eq!(cowboy_types::cbor::decode(&asked.return_data), Ok(Value::uint(1_024)));
}
