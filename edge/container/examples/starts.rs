//! What a box costs: from an unpacked image to the first instruction of a program, the processor time of the same work in a box and without one, boxes
//! that share the computer, and what thousands of them leave behind. Prints JSON. It needs root.
//!
//! Without arguments: the first instruction and the processor time. `together COUNT`: boxes at once. `many COUNT`: boxes one after the other.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "what is measured is printed, and how far it is")]

use cowboy_container::{Boxes, End, Helper, Outcome, Plan, child_main};
use std::collections::BTreeSet;
use std::fs;
use std::future::pending;
use std::hint::black_box;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

/// Starts, of which the median counts.
const STARTS: usize = 50;

/// Rounds of the comparison of processor time, one of each kind by turns.
const ROUNDS: usize = 9;

/// Thousandths of a core that boxes share which run at once, and how often they do.
const SHARED_MILLICORES: u32 = 2_000;
const ROUNDS_TOGETHER: usize = 5;

/// Time of a box that works for a second, of what its share of the processors would take.
const DEADLINE_PERCENT: u32 = 150;

/// Starts between two lines that say how far it is.
const SHOWN: usize = 500;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["box"] => return child_main(),
        ["now"] => println!("{}", now().as_nanos()),
        ["work"] => println!("{}", work().as_nanos()),
        ["second"] => while work() < Duration::from_secs(1) {},
        ["together", count] => block_on(together(count.parse().expect("a number of boxes"))),
        ["many", count] => block_on(many(count.parse().expect("a number of boxes"))),
        _ => block_on(measure()),
    }
    ExitCode::SUCCESS
}

fn block_on(work: impl Future<Output = ()>) {
    tokio::runtime::Runtime::new().expect("a runtime").block_on(work);
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock")
}

/// Memory and arithmetic; returns the processor time of the process.
fn work() -> Duration {
    let mut sum = 0_u64;
    for round in 0..400_u64 {
        let bytes = black_box(vec![round.to_le_bytes()[0]; 1 << 20]);
        sum = bytes.iter().fold(sum, |sum, byte| sum.rotate_left(5) ^ u64::from(*byte));
    }
    black_box(sum);
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).expect("it fits"))
}

fn median(mut values: Vec<u128>) -> u128 {
    values.sort_unstable();
    values[values.len() / 2]
}

/// This program with the libraries that it uses.
fn image(rootfs: &Path) {
    let copy = |from: &str, to: &str| {
        let to = rootfs.join(to.trim_start_matches('/'));
        fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
        fs::copy(from, to).expect("it is copied");
    };
    let maps = fs::read_to_string("/proc/self/maps").expect("it is read");
    let libraries: BTreeSet<&str> =
        maps.lines().filter_map(|line| line.split(' ').next_back()).filter(|path| path.contains(".so")).collect();
    for library in libraries {
        copy(library, library);
        if let Some(name) = Path::new(library).file_name().and_then(|name| name.to_str()).filter(|name| name.starts_with("ld-")) {
            let folder = if cfg!(target_arch = "x86_64") { "lib64" } else { "lib" };
            copy(library, &format!("{folder}/{name}"));
        }
    }
    copy("/proc/self/exe", "starts");
}

/// Boxes, and an image with this program.
struct Bench {
    _folder: TempDir,
    rootfs: PathBuf,
    state: PathBuf,
    boxes: Boxes,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let (rootfs, state) = (folder.path().join("rootfs"), folder.path().join("state"));
        image(&rootfs);
        let boxes = Boxes::open(&state, Helper::this_program()).expect("boxes");
        Self { _folder: folder, rootfs, state, boxes }
    }

    fn plan(&self, name: &str) -> Plan {
        let mut plan = Plan::new(&self.rootfs, vec!["/starts".to_owned(), name.to_owned()]);
        plan.limits.scratch_mib = 16;
        plan.limits.cpu_millicores = 4000;
        plan
    }

    async fn run(&self, plan: Plan) -> Outcome {
        self.boxes.run(plan, pending()).await.expect("it runs")
    }

    /// The number that a program prints.
    async fn number(&self, name: &str) -> u128 {
        let outcome = self.run(self.plan(name)).await;
        String::from_utf8_lossy(&outcome.stdout).trim().parse().expect("a number")
    }
}

async fn measure() {
    let bench = Bench::new();
    let (mut starts, mut wholes) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let began = now();
        let first = bench.number("now").await;
        starts.push(first.saturating_sub(began.as_nanos()) / 1000);
        wholes.push((now() - began).as_micros());
    }
    let (mut boxed, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        boxed.push(bench.number("work").await / 1000);
        let output = Command::new(bench.rootfs.join("starts")).arg("work").output().expect("it runs");
        bare.push(String::from_utf8_lossy(&output.stdout).trim().parse::<u128>().expect("a number") / 1000);
    }
    let (boxed, bare) = (median(boxed), median(bare));
    let more = (boxed as f64 / bare as f64 - 1.0) * 100.0;
    println!(
        r#"{{"starts": {STARTS}, "first_instruction_us": {}, "start_to_result_us": {}, "cpu_boxed_us": {boxed}, "cpu_bare_us": {bare}, "cpu_more_percent": {more:.2}}}"#,
        median(starts),
        median(wholes),
    );
}

/// Boxes at once, each with a second of work and its part of the processors.
async fn together(count: u32) {
    let bench = Bench::new();
    let share = SHARED_MILLICORES / count.max(1);
    let deadline = Duration::from_secs(1) * 1_000 / share.max(1) * DEADLINE_PERCENT / 100;
    let (mut boxes, mut late, mut longest) = (0, 0, Duration::ZERO);
    for _ in 0..ROUNDS_TOGETHER {
        let running = (0..count).map(|_| {
            let mut plan = bench.plan("second");
            plan.limits.cpu_millicores = share;
            plan.limits.memory_mib = 64;
            plan.limits.max_duration = deadline;
            bench.run(plan)
        });
        for outcome in futures::future::join_all(running).await {
            boxes += 1;
            late += usize::from(outcome.end != End::Exited(0));
            longest = longest.max(outcome.usage.duration);
        }
    }
    let (deadline, longest) = (deadline.as_millis(), longest.as_millis());
    println!(r#"{{"at_once": {count}, "boxes": {boxes}, "late": {late}, "longest_ms": {longest}, "deadline_ms": {deadline}}}"#);
}

/// What this process and its boxes hold: files of the state, control groups, mounts, processes, open files.
fn held(state: &Path) -> [usize; 5] {
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("it is read");
        entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect()
    };
    let found = fs::metadata(state).expect("it is there");
    let prefix = format!("cowboy-{:x}-{:x}-", found.dev(), found.ino());
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("it is read");
    let trees = mounts.lines().filter(|line| line.contains(" - cgroup")).filter_map(|line| line.split(' ').nth(4));
    let groups = trees.flat_map(|tree| names(Path::new(tree))).filter(|name| name.starts_with(&prefix)).count();
    let parent = format!("PPid:\t{}", std::process::id());
    let statuses = names(Path::new("/proc")).into_iter().filter_map(|name| fs::read_to_string(format!("/proc/{name}/status")).ok());
    let processes = statuses.filter(|status| status.lines().any(|line| line == parent)).count();
    let files = names(state).into_iter().filter(|name| name != "lock").count();
    let folder = state.parent().expect("a folder").display().to_string();
    let mounted = mounts.lines().filter(|line| line.contains(&folder)).count();
    [files, groups, mounted, processes, names(Path::new("/proc/self/fd")).len()]
}

/// Boxes one after the other, and what they leave. The first is not counted: what it makes once stays for the others.
async fn many(count: usize) {
    let bench = Bench::new();
    let ends = async || bench.run(bench.plan("now")).await.end == End::Exited(0);
    assert!(ends().await, "a program runs");
    let (before, began) = (held(&bench.state), Instant::now());
    let mut failed = 0;
    for number in 1..=count {
        failed += usize::from(!ends().await);
        if number % SHOWN == 0 {
            eprintln!("{number} of {count} starts, {} s", began.elapsed().as_secs());
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let after = held(&bench.state);
    let [files, groups, mounts, processes, open]: [usize; 5] = std::array::from_fn(|place| after[place].saturating_sub(before[place]));
    println!(
        r#"{{"starts": {count}, "failed": {failed}, "seconds": {seconds:.1}, "files": {files}, "groups": {groups}, "mounts": {mounts}, "processes": {processes}, "open_files": {open}}}"#
    );
}
