//! Bodies of blocks travel once: where transactions are missing, where a leader names others than its block has, and where blocks are full.

use crate::{
    adversaries::Each,
    checks::{account, led, require},
    common::{genesis, key, sign_by},
    forging::{Forger, Forgery},
    network::{BLOCKS, Network, plan, plan_until, settle, settle_by},
    script::transfer,
};
use commonware_codec::EncodeSize as _;
use commonware_consensus::marshal::coding::types::coding_config_for_participants;
use commonware_glue::simulate::engine::EngineDefinition as _;
use commonware_p2p::simulated::Link;
use commonware_runtime::Clock;
use commonware_utils::probability;
use cowboy_chain::{SignedTransaction, Standing, genesis::Funded, lanes::Lane};
use cowboy_node::{Chain, FinalizedBlock, mempool::Source};
use cowboy_params::Params;
use cowboy_types::{Amount, Block, Cells, Cycles, Price, Transaction, signing::PrivateKey, wire::Blob};
use std::{
    collections::BTreeMap,
    io::Write as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};
use tokio::sync::broadcast;

/// The first byte of a proposal.
const WHOLE: u8 = 0;
const COMPACT: u8 = 1;

/// That of a message about one.
const REQUEST: u8 = 2;
pub(crate) const ANSWER: u8 = 3;

/// Accounts that send more than blocks have room for, one through each validator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    validators: usize,
    /// Transfers that each sends in half a second.
    transfers: u64,
    /// Cycles of a transfer.
    cycles: u64,
    /// Bytes that each transfer carries beside.
    metadata: usize,
    /// Whether a validator tells the others what it is given. If not, it alone has what its blocks are made of.
    is_told: bool,
}

impl Crowd {
    fn key(validator: usize) -> PrivateKey {
        key(1_000 + u64::try_from(validator).expect("they are few"))
    }

    /// The network of these accounts. Full blocks do not raise the price of the next.
    fn network(self, parameters: &[(&str, u64)]) -> Network {
        let mut dev = genesis(u32::try_from(self.validators).expect("they are few"));
        let amount = Amount::from_cby(200_000).expect("it fits");
        dev.accounts.extend((0..self.validators).map(|validator| Funded { address: Self::key(validator).address(), amount }));
        dev.accounts.sort_by_key(|funded| funded.address);
        let row = |name| Params::row(name).expect("a row of the table").id;
        let target = Params::GENESIS.fees.block_cycles;
        let all = parameters.iter().copied().chain([("fees.cycles_target", target)]);
        dev.parameters = all.map(|(name, value)| (row(name), value)).collect();
        let mut network = Network::of(dev, Vec::new());
        network.crowd = Some(self);
        network
    }

    fn transfer(&self, key: &PrivateKey, nonce: u64) -> Transaction {
        let mut transaction = Transaction {
            cycles_limit: Cycles(self.cycles),
            cells_limit: Cells(1_000 + u64::try_from(self.metadata).expect("it is short")),
            max_priority_fee_per_cycle: Price(0),
            max_priority_fee_per_cell: Price(0),
            metadata: Blob::new(vec![7; self.metadata]).expect("it fits"),
            ..sign_by(key, nonce, transfer(1))
        };
        key.sign_transaction(&mut transaction);
        transaction
    }

    pub(crate) async fn run(self, clock: impl Clock, chain: Arc<Chain>, validator: usize) {
        let (key, mut nonce) = (Self::key(validator), 0);
        let source = if self.is_told { Source::Client } else { Source::Peer };
        loop {
            clock.sleep(Duration::from_millis(500)).await;
            let account = account(&chain, key.address()).await;
            for _ in 0..self.transfers {
                let standing = Standing { account: account.clone(), lane: Lane::User };
                let signed = SignedTransaction::unchecked(self.transfer(&key, nonce));
                // The first block makes the accounts.
                if chain.mempool.admit(source, &standing, signed).is_err() {
                    break;
                }
                nonce += 1;
            }
        }
    }
}

/// How long after its proposer's clock a validator had each block, in milliseconds, with how many transactions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Times(Arc<Mutex<Vec<(u64, usize)>>>);

impl Times {
    pub(crate) async fn run(self, clock: impl Clock, mut blocks: broadcast::Receiver<Arc<FinalizedBlock>>) {
        while let Ok(finalized) = blocks.recv().await {
            let now = clock.current().duration_since(SystemTime::UNIX_EPOCH).expect("virtual time begins there").as_millis();
            let block = finalized.block.block();
            let took = u64::try_from(now).expect("it fits").saturating_sub(block.header.timestamp_ms.0);
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push((took, block.transactions.len()));
        }
    }

    fn of_full(&self) -> Vec<u64> {
        let times = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let most = times.iter().map(|(_, transactions)| *transactions).max().unwrap_or_default();
        let mut full: Vec<u64> = times.iter().filter(|(_, count)| count * 10 >= most * 9).map(|(took, _)| *took).collect();
        full.sort_unstable();
        full
    }
}

/// Blocks are sent without their transactions, some of which did not arrive before: they are asked for, and nothing is lost.
#[test]
fn what_did_not_arrive_is_asked_for() {
    let mut network = Network::new();
    network.small = 0;
    let meter = network.meter.clone();
    // One message of twenty is lost.
    settle(1, "bodies", plan(network, 1, true));
    let kinds = |channel| meter.bytes(channel).into_keys().collect::<Vec<u8>>();
    assert_eq!((kinds("broadcast"), kinds("bodies")), (vec![COMPACT], vec![REQUEST, ANSWER]));
}

/// A leader that names other transactions than its header commits to: none of its blocks becomes final, and the others continue.
#[test]
fn a_leader_of_false_bodies_holds_nobody_up() {
    let mut network = Network::new();
    network.small = 0;
    let (index, forger) = (3, Forger::new(3, Forgery::Bodies));
    let leader = network.participants()[index].clone();
    network.forger = Some(forger.clone());
    let led_none = move |chain: &Chain| {
        let count = led(chain, &leader, BLOCKS)?;
        require(count == 0, || format!("it led {count} blocks"))
    };
    settle(0, "bodies", plan(network, 0, true).property(Each("no block of a false body is final", led_none)));
    assert!(forger.count() > 0);
}

/// with three times the transfers that the user lane has room for, and links that could not carry the blocks whole to all in time, blocks come
/// in the block time.
#[test]
fn a_full_lane_holds_up_no_block() {
    // Twenty-two of these fill the user lane, and eighty a block. Seventy come in a second.
    let crowd = Crowd { validators: 7, transfers: 5, cycles: 1_000_000, metadata: 4_096, is_told: true };
    let mut network = crowd.network(&[("intrinsic.transfer_cycles", 1_000_000)]);
    // A leader would take 1.3 s to send such a block whole to the other six.
    network.bandwidth = Some(1_400_000);
    let in_time = move |chain: &Chain| {
        let view = chain.ledger.view().map_err(|error| error.to_string())?;
        let block = |number| view.block(number).map_err(|error| error.to_string())?.ok_or_else(|| format!("no block {number}"));
        let blocks = (10..=BLOCKS).map(block).collect::<Result<Vec<Block>, String>>()?;
        let lane = Params::GENESIS.lanes.user_cycles;
        for pair in blocks.windows(2) {
            let [before, after] = [&pair[0].header, &pair[1].header];
            let (number, used) = (after.number.0, after.usage.user.cycles.0);
            require(used + crowd.cycles > lane, || format!("block {number} uses {used} of {lane} cycles of the user lane"))?;
            let gap = after.timestamp_ms.0 - before.timestamp_ms.0;
            require(gap <= 1_300, || format!("{gap} ms before block {number}"))?;
        }
        Ok(())
    };
    let link = Link { latency: Duration::from_millis(80), jitter: Duration::from_millis(20), success_rate: probability!(1.0) };
    // What the links do not carry would pile up for as long as it runs.
    let longest = Duration::from_secs(2 * BLOCKS);
    settle(0, "bodies", plan(network, 0, false).link(link).timeout(longest).property(Each("full blocks come in time", in_time)));
}

/// Decisions 737 and 753: over links of ten megabits a second each way, blocks of 300 KB become final of which nobody but their leader has a transaction. One
/// body takes a quarter of a second to each of the other six, and all of them more than the time between two blocks.
#[test]
fn bodies_that_nobody_has_cross_narrow_links() {
    const LAST: u64 = 14;
    let crowd = Crowd { validators: 7, transfers: 12, cycles: 1_000_000, metadata: 4_096, is_told: false };
    let mut network = crowd.network(&[("intrinsic.transfer_cycles", 1_000_000)]);
    network.bandwidth = Some(1_250_000);
    let (meter, ledger) = (network.meter.clone(), network.ledger(0).clone());
    let link = Link { latency: Duration::from_millis(40), jitter: Duration::from_millis(10), success_rate: probability!(1.0) };
    // Where every second view were lost, it would take longer.
    let longest = Duration::from_secs(5 * LAST);
    settle(0, "bodies", plan_until(network, 0, false, LAST).link(link).timeout(longest));
    let view = ledger.view().expect("it opens");
    let blocks: Vec<Block> = (1..=LAST).map(|number| view.block(number).expect("it reads").expect("it is there")).collect();
    let lane = Params::GENESIS.lanes.user_cycles;
    let full = blocks.iter().filter(|block| block.header.usage.user.cycles.0 + crowd.cycles > lane).count();
    assert!(full >= 7, "{full} of {LAST} blocks are full");
    let bodies: usize = blocks.iter().map(|block| block.transactions.encode_size()).sum();
    let answers = meter.bytes("bodies").get(&ANSWER).copied().unwrap_or_default();
    assert!(answers > 3 * bodies, "{answers} bytes of answers about {bodies} bytes: the others had them before");
    assert!(answers < 18 * bodies, "{answers} bytes of answers about {bodies} bytes come to six validators");
}

/// The bytes of one way to send blocks, for a full block.
struct Cost<'a> {
    validators: usize,
    way: &'a str,
    transactions: usize,
    body: usize,
    leader: usize,
    all: usize,
    mempool: usize,
    finality_ms: Option<u64>,
}

impl Cost<'_> {
    fn say(&self) {
        let Self { validators, way, transactions, body, leader, all, mempool, finality_ms } = self;
        let finality = finality_ms.map_or("null".to_owned(), |ms| ms.to_string());
        let line = format!(
            "{{\"validators\": {validators}, \"way\": \"{way}\", \"transactions\": {transactions}, \"body_bytes\": {body}, \"leader_bytes\": {leader}, \"all_bytes\": {all}, \"mempool_bytes\": {mempool}, \"finality_ms\": {finality}}}"
        );
        writeln!(std::io::stdout(), "{line}").expect("somebody reads");
    }
}

/// Runs this many validators with full blocks of transfers, and says what one costs. Answers its transactions and the bytes of its body.
fn measure(validators: usize, way: &str, small: usize) -> (usize, usize) {
    const LAST: u64 = 6;
    let count = u64::try_from(validators).expect("they are few");
    // A block has room for 3,809, twice what comes in half a second.
    let crowd = Crowd { validators, transfers: 1_950 / count + 1, cycles: 21_000, metadata: 0, is_told: true };
    let mut network = crowd.network(&[]);
    (network.small, network.bandwidth) = (small, Some(125_000_000));
    network.undealt = Some(Duration::from_secs(100_000));
    let (meter, times, ledger) = (network.meter.clone(), network.times.clone(), network.ledger(0).clone());
    let link = Link { latency: Duration::from_millis(40), jitter: Duration::from_millis(10), success_rate: probability!(1.0) };
    let plan = plan_until(network, 0, false, LAST).link(link).timeout(Duration::from_secs(3_600));
    settle_by("./bench network --only bodies", plan);
    let view = ledger.view().expect("it opens");
    let blocks: Vec<Block> = (1..=LAST).map(|number| view.block(number).expect("it reads").expect("it is there")).collect();
    let full = blocks.iter().max_by_key(|block| block.transactions.len()).expect("there are some");
    let (transactions, body) = (full.transactions.len(), full.transactions.encode_size());
    let all: usize = blocks.iter().map(|block| block.transactions.len()).sum();
    let of_a_block = |bytes: usize| bytes * transactions / all;
    let sent: BTreeMap<u8, usize> = ["broadcast", "bodies"].iter().flat_map(|channel| meter.bytes(channel)).collect();
    let of = |kinds: &[u8]| of_a_block(kinds.iter().filter_map(|kind| sent.get(kind)).sum());
    let of_full = times.of_full();
    Cost {
        validators,
        way,
        transactions,
        body,
        leader: of(&[WHOLE, COMPACT, ANSWER]),
        all: of(&[WHOLE, COMPACT, REQUEST, ANSWER]),
        mempool: of_a_block(meter.bytes("mempool").values().sum()),
        finality_ms: of_full.get(of_full.len() / 2).copied(),
    }
    .say();
    (transactions, body)
}

/// What a full block costs its leader and all validators together: whole, in pieces of an erasure code of which each validator passes one on, and as what
/// it is made of. The pieces are computed, without their proofs. Links carry a gigabit a second.
#[test]
#[ignore = "it takes long: ./bench network --only bodies"]
fn what_a_block_costs() {
    for validators in [4, 30, 100] {
        let (transactions, body) = measure(validators, "whole", usize::MAX);
        let config = coding_config_for_participants(u16::try_from(validators).expect("they are few"));
        let piece = body.div_ceil(usize::from(config.minimum_shards.get()));
        let leader = piece * (validators - 1);
        let pieces = Cost { validators, way: "coded", transactions, body, leader, all: leader * validators, mempool: 0, finality_ms: None };
        pieces.say();
        measure(validators, "compact", cowboy_node::bodies::SMALL);
    }
}
