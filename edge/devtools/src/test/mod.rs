//! `cowboy test`: tests of actors, run in the VM.

mod devnet;
mod discover;
mod host;
mod report;
mod rewrite;
mod watch;

pub use devnet::NETWORK;

use crate::{
    chain::{Genesis, KeptImages},
    profile::{self, Looks},
    vm::{describe, traceback},
};
use clap::Args;
use cowboy_console::{
    amount::counted,
    failure::Failure,
    output::{self, Output},
};
use cowboy_vm::{Entry, Exit, Library, LibraryError, LibraryModule, Limits, Profiler, Rules, Unit, Usage, Vm};
use discover::TestFile;
use host::{Said, Shared, TestHost};
use report::{Ran, Verdict};
use serde_json::json;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Runs tests in the VM, without a node: functions test_* and classes Test* of files test_*.py and *_test.py.
///
/// In a folder, files that are no tests of actors are left out: those that import what the VM does not have, or define an actor
/// themselves, which only pytest can deploy. A file that is named is always run.
///
/// Tests use cowboy_sdk.testing and the main parts of pytest: raises, fixture, mark.parametrize, mark.skip, approx. The fixture `chain`
/// is a fresh cowboy_sdk.testing.Chain. With --network dev the tests run on a devnet, by pytest: cowboyd dev --block-time instant
/// --runners 0. Exit codes: 0 all passed, 1 some failed, 2 something cannot be read, 5 there are no tests.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  cowboy test\n  cowboy test tests/test_counter.py -k increment -v\n  cowboy test --profile cycles.svg --lines\n  cowboy test --cycles-snapshot cycles.json           # write\n  cowboy test --cycles-snapshot cycles.json --check   # compare, in CI"
)]
pub struct Test {
    /// Files, or folders to search
    #[arg(default_value = ".")]
    paths: Vec<PathBuf>,
    /// Only tests whose name contains this; parts may be joined with `and`, `or`, `not`
    #[arg(short = 'k', value_name = "TEXT")]
    keyword: Option<String>,
    /// Print one line per test, with its cycles
    #[arg(short, long)]
    verbose: bool,
    /// Stop at the first failure
    #[arg(short = 'x', long)]
    exitfirst: bool,
    /// Run again whenever a source or a manifest changes, until Ctrl-C
    #[arg(long)]
    watch: bool,
    #[command(flatten)]
    looks: Looks,
}

/// What a test may use: far more than a delivery, whose own limits the chain sets.
const LIMITS: Limits =
    Limits { cycles: 1 << 40, cells: 1 << 40, memory_bytes: 256 << 20, recursion: 256, weight_ns: 1 << 60, rules: Rules::GENESIS };

/// The modules that only tests have.
const MODULES: &[(&str, &str)] = &[
    ("cowboy_sdk._payloads", include_str!("../../../../sdk/python/cowboy_sdk/_payloads.py")),
    ("cowboy_sdk._offchain", include_str!("../../../../sdk/python/cowboy_sdk/_offchain.py")),
    ("cowboy_sdk.testing", include_str!("python/testing.py")),
    ("pytest", include_str!("python/pytest.py")),
    ("_cowboy_runner", include_str!("python/runner.py")),
];

impl Test {
    /// Runs the tests, again after each change with `--watch`.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        if !self.watch {
            return self.once(output);
        }
        loop {
            let seen = watch::seen(&self.paths)?;
            if let Err(failure) = self.once(output) {
                output.failure(&failure);
            }
            let names = watch::changed(&self.paths, &seen)?;
            output.progress(format_args!("\nchanged: {}", names.join(", ")));
        }
    }

    /// Runs the tests on a devnet instead of in the VM.
    pub fn on_devnet(self, url: &str) -> Result<(), Failure> {
        if self.watch || self.looks.is_profiling() {
            return Err(Failure::argument("a devnet has no profiles, and nothing is watched there", "leave --network out"));
        }
        let mut arguments: Vec<OsString> = self.paths.into_iter().map(OsString::from).collect();
        arguments.extend(self.keyword.into_iter().flat_map(|keyword| [OsString::from("-k"), keyword.into()]));
        arguments.extend(self.verbose.then(|| "-v".into()));
        arguments.extend(self.exitfirst.then(|| "-x".into()));
        devnet::run(&arguments, url)
    }

    fn once(&self, output: Output) -> Result<(), Failure> {
        let files = discover::files(&self.paths)?;
        let named: Vec<PathBuf> = self.paths.iter().filter(|path| path.is_file()).cloned().collect();
        let library = library()?;
        let profiler = self.looks.is_profiling().then(|| Profiler::new("test"));
        let shared = Shared { genesis: Genesis::new()?.for_tests()?, images: Arc::new(KeptImages::default()), profiler };
        let mut session = Session {
            test: self,
            output,
            library,
            shared,
            ran: Vec::new(),
            broken: Vec::new(),
            left_out: Vec::new(),
            deselected: 0,
            column: 0,
        };
        for path in &files {
            let file = TestFile::read(path)?;
            let reason = (!named.contains(path)).then(|| file.not_ours()).flatten();
            if let Some(reason) = reason {
                session.left_out.push((file.name, reason));
                continue;
            }
            if !session.file(&file)? {
                break;
            }
        }
        session.end()
    }

    /// Whether `-k` chooses a test.
    fn chooses(&self, id: &str) -> bool {
        let Some(keyword) = &self.keyword else { return true };
        let id = id.to_lowercase();
        let word = |word: &str| match word.trim().strip_prefix("not ") {
            Some(word) => !id.contains(&word.trim().to_lowercase()),
            None => id.contains(&word.trim().to_lowercase()),
        };
        keyword.split(" or ").any(|either| either.split(" and ").all(word))
    }
}

fn library() -> Result<Library, Failure> {
    let module = |(path, source): &(&str, &str)| LibraryModule {
        path: (*path).to_owned(),
        source: (*source).to_owned(),
        package: false,
        trusted: true,
    };
    let modules: Vec<LibraryModule> = MODULES.iter().map(module).collect();
    Library::default().with(&modules, LIMITS).map_err(|error| match error {
        LibraryError::Compile(path, error) => Failure::Node(format!("{path}: {error}")),
        LibraryError::Load(reason) => Failure::Node(reason),
    })
}

/// A whole run of the command.
struct Session<'a> {
    test: &'a Test,
    output: Output,
    library: Library,
    shared: Shared,
    ran: Vec<Ran>,
    /// Files that cannot be read as tests, and why.
    broken: Vec<(String, String)>,
    /// Files that are no tests of actors, and why.
    left_out: Vec<(String, String)>,
    deselected: usize,
    /// Letters in the line that is being written.
    column: usize,
}

/// How a run of a file's program ended.
struct Turn {
    said: Said,
    exit: Exit,
    usage: Usage,
    printed: String,
}

impl Session<'_> {
    /// Runs the tests of a file. Returns whether to continue.
    fn file(&mut self, file: &TestFile) -> Result<bool, Failure> {
        let unit = match self.library.compile(&file.program, &file.name) {
            Ok(unit) => unit,
            Err(error) => {
                self.broken.push((file.name.clone(), describe(&error, &file.name, &file.source)));
                return Ok(true);
            }
        };
        let looked = self.turn(file, &unit, None);
        if !matches!(looked.exit, Exit::Return(_)) {
            self.broken.push((file.name.clone(), reason(file, &looked, self.test.verbose)));
            return Ok(true);
        }
        for (name, cases) in &looked.said.found {
            for case in cases {
                let row = if case.is_empty() { String::new() } else { format!("[{case}]") };
                let id = format!("{}::{name}{row}", file.name);
                if !self.test.chooses(&id) {
                    self.deselected += 1;
                    continue;
                }
                let turn = self.turn(file, &unit, Some((name, case)));
                let ran = judged(id, file, turn, self.test.verbose);
                let is_failed = matches!(ran.verdict, Verdict::Failed(_));
                self.show(&ran);
                self.ran.push(ran);
                if is_failed && self.test.exitfirst {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Runs a file's program with one test of it, or none.
    fn turn(&self, file: &TestFile, unit: &Arc<Unit>, wanted: Option<(&str, &str)>) -> Turn {
        let folder = file.path.parent().unwrap_or(Path::new("."));
        let mut host = TestHost::new(&self.shared, folder, wanted);
        let mut machine = Vm::start(self.library.script(unit), Entry::Script, LIMITS);
        if let Some(profiler) = self.shared.profiler.as_ref().filter(|_| wanted.is_some()) {
            machine.profile(&profiler.for_file(&file.name));
        }
        let mut exit = machine.run();
        while let Exit::HostCall(call) = &exit {
            let answer = host.answer(call, machine.usage().cycles);
            exit = machine.resume(answer);
        }
        Turn { said: host.said, exit, usage: machine.usage(), printed: machine.take_output() }
    }

    fn show(&mut self, ran: &Ran) {
        if self.output.json {
            return;
        }
        if self.test.verbose {
            output::line(format_args!("{:<7} {}  {} cycles", ran.word(), ran.id, ran.cycles()));
        } else {
            output::text(ran.mark());
            self.column += 1;
            if self.column.is_multiple_of(80) {
                output::text("\n");
            }
        }
    }

    /// Says what came of it all.
    fn end(self) -> Result<(), Failure> {
        let count = |word: &str| self.ran.iter().filter(|ran| ran.word() == word).count();
        let (passed, failed, skipped) = (count("PASSED"), count("FAILED"), count("SKIPPED"));
        let cycles: u64 = self.ran.iter().map(Ran::cycles).sum();
        if self.output.json {
            self.output.document(&json!({
                "tests": self.ran.iter().map(Ran::to_json).collect::<Vec<_>>(),
                "errors": self.broken.iter().map(|(file, reason)| json!({ "file": file, "reason": reason })).collect::<Vec<_>>(),
                "left_out": self.left_out.iter().map(|(file, reason)| json!({ "file": file, "reason": reason })).collect::<Vec<_>>(),
                "passed": passed, "failed": failed, "skipped": skipped, "deselected": self.deselected, "cycles": cycles,
            }));
        } else {
            self.words(passed, failed, skipped, cycles);
        }
        if let Some(profiler) = &self.shared.profiler {
            let profile = profiler.take();
            let names = profile.lines.keys().map(|(file, _)| file.to_string());
            let folders: Vec<&Path> =
                self.test.paths.iter().map(|path| if path.is_dir() { path } else { path.parent().unwrap_or(path) }).collect();
            let mut sources = BTreeMap::new();
            for name in names {
                let found = folders.iter().flat_map(|folder| profile::sources([name.clone()], folder)).next();
                sources.extend(found);
            }
            self.test.looks.show(&profile, &sources, cycles)?;
        }
        if !self.broken.is_empty() {
            return Err(Failure::Silent(2));
        }
        if failed > 0 {
            return Err(Failure::Said);
        }
        if self.ran.is_empty() {
            return Err(Failure::Silent(5));
        }
        self.test.looks.snapshot(&self.ran.iter().map(|ran| (ran.id.clone(), ran.cycles())).collect())
    }

    fn words(&self, passed: usize, failed: usize, skipped: usize, cycles: u64) {
        if self.column > 0 && !self.column.is_multiple_of(80) {
            output::text("\n");
        }
        for (file, reason) in &self.broken {
            output::line(format_args!("\n____ {file} cannot be run ____\n{}", reason.trim_end()));
        }
        for ran in &self.ran {
            let Verdict::Failed(reason) = &ran.verdict else { continue };
            output::line(format_args!("\n____ {} ____\n{}", ran.id, reason.trim_end()));
            if !ran.printed.is_empty() {
                output::line(format_args!("---- printed ----\n{}", ran.printed.trim_end()));
            }
        }
        let parts =
            [(failed, "failed"), (passed, "passed"), (skipped, "skipped"), (self.deselected, "deselected"), (self.broken.len(), "broken")];
        if self.test.verbose {
            for (file, reason) in &self.left_out {
                output::line(format_args!("LEFT OUT {file}: {reason}"));
            }
        }
        let parts: Vec<String> = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        let left_out = match self.left_out.len() {
            0 => String::new(),
            count => format!(", {} left out as no tests of actors (-v says why)", counted(count, "file")),
        };
        if parts.is_empty() {
            let places: Vec<String> = self.test.paths.iter().map(|path| path.display().to_string()).collect();
            output::line(format_args!(
                "no tests of actors in {}{left_out}\n  fix: write functions test_* in files test_*.py beside an actor, or make a project that has both: cowboy init myagent",
                places.join(", ")
            ));
        } else {
            output::line(format_args!("{}{left_out}, {cycles} cycles", parts.join(", ")));
        }
    }
}

fn judged(id: String, file: &TestFile, turn: Turn, is_whole: bool) -> Ran {
    let verdict = match (&turn.said.skipped, &turn.exit) {
        (Some(reason), _) => Verdict::Skipped(reason.clone()),
        (None, Exit::Return(_)) => Verdict::Passed,
        (None, _) => Verdict::Failed(reason(file, &turn, is_whole)),
    };
    let began = turn.said.began.unwrap_or(0);
    let test_cycles = turn.said.ended.unwrap_or(turn.usage.cycles).saturating_sub(began);
    Ran { id, verdict, test_cycles, chain_cycles: turn.said.chain_cycles, printed: turn.printed }
}

/// Why a program did not come to its end, with the frames of the SDK in an actor's traceback where `is_whole`.
fn reason(file: &TestFile, turn: &Turn, is_whole: bool) -> String {
    match &turn.exit {
        Exit::Raise(error) => {
            let mut text = report::failure(file, error);
            if text.starts_with('E') {
                text = traceback(error);
            }
            if let Some((_, trace)) = turn.said.failed.as_ref().filter(|(message, _)| *message == error.message) {
                text.push_str("in the actor:\n");
                text.push_str(&if is_whole { trace.join("\n") } else { cowboy_api::traceback::folded(trace) });
            }
            text
        }
        Exit::Trap(trap) => format!("E   trap: {}", trap.slug()),
        Exit::Return(_) | Exit::HostCall(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        test: Test,
    }

    /// The same files as under pytest, where `./test python` runs them: calls, payloads, values, and jobs that the Dispatcher took.
    #[test]
    fn tests_answer_as_under_pytest() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/python/tests/worlds");
        let line = Line::parse_from([Path::new("test").as_os_str(), folder.as_os_str()]);
        let ended = line.test.run(Output { json: false });
        assert!(ended.is_ok(), "{ended:?}");
    }
}
