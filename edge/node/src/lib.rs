//! A validator: the commonware engine, QUIC, the mempool, and the driver of block execution.
//!
//! This is the only crate that instantiates the engine. Everybody else holds a [`NodeHandle`], which
//! has no type parameters and works from any thread and any tokio runtime:
//!
//! ```no_run
//! use cowboy_node::{BlockTime, NodeConfig, NodeHandle, genesis::{self, DevGenesis}};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // Start: a lone validator with real votes, in a folder.
//! let (genesis, mut keys) = genesis::dev(DevGenesis::default())?;
//! let mut config = NodeConfig::alone("state".into(), genesis, keys.remove(0));
//! config.block_time = BlockTime::Instant;
//! let node = NodeHandle::start(config)?;          // blocks the thread until the state is open
//!
//! // Ask: finalized blocks, receipts, indexes, state at a block.
//! let head = node.head();                          // number, height, digest, state_root, timestamp
//! let view = node.view()?;                         // the ledger: blocks, receipts, places by account, ...
//! let mut blocks = node.subscribe();               // every finalized block with its receipts
//! let values = node.read(head.number, vec![]).await?;  // state after that block, the newest 16 only
//!
//! // Send: transactions wait in the mempool until a block takes them.
//! let answers = node.submit(vec![b"canonical bytes".to_vec()]).await?;
//!
//! // Steer (dev chains): more blocks, later times, and back.
//! node.mine(3).await?;
//! node.shutdown();
//! # Ok(())
//! # }
//! ```
//!
//! - [`node`]: [`NodeHandle`], the interface for all other crates; `running`: what it starts and stops; [`config`], [`error`]. [`dev`]: mine, warp, snapshot, revert.
//! - [`chain`]: what the parts of one node share. [`reader`]: read access to the state. [`traces`]: what it keeps for people. [`mempool`], [`gossip`]: transactions that wait.
//! - [`application`], [`rules`], [`execute`], [`proposer`], [`pace`]: how blocks are made and checked, and when.
//! - [`engine`], [`quic`], [`peers`], [`committee`], [`seeds`], [`block`]: consensus and its network. [`disk`]: what it waits for the disk for.
//! - [`bodies`]: bodies of blocks travel once.
//! - `certificate`: certificates from outside. `pairings`: signatures that are verified together. `history`: old blocks for peers that are behind, from the ledger; `serving`: how much of them; `account`: what peers have used of a number a second. [`progress`], `report`: how far this node is behind.
//! - [`epoch`]: what the chain says of each epoch. [`committees`]: who signs in which one. [`reshare`]: how the shares of the group
//!   key pass from one set of validators to the next.
//! - `faults`, `evidence`: what this node has seen of validators' faults, and how it reports them.
//! - [`refetch`]: damaged blocks of the ledger, fetched again.
//! - [`check`]: the state of a stopped node against its ledger.
//! - [`imported`]: a folder from a snapshot is verified before it is used.
//! - [`votes`], [`voted`], `listen`: a validator without the record of its votes, or whose record lost some, listens before it votes.
//! - [`genesis`]: what a chain starts from. [`founding`]: how its validators make the group key together. [`follow`]: verify and execute another node's blocks; `checking`: signatures of their transactions. [`begin`]: from a final block on.

mod account;
pub mod application;
pub mod begin;
pub mod block;
pub mod bodies;
mod carry;
mod certificate;
pub mod chain;
pub mod check;
mod checking;
pub mod clock;
pub mod committee;
pub mod committees;
pub mod config;
mod dealer_logs;
pub mod dev;
pub mod disk;
mod ending;
pub mod engine;
pub mod epoch;
pub mod error;
mod evidence;
pub mod execute;
mod failing;
mod faults;
pub mod follow;
pub mod founding;
pub mod genesis;
pub mod gossip;
mod head;
mod history;
pub mod images;
pub mod imported;
mod inbound;
mod listen;
pub mod mempool;
mod moving;
pub mod node;
pub mod pace;
mod pairings;
pub mod peers;
pub mod progress;
pub mod proposals;
pub mod proposer;
pub mod protocol;
pub mod quic;
pub mod reader;
mod ready;
pub mod refetch;
pub mod rehearse;
mod report;
pub mod reshare;
pub mod rules;
mod running;
pub mod seeds;
mod serving;
mod standstill;
#[cfg(test)]
mod testing;
pub mod traces;
pub mod voted;
pub mod votes;
pub mod watch;

pub use chain::{Chain, FinalizedBlock, Head};
pub use config::NodeConfig;
pub use dev::DevError;
pub use error::{AskError, NodeError, Unavailable};
pub use failing::is_explained;
pub use follow::{Feed, Fetched, FollowError};
pub use genesis::Genesis;
pub use mempool::Refused;
pub use node::{KeepUp, NodeHandle};
pub use pace::BlockTime;
pub use protocol::Outdated;
