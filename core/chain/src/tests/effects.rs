//! Every active parameter, moved as governance moves it, changes what a chain does.
//!
//! The other tests are the scenarios: each runs once as it is and once on chains where one parameter was moved. What differs, in
//! a block or in what the test finds, is an effect. `effects.txt` names for every active row a value and a scenario that shows
//! it, or a test outside this crate where only the node or a program reads the row. A row that has no line there fails the
//! test: a parameter cannot be silently dead.
//!
//! `COWBOY_EFFECTS=write cargo test -p cowboy-chain --lib effects` looks for scenarios of rows that have none, or whose line shows
//! nothing any more.

#![allow(clippy::disallowed_methods, reason = "a test that may be told to write its table")]

use super::harness::with_moved;
use super::seen::Seen;
use super::*;
use cowboy_params::{Params, Row, Tier};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// A test as a scenario: its name, and what it does.
pub(crate) type Scenario = (&'static str, fn());

/// Tests of the module as scenarios.
macro_rules! scenarios {
    ($($name:ident),+ $(,)?) => { &[$((concat!(module_path!(), "::", stringify!($name)), $name as fn())),+] };
}
pub(crate) use scenarios;

/// Every test that is a scenario.
pub(crate) const ALL: &[&[Scenario]] = &[
    actors::SCENARIOS,
    auction::SCENARIOS,
    bids::SCENARIOS,
    blocks::SCENARIOS,
    burdens::SCENARIOS,
    economy::SCENARIOS,
    entitlements::SCENARIOS,
    gateways::SCENARIOS,
    governance::SCENARIOS,
    government::SCENARIOS,
    lanes::SCENARIOS,
    messages::SCENARIOS,
    names::SCENARIOS,
    open_permissions::SCENARIOS,
    packing::SCENARIOS,
    permissions::SCENARIOS,
    python::SCENARIOS,
    queries::SCENARIOS,
    randomness::SCENARIOS,
    refusals::SCENARIOS,
    rent::SCENARIOS,
    seams::SCENARIOS,
    signatures::SCENARIOS,
    signers::SCENARIOS,
    staking::SCENARIOS,
    timers::SCENARIOS,
    tokens::SCENARIOS,
    transfers::SCENARIOS,
    unpaid::SCENARIOS,
    upgrades::SCENARIOS,
    web::SCENARIOS,
    market::adversaries::SCENARIOS,
    market::costs::SCENARIOS,
    market::delegation::SCENARIOS,
    market::disputes::SCENARIOS,
    market::modes::SCENARIOS,
    market::path::SCENARIOS,
    market::provides::SCENARIOS,
    market::queue::SCENARIOS,
    market::refused::SCENARIOS,
    market::registry::SCENARIOS,
    market::review::SCENARIOS,
    market::selection::SCENARIOS,
    market::submission::SCENARIOS,
    market::tee::SCENARIOS,
    market::waiting::SCENARIOS,
];

/// Where the lines stand.
const TABLE: &str = include_str!("effects.txt");

/// What a line says of a row.
#[derive(Clone, Debug)]
enum Shown {
    /// A scenario differs when the row has this value.
    Here(u64, String),
    /// A test elsewhere shows it: a file of the repository, and the test's name.
    Elsewhere(String, String),
}

/// The rows that governance can move.
fn movable() -> impl Iterator<Item = &'static Row> {
    Params::ROWS.iter().filter(|row| row.is_active && row.tier != Tier::Fixed)
}

/// The lines, by the row's name.
fn table() -> BTreeMap<String, Shown> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [row, second, third] = words[..] else { unreachable!("a line has three words: {line}") };
        let shown = match second.parse() {
            Ok(value) => Shown::Here(value, third.to_string()),
            Err(_) => Shown::Elsewhere(second.to_string(), third.to_string()),
        };
        (row.to_string(), shown)
    };
    TABLE.lines().filter(|text| !text.starts_with('#')).map(line).collect()
}

fn scenario(name: &str) -> Option<Scenario> {
    ALL.iter().flat_map(|scenarios| scenarios.iter()).find(|(known, _)| *known == name).copied()
}

/// What comes of a scenario: whether it finds what it looks for, and its blocks.
pub(crate) fn outcome(run: fn(), moved: Option<(u16, u64)>) -> (bool, Vec<Seen>) {
    with_moved(moved, || catch_unwind(AssertUnwindSafe(run)).is_ok())
}

fn is_seen(row: &Row, value: u64, run: fn(), plain: &(bool, Vec<Seen>)) -> bool {
    outcome(run, Some((row.id, value))) != *plain
}

/// What is wrong with the lines of a part of the rows.
fn missing(part: usize) -> Vec<String> {
    let (table, mut plain, mut found) = (table(), BTreeMap::new(), Vec::new());
    for row in movable().enumerate().filter(|(place, _)| place % PARTS == part).map(|(_, row)| row) {
        match table.get(row.name) {
            None => found.push(format!("{}: no line", row.name)),
            Some(Shown::Elsewhere(file, test)) => {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
                let source = std::fs::read_to_string(&path).unwrap_or_default();
                if !source.contains(&format!("fn {test}(")) && !source.contains(&format!("def {test}(")) {
                    found.push(format!("{}: {file} has no test {test}", row.name));
                }
            }
            Some(Shown::Here(value, name)) => {
                let Some((name, run)) = scenario(name) else {
                    found.push(format!("{}: no scenario {name}", row.name));
                    continue;
                };
                let plain = &*plain.entry(name).or_insert_with(|| outcome(run, None));
                let is_allowed = (row.min..=row.max).contains(value) && *value != row.genesis;
                if !is_allowed || !is_seen(row, *value, run, plain) {
                    found.push(format!("{}: {name} shows nothing of {value}", row.name));
                }
            }
        }
    }
    found
}

/// Tests of one kind run side by side.
const PARTS: usize = 4;

fn check(part: usize) {
    if std::env::var_os("COWBOY_EFFECTS").is_some() {
        return;
    }
    assert_eq!(missing(part), Vec::<String>::new(), "run: COWBOY_EFFECTS=write cargo test -p cowboy-chain --lib effects");
}

#[test]
fn every_active_parameter_has_an_effect_0() {
    check(0);
}

#[test]
fn every_active_parameter_has_an_effect_1() {
    check(1);
}

#[test]
fn every_active_parameter_has_an_effect_2() {
    check(2);
}

#[test]
fn every_active_parameter_has_an_effect_3() {
    check(3);
}

/// How many scenarios are tried for one row.
const TRIED: usize = 60;

/// Values that a row is moved to when a scenario is looked for: its ends, and near what it was.
fn values(row: &Row) -> Vec<u64> {
    let near = [row.genesis.saturating_add(1), row.genesis / 2, row.genesis.saturating_mul(2)];
    let all = [row.min, row.max].into_iter().chain(near).map(|value| value.clamp(row.min, row.max));
    let mut values: Vec<u64> = all.filter(|value| *value != row.genesis).collect();
    values.dedup();
    values
}

/// Looks for lines of the rows that have none, and writes the table.
#[test]
fn lines_are_found() {
    if std::env::var_os("COWBOY_EFFECTS").is_none() {
        return;
    }
    let mut lines = table();
    let mut known: Vec<(Scenario, (bool, Vec<Seen>))> = Vec::new();
    for scenario in ALL.iter().flat_map(|scenarios| scenarios.iter()) {
        let plain = outcome(scenario.1, None);
        // A scenario that draws from outside itself shows nothing.
        if plain.0 && plain == outcome(scenario.1, None) {
            known.push((*scenario, plain));
        }
    }
    let mut unshown = Vec::new();
    for row in movable() {
        let is_good = match lines.get(row.name) {
            Some(Shown::Elsewhere(..)) => true,
            Some(Shown::Here(value, name)) => {
                known.iter().any(|(scenario, plain)| scenario.0 == name && is_seen(row, *value, scenario.1, plain))
            }
            None => false,
        };
        if is_good {
            continue;
        }
        // Those that share most words with the row's name first.
        let words: Vec<&str> = row.name.split(['.', '_']).map(|word| word.trim_end_matches('s')).collect();
        let shared = |scenario: &Scenario| words.iter().filter(|word| scenario.0.contains(*word)).count();
        let mut own: Vec<_> = known.iter().collect();
        own.sort_by_key(|(scenario, _)| std::cmp::Reverse(shared(scenario)));
        let seen = own.iter().take(TRIED).find_map(|(scenario, plain)| {
            let value = values(row).into_iter().find(|value| is_seen(row, *value, scenario.1, plain))?;
            Some(Shown::Here(value, scenario.0.to_string()))
        });
        match seen {
            Some(shown) => drop(lines.insert(row.name.to_string(), shown)),
            None => unshown.push(row.name),
        }
        write(&lines);
    }
    assert!(unshown.is_empty(), "nothing differs when these move: {unshown:?}");
}

/// Writes the table.
fn write(lines: &BTreeMap<String, Shown>) {
    let mut text = String::from("# Row, value and scenario, or row, file and test: see effects.rs, which writes the first kind.\n");
    for (row, shown) in lines.iter().filter(|(name, _)| movable().any(|row| row.name == **name)) {
        text.push_str(&match shown {
            Shown::Here(value, name) => format!("{row} {value} {name}\n"),
            Shown::Elsewhere(file, test) => format!("{row} {file} {test}\n"),
        });
    }
    std::fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/tests/effects.txt"), text).expect("the table is written");
}
