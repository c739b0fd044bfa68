//! Nanoseconds a cycle, worst first: of every instruction, of every native function with arguments of many kinds and sizes, and of
//! programs that a seeded search makes expensive.
//! `calibrate [opcodes|natives|written|search|kept|all] [--seed N] [--seconds S] [--rounds N] [--only TEXT] [--show N] [--keep FOLDER]
//! [--quickest MICROSECONDS]` prints Markdown.
//! `kept` measures the programs of a folder once more, which a search has written there.
//!
//! A figure is the time of a whole loop over its cycles: what somebody gets who runs just that. Each program marks where its setup ends
//! with a host call; from there on it has a fixed number of cycles, and runs until they are used up. Between measurements a fixed piece
//! of work is timed, so that what else the machine does can be divided out.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench reads files and the clock, and prints"
)]

mod measure;
mod natives;
mod opcodes;
mod search;
mod written;

use measure::{Bench, Figure, Random};
use std::collections::BTreeMap;
use std::path::PathBuf;

fn table(title: &str, bench: &Bench, mut figures: Vec<Figure>, show: usize) {
    figures.sort_by(|one, other| other.cost.time.total_cmp(&one.cost.time));
    let above = |bound: f64| figures.iter().filter(|figure| figure.cost.time > bound).count();
    let middle = figures.get(figures.len() / 2).map_or(0.0, |figure| figure.cost.time);
    println!("### {title}\n");
    println!(
        "{} rows; median {middle:.1} ns a cycle; above 5: {}; above 10: {}. The machine was {:.2} times as slow as at its quickest, when the fixed work took {:.1} µs.\n",
        figures.len(),
        above(5.0),
        above(10.0),
        bench.slowness(),
        bench.reference()
    );
    println!("| row | ns a cycle | by weight | what ran |\n|---|---|---|---|");
    for figure in figures.iter().take(show) {
        let program = figure.program.lines().next().unwrap_or_default().replace('|', "\\|");
        let program: String = program.chars().take(110).collect();
        println!("| {} | {:.1} | {:.1} | `{program}` |", figure.name, figure.cost.time, figure.cost.weight);
    }
    println!();
}

fn main() {
    let mut options: BTreeMap<String, String> = BTreeMap::new();
    let mut what = "all".to_owned();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("--") {
            Some(name) => drop(options.insert(name.to_owned(), arguments.next().unwrap_or_default())),
            None => what = argument,
        }
    }
    let number = |name: &str, default: u64| options.get(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seed, seconds) = (number("seed", 1), number("seconds", 90));
    let size = |name: &str, default: u64| usize::try_from(number(name, default)).expect("a small number");
    let show = size("show", 40);
    let only = options.get("only").cloned().unwrap_or_default();
    let mut random = Random::new(seed);
    let mut bench = Bench::new(number("quickest", 0));
    eprintln!("seed {seed}");
    if matches!(what.as_str(), "all" | "opcodes") {
        let figures = opcodes::opcodes(&mut bench, &only, 7);
        table("Instructions", &bench, figures, show);
    }
    if matches!(what.as_str(), "all" | "natives") {
        bench.allow(seconds);
        let (figures, draws) = natives::natives(&mut bench, &only, &mut random);
        table(&format!("Native functions, the worst of {draws} draws each"), &bench, figures, show);
    }
    if matches!(what.as_str(), "all" | "written") {
        let figures = written::written(&mut bench, &only, 5);
        table("Programs written against the prices", &bench, figures, show);
    }
    if let ("kept", Some(folder)) = (what.as_str(), options.get("keep")) {
        let figures = search::programs(&mut bench, folder, 7);
        table("Programs that were kept", &bench, figures, show);
    }
    if matches!(what.as_str(), "all" | "search") {
        bench.allow(seconds);
        let (figures, tried) = search::search(&mut bench, &mut random, size("rounds", 1 << 30));
        if let Some(folder) = options.get("keep") {
            for (index, figure) in figures.iter().enumerate() {
                let path = PathBuf::from(folder).join(format!("{index:02}_{:.0}_{}.py", figure.cost.time, figure.name));
                std::fs::write(path, &figure.whole).expect("the folder can be written");
            }
        }
        table(&format!("Adversarial search, {tried} programs"), &bench, figures, show);
    }
}
