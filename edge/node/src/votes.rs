//! Whose votes the engine's record on the disk holds, and whether it is there.
//!
//! The record keeps a validator from voting twice in one round after a restart. It belongs to one validator: a folder that was
//! copied from another one has the wrong record, and it is discarded. A validator without its record listens before it votes, for
//! longer than the round lasts in which it may have voted last (decision 288).

use commonware_codec::Encode as _;
use commonware_cryptography::ed25519::PublicKey;
use cowboy_store::StoreError;
use std::{
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

/// What a node does in consensus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It proposes and votes.
    Votes,
    /// It takes part in nothing and follows the certificates of the others.
    Listens,
}

/// What the engine's partitions begin with that hold the record, one for each epoch, in the engine's folder.
pub const RECORD: &str = "cowboy-simplex";

/// The partition with the record of an epoch.
pub fn record(epoch: u64) -> String {
    partition(RECORD, epoch)
}

/// The engine's partition of an epoch, where its names begin so.
pub(crate) fn partition(prefix: &str, epoch: u64) -> String {
    format!("{prefix}_consensus_{epoch}")
}

/// The partitions with records of votes in an engine's folder, none where there is no folder.
pub fn records(engine: &Path) -> Vec<String> {
    let names = fs::read_dir(engine).into_iter().flatten().flatten().filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.starts_with(RECORD)).collect();
    names.sort();
    names
}

/// Discards all records of votes in an engine's folder.
pub fn discard(engine: &Path) -> Result<(), StoreError> {
    for name in records(engine) {
        let record = engine.join(name);
        fs::remove_dir_all(&record).map_err(|error| StoreError::file(&record, error))?;
    }
    Ok(())
}

/// The file beside it that names the validator whose record it is.
pub const OWNER: &str = "voter";

/// The word after the name while the validator listens, and from then on until it votes.
const LISTENING: &str = "listening";
const LISTENED: &str = "listened";

/// How long a validator listens that has no record of its votes, where nothing else is configured: some rounds at their longest.
pub const LISTENING_TIME: Duration = Duration::from_secs(12);

/// The record of one validator's votes, in the folder of its engine.
#[derive(Debug)]
pub(crate) struct Votes {
    engine: PathBuf,
    name: String,
}

impl Votes {
    pub(crate) fn new(engine: PathBuf, key: &PublicKey) -> Self {
        let name = key.encode().iter().map(|byte| format!("{byte:02x}")).collect();
        Self { engine, name }
    }

    /// Whether the validator may vote at once in this epoch. Another validator's records are discarded first.
    ///
    /// Until [`Self::listened`] is called, a validator that must listen must also do so after a restart.
    pub(crate) fn may_vote(&self, epoch: u64) -> Result<bool, StoreError> {
        let record = self.engine.join(record(epoch));
        let owner = match fs::read_to_string(self.owner()) {
            Ok(owner) => Some(owner),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(StoreError::file(self.owner(), error)),
        };
        let mut words = owner.as_deref().unwrap_or(&self.name).split_whitespace();
        let is_own = words.next() == Some(&self.name);
        let word = words.next();
        if !is_own && !records(&self.engine).is_empty() {
            tracing::warn!("the record of votes in this folder is another validator's, and is discarded");
            discard(&self.engine)?;
        }
        let is_kept = fs::read_dir(&record).is_ok_and(|mut entries| entries.next().is_some());
        let may_vote = is_own && (word == Some(LISTENED) || (word != Some(LISTENING) && is_kept));
        self.write(if may_vote { "" } else { LISTENING })?;
        Ok(may_vote)
    }

    /// Notes that the validator has listened for long enough.
    pub(crate) fn listened(&self) -> Result<(), StoreError> {
        self.write(LISTENED)
    }

    fn owner(&self) -> PathBuf {
        self.engine.join(OWNER)
    }

    /// Writes the owner so that a crash leaves the old file or the new one.
    fn write(&self, word: &str) -> Result<(), StoreError> {
        let draft = self.engine.join("voter.new");
        let write = || {
            fs::create_dir_all(&self.engine)?;
            fs::write(&draft, format!("{} {word}\n", self.name))?;
            fs::File::open(&draft)?.sync_all()?;
            fs::rename(&draft, self.owner())
        };
        write().map_err(|error| StoreError::file(self.owner(), error))
    }
}

/// Discards the record in one node's folder of the engine, and takes over that of another, where it has one.
///
/// For a folder that is filled from a snapshot: the votes of whoever made the snapshot are nobody else's.
pub fn replace(engine: &Path, own: Option<&Path>) -> io::Result<()> {
    let mut names = records(engine);
    names.extend(own.map(records).unwrap_or_default());
    names.push(OWNER.to_owned());
    names.sort();
    names.dedup();
    for name in names {
        let (target, source) = (engine.join(&name), own.map(|own| own.join(&name)).filter(|source| source.exists()));
        match target.is_dir() {
            true => fs::remove_dir_all(&target)?,
            false if target.exists() => fs::remove_file(&target)?,
            false => {}
        }
        match source {
            Some(source) if source.is_dir() => copy(&source, &target)?,
            Some(source) => drop(fs::copy(&source, &target)?),
            None => {}
        }
    }
    Ok(())
}

/// Copies a folder of files: partitions have no folders inside.
pub(crate) fn copy(source: &Path, target: &Path) -> io::Result<()> {
    fs::create_dir_all(target)?;
    for entry in fs::read_dir(source)? {
        let entry = entry?;
        let copied = target.join(entry.file_name());
        fs::copy(entry.path(), &copied)?;
        fs::File::open(&copied)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};

    fn put(engine: &Path) {
        fs::create_dir_all(engine.join(record(0))).expect("the folder is writable");
        fs::write(engine.join(record(0)).join("0"), [1]).expect("the folder is writable");
    }

    #[test]
    fn a_validator_votes_with_its_own_record_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = folder.path().join("engine");
        let votes = |seed| Votes::new(engine.clone(), &PrivateKey::from_seed(seed).public_key());
        let (own, other) = (votes(1), votes(2));
        assert!(!own.may_vote(0).expect("it writes"), "there is none");
        put(&engine);
        assert!(!own.may_vote(0).expect("it reads"), "it has not listened to the end");
        own.listened().expect("it writes");
        assert!(own.may_vote(0).expect("it reads"));
        assert!(!own.may_vote(1).expect("it reads"), "the record of another epoch is none");
        own.listened().expect("it writes");
        assert!(own.may_vote(0).expect("it reads"));
        assert!(own.may_vote(0).expect("it reads"), "and again after a restart");
        assert!(!other.may_vote(0).expect("it reads"), "the record is somebody else's");
        assert!(records(&engine).is_empty(), "and is discarded");
        other.listened().expect("it writes");
        assert!(other.may_vote(0).expect("it reads"), "the others were silent, so there is nothing to record");
        assert!(!other.may_vote(0).expect("it reads"), "it may have voted meanwhile, and the record is lost");
        fs::remove_file(engine.join(OWNER)).expect("it is there");
        put(&engine);
        assert!(own.may_vote(0).expect("it reads"), "one without a name was written by an older program for this validator");
    }

    #[test]
    fn a_folder_from_a_snapshot_gets_the_own_votes() {
        let folder = tempfile::tempdir().expect("a folder");
        let (snapshot, own) = (folder.path().join("snapshot"), folder.path().join("own"));
        put(&snapshot);
        fs::write(snapshot.join(OWNER), "somebody").expect("the folder is writable");
        put(&own);
        fs::write(own.join(record(0)).join("1"), [2]).expect("the folder is writable");
        fs::write(own.join(OWNER), "me").expect("the folder is writable");
        replace(&snapshot, Some(&own)).expect("it copies");
        assert_eq!(fs::read(snapshot.join(record(0)).join("1")).ok(), Some(vec![2]));
        assert_eq!(fs::read_to_string(snapshot.join(OWNER)).ok().as_deref(), Some("me"));
        replace(&snapshot, None).expect("it discards");
        assert!(records(&snapshot).is_empty() && !snapshot.join(OWNER).exists());
    }
}
