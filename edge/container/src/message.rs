//! What the host and the helper of a box say to each other: packets of JSON over a socket pair, each with at most two files.

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use zeroize::Zeroize as _;

/// Where the proxy listens, inside.
pub(crate) const PROXY_PORT: u16 = 3128;

const PACKET_BYTES: usize = 4096;

/// What the helper does. It comes as a file, because it has no bound that a packet has; the second file is the program's standard input.
#[derive(Serialize, Deserialize)]
pub(crate) struct Order {
    pub(crate) rootfs: PathBuf,
    /// Empty folder of the host that the root of the box is mounted over.
    pub(crate) root: PathBuf,
    /// The files `cgroup.procs` that the box joins.
    pub(crate) groups: Vec<PathBuf>,
    /// Id of the host for root in the box; the next one is the program's.
    pub(crate) first_id: u32,
    pub(crate) task: Task,
    pub(crate) working_dir: String,
    pub(crate) env: Vec<(String, String)>,
    pub(crate) pids: u32,
    pub(crate) scratch_bytes: u64,
    pub(crate) scratch_inodes: u64,
    pub(crate) mounts: Vec<OrderedMount>,
    pub(crate) secrets: Vec<Secret>,
    pub(crate) has_listener: bool,
}

/// What runs in the box.
#[derive(Serialize, Deserialize)]
pub(crate) enum Task {
    /// A program of the image.
    Program(Vec<String>),
    /// The test of the limits that `probe` makes.
    Probe,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct OrderedMount {
    pub(crate) source: PathBuf,
    pub(crate) name: String,
    /// Bytes that may be written, if any may be.
    pub(crate) max_bytes: Option<u64>,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Secret {
    pub(crate) name: String,
    pub(crate) value: Vec<u8>,
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.value.zeroize();
    }
}

/// What the helper says.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Report {
    /// With a socket that listens inside.
    Listening,
    /// With the scratch folder `/workspace`.
    Workspace,
    /// With the upper folder of the overlay of this name.
    Changes(String),
    /// The program runs.
    Started,
    /// The program ended.
    Exited(i32),
    /// The program ended by a signal.
    Killed(i32),
    /// The program cannot be executed.
    NoProgram(i32),
    /// A step failed.
    Failed { step: String, errno: i32 },
}

/// Sends a packet.
pub(crate) fn send(socket: BorrowedFd<'_>, message: &impl Serialize, files: &[BorrowedFd<'_>]) -> io::Result<()> {
    let bytes = serde_json::to_vec(message)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::Error::other("too many files for a packet"));
    }
    sendmsg(socket, &[IoSlice::new(&bytes)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives a packet; none where the other end is closed.
pub(crate) fn receive<T: DeserializeOwned>(socket: BorrowedFd<'_>) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut bytes = [0; PACKET_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = loop {
        match recvmsg(socket.as_fd(), &mut [IoSliceMut::new(&mut bytes)], &mut control, RecvFlags::CMSG_CLOEXEC) {
            Err(Errno::INTR) => {}
            other => break other?,
        }
    };
    let rights = |message| if let RecvAncillaryMessage::ScmRights(files) = message { Some(files) } else { None };
    let files = control.drain().filter_map(rights).flatten().collect();
    if got.bytes == 0 {
        return Ok(None);
    }
    Ok(Some((serde_json::from_slice(&bytes[..got.bytes])?, files)))
}
