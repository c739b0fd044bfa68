//! How a full node gets its chain: genesis and blocks from one source after another, each verified.

mod ahead;

use super::{
    lag::{self, Disbelieved, Feeding, NEAR, Promise, locked},
    node_failure, not_running,
};
use commonware_codec::DecodeExt as _;
use cowboy_api::{error::UNREACHABLE, follow::Frame};
use cowboy_chain::GenesisConfig;
use cowboy_console::{failure::Failure, output::Output};
use cowboy_node::{Feed, Fetched, FollowError, Genesis, NodeHandle, follow::MAX_RUN, refetch::MAX_COPY_BYTES};
use cowboy_overlay::{BlockStream, Failed, GenesisParts, Offence, Pool, Position, Source};
use cowboy_service::Failures;
use cowboy_types::Hash;
use futures::{FutureExt as _, StreamExt as _, future::join_all};
use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::{sleep, timeout};

/// How long a source may say nothing, several block times, before it is asked whether it has anything to say.
const SILENCE: Duration = Duration::from_secs(15);

/// How often the progress of a node that is behind is printed.
const PROGRESS: Duration = Duration::from_secs(10);

/// The bytes of blocks that are given to the node at once, but for those of the last one.
const RUN_BYTES: usize = 4 * 1024 * 1024;

/// The wait before a source is asked again, and for one to come.
pub(super) const RETRY: Duration = Duration::from_secs(1);

/// What came from sources: bytes of blocks and operations, and how far a state is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Received(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    bytes: AtomicU64,
    /// Of the operations of a state: the first that was asked for, the newest, and how many there are.
    operations: Mutex<Option<(u64, u64, u64)>>,
}

impl Received {
    pub(super) fn add(&self, bytes: usize) {
        self.0.bytes.fetch_add(u64::try_from(bytes).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// In all, in bytes.
    pub(crate) fn get(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// Notes that operations from this one on are asked for, of so large a state.
    pub(super) fn asks(&self, start: u64, size: u64) {
        let mut operations = self.0.operations.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, newest, _) = operations.unwrap_or((start, start, size));
        *operations = Some((first.min(start), newest.max(start), size));
    }

    /// How many operations of the state have come, of how many that were missing. `None` until some have.
    pub(super) fn operations(&self) -> Option<(u64, u64)> {
        let (first, newest, size) = (*self.0.operations.lock().unwrap_or_else(PoisonError::into_inner))?;
        let all = size.saturating_sub(first);
        Some((newest.saturating_sub(first).min(all), all)).filter(|(came, _)| *came > 0)
    }
}

/// Counts what a source did wrong, where it did.
pub(super) fn report(pool: &Pool, source: &dyn Source, failed: &Failed) {
    if let Some(offence) = failed.offence() {
        pool.report(source, offence);
    }
}

/// The source to ask next, as soon as there is one. Fails where the operator named all sources and all of them lied.
pub(crate) async fn next_source(pool: &Pool) -> Result<Arc<dyn Source>, Failure> {
    let mut changes = pool.changes();
    loop {
        if let Some(source) = pool.choose() {
            return Ok(source);
        }
        if pool.is_exhausted() {
            return Err(node_failure("every source that was named gave what does not verify: name another one"));
        }
        // Bans end with time.
        let _ = timeout(RETRY, changes.changed()).await;
    }
}

/// The genesis that these parts make.
fn genesis_of(parts: &GenesisParts) -> Result<Genesis, Failure> {
    let config = GenesisConfig::decode(parts.config.bytes().clone());
    let config = config.map_err(|error| node_failure(format_args!("the source's genesis is damaged: {error}")))?;
    Genesis::new(config, parts.sharing.to_vec()).map_err(node_failure)
}

/// What a source's chain began with, where its hash is the wanted one.
pub(crate) async fn fetch_genesis(source: &dyn Source, wanted: Option<Hash>) -> Result<Genesis, Failure> {
    let genesis = genesis_of(&source.genesis().await.map_err(failure_of)?)?;
    match wanted {
        Some(wanted) if wanted != genesis.hash() => {
            Err(node_failure(format_args!("the source's chain has genesis {}, not {wanted}: follow another node", genesis.hash())))
        }
        _ => Ok(genesis),
    }
}

/// The genesis whose block has this hash, from the first source that has it.
pub(crate) async fn fetch_genesis_of(pool: &Pool, block: &Hash) -> Result<Genesis, Failure> {
    loop {
        let source = next_source(pool).await?;
        match source.genesis().await {
            Ok(parts) => match genesis_of(&parts) {
                Ok(genesis) if genesis.block.hash() == *block => return Ok(genesis),
                _ => pool.report(&*source, Offence::Lie),
            },
            Err(failed) => {
                report(pool, &*source, &failed);
                sleep(RETRY).await;
            }
        }
    }
}

/// The failure of a source. One that does not answer has a remedy of the node's own: its commands have no `--rpc-url`.
pub(super) fn failure_of(failed: Failed) -> Failure {
    match failed {
        Failed::Away(mut error) if error.slug == UNREACHABLE.slug => {
            error.fix = "Start that node, or give the URL of another one.".to_owned();
            error.into()
        }
        Failed::Away(error) => error.into(),
        other => node_failure(other),
    }
}

/// Why a source is left.
enum Left {
    /// What it did wrong, and the reason in words.
    Offence(Offence, String),
    /// The source of this name says that it is ahead, at this height. It has not shown its blocks yet, so nothing counts against the one that is left.
    Overtaken(String, u64),
    /// The follower cannot continue with any source.
    Never(Failure),
}

impl From<Failed> for Left {
    fn from(failed: Failed) -> Self {
        Self::Offence(failed.offence().unwrap_or(Offence::Silent), failed.to_string())
    }
}

/// What is printed about sources that are left: the same again only now and then, until blocks come.
#[derive(Default)]
struct Lines(Mutex<Failures>);

impl Lines {
    fn left(&self, name: &str, reason: &str) -> Option<String> {
        let line = format!("{name} is left ({reason}); trying again");
        locked(&self.0).is_logged(&line).then_some(line)
    }

    /// That blocks come from this one, where it is news.
    fn came(&self, name: &str) -> Option<String> {
        locked(&self.0).is_over().then(|| format!("{name} gives blocks"))
    }
}

/// Feeds blocks as they come; a source that is away, silent, behind the others or lies is left for another one. `note` learns whether
/// blocks come.
pub(crate) async fn feed_for_ever(
    pool: &Pool,
    node: &NodeHandle,
    feed: &Feed,
    received: &Received,
    output: Output,
    note: &(dyn Fn(bool) + Sync),
) -> Failure {
    let (mut lied, mut next, disbelieved, lines) = (None, None::<(String, u64)>, Disbelieved::default(), Lines::default());
    loop {
        if let Some(lied) = lied.take_if(|_| pool.is_exhausted()) {
            return lied;
        }
        if pool.standing().usable == 0 {
            note(true);
        }
        // Who says that it is ahead must show it: its word alone would keep others from being followed.
        let ahead = next.take().and_then(|(name, claimed)| Some((pool.choose_named(&name)?, claimed)));
        let (source, claimed) = match ahead {
            Some((source, claimed)) => (source, Some(claimed)),
            None => match next_source(pool).await {
                Ok(source) => (source, None),
                Err(failure) => return failure,
            },
        };
        let from = node.head().height.get();
        let promise = claimed.map(|claimed| Promise { claimed, from });
        let fed = |is_away: bool| {
            if node.head().height.get() > from
                && let Some(line) = lines.came(source.name())
            {
                output.progress(line);
            }
            note(is_away);
        };
        let left = feed_once(pool, &*source, node, feed, (received, &disbelieved), &fed).await;
        if promise.is_some_and(|promise| promise.is_broken(node.head().height.get())) {
            disbelieved.add(source.name());
        }
        note(true);
        let reason = match left {
            Left::Never(failure) => return failure,
            Left::Overtaken(name, claimed) => {
                let reason = format!("{name} is ahead");
                next = Some((name, claimed));
                reason
            }
            Left::Offence(offence, reason) => {
                if offence == Offence::Lie || offence == Offence::Malformed {
                    lied = Some(node_failure(&reason));
                }
                pool.report(&*source, offence);
                reason
            }
        };
        if let Some(line) = lines.left(source.name(), &reason) {
            output.progress(line);
        }
        if let Err(error) = feed.restart().await {
            return node_failure(error);
        }
        if pool.standing().usable < 2 {
            sleep(RETRY).await;
        }
    }
}

/// The block after the newest final one.
fn next_of(node: &NodeHandle) -> Position {
    let head = node.head();
    Position { number: head.number.saturating_add(1), height: head.height.next().get() }
}

async fn feed_once(
    pool: &Pool,
    source: &dyn Source,
    node: &NodeHandle,
    feed: &Feed,
    (received, disbelieved): (&Received, &Disbelieved),
    note: &(dyn Fn(bool) + Sync),
) -> Left {
    let next = next_of(node);
    // Where it claims blocks that it does not give, its claims do not count any more.
    let unproven = |claimed: u64, left: Left| {
        if matches!(left, Left::Offence(..)) && claimed > next_of(node).height.saturating_add(NEAR) {
            disbelieved.add(source.name());
        }
        left
    };
    let claimed = match source.head().await {
        Ok(head) => head.height,
        // It may have claimed anything a moment ago.
        Err(failed) => return unproven(u64::MAX, failed.into()),
    };
    let feeding = Feeding::new(claimed, next.height);
    let blocks = match Blocks::open(source, next).await {
        Ok(blocks) => blocks,
        Err(failed) => return unproven(claimed, failed.into()),
    };
    let note_lag = || note(feeding.is_behind(node));
    note_lag();
    let left = tokio::select! {
        left = take_all(blocks, node, feed, (received, &feeding), &note_lag) => left,
        other = lag::overtaken(pool, source, node, (&feeding, disbelieved), &note_lag) => other.into(),
    };
    unproven(feeding.claimed(), left)
}

/// Feeds what a source gives, until it is left.
async fn take_all(
    mut blocks: Blocks<'_>,
    node: &NodeHandle,
    feed: &Feed,
    (received, feeding): (&Received, &Feeding),
    note: &(dyn Fn() + Sync),
) -> Left {
    loop {
        let first = match feeding.waiting(blocks.take(|| next_of(node).height, (SILENCE, RETRY))).await {
            Ok(frame) => frame,
            Err(failed) => return failed.into(),
        };
        let run = blocks.run(first);
        let count = run.len();
        received.add(run.iter().map(|fetched| fetched.block.len()).sum());
        match feed.push_run(run).await {
            Ok(()) => {
                feeding.took(count);
                note();
            }
            // The source went back to a snapshot, or the stream began in the wrong place.
            Err(FollowError::NotNext { last, found }) if found > last => return Failed::away("its chain went back").into(),
            // A validator that caught up has no certificates of the blocks that it missed. That is no lie: another source has them.
            Err(error @ FollowError::Uncertified) => return Left::Offence(Offence::Silent, error.to_string()),
            // The node ended by itself, and says why.
            Err(FollowError::Stopped) => return Left::Never(not_running(node.ended().await)),
            Err(error) if error.is_of_source() => return Left::Offence(Offence::Lie, error.to_string()),
            Err(error) => return Left::Never(node_failure(error)),
        }
    }
}

impl From<lag::Overtaken> for Left {
    fn from(found: lag::Overtaken) -> Self {
        match found {
            lag::Overtaken::By(name, height) => Self::Overtaken(name, height),
            lag::Overtaken::Itself => Self::Offence(Offence::Silent, "it gives the blocks that it says it has too slowly".into()),
        }
    }
}

/// Prints how far this node is while the sources say that they are ahead.
pub(crate) async fn print_progress(pool: &Pool, node: &NodeHandle, received: &Received, output: Output) -> Infallible {
    let mut before = node.head().height.get();
    loop {
        sleep(PROGRESS).await;
        let height = node.head().height.get();
        let sources = pool.usable();
        let heads = join_all(sources.iter().map(|source| source.head())).await;
        let newest = heads.into_iter().flatten().map(|head| head.height).max().unwrap_or(0);
        let (behind, made) = (newest.saturating_sub(height), height.saturating_sub(before));
        before = height;
        if behind > NEAR {
            let left = behind.saturating_mul(PROGRESS.as_secs()).checked_div(made);
            let left = left.map_or("no progress".to_owned(), |seconds| format!("about {seconds} s left"));
            let (peers, megabytes) = (sources.len(), received.get() / 1_000_000);
            output.progress(format_args!("height {height} of {newest}, {peers} sources, {megabytes} MB, {left}"));
        }
    }
}

/// The blocks of a source, from one stream of them after another. A source ends a stream in good order where others need its place. That is no reason to
/// leave it: the node would count as one whose source does not answer.
struct Blocks<'a> {
    source: &'a dyn Source,
    stream: BlockStream,
    /// The block that comes next.
    next: Position,
    /// Whether the stream has given a block.
    has_given: bool,
    /// What went wrong behind the last block that was given.
    failed: Option<Failed>,
}

impl<'a> Blocks<'a> {
    /// The blocks from this one on.
    async fn open(source: &'a dyn Source, next: Position) -> Result<Self, Failed> {
        let stream = ahead::ahead(source.blocks(next.clone()).await?);
        Ok(Self { source, stream, next, has_given: false, failed: None })
    }

    /// The next block. A stream that ends after it has given one is opened again after `pause`. `height` and `silence` as in [`more`].
    async fn take(&mut self, height: impl Fn() -> u64, (silence, pause): (Duration, Duration)) -> Result<Frame, Failed> {
        if let Some(failed) = self.failed.take() {
            return Err(failed);
        }
        loop {
            match more(&mut self.stream, self.source, &height, silence).await {
                Some(Ok(frame)) => {
                    self.gave_one();
                    return Ok(frame);
                }
                Some(Err(failed)) => return Err(failed),
                None if self.has_given => {
                    sleep(pause).await;
                    *self = Self::open(self.source, self.next.clone()).await?;
                }
                None => return Err(Failed::away("the stream of blocks ended")),
            }
        }
    }

    /// This block, and those after it that are here already, as many as the node takes at once.
    fn run(&mut self, first: Frame) -> Vec<Fetched> {
        let mut bytes = first.block.len();
        let mut run = vec![fetched(first)];
        while run.len() < MAX_RUN && bytes < RUN_BYTES {
            match self.stream.next().now_or_never() {
                Some(Some(Ok(frame))) => {
                    self.gave_one();
                    bytes = bytes.saturating_add(frame.block.len());
                    run.push(fetched(frame));
                }
                Some(Some(Err(failed))) => {
                    self.failed = Some(failed);
                    break;
                }
                // What ends stays at its end.
                Some(None) | None => break,
            }
        }
        run
    }

    fn gave_one(&mut self) {
        let Position { number, height } = self.next;
        self.next = Position { number: number.saturating_add(1), height: height.saturating_add(1) };
        self.has_given = true;
    }
}

fn fetched(Frame { block, certificate }: Frame) -> Fetched {
    Fetched { block, certificate }
}

/// What comes next of a stream of blocks; an error where the source is silent though it has the block of height `next`, or does not
/// answer any more. A connection that breaks without a word never ends by itself.
async fn more(stream: &mut BlockStream, source: &dyn Source, next: impl Fn() -> u64, silence: Duration) -> Option<Result<Frame, Failed>> {
    loop {
        if let Ok(frame) = timeout(silence, stream.next()).await {
            return frame;
        }
        match timeout(silence, has_nothing(source, next())).await {
            Ok(Ok(true)) => {}
            Ok(Ok(false)) | Err(_) => return Some(Err(Failed::Silent)),
            Ok(Err(error)) => return Some(Err(error)),
        }
    }
}

/// Whether the source's chain rests below this height.
async fn has_nothing(source: &dyn Source, next: u64) -> Result<bool, Failed> {
    Ok(source.head().await?.height < next)
}

/// Fetches blocks again of which a damaged row was read, or which a repair could not save, as long as the node runs.
pub(crate) async fn fetch_again(pool: &Pool, node: &NodeHandle, feed: &Feed) -> Infallible {
    loop {
        // The newest first: a block without a certificate is proven by the next one.
        for number in node.missing().unwrap_or_default().into_iter().rev() {
            match fetch_copy(pool, feed, number).await {
                Ok(()) => tracing::info!(number, "a damaged block of the ledger was fetched again from a source"),
                Err(reason) => tracing::warn!(number, reason, "a damaged block of the ledger cannot be fetched again"),
            }
        }
        sleep(RETRY).await;
    }
}

async fn fetch_copy(pool: &Pool, feed: &Feed, number: u64) -> Result<(), String> {
    let source = pool.choose().ok_or("there is no source")?;
    let copy = source.copy(number, MAX_COPY_BYTES).await.map_err(|failed| {
        report(pool, &*source, &failed);
        failed.to_string()
    })?;
    feed.restore(number, copy.to_vec()).await.map_err(|error| {
        if error.is_of_source() {
            pool.report(&*source, Offence::Lie);
        }
        error.to_string()
    })
}

#[cfg(test)]
mod tests;
