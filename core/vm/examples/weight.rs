//! Modelled time against real time: runs every program of some folders, and prints those whose processor time is most above their
//! weight. `weight FOLDER… [--rows N]`; a summary follows on the last lines.
//!
//! Compiling a program and making its image are left out: the chain models them by the bytes of the source. So is what an empty
//! program takes, which the chain models as the beginning of a call (`weights.call`); the last line says how long that is.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench reads files and the clock, and prints"
)]

use cowboy_vm::{Entry, Image, Limits, Vm, compile, script_image};
use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

/// For how long a program is repeated, in ns of processor time.
const LEAST: u64 = 20_000_000;

/// Programs that weigh less say nothing: starting one takes as long.
const LIGHT: u64 = 20_000;

/// What a program took and what it weighs, in ns of one run.
struct Row {
    name: String,
    took: u64,
    weight: u64,
}

impl Row {
    /// A hundred times the real time over the modelled.
    fn factor(&self) -> u64 {
        self.took.saturating_mul(100) / self.weight.max(1)
    }
}

/// Nanoseconds that this process has been running on a processor.
fn processor_time() -> u64 {
    let text = fs::read_to_string("/proc/self/schedstat").expect("Linux counts the time of processes");
    text.split(' ').next().and_then(|field| field.parse().ok()).expect("the first field is a number")
}

/// One run of a program: what it weighs.
fn run(image: &Arc<Image>) -> u64 {
    let limits = Limits { cycles: 1 << 34, memory_bytes: 1 << 28, weight_ns: 1 << 50, ..Limits::default() };
    let mut vm = Vm::start(image.clone(), Entry::Script, limits);
    // However it ends: what it used is what counts.
    let _ = vm.run();
    vm.usage().weight_ns
}

/// What a program weighs, and the nanoseconds of one run; nothing of one that does not compile.
fn measure(source: &str) -> Option<(u64, u64)> {
    let unit = compile(source, "program.py").ok()?;
    let image = script_image(&unit);
    let weight = run(&image);
    let (begin, mut turns) = (processor_time(), 0u64);
    loop {
        run(&image);
        turns += 1;
        let took = processor_time() - begin;
        if took >= LEAST {
            return Some((weight, took / turns));
        }
    }
}

/// The Python programs below a folder, in order.
fn programs(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder that can be read").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "py") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let (mut folders, mut rows) = (Vec::new(), 20);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rows" => rows = arguments.next().and_then(|text| text.parse().ok()).expect("--rows takes a number"),
            folder => folders.push(PathBuf::from(folder)),
        }
    }
    let (_, beginning) = measure("").expect("an empty program compiles");
    let row = |path: PathBuf| {
        let (weight, took) = measure(&fs::read_to_string(&path).ok()?)?;
        Some(Row { name: path.display().to_string(), took: took.saturating_sub(beginning), weight })
    };
    let all = folders.iter().flat_map(|folder| programs(folder));
    let mut measured: Vec<Row> = all.filter_map(row).filter(|row| row.weight >= LIGHT).collect();
    measured.sort_by_key(|row| std::cmp::Reverse(row.factor()));
    println!("{:>8} {:>12} {:>12}  program", "factor", "took ns", "weight ns");
    for row in measured.iter().take(rows) {
        println!("{:>5}.{:02} {:>12} {:>12}  {}", row.factor() / 100, row.factor() % 100, row.took, row.weight, row.name);
    }
    let (took, weight) = measured.iter().fold((0u64, 0u64), |sum, row| (sum.0 + row.took, sum.1 + row.weight));
    let beyond = measured.iter().filter(|row| row.factor() > 300).count();
    let of_all = took.saturating_mul(100) / weight.max(1);
    println!("{} programs, {}.{:02} over all, {beyond} above 3", measured.len(), of_all / 100, of_all % 100);
    println!("an empty program: {beginning} ns");
}
