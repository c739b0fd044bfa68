//! Times a block of 1,000 calls of the counter example, signatures already recovered, store aside:
//! `cargo run --release -p cowboy-chain --example calls`.

use bytes::Bytes;
use cowboy_chain::genesis::Funded;
use cowboy_chain::input::{Images, Limits};
use cowboy_chain::{BlockInput, Execution, GenesisConfig, Image, Mode, Need, Outcome, SignedTransaction, StateKey, genesis};
use cowboy_params::Params;
use cowboy_state::records::ParameterChange;
use cowboy_types::cbor::Value;
use cowboy_types::instruction::{Actor, Init, Instruction};
use cowboy_types::units::{Amount, Cells, ChainId, Cycles, Height, Nonce, Price, TimestampMs};
use cowboy_types::{Address, Blob, Hash, List, Text, Transaction};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

const ACCOUNTS: u64 = 100;
const CALLS: u64 = 1_000;

/// Keeps every image.
#[derive(Default)]
struct Kept(Mutex<BTreeMap<Hash, Image>>);

impl Images for Kept {
    fn get(&self, code_hash: &Hash) -> Option<Image> {
        self.0.lock().ok()?.get(code_hash).cloned()
    }
    fn put(&self, code_hash: Hash, image: Image) {
        if let Ok(mut kept) = self.0.lock() {
            kept.insert(code_hash, image);
        }
    }
}

fn account(number: u64) -> Address {
    let mut bytes = [0xAA; 20];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    Address(bytes)
}

fn transaction(from: u64, nonce: u64, instruction: Instruction, cycles: u64) -> SignedTransaction {
    SignedTransaction::unchecked(Transaction {
        chain_id: ChainId(1),
        nonce: Nonce(nonce),
        instruction,
        cycles_limit: Cycles(cycles),
        cells_limit: Cells(10_000),
        max_fee_per_cycle: Price(20_000),
        max_fee_per_cell: Price(20_000),
        max_priority_fee_per_cycle: Price(1),
        max_priority_fee_per_cell: Price(1),
        from: account(from),
        metadata: Default::default(),
        origin_tx_hash: None,
        origin_remaining_cycles: None,
        origin_remaining_cells: None,
        signature: Default::default(),
        additional_signers: Default::default(),
    })
}

fn run(state: &BTreeMap<StateKey, Bytes>, input: BlockInput) -> Outcome {
    let mut execution = Execution::new(input);
    let mut answers = Vec::new();
    loop {
        match execution.advance(std::mem::take(&mut answers)) {
            Need::Keys(keys) => answers = keys.into_iter().map(|key| (key, state.get(&key).cloned())).collect(),
            Need::Done(outcome) => return *outcome,
            Need::Invalid(reason) => unreachable!("the example's block is valid: {reason}"),
        }
    }
}

fn deployment() -> Instruction {
    let source = include_str!("../../../examples/counter/actor.py");
    let manifest = Value::map([("entitlements", Value::Array(vec![Value::map([("id", Value::text("storage.kv"))])]))]);
    Instruction::Actor(Actor::Deploy {
        code: Blob::new(source.as_bytes().to_vec()).expect("fits"),
        salt: Blob::default(),
        init: Some(Init { handler: Text::new("init").expect("fits"), payload: Blob::default() }),
        manifest: Blob::new(manifest.encode()),
        endowment: Amount(0),
    })
}

fn config() -> GenesisConfig {
    let rows = [
        ("execution.block_weight", 4_000_000_000),
        ("fees.block_cells", 400_000_000),
        ("lanes.user_cycles", 1_000_000_000),
        ("fees.block_cycles", 2_000_000_000),
    ];
    let mut changes: Vec<ParameterChange> =
        rows.iter().map(|(name, value)| ParameterChange { row: Params::row(name).expect("exists").id, value: *value }).collect();
    changes.sort_by_key(|change| change.row);
    let funded = |number| Funded { address: account(number), amount: Amount::from_cby(100_000).expect("fits") };
    GenesisConfig {
        chain_id: ChainId(1),
        is_dev: true,
        timestamp_ms: TimestampMs(1),
        accounts: List::new((0..=ACCOUNTS).map(funded).collect()).expect("fits"),
        deployers: List::default(),
        validators: List::default(),
        parameters: List::new(changes).expect("fits"),
    }
}

#[expect(clippy::print_stdout, clippy::disallowed_types, reason = "an example that measures and prints")]
fn main() {
    let config = config();
    let mut state: BTreeMap<StateKey, Bytes> =
        genesis(&config).expect("right").into_iter().filter_map(|(key, stored)| Some((key, stored?))).collect();
    let chain = Arc::new(config.chain().expect("right"));
    let images = Arc::new(Kept::default());
    let input = |height, mode| BlockInput {
        mode,
        chain: chain.clone(),
        height: Height(height),
        timestamp: TimestampMs(2),
        beacon: Bytes::from_static(&[0; 32]),
        seeds: Vec::new(),
        order_key: Hash::ZERO,
        proposer: Address([1; 20]),
        images: images.clone(),
    };
    let deployed = run(
        &state,
        input(1, Mode::Propose { candidates: vec![transaction(ACCOUNTS, 0, deployment(), 20_000_000)], limits: Limits::default() }),
    );
    assert!(deployed.receipts[0].is_success(), "{:?}", deployed.traces);
    let counter = deployed.receipts[0].created.expect("created");
    for (key, stored) in deployed.writes {
        match stored {
            Some(stored) => state.insert(key, stored),
            None => state.remove(&key),
        };
    }
    let call = || {
        Instruction::Actor(Actor::Execute {
            target: counter,
            handler: Text::new("increment").expect("fits"),
            payload: Blob::default(),
            value: Amount(0),
        })
    };
    let candidates: Vec<SignedTransaction> =
        (0..CALLS).map(|number| transaction(number % ACCOUNTS, number / ACCOUNTS, call(), 200_000)).collect();
    let mut times = Vec::new();
    let mut cycles = 0;
    for _ in 0..7 {
        let started = std::time::Instant::now();
        let outcome = run(&state, input(2, Mode::Propose { candidates: candidates.clone(), limits: Limits::default() }));
        times.push(started.elapsed());
        assert_eq!(outcome.receipts.len(), candidates.len());
        assert!(outcome.receipts.iter().all(|receipt| receipt.is_success()), "{:?}", outcome.traces[0]);
        cycles = outcome.receipts[0].cycles_used.0;
    }
    times.sort();
    println!("{CALLS} counter calls: {:?} (median of 7), {cycles} cycles each", times[3]);
}
