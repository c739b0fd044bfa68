//! Block space: lanes, weight, and proposals that have to leave something out.

use cowboy_chain::admit::Invalid;
use cowboy_chain::fees::BaseFees;
use cowboy_chain::{Mode, SignedTransaction};
use cowboy_testkit::chain::{Chain, address, execution, parameters, sign, signed, transfer, unsigned};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::{Amount, Cycles, Price};
use cowboy_types::{Transaction, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    a_delivery_is_bounded_by_its_weight,
    a_block_is_bounded_by_its_weight,
    the_first_run_of_a_block_weighs_its_source,
    what_does_not_fit_is_left_out_with_its_followers,
    lanes_have_their_own_base_fee,
    users_cannot_crowd_timers_out,
    bursts_wait_behind_others,
    traces_tell_what_happened_inside,
    an_execution_is_send_and_owned,
];

/// Decision 132: one delivery traps at its weight, whatever its cycles say.
#[test]
fn a_delivery_is_bounded_by_its_weight() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler slow\n weigh 100000001\nhandler fine\n weigh 99000000\n");
    assert_eq!(chain.call(actor, "slow", b"").abort, Some(error::OUT_OF_TIME));
    assert!(chain.call(actor, "fine", b"").is_success());
}

/// Decision 132: at the block's weight the rest waits for the next block: transactions and timers alike.
#[test]
fn a_block_is_bounded_by_its_weight() {
    let mut chain = Chain::new();
    let actor = chain.deploy("handler slow\n weigh 90000000\nhandler set\n timer 5 'x'\n timer 5 'y'\n timer 5 'z'\n timer 5 'v'\n timer 5 'w'\nhandler handle_timer\n weigh 90000000\n emit 'f' $payload\n");
    let light = |nonce| {
        let mut transaction = unsigned(1, nonce, execution(actor, "slow", b"", 0));
        transaction.cycles_limit = Cycles(100_000);
        sign(1, transaction)
    };
    let first = chain.nonce(1);
    let outcome = chain.block((0..8).map(|place| light(first + place)).collect());
    assert_eq!(outcome.included.len(), 4, "three leave less than 300 ms, the fourth passes it");
    assert!(outcome.rejected.iter().all(|(_, reason)| *reason == Invalid::DoesNotFit));
    chain.call(actor, "set", b"");
    assert_eq!(chain.height.0, 3);
    chain.idle(1);
    let first = chain.idle(1);
    let second = chain.idle(1);
    assert_eq!((first.len(), second.len()), (4, 1), "timers pass 350 ms with the fourth");
}

/// Decision 132: the first run of a code in a block counts the weight of compiling it, so that a block of many large
/// actors takes no longer on a machine that holds none of them.
#[test]
fn the_first_run_of_a_block_weighs_its_source() {
    let mut chain = Chain::new();
    let padding = " weigh 0\n".repeat(5_000);
    let actor = chain.deploy(&format!("handler go\nhandler never\n{padding}"));
    let nonce = chain.nonce(1);
    let once = chain.block(vec![signed(1, nonce, execution(actor, "go", b"", 0))]).weight_ns;
    let twice = chain
        .block(vec![signed(1, nonce + 1, execution(actor, "go", b"", 0)), signed(1, nonce + 2, execution(actor, "go", b"", 0))])
        .weight_ns;
    let source = chain.actor(actor).code_bytes.0 * cowboy_params::Params::GENESIS.weights.source_byte;
    assert!(once > source && twice < 2 * source, "{once} {twice} {source}");
}

/// Decision 34: a limit that exceeds what the lane still holds makes the block invalid; a proposer leaves it out,
/// with what its sender sends after it, and continues.
#[test]
fn what_does_not_fit_is_left_out_with_its_followers() {
    let mut chain = Chain::with(|genesis| {
        let rows = [
            ("lanes.system_cycles", 1_000_000),
            ("lanes.timer_cycles", 550_000),
            ("lanes.runner_cycles", 550_000),
            ("lanes.user_cycles", 1_000_000),
        ];
        genesis.parameters = parameters(&rows);
    });
    let wide = |from: u8, nonce: u64| {
        let mut transaction = unsigned(from, nonce, Instruction::System(System::Transfer { to: address(7), amount: Amount(1) }));
        transaction.cycles_limit = Cycles(1_000_000);
        sign(from, transaction)
    };
    let mut candidates: Vec<SignedTransaction> =
        (1..=6).flat_map(|from| (0..21).map(move |nonce| transfer(from, nonce, address(7), 1))).collect();
    candidates.extend((0..12).map(|nonce| wide(8, nonce)));
    candidates.push(wide(9, 0));
    let outcome = chain.block(candidates);
    assert!(outcome.included.len() >= 100, "{} were included", outcome.included.len());
    assert!(!outcome.rejected.is_empty());
    let mut nonces: Vec<u64> =
        outcome.included.iter().filter(|transaction| transaction.from == address(8)).map(|transaction| transaction.nonce.0).collect();
    nonces.sort_unstable();
    assert!(nonces.iter().enumerate().all(|(place, nonce)| u64::try_from(place) == Ok(*nonce)), "what is included of a sender has no gap");
}

/// a lane's base fee is the global one times its multiplier.
#[test]
fn lanes_have_their_own_base_fee() {
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&[("lanes.user_fee_multiplier", 15_000)]));
    let receipt = chain.one(transfer(1, 0, address(2), 1));
    assert_eq!(receipt.fee.burned, Amount(21_000 * 15_000));
    let mut cheap = unsigned(1, 1, Instruction::System(System::Transfer { to: address(2), amount: Amount(1) }));
    cheap.max_fee_per_cycle = Price(14_999);
    cheap.max_priority_fee_per_cycle = Price(0);
    let outcome = chain.block(vec![sign(1, cheap)]);
    assert!(matches!(outcome.rejected[0].1, Invalid::BaseFeeTooLow { meter: "cycle", .. }));
    let tried = chain.try_out(unsigned(1, 1, Instruction::System(System::Transfer { to: address(2), amount: Amount(1) })));
    assert_eq!(tried.base_fees, BaseFees { cycle: Price(15_000), cell: Price(10_000) }, "what a sender is told to offer");
}

/// A proposer compares what transactions pay in their lane: its base fee leaves less for the tip.
#[test]
fn selection_counts_the_base_fee_of_the_lane() {
    let mut params = cowboy_params::Params::GENESIS;
    params.lanes.user_fee_multiplier = 30_000;
    let offering = |from: u8, max: u64, tip: u64| {
        let mut transaction = unsigned(from, 0, Instruction::System(System::Transfer { to: address(7), amount: Amount(1) }));
        (transaction.max_fee_per_cycle, transaction.max_priority_fee_per_cycle) = (Price(max), Price(tip));
        cowboy_chain::order::Placed { signed: SignedTransaction::unchecked(transaction), lane: cowboy_chain::lanes::Lane::User }
    };
    let base_fees = BaseFees { cycle: Price(10_000), cell: Price(10_000) };
    let ranked = cowboy_chain::order::rank(&params, vec![offering(1, 31_000, 25_000), offering(2, 50_000, 10_000)], base_fees);
    let senders: Vec<_> = ranked.iter().map(|placed| placed.signed.transaction().from).collect();
    assert_eq!(senders, [address(2), address(1)], "40,000 a cycle before 31,000");
}

/// a full user lane leaves the timers their own.
#[test]
fn users_cannot_crowd_timers_out() {
    let mut chain = Chain::with(|genesis| {
        let rows = [
            ("lanes.system_cycles", 1_000_000),
            ("lanes.timer_cycles", 1_100_000),
            ("lanes.runner_cycles", 550_000),
            ("lanes.user_cycles", 5_000_000),
        ];
        genesis.parameters = parameters(&rows);
    });
    let actor = chain.deploy("handler set\n timer 4 'x'\n timer 4 'y'\nhandler handle_timer\n burn 500000\n");
    chain.call(actor, "set", b"");
    chain.idle(1);
    let many: Vec<SignedTransaction> = (2..=9).flat_map(|from| (0..60).map(move |nonce| transfer(from, nonce, address(7), 1))).collect();
    let outcome = chain.block(many);
    let fired = outcome.receipts.iter().filter(|receipt| receipt.kind == cowboy_types::ReceiptKind::Timer).count();
    assert_eq!(fired, 2);
    assert_eq!(outcome.included.len(), 6_550_000 / 21_000, "the declared 1.1M of the timers were not spilled");
}

/// what asks for more of one actor than its share of a block goes behind the rest, and in where there is room.
#[test]
fn bursts_wait_behind_others() {
    let params = cowboy_params::Params::GENESIS;
    let actor = cowboy_types::Address([5; 20]);
    let call = |from: u8, nonce: u64, cycles: u64, tip: u64| {
        let mut transaction = unsigned(from, nonce, execution(actor, "x", b"", 0));
        transaction.cycles_limit = Cycles(cycles);
        transaction.max_priority_fee_per_cycle = Price(tip);
        SignedTransaction::unchecked(transaction)
    };
    let other = SignedTransaction::unchecked(unsigned(4, 0, execution(cowboy_types::Address([6; 20]), "x", b"", 0)));
    let candidates = vec![call(1, 0, 600_000, 900), call(2, 0, 300_000, 800), call(3, 0, 200_000, 700), call(3, 1, 10, 700), other];
    let candidates =
        candidates.into_iter().map(|signed| cowboy_chain::order::Placed { signed, lane: cowboy_chain::lanes::Lane::User }).collect();
    let ranked = cowboy_chain::order::rank(&params, candidates, BaseFees { cycle: Price(10_000), cell: Price(10_000) });
    let inner = ranked.iter().map(|placed| placed.signed.transaction());
    let senders: Vec<_> = inner.map(|transaction| (transaction.from, transaction.nonce.0)).collect();
    assert_eq!(senders, [(address(1), 0), (address(2), 0), (address(4), 0), (address(3), 0), (address(3), 1)]);
}

/// Traces name every call, message and exception of a delivery.
#[test]
fn traces_tell_what_happened_inside() {
    let mut chain = Chain::new();
    let callee = chain.deploy("handler bad\n raise\n");
    let caller = chain
        .deploy(&format!("handler run\n try call 0x{} 'bad' '' 50000\n send @3 'x' 0 'go'\n", callee.to_string().trim_start_matches("0x")));
    let nonce = chain.nonce(1);
    let outcome = chain.block(vec![signed(1, nonce, execution(caller, "run", b"", 0))]);
    let trace = &outcome.traces[0];
    assert_eq!((trace.calls.len(), trace.calls[1].depth, trace.calls[1].target), (2, 1, callee));
    assert_eq!(trace.calls[1].abort, Some(error::HANDLER_RAISED));
    let exception = trace.calls[1].exception.as_ref().expect("it raised");
    assert_eq!(exception.name, "ValueError");
    assert_eq!((trace.sent.len(), trace.sent[0].target, trace.sent[0].handler.as_str()), (1, address(3), "go"));
    assert!(outcome.index.iter().any(|row| row.address == caller && row.receipt == 0));
}

/// An execution is owned and may go to another thread; that of nothing is a block of nothing.
#[test]
fn an_execution_is_send_and_owned() {
    fn is_send<T: Send + 'static>() {}
    is_send::<cowboy_chain::Execution>();
    is_send::<cowboy_chain::Query>();
    is_send::<cowboy_chain::Simulation>();
    let chain = Chain::new();
    let empty = chain.run(chain.input(Mode::Verify { transactions: vec![] })).expect("an empty body is valid").0;
    assert_eq!(empty.tx_root, cowboy_types::merkle::root(&[]));
    let transactions: Vec<Transaction> = empty.included;
    assert!(transactions.is_empty());
}
