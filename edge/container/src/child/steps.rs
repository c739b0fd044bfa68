//! How two processes that make a box wait for each other.

use crate::message;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

/// Lets the other side continue.
pub(super) fn go(socket: &OwnedFd) -> io::Result<()> {
    message::send(socket.as_fd(), &(), &[])
}

/// Waits until the other side continues.
pub(super) fn wait_for_ready(socket: &OwnedFd) -> io::Result<()> {
    message::receive::<()>(socket.as_fd())?.map(drop).ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}
