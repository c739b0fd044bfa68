//! Random call trees with failures at random places, against a reference that copies the whole state at each call and puts
//! the copy back where the call fails: storage, balances, sent messages, timers, events, meters and the trace.

use cowboy_params::Params;
use cowboy_state::Kind;
use cowboy_state::records::{Message, Timer};
use cowboy_testkit::chain::{Chain, execution, sign, signed, unsigned};
use cowboy_types::units::{Cells, Cycles};
use cowboy_types::{Abort, Address, error};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// What the script engine charges for each line, and for the end of a handler.
const LINE: u64 = 10;

/// Actors that call each other.
const ACTORS: usize = 3;

/// The height of every timer that a tree schedules: none fires here.
const DUE: u64 = 1_000;

/// Cells of a timer, beside those of its payload.
const TIMER_CELLS: u64 = cowboy_params::Params::GENESIS.intrinsic.timer_cells;

/// Splitmix64.
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// A line of a handler.
#[derive(Clone, Debug)]
enum Op {
    Set(u64, u64),
    Delete(u64),
    Emit(u64),
    Send { to: usize, value: u64 },
    Timer,
    Interval(u64),
    Burn(u64),
    Call { node: usize, limit: u64, is_tried: bool },
    Raise,
    Trap,
}

/// A handler of an actor.
#[derive(Clone, Debug)]
struct Node {
    actor: usize,
    ops: Vec<Op>,
}

/// A tree of handlers; the last node is its root.
fn tree(draws: &mut Draws, depth: u64, nodes: &mut Vec<Node>) -> usize {
    let mut ops = Vec::new();
    for _ in 0..1 + draws.below(6) {
        ops.push(match draws.below(if depth == 0 { 12 } else { 20 }) {
            0..=2 => Op::Set(draws.below(4), draws.below(1_000)),
            3 => Op::Delete(draws.below(4)),
            4..=5 => Op::Emit(draws.below(1_000)),
            6..=7 => Op::Send { to: usize::try_from(draws.below(3)).expect("small"), value: draws.below(50) },
            8 => Op::Timer,
            9 => Op::Interval(1 + draws.below(9)),
            10 => Op::Burn(draws.below(20_000)),
            11 if draws.below(3) > 0 => Op::Burn(1),
            11 if draws.below(2) == 0 => Op::Trap,
            11 => Op::Raise,
            _ => {
                let node = tree(draws, depth - 1, nodes);
                // Some calls have too little for what they call.
                let limit = if draws.below(4) == 0 { 20 + draws.below(3_000) } else { 400_000 };
                Op::Call { node, limit, is_tried: draws.below(3) > 0 }
            }
        });
    }
    nodes.push(Node { actor: usize::try_from(draws.below(3)).expect("small"), ops });
    nodes.len() - 1
}

/// The scripts of the actors: each its nodes' handlers, and one that tells it an actor's address.
fn scripts(nodes: &[Node]) -> [String; ACTORS] {
    let mut scripts: [String; ACTORS] = std::array::from_fn(|actor| format!("handler is{actor}\n"));
    for script in &mut scripts {
        (0..ACTORS).for_each(|other| write!(script, "handler know{other}\n set 'a{other}' $payload\n").expect("a string takes it"));
    }
    for (place, node) in nodes.iter().enumerate() {
        let mut lines = format!("handler n{place}\n");
        for op in &node.ops {
            let line = match op {
                Op::Set(key, value) => format!(" set 'k{key}' 'v{value}'\n"),
                Op::Delete(key) => format!(" delete 'k{key}'\n"),
                Op::Emit(data) => format!(" emit 'e' 'd{data}'\n"),
                Op::Send { to, value } => format!(" get 'a{to}'\n send $last 'hi' {value} 'is{to}'\n"),
                Op::Timer => format!(" timer {DUE} 'once'\n"),
                Op::Interval(every) => format!(" interval {} 'again'\n", DUE + every),
                Op::Burn(cycles) => format!(" burn {cycles}\n"),
                Op::Call { node, limit, is_tried } => {
                    let trying = if *is_tried { "try " } else { "" };
                    format!(" get 'a{}'\n {trying}call $last 'n{node}' '' {limit}\n", nodes[*node].actor)
                }
                Op::Raise => " raise\n".to_string(),
                Op::Trap => " trap\n".to_string(),
            };
            lines.push_str(&line);
        }
        scripts[node.actor].push_str(&lines);
    }
    scripts
}

/// Everything that a failing call undoes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    storage: BTreeMap<(usize, String), String>,
    sent: Vec<(usize, usize, u64)>,
    events: Vec<(usize, String)>,
    /// Whose, and the period of an interval.
    timers: Vec<(usize, Option<u64>)>,
}

/// A handler's meter, as the script engine counts.
#[derive(Clone, Copy, Debug)]
struct Meter {
    used: (u64, u64),
    limit: (u64, u64),
}

impl Meter {
    fn charge(&mut self, cycles: u64, cells: u64) -> Result<(), Abort> {
        self.used = (self.used.0 + cycles, self.used.1 + cells);
        if self.used.0 > self.limit.0 {
            self.used.0 = self.limit.0;
            return Err(error::OUT_OF_CYCLES);
        }
        if self.used.1 > self.limit.1 {
            self.used.1 = self.limit.1;
            return Err(error::OUT_OF_CELLS);
        }
        Ok(())
    }
}

/// What the trace says of a call: depth, actor, handler, cycles, and why it failed.
type Called = (u32, usize, String, u64, Option<Abort>);

/// The reference: runs nodes over a state that it copies whole.
struct Reference<'a> {
    nodes: &'a [Node],
    costs: &'a cowboy_params::Costs,
    state: State,
    calls: Vec<Called>,
}

impl Reference<'_> {
    /// Runs a handler. Answers what it used, and why it failed.
    fn run(&mut self, node: usize, depth: u32, limit: (u64, u64)) -> ((u64, u64), Result<(), Abort>) {
        let copy = self.state.clone();
        let mut meter = Meter { used: (0, 0), limit };
        let place = self.calls.len();
        self.calls.push((depth, self.nodes[node].actor, format!("n{node}"), 0, None));
        let result = self.lines(node, depth, &mut meter);
        if let Err(abort) = &result {
            self.state = copy;
            self.calls[place].4 = Some(abort.clone());
        }
        self.calls[place].3 = meter.used.0;
        (meter.used, result)
    }

    fn lines(&mut self, node: usize, depth: u32, meter: &mut Meter) -> Result<(), Abort> {
        let Node { actor, ops } = self.nodes[node].clone();
        for op in ops {
            meter.charge(LINE, 0)?;
            match op {
                Op::Set(key, value) => {
                    let (key, value) = (format!("k{key}"), format!("v{value}"));
                    let (name, size) = (key.len() as u64, (key.len() + value.len()) as u64);
                    let is_new = self.state.storage.insert((actor, key), value).is_none();
                    let again = if is_new { (self.costs.storage_write, name) } else { (0, 0) };
                    meter.charge(self.costs.storage_write + again.0, size + again.1)?;
                }
                Op::Delete(key) => {
                    self.state.storage.remove(&(actor, format!("k{key}")));
                    meter.charge(self.costs.storage_write, 2)?;
                }
                Op::Emit(data) => {
                    let data = format!("d{data}");
                    let size = data.len() as u64;
                    self.state.events.push((actor, data));
                    meter.charge(self.costs.event + self.costs.event_byte * size, size.div_ceil(self.costs.event_bytes_per_cell))?;
                }
                Op::Send { to, value } => {
                    self.look_up(meter)?;
                    self.state.sent.push((actor, to, value));
                    meter.charge(self.costs.send, 3 + 2)?;
                }
                Op::Timer => {
                    self.state.timers.push((actor, None));
                    meter.charge(self.costs.timer, TIMER_CELLS + 4)?;
                }
                Op::Interval(every) => {
                    self.state.timers.push((actor, Some(DUE + every)));
                    meter.charge(self.costs.timer, TIMER_CELLS + 5)?;
                }
                Op::Burn(cycles) => meter.charge(cycles, 0)?,
                Op::Raise => return Err(error::HANDLER_RAISED),
                Op::Trap => return Err(error::OUT_OF_MEMORY),
                Op::Call { node, limit, is_tried } => {
                    self.look_up(meter)?;
                    let left = (meter.limit.0 - meter.used.0, meter.limit.1 - meter.used.1);
                    let inner = (limit.min(left.0.saturating_sub(self.costs.call)), left.1);
                    meter.charge(self.costs.call, 0)?;
                    let (used, result) = self.run(node, depth + 1, inner);
                    meter.charge(used.0, used.1)?;
                    if result.is_err() && !is_tried {
                        return Err(error::HANDLER_RAISED);
                    }
                }
            }
        }
        meter.charge(LINE, 0)
    }

    /// Reads an address, and comes to the next line.
    fn look_up(&mut self, meter: &mut Meter) -> Result<(), Abort> {
        meter.charge(self.costs.storage_read, 1)?;
        meter.charge(LINE, 0)
    }
}

/// A chain with the actors of a tree, which know each other.
fn chain_of(nodes: &[Node]) -> (Chain, [Address; ACTORS]) {
    let mut chain = Chain::new();
    let actors = scripts(nodes).map(|script| chain.deploy(&script));
    let pairs = actors.iter().flat_map(|actor| actors.iter().enumerate().map(move |other| (actor, other)));
    let tell = |(nonce, (actor, (other, address))): (u64, (&Address, (usize, &Address)))| {
        signed(1, nonce, execution(*actor, &format!("know{other}"), &address.0, 0))
    };
    let told = (chain.nonce(1)..).zip(pairs).map(tell).collect();
    let outcome = chain.block(told);
    assert_eq!(outcome.receipts.iter().filter(|receipt| receipt.is_success()).count(), ACTORS * ACTORS);
    (chain, actors)
}

/// What a failing call did is undone whole, whatever it was and wherever it failed, and what it used is counted.
#[test]
fn call_trees_do_what_copying_the_state_does() {
    let (mut failed_inside, mut succeeded) = (0, 0);
    for seed in 0..60 {
        let mut draws = Draws(seed);
        let mut nodes = Vec::new();
        let root = tree(&mut draws, 4, &mut nodes);
        let (mut chain, actors) = chain_of(&nodes);
        let before: Vec<u64> = actors.iter().map(|actor| chain.balance(*actor)).collect();
        let limit = if draws.below(4) == 0 { 21_000 + draws.below(40_000) } else { 5_000_000 };
        let handler = format!("n{root}");
        let mut transaction = unsigned(1, chain.nonce(1), execution(actors[nodes[root].actor], &handler, b"", 0));
        transaction.cycles_limit = Cycles(limit);
        let outcome = chain.block(vec![sign(1, transaction)]);
        let (receipt, trace) = (&outcome.receipts[0], &outcome.traces[0]);

        let (cycles, cells) = (21_000, handler.len() as u64);
        let mut reference = Reference { nodes: &nodes, costs: &Params::GENESIS.costs, state: State::default(), calls: Vec::new() };
        let (used, result) = reference.run(root, 0, (limit - cycles, 500_000 - cells));
        let Reference { state, calls, .. } = reference;

        assert_eq!(receipt.abort, result.err(), "seed {seed}");
        assert_eq!((receipt.cycles_used, receipt.cells_used), (Cycles(cycles + used.0), Cells(cells + used.1)), "seed {seed}: meters");
        let place = |address: &Address| actors.iter().position(|actor| actor == address).expect("an actor of the tree");
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("a text");
        let traced: Vec<Called> = trace
            .calls
            .iter()
            .map(|call| (call.depth, place(&call.target), call.handler.clone(), call.cycles_used.0, call.abort.clone()))
            .collect();
        assert_eq!(traced, calls, "seed {seed}: calls");
        let events: Vec<_> = receipt.events.iter().map(|event| (place(&event.emitter), text(&event.data))).collect();
        assert_eq!(events, state.events, "seed {seed}: events");
        let sent: Vec<_> = trace.sent.iter().map(|sent| (place(&sent.target), sent.value.0)).collect();
        let expected: Vec<_> = state.sent.iter().map(|(_, to, value)| (*to, *value)).collect();
        assert_eq!(sent, expected, "seed {seed}: messages of the trace");
        let mut queued: Vec<_> = chain
            .all::<Message>(Kind::Message)
            .into_iter()
            .map(|(_, message)| (message.index.0, place(&message.sender), place(&message.target), message.value.0))
            .collect();
        queued.sort_unstable();
        let queued: Vec<_> = queued.into_iter().map(|(_, sender, target, value)| (sender, target, value)).collect();
        assert_eq!(queued, state.sent, "seed {seed}: messages on their way");
        let mut timers: Vec<_> = chain
            .all::<Timer>(Kind::Timer)
            .into_iter()
            .map(|(_, timer)| (timer.sequence, place(&timer.actor), timer.interval.map(|interval| interval.every.0)))
            .collect();
        timers.sort_unstable();
        let timers: Vec<_> = timers.into_iter().map(|(_, actor, every)| (actor, every)).collect();
        assert_eq!(timers, state.timers, "seed {seed}: timers");
        for (actor, address) in actors.iter().enumerate() {
            let spent: u64 = state.sent.iter().filter(|(from, ..)| *from == actor).map(|(_, _, value)| value).sum();
            assert_eq!(chain.balance(*address), before[actor] - spent, "seed {seed}: balances");
            for key in (0..4).map(|key| format!("k{key}")) {
                let kept = state.storage.get(&(actor, key.clone())).map(|value| value.as_bytes().to_vec());
                assert_eq!(chain.stored(*address, &key), kept, "seed {seed}: storage");
            }
        }
        failed_inside += calls.iter().skip(1).filter(|call| call.4.is_some()).count();
        succeeded += usize::from(receipt.is_success());
    }
    assert!(failed_inside > 20 && succeeded > 10, "the trees fail inside ({failed_inside}) and succeed ({succeeded}) often enough");
}
