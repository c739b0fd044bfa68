//! What services beside the chain share: proxies, relays, and their clients.
//!
//! - [`Chain`]: proven records, from a node that is not trusted.
//! - [`Calls`]: what is posted once, and again where it is not seen.
//! - [`Failures`]: which failures of a repeated step are logged.
//! - [`tls`]: who a service is says the chain, by the hash of its public key.
//! - [`authority`] and [`host`]: where a service is reached.
//! - [`Key`]: the Ed25519 key of a service, which follows from its account's.
#![allow(clippy::result_large_err, reason = "a refusal is the rare way out, and is answered at once")]

mod calls;
mod chain;
mod endpoint;
mod failures;
mod key;
#[cfg(feature = "testing")]
pub mod testing;
pub mod tls;

pub use calls::Calls;
pub use chain::{Chain, ChainError, MAX_RECORDS, Records};
pub use endpoint::{authority, host};
pub use failures::Failures;
pub use key::Key;
