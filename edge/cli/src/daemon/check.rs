//! `cowboyd check`: whether everything on a stopped node's disk is as it was written.

use super::node_failure;
use clap::Args;
use cowboy_console::{amount, failure::Failure, output::Output};
use cowboy_node::{check::Damage, votes};
use cowboy_store::{
    Directory, Ledger,
    check::{Repaired, Report, check, repair},
};
use serde_json::json;
use std::path::PathBuf;

/// Faults that are printed one by one.
const PRINTED: usize = 20;

/// Checks.
#[derive(Args, Debug)]
#[command(after_help = "It reads every page of the ledger, compares every block with its hash, its parent and its roots, and the state
with the newest header; and it reads a validator's record of votes and its engine's archives to their ends. --repair
writes what is whole of a damaged ledger into a new one, makes its indexes anew, and keeps the damaged file as
ledger.damaged. What is lost is fetched again from other nodes while the node runs, and refused until it is there.
A damaged record of votes is discarded: the validator listens before it votes.

Example:
  cowboyd check --state chain
  cowboyd check --state chain --repair")]
pub(crate) struct Check {
    /// The node's folder
    #[arg(long, value_name = "DIR")]
    state: PathBuf,
    /// Recover the undamaged part of a damaged ledger
    #[arg(long)]
    repair: bool,
}

impl Check {
    pub(crate) fn run(self, output: Output) -> Result<(), Failure> {
        let no_chain = || Failure::refused(format!("{} has no chain", self.state.display()), "name the folder of --state");
        let genesis = Directory::genesis_of(&self.state).map_err(node_failure)?.ok_or_else(no_chain)?;
        // Held until the end, so that no node starts meanwhile.
        let claimed = Directory::open(&self.state, &genesis).map_err(node_failure)?;
        let path = claimed.ledger();
        let mut report = check(&path).map_err(node_failure)?;
        let mut repaired = None;
        if self.repair && !(report.pages.is_empty() && report.faults.is_empty()) {
            repaired = Some(repair(&path).map_err(|error| unrepaired(&error))?);
            report = check(&path).map_err(node_failure)?;
        }
        let mut engine = cowboy_node::check::engine(&claimed);
        let (discarded, kept) = engine.into_iter().partition::<Vec<_>, _>(|damage| self.repair && damage.part.starts_with(votes::RECORD));
        engine = kept;
        if !discarded.is_empty() {
            cowboy_node::check::discard_votes(&claimed).map_err(node_failure)?;
        }
        let state = Ledger::open(&path).map_err(|error| error.to_string());
        let state = state.and_then(|ledger| cowboy_node::check::state(&claimed, &ledger));
        let is_sound = report.is_sound() && state.is_ok() && engine.is_empty();
        let mut lines = vec![format!("{} checked", amount::counted(report.blocks, "block"))];
        lines.extend(
            repaired
                .iter()
                .map(|Repaired { saved, lost }| format!("repaired: {} recovered, {} lost", amount::counted(*saved, "block"), lost.len())),
        );
        lines.extend((!report.pages.is_empty()).then(|| format!("damaged pages of the ledger: {}", list(&report.pages))));
        lines.extend(report.faults.iter().take(PRINTED).cloned());
        lines.extend((!report.lost.is_empty()).then(|| format!("lost blocks: {}", list(&report.lost))));
        lines.extend(engine.iter().map(|Damage { part, reason }| format!("damaged: {part} in the engine's folder: {reason}")));
        lines.extend((!discarded.is_empty()).then(|| {
            "the damaged record of votes is discarded: a validator among others listens before it votes, a single one cannot continue"
                .to_owned()
        }));
        lines.push(match &state {
            Ok(Some(number)) => format!("the state is that of block {number}"),
            Ok(None) => "there is no block yet".into(),
            Err(damage) => format!("the state is damaged: {damage}"),
        });
        let json = json!({
            "sound": is_sound,
            "blocks": report.blocks,
            "damaged_pages": report.pages,
            "faults": report.faults,
            "lost": report.lost,
            "repaired": repaired.map(|repaired| json!({ "saved": repaired.saved, "lost": repaired.lost })),
            "state_of_block": state.as_ref().ok().copied().flatten(),
            "state_damage": state.as_ref().err(),
            "engine_damage": engine.iter().map(|damage| damage.part.clone()).collect::<Vec<_>>(),
            "discarded": discarded.iter().map(|damage| damage.part.clone()).collect::<Vec<_>>(),
        });
        output.result(&json, format_args!("{}", lines.join("\n")));
        if is_sound { Ok(()) } else { Err(damaged(&report, state.is_err(), &engine)) }
    }
}

fn list(numbers: &[u64]) -> String {
    let shown: Vec<_> = numbers.iter().take(PRINTED).map(u64::to_string).collect();
    let more = numbers.len().saturating_sub(PRINTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn unrepaired(error: &cowboy_store::StoreError) -> Failure {
    node_failure(format_args!(
        "nothing can be recovered ({error}): restore the folder with `cowboyd snapshot import`, or wipe it with --reset"
    ))
}

fn damaged(report: &Report, is_state: bool, engine: &[Damage]) -> Failure {
    let next = if is_state || engine.iter().any(|damage| !damage.part.starts_with(votes::RECORD)) {
        "restore it with `cowboyd snapshot import FILE --state DIR`, or delete it: a validator among others gets every block from them"
    } else if report.pages.is_empty() && report.faults.is_empty() && engine.is_empty() {
        "start the node, which fetches the lost blocks again from others"
    } else {
        "run it again with --repair"
    };
    node_failure(format_args!("the folder is damaged: {next}"))
}
