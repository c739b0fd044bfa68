//! Checks what a stopped validator's engine keeps: the record of its votes, and its archives of final blocks and certificates.

use super::{VALIDATOR, in_runtime};
use crate::{
    block::SealedBlock,
    engine::{self, Kept},
    seeds::Scheme,
    voted, votes,
};
use commonware_codec::CodecShared;
use commonware_consensus::{
    Viewable as _,
    simplex::types::{Artifact, Finalization},
};
use commonware_cryptography::blake3::Digest;
use commonware_runtime::{ReadOptions, Supervisor as _, tokio as runtime};
use commonware_storage::{
    archive::{Archive as _, Identifier, prunable},
    journal::segmented::variable::{Config, Journal},
    translator::TwoCap,
};
use cowboy_store::{Directory, StoreError, state};
use std::{collections::BTreeMap, path::Path};

/// A part of the engine's folder that is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// What its partitions begin with.
    pub part: String,
    /// What is wrong with it.
    pub reason: String,
}

/// Reads the record of votes and the archives in this folder to their ends. Parts that are not there are whole.
pub fn engine(directory: &Directory) -> Vec<Damage> {
    let engine = directory.engine();
    let archive = |name| format!("{VALIDATOR}-{name}");
    let (finalizations, blocks) = ("finalizations", "blocks");
    let votes = votes::records(&engine).into_iter().filter_map(|record| {
        let partition = record.clone();
        part(&engine, record, "", |context| read_votes(context, partition, |_| ()))
    });
    let votes: Vec<Damage> = votes.collect();
    let archives = [
        part(&engine, archive(finalizations), "-keys", |context| read_archive::<Finalization<Scheme, Digest>>(context, finalizations)),
        part(&engine, archive(blocks), "-keys", |context| read_archive::<SealedBlock>(context, blocks)),
    ];
    votes.into_iter().chain(archives.into_iter().flatten()).collect()
}

/// The kinds of a validator's own votes in one of its records, by view ([`voted::kind`]). A damaged end of the record is cut off, as the engine does.
pub(crate) fn own_votes(engine: &Path, record: String) -> Result<BTreeMap<u64, u8>, String> {
    in_runtime(engine.to_owned(), |context| async move {
        let mut kinds = BTreeMap::<u64, u8>::new();
        let note = |artifact: Artifact<Scheme, Digest>| {
            if let Some(kind) = voted::kind(&artifact) {
                *kinds.entry(artifact.view().get()).or_default() |= kind;
            }
        };
        read_votes(context, record, note).await?;
        Ok(kinds)
    })
}

/// Discards the record of votes: the validator listens before it votes again (decision 288).
pub fn discard_votes(directory: &Directory) -> Result<(), StoreError> {
    votes::discard(&directory.engine())
}

/// The damage of one part, where there is some. `ending` makes its name that of a folder.
fn part<F>(engine: &Path, part: String, ending: &str, read: impl FnOnce(runtime::Context) -> F + Send + 'static) -> Option<Damage>
where
    F: Future<Output = Result<(), String>>,
{
    if !engine.join(format!("{part}{ending}")).exists() {
        return None;
    }
    in_runtime(engine.to_owned(), read).err().map(|reason| Damage { part, reason })
}

/// Reads a record of votes to its end.
async fn read_votes(context: runtime::Context, partition: String, mut note: impl FnMut(Artifact<Scheme, Digest>)) -> Result<(), String> {
    let config = Config {
        partition,
        compression: None,
        codec_config: (),
        page_cache: state::page_cache(&context, votes::RECORD).await,
        write_buffer: engine::BUFFER,
    };
    let journal = Journal::<_, Artifact<Scheme, Digest>>::init(context.child("votes"), config).await;
    let journal = journal.map_err(|error| format!("{error:?}"))?;
    let mut replay = journal.replay(0, 0, engine::BUFFER, ReadOptions::DONT_CACHE).await.map_err(|error| format!("{error:?}"))?;
    while let Some(artifact) = replay.next().await {
        let (.., artifact) = artifact.map_err(|error| format!("{error:?}"))?;
        note(artifact);
    }
    Ok(())
}

async fn read_archive<V: CodecShared<Cfg = ()>>(context: runtime::Context, name: &str) -> Result<(), String> {
    let pages = state::page_cache(&context, VALIDATOR).await;
    let config = engine::archive(VALIDATOR, name, pages, Kept::default().section);
    let archive = prunable::Archive::<TwoCap, _, Digest, V>::init(context.child("archive"), config).await;
    let archive = archive.map_err(|error| format!("{error:?}"))?;
    for (first, last) in archive.ranges().collect::<Vec<_>>() {
        for number in first..=last {
            archive.get(Identifier::Index(number)).await.map_err(|error| format!("block {number}: {error:?}"))?;
        }
    }
    Ok(())
}
