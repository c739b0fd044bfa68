//! Bidding agents that schedulers name (003 §5.1b; decision 322).

use super::auction::{BASE, auctioned};
use cowboy_system::bidding;
use cowboy_testkit::chain::Chain;
use cowboy_types::cbor::{self, Value};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::Height;
use cowboy_types::{Address, Receipt, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    an_agent_is_asked_about_the_block,
    answers_decide_the_order,
    the_default_agent_bids_for_others,
    a_block_asks_a_few_agents,
];

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A script that answers a bid.
fn answer(max_fee: u64, priority: u64) -> String {
    let bid = [("max_fee_per_cycle", max_fee), ("max_priority_fee_per_cycle", priority)].map(|(name, price)| (name, Value::uint(price)));
    format!(" return 0x{}\n", hex(&Value::dict(bid.to_vec()).encode()))
}

/// An agent with this script, and an actor with a timer at a height for which it bids.
fn scheduled(chain: &mut Chain, name: &str, height: u64, script: &str) -> (Address, Address) {
    let agent = chain.deploy(&format!("handler get_gas_bid\n{script}handler name\n return '{name}'\n"));
    (agent, with_agent(chain, name, height, agent))
}

/// An actor with a timer at a height for which an agent bids.
fn with_agent(chain: &mut Chain, name: &str, height: u64, agent: Address) -> Address {
    let timer = format!(" timer_ex {height} 'x' '' 250000 20000 0 0 0 0 0x{}\n", hex(&agent.0));
    let actor = chain.deploy(&format!("handler handle_timer\n burn 100000\n emit 'fired' '{name}'\nhandler run\n{timer}"));
    assert_eq!(chain.call(actor, "run", b"").abort, None);
    actor
}

/// The next block: the questions, and what fired with its tip for a cycle.
fn next(chain: &mut Chain) -> (Vec<Receipt>, Vec<String>) {
    let receipts = chain.idle(1).into_iter().filter(|receipt| receipt.kind == ReceiptKind::Timer);
    let (questions, fires): (Vec<Receipt>, Vec<Receipt>) = receipts.partition(|receipt| &receipt.handler[..] == bidding::HANDLER);
    let name = |receipt: &Receipt| String::from_utf8_lossy(&receipt.events[0].data).into_owned();
    (questions, fires.iter().map(|fire| format!("{} {}", name(fire), fire.fee.tip.0 / fire.cycles_used.0)).collect())
}

/// A-129: an agent is asked with CIP-1's context before its timer is ordered. The scheduler pays for the question at the base fees, and an answer
/// that is no bid leaves the default agent's.
#[test]
fn an_agent_is_asked_about_the_block() {
    let mut chain = auctioned(1, &[]);
    let (agent, owner) = scheduled(&mut chain, "mirror", 20, " return $payload\n");
    chain.height = Height(18);
    chain.idle(1);
    let balance = chain.balance(owner);
    let (questions, fired) = next(&mut chain);
    assert_eq!(fired, ["mirror 0"]);
    let [question] = &questions[..] else { panic!("one question, not {}", questions.len()) };
    assert_eq!((question.sender, question.target, question.abort.clone()), (owner, agent, None));
    let asked = cbor::decode(&question.return_data).expect("canonical CBOR");
    let number = |name: &str| asked.get(name).and_then(Value::as_u64).unwrap_or(u64::MAX);
    let names = ["trigger_block_height", "current_block_height", "basefee_cycle", "basefee_cell", "basefee_lane_timer"];
    assert_eq!(names.map(number), [20, 20, BASE, BASE, BASE]);
    let names = ["last_block_cycle_usage", "previous_block_p50_priority_tip_per_cycle", "owner_actor_balance", "cycles_limit"];
    assert_eq!(names.map(number), [0, 0, balance, 250_000]);
    assert_eq!(asked.get("owner").and_then(Value::as_bytes), Some(&owner.0[..]));
    let fee = &question.fee;
    assert_eq!((fee.payer, fee.burned.0), (owner, (question.cycles_used.0 + question.cells_used.0) * BASE));
    assert_eq!(fee.reserved.0, (50_000 + bidding::CELLS.0) * BASE);
    let mut before = auctioned(1_000, &[]);
    scheduled(&mut before, "mirror", 20, " return $payload\n");
    before.height = Height(19);
    assert_eq!(next(&mut before), (vec![], vec!["mirror 0".to_string()]), "before the auction nobody is asked");
}

/// A-126, A-129: timers fire by what their agents answer. One whose agent bids less than the base fee waits, is asked again in each block, and
/// learns for how long it has waited.
#[test]
fn answers_decide_the_order() {
    let mut chain = auctioned(1, &[("timers.auction_oldest", 0), ("lanes.timer_cycles", 2_000_000)]);
    for (name, max, tip) in [("low", 2 * BASE, 10), ("cut", BASE + 300, 5_000), ("high", 3 * BASE, 2_000)] {
        scheduled(&mut chain, name, 20, &answer(max, tip));
    }
    let (_, poor) = scheduled(&mut chain, "poor", 20, &answer(BASE - 1, 0));
    chain.height = Height(19);
    let (questions, fired) = next(&mut chain);
    assert_eq!((questions.len(), fired), (4, ["high 2000", "cut 300", "low 10"].map(str::to_string).to_vec()));
    let balance = chain.balance(poor);
    let (questions, fired) = next(&mut chain);
    assert_eq!((questions.len(), fired.len()), (1, 0));
    assert_eq!(balance - chain.balance(poor), questions[0].fee.burned.0, "who waits pays for the questions");
    let asked = cbor::decode(&chain.call(Address::system(6), "get_timer_auction", &Value::map([]).encode()).return_data);
    assert!(asked.is_ok());
}

/// Decision 322: an agent that fails, wants to change something, uses too much or bids what its scheduler cannot pay is not followed; the
/// timer fires as the default agent bids, and the agent's state is as before.
#[test]
fn the_default_agent_bids_for_others() {
    let rows = [
        (" raise\n".to_string(), true),
        (" trap\n".to_string(), true),
        (" burn 50001\n".to_string(), true),
        (" set b'asked' 'x'\n".to_string() + &answer(3 * BASE, 7), true),
        (" emit 'asked' 'x'\n".to_string() + &answer(3 * BASE, 7), true),
        (" return 'nothing'\n".to_string(), false),
        (answer(u64::MAX, u64::MAX), false),
    ];
    for (script, fails) in rows {
        let mut chain = auctioned(1, &[]);
        let (agent, _) = scheduled(&mut chain, "one", 20, &script);
        chain.height = Height(19);
        let (questions, fired) = next(&mut chain);
        assert_eq!((questions.len(), fired), (1, vec!["one 0".to_string()]), "{script}");
        assert_eq!((questions[0].abort.is_some(), questions[0].events.len()), (fails, 0), "{script}");
        assert_eq!(chain.stored(agent, "asked"), None, "{script}");
    }
    let mut chain = auctioned(1, &[]);
    with_agent(&mut chain, "nobody", 20, Address([7; 20]));
    chain.height = Height(19);
    let (questions, fired) = next(&mut chain);
    assert_eq!((questions[0].abort.clone(), fired), (Some(error::ACTOR_NOT_FOUND), vec!["nobody 0".to_string()]));
    assert!(questions[0].cycles_used.0 >= cowboy_params::Params::GENESIS.costs.call, "a question costs what a call costs, whoever answers");
}

/// Decision 619: where a block asks fewer agents than there are, one that answered little makes room for others, so that cheap bids never occupy the
/// questions.
#[test]
fn the_dearer_bid_is_asked_for_first() {
    let mut chain = auctioned(1, &[("timers.bids_per_block", 1), ("lanes.timer_cycles", 2_000_000)]);
    let (_, poor) = scheduled(&mut chain, "poor", 20, &answer(BASE - 1, 0));
    let (_, rich) = scheduled(&mut chain, "rich", 21, &answer(3 * BASE, 2_000));
    let (_, silent) = scheduled(&mut chain, "silent", 22, " raise\n");
    let (_, last) = scheduled(&mut chain, "last", 22, &answer(3 * BASE, 500));
    chain.height = Height(19);
    let asked = |chain: &mut Chain| {
        let (questions, fired) = next(chain);
        (questions.iter().map(|question| question.sender).collect::<Vec<_>>(), fired)
    };
    assert_eq!(asked(&mut chain), (vec![poor], vec![]));
    let fired = ["poor 0", "rich 2000"].map(str::to_string).to_vec();
    assert_eq!(asked(&mut chain), (vec![rich], fired), "the other bid too little: it is not asked, and the default agent bids for it");
    let (questions, fired) = asked(&mut chain);
    assert_eq!((questions, fired.len()), (vec![silent], 2), "both bid as the default agent does: {last}");
}

/// An agent in Python that waits patiently, and can be told to hurry: what its author writes, with a record of its own.
const PYTHON: &str = "from cowboy_sdk import Actor, actor, public, set_timer

@actor
class Patient(Actor):
    @public
    def run(self):
        self.storage['urgency'] = 3
        set_timer(20, 'tick', gas_limit=250_000, cells_limit=20_000, bidding_agent=self.address)

    def tick(self, data=None):
        self.storage['fired'] = True

    @public
    def get_gas_bid(self, context):
        base = context['basefee_lane_timer']
        waited = context['current_block_height'] - context['trigger_block_height']
        usual = max(context['previous_block_p50_priority_tip_per_cycle'], 100)
        tip = usual * (1 + waited) * self.storage.get('urgency', 1)
        affordable = context['owner_actor_balance'] // (2 * context['cycles_limit'])
        tip = max(0, min(tip, affordable - base))
        return {'max_fee_per_cycle': base + tip, 'max_priority_fee_per_cycle': tip}
";

/// Decision 322: the cycles of a question are enough for a Python agent that reads its storage and calculates.
#[test]
fn a_python_agent_has_enough_cycles() {
    let mut chain = auctioned(1, &[]);
    let manifest = cowboy_testkit::chain::manifest_json(
        r#"{"entitlements": [{"id": "econ.hold_balance"}, {"id": "storage.kv"}, {"id": "timer.schedule"}]}"#,
    );
    let deployment = cowboy_testkit::chain::deployment_of(PYTHON.as_bytes(), Some(manifest), None, b"", 1_000_000_000_000);
    let send = |chain: &mut Chain, instruction| {
        let mut transaction = cowboy_testkit::chain::unsigned(1, chain.nonce(1), instruction);
        transaction.cycles_limit = cowboy_types::units::Cycles(20_000_000);
        let outcome = chain.block(vec![cowboy_testkit::chain::sign(1, transaction)]);
        assert_eq!(outcome.receipts[0].abort, None, "{:?}", outcome.traces[0]);
        outcome.receipts[0].clone()
    };
    let agent = send(&mut chain, deployment).created.expect("it is deployed");
    send(&mut chain, cowboy_testkit::chain::execution(agent, "run", b"", 0));
    chain.height = Height(19);
    let receipts: Vec<Receipt> = chain.idle(1).into_iter().filter(|receipt| receipt.kind == ReceiptKind::Timer).collect();
    let [question, fire] = &receipts[..] else { panic!("a question and a fire, not {}", receipts.len()) };
    assert_eq!((&question.handler[..], question.abort.clone(), fire.abort.clone()), (bidding::HANDLER, None, None));
    assert_eq!(fire.fee.tip.0, 300 * fire.cycles_used.0, "three times what is usual");
    let used = question.cycles_used.0;
    assert!((1_000..25_000).contains(&used), "half of what a question has: {used}");
}

/// A block asks at most `timers.bids_per_block` agents; a bid of one's own and an agent exclude each other.
#[test]
fn a_block_asks_a_few_agents() {
    let mut chain = auctioned(1, &[("timers.bids_per_block", 1), ("lanes.timer_cycles", 2_000_000)]);
    let (agent, _) = scheduled(&mut chain, "first", 20, &answer(3 * BASE, 500));
    with_agent(&mut chain, "second", 20, agent);
    chain.height = Height(19);
    let (questions, fired) = next(&mut chain);
    assert_eq!((questions.len(), fired), (1, ["first 500", "second 0"].map(str::to_string).to_vec()));
    for line in ["0 20000 0 0 0x01", "0 20000 0 0 @3", "0 0 0 1 @3", "0 0 0 0 0x01"] {
        let actor = chain.deploy(&format!("handler run\n try timer_ex 100 'x' '' 0 0 {line}\n return $last\n"));
        let receipt = chain.call(actor, "run", b"");
        assert_eq!(std::str::from_utf8(&receipt.return_data).ok(), Some("invalid_argument"), "{line}");
    }
}
