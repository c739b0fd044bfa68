//! The files of volumes on the runner's disk, while a job has them.

use cowboy_host::files::create_folder;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What a file or a folder takes on a disk beside its content, rounded up.
const BLOCK_BYTES: u64 = 4_096;

/// Folders that were made in this run: a job that is done again has another one than that which is still removed.
static MADE: AtomicU64 = AtomicU64::new(0);

/// The disk that the volumes of all running jobs share, in blocks.
#[derive(Clone, Debug)]
pub(super) struct Room {
    free: Arc<Semaphore>,
    blocks: u32,
}

impl Room {
    /// One of some mebibytes; 16 TiB is the most that is counted.
    pub(super) fn new(mebibytes: u64) -> Self {
        let blocks = u32::try_from(mebibytes.saturating_mul((1 << 20) / BLOCK_BYTES)).unwrap_or(u32::MAX);
        Self { free: Arc::new(Semaphore::new(usize::try_from(blocks).unwrap_or(Semaphore::MAX_PERMITS))), blocks }
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.blocks) * BLOCK_BYTES
    }

    /// Takes blocks of it, and waits until others give them back. None where it has not as many.
    pub(super) async fn take(&self, blocks: u64) -> Option<OwnedSemaphorePermit> {
        let blocks = u32::try_from(blocks).ok().filter(|blocks| *blocks <= self.blocks)?;
        self.free.clone().acquire_many_owned(blocks).await.ok()
    }
}

/// A folder that nobody else enters, and the room that it takes. It is removed when this is dropped, in the background, because a writer of a volume
/// decides how much there is in it.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    room: Option<OwnedSemaphorePermit>,
}

impl Folder {
    /// A new one in another, with room for what will be in it.
    pub(super) fn make(above: &Path, room: OwnedSemaphorePermit) -> io::Result<Self> {
        let path = above.join(MADE.fetch_add(1, Ordering::Relaxed).to_string());
        create_folder(&path)?;
        Ok(Self { path, room: Some(room) })
    }

    /// A folder in it, for a mount.
    pub(super) fn mount(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        open(&path)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let (path, room) = (std::mem::take(&mut self.path), self.room.take());
        let remove = move || {
            // Others have the room when the files are gone.
            let _room = room;
            if let Err(error) = fs::remove_dir_all(&path) {
                tracing::warn!(%error, folder = %path.display(), "the files of a job are not removed");
            }
        };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn_blocking(remove)),
            Err(_) => remove(),
        }
    }
}

/// A folder below a private one, which the program of a box may enter and, where it has a layer of its own, change.
fn open(path: &Path) -> io::Result<()> {
    fs::create_dir(path)?;
    to_all(path)
}

/// Lets the program of a box, whose numbers are others', use what the runner made.
fn to_all(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = if path.is_dir() { 0o777 } else { 0o666 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Makes an empty file at a path below a folder, and the folders that lead to it.
pub(super) fn create(folder: &Path, inside: &str) -> io::Result<File> {
    let mut at = folder.to_owned();
    let mut parts = inside.split('/').peekable();
    while let Some(part) = parts.next() {
        at.push(part);
        if parts.peek().is_none() {
            let file = File::options().write(true).create_new(true).open(&at)?;
            to_all(&at)?;
            return Ok(file);
        }
        match open(&at) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && at.is_dir() => {}
            other => other?,
        }
    }
    Err(io::ErrorKind::InvalidInput.into())
}

/// The blocks that files and folders take, each at least one.
pub(super) fn blocks_of(sizes: impl Iterator<Item = u64>, folders: usize) -> u64 {
    let folders = u64::try_from(folders).unwrap_or(u64::MAX);
    sizes.map(|size| size.div_ceil(BLOCK_BYTES).saturating_add(1)).fold(folders, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_volume::directories;

    fn blocks(files: &[(&str, u64)]) -> u64 {
        blocks_of(files.iter().map(|(_, size)| *size), directories(files.iter().map(|(path, _)| *path)).len())
    }

    /// Files without content, and folders, take room too: a path of 512 bytes has 250 of them.
    #[test]
    fn folders_take_room() {
        // Folders a and a/b; three files; two blocks of content.
        assert_eq!(blocks(&[("a/b/c", 0), ("a/b/d", 4_096), ("a/e", 1)]), 7);
        let deep: Vec<String> = (0..100).map(|number| format!("{number}/{}", vec!["d"; 250].join("/"))).collect();
        assert_eq!(blocks(&deep.iter().map(|path| (path.as_str(), 0)).collect::<Vec<_>>()), 100 * (1 + 250));
        assert_eq!(blocks(&[("a", u64::MAX), ("b", u64::MAX)]), (1 << 53) + 2);
    }

    /// All running jobs share the room: who comes later waits until the files of another are gone, and what never fits is refused at once.
    #[tokio::test]
    async fn jobs_share_the_room() {
        let above = tempfile::tempdir().expect("a folder");
        let room = Room::new(1);
        assert_eq!(room.bytes(), 1 << 20);
        assert!(room.take(257).await.is_none());
        let first = Folder::make(above.path(), room.take(200).await.expect("there is room")).expect("it is made");
        let second = tokio::spawn({
            let (room, above) = (room.clone(), above.path().to_owned());
            async move {
                let _room = room.take(100).await.expect("there is room");
                fs::read_dir(above).expect("it is read").count()
            }
        });
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        drop(first);
        assert_eq!(second.await.expect("it ends"), 0, "the files of the first are gone");
    }

    /// A file is where its path says, and no other takes its place; the folder goes with its job.
    #[tokio::test]
    async fn a_file_is_where_its_path_says() {
        let above = tempfile::tempdir().expect("a folder");
        let folder = Folder::make(above.path(), Room::new(1).take(3).await.expect("there is room")).expect("it is made");
        let mount = folder.mount("data").expect("it is made");
        create(&mount, "a/b/c").expect("it is made");
        create(&mount, "a/b/d").expect("it is made");
        let kind = |inside: &str| create(&mount, inside).map_err(|error| error.kind()).expect_err("it is taken");
        assert_eq!(kind("a/b/c"), io::ErrorKind::AlreadyExists);
        assert_eq!(kind("a/b/c/e"), io::ErrorKind::AlreadyExists, "a file is no folder");
        assert_eq!(kind("a/b"), io::ErrorKind::AlreadyExists, "a folder is no file");
        drop(folder);
        while fs::read_dir(above.path()).expect("it is read").count() > 0 {
            tokio::task::yield_now().await;
        }
    }
}
