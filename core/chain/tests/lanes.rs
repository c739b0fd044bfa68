//! Lanes: decided from the instruction, the sender and the state at the block's start (003 §6.3; decision 85).

use commonware_codec::Encode as _;
use cowboy_system::governance::{state, types::Council};
use cowboy_testkit::chain::{Chain, address, execution, parameters, signed, validator, validators};
use cowboy_testkit::market::{Market, REGISTRY, VERIFIER, ask, committee_job, hex};
use cowboy_types::block::Usage;
use cowboy_types::cbor::Value;
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::{Amount, Cycles};
use cowboy_types::{Address, Hash, List};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    lanes_are_for_those_whom_they_are_kept_for,
    lanes_follow_the_state_before_the_block,
    a_stranger_cannot_ask_for_more_than_the_user_lane,
    a_timer_fits_whatever_governance_moved_since,
];

/// The validator of the chain; account 6 sits on its council.
const VALIDATOR: u8 = 5;

/// A market of three runners with a validator and a council.
fn market() -> Market {
    let mut market = Market::with(3, |genesis| {
        genesis.validators = validators([validator(VALIDATOR, Amount(100_000_000_000_000))]);
    });
    let (council, seats) = (state::council_key(), Council { members: List::new(vec![address(6)]).expect("one fits") });
    market.chain.state.insert(council.digest(), council.seal(&seats.encode()));
    market
}

/// The lanes that a block with this instruction alone used.
fn lanes_of(chain: &mut Chain, from: u8, instruction: Instruction) -> Vec<&'static str> {
    let nonce = chain.nonce(from);
    let Usage { system, timer, runner, user } = chain.block(vec![signed(from, nonce, instruction)]).usage;
    let used = [("system", system), ("timer", timer), ("runner", runner), ("user", user)];
    used.into_iter().filter(|(_, usage)| usage.cycles > Cycles::ZERO).map(|(name, _)| name).collect()
}

/// neither the system lane nor the runner lane takes anybody's transactions, failing or not.
#[test]
fn lanes_are_for_those_whom_they_are_kept_for() {
    let mut market = market();
    let id = market.submit(&committee_job("majority_vote", 3));
    let committee = market.draw(&id);
    let (member, stranger) = (committee[0], 1);
    let governance = Address::system(9);
    let parameter = Value::map([("name", Value::text("jobs.slash_burn"))]).encode();
    let get = || execution(governance, "get_param", &parameter, 0);
    let cancel = || Instruction::System(System::CancelTimer { timer: Hash([7; 32]) });
    let said = market.said(member, b"yes");
    let commit =
        |job: &Hash| ask(VERIFIER, "commit", &serde_json::json!({ "job_id": hex(&job.0), "commitment": hex(&said.commitment().0) }), 0);
    let beat = || ask(REGISTRY, "heartbeat", &serde_json::json!({}), 0);
    let rows: Vec<(&str, u8, Instruction, &str)> = vec![
        ("a stranger asks 0x09", stranger, get(), "user"),
        ("a validator asks 0x09", VALIDATOR, get(), "system"),
        ("a member of the council asks 0x09", 6, get(), "system"),
        ("a deployer that is neither", 9, cancel(), "user"),
        ("a validator's timer instruction, which fails", VALIDATOR, cancel(), "system"),
        ("a stranger commits, which fails", stranger, commit(&id), "user"),
        ("a member commits to a job that is not there, which fails", member, commit(&Hash([9; 32])), "user"),
        ("a member commits", member, commit(&id), "runner"),
        ("a member commits again, which fails", member, commit(&id), "runner"),
        ("a member says nothing that can be read", member, execution(VERIFIER, "commit", b"\xff", 0), "user"),
        ("a stranger's heartbeat, which fails", stranger, beat(), "user"),
        ("a runner's heartbeat", member, beat(), "runner"),
        ("a runner asks for its record", member, ask(REGISTRY, "leave", &serde_json::json!({}), 1), "user"),
        ("a validator's transfer", VALIDATOR, Instruction::System(System::Transfer { to: address(1), amount: Amount(1) }), "user"),
    ];
    for (what, from, instruction, lane) in rows {
        assert_eq!(lanes_of(&mut market.chain, from, instruction), [lane], "{what}");
    }
}

/// The state at the block's start decides: who becomes a runner within a block does not move to its lane within it.
#[test]
fn lanes_follow_the_state_before_the_block() {
    let mut market = market();
    let nonce = market.chain.nonce(20);
    let register = ask(REGISTRY, "register", &cowboy_testkit::market::declaration(20), cowboy_testkit::market::cby(10_000));
    let beat = ask(REGISTRY, "heartbeat", &serde_json::json!({}), 0);
    let outcome = market.chain.block(vec![signed(20, nonce, register), signed(20, nonce + 1, beat.clone())]);
    assert!(outcome.receipts.iter().all(|receipt| receipt.is_success()));
    assert_eq!(outcome.usage.runner.cycles, Cycles::ZERO);
    assert_eq!(lanes_of(&mut market.chain, 20, beat), ["runner"]);
}

/// A proposer that packs by other lanes makes an invalid block: a verifier decides them itself.
#[test]
fn a_stranger_cannot_ask_for_more_than_the_user_lane() {
    let mut market = market();
    let parameter = Value::map([("name", Value::text("jobs.slash_burn"))]).encode();
    let mut transaction =
        cowboy_testkit::chain::unsigned(1, market.chain.nonce(1), execution(Address::system(9), "get_param", &parameter, 0));
    transaction.cycles_limit = Cycles(39_000_000);
    let outcome = market.chain.block(vec![cowboy_testkit::chain::sign(1, transaction)]);
    assert!(matches!(outcome.rejected[0].1, cowboy_chain::Invalid::LimitTooHigh { meter: "cycles", max: 22_222_222, .. }));
}

/// Attack: who sees that a decision will lower the timer lane has a timer ask for as much as it still may. No block has room for it then, and first in, first
/// out, all others behind it wait until it expires. Decision 780: a fire gets what a block has for one.
#[test]
fn a_timer_fits_whatever_governance_moved_since() {
    let rows = [("timers.cycles_per_fire", 1_000_000), ("timers.cells_per_fire", 16_000_000)];
    let mut chain = Chain::with(|genesis| genesis.parameters = parameters(&rows));
    let actor = chain.deploy(
        "handler handle_timer\n emit 'fired' $payload\nhandler run\n timer_ex 9 'large' '' 1000000 100000\n timer_ex 9 'wide' '' 100000 16000000\n timer_ex 9 'small' '' 100000 100000\n",
    );
    assert!(chain.call(actor, "run", b"").is_success());
    let moved = [("timers.cycles_per_fire", 550_000), ("timers.cells_per_fire", 550_000), ("lanes.timer_cycles", 600_000)];
    for (row, value) in moved.into_iter().chain([("fees.block_cells", 10_000_000)]) {
        chain.move_parameter(row, value);
    }
    let fired: Vec<Vec<u8>> = chain.idle(5).iter().map(|receipt| receipt.events[0].data.to_vec()).collect();
    assert_eq!(fired, [&b"large"[..], b"wide", b"small"]);
}
