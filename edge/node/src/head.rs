//! The newest finalized block, in brief.

use crate::block::SealedBlock;
use cowboy_types::{Hash, Height, TimestampMs};

/// The newest finalized block, in brief.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// How many blocks stand before it, genesis included.
    pub number: u64,
    /// The epoch in which it was proposed.
    pub epoch: u64,
    /// The view of that epoch in which it was proposed first.
    pub view: u64,
    /// Its height: the number, and what a dev chain skipped.
    pub height: Height,
    /// Its name.
    pub digest: Hash,
    /// The state after it.
    pub state_root: Hash,
    /// When it was proposed.
    pub timestamp_ms: TimestampMs,
}

impl Head {
    /// The brief of this block.
    pub fn of(block: &SealedBlock) -> Self {
        let header = block.header();
        Self {
            number: header.number.0,
            epoch: header.context.epoch.0,
            view: header.context.view.0,
            height: header.height(),
            digest: block.hash(),
            state_root: header.state_root,
            timestamp_ms: header.timestamp_ms,
        }
    }
}
