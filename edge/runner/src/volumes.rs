//! Volumes of jobs: what a drawn runner fetches for a container, and keeps of what it wrote (decisions 166, 550, 551).

mod changes;
mod folder;

use crate::execute::{Fault, container::Volumes as JobVolumes};
use crate::releases::{PAUSE, Releases, named};
use crate::secrets::PATIENCE;
use changes::{Written, WrittenFile};
use cowboy_container::Changes;
use cowboy_image::{BlobKind, BlobReader, Digest, ImageError, Source as ImageSource};
use cowboy_secrets::partial::release_id;
use cowboy_service::Chain;
use cowboy_system::offchain::container::{Mount, blob_path};
use cowboy_system::requests::{self, Request};
use cowboy_system::secrets::state as secrets;
use cowboy_system::secrets::types::Release;
use cowboy_system::volumes::mounts::capability_of;
use cowboy_system::volumes::types::{Capability, Keys};
use cowboy_system::volumes::{keys, state};
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, Text, actors};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::{Change, Entry, Signer, Source, Volume, VolumeError, directories};
use cowboy_volumes::{Leaf, Path, leaf};
use folder::{Folder, Room};
use futures::future::BoxFuture;
use futures::{StreamExt as _, TryStreamExt as _};
use std::collections::BTreeMap;
use std::path::{Path as Local, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWriteExt as _, DuplexStream, ReadBuf};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// Files of a partition that are fetched at the same time.
const AT_ONCE: usize = 8;

/// The most files that a job mounts, and the most that a program writes to a mount. Each takes a place in the runner's file system, and its record
/// some memory.
const FILES: usize = 100_000;

/// Bytes that the records of a mount's files take at most.
const LIST_BYTES: u64 = 128 << 20;

/// Bytes of a blob that are fetched ahead.
const AHEAD: usize = 1 << 20;

/// What volumes of jobs are fetched and kept with.
pub(crate) struct Volumes {
    releases: Arc<Releases>,
    key: PrivateKey,
    /// Where the files of running jobs lie, a folder for each.
    folder: PathBuf,
    /// What the mounts of all running jobs may have of the disk.
    room: Room,
}

/// The volumes of one job.
pub(crate) struct OfJob {
    volumes: Arc<Volumes>,
    job: Hash,
    submitter: Address,
    mounts: Vec<Mount>,
    time_to_keep: Duration,
    /// The mounts that are open, by their place.
    opened: Mutex<BTreeMap<usize, Opened>>,
    /// What was fetched.
    folder: OnceLock<Folder>,
}

/// What opens a mount.
#[derive(Clone)]
struct Opened {
    volume: Hash,
    /// The right of the runner; none where everybody may read.
    capability: Option<Fixed<16>>,
    key: PartitionKey,
}

impl OfJob {
    /// Those that a job mounts.
    pub(crate) fn new(volumes: Arc<Volumes>, job: Hash, submitter: Address, mounts: Vec<Mount>, time_to_keep: Duration) -> Self {
        Self { volumes, job, submitter, mounts, time_to_keep, opened: Mutex::default(), folder: OnceLock::new() }
    }
}

fn wrong(error: VolumeError) -> Fault {
    match error {
        VolumeError::Chain(_) | VolumeError::Lost { .. } | VolumeError::Local(_) => Fault::External(error.to_string()),
        _ => Fault::Actor(format!("a volume of the job: {error}")),
    }
}

fn outside(reason: impl std::fmt::Display) -> Fault {
    Fault::External(format!("a volume of the job: {reason}"))
}

/// Does what the chain, relays or a committee have to answer to, and waits no longer than this.
async fn within<T>(most: Duration, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
    let late = || outside(format!("the chain, or the committee, did not answer within {} s", most.as_secs()));
    tokio::time::timeout(most, work).await.unwrap_or_else(|_| Err(late()))
}

/// Does what cannot move between threads on a thread of its own. It ends where nobody waits for it any more.
async fn apart<T, F>(work: impl FnOnce() -> F + Send + 'static) -> Result<T, Fault>
where
    T: Send + 'static,
    F: Future<Output = Result<T, Fault>>,
{
    let runtime = Handle::current();
    let (alive, dropped) = oneshot::channel::<()>();
    let working = tokio::task::spawn_blocking(move || {
        runtime.block_on(async {
            tokio::select! {
                done = work() => done,
                _ = dropped => Err(outside("nobody waits for it any more")),
            }
        })
    });
    let done = working.await.map_err(outside)?;
    drop(alive);
    done
}

impl Volumes {
    /// Those of a runner. Files that an earlier run left are removed.
    pub(crate) fn new(releases: Arc<Releases>, key: PrivateKey, state: &Local, mebibytes: u64) -> std::io::Result<Arc<Self>> {
        let folder = state.join("volumes");
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        cowboy_host::files::create_folder(&folder)?;
        Ok(Arc::new(Self { releases, key, folder, room: Room::new(mebibytes) }))
    }

    /// The right to a mount, once the chain has given it, until the job's commitment is due.
    async fn claimed(&self, chain: &Chain, job: &Hash, index: u64, volume: &Hash) -> Result<Fixed<16>, Fault> {
        let id = capability_of(job, index, self.releases.runner, volume);
        let look = || async {
            let records = chain.read(&[state::capability_key(&id)]).await.map_err(outside)?;
            // One of an earlier draw ends before this one's commitment is due; asked again, the chain moves its end.
            let found = records.read::<Capability>(0).map_err(outside)?;
            Ok::<_, Fault>(found.filter(|record| record.is_held_by(self.releases.runner, Height(chain.height()))).map(|_| id))
        };
        self.releases.until(requests::volumes::mount(*job, index), look).await
    }

    /// The key of a partition.
    async fn key_of(&self, chain: &Chain, volume: &Volume, opened: &Opened, job: &Hash, mount: &Mount) -> Result<PartitionKey, Fault> {
        let (Keys::Committee, Some(capability)) = (&volume.record().keys, opened.capability) else { return Ok(PartitionKey::public()) };
        let (id, partition) = (*volume.id(), mount.partition.partition());
        let standing = volume.partition(&mount.partition).await.map_err(wrong)?;
        let version = keys::standing_version(volume.record(), standing.as_ref());
        let identity = keys::identity(chain.genesis, (&id, volume.record()), &partition, version);
        let release = release_id(job, self.releases.runner, &identity);
        let transport = self.releases.transport(&[&job.0, &id.0, &partition.0]);
        let request = requests::secrets::release_partition((id, partition), Some(capability), Some(version), named(&transport));
        let look = || async {
            let records = chain.read(&[secrets::release_record_key(&release)]).await.map_err(outside)?;
            records.read::<Release>(0).map_err(outside)
        };
        self.releases.until(request, look).await?;
        let signature = self.releases.signature(chain, &release, &transport).await.map_err(outside)?;
        Ok(PartitionKey::released(signature.bytes()).at(version))
    }

    /// A mount's volume, as the chain has it now, with the right of the runner and the key of its partition. A key is asked for once: its release may
    /// be over when the program is.
    async fn opened(&self, of: &OfJob, index: usize) -> Result<(Volume, Opened), Fault> {
        within(PATIENCE, self.opening(of, index)).await
    }

    async fn opening(&self, of: &OfJob, index: usize) -> Result<(Volume, Opened), Fault> {
        let chain = self.releases.chain().await.map_err(outside)?;
        let known = of.opened.lock().unwrap_or_else(PoisonError::into_inner).get(&index).cloned();
        if let Some(opened) = known {
            return Ok((self.volume(chain, &opened).await?, opened));
        }
        let mount = of.mounts.get(index).ok_or_else(|| outside("there is no such mount"))?;
        let id = mount.id(of.submitter);
        let mut unlocked = Opened { volume: id, capability: None, key: PartitionKey::public() };
        let mut volume = self.volume(chain, &unlocked).await?;
        if volume.record().keys != Keys::Public || mount.mode.writes() {
            let place = u64::try_from(index).map_err(outside)?;
            unlocked.capability = Some(self.claimed(chain, &of.job, place, &id).await?);
            volume = self.volume(chain, &unlocked).await?;
        }
        let standing = volume.partition(&mount.partition).await.map_err(wrong)?;
        let files = standing.map_or(0, |standing| standing.root.top.leaves);
        if usize::try_from(files).map_or(true, |files| files > FILES) {
            return Err(outside(format!("{} has {files} files, and this runner mounts at most {FILES}", mount.name.as_str())));
        }
        let key = self.key_of(chain, &volume, &unlocked, &of.job, mount).await?;
        let opened = Opened { key, ..unlocked };
        of.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(index, opened.clone());
        Ok((volume, opened))
    }

    /// A volume, as the chain has it now.
    async fn volume(&self, chain: &Arc<Chain>, opened: &Opened) -> Result<Volume, Fault> {
        let signer = Signer { key: self.key.clone(), capability: opened.capability };
        Volume::open(chain.clone(), opened.volume, signer).await.map_err(wrong)
    }

    /// Fetches what a job mounts.
    async fn fetch(&self, of: &OfJob) -> Result<Vec<PathBuf>, Fault> {
        let (mut listed, mut blocks, mut files) = (Vec::with_capacity(of.mounts.len()), 0_u64, 0_usize);
        for (index, mount) in of.mounts.iter().enumerate() {
            let (volume, Opened { key, .. }) = self.opened(of, index).await?;
            let mut entries = Vec::new();
            // A right to write alone shows nothing.
            if mount.mode.reads() {
                let mut listing = volume.list(&mount.partition, &key, LIST_BYTES).await.map_err(wrong)?;
                for path in listing.take_bad(&mount.partition, &key) {
                    tracing::warn!(volume = %volume.id(), %path, "a file of the mount is left out: no folder can have it");
                }
                entries = listing.entries;
                files = files.saturating_add(entries.len());
                // All lists are held until the room for their files is known.
                if files > FILES {
                    return Err(outside(format!("the volumes have {files} files and more, and this runner mounts at most {FILES}")));
                }
                let folders = directories(entries.iter().map(|entry| &*entry.meta.path)).len();
                blocks = blocks.saturating_add(folder::blocks_of(entries.iter().map(|entry| entry.meta.size), folders));
            }
            listed.push((mount, volume, key, entries));
        }
        let room = self.room.take(blocks).await.ok_or_else(|| {
            let most = self.room.bytes();
            outside(format!("the volumes have {files} files, which take more than the {most} bytes that this runner has for them"))
        })?;
        let base = Folder::make(&self.folder, room).map_err(outside)?;
        let base = of.folder.get_or_init(|| base);
        let mut folders = Vec::with_capacity(listed.len());
        for (mount, volume, key, entries) in listed {
            let folder = base.mount(mount.name.as_str()).map_err(outside)?;
            let fetch = async |entry| fetch_one(&volume, &entry, &key, mount, &folder).await;
            futures::stream::iter(entries).map(fetch).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            folders.push(folder);
        }
        Ok(folders)
    }

    /// Keeps what a program wrote. Nothing is sent before all of it is known to fit, and nothing committed before all of it is with the relays.
    async fn keep(&self, of: &OfJob, written: Vec<(usize, Written)>) -> Result<(), Fault> {
        let mut changed: Vec<(usize, Written)> = written;
        changed.retain(|(_, written)| !written.files.is_empty());
        let mut admitted = Vec::with_capacity(changed.len());
        for (index, written) in &changed {
            let ((volume, Opened { key, .. }), mount) = (self.opened(of, *index).await?, &of.mounts[*index]);
            let files: Vec<(&Path, u64)> = written.files.iter().map(|file| (&file.path, file.size)).collect();
            let seen = volume.root(&mount.partition).await.map_err(wrong)?;
            let added = volume.admit(&mount.partition, &key, &files).await.map_err(wrong)?;
            admitted.push(seen);
            if added > mount.max_bytes {
                let (name, most) = (mount.name.as_str(), mount.max_bytes);
                return Err(Fault::Impossible(format!("what was written to {name} adds {added} bytes to the volume, and may add {most}")));
            }
        }
        let mut sent = Vec::with_capacity(changed.len());
        for ((index, written), seen) in changed.iter().zip(admitted) {
            let (volume, Opened { key, .. }) = self.opened(of, *index).await?;
            let put = async |file| put_one(&volume, &key, written, file).await.map(Change::Put);
            let changes: Vec<Change> = futures::stream::iter(&written.files).map(put).buffer_unordered(AT_ONCE).try_collect().await?;
            sent.push((*index, changes, seen));
        }
        for (index, changes, seen) in &sent {
            self.commit(of, *index, changes, *seen).await?;
        }
        Ok(())
    }

    /// Commits changes that were admitted beside a root, and waits until the chain has them. Where somebody else was first, they are merged into what
    /// stands then.
    async fn commit(&self, of: &OfJob, index: usize, changes: &[Change], seen: Hash) -> Result<(), Fault> {
        let (chain, mount) = (self.releases.chain().await.map_err(outside)?, &of.mounts[index]);
        loop {
            // As the chain has it now: relays may have changed meanwhile.
            let (volume, Opened { key, .. }) = self.opened(of, index).await?;
            let Some(commit) = volume.commit_beside(&mount.partition, &key, changes, seen).await.map_err(wrong)? else { return Ok(()) };
            let look = || async {
                let standing = volume.partition(&mount.partition).await.map_err(wrong)?;
                let root = standing.map_or(Hash::ZERO, |partition| partition.root.top.root());
                // The relays' signatures hold for some blocks only.
                let is_late = chain.height() > commit.until;
                Ok::<_, Fault>((root != commit.old || is_late).then_some(root))
            };
            let request = Request { actor: actors::STORAGE, method: "commit", argument: commit.argument.clone() };
            let root = self.releases.until(request, look).await?;
            if root == commit.new {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// Sends a file that a program wrote to the relays.
async fn put_one(volume: &Volume, key: &PartitionKey, written: &Written, file: &WrittenFile) -> Result<Leaf, Fault> {
    let content = tokio::fs::File::from_std(written.open(file).map_err(outside)?);
    let kind = Text::new("application/octet-stream").expect("it is short");
    let mut source = Source { content, size: file.size, written_ms: file.written_ms, kind };
    volume.put(&file.path, key, &mut source).await.map_err(wrong)
}

/// Fetches a file to its place below a folder.
async fn fetch_one(volume: &Volume, entry: &Entry, key: &PartitionKey, mount: &Mount, folder: &Local) -> Result<(), Fault> {
    let text = &*entry.meta.path;
    let damaged = || wrong(VolumeError::Damaged(text.to_owned()));
    // Its writer says where it belongs, and could say anything.
    let path = Path::new(text).filter(|path| path.partition() == mount.partition).ok_or_else(damaged)?;
    if leaf::tag(key.tags(), &path) != entry.leaf.tag {
        return Err(damaged());
    }
    let inside = path.as_str().split_once('/').map_or("", |(_, inside)| inside);
    let file = folder::create(folder, inside).map_err(outside)?;
    let mut file = tokio::fs::File::from_std(file);
    volume.get(entry, key, &mut file).await.map_err(wrong)?;
    file.shutdown().await.map_err(outside)
}

impl JobVolumes for Arc<OfJob> {
    fn fetch(&self) -> BoxFuture<'_, Result<Vec<PathBuf>, Fault>> {
        let of = self.clone();
        Box::pin(apart(move || async move { of.volumes.fetch(&of).await }))
    }

    fn keep(&self, changes: Vec<Changes>) -> BoxFuture<'_, Result<(), Fault>> {
        let of = self.clone();
        Box::pin(apart(move || async move {
            let mut written = Vec::with_capacity(changes.len());
            for changes in changes {
                let place = of.mounts.iter().position(|mount| mount.name.as_str() == changes.name);
                let place = place.ok_or_else(|| outside("the box tells of a mount that the job does not have"))?;
                written.push((place, Written::read(changes.folder, &of.mounts[place])?));
            }
            of.volumes.keep(&of, written).await
        }))
    }

    fn time_to_keep(&self) -> Duration {
        self.time_to_keep
    }

    fn layout(&self, volume: Hash, path: &str) -> Box<dyn ImageSource> {
        Box::new(Layout { volumes: self.volumes.clone(), volume, path: path.to_owned() })
    }
}

/// An image layout in a public volume.
struct Layout {
    volumes: Arc<Volumes>,
    volume: Hash,
    path: String,
}

#[async_trait::async_trait]
impl ImageSource for Layout {
    async fn open(&self, _kind: BlobKind, digest: &Digest) -> Result<BlobReader, ImageError> {
        let origin = format!("the volume {}", self.volume);
        let missing = ImageError::MissingBlob { digest: *digest, origin };
        let digits = digest.to_string();
        let Some(path) = digits.split_once(':').and_then(|(_, digits)| Path::new(&blob_path(&self.path, digits))) else {
            return Err(missing);
        };
        let (volumes, id) = (self.volumes.clone(), self.volume);
        let (found, there) = oneshot::channel();
        let (mut writer, reader) = tokio::io::duplex(AHEAD);
        // It ends with the reader, whose end makes writing fail. What is cut off has not the length that its descriptor says.
        let fetching = apart(move || async move {
            let (key, none) = (PartitionKey::public(), || wrong(VolumeError::NoFile(path.as_str().to_owned())));
            let finding = async {
                let chain = volumes.releases.chain().await.map_err(outside)?.clone();
                let volume = Volume::open(chain, id, Signer { key: volumes.key.clone(), capability: None }).await.map_err(wrong)?;
                let entry = volume.find(&path, &key).await.map_err(wrong)?.ok_or_else(none)?;
                Ok((volume, entry))
            };
            let (volume, entry) = within(PATIENCE, finding).await?;
            // Nobody waits where the job is over.
            let _ = found.send(());
            volume.get(&entry, &key, &mut writer).await.map_err(wrong)
        });
        let mut fetching = AbortOnDrop(tokio::spawn(fetching));
        match there.await {
            Ok(()) => Ok(Box::new(Fetched { reader, _fetching: fetching })),
            Err(_) => match (&mut fetching.0).await {
                Ok(Err(Fault::External(reason))) => {
                    Err(ImageError::Io { action: "fetch a blob of", path: self.path.clone().into(), error: std::io::Error::other(reason) })
                }
                _ => Err(missing),
            },
        }
    }
}

/// A task that ends with who waits for it.
struct AbortOnDrop<T>(JoinHandle<T>);

impl<T> Drop for AbortOnDrop<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A blob that is being fetched.
struct Fetched {
    reader: DuplexStream,
    _fetching: AbortOnDrop<Result<(), Fault>>,
}

impl AsyncRead for Fetched {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.reader).poll_read(context, buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A committee that answers nothing holds a job up no longer than it may.
    #[tokio::test]
    async fn nobody_is_waited_for_without_end() {
        let never = within(Duration::ZERO, std::future::pending::<Result<(), Fault>>()).await;
        assert!(matches!(never, Err(Fault::External(reason)) if reason.contains("did not answer within 0 s")));
        assert!(within(PATIENCE, async { Ok(()) }).await.is_ok());
    }
}
