//! 0x03, Result Verifier: commitments and revelations, what they come to, challenges, and the answers (002 §8, §9; 003 §5.3).
//!
//! Invariant: the actor's balance is the sum of the bonds of challenges under way.
//!
//! - [`judge`]: the modes, as pure functions over results; [`json`], [`schema`], [`similarity`] beneath it.
//! - [`handlers`]: commit, reveal, attest.
//! - [`challenges`]: claims that an accepted result is dishonest.

pub mod challenges;
pub mod handlers;
pub mod json;
pub mod judge;
pub mod schema;
pub mod similarity;
pub mod state;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::VERIFIER;

/// The job was written wrongly: it cannot be done by anybody.
pub const FAULT_ACTOR: u64 = 1;

/// What the job needs was not there: an API, a model.
pub const FAULT_EXTERNAL: u64 = 2;

/// The job's bounds are too tight for it.
pub const FAULT_IMPOSSIBLE: u64 = 3;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Result Verifier",
    doc: "Commit and reveal, verification, challenges, callbacks.",
    tables: &[&[
        Method::untyped("commit", "{job_id, commitment} → null: binds a member to its report, keccak256(report ‖ salt).", handlers::commit),
        Method::untyped("reveal", "{job_id, output? | fault, progress; salt, signature, usage?, attestation?} → null: opens a member's commitment. The report is the CBOR of {attestation, fault, progress, result, usage}; the signature covers it. The salt is 32 secret bytes and the runner's address.", handlers::reveal),
        Method::untyped("submit_result", "{job_id, output? | fault, progress; signature, usage?, attestation?} → null: the result of a committee of one.", handlers::submit_result),
        Method::untyped("submit_verified_result", "{job_id, outputs, reveals: [{runner, output? | fault, progress; salt, signature, usage?, attestation?}]} → null: opens several commitments at once; `output` is a place in `outputs`. Aggregator only.", handlers::submit_verified_result),
        Method::untyped("attest_crash", "{job_id, signal} → null: the sender committed and crashed; it is not slashed for not revealing.", handlers::attest_crash),
        Method::untyped("challenge", "{job_id, runner, claim} → number: claims that a runner's accepted result is dishonest, or that it put results together dishonestly. The value is the bond; the answer is the claim's place.", challenges::challenge).payable(),
        Method::untyped("reproduce", "{job_id} → the id of the job that does the work again: claims that a deterministic result is wrong. The value is the bond; the sender pays the work.", challenges::reproduce).payable(),
        Method::untyped("decide_challenge", "{job_id, claim, upheld} → bool: decides the claim at a place, 0 where none is named. Governance decides at once; members of the security council vote, and seven of nine decide.", challenges::decide).routine(),
        Method::untyped("set_embedding_model", "{model_id} → null: names the model of embeddings. Governance only.", handlers::set_embedding_model).routine().governed(),
    ]],
    events: &[],
};
