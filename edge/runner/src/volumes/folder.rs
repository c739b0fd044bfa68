//! The files of volumes on the runner's disk, while a job has them.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::Handle;

/// What a file or a folder takes on a disk beside its content, rounded up.
const BLOCK_BYTES: u64 = 4_096;

/// Folders that were made in this run: a job that is done again has another one than that which is still removed.
static MADE: AtomicU64 = AtomicU64::new(0);

/// A folder that nobody else enters. It is removed when this is dropped, in the background, because a writer of a volume decides how much there is in it.
#[derive(Debug)]
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A new one in another.
    pub(super) fn make(above: &Path) -> io::Result<Self> {
        let path = above.join(MADE.fetch_add(1, Ordering::Relaxed).to_string());
        private(&path)?;
        Ok(Self(path))
    }

    /// A folder in it, for a mount.
    pub(super) fn mount(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.0.join(name);
        open(&path)?;
        Ok(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let path = std::mem::take(&mut self.0);
        let remove = move || {
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

/// A folder that nobody else enters, where there is none yet.
pub(super) fn private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().mode(0o700).recursive(true).create(path)
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

/// What is left of a room after these files, each with its path and size, and their folders.
pub(super) fn left_of<'a>(room: u64, files: impl Iterator<Item = (&'a str, u64)>) -> Option<u64> {
    let (mut left, mut folders) = (room, BTreeSet::new());
    for (path, size) in files {
        left = left.checked_sub(size.checked_next_multiple_of(BLOCK_BYTES)?.checked_add(BLOCK_BYTES)?)?;
        let above = path.match_indices('/').filter_map(|(end, _)| path.get(..end));
        // The deepest first: where that is known, so are those above it.
        for folder in above.collect::<Vec<_>>().into_iter().rev() {
            if !folders.insert(folder) {
                break;
            }
            left = left.checked_sub(BLOCK_BYTES)?;
        }
    }
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Files without content, and folders, take room too: a path of 512 bytes has 250 of them.
    #[test]
    fn folders_take_room() {
        let files = [("a/b/c", 0), ("a/b/d", 4_096), ("a/e", 1)];
        // Folders a and a/b; three files; two blocks of content.
        assert_eq!(left_of(7 * BLOCK_BYTES, files.into_iter()), Some(0));
        assert_eq!(left_of(7 * BLOCK_BYTES - 1, files.into_iter()), None);
        let deep: Vec<String> = (0..100).map(|number| format!("{number}/{}", vec!["d"; 250].join("/"))).collect();
        assert_eq!(left_of(1 << 20, deep.iter().map(|path| (path.as_str(), 0))), None);
        assert_eq!(left_of(u64::MAX, [("a", u64::MAX)].into_iter()), None);
    }

    /// A file is where its path says, and no other takes its place; the folder goes with its job.
    #[tokio::test]
    async fn a_file_is_where_its_path_says() {
        let above = tempfile::tempdir().expect("a folder");
        let folder = Folder::make(above.path()).expect("it is made");
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
