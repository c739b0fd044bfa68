//! 0x02, Job Dispatcher: takes jobs, holds their escrow, draws who does them, and moves them on (002 §2 to §6; 003 §5.3).
//!
//! Invariants: the actor's balance is what its jobs hold for prices, tips and callbacks; every job that is not forgotten
//! stands once in the agenda, at the height at which something happens to it without anybody asking, and once in the list of jobs;
//! one that waits for its seed stands once among the draws, one that waits for a runner with a free slot once in the queue.
//!
//! - [`selection`]: the draw, as pure functions.
//! - [`lower`]: what a submission asks of the chain; `rules` it has to keep.
//! - [`candidates`]: who may be drawn; `removed`: why others may not.
//! - `transitions`: what a deadline or a verdict changes of a job, as pure functions.
//! - [`lifecycle`]: what the chain does with a job by itself; `committee`, `decision` and `payout` are its parts.
//! - `waiting`: jobs that wait for runners with a free slot.
//! - [`effects`]: what a step of a job means for others, which [`crate::agenda`] applies.
//! - [`callback`]: the answers.

pub(crate) mod api;
pub mod callback;
pub mod candidates;
mod committee;
mod contradictions;
pub(crate) mod decision;
pub(crate) mod effects;
mod extraction;
pub mod handlers;
pub mod invariants;
pub mod lifecycle;
pub mod lower;
pub(crate) mod payout;
mod published;
mod removed;
mod rules;
mod second;
mod transitions;
pub(crate) mod waiting;

use crate::actor::{Actor, Method};
pub use crate::market::{jobs as state, payment, request, selection};
pub use waiting::take_out;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::DISPATCHER;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Job Dispatcher",
    doc: "Job submission, selection, lifecycle.",
    tables: &[
        &[
            Method::untyped(
                "submit_job",
                "A job → its 32-byte id: holds price, tip and the callback's most from the sender, and has a committee drawn.",
                handlers::submit_job,
            )
            .payable(),
            Method::untyped(
                "handle_message",
                "The published SDK's runner message, or a job → its 32-byte id: what `send_message` to this address brings (decision 129).",
                handlers::submit_job,
            )
            .payable(),
        ],
        api::METHODS,
    ],
    events: &[api::EVENTS],
    proposed: None,
};
