//! What the operating system lets this process have: raised where that is possible, checked at the start, and told by its name.

use crate::Slots;
#[cfg(unix)]
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// File descriptors that the engine, the ledger and the connections to other nodes have for themselves.
const RESERVED_FILES: u64 = 320;

/// The file descriptor up to which the kernel makes room at the start: the last one below the soft limit that is usual.
#[cfg(unix)]
const LAST_AT_START: std::os::fd::RawFd = 1_023;

/// The fewest connections for which a server is worth starting.
const MIN_CONNECTIONS: u64 = 64;

/// The connections of a process, where nothing else is said and its files allow it.
pub const MAX_CONNECTIONS: usize = 4_096;

/// The smallest address space that a node is started in, in bytes: its stacks and caches, and the memory of what runs at once.
const MIN_ADDRESS_SPACE: u64 = 4 * 1024 * 1024 * 1024;

/// The smallest file that a node must be allowed to write, in bytes: a ledger of some days.
const MIN_FILE_BYTES: u64 = 1024 * 1024 * 1024;

const MIB: u64 = 1024 * 1024;

/// A limit that is too low for a node, or for a service beside one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LimitError {
    /// Of file descriptors.
    #[error(
        "this process may open {files} files, and needs {needed}: raise the limit with `ulimit -n 4096`, or with LimitNOFILE=4096 in the systemd unit"
    )]
    Files {
        /// Those that it may open.
        files: u64,
        /// Those that it needs.
        needed: u64,
    },
    /// Of a file's size.
    #[error(
        "this process may write files of {} MiB, and needs {}: remove the limit with `ulimit -f unlimited`, or with LimitFSIZE=infinity in the systemd unit",
        .0 / MIB,
        MIN_FILE_BYTES / MIB
    )]
    FileSize(u64),
    /// Of memory.
    #[error(
        "this process may use {} MiB of address space, and needs {}: remove the limit with `ulimit -v unlimited`, or with LimitAS=infinity in the systemd unit; bound its resident memory instead, with MemoryMax",
        .0 / MIB,
        MIN_ADDRESS_SPACE / MIB
    )]
    AddressSpace(u64),
}

/// The limits of this process; absent where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    files: Option<u64>,
    file_bytes: Option<u64>,
    address_space: Option<u64>,
}

impl Limits {
    /// Raises the limit of file descriptors as far as this user may, and reads all of them.
    #[cfg(unix)]
    pub fn raised() -> Self {
        let files = getrlimit(Resource::Nofile);
        if files.current != files.maximum {
            // Some systems have a lower bound than they say.
            for wanted in [files.maximum, Some(10_240)] {
                let wanted = Rlimit { current: wanted, maximum: files.maximum };
                if setrlimit(Resource::Nofile, wanted).is_ok() {
                    break;
                }
            }
        }
        Self {
            files: getrlimit(Resource::Nofile).current,
            file_bytes: getrlimit(Resource::Fsize).current,
            address_space: getrlimit(Resource::As).current,
        }
    }

    /// There are none to read.
    #[cfg(not(unix))]
    pub fn raised() -> Self {
        Self::default()
    }

    /// Limits of which the one of file descriptors is this.
    pub fn of_files(files: u64) -> Self {
        Self { files: Some(files), ..Self::default() }
    }

    /// The files that may be open beside `reserved` ones, none where there is no limit. Fails where they are fewer than `least`.
    pub fn files_beside(&self, reserved: u64, least: u64) -> Result<Option<u64>, LimitError> {
        let Some(files) = self.files else { return Ok(None) };
        let needed = reserved.saturating_add(least);
        if files < needed {
            return Err(LimitError::Files { files, needed });
        }
        Ok(Some(files.saturating_sub(reserved)))
    }

    /// The connections that may be open after what the engine needs, `most` at most. Fails where a limit is too low to run a node.
    pub fn slots(&self, most: usize) -> Result<Slots, LimitError> {
        let below = |limit: Option<u64>, least: u64| limit.filter(|limit| *limit < least);
        let files = self.files_beside(RESERVED_FILES, MIN_CONNECTIONS)?;
        if let Some(bytes) = below(self.file_bytes, MIN_FILE_BYTES) {
            return Err(LimitError::FileSize(bytes));
        }
        if let Some(bytes) = below(self.address_space, MIN_ADDRESS_SPACE) {
            return Err(LimitError::AddressSpace(bytes));
        }
        let room = files.map(|files| usize::try_from(files).unwrap_or(usize::MAX));
        Ok(Slots::new(room.map_or(most, |room| room.min(most))))
    }
}

/// Lets only this user read the files that this process makes: keys, mnemonics, the chain.
pub fn keep_files_private() {
    #[cfg(unix)]
    rustix::process::umask(rustix::fs::Mode::RWXG | rustix::fs::Mode::RWXO);
}

/// Has the kernel make room for file descriptors while the process has one thread. Later, Linux has whoever opens the 65th file wait until every processor has
/// gone through its scheduler, which takes 5 to 15 ms.
pub(crate) fn make_room_for_files() {
    // Where the limit is lower, room is made when it is needed.
    #[cfg(unix)]
    drop(rustix::io::fcntl_dupfd_cloexec(std::io::stderr(), LAST_AT_START));
}

/// Makes a file that grows beyond the process's limit an error, instead of the end of the process. Needs a tokio runtime.
pub fn survive_file_size_limit() -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        // Once there is a handler, it stays: what it returns is not needed.
        drop(signal(SignalKind::from_raw(libc::SIGXFSZ))?);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_are_too_low_are_told_by_name() {
        let none = Limits::default();
        let rows = [
            (none, Ok(MAX_CONNECTIONS)),
            (Limits { files: Some(64), ..none }, Err("`ulimit -n 4096`")),
            (Limits { files: Some(RESERVED_FILES + MIN_CONNECTIONS - 1), ..none }, Err("and needs 384")),
            (Limits { files: Some(RESERVED_FILES + MIN_CONNECTIONS), ..none }, Ok(64)),
            (Limits { files: Some(1_024), ..none }, Ok(704)),
            (Limits { files: Some(1_048_576), ..none }, Ok(MAX_CONNECTIONS)),
            (Limits { file_bytes: Some(MIB), ..none }, Err("files of 1 MiB")),
            (Limits { file_bytes: Some(MIN_FILE_BYTES), ..none }, Ok(MAX_CONNECTIONS)),
            (Limits { address_space: Some(300 * MIB), ..none }, Err("may use 300 MiB of address space, and needs 4096")),
        ];
        for (limits, expected) in rows {
            match (limits.slots(MAX_CONNECTIONS), expected) {
                (Ok(slots), Ok(room)) => {
                    let address = std::net::IpAddr::from([192, 0, 2, 1]);
                    let taken: Vec<_> = std::iter::from_fn(|| slots.take(address, usize::MAX).ok()).collect();
                    assert_eq!(taken.len(), room, "{limits:?}");
                }
                (Err(error), Err(words)) => assert!(error.to_string().contains(words), "{error}"),
                (found, _) => panic!("{limits:?}: {:?}", found.map(|slots| slots.open())),
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_soft_limit_of_files_is_raised_to_the_hard_one() {
        let hard = getrlimit(Resource::Nofile).maximum;
        assert!(Limits::raised().files.is_none_or(|files| files >= hard.unwrap_or(10_240).min(10_240)));
    }
}
