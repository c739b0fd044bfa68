//! 0x02, Job Dispatcher: takes jobs, holds their escrow, draws who does them, and moves them on (002 §2 to §6; 003 §5.3).
//!
//! Invariants: the actor's balance is what its jobs hold for prices, tips and callbacks; every job that is not forgotten
//! stands once in the agenda, at the height at which something happens to it without anybody asking, and once in the list of jobs;
//! one that waits for its seed stands once among the draws, one that waits for a runner with a free slot once in the queue.
//!
//! The files below use only what stands above them:
//!
//! - [`selection`]: the draw, as pure functions.
//! - `verification` and `published`: the rule by which results are verified, in the words of the specification and of the published SDK.
//! - [`lower`]: what a submission asks of the chain; `rules` it has to keep.
//! - [`candidates`]: who may be drawn; `removed`: why others may not.
//! - [`effects`]: what a step of a job means for others, which [`crate::agenda`] applies.
//! - `pauses`: pauses of what a job needs beside the market.
//! - `record`: the record of a job; `transitions`: what an event changes of it, and what is to be done then, as pure functions.
//! - [`callback`]: the answers.
//! - `escrow`, `members`, `payout` and `failure`: the balance of jobs, the records of their runners, who is paid, and how a job ends without a result.
//! - `waiting`: jobs that wait for runners with a free slot; [`order`]: which job is next; `committee`: the draw; `judging` and `decision`: what becomes of results.
//! - [`lifecycle`]: what the chain does with a job by itself: the only place that does what transitions ask for.
//! - [`handlers`]: what is asked of the actor.

pub(crate) mod api;
pub mod callback;
pub mod candidates;
mod committee;
mod contradictions;
mod decision;
pub(crate) mod effects;
pub(crate) mod escrow;
mod failure;
pub mod handlers;
pub mod invariants;
mod judging;
pub mod lifecycle;
pub mod lower;
mod members;
pub mod order;
mod pauses;
pub(crate) mod payout;
mod published;
pub(crate) mod record;
mod removed;
mod rules;
mod transitions;
mod verification;
mod waiting;
mod work;

use crate::actor::Actor;
pub use crate::market::{jobs as state, payment, request, selection};
pub use waiting::take_out;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::DISPATCHER;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Job Dispatcher",
    doc: "Job submission, selection, lifecycle.",
    tables: &[api::SUBMISSIONS, api::MESSAGES, api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};
