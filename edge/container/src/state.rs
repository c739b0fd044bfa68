//! Which boxes exist: a folder each, with a lock that its runner holds while it lives.

use crate::error::BoxError;
use crate::groups::{Group, Trees};
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

/// Most boxes of a computer for one state folder.
pub(crate) const BOXES: u32 = 4096;

/// First id that boxes may have. systemd and the tools for subordinate ids stay below.
const FIRST_ID: u32 = 0x7000_0000;

/// Ids of a state folder: two for each box.
const IDS: u32 = 2 * BOXES;

/// The state folder.
#[derive(Clone, Debug)]
pub(crate) struct State {
    folder: PathBuf,
    trees: Trees,
    /// What names of control groups start with: no other state folder of the computer has the same.
    prefix: String,
    first_id: u32,
}

/// A box that exists. Only [`Entry::remove`] removes what belongs to it.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) folder: PathBuf,
    pub(crate) group: Group,
    pub(crate) first_id: u32,
    _lock: File,
}

impl State {
    pub(crate) fn open(folder: &Path) -> Result<Self, BoxError> {
        let step = || format!("opening the folder of boxes {}", folder.display());
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(BoxError::host(step()))?;
        let folder = folder.canonicalize().map_err(BoxError::host(step()))?;
        let found = fs::metadata(&folder).map_err(BoxError::host(step()))?;
        let share = u32::try_from(found.ino() % u64::from((u32::MAX / 2 - FIRST_ID) / IDS)).unwrap_or(0);
        let prefix = format!("cowboy-{:x}-{:x}", found.dev(), found.ino());
        Ok(Self { folder, trees: Trees::find()?, prefix, first_id: FIRST_ID + share * IDS })
    }

    fn lock(&self) -> Result<File, BoxError> {
        let lock = File::create(self.folder.join("lock")).map_err(BoxError::host("locking the folder of boxes"))?;
        lock.lock().map_err(BoxError::host("locking the folder of boxes"))?;
        Ok(lock)
    }

    fn path(&self, number: u32) -> PathBuf {
        self.folder.join(format!("box-{number}"))
    }

    fn group(&self, number: u32) -> Group {
        self.trees.group(&format!("{}-{number}", self.prefix))
    }

    /// Makes the folder of a new box.
    pub(crate) fn claim(&self) -> Result<Entry, BoxError> {
        let _lock = self.lock()?;
        for number in 0..BOXES {
            let folder = self.path(number);
            match DirBuilder::new().mode(0o700).create(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                other => other.map_err(BoxError::host("making the folder of a box"))?,
            }
            let lock = File::create(folder.join("lock")).map_err(BoxError::host("making the lock of a box"))?;
            lock.lock().map_err(BoxError::host("locking a box"))?;
            fs::create_dir(folder.join("root")).map_err(BoxError::host("making the root of a box"))?;
            return Ok(Entry { folder, group: self.group(number), first_id: self.first_id + 2 * number, _lock: lock });
        }
        Err(BoxError::Full(BOXES))
    }

    /// Removes boxes whose runner is gone, and returns their number.
    pub(crate) fn clean(&self) -> Result<u32, BoxError> {
        let _lock = self.lock()?;
        let mut removed = 0;
        for number in 0..BOXES {
            let folder = self.path(number);
            if !folder.exists() {
                continue;
            }
            // Without a lock file it is the folder of a runner that crashed at once: whoever makes one holds the lock of all.
            if let Ok(lock) = File::open(folder.join("lock"))
                && lock.try_lock().is_err()
            {
                continue;
            }
            remove(&folder, &self.group(number))?;
            removed += 1;
        }
        Ok(removed)
    }
}

impl Entry {
    /// Ends what still runs, and removes the box. It blocks.
    pub(crate) fn remove(&self) -> Result<(), BoxError> {
        remove(&self.folder, &self.group)
    }
}

fn remove(folder: &Path, group: &Group) -> Result<(), BoxError> {
    group.remove()?;
    // The root is empty outside of the box; what is not empty is none of ours.
    let step = || BoxError::host(format!("removing the box {}", folder.display()));
    match fs::remove_dir(folder.join("root")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(step()(error)),
        _ => {}
    }
    match fs::remove_file(folder.join("lock")) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(step()(error)),
        _ => {}
    }
    fs::remove_dir(folder).map_err(step())
}
