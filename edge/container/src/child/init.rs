//! Process 1 of a box. It builds the box as the host's root, then gives up every power, forks the program and waits for it.

use super::ids::FileIds;
use super::steps::{go, wait_for_ready};
use super::{Done, Step, filter, program, root};
use crate::message::{self, Order, PROXY_PORT, Report};
use crate::sys;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, set_parent_process_death_signal, wait};
use rustix::thread::{CapabilitySet, CapabilitySets, Gid, Uid};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd as _, OwnedFd};

/// Builds the box, and returns when the program ended.
pub(super) fn run(mut order: Order, host: &OwnedFd, helper: OwnedFd, stdin: OwnedFd, ids: &FileIds) -> Done {
    // Without the helper nobody would notice that the host is gone.
    set_parent_process_death_signal(Some(Signal::KILL)).step("end with the helper")?;
    wait_for_ready(&helper).step("wait for the helper")?;
    rustix::process::setsid().step("make a session")?;
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    // Where the computer runs out of memory, a box ends before anything else.
    fs::write("/proc/self/oom_score_adj", "1000").step("set oom_score_adj")?;
    sys::unshare(libc::CLONE_NEWCGROUP).step("make a control group namespace")?;
    rustix::system::sethostname(b"box").step("set the name of the host")?;
    sys::loopback_up().step("turn loopback on")?;
    if order.has_listener {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT)).step("listen for the proxy")?;
        message::send(host.as_fd(), &Report::Listening, &[listener.as_fd()]).step("hand over the listener")?;
    }
    root::build(&order, host, ids)?;
    order.secrets.clear();
    become_nobody(&helper)?;
    let (reading, writing) = pipe_with(PipeFlags::CLOEXEC).step("make a pipe")?;
    let Some(child) = sys::fork().step("fork")? else {
        let failure = program::run(&order, stdin, writing);
        // What cannot be said here is noticed as an exit without a start.
        let _ = message::send(host.as_fd(), &failure.report(), &[]);
        std::process::exit(127);
    };
    drop((writing, stdin, helper));
    drop_power()?;
    let errno = read_errno(reading).step("wait for the start")?;
    if errno != 0 {
        return message::send(host.as_fd(), &Report::NoProgram(errno), &[]).step("report the start");
    }
    message::send(host.as_fd(), &Report::Started, &[]).step("report the start")?;
    let report = wait_for(child).step("wait for the program")?;
    message::send(host.as_fd(), &report, &[]).step("report the end")
}

/// Root in a new user namespace, that is an id of the host that owns nothing.
fn become_nobody(helper: &OwnedFd) -> Done {
    sys::unshare(libc::CLONE_NEWUSER).step("make a user namespace")?;
    go(helper).step("ask for ids")?;
    wait_for_ready(helper).step("wait for ids")?;
    rustix::thread::set_thread_groups(&[]).step("leave all groups")?;
    let (uid, gid) = (Uid::ROOT, Gid::ROOT);
    rustix::thread::set_thread_res_gid(gid, gid, gid).step("change the group")?;
    rustix::thread::set_thread_res_uid(uid, uid, uid).step("change the user")?;
    // The change of the user clears it.
    set_parent_process_death_signal(Some(Signal::KILL)).step("end with the helper")?;
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).step("hide the memory")
}

/// From here on, process 1 can do no more than the program.
fn drop_power() -> Done {
    let none = CapabilitySets { effective: CapabilitySet::empty(), permitted: CapabilitySet::empty(), inheritable: CapabilitySet::empty() };
    rustix::thread::set_capabilities(None, none).step("drop capabilities")?;
    rustix::thread::set_no_new_privs(true).step("set no_new_privs")?;
    filter::apply()
}

fn read_errno(pipe: OwnedFd) -> io::Result<i32> {
    let mut bytes = Vec::new();
    File::from(pipe).read_to_end(&mut bytes)?;
    Ok(<[u8; 4]>::try_from(bytes).map_or(0, i32::from_le_bytes))
}

/// Waits for the program, and for orphans until then.
fn wait_for(child: Pid) -> io::Result<Report> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == child => return Ok(report(status)),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn report(status: WaitStatus) -> Report {
    match status.terminating_signal() {
        Some(signal) => Report::Killed(signal),
        None => Report::Exited(status.exit_status().unwrap_or(-1)),
    }
}
