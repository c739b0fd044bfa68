//! Tools for authors: they run the protocol's own code locally, without a node.

pub(crate) mod chain;
pub(crate) mod devnet;
pub(crate) mod discover;
pub(crate) mod door;
mod jobs;
pub(crate) mod lint;
mod mend;
pub(crate) mod profile;
pub(crate) mod report;
pub(crate) mod rewrite;
pub(crate) mod test;
mod watch;
