//! `cowboy volume rekey`: a partition gets its next key, and all its files are encrypted anew (decision 603).

use super::journal::Journal;
use super::progress::Progress;
use super::rights::{self, Use};
use super::{MERGES, PAUSE, Which, act_encoded, files, keys, name, storage_failure};
use crate::client::{labels, labels::Labels, session::Session};
use crate::send::Terms;
use clap::Args;
use cowboy_console::{amount::counted, failure::Failure};
use cowboy_system::volumes::types::{Keys, Partition};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::segments::Meta;
use cowboy_volume::{Entry, Listing, Source, Volume, VolumeError};
use cowboy_volumes::{Leaf, Name, Path, leaf};
use serde_json::{Value, json};
use std::path::PathBuf;

/// Bytes that are read ahead of what is written.
const AHEAD: usize = 1 << 18;

#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  cowboy volume rekey memory notes
  cowboy volume rekey memory notes --key old.key --new-key new.key")]
pub(crate) struct Rekey {
    #[command(flatten)]
    pub(super) which: Which,
    /// The partition [default: all, where this folder knows their names]
    #[arg(value_parser = name)]
    partition: Option<Name>,
    /// The file of the new key, where the owner keeps it; made where it is missing
    #[arg(long, value_name = "FILE")]
    new_key: Option<PathBuf>,
    #[command(flatten)]
    terms: Terms,
}

/// The files of a partition, encrypted anew.
#[derive(Default)]
struct Rewritten {
    leaves: Vec<Leaf>,
    /// Those that the relays had already, from a command that was killed.
    resumed: usize,
    /// The paths of files that stay behind: nobody could read them.
    left_behind: Vec<String>,
}

/// A key that stands, and the one that follows it.
struct Pair {
    old: PartitionKey,
    new: PartitionKey,
    /// The version of the new one.
    next: u64,
}

pub(super) async fn run(session: &Session, rekey: Rekey) -> Result<(), Failure> {
    let volume = rekey.which.open(session).await?;
    rekey.check(session, &volume)?;
    let mut done = Vec::new();
    for name in rekey.names(session, &volume)? {
        done.push(rekey.partition(session, &name).await?);
    }
    let line = |row: &Value| {
        let name = row["partition"].as_str().unwrap_or_default();
        let count = row["files"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default();
        format!("{name}: {} encrypted with a new key; for a day, revert brings back what it had, under the old one", counted(count, "file"))
    };
    let lines: Vec<String> = done.iter().map(line).collect();
    session.output.result(&done, if lines.is_empty() { "the volume has no partitions".to_owned() } else { lines.join("\n") });
    Ok(())
}

impl Rekey {
    /// Refuses what no partition of the volume gets a new key by.
    fn check(&self, session: &Session, volume: &Volume) -> Result<(), Failure> {
        let (account, owner) = (session.key()?.address(), volume.record().owner);
        if owner != account {
            return Err(rights::of_owner(rights::REKEY, account, owner));
        }
        if self.which.capability.is_some() {
            return Err(Failure::refused("a capability gives no partition a new key", "leave --capability out"));
        }
        match (volume.record().keys, &self.new_key) {
            (Keys::Public, _) => Err(Failure::refused("a public volume has no keys", "anybody may read it")),
            (Keys::Committee, Some(_)) => Err(Failure::argument("the committee makes the keys of this volume", "leave --new-key out")),
            (Keys::Committee, None) => Ok(()),
            (Keys::Owner, Some(file)) => keys::make(file),
            (Keys::Owner, None) => {
                let what = "the owner of this volume keeps its key, and the new one goes into another file";
                Err(Failure::argument(what, "name that file with --new-key, beside --key with the file of now"))
            }
        }
    }

    /// The partitions that are meant.
    fn names(&self, session: &Session, volume: &Volume) -> Result<Vec<Name>, Failure> {
        if let Some(name) = &self.partition {
            return Ok(vec![name.clone()]);
        }
        let labels = Labels::load(&session.project);
        let all = volume.record().partitions.iter().map(|listed| listed.partition.to_string());
        let known = |hash: String| labels.named(&hash).and_then(Name::new).ok_or(hash);
        let named: Result<Vec<Name>, String> = all.map(known).collect();
        named.map_err(|hash| {
            Failure::refused(
                format!("this folder does not know the name of partition {hash}"),
                "name each partition: cowboy volume rekey VOLUME PARTITION",
            )
        })
    }

    async fn keys(&self, session: &Session, volume: &Volume, name: &Name, standing: &Partition) -> Result<Pair, Failure> {
        let next = standing.next_key_version(volume.record().generation);
        let next = next.ok_or_else(|| {
            Failure::refused(format!("the key of {} had every version", name.as_str()), "move its files to another partition")
        })?;
        let of = |version: u64| (name, version, Use::Own(rights::REKEY));
        let old = keys::of_version(session, &self.which, volume, of(standing.root.key_version), &self.terms).await?;
        let new = match &self.new_key {
            Some(file) => keys::owned(file, volume, (name, next))?,
            None => keys::of_version(session, &self.which, volume, of(next), &self.terms).await?,
        };
        if old.tags() == new.tags() {
            return Err(Failure::argument(
                "--new-key names the key that the partition has",
                "name another file: it is made where it is missing",
            ));
        }
        Ok(Pair { old, new, next })
    }

    /// Gives a partition its next key. Where somebody else commits meanwhile, it is read again, and what did not change is not sent again.
    async fn partition(&self, session: &Session, name: &Name) -> Result<Value, Failure> {
        for _ in 0..MERGES {
            let volume = self.which.open(session).await?;
            let standing = volume.partition(name).await.map_err(storage_failure)?;
            let standing = standing.ok_or_else(|| storage_failure(VolumeError::NoPartition(name.as_str().to_owned())))?;
            let pair = self.keys(session, &volume, name, &standing).await?;
            let listing = volume.list(name, &pair.old, u64::MAX).await.map_err(storage_failure)?;
            let rewritten = rewrite(session, &volume, name, &pair, listing).await?;
            if let Some(done) = self.commit(session, name, &standing, pair.next, rewritten).await? {
                labels::keep(session, &name.partition(), name.as_str());
                return Ok(done);
            }
            session.output.progress(format_args!("somebody else committed: reading {} again", name.as_str()));
            tokio::time::sleep(PAUSE).await;
        }
        let what = format!("others commit to {} all the time, and nothing is changed", name.as_str());
        Err(Failure::refused(what, "have them wait, and give the command again: what was sent is not sent again"))
    }

    /// Puts the files in the place of those of a record. None where somebody else committed since.
    async fn commit(
        &self,
        session: &Session,
        name: &Name,
        of: &Partition,
        next: u64,
        rewritten: Rewritten,
    ) -> Result<Option<Value>, Failure> {
        let Rewritten { leaves, resumed, left_behind } = rewritten;
        let (count, tags): (usize, Vec<_>) = (leaves.len(), leaves.iter().map(|leaf| leaf.tag).collect());
        // As the chain has it now: relays may have changed meanwhile.
        let volume = self.which.open(session).await?;
        let commit = match volume.rewrite(name, next, leaves, of).await {
            Err(VolumeError::Moved(_)) => return Ok(None),
            made => made.map_err(storage_failure)?,
        };
        let sent = match act_encoded(session, "commit", &commit.argument, &self.terms).await {
            Err(Failure::Api(failed)) if files::was_second(failed.code).is_some() => return Ok(None),
            sent => sent?,
        };
        let journal = Journal::of(session, &volume, name);
        tags.iter().for_each(|tag| journal.forget(tag));
        Ok(Some(json!({
            "partition": name.as_str(), "key_version": next, "files": count, "resumed": resumed, "left_behind": left_behind, "tx_hash": sent.tx_hash,
        })))
    }
}

/// Reads the files of a partition with its key, and sends them to the relays under the next one.
async fn rewrite(session: &Session, volume: &Volume, name: &Name, pair: &Pair, listing: Listing) -> Result<Rewritten, Failure> {
    let (entries, lost): (Vec<Entry>, Vec<Entry>) = listing.entries.into_iter().partition(|entry| entry.is_placed(&pair.old));
    let mut done = Rewritten { left_behind: lost.iter().map(|entry| entry.meta.path.to_string()).collect(), ..Rewritten::default() };
    if listing.closed > 0 {
        session.output.progress(format_args!("not opened by the key, and left behind: {}", counted(listing.closed, "file")));
    }
    let journal = Journal::of(session, volume, name);
    journal.forget_old(|height| volume.is_recent(height));
    let bytes = entries.iter().fold(0, |sum: u64, entry| sum.saturating_add(entry.meta.size));
    let mut progress = Progress::new(session.output, entries.len(), bytes);
    for entry in &entries {
        let Some(path) = Path::new(&entry.meta.path) else { continue };
        progress.next(path.as_str());
        if let Some(leaf) = kept(volume, &pair.new, &journal, (&path, &entry.meta)).await {
            progress.skip(entry.meta.size);
            done.resumed += 1;
            done.leaves.push(leaf);
            continue;
        }
        let height = volume.chain().height();
        let leaf = match encrypted_anew(volume, (entry, &path), pair, &mut progress).await {
            // Its writer made it so: nobody could read it.
            Err(VolumeError::Damaged(path)) => {
                done.left_behind.push(path);
                continue;
            }
            sent => sent.map_err(storage_failure)?,
        };
        // What cannot be kept is no failure: it would be sent again.
        if let Err(error) = journal.keep(&leaf, height) {
            session.output.progress(format_args!("{} would be sent again: {error}", path.as_str()));
        }
        done.leaves.push(leaf);
    }
    for path in &done.left_behind {
        session.output.progress(format_args!("{path} is left behind: nobody can read it at its path"));
    }
    Ok(done)
}

/// The leaf of a file that an earlier command sent under the new key, where it did not change and enough relays have it.
async fn kept(volume: &Volume, new: &PartitionKey, journal: &Journal, (path, meta): (&Path, &Meta)) -> Option<Leaf> {
    let (leaf, height) = journal.kept(&leaf::tag(new.tags(), path))?;
    volume.is_sent(new, (&leaf, height), meta).await.then_some(leaf)
}

/// Reads a file and sends it under the new key, both at once.
async fn encrypted_anew(
    volume: &Volume,
    (entry, path): (&Entry, &Path),
    pair: &Pair,
    progress: &mut Progress,
) -> Result<Leaf, VolumeError> {
    let (mut writer, reader) = tokio::io::duplex(AHEAD);
    let (written_ms, kind) = (entry.meta.written_ms, entry.meta.kind.clone());
    let mut source = Source { content: progress.counted(reader), size: entry.meta.size, written_ms, kind };
    // Each side ends with its end of the pipe, so that the other one does not wait for ever.
    let reading = async move { volume.get(entry, &pair.old, &mut writer).await };
    let sending = async move { volume.put(path, &pair.new, &mut source).await };
    match futures::join!(reading, sending) {
        (Ok(()), sent) => sent,
        // Nobody read what was written.
        (Err(VolumeError::Local(_)), Err(error)) => Err(error),
        (Err(error), _) => Err(error),
    }
}
