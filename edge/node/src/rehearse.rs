//! Runs the blocks of a stopped node again: under the protocol version that each has, and under another one, to compare (decision 370).
//!
//! The state is rebuilt in memory from genesis on. Each block runs on the state that the chain had before it, also under the other
//! version: a difference in one block does not carry over to the next.

use crate::{
    chain::{Chain, Head, Setup},
    clock::WallClock,
    genesis::Genesis,
    images::ImageCache,
    pace::{BlockTime, Pace},
    proposals::Proposals,
    rules::complete,
};
use bytes::Bytes;
use commonware_glue::{dkg::ReshareBlock as _, stateful::Finality};
use cowboy_chain::{BlockInput, BlockInvalid, Execution, Mode, Outcome, StateKey, resume};
use cowboy_store::{Ledger, StoreError};
use cowboy_types::{Hash, Height};
use std::{collections::BTreeMap, convert::Infallible, sync::Arc};
use tokio::sync::{broadcast, watch};

/// The stack that a thread needs which rehearses.
pub const STACK_BYTES: usize = 2 * cowboy_chain::STACK_BYTES;

/// Why blocks cannot be run again.
#[derive(Debug, thiserror::Error)]
pub enum RehearsalError {
    /// The ledger cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A block is not there, as where the node began at a later one.
    #[error("the ledger has no block {0}: only a node that has every block from the first on can run them again")]
    Missing(u64),
    /// A block does not run under its own version as its header says.
    #[error("block {0} comes out differently than its header says: check the folder with `cowboyd check`")]
    Damaged(u64),
    /// A block cannot run under its own version.
    #[error("block {number} does not run: {reason}")]
    Invalid {
        /// The block's number.
        number: u64,
        /// The reason.
        reason: BlockInvalid,
    },
}

/// What a block does under a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// The version.
    pub version: u8,
    /// The root of its receipts.
    pub receipt_root: Hash,
    /// How many receipts it has.
    pub receipts: usize,
    /// How many of them say that a delivery failed.
    pub failed: usize,
    /// Cycles that its lanes used.
    pub cycles: u64,
    /// Cells that its lanes used.
    pub cells: u64,
}

impl Ran {
    fn of(outcome: &Outcome) -> Self {
        let usage = &outcome.usage;
        let lanes = [&usage.system, &usage.timer, &usage.runner, &usage.user];
        Self {
            version: outcome.version,
            receipt_root: outcome.receipt_root,
            receipts: outcome.receipts.len(),
            failed: outcome.receipts.iter().filter(|receipt| !receipt.is_success()).count(),
            cycles: lanes.iter().map(|lane| lane.cycles.0).fold(0, u64::saturating_add),
            cells: lanes.iter().map(|lane| lane.cells.0).fold(0, u64::saturating_add),
        }
    }
}

/// A block under its own version and under another one.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The block's number.
    pub number: u64,
    /// Its height.
    pub height: Height,
    /// What it did.
    pub was: Ran,
    /// What it does under the other version, or why it is invalid there.
    pub would_be: Result<Ran, BlockInvalid>,
    /// Records of the state that the two leave differently. Where there are none, the state roots are equal.
    pub records: usize,
}

impl Compared {
    /// Whether the block does the same under both versions.
    pub fn is_same(&self) -> bool {
        let same_receipts = |ran: &Ran| ran.receipt_root == self.was.receipt_root;
        self.records == 0 && self.would_be.as_ref().is_ok_and(same_receipts)
    }
}

/// A chain that is run again, block by block.
pub struct Rehearsal {
    chain: Chain,
    state: BTreeMap<StateKey, Bytes>,
    next: u64,
}

impl Rehearsal {
    /// The chain before its first block.
    pub fn new(genesis: &Genesis, ledger: Ledger) -> Result<Self, RehearsalError> {
        let setup = Setup {
            namespace: genesis.namespace(),
            genesis: genesis.block.clone(),
            allocation: genesis.allocation.clone(),
            config: genesis.chain.clone(),
            images: Arc::new(ImageCache::default()),
            keys: None,
            proposals: Proposals::default(),
            voted: Default::default(),
            ledger,
            pace: Pace::new(BlockTime::Instant),
            clock: WallClock::System,
            head: watch::Sender::new(Head::of(&genesis.block)),
            blocks: broadcast::Sender::new(1),
        };
        let state = genesis.allocation.iter().cloned().collect();
        Ok(Self { chain: Chain::new(setup)?, state, next: 1 })
    }

    /// The number of the block that runs next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Runs the next block as it was.
    pub fn advance(&mut self) -> Result<(), RehearsalError> {
        let (_, outcome) = self.as_it_was()?;
        self.apply(outcome);
        Ok(())
    }

    /// Runs the next block as it was, and under a version.
    pub fn compare(&mut self, version: u8) -> Result<Compared, RehearsalError> {
        let (input, outcome) = self.as_it_was()?;
        let other = self.run(BlockInput { version: Some(version), ..input.clone() });
        let records = other.as_ref().map_or(0, |other| self.differing(&outcome, other));
        let would_be = other.as_ref().map(Ran::of).map_err(Clone::clone);
        let compared = Compared { number: self.next, height: input.height, was: Ran::of(&outcome), would_be, records };
        self.apply(outcome);
        Ok(compared)
    }

    /// The next block's input and outcome under its own version, which is what its header says.
    fn as_it_was(&self) -> Result<(BlockInput, Outcome), RehearsalError> {
        let number = self.next;
        let block = self.chain.block(number)?.ok_or(RehearsalError::Missing(number))?;
        let transactions = self.chain.signed(&block, Finality::Finalized).ok_or(RehearsalError::Damaged(number))?;
        let (payload, mode) = (block.payload(), Mode::Verify { transactions });
        let input = self.chain.input(block.header(), payload.as_ref(), mode).ok_or(RehearsalError::Damaged(number))?;
        let outcome = self.run(input.clone()).map_err(|reason| RehearsalError::Invalid { number, reason })?;
        let mut expected = block.header().clone();
        complete(&mut expected, &outcome);
        if expected == *block.header() { Ok((input, outcome)) } else { Err(RehearsalError::Damaged(number)) }
    }

    fn run(&self, input: BlockInput) -> Result<Outcome, BlockInvalid> {
        let read = |keys: Vec<StateKey>| Ok::<_, Infallible>(keys.into_iter().map(|key| (key, self.state.get(&key).cloned())).collect());
        let Ok(done) = resume::run(&mut Execution::new(input), read);
        done.map(|outcome| *outcome)
    }

    /// How many records two outcomes leave differently.
    fn differing(&self, one: &Outcome, other: &Outcome) -> usize {
        let left = |outcome: &Outcome, key: &StateKey| match outcome.writes.get(key) {
            Some(written) => written.clone(),
            None => self.state.get(key).cloned(),
        };
        let only_other = other.writes.keys().filter(|key| !one.writes.contains_key(*key));
        one.writes.keys().chain(only_other).filter(|key| left(one, key) != left(other, key)).count()
    }

    fn apply(&mut self, outcome: Outcome) {
        for (key, written) in outcome.writes {
            match written {
                Some(value) => self.state.insert(key, value),
                None => self.state.remove(&key),
            };
        }
        self.next = self.next.saturating_add(1);
    }
}
