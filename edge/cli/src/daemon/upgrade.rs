//! `cowboyd upgrade`: what a protocol version would change, tried out on the blocks of a stopped node.

use super::{node_failure, node_files, serving};
use clap::{Args, Subcommand};
use cowboy_console::{amount, failure::Failure, output::Output};
use cowboy_node::rehearse::{Compared, Ran, Rehearsal, STACK_BYTES};
use cowboy_store::{Directory, Ledger};
use serde_json::{Value, json};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub(crate) enum Upgrade {
    /// Run recent blocks under another protocol version, and print what differs
    Check(Check),
}

/// Runs blocks again.
#[derive(Args, Debug)]
#[command(after_help = "The node must be stopped, and have every block from the first on: it runs them all up to --from, in memory.
Each block runs on the state that the chain had before it, under its own version and under --version.

Example:
  cowboyd upgrade check --config network/validator-0.json --from 250000
  cowboyd upgrade check --config network/validator-0.json --from 250000 --to 250100 --version 2 --json")]
pub(crate) struct Check {
    /// The configuration of the node
    #[arg(long, value_name = "FILE")]
    config: PathBuf,
    /// The first height
    #[arg(long, value_name = "HEIGHT")]
    from: u64,
    /// The last height [default: the newest]
    #[arg(long, value_name = "HEIGHT")]
    to: Option<u64>,
    /// The version [default: the newest that this program knows]
    #[arg(long)]
    version: Option<u8>,
}

impl Upgrade {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        match self {
            Self::Check(check) => check.run(output),
        }
    }
}

impl Check {
    fn run(self, output: Output) -> Result<(), Failure> {
        // Blocks run in a thread of their own: their programs need a larger stack than a main thread has.
        let thread = std::thread::Builder::new().name("upgrade".into()).stack_size(STACK_BYTES);
        let ran = thread.spawn(move || self.compare(output)).map_err(serving::threads)?;
        ran.join().map_err(|_| node_failure("the log says why"))?
    }

    fn compare(&self, output: Output) -> Result<(), Failure> {
        let (genesis, state) = node_files::chain_of(&self.config)?;
        let versions = genesis.chain.versions;
        let version = self.version.unwrap_or_else(|| versions.newest());
        if versions.rules(version).is_none() {
            let newest = versions.newest();
            return Err(Failure::argument(format!("version {version} is unknown"), format!("name a version from 1 to {newest}")));
        }
        // Held until the end, so that no node starts meanwhile.
        let claimed = Directory::open(&state, &genesis.hash()).map_err(node_failure)?;
        let ledger = Ledger::open(&claimed.ledger()).map_err(node_failure)?;
        let tip = ledger.view().and_then(|view| view.tip()).map_err(node_failure)?.unwrap_or(0);
        let mut rehearsal = Rehearsal::new(&genesis, ledger.clone()).map_err(node_failure)?;
        let (mut compared, mut differing) = (0_u64, Vec::new());
        while rehearsal.next() <= tip {
            let view = ledger.view().map_err(node_failure)?;
            let height = view.block(rehearsal.next()).map_err(node_failure)?.map(|block| block.header.height().get());
            if height.is_some_and(|height| self.to.is_some_and(|to| height > to)) {
                break;
            }
            if height.is_some_and(|height| height < self.from) {
                rehearsal.advance().map_err(node_failure)?;
                continue;
            }
            let one = rehearsal.compare(version).map_err(node_failure)?;
            compared += 1;
            if !one.is_same() {
                differing.push(one);
            }
        }
        if compared == 0 {
            return Err(Failure::refused("no block has such a height", format!("the newest is block {tip}")));
        }
        let mut lines: Vec<String> = differing.iter().map(line).collect();
        lines.push(format!("{} compared; different under version {version}: {}", amount::counted(compared, "block"), differing.len()));
        let shown: Vec<Value> = differing.iter().map(shown).collect();
        output.result(&json!({ "version": version, "compared": compared, "differing": shown }), lines.join("\n"));
        Ok(())
    }
}

fn line(one: &Compared) -> String {
    let Compared { number, height, was, would_be, records } = one;
    let head = format!("block {number} (height {height}, version {})", was.version);
    let other = match would_be {
        Err(reason) => return format!("{head}: invalid: {reason}"),
        Ok(other) => other,
    };
    let receipts = if other.receipt_root == was.receipt_root { "the same receipts" } else { "other receipts" };
    let moved = |what: &str, was: u64, other: u64| format!("{what} {was} → {other}");
    let used = [moved("cycles", was.cycles, other.cycles), moved("cells", was.cells, other.cells)].join(", ");
    let count = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let ended = [moved("receipts", count(was.receipts), count(other.receipts)), moved("failed", count(was.failed), count(other.failed))];
    format!("{head}: {records} records of the state, {receipts}; {used}, {}", ended.join(", "))
}

fn shown(one: &Compared) -> Value {
    let ran = |ran: &Ran| {
        json!({
            "version": ran.version,
            "receipt_root": ran.receipt_root.to_string(),
            "receipts": ran.receipts,
            "failed": ran.failed,
            "cycles": ran.cycles,
            "cells": ran.cells,
        })
    };
    json!({
        "number": one.number,
        "height": one.height.get(),
        "was": ran(&one.was),
        "would_be": one.would_be.as_ref().ok().map(ran),
        "invalid": one.would_be.as_ref().err().map(ToString::to_string),
        "records": one.records,
    })
}
