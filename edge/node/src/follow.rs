//! A node that votes on nothing: it takes another node's blocks, verifies them, and executes everything.

use crate::{
    application::Machine,
    block::SealedBlock,
    certificate::finalization,
    chain::{Chain, Output},
    engine::Kept,
    execute::{self, Databases, Executed},
    report,
    rules::{commit, complete},
};
use commonware_codec::Decode as _;
use commonware_consensus::{Reporter as _, simplex::types::Activity};
use commonware_glue::{
    dkg::ReshareBlock as _,
    stateful::{Application, Finality, db::DatabaseSet},
};
use commonware_runtime::{Clock, Metrics, Spawner, Storage};
use cowboy_chain::{BlockInvalid, Mode};
use cowboy_store::{StoreError, state};
use rand_core::CryptoRng;
use std::{collections::VecDeque, sync::Arc};
use tokio::sync::{mpsc, oneshot};

/// Blocks that may come before one with a certificate.
const MAX_UNCERTIFIED: usize = 256;

/// The bytes of these blocks: until a certificate comes nobody has proven them.
const MAX_UNCERTIFIED_BYTES: usize = 64 * 1024 * 1024;

/// Why a block is not followed.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// The bytes are no block.
    #[error("the bytes are not a block: {0}")]
    NotABlock(String),
    /// The block does not follow the one before it.
    #[error("block {found} does not follow block {last}: fetch again from {last}")]
    NotNext {
        /// The newest block there is.
        last: u64,
        /// The number of the block that came.
        found: u64,
    },
    /// The certificate is not one of this block by this chain's validators.
    #[error("the certificate of block {0} does not hold: the source lies, or follows another chain")]
    Certificate(u64),
    /// Too many blocks, or bytes of them, came without a certificate.
    #[error(
        "too many blocks came without a certificate (at most {MAX_UNCERTIFIED}, and {MAX_UNCERTIFIED_BYTES} bytes): the source cannot prove them"
    )]
    Uncertified,
    /// The header breaks a rule.
    #[error("the header of block {0} breaks a rule")]
    Header(u64),
    /// The body breaks a rule.
    #[error("block {number} is invalid: {reason}")]
    Body {
        /// The block's number.
        number: u64,
        /// The reason.
        reason: BlockInvalid,
    },
    /// The copy is not the block that the validators made.
    #[error("the copy of block {0} is not the block of this chain")]
    Copy(u64),
    /// The copy cannot be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its execution comes out differently here.
    #[error("block {0} comes out differently here: the validators run another protocol, or this node's disk is damaged")]
    Different(u64),
    /// The node is stopped.
    #[error("the follower is stopped")]
    Stopped,
}

impl FollowError {
    /// Whether the source is to blame: another one may have better blocks.
    pub fn is_of_source(&self) -> bool {
        matches!(self, Self::NotABlock(_) | Self::NotNext { .. } | Self::Certificate(_) | Self::Uncertified | Self::Copy(_))
    }
}

/// Where a follower is fed. Dropping it leaves the node where it is.
pub struct Feed {
    sender: mpsc::Sender<Fed>,
}

/// What is on its way in.
pub(crate) enum Fed {
    /// The next block.
    Block { block: Vec<u8>, certificate: Vec<u8>, answer: oneshot::Sender<Result<(), FollowError>> },
    /// What waits for a certificate is given up.
    Restart { answer: oneshot::Sender<Result<(), FollowError>> },
    /// The copy of a block that is missing.
    Copy { number: u64, bytes: Vec<u8>, answer: oneshot::Sender<Result<(), FollowError>> },
}

impl Feed {
    pub(crate) fn new() -> (Self, mpsc::Receiver<Fed>) {
        let (sender, receiver) = mpsc::channel(16);
        (Self { sender }, receiver)
    }

    /// Gives the next block in its canonical encoding, with its certificate where there is one of exactly this block; else empty.
    ///
    /// A block is executed, and visible, when a certificate of it or of a later one has come.
    pub async fn push(&self, block: Vec<u8>, certificate: Vec<u8>) -> Result<(), FollowError> {
        self.ask(|answer| Fed::Block { block, certificate, answer }).await
    }

    /// Gives up the blocks that wait for a certificate, as when their source is left for another: the next block is the one after the
    /// newest that is executed.
    pub async fn restart(&self) -> Result<(), FollowError> {
        self.ask(|answer| Fed::Restart { answer }).await
    }

    /// Gives the copy of a block that [`crate::NodeHandle::missing`] names, as the source encodes it.
    pub async fn restore(&self, number: u64, bytes: Vec<u8>) -> Result<(), FollowError> {
        self.ask(|answer| Fed::Copy { number, bytes, answer }).await
    }

    async fn ask(&self, fed: impl FnOnce(oneshot::Sender<Result<(), FollowError>>) -> Fed) -> Result<(), FollowError> {
        let (answer, answered) = oneshot::channel();
        self.sender.send(fed(answer)).await.map_err(|_| FollowError::Stopped)?;
        answered.await.map_err(|_| FollowError::Stopped)?
    }
}

/// What the partitions of a follower's state begin with.
pub(crate) const STATE: &str = "follower";

/// Opens the state where the ledger ends, and serves the feed for as long as it lives.
pub(crate) async fn serve<E>(mut context: E, chain: Arc<Chain>, mut feed: mpsc::Receiver<Fed>)
where
    E: Spawner + Clock + Storage + Metrics + CryptoRng,
{
    let pages = state::page_cache(&context, STATE).await;
    let tip = chain.tip_block().expect("the ledger opened a moment ago");
    let expected = <Machine as Application<E>>::sync_targets(&tip);
    let databases = <Databases<E> as DatabaseSet<E>>::init(context.child("state"), state::config(STATE, pages), Some(expected)).await;
    chain.attach_state(Arc::new(crate::engine::State::<E>(databases.clone()))).await;
    report::start(context.child("sync"), chain.clone());
    // Nodes prune at different blocks, so that not all of them do at once.
    let phase = context.next_u64() % interval();
    let mut follower = Follower { context, chain, databases, newest: tip, waiting: VecDeque::new(), waiting_bytes: 0, phase };
    while let Some(fed) = feed.recv().await {
        let (result, answer) = match fed {
            Fed::Block { block, certificate, answer } => (follower.take(block, certificate).await, answer),
            Fed::Restart { answer } => (follower.restart(), answer),
            Fed::Copy { number, bytes, answer } => (follower.restore(number, &bytes), answer),
        };
        // Who has stopped listening wants no answer.
        let _ = answer.send(result);
    }
}

struct Follower<E: Spawner + Clock + Storage + Metrics> {
    context: E,
    chain: Arc<Chain>,
    databases: Databases<E>,
    /// The newest block, executed or waiting.
    newest: SealedBlock,
    /// Blocks that follow the executed ones, each with its parent, and wait for a certificate.
    waiting: VecDeque<(SealedBlock, SealedBlock)>,
    /// Their bytes.
    waiting_bytes: usize,
    /// At which of the blocks between two prunings the state is pruned.
    phase: u64,
}

/// Blocks between two prunings.
fn interval() -> u64 {
    u64::try_from(Kept::default().interval.get()).unwrap_or(u64::MAX)
}

impl<E: Spawner + Clock + Storage + Metrics + CryptoRng> Follower<E> {
    async fn take(&mut self, block: Vec<u8>, certificate: Vec<u8>) -> Result<(), FollowError> {
        let length = block.len();
        let block = SealedBlock::decode_cfg(bytes::Bytes::from(block), &()).map_err(|error| FollowError::NotABlock(error.to_string()))?;
        let (last, found) = (self.newest.header().number.0, block.header().number.0);
        if found != last + 1 || block.header().parent != self.newest.hash() {
            return Err(FollowError::NotNext { last, found });
        }
        if !certificate.is_empty() {
            let certified = finalization(&mut self.context, &self.chain.verifier, &block.hash(), &certificate);
            let certified = certified.ok_or(FollowError::Certificate(found))?;
            // It proves the seed of its round, which the next header carries.
            let _ = self.chain.seeds.clone().report(Activity::Finalization(certified));
        }
        let bytes = self.waiting_bytes.saturating_add(length);
        if self.waiting.len() >= MAX_UNCERTIFIED || certificate.is_empty() && bytes > MAX_UNCERTIFIED_BYTES {
            return Err(FollowError::Uncertified);
        }
        self.waiting_bytes = bytes;
        let parent = std::mem::replace(&mut self.newest, block.clone());
        self.waiting.push_back((parent, block));
        if certificate.is_empty() {
            return Ok(());
        }
        self.waiting_bytes = 0;
        while let Some((parent, block)) = self.waiting.pop_front() {
            if self.chain.protocol.stopped().is_some() {
                return Err(FollowError::Stopped);
            }
            let own = (block.header().number.0 == found).then(|| certificate.clone());
            if let Err(error) = self.execute(&parent, &block, own).await {
                self.newest = parent;
                self.waiting.clear();
                return Err(error);
            }
        }
        Ok(())
    }

    fn restart(&mut self) -> Result<(), FollowError> {
        if let Some((parent, _)) = self.waiting.front() {
            self.newest = parent.clone();
        }
        self.waiting.clear();
        self.waiting_bytes = 0;
        Ok(())
    }

    fn restore(&mut self, number: u64, bytes: &[u8]) -> Result<(), FollowError> {
        if self.chain.take_copy(number, bytes, &mut self.context)? { Ok(()) } else { Err(FollowError::Copy(number)) }
    }

    async fn execute(&self, parent: &SealedBlock, block: &SealedBlock, certificate: Option<Vec<u8>>) -> Result<(), FollowError> {
        let chain = &self.chain;
        let number = block.header().number.0;
        if !chain.is_sound(block, parent) {
            return Err(FollowError::Header(number));
        }
        let transactions = chain.signed(block, Finality::Candidate).ok_or(FollowError::Header(number))?;
        let input =
            chain.input(block.header(), block.payload().as_ref(), Mode::Verify { transactions }).ok_or(FollowError::Header(number))?;
        let batch = <Databases<E> as DatabaseSet<E>>::new_batches(&self.databases).await;
        let executed = execute::run(&self.context, chain.fence(), input, chain.allocation(number), batch).await;
        let Executed { merkleized, outcome, before } = executed.map_err(|failed| match failed {
            execute::Failed::Invalid(reason) => FollowError::Body { number, reason },
            execute::Failed::State(_) => FollowError::Different(number),
        })?;
        let mut expected = block.header().clone();
        complete(&mut expected, &outcome);
        commit::<E>(&mut expected, &merkleized);
        if expected != *block.header() {
            return Err(FollowError::Different(number));
        }
        let output = Output::new(number, outcome, before);
        chain.recent.push(number, output.before.clone());
        <Databases<E> as DatabaseSet<E>>::apply(&self.databases, merkleized).await;
        if !<Databases<E> as DatabaseSet<E>>::finalize(&self.databases).await.durable().await {
            return Err(FollowError::Stopped);
        }
        chain.book(self.context.child("ledger"), block, &output, certificate).await;
        if number % interval() == self.phase {
            self.prune(number).await;
        }
        Ok(())
    }

    /// Drops the operations of the state that only older blocks than those that are kept need, as the engine of a validator does.
    async fn prune(&self, newest: u64) {
        let states = u64::try_from(Kept::default().states).unwrap_or(u64::MAX);
        let Some(number) = newest.checked_sub(states).filter(|number| *number > 0) else { return };
        match self.chain.block(number) {
            Ok(Some(block)) => {
                let targets = <Machine as Application<E>>::sync_targets(&block);
                <Databases<E> as DatabaseSet<E>>::prune(&self.databases, &targets).await;
            }
            // The node began later.
            Ok(None) => {}
            Err(error) => tracing::warn!(number, %error, "the state is not pruned: the block cannot be read"),
        }
    }
}
