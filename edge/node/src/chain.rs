//! What every part of a node shares: who it is, what it has seen, and where it tells of it.

mod finals;

use crate::{
    block::SealedBlock,
    clock::WallClock,
    committee::ValidatorKeys,
    committees::{Committees, Term},
    dealer_logs::Logs,
    epoch,
    faults::Faults,
    mempool::{Mempool, account_of},
    pace::Pace,
    progress::Progress,
    proposals::Proposals,
    protocol::Protocol,
    reader::Proving,
    seeds::{Scheme, Seeds},
    traces,
    voted::Voted,
    watch::Slow,
};
pub use crate::{carry::Carry, head::Head, reader::StateReader};
use bytes::Bytes;
use commonware_cryptography::ed25519::PublicKey;
use commonware_utils::NZUsize;
use cowboy_chain::{ChainConfig, Outcome, StateKey, Trace, engine::Images, input::Pruned};
use cowboy_params::Params;
use cowboy_state::{
    Key,
    records::{Account, keys},
};
use cowboy_store::{Chunk, Concern, Ledger, MAX_TOGETHER, Recent, StoreError, View, recent};
use cowboy_system::governance::state as governance;
use cowboy_types::{Address, Hash, Receipt, units::Nonce};
pub use finals::Final;
use std::{
    collections::{BTreeMap, HashMap},
    num::NonZeroUsize,
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
    pub receipts: Arc<Vec<Receipt>>,
    /// What happened inside, one for each receipt.
    pub traces: Arc<Vec<Trace>>,
    /// Which addresses each receipt concerns.
    pub concerns: Vec<Concern>,
    /// What the block overwrites.
    pub before: Arc<HashMap<StateKey, Option<Bytes>>>,
    /// What the block writes.
    pub writes: BTreeMap<StateKey, Option<Bytes>>,
    /// What the next block needs to know.
    pub carry: Carry,
    /// Chunks of storage that the block pruned.
    pub pruned: Vec<Chunk>,
}

impl Output {
    /// What is kept of an outcome: everything but the body, which stands in the block.
    pub fn new(number: u64, outcome: Outcome, before: HashMap<StateKey, Option<Bytes>>) -> Self {
        let chunk = |pruned: Pruned| Chunk { hash: pruned.hash, bytes: pruned.bytes, until: pruned.until };
        Self {
            number,
            pruned: outcome.pruned.into_iter().map(chunk).collect(),
            receipts: Arc::new(outcome.receipts),
            traces: Arc::new(outcome.traces),
            concerns: outcome.index.iter().map(|row| Concern { address: row.address, receipt: row.receipt }).collect(),
            before: Arc::new(before),
            writes: outcome.writes,
            carry: Carry { has_work: outcome.has_work, next_timer: outcome.next_timer, base_fees: outcome.next_base_fees },
        }
    }

    /// Whether the block writes what the rules of the next one are read from when this one is booked.
    pub(crate) fn changes_rules(&self) -> bool {
        [keys::parameters(), governance::upgrades_key()].iter().any(|key| self.writes.contains_key(&key.digest()))
    }
}

/// A finalized block with what came of it.
#[derive(Clone, Debug)]
pub struct FinalizedBlock {
    /// The block.
    pub block: SealedBlock,
    /// Receipts, the transactions' first, in order.
    pub receipts: Arc<Vec<Receipt>>,
    /// What happened inside, one for each receipt.
    pub traces: Arc<Vec<Trace>>,
    /// The encoded finalization of exactly this block, where this node has one.
    pub certificate: Option<Vec<u8>>,
    /// The places of the receipts, by name, once somebody asks for one.
    index: OnceLock<HashMap<Hash, usize>>,
}

impl FinalizedBlock {
    /// The place of the receipt of this name. All who wait for a receipt share the index: each of them would go through thousands of receipts.
    pub fn place_of(&self, receipt: &Hash) -> Option<usize> {
        let places = || self.receipts.iter().enumerate().map(|(place, receipt)| (receipt.id, place)).collect();
        self.index.get_or_init(places).get(receipt).copied()
    }
}

/// One node's view of one chain.
pub struct Chain {
    /// Separates this chain's votes from every other's.
    pub namespace: Vec<u8>,
    /// The block before the first.
    pub genesis: SealedBlock,
    /// What the first block writes before anything else.
    pub allocation: Arc<Vec<(StateKey, Bytes)>>,
    /// What never changes.
    pub config: Arc<ChainConfig>,
    /// Compiled actors.
    pub images: Arc<dyn Images>,
    /// Who signs in which epoch.
    pub committees: Committees,
    /// This node's secrets, where it is a validator.
    pub keys: Option<ValidatorKeys>,
    /// Verifies certificates and seeds.
    pub verifier: Scheme,
    /// Seeds of past rounds.
    pub seeds: Seeds,
    /// Faults of validators that this node has seen.
    pub(crate) faults: Faults,
    /// Finalized blocks and indexes.
    pub ledger: Ledger,
    /// What the newest blocks overwrote.
    pub recent: Recent,
    /// Transactions that wait.
    pub mempool: Mempool,
    /// Logs of dealers that wait for a block.
    pub(crate) logs: Logs,
    /// The rounds for which this validator signed a header.
    pub(crate) proposals: Proposals,
    /// The votes that this validator sent last.
    pub(crate) voted: Arc<Voted>,
    /// When blocks are proposed.
    pub pace: Pace,
    /// Where the time of day comes from.
    pub clock: WallClock,
    /// Deliveries that took far longer than their modelled time.
    pub slow: Arc<Slow>,
    /// The newest finalized block.
    pub head: watch::Sender<Head>,
    /// The protocol versions that are scheduled.
    pub protocol: Protocol,
    /// How far this node is behind its network.
    pub progress: Progress,
    /// Finalized blocks, as they come.
    pub blocks: broadcast::Sender<Arc<FinalizedBlock>>,
    /// Whether the engine has asked this node for a block since it started.
    pub asked: watch::Sender<bool>,
    /// The newest block that every subscriber was told of.
    pub told: watch::Sender<u64>,
    /// The newest block that the engine had on the disk when it started. An earlier run may have told of it.
    pub(crate) archived: watch::Sender<u64>,
    /// Blocks that this node is building.
    pub building: watch::Sender<usize>,
    /// How keys of the newest state are proven.
    pub proving: Proving,
    /// The newest final block, or genesis: most questions are about it.
    newest: Mutex<SealedBlock>,
    outputs: Mutex<HashMap<Hash, Arc<Output>>>,
    state: OnceLock<Arc<dyn StateReader>>,
    is_open: watch::Sender<bool>,
}

impl Chain {
    /// A node at the ledger's tip.
    pub fn new(setup: Setup) -> Result<Self, StoreError> {
        let view = setup.ledger.view()?;
        let newest = tip_block(&setup.ledger, &setup.genesis)?;
        let head = Head::of(&newest);
        let carry = match view.carry(head.number)? {
            Some(bytes) => Carry::from_bytes(&bytes).ok_or(StoreError::Damaged { row: "the newest carry".into() })?,
            None => Carry::genesis(&setup.config),
        };
        let mempool = Mempool::new(setup.config.clone(), carry.base_fees);
        let recent = Recent::new(setup.ledger.retention().values).ahead(MAX_TOGETHER.try_into().unwrap_or(u64::MAX));
        for (number, bytes) in view.overwritten()? {
            let before =
                recent::from_bytes(&bytes.into()).ok_or_else(|| StoreError::Damaged { row: format!("overwritten by block {number}") })?;
            recent.push(number, Arc::new(before));
        }
        setup.head.send_replace(head);
        setup.pace.govern(&setup.config.params);
        let committees = Committees::new(epoch::length(&setup.config), &setup.genesis, setup.ledger.clone());
        let protocol = Protocol::new(setup.config.versions);
        let at_genesis = setup.allocation.iter().find(|(key, _)| *key == governance::upgrades_key().digest());
        protocol.govern(at_genesis.map(|(_, stored)| stored), cowboy_types::Height(1));
        // The group key never changes: what verifies the first epoch verifies all of them.
        let group = *committees.newest().info.output.public().public();
        let verifier = Scheme::certificate_verifier(&setup.namespace, group);
        Ok(Self {
            namespace: setup.namespace.clone(),
            genesis: setup.genesis,
            allocation: setup.allocation,
            config: setup.config.clone(),
            images: setup.images,
            committees,
            verifier,
            keys: setup.keys,
            seeds: Seeds::default(),
            faults: Faults::default(),
            ledger: setup.ledger,
            recent,
            mempool,
            logs: Logs::default(),
            proposals: setup.proposals,
            voted: Arc::new(setup.voted),
            pace: setup.pace,
            clock: setup.clock,
            slow: Arc::default(),
            protocol,
            progress: Progress::new(setup.head.clone()),
            head: setup.head,
            blocks: setup.blocks,
            asked: watch::Sender::new(false),
            told: watch::Sender::new(head.number),
            archived: watch::Sender::new(0),
            building: watch::Sender::new(0),
            proving: Proving::default(),
            newest: Mutex::new(newest),
            outputs: Mutex::default(),
            state: OnceLock::new(),
            is_open: watch::Sender::new(false),
        })
    }

    /// Keeps what execution made of a block until the block is final.
    pub fn keep_output(&self, block: &SealedBlock, output: Output) {
        let digests = block.block().transactions.iter().map(cowboy_types::Transaction::digest);
        self.mempool.take(output.number, digests);
        self.outputs.lock().expect("nothing panics while it holds the lock").insert(block.hash(), Arc::new(output));
    }

    /// What execution made of a block that is not final yet.
    pub fn output(&self, digest: &Hash) -> Option<Arc<Output>> {
        self.outputs.lock().expect("nothing panics while it holds the lock").get(digest).cloned()
    }

    /// Forgets the outputs of this block number and all before.
    pub fn forget_outputs(&self, number: u64) {
        self.outputs.lock().expect("nothing panics while it holds the lock").retain(|_, output| output.number > number);
    }

    /// What happened inside the delivery with this receipt, where the ledger still has it.
    pub fn trace(&self, view: &View, receipt: &Hash) -> Result<Option<Trace>, StoreError> {
        let Some(place) = view.place_of(receipt)? else { return Ok(None) };
        let (Some(kept), Some(receipt)) = (view.trace(place)?, view.receipt(place)?) else { return Ok(None) };
        Ok(kept.map_or_else(|| Some(traces::plain(&receipt)), |bytes| traces::from_bytes(&receipt, &bytes)))
    }

    /// What the proposer of a block on this parent should know. Where nobody knows, there is work.
    pub fn carry(&self, parent: &SealedBlock) -> Carry {
        if let Some(output) = self.output(&parent.hash()) {
            return output.carry;
        }
        let number = parent.header().number.0;
        let kept = self.ledger.view().and_then(|view| view.carry(number)).ok().flatten();
        kept.and_then(|bytes| Carry::from_bytes(&bytes)).unwrap_or_else(|| Carry::genesis(&self.config))
    }

    /// The epoch of the block after the newest final one, and who signs in it.
    pub fn term(&self) -> Arc<Term> {
        let epoch = self.committees.epoch_of(self.head.borrow().number.saturating_add(1));
        self.committees.term(epoch).unwrap_or_else(|| self.committees.newest())
    }

    /// How many validators sign in that epoch.
    pub fn validators(&self) -> usize {
        self.term().committee.members().len()
    }

    /// Whether this node is the only validator there can ever be: the set of a dev chain never changes.
    pub fn is_alone(&self) -> bool {
        self.config.is_dev && self.validators() == 1
    }

    /// How many messages wait for a part of the engine, or of the network, in memory that is taken at the start. More of them take it as they come.
    ///
    /// The only validator there can ever be is told what it says itself, a few messages at a time.
    pub(crate) fn mailbox(&self) -> NonZeroUsize {
        if self.is_alone() { NZUsize!(64) } else { NZUsize!(1_024) }
    }

    /// Whether this validator may sign the header: it signed none of the round, and the disk says so from now on.
    pub(crate) fn may_sign(&self, header: &cowboy_types::Header) -> bool {
        let (epoch, view) = (header.context.epoch.0, header.context.view.0);
        match self.proposals.claim(epoch, view) {
            Ok(true) => true,
            Ok(false) => {
                tracing::info!(epoch, view, "this validator has signed a block of this round before, and proposes no other");
                false
            }
            Err(error) => {
                tracing::error!(%error, "nothing is proposed: the round cannot be noted on the disk");
                false
            }
        }
    }

    /// Whether the validator with this key signs the next block alone. A newcomer to a chain of one validator does not.
    pub(crate) fn is_signed_by_only(&self, key: &PublicKey) -> bool {
        matches!(self.term().committee.members(), [member] if member.network == *key)
    }

    /// The parameters of the next block, as governance left them.
    pub fn params(&self) -> Arc<Params> {
        self.mempool.params()
    }

    /// The account after the newest final block; `None` before the state is open.
    pub async fn account(&self, address: &Address) -> Option<Account> {
        let stored = self.state()?.read(vec![Key::account(*address).digest()]).await;
        Some(stored.first().and_then(|stored| account_of(stored.as_ref()?)).unwrap_or(Account::UNSEEN))
    }

    /// The nonce of an account's next transaction: after those that wait here without a gap. `None` before the state is open.
    pub async fn next_nonce(&self, address: &Address) -> Option<Nonce> {
        // The mempool first: what a block takes out of it meanwhile is in the state that is read after it.
        let waiting = self.mempool.next_nonce(address);
        let account = self.account(address).await?.nonce;
        Some(waiting.map_or(account, |waiting| waiting.max(account)))
    }

    /// The final block of this number, or genesis, where there is one.
    pub fn block(&self, number: u64) -> Result<Option<SealedBlock>, StoreError> {
        let newest = self.newest.lock().expect("nothing panics while it holds the lock").clone();
        match number {
            0 => Ok(Some(self.genesis.clone())),
            _ if newest.header().number.0 == number => Ok(Some(newest)),
            _ => sealed(&self.ledger.view()?, number),
        }
    }

    /// The newest final block of the ledger, or genesis.
    pub fn tip_block(&self) -> Result<SealedBlock, StoreError> {
        tip_block(&self.ledger, &self.genesis)
    }

    /// Waits until every block that was begun is final.
    pub async fn wait_until_quiet(&self) {
        let mut head = self.head.subscribe();
        while self.is_busy() {
            if head.changed().await.is_err() {
                return;
            }
        }
    }

    /// Whether a block is being built, or is built and not final yet.
    fn is_busy(&self) -> bool {
        *self.building.borrow() > 0 || !self.outputs.lock().expect("nothing panics while it holds the lock").is_empty()
    }

    /// Opens the state for queries, and takes over the parameters that governance moved.
    pub async fn attach_state(&self, state: Arc<dyn StateReader>) {
        let governed = state.read(vec![keys::parameters().digest(), governance::upgrades_key().digest()]).await;
        let [moved, upgrades] = <[_; 2]>::try_from(governed).expect("a value for each key");
        self.mempool.govern(moved.as_ref());
        let head = *self.head.borrow();
        // Before the first block the state is empty, and the schedule is that of genesis.
        if head.number > 0 {
            self.protocol.govern(upgrades.as_ref(), head.height.next());
        }
        self.pace.govern(&self.params());
        // A second attachment would be the same database.
        let _ = self.state.set(state);
        self.is_open.send_replace(true);
    }

    /// Waits until the state is open.
    pub async fn wait_until_open(&self) -> bool {
        self.is_open.subscribe().wait_for(|is_open| *is_open).await.is_ok()
    }

    /// Waits until the open state has every block of the ledger.
    ///
    /// A node that was stopped between the two has blocks in its ledger that its state gets again.
    pub async fn wait_until_current(&self) -> bool {
        let mut head = self.head.subscribe();
        let Some(state) = self.state() else { return false };
        loop {
            let newest = *head.borrow_and_update();
            if newest.number == 0 || state.root().await == newest.state_root {
                return true;
            }
            if head.changed().await.is_err() {
                return false;
            }
        }
    }

    /// The state, once the node has opened it.
    pub fn state(&self) -> Option<&Arc<dyn StateReader>> {
        self.state.get()
    }
}

fn tip_block(ledger: &Ledger, genesis: &SealedBlock) -> Result<SealedBlock, StoreError> {
    let view = ledger.view()?;
    let Some(number) = view.tip()? else { return Ok(genesis.clone()) };
    sealed(&view, number)?.ok_or_else(|| StoreError::Damaged { row: format!("block {number}") })
}

/// A block of the ledger, where there is one of this number.
fn sealed(view: &View, number: u64) -> Result<Option<SealedBlock>, StoreError> {
    let Some(block) = view.block(number)? else { return Ok(None) };
    SealedBlock::check(block).map(Some).map_err(|_| StoreError::Damaged { row: format!("block {number}") })
}

/// What a [`Chain`] is made from.
pub struct Setup {
    /// Separates this chain's votes from every other's.
    pub namespace: Vec<u8>,
    /// The block before the first.
    pub genesis: SealedBlock,
    /// What the first block writes before anything else.
    pub allocation: Arc<Vec<(StateKey, Bytes)>>,
    /// What never changes.
    pub config: Arc<ChainConfig>,
    /// Compiled actors.
    pub images: Arc<dyn Images>,
    /// This node's secrets, where it is a validator.
    pub keys: Option<ValidatorKeys>,
    /// The rounds for which this validator signed a header.
    pub proposals: Proposals,
    /// The votes that this validator sent last.
    pub voted: Voted,
    /// Finalized blocks and indexes.
    pub ledger: Ledger,
    /// When blocks are proposed.
    pub pace: Pace,
    /// Where the time of day comes from.
    pub clock: WallClock,
    /// Where the newest block is told.
    pub head: watch::Sender<Head>,
    /// Where every block is told.
    pub blocks: broadcast::Sender<Arc<FinalizedBlock>>,
}

#[cfg(test)]
mod tests;
