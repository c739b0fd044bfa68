//! The helper: a process with one thread that builds a box and waits for its end.
//!
//! The helper itself stays outside as the host's root and does nothing but wait. Its child is process 1 of the box; it builds the root, becomes nobody, and
//! forks the program.

pub(crate) mod checks;
mod filter;
mod ids;
mod init;
mod list;
mod program;
mod root;
mod steps;

use crate::message::{self, Order, Report};
use crate::sys;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{Pid, PidfdFlags, Signal, WaitOptions, pidfd_open, pidfd_send_signal, waitpid};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::process::ExitCode;
use zeroize::Zeroizing;

/// Families of system calls that no program in a box has: the name of each, and the reason.
pub fn refused_calls() -> impl Iterator<Item = (&'static str, &'static str)> {
    list::DENY.iter().map(|family| (family.name, family.reason))
}

/// A step that failed.
pub(crate) struct Failure {
    step: String,
    reason: io::Error,
}

pub(crate) type Done<T = ()> = Result<T, Failure>;

/// Names the step that a failure belongs to.
pub(crate) trait Step<T> {
    fn step(self, step: impl Into<String>) -> Done<T>;
}

impl<T, E: Into<io::Error>> Step<T> for Result<T, E> {
    fn step(self, step: impl Into<String>) -> Done<T> {
        self.map_err(|error| Failure { step: step.into(), reason: error.into() })
    }
}

impl Failure {
    fn report(&self) -> Report {
        Report::Failed { step: self.step.clone(), errno: self.reason.raw_os_error().unwrap_or(libc::EIO) }
    }
}

/// Runs the helper. The program that [`crate::Helper`] names calls this first, before it starts a thread; standard input is the socket of the host.
pub fn child_main() -> ExitCode {
    match help() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            let stdin = io::stdin();
            // If the host is gone, nobody is left to hear it.
            let _ = message::send(stdin.as_fd(), &failure.report(), &[]);
            ExitCode::FAILURE
        }
    }
}

fn help() -> Done {
    sys::close_from(3, false).step("close inherited files")?;
    let socket = io::stdin().as_fd().try_clone_to_owned().step("take the socket of the host")?;
    let (mut order, stdin) = read_order(socket.as_fd()).step("read the order")?;
    let (ours, theirs) =
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).step("connect to process 1 of the box")?;
    let ids = ids::FileIds::new(order.first_id)?;
    let Some(child) = sys::fork_into_namespaces().step("make namespaces")? else {
        drop(ours);
        let is_done = init::run(order, &socket, theirs, stdin, &ids);
        let code = is_done.map_or_else(|failure| message::send(socket.as_fd(), &failure.report(), &[]).map_or(1, |()| 1), |()| 0);
        std::process::exit(code);
    };
    drop((theirs, stdin, ids));
    order.secrets.clear();
    let quiet = File::options().read(true).write(true).open("/dev/null").step("open /dev/null")?;
    let waiting = wait(&order, child, socket.as_fd(), ours, &quiet);
    end(child);
    waiting
}

fn read_order(socket: BorrowedFd<'_>) -> io::Result<(Order, OwnedFd)> {
    let gone = || io::Error::from(io::ErrorKind::UnexpectedEof);
    let ((), files) = message::receive(socket)?.ok_or_else(gone)?;
    let [order, stdin] = <[OwnedFd; 2]>::try_from(files).map_err(|_| gone())?;
    let mut bytes = Zeroizing::new(Vec::new());
    File::from(order).read_to_end(&mut bytes)?;
    Ok((serde_json::from_slice(&bytes)?, stdin))
}

fn wait(order: &Order, child: Pid, host: BorrowedFd<'_>, inner: OwnedFd, quiet: &File) -> Done {
    let handle = pidfd_open(child, PidfdFlags::empty()).step("watch process 1 of the box")?;
    for group in &order.groups {
        fs::write(group, child.as_raw_nonzero().to_string()).step(format!("join {}", group.display()))?;
    }
    steps::go(&inner).step("start process 1 of the box")?;
    // The output of the box ends with its last process.
    rustix::stdio::dup2_stdout(quiet).step("close standard output")?;
    rustix::stdio::dup2_stderr(quiet).step("close standard error")?;
    if steps::wait_for_ready(&inner).is_ok() {
        map_ids(child, order.first_id)?;
        steps::go(&inner).step("continue process 1 of the box")?;
    }
    drop(inner);
    watch(host, &handle).step("wait for the end of the box")
}

/// Writes which ids of the host root and the program have.
fn map_ids(child: Pid, first_id: u32) -> Done {
    ids::write(child, &format!("0 {first_id} 1\n{} {} 1\n", program::ID, first_id + 1))
}

/// Returns when the box ended, or when the host wants it to end: it sends nothing, so anything on its socket is the end of it.
fn watch(host: BorrowedFd<'_>, child: &OwnedFd) -> io::Result<()> {
    loop {
        let mut files = [PollFd::new(&host, PollFlags::IN), PollFd::new(child, PollFlags::IN)];
        match poll(&mut files, None) {
            Ok(_) if files.iter().any(|file| !file.revents().is_empty()) => return Ok(()),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Ends process 1, and with it every process of its namespace.
fn end(child: Pid) {
    if let Ok(handle) = pidfd_open(child, PidfdFlags::empty()) {
        let _ = pidfd_send_signal(handle, Signal::KILL);
    }
    while let Err(Errno::INTR) = waitpid(Some(child), WaitOptions::empty()) {}
}
