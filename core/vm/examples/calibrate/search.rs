//! The adversary: a seeded search for programs whose cycles take long.

use crate::calls::Random;
use crate::measure::{Bench, Cost, Figure};
use crate::natives::any_call;
use cowboy_vm::{compile, native_costs};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Cycles of one measurement of a corpus program while searching, and of each of the last ones.
const BUDGET: u64 = 400_000;
const LAST_BUDGET: u64 = 2_000_000;

fn corpus() -> Vec<(String, String)> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["tests/corpus", "tests/corpus/frozen", "benches/programs"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())).filter(|path| path.extension().is_some_and(|end| end == "py")) {
            if let Ok(text) = std::fs::read_to_string(&path) {
                found.push((path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default(), text));
            }
        }
    }
    found.sort();
    found
}

/// The programs of a folder, each with its own mark.
pub(crate) fn programs(bench: &mut Bench, folder: &str, rounds: usize) -> Vec<Figure> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).expect("a folder").filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let figure = |path: PathBuf| {
        let whole = std::fs::read_to_string(&path).ok()?;
        let name = path.file_stem()?.to_string_lossy().into_owned();
        let cost = cost_of(bench, &name, &whole, LAST_BUDGET, rounds)?;
        Some(Figure { name, program: whole.clone(), whole, cost })
    };
    paths.into_iter().filter_map(figure).collect()
}

/// The program, over and over.
fn repeated(source: &str) -> String {
    let body: String = source.lines().map(|line| format!("    {line}\n")).collect();
    format!("import pvm_host\npvm_host.current_block()\nfor repetition in range(1000000000):\n{body}")
}

const NUMBERS: &[&str] =
    &["0", "1", "-1", "7", "64", "1000", "65536", "2**63", "10**50", "2**4000", "0.1", "1e300", "'a'*999", "[0]*999", "None"];
const METHODS: &[&str] = &[
    "upper", "split", "sort", "copy", "items", "strip", "encode", "count", "index", "replace", "append", "extend", "update", "join",
    "format",
];
const OPERATORS: &[&str] = &["+", "-", "*", "//", "%", "**", "<<", ">>", "&", "|", "==", "<", "in"];

/// A small change somewhere in a program.
fn mutated(source: &str, random: &mut Random) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let at = random.below(lines.len());
    let line = lines[at];
    let tokens = |is: &dyn Fn(char) -> bool| -> Vec<(usize, usize)> {
        let mut spans = Vec::new();
        let mut start = None;
        for (index, letter) in line.char_indices().chain([(line.len(), ' ')]) {
            match (is(letter) && index < line.len(), start) {
                (true, None) => start = Some(index),
                (false, Some(from)) => {
                    spans.push((from, index));
                    start = None;
                }
                _ => {}
            }
        }
        spans
    };
    let changed = match random.below(5) {
        0 => {
            let spans = tokens(&|letter| letter.is_ascii_digit());
            spans.get(random.below(spans.len())).map(|(from, to)| format!("{}{}{}", &line[..*from], random.of(NUMBERS), &line[*to..]))
        }
        1 => {
            let spans: Vec<(usize, usize)> = tokens(&|letter| letter.is_ascii_alphabetic() || letter == '_')
                .into_iter()
                .filter(|(from, _)| line[..*from].ends_with('.'))
                .collect();
            spans.get(random.below(spans.len())).map(|(from, to)| format!("{}{}{}", &line[..*from], random.of(METHODS), &line[*to..]))
        }
        2 => {
            let spans = tokens(&|letter| "+-*/%<>&|=".contains(letter));
            spans.get(random.below(spans.len())).map(|(from, to)| format!("{} {} {}", &line[..*from], random.of(OPERATORS), &line[*to..]))
        }
        3 => {
            let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
            Some(format!("{line}\n{indent}{}", line.trim_start()))
        }
        _ => {
            let indent: String = line.chars().take_while(|letter| *letter == ' ').collect();
            Some(format!("{indent}for again in range(20):\n{indent}    {}", line.trim_start()))
        }
    };
    let changed = changed.unwrap_or_else(|| line.to_owned());
    let mut out = String::with_capacity(source.len() + changed.len());
    for (index, line) in lines.iter().enumerate() {
        out.push_str(if index == at { &changed } else { line });
        out.push('\n');
    }
    out
}

/// What the search keeps of a name: its worst program.
struct Best {
    time: f64,
    source: String,
    shown: String,
    budget: u64,
}

fn cost_of(bench: &mut Bench, name: &str, source: &str, budget: u64, rounds: usize) -> Option<Cost> {
    let unit = compile(source, name).ok()?;
    bench.measure(&unit, source, budget, rounds)
}

/// Hill climbing: from every program of the corpus, a change that makes a cycle more expensive is kept; in between, calls of native
/// functions with arguments of all kinds and sizes. Ends with the bench's time, or after `rounds` programs.
pub(crate) fn search(bench: &mut Bench, random: &mut Random, rounds: usize) -> (Vec<Figure>, usize) {
    let rows = native_costs();
    let mut pool: BTreeMap<String, Best> = BTreeMap::new();
    for (name, source) in corpus() {
        if let Some(cost) = cost_of(bench, &name, &repeated(&source), BUDGET, 1) {
            pool.insert(name, Best { time: cost.time, source: source.clone(), shown: source, budget: BUDGET });
        }
    }
    let names: Vec<String> = pool.keys().cloned().collect();
    let mut tried = pool.len();
    while !bench.is_over() && tried < rounds && !names.is_empty() {
        tried += 1;
        if random.below(2) == 0 {
            let Some(call) = any_call(&rows, random) else { continue };
            let Some(cost) = cost_of(bench, "call", &call.program, call.budget, 1) else { continue };
            let name = call.shown.split_once('(').map_or(call.shown.as_str(), |(_, rest)| rest).to_owned();
            if cost.time > 8.0 {
                pool.insert(name, Best { time: cost.time, source: call.program, shown: call.shown, budget: call.budget });
            }
            continue;
        }
        let name = &names[random.below(names.len())];
        let Some(best) = pool.get(name) else { continue };
        let (before, mut changed) = (best.time, mutated(&best.source, random));
        for _ in 0..random.below(3) {
            changed = mutated(&changed, random);
        }
        let Some(first) = cost_of(bench, name, &repeated(&changed), BUDGET, 1) else { continue };
        if first.time > before && cost_of(bench, name, &repeated(&changed), BUDGET, 3).is_some_and(|cost| cost.time > before) {
            pool.insert(name.clone(), Best { time: first.time, source: changed.clone(), shown: changed, budget: BUDGET });
        }
    }
    let mut found: Vec<(String, Best)> = pool.into_iter().collect();
    found.sort_by(|(_, one), (_, other)| other.time.total_cmp(&one.time));
    let is_program = |name: &String| names.contains(name);
    let figures = found.into_iter().take(60).filter_map(|(name, best)| {
        let source = if is_program(&name) { repeated(&best.source) } else { best.source };
        let budget = if is_program(&name) { LAST_BUDGET } else { best.budget };
        let cost = cost_of(bench, &name, &source, budget, 5)?;
        let name = if is_program(&name) { name } else { "call".to_owned() };
        Some(Figure { name, program: best.shown, whole: source, cost })
    });
    (figures.collect(), tried)
}
