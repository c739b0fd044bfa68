//! What needs a key or randomness about secrets (003 §9): sealing, answering for a member of a committee, and opening.
//!
//! `cowboy-secrets` has the formats and the checks that anybody can make.
//!
//! - [`seal()`] and [`open`]: a value to a sealed secret and back.
//! - [`answer`]: a member's share of the signature over an identity, encrypted to a transport key.
//! - [`TransportSecret`]: reads answers.
//! - [`combine`]: shares of enough members to the signature that opens.
//! - [`dealing`]: how members come to have shares.

pub mod dealing;
mod points;
mod release;
mod seal;

pub use release::{CombineError, TransportSecret, answer, combine};
pub use seal::{OpenError, SealError, open, seal};
