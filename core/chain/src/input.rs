//! What goes into an execution and what comes out of it.

use crate::admit::{Invalid, SignedTransaction};
use crate::engine::{Exception, Images};
pub use crate::fees::BaseFees;
use bytes::Bytes;
use cowboy_params::Params;
pub use cowboy_state::SentMessage;
use cowboy_state::{Key, StateKey};
use cowboy_system::Versions;
pub use cowboy_system::staking::epoch::NextEpoch;
pub use cowboy_system::storage::chunks::Pruned;
use cowboy_types::block::{Seed, Usage};
use cowboy_types::receipt::ReceiptKind;
use cowboy_types::units::{Amount, ChainId, Cycles, Height, TimestampMs};
use cowboy_types::{Abort, Address, Hash, Receipt, Transaction};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What never changes while a chain lives, and what this build can do with it.
#[derive(Clone, Debug)]
pub struct ChainConfig {
    /// The genesis hash.
    pub genesis: Hash,
    /// The number in every signature.
    pub chain_id: ChainId,
    /// Whether dev instructions exist.
    pub is_dev: bool,
    /// The parameters at genesis. What governance moved since stands in the state.
    pub params: Params,
    /// The protocol versions that this build executes.
    pub versions: Versions,
}

/// The seed of one round, as the header carries it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundSeed {
    /// The round's epoch.
    pub epoch: u64,
    /// The round's view.
    pub view: u64,
    /// The threshold signature.
    pub seed: Seed,
}

/// The randomness of a block: the last seed before it; at the first view of an epoch a hash of the parent (decision 114).
pub fn beacon(context: &cowboy_types::Context, parent: &Hash, seeds: &[Seed]) -> Vec<u8> {
    match seeds.last() {
        Some(seed) if context.view.0 > 1 => seed.0.to_vec(),
        _ => epoch_beacon(parent).0.to_vec(),
    }
}

/// The randomness of a block at the first view of an epoch.
pub fn epoch_beacon(parent: &Hash) -> Hash {
    cowboy_types::keccak256(&[b"cowboy-epoch-seed:", &parent.0])
}

/// What a proposer may pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Transactions.
    pub transactions: usize,
    /// Encoded bytes of all transactions.
    pub bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { transactions: cowboy_types::block::MAX_BLOCK_TRANSACTIONS, bytes: cowboy_types::block::MAX_BLOCK_BODY_BYTES - 16 }
    }
}

/// Whether a block is made or checked.
#[derive(Clone, Debug)]
pub enum Mode {
    /// Choose, order and run; candidates that do not fit are left out and named in [`Outcome::rejected`].
    Propose {
        /// What waits, in any order.
        candidates: Vec<SignedTransaction>,
        /// How much of it may be packed.
        limits: Limits,
    },
    /// Run exactly these, in this order; one that does not fit makes the block invalid.
    Verify {
        /// The block's body.
        transactions: Vec<SignedTransaction>,
    },
}

/// The facts of a block that its execution depends on, beside the state of its parent.
#[derive(Clone)]
pub struct BlockInput {
    /// Make or check, and with which transactions.
    pub mode: Mode,
    /// The chain.
    pub chain: Arc<ChainConfig>,
    /// The protocol version under which it runs where that is not the scheduled one, as when a version is tried out on old blocks.
    pub version: Option<u8>,
    /// The block's protocol height (`Header::height`).
    pub height: Height,
    /// The block's time.
    pub timestamp: TimestampMs,
    /// The parent beacon: the 48-byte seed of the round before the proposal's, or the 32-byte value of an
    /// epoch's first view and of genesis (decisions 114, 130).
    pub beacon: Bytes,
    /// The seeds in the header, ascending by round.
    pub seeds: Vec<RoundSeed>,
    /// The round in which the block was proposed, epoch and view: draws of later rounds are counted from it (decision 36).
    pub round: (u64, u64),
    /// keccak256 of the header's `proposer_vrf`: orders the transactions (decision 34).
    pub order_key: Hash,
    /// Who receives the tips.
    pub proposer: Address,
    /// What the block says of the next epoch, where it is the last of one and the chain deals shares (decision 367).
    pub next_epoch: Option<NextEpoch>,
    /// The cache of compiled actors.
    pub images: Arc<dyn Images>,
}

/// Why a block's body is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BlockInvalid {
    /// A transaction is refused at its place.
    #[error("transaction {index} of the block is refused: {reason}")]
    Transaction {
        /// Its place in the body.
        index: usize,
        /// The reason.
        reason: Invalid,
    },
    /// Governance scheduled a protocol version that this build does not know: the block may be valid.
    #[error("height {height} runs under protocol version {version}, and this build executes versions up to {newest}")]
    Version {
        /// The block's height.
        height: Height,
        /// The version.
        version: u8,
        /// The newest version of this build.
        newest: u8,
    },
    /// The transactions are not in the order that the proposer's VRF gives.
    #[error("the transactions are not in the order of their lanes and keys")]
    Order,
}

/// What came of a block.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the state has to change: sealed records by digest, `None` where one goes.
    pub writes: BTreeMap<StateKey, Option<Bytes>>,
    /// The body: what was included, in order.
    pub included: Vec<Transaction>,
    /// Receipts: of the transactions in order, then of messages, then of timers, then of answers and of jobs.
    pub receipts: Vec<Receipt>,
    /// What happened inside, one for each receipt. Not consensus.
    pub traces: Vec<Trace>,
    /// Candidates that were left out, with the reason. `Invalid::DoesNotFit` may fit the next block.
    pub rejected: Vec<(Hash, Invalid)>,
    /// The protocol version of the block, for its header.
    pub version: u8,
    /// The base fees of this block, for its header.
    pub base_fees: BaseFees,
    /// The base fees of the next block.
    pub next_base_fees: BaseFees,
    /// What the lanes used, for the header.
    pub usage: Usage,
    /// Modelled execution time of everything that ran, in ns. Only its limit is part of consensus.
    pub weight_ns: u64,
    /// The keccak tree over the transactions' digests.
    pub tx_root: Hash,
    /// The keccak tree over the receipts' digests.
    pub receipt_root: Hash,
    /// CBY made and destroyed by this block.
    pub supply: SupplyChange,
    /// Whether work waits that the next block can do without a new transaction: messages, answers, jobs to be drawn, or
    /// timers and jobs due at the next height.
    pub has_work: bool,
    /// The height at which the next timer, or the next job, is due.
    pub next_timer: Option<Height>,
    /// Which addresses each receipt concerns, for indexes by address. Not consensus.
    pub index: Vec<IndexRow>,
    /// Chunks of storage that left the state, for whoever restores them. Not consensus.
    pub pruned: Vec<Pruned>,
}

/// CBY made and destroyed by a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SupplyChange {
    /// Made: zero until rewards exist, but for dev chains' set-balance.
    pub minted: Amount,
    /// Destroyed: base fees.
    pub burned: Amount,
}

/// An address that a receipt concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexRow {
    /// The address.
    pub address: Address,
    /// Which receipt of the block, from 0.
    pub receipt: u32,
}

/// What happened inside a delivery: for people, never consensus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The receipt's id.
    pub id: Hash,
    /// The origin of the delivery.
    pub kind: ReceiptKind,
    /// The transaction or timer where it began.
    pub origin: Hash,
    /// The delivery that sent it, where one did; zero otherwise.
    pub parent: Hash,
    /// The argument of its handler; empty for a transaction, which says it itself.
    pub payload: Bytes,
    /// Every handler that ran, in the order in which they began. The first is the delivery's own.
    pub calls: Vec<CallTrace>,
    /// Messages that left.
    pub sent: Vec<SentMessage>,
    /// Entries of storage and accounts that it changed, by key, without its fee; at most [`MAX_CHANGES`].
    pub changes: Vec<Change>,
    /// Actors that got a source in it, by address: those that it created and those that upgraded themselves; at most [`MAX_CHANGES`].
    pub sources: Vec<Sourced>,
}

impl Trace {
    /// The trace of a delivery in which no handler ran.
    pub(crate) fn without_calls(id: Hash, kind: ReceiptKind, origin: Hash) -> Self {
        Self {
            id,
            kind,
            origin,
            parent: Hash::ZERO,
            payload: Bytes::new(),
            calls: Vec::new(),
            sent: Vec::new(),
            changes: Vec::new(),
            sources: Vec::new(),
        }
    }
}

/// An actor that got a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced {
    /// Its address.
    pub actor: Address,
    /// Its canonical source.
    pub source: Bytes,
}

/// The most changes that a trace names.
pub const MAX_CHANGES: usize = 256;

/// The most bytes that a trace keeps of what the handlers of its delivery printed, together.
pub const MAX_PRINTED: usize = 4 * 1024;

/// Bytes of exceptions that a delivery's trace keeps: of the one that ended it, and as many again of all others together.
pub const MAX_EXCEPTIONS: usize = 16 * 1024;

/// Bytes of prints and exceptions that the traces of a block keep. Nobody pays for them.
pub const MAX_TOLD: usize = 1 << 20;

/// A record that a delivery changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The record: an entry of an actor's storage, or an account.
    pub key: Key,
    /// Its bytes before the delivery; `None` where there was no such record.
    pub before: Option<Bytes>,
    /// Its bytes after the delivery; `None` where it was removed.
    pub after: Option<Bytes>,
}

/// One handler that ran.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallTrace {
    /// How many handlers waited for it.
    pub depth: u32,
    /// The requester.
    pub sender: Address,
    /// The address that was called.
    pub target: Address,
    /// The handler's name.
    pub handler: String,
    /// CBY that went along.
    pub value: Amount,
    /// Cycles it used, those of the handlers it called included.
    pub cycles_used: Cycles,
    /// Why it failed, where it did.
    pub abort: Option<Abort>,
    /// Why it failed, in words, where they are known.
    pub exception: Option<Exception>,
    /// What it printed itself, whether it failed or not; cut where the delivery printed more than [`MAX_PRINTED`] bytes.
    pub printed: String,
}
