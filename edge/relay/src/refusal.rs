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
    #[error("the relay's disk fails")]
    Disk(#[from] io::Error),
    #[error(transparent)]
    Wire(#[from] WireError),
}

/// Work on the disk. It holds no other task up.
pub(crate) fn on_disk<T>(work: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    tokio::task::block_in_place(work)
}
