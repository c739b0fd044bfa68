//! What `/ws` says.

use super::{BlockSummary, Log, Receipt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use utoipa::ToSchema;

/// One message of the WebSocket at `/ws`. Every finalized block says a `block`, then its receipts, then its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Notice {
    /// A block is final.
    Block {
        /// The block.
        block: Box<BlockSummary>,
    },
    /// Something was delivered.
    Receipt {
        /// The receipt.
        receipt: Box<Receipt>,
    },
    /// An event was emitted.
    Event {
        /// The announcement.
        event: Box<Log>,
    },
    /// The reader is too slow: this many blocks were left out.
    Lagged {
        /// The number of blocks.
        blocks: u64,
    },
}

/// What a block's message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum NoticeKind {
    /// The block.
    Block,
    /// A receipt.
    Receipt,
    /// An event.
    Event,
}

/// What a reader of `/ws` may ask for. Without it, everything is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Subscribe {
    /// Which messages; all where absent.
    #[serde(default)]
    pub subscribe: Option<BTreeSet<NoticeKind>>,
    /// Only receipts and events of this account or actor.
    #[serde(default)]
    pub address: Option<crate::hex_text::HexAddress>,
}
