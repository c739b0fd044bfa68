//! Files that only their owner reads, and that are replaced as a whole.
//!
//! What is written goes to a draft beside the place, which has a name of its own, is new and is its owner's from its first byte. It is on the disk
//! before it is moved to the place. So a crash leaves the old file or the new one, several writers do not mix, and a link that somebody put there
//! is replaced and not followed. A write that fails leaves the old file and no draft; a process that is killed may leave a draft (decision 728).

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

/// What the name of a draft begins with.
const DRAFT: &str = ".new-";

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

/// Writes a file where there is none of this name. A crash leaves the whole file or none: an empty one would be refused at every later start.
///
/// # Errors
///
/// If the file cannot be written; of the kind `AlreadyExists` where it is there.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    drafted(path, bytes)?.persist_noclobber(path).map_err(|failed| failed.error)?;
    sync_folder(path)
}

/// Writes a file in place of what has its name. A crash leaves the old file or the new one.
///
/// # Errors
///
/// If the file cannot be written. The old one is there still, unless the folder alone could not be synced.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    drafted(path, bytes)?.persist(path).map_err(|failed| failed.error)?;
    sync_folder(path)
}

/// An empty draft beside a place.
fn draft(path: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new().prefix(DRAFT).tempfile_in(folder_of(path))
}

/// A draft with these bytes, on the disk.
fn drafted(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let mut draft = draft(path)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    Ok(draft)
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes a new name in a folder last.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    fs::File::open(folder_of(path))?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Zeros in the place of the bytes, then no file.
///
/// # Errors
///
/// If it cannot be written or removed.
pub fn overwrite(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let length = usize::try_from(file.metadata()?.len()).unwrap_or(0);
    file.write_all(&vec![0; length])?;
    file.sync_all()?;
    fs::remove_file(path)
}

/// Overwrites and removes the drafts that a killed process left in a folder, which may be missing. Nobody else may write in it meanwhile.
///
/// # Errors
///
/// If the folder cannot be read, or a draft cannot be removed.
pub fn forget_drafts(folder: &Path) -> io::Result<()> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        // A link is no draft.
        if entry.file_type()?.is_file() && entry.file_name().to_string_lossy().starts_with(DRAFT) {
            overwrite(&entry.path())?;
        }
    }
    Ok(())
}

/// Makes a folder that only its owner enters, and those above it. One that is there stays as it is.
///
/// # Errors
///
/// If it cannot be made.
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The permissions of a file or folder that others than its owner have access to; none where they have none, or it is not there.
#[cfg(unix)]
pub fn mode_for_others(path: &Path) -> Option<u32> {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = path.metadata().ok()?.permissions().mode() & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// Other systems have no such permissions.
#[cfg(not(unix))]
pub fn mode_for_others(_: &Path) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use tempfile::TempDir;

    /// A folder with a file of these bytes.
    fn with(bytes: &[u8]) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        fs::write(&path, bytes).expect("the folder is writable");
        (folder, path)
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// A file is made and replaced as a whole, and nothing is left beside it.
    #[test]
    fn files_are_whole() {
        let (folder, path) = with(b"one");
        replace(&path, b"two").expect("it is written");
        let other = folder.path().join("other");
        replace(&other, b"first").expect("there need be none before");
        assert_eq!(read(&path).expect("it is read").expect("it is there")[..], *b"two");
        assert_eq!(read(&other).expect("it is read").expect("it is there")[..], *b"first");
        assert_eq!(names(folder.path()), ["key", "other"]);
        overwrite(&path).expect("it is removed");
        assert_eq!(read(&path).expect("it is looked for"), None);
    }

    /// A file is its owner's from the first byte: also the draft that has none, and one that takes the place of a file that all read.
    #[cfg(unix)]
    #[test]
    fn nobody_else_ever_reads_a_file() {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        let (folder, path) = with(b"for all");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("it is ours");
        assert_eq!(mode(draft(&path).expect("it is made").path()), 0o600);
        replace(&path, b"secret").expect("it is written");
        let new = folder.path().join("new");
        create(&new, b"secret").expect("it is written");
        assert_eq!((mode(&path), mode(&new)), (0o600, 0o600));
    }

    /// A process that is killed before its draft is in place leaves the old file. Its draft hinders nobody, and is removed at the next start.
    #[test]
    fn a_crash_leaves_the_old_file() {
        let (folder, path) = with(b"old");
        let (_, left) = drafted(&path, b"half of the ne").expect("it is made").keep().expect("it is kept");
        assert_eq!(fs::read(&path).expect("it is there"), b"old");
        replace(&path, b"new").expect("it is written");
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        assert!(left.exists(), "it is not this writer's");
        forget_drafts(folder.path()).expect("it is removed");
        assert_eq!(names(folder.path()), ["key"]);
        forget_drafts(&folder.path().join("missing")).expect("it has none");
    }

    /// A write that fails leaves what was there, and no draft.
    #[test]
    fn a_failed_write_leaves_the_old_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        fs::create_dir(&path).expect("the folder is writable");
        fs::write(path.join("inside"), "old").expect("the folder is writable");
        assert!(replace(&path, b"new").is_err(), "a folder is there");
        assert_eq!(create(&path, b"new").expect_err("a folder is there").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(path.join("inside")).expect("it is there"), b"old");
        assert_eq!(names(folder.path()), ["key"]);
        assert!(replace(&folder.path().join("missing/key"), b"new").is_err());
    }

    /// A link is replaced: what it leads to stays as it is. A new file does not take its place.
    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let (folder, theirs) = with(b"theirs");
        let path = folder.path().join("link");
        std::os::unix::fs::symlink(&theirs, &path).expect("the folder is writable");
        assert_eq!(create(&path, b"new").expect_err("a link is there").kind(), io::ErrorKind::AlreadyExists);
        replace(&path, b"new").expect("it is written");
        assert_eq!(fs::read(&theirs).expect("it is there"), b"theirs");
        assert!(fs::symlink_metadata(&path).expect("it is there").is_file());
        assert_eq!(fs::read(&path).expect("it is there"), b"new");
        std::os::unix::fs::symlink(&theirs, folder.path().join(".new-link")).expect("the folder is writable");
        forget_drafts(folder.path()).expect("there is none");
        assert_eq!(fs::read(&theirs).expect("it is there"), b"theirs");
    }

    /// Of several that write the same new file at once one succeeds, and the file is what that one wrote.
    #[test]
    fn one_of_several_writers_succeeds() {
        for _ in 0..50 {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("key.pem");
            let write = |writer: usize| {
                let (path, text) = (path.clone(), writer.to_string().repeat(10_000));
                std::thread::spawn(move || create(&path, text.as_bytes()).is_ok().then_some(text))
            };
            let writers: Vec<_> = (0..4).map(write).collect();
            let written: Vec<String> = writers.into_iter().filter_map(|writer| writer.join().expect("it does not panic")).collect();
            assert_eq!(written, [fs::read_to_string(&path).expect("it is there")]);
        }
    }

    /// A file has its name only when it is whole, and an existing one is not replaced by a new one.
    #[test]
    fn a_new_file_is_whole_or_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("genesis.json");
        let text = "x".repeat(32 * 1024 * 1024);
        let (seen, whole) = (path.clone(), text.len());
        let reader = std::thread::spawn(move || {
            loop {
                if let Ok(data) = fs::metadata(&seen) {
                    return usize::try_from(data.len()).is_ok_and(|length| length == whole);
                }
            }
        });
        create(&path, text.as_bytes()).expect("it is writable");
        assert!(reader.join().expect("it does not panic"), "it was seen before it was whole");
        let again = create(&path, b"other").expect_err("it is there");
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read_to_string(&path).expect("it is readable"), text);
        assert_eq!(names(folder.path()), ["genesis.json"], "nothing is left beside it");
    }

    /// A new folder is its owner's, and so is a new one above it. One that is there is left as it is.
    #[cfg(unix)]
    #[test]
    fn nobody_else_enters_a_new_folder() {
        use std::os::unix::fs::PermissionsExt as _;
        let outer = tempfile::tempdir().expect("a folder");
        let path = outer.path().join("above/folder");
        create_folder(&path).expect("it is made");
        for made in [path.as_path(), path.parent().expect("it is in a folder")] {
            assert_eq!(fs::metadata(made).expect("it is there").permissions().mode() & 0o777, 0o700);
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
        create_folder(&path).expect("it is there");
        assert_eq!(mode_for_others(&path), Some(0o755));
    }

    /// What others than the owner can use is named, and a key that is their owner's is not.
    #[cfg(unix)]
    #[test]
    fn files_for_others_are_named() {
        use std::os::unix::fs::PermissionsExt as _;
        let (folder, path) = with(b"key");
        for (mode, found) in [(0o600, None), (0o400, None), (0o640, Some(0o640)), (0o604, Some(0o604)), (0o610, Some(0o610))] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("it is ours");
            assert_eq!(mode_for_others(&path), found);
        }
        assert_eq!(mode_for_others(&folder.path().join("missing")), None);
    }
}
