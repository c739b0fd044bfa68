//! Volumes of jobs: what a drawn runner fetches for a container, and keeps of what it wrote (decisions 166, 550, 551).

mod changes;

use crate::execute::{Fault, container::Volumes as JobVolumes};
use crate::releases::{PAUSE, Releases, key_fields};
use crate::secrets::PATIENCE;
use changes::Written;
use cowboy_container::Changes;
use cowboy_image::{BlobKind, BlobReader, Digest, ImageError, Source as ImageSource};
use cowboy_secrets::partial::release_id;
use cowboy_secrets::{Identity, Kind};
use cowboy_service::Chain;
use cowboy_system::offchain::container::{Mount, blob_path};
use cowboy_system::secrets::state as secrets;
use cowboy_system::secrets::types::Release;
use cowboy_system::volumes::mounts::capability_of;
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Capability, Keys, first_key_version};
use cowboy_types::cbor::Value;
use cowboy_types::signing::PrivateKey;
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, Text, actors};
use cowboy_volume::keys::PartitionKey;
use cowboy_volume::{Change, Entry, Signer, Source, Volume, VolumeError};
use cowboy_volumes::{Path, leaf};
use futures::future::BoxFuture;
use futures::{StreamExt as _, TryStreamExt as _};
use std::path::{Path as Local, PathBuf};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Files of a partition that are fetched at the same time.
const AT_ONCE: usize = 8;

/// The most files of a partition that is mounted, and the most that a program writes to one. Each takes a place in the runner's file system, and its record
/// some memory.
const FILES: usize = 100_000;

/// Bytes of a blob that are fetched ahead.
const AHEAD: usize = 1 << 20;

/// What volumes of jobs are fetched and kept with.
pub(crate) struct Volumes {
    releases: Arc<Releases>,
    key: PrivateKey,
    /// Where the files of running jobs lie, a folder for each.
    folder: PathBuf,
    /// Bytes that the mounts of one job may have.
    max_bytes: u64,
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
}

/// What opens a mount.
#[derive(Clone)]
struct Opened {
    volume: Hash,
    capability: Fixed<16>,
    key: PartitionKey,
}

impl OfJob {
    /// Those that a job mounts.
    pub(crate) fn new(volumes: Arc<Volumes>, job: Hash, submitter: Address, mounts: Vec<Mount>, time_to_keep: Duration) -> Self {
        Self { volumes, job, submitter, mounts, time_to_keep, opened: Mutex::default() }
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
    pub(crate) fn new(releases: Arc<Releases>, key: PrivateKey, state: &Local, max_bytes: u64) -> std::io::Result<Arc<Self>> {
        let folder = state.join("volumes");
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        private_folder(&folder)?;
        Ok(Arc::new(Self { releases, key, folder, max_bytes }))
    }

    /// The right to a mount, once the chain has given it, until the job's commitment is due.
    async fn claimed(&self, chain: &Chain, job: &Hash, index: u64, volume: &Hash) -> Result<Fixed<16>, Fault> {
        let id = capability_of(job, index, self.releases.runner, volume);
        let argument = Value::dict([("job", Value::Bytes(job.0.to_vec())), ("index", Value::uint(index))]);
        let look = || async {
            let records = chain.read(&[state::capability_key(&id)]).await.map_err(outside)?;
            // One of an earlier draw ends before this one's commitment is due; asked again, the chain moves its end.
            let found = records.read::<Capability>(0).map_err(outside)?;
            Ok::<_, Fault>(found.filter(|record| record.is_held_by(self.releases.runner, Height(chain.height()))).map(|_| id))
        };
        self.releases.until((actors::STORAGE, "mount", argument), look).await
    }

    /// The key of a partition.
    async fn key_of(&self, chain: &Chain, volume: &Volume, capability: &Fixed<16>, job: &Hash, mount: &Mount) -> Result<PartitionKey, Fault> {
        if volume.record().keys == Keys::Public {
            return Ok(PartitionKey::public());
        }
        let (id, partition) = (*volume.id(), mount.partition.partition());
        let record = volume.record();
        let standing = volume.partition(&mount.partition).await.map_err(wrong)?;
        let version = standing.map_or_else(|| first_key_version(record.generation), |partition| partition.key_version);
        let identity = Identity {
            kind: Kind::Partition,
            genesis: chain.genesis,
            key_id: record.key_id,
            account: record.creator,
            name_hash: id,
            version,
            policy_hash: partition,
        };
        let release = release_id(job, self.releases.runner, &identity);
        let transport = self.releases.transport(&[&job.0, &id.0, &partition.0]);
        let fields = [
            ("volume", Value::Bytes(id.0.to_vec())),
            ("partition", Value::Bytes(partition.0.to_vec())),
            ("capability", Value::Bytes(capability.0.to_vec())),
        ];
        let argument = Value::dict(fields.into_iter().chain(key_fields(&transport)));
        let look = || async {
            let records = chain.read(&[secrets::release_record_key(&release)]).await.map_err(outside)?;
            records.read::<Release>(0).map_err(outside)
        };
        self.releases.until((actors::SECRETS, "release_partition", argument), look).await?;
        let signature = self.releases.signature(chain, &release, &transport).await.map_err(outside)?;
        Ok(PartitionKey::released(signature.bytes()))
    }

    /// A mount's volume, as the chain has it now, with the right of the runner and the key of its partition. A key is asked for once: its release may
    /// be over when the program is.
    async fn opened(&self, of: &OfJob, index: usize) -> Result<(Volume, Opened), Fault> {
        let chain = self.releases.chain().await.map_err(outside)?;
        let known = of.opened.lock().unwrap_or_else(PoisonError::into_inner).get(&index).cloned();
        if let Some(opened) = known {
            return Ok((self.volume(chain, &opened).await?, opened));
        }
        let mount = of.mounts.get(index).ok_or_else(|| outside("there is no such mount"))?;
        let opening = async {
            let volume = mount.id(of.submitter);
            let capability = self.claimed(chain, &of.job, u64::try_from(index).map_err(outside)?, &volume).await?;
            let unlocked = Opened { volume, capability, key: PartitionKey::public() };
            let volume = self.volume(chain, &unlocked).await?;
            let standing = volume.partition(&mount.partition).await.map_err(wrong)?;
            let files = standing.map_or(0, |standing| standing.root.top.leaves);
            if usize::try_from(files).map_or(true, |files| files > FILES) {
                return Err(outside(format!("{} has {files} files, and this runner mounts at most {FILES}", mount.name.as_str())));
            }
            let key = self.key_of(chain, &volume, &capability, &of.job, mount).await?;
            Ok((volume, Opened { key, ..unlocked }))
        };
        let opened = tokio::time::timeout(PATIENCE, opening).await;
        let (volume, opened) = opened.map_err(|_| outside("the chain, or the committee, did not answer in time"))??;
        of.opened.lock().unwrap_or_else(PoisonError::into_inner).insert(index, opened.clone());
        Ok((volume, opened))
    }

    /// A volume, as the chain has it now.
    async fn volume(&self, chain: &Arc<Chain>, opened: &Opened) -> Result<Volume, Fault> {
        let signer = Signer { key: self.key.clone(), capability: Some(opened.capability) };
        Volume::open(chain.clone(), opened.volume, signer).await.map_err(wrong)
    }

    fn folder_of(&self, job: &Hash) -> PathBuf {
        self.folder.join(hex::encode(job.0))
    }

    /// Fetches what a job mounts.
    async fn fetch(&self, of: &OfJob) -> Result<Vec<PathBuf>, Fault> {
        let base = self.folder_of(&of.job);
        private_folder(&base).map_err(outside)?;
        let (mut folders, mut left) = (Vec::with_capacity(of.mounts.len()), self.max_bytes);
        for (index, mount) in of.mounts.iter().enumerate() {
            let folder = base.join(mount.name.as_str());
            open_folder(&folder).map_err(outside)?;
            let (volume, Opened { key, .. }) = self.opened(of, index).await?;
            // A right to write alone shows nothing.
            if mount.mode.reads() {
                let entries = volume.list(&mount.partition, &key).await.map_err(wrong)?.entries;
                left = room_for(&entries, left, mount)?;
                let fetch = async |entry| fetch_one(&volume, &entry, &key, mount, &folder).await;
                futures::stream::iter(entries).map(fetch).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
            }
            folders.push(folder);
        }
        Ok(folders)
    }

    /// Keeps what a program wrote, mount by mount.
    async fn keep(&self, of: &OfJob, written: Vec<(usize, Written)>) -> Result<(), Fault> {
        for (index, written) in written {
            if written.files.is_empty() {
                continue;
            }
            let (volume, Opened { key, .. }) = self.opened(of, index).await?;
            let mount = &of.mounts[index];
            let files: Vec<(&Path, u64)> = written.files.iter().map(|file| (&file.path, file.size)).collect();
            let added = volume.admit(&mount.partition, &key, &files).await.map_err(wrong)?;
            if added > mount.max_bytes {
                let (name, most) = (mount.name.as_str(), mount.max_bytes);
                return Err(Fault::Impossible(format!("what was written to {name} adds {added} bytes to the volume, and may add {most}")));
            }
            let mut changes = Vec::with_capacity(written.files.len());
            for file in &written.files {
                let content = tokio::fs::File::from_std(written.open(file).map_err(outside)?);
                let kind = Text::new("application/octet-stream").expect("it is short");
                let mut source = Source { content, size: file.size, written_ms: file.written_ms, kind };
                changes.push(Change::Put(volume.put(&file.path, &key, &mut source).await.map_err(wrong)?));
            }
            drop(volume);
            self.commit(of, index, &changes).await?;
        }
        Ok(())
    }

    /// Commits changes, and waits until the chain has them. Where somebody else was first, they are merged into what stands then.
    async fn commit(&self, of: &OfJob, index: usize, changes: &[Change]) -> Result<(), Fault> {
        let (chain, mount) = (self.releases.chain().await.map_err(outside)?, &of.mounts[index]);
        loop {
            // As the chain has it now: relays may have changed meanwhile.
            let (volume, _) = self.opened(of, index).await?;
            let Some(commit) = volume.commit(&mount.partition, changes).await.map_err(wrong)? else { return Ok(()) };
            let look = || async {
                let standing = volume.partition(&mount.partition).await.map_err(wrong)?;
                let root = standing.map_or(Hash::ZERO, |partition| partition.root.top.root());
                // The relays' signatures hold for some blocks only.
                let is_late = chain.height() > commit.until;
                Ok::<_, Fault>((root != commit.old || is_late).then_some(root))
            };
            let root = self.releases.until((actors::STORAGE, "commit", commit.argument.clone()), look).await?;
            if root == commit.new {
                return Ok(());
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// What is left of the room for files after these.
fn room_for(entries: &[Entry], left: u64, mount: &Mount) -> Result<u64, Fault> {
    let name = mount.name.as_str();
    let bytes = entries.iter().map(|entry| entry.meta.size).fold(0, u64::saturating_add);
    left.checked_sub(bytes).ok_or_else(|| outside(format!("{name} has {bytes} bytes, and this runner has room for {left}")))
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
    let to = folder.join(inside);
    let twice = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AlreadyExists | std::io::ErrorKind::NotADirectory | std::io::ErrorKind::IsADirectory => {
            Fault::Actor(format!("{text} of the volume is a file and a folder"))
        }
        _ => outside(error),
    };
    if let Some((above, _)) = inside.rsplit_once('/') {
        open_folders(folder, above).map_err(twice)?;
    }
    let mut file = tokio::fs::OpenOptions::new().write(true).create_new(true).open(&to).await.map_err(twice)?;
    volume.get(entry, key, &mut file).await.map_err(wrong)?;
    file.shutdown().await.map_err(outside)?;
    open_to_all(&to).map_err(outside)
}

/// A folder that nobody else enters.
fn private_folder(folder: &Local) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().mode(0o700).recursive(true).create(folder)
}

/// A folder below a private one, which the program of a box may enter and, where it has a layer of its own, change.
fn open_folder(folder: &Local) -> std::io::Result<()> {
    std::fs::create_dir(folder)?;
    open_to_all(folder)
}

/// The folders of a path below a folder.
fn open_folders(folder: &Local, path: &str) -> std::io::Result<()> {
    let mut at = folder.to_owned();
    for part in path.split('/') {
        at.push(part);
        match open_folder(&at) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists && at.is_dir() => {}
            other => other?,
        }
    }
    Ok(())
}

/// Lets the program of a box, whose numbers are others', use what the runner made.
fn open_to_all(path: &Local) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if path.is_dir() { 0o777 } else { 0o666 };
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
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

impl Drop for OfJob {
    fn drop(&mut self) {
        let folder = self.volumes.folder_of(&self.job);
        if folder.exists()
            && let Err(error) = std::fs::remove_dir_all(&folder)
        {
            tracing::warn!(%error, folder = %folder.display(), "the files of a job are not removed");
        }
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
            let chain = volumes.releases.chain().await.map_err(outside)?.clone();
            let volume = Volume::open(chain, id, Signer { key: volumes.key.clone(), capability: None }).await.map_err(wrong)?;
            let (key, none) = (PartitionKey::public(), || wrong(VolumeError::NoFile(path.as_str().to_owned())));
            let entry = volume.find(&path, &key).await.map_err(wrong)?.ok_or_else(none)?;
            // Nobody waits where the job is over.
            let _ = found.send(());
            volume.get(&entry, &key, &mut writer).await.map_err(wrong)
        });
        let fetching = tokio::spawn(fetching);
        match there.await {
            Ok(()) => Ok(Box::new(reader)),
            Err(_) => match fetching.await {
                Ok(Err(Fault::External(reason))) => Err(ImageError::Io {
                    action: "fetch a blob of",
                    path: self.path.clone().into(),
                    error: std::io::Error::other(reason),
                }),
                _ => Err(missing),
            },
        }
    }
}
