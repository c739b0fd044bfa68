//! Modelled time against real time: runs every program of some folders, and tells whose real time is most above its weight.
//!
//! Compiling a program and making its image are left out: the chain models them by the bytes of the source. So is what an empty
//! program takes, which the chain models as the beginning of a call (`weights.call`).

use crate::measure::{Bench, run_whole};
use cowboy_vm::{Image, compile, script_image};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Programs that weigh less say nothing: starting one takes as long.
const LIGHT: u64 = 20_000;
/// Rounds in which all programs are run, one after the other; the quickest run of a program counts.
const ROUNDS: usize = 9;
/// The goal for the worst program: how far real time may be above the model.
const GOAL: f64 = 3.0;

/// A program, what it took at its quickest and what it weighs, in nanoseconds.
struct Row {
    name: String,
    image: Arc<Image>,
    time: f64,
    weight: u64,
}

impl Row {
    fn of(path: &Path) -> Option<Self> {
        let unit = compile(&fs::read_to_string(path).ok()?, "program.py").ok()?;
        let image = script_image(&unit);
        let weight = run_whole(&image);
        Some(Self { name: path.display().to_string(), image, time: f64::MAX, weight })
    }

    /// Real time over modelled time.
    fn factor(&self) -> f64 {
        self.time / self.weight as f64
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

/// Measures the programs of the folders and prints the worst; how far the worst of all is above its model.
pub(crate) fn weight(bench: &mut Bench, folders: &[String], show: usize) -> f64 {
    let paths = folders.iter().flat_map(|folder| programs(Path::new(folder)));
    let mut rows: Vec<Row> = paths.filter_map(|path| Row::of(&path)).filter(|row| row.weight >= LIGHT).collect();
    let nothing = script_image(&compile("", "empty.py").expect("nothing compiles"));
    let mut empty = f64::MAX;
    for _ in 0..ROUNDS {
        empty = empty.min(bench.whole(&nothing));
        for row in &mut rows {
            row.time = row.time.min(bench.whole(&row.image));
        }
    }
    let slowness = bench.quickest_slowness();
    empty /= slowness;
    for row in &mut rows {
        row.time = row.time / slowness - empty;
    }
    rows.sort_by(|one, other| other.factor().total_cmp(&one.factor()));
    let (time, weight) = rows.iter().fold((0.0, 0.0), |sum, row| (sum.0 + row.time, sum.1 + row.weight as f64));
    println!("### Modelled time against real time\n");
    println!(
        "{} programs; real over modelled time: {:.2} over all, {:.2} in the middle; above {GOAL}: {}. An empty program takes {:.1} µs. The fixed work took {:.1} µs at its quickest; figures are divided by {slowness:.2}.\n",
        rows.len(),
        time / weight,
        rows.get(rows.len() / 2).map_or(0.0, Row::factor),
        rows.iter().filter(|row| row.factor() > GOAL).count(),
        empty / 1e3,
        bench.reference(),
    );
    println!("| program | factor | took, µs | weighs, µs |\n|---|---|---|---|");
    for row in rows.iter().take(show) {
        println!("| {} | {:.2} | {:.0} | {} |", row.name, row.factor(), row.time / 1e3, row.weight / 1_000);
    }
    println!();
    rows.first().map_or(0.0, Row::factor)
}
