//! A recording of what the chain does with every kind of traffic, block by block, so that work which means to change nothing can
//! show that it does not.
//!
//! The tests of a suite are the traffic. Its `recording.txt` holds some of them, enough for everything that any of them shows: each kind
//! of delivery, method of a system actor, event of the protocol and error. A line is a block: its height, a digest of what it
//! wrote, of its receipts and of what its lanes used, and the receipts in brief. Blocks without a receipt in a row share a line.
//!
//! `./test record` makes the recording anew and prints what differs. What means to change behaviour puts that into its commit.

#![allow(clippy::disallowed_methods, reason = "for tests: reads the recording, and writes it where the environment asks for that")]

use crate::seen::Seen;
use crate::suite::{PARTS, Scenario, Suite, outcome};
use cowboy_types::{Hash, keccak256};
use std::collections::{BTreeMap, BTreeSet};

/// What a scenario costs beside its blocks: fewer long ones are as quick as many short ones.
const OVERHEAD: usize = 5;

/// The blocks of a scenario as the recording has them.
fn lines(blocks: &[Seen]) -> Vec<String> {
    let mut lines = Vec::new();
    for run in blocks.chunk_by(|one, next| one.receipts.is_empty() && next.receipts.is_empty()) {
        let (first, last) = (&run[0], &run[run.len() - 1]);
        let heights = if run.len() == 1 { first.height.to_string() } else { format!("{}-{}", first.height, last.height) };
        let digests: Vec<&[u8]> = run.iter().map(|block| &block.digest.0[..]).collect();
        lines.push(format!("{heights} {}", hex(&keccak256(&digests))));
        lines.extend(counted(&first.receipts));
    }
    lines
}

/// The first bytes of a digest.
fn hex(digest: &Hash) -> String {
    digest.0[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Receipts in brief, in order, equal neighbours once.
fn counted(receipts: &[String]) -> Vec<String> {
    receipts.chunk_by(|one, next| one == next).map(|same| format!("  {}x {}", same.len(), same[0])).collect()
}

/// The scenarios of a recording, each with its lines.
fn recorded(text: &str) -> BTreeMap<&str, Vec<&str>> {
    let sections = text.split("\n== ").skip(1);
    sections
        .map(|section| {
            let mut lines = section.lines();
            (lines.next().expect("a section has a head"), lines.collect())
        })
        .collect()
}

impl Suite {
    /// Compares a part of the recording's scenarios with what they do now.
    pub fn check_recording(&self, part: usize) {
        if std::env::var_os("COWBOY_RECORD").is_some() {
            return;
        }
        let text = std::fs::read_to_string(self.file("recording.txt")).expect("the suite has a recording");
        let scenarios: BTreeMap<&str, fn()> = self.all().collect();
        let mut differ = Vec::new();
        for (name, expected) in recorded(&text).into_iter().enumerate().filter(|(place, _)| place % PARTS == part).map(|(_, entry)| entry) {
            let blocks = scenarios.get(name).map(|run| outcome(*run, None).1).unwrap_or_default();
            let found = lines(&blocks);
            let place =
                (0..found.len().max(expected.len())).find(|place| found.get(*place).map(String::as_str) != expected.get(*place).copied());
            differ.extend(place.map(|place| (name, expected.get(place).copied(), found.get(place).cloned())));
        }
        assert!(
            differ.is_empty(),
            "the chain does something else than it did; `./test record` shows what, and records it anew: {differ:#?}"
        );
    }

    /// Where the environment asks for it: chooses scenarios that together show all that any of them shows, and writes the recording.
    pub fn record(&self) {
        if std::env::var_os("COWBOY_RECORD").is_none() {
            return;
        }
        let mut known: Vec<(Scenario, Vec<Seen>)> = Vec::new();
        for scenario in self.all() {
            let (is_good, blocks) = outcome(scenario.1, None);
            // A scenario that draws from outside itself cannot be recorded.
            if is_good && (is_good, &blocks) == (true, &outcome(scenario.1, None).1) {
                known.push((scenario, blocks));
            }
        }
        let mut text = String::from("Blocks of tests, as core/testkit/src/recording.rs says. Made by ./test record.\n");
        for (name, lines) in chosen(&known) {
            text.push_str(&format!("\n== {name}\n{}\n", lines.join("\n")));
        }
        std::fs::write(self.file("recording.txt"), text.trim_end().to_string() + "\n").expect("the recording is written");
    }
}

/// Scenarios that together show all that any of them shows, each with its lines.
fn chosen(known: &[(Scenario, Vec<Seen>)]) -> BTreeMap<&'static str, Vec<String>> {
    let acts = |blocks: &[Seen]| blocks.iter().flat_map(|block| block.acts.iter().cloned()).collect::<BTreeSet<String>>();
    let mut left: BTreeSet<String> = known.iter().flat_map(|(_, blocks)| acts(blocks)).collect();
    let mut chosen = BTreeMap::new();
    while !left.is_empty() {
        let gain = |(_, blocks): &&(Scenario, Vec<Seen>)| {
            let new = acts(blocks).intersection(&left).count();
            new.saturating_mul(1_000_000) / lines(blocks).len().saturating_add(OVERHEAD)
        };
        let (scenario, blocks) = known.iter().max_by_key(gain).expect("something shows what is left");
        left.retain(|act| !acts(blocks).contains(act));
        chosen.insert(scenario.0, lines(blocks));
    }
    chosen
}
