//! Tests the limits of a box from within: a box whose program is this library.

use crate::boxes::Boxes;
use crate::error::BoxError;
use crate::message::Task;
use crate::plan::{End, Plan};
use crate::sys;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Memory of the probe's box, in MiB.
const MEMORY_MIB: u32 = 32;

/// What a probe found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Limits that hold.
    pub held: Vec<String>,
    /// Limits that do not hold, with what happened. A runner with any must not offer containers.
    pub broken: Vec<String>,
}

impl Report {
    /// Whether every limit holds.
    pub fn is_safe(&self) -> bool {
        self.broken.is_empty() && !self.held.is_empty()
    }
}

/// One finding of the inside.
#[derive(Serialize, Deserialize)]
struct Finding {
    limit: String,
    failure: Option<String>,
}

pub(crate) async fn run(boxes: &Boxes) -> Result<Report, BoxError> {
    let mut plan = Plan::new("/", vec!["probe".to_owned()]);
    plan.limits.memory_mib = MEMORY_MIB;
    plan.limits.scratch_mib = 1;
    plan.limits.pids = 16;
    plan.limits.cpu_millicores = 100;
    plan.limits.max_duration = Duration::from_secs(30);
    let outcome = boxes.start(plan, Task::Probe, std::future::pending()).await?;
    let text = String::from_utf8_lossy(&outcome.stdout);
    let mut report = Report::default();
    for finding in text.lines().filter_map(|line| serde_json::from_str::<Finding>(line).ok()) {
        match finding.failure {
            None => report.held.push(finding.limit),
            Some(failure) => report.broken.push(format!("{}: {failure}", finding.limit)),
        }
    }
    let last = CHECKS[CHECKS.len() - 1].0;
    if outcome.end == End::OutOfMemory && report.held.len() + report.broken.len() == CHECKS.len() - 1 {
        report.held.push(last.to_owned());
    }
    if report.held.len() + report.broken.len() != CHECKS.len() {
        report.broken.push(format!("the probe did not finish: {:?}; {}", outcome.end, String::from_utf8_lossy(&outcome.stderr).trim()));
    }
    Ok(report)
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
pub(crate) fn inside() -> i32 {
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
