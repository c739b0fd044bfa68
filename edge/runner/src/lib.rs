//! The worker of the off-chain market (002; 003 §5): it registers with stake, takes the jobs that it is drawn for, executes them, commits
//! to its results before it sees the others', reveals, and is paid.
//!
//! - [`config`]: what it is told.
//! - [`daemon`]: a running one.
//! - [`execute`]: doing the work: one executor for each kind, behind one trait.
//! - [`journal`]: what it must not forget.
//! - [`feed`]: what happens on the chain, pushed or asked for.
//! - [`local`]: a job without a chain.
//! - [`tee`]: what its trusted environment proves and says.
//! - [`behaviour`]: what simulated runners replace, which misbehave on a devnet.
//!
//! Inside: `plan` is what to do next with a job, a pure function; `manager` the loop that does it; `share` and `server`
//! are how runners give each other their revelations. `releases` is what committees give to this runner, `secrets` and `volumes` what jobs use of it.

#![allow(clippy::result_large_err, reason = "a refusal by the node is the rare way out, and is answered at once")]

pub mod behaviour;
pub mod config;
pub mod daemon;
pub mod execute;
pub mod feed;
pub mod journal;
pub mod local;
mod manager;
mod metrics;
mod peers;
pub mod plan;
pub mod register;
mod releases;
pub mod report;
pub mod request;
mod secrets;
mod server;
mod share;
pub mod tee;
mod volumes;
mod work;

pub use config::Config;
pub use daemon::{Runner, RunnerError};
pub use feed::Feed;
pub use metrics::Status;
