//! A proxy: a member of the committee that releases secrets (003 §9; decisions 142, 144).
//!
//! It follows the chain by proofs alone, takes part in dealings, and answers releases that stand on the chain, without asking anybody else.
//!
//! - `member`: what a proxy does next, and what it says in a dealing.
//! - [`Store`]: seeds and shares. `keys`: what it signs with.
//! - `answers`: what a release is answered.
//! - `server`: where it is asked. `given`: what it answered a moment ago.
//! - `messages`: what the members of a dealing said.
//! - [`Proxy`]: a running proxy. [`Behaviour`]: what it answers, where that can be replaced.
//! - [`collect`]: for recipients: asks the members of a committee and puts their answers together.

#![allow(clippy::result_large_err, reason = "a refusal is the rare way out, and is answered at once")]

mod answers;
mod behaviour;
mod collect;
mod daemon;
mod given;
mod keys;
mod member;
mod messages;
mod server;
mod store;

pub use answers::{Answered, Asked};
pub use behaviour::{Behaviour, Honest};
pub use collect::{CollectError, Collected, FalseAnswer, collect};
pub use daemon::{Config, Proxy, ProxyError, unreadable};
pub use store::Store;
