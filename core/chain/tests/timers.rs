//! Timers: 003 §5.1a, line by line.

use cowboy_state::Kind;
use cowboy_state::records::Timer;
use cowboy_testkit::chain::{ALL, Chain, address, execution, parameters, signed};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, Count, Cycles, Height};
use cowboy_types::{Address, Hash, Receipt, error, keccak256};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_timer_fires_at_its_height_and_pays_what_it_used,
    scheduling_is_refused_by_name,
    a_called_actor_cannot_charge_its_caller_later,
    live_timers_are_capped,
    timers_are_first_in_first_out,
    an_unfunded_timer_is_removed_with_an_event,
    timers_past_the_lane_wait_and_expire,
    a_storm_of_unpaid_timers_does_not_stop_others,
    only_the_owner_actor_changes_a_timer,
    deployers_change_timers_and_their_limits,
    a_timer_may_send,
    a_failing_timer_is_charged_and_gone,
    an_interval_fires_again_and_again,
    intervals_survive_whatever_a_fire_does,
    failures_are_counted_in_a_row,
    an_interval_is_cancelled_in_its_own_fire,
    intervals_end_unpaid_or_expired,
    an_account_schedules_a_call,
    a_jump_over_heights_loses_no_timer,
    governance_reaches_timers_by_method_too,
];

/// A text of an event's data.
fn text(data: &[u8], name: &str) -> String {
    let data = cowboy_types::cbor::decode(data).expect("CBOR");
    data.get(name).and_then(|value| value.as_text()).expect("a text").to_string()
}

/// A number of an event's data.
fn number(data: &[u8], name: &str) -> u64 {
    cowboy_types::cbor::decode(data).expect("CBOR").get(name).and_then(|value| value.as_u64()).expect("a number")
}

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

/// The refusals of scheduling, in their order., decision 169.
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
        ("timer_ex 100 'x' @1", "bad_fee_payer"),
        ("timer_ex 100 'x' @2", "bad_fee_payer"),
        ("interval 0 'x'", "timer_in_past"),
        ("interval 3000000 'x'", "timer_expiry"),
        ("interval 5 'x' 550001", "timer_limit"),
        ("resume 0x1111111111111111111111111111111111111111111111111111111111111111", "timer_not_found"),
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
}

/// Decision 169: a called actor, also deep inside a call, cannot charge its caller later. The actor itself may be named.
#[test]
fn a_called_actor_cannot_charge_its_caller_later() {
    let mut chain = Chain::new();
    let leech = setter(&mut chain, "handler leech\n timer_ex 9 'x' @1\n");
    let own = leech.to_string();
    let digits = own.trim_start_matches("0x");
    let between = chain.deploy(&format!("handler go\n call 0x{digits} 'leech' '' 100000\n"));
    for (target, handler) in [(leech, "leech"), (between, "go")] {
        assert!(!chain.call(target, handler, b"").is_success());
    }
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());
    let before = chain.balance(address(1));
    chain.idle(10);
    assert_eq!(chain.balance(address(1)), before, "nothing fires at the caller's cost");
    assert_eq!(error::row(error::BAD_FEE_PAYER.code).slug, "bad_fee_payer");
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
    let removed = &receipts[0].events[1];
    assert_eq!((&removed.name[..], removed.emitter), ("timer.removed", actor), "in the actor's name (decision 170)");
    assert_eq!(text(&removed.data, "reason"), "timer_unfunded");
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

/// instructions 48, 49 and 50, for system deployers.
#[test]
fn deployers_change_timers_and_their_limits() {
    let mut chain = Chain::with(|genesis| genesis.deployers = cowboy_types::List::new(vec![address(9)]).expect("one fits"));
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
    assert!(outcome.usage.user.cycles > Cycles(0) && outcome.usage.system.cycles == Cycles(0), "the deployer is no validator (A-59)");
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

/// A failing handler is charged all the same, and the timer is gone (003 §5.1a).
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

/// The names of a receipt's events.
fn names(receipt: &Receipt) -> Vec<&str> {
    receipt.events.iter().map(|event| &event.name[..]).collect()
}

fn only_timer(chain: &Chain) -> Timer {
    let mut timers = chain.all::<Timer>(Kind::Timer);
    assert_eq!(timers.len(), 1);
    timers.remove(0).1
}

/// Decision 170: an interval fires period after period under one id, and counts as one timer.
#[test]
fn an_interval_fires_again_and_again() {
    let mut chain = Chain::new();
    let actor = setter(&mut chain, "handler run\n interval 3 'abc' 90000 9000\n return $last\n");
    let set = chain.call(actor, "run", b"");
    assert_eq!(set.cycles_used, Cycles(21_000 + 20 + 200));
    let (id, start) = (id_of(&set), chain.height.0);
    assert_eq!(chain.names(cowboy_state::Directory::timers_of(actor)), [id.0.to_vec()]);
    let fired = chain.idle(9);
    assert_eq!(fired.len(), 3);
    assert!(fired.iter().all(|receipt| receipt.is_success() && receipt.events[0].data[..] == *b"abc"));
    let emitting = 500 + 5 * 3 + 20;
    assert_eq!(fired[0].cycles_used, Cycles(1_000 + 200 + emitting), "a call, and re-arming costs what scheduling does");
    let ids: std::collections::BTreeSet<Hash> = fired.iter().flat_map(|receipt| [receipt.id, receipt.origin]).collect();
    assert_eq!(ids.len(), 6, "each fire has a receipt and an origin of its own");
    assert_eq!(chain.names(cowboy_state::Directory::timers_of(actor)), [id.0.to_vec()], "and the interval one id");
    let timer = only_timer(&chain);
    assert_eq!((timer.height, timer.cycles_limit.0, timer.cells_limit.0), (Height(start + 12), 90_000, 9_000));
    assert_eq!(timer.expires_at, Height(start + 9 + cowboy_params::Params::GENESIS.timers.ttl_blocks), "each fire renews its life");
    assert_eq!(chain.actor(actor).timers_live, Count(1));
}

/// Decision 170: nothing that a fire does undoes the next one: an exception, too little of anything, a trap. Each is
/// charged, rolled back and reported by an event; after `max_failures` in a row the interval is paused, until its actor resumes it.
#[test]
fn intervals_survive_whatever_a_fire_does() {
    let rows =
        [("raise", "handler_raised"), ("burn 999999", "out_of_cycles"), ("trap", "out_of_memory"), ("weigh 999999999999", "out_of_time")];
    for (fatal, slug) in rows {
        let mut chain = Chain::new();
        let actor = chain.deploy(&format!(
            "handler run\n interval 2 'x' 0 0 3\n return $last\nhandler handle_timer\n set 'never' 'x'\n {fatal}\nhandler again\n resume $payload\n"
        ));
        let id = id_of(&chain.call(actor, "run", b""));
        for consecutive in 1..=3 {
            chain.idle(1);
            let receipts = chain.idle(1);
            let failed = &receipts[0];
            assert_eq!(error::row(failed.abort.as_ref().expect("it fails").code).slug, slug);
            assert!(failed.fee.burned > Amount(0), "{slug}: charged");
            assert_eq!((&failed.events[0].name[..], failed.events[0].emitter), ("timer.failed", actor));
            let data = &failed.events[0].data;
            assert_eq!((text(data, "error").as_str(), text(data, "handler").as_str()), (slug, "handle_timer"));
            assert_eq!(number(data, "consecutive"), consecutive);
            assert_eq!(names(failed).contains(&"timer.paused"), consecutive == 3, "{slug}");
        }
        assert!(chain.stored(actor, "never").is_none(), "{slug}: rolled back");
        assert!(chain.idle(10).is_empty(), "{slug}: paused");
        assert!(only_timer(&chain).interval.is_some_and(|interval| interval.is_paused));
        assert!(chain.call(actor, "again", &id.0).is_success());
        let height = chain.height.0;
        assert_eq!(only_timer(&chain).height, Height(height + 2));
        assert_eq!(chain.idle(2).len(), 1, "{slug}: it fires again");
        assert_eq!(number(&chain.idle(2)[0].events[0].data, "consecutive"), 2, "{slug}: counted from the start");
    }
}

/// A fire that succeeds forgets the failures before it, and with no number of failures nothing pauses.
#[test]
fn failures_are_counted_in_a_row() {
    // The fire calls the address under a key: where that is an actor it succeeds.
    let mut chain = Chain::new();
    let fickle = chain.deploy(
        "handler run\n interval 2 'x' 0 0 2\nhandler handle_timer\n get 'callee'\n call $0 'ok' '' 10000\nhandler ok\n\nhandler to\n set 'callee' $payload\n",
    );
    chain.call(fickle, "run", b"");
    for _ in 0..3 {
        chain.call(fickle, "to", &[9; 20]);
        let failed = chain.idle(1);
        assert_eq!(number(&failed[0].events[0].data, "consecutive"), 1, "the success before is what counts");
        chain.call(fickle, "to", &fickle.0);
        assert!(chain.idle(1)[0].is_success());
        assert_eq!(only_timer(&chain).interval.expect("an interval").failures, Count(0));
    }
    let mut chain = Chain::new();
    let flaky = chain.deploy("handler run\n interval 2 'x' 0 0 0\nhandler handle_timer\n raise\n");
    chain.call(flaky, "run", b"");
    let failures = chain.idle(60).iter().filter(|receipt| !receipt.is_success()).count();
    assert_eq!(failures, 30, "zero is no number of failures");
    assert_eq!(only_timer(&chain).interval.expect("an interval").failures, Count(30));
}

/// `cancel_timer` inside the fire ends an interval, unless the fire fails: then that is undone with everything else.
#[test]
fn an_interval_is_cancelled_in_its_own_fire() {
    for (end, left) in [("", 0), (" raise\n", 1)] {
        let mut chain = Chain::new();
        let id = "get 'id'\n cancel $0\n";
        let script = format!("handler run\n interval 2 'x'\n set 'id' $0\nhandler handle_timer\n {id}{end}");
        let actor = chain.deploy(&script);
        chain.call(actor, "run", b"");
        chain.idle(2);
        assert_eq!(chain.all::<Timer>(Kind::Timer).len(), left);
        assert_eq!(chain.actor(actor).timers_live, Count(u64::try_from(left).expect("small")));
    }
}

/// An interval that its actor cannot pay for is removed, and a paused one ends where it expires: both say so.
#[test]
fn intervals_end_unpaid_or_expired() {
    let mut chain = Chain::new();
    let poor = chain.deploy_with("handler run\n interval 2 'x'\nhandler handle_timer\n", ALL, 11_003_000_000);
    chain.call(poor, "run", b"");
    let receipts = chain.idle(40);
    let last = receipts.last().expect("it fired a few times");
    assert_eq!((last.abort.clone(), text(&last.events[1].data, "reason").as_str()), (Some(error::TIMER_UNFUNDED), "timer_unfunded"));
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());

    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("timers.ttl_blocks", 1_000)]));
    let actor = chain.deploy("handler run\n interval 2 'x' 0 0 1\nhandler handle_timer\n raise\n");
    chain.call(actor, "run", b"");
    chain.idle(2);
    let end = only_timer(&chain).expires_at;
    assert_eq!(only_timer(&chain).height, end.next());
    chain.height = end;
    let receipts = chain.idle(1);
    assert_eq!((receipts[0].abort.clone(), names(&receipts[0])), (Some(error::TIMER_EXPIRED), vec!["TimerExpired", "timer.removed"]));
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());
}

/// the instruction costs 5,000 cycles and 64 cells; the sender is whom the handler sees, pays when it runs, and may
/// cancel and extend it. Nobody else's timers, and no actor's number of them, are touched.
#[test]
fn an_account_schedules_a_call() {
    let schedule = |actor: Address, height: u64, payload: &[u8]| {
        Instruction::System(System::TimerSchedule {
            actor,
            height: Height(height),
            handler: cowboy_types::Text::new("at").expect("short"),
            payload: cowboy_types::Blob::new(payload.to_vec()).expect("short"),
            cycles_limit: Some(Cycles(100_000)),
            cells_limit: Some(cowboy_types::Cells(10_000)),
            expires_at: None,
        })
    };
    let mut chain = Chain::new();
    let actor = chain.deploy("handler at\n context\n emit 'ran' $payload\n");
    let receipt = chain.send(2, schedule(actor, 5, b"hello"));
    assert_eq!((receipt.cycles_used, receipt.cells_used), (Cycles(5_000), cowboy_types::Cells(64)));
    let id = id_of(&receipt);
    let long = chain.send(2, schedule(actor, 9, &[b'x'; 998]));
    assert_eq!(long.cells_used, cowboy_types::Cells(1_000), "a long payload is no cheaper than a message's");
    assert_eq!(chain.actor(actor).timers_live, Count(0));
    let before = (chain.balance(address(2)), chain.balance(actor));
    chain.idle(2);
    let fired = chain.idle(0);
    assert!(fired.is_empty());
    let spent = before.0 - chain.balance(address(2));
    assert!(spent > 0 && spent < 100_000 * 10_000, "the account paid for what it used");
    assert_eq!(chain.balance(actor), before.1);
    assert_eq!(chain.all::<Timer>(Kind::Timer).len(), 1);
    let other = id_of(&long);
    assert_ne!(id, other);
    let cancel = || Instruction::System(System::CancelTimer { timer: other });
    assert_eq!(chain.send(3, cancel()).abort, Some(error::SYSTEM_UNAUTHORIZED));
    let extend = Instruction::System(System::ExtendTimer { timer: other, expires_at: Height(90) });
    assert_eq!(&chain.send(2, extend).events[1].name[..], "timer.extended", "behind its rent");
    assert_eq!(&chain.send(2, cancel()).events[0].name[..], "timer.cancelled");
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());
    assert_eq!(chain.send(2, schedule(address(7), 99, b"")).abort, Some(error::ACTOR_NOT_FOUND));
    assert_eq!(chain.send(2, schedule(actor, 3, b"")).abort, Some(error::TIMER_IN_PAST));
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
    assert!(!chain.decide(0x06, "cancel_timer", &Value::Null));
    assert!(chain.decide(0x06, "cancel_timer", &Value::map([("timer_id", Value::Bytes(id.0.to_vec()))])));
    assert!(chain.all::<Timer>(Kind::Timer).is_empty());
    let name = Value::map([("name", Value::text("timers.timers_per_actor"))]).encode();
    let asked = chain.send(1, execution(Address::system(9), "get_param", &name, 0));
    assert_eq!(cowboy_types::cbor::decode(&asked.return_data), Ok(Value::uint(1_024)));
}
