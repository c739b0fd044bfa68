//! Times a block of 3,800 transfers, signatures already recovered, store aside:
//! `cargo run --release -p cowboy-chain --example transfers`.

use bytes::Bytes;
use cowboy_chain::genesis::Funded;
use cowboy_chain::input::{Limits, NoImages};
use cowboy_chain::{BlockInput, Execution, GenesisConfig, Mode, Need, Outcome, SignedTransaction, StateKey, genesis};
use cowboy_types::instruction::{Instruction, System};
use cowboy_types::units::{Amount, Cells, ChainId, Cycles, Height, Nonce, Price, TimestampMs};
use cowboy_types::{Address, Hash, List, Transaction};
use std::collections::BTreeMap;
use std::sync::Arc;

fn account(number: u64) -> Address {
    let mut bytes = [0xAA; 20];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    Address(bytes)
}

fn transfer(number: u64, accounts: u64) -> SignedTransaction {
    SignedTransaction::unchecked(Transaction {
        chain_id: ChainId(1),
        nonce: Nonce(number / accounts),
        instruction: Instruction::System(System::Transfer { to: account((number * 7 + 1) % accounts), amount: Amount(1) }),
        cycles_limit: Cycles(21_000),
        cells_limit: Cells(0),
        max_fee_per_cycle: Price(20_000),
        max_fee_per_cell: Price(20_000),
        max_priority_fee_per_cycle: Price(1),
        max_priority_fee_per_cell: Price(1),
        from: account(number % accounts),
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

#[expect(clippy::print_stdout, clippy::disallowed_types, reason = "an example that measures and prints")]
fn main() {
    for accounts in [1_000u64, 3_800] {
        let funded = |number| Funded { address: account(number), amount: Amount::from_cby(1_000).expect("fits") };
        let config = GenesisConfig {
            chain_id: ChainId(1),
            is_dev: true,
            timestamp_ms: TimestampMs(1),
            accounts: List::new((0..accounts).map(funded).collect()).expect("fits"),
            deployers: List::default(),
            validators: List::default(),
            parameters: List::default(),
        };
        let state: BTreeMap<StateKey, Bytes> =
            genesis(&config).expect("right").into_iter().filter_map(|(key, stored)| Some((key, stored?))).collect();
        let chain = Arc::new(config.chain().expect("right"));
        let input = |mode| BlockInput {
            mode,
            chain: chain.clone(),
            height: Height(1),
            timestamp: TimestampMs(2),
            beacon: Bytes::from_static(&[0; 32]),
            seeds: Vec::new(),
            order_key: Hash::ZERO,
            proposer: Address([1; 20]),
            images: Arc::new(NoImages),
        };
        let candidates: Vec<SignedTransaction> = (0..3_800).map(|number| transfer(number, accounts)).collect();
        let proposed = run(&state, input(Mode::Propose { candidates: candidates.clone(), limits: Limits::default() }));
        let body: Vec<SignedTransaction> = proposed.included.into_iter().map(SignedTransaction::unchecked).collect();
        let mut propose = Vec::new();
        let mut verify = Vec::new();
        for _ in 0..9 {
            let started = std::time::Instant::now();
            run(&state, input(Mode::Propose { candidates: candidates.clone(), limits: Limits::default() }));
            propose.push(started.elapsed());
            let started = std::time::Instant::now();
            let outcome = run(&state, input(Mode::Verify { transactions: body.clone() }));
            verify.push(started.elapsed());
            assert_eq!(outcome.receipts.len(), body.len());
        }
        propose.sort();
        verify.sort();
        println!("{} transfers over {accounts} accounts: propose {:?}, verify {:?} (medians of 9)", body.len(), propose[4], verify[4]);
    }
}
