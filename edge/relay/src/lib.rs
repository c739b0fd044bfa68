//! A relay: keeps shards of volumes, serves them to whom the chain says, and proves that it has them (decisions 153 to 158).
//!
//! - [`Store`]: shards, pages and trees on disk.
//! - `app`: what all parts share.
//! - `server`, `peer`, `session`, `requests`: where clients ask, who they are, what each may, and what is done.
//! - `acks`: signatures for new roots.
//! - `reads`: what is read for the price of a volume, and how fast beyond it.
//! - `turns`: work that takes long, fair by account.
//! - `received`: what came by capabilities and is not committed.
//! - `signed`: roots that it signed lately.
//! - `looks`: what the chain says of volumes and capabilities.
//! - `member`: what a relay has to do in time: it registers, is up, proves, answers demands.
//! - `metrics`: what it counts, for Prometheus.
//! - `upkeep`: what it does beside that: it rebuilds slots, fetches roots, forgets.
//! - `repair`: rebuilding what the relay should have and has not.
//! - `keeping`: forgetting what no root names any more.
//! - [`Relay`]: a running relay. [`Behaviour`]: what it has and gives, where that can be replaced.
#![allow(clippy::result_large_err, reason = "a refusal is the rare way out")]

mod acks;
mod app;
mod behaviour;
mod daemon;
mod keeping;
mod looks;
mod member;
mod metrics;
mod peer;
mod reads;
mod received;
mod refusal;
mod repair;
mod requests;
mod server;
mod session;
mod signed;
mod store;
mod turns;
mod upkeep;

pub use behaviour::{Behaviour, Honest};
pub use daemon::{Config, Relay, RelayError, has_files};
pub use store::Store;
