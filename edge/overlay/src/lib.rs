//! The network of full nodes: peers find each other, and exchange blocks, state and transactions over QUIC (003 §3.2).
//!
//! - [`Record`]: a signed node record: who a node is, where it listens, and of which chain it is. [`NodeKey`] signs it.
//! - [`PeerTable`]: records that this node knows, bounded in all and for each subnet. [`Overlay`] finds them by discovery.
//! - [`Source`]: where a full node gets its chain from. A peer is one, and so is another node's HTTP API ([`HttpSource`]).
//! - [`Pool`]: the sources that a node has, with their scores and bans. [`Scores`] decay.
//! - [`Provider`]: what a node serves to its peers.
//! - [`Overlay`]: a running node of the network.
//!
//! Nothing that comes from a peer is believed here: who takes a block, an operation or a genesis from a [`Source`] verifies it, and
//! reports to the [`Pool`] what does not hold.

#![allow(clippy::result_large_err, reason = "a refusal is the rare way out, and is answered at once")]

mod discovery;
mod handshake;
mod http;
mod identity;
mod overlay;
mod peer;
mod pool;
mod record;
mod scores;
mod server;
mod source;
mod table;
#[cfg(test)]
mod tests;
pub mod wire;

pub use discovery::DiscoveryError;
pub use http::HttpSource;
pub use identity::{KeyError, NodeKey};
pub use overlay::{Config, Overlay, StartError};
pub use pool::{Listed, Pool, Standing};
pub use record::{Addresses, NodeId, Record, RecordError};
pub use scores::{Ban, Offence, Scores};
pub use server::{Busy, Provider};
pub use source::{BlockStream, Failed, GenesisParts, Operations, Position, Source};
pub use table::{PeerTable, Rejected};
