//! Why a request fails: what an answer of S3 and an errno are made of.

use cowboy_console::failure::Failure;
use cowboy_volume::VolumeError;
use std::io;
use std::sync::Arc;

/// Why a request fails. It can be told to several who wait for one commit.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The volume has no such partition.
    #[error("the volume has no partition {0}")]
    NoPartition(String),
    /// There is no such file.
    #[error("{0} is not there")]
    NoFile(String),
    /// Volumes have no such path.
    #[error("{0:?} is no path of a volume: parts have 1 to 64 letters, digits, _, . and -, and all of it has at most 512 bytes")]
    Path(String),
    /// The account may not.
    #[error("{0}")]
    Forbidden(&'static str),
    /// What the request says has to hold does not.
    #[error("the file is not what the request says that it has to be")]
    Condition,
    /// A file is longer than volumes take.
    #[error("a file has at most 1 GiB")]
    TooLong,
    /// A path would be a file, and a directory of others.
    #[error("{0}")]
    Clash(String),
    /// The volume has no room.
    #[error("{0}")]
    OverQuota(String),
    /// Files that are not committed take all the room that they may.
    #[error("files that are not committed yet take all of the {0} bytes that they may: try again, or give more with --spool-size")]
    SpoolFull(u64),
    /// The disk has no room for files that are not committed.
    #[error(
        "the disk has too little free room for files that are not committed yet: free some, or name a folder on another disk with --spool"
    )]
    DiskFull,
    /// The body is not as long as it was said.
    #[error("the body is not as long as the request says")]
    Incomplete,
    /// The body did not come as it was signed, or the client went.
    #[error("the body cannot be taken: {0}")]
    Broken(String),
    /// The body has another checksum.
    #[error("the body does not have the {0} that the request says")]
    Digest(&'static str),
    /// Somebody else commits all the time.
    #[error("others commit to the partition all the time: try again")]
    Busy,
    /// The program ends.
    #[error("the program ends")]
    Closed,
    /// Relays, the chain, or the disk.
    #[error("{0}")]
    Outside(Arc<str>),
}

impl Fault {
    /// A fault of relays, the chain, or the disk.
    pub(crate) fn outside(error: impl std::fmt::Display) -> Self {
        Self::Outside(error.to_string().into())
    }

    /// Its first line, for a log.
    pub(crate) fn headline(&self) -> String {
        self.to_string().lines().next().unwrap_or_default().to_owned()
    }

    /// Whether the same may succeed later: relays, nodes and other writers come and go, and room becomes free. What fails for anything else fails again.
    pub(crate) fn may_pass(&self) -> bool {
        matches!(self, Self::Outside(_) | Self::Busy | Self::OverQuota(_))
    }

    /// Whether files that are not committed have no room. Those that become committed make some.
    pub(crate) fn is_without_room(&self) -> bool {
        matches!(self, Self::SpoolFull(_) | Self::DiskFull)
    }
}

impl From<VolumeError> for Fault {
    fn from(error: VolumeError) -> Self {
        match error {
            VolumeError::NoPartition(name) => Self::NoPartition(name),
            VolumeError::NoFile(path) => Self::NoFile(path),
            VolumeError::OverQuota { .. } | VolumeError::Full => Self::OverQuota(error.to_string()),
            VolumeError::Clash(_) => Self::Clash(error.to_string()),
            error => Self::outside(error),
        }
    }
}

impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        Self::outside(failure)
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::DiskFull,
            _ => Self::outside(error),
        }
    }
}
