//! A folder that was filled from a snapshot is verified before its first use: whoever made the snapshot is not trusted.
//!
//! A block of the ledger has the state's root, it or a later one has a certificate by this chain's validators, and every block below
//! that one, to the ledger's first, is the parent of the next and has the body and receipts that its header commits to. Final blocks
//! above it, in the ledger or only in the engine's archives, must lead to one with a certificate.

use crate::{
    block::SealedBlock,
    certificate::is_certificate,
    check::{self, VALIDATOR},
    engine::{self, Kept},
    epoch,
    genesis::Genesis,
    proposals,
    seeds::Scheme,
    voted, votes,
};
use commonware_codec::Encode as _;
use commonware_consensus::{
    simplex::types::Finalization,
    types::{EpochPhase, Epocher as _, FixedEpocher, Height},
};
use commonware_cryptography::blake3::Digest;
use commonware_runtime::{Supervisor as _, tokio as runtime};
use commonware_storage::{
    archive::{Archive as _, Identifier, prunable},
    translator::TwoCap,
};
use cowboy_store::{Directory, Ledger, StoreError, check::check_rows, state};
use cowboy_types::Hash;
use std::{fs, io, path::Path};

/// The file that says that the folder was filled from a snapshot and not verified yet.
pub const MARK: &str = "imported";

/// The partition of a validator's engine that has what it was dealt, who acknowledged its own dealing, and the dealers' logs.
const DEALINGS: &str = "cowboy-reshare_events";

/// The same of the validator that imports the snapshot, until the folder is verified.
const OWN_DEALINGS: &str = "own-reshare_events";

/// What the engine's partitions begin with that a snapshot need not have: blocks that are not final, how far a state sync came, what its maker heard while it
/// listened (which becomes a part of the record of votes, and nobody verifies again), and what only an import puts there.
const NEEDLESS: [&str; 4] = ["cowboy-cache", "cowboystate_sync", votes::HEARD, OWN_DEALINGS];

/// Files of the engine that say what the maker of a snapshot did last, and when. Whoever believed them might propose nothing for ever, or vote at once. The
/// record of votes stays for the start: a validator that signs alone needs its own.
const OF_MAKER: [&str; 3] = [proposals::FILE, voted::FILE, votes::ALIVE];

/// Marks a folder that is filled from a snapshot, and drops what would have to be trusted.
pub fn mark(folder: &Path) -> Result<(), StoreError> {
    let engine = folder.join("engine");
    let failed = |error| StoreError::file(&engine, error);
    for entry in fs::read_dir(&engine).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let (name, path) = (entry.file_name(), entry.path());
        let name = name.to_string_lossy();
        if NEEDLESS.iter().any(|prefix| name.starts_with(prefix)) || OF_MAKER.contains(&&*name) {
            let removed = if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
            removed.map_err(failed)?;
        }
    }
    votes::mark(&engine)?;
    let mark = folder.join(MARK);
    fs::write(&mark, []).map_err(|error| StoreError::file(&mark, error))
}

/// Takes over what the engine in another folder knows of dealings, beside what the snapshot has: [`verify`] chooses.
pub fn keep_dealings(folder: &Path, engine: &Path) -> io::Result<()> {
    let own = engine.join(DEALINGS);
    if own.exists() { votes::copy(&own, &folder.join("engine").join(OWN_DEALINGS)) } else { Ok(()) }
}

/// Leaves one record of dealings, where the next block is in this phase of its epoch.
///
/// Early in an epoch that is the validator's own: acknowledgements of another validator's dealing are none of its own, and those that it
/// gave itself must not be forgotten. Later only the dealers' logs matter, which the snapshot has all of.
fn choose_dealings(engine: &Path, phase: EpochPhase) -> io::Result<()> {
    let (theirs, own) = (engine.join(DEALINGS), engine.join(OWN_DEALINGS));
    let is_early = phase == EpochPhase::Early;
    let dropped = if is_early { &theirs } else { &own };
    if dropped.exists() {
        fs::remove_dir_all(dropped)?;
    }
    if is_early && own.exists() { fs::rename(own, theirs) } else { Ok(()) }
}

/// Verifies a folder that is marked, and removes the mark. The error says what is not proven.
pub(crate) fn verify(directory: &Directory, ledger: &Ledger, genesis: &Genesis) -> Result<(), String> {
    let mark = directory.path().join(MARK);
    if !mark.exists() {
        return Ok(());
    }
    let rows = check_rows(ledger).map_err(|error| error.to_string())?;
    if let Some(fault) = rows.faults.first() {
        return Err(fault.clone());
    }
    if let Some(lost) = rows.lost.first() {
        return Err(format!("block {lost} is missing, so the blocks before it are not proven"));
    }
    let number = check::state(directory, ledger)?.ok_or("it has no block")?;
    let (ledger, verifier) = (ledger.clone(), genesis.committee.verifier(&genesis.namespace()));
    let next = ledger.view().and_then(|view| view.tip()).map_err(|error| error.to_string())?.unwrap_or(number).saturating_add(1);
    check::in_runtime(directory.engine(), move |context| prove(context, ledger, verifier, number))?;
    let bounds = FixedEpocher::new(epoch::length(&genesis.chain)).containing(Height::new(next)).ok_or("its newest block is of no epoch")?;
    choose_dealings(&directory.engine(), bounds.phase()).map_err(|error| error.to_string())?;
    fs::remove_file(&mark).map_err(|error| error.to_string())
}

async fn prove(mut context: runtime::Context, ledger: Ledger, verifier: Scheme, number: u64) -> Result<(), String> {
    let view = ledger.view().map_err(|error| error.to_string())?;
    let (certified, certificate) = view
        .certificate_from(number)
        .map_err(|error| error.to_string())?
        .ok_or(format!("neither block {number} nor a later one has a certificate"))?;
    let block_of = |number| view.block(number).ok().flatten().ok_or(format!("block {number} is not there"));
    let block = block_of(certified)?;
    if !is_certificate(&mut context, &verifier, &block.digest(), &certificate) {
        return Err(format!("the certificate of block {certified} is not one by this chain's validators"));
    }
    // The rows below were found to follow each other: the certificate proves them all.
    let tip = view.tip().map_err(|error| error.to_string())?.unwrap_or(number);
    beyond(&mut context, &verifier, (certified, block.digest()), tip, &block_of).await
}

/// Verifies the blocks above a certified one: those of the ledger, up to its newest, and those that only the engine's archives have.
async fn beyond(
    context: &mut runtime::Context,
    verifier: &Scheme,
    (certified, digest): (u64, Hash),
    tip: u64,
    block_of: &impl Fn(u64) -> Result<cowboy_types::Block, String>,
) -> Result<(), String> {
    let pages = state::page_cache(context, VALIDATOR).await;
    let section = Kept::default().section;
    let config = |name| engine::archive(VALIDATOR, name, pages.clone(), section);
    let damaged = |error: commonware_storage::archive::Error| format!("the engine's archives do not open: {error}");
    let finalizations: prunable::Archive<TwoCap, _, Digest, Finalization<Scheme, Digest>> =
        prunable::Archive::init(context.child("finalizations"), config("finalizations")).await.map_err(damaged)?;
    let blocks: prunable::Archive<TwoCap, _, Digest, SealedBlock> =
        prunable::Archive::init(context.child("blocks"), config("blocks")).await.map_err(damaged)?;
    let last = [Some(tip), finalizations.last_index(), blocks.last_index()].into_iter().flatten().max().unwrap_or(tip);
    let (mut before, mut is_proven) = (digest, true);
    for number in certified.saturating_add(1)..=last {
        let block = match blocks.get(Identifier::Index(number)).await.map_err(damaged)? {
            Some(block) => block.block().clone(),
            None => block_of(number)?,
        };
        if number <= tip && block_of(number)?.digest() != block.digest() || block.header.parent != before {
            return Err(format!("block {number} does not follow block {}", number - 1));
        }
        before = block.digest();
        let finalization = finalizations.get(Identifier::Index(number)).await.map_err(damaged)?;
        is_proven = finalization.is_some_and(|found| is_certificate(context, verifier, &before, &found.encode()));
    }
    if is_proven { Ok(()) } else { Err(format!("block {last} has no certificate by this chain's validators")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the maker of a snapshot heard while it listened would become a part of the importer's record of votes, in which nobody verifies it. So it is dropped,
    /// of every epoch. So is what says in which rounds the maker proposed and voted, and when: a last round that never comes would keep the importer from
    /// proposing for ever. Whatever else is in the folder stays.
    #[test]
    fn what_the_maker_of_a_snapshot_heard_and_did_is_dropped() {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = folder.path().join("engine");
        let dropped =
            [votes::partition(votes::HEARD, 3), votes::partition(votes::HEARD, 4), "cowboy-cache".into(), "cowboystate_sync".into()];
        let kept = ["cowboy-blocks-keys".to_owned(), "cowboy-finalizations-keys".into(), DEALINGS.into()];
        for name in dropped.iter().chain(&kept) {
            fs::create_dir_all(engine.join(name)).expect("the folder is writable");
            fs::write(engine.join(name).join("0"), [1]).expect("the folder is writable");
        }
        for name in OF_MAKER {
            fs::write(engine.join(name), [0xFF; 16]).expect("the folder is writable");
        }
        mark(folder.path()).expect("the folder is writable");
        let mut found: Vec<String> = fs::read_dir(&engine)
            .expect("it is there")
            .map(|entry| entry.expect("it reads").file_name().into_string().expect("text"))
            .collect();
        found.sort();
        assert_eq!(found, kept);
        assert!(folder.path().join(MARK).exists());
    }

    /// Early in an epoch a snapshot's record of dealings gives way to the validator's own, and is removed where it has none; later it
    /// stays. A snapshot brings none that passes for the validator's own.
    #[test]
    fn a_snapshot_brings_no_dealings_of_its_maker() {
        for (has_own, phase, expected) in [
            (true, EpochPhase::Early, Some("own")),
            (false, EpochPhase::Early, None),
            (true, EpochPhase::Midpoint, Some("theirs")),
            (false, EpochPhase::Late, Some("theirs")),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let (draft, own) = (folder.path().join("draft"), folder.path().join("own"));
            let put = |partition: &Path, text: &str| {
                fs::create_dir_all(partition).expect("the folder is writable");
                fs::write(partition.join("0"), text).expect("the folder is writable");
            };
            put(&draft.join("engine").join(DEALINGS), "theirs");
            put(&draft.join("engine").join(OWN_DEALINGS), "forged");
            if has_own {
                put(&own.join(DEALINGS), "own");
            }
            mark(&draft).expect("the folder is writable");
            keep_dealings(&draft, &own).expect("the folder is writable");
            choose_dealings(&draft.join("engine"), phase).expect("the folder is writable");
            assert_eq!(fs::read_to_string(draft.join("engine").join(DEALINGS).join("0")).ok().as_deref(), expected);
            assert!(!draft.join("engine").join(OWN_DEALINGS).exists());
        }
    }
}
