//! What a box runs, within which limits, and what came of it.

use crate::egress::Egress;
use crate::error::BoxError;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;
use zeroize::Zeroizing;

/// Longest standard input, in bytes.
pub const STDIN_BYTES: usize = 64 << 10;

/// Most mounts of a box.
pub const MOUNTS: usize = 16;

/// Most secrets of a box.
pub const SECRETS: usize = 64;

/// Longest sum of command and environment, in bytes.
pub const ARGUMENT_BYTES: usize = 256 << 10;

/// Folder in a box where [`Mount`]s are.
pub const MOUNT_FOLDER: &str = "/mnt/volumes";

/// What a box runs.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Unpacked image. It is mounted read-only; its `proc`, `sys`, `dev`, `tmp`, `workspace`, `run` and `mnt` are replaced.
    pub rootfs: PathBuf,
    /// Program and arguments. A program without `/` is searched in `PATH`.
    pub command: Vec<String>,
    /// Folder in the box where the program starts.
    pub working_dir: String,
    /// The whole environment of the program, beside `PATH` and `HOME` where they are missing, and the proxy's variables.
    pub env: Vec<(String, String)>,
    /// What the program reads, at most [`STDIN_BYTES`].
    pub stdin: Vec<u8>,
    /// Limits.
    pub limits: Limits,
    /// Folders of the host, at most [`MOUNTS`].
    pub mounts: Vec<Mount>,
    /// Files in `/run/secrets` that only the program reads, at most [`SECRETS`].
    pub secrets: Vec<(String, Zeroizing<Vec<u8>>)>,
    /// What the program reaches.
    pub network: Network,
}

impl Plan {
    /// A program in an unpacked image, with small limits and no network.
    pub fn new(rootfs: impl Into<PathBuf>, command: Vec<String>) -> Self {
        Self {
            rootfs: rootfs.into(),
            command,
            working_dir: "/".to_owned(),
            env: Vec::new(),
            stdin: Vec::new(),
            limits: Limits::default(),
            mounts: Vec::new(),
            secrets: Vec::new(),
            network: Network::None,
        }
    }

    /// Refuses what no box can run.
    pub fn check(&self) -> Result<(), BoxError> {
        let refuse = |what: String| Err(BoxError::Plan(what));
        let strings = self.command.iter().chain(self.env.iter().flat_map(|(name, value)| [name, value])).chain([&self.working_dir]);
        let total = strings.clone().map(String::len).fold(0, usize::saturating_add);
        if self.command.is_empty() || self.command[0].is_empty() {
            return refuse("the command is empty: name a program".to_owned());
        }
        if total > ARGUMENT_BYTES {
            return refuse(format!("command and environment have {total} bytes, more than {ARGUMENT_BYTES}: shorten them"));
        }
        if strings.clone().any(|string| string.contains('\0')) {
            return refuse("command, environment or working folder contain a zero byte: remove it".to_owned());
        }
        if let Some((name, _)) = self.env.iter().find(|(name, _)| name.is_empty() || name.contains('=')) {
            return refuse(format!("{name:?} is no name of a variable: a name is not empty and has no '='"));
        }
        if !self.working_dir.starts_with('/') {
            return refuse(format!("the working folder {:?} is not absolute: start it with '/'", self.working_dir));
        }
        if self.stdin.len() > STDIN_BYTES {
            return refuse(format!("standard input has {} bytes, more than {STDIN_BYTES}: use a volume", self.stdin.len()));
        }
        self.check_names()?;
        self.limits.check()
    }

    /// Memory of the box in bytes: the program's, scratch files, and what is written to mounts.
    pub(crate) fn memory_bytes(&self) -> u64 {
        let written = |mount: &Mount| if let Mode::Overlay { max_bytes } = mount.mode { max_bytes } else { 0 };
        let volumes = self.mounts.iter().map(written).fold(0, u64::saturating_add);
        let limits = &self.limits;
        ((u64::from(limits.memory_mib) + u64::from(limits.scratch_mib)) << 20).saturating_add(volumes)
    }

    fn check_names(&self) -> Result<(), BoxError> {
        let refuse = |what: String| Err(BoxError::Plan(what));
        if self.mounts.len() > MOUNTS || self.secrets.len() > SECRETS {
            let (mounts, secrets) = (self.mounts.len(), self.secrets.len());
            return refuse(format!("{mounts} mounts and {secrets} secrets, more than {MOUNTS} and {SECRETS}: use fewer"));
        }
        let mut names: Vec<&str> = self.mounts.iter().map(|mount| mount.name.as_str()).collect();
        let mut secrets: Vec<&str> = self.secrets.iter().map(|(name, _)| name.as_str()).collect();
        for list in [&mut names, &mut secrets] {
            list.sort_unstable();
            if let Some(pair) = list.windows(2).find(|pair| pair[0] == pair[1]) {
                return refuse(format!("{:?} is named twice: name it once", pair[0]));
            }
            if let Some(name) = list.iter().find(|name| !is_file_name(name)) {
                return refuse(format!("{name:?} is no name of a mount or secret: use 1 to 64 of A-Z a-z 0-9 . _ - and start with no '.'"));
            }
        }
        // No size at all is how a file system in memory spells no limit.
        let is_wrong = |mount: &&Mount| matches!(mount.mode, Mode::Overlay { max_bytes } if !(4096..=1 << 40).contains(&max_bytes));
        if let Some(mount) = self.mounts.iter().find(is_wrong) {
            return refuse(format!("{:?} of the mount {}: choose 4096 to 2^40 bytes", mount.mode, mount.name));
        }
        match self.secrets.iter().find(|(_, value)| value.len() > STDIN_BYTES) {
            Some((name, value)) => refuse(format!("the secret {name} has {} bytes, more than {STDIN_BYTES}: shorten it", value.len())),
            None => Ok(()),
        }
    }
}

fn is_file_name(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=64).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_plain)
}

/// Limits of a box.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Processor time per second, in thousandths of a core.
    pub cpu_millicores: u32,
    /// Memory of the program, in MiB. Files are memory too: the box may use `memory_mib`, `scratch_mib` and what it may write to mounts in total.
    pub memory_mib: u32,
    /// Size of `/tmp` and `/workspace` together, in MiB.
    pub scratch_mib: u32,
    /// Most processes and threads.
    pub pids: u32,
    /// Time until SIGTERM.
    pub max_duration: Duration,
    /// Time between SIGTERM and SIGKILL.
    pub grace: Duration,
    /// Bytes of standard output and error that are kept, together.
    pub output_bytes: usize,
    /// Longest `/workspace/output` that is read, in bytes.
    pub result_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cpu_millicores: 1000,
            memory_mib: 512,
            scratch_mib: 1024,
            pids: 256,
            max_duration: Duration::from_secs(300),
            grace: Duration::from_secs(10),
            output_bytes: 1 << 20,
            result_bytes: 1 << 20,
        }
    }
}

impl Limits {
    /// The least that the kernel runs a program with, in thousandths of a core.
    pub const MIN_MILLICORES: u32 = 10;

    /// The least that the kernel runs a program with, in MiB of memory.
    pub const MIN_MEMORY_MIB: u32 = 8;

    /// These are as wide as a chain's limits can be: what a computer has is for its owner to say.
    fn check(&self) -> Result<(), BoxError> {
        let rows = [
            ("cpu_millicores", self.cpu_millicores, Self::MIN_MILLICORES, 1_000_000),
            ("memory_mib", self.memory_mib, Self::MIN_MEMORY_MIB, 1 << 24),
            ("scratch_mib", self.scratch_mib, 1, 1 << 24),
            ("pids", self.pids, 1, 4_096),
        ];
        let times = [("max_duration", self.max_duration, 86_400), ("grace", self.grace, 60)];
        if let Some((name, time, max)) = times.into_iter().find(|(_, time, max)| *time > Duration::from_secs(*max)) {
            return Err(BoxError::Plan(format!("{name} is {time:?}: choose at most {max} s")));
        }
        match rows.into_iter().find(|(_, value, min, max)| !(min..=max).contains(&value)) {
            Some((name, value, min, max)) => Err(BoxError::Plan(format!("{name} is {value}: choose {min} to {max}"))),
            None => Ok(()),
        }
    }

    /// Size of the scratch files in bytes.
    pub(crate) fn scratch_bytes(&self) -> u64 {
        u64::from(self.scratch_mib) << 20
    }

    /// Most scratch files: one per 16 KiB, at least 1,024.
    pub(crate) fn scratch_inodes(&self) -> u64 {
        (u64::from(self.scratch_mib) * 64).max(1024)
    }
}

/// A folder of the host in a box.
#[derive(Clone, Debug)]
pub struct Mount {
    /// Folder of the host. It is trusted: nothing in a box may be able to replace it or what leads to it.
    pub source: PathBuf,
    /// Name below [`MOUNT_FOLDER`].
    pub name: String,
    /// What the program may do.
    pub mode: Mode,
}

/// What a program may do with a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Read.
    ReadOnly,
    /// Read and write. The source stays as it is; [`Outcome::changes`] has what was written.
    Overlay {
        /// Most bytes that are written.
        max_bytes: u64,
    },
}

/// What a program reaches.
#[derive(Clone, Debug)]
pub enum Network {
    /// Itself, by loopback.
    None,
    /// Some hosts, through a proxy on 127.0.0.1:3128. `http_proxy` and `https_proxy` are set.
    Proxy(Egress),
}

/// What came of a box.
#[derive(Debug)]
pub struct Outcome {
    /// How the program ended.
    pub end: End,
    /// Standard output: all of it, unless the program printed too much.
    pub stdout: Vec<u8>,
    /// Standard error, likewise.
    pub stderr: Vec<u8>,
    /// The file `/workspace/output`, if the program left one.
    pub output: Output,
    /// What was written to each mount with [`Mode::Overlay`].
    pub changes: Vec<Changes>,
    /// What the box used.
    pub usage: Usage,
}

/// The file `/workspace/output`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// There is none, or it is no regular file.
    Missing,
    /// It is longer than [`Limits::result_bytes`].
    TooLong {
        /// Its length.
        bytes: u64,
    },
    /// Its content.
    File(Vec<u8>),
}

/// Files that a program wrote to a mount.
#[derive(Debug)]
pub struct Changes {
    /// Name of the mount.
    pub name: String,
    /// Folder with the files: the upper folder of an overlay, where a device 0/0 is a deleted file. It is memory that is freed when this is closed. A
    /// program wrote it: follow no link in it.
    pub folder: OwnedFd,
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It used more memory than it may.
    OutOfMemory,
    /// It ran longer than it may.
    OutOfTime,
    /// It failed, and its scratch folder, or a mount that it writes, was full.
    OutOfSpace,
    /// It printed more than [`Limits::output_bytes`].
    OutOfOutput,
    /// The caller ended it.
    Cancelled,
}

/// What a box used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in ms.
    pub cpu_ms: u64,
    /// Most memory, scratch files included, in MiB, rounded up.
    pub peak_memory_mib: u64,
    /// Bytes through the proxy, both ways.
    pub egress_bytes: u64,
    /// Requests and tunnels through the proxy that reached their host.
    pub egress_requests: u64,
    /// Time from the program's start to its end.
    pub duration: Duration,
}
