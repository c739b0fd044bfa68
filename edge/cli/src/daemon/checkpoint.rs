//! Whether a block descends from one that the operator trusts.
//!
//! The group key never changes, so validators that left could certify another chain together. A block that descends from a recent
//! trusted one is of the right chain.

use commonware_codec::DecodeExt as _;
use cowboy_node::begin::Certified;
use cowboy_overlay::{Failed, Offence, Position, Source};
use cowboy_types::{Block, Hash};
use futures::{StreamExt as _, TryStreamExt as _};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// How long a source has for each block between the two.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long it may be behind [`EACH`], the time for each: who gives its blocks more slowly could not be followed either, and would keep this node from
/// asking another source.
const ALL: Duration = Duration::from_secs(60);

/// The time for each block.
const EACH: Duration = Duration::from_millis(20);

/// Why a block is not used.
pub(super) enum Unproven {
    /// The source does not answer.
    Failed(Failed),
    /// The source has no such block, or its newest block is older.
    Unknown,
    /// The source's newest block does not descend from it.
    Other,
}

impl Unproven {
    /// What counts against the source.
    pub(super) fn offence(&self) -> Option<Offence> {
        match self {
            Self::Failed(failed) => failed.offence(),
            Self::Unknown => None,
            Self::Other => Some(Offence::Lie),
        }
    }
}

impl std::fmt::Display for Unproven {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Failed(failed) => failed.fmt(f),
            Self::Unknown => {
                f.write_str("the source has no block with the hash of the checkpoint, or none after it: name a newer block of this chain")
            }
            Self::Other => f.write_str("the source's chain does not descend from the checkpoint: name nodes of the chain that has it"),
        }
    }
}

/// Checks that `newest` descends from the block of this hash: the source gives every block between the two, and each must name the one
/// before it.
pub(super) async fn descends(source: &dyn Source, checkpoint: Hash, newest: &Certified) -> Result<(), Unproven> {
    let newest = decoded(&newest.block).ok_or(Unproven::Other)?;
    let found = match source.find(checkpoint).await {
        Ok(found) => found,
        Err(Failed::Missing) => return Err(Unproven::Unknown),
        Err(failed) => return Err(Unproven::Failed(failed)),
    };
    if newest.header.number.0 < found.number {
        return Err(Unproven::Unknown);
    }
    chain(source, found, checkpoint, &newest).await
}

async fn chain(source: &dyn Source, first: Position, checkpoint: Hash, newest: &Block) -> Result<(), Unproven> {
    let mut number = first.number;
    let mut blocks = source.blocks(first).await.map_err(Unproven::Failed)?.boxed();
    let mut last: Option<Hash> = None;
    let (begun, mut taken) = (Instant::now(), 0);
    loop {
        let next = timeout_at(due(begun, taken, Instant::now()), blocks.try_next())
            .await
            .unwrap_or(Err(Failed::Silent))
            .map_err(Unproven::Failed)?;
        let frame = next.ok_or_else(|| Unproven::Failed(Failed::away("the stream of blocks ended")))?;
        let block = decoded(&frame.block).ok_or(Unproven::Other)?;
        let digest = block.digest();
        let is_next = last.map_or(digest == checkpoint, |last| block.header.parent == last);
        // Anyone can make a block that names the one before it: their numbers must lead to the newest.
        if !is_next || block.header.number.0 != number || number > newest.header.number.0 {
            return Err(Unproven::Other);
        }
        if digest == newest.digest() {
            return Ok(());
        }
        (last, number) = (Some(digest), number.saturating_add(1));
        taken += 1;
    }
}

/// Until when the next block must come, when this many came since the beginning.
fn due(begun: Instant, taken: u32, now: Instant) -> Instant {
    (begun + ALL.saturating_add(EACH.saturating_mul(taken))).min(now + PATIENCE)
}

/// The block of these bytes.
pub(super) fn decoded(bytes: &[u8]) -> Option<Block> {
    Block::decode(bytes::Bytes::copy_from_slice(bytes)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many of a thousand blocks a source is left that takes this long for each.
    fn left(time: Duration) -> Option<u32> {
        let begun = Instant::now();
        let comes = |taken: u32| begun + time * (taken + 1);
        (0..1_000).find(|taken| due(begun, *taken, comes(*taken) - time) < comes(*taken))
    }

    /// Blocks that come slowly, each in its time, come in a minute or not at all, also where they are far from the newest.
    #[test]
    fn blocks_after_a_checkpoint_must_come_in_time() {
        assert_eq!(left(Duration::from_millis(20)), None);
        assert_eq!(left(Duration::from_millis(100)), Some(749), "after 75 seconds");
        assert_eq!(left(Duration::from_secs(10)), Some(6));
        assert_eq!(left(Duration::from_secs(16)), Some(0));
    }
}
