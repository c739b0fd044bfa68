//! Files that only their owner reads, and that are replaced as a whole.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use zeroize::Zeroizing;

/// What the name of a file that is being written ends with.
const BESIDE: &str = "new";

/// The bytes of a file; none where there is none.
///
/// # Errors
///
/// If it cannot be read.
pub fn read(path: &Path) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
    match fs::File::open(path) {
        Ok(mut file) => {
            let mut bytes = Zeroizing::new(Vec::new());
            file.read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes beside the place and moves it there, so that a crash leaves the old bytes or the new ones.
///
/// # Errors
///
/// If it cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension(BESIDE);
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::File::open(folder)?.sync_all()
}

/// Zeros in the place of the bytes, then no file.
///
/// # Errors
///
/// If it cannot be written or removed.
pub fn overwrite(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    file.seek(io::SeekFrom::Start(0))?;
    file.write_all(&vec![0; length])?;
    file.sync_all()?;
    fs::remove_file(path)
}

/// Overwrites and removes what writing left behind when the process was killed.
///
/// # Errors
///
/// If the folder cannot be read, or such a file cannot be removed.
pub fn forget_unfinished(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == BESIDE) {
            overwrite(&path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A file is replaced as a whole, read by its owner alone, and what a killed process left is removed.
    #[test]
    fn files_are_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("share-1");
        assert_eq!(read(&path).expect("it is looked for"), None);
        write(&path, b"one").expect("it is written");
        write(&path, b"two").expect("it is written");
        assert_eq!(read(&path).expect("it is read").expect("it is there")[..], *b"two");
        assert_eq!(fs::metadata(&path).expect("its metadata").permissions().mode() & 0o777, 0o600);
        fs::write(folder.path().join("share-2.new"), b"half").expect("it is written");
        forget_unfinished(folder.path()).expect("they are removed");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
        overwrite(&path).expect("it is removed");
        assert_eq!(read(&path).expect("it is looked for"), None);
    }
}
