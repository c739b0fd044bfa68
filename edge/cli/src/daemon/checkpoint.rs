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
use tokio::time::timeout;

/// How long a source has for each block between the two.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long it has for all of them beside [`EACH`], the time for each: who gives its blocks more slowly could not be followed either, and
/// would keep this node from asking another source.
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
    let Some(between) = newest.header.number.0.checked_sub(found.number) else { return Err(Unproven::Unknown) };
    let time = ALL.saturating_add(EACH.saturating_mul(u32::try_from(between).unwrap_or(u32::MAX)));
    timeout(time, chain(source, found, checkpoint, &newest)).await.unwrap_or(Err(Unproven::Failed(Failed::Silent)))
}

async fn chain(source: &dyn Source, first: Position, checkpoint: Hash, newest: &Block) -> Result<(), Unproven> {
    let mut number = first.number;
    let mut blocks = source.blocks(first).await.map_err(Unproven::Failed)?.boxed();
    let mut last: Option<Hash> = None;
    loop {
        let next = timeout(PATIENCE, blocks.try_next()).await.unwrap_or(Err(Failed::Silent)).map_err(Unproven::Failed)?;
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
    }
}

/// The block of these bytes.
pub(super) fn decoded(bytes: &[u8]) -> Option<Block> {
    Block::decode(bytes::Bytes::copy_from_slice(bytes)).ok()
}
