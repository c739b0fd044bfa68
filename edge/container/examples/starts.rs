//! What a box costs: from an unpacked image to the first instruction of a program, and the processor time of the same work in a box and without one.
//! Prints JSON. It needs root.
#![allow(clippy::print_stdout, reason = "what is measured is printed")]

use cowboy_container::{Boxes, Helper, Plan, child_main};
use std::collections::BTreeSet;
use std::fs;
use std::future::pending;
use std::hint::black_box;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Starts, of which the median counts.
const STARTS: usize = 50;

/// Rounds of the comparison of processor time, one of each kind by turns.
const ROUNDS: usize = 9;

fn main() -> ExitCode {
    let argument = std::env::args().nth(1);
    match argument.as_deref() {
        Some("box") => return child_main(),
        Some("now") => println!("{}", now().as_nanos()),
        Some("work") => println!("{}", work().as_nanos()),
        _ => tokio::runtime::Runtime::new().expect("a runtime").block_on(measure()),
    }
    ExitCode::SUCCESS
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock")
}

/// Memory and arithmetic; returns the processor time.
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

async fn measure() {
    let folder = tempfile::tempdir().expect("a folder");
    let rootfs = folder.path().join("rootfs");
    image(&rootfs);
    let boxes = Boxes::open(&folder.path().join("state"), Helper::this_program()).expect("boxes");
    let run = async |name: &str| {
        let mut plan = Plan::new(&rootfs, vec!["/starts".to_owned(), name.to_owned()]);
        plan.limits.scratch_mib = 16;
        plan.limits.cpu_millicores = 4000;
        let outcome = boxes.run(plan, pending()).await.expect("it runs");
        let printed = String::from_utf8_lossy(&outcome.stdout).trim().parse::<u128>().expect("a number");
        (printed, u128::from(outcome.usage.cpu_ms))
    };
    let (mut starts, mut wholes) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let began = now();
        let first = run("now").await.0;
        starts.push(first.saturating_sub(began.as_nanos()) / 1000);
        wholes.push((now() - began).as_micros());
    }
    let (mut boxed, mut bare) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        boxed.push(run("work").await.0 / 1000);
        let output = Command::new(rootfs.join("starts")).arg("work").output().expect("it runs");
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
