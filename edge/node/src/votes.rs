//! Whose votes the engine's record on the disk holds, and whether it is there.
//!
//! The record keeps a validator from voting twice in one round after a restart. It belongs to one validator: a folder that was
//! copied from another one has the wrong record, and it is discarded. A validator without its record listens before it votes, for
//! longer than the round lasts in which it may have voted last (decision 288). So does one whose record may lack votes, as that of a disk
//! that was restored from an older copy ([decision 425](../../../docs/decisions/0425-a-record-of-votes-must-be-fresh.md)).

use crate::{proposals, voted};
use commonware_codec::Encode as _;
use commonware_cryptography::ed25519::PublicKey;
use cowboy_host::files;
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

/// What those begin with that hold what a validator heard while it listened.
pub(crate) const HEARD: &str = "cowboy-heard";

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
    let mut names = names(engine).unwrap_or_default();
    names.retain(|name| name.starts_with(RECORD));
    names
}

/// What is in a folder, by name; nothing where there is no folder.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let named: io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.file_name())).collect();
    let mut names: Vec<String> = named?.into_iter().filter_map(|name| name.into_string().ok()).collect();
    names.sort();
    Ok(names)
}

/// The oldest view that the record of an epoch has; none where there is no record.
pub(crate) fn oldest_view(engine: &Path, epoch: u64) -> Result<Option<u64>, StoreError> {
    let folder = engine.join(record(epoch));
    let names = names(&folder).map_err(|error| StoreError::file(&folder, error))?;
    Ok(names.first().and_then(|name| u64::from_str_radix(name, 16).ok()))
}

/// Discards all records of votes in an engine's folder.
pub fn discard(engine: &Path) -> Result<(), StoreError> {
    records(engine).into_iter().try_for_each(|name| remove(&engine.join(name)))
}

/// The partition that is there once a record was discarded because its validator had no share, until the validator has listened.
pub const DISCARDED: &str = "cowboy-discarded";

/// The file beside it that names the validator whose record it is.
pub const OWNER: &str = "voter";

/// The file beside it with the time at which the validator may have voted last, in milliseconds since 1970.
pub(crate) const ALIVE: &str = "alive";

/// How often that time is written.
pub(crate) const BEAT: Duration = Duration::from_secs(1);

/// How long ago it is at most where the record has every vote: what was in use this long ago is no older copy.
const FRESH_MS: u64 = 5_000;

/// The word after the name while the validator listens, and from then on until it votes.
const LISTENING: &str = "listening";
const LISTENED: &str = "listened";

/// The word after the name where a snapshot brought the record.
const IMPORTED: &str = "imported";

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

    /// What is wrong with the record, so that the validator may not vote at once in this epoch. Another validator's records are discarded first. `has_all` says
    /// that the record has every vote that was noted beside it ([`voted`]).
    ///
    /// Until [`Self::listened`] is called, a validator that must listen must also do so after a restart.
    pub(crate) fn obstacle(&self, epoch: u64, now_ms: u64, has_all: bool) -> Result<Option<&'static str>, StoreError> {
        let owner = read(&self.owner())?;
        let mut words = owner.as_deref().unwrap_or(&self.name).split_whitespace();
        let is_own = words.next() == Some(&self.name);
        let word = words.next();
        if !is_own && !records(&self.engine).is_empty() {
            tracing::warn!("the record of votes in this folder is another validator's, and is discarded");
            discard(&self.engine)?;
        }
        let is_in = |epoch| fs::read_dir(self.engine.join(record(epoch))).is_ok_and(|mut entries| entries.next().is_some());
        // A fresh folder without a record of a new epoch means that the validator has not voted in it.
        let is_kept = is_in(epoch) || epoch.checked_sub(1).is_some_and(is_in);
        let obstacle = if self.engine.join(DISCARDED).exists() {
            Some("was discarded while it had no share")
        } else if !(is_own && (is_kept || word == Some(LISTENED))) {
            Some("is not there")
        } else if word == Some(LISTENING) {
            Some("may lack some, and it was stopped before it had listened to the end")
        } else if !has_all {
            Some("lacks votes that it sent")
        } else if !self.is_fresh(now_ms)? {
            Some("was not in use within the last five seconds, so it may be an older copy")
        } else {
            None
        };
        self.write(if obstacle.is_none() { "" } else { LISTENING })?;
        Ok(obstacle)
    }

    /// Discards records that a snapshot brought, whoever they are said to be of: nobody has verified them, and the engine trusts what is in them.
    pub(crate) fn distrust(&self) -> Result<(), StoreError> {
        let owner = read(&self.owner())?.unwrap_or_default();
        if owner.split_whitespace().any(|word| word == IMPORTED) { discard(&self.engine) } else { Ok(()) }
    }

    /// Whether the folder was in use a moment ago.
    fn is_fresh(&self, now_ms: u64) -> Result<bool, StoreError> {
        let alive = read(&self.engine.join(ALIVE))?.and_then(|text| text.trim().parse::<u64>().ok());
        Ok(alive.and_then(|alive| now_ms.checked_sub(alive)).is_some_and(|age| age <= FRESH_MS))
    }

    /// Notes that the validator may vote at this time. A time that a crash loses makes it listen.
    pub(crate) fn beat(&self, now_ms: u64) -> Result<(), StoreError> {
        let draft = self.engine.join("alive.new");
        let write = || {
            fs::create_dir_all(&self.engine)?;
            fs::write(&draft, now_ms.to_string())?;
            fs::rename(&draft, self.engine.join(ALIVE))
        };
        write().map_err(|error| StoreError::file(&draft, error))
    }

    /// Notes that the validator has listened for long enough, and votes from this time on, in rounds after those that it heard of. Its engine does
    /// not run meanwhile.
    pub(crate) fn listened(&self, now_ms: u64) -> Result<(), StoreError> {
        take_over(&self.engine).map_err(|error| StoreError::file(&self.engine, error))?;
        self.beat(now_ms)?;
        self.write(LISTENED)?;
        // Last: a crash before this makes the validator listen once more.
        remove(&self.engine.join(DISCARDED))
    }

    fn owner(&self) -> PathBuf {
        self.engine.join(OWNER)
    }

    /// Writes the owner so that a crash leaves the old file or the new one.
    fn write(&self, word: &str) -> Result<(), StoreError> {
        let text = format!("{} {word}\n", self.name);
        let write = || {
            fs::create_dir_all(&self.engine)?;
            files::replace(&self.owner(), text.as_bytes())
        };
        write().map_err(|error| StoreError::file(self.owner(), error))
    }
}

/// Adds to the records of votes what was heard of later views while the validator listened ([decision 680]).
///
/// Otherwise the engine would begin where the record ends, on an empty disk with the first view of the epoch, and vote to give up that view until it hears
/// of a later one. Peers that remember another vote of it there shut it out.
///
/// [decision 680]: ../../../docs/decisions/0680-who-has-listened-begins-where-the-others-are.md
fn take_over(engine: &Path) -> io::Result<()> {
    for heard in names(engine)? {
        let Some(rest) = heard.strip_prefix(HEARD) else { continue };
        let (source, target) = (engine.join(&heard), engine.join(format!("{RECORD}{rest}")));
        // The engine keeps a file for each view, named by the view's eight bytes in hexadecimal, big-endian.
        // A record that cannot be read is not an empty one: what was heard would take the place of own votes.
        let newest = names(&target)?.pop();
        for view in names(&source)?.into_iter().filter(|view| newest.as_ref().is_none_or(|newest| view > newest)) {
            fs::create_dir_all(&target)?;
            fs::rename(source.join(&view), target.join(&view))?;
        }
        if target.exists() {
            fs::File::open(&target)?.sync_all()?;
        }
    }
    Ok(())
}

/// Removes a folder, where there is one.
fn remove(folder: &Path) -> Result<(), StoreError> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::file(folder, error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The text of a file, where there is one.
fn read(path: &Path) -> Result<Option<String>, StoreError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::file(path, error)),
    }
}

/// Notes that a snapshot brought the records of votes in an engine's folder, where there are some.
pub(crate) fn mark(engine: &Path) -> Result<(), StoreError> {
    let path = engine.join(OWNER);
    let owner = read(&path)?;
    if owner.is_none() && records(engine).is_empty() {
        return Ok(());
    }
    let owner = owner.unwrap_or_default();
    let name = owner.split_whitespace().next().unwrap_or_default();
    fs::write(&path, format!("{name} {IMPORTED}\n")).map_err(|error| StoreError::file(&path, error))
}

/// Discards the record in one node's folder of the engine, and takes over that of another, where it has one.
///
/// For a folder that is filled from a snapshot: the votes of whoever made the snapshot are nobody else's.
pub fn replace(engine: &Path, own: Option<&Path>) -> io::Result<()> {
    let mut names = records(engine);
    names.extend(own.map(records).unwrap_or_default());
    names.extend([OWNER, ALIVE, DISCARDED, proposals::FILE, voted::FILE].map(str::to_owned));
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
    use crate::check;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use commonware_runtime::ReadOptions;
    use commonware_storage::journal::segmented::variable::{Config, Journal};
    use commonware_utils::NZUsize;

    fn put(engine: &Path) {
        fs::create_dir_all(engine.join(record(0))).expect("the folder is writable");
        fs::write(engine.join(record(0)).join("0"), [1]).expect("the folder is writable");
    }

    /// A moment, in milliseconds.
    const NOW: u64 = 1_700_000_000_000;

    #[test]
    fn a_validator_votes_with_its_own_record_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let engine = folder.path().join("engine");
        let votes = |seed| Votes::new(engine.clone(), &PrivateKey::from_seed(seed).public_key());
        let (own, other) = (votes(1), votes(2));
        let may_vote = |votes: &Votes, epoch| votes.obstacle(epoch, NOW, true).expect("it reads and writes").is_none();
        assert!(!may_vote(&own, 0), "there is none");
        put(&engine);
        own.beat(NOW).expect("it writes");
        assert!(!may_vote(&own, 0), "it has not listened to the end");
        own.listened(NOW).expect("it writes");
        assert!(may_vote(&own, 0));
        assert!(may_vote(&own, 1), "it has not voted in the new epoch yet");
        assert!(!may_vote(&own, 2), "the record of a longer past epoch is none");
        own.listened(NOW).expect("it writes");
        assert!(may_vote(&own, 0));
        assert!(may_vote(&own, 0), "and again after a restart");
        assert!(!may_vote(&other, 0), "the record is somebody else's");
        assert!(records(&engine).is_empty(), "and is discarded");
        other.listened(NOW).expect("it writes");
        assert!(may_vote(&other, 0), "the others were silent, so there is nothing to record");
        assert!(!may_vote(&other, 0), "it may have voted meanwhile, and the record is lost");
        fs::remove_file(engine.join(OWNER)).expect("it is there");
        put(&engine);
        assert!(may_vote(&own, 0), "one without a name was written by an older program for this validator");
    }

    /// A copy of the folder that is put back later lacks votes: its time says so. So does one from the future, as after a clock was set back.
    #[test]
    fn an_older_copy_of_the_disk_does_not_vote() {
        let rows = [
            (Some(NOW), 0, true),
            (Some(NOW), FRESH_MS, true),
            (Some(NOW), FRESH_MS + 1, false),
            (Some(NOW + 1), 0, false),
            (None, 0, false),
        ];
        for (alive, later, expected) in rows {
            let folder = tempfile::tempdir().expect("a folder");
            let votes = Votes::new(folder.path().to_owned(), &PrivateKey::from_seed(1).public_key());
            put(folder.path());
            alive.iter().for_each(|alive| votes.beat(*alive).expect("it writes"));
            assert_eq!(votes.obstacle(0, NOW + later, true).expect("it reads").is_none(), expected, "{alive:?}, {later} ms later");
        }
    }

    /// What keeps a validator from voting at once is named.
    #[test]
    fn a_validator_says_why_it_listens() {
        let folder = tempfile::tempdir().expect("a folder");
        let votes = Votes::new(folder.path().to_owned(), &PrivateKey::from_seed(1).public_key());
        let says = |later, has_all| votes.obstacle(0, NOW + later, has_all).expect("it reads and writes").unwrap_or_default();
        assert_eq!(says(0, true), "is not there");
        put(folder.path());
        assert!(says(0, true).contains("stopped before it had listened"));
        for (later, has_all, words) in [(0, true, ""), (FRESH_MS + 1, true, "an older copy"), (0, false, "lacks votes")] {
            votes.listened(NOW).expect("it writes");
            let said = says(later, has_all);
            assert!(said.contains(words) && said.is_empty() == words.is_empty(), "{said}");
        }
        fs::create_dir(folder.path().join(DISCARDED)).expect("the folder is writable");
        assert!(says(0, true).contains("no share"));
    }

    /// What the engine heard while its validator had no share is no record of the votes before.
    #[test]
    fn a_validator_whose_record_was_discarded_listens() {
        let folder = tempfile::tempdir().expect("a folder");
        let votes = Votes::new(folder.path().to_owned(), &PrivateKey::from_seed(1).public_key());
        let may_vote = || votes.obstacle(0, NOW, true).expect("it reads and writes").is_none();
        put(folder.path());
        votes.beat(NOW).expect("it writes");
        assert!(may_vote());
        fs::create_dir(folder.path().join(DISCARDED)).expect("the folder is writable");
        assert!(!may_vote());
        votes.listened(NOW).expect("it writes");
        assert!(may_vote());
    }

    /// A snapshot may bring a record with the name of whoever imports it, and anything in it. It is distrusted, whatever is said of it; the validator's own is not.
    #[test]
    fn a_record_from_a_snapshot_is_distrusted() {
        for (owner, has_record, is_imported, expected) in [
            (Some("me"), true, false, true),
            (Some("me"), true, true, false),
            (Some("me listened"), true, true, false),
            (None, true, true, false),
            (None, false, true, false),
        ] {
            let folder = tempfile::tempdir().expect("a folder");
            let votes = Votes { engine: folder.path().to_owned(), name: "me".into() };
            if has_record {
                put(folder.path());
            }
            owner.iter().for_each(|owner| fs::write(folder.path().join(OWNER), owner).expect("the folder is writable"));
            if is_imported {
                mark(folder.path()).expect("it writes");
            }
            votes.distrust().expect("it discards");
            assert_eq!(!records(folder.path()).is_empty(), expected, "{owner:?}, imported: {is_imported}");
            votes.beat(NOW).expect("it writes");
            assert_eq!(votes.obstacle(0, NOW, true).expect("it reads").is_none(), expected, "{owner:?}, imported: {is_imported}");
        }
    }

    /// The views that a journal in this partition has, each with its one item, as the engine reads them.
    fn read_views(engine: &Path, partition: String) -> Vec<(u64, u64)> {
        let read = |context: commonware_runtime::tokio::Context| async move {
            let mut replay = open(context, partition).await.replay(0, 0, BUFFER, ReadOptions::DONT_CACHE).await.expect("it is read");
            let mut views = Vec::new();
            while let Some(item) = replay.next().await {
                let (view, _, _, item) = item.expect("it is whole");
                views.push((view, item));
            }
            Ok(views)
        };
        check::in_runtime(engine.to_owned(), read).expect("it is read")
    }

    /// Writes a journal in this partition: an item for each view.
    fn write_views(engine: &Path, partition: String, views: Vec<(u64, u64)>) {
        let write = |context: commonware_runtime::tokio::Context| async move {
            let mut journal = open(context, partition).await;
            for (view, item) in views {
                (journal, ..) = journal.append(view, &item).await.expect("it is written");
            }
            journal.sync_all().await.expect("it is written");
            Ok(())
        };
        check::in_runtime(engine.to_owned(), write).expect("it is written");
    }

    const BUFFER: std::num::NonZeroUsize = NZUsize!(1_024);

    async fn open(context: commonware_runtime::tokio::Context, partition: String) -> Journal<commonware_runtime::tokio::Context, u64> {
        let page_cache = cowboy_store::state::page_cache(&context, "none").await;
        let config = Config { partition, compression: None, codec_config: (), page_cache, write_buffer: BUFFER };
        Journal::init(context, config).await.expect("it opens")
    }

    /// Who has listened begins with what it heard of views after those in its record, and keeps its record of the others.
    #[test]
    fn what_was_heard_continues_the_record() {
        let (own, heard) = (vec![(254, 1), (255, 1)], vec![(255, 2), (256, 2), (300, 2)]);
        let rows = [
            ("a lost disk", vec![], heard.clone(), heard.clone()),
            ("an older copy", own.clone(), heard, vec![(254, 1), (255, 1), (256, 2), (300, 2)]),
            ("nobody went on", own.clone(), vec![(254, 2), (255, 2)], own),
        ];
        for (name, own, heard, expected) in rows {
            let folder = tempfile::tempdir().expect("a folder");
            let votes = Votes::new(folder.path().to_owned(), &PrivateKey::from_seed(1).public_key());
            for (prefix, views) in [(RECORD, own), (HEARD, heard)] {
                if !views.is_empty() {
                    write_views(folder.path(), partition(prefix, 3), views);
                }
            }
            votes.listened(NOW).expect("it writes");
            assert_eq!(read_views(folder.path(), record(3)), expected, "{name}");
            votes.listened(NOW).expect("it writes");
            assert_eq!(read_views(folder.path(), record(3)), expected, "{name}, after a crash before it was noted");
            assert!(votes.obstacle(3, NOW, true).expect("it reads").is_none(), "{name}");
        }
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
        fs::write(own.join(ALIVE), "7").expect("the folder is writable");
        fs::write(own.join(voted::FILE), "8").expect("the folder is writable");
        fs::create_dir(own.join(DISCARDED)).expect("the folder is writable");
        replace(&snapshot, Some(&own)).expect("it copies");
        assert_eq!(fs::read(snapshot.join(record(0)).join("1")).ok(), Some(vec![2]));
        assert_eq!(fs::read_to_string(snapshot.join(OWNER)).ok().as_deref(), Some("me"));
        assert_eq!(fs::read_to_string(snapshot.join(ALIVE)).ok().as_deref(), Some("7"));
        assert_eq!(fs::read_to_string(snapshot.join(voted::FILE)).ok().as_deref(), Some("8"));
        assert!(snapshot.join(DISCARDED).exists(), "it must listen still");
        replace(&snapshot, None).expect("it discards");
        assert!(records(&snapshot).is_empty());
        assert!([OWNER, ALIVE, voted::FILE].iter().all(|name| !snapshot.join(name).exists()));
    }
}
