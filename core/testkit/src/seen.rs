//! What a test's chain did in each block: compared where a parameter is moved, and recorded.

use cowboy_chain::Outcome;
use cowboy_types::units::Height;
use cowboy_types::{Hash, Receipt, keccak256};
use std::collections::BTreeSet;

/// What came of a block.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) height: u64,
    /// Of everything that the block wrote, of its receipts, of what its lanes used, and of what it left out.
    pub(crate) digest: Hash,
    /// Each receipt in brief.
    pub(crate) receipts: Vec<String>,
    /// What kinds of things happened: deliveries by what they reach and how they end, and the protocol's events.
    pub(crate) acts: BTreeSet<String>,
}

impl Seen {
    pub(crate) fn of(height: Height, outcome: &Outcome) -> Self {
        let mut bytes = Vec::new();
        for (key, stored) in &outcome.writes {
            bytes.extend(key.0);
            bytes.extend(stored.iter().flat_map(|stored| keccak256(&[stored]).0));
        }
        let digest = keccak256(&[&bytes, &outcome.receipt_root.0, format!("{:?} {:?}", outcome.rejected, outcome.usage).as_bytes()]);
        let mut acts = BTreeSet::new();
        let reached = |receipt: &Receipt| match receipt.target.is_system_band() {
            true => format!("{} {}", receipt.target, receipt.handler),
            false => "an actor or an account".to_string(),
        };
        let mut receipts = Vec::new();
        for receipt in &outcome.receipts {
            let end = receipt.abort.as_ref().map_or_else(|| "done".to_string(), |abort| format!("failed with {}", abort.code));
            acts.insert(format!("{:?} {} {end}", receipt.kind, reached(receipt)));
            acts.extend(
                receipt
                    .events
                    .iter()
                    .filter(|event| event.emitter.is_system_band())
                    .map(|event| format!("{} {}", event.emitter, event.name)),
            );
            let (cycles, cells) = (receipt.cycles_used.0, receipt.cells_used.0);
            receipts.push(format!("{:?} to {} {} {end}: {cycles} cycles, {cells} cells", receipt.kind, receipt.target, receipt.handler));
        }
        Self { height: height.0, digest, receipts, acts }
    }
}
