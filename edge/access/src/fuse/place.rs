//! The folder at which a volume is mounted.

use cowboy_console::failure::Failure;
use std::io;
use std::path::{Path, PathBuf};

/// Why a folder cannot be used: a program that was killed leaves it mounted, and whoever looks at it is not connected.
fn refused(folder: &Path, error: io::Error) -> Failure {
    if error.kind() != io::ErrorKind::NotConnected {
        return Failure::file(folder)(error);
    }
    let folder = folder.display();
    Failure::refused(format!("{folder} is still mounted by a program that was killed"), format!("umount {folder}"))
}

/// An empty folder. What lies there would be hidden, and where this program needs it, it would wait for itself.
pub(super) fn place(folder: &Path, spool: &Path) -> Result<PathBuf, Failure> {
    let of = |error: io::Error| refused(folder, error);
    let whole = folder.canonicalize().map_err(of)?;
    if !whole.metadata().map_err(of)?.is_dir() {
        return Err(Failure::argument(format!("{} is not a folder", whole.display()), "name an empty one"));
    }
    if whole.read_dir().map_err(of)?.next().is_some() {
        return Err(Failure::refused(format!("{} is not empty", whole.display()), "name an empty folder"));
    }
    if spool.canonicalize().is_ok_and(|spool| spool == whole) {
        return Err(Failure::refused(format!("{} is the folder of the spool", whole.display()), "name another one"));
    }
    Ok(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A volume is mounted at an empty folder, which is not that of the spool: the program would wait for itself.
    #[test]
    fn a_volume_has_an_empty_folder() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("memory");
        let spool = parent.path().join("spool");
        assert!(place(&folder, &spool).is_err(), "there is none");
        std::fs::create_dir(&folder).expect("it is made");
        assert!(place(&folder, &spool).is_ok());
        assert!(place(&folder, &folder).is_err());
        assert!(place(parent.path(), &spool).is_err(), "it is not empty");
        let file = folder.join("file");
        std::fs::write(&file, "x").expect("it is written");
        assert!(place(&file, &spool).is_err() && place(&folder, &spool).is_err());
    }

    /// A folder that a killed program left mounted is told from any other, with what frees it.
    #[test]
    fn a_mount_that_was_left_is_named() {
        let said = |code: i32| refused(Path::new("memory"), io::Error::from_raw_os_error(code)).to_string();
        assert!(said(libc::ENOTCONN).contains("umount memory"), "{}", said(libc::ENOTCONN));
        assert!(!said(libc::EACCES).contains("umount"));
    }
}
