//! 0x01, Runner Registry: who may do jobs, what stands for them, and how they did (002 §4; 003 §5.1, §5.2).
//!
//! Invariants: the actor's balance is the sum of all stakes, own, delegated and leaving, and of all models' deposits;
//! every runner stands once in the directory; a runner counts the jobs that name it as a member under way.

pub mod attestations;
pub mod delegations;
pub mod handlers;
pub mod models;
pub mod reputation;
pub mod state;

pub use cowboy_types::job::Runner;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::RUNNERS;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Runner Registry",
    doc: "Runner registration, staking, capabilities, health, reputation; published models.",
    tables: &[&[
        Method::untyped("register", "{result_key, kinds, rates, max_concurrent, tee?, endpoint?, regions?, domains?, models?, provides?} → null: makes the sender a runner. The value is its stake.", handlers::register).payable(),
        Method::untyped("update", "The same as register → null: replaces what the sender said of itself. A larger max_job_value needs the stake for it.", handlers::update),
        Method::untyped("stake", "{} → null: adds the value to the sender's stake.", handlers::stake).payable(),
        Method::untyped("unstake", "{amount} → {release}: asks stake back. It can be slashed until then.", handlers::unstake),
        Method::untyped("withdraw", "{} → {amount}: pays out stake whose time is over.", handlers::withdraw),
        Method::untyped("leave", "{} → {release}: ends being selected, and asks all stake back.", handlers::leave),
        Method::untyped("delegate", "{runner} → null: puts the value behind a runner. It counts for its draws, and is slashed with its own stake.", delegations::delegate).payable(),
        Method::untyped("undelegate", "{runner, amount?} → {amount, release}: asks delegated stake back, all where no amount is named. It can be slashed until then.", delegations::undelegate),
        Method::untyped("withdraw_delegation", "{runner, registered_at?} → {amount}: pays out delegated stake whose time is over; all of it where the runner is gone.", delegations::withdraw),
        Method::untyped("get_delegation", "{runner, delegator, registered_at?} → {amount, leaving, registered_at}: what somebody has behind a runner.", delegations::get).view(),
        Method::untyped("heartbeat", "{} → null: the sender is there. Ends a probation whose time is over.", handlers::heartbeat),
        Method::untyped("get_runner", "{runner} → {stake, reputation, active_jobs, is_selectable, health, …}: what selections see of a runner.", handlers::get_runner).view(),
        Method::untyped("attest", "{attestation} → null: what the sender provides, signed, in canonical CBOR (000 appendix A). Takes the place of the last.", attestations::attest),
        Method::untyped("get_attestation", "{runner} → bytes: a runner's attestation as it was signed.", attestations::get).view(),
        Method::untyped("publish_model", "{weights, arch, tokenizer, license, name?} → {model_id}: publishes a model. The value is its deposit.", models::publish).payable(),
        Method::untyped("retire_model", "{model_id} → null: withdraws the sender's model and pays the deposit back.", models::retire),
        Method::untyped("set_model_status", "{model_id, status} → null: 0 listed, 1 flagged, 2 banned. Governance only.", models::set_status).routine().governed(),
        Method::untyped("get_model", "{model_id} → {publisher, name, status}: a published model.", models::get).view(),
    ]],
    events: &[],
};
