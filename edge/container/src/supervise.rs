//! The life of one box, seen from outside.

use crate::capture::Budget;
use crate::egress::Serving;
use crate::error::BoxError;
use crate::helper::Helper;
use crate::message::{self, Order, OrderedMount, Report, Secret, Task};
use crate::plan::{Changes, End, Mode, Network, Outcome, Output, Plan, Usage};
use crate::state::{Entry, State};
use rustix::fs::{MemfdFlags, Mode as Permission, OFlags, ResolveFlags, SealFlags, fstat, fstatvfs, memfd_create, openat2};
use rustix::net::{AddressFamily, Shutdown, SocketFlags, SocketType, shutdown, socketpair};
use rustix::process::Signal;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::fd::{AsFd as _, AsRawFd as _, OwnedFd};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::UnixDatagram;
use tokio::process::{Child, Command};
use tokio::task::{JoinHandle, spawn_blocking};
use tokio::time::{Instant, interval, sleep_until, timeout};
use zeroize::Zeroizing;

/// How often it is looked whether memory ran out: version 1 of control groups ends one process of a box only.
const MEMORY_WATCH: Duration = Duration::from_millis(50);

/// How long a box may take to be built.
const BUILD: Duration = Duration::from_secs(30);

/// How long a box that was ended may take to end, and then what was printed to be read.
const DRAIN: Duration = Duration::from_secs(10);

/// Runs a box, and removes it in any case.
pub(crate) async fn run(
    state: &State,
    helper: &Helper,
    mut plan: Plan,
    task: Task,
    stop: impl Future<Output = ()> + Send,
) -> Result<Outcome, BoxError> {
    let state = state.clone();
    let entry = blocking(move || state.claim()).await??;
    let (group, limits, memory) = (entry.group.clone(), plan.limits.clone(), plan.memory_bytes());
    let outcome = match blocking(move || group.create(&limits, memory)).await? {
        Ok(()) => live(&entry, helper, &mut plan, task, stop).await,
        Err(error) => Err(error),
    };
    blocking(move || entry.remove()).await??;
    outcome
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, BoxError> {
    spawn_blocking(work).await.map_err(|error| BoxError::Helper(error.to_string()))
}

async fn live(entry: &Entry, helper: &Helper, plan: &mut Plan, task: Task, stop: impl Future<Output = ()>) -> Result<Outcome, BoxError> {
    let order = order(entry, plan, task)?;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
        .map_err(|error| host("making a socket", error))?;
    let stdin = file_of(&plan.stdin)?;
    message::send(ours.as_fd(), &(), &[order.as_fd(), stdin.as_fd()]).map_err(BoxError::host("sending the order"))?;
    drop((order, stdin));
    rustix::io::ioctl_fionbio(&ours, true).map_err(|error| host("making a socket", error))?;
    let mut process = Command::new(&helper.program)
        .args(&helper.arguments)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::from(theirs))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(BoxError::host(format!("starting the helper {}", helper.program.display())))?;
    let budget = Budget::new(plan.limits.output_bytes);
    let stdout = process.stdout.take().map(|stream| tokio::spawn(budget.clone().keep(stream)));
    let stderr = process.stderr.take().map(|stream| tokio::spawn(budget.clone().keep(stream)));
    let mut life = Life::new(entry, plan, ours)?;
    let ended = life.wait(stop, &budget).await;
    let status = life.end(&mut process).await;
    // Only now has nothing a pipe's other end.
    let (stdout, stderr) = (collect(stdout).await, collect(stderr).await);
    ended?;
    let (stdout, stderr) = (stdout?, stderr?);
    let (end, usage) = (life.judge(&stderr, budget.is_exceeded(), status)?, life.usage());
    let Life { workspace, changes, .. } = life;
    let output = match workspace {
        Some(folder) => {
            let limit = plan.limits.result_bytes;
            blocking(move || read_output(&folder, limit)).await?.map_err(BoxError::host("reading /workspace/output"))?
        }
        None => Output::Missing,
    };
    Ok(Outcome { end, stdout, stderr, output, changes, usage })
}

fn host(what: &str, error: rustix::io::Errno) -> BoxError {
    BoxError::host(what)(error.into())
}

fn order(entry: &Entry, plan: &mut Plan, task: Task) -> Result<OwnedFd, BoxError> {
    let absolute = |path: &std::path::Path| std::path::absolute(path).map_err(BoxError::host(format!("finding {}", path.display())));
    let mounts = plan.mounts.iter().map(|mount| {
        let max_bytes = if let Mode::Overlay { max_bytes } = mount.mode { Some(max_bytes) } else { None };
        Ok(OrderedMount { source: absolute(&mount.source)?, name: mount.name.clone(), max_bytes })
    });
    let mut env = plan.env.clone();
    if let Network::Proxy(_) = plan.network {
        let url = format!("http://127.0.0.1:{}", message::PROXY_PORT);
        env.extend(["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"].map(|name| (name.to_owned(), url.clone())));
    }
    let root = entry.folder.join("root");
    let order = Order {
        // The probe has no image.
        rootfs: if matches!(task, Task::Probe) { root.clone() } else { absolute(&plan.rootfs)? },
        root,
        groups: entry.group.files(),
        first_id: entry.first_id,
        task,
        working_dir: plan.working_dir.clone(),
        env,
        pids: plan.limits.pids,
        scratch_bytes: plan.limits.scratch_bytes(),
        scratch_inodes: plan.limits.scratch_inodes(),
        mounts: mounts.collect::<Result<_, BoxError>>()?,
        secrets: plan.secrets.drain(..).map(|(name, value)| Secret { name, value: value.to_vec() }).collect(),
        has_listener: matches!(plan.network, Network::Proxy(_)),
    };
    // A number has at most four characters. What grows would leave copies of secrets behind.
    let capacity = 4 * order.secrets.iter().map(|secret| secret.value.len()).sum::<usize>() + 8 * crate::plan::ARGUMENT_BYTES;
    let mut bytes = Zeroizing::new(Vec::with_capacity(capacity));
    serde_json::to_writer(&mut *bytes, &order).map_err(|error| BoxError::host("writing the order")(error.into()))?;
    file_of(&bytes)
}

/// A file in memory that can only be read.
fn file_of(bytes: &[u8]) -> Result<OwnedFd, BoxError> {
    let write = || -> io::Result<OwnedFd> {
        let mut file = File::from(memfd_create("box", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?);
        file.write_all(bytes)?;
        file.rewind()?;
        // Its owner could open it again for writing, and a program is the owner of what it inherits.
        rustix::fs::fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::GROW | SealFlags::SHRINK | SealFlags::SEAL)?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(File::open(path)?.into())
    };
    write().map_err(BoxError::host("writing a file in memory"))
}

/// What was kept of a stream. A part of what was printed would be taken for the whole.
async fn collect(reading: Option<JoinHandle<io::Result<Vec<u8>>>>) -> Result<Vec<u8>, BoxError> {
    let Some(mut reading) = reading else { return Ok(Vec::new()) };
    match timeout(DRAIN, &mut reading).await {
        Ok(Ok(kept)) => kept.map_err(BoxError::host("reading what the program prints")),
        Ok(Err(error)) => Err(BoxError::Helper(error.to_string())),
        Err(_) => {
            reading.abort();
            Err(BoxError::Helper("what the program printed has no end".to_owned()))
        }
    }
}

/// How far a box is on its way to the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Building,
    Running,
    /// It was asked to end.
    Ending,
    /// It was ended.
    Killed,
}

struct Life<'a> {
    entry: &'a Entry,
    plan: &'a Plan,
    /// It has packets in order, and an end.
    socket: UnixDatagram,
    phase: Phase,
    deadline: Instant,
    started: Option<Instant>,
    duration: Duration,
    /// Why the host ended it.
    cause: Option<End>,
    /// What the helper said about the end.
    last: Option<Report>,
    workspace: Option<OwnedFd>,
    changes: Vec<Changes>,
    serving: Option<Serving>,
}

impl<'a> Life<'a> {
    fn new(entry: &'a Entry, plan: &'a Plan, socket: OwnedFd) -> Result<Self, BoxError> {
        Ok(Self {
            entry,
            plan,
            socket: UnixDatagram::from_std(socket.into()).map_err(BoxError::host("watching the socket of the helper"))?,
            phase: Phase::Building,
            deadline: Instant::now() + BUILD,
            started: None,
            duration: Duration::ZERO,
            cause: None,
            last: None,
            workspace: None,
            changes: Vec::new(),
            serving: None,
        })
    }

    /// Returns when the box has nothing more to say.
    async fn wait(&mut self, stop: impl Future<Output = ()>, budget: &Budget) -> Result<(), BoxError> {
        let mut stop = std::pin::pin!(stop);
        let mut watch = interval(MEMORY_WATCH);
        let mut is_stopped = false;
        loop {
            tokio::select! {
                biased;
                said = receive(&self.socket) => match said.map_err(BoxError::host("listening to the helper"))? {
                    Some((report, files)) => self.hear(report, files)?,
                    None => return Ok(()),
                },
                () = &mut stop, if !is_stopped => {
                    is_stopped = true;
                    self.kill(End::Cancelled);
                }
                () = budget.exceeded(), if self.phase != Phase::Killed => self.kill(End::OutOfOutput),
                () = sleep_until(self.deadline) => {
                    if self.phase == Phase::Killed {
                        return Ok(());
                    }
                    self.expire();
                }
                _ = watch.tick(), if matches!(self.phase, Phase::Running | Phase::Ending) => {
                    if self.entry.group.oom_kills() > 0 {
                        self.kill(End::OutOfMemory);
                    }
                }
            }
        }
    }

    fn hear(&mut self, report: Report, mut files: Vec<OwnedFd>) -> Result<(), BoxError> {
        match (report, files.pop()) {
            (Report::Listening, Some(listener)) => {
                if let Network::Proxy(egress) = &self.plan.network {
                    self.serving = Some(egress.serve(listener.into()).map_err(BoxError::host("serving the proxy"))?);
                }
            }
            (Report::Workspace, Some(folder)) => self.workspace = Some(folder),
            (Report::Changes(name), Some(folder)) => self.changes.push(Changes { name, folder }),
            (Report::Started, _) => {
                let now = Instant::now();
                self.started = Some(now);
                if self.phase == Phase::Building {
                    (self.phase, self.deadline) = (Phase::Running, now + self.plan.limits.max_duration);
                }
            }
            // The first is the cause of the others.
            (other, _) => drop(self.last.get_or_insert(other)),
        }
        Ok(())
    }

    /// The next step towards the end, because time is over.
    fn expire(&mut self) {
        match self.phase {
            Phase::Running => {
                self.cause.get_or_insert(End::OutOfTime);
                self.entry.group.signal(Signal::TERM);
                (self.phase, self.deadline) = (Phase::Ending, Instant::now() + self.plan.limits.grace);
            }
            _ => self.kill(End::OutOfTime),
        }
    }

    /// The helper ends process 1 when nobody talks to it, and the kernel all others with it.
    fn kill(&mut self, cause: End) {
        self.cause.get_or_insert(cause);
        (self.phase, self.deadline) = (Phase::Killed, Instant::now() + DRAIN);
        // It fails where the helper has ended.
        let _ = shutdown(&self.socket, Shutdown::Write);
    }

    /// Waits for the helper, behind which no process of the box is left.
    async fn end(&mut self, process: &mut Child) -> String {
        self.duration = self.started.map_or(Duration::ZERO, |started| started.elapsed());
        let _ = shutdown(&self.socket, Shutdown::Both);
        match timeout(DRAIN, process.wait()).await {
            Ok(Ok(status)) => status.to_string(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => {
                let _ = process.start_kill();
                let _ = process.wait().await;
                "it did not end".to_owned()
            }
        }
    }

    /// How it ended. Who prints too much may have ended in any way by then: all runners have to see the same (decision 670).
    fn judge(&self, stderr: &[u8], is_output_exceeded: bool, status: String) -> Result<End, BoxError> {
        let is_out_of_memory = self.entry.group.oom_kills() > 0;
        match self.cause {
            Some(End::Cancelled) => return Ok(End::Cancelled),
            _ if is_output_exceeded => return Ok(End::OutOfOutput),
            Some(cause) => return Ok(cause),
            None => {}
        }
        let reason = |errno: &i32| io::Error::from_raw_os_error(*errno);
        match &self.last {
            Some(Report::NoProgram(errno)) => {
                let program = self.plan.command.first().cloned().unwrap_or_default();
                Err(BoxError::Start { program, reason: reason(errno) })
            }
            Some(Report::Failed { step, errno }) if !is_out_of_memory => Err(BoxError::Step { step: step.clone(), reason: reason(errno) }),
            Some(Report::Exited(0)) => Ok(End::Exited(0)),
            _ if is_out_of_memory => Ok(End::OutOfMemory),
            Some(Report::Exited(_) | Report::Killed(_)) if self.is_full() => Ok(End::OutOfSpace),
            Some(Report::Exited(code)) => Ok(End::Exited(*code)),
            Some(Report::Killed(signal)) => Ok(End::Killed(*signal)),
            _ => Err(BoxError::Helper(format!("{status}; {}", String::from_utf8_lossy(stderr).trim()))),
        }
    }

    fn is_full(&self) -> bool {
        let folders = self.workspace.iter().chain(self.changes.iter().map(|changes| &changes.folder));
        folders.filter_map(|folder| fstatvfs(folder).ok()).any(|found| found.f_bfree == 0 || found.f_ffree == 0)
    }

    fn usage(&self) -> Usage {
        Usage {
            cpu_ms: self.entry.group.cpu_us() / 1000,
            peak_memory_mib: self.entry.group.peak_bytes().div_ceil(1 << 20),
            egress_bytes: self.serving.as_ref().map_or(0, Serving::bytes),
            egress_requests: self.serving.as_ref().map_or(0, Serving::requests),
            duration: self.duration,
        }
    }
}

async fn receive(socket: &UnixDatagram) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
    loop {
        socket.readable().await?;
        match socket.try_io(Interest::READABLE, || message::receive(socket.as_fd())) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(None),
            other => return other,
        }
    }
}

/// Reads the result file. The program has ended, but it chose what is there: only a regular file in the folder itself is read.
fn read_output(folder: &OwnedFd, limit: usize) -> io::Result<Output> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let Ok(file) = openat2(folder, "output", flags, Permission::empty(), resolve) else { return Ok(Output::Missing) };
    let found = fstat(&file)?;
    if rustix::fs::FileType::from_raw_mode(found.st_mode) != rustix::fs::FileType::RegularFile {
        return Ok(Output::Missing);
    }
    let bytes = u64::try_from(found.st_size).unwrap_or(u64::MAX);
    if usize::try_from(bytes).map_or(true, |bytes| bytes > limit) {
        return Ok(Output::TooLong { bytes });
    }
    let mut content = Vec::new();
    File::from(file).take(bytes).read_to_end(&mut content)?;
    Ok(Output::File(content))
}
