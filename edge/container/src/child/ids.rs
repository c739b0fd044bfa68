//! Ids of users: which ones of the host the processes of a box have, and which ones of a box the files of the host have.

use super::{Done, Step, steps};
use crate::sys;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, WaitOptions, waitpid};
use std::fs::{self, File};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// Writes which ids of the host a process of a new user namespace has.
pub(super) fn write(process: Pid, map: &str) -> Done {
    for name in ["uid_map", "gid_map"] {
        fs::write(format!("/proc/{}/{name}", process.as_raw_nonzero()), map).step(format!("write {name}"))?;
    }
    Ok(())
}

/// A user namespace without processes. Mounts use its map: a file of the host's root is the program's in the box.
pub(super) struct FileIds(OwnedFd);

impl FileIds {
    /// For the box with this first id.
    pub(super) fn new(first_id: u32) -> Done<Self> {
        let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
            .step("connect to the namespace of file ids")?;
        let Some(child) = sys::fork().step("fork")? else {
            drop(ours);
            let is_done = sys::unshare(libc::CLONE_NEWUSER).and_then(|()| steps::go(&theirs)).and_then(|()| steps::wait_for_ready(&theirs));
            std::process::exit(i32::from(is_done.is_err()));
        };
        drop(theirs);
        let ids = steps::wait_for_ready(&ours).step("make a user namespace").and_then(|()| {
            write(child, &format!("0 {} 1\n", first_id + 1))?;
            File::open(format!("/proc/{}/ns/user", child.as_raw_nonzero())).step("open a user namespace")
        });
        drop(ours);
        waitpid(Some(child), WaitOptions::empty()).step("wait for the namespace of file ids")?;
        Ok(Self(ids?.into()))
    }
}

impl AsFd for FileIds {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
