//! A file that is fetched: it stands beside its place until it is whole, and goes where the command fails or is stopped before.

use super::local;
use crate::daemon::serving::StopSignals;
use cowboy_console::failure::Failure;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// The exit code of a command that was stopped: 128, and the number of SIGINT, as shells have it.
const STOPPED: u8 = 130;

/// How often a part is made where other commands make and remove theirs meanwhile.
const TRIES: usize = 16;

/// A file that is not whole yet. No other command writes to its place meanwhile.
#[derive(Debug)]
pub(super) struct Part {
    beside: PathBuf,
    is_whole: bool,
    /// Locked for as long as it is open.
    _lock: File,
}

/// Whether a path still names a file that was opened there.
fn is_at(path: &Path, file: &File) -> bool {
    let id = |known: fs::Metadata| (known.dev(), known.ino());
    let (named, opened) = (path.symlink_metadata().map(id), file.metadata().map(id));
    matches!((named, opened), (Ok(named), Ok(opened)) if named == opened)
}

/// Locks a file for as long as it is open. Refuses one that another command has. Where a file system has no locks, there is none.
fn lock(beside: &Path, file: &File) -> Result<(), Failure> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(busy(beside)),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn busy(beside: &Path) -> Failure {
    Failure::refused(
        format!("another command is fetching a file to the same place, see {}", beside.display()),
        "wait until it is done, or name another place",
    )
}

/// Removes what a command that was killed left, or a link or anything else that somebody put there. A link is not followed.
fn clear(beside: &Path) -> Result<(), Failure> {
    if beside.symlink_metadata().is_ok_and(|known| known.is_file())
        && let Ok(left) = File::open(beside)
    {
        lock(beside, &left)?;
        if !is_at(beside, &left) {
            return Ok(());
        }
        return remove(beside);
    }
    remove(beside)
}

fn remove(beside: &Path) -> Result<(), Failure> {
    match fs::remove_file(beside) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Failure::file(beside)(error)),
        _ => Ok(()),
    }
}

impl Part {
    /// Makes the file beside a place, unless another command writes to the same place. What a command that was killed left there goes. A link that somebody
    /// put there is not followed.
    pub(super) fn create(place: &Path) -> Result<(Self, File), Failure> {
        let beside = local::beside(place);
        for _ in 0..TRIES {
            let file = match File::options().write(true).create_new(true).open(&beside) {
                Ok(file) => file,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                    clear(&beside)?;
                    continue;
                }
                Err(error) => return Err(Failure::file(&beside)(error)),
            };
            lock(&beside, &file)?;
            // Before it was locked, another command may have taken it for one that was left.
            if is_at(&beside, &file) {
                let _lock = file.try_clone().map_err(Failure::file(&beside))?;
                return Ok((Self { beside, is_whole: false, _lock }, file));
            }
        }
        Err(busy(&beside))
    }

    /// Where it stands.
    pub(super) fn path(&self) -> &Path {
        &self.beside
    }

    /// Puts it in its place: it is whole.
    pub(super) fn keep(mut self, place: &Path) -> Result<(), Failure> {
        fs::rename(&self.beside, place).map_err(Failure::file(place))?;
        self.is_whole = true;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_whole {
            // The next command to that place removes what stays.
            let _ = fs::remove_file(&self.beside);
        }
    }
}

/// Does work that writes parts of files, and drops it where Ctrl-C or a signal comes. Everything before that is ended by the system at once, so that no
/// question of a command waits for an answer that nobody wants to give.
pub(super) async fn unless_stopped<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let mut signals = StopSignals::listen()?;
    tokio::select! {
        done = work => done,
        told = signals.signalled() => {
            told?;
            Err(Failure::Coded { message: "stopped: no part of a file is left".into(), code: STOPPED })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::os::unix::fs::symlink;
    use std::process::Command;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is a folder").flatten();
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    /// A file is in its place once it is whole; before, and where it never is, nothing is.
    #[test]
    fn a_part_is_kept_or_goes() {
        let folder = tempfile::tempdir().expect("a folder");
        let (place, other) = (folder.path().join("a.txt"), folder.path().join("other"));
        let (part, mut file) = Part::create(&place).expect("the folder is writable");
        file.write_all(b"half").expect("it is writable");
        assert_eq!(names(folder.path()), ["a.txt~part"]);
        drop(part);
        assert_eq!(names(folder.path()), Vec::<String>::new());

        fs::write(&other, "of somebody else").expect("it is writable");
        symlink(&other, local::beside(&place)).expect("it is made");
        let (part, mut file) = Part::create(&place).expect("what is there goes");
        file.write_all(b"whole").expect("it is writable");
        part.keep(&place).expect("the folder is writable");
        assert_eq!(fs::read_to_string(&place).ok().as_deref(), Some("whole"));
        assert_eq!(fs::read_to_string(&other).ok().as_deref(), Some("of somebody else"));
        assert!(!local::beside(&place).exists());
    }

    /// Two commands that write to one place do not share a part, and the second one says why it fails. The first one's part stays what it was.
    #[test]
    fn a_place_has_one_writer() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a.txt");
        let (part, mut file) = Part::create(&place).expect("the folder is writable");
        file.write_all(b"wh").expect("it is writable");
        let refused = Part::create(&place).expect_err("another one writes it").to_string();
        assert!(refused.contains("another command") && refused.contains("a.txt~part"), "{refused}");
        file.write_all(b"ole").expect("it is writable");
        drop(file);
        assert!(Part::create(&place).is_err(), "it is written until it is in its place");
        part.keep(&place).expect("nobody took it");
        assert_eq!(fs::read_to_string(&place).ok().as_deref(), Some("whole"));
        drop(Part::create(&place).expect("the first one is done"));

        fs::write(local::beside(&place), "left by a command that was killed").expect("it is writable");
        fs::hard_link(local::beside(&place), folder.path().join("other")).expect("it is made");
        let (_part, file) = Part::create(&place).expect("what is left goes");
        assert_eq!(file.metadata().expect("it is open").len(), 0);
        assert!(fs::read(folder.path().join("other")).is_ok_and(|bytes| !bytes.is_empty()), "nothing is written into what was there");
    }

    /// Ctrl-C ends the work in the middle of a file, of which nothing is left.
    #[tokio::test]
    async fn a_stopped_command_leaves_no_part() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a.txt");
        let work = async {
            let (_part, _file) = Part::create(&place)?;
            let told = Command::new("kill").args(["-INT", &std::process::id().to_string()]).status();
            assert!(told.is_ok_and(|status| status.success()));
            std::future::pending::<Result<(), Failure>>().await
        };
        let done = unless_stopped(work).await;
        assert!(matches!(done, Err(Failure::Coded { code: STOPPED, .. })), "{done:?}");
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
