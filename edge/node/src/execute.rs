//! Drives the execution of a block over the database.
//!
//! It runs in threads of its own, so that nothing else of the node waits for it, and is watched: [`crate::watch`] says why. A block without transactions is
//! begun without one.

use crate::{
    chain::Chain,
    ending,
    mempool::Mempool,
    watch::{FAR, LEAST, Measure, Slow, Watched},
};
use bytes::Bytes;
use commonware_glue::stateful::db::{DatabaseSet, Shared};
use commonware_runtime::{Clock, Error::Closed, Spawner};
use commonware_storage::{
    Context, journal,
    qmdb::{self, any::batch::Slot},
};
use cowboy_chain::{BlockInput, BlockInvalid, Execution, Mode, Need, Outcome, StateKey, execution::Done, resume::Records};
use cowboy_store::state::{Db, Family, RawKey, raw};
use cowboy_types::{Address, Hash, Instruction};
use futures::future::{Either, pending, select};
use std::{
    collections::HashMap,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

/// How often a running execution is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How long an execution of a block without transactions stays where it was started, in all: another thread takes longer to begin than such a block
/// ([decision 696](../../../docs/decisions/0696-what-idle-blocks-cost.md)).
const BRIEF: Duration = Duration::from_millis(1);

/// Transactions that a proposal gives up before it takes none any more that runs an actor.
const GIVEN_UP: usize = 2;

/// The databases of the state machine: one.
pub type Databases<E> = Shared<Db<E>>;

/// A block's changes before their root is known.
pub type Batch<E> = <Databases<E> as DatabaseSet<E>>::Unmerkleized;

/// A block's changes with their root.
pub type Merkleized<E> = <Databases<E> as DatabaseSet<E>>::Merkleized;

/// Why a block could not be run.
#[derive(Debug, thiserror::Error)]
pub enum Failed {
    /// The database moved on to a branch without this block's parent, or the disk failed.
    #[error("the state of the parent cannot be read: {0}")]
    State(#[from] qmdb::Error<Family>),
    /// The block breaks a rule.
    #[error(transparent)]
    Invalid(#[from] BlockInvalid),
}

impl Failed {
    /// Whether the runtime is stopping, and the reading with it.
    pub(crate) fn is_cut_off(&self) -> bool {
        matches!(self, Self::State(qmdb::Error::Runtime(Closed) | qmdb::Error::Journal(journal::Error::Runtime(Closed))))
    }

    /// Ends the node where its disk failed ([decision 683](../../../docs/decisions/0683-a-disk-that-fails-refuses-no-block.md)): a block that cannot be
    /// run is not an invalid one.
    ///
    /// # Panics
    ///
    /// If the state cannot be read from the disk.
    pub(crate) fn assert_not_of_disk(&self) {
        use journal::Error::{ChecksumMismatch, Codec, Corruption, OffsetDataMismatch, Runtime};
        let Self::State(error) = self else { return };
        let is_of_disk = match error {
            qmdb::Error::Runtime(_) | qmdb::Error::DataCorrupted(_) => true,
            qmdb::Error::Journal(error) => {
                matches!(error, Runtime(_) | Corruption(_) | Codec(_) | ChecksumMismatch(..) | OffsetDataMismatch { .. })
            }
            _ => false,
        };
        if is_of_disk && !self.is_cut_off() {
            ending::end(format!("the state cannot be read: {error}"));
        }
    }
}

/// A block that was run.
pub struct Executed<E: Context + Spawner> {
    /// The parent's state with what the block wrote, and its root.
    pub merkleized: Merkleized<E>,
    /// The outcome.
    pub outcome: Outcome,
    /// What it overwrites.
    pub before: HashMap<StateKey, Option<Bytes>>,
}

/// Runs a block on its parent's state.
///
/// `allocation` is written before anything runs: genesis, in the first block.
pub async fn run<E: Context + Spawner + Clock>(
    runtime: &E,
    fence: Fence<'_>,
    input: BlockInput,
    allocation: &[(StateKey, Bytes)],
    batch: Batch<E>,
) -> Result<Executed<E>, Failed> {
    let mut batch = batch;
    for (key, value) in allocation {
        batch = batch.write(raw(key), Some(value.clone()));
    }
    // What is staged is known where it stands, so that writing it does not look for it again.
    let (_, mut staged) = batch.stage(&[]).await?;
    let mut read = Reads::default();
    let mut course = Course::new(fence, input);
    let mut answers = Vec::new();
    let outcome = loop {
        match course.advance(runtime, answers).await {
            Need::Done(done) => break *done?,
            Need::Keys(keys) => {
                // An execution that began again asks for what it had.
                let unread = read.missing(&keys);
                let (_, values, grown) = staged.expand(&names(&unread).iter().collect::<Vec<_>>()).await?;
                staged = grown;
                read.take(unread, values);
                answers = keys.into_iter().map(|key| (key, read.values[&key].clone())).collect();
            }
        }
    };
    // A record that is new is written unread; what it overwrites is kept for queries all the same.
    let unread = read.missing(outcome.writes.keys());
    let (_, values, staged) = staged.expand(&names(&unread).iter().collect::<Vec<_>>()).await?;
    read.take(unread, values);
    let slots = read.order.iter().map(|key| match outcome.writes.get(key) {
        None => Slot::Keep,
        Some(None) => Slot::Delete,
        Some(Some(value)) => Slot::Put(value.clone()),
    });
    let merkleized = staged.merkleize(slots.collect(), Vec::new()).await?;
    let mut before = read.values;
    before.retain(|key, _| outcome.writes.contains_key(key));
    // Before the first block there was nothing, not even what genesis allocates.
    before.extend(allocation.iter().map(|(key, _)| (*key, None)));
    Ok(Executed { merkleized, outcome, before })
}

/// How long an execution may take before something is done about it.
#[derive(Clone)]
pub struct Fence<'a> {
    /// How often a running execution is looked at.
    tick: Duration,
    /// How long a block without transactions is executed without a thread of its own.
    brief: Duration,
    /// What a delivery may use of a thread's time before a proposal gives it up.
    most: Duration,
    /// How long a delivery may take before a proposal puts it off; without end where no view waits for the proposal.
    longest: Duration,
    /// What a delivery has used of a thread's time before a proposal puts it off: one that has used less is not what takes the time.
    least: Duration,
    /// How long a proposal packs from its first delivery on; without end where nothing says.
    packing: Option<Duration>,
    /// Who is told of slow deliveries.
    slow: Arc<Slow>,
    /// Where senders are set apart.
    mempool: Option<&'a Mempool>,
}

impl Fence<'_> {
    /// None: whoever measures waits as long as it takes.
    pub fn none() -> Self {
        let (most, longest) = (Duration::MAX, Duration::MAX);
        Self { tick: TICK, brief: BRIEF, most, longest, least: LEAST, packing: None, slow: Arc::default(), mempool: None }
    }
}

impl Chain {
    /// Whether a proposal that takes too long costs its proposer the view: a lone validator has all the time.
    fn has_views(&self) -> bool {
        self.pace.gap().is_some() && self.validators() > 1
    }

    /// The fence of this chain's parameters. A chain without a rhythm has time to pack.
    pub fn fence(&self) -> Fence<'_> {
        let rows = self.params();
        let most = Duration::from_nanos(rows.execution.delivery_weight) * FAR;
        Fence {
            tick: TICK,
            brief: BRIEF,
            most,
            longest: if self.has_views() { most } else { Duration::MAX },
            least: LEAST,
            packing: self.pace.gap().map(|_| Duration::from_nanos(rows.execution.propose_time)),
            slow: self.slow.clone(),
            mempool: Some(&self.mempool),
        }
    }
}

/// Why a proposal leaves a transaction out.
#[derive(Clone, Copy, Debug)]
enum Why {
    /// It used far more processor time than the model allows.
    FarTooLong,
    /// The view would be over before it is: this computer has too much else to do.
    TooLongForNow,
}

/// What a proposal leaves out.
struct LeftOut {
    digest: Hash,
    sender: Address,
    why: Why,
}

/// An execution on its way, in threads of its own.
struct Course<'a> {
    fence: Fence<'a>,
    worker: Option<Worker>,
    watched: Arc<Watched>,
    /// What a proposer begins again with when it gives up a transaction.
    proposal: Option<BlockInput>,
    given_up: usize,
}

impl<'a> Course<'a> {
    fn new(fence: Fence<'a>, input: BlockInput) -> Self {
        let proposal = matches!(input.mode, Mode::Propose { .. }).then(|| input.clone());
        let watched = Arc::new(Watched::default());
        let worker = Worker::new(&fence, input, watched.clone());
        Self { fence, worker: Some(worker), watched, proposal, given_up: 0 }
    }

    /// Runs until it needs records or is done. A proposal that gives up a transaction starts again without it.
    async fn advance<E: Spawner + Clock>(&mut self, runtime: &E, answers: Records) -> Need<Done> {
        let mut answers = answers;
        loop {
            let worker = self.worker.take().expect("it comes back from every round");
            let round = worker.start(runtime, std::mem::take(&mut answers));
            let mut round = pin!(round);
            let mut told = None;
            let left_out = loop {
                match select(round.as_mut(), pin!(runtime.sleep(self.fence.tick))).await {
                    Either::Left((Some((worker, Some(need))), _)) => {
                        self.worker = Some(worker);
                        return need;
                    }
                    // The runtime is stopping, and this task with it: a block that nobody ran is neither right nor wrong.
                    Either::Left(_) => pending().await,
                    Either::Right(_) => {}
                }
                let Some(running) = self.watched.running() else { continue };
                let used = running.used();
                if used > self.fence.most && told.replace(running.id) != Some(running.id) {
                    self.fence.slow.runs(&running.id, used, self.fence.most);
                }
                let why = match (used > self.fence.most, used >= self.fence.least && running.elapsed() > self.fence.longest) {
                    (true, _) => Why::FarTooLong,
                    (false, true) => Why::TooLongForNow,
                    (false, false) => continue,
                };
                if let Some(sender) = self.sender_of(&running.id) {
                    break LeftOut { digest: running.id, sender, why };
                }
            };
            self.begin_again(&left_out);
        }
    }

    /// Who sent a transaction that a proposal may leave out.
    fn sender_of(&self, id: &Hash) -> Option<Address> {
        let Mode::Propose { candidates, .. } = &self.proposal.as_ref()?.mode else { return None };
        candidates.iter().find(|candidate| candidate.digest() == id).map(|candidate| candidate.transaction().from)
    }

    /// Leaves the thread that is under way to itself, and begins again without a sender's transactions.
    fn begin_again(&mut self, left_out: &LeftOut) {
        let LeftOut { digest, sender, why } = left_out;
        match why {
            Why::FarTooLong => {
                tracing::warn!(%sender, "a proposal leaves out a transaction that does not end, and its sender apart for a while")
            }
            Why::TooLongForNow => {
                tracing::info!(%sender, transaction = %digest, "a proposal puts off a transaction that takes too long now")
            }
        }
        match (self.fence.mempool, why) {
            (Some(mempool), Why::FarTooLong) => mempool.set_apart(sender),
            (Some(mempool), Why::TooLongForNow) => mempool.put_off(digest),
            (None, _) => {}
        }
        self.given_up += 1;
        self.watched.give_up();
        self.watched = Arc::new(Watched::default());
        let mut input = self.proposal.take().expect("only a proposal begins again");
        if let Mode::Propose { candidates, .. } = &mut input.mode {
            let runs_no_actor = |instruction: &Instruction| matches!(instruction, Instruction::System(_));
            candidates.retain(|candidate| {
                let transaction = candidate.transaction();
                transaction.from != *sender && (self.given_up < GIVEN_UP || runs_no_actor(&transaction.instruction))
            });
        }
        self.proposal = Some(input.clone());
        self.worker = Some(Worker::new(&self.fence, input, self.watched.clone()));
    }
}

impl Drop for Course<'_> {
    fn drop(&mut self) {
        // Whoever waited for it does not any more: the thread that is under way stops after its step.
        self.watched.give_up();
    }
}

/// What goes from thread to thread.
struct Worker {
    execution: Execution,
    measure: Measure,
    watched: Arc<Watched>,
    slow: Arc<Slow>,
    /// How long it still does without a thread of its own; not at all where there are transactions, or once it has had one.
    brief: Duration,
    /// For how long a proposal packs from its first delivery on, and when that is over once it is known.
    packing: Option<Duration>,
    end: Option<SystemTime>,
}

impl Worker {
    fn new(fence: &Fence<'_>, input: BlockInput, watched: Arc<Watched>) -> Self {
        let packing = fence.packing.filter(|_| matches!(input.mode, Mode::Propose { .. }));
        let transactions = match &input.mode {
            Mode::Propose { candidates, .. } => candidates,
            Mode::Verify { transactions } => transactions,
        };
        let brief = if transactions.is_empty() { fence.brief } else { Duration::ZERO };
        Self { execution: Execution::new(input), measure: Measure::new(), watched, slow: fence.slow.clone(), brief, packing, end: None }
    }

    /// Continues in a thread where it may take long. Returns nothing if its result is no longer awaited.
    ///
    /// The deterministic runtime has one thread and virtual time: there it continues at once, and no task of it outlives the node.
    async fn start<E: Spawner + Clock>(mut self, runtime: &E, answers: Records) -> Option<(Self, Option<Need<Done>>)> {
        self.execution.fill(answers);
        if let Some(need) = self.advance_briefly() {
            return Some((self, Some(need)));
        }
        let clock = runtime.child("execution");
        let run = move || {
            let need = self.advance(&clock);
            (self, need)
        };
        let Ok(threads) = tokio::runtime::Handle::try_current() else { return Some(run()) };
        ended(threads.spawn_blocking(run)).await
    }

    /// Continues in this thread while nothing is delivered, and not for long.
    fn advance_briefly(&mut self) -> Option<Need<Done>> {
        let began = Instant::now();
        let mut need = None;
        while need.is_none() && self.execution.under_way().is_none() && began.elapsed() < self.brief {
            need = self.execution.proceed();
        }
        self.brief = self.brief.saturating_sub(began.elapsed());
        need
    }

    fn advance(&mut self, clock: &impl Clock) -> Option<Need<Done>> {
        // What has needed a thread once does so to its end: closing a block takes the longer the more was delivered.
        self.brief = Duration::ZERO;
        self.measure.resume(&self.watched);
        // A delivery may have begun before this thread did.
        self.measure.look(&self.execution, &self.watched, &self.slow);
        let need = loop {
            if self.watched.is_given_up() {
                break None;
            }
            if self.end.is_some_and(|end| clock.current() >= end) {
                self.end = None;
                self.execution.hurry();
            }
            let need = self.execution.proceed();
            self.measure.look(&self.execution, &self.watched, &self.slow);
            // Ordering the candidates takes the longer the more of them wait: on that alone no time of packing may be spent, or a
            // full mempool would be left with empty blocks.
            if self.execution.under_way().is_some()
                && let Some(packing) = self.packing.take()
            {
                self.end = Some(clock.current() + packing);
            }
            if need.is_some() {
                break need;
            }
        };
        self.measure.pause(&self.watched);
        need
    }
}

/// What a thread answers; nothing where the runtime stops. A panic is passed on: it is a defect, which a node that stood still would hide. So the node ends, and
/// says what happened.
async fn ended<T>(thread: tokio::task::JoinHandle<T>) -> Option<T> {
    match thread.await {
        Ok(answer) => Some(answer),
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => None,
    }
}

/// What a block has read, in the order of the staged batch's places.
#[derive(Default)]
struct Reads {
    order: Vec<StateKey>,
    values: HashMap<StateKey, Option<Bytes>>,
}

impl Reads {
    fn missing<'a>(&self, keys: impl IntoIterator<Item = &'a StateKey>) -> Vec<StateKey> {
        keys.into_iter().filter(|key| !self.values.contains_key(*key)).copied().collect()
    }

    fn take(&mut self, keys: Vec<StateKey>, values: Vec<Option<Bytes>>) {
        self.values.extend(keys.iter().copied().zip(values));
        self.order.extend(keys);
    }
}

/// Keys in the database's type.
fn names(keys: &[StateKey]) -> Vec<RawKey> {
    keys.iter().map(raw).collect()
}

#[cfg(test)]
pub(crate) mod tests;
