//! Times a block of 3,800 transfers over the node's own database, state root included, signatures already recovered and
//! nothing synced to the disk: `cargo run --release -p cowboy-cli --example block`.

use commonware_codec::Encode as _;
use commonware_glue::stateful::db::{DatabaseSet, Unmerkleized};
use commonware_runtime::{Runner as _, Supervisor as _, tokio};
use cowboy_chain::{BlockInput, ChainConfig, GenesisConfig, Mode, SignedTransaction, engine::NoImages, input::Limits};
use cowboy_node::execute::{self, Databases, Executed, Fence};
use cowboy_state::{Key, records::Account};
use cowboy_store::state::{config, page_cache, raw};
use cowboy_types::{
    Address, Amount, Cells, ChainId, Cycles, Hash, Height, Instruction, List, Nonce, Price, System, TimestampMs, Transaction,
    transaction::Signature,
};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

type Context = tokio::Context;
type State = Databases<Context>;

const TRANSFERS: u64 = 3_800;

/// Accounts that are written into the database at a time.
const BATCH: u64 = 50_000;

/// How often a block is timed; the middle counts.
const ROUNDS: usize = 9;

#[expect(clippy::print_stdout, reason = "an example that measures and prints")]
fn main() {
    // Accounts that take part, and accounts in the state.
    for (active, accounts) in [(1_000, 1_000), (7_600, 1_000_000)] {
        let folder = tempfile::tempdir().expect("a folder");
        let runtime = tokio::Config::new().with_storage_directory(folder.path()).with_worker_threads(2);
        let (propose, verify) = tokio::Runner::new(runtime).start(|context| async move { times(context, active, accounts).await });
        println!(
            "{TRANSFERS} transfers over {active} accounts of {accounts}: propose {propose:?}, verify {verify:?} (medians of {ROUNDS})"
        );
    }
}

/// The n-th account.
fn account(number: u64) -> Address {
    let mut bytes = [0xAA; 20];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    Address(bytes)
}

/// The n-th transfer: from the first half of the accounts to the second, each sender's in order.
fn transfer(number: u64, active: u64) -> SignedTransaction {
    let senders = active / 2;
    let to = account(senders + (number * 7 + 1) % senders);
    SignedTransaction::unchecked(Transaction {
        chain_id: ChainId(1),
        nonce: Nonce(number / senders),
        instruction: Instruction::System(System::Transfer { to, amount: Amount(1) }),
        cycles_limit: Cycles(21_000),
        cells_limit: Cells(0),
        max_fee_per_cycle: Price(20_000),
        max_fee_per_cell: Price(20_000),
        max_priority_fee_per_cycle: Price(1),
        max_priority_fee_per_cell: Price(1),
        from: account(number % senders),
        metadata: Default::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Signature::default(),
        additional_signers: List::default(),
    })
}

/// The database with as much memory for pages as a node gives it.
async fn open(context: Context) -> State {
    let pages = page_cache(&context, "bench").await;
    <State as DatabaseSet<Context>>::init(context, config("bench", pages), None).await
}

/// A database with the genesis state and a number of accounts.
async fn fill(context: Context, genesis: &GenesisConfig, accounts: u64) {
    let state = open(context).await;
    let records = cowboy_chain::genesis(genesis).expect("the genesis is right");
    let mut batch = <State as DatabaseSet<Context>>::new_batches(&state).await;
    for (key, value) in records {
        batch = batch.write(raw(&key), value);
    }
    let rich = Account { nonce: Nonce(0), balance: Amount::from_cby(1_000).expect("a small amount") }.encode();
    for number in 0..accounts {
        let key = Key::account(account(number));
        batch = batch.write(raw(&key.digest()), Some(key.seal(&rich)));
        if number % BATCH == BATCH - 1 || number + 1 == accounts {
            let merkleized = Unmerkleized::merkleize(batch).await.expect("the database takes it");
            <State as DatabaseSet<Context>>::apply(&state, merkleized).await;
            assert!(<State as DatabaseSet<Context>>::finalize(&state).await.durable().await, "the disk takes it");
            batch = <State as DatabaseSet<Context>>::new_batches(&state).await;
        }
    }
}

async fn times(context: Context, active: u64, accounts: u64) -> (Duration, Duration) {
    let genesis = GenesisConfig {
        chain_id: ChainId(1),
        is_dev: true,
        timestamp_ms: TimestampMs(1),
        accounts: List::default(),
        deployers: List::default(),
        validators: List::default(),
        parameters: List::default(),
        council: List::default(),
        calls: List::default(),
    };
    let chain = Arc::new(genesis.chain().expect("the genesis is right"));
    fill(context.child("filling"), &genesis, accounts).await;
    // A node that starts on this state, not the one that made it.
    let state = open(context.child("state")).await;
    let candidates: Vec<SignedTransaction> = (0..TRANSFERS).map(|number| transfer(number, active)).collect();
    let (mut propose, mut verify) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let proposal = Mode::Propose { candidates: candidates.clone(), limits: Limits::default() };
        let (proposed, took) = timed(&context, &state, &chain, proposal).await;
        propose.push(took);
        let transactions: Vec<_> = proposed.outcome.included.into_iter().map(SignedTransaction::unchecked).collect();
        assert_eq!(transactions.len(), candidates.len(), "the block takes every candidate");
        let (verified, took) = timed(&context, &state, &chain, Mode::Verify { transactions }).await;
        verify.push(took);
        assert_eq!(verified.merkleized.root(), proposed.merkleized.root(), "maker and checker have the same root");
        assert!(verified.outcome.receipts.iter().all(|receipt| receipt.is_success()), "every transfer succeeds");
    }
    propose.sort();
    verify.sort();
    (propose[ROUNDS / 2], verify[ROUNDS / 2])
}

/// Runs a block, up to its state root, that the database does not take.
async fn timed(context: &Context, state: &State, chain: &Arc<ChainConfig>, mode: Mode) -> (Executed<Context>, Duration) {
    let input = BlockInput {
        mode,
        chain: chain.clone(),
        version: None,
        height: Height(1),
        timestamp: TimestampMs(2),
        beacon: bytes::Bytes::from_static(&[0; 32]),
        seeds: Vec::new(),
        round: (0, 1),
        order_key: Hash::ZERO,
        proposer: Address([1; 20]),
        next_epoch: None,
        images: Arc::new(NoImages),
    };
    let started = Instant::now();
    let batch = <State as DatabaseSet<Context>>::new_batches(state).await;
    let executed = execute::run(context, Fence::none(), input, &[], batch).await.expect("the block is valid");
    let took = started.elapsed();
    (executed, took)
}
