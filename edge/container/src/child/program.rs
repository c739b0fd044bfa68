//! The last steps before a program of an image runs: it becomes user 1000 without any power, behind a filter of system calls and Landlock.

use super::{Done, Failure, Step, checks, filter};
use crate::message::{Order, Task};
use crate::plan::MOUNT_FOLDER;
use crate::sys;
use landlock::{
    ABI, Access as _, AccessFs, RestrictionStatus, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope,
    path_beneath_rules,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{
    CapabilitiesSecureBits, CapabilitySet, CapabilitySets, Gid, Uid, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities, set_capabilities_secure_bits,
};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// User and group of the program, in the box.
pub(super) const ID: u32 = 1000;

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Runs the program, and returns only if that failed. A failed execution is written to the pipe; otherwise the execution closes it.
pub(super) fn run(order: &Order, stdin: OwnedFd, pipe: OwnedFd) -> Failure {
    if let Err(failure) = prepare(order, stdin) {
        return failure;
    }
    let command = match &order.task {
        Task::Program(command) => command,
        Task::Probe => {
            drop(pipe);
            std::process::exit(checks::run());
        }
    };
    let mut process = Command::new(&command[0]);
    process.args(&command[1..]).env_clear().env("PATH", PATH).env("HOME", "/workspace").envs(order.env.iter().map(|(k, v)| (k, v)));
    let error =
        sys::close_from(3, true).and_then(|()| std::env::set_current_dir(&order.working_dir)).err().unwrap_or_else(|| process.exec());
    let errno = error.raw_os_error().unwrap_or(libc::ENOEXEC);
    if File::from(pipe).write_all(&errno.to_le_bytes()).is_err() {
        return Failure { step: "execute".to_owned(), reason: error };
    }
    std::process::exit(127);
}

fn prepare(order: &Order, stdin: OwnedFd) -> Done {
    rustix::stdio::dup2_stdin(&stdin).step("set standard input")?;
    drop(stdin);
    rustix::process::setsid().step("make a session")?;
    limit(order)?;
    for capability in CapabilitySet::all().iter() {
        match remove_capability_from_bounding_set(capability) {
            // An older kernel does not know the last ones.
            Err(rustix::io::Errno::INVAL) => {}
            other => other.step("drop capabilities for ever")?,
        }
    }
    let bits = CapabilitiesSecureBits::NO_ROOT
        | CapabilitiesSecureBits::NO_ROOT_LOCKED
        | CapabilitiesSecureBits::NO_SETUID_FIXUP_LOCKED
        | CapabilitiesSecureBits::KEEP_CAPS_LOCKED
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE
        | CapabilitiesSecureBits::NO_CAP_AMBIENT_RAISE_LOCKED;
    set_capabilities_secure_bits(bits).step("lock capabilities")?;
    let (uid, gid) = (Uid::from_raw(ID), Gid::from_raw(ID));
    rustix::thread::set_thread_res_gid(gid, gid, gid).step("change the group")?;
    rustix::thread::set_thread_res_uid(uid, uid, uid).step("change the user")?;
    clear_ambient_capability_set().step("clear ambient capabilities")?;
    let none = CapabilitySets { effective: CapabilitySet::empty(), permitted: CapabilitySet::empty(), inheritable: CapabilitySet::empty() };
    set_capabilities(None, none).step("drop capabilities")?;
    rustix::thread::set_no_new_privs(true).step("set no_new_privs")?;
    restrict_files(order).step("restrict files by Landlock")?;
    filter::apply()
}

fn limit(order: &Order) -> Done {
    let pids = u64::from(order.pids);
    let rows = [
        // With 0, a program that the host names in `core_pattern` would still run. With 1 nothing does.
        (Resource::Core, 1),
        (Resource::Memlock, 64 << 10),
        (Resource::Msgqueue, 0),
        (Resource::Nice, 0),
        (Resource::Nofile, 1024),
        (Resource::Nproc, pids),
        (Resource::Rtprio, 0),
        (Resource::Sigpending, 1024),
    ];
    for (resource, wanted) in rows {
        // Only some may raise the maximum, so it only goes down.
        let value = getrlimit(resource).maximum.map_or(wanted, |maximum| maximum.min(wanted));
        setrlimit(resource, Rlimit { current: Some(value), maximum: Some(value) }).step(format!("limit {resource:?}"))?;
    }
    Ok(())
}

/// A second wall around files: what the mounts allow is allowed here again, and nothing else. It also separates signals and
/// abstract sockets, and keeps named pipes in read-only mounts from being written.
fn restrict_files(order: &Order) -> io::Result<()> {
    let status = rules(order).map_err(io::Error::other)?;
    if status.ruleset == RulesetStatus::NotEnforced { Err(io::ErrorKind::Unsupported.into()) } else { Ok(()) }
}

fn rules(order: &Order) -> Result<RestrictionStatus, RulesetError> {
    let abi = ABI::V6;
    let (all, read) = (AccessFs::from_all(abi), AccessFs::from_read(abi));
    let overlays = order.mounts.iter().filter(|mount| mount.max_bytes.is_some()).map(|mount| format!("{MOUNT_FOLDER}/{}", mount.name));
    let writable = ["/tmp", "/workspace"].into_iter().map(str::to_owned).chain(overlays);
    let devices = super::root::DEVICES.map(|(name, _)| format!("/dev/{name}"));
    let fifo = all & !AccessFs::MakeChar & !AccessFs::MakeBlock;
    Ruleset::default()
        .handle_access(all)?
        .scope(Scope::from_all(abi))?
        .create()?
        .add_rules(path_beneath_rules(["/"], read))?
        .add_rules(path_beneath_rules(writable, fifo))?
        .add_rules(path_beneath_rules(devices, AccessFs::ReadFile | AccessFs::WriteFile))?
        .restrict_self()
}
