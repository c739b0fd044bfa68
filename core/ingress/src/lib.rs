//! Web requests as actors see them, their answers, and proofs that the one follows from the other (004 §8).
//!
//! What a gateway does with a request that only reads depends on nothing but the request and the state after one block. So
//! it stands here, apart from the gateway, and a client runs the same code over what the gateway proves.
//!
//! - [`request`]: from HTTP to the envelope that a handler gets.
//! - [`answer`]: from what a handler returns to HTTP.
//! - [`failure`]: why there is no answer of the actor's.
//! - [`route`]: where a name leads, and what requests may do there.
//! - [`visit`]: a request being answered.
//! - [`witness`]: an answer, with proofs of all that it follows from.
//! - [`signed`]: what gateways sign of an answer.
//! - [`check`]: the client's side of a witness.
//!
//! Absences: no I/O, nothing of the node's; builds for wasm32.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects, clippy::as_conversions, clippy::indexing_slicing))]

pub mod answer;
pub mod check;
pub mod failure;
pub mod request;
pub mod route;
pub mod signed;
pub mod visit;
pub mod witness;

pub use answer::Answer;
pub use check::{Asked, Checked, Refused, Step, Trust};
pub use failure::Failure;
pub use route::Route;
pub use visit::Visit;
pub use witness::Witness;
