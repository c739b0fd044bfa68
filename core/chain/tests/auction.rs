//! The auction of the timer lane: 003 §5.1b, line by line (decision 330).

use cowboy_state::records::Timer;
use cowboy_state::{Directory, Kind};
use cowboy_system::auction::{self, Activity, Auction};
use cowboy_system::timers;
use cowboy_testkit::chain::{Chain, PROPOSER, address, execution, parameters, sign, transfer, unsigned};
use cowboy_testkit::governance::upgrades;
use cowboy_types::cbor::{self, Value};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Cycles, Height, Price};
use cowboy_types::{Address, Hash, Receipt, error};

/// Runs on chains where governance moved a parameter: see `effects`.
pub(crate) const SCENARIOS: &[cowboy_testkit::Scenario] = cowboy_testkit::scenarios![
    the_best_bid_fires_first_and_the_tip_is_the_proposers,
    schedulers_that_fired_little_come_first,
    the_default_agent_follows_the_median,
    a_scheduler_says_what_it_bids,
    timers_in_flight_continue,
    the_oldest_are_never_starved,
    fires_are_forgotten,
    a_storm_hides_nobody,
    timers_that_wait_delay_nobody,
];

pub(super) const BASE: u64 = 10_000;

/// A chain whose timers are auctioned from a height on, with room for two of these tests' timers in a block.
pub(super) fn auctioned(from: u64, more: &[(&str, u64)]) -> Chain {
    let rows = [("lanes.timer_cycles", 550_000), ("execution.burst_reserve", 0)];
    let rows: Vec<(&str, u64)> =
        rows.into_iter().filter(|(name, _)| more.iter().all(|(other, _)| other != name)).chain(more.iter().copied()).collect();
    Chain::with(|genesis| {
        genesis.parameters = parameters(&rows);
        genesis.calls = upgrades(&[(2, from)]);
    })
}

/// An actor whose timers use most of what they declare. Each has code of its own, so that each has an address of its own.
fn bidder(chain: &mut Chain, name: &str, lines: &str) -> Address {
    chain.deploy(&format!("handler handle_timer\n burn 230000\n emit 'fired' '{name}'\nhandler run\n{lines}"))
}

/// A timer at a height, with a maximum and a tip.
fn at(height: u64, max: u64, tip: u64) -> String {
    format!(" timer_ex {height} 'x' '' 250000 20000 0 {max} {tip}\n")
}

/// What fired in the next block, in order.
fn fired(chain: &mut Chain) -> Vec<(Receipt, String)> {
    let fires = chain.idle(1).into_iter().filter(|receipt| receipt.kind == ReceiptKind::Timer && receipt.is_success());
    fires.map(|receipt| (receipt.clone(), String::from_utf8_lossy(&receipt.events[0].data).into_owned())).collect()
}

fn names(fired: &[(Receipt, String)]) -> Vec<&str> {
    fired.iter().map(|(_, name)| name.as_str()).collect()
}

fn auction(chain: &Chain) -> Auction {
    chain.record(&auction::key()).expect("the auction is on")
}

/// by tip, the lane's base fee burned and the tip to the proposer; what does not fit waits, and no CBY comes or goes.
#[test]
fn the_best_bid_fires_first_and_the_tip_is_the_proposers() {
    let mut chain = auctioned(1, &[("timers.auction_oldest", 0)]);
    for (name, max, tip) in [("low", 2 * BASE, 10), ("cut", BASE + 300, 5_000), ("high", 3 * BASE, 2_000), ("none", 2 * BASE, 0)] {
        let actor = bidder(&mut chain, name, &at(20, max, tip));
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    }
    chain.height = Height(19);
    let tips = chain.balance(PROPOSER);
    let first = fired(&mut chain);
    assert_eq!(names(&first), ["high", "cut"], "the effective tip counts: what the maximum leaves above the base fee");
    let paid: Vec<(u64, u64)> =
        first.iter().map(|(receipt, _)| (receipt.fee.cycle_price.0, receipt.fee.tip.0 / receipt.cycles_used.0)).collect();
    assert_eq!(paid, [(BASE + 2_000, 2_000), (BASE + 300, 300)]);
    assert_eq!(chain.balance(PROPOSER) - tips, first.iter().map(|(receipt, _)| receipt.fee.tip.0).sum::<u64>());
    for (receipt, _) in &first {
        assert_eq!(receipt.fee.burned.0, receipt.cycles_used.0 * BASE + receipt.cells_used.0 * BASE);
    }
    assert_eq!(auction(&chain).base_fee, Price(BASE + BASE / 8), "the lane was used above its target");
    assert_eq!(names(&fired(&mut chain)), ["low", "none"]);
}

/// with equal tips, and with none, whoever fired less than the others fires first; a tip twice as high makes up for it.
#[test]
fn schedulers_that_fired_little_come_first() {
    let mut chain = auctioned(1, &[("timers.auction_oldest", 0)]);
    let busy = bidder(&mut chain, "busy", &(10..16).map(|height| at(height, 90_000, 0)).collect::<String>());
    let calm = bidder(&mut chain, "calm", &at(10, 90_000, 0));
    for actor in [busy, calm] {
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    }
    chain.height = Height(9);
    chain.idle(7);
    let auction = auction(&chain);
    assert_eq!([0, 1, 6].map(|fires| auction.weight(fires)), [20_000, 20_000, 10_000], "the median is one fire");
    let weight_of = |chain: &mut Chain, scheduler: Address| {
        let argument = Value::map([("scheduler", Value::Bytes(scheduler.0.to_vec()))]).encode();
        let found = cbor::decode(&chain.call(Address::system(6), "get_timer_auction", &argument).return_data).expect("CBOR");
        (found.get("weight").and_then(Value::as_u64), found.get("base_fee").and_then(Value::as_u64))
    };
    assert_eq!(weight_of(&mut chain, busy), (Some(10_000), Some(BASE)));
    assert_eq!(weight_of(&mut chain, calm).0, Some(20_000));
    let late = |chain: &mut Chain, name: &str, tip: u64| {
        let actor = bidder(chain, name, &at(60, 90_000, tip));
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    };
    // The busy one's timers of the same height: it tips nothing, 1,500 and 2,001.
    let more = [0, 1_500, 2_001].map(|tip| at(60, 90_000, tip)).concat();
    let again = chain.deploy(&format!(
        "handler handle_timer\n burn 230000\n emit 'fired' 'again'\nhandler warm\n{}handler run\n{more}",
        at(40, 90_000, 0)
    ));
    for height in 0..12 {
        assert_eq!(chain.call(again, "warm", b"").abort, None, "{height}");
    }
    chain.height = Height(39);
    chain.idle(8);
    assert_eq!(chain.call(again, "run", b"").abort, None);
    late(&mut chain, "even", 1_000);
    late(&mut chain, "nothing", 0);
    chain.height = Height(59);
    let order: Vec<String> = (0..3)
        .flat_map(|_| fired(&mut chain))
        .map(|(receipt, name)| format!("{name} {}", receipt.fee.tip.0 / receipt.cycles_used.0))
        .collect();
    assert_eq!(order, ["again 2001", "even 1000", "again 1500", "nothing 0", "again 0"]);
}

/// without a bid, twice the base fee and the median tip of the block before, more or less by the hint.
#[test]
fn the_default_agent_follows_the_median() {
    // Three of these timers use more than half of this lane, and it has room for four.
    let mut chain = auctioned(1, &[("lanes.timer_cycles", 1_000_000)]);
    let tippers = bidder(&mut chain, "tips", &[at(20, 90_000, 1_000), at(20, 90_000, 1_000), at(20, 90_000, 9_000)].concat());
    let hints = ["", " 0 0 1", " 0 0 2", " 0 0 3"].map(|hint| format!(" timer_ex 21 'x' '' 250000 20000 0{hint}\n")).concat();
    let agents = bidder(&mut chain, "agents", &hints);
    for actor in [tippers, agents] {
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    }
    chain.height = Height(19);
    assert_eq!(fired(&mut chain).len(), 3);
    assert_eq!(auction(&chain).median_tip, Price(1_000));
    let tips: Vec<u64> = fired(&mut chain).iter().map(|(receipt, _)| receipt.fee.tip.0 / receipt.cycles_used.0).collect();
    let mut sorted = tips;
    sorted.sort_unstable();
    assert_eq!(sorted, [800, 1_000, 1_500, 2_500], "economy, standard, fast, urgent");
    let rich = bidder(&mut chain, "rich", &at(40, 900_000, 500_000).repeat(3));
    let urgent = bidder(&mut chain, "urgent", " timer_ex 41 'x' '' 250000 20000 0 0 0 3\n");
    for actor in [rich, urgent] {
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    }
    chain.height = Height(39);
    fired(&mut chain);
    let capped = &fired(&mut chain)[0].0;
    assert_eq!(capped.fee.tip.0, capped.fee.burned.0 - capped.cells_used.0 * BASE, "never more than twice the base fee in all");
}

/// Decision 745: a default agent tips as others bid, and not as default agents tipped. Else one block of high tips would raise the tips of all that follow.
#[test]
fn default_agents_do_not_follow_each_other() {
    let mut chain = auctioned(1, &[]);
    let rich = bidder(&mut chain, "rich", &at(20, 90_000, 5_000).repeat(2));
    let lines: String = (21..24).map(|height| format!(" timer_ex {height} 'x' '' 250000 20000 0\n").repeat(2)).collect();
    let plain = bidder(&mut chain, "plain", &lines);
    for actor in [rich, plain] {
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    }
    chain.height = Height(19);
    assert_eq!(names(&fired(&mut chain)), ["rich", "rich"]);
    let tips = (0..3).flat_map(|_| fired(&mut chain)).map(|(receipt, _)| receipt.fee.tip.0 / receipt.cycles_used.0);
    assert_eq!(tips.collect::<Vec<u64>>(), [5_000, 5_000, 0, 0, 0, 0], "however full the lane is");
}

/// Strategy: whoever proposes the next block has one timer of its own bid in a light block, where nobody else fires, so that all default agents tip as much in
/// the next one. What the lane has left counts as no tip: half of it has to be bid for (decision 745).
#[test]
fn a_lone_bidder_moves_nothing() {
    for (timers, median) in [(1, 0), (2, 9_000)] {
        let mut chain = auctioned(1, &[]);
        let lone = bidder(&mut chain, "lone", &at(20, 90_000, 9_000).repeat(timers));
        let plain = bidder(&mut chain, "plain", " timer_ex 21 'x' '' 250000 20000 0\n");
        for actor in [lone, plain] {
            assert_eq!(chain.call(actor, "run", b"").abort, None);
        }
        chain.height = Height(19);
        assert_eq!(names(&fired(&mut chain)), vec!["lone"; timers]);
        assert_eq!(auction(&chain).median_tip, Price(median), "{timers} of the two timers for which the lane has room");
        let plain = &fired(&mut chain)[0].0;
        assert_eq!(plain.fee.tip.0 / plain.cycles_used.0, median);
    }
}

/// Strategy: a proposer, who receives the tips, has many small timers bid high ones, so that the default agents of large ones tip as much in the next block. The
/// cycles decide and not the fires (decision 745).
#[test]
fn many_small_fires_do_not_move_the_median() {
    // The large ones nearly fill the lane.
    let mut chain = auctioned(1, &[]);
    let lines: String = (0..10).map(|_| at(20, 90_000, 9_000)).collect();
    let small = chain.deploy(&format!("handler handle_timer\n emit 'fired' 'small'\nhandler run\n{lines}"));
    let plain = bidder(&mut chain, "plain", &[20, 20, 21].map(|height| format!(" timer_ex {height} 'x' '' 250000 20000 0\n")).concat());
    for actor in [small, plain] {
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    }
    chain.height = Height(19);
    let first = names(&fired(&mut chain)).into_iter().map(str::to_string).collect::<Vec<_>>();
    assert_eq!((first.len(), first.iter().filter(|name| *name == "small").count()), (12, 10));
    assert_eq!(auction(&chain).median_tip, Price(0));
    assert_eq!(fired(&mut chain)[0].0.fee.tip.0, 0);
}

/// bids are read strictly, a tip above the maximum is cut with an event, a maximum below the base fee is refused,
/// and so is a timer above 250,000 cycles.
#[test]
fn a_scheduler_says_what_it_bids() {
    let rows = [
        ("timer_ex 100 'x' '' 250001", "timer_limit"),
        ("timer_ex 100 'x' '' 0 0 0 9999 0", "timer_below_base_fee"),
        ("timer_ex 100 'x' '' 0 0 0 0 5", "invalid_argument"),
        ("timer_ex 100 'x' '' 0 0 0 20000 5 1", "invalid_argument"),
        ("timer_ex 100 'x' '' 0 0 0 0 0 4", "invalid_argument"),
        ("interval 5 'x' 250001", "timer_limit"),
        ("interval 5 'x' 0 0 0 9999 0", "timer_below_base_fee"),
    ];
    for (line, expected) in rows {
        let mut chain = auctioned(1, &[]);
        let actor = chain.deploy(&format!("handler run\n try {line}\n return $last\n"));
        let receipt = chain.call(actor, "run", b"");
        assert_eq!(std::str::from_utf8(&receipt.return_data).ok(), Some(expected), "{line}");
    }
    let mut chain = auctioned(1, &[]);
    let actor = chain.deploy("handler run\n timer_ex 100 'x' '' 0 0 0 20000 30000\n timer 100 'y'\n");
    let receipt = chain.call(actor, "run", b"");
    assert_eq!((receipt.abort.clone(), receipt.events[0].name.to_string()), (None, "TimerPriorityClampedAtSchedule".to_string()));
    let mut timers: Vec<Timer> = chain.all::<Timer>(Kind::Timer).into_iter().map(|(_, timer)| timer).collect();
    timers.sort_by_key(|timer| timer.sequence);
    assert_eq!((timers[0].max_fee_per_cycle, timers[0].priority_per_cycle), (Price(20_000), Price(20_000)));
    assert_eq!(timers.iter().map(|timer| timer.cycles_limit).collect::<Vec<_>>(), [Cycles(250_000); 2]);
    let mut early = auctioned(1_000, &[]);
    let actor = early.deploy("handler run\n timer_ex 100 'x' '' 550000 0 0 5 5\n return 'x'\n");
    assert_eq!(early.call(actor, "run", b"").abort, None, "before the auction a bid waits for it");
}

/// at its height timers that were scheduled before it continue, with the limits that they have and the default agent's bid; before it
/// nothing is different, and a bid that is too low waits until the base fee falls.
#[test]
fn timers_in_flight_continue() {
    let mut chain = auctioned(30, &[("lanes.timer_cycles", 8_888_890)]);
    let large = chain.deploy("handler handle_timer\n burn 400000\n emit 'fired' 'large'\nhandler run\n interval 5 'x' 500000 20000\n");
    let bids = bidder(&mut chain, "bids", &at(30, BASE, 0));
    for actor in [large, bids] {
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    }
    chain.height = Height(18);
    assert_eq!(names(&fired(&mut chain)), ["large"], "first in, first out");
    assert!(chain.record::<Auction>(&auction::key()).is_none());
    chain.height = Height(29);
    let together = fired(&mut chain);
    let mut found = names(&together);
    found.sort_unstable();
    assert_eq!(found, ["bids", "large"]);
    assert!(together.iter().all(|(receipt, _)| receipt.fee.cycle_price.0 == BASE && receipt.fee.tip.0 == 0));
    assert_eq!(auction(&chain).counted_from, Height(30));
    let mut chain = auctioned(1, &[]);
    let rush = bidder(&mut chain, "rush", &(0..2).map(|_| at(20, 90_000, 0)).collect::<String>());
    let waits = bidder(&mut chain, "waits", &at(21, BASE, 0));
    for actor in [rush, waits] {
        assert_eq!(chain.call(actor, "run", b"").abort, None);
    }
    chain.height = Height(19);
    assert_eq!(names(&fired(&mut chain)), ["rush", "rush"]);
    assert_eq!(auction(&chain).base_fee, Price(11_250));
    assert_eq!(names(&fired(&mut chain)), Vec::<&str>::new(), "it offers less than the base fee");
    assert_eq!(names(&fired(&mut chain)), ["waits"], "which fell again");
}

/// Decision 330: whatever others bid, a part of the lane is the oldest timers'. Without that part a low bid waits as long as others bid more.
#[test]
fn the_oldest_are_never_starved() {
    for (share, fires) in [(5_000, true), (0, false)] {
        let mut chain = auctioned(1, &[("timers.auction_oldest", share), ("timers.auction_max_change", 1)]);
        let poor = bidder(&mut chain, "poor", &at(30, 2 * BASE, 0));
        assert_eq!(chain.call(poor, "run", b"").abort, None);
        for number in 0..3 {
            let rich = bidder(&mut chain, &format!("rich{number}"), " interval 1 'x' 250000 20000 0 90000 5000\n");
            assert_eq!(chain.call(rich, "run", b"").abort, None);
        }
        chain.idle(29 - chain.height.0);
        let waited = (0..20).position(|_| names(&fired(&mut chain)).contains(&"poor"));
        assert_eq!(waited, fires.then_some(0), "a share of {share}");
    }
}

/// what fired before the window is forgotten, record by record, and the base fee falls back to its floor.
#[test]
fn fires_are_forgotten() {
    let mut chain = auctioned(1, &[("timers.fairness_window", 10)]);
    let actor = bidder(&mut chain, "one", &[at(20, 90_000, 0), at(21, 90_000, 0), at(25, 90_000, 0)].concat());
    assert_eq!(chain.call(actor, "run", b"").abort, None);
    chain.height = Height(19);
    let fires = |chain: &Chain| chain.record::<Activity>(&auction::activity_key(actor)).map(|activity| activity.fires.0);
    let counted: Vec<Option<u64>> = (20..=36)
        .map(|_| {
            chain.idle(1);
            fires(&chain)
        })
        .collect();
    let expected = [1, 2, 2, 2, 2, 3, 3, 3, 3, 3, 2, 1, 1, 1, 1, 0, 0].map(|count| (count > 0).then_some(count));
    assert_eq!(counted, expected, "by height, from 20 on");
    assert_eq!((auction(&chain).tallies.len(), auction(&chain).base_fee), (0, Price(BASE)));
}

/// A storm of timers that are due before it does not hide a timer from the blocks: each looks first at those that become due in it (decision 653).
#[test]
fn a_storm_hides_nobody() {
    let mut chain = auctioned(1, &[("timers.examined_per_block", 64), ("timers.auction_oldest", 0)]);
    let storm =
        bidder(&mut chain, "storm", &(0..200).map(|number| format!(" timer_ex 20 'x{number}' '' 250000 2000 0\n")).collect::<String>());
    let honest = bidder(&mut chain, "honest", &at(22, 900_000, 100));
    for actor in [storm, honest] {
        let receipt = chain.send_with(actor, 20_000_000);
        assert_eq!(receipt.abort, None);
    }
    chain.height = Height(19);
    let waited = (0..100).position(|_| names(&fired(&mut chain)).contains(&"honest"));
    assert_eq!(waited, Some(2), "it fires at its height");
    assert!(chain.all::<Timer>(Kind::Timer).len() > 180, "most of the storm still waits");
    assert_eq!(error::row(error::TIMER_BELOW_BASE_FEE.code).slug, "timer_below_base_fee");
}

/// Schedules 64 timers at a height, as many times, that bid the lowest base fee, and has two actors keep the base fee above it for as long again.
fn storm(chain: &mut Chain, due: u64, times: usize) {
    let waiting: String = (0..64).map(|number| format!(" timer_ex {due} 'x{number}' '' 250000 2000 0 {BASE} 0\n")).collect();
    for number in 0..times {
        let storm =
            chain.deploy(&format!("handler handle_timer\n emit 'fired' 'storm'\nhandler run\n{waiting}handler name\n return '{number}'\n"));
        assert_eq!(chain.send_with(storm, 20_000_000).abort, None);
    }
    let busy: String = (due - 3..=2 * due).map(|height| at(height, 90_000, 5_000)).collect();
    for name in ["busy0", "busy1"] {
        let actor = bidder(chain, name, &busy);
        assert_eq!(chain.send_with(actor, 20_000_000).abort, None);
    }
}

/// Decision 653: timers that bid below the base fee cost nothing while they wait. They delay nobody's timer, however many times as many as a block examines
/// there are. Once the base fee falls they all fire, before they have waited twice as long.
#[test]
fn timers_that_wait_delay_nobody() {
    const DUE: u64 = 60;
    for times in [1, 8] {
        let rows = [("timers.examined_per_block", 64), ("timers.auction_oldest", 0), ("timers.auction_max_change", 1)];
        let mut chain = auctioned(1, &rows);
        storm(&mut chain, DUE, times);
        for height in [DUE + 1, DUE + 2, DUE + 20] {
            let honest = bidder(&mut chain, &format!("honest{height}"), &at(height, 90_000, 9_000));
            assert_eq!(chain.call(honest, "run", b"").abort, None);
        }
        chain.idle(DUE - 1 - chain.height.0);
        let mut delays = Vec::new();
        for height in DUE..=2 * DUE {
            let fires = fired(&mut chain);
            assert!(!names(&fires).contains(&"storm"), "block {height}: the base fee is higher");
            let due = names(&fires).into_iter().filter_map(|name| name.strip_prefix("honest")?.parse::<u64>().ok());
            delays.extend(due.map(|due| height - due));
        }
        assert_eq!(delays, [0; 3], "{times} × 64 timers wait");
        assert!(chain.all::<Timer>(Kind::Timer).len() >= 64 * times, "none of them is lost");
        // The base fee has risen by about one unit a block, and falls as fast.
        chain.idle(5 * DUE);
        assert!(chain.all::<Timer>(Kind::Timer).is_empty(), "{times} × 64 timers fire");
    }
}

/// Decision 653: a timer that was put off and whose expiry is moved before the height at which it would be examined again is removed as soon as it has
/// expired, however many others wait. One whose expiry lies behind that height keeps its place.
#[test]
fn a_timer_that_was_put_off_expires_in_time() {
    const DUE: u64 = 60;
    let rows = [
        ("lanes.timer_cycles", 550_000),
        ("execution.burst_reserve", 0),
        ("timers.examined_per_block", 64),
        ("timers.auction_oldest", 0),
        ("timers.auction_max_change", 1),
    ];
    let mut chain = Chain::with(|genesis| {
        genesis.parameters = parameters(&rows);
        genesis.calls = upgrades(&[(2, 1)]);
        genesis.deployers = cowboy_types::List::new(vec![address(9)]).expect("one fits");
    });
    storm(&mut chain, DUE, 4);
    chain.idle(DUE + 40 - chain.height.0);
    let listed = |chain: &Chain| -> Vec<(Height, Hash)> {
        chain.names(Directory::timers_put_off()).iter().map(|name| timers::listed(name)).collect()
    };
    let waiting = listed(&chain);
    let [.., (again, kept), (_, moved)] = waiting[..] else { panic!("timers were put off") };
    let expires_at = Height(chain.height.0 + 3);
    assert!(waiting.len() > 128 && again > Height(expires_at.0 + 10), "no block reaches the last two soon: {again:?}");
    for (timer, expires_at) in [(moved, expires_at), (kept, Height(10_000))] {
        assert_eq!(chain.send(9, Instruction::System(System::ExtendTimer { timer, expires_at })).abort, None);
    }
    let places = listed(&chain);
    assert!(places.contains(&(expires_at.next(), moved)) && places.contains(&(again, kept)));
    assert!(chain.idle(1).iter().all(|receipt| receipt.abort.is_none()), "at its last height it may fire still");
    let expired: Vec<Hash> =
        chain.idle(1).into_iter().filter(|receipt| receipt.abort == Some(error::TIMER_EXPIRED)).map(|receipt| receipt.origin).collect();
    assert_eq!((expired, chain.height), (vec![moved], expires_at.next()));
}

/// Decision 674: timers that bid below the base fee declare no part of the block. What the timer lane leaves is the users', however many of them wait.
#[test]
fn timers_that_wait_keep_no_room() {
    const DUE: u64 = 60;
    let rows = [
        ("lanes.system_cycles", 1_000_000),
        ("lanes.runner_cycles", 550_000),
        ("lanes.user_cycles", 20_000_000),
        ("execution.block_weight", 4_000_000_000),
        ("timers.auction_oldest", 0),
        ("timers.auction_max_change", 1),
    ];
    let mut chain = auctioned(1, &rows);
    storm(&mut chain, DUE, 1);
    chain.idle(2 * DUE - chain.height.0);
    assert!(auction(&chain).base_fee > Price(BASE + 2), "no timer that waits can fire");
    assert_eq!(chain.all::<Timer>(Kind::Timer).len(), 64, "all others fired");
    let many = (2..=9).flat_map(|from| (0..140).map(move |nonce| transfer(from, nonce, address(7), 1))).collect();
    let outcome = chain.block(many);
    assert_eq!(outcome.included.len(), 22_100_000 / 21_000, "550,000 cycles of the timers' are spilled");
    assert_eq!(chain.all::<Timer>(Kind::Timer).len(), 64, "and they still wait");
}

/// Calls with limits of their own.
trait Limited {
    /// Calls `run` with a limit of its own.
    fn send_with(&mut self, target: Address, cycles: u64) -> Receipt;
}

impl Limited for Chain {
    fn send_with(&mut self, target: Address, cycles: u64) -> Receipt {
        let nonce = self.nonce(1);
        let mut transaction = unsigned(1, nonce, execution(target, "run", b"", 0));
        transaction.cycles_limit = Cycles(cycles);
        let sent = sign(1, transaction);
        self.one(sent)
    }
}
