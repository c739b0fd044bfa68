//! What the timing examples share: accounts, transactions, a chain in a map, and the loop that measures a block.

use bytes::Bytes;
use cowboy_chain::engine::Images;
use cowboy_chain::genesis::Funded;
use cowboy_chain::input::Limits;
use cowboy_chain::{BlockInput, ChainConfig, Execution, GenesisConfig, Mode, Outcome, SignedTransaction, StateKey, genesis, resume};
use cowboy_params::Params;
use cowboy_state::records::ParameterChange;
use cowboy_types::instruction::Instruction;
use cowboy_types::units::{Amount, Cells, ChainId, Cycles, Height, Nonce, Price, TimestampMs};
use cowboy_types::{Address, Hash, List, Transaction};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// The n-th account.
pub(crate) fn account(number: u64) -> Address {
    let mut bytes = [0xAA; 20];
    bytes[..8].copy_from_slice(&number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
    Address(bytes)
}

/// A transaction of the n-th account, as if its signature had been checked.
pub(crate) fn transaction(from: u64, nonce: u64, instruction: Instruction, cycles: u64, cells: u64) -> SignedTransaction {
    SignedTransaction::unchecked(Transaction {
        chain_id: ChainId(1),
        nonce: Nonce(nonce),
        instruction,
        cycles_limit: Cycles(cycles),
        cells_limit: Cells(cells),
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

/// A chain in a map.
pub(crate) struct Chain {
    config: Arc<ChainConfig>,
    images: Arc<dyn Images>,
    state: BTreeMap<StateKey, Bytes>,
    height: u64,
    /// The protocol version of its blocks; none for the one of genesis.
    pub(crate) version: Option<u8>,
}

impl Chain {
    /// A chain whose first accounts have `cby` each, with these parameters moved.
    pub(crate) fn new(accounts: u64, cby: u64, parameters: &[(&str, u64)], images: Arc<dyn Images>) -> Self {
        let change = |(name, value): &(&str, u64)| ParameterChange { row: Params::row(name).expect("the row exists").id, value: *value };
        let mut changes: Vec<ParameterChange> = parameters.iter().map(change).collect();
        changes.sort_by_key(|change| change.row);
        let funded = |number| Funded { address: account(number), amount: Amount::from_cby(cby).expect("it fits") };
        let config = GenesisConfig {
            chain_id: ChainId(1),
            is_dev: true,
            timestamp_ms: TimestampMs(1),
            accounts: List::new((0..accounts).map(funded).collect()).expect("they fit"),
            deployers: List::default(),
            validators: List::default(),
            parameters: List::new(changes).expect("they fit"),
            council: List::default(),
            calls: List::default(),
        };
        let records = genesis(&config).expect("the genesis is right");
        let state = records.into_iter().filter_map(|(key, stored)| Some((key, stored?))).collect();
        Self { config: Arc::new(config.chain().expect("the genesis is right")), images, state, height: 0, version: None }
    }

    fn input(&self, mode: Mode) -> BlockInput {
        BlockInput {
            mode,
            chain: self.config.clone(),
            version: self.version,
            height: Height(self.height + 1),
            timestamp: TimestampMs(self.height + 2),
            beacon: Bytes::from_static(&[0; 32]),
            seeds: Vec::new(),
            round: (0, 1),
            order_key: Hash::ZERO,
            proposer: Address([1; 20]),
            next_epoch: None,
            images: self.images.clone(),
        }
    }

    fn run(&self, mode: Mode) -> Outcome {
        let read = |keys: Vec<StateKey>| Ok::<_, Infallible>(keys.into_iter().map(|key| (key, self.state.get(&key).cloned())).collect());
        let Ok(done) = resume::run(&mut Execution::new(self.input(mode)), read);
        *done.expect("the example's block is valid")
    }

    /// What comes of a block that this chain's state does not take.
    pub(crate) fn propose(&self, candidates: Vec<SignedTransaction>) -> Outcome {
        self.run(Mode::Propose { candidates, limits: Limits::default() })
    }

    /// What a validator makes of a body.
    #[allow(dead_code, reason = "the fuzz target of execution compares it with the proposer's")]
    pub(crate) fn verify(&self, transactions: Vec<SignedTransaction>) -> Outcome {
        self.run(Mode::Verify { transactions })
    }

    /// Makes a block and continues.
    #[allow(dead_code, reason = "not every example deploys something first")]
    pub(crate) fn block(&mut self, candidates: Vec<SignedTransaction>) -> Outcome {
        let outcome = self.propose(candidates);
        for (key, stored) in &outcome.writes {
            match stored {
                Some(stored) => self.state.insert(*key, stored.clone()),
                None => self.state.remove(key),
            };
        }
        self.height += 1;
        outcome
    }

    /// Goes to a height without making the blocks between.
    #[allow(dead_code, reason = "one example waits for a height")]
    pub(crate) fn jump(&mut self, height: u64) {
        self.height = height;
    }

    /// Times proposing the candidates and verifying the block that they make: medians of nine.
    #[allow(dead_code, reason = "one example counts blocks and no time")]
    #[allow(clippy::disallowed_types, reason = "an example that measures; the crates that include this file ban fewer types")]
    pub(crate) fn times(&self, candidates: &[SignedTransaction]) -> (Duration, Duration) {
        let body: Vec<SignedTransaction> =
            self.propose(candidates.to_vec()).included.into_iter().map(SignedTransaction::unchecked).collect();
        assert_eq!(body.len(), candidates.len(), "the block takes every candidate");
        let (mut propose, mut verify) = (Vec::new(), Vec::new());
        for _ in 0..9 {
            let started = std::time::Instant::now();
            self.propose(candidates.to_vec());
            propose.push(started.elapsed());
            let started = std::time::Instant::now();
            let outcome = self.verify(body.clone());
            verify.push(started.elapsed());
            assert!(outcome.receipts.iter().all(|receipt| receipt.is_success()), "every transaction succeeds");
        }
        propose.sort();
        verify.sort();
        (propose[4], verify[4])
    }
}
