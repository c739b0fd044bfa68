//! The formats of secrets, and what anybody can check about them without a key (003 §9).
//!
//! A secret is sealed to an identity under the key of a committee. Whoever has the committee's signature over the identity can open it. This
//! crate has neither keys nor randomness: it decodes and checks, on the chain, in clients and in a browser. `edge/sealing` seals, answers
//! and opens.
//!
//! - [`curve`]: points of BLS12-381, and the equations between them.
//! - [`identity`]: names, and the identities that secrets are sealed to.
//! - [`sealed`]: the bytes of a sealed secret.
//! - [`policy`]: to whom a secret may be released.
//! - [`transport`]: the key to which answers are encrypted.
//! - [`partial`]: the answer of one member of the committee.
//! - [`dealing`]: what the chain sees of a dealing of the committee's key.
//! - [`proxy`]: what proves the key of a member.
//!
//! Every decoder is strict: one value has one encoding, and a point is in its group and not the identity element.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing))]

pub mod curve;
pub mod dealing;
pub mod identity;
pub mod partial;
pub mod policy;
pub mod proxy;
pub mod sealed;
pub mod transport;

pub use curve::{PointG1, PointG2, share_key};
pub use dealing::Outcome;
pub use identity::{Identity, Kind, Name};
pub use partial::Partial;
pub use policy::Policy;
pub use sealed::Sealed;
pub use transport::TransportKey;
