//! How a full node begins at a recent block: it finds one with a certificate among a source's newest, and fetches the state after it.
//!
//! Anyone may claim to be furthest. A source whose blocks do not bear out its claim is excluded, and the others are asked.

use super::{
    checkpoint, node_failure,
    sync::{RETRY, Received, failure_of, next_source, report},
};
use crate::random::generator;
use cowboy_api::follow::Frame;
use cowboy_console::failure::Failure;
use cowboy_node::{
    Genesis, Head,
    begin::{self, Batch, BeginError, Certified, Fetch},
    reader::{MAX_OPERATIONS_BYTES, Wanted},
};
use cowboy_overlay::{Failed, Offence, Operations, Pool, Position, Source};
use cowboy_types::{Block, Hash};
use futures::{StreamExt as _, future::join_all};
use std::{collections::BTreeSet, path::Path, sync::Arc, time::Duration};
use tokio::time::{sleep, timeout};

#[cfg(test)]
mod tests;

/// How many of the newest blocks are looked at for one with a certificate of its own.
const CERTIFIED_WITHIN: u64 = 16;

/// How often all sources are tried, and how often a block is taken whose operations go while newer ones come.
const ROUNDS: u32 = 5;

/// How many sources are asked for one batch of operations.
const OPERATIONS_ASKED: usize = 8;

/// How long a source has for a block with a certificate.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a source has to say how far it is.
const HEAD_PATIENCE: Duration = Duration::from_secs(5);

/// Why a try to begin failed.
enum Tried {
    /// The source is excluded. What counts against it, and the reason.
    Source(Option<Offence>, Failure),
    /// No source has the operations of the block any more: a newer one is taken.
    Operations(Failure),
    /// No source can help.
    Never(Failure),
}

impl Tried {
    /// The source does not have what it claims, or not in time.
    fn of(failed: Failed) -> Self {
        // It says that it has these blocks.
        let offence = failed.offence().unwrap_or(Offence::Silent);
        Self::Source(Some(offence), failure_of(failed))
    }
}

/// The sources that are excluded until the next round, and what the log says of them: each reason of a source once, and later how often it came again.
#[derive(Default)]
struct Excluded {
    names: BTreeSet<String>,
    /// The sources that were excluded in any round, with the reason.
    logged: BTreeSet<(String, String)>,
    /// How often a source was excluded for a reason that the log has.
    repeated: u32,
}

impl Excluded {
    /// Excludes a source. Answers whether the log does not have the reason yet.
    fn add(&mut self, source: &str, reason: &Failure) -> bool {
        self.names.insert(source.to_owned());
        let is_new = self.logged.insert((source.to_owned(), reason.to_string()));
        self.repeated = self.repeated.saturating_add(u32::from(!is_new));
        is_new
    }

    /// Logs how often a source was excluded again.
    fn log_repeated(&self) {
        if self.repeated > 0 {
            tracing::warn!(times = self.repeated, "sources were asked again and excluded for the same reasons");
        }
    }
}

/// Fills a new folder with the state after one of the newest blocks, which must descend from the trusted one, where one is named.
/// Nothing where the chain has not begun, and no block is trusted.
pub(crate) async fn begin_at_newest(
    pool: &Arc<Pool>,
    trusted: (&Genesis, Option<Hash>),
    directory: &Path,
    received: &Received,
) -> Result<Option<Head>, Failure> {
    let fetch = operations_from(pool.clone(), received.clone());
    let (mut excluded, mut rounds, mut last) = (Excluded::default(), 0, None);
    // Whether every source says that the chain has not begun. One alone may be new itself.
    let mut is_young = true;
    loop {
        // Before the first try it waits for a source as long as it takes; later others are banned, and may be the only ones.
        let patience = if last.is_some() { PATIENCE } else { Duration::MAX };
        let found = timeout(patience, highest(pool, &excluded.names)).await.unwrap_or(Ok(None))?;
        let Some((source, claimed)) = found else {
            rounds += 1;
            if rounds >= ROUNDS {
                // A chain of which a block is trusted has begun: a node that began at genesis would take any other one from these sources later.
                if is_young && last.is_some() && trusted.1.is_none() {
                    return Ok(None);
                }
                excluded.log_repeated();
                return Err(last.unwrap_or_else(|| node_failure("no source says how far its chain is: name another one")));
            }
            excluded.names.clear();
            sleep(RETRY.saturating_mul(rounds)).await;
            continue;
        };
        is_young &= claimed.height == 0;
        let failure = match begin_from(&*source, &claimed, trusted, directory, fetch.clone()).await {
            Ok(head) => return Ok(Some(head)),
            Err(Tried::Never(failure)) => return Err(failure),
            Err(Tried::Source(offence, failure)) => {
                if excluded.add(source.name(), &failure) {
                    tracing::warn!(source = source.name(), %failure, "a source is excluded; the next one is asked for the newest block");
                }
                if let Some(offence) = offence {
                    pool.report(&*source, offence);
                }
                failure
            }
            Err(Tried::Operations(failure)) => {
                tracing::warn!(%failure, "a newer block is taken");
                rounds += 1;
                if rounds >= ROUNDS {
                    return Err(failure);
                }
                sleep(RETRY).await;
                failure
            }
        };
        if pool.is_exhausted() {
            excluded.log_repeated();
            return Err(failure);
        }
        last = Some(failure);
    }
}

/// Begins at one of the newest blocks of a source that claims this height.
async fn begin_from(
    source: &dyn Source,
    claimed: &Position,
    (genesis, trusted): (&Genesis, Option<Hash>),
    directory: &Path,
    fetch: Fetch,
) -> Result<Head, Tried> {
    let (newest, introduces) = newest_certified(source, claimed, genesis).await?;
    if let Some(trusted) = trusted {
        let descends = checkpoint::descends(source, trusted, &newest).await;
        descends.map_err(|unproven| Tried::Source(unproven.offence(), node_failure(unproven)))?;
    }
    let (directory, genesis) = (directory.to_owned(), genesis.clone());
    let begun = tokio::task::spawn_blocking(move || begin::begin(&directory, &genesis, &newest, introduces.as_ref(), fetch));
    begun.await.map_err(|error| Tried::Never(node_failure(error)))?.map_err(|error| match error {
        BeginError::NotABlock(_) | BeginError::Certificate(_) | BeginError::Boundary(_) => {
            Tried::Source(Some(Offence::Lie), node_failure(error))
        }
        // Whoever gave wrong operations is banned by now.
        BeginError::Source(_) | BeginError::Operations(_) => Tried::Operations(node_failure(error)),
        BeginError::Outdated(outdated) => Tried::Never(super::outdated(outdated)),
        error => Tried::Never(node_failure(error)),
    })
}

/// The source that says it is furthest, and how far, of those that are not excluded: its newest blocks must prove that. None where all
/// are excluded or away.
async fn highest(pool: &Pool, excluded: &BTreeSet<String>) -> Result<Option<(Arc<dyn Source>, Position)>, Failure> {
    next_source(pool).await?;
    let mut sources = pool.usable();
    sources.retain(|source| !excluded.contains(source.name()));
    let heads = join_all(sources.iter().map(|source| timeout(HEAD_PATIENCE, source.head()))).await;
    let found = sources.iter().zip(heads).filter_map(|(source, head)| Some((source.clone(), head.ok()?.ok()?)));
    Ok(found.max_by_key(|(_, head)| head.height))
}

/// Operations from one source after another. The batches are asked for on this runtime: the node's own ends with its work.
fn operations_from(pool: Arc<Pool>, received: Received) -> Fetch {
    let runtime = tokio::runtime::Handle::current();
    Arc::new(move |wanted| {
        let asked = runtime.spawn(one_batch(pool.clone(), received.clone(), wanted));
        Box::pin(async move { asked.await.map_err(|error| error.to_string())? })
    })
}

async fn one_batch(pool: Arc<Pool>, received: Received, wanted: Wanted) -> Result<Batch, String> {
    let mut reason = "there is no source".to_owned();
    received.asks(wanted.start, wanted.size);
    for _ in 0..OPERATIONS_ASKED {
        let Some(source) = pool.choose() else { break };
        let operations = Operations { size: wanted.size, start: wanted.start, most: wanted.most };
        match source.operations(operations, MAX_OPERATIONS_BYTES).await {
            Ok(bytes) => {
                received.add(bytes.len());
                return Ok(Batch { bytes, reject: Box::new(move || pool.report(&*source, Offence::Lie)) });
            }
            Err(failed) => {
                report(&pool, &*source, &failed);
                reason = failed.to_string();
            }
        }
    }
    Err(reason)
}

/// One of the source's newest blocks that has a certificate of its own, and the block that says who signs after it, where one does. Both are final: until
/// that is known their numbers are whatever the source likes, and nothing is waited for, or given up, for them.
async fn newest_certified(source: &dyn Source, claimed: &Position, genesis: &Genesis) -> Result<(Certified, Option<Certified>), Tried> {
    if claimed.height == 0 {
        return Err(Tried::Source(None, node_failure("the source says that its chain has not begun")));
    }
    let back = |place: u64| place.saturating_sub(CERTIFIED_WITHIN).max(1);
    let first = Position { number: back(claimed.number), height: back(claimed.height) };
    let newest = certified_from(source, first).await.map_err(Tried::of)?;
    let block = checkpoint::decoded(&newest.block).ok_or_else(|| Tried::of(Failed::Malformed("it is not a block".into())))?;
    if !is_backed(claimed, &block, genesis.chain.is_dev) {
        let (height, given) = (claimed.height, block.header.height().get());
        let reason = format!("{} claims height {height}, and gives block {given} as one of its newest", source.name());
        return Err(Tried::Source(Some(Offence::Silent), node_failure(reason)));
    }
    final_in(genesis, &newest, source)?;
    let Some(number) = begin::boundary(genesis, block.header.number.0) else { return Ok((newest, None)) };
    let introduces = certified_from(source, Position { number, height: number }).await.map_err(Tried::of)?;
    if introduces.number().ok() == Some(number) {
        final_in(genesis, &introduces, source)?;
        return Ok((newest, Some(introduces)));
    }
    // A validator that caught up has no certificates of the blocks that it missed: another one has them.
    let reason = format!("{} has no certificate of block {number}, which says who signs in the running epoch", source.name());
    Err(Tried::Source(Some(Offence::Away), node_failure(reason)))
}

/// Fails where the validators did not finalize a block.
fn final_in(genesis: &Genesis, block: &Certified, source: &dyn Source) -> Result<(), Tried> {
    if block.is_final(genesis, &mut generator().map_err(Tried::Never)?) {
        return Ok(());
    }
    let reason = format!("{} gives a block whose certificate is not of this chain's validators", source.name());
    Err(Tried::Source(Some(Offence::Lie), node_failure(reason)))
}

/// Whether a block is one of the newest of a chain that is this long. Numbers and heights differ only on dev chains.
fn is_backed(claimed: &Position, block: &Block, is_dev: bool) -> bool {
    let is_near = |place: u64, claimed: u64| place.saturating_add(CERTIFIED_WITHIN) >= claimed;
    is_near(block.header.height().get(), claimed.height) || is_dev && is_near(block.header.number.0, claimed.number)
}

/// The first of the source's blocks from here on that has a certificate of its own.
async fn certified_from(source: &dyn Source, first: Position) -> Result<Certified, Failed> {
    let found = async {
        let mut stream = source.blocks(first).await?;
        while let Some(frame) = stream.next().await {
            let Frame { block, certificate } = frame?;
            if !certificate.is_empty() {
                return Ok(Certified { block, certificate });
            }
        }
        Err(Failed::away("the stream of blocks ended"))
    };
    timeout(PATIENCE, found).await.unwrap_or(Err(Failed::Silent))
}
