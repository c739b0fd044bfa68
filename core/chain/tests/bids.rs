//! Bidding agents that schedulers name (003 §5.1b; decisions 322, 613 and 614).

use super::auction::{BASE, auctioned};
use cowboy_params::Params;
use cowboy_state::Kind;
use cowboy_state::records::{Answer, Timer};
use cowboy_system::auction::{self, Activity};
use cowboy_system::bidding;
use cowboy_testkit::chain::Chain;
use cowboy_types::cbor::{self, Value};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Height, Price};
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
    bidding_for(chain, name, &timer_of(height, 0, agent))
}

/// An actor with an interval of one block for which an agent bids.
fn every_block(chain: &mut Chain, name: &str, agent: Address) -> Address {
    bidding_for(chain, name, &interval_of(agent))
}

/// The line that sets an interval of one block.
fn interval_of(agent: Address) -> String {
    format!(" interval 1 'x' 250000 20000 0 0 0 0 0x{}\n", hex(&agent.0))
}

/// The line that schedules a timer at a height, with the last height at which it may fire, or zero.
fn timer_of(height: u64, expires_at: u64, agent: Address) -> String {
    format!(" timer_ex {height} 'x' '' 250000 20000 {expires_at} 0 0 0 0x{}\n", hex(&agent.0))
}

/// An actor that ran this line.
fn bidding_for(chain: &mut Chain, name: &str, line: &str) -> Address {
    let actor = chain.deploy(&format!("handler handle_timer\n burn 100000\n emit 'fired' '{name}'\nhandler run\n{line}"));
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

/// Decision 322: an agent that fails, wants to change something, uses too much or tips what its scheduler cannot pay is not followed; the
/// timer fires at the base fee or as the default agent bids, and the agent's state is as before.
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
    let params = &Params::GENESIS;
    let least = params.costs.call + params.timers.bid_cost;
    assert!(questions[0].cycles_used.0 >= least, "a question costs a call and its place, whoever answers: decision 613");
}

/// Decision 613: intervals that fire in every block and tip more than others do not keep the agents of others from being asked, and take turns among
/// themselves.
#[test]
fn intervals_leave_questions_for_others() {
    let mut chain = auctioned(1, &[("timers.bids_per_block", 2), ("lanes.timer_cycles", 4_000_000)]);
    let agent = chain.deploy(&format!("handler get_gas_bid\n{}", answer(3 * BASE, 2_000)));
    let busy = ["busy0", "busy1", "busy2"].map(|name| every_block(&mut chain, name, agent));
    let (_, calm) = scheduled(&mut chain, "calm", 40, &answer(3 * BASE, 700));
    chain.idle(35 - chain.height.0);
    let asked: Vec<Address> = (0..4).flat_map(|_| next(&mut chain).0).map(|question| question.sender).collect();
    assert_eq!(asked.len(), 8);
    assert!(busy.iter().all(|one| asked.iter().filter(|asked| *asked == one).count() >= 2), "none is left out of two blocks");
    let (questions, fired) = next(&mut chain);
    assert_eq!((questions.len(), questions[0].sender), (2, calm), "it has waited the longest");
    assert!(fired.contains(&"calm 700".to_string()), "{fired:?}");
}

/// Decision 613: an interval whose agent was never asked has waited since it was scheduled, however often it fired by the default agent's bid.
#[test]
fn an_interval_waits_since_it_was_scheduled() {
    let mut chain = auctioned(1, &[("timers.bids_per_block", 1), ("lanes.timer_cycles", 4_000_000)]);
    let agent = chain.deploy(&format!("handler get_gas_bid\n{}", answer(3 * BASE, 2_000)));
    for name in ["busy0", "busy1"] {
        every_block(&mut chain, name, agent);
    }
    chain.idle(4);
    let late = every_block(&mut chain, "late", agent);
    let asked: Vec<Address> = (0..4).flat_map(|_| next(&mut chain).0).map(|question| question.sender).collect();
    assert_eq!((asked.len(), asked.contains(&late)), (4, true), "two others take turns, and leave one to it");
}

/// Decision 613: whoever has many schedulers with timers that wait takes all questions. What that costs and what it brings: each of them keeps a newcomer's agent from
/// one question, and pays for its own; the newcomer's timer fires in every block all the same, as the default agent bids, also where others tip.
#[test]
fn taking_all_questions_delays_no_fire() {
    let params = &Params::GENESIS;
    let price = (params.costs.call + params.timers.bid_cost) * BASE;
    for schedulers in [4, 8, 12] {
        // The four that tip use more than half of the lane in each block, so that the median is theirs.
        let rows = [("timers.bids_per_block", 2), ("lanes.timer_cycles", 750_000), ("timers.auction_max_change", 1)];
        let mut chain = auctioned(1, &rows);
        let waits = chain.deploy(&format!("handler get_gas_bid\n{}", answer(0, 0)));
        let taking: Vec<Address> = (0..schedulers).map(|number| with_agent(&mut chain, &format!("taking{number}"), 60, waits)).collect();
        let urgent = chain.deploy(&format!("handler get_gas_bid\n{}", answer(3 * BASE, 2_000)));
        for name in ["rich0", "rich1", "rich2", "rich3"] {
            let interval = " interval 1 'x' 250000 20000 0 90000 500\n";
            bidding_for(&mut chain, name, interval);
        }
        chain.idle(70 - chain.height.0);
        // By now each of them was asked, and waits.
        let late = every_block(&mut chain, "late", urgent);
        let (mut unasked, mut paid) = (0, 0);
        loop {
            let (questions, fired) = next(&mut chain);
            assert_eq!(questions.len(), 2);
            if questions.iter().any(|question| question.sender == late) {
                assert!(fired.contains(&"late 2000".to_string()), "{fired:?}");
                break;
            }
            assert!(questions.iter().all(|question| taking.contains(&question.sender)));
            assert!(fired.contains(&"late 500".to_string()), "the default agent tips as the median: {fired:?}");
            unasked += 1;
            paid += questions.iter().map(|question| question.fee.burned.0).sum::<u64>();
        }
        assert!(unasked <= schedulers / 2, "{unasked} blocks for {schedulers} schedulers");
        assert!(paid >= unasked * 2 * price, "{paid} for {unasked} blocks");
    }
}

/// Decisions 613 and 614: what an agent said last holds while it is not asked, so that no timer fires that is to wait. A scheduler with three timers has
/// one question while another one has one, and its timers take turns.
#[test]
fn a_timer_waits_until_its_agent_is_asked_again() {
    let mut chain = auctioned(1, &[("timers.bids_per_block", 2), ("lanes.timer_cycles", 2_000_000)]);
    let waits = chain.deploy(&format!("handler get_gas_bid\n{}", answer(0, 0)));
    let lines: String = (30..33).map(|height| timer_of(height, 0, waits)).collect();
    let three = chain.deploy(&format!("handler handle_timer\n emit 'fired' 'three'\nhandler run\n{lines}"));
    assert_eq!(chain.call(three, "run", b"").abort, None);
    let (_, low) = scheduled(&mut chain, "low", 30, &answer(BASE - 1, 0));
    chain.height = Height(29);
    let (balance, mut paid) = (chain.balance(low), 0);
    for height in 30..=38 {
        let (questions, fired) = next(&mut chain);
        let mut asked: Vec<Address> = questions.iter().map(|question| question.sender).collect();
        asked.sort_unstable();
        let mut both = vec![three, low];
        both.sort_unstable();
        assert_eq!((asked, fired.len()), (both, 0), "{height}");
        paid += questions.iter().filter(|question| question.sender == low).map(|question| question.fee.burned.0).sum::<u64>();
    }
    assert_eq!(balance - chain.balance(low), paid, "who waits pays for its questions and nothing else");
    let mut last: Vec<(u64, Answer)> = chain
        .all::<Timer>(Kind::Timer)
        .into_iter()
        .filter_map(|(_, timer)| timer.asked)
        .map(|asked| (asked.height.0, asked.answer))
        .collect();
    last.sort_unstable_by_key(|(height, answer)| (*height, answer.number()));
    let bid = Answer::Bid { max_fee: Price(BASE - 1), priority: Price(0) };
    assert_eq!(last, [(36, Answer::Wait), (37, Answer::Wait), (38, Answer::Wait), (38, bid)]);
}

/// Decision 614: a timer that waits ends as unfunded once its scheduler cannot pay for the next question. Whoever can pay waits on.
#[test]
fn who_waits_and_cannot_pay_is_removed() {
    let mut chain = auctioned(1, &[("lanes.timer_cycles", 2_000_000)]);
    let waits = chain.deploy(&format!("handler get_gas_bid\n{}", answer(0, 0)));
    let line = timer_of(30, 0, waits);
    let [poor, rich] = ["poor", "rich"].map(|name| {
        let spends = "handler spend\n pay @3 999400000000\n";
        let actor = chain.deploy(&format!("{spends}handler handle_timer\n emit 'fired' '{name}'\nhandler run\n{line}"));
        assert_eq!(chain.call(actor, "run", b"").abort, None);
        actor
    });
    chain.height = Height(29);
    let (questions, fired) = next(&mut chain);
    assert_eq!((questions.len(), fired.len()), (2, 0), "both wait");
    let spend = cowboy_testkit::chain::execution(poor, "spend", b"", 0);
    let outcome = chain.block(vec![cowboy_testkit::chain::signed(1, chain.nonce(1), spend)]);
    assert_eq!(outcome.receipts[0].abort, None);
    let of_timers = outcome.receipts.iter().filter(|receipt| receipt.kind == ReceiptKind::Timer);
    let (removed, questions): (Vec<&Receipt>, Vec<&Receipt>) = of_timers.partition(|receipt| receipt.abort == Some(error::TIMER_UNFUNDED));
    let [removed] = &removed[..] else { panic!("one timer ends, not {}", removed.len()) };
    assert_eq!(
        removed.events.iter().map(|event| &event.name[..]).collect::<Vec<_>>(),
        ["TimerCancelledInsufficientFunds", "timer.removed"]
    );
    let said = cbor::decode(&removed.events[0].data).expect("CBOR");
    let number = |name: &str| said.get(name).and_then(Value::as_u64);
    let required = (Params::GENESIS.timers.bid_cycles + bidding::CELLS.0) * BASE;
    assert_eq!((number("required"), number("available")), (Some(required), Some(chain.balance(poor))), "nothing was charged");
    assert_eq!(said.get("fee_payer").and_then(Value::as_bytes), Some(&poor.0[..]));
    assert_eq!(questions.iter().map(|question| question.sender).collect::<Vec<_>>(), [rich]);
    assert_eq!(next(&mut chain).0.iter().map(|question| question.sender).collect::<Vec<_>>(), [rich], "it is asked in each block");
    assert_eq!(chain.all::<Timer>(Kind::Timer).len(), 1);
}

/// Decision 614: a timer whose agent is not asked bids as the agent answered last, and not as the default agent would.
#[test]
fn an_answer_holds_until_the_next_question() {
    let mut chain = auctioned(1, &[("timers.bids_per_block", 1), ("lanes.timer_cycles", 4_000_000)]);
    let agent = chain.deploy(&format!("handler get_gas_bid\n{}", answer(2 * BASE, 10)));
    for name in ["a", "b"] {
        every_block(&mut chain, name, agent);
    }
    for name in ["rich0", "rich1", "rich2"] {
        let rich = chain.deploy(&format!(
            "handler handle_timer\n burn 100000\n emit 'fired' '{name}'\nhandler run\n interval 1 'x' 250000 20000 0 90000 5000\n"
        ));
        assert_eq!(chain.call(rich, "run", b"").abort, None);
    }
    chain.idle(4);
    for _ in 0..4 {
        let (questions, mut fired) = next(&mut chain);
        fired.sort_unstable();
        assert_eq!((questions.len(), fired), (1, ["a 10", "b 10", "rich0 5000", "rich1 5000", "rich2 5000"].map(str::to_string).to_vec()));
    }
}

/// Decision 767: agents may repeat the median that they are told, or more than it. What they tip counts for a third, so that the default agents of others do not
/// follow them for ever.
#[test]
fn tips_of_agents_count_for_a_third() {
    let mut chain = auctioned(1, &[("lanes.timer_cycles", 1_000_000), ("timers.auction_max_change", 1)]);
    let agent = chain.deploy(&format!("handler get_gas_bid\n{}", answer(9 * BASE, 6_000)));
    // They use more than half of the lane.
    let script = "handler handle_timer\n burn 130000\n emit 'fired' 'busy'\nhandler run\n";
    for number in 0..4 {
        let busy = chain.deploy(&format!("{script}{}handler number{number}\n", interval_of(agent)));
        assert_eq!(chain.call(busy, "run", b"").abort, None);
    }
    bidding_for(&mut chain, "late", " interval 1 'x' 250000 20000 0\n");
    chain.idle(4);
    let (questions, mut fired) = next(&mut chain);
    fired.sort_unstable();
    assert_eq!(
        (questions.len(), fired),
        (4, ["busy 6000", "busy 6000", "busy 6000", "busy 6000", "late 2000"].map(str::to_string).to_vec())
    );
}

/// Decision 614: a tip that the scheduler cannot pay counts as no tip; where an agent gives no answer, the default agent tips as the median.
#[test]
fn a_tip_that_cannot_be_paid_is_none() {
    let mut chain = auctioned(1, &[("timers.auction_oldest", 0)]);
    // They use more than half of the lane.
    let tips = " timer_ex 29 'x' '' 250000 20000 0 90000 5000\n".repeat(3);
    bidding_for(&mut chain, "rich", &tips);
    scheduled(&mut chain, "poor", 30, &answer(u64::MAX, u64::MAX));
    scheduled(&mut chain, "silent", 30, " raise\n");
    chain.height = Height(28);
    assert_eq!(next(&mut chain).1, ["rich 5000"; 3]);
    assert_eq!(next(&mut chain).1, ["silent 5000", "poor 0"]);
}

/// Decision 614: an interval does not end because its scheduler can no longer pay what its agent answered before, whether it is asked again or not.
#[test]
fn a_tip_from_before_ends_no_interval() {
    let mut chain = auctioned(1, &[("timers.bids_per_block", 1), ("lanes.timer_cycles", 4_000_000)]);
    let agent = chain.deploy(&format!("handler get_gas_bid\n{}", answer(2 * BASE, BASE)));
    let line = interval_of(agent);
    let [one, two] = ["one", "two"].map(|name| {
        // What is left covers a fire at the base fee, and not one at twice as much.
        let spends = "handler spend\n pay @3 995000000000\n";
        let actor = chain.deploy(&format!("{spends}handler handle_timer\n emit 'fired' '{name}'\nhandler run\n{line}"));
        assert_eq!(chain.call(actor, "run", b"").abort, None);
        actor
    });
    chain.idle(2);
    assert_eq!(chain.call(one, "spend", b"").abort, None);
    let mut asked = Vec::new();
    for _ in 0..2 {
        let (questions, mut fired) = next(&mut chain);
        fired.sort_unstable();
        assert_eq!(fired, ["one 0", "two 10000"]);
        asked.extend(questions.iter().map(|question| question.sender));
    }
    assert!(asked.len() == 2 && asked.contains(&one) && asked.contains(&two), "each is asked in one of the blocks");
}

/// Decision 613: naming somebody's agent takes nothing of what that actor may use in a block.
#[test]
fn questions_take_no_share_of_the_agent() {
    let rows = [("execution.actor_block_cycles", 100_000), ("execution.burst_reserve", 10_000), ("lanes.timer_cycles", 4_000_000)];
    let mut chain = auctioned(1, &rows);
    let bid = answer(3 * BASE, 7);
    let agent = chain.deploy(&format!(
        "handler get_gas_bid\n burn 30000\n{bid}handler handle_timer\n burn 30000\n emit 'fired' 'agent'\nhandler run\n timer_ex 40 'x' '' 250000 20000 0\n"
    ));
    assert_eq!(chain.call(agent, "run", b"").abort, None);
    for name in ["one", "two", "three", "four"] {
        with_agent(&mut chain, name, 40, agent);
    }
    chain.height = Height(39);
    let (questions, fired) = next(&mut chain);
    assert!(questions.iter().all(|question| question.abort.is_none()) && questions.len() == 4);
    assert!(fired.contains(&"agent 0".to_string()), "{fired:?}");
}

/// Decision 613: when a scheduler was asked is remembered as long as fires are counted, also where none of its timers fired.
#[test]
fn questions_are_forgotten() {
    let mut chain = auctioned(1, &[("timers.fairness_window", 10)]);
    let waits = chain.deploy(&format!("handler get_gas_bid\n{}", answer(0, 0)));
    let owner = chain.deploy(&format!("handler handle_timer\nhandler run\n{}", timer_of(20, 22, waits)));
    assert_eq!(chain.call(owner, "run", b"").abort, None);
    chain.height = Height(19);
    let activity = |chain: &Chain| chain.record::<Activity>(&auction::activity_key(owner));
    let asked: Vec<Option<u64>> = (20..=32)
        .map(|_| {
            chain.idle(1);
            activity(&chain).and_then(|activity| activity.asked).map(|height| height.0)
        })
        .collect();
    let expected = [20, 21, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 0].map(|height| (height > 0).then_some(height));
    assert_eq!((asked, activity(&chain)), (expected.to_vec(), None));
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
    let used = question.cycles_used.0 - Params::GENESIS.timers.bid_cost;
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
