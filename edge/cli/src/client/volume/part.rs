//! A file that is fetched: it stands beside its place until it is whole, and goes where the command fails or is stopped before.

use super::local;
use crate::daemon::serving::StopSignals;
use cowboy_console::failure::Failure;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// The exit code of a command that was stopped: 128, and the number of SIGINT, as shells have it.
const STOPPED: u8 = 130;

/// A file that is not whole yet.
#[derive(Debug)]
pub(super) struct Part {
    beside: PathBuf,
    is_whole: bool,
}

impl Part {
    /// Makes the file beside a place. What a command that was killed left there goes. A link that somebody put there is not followed.
    pub(super) fn create(place: &Path) -> Result<(Self, File), Failure> {
        let beside = local::beside(place);
        match fs::remove_file(&beside) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(Failure::file(&beside)(error)),
            _ => {}
        }
        let file = File::options().write(true).create_new(true).open(&beside).map_err(Failure::file(&beside))?;
        Ok((Self { beside, is_whole: false }, file))
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

/// Waits until Ctrl-C or a signal stops the command, whose work is then dropped. Forever where it does not listen: the system ends it.
pub(super) async fn stopped(signals: &mut Option<StopSignals>) -> Result<(), Failure> {
    let Some(signals) = signals else { return std::future::pending().await };
    signals.signalled().await?;
    Err(Failure::Coded { message: "stopped: no part of a file is left".into(), code: STOPPED })
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

    /// Ctrl-C ends the work in the middle of a file, of which nothing is left.
    #[tokio::test]
    async fn a_stopped_command_leaves_no_part() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("a.txt");
        let mut signals = Some(StopSignals::listen().expect("the system lets it listen"));
        let work = async {
            let (_part, _file) = Part::create(&place)?;
            let told = Command::new("kill").args(["-INT", &std::process::id().to_string()]).status();
            assert!(told.is_ok_and(|status| status.success()));
            std::future::pending::<Result<(), Failure>>().await
        };
        let done: Result<(), Failure> = tokio::select! {
            done = work => done,
            told = stopped(&mut signals) => told,
        };
        assert!(matches!(done, Err(Failure::Coded { code: STOPPED, .. })), "{done:?}");
        assert_eq!(names(folder.path()), Vec::<String>::new());
    }
}
