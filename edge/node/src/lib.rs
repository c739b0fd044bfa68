//! A validator.
pub mod application;
pub mod block;
pub mod chain;
pub mod committee;
pub mod engine;
pub mod execute;
pub mod genesis;
pub mod gossip;
pub mod law;
pub mod mempool;
pub mod node;
pub mod pace;
pub mod proposer;
pub mod quic;
pub mod seeds;

pub use chain::{Chain, FinalizedBlock, Head};
pub use genesis::Genesis;
pub use node::{NodeConfig, NodeError, NodeHandle, Unavailable};
pub use pace::BlockTime;
