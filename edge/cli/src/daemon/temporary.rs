//! Folders that go with their process.

use rustix::fs::OFlags;
use std::{
    env,
    fs::{self, File, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
};
use tempfile::TempDir;

/// What the names of these folders begin with.
const PREFIX: &str = "cowboy-dev-";

/// Locked for as long as the folder's process runs.
const HELD: &str = "held";

/// The folder in them that others may fill.
const FILES: &str = "files";

/// Where Linux keeps files in memory.
const MEMORY: &str = "/dev/shm";

/// How many bytes must be free in memory before a chain is kept there.
const ROOM: u64 = 4 << 30;

/// A folder that is removed at the end, or by the next process that makes one if this one is killed.
#[derive(Debug)]
pub(crate) struct Temporary {
    // Removed while the lock is held: fields are dropped in their order.
    folder: TempDir,
    _held: File,
}

impl Temporary {
    /// A folder on the disk, for whatever is large.
    ///
    /// # Errors
    ///
    /// If it cannot be made where `TMPDIR` says.
    pub(crate) fn on_disk() -> io::Result<Self> {
        Self::open(&env::temp_dir())
    }

    /// A folder in memory, which has no writes to wait for; on the disk where memory is short, or `TMPDIR` says where folders are.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub(crate) fn in_memory() -> io::Result<Self> {
        let memory = Path::new(MEMORY);
        // First, and wherever this one comes to be: what was left is memory.
        sweep(memory);
        let is_roomy = env::var_os("TMPDIR").is_none() && cowboy_serve::free_bytes(memory).is_ok_and(|free| free >= ROOM);
        if is_roomy && let Ok(made) = Self::open(memory) {
            return Ok(made);
        }
        Self::on_disk()
    }

    fn open(parent: &Path) -> io::Result<Self> {
        sweep(parent);
        loop {
            let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
            let held = File::create(folder.path().join(HELD))?;
            match held.try_lock() {
                Ok(()) if folder.path().exists() => return Ok(Self { folder, _held: held }),
                // Another process swept between the lines above.
                Ok(()) | Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
    }

    /// Where files may be put; not there yet.
    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join(FILES)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // Before the lock's file, without which no later process finds what is left.
        let _ = fs::remove_dir_all(self.path());
    }
}

/// Removes the folders whose processes are gone. What cannot be removed stays.
fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        // Anybody may put something of this name there, such as a pipe that waits for a reader.
        let flags = (OFlags::NONBLOCK | OFlags::NOFOLLOW).bits().cast_signed();
        let Ok(held) = File::options().write(true).custom_flags(flags).open(entry.path().join(HELD)) else { continue };
        if held.try_lock().is_err() {
            continue;
        }
        let files = entry.path().join(FILES);
        if !files.exists() || fs::remove_dir_all(&files).is_ok() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_is_removed_by_the_next_one() {
        let parent = tempfile::tempdir().expect("a folder");
        let running = Temporary::open(parent.path()).expect("a folder");
        let killed = parent.path().join("cowboy-dev-killed");
        for folder in ["cowboy-dev-killed", "cowboy-dev-of-another-kind", "other"] {
            fs::create_dir(parent.path().join(folder)).expect("the folder is writable");
        }
        fs::write(killed.join(HELD), "").expect("the folder is writable");
        fs::create_dir_all(killed.join(FILES).join("engine")).expect("the folder is writable");
        fs::write(parent.path().join("other").join(HELD), "").expect("the folder is writable");
        let next = Temporary::open(parent.path()).expect("a folder");
        assert!(!killed.exists());
        assert!(running.folder.path().exists() && next.folder.path().exists());
        assert!(parent.path().join("other").exists() && parent.path().join("cowboy-dev-of-another-kind").exists());
        let path = running.folder.path().to_owned();
        drop(running);
        assert!(!path.exists());
    }
}
