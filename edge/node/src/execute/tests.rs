//! What a proposal does about time, and what a verifier does.

use super::*;
use crate::{
    Genesis,
    chain::Setup,
    clock::WallClock,
    genesis::{self as node_genesis, DevGenesis},
    images::ImageCache,
    pace::{BlockTime, Pace},
};
use commonware_codec::Encode as _;
use commonware_runtime::{Runner as _, Supervisor as _, deterministic, tokio as real};
use cowboy_chain::{GenesisConfig, SignedTransaction, genesis::Funded, input::Limits};
use cowboy_params::Params;
use cowboy_state::records::{ParameterChange, ParameterChanges, keys};
use cowboy_store::Ledger;
use cowboy_types::{
    Amount, Blob, Cells, Cycles, Hash, Height, List, Price, System, TimestampMs, Transaction, instruction::Actor, transaction::Signature,
    units::Nonce,
};
use futures::FutureExt as _;

/// A network of one validator with a block every second, where governance has moved a parameter.
pub(crate) fn chain(moved: Option<(&str, u64)>) -> Arc<Chain> {
    chain_of(1, moved)
}

/// The same of this many validators, of which this node is the first.
pub(crate) fn chain_of(validators: u32, moved: Option<(&str, u64)>) -> Arc<Chain> {
    let (dev, keys_of) = node_genesis::dev(DevGenesis { validators, ..funds() }).expect("a genesis");
    let config = GenesisConfig { is_dev: false, ..dev.config };
    let genesis = Genesis::new(config, dev.sharing).expect("a genesis");
    let setup = Setup {
        namespace: genesis.namespace(),
        genesis: genesis.block.clone(),
        allocation: genesis.allocation.clone(),
        config: genesis.chain.clone(),
        images: Arc::new(ImageCache::default()),
        keys: keys_of.first().cloned(),
        proposals: Default::default(),
        voted: Default::default(),
        ledger: Ledger::in_memory().expect("memory is enough"),
        pace: Pace::new(BlockTime::Every(Duration::from_secs(1))),
        clock: WallClock::Runtime,
        head: tokio::sync::watch::Sender::new(crate::Head::of(&genesis.block)),
        blocks: tokio::sync::broadcast::Sender::new(16),
    };
    let chain = Chain::new(setup).expect("the ledger opens");
    if let Some((name, value)) = moved {
        let row = Params::row(name).expect("the parameter exists").id;
        let changes = List::new(vec![ParameterChange { row, value }]).expect("one fits");
        chain.mempool.govern(Some(&keys::parameters().seal(&ParameterChanges { changes }.encode())));
    }
    Arc::new(chain)
}

/// A transaction of an account of genesis, whose signature nobody looks at here.
pub(crate) fn transaction(chain: &Chain, from: usize, instruction: Instruction, cycles: u64) -> SignedTransaction {
    let funded = funded();
    SignedTransaction::unchecked(Transaction {
        chain_id: chain.config.chain_id,
        nonce: Nonce(0),
        instruction,
        cycles_limit: Cycles(cycles),
        cells_limit: Cells(10_000),
        max_fee_per_cycle: Price(20_000),
        max_fee_per_cell: Price(20_000),
        max_priority_fee_per_cycle: Price(0),
        max_priority_fee_per_cell: Price(0),
        from: funded[from],
        metadata: Blob::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Signature::default(),
        additional_signers: List::default(),
    })
}

/// A genesis that funds three accounts.
fn funds() -> DevGenesis {
    let amount = Amount::from_cby(1_000).expect("it fits");
    let accounts = (1..=3).map(|number| Funded { address: Address([number; 20]), amount }).collect();
    DevGenesis { accounts, ..DevGenesis::default() }
}

/// The accounts that genesis funds.
fn funded() -> Vec<Address> {
    funds().accounts.iter().map(|funded| funded.address).collect()
}

/// An actor whose module body does not end before its cycles do.
fn endless() -> Instruction {
    Instruction::Actor(Actor::Deploy {
        code: Blob::new(b"n = 0\nwhile True:\n    n += 1\n".to_vec()).expect("a source fits"),
        salt: Blob::default(),
        init: None,
        manifest: None,
        endowment: Amount(0),
    })
}

/// An actor that reads a record while it is deployed.
fn reading() -> Instruction {
    let Instruction::Actor(Actor::Deploy { salt, init, manifest, endowment, .. }) = endless() else { unreachable!("it deploys") };
    let code = Blob::new(b"import pvm_host\nvalue = pvm_host.get_state(b'key')\n".to_vec()).expect("a source fits");
    Instruction::Actor(Actor::Deploy { code, salt, init, manifest, endowment })
}

fn payment(to: Address) -> Instruction {
    Instruction::System(System::Transfer { to, amount: Amount(1) })
}

/// The input of a proposal of the first block.
fn proposal(chain: &Chain, candidates: Vec<SignedTransaction>) -> BlockInput {
    let header = chain.genesis.header();
    let mode = Mode::Propose { candidates, limits: Limits::default() };
    BlockInput {
        mode,
        chain: chain.config.clone(),
        version: None,
        height: Height(1),
        timestamp: TimestampMs(header.timestamp_ms.0 + 1_000),
        beacon: Bytes::from_static(&[7; 32]),
        seeds: Vec::new(),
        round: (0, 1),
        order_key: Hash([9; 32]),
        proposer: Address([0xEE; 20]),
        next_epoch: None,
        images: chain.images.clone(),
    }
}

/// Records as genesis allocates them.
fn records(chain: &Chain, keys: Vec<StateKey>) -> Vec<(StateKey, Option<Bytes>)> {
    let find = |key: &StateKey| chain.allocation.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    keys.into_iter().map(|key| (key, find(&key))).collect()
}

/// Drives a course over genesis, and answers who is in the block.
async fn senders<E: Spawner + Clock>(runtime: &E, chain: &Chain, course: &mut Course<'_>) -> Vec<Address> {
    senders_after(Duration::ZERO, runtime, chain, course).await
}

/// The same, where records come after this time.
async fn senders_after<E: Spawner + Clock>(time: Duration, runtime: &E, chain: &Chain, course: &mut Course<'_>) -> Vec<Address> {
    let mut answers = Vec::new();
    loop {
        match course.advance(runtime, answers).await {
            Need::Keys(keys) => {
                runtime.sleep(time).await;
                answers = records(chain, keys);
            }
            Need::Done(done) => {
                return done.expect("a proposal is never invalid").included.iter().map(|transaction| transaction.from).collect();
            }
        }
    }
}

/// A panic of an execution ends whoever waits for it.
#[tokio::test]
#[should_panic(expected = "a defect")]
async fn a_panic_is_passed_on() {
    ended(tokio::task::spawn_blocking(|| -> u8 { panic!("a defect") })).await;
}

/// A database that moved on says nothing of the disk, and a block that breaks a rule neither.
#[test]
fn what_is_not_of_the_disk_ends_no_node() {
    Failed::State(qmdb::Error::StaleRead).assert_not_of_disk();
    Failed::State(qmdb::Error::StaleBatch).assert_not_of_disk();
    let cut_off = Failed::State(qmdb::Error::Runtime(Closed));
    cut_off.assert_not_of_disk();
    assert!(cut_off.is_cut_off() && !Failed::State(qmdb::Error::StaleRead).is_cut_off());
    Failed::Invalid(BlockInvalid::Order).assert_not_of_disk();
}

/// Nobody says of a block that it is invalid because it could not be run.
#[test]
#[should_panic(expected = "the state cannot be read")]
fn a_disk_that_fails_refuses_no_block() {
    Failed::State(qmdb::Error::Runtime(commonware_runtime::Error::ReadFailed)).assert_not_of_disk();
}

/// A fence that is soon reached: the loop takes many times as long, and a transfer a small part of it.
fn quick(chain: &Chain) -> Fence<'_> {
    Fence { tick: Duration::from_micros(200), most: Duration::from_millis(5), longest: Duration::MAX, packing: None, ..chain.fence() }
}

/// A transaction that uses far more of a thread's time than any may does not keep the others out of the block: the proposal
/// leaves it out, its sender apart, and tells of it.
#[test]
fn a_proposal_gives_up_what_does_not_end() {
    real::Runner::new(real::Config::new()).start(|context| async move {
        let chain = chain(None);
        let accounts = funded();
        let candidates = vec![transaction(&chain, 0, endless(), 20_000_000), transaction(&chain, 1, payment(accounts[2]), 21_000)];
        let mut course = Course::new(quick(&chain), proposal(&chain, candidates.clone()));
        assert_eq!(senders(&context, &chain, &mut course).await, [accounts[1]]);
        assert!(chain.slow.deliveries.get() > 0);
        let account = cowboy_state::records::Account { nonce: Nonce(0), balance: Amount::from_cby(1_000).expect("fits") };
        let standing = cowboy_chain::Standing { account, lane: cowboy_chain::lanes::Lane::User };
        let again = chain.mempool.admit(crate::mempool::Source::Client, &standing, candidates[0].clone());
        assert_eq!(again, Err(crate::Refused::SetApart { until: 601 }));
        // Who only checks a block waits for it, however long it takes.
        let mut patient = Course::new(quick(&chain), proposal(&chain, candidates));
        patient.proposal = None;
        assert_eq!(senders(&context, &chain, &mut patient).await.len(), 2);
    });
}

/// What takes longer than the view has time for, without using too much of the processor, is left out of this proposal: its
/// sender is not set apart, and what it sends waits for a few blocks.
#[test]
fn a_proposal_puts_off_what_it_has_no_time_for() {
    real::Runner::new(real::Config::new()).start(|context| async move {
        let chain = chain(None);
        assert_eq!(chain.fence().longest, Duration::MAX, "a lone validator has all the time");
        let accounts = funded();
        let candidates = vec![transaction(&chain, 0, endless(), 20_000_000), transaction(&chain, 1, payment(accounts[2]), 21_000)];
        let account = cowboy_state::records::Account { nonce: Nonce(0), balance: Amount::from_cby(1_000).expect("fits") };
        let standing = cowboy_chain::Standing { account, lane: cowboy_chain::lanes::Lane::User };
        for candidate in &candidates {
            chain.mempool.admit(crate::mempool::Source::Client, &standing, candidate.clone()).expect("there is room");
        }
        let busy = Fence { most: Duration::MAX, longest: Duration::from_millis(5), least: Duration::ZERO, ..quick(&chain) };
        let mut course = Course::new(busy, proposal(&chain, candidates.clone()));
        assert_eq!(senders(&context, &chain, &mut course).await, [accounts[1]]);
        assert_eq!(chain.slow.deliveries.get(), 0, "the model is not wrong about it");
        assert_eq!(chain.mempool.waits(candidates[0].digest()), Some(crate::mempool::Waits::Off { until: 21 }));
    });
}

/// Decision 768: on a busy computer anything may take long. What has hardly used the processor by then is not put off: another transaction would take as long.
#[test]
fn what_waits_for_the_processor_is_not_put_off() {
    real::Runner::new(real::Config::new()).start(|context| async move {
        let chain = chain(None);
        assert_eq!(chain.fence().least, Duration::from_millis(50), "a tenth of what a delivery may use");
        let candidates = vec![transaction(&chain, 0, endless(), 20_000_000), transaction(&chain, 1, payment(funded()[2]), 21_000)];
        let busy = Fence { most: Duration::MAX, longest: Duration::ZERO, least: Duration::MAX, ..quick(&chain) };
        let mut course = Course::new(busy, proposal(&chain, candidates));
        assert_eq!(senders(&context, &chain, &mut course).await.len(), 2);
    });
}

/// A proposal packs for as long as `execution.propose_time` says, by the clock of the runtime. What it takes before its first
/// delivery is not counted: however many candidates there are to look at, a block takes some of them.
#[test]
fn a_proposal_packs_for_as_long_as_the_parameter_says() {
    for (moved, expected) in [(None, 1), (Some(("execution.propose_time", 2_000_000_000)), 2)] {
        deterministic::Runner::default().start(|context| async move {
            let chain = chain(moved);
            let candidates = (0..2).map(|from| transaction(&chain, from, reading(), 1_000_000)).collect();
            let mut course = Course::new(chain.fence(), proposal(&chain, candidates));
            context.sleep(Duration::from_secs(1)).await;
            assert_eq!(senders_after(Duration::from_millis(400), &context.child("course"), &chain, &mut course).await.len(), expected);
        });
    }
}

/// Decision 696: a block without transactions is executed where it was started, but where that takes long. What comes of it is the same.
#[test]
fn a_block_without_transactions_needs_no_thread() {
    real::Runner::new(real::Config::new()).start(|context| async move {
        let chain = chain(None);
        let mut outcomes = Vec::new();
        for brief in [Duration::MAX, Duration::ZERO] {
            let mut course = Course::new(Fence { brief, ..chain.fence() }, proposal(&chain, Vec::new()));
            let mut answers = Vec::new();
            outcomes.push(loop {
                let mut round = pin!(course.advance(&context, answers));
                let need = match round.as_mut().now_or_never() {
                    Some(need) => need,
                    None if brief.is_zero() => round.await,
                    None => panic!("it went to another thread"),
                };
                match need {
                    Need::Keys(keys) => answers = records(&chain, keys),
                    Need::Done(done) => break done.expect("a proposal is never invalid"),
                }
            });
        }
        let [here, elsewhere] = [0usize, 1].map(|place| (&outcomes[place].writes, &outcomes[place].receipt_root));
        assert_eq!(here, elsewhere);
    });
}

/// Decision 696: the time without a thread is counted over all waits for records, and what has needed a thread, as a delivery does, ends in one.
#[test]
fn what_has_needed_a_thread_ends_in_one() {
    deterministic::Runner::default().start(|context| async move {
        let chain = chain(None);
        let begun = || Worker::new(&Fence { brief: Duration::MAX, ..chain.fence() }, proposal(&chain, Vec::new()), Arc::default());
        let (mut here, mut elsewhere) = (begun(), begun());
        let Some(Need::Keys(keys)) = here.advance_briefly() else { panic!("a block reads records") };
        assert!(here.brief < Duration::MAX, "the time is counted");
        here.execution.fill(records(&chain, keys));
        assert!(here.advance_briefly().is_some(), "there is time left");
        let Some(Need::Keys(keys)) = elsewhere.advance(&context) else { panic!("a block reads records") };
        elsewhere.execution.fill(records(&chain, keys));
        assert!(elsewhere.advance_briefly().is_none(), "it continues in a thread");
    });
}

/// A verifier waits for a block that is more than `consensus.clock_ahead` ahead of its clock.
#[test]
fn a_verifier_waits_as_the_parameter_says() {
    for (moved, waited_ms) in [(None, 1_500), (Some(("consensus.clock_ahead", 1_200)), 800), (Some(("consensus.clock_ahead", 2_000)), 0)] {
        deterministic::Runner::default().start(|context| async move {
            let chain = chain(moved);
            let begin = context.current();
            let timestamp = TimestampMs(chain.now_ms(&context) + 2_000);
            chain.wait_until(&context, timestamp).await;
            let waited = context.current().duration_since(begin).expect("time goes on");
            assert!(waited >= Duration::from_millis(waited_ms) && waited < Duration::from_millis(waited_ms + 20), "{waited:?}");
        });
    }
}
