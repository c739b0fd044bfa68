//! Why requests are not done.

use crate::session::Denied;
use cowboy_volume::wire::WireError;
use std::io;

/// Why a request is not done.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error("{0}")]
    Said(&'static str),
    #[error("{}", of_disk(.0))]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// What a client is told of a disk; the log has the rest.
fn of_disk(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "the relay's disk is full",
        _ => "the relay's disk fails",
    }
}

/// Work on the disk. It holds no other task up.
pub(crate) fn on_disk<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    tokio::task::block_in_place(work)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer hears that the disk is full, and nothing else about the computer.
    #[test]
    fn a_full_disk_is_said_to_writers() {
        let said = |error: io::Error| Refusal::from(error).to_string();
        assert_eq!(said(io::ErrorKind::StorageFull.into()), "the relay's disk is full");
        assert_eq!(said(io::Error::other("/srv/relay is gone")), "the relay's disk fails");
    }
}
