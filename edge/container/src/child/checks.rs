//! Tests the limits of a box from within: it runs in place of a program.

use crate::sys;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Memory of the probe's box, in MiB.
pub(crate) const MEMORY_MIB: u32 = 32;

/// Number of checks.
pub(crate) const COUNT: usize = CHECKS.len();

/// The check that ends the box.
pub(crate) const LAST: &str = CHECKS[COUNT - 1].0;

/// One finding of the inside.
#[derive(Serialize, Deserialize)]
pub(crate) struct Finding {
    pub(crate) limit: String,
    pub(crate) failure: Option<String>,
}

/// A check: what it is about, and how it fails where the limit does not hold.
type Check = (&'static str, fn() -> Result<(), String>);

const CHECKS: [Check; 14] = [
    ("user", user),
    ("capabilities", || status("CapEff", "0000000000000000").and_then(|()| status("CapBnd", "0000000000000000"))),
    ("no_new_privs", || status("NoNewPrivs", "1")),
    ("filter of system calls", || status("Seccomp", "2").and_then(|()| namespaces())),
    ("files of the host", host_files),
    ("read-only root", || refused(fs::write("/file", ""), &[libc::EROFS, libc::EACCES])),
    ("read-only /proc", || refused(fs::write("/proc/sys/kernel/hostname", "x"), &[libc::EROFS, libc::EACCES])),
    ("processes of others", || refused(fs::read("/proc/1/status"), &[libc::ENOENT])),
    ("devices", devices),
    ("network", || refused(TcpStream::connect(("192.0.2.1", 80)), &[libc::ENETUNREACH])),
    ("size of files", scratch),
    ("number of processes", processes),
    ("processor time", processor),
    // The last, because it ends the box.
    ("memory", memory),
];

/// Runs in the box, and prints a line for each check.
pub(super) fn run() -> i32 {
    for (limit, check) in CHECKS {
        print(limit, check().err());
    }
    0
}

fn print(limit: &str, failure: Option<String>) {
    let line = serde_json::to_string(&Finding { limit: limit.to_owned(), failure }).unwrap_or_default();
    // Nobody reads it where this fails.
    let _ = writeln!(io::stdout(), "{line}");
}

fn refused<T>(result: io::Result<T>, expected: &[i32]) -> Result<(), String> {
    match result {
        Ok(_) => Err("it was possible".to_owned()),
        Err(error) if error.raw_os_error().is_some_and(|code| expected.contains(&code)) => Ok(()),
        Err(error) => Err(format!("it failed for another reason: {error}")),
    }
}

fn user() -> Result<(), String> {
    let (id, map) = (rustix::process::getuid().as_raw(), fs::read_to_string("/proc/self/uid_map").unwrap_or_default());
    let outside = map.lines().filter_map(|line| line.split_whitespace().nth(1)?.parse::<u32>().ok()).min();
    if id == 1000 && outside.is_some_and(|outside| outside >= 1 << 16) { Ok(()) } else { Err(format!("user {id} with the map {map:?}")) }
}

fn status(name: &str, expected: &str) -> Result<(), String> {
    let text = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).map(str::trim);
    if found == Some(expected) { Ok(()) } else { Err(format!("{name} is {found:?}")) }
}

fn namespaces() -> Result<(), String> {
    refused(sys::unshare(libc::CLONE_NEWUSER), &[libc::EPERM])
}

fn host_files() -> Result<(), String> {
    let entries = fs::read_dir("/").map_err(|error| error.to_string())?;
    let mut names: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.file_name().to_string_lossy().into_owned())).collect();
    names.sort_unstable();
    if names == ["dev", "mnt", "proc", "run", "tmp", "workspace"] { Ok(()) } else { Err(format!("the root has {names:?}")) }
}

fn devices() -> Result<(), String> {
    let (fifo, device) = (rustix::fs::FileType::Fifo, rustix::fs::FileType::CharacterDevice);
    let make = |path: &str, kind| {
        rustix::fs::mknodat(rustix::fs::CWD, path, kind, rustix::fs::Mode::RUSR, rustix::fs::makedev(1, 3)).map_err(io::Error::from)
    };
    make("/tmp/fifo", fifo).map_err(|error| format!("a fifo cannot be made: {error}"))?;
    refused(make("/tmp/device", device), &[libc::EPERM])?;
    refused(fs::metadata("/dev/kmsg"), &[libc::ENOENT])
}

fn scratch() -> Result<(), String> {
    let result = refused(fs::write("/tmp/large", vec![1; 1 << 21]), &[libc::ENOSPC, libc::EFBIG]);
    let _ = fs::remove_file("/tmp/large");
    result
}

fn processes() -> Result<(), String> {
    for _ in 0..64 {
        match sys::fork() {
            Ok(Some(_)) => {}
            // Children end with the box.
            Ok(None) => loop {
                std::thread::park();
            },
            Err(error) => return refused::<()>(Err(error), &[libc::EAGAIN]),
        }
    }
    Err("64 processes were started, and 16 are allowed".to_owned())
}

/// A tenth of a core for half a second of real time.
fn processor() -> Result<(), String> {
    let start = std::time::Instant::now();
    let used = || {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    };
    let before = used();
    while start.elapsed() < Duration::from_millis(500) {
        std::hint::spin_loop();
    }
    let spent = used().saturating_sub(before);
    if spent < Duration::from_millis(250) {
        Ok(())
    } else {
        Err(format!("{spent:?} of processor time in half a second, and a tenth is allowed"))
    }
}

fn memory() -> Result<(), String> {
    let mut held = Vec::new();
    for _ in 0..2 * MEMORY_MIB {
        held.push(std::hint::black_box(vec![1_u8; 1 << 20]));
    }
    Err(format!("{} MiB were used, and {MEMORY_MIB} are allowed", held.len()))
}
