//! A node that votes on nothing: it takes another node's blocks, verifies them, and executes everything.

use crate::{
    application::Machine,
    block::SealedBlock,
    certificate::finalizations,
    chain::{Chain, Final, Output},
    checking::{Ahead, Checking},
    engine::Kept,
    execute::{self, Databases, Executed},
    moving::Moving,
    report,
    rules::{commit, complete},
};
use commonware_codec::Decode as _;
use commonware_consensus::{Reporter as _, simplex::types::Activity};
use commonware_glue::{
    dkg::ReshareBlock as _,
    stateful::{Application, db::DatabaseSet},
};
use commonware_runtime::{Clock, Metrics, Spawner, Storage};
use cowboy_chain::{BlockInvalid, Mode};
use cowboy_store::{MAX_TOGETHER, StoreError, state};
use futures::future::{Either, select};
use rand_core::CryptoRng;
use rayon::iter::{IntoParallelIterator as _, ParallelIterator as _};
use std::{collections::VecDeque, pin::pin, sync::Arc, time::Duration};
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
    /// The block names another one before it than the one that came before it, which nobody has proven.
    #[error("block {0} does not follow the block that came before it: the source mixes two chains")]
    Forked(u64),
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
        matches!(
            self,
            Self::NotABlock(_) | Self::NotNext { .. } | Self::Forked(_) | Self::Certificate(_) | Self::Uncertified | Self::Copy(_)
        )
    }
}

/// A block as it comes from a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The block in its canonical encoding.
    pub block: Vec<u8>,
    /// The finalization of exactly this block; empty where there is none.
    pub certificate: Vec<u8>,
}

/// The most blocks that are given at once.
pub const MAX_RUN: usize = MAX_TOGETHER;

/// The bytes of blocks, and of the values that they write and overwrite, that are written to the disk together, but for those of the last one.
const BOOKED_BYTES: usize = 4 * 1024 * 1024;

/// How long a follower waits for the next blocks before its state stands still for proofs.
const PAUSE: Duration = Duration::from_millis(20);

/// Where a follower is fed. Dropping it leaves the node where it is.
pub struct Feed {
    sender: mpsc::Sender<Fed>,
}

/// What is on its way in.
pub(crate) enum Fed {
    /// The next blocks.
    Run { run: Vec<Fetched>, answer: oneshot::Sender<Result<(), FollowError>> },
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
        self.push_run(vec![Fetched { block, certificate }]).await
    }

    /// Gives the next blocks, [`MAX_RUN`] at most, in their order. The outcome is that of giving them one by one, until the first that is refused; but
    /// the certificates of all are verified together ([decision 627](../../../docs/decisions/0627-certificates-of-a-run.md)).
    pub async fn push_run(&self, run: Vec<Fetched>) -> Result<(), FollowError> {
        self.ask(|answer| Fed::Run { run, answer }).await
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
    let moving = Moving::new(&chain.proving);
    let mut follower = Follower {
        context,
        chain,
        databases,
        newest: tip,
        waiting: VecDeque::new(),
        executed: Vec::new(),
        executed_bytes: 0,
        phase,
        moving,
    };
    while let Some(fed) = follower.next(&mut feed).await {
        let (result, answer) = match fed {
            Fed::Run { run, answer } => (follower.take(run).await, answer),
            Fed::Restart { answer } => (follower.restart(), answer),
            Fed::Copy { number, bytes, answer } => (follower.restore(number, &bytes), answer),
        };
        // Who has stopped listening wants no answer.
        let _ = answer.send(result);
    }
}

/// A block as it came, decoded where it is one.
struct Decoded {
    block: Result<SealedBlock, FollowError>,
    /// The length of its encoding.
    length: usize,
    certificate: Vec<u8>,
}

impl From<Fetched> for Decoded {
    fn from(Fetched { block, certificate }: Fetched) -> Self {
        let length = block.len();
        let block = SealedBlock::decode_cfg(bytes::Bytes::from(block), &()).map_err(|error| FollowError::NotABlock(error.to_string()));
        Self { block, length, certificate }
    }
}

/// A block that follows the executed ones, and waits to be executed.
struct Waiting {
    parent: SealedBlock,
    block: SealedBlock,
    /// The length of its encoding.
    bytes: usize,
    /// Empty where it has none. That of a block which is executed was verified.
    certificate: Vec<u8>,
}

struct Follower<E: Spawner + Clock + Storage + Metrics> {
    context: E,
    chain: Arc<Chain>,
    databases: Databases<E>,
    /// The newest block, executed or waiting.
    newest: SealedBlock,
    /// Blocks that follow the executed ones. Between two runs none of them has a certificate.
    waiting: VecDeque<Waiting>,
    /// Executed blocks that are not on the disk yet: none between two runs.
    executed: Vec<Final>,
    /// Their bytes, and those of their values.
    executed_bytes: usize,
    /// At which of the blocks between two prunings the state is pruned.
    phase: u64,
    /// The right to execute blocks.
    moving: Moving,
}

/// Blocks between two prunings.
fn interval() -> u64 {
    u64::try_from(Kept::default().interval.get()).unwrap_or(u64::MAX)
}

impl<E: Spawner + Clock + Storage + Metrics + CryptoRng> Follower<E> {
    /// What comes next. While it does not come at once, the state stands still.
    async fn next(&mut self, feed: &mut mpsc::Receiver<Fed>) -> Option<Fed> {
        if self.moving.is_on() {
            let next = pin!(feed.recv());
            let pause = pin!(self.context.sleep(PAUSE));
            if let Either::Left((fed, _)) = select(next, pause).await {
                return fed;
            }
            self.moving.stop();
        }
        feed.recv().await
    }

    /// Takes a run of blocks. Those before the first fault are executed as far as a certificate proves them.
    async fn take(&mut self, run: Vec<Fetched>) -> Result<(), FollowError> {
        // A block is hashed when it is decoded, with its transactions: on all cores.
        let decoded: Vec<Decoded> = run.into_par_iter().map(Decoded::from).collect();
        let linked = decoded.into_iter().try_for_each(|decoded| self.link(decoded));
        // What is wrong with a certificate came before what is wrong with the order.
        let fault = self.verify().err().or(linked.err());
        self.execute_proven().await?;
        fault.map_or(Ok(()), Err)
    }

    /// Puts a block after the newest, where its hash leads there.
    fn link(&mut self, Decoded { block, length, certificate }: Decoded) -> Result<(), FollowError> {
        let block = block?;
        let (last, found) = (self.newest.header().number.0, block.header().number.0);
        let is_next = found.checked_sub(1) == Some(last);
        if !is_next || block.header().parent != self.newest.hash() {
            // The chain of a source may go back behind a block that was proven; of two that nobody proved, one is invented.
            let is_unproven = self.waiting.back().is_some_and(|waiting| waiting.certificate.is_empty());
            return Err(if is_next && is_unproven { FollowError::Forked(found) } else { FollowError::NotNext { last, found } });
        }
        let unproven = self.waiting.iter().rev().take_while(|waiting| waiting.certificate.is_empty());
        let (count, bytes) = unproven.fold((0, length), |(count, bytes), waiting| (count + 1, waiting.bytes.saturating_add(bytes)));
        if count >= MAX_UNCERTIFIED || certificate.is_empty() && bytes > MAX_UNCERTIFIED_BYTES {
            return Err(FollowError::Uncertified);
        }
        let parent = std::mem::replace(&mut self.newest, block.clone());
        self.waiting.push_back(Waiting { parent, block, bytes: length, certificate });
        Ok(())
    }

    /// Verifies the certificates of the blocks that wait, all of them together. From the first wrong one on the blocks are given up.
    fn verify(&mut self) -> Result<(), FollowError> {
        let certified: Vec<usize> = (0..self.waiting.len()).filter(|place| !self.waiting[*place].certificate.is_empty()).collect();
        let certificates = certified.iter().map(|place| {
            let waiting = &self.waiting[*place];
            (waiting.block.hash(), waiting.certificate.as_slice())
        });
        let (found, wrong) = finalizations(&mut self.context, &self.chain.verifier, certificates);
        for finalization in found {
            // It proves the seed of its round, which the next header carries.
            let _ = self.chain.seeds.clone().report(Activity::Finalization(finalization));
        }
        let wrong = wrong.and_then(|place| certified.get(place).copied());
        let liar = wrong.map(|place| self.waiting[place].block.header().number.0);
        if let Some(place) = wrong {
            self.give_up_from(place);
        }
        liar.map_or(Ok(()), |number| Err(FollowError::Certificate(number)))
    }

    /// Executes the blocks that wait, up to the last one with a certificate: it proves all before it.
    async fn execute_proven(&mut self) -> Result<(), FollowError> {
        let proven = self.waiting.iter().rposition(|waiting| !waiting.certificate.is_empty()).map_or(0, |place| place + 1);
        let right = {
            let headers: Vec<_> = self.waiting.iter().take(proven).map(|waiting| waiting.block.header()).collect();
            self.chain.proven(&mut self.context, &headers)
        };
        if right.is_empty() {
            // What comes without a certificate keeps nobody from proving the state.
            self.moving.stop();
            return Ok(());
        }
        let (now, sleep) = (|| self.context.current(), |time| self.context.sleep(time));
        self.moving.begin(right.len() > 1, now, sleep).await;
        let executed = self.execute_all(right).await;
        // The state has what was executed, so the ledger must have it too, whatever came after it.
        self.persist().await?;
        executed
    }

    /// Executes the first blocks that wait; of each it is said whether its seeds and its VRF were found to be right.
    async fn execute_all(&mut self, right: Vec<bool>) -> Result<(), FollowError> {
        // While one is executed, or written to the disk, the signatures in the next ones are checked.
        let (mut checks, mut left) = (Ahead::default(), right.len());
        for is_proven in right {
            let blocks = self.waiting.iter().take(left).map(|waiting| &waiting.block);
            let Some(checking) = checks.check_next(&self.chain, blocks) else { break };
            let Some(waiting) = self.waiting.pop_front() else { break };
            left -= 1;
            self.moving.go_on(self.context.current());
            // Booking a block says whether this build can execute the next one.
            if waiting.block.header().version != waiting.parent.header().version {
                self.persist().await?;
            }
            if self.chain.protocol.stopped().is_some() {
                return Err(FollowError::Stopped);
            }
            let Waiting { parent, block, bytes, certificate } = waiting;
            match self.execute(&parent, &block, (is_proven, checking)).await {
                Ok(output) => {
                    // Who signs the next block, and under which parameters it is checked, is known when this one is booked.
                    let ends = self.chain.committees.is_boundary(output.number) || output.changes_rules();
                    let certificate = (!certificate.is_empty()).then_some(certificate);
                    let last = Final { block, output: Arc::new(output), certificate };
                    self.executed_bytes = self.executed_bytes.saturating_add(bytes).saturating_add(last.value_bytes());
                    self.executed.push(last);
                    if ends || self.executed.len() >= MAX_TOGETHER || self.executed_bytes >= BOOKED_BYTES {
                        self.persist().await?;
                    }
                }
                Err(error) => {
                    self.newest = parent;
                    self.waiting.clear();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Puts the executed blocks on the disk: their state, and then the ledger, from which a node that starts again takes the state to open.
    async fn persist(&mut self) -> Result<(), FollowError> {
        let executed = std::mem::take(&mut self.executed);
        self.executed_bytes = 0;
        let numbers: Vec<u64> = executed.iter().map(|last| last.output.number).collect();
        let Some(newest) = numbers.last().copied() else { return Ok(()) };
        if !<Databases<E> as DatabaseSet<E>>::finalize(&self.databases).await.durable().await {
            return Err(FollowError::Stopped);
        }
        self.chain.book(self.context.child("ledger"), executed).await;
        if numbers.iter().any(|number| number % interval() == self.phase) {
            self.prune(newest).await;
        }
        Ok(())
    }

    /// Gives up the waiting blocks from this place on.
    fn give_up_from(&mut self, place: usize) {
        if let Some(waiting) = self.waiting.get(place) {
            self.newest = waiting.parent.clone();
        }
        self.waiting.truncate(place);
    }

    fn restart(&mut self) -> Result<(), FollowError> {
        self.moving.stop();
        self.give_up_from(0);
        Ok(())
    }

    fn restore(&mut self, number: u64, bytes: &[u8]) -> Result<(), FollowError> {
        // Copies of old blocks change no state.
        self.moving.stop();
        if self.chain.take_copy(number, bytes, &mut self.context)? { Ok(()) } else { Err(FollowError::Copy(number)) }
    }

    /// Executes a block on the state, which has it from now on. It is not on the disk yet.
    async fn execute(
        &self,
        parent: &SealedBlock,
        block: &SealedBlock,
        (is_proven, checking): (bool, Checking),
    ) -> Result<Output, FollowError> {
        let chain = &self.chain;
        let number = block.header().number.0;
        if !chain.is_sound_of_run(block, parent, is_proven) {
            return Err(FollowError::Header(number));
        }
        let transactions = checking.ended(chain, block).await.ok_or(FollowError::Header(number))?;
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
        Ok(output)
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
