//! Nanoseconds a cycle, worst first: of every instruction, of every native function with arguments of many kinds and sizes, and of
//! programs that a seeded search makes expensive.
//! `calibrate [opcodes|natives|written|sizes|nesting|search|kept|all] [--seed N] [--seconds S | --minutes M] [--rounds N] [--only TEXT] [--show N] [--keep FOLDER]
//! [--quickest MICROSECONDS] [--bound NANOSECONDS]` prints Markdown; with a bound it fails where a cycle takes longer.
//! `sizes` takes programs to the limits and says how time grows with cycles, `nesting` puts builtins into each other, ever deeper; `search`
//! does both first, for a third of its time.
//! `kept` measures the programs of a folder once more, which a search has written there. `weight FOLDER…` compares the time of whole
//! programs with their modelled time; it fails beyond a bound that is a factor.
//!
//! A figure is the time of a whole loop over its cycles: what somebody gets who runs just that. Each program marks where its setup ends
//! with a host call; from there on it has a fixed number of cycles, and runs until they are used up. Between measurements a fixed piece
//! of work is timed, so that other load of the computer can be divided out.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a bench reads files and the clock, and prints"
)]

mod calls;
mod measure;
mod natives;
mod nesting;
mod opcodes;
mod search;
mod sizes;
mod weight;
mod written;

use calls::Random;
use measure::{Bench, Figure};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

fn table(title: &str, bench: &Bench, mut figures: Vec<Figure>, show: usize) {
    figures.sort_by(|one, other| other.cost.time.total_cmp(&one.cost.time));
    let above = |bound: f64| figures.iter().filter(|figure| figure.cost.time > bound).count();
    let middle = figures.get(figures.len() / 2).map_or(0.0, |figure| figure.cost.time);
    println!("### {title}\n");
    println!(
        "{} rows; median {middle:.1} ns a cycle; above 5: {}; above 10: {}. The computer was {:.2} times as slow as at its fastest, when the fixed work took {:.1} µs.\n",
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

/// How time grows with cycles; the most that a cycle took.
fn growth_table(title: &str, found: &[sizes::Growth], show: usize) -> f64 {
    let worst = found.iter().map(sizes::Growth::worst).fold(0.0, f64::max);
    println!("### {title}\n\n{} rows; steeper than their cycles: {}\n", found.len(), found.iter().filter(|row| row.is_steep()).count());
    println!("| row | ns a cycle by size | power of the cycles | what ran |\n|---|---|---|---|");
    for row in found.iter().take(show) {
        let times: Vec<String> = row.times.iter().map(|(size, time)| format!("{size}: {time:.1}")).collect();
        let program: String = row.program.replace('\n', " ⏎ ").replace('|', "\\|").chars().take(110).collect();
        println!(
            "| {}{} | {} | {:.2} | `{program}` |",
            if row.is_steep() { "**steep** " } else { "" },
            row.name,
            times.join(", "),
            row.slope()
        );
    }
    println!();
    worst
}

fn main() -> ExitCode {
    let mut options: BTreeMap<String, String> = BTreeMap::new();
    let mut words = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.strip_prefix("--") {
            Some(name) => drop(options.insert(name.to_owned(), arguments.next().unwrap_or_default())),
            None => words.push(argument),
        }
    }
    let what = words.first().map_or("all", String::as_str);
    let number = |name: &str, default: u64| options.get(name).and_then(|text| text.parse().ok()).unwrap_or(default);
    let (seed, seconds) = (number("seed", 1), number("seconds", 60 * number("minutes", 0)));
    let seconds = if seconds == 0 { 90 } else { seconds };
    let size = |name: &str, default: u64| usize::try_from(number(name, default)).expect("a small number");
    let show = size("show", 40);
    let only = options.get("only").cloned().unwrap_or_default();
    let mut random = Random::new(seed);
    let mut bench = Bench::new(number("quickest", 0));
    eprintln!("seed {seed}");
    let mut worst: f64 = 0.0;
    if matches!(what, "all" | "sizes" | "search") {
        bench.allow(if what == "search" { seconds / 6 } else { seconds });
        worst = growth_table("Growth with size", &sizes::sizes(&mut bench, &only, &mut random), show);
    }
    if matches!(what, "all" | "nesting" | "search") {
        bench.allow(if what == "search" { seconds / 6 } else { seconds });
        let (found, tried) = sizes::nesting(&mut bench, &only, &mut random);
        worst = worst.max(growth_table(&format!("Growth with depth, {tried} pairs of builtins"), &found, show));
    }
    if matches!(what, "all" | "opcodes") {
        let figures = opcodes::opcodes(&mut bench, &only, 7);
        table("Instructions", &bench, figures, show);
    }
    if matches!(what, "all" | "natives") {
        bench.allow(seconds);
        let (figures, draws) = natives::natives(&mut bench, &only, &mut random);
        table(&format!("Native functions, the worst of {draws} draws each"), &bench, figures, show);
    }
    if matches!(what, "all" | "written") {
        let figures = written::written(&mut bench, &only, 5);
        table("Programs written against the prices", &bench, figures, show);
    }
    if let ("kept", Some(folder)) = (what, options.get("keep")) {
        let figures = search::programs(&mut bench, folder, 7);
        table("Programs that were kept", &bench, figures, show);
    }
    if matches!(what, "all" | "search") {
        bench.allow(seconds - if what == "search" { seconds / 3 } else { 0 });
        let (figures, tried) = search::search(&mut bench, &mut random, size("rounds", 1 << 30));
        if let Some(folder) = options.get("keep") {
            for (index, figure) in figures.iter().enumerate() {
                let path = PathBuf::from(folder).join(format!("{index:02}_{:.0}_{}.py", figure.cost.time, figure.name));
                std::fs::write(path, &figure.whole).expect("the folder can be written");
            }
        }
        worst = figures.iter().map(|figure| figure.cost.time).fold(worst, f64::max);
        table(&format!("Adversarial search, {tried} programs"), &bench, figures, show);
    }
    if what == "weight" {
        worst = weight::weight(&mut bench, &words[1..], show);
    }
    match options.get("bound").and_then(|bound| bound.parse::<f64>().ok()) {
        Some(bound) if worst > bound => {
            eprintln!("A cycle takes {worst:.1} ns; the bound is {bound}.");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}
