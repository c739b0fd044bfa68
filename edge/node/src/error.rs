//! Why a node does not start, why it ended, and why a question has no answer.

use crate::{peers, protocol::Outdated, quic};
use cowboy_store::{StoreError, recent::TooOld};
use std::path::PathBuf;

/// Why a node does not start, or ended.
#[derive(Debug, thiserror::Error)]
pub enum NodeError {
    /// Its folder cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Its network cannot be used.
    #[error(transparent)]
    Network(#[from] quic::SetupError),
    /// It is no validator of this chain.
    #[error(transparent)]
    Foreign(#[from] peers::Foreign),
    /// Its folder exists, and the chain in it cannot continue.
    #[error(
        "the files in {directory} are damaged: the chain cannot go on after block {number} ({reason}); see what is damaged with `cowboyd check --state {directory}`, restore the folder with `cowboyd snapshot import`, or wipe it: a validator among others gets every block from them"
    )]
    Damaged {
        /// The folder.
        directory: PathBuf,
        /// The newest block that is final there.
        number: u64,
        /// What is wrong with it.
        reason: String,
    },
    /// Its folder was filled from a snapshot that nobody of this chain vouches for.
    #[error(
        "the snapshot in {directory} is not proven by this chain's validators: {reason}; import another one with `cowboyd snapshot import`, or wipe the folder with --reset"
    )]
    Unproven {
        /// The folder.
        directory: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The process met one of its limits.
    #[error("the node ended because {limit}: {fix}, and start it again; what is final is kept")]
    Limit {
        /// Which, and what became of it.
        limit: &'static str,
        /// How to raise it.
        fix: &'static str,
    },
    /// Governance scheduled a protocol version that this build does not know, and its first block is next.
    #[error(transparent)]
    Outdated(#[from] Outdated),
    /// The engine stopped; the log says why.
    #[error("the node stopped before it was ready: the log says why")]
    Stopped,
    /// It ran, and ended by itself.
    #[error("the node ended by itself: {0}; the log says more, and what is final is kept")]
    Ended(String),
}

/// The node is stopped for a moment, while a snapshot is taken or put back, or for good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the node is stopped while its state is copied: ask again in a second")]
pub struct Unavailable;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The node is stopped for a moment.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The block is too old.
    #[error(transparent)]
    TooOld(#[from] TooOld),
    /// The block is yet to come.
    #[error("block {number} is yet to come: the newest is {tip}")]
    NotYet {
        /// The number asked for.
        number: u64,
        /// The newest there is.
        tip: u64,
    },
    /// The disk cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}
