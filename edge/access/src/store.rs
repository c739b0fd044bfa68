//! A volume as S3 and the mounted folder use it.

use crate::fault::Fault;
use crate::spool::Body;
use async_trait::async_trait;
use cowboy_cli::volumes::{Files, Rights};
use cowboy_console::failure::Failure;
use cowboy_system::volumes::types::{Partition, Volume as Record};
use cowboy_types::{Hash, Text};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::segments::{SEGMENT_BYTES, TAG_BYTES, open_meta};
use cowboy_volume::{Change, Entry, Source, Volume, VolumeError};
use cowboy_volumes::leaf::{self, FILE_BYTES};
use cowboy_volumes::{Name, Path};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};
use tokio::io::AsyncWrite;

/// The most bytes that the records of a partition's files take here.
const LISTING_BYTES: u64 = 512 << 20;

/// The root of nothing: what is committed is looked at beside whatever stands, and the files of one commit beside each other.
const UNSEEN: Hash = Hash([0xFF; 32]);

/// After how long the chain is asked again which relays a volume has.
const FRESH: Duration = Duration::from_secs(60);

/// What is said where the account may not do any more what it might when the program began.
const LOST: &str = "the account has lost its right to the volume: it was handed over, or the capability was taken back or is over";

/// What is said of a file when it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct About {
    /// When it was written: ms since 1970.
    pub(crate) written_ms: u64,
    /// What kind of content it is, as HTTP names it.
    pub(crate) kind: Text<64>,
}

/// Bytes of a volume: of ciphertext, padding included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Space {
    /// Those that it may have.
    pub(crate) quota: u64,
    /// Those that it has.
    pub(crate) used: u64,
}

/// A change of a partition.
#[derive(Clone, Debug)]
pub(crate) enum Edit {
    /// A file that was sent.
    Put(Box<Entry>),
    /// A file that goes.
    Remove(Path),
}

/// A file that was sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// The file.
    pub(crate) entry: Entry,
    /// The height of the chain before it was sent: relays keep it for a while after that, also where it is not committed.
    pub(crate) height: u64,
}

/// A volume.
#[async_trait(?Send)]
pub(crate) trait Store {
    /// What the account may do.
    fn rights(&self) -> Rights;

    /// The names of partitions with files that are known here.
    async fn names(&self) -> Result<Vec<Name>, Fault>;

    /// The root of a partition; none before its first commit.
    async fn root(&self, partition: &Name) -> Result<Option<Hash>, Fault>;

    /// Whether a partition has files.
    async fn has_files(&self, partition: &Name) -> Result<bool, Fault>;

    /// The files of a partition that the key opens.
    async fn list(&self, partition: &Name) -> Result<Vec<Entry>, Fault>;

    /// A file.
    async fn find(&self, path: &Path) -> Result<Option<Entry>, Fault>;

    /// Writes a part of a file out.
    async fn read(&self, entry: &Entry, part: Range<u64>, out: &mut (dyn AsyncWrite + Unpin)) -> Result<(), Fault>;

    /// Sends a file to the relays. Nobody sees it before it is committed.
    async fn send(&self, path: &Path, body: &Body, about: &About) -> Result<Sent, Fault>;

    /// Whether the relays still have a file that was sent, so that it can be committed without being sent again.
    async fn is_sent(&self, sent: &Sent) -> Result<bool, Fault>;

    /// Commits changes to a partition that still has the root `on`, and answers its new root. None where it has another one by now.
    async fn commit(&self, partition: &Name, edits: &[Edit], on: Option<Hash>) -> Result<Option<Hash>, Fault>;

    /// The room in the volume.
    async fn space(&self) -> Result<Space, Fault>;
}

/// A volume with its relays, for the account of a folder.
pub(crate) struct Remote {
    files: Files,
    rights: Rights,
    opened: RefCell<(Rc<Volume>, Instant)>,
    keys: RefCell<BTreeMap<Name, PartitionKey>>,
    /// Whether it was said that the account has lost its right.
    is_told: Cell<bool>,
}

impl Remote {
    /// The volume, as the chain has it now.
    pub(crate) fn new(files: Files, volume: Volume, rights: Rights) -> Self {
        Self { files, rights, opened: RefCell::new((Rc::new(volume), Instant::now())), keys: RefCell::default(), is_told: Cell::default() }
    }

    fn volume(&self) -> Rc<Volume> {
        self.opened.borrow().0.clone()
    }

    /// The volume, as the chain has it now: its relays may have changed.
    async fn reopened(&self) -> Result<Rc<Volume>, Fault> {
        let volume = Rc::new(self.files.open().await?.remembering(&self.volume()));
        *self.opened.borrow_mut() = (volume.clone(), Instant::now());
        Ok(volume)
    }

    /// What `ask` gives. Where too few relays answer, those are asked that the chain names now.
    async fn asked<T>(&self, ask: impl AsyncFn(Rc<Volume>) -> Result<T, VolumeError>) -> Result<T, Fault> {
        match ask(self.volume()).await {
            Err(VolumeError::Lost { .. }) => Ok(ask(self.reopened().await?).await?),
            answer => {
                if let Err(error) = &answer {
                    self.forget_keys(error);
                }
                Ok(answer?)
            }
        }
    }

    /// A partition, as the chain has it now.
    async fn partition(&self, name: &Name) -> Result<Option<Partition>, Fault> {
        // Relays that failed once are tried again, and new ones become known.
        let is_old = self.opened.borrow().1.elapsed() > FRESH;
        let volume = if is_old { self.reopened().await? } else { self.volume() };
        Ok(volume.partition(name).await?)
    }

    /// What came of a request that needs a right. Where it failed and the account has lost the right meanwhile, that is why.
    async fn judged<T>(&self, done: Result<T, Fault>, needs: fn(&Rights) -> bool) -> Result<T, Fault> {
        let fault = match done {
            Err(fault @ Fault::Outside(_)) => fault,
            done => return done,
        };
        let Ok(volume) = self.reopened().await else { return Err(fault) };
        let fault = judge(fault, &self.files.rights(&volume).await, needs);
        if matches!(fault, Fault::Forbidden(_)) && !self.is_told.replace(true) {
            self.files.output().progress(&fault);
        }
        Err(fault)
    }

    /// Forgets keys where the owner rewrote a partition: the next request asks for the key that it has now.
    fn forget_keys(&self, error: &VolumeError) {
        if matches!(error, VolumeError::WrongKey(_) | VolumeError::Rekeyed(_)) {
            self.keys.borrow_mut().clear();
        }
    }

    /// The key of a partition.
    async fn key(&self, partition: &Name) -> Result<PartitionKey, Fault> {
        if let Some(key) = self.keys.borrow().get(partition) {
            return Ok(key.clone());
        }
        let (volume, key) = (self.volume(), self.files.key(&self.volume(), partition).await?);
        // A key that opens nothing of what is there is refused.
        volume.admit(partition, &key, &[]).await?;
        self.keys.borrow_mut().insert(partition.clone(), key.clone());
        Ok(key)
    }

    /// Commits changes to a partition that still has the root `on`.
    async fn committed(
        &self,
        volume: &Volume,
        (partition, key): (&Name, &PartitionKey),
        changes: &[Change],
        on: Hash,
    ) -> Result<Option<Hash>, Fault> {
        let found = volume.commit_beside(partition, key, changes, UNSEEN).await;
        if let Err(error) = &found {
            self.forget_keys(error);
        }
        let Some(commit) = found? else {
            // Nothing changes, which holds of the root that stands now.
            return Ok(self.root(partition).await?.filter(|root| *root == on));
        };
        if commit.old != on || !self.files.commit(&commit).await? {
            return Ok(None);
        }
        self.files.remember(partition);
        Ok(Some(commit.new))
    }

    /// The key of a partition that is there: nothing is paid for the key of another.
    async fn standing(&self, partition: &Name) -> Result<PartitionKey, Fault> {
        if self.root(partition).await?.is_none() {
            return Err(Fault::NoPartition(partition.as_str().to_owned()));
        }
        self.key(partition).await
    }

    /// The files of a partition that the key opens.
    async fn listed(&self, partition: &Name) -> Result<Vec<Entry>, Fault> {
        let key = self.standing(partition).await?;
        let mut listing = self.asked(async |volume| volume.list(partition, &key, LISTING_BYTES).await).await?;
        listing.take_bad(partition, &key);
        Ok(listing.entries)
    }

    /// A file.
    async fn found(&self, path: &Path) -> Result<Option<Entry>, Fault> {
        let key = self.standing(&path.partition()).await?;
        self.asked(async |volume| volume.find(path, &key).await).await
    }

    /// Writes a part of a file out.
    async fn read_part(&self, entry: &Entry, part: Range<u64>, mut out: &mut (dyn AsyncWrite + Unpin)) -> Result<(), Fault> {
        let path = Path::new(&entry.meta.path).ok_or_else(|| Fault::Path(entry.meta.path.to_string()))?;
        let key = self.key(&path.partition()).await?;
        // What was written once is not written again, so other relays are asked by the next request.
        match self.volume().get_part(entry, &key, part, &mut out).await {
            Err(error @ VolumeError::Lost { .. }) => {
                self.reopened().await?;
                Err(error.into())
            }
            answer => Ok(answer?),
        }
    }

    /// Sends a file.
    async fn sent(&self, path: &Path, body: &Body, about: &About) -> Result<Sent, Fault> {
        let partition = path.partition();
        let (key, size) = (self.key(&partition).await?, body.size());
        let volume = self.volume();
        if !fits(volume.record(), size) {
            // Exactly, with what the file replaces.
            volume.admit(&partition, &key, &[(path, size)]).await?;
        }
        let (leaf, volume, height) = self
            .asked(async |volume| {
                let (written_ms, kind, height) = (about.written_ms, about.kind.clone(), volume.chain().height());
                let leaf = volume.put(path, &key, &mut Source { content: body.content(), size, written_ms, kind }).await?;
                Ok((leaf, *volume.id(), height))
            })
            .await?;
        let meta = open_meta(&key, &volume, &leaf);
        let meta = meta.ok_or_else(|| Fault::outside("the record of the file that was sent does not open"))?;
        Ok(Sent { entry: Entry { meta, leaf }, height })
    }

    /// Commits changes to a partition that still has the root `on`. Relays may have changed: then that is tried once more.
    async fn changed(&self, partition: &Name, edits: &[Edit], on: Option<Hash>) -> Result<Option<Hash>, Fault> {
        let key = self.key(partition).await?;
        let change = |edit: &Edit| match edit {
            Edit::Put(entry) => Change::Put(entry.leaf.clone()),
            Edit::Remove(path) => Change::Remove(leaf::tag(key.tags(), path)),
        };
        let (changes, on): (Vec<Change>, Hash) = (edits.iter().map(change).collect(), on.unwrap_or(Hash::ZERO));
        match self.committed(&self.volume(), (partition, &key), &changes, on).await {
            // Relays may have changed, and then what they signed is worth nothing.
            Err(Fault::Outside(_)) => self.committed(&*self.reopened().await?, (partition, &key), &changes, on).await,
            answer => answer,
        }
    }
}

/// What a fault comes to where the account has these rights by now.
fn judge(fault: Fault, now: &Result<Rights, Failure>, needs: fn(&Rights) -> bool) -> Fault {
    let is_refused = match now {
        Ok(rights) => !needs(rights),
        // Any other failure says nothing of them.
        Err(failure) => matches!(failure, Failure::Refused { .. }),
    };
    if is_refused { Fault::Forbidden(LOST) } else { fault }
}

/// Whether there is room for one more file, as far as that is known without a look at the partition. The chain knows it exactly.
fn fits(volume: &Record, size: u64) -> bool {
    // With the tags of its segments.
    let shard = volume.code.shard_bytes(size.saturating_add((size / SEGMENT_BYTES as u64 + 1) * TAG_BYTES as u64)).max(FILE_BYTES);
    volume.bytes.saturating_add(shard).saturating_mul(u64::from(volume.code.data)) <= volume.quota
}

#[async_trait(?Send)]
impl Store for Remote {
    fn rights(&self) -> Rights {
        self.rights
    }

    async fn names(&self) -> Result<Vec<Name>, Fault> {
        let volume = self.reopened().await?;
        // The chain keeps partitions that lost all their files.
        let listed = volume.record().partitions.iter();
        let filled: BTreeSet<Hash> = listed.filter(|listed| listed.bytes > 0).map(|listed| listed.partition).collect();
        let may = |partition: Hash| filled.contains(&partition) && self.rights.partition.is_none_or(|only| only == partition);
        let mut names = self.files.names(&volume);
        names.retain(|name| may(name.partition()));
        Ok(names)
    }

    async fn root(&self, partition: &Name) -> Result<Option<Hash>, Fault> {
        Ok(self.partition(partition).await?.map(|standing| standing.root.top.root()))
    }

    async fn has_files(&self, partition: &Name) -> Result<bool, Fault> {
        Ok(self.partition(partition).await?.is_some_and(|standing| standing.root.top.leaves > 0))
    }

    async fn list(&self, partition: &Name) -> Result<Vec<Entry>, Fault> {
        self.judged(self.listed(partition).await, |rights| rights.reads).await
    }

    async fn find(&self, path: &Path) -> Result<Option<Entry>, Fault> {
        self.judged(self.found(path).await, |rights| rights.reads).await
    }

    async fn read(&self, entry: &Entry, part: Range<u64>, out: &mut (dyn AsyncWrite + Unpin)) -> Result<(), Fault> {
        self.judged(self.read_part(entry, part, out).await, |rights| rights.reads).await
    }

    async fn send(&self, path: &Path, body: &Body, about: &About) -> Result<Sent, Fault> {
        self.judged(self.sent(path, body, about).await, |rights| rights.writes).await
    }

    async fn is_sent(&self, sent: &Sent) -> Result<bool, Fault> {
        let path = Path::new(&sent.entry.meta.path).ok_or_else(|| Fault::Path(sent.entry.meta.path.to_string()))?;
        // Relays that failed a moment ago are asked again: without them, all of the file would be sent again.
        let volume = self.reopened().await?;
        let key = self.key(&path.partition()).await?;
        Ok(volume.is_sent(&key, (&sent.entry.leaf, sent.height), &sent.entry.meta).await)
    }

    async fn commit(&self, partition: &Name, edits: &[Edit], on: Option<Hash>) -> Result<Option<Hash>, Fault> {
        self.judged(self.changed(partition, edits, on).await, |rights| rights.writes).await
    }

    async fn space(&self) -> Result<Space, Fault> {
        let volume = self.reopened().await?;
        let record = volume.record();
        Ok(Space { quota: record.quota, used: record.bytes.saturating_mul(u64::from(record.code.data)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who has lost a right is told so; a fault of relays or the chain stays one, also where the chain cannot say what the rights are.
    #[test]
    fn lost_rights_are_refusals() {
        let all = Rights { partition: None, reads: true, writes: true, removes: true };
        let reader = Rights { writes: false, removes: false, ..all };
        let needs: [fn(&Rights) -> bool; 2] = [|rights| rights.reads, |rights| rights.writes];
        let refusals =
            |now: Result<Rights, Failure>| needs.map(|needs| matches!(judge(Fault::outside("x"), &now, needs), Fault::Forbidden(_)));
        assert_eq!(refusals(Ok(all)), [false, false]);
        assert_eq!(refusals(Ok(reader)), [false, true]);
        assert_eq!(refusals(Err(Failure::refused("the volume belongs to another", "give a capability"))), [true, true]);
        assert_eq!(refusals(Err(Failure::Witness("no node answers".to_owned()))), [false, false]);
    }
}
