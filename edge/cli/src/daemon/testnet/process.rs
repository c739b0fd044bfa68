//! A process of the network: started, watched, ended.

use crate::daemon::serving::STOP_WITH_INPUT;
use cowboy_console::failure::Failure;
use std::{
    fs::File,
    io::{BufReader, Write as _},
    path::PathBuf,
    process::{Child, Command, Stdio},
    sync::{Arc, OnceLock},
    thread,
    time::{Duration, Instant},
};

/// How long a process may take to end after SIGTERM.
const STOP_TIME: Duration = Duration::from_secs(30);

/// How often an ending process is looked at.
const LOOK: Duration = Duration::from_millis(20);

/// What a program says when it is ready.
const READY: &str = "ready: ";

/// A process with a log of its own. It is killed when this value goes.
pub(super) struct Process {
    name: String,
    log: PathBuf,
    child: Child,
    ready: Arc<OnceLock<String>>,
    is_announced: bool,
    is_reported: bool,
}

impl Process {
    /// Starts a program, whose output goes to `log`. It has a process group of its own: Ctrl-C reaches it through this process only. Its
    /// input is a pipe that ends with this process, however that ends, and then it stops.
    pub(super) fn start(name: String, log: PathBuf, command: &mut Command) -> Result<Self, Failure> {
        let file = File::create(&log).map_err(Failure::file(&log))?;
        let errors = file.try_clone().map_err(Failure::file(&log))?;
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        let program = PathBuf::from(command.get_program());
        command.env(STOP_WITH_INPUT, "1");
        let started = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn();
        let mut child = started.map_err(Failure::file(program))?;
        let ready = Arc::new(OnceLock::new());
        if let Some(said) = child.stdout.take() {
            let ready = ready.clone();
            let copied = thread::Builder::new().name(name.clone()).spawn(move || copy(BufReader::new(said), file, &ready));
            copied.map_err(super::serving::threads)?;
        }
        Ok(Self { name, log, child, ready, is_announced: false, is_reported: false })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether this is asked for the first time.
    pub(super) fn is_new(&mut self) -> bool {
        !std::mem::replace(&mut self.is_announced, true)
    }

    /// What it serves, once it is ready.
    pub(super) fn ready(&self) -> Option<String> {
        self.ready.get().cloned()
    }

    /// How it ended, told once; with the last line of its log where it failed.
    pub(super) fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten().filter(|_| !self.is_reported)?;
        self.is_reported = true;
        // The last line of a process that was told to end says nothing about the end.
        let text = if status.success() { String::new() } else { std::fs::read_to_string(&self.log).unwrap_or_default() };
        let last = match text.lines().rfind(|line| !line.trim().is_empty()) {
            Some(line) => format!(": {line}"),
            None => String::new(),
        };
        Some(format!("{} ended ({status}){last} (log: {})", self.name, self.log.display()))
    }

    /// Ends it, with force where it does not end by itself in time.
    pub(super) fn stop(mut self) -> Result<(), String> {
        if matches!(self.child.try_wait(), Ok(Some(_))) {
            return Ok(());
        }
        self.terminate();
        let told = Instant::now();
        while told.elapsed() < STOP_TIME {
            match self.child.try_wait() {
                Ok(None) => thread::sleep(LOOK),
                Ok(Some(_)) => return Ok(()),
                Err(error) => return Err(format!("{}: {error}", self.name)),
            }
        }
        Err(format!("{} did not end within {} s and was killed", self.name, STOP_TIME.as_secs()))
    }

    /// Asks it to end.
    fn terminate(&mut self) {
        #[cfg(unix)]
        let asked = i32::try_from(self.child.id())
            .ok()
            .and_then(rustix::process::Pid::from_raw)
            .is_some_and(|pid| rustix::process::kill_process(pid, rustix::process::Signal::TERM).is_ok());
        #[cfg(not(unix))]
        let asked = false;
        if !asked {
            // It may have ended meanwhile.
            let _ = self.child.kill();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Copies what a program says to its log, to the end, and notes when it is ready.
fn copy(said: impl std::io::BufRead, mut log: File, ready: &OnceLock<String>) {
    for line in said.lines().map_while(Result::ok) {
        if let Some(what) = line.strip_prefix(READY) {
            // It says it once.
            let _ = ready.set(what.to_owned());
        }
        // A log that cannot be written does not end the program.
        let _ = writeln!(log, "{line}");
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    /// The last line of the log is the reason of a process that failed, and not of one that ended as it was told.
    #[test]
    fn only_a_failure_quotes_the_log() {
        let folder = tempfile::tempdir().expect("a directory for the test");
        for (code, expected) in [(3, "member ended (exit status: 3): the reason (log: "), (0, "member ended (exit status: 0) (log: ")] {
            let log = folder.path().join("member.log");
            let script = format!("echo the reason >&2; exit {code}");
            let mut process = Process::start("member".into(), log, Command::new("sh").args(["-c", &script])).expect("it starts");
            process.child.wait().expect("it ends");
            let said = process.ended().expect("it has ended");
            assert!(said.starts_with(expected) && process.ended().is_none(), "{said}");
        }
    }
}
