//! Unpacked images, kept up to a number of bytes.
//!
//! # What protects a kept image from changes
//!
//! Containers must never run files that the image does not have, whoever changed them on disk: a program that got out, an operator by mistake, or the disk.
//!
//! - The files belong to the user that the store is told, containers mount them read-only, and no layer is kept: only the unpacked tree can be
//!   changed. Blobs are verified when an image is unpacked.
//! - When an image is unpacked, the digest of its tree with all contents is recorded. It is computed again when a store that was opened first uses the
//!   image. At each later use, a digest of what the file system says about each file is compared; it has the time of the last change, which no program
//!   can set. If it differs, contents are compared again.
//! - Manifest and config are kept as documents and verified at each use.
//! - An image that differs is removed and unpacked again; if a container uses it, the use is refused.
//!
//! Whoever may write as the user of the store's process can also change the records, and is not defended against.

use crate::{
    config::Config,
    digest::Digest,
    documents::{decode, encode},
    error::ImageError,
    layout::{Layout, open_file},
    shelf::{Kept, Shelf},
    source::{Source, pull_manifest, pull_rest},
    unpack::{Limits, Options, unpack},
    walk::{self, Depth},
};
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::{
    fs::{File, Permissions},
    io::{self, Read as _},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::SystemTime,
};
use tokio::sync::{OwnedMutexGuard, OwnedSemaphorePermit, Semaphore};

/// How many images are unpacked at once.
const UNPACKS: usize = 2;
/// How many indexes may be kept with an image, so that their digests find it without the source.
const MAX_INDEXES: usize = 16;
const ROOT: &str = "rootfs";
const DOCUMENTS: &str = "layout";
const RECORD: &str = "record.json";

/// Bytes as MiB, each begun one whole.
const fn mebibytes(bytes: u64) -> u64 {
    bytes.div_ceil(1 << 20)
}

/// Unpacked images in a directory, under the digests of their manifests. The least recently used ones are removed when they would take more than a
/// number of bytes. Clones are handles of the same store.
#[derive(Clone, Debug)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    directory: PathBuf,
    options: Options,
    shelf: Mutex<Shelf>,
    unpacks: Arc<Semaphore>,
    /// A permit for each MiB of layers that are fetched: together no more than the images may take.
    fetches: Arc<Semaphore>,
    /// Held from making room for an image until it is there.
    adding: Mutex<()>,
    staged: AtomicU64,
    /// Keeps other processes out while it is open.
    _lock: File,
}

/// An unpacked image in use. While it lives, it is not removed from the store.
#[derive(Clone, Debug)]
pub struct Image {
    /// The digest of its manifest.
    pub digest: Digest,
    /// The directory with its files. They must not be changed; mount it read-only.
    pub rootfs: PathBuf,
    /// How its program starts.
    pub config: Config,
    _in_use: Arc<()>,
}

/// What is known about an unpacked image.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Record {
    contents: Digest,
    bytes: u64,
    owner: Option<(u32, u32)>,
}

/// The right to work on an image.
type Turn = OwnedMutexGuard<()>;

/// A directory of its own for an image that is not complete, removed when it is dropped.
struct Staged(PathBuf);

impl Drop for Staged {
    fn drop(&mut self) {
        // What is left is removed when the store is opened again.
        let _ = walk::remove_path(&self.0);
    }
}

impl Store {
    /// Opens the store in this directory, which is created if it is missing. What an interrupted process left behind is removed.
    ///
    /// # Errors
    ///
    /// If another process uses it, or the file system fails.
    pub fn open(directory: impl Into<PathBuf>, options: Options, max_bytes: u64) -> Result<Self, ImageError> {
        let directory = directory.into();
        for path in [directory.clone(), directory.join("images"), directory.join("staging")] {
            std::fs::create_dir_all(&path).map_err(ImageError::io("create", &path))?;
            // Containers with users of their own have to get through, and nobody else may write or list.
            std::fs::set_permissions(&path, Permissions::from_mode(0o711)).map_err(ImageError::io("change the mode of", &path))?;
        }
        let path = directory.join("lock");
        let lock = File::create(&path).map_err(ImageError::io("create", &path))?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
            rustix::io::Errno::WOULDBLOCK => ImageError::StoreInUse { path: directory.clone() },
            error => ImageError::io("lock", &path)(error),
        })?;
        let shelf = Mutex::new(Shelf::new(max_bytes));
        let staged = AtomicU64::new(0);
        let unpacks = Arc::new(Semaphore::new(UNPACKS));
        let fetches = Arc::new(Semaphore::new(usize::try_from(mebibytes(max_bytes)).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS)));
        let inner = Inner { directory, options, shelf, unpacks, fetches, adding: Mutex::new(()), staged, _lock: lock };
        inner.recover()?;
        Ok(Self(Arc::new(inner)))
    }

    /// The image that a digest names, unpacked; it comes from the source if the store does not have it. Of several calls for one image at once, one
    /// fetches and unpacks, and the others wait.
    ///
    /// # Errors
    ///
    /// If the source fails, the image is refused, or there is no room.
    pub async fn obtain(&self, digest: &Digest, source: &dyn Source) -> Result<Image, ImageError> {
        let known = self.0.shelf().find(digest);
        if let Some(manifest) = known {
            let turn = self.turn(manifest).await;
            if let (Some(image), _) = self.reuse(manifest, *digest, turn).await? {
                return Ok(image);
            }
        }
        let platform = self.0.options.platform;
        let staged = self.0.stage()?;
        let layout = Layout::create(staged.0.join(DOCUMENTS))?;
        let manifest = pull_manifest(source, digest, platform, &layout).await?.digest;
        let turn = self.turn(manifest).await;
        self.0.keep_index(&layout, digest, &manifest)?;
        let (image, turn) = self.reuse(manifest, manifest, turn).await?;
        if let Some(image) = image {
            return Ok(image);
        }
        let room = self.room_for_layers(&layout, digest, manifest).await?;
        pull_rest(source, digest, platform, self.0.options.limits, &layout).await?;
        let permit = self.0.unpacks.clone().acquire_owned().await.map_err(|error| self.failed(error))?;
        let (inner, digest) = (self.0.clone(), *digest);
        let work = move || {
            let image = inner.unpack(staged, &layout, &digest, manifest);
            drop((permit, room));
            image
        };
        self.blocking(turn, work).await.map(|(image, _)| image)
    }

    /// The bytes that the kept images take.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.shelf().bytes()
    }

    /// The digests of the manifests of the kept images, the least recently used one first.
    #[must_use]
    pub fn images(&self) -> Vec<Digest> {
        self.0.shelf().images()
    }

    /// Waits until the layers of an image have room beside others that are fetched.
    async fn room_for_layers(&self, layout: &Layout, named: &Digest, digest: Digest) -> Result<OwnedSemaphorePermit, ImageError> {
        let (_, manifest) = layout.manifest(named, self.0.options.platform)?;
        let bytes = manifest.layers.iter().fold(0u64, |bytes, layer| bytes.saturating_add(layer.size));
        let limit = self.0.shelf().limit();
        let permits = u32::try_from(mebibytes(bytes)).ok().filter(|permits| u64::from(*permits) <= mebibytes(limit));
        let permits = permits.ok_or(ImageError::StoreFull { digest, bytes, free: limit, limit })?;
        self.0.fetches.clone().acquire_many_owned(permits).await.map_err(|error| self.failed(error))
    }

    async fn turn(&self, manifest: Digest) -> Turn {
        let turn = self.0.shelf().turn(manifest);
        turn.lock_owned().await
    }

    /// A kept image, if it is still what it was.
    async fn reuse(&self, manifest: Digest, named: Digest, turn: Turn) -> Result<(Option<Image>, Turn), ImageError> {
        let inner = self.0.clone();
        self.blocking(turn, move || inner.reuse(&manifest, &named)).await
    }

    /// Runs on a thread that may wait for files. The turn stays with the work, also if nobody waits for it any more.
    async fn blocking<T: Send + 'static>(
        &self,
        turn: Turn,
        work: impl FnOnce() -> Result<T, ImageError> + Send + 'static,
    ) -> Result<(T, Turn), ImageError> {
        let joined = tokio::task::spawn_blocking(move || work().map(|result| (result, turn))).await;
        joined.map_err(|error| self.failed(error))?
    }

    fn failed(&self, error: impl std::error::Error + Send + Sync + 'static) -> ImageError {
        ImageError::io("use the image store", &self.0.directory)(io::Error::other(error))
    }
}

impl Inner {
    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // No operation leaves it half changed.
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn image_path(&self, manifest: &Digest) -> PathBuf {
        self.directory.join("images").join(manifest.hex())
    }

    /// A fresh directory beside the images.
    fn stage(&self) -> Result<Staged, ImageError> {
        let path = self.next_staged();
        std::fs::create_dir(&path).map_err(ImageError::io("create", &path))?;
        let staged = Staged(path);
        std::fs::set_permissions(&staged.0, Permissions::from_mode(0o711)).map_err(ImageError::io("change the mode of", &staged.0))?;
        Ok(staged)
    }

    fn next_staged(&self) -> PathBuf {
        let number = self.staged.fetch_add(1, Ordering::Relaxed);
        self.directory.join("staging").join(number.to_string())
    }

    /// Finds the images that are complete, and removes everything else.
    fn recover(&self) -> Result<(), ImageError> {
        let staging = self.directory.join("staging");
        for name in entries(&staging)? {
            let path = staging.join(name);
            walk::remove_path(&path).map_err(ImageError::io("remove", &path))?;
        }
        let images = self.directory.join("images");
        let mut found: Vec<(SystemTime, Digest, Record)> = Vec::new();
        for name in entries(&images)? {
            let path = images.join(&name);
            let digest = name.to_str().and_then(|name| format!("sha256:{name}").parse::<Digest>().ok());
            match digest.zip(read_record(&path)) {
                Some((digest, (used, record))) if record.owner == self.options.owner => found.push((used, digest, record)),
                _ => walk::remove_path(&path).map_err(ImageError::io("remove", &path))?,
            }
        }
        found.sort_unstable_by_key(|(used, digest, _)| (*used, *digest));
        for (_, digest, record) in found {
            let documents = self.image_path(&digest).join(DOCUMENTS).join("blobs").join("sha256");
            let aliases = entries(&documents).unwrap_or_default().into_iter();
            let aliases = aliases.filter_map(|name| format!("sha256:{}", name.to_str()?).parse().ok()).collect();
            self.shelf().add(digest, Kept::new(record.bytes, record.contents, None, aliases));
        }
        let removed = self.shelf().make_room(0).unwrap_or_default();
        removed.iter().try_for_each(|digest| self.discard(digest))
    }

    /// Unpacks what was fetched and adds it to the images.
    fn unpack(&self, staged: Staged, layout: &Layout, digest: &Digest, manifest: Digest) -> Result<Image, ImageError> {
        let limit = self.shelf().limit();
        let limits = Limits { bytes: self.options.limits.bytes.min(limit), ..self.options.limits };
        let root = staged.0.join(ROOT);
        let config = unpack(layout, digest, &root, &Options { limits, ..self.options })?;
        for (layer, _) in layout.resolve(digest, self.options.platform)?.layers {
            let path = layout.blob_path(&layer.digest);
            walk::remove_path(&path).map_err(ImageError::io("remove", &path))?;
        }
        let measure = |depth| walk::measure(&root, depth).map_err(ImageError::io("read", &root));
        // The stamp is older than the contents: what changes in between changes the next stamp.
        let ((stamp, _), (contents, bytes)) = (measure(Depth::Stamp)?, measure(Depth::Contents)?);
        let record = staged.0.join(RECORD);
        let text = encode(&Record { contents, bytes, owner: self.options.owner });
        std::fs::write(&record, text).map_err(ImageError::io("write", &record))?;

        let path = self.image_path(&manifest);
        let _adding = self.adding.lock().unwrap_or_else(PoisonError::into_inner);
        let removed = self.shelf().make_room(bytes).map_err(|free| ImageError::StoreFull { digest: manifest, bytes, free, limit })?;
        removed.iter().try_for_each(|digest| self.discard(digest))?;
        std::fs::rename(&staged.0, &path).map_err(ImageError::io("rename to", &path))?;
        let kept = Kept::new(bytes, contents, Some(stamp), vec![*digest]);
        let in_use = self.shelf().add(manifest, kept);
        Ok(Image { digest: manifest, rootfs: path.join(ROOT), config, _in_use: in_use })
    }

    /// A kept image, after it is compared with what was recorded; none if it is not kept, or was changed and is removed.
    fn reuse(&self, manifest: &Digest, named: &Digest) -> Result<Option<Image>, ImageError> {
        let Some((in_use, contents, stamp)) = self.shelf().hold(manifest) else { return Ok(None) };
        match self.compare(manifest, named, &contents, stamp.as_ref()) {
            Some((config, stamp)) => {
                self.shelf().stamp(manifest, stamp);
                let path = self.image_path(manifest);
                touch(&path.join(RECORD));
                Ok(Some(Image { digest: *manifest, rootfs: path.join(ROOT), config, _in_use: in_use }))
            }
            None => {
                drop(in_use);
                let mut shelf = self.shelf();
                if shelf.remove_unused(manifest) {
                    drop(shelf);
                    self.discard(manifest)?;
                } else if shelf.find(manifest).is_some() {
                    return Err(ImageError::ChangedInUse { digest: *manifest });
                }
                Ok(None)
            }
        }
    }

    /// The config and the new stamp of a kept image, if its documents and files are what they were.
    fn compare(&self, manifest: &Digest, named: &Digest, contents: &Digest, stamp: Option<&Digest>) -> Option<(Config, Digest)> {
        let path = self.image_path(manifest);
        let image = Layout::open(path.join(DOCUMENTS)).ok()?.resolve(named, self.options.platform).ok()?;
        if image.manifest_digest != *manifest {
            return None;
        }
        let root = path.join(ROOT);
        let now = walk::measure(&root, Depth::Stamp).ok()?.0;
        if stamp != Some(&now) && walk::measure(&root, Depth::Contents).ok()?.0 != *contents {
            return None;
        }
        Some((image.config, now))
    }

    /// Keeps the index by which an image was found, so that it is found without the source.
    fn keep_index(&self, layout: &Layout, index: &Digest, manifest: &Digest) -> Result<(), ImageError> {
        if index == manifest || !self.shelf().alias(manifest, *index, MAX_INDEXES) {
            return Ok(());
        }
        let kept = Layout::open(self.image_path(manifest).join(DOCUMENTS))?;
        kept.add(&layout.document(index)?).map(|_| ())
    }

    /// Removes the files of an image that is no longer known. A rename first, so that half an image is never found.
    fn discard(&self, manifest: &Digest) -> Result<(), ImageError> {
        let (path, staged) = (self.image_path(manifest), Staged(self.next_staged()));
        std::fs::rename(&path, &staged.0).map_err(ImageError::io("rename", &path))
    }
}

/// The names in a directory.
fn entries(directory: &Path) -> Result<Vec<std::ffi::OsString>, ImageError> {
    let failed = |error| ImageError::io::<io::Error>("read", directory)(error);
    std::fs::read_dir(directory).map_err(failed)?.map(|entry| entry.map(|entry| entry.file_name()).map_err(failed)).collect()
}

/// The record of an image, and when it was last used.
fn read_record(image: &Path) -> Option<(SystemTime, Record)> {
    let file = open_file(&image.join(RECORD)).ok()?;
    let used = file.metadata().ok()?.modified().ok()?;
    let mut bytes = Vec::new();
    file.take(4_096).read_to_end(&mut bytes).ok()?;
    Some((used, decode("record", &bytes).ok()?))
}

/// Notes that an image was used. Without the note it counts as unused when the store is opened again, and nothing else happens.
fn touch(record: &Path) {
    let _ = open_file(record).and_then(|file| file.set_modified(SystemTime::now()).map_err(ImageError::io("change the time of", record)));
}
