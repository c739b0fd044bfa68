//! Every active parameter, moved as governance moves it, changes what a chain does.
//!
//! The tests of a suite are the scenarios: each runs once as it is and once on chains where one parameter was moved. What differs,
//! in a block or in what the test finds, is an effect. The tables name for every active row a value and a scenario that shows it, or a
//! test outside the suites where only the node or a program reads the row. A row that has no line in any table fails the test: a parameter
//! cannot be silently dead.
//!
//! `COWBOY_EFFECTS=write cargo test -p cowboy-system --test system lines_are_found` looks for scenarios of rows that have none, or whose
//! line shows nothing any more; with `-p cowboy-chain --test chain`, it looks among the tests of blocks.

#![allow(clippy::disallowed_methods, reason = "for tests: reads the tables, and writes them where the environment asks for that")]

use crate::seen::Seen;
use crate::suite::{PARTS, Scenario, Suite, outcome, root};
use cowboy_params::{Params, Row, Tier};
use std::collections::BTreeMap;

/// The tables of all suites, from the root of the repository. A row stands in one of them.
const TABLES: [&str; 2] = ["core/chain/tests/effects.txt", "core/system/tests/effects.txt"];

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
    Params::ROWS.iter().filter(|row| row.tier != Tier::Fixed)
}

/// The lines of a table, by the row's name.
fn table(path: &std::path::Path) -> BTreeMap<String, Shown> {
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [row, second, third] = words[..] else { unreachable!("a line has three words: {line}") };
        let shown = match second.parse() {
            Ok(value) => Shown::Here(value, third.to_string()),
            Err(_) => Shown::Elsewhere(second.to_string(), third.to_string()),
        };
        (row.to_string(), shown)
    };
    let text = std::fs::read_to_string(path).expect("the suite has a table of effects");
    text.lines().filter(|text| !text.starts_with('#')).map(line).collect()
}

/// The rows that have a line in some table, each as often as it has one.
fn shown() -> Vec<String> {
    TABLES.iter().flat_map(|path| table(&root().join(path)).into_keys()).collect()
}

fn is_seen(row: &Row, value: u64, run: fn(), plain: &(bool, Vec<Seen>)) -> bool {
    outcome(run, Some((row.id, value))) != *plain
}

impl Suite {
    /// What is wrong with the lines of a part of the table.
    fn wrong(&self, part: usize) -> Vec<String> {
        let (scenarios, mut plain, mut found) = (self.all().collect::<BTreeMap<_, _>>(), BTreeMap::new(), Vec::new());
        let lines = table(&self.file("effects.txt"));
        for (name, shown) in lines.into_iter().enumerate().filter(|(place, _)| place % PARTS == part).map(|(_, line)| line) {
            let Some(row) = movable().find(|row| row.name == name) else {
                found.push(format!("{name}: no row that governance moves"));
                continue;
            };
            match shown {
                Shown::Elsewhere(file, test) => {
                    let source = std::fs::read_to_string(root().join(&file)).unwrap_or_default();
                    if !source.contains(&format!("fn {test}(")) && !source.contains(&format!("def {test}(")) {
                        found.push(format!("{name}: {file} has no test {test}"));
                    }
                }
                Shown::Here(value, scenario) => {
                    let Some(run) = scenarios.get(&*scenario) else {
                        found.push(format!("{name}: no scenario {scenario}"));
                        continue;
                    };
                    let plain = &*plain.entry(scenario.clone()).or_insert_with(|| outcome(*run, None));
                    let is_allowed = (row.min..=row.max).contains(&value) && value != row.genesis;
                    if !is_allowed || !is_seen(row, value, *run, plain) {
                        found.push(format!("{name}: {scenario} shows nothing of {value}"));
                    }
                }
            }
        }
        found
    }

    /// Runs the scenarios of a part of the table with their parameters moved.
    pub fn check_effects(&self, part: usize) {
        if std::env::var_os("COWBOY_EFFECTS").is_some() {
            return;
        }
        assert_eq!(
            self.wrong(part),
            Vec::<String>::new(),
            "set COWBOY_EFFECTS=write to look for others, as core/testkit/src/effects.rs says"
        );
    }

    /// Where the environment asks for it: looks for scenarios of the rows that have no line in any table, or whose line in this one shows
    /// nothing, and writes the table.
    pub fn find_effects(&self) {
        if std::env::var_os("COWBOY_EFFECTS").is_none() {
            return;
        }
        let (mut lines, elsewhere) = (table(&self.file("effects.txt")), shown());
        let mut known: Vec<(Scenario, (bool, Vec<Seen>))> = Vec::new();
        for scenario in self.all() {
            let plain = outcome(scenario.1, None);
            // A scenario that draws from outside itself shows nothing.
            if plain.0 && plain == outcome(scenario.1, None) {
                known.push((scenario, plain));
            }
        }
        let mut unshown = Vec::new();
        for row in movable() {
            let is_good = match lines.get(row.name) {
                Some(Shown::Elsewhere(..)) => true,
                Some(Shown::Here(value, name)) => {
                    known.iter().any(|(scenario, plain)| scenario.0 == name && is_seen(row, *value, scenario.1, plain))
                }
                None => elsewhere.iter().any(|name| name == row.name),
            };
            if is_good {
                continue;
            }
            match found(row, &known) {
                Some(shown) => drop(lines.insert(row.name.to_string(), shown)),
                None => unshown.push(row.name),
            }
            self.write_effects(&lines);
        }
        assert!(unshown.is_empty(), "nothing differs when these move: {unshown:?}");
    }

    fn write_effects(&self, lines: &BTreeMap<String, Shown>) {
        let mut text = String::from(
            "# Row, value and scenario, or row, file and test: see core/testkit/src/effects.rs, which writes the first kind.\n",
        );
        for (row, shown) in lines.iter().filter(|(name, _)| movable().any(|row| row.name == **name)) {
            text.push_str(&match shown {
                Shown::Here(value, name) => format!("{row} {value} {name}\n"),
                Shown::Elsewhere(file, test) => format!("{row} {file} {test}\n"),
            });
        }
        std::fs::write(self.file("effects.txt"), text).expect("the table is written");
    }
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

/// A line for a row: a value and a scenario that differs with it. Those that share most words with the row's name are tried first.
fn found(row: &Row, known: &[(Scenario, (bool, Vec<Seen>))]) -> Option<Shown> {
    let words: Vec<&str> = row.name.split(['.', '_']).map(|word| word.trim_end_matches('s')).collect();
    let shared = |scenario: &Scenario| words.iter().filter(|word| scenario.0.contains(*word)).count();
    let mut own: Vec<_> = known.iter().collect();
    own.sort_by_key(|(scenario, _)| std::cmp::Reverse(shared(scenario)));
    own.iter().take(TRIED).find_map(|(scenario, plain)| {
        let value = values(row).into_iter().find(|value| is_seen(row, *value, scenario.1, plain))?;
        Some(Shown::Here(value, scenario.0.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_parameter_has_one_line() {
        let lines = shown();
        let rows: BTreeSet<&str> = movable().map(|row| row.name).collect();
        let missing: Vec<&&str> = rows.iter().filter(|row| !lines.iter().any(|line| line == **row)).collect();
        assert!(missing.is_empty(), "no table has a line of these, see core/testkit/src/effects.rs: {missing:?}");
        assert_eq!(lines.len(), rows.len(), "a row stands in one table, once");
    }
}
