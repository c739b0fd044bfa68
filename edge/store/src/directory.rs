//! The folder a node lives in: one process, one chain, one format.

use crate::error::StoreError;
use cowboy_types::Hash;
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    path::{Path, PathBuf},
};

/// The newest layout of the folder that this program reads and the one it writes. Since 2 the ledger's pages have checksums; a
/// ledger without gets them when it is opened. Since 3 old blocks are packed; those of an older ledger are, while it grows.
pub const FORMAT: u32 = 3;

/// A claimed folder. Other processes are kept out until it is dropped.
#[derive(Debug)]
pub struct Directory {
    path: PathBuf,
    _lock: File,
}

impl Directory {
    /// Claims the folder for the chain of this genesis, making it where it does not exist.
    ///
    /// Fails where another process holds it, where it belongs to another chain or to a newer
    /// program, and where the disk refuses.
    pub fn open(path: impl Into<PathBuf>, genesis: &Hash) -> Result<Self, StoreError> {
        let path = path.into();
        fs::create_dir_all(&path).and_then(|()| keep_private(&path)).map_err(|error| StoreError::file(&path, error))?;
        let lock = claim(&path)?;
        match read_marker(&path)? {
            Some(marker) => {
                marker.check(&path, genesis)?;
                if marker.format < FORMAT {
                    write_marker(&path, genesis)?;
                }
            }
            None => write_marker(&path, genesis)?,
        }
        Ok(Self { path, _lock: lock })
    }

    /// Deletes the folder and everything in it. A folder that is not there is no error.
    ///
    /// Refuses a folder that has files but no marker: it is not a node's.
    pub fn wipe(path: &Path) -> Result<(), StoreError> {
        let Ok(mut entries) = fs::read_dir(path) else { return Ok(()) };
        if entries.next().is_some() && !marker_path(path).exists() {
            return Err(StoreError::NotAChain { path: path.to_owned() });
        }
        let lock = claim(path)?;
        let wiped = fs::remove_dir_all(path).map_err(|error| StoreError::file(path, error));
        drop(lock);
        wiped
    }

    /// The genesis hash of the chain in this folder, where there is one.
    pub fn genesis_of(path: &Path) -> Result<Option<Hash>, StoreError> {
        Ok(read_marker(path)?.map(|marker| marker.genesis))
    }

    /// Where the engine keeps state, votes and blocks.
    pub fn engine(&self) -> PathBuf {
        self.path.join("engine")
    }

    /// The ledger's file.
    pub fn ledger(&self) -> PathBuf {
        ledger_path(&self.path)
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Lets nobody but the owner into the folder: keys and mnemonics are in it, also from times when its files were readable by all.
fn keep_private(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

struct Marker {
    format: u32,
    genesis: Hash,
}

impl Marker {
    fn check(&self, path: &Path, genesis: &Hash) -> Result<(), StoreError> {
        if self.format > FORMAT {
            return Err(StoreError::NewerFormat { path: path.to_owned(), found: self.format, supported: FORMAT });
        }
        if self.genesis != *genesis {
            return Err(StoreError::OtherChain { path: path.to_owned(), found: self.genesis.to_string(), expected: genesis.to_string() });
        }
        Ok(())
    }
}

fn ledger_path(path: &Path) -> PathBuf {
    path.join("ledger.redb")
}

fn marker_path(path: &Path) -> PathBuf {
    path.join("chain")
}

fn claim(path: &Path) -> Result<File, StoreError> {
    let file = path.join("lock");
    let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&file).map_err(|error| StoreError::file(&file, error))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(StoreError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(StoreError::file(&file, error)),
    }
}

fn read_marker(path: &Path) -> Result<Option<Marker>, StoreError> {
    let file = marker_path(path);
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        // The marker is written first, so a folder with a ledger and no marker is a copy that lacks it.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && ledger_path(path).exists() => {
            return Err(StoreError::NoMarker { path: path.to_owned() });
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::file(&file, error)),
    };
    let marker = text.split_once('\n').and_then(|(format, genesis)| {
        let format = format.strip_prefix("format ")?.parse().ok()?;
        let genesis = genesis.strip_prefix("genesis ")?.trim_end().parse().ok()?;
        Some(Marker { format, genesis })
    });
    marker.map(Some).ok_or_else(|| StoreError::NotAChain { path: path.to_owned() })
}

/// Writes the marker so that a crash leaves either no marker or a whole one.
fn write_marker(path: &Path, genesis: &Hash) -> Result<(), StoreError> {
    let (file, text) = (marker_path(path), format!("format {FORMAT}\ngenesis {genesis}\n"));
    cowboy_host::files::replace(&file, text.as_bytes()).map_err(|error| StoreError::file(&file, error))
}
