//! Whether a block descends from one that the operator trusts.
//!
//! The group key never changes, so validators that left could certify another chain together. A block that descends from a recent
//! trusted one is of the right chain.

use super::{node_failure, node_files::replace_text};
use commonware_codec::DecodeExt as _;
use cowboy_console::failure::Failure;
use cowboy_node::begin::Certified;
use cowboy_overlay::{Failed, Offence, Position, Source};
use cowboy_store::{Directory, Ledger, StoreError};
use cowboy_types::{Block, Hash};
use futures::{StreamExt as _, TryStreamExt as _};
use std::{path::Path, time::Duration};
use tokio::time::{Instant, timeout_at};

/// How long a source has for each block between the two.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long it may be behind [`EACH`], the time for each: who gives its blocks more slowly could not be followed either, and would keep this node from
/// asking another source.
const ALL: Duration = Duration::from_secs(60);

/// The time for each block.
const EACH: Duration = Duration::from_millis(20);

/// The file beside a chain with the hash of the trusted block that it was checked against.
const FILE: &str = "checkpoint";

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

/// Notes which trusted block the chain that is about to come into the folder `dir` is checked against. Where there is none, the note of an earlier chain is
/// removed. The chain comes afterwards: no note is of another chain, and a node that is killed when it has the state continues with the same options.
pub(super) fn note_for_new(dir: &Path, trusted: Option<Hash>) -> Result<(), Failure> {
    trusted.map_or_else(|| forget(dir), |trusted| note(dir, trusted))
}

/// Notes that the chain in the folder `dir` was checked against a trusted block.
fn note(dir: &Path, trusted: Hash) -> Result<(), Failure> {
    replace_text(&dir.join(FILE), &format!("{trusted}\n"))
}

/// Removes the note in the folder `dir`, where there is one. Another file of its name stays.
pub(super) fn forget(dir: &Path) -> Result<(), Failure> {
    let path = dir.join(FILE);
    let is_note = std::fs::read_to_string(&path).is_ok_and(|text| text.trim().parse::<Hash>().is_ok());
    if is_note { std::fs::remove_file(&path).map_err(Failure::file(&path)) } else { Ok(()) }
}

/// Checks that the chain that is in `state` already is one with a trusted block (decision 759): it was checked against this one before, or has the block.
pub(super) fn check_kept(dir: &Path, state: &Path, genesis: &Hash, trusted: Hash) -> Result<(), Failure> {
    let is_noted = std::fs::read_to_string(dir.join(FILE)).is_ok_and(|noted| noted.trim() == trusted.to_string());
    if is_noted {
        return Ok(());
    }
    if has_block(state, genesis, &trusted).map_err(node_failure)? {
        return note(dir, trusted);
    }
    Err(Failure::refused(
        format!("the chain in {} was not checked against the checkpoint {trusted}, and does not have this block", dir.display()),
        "name a newer block of the chain that you trust; if the node has it, it starts. Otherwise join with another --dir, which fetches the state again",
    ))
}

/// Checks that the chain in the folder of a node that executes, and keeps, every block has a trusted one (decision 770).
pub(super) fn check_whole(state: &Path, genesis: &Hash, trusted: Hash) -> Result<(), Failure> {
    if Directory::genesis_of(state).map_err(node_failure)?.is_none() {
        return Err(not_yet());
    }
    if has_block(state, genesis, &trusted).map_err(node_failure)? {
        return Ok(());
    }
    Err(Failure::refused(
        format!("the chain in {} does not have the block of the checkpoint {trusted}", state.display()),
        "if the node had caught up with the chain of this block, remove the folder and follow other nodes: this is another chain. Otherwise start it without \
         --checkpoint, and with it again when it has caught up",
    ))
}

/// The failure of a node that is to execute every block, and has none yet that could be compared.
pub(super) fn not_yet() -> Failure {
    Failure::refused(
        "a node that executes every block begins at the first one, and cannot compare the checkpoint with its chain yet".to_owned(),
        "start it without --checkpoint, and with it again when it has caught up",
    )
}

/// Whether the ledger in a stopped node's folder has a block.
fn has_block(state: &Path, genesis: &Hash, block: &Hash) -> Result<bool, StoreError> {
    let folder = Directory::open(state, genesis)?;
    let ledger = Ledger::open(&folder.ledger())?;
    let number = ledger.view()?.number_of(block)?;
    Ok(number.is_some())
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

    /// Decision 759: a chain that is there already is refused where it was checked against no trusted block, or another one, and does not have the block.
    #[test]
    fn a_chain_that_is_there_is_checked_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let (dir, state, genesis) = (folder.path(), folder.path().join("state"), Hash([1; 32]));
        let check = |trusted: u8| check_kept(dir, &state, &genesis, Hash([trusted; 32])).map_err(|failure| failure.to_string());
        let refused = check(7).expect_err("its ledger is empty");
        assert!(refused.contains("was not checked against the checkpoint 0x0707"), "{refused}");
        note(dir, Hash([7; 32])).expect("it writes");
        assert_eq!(check(7), Ok(()));
        assert!(check(8).is_err(), "it was checked against another block");
    }

    /// Decision 770: who executes every block compares the checkpoint with what it has executed.
    #[test]
    fn a_chain_of_which_every_block_is_executed_is_compared() {
        let folder = tempfile::tempdir().expect("a folder");
        let (state, genesis) = (folder.path().join("state"), Hash([1; 32]));
        let check = || check_whole(&state, &genesis, Hash([7; 32])).expect_err("it has no block").to_string();
        let said = check();
        assert!(said.contains("begins at the first one") && said.contains("when it has caught up"), "{said}");
        drop(Directory::open(&state, &genesis).expect("a new folder"));
        let said = check();
        assert!(said.contains("does not have the block of the checkpoint 0x0707") && said.contains("another chain"), "{said}");
    }

    /// Decision 759: a note is of the chain that is in the folder. A new one has its own, or none.
    #[test]
    fn a_new_chain_has_no_note_of_an_earlier_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let (dir, file) = (folder.path(), folder.path().join(FILE));
        let noted = || std::fs::read_to_string(&file).ok();
        for trusted in [None, Some(Hash([7; 32])), Some(Hash([8; 32])), None] {
            note_for_new(dir, trusted).expect("it writes");
            assert_eq!(noted(), trusted.map(|trusted| format!("{trusted}\n")));
        }
        std::fs::write(&file, "of somebody else").expect("it writes");
        forget(dir).expect("there is no note");
        assert_eq!(noted().as_deref(), Some("of somebody else"));
    }

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
