//! System calls that have no safe wrapper. Everything unsafe is here.
#![allow(unsafe_code, reason = "no crate of the tree wraps these calls; each block says why it is sound")]

use rustix::process::Pid;
use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};

/// Namespaces of a box that belong to the host's user namespace: root in the box has no power over them.
const NAMESPACES: libc::c_int =
    libc::CLONE_NEWPID | libc::CLONE_NEWNS | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS | libc::SIGCHLD;

/// Attributes of a mount, as `mount_setattr` takes them.
#[repr(C)]
struct MountAttributes {
    set: u64,
    clear: u64,
    propagation: u64,
    user_namespace: u64,
}

/// What a mount forbids.
pub(crate) mod forbid {
    pub(crate) const WRITING: u64 = libc::MOUNT_ATTR_RDONLY;
    pub(crate) const SETUID: u64 = libc::MOUNT_ATTR_NOSUID;
    pub(crate) const DEVICES: u64 = libc::MOUNT_ATTR_NODEV;
    pub(crate) const EXECUTION: u64 = libc::MOUNT_ATTR_NOEXEC;
}

fn check(result: libc::c_long) -> io::Result<libc::c_long> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

fn pid(result: libc::c_long) -> Option<Pid> {
    i32::try_from(result).ok().and_then(Pid::from_raw)
}

/// Forks into new namespaces. None is the child.
///
/// The process must have a single thread, because a lock that another thread holds stays locked in the child.
pub(crate) fn fork_into_namespaces() -> io::Result<Option<Pid>> {
    // SAFETY: without CLONE_VM and with no stack, clone is fork: the child has a copy of the memory. No other thread holds a lock.
    let result = unsafe { libc::syscall(libc::SYS_clone, NAMESPACES, 0, 0, 0, 0) };
    check(result).map(pid)
}

/// Forks. None is the child. The process must have a single thread.
pub(crate) fn fork() -> io::Result<Option<Pid>> {
    // SAFETY: no other thread holds a lock that the child would need.
    let result = unsafe { libc::fork() };
    check(result.into()).map(pid)
}

/// Moves this process into a new user namespace, or a new control group namespace.
pub(crate) fn unshare(flag: libc::c_int) -> io::Result<()> {
    // SAFETY: neither namespace affects memory or files of the process.
    check(unsafe { libc::unshare(flag) }.into()).map(drop)
}

/// Closes all files from this one on.
pub(crate) fn close_from(first: u32, at_exec: bool) -> io::Result<()> {
    let flags = if at_exec { libc::CLOSE_RANGE_CLOEXEC } else { 0 };
    // SAFETY: before anything is opened no value owns these files; at exec no value is left.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, flags) }).map(drop)
}

/// Forbids something on a mount. With a user namespace, ids of the files are mapped by it.
pub(crate) fn restrict_mount(mount: BorrowedFd<'_>, forbidden: u64, ids: Option<BorrowedFd<'_>>) -> io::Result<()> {
    let attributes = MountAttributes {
        set: forbidden | ids.map_or(0, |_| libc::MOUNT_ATTR_IDMAP),
        clear: 0,
        propagation: 0,
        user_namespace: ids.map_or(0, |file| u64::try_from(file.as_raw_fd()).unwrap_or_default()),
    };
    // SAFETY: the path is a string that ends with zero, the attributes have the layout of `struct mount_attr`, and both outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<MountAttributes>(),
        )
    };
    check(result).map(drop)
}

/// Turns loopback on, in the network namespace of this process.
pub(crate) fn loopback_up() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: all bytes zero are a valid request.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::try_from(*from).unwrap_or_default();
    }
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(libc::IFF_UP).unwrap_or_default();
    // SAFETY: the request has the type that SIOCSIFFLAGS reads, and outlives the call.
    check(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }.into()).map(drop)
}
