//! How a body that its leader alone has comes to all of a set: a model of what they ask and answer, and of their links. Whoever has the body votes, and the others
//! have seen that in the next tick.

use super::*;
use std::{collections::VecDeque, mem::take};

/// A set, of which the first node leads, and its links.
struct Set {
    nodes: usize,
    /// Nodes that answer nothing: the last of the set.
    silent: usize,
    /// Nodes before them that answer late, with one of the transactions that they are asked for.
    dripping: usize,
    /// Large transactions of the block.
    transactions: u64,
    /// A node lacks each n-th transaction, beginning with another one than its neighbour.
    lacks: usize,
    /// Whether the leader answers.
    is_led: bool,
    /// Whether the others see who votes.
    votes_are_seen: bool,
    /// The time from a question to its answer, in milliseconds.
    tick: u64,
    /// Bytes that the link of a node carries in that time.
    carried: usize,
}

/// A set whose links carry five megabytes a second each, and of which only the leader has the body.
const ANY: Set = Set {
    nodes: 30,
    silent: 0,
    dripping: 0,
    transactions: 850,
    lacks: 1,
    is_led: true,
    votes_are_seen: true,
    tick: 50,
    carried: 2 * PART_BYTES,
};

/// How a body came to those that are not silent.
#[derive(Debug)]
struct Spread {
    /// Nodes that have all of it, with its leader.
    whole: usize,
    /// When the last of them had it.
    after: Duration,
    /// Bodies that the leader sent.
    from_leader: usize,
}

/// An answer on a link: to whom, and how much of it is still to be carried.
struct Carried {
    to: usize,
    answer: Answer,
    left: usize,
}

/// The nodes of a set, and what is between them.
struct Model {
    set: Set,
    block: Block,
    keys: Vec<PublicKey>,
    sent: Sent,
    nodes: Vec<Rebuilding>,
    /// Who asks whom.
    requests: Vec<(usize, usize, Request)>,
    links: Vec<VecDeque<Carried>>,
    /// When late answers come: the tick, to whom, from whom.
    late: Vec<(u64, usize, usize, Answer)>,
    whole: BTreeSet<usize>,
}

impl Model {
    fn new(set: Set) -> Self {
        let chain = chain(None);
        let block = block_of(&chain, &large(&chain, set.transactions), 7);
        let keys: Vec<PublicKey> = (0..).map(peer).take(set.nodes).collect();
        let (mut sent, nodes) = (Sent::default(), keys.iter().map(|_| Rebuilding::default()).collect());
        sent.keep(block.clone());
        let links = keys.iter().map(|_| VecDeque::new()).collect();
        Self { set, block, keys, sent, nodes, requests: Vec::new(), links, late: Vec::new(), whole: BTreeSet::from([0]) }
    }

    /// Nodes that are neither silent nor dripping.
    fn honest(&self) -> usize {
        self.set.nodes - self.set.silent - self.set.dripping
    }

    /// Each honest node but the leader hears of the block.
    fn begin(&mut self) {
        let (part, compact) = (part_of(self.set.nodes), Compact::of(&self.block));
        for node in 1..self.honest() {
            let others = self.keys[node + 1..].iter().chain(&self.keys[1..node]);
            let sources: Vec<PublicKey> = self.keys[..1].iter().chain(others).cloned().collect();
            let offer = Offer { part, ..offer(compact.clone(), &sources) };
            let find = |id: &Id| {
                if self.set.lacks == 1 {
                    return None;
                }
                let index = compact.ids.iter().position(|other| other == id)?;
                let is_here = !(index + node).is_multiple_of(self.set.lacks);
                is_here.then(|| SignedTransaction::unchecked(self.block.transactions[index].clone()))
            };
            let next = self.nodes[node].begin(peer(0), offer, find, &nobody, NOW);
            self.follow(node, next);
            assert!((1..=AT_ONCE).contains(&self.requests.iter().filter(|(from, ..)| *from == node).count()));
        }
    }

    /// Takes note of what follows at a node.
    fn follow(&mut self, node: usize, next: Option<Next>) {
        match next {
            Some(Next::Block(..)) => {
                self.whole.insert(node);
            }
            Some(Next::Ask(asked)) => {
                let place = |key: &PublicKey| self.keys.iter().position(|other| other == key).expect("it is one of them");
                let requests: Vec<_> = asked.into_iter().map(|(to, request)| (node, place(&to), request)).collect();
                self.requests.extend(requests);
            }
            None => {}
        }
    }

    /// What is answered to the requests of the tick before: at once what has nothing in it, and otherwise over the links.
    fn answer(&mut self, tick: u64) -> Vec<(usize, usize, Answer)> {
        let (mut arriving, most) = (Vec::new(), part_of(self.set.nodes));
        for (from, to, request) in take(&mut self.requests) {
            let first = self.keys[from][0].wrapping_add(self.keys[to][0]);
            let answer = match to {
                0 if !self.set.is_led => continue,
                0 => self.sent.answer(&request, first, most),
                _ if to < self.honest() => self.nodes[to].answer(&request, first, most),
                _ if to < self.set.nodes - self.set.silent => {
                    // Just before whoever asked gives it up.
                    let one = Answer::of(&request, first, 2_048, |index| self.block.transactions.get(index)).expect("it is asked for some");
                    let until = tick + (PATIENCE.as_millis() as u64 - 1) / self.set.tick - 1;
                    self.late.push((until, from, to, one));
                    continue;
                }
                _ => continue,
            };
            match answer.filter(|_| self.links[to].iter().all(|carried| carried.to != from)) {
                Some(answer) => self.links[to].push_back(Carried { to: from, left: answer.encode().len(), answer }),
                None => arriving.push((from, to, Answer::nothing(request.block))),
            }
        }
        arriving
    }

    /// What the links have carried to its end in a tick, and the bytes that the leader's did.
    fn carry(&mut self, arriving: &mut Vec<(usize, usize, Answer)>) -> usize {
        let mut from_leader = 0;
        for (from, link) in self.links.iter_mut().enumerate() {
            let mut room = self.set.carried;
            while let Some(first) = link.front_mut().filter(|_| room > 0) {
                let bytes = first.left.min(room);
                (first.left, room) = (first.left - bytes, room - bytes);
                from_leader += if from == 0 { bytes } else { 0 };
                if first.left == 0 {
                    arriving.extend(link.pop_front().map(|carried| (carried.to, from, carried.answer)));
                }
            }
        }
        from_leader
    }

    /// Three seconds of the set.
    fn run(mut self) -> Spread {
        self.begin();
        let (mut after, mut bytes) = (Duration::ZERO, 0);
        for tick in 1..=3_000 / self.set.tick {
            let passed = Duration::from_millis(self.set.tick * tick);
            let seen = self.whole.iter().filter(|_| self.set.votes_are_seen);
            let voted: BTreeSet<PublicKey> = seen.map(|node| self.keys[*node].clone()).collect();
            let voters = |_: &Header| voted.clone();
            let mut arriving = self.answer(tick);
            bytes += self.carry(&mut arriving);
            let (due, late): (Vec<_>, Vec<_>) = take(&mut self.late).into_iter().partition(|(until, ..)| *until <= tick);
            self.late = late;
            arriving.extend(due.into_iter().map(|(_, to, from, answer)| (to, from, answer)));
            let before = self.whole.len();
            for (to, from, answer) in arriving {
                assert!(answer.encode().len() <= part_of(self.set.nodes) + 64);
                let (key, digest) = (self.keys[from].clone(), self.block.digest());
                let next = self.nodes[to].answered(&key, &digest, answer.transactions.into_vec(), &voters, NOW + passed);
                self.follow(to, next);
            }
            after = if self.whole.len() > before { passed } else { after };
            for node in 1..self.honest() {
                let asked = self.nodes[node].overdue(0, &voters, NOW + passed);
                self.follow(node, Some(Next::Ask(asked)));
            }
        }
        let body = self.block.transactions.iter().map(|transaction| transaction.encode().len()).sum::<usize>();
        Spread { whole: self.whole.len(), after, from_leader: bytes / body }
    }
}

/// Decision 737: a body that nobody has, and that the link of its leader carries to none of the others within a view, is soon with all of them, though a third
/// of the set is silent, or answers late and with next to nothing, and also where nobody sees who votes: they give each other what has come.
#[test]
fn a_body_that_nobody_has_spreads() {
    for (silent, dripping, votes_are_seen) in [(9, 0, true), (0, 9, true), (9, 0, false)] {
        let spread = Model::new(Set { silent, dripping, votes_are_seen, ..ANY }).run();
        assert_eq!(spread.whole, 21, "after three seconds: {spread:?}");
        assert!(spread.from_leader <= 15, "to twenty others: {spread:?}");
    }
}

/// Decision 753: where each node lacks a few transactions, and their leader and a third of the set say nothing, or next to nothing, the others have them within a
/// second, also where nobody sees who votes. Asked one after another, that third would take three seconds.
#[test]
fn the_last_transactions_come_soon() {
    for (nodes, silent, dripping, votes_are_seen) in [(30, 9, 0, true), (30, 9, 0, false), (30, 0, 9, false), (7, 2, 0, false)] {
        let set = Set { nodes, silent, dripping, votes_are_seen, transactions: 100, lacks: 10, is_led: false, ..ANY };
        let spread = Model::new(set).run();
        assert_eq!(spread.whole, nodes - silent - dripping, "{spread:?}");
        assert!(spread.after <= Duration::from_millis(800), "{nodes} nodes: {spread:?}");
    }
}

/// In a small set a body of the largest size is with all others within a few times the way to its leader and back, however long that is: once, where there are
/// hardly any others.
#[test]
fn a_large_body_comes_to_a_small_set() {
    for (nodes, tick, most) in [(2, 250, 1), (4, 100, 1), (4, 250, 1), (5, 250, 6), (7, 250, 8)] {
        let set = Set { nodes, transactions: 3_000, tick, carried: 16 * 1024 * 1024, ..ANY };
        let spread = Model::new(set).run();
        assert_eq!(spread.whole, nodes, "{spread:?}");
        assert!(spread.after <= Duration::from_millis(most * tick), "{nodes} nodes: {spread:?}");
    }
}

/// Measures for decision 737: bodies over links of 100 Mbit/s, and over links that are no limit. `cargo test -p cowboy-node --lib bodies_of_large_sets --
/// --ignored --nocapture` prints them.
#[test]
#[ignore = "takes minutes without optimisation"]
fn bodies_of_large_sets() {
    use std::io::Write as _;

    let link = |tick: u64| 12_500 * tick as usize;
    let rows = [(100, 0, 50, link(50)), (100, 33, 50, link(50)), (5, 0, 250, usize::MAX), (17, 0, 250, usize::MAX)];
    for (nodes, silent, tick, carried) in rows {
        let set = Set { nodes, silent, transactions: 3_400, tick, carried, ..ANY };
        let spread = Model::new(set).run();
        writeln!(std::io::stdout(), "{nodes} validators, {silent} of them silent, {tick} ms there and back: {spread:?}")
            .expect("it is open");
        assert_eq!(spread.whole, nodes - silent, "within a view: {spread:?}");
    }
}
