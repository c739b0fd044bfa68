//! What every part of a node shares: who it is, what it has seen, and where it tells of it.

use crate::{
    block::SealedBlock,
    committee::{Committee, ValidatorKeys},
    mempool::Mempool,
    pace::Pace,
    seeds::{Scheme, Seeds},
};
use cowboy_store::{Key, Ledger, Recent, Value};
use cowboy_types::{Hash, Height, Receipt, TimestampMs};
use futures::future::BoxFuture;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, OnceLock},
};
use tokio::sync::{broadcast, watch};

/// Finalized blocks that a slow subscriber may lag behind before it misses some.
pub const SUBSCRIBER_LAG: usize = 1_024;

/// What execution made of a block, kept until the block is final.
#[derive(Debug)]
pub struct Output {
    /// The block's number.
    pub number: u64,
    /// Receipts, the transactions' first.
    pub receipts: Vec<Receipt>,
    /// What the block overwrites.
    pub before: Arc<HashMap<Key, Option<Value>>>,
    /// What the next block needs to know.
    pub carry: Carry,
}

/// What a proposer needs to know about the parent of its block, beside the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carry {
    /// Whether there is work for the next block even without a transaction.
    pub is_work: bool,
    /// The next height at which something is due, where anything is.
    pub next_due: Option<u64>,
}

impl Carry {
    /// Before the first block: genesis is yet to be written.
    pub const GENESIS: Self = Self { is_work: true, next_due: None };

    /// The carry as the ledger keeps it.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.is_work)];
        if let Some(due) = self.next_due {
            bytes.extend(due.to_be_bytes());
        }
        bytes
    }

    /// The carry from the ledger. Damaged bytes mean work: an empty block does no harm.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let Some((first, rest)) = bytes.split_first() else { return Self::GENESIS };
        Self { is_work: *first != 0, next_due: rest.try_into().ok().map(u64::from_be_bytes) }
    }
}

/// The newest finalized block, in brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// How many blocks stand before it, genesis included.
    pub number: u64,
    /// Its height: the number, and what a dev chain skipped.
    pub height: Height,
    /// Its name.
    pub digest: Hash,
    /// The state after it.
    pub state_root: Hash,
    /// When it was proposed.
    pub timestamp_ms: TimestampMs,
}

impl Head {
    /// The brief of this block.
    pub fn of(block: &SealedBlock) -> Self {
        let header = block.header();
        Self {
            number: header.number.0,
            height: header.height(),
            digest: block.hash(),
            state_root: header.state_root,
            timestamp_ms: header.timestamp_ms,
        }
    }
}

/// A finalized block with what came of it.
#[derive(Clone, Debug)]
pub struct FinalizedBlock {
    /// The block.
    pub block: SealedBlock,
    /// Receipts, the transactions' first, in order.
    pub receipts: Vec<Receipt>,
    /// The encoded finalization of exactly this block, where this node has one.
    pub certificate: Option<Vec<u8>>,
}

/// Read access to the newest state, without the runtime's type.
pub trait StateReader: Send + Sync {
    /// The newest values of these keys, in order.
    fn read(&self, keys: Vec<Key>) -> BoxFuture<'_, Vec<Option<Value>>>;

    /// A proof that the key has the value it has, or none, with the root it holds against.
    fn prove(&self, key: Key) -> BoxFuture<'_, cowboy_store::proof::StateProof>;
}

/// One node's view of one chain.
pub struct Chain {
    /// Separates this chain's votes from every other's.
    pub namespace: Vec<u8>,
    /// The block before the first.
    pub genesis: SealedBlock,
    /// What the first block writes before anything else.
    pub allocation: Vec<(Key, Value)>,
    /// Whether warp, snapshots and the like are allowed.
    pub is_dev: bool,
    /// The validators.
    pub committee: Committee,
    /// This node's secrets, where it is a validator.
    pub keys: Option<ValidatorKeys>,
    /// Verifies certificates and seeds.
    pub verifier: Scheme,
    /// Seeds of past rounds.
    pub seeds: Seeds,
    /// Finalized blocks and indexes.
    pub ledger: Ledger,
    /// What the newest blocks overwrote.
    pub recent: Recent,
    /// Transactions that wait.
    pub mempool: Mempool,
    /// When blocks are proposed.
    pub pace: Pace,
    /// The newest finalized block.
    pub head: watch::Sender<Head>,
    /// Finalized blocks, as they come.
    pub blocks: broadcast::Sender<Arc<FinalizedBlock>>,
    outputs: Mutex<HashMap<Hash, Arc<Output>>>,
    state: OnceLock<Arc<dyn StateReader>>,
    is_open: watch::Sender<bool>,
}

impl Chain {
    /// A node at the ledger's tip.
    pub fn new(setup: Setup) -> Result<Self, cowboy_store::StoreError> {
        let view = setup.ledger.view()?;
        let tip = match view.tip()? {
            Some(number) => view.block(number)?,
            None => None,
        };
        let head = match tip.map(SealedBlock::check).transpose() {
            Ok(tip) => Head::of(tip.as_ref().unwrap_or(&setup.genesis)),
            Err(_) => return Err(cowboy_store::StoreError::Damaged { row: "the newest block".into() }),
        };
        setup.head.send_replace(head);
        Ok(Self {
            namespace: setup.namespace.clone(),
            verifier: setup.committee.verifier(&setup.namespace),
            genesis: setup.genesis,
            allocation: setup.allocation,
            is_dev: setup.is_dev,
            committee: setup.committee,
            keys: setup.keys,
            seeds: Seeds::default(),
            ledger: setup.ledger,
            recent: Recent::default(),
            mempool: Mempool::default(),
            pace: setup.pace,
            head: setup.head,
            blocks: setup.blocks,
            outputs: Mutex::default(),
            state: OnceLock::new(),
            is_open: watch::Sender::new(false),
        })
    }

    /// Keeps what execution made of a block until the block is final.
    pub fn keep_output(&self, digest: Hash, output: Output) {
        self.outputs.lock().expect("nothing panics while it holds the lock").insert(digest, Arc::new(output));
    }

    /// What execution made of a block that is not final yet.
    pub fn output(&self, digest: &Hash) -> Option<Arc<Output>> {
        self.outputs.lock().expect("nothing panics while it holds the lock").get(digest).cloned()
    }

    /// Forgets the outputs of this block number and all before.
    pub fn forget_outputs(&self, number: u64) {
        self.outputs.lock().expect("nothing panics while it holds the lock").retain(|_, output| output.number > number);
    }

    /// What the proposer of a block on this parent should know. Where nobody knows, there is work.
    pub fn carry(&self, parent: &SealedBlock) -> Carry {
        if let Some(output) = self.output(&parent.hash()) {
            return output.carry;
        }
        let number = parent.header().number.0;
        let kept = self.ledger.view().and_then(|view| view.carry(number)).ok().flatten();
        kept.map_or(Carry::GENESIS, |bytes| Carry::from_bytes(&bytes))
    }

    /// Opens the state for queries.
    pub fn attach_state(&self, state: Arc<dyn StateReader>) {
        // A second attachment would be the same database.
        let _ = self.state.set(state);
        self.is_open.send_replace(true);
    }

    /// Follows whether the state is open.
    pub fn watch_state(&self) -> watch::Receiver<bool> {
        self.is_open.subscribe()
    }

    /// The state, once the node has opened it.
    pub fn state(&self) -> Option<&Arc<dyn StateReader>> {
        self.state.get()
    }
}

/// What a [`Chain`] is made from.
pub struct Setup {
    /// Separates this chain's votes from every other's.
    pub namespace: Vec<u8>,
    /// The block before the first.
    pub genesis: SealedBlock,
    /// What the first block writes before anything else.
    pub allocation: Vec<(Key, Value)>,
    /// Whether dev controls are allowed.
    pub is_dev: bool,
    /// The validators.
    pub committee: Committee,
    /// This node's secrets, where it is a validator.
    pub keys: Option<ValidatorKeys>,
    /// Finalized blocks and indexes.
    pub ledger: Ledger,
    /// When blocks are proposed.
    pub pace: Pace,
    /// Where the newest block is told.
    pub head: watch::Sender<Head>,
    /// Where every block is told.
    pub blocks: broadcast::Sender<Arc<FinalizedBlock>>,
}
