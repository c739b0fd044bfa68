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
    methods: &[
        Method {
            name: "register",
            doc: "{result_key, kinds, rates, max_concurrent, tee?, endpoint?, regions?, domains?, models?, provides?} → null: makes the sender a runner. The value is its stake.",
            run: handlers::register,
        },
        Method {
            name: "update",
            doc: "The same as register → null: replaces what the sender said of itself. A larger max_job_value needs the stake for it.",
            run: handlers::update,
        },
        Method { name: "stake", doc: "{} → null: adds the value to the sender's stake.", run: handlers::stake },
        Method { name: "unstake", doc: "{amount} → {release}: asks stake back. It can be slashed until then.", run: handlers::unstake },
        Method { name: "withdraw", doc: "{} → {amount}: pays out stake whose time is over.", run: handlers::withdraw },
        Method { name: "leave", doc: "{} → {release}: ends being selected, and asks all stake back.", run: handlers::leave },
        Method {
            name: "delegate",
            doc: "{runner} → null: puts the value behind a runner. It counts for its draws, and is slashed with its own stake.",
            run: delegations::delegate,
        },
        Method {
            name: "undelegate",
            doc: "{runner, amount?} → {amount, release}: asks delegated stake back, all where no amount is named. It can be slashed until then.",
            run: delegations::undelegate,
        },
        Method {
            name: "withdraw_delegation",
            doc: "{runner, registered_at?} → {amount}: pays out delegated stake whose time is over; all of it where the runner is gone.",
            run: delegations::withdraw,
        },
        Method {
            name: "get_delegation",
            doc: "{runner, delegator, registered_at?} → {amount, leaving, registered_at}: what somebody has behind a runner.",
            run: delegations::get,
        },
        Method {
            name: "heartbeat", doc: "{} → null: the sender is there. Ends a probation whose time is over.", run: handlers::heartbeat
        },
        Method {
            name: "get_runner",
            doc: "{runner} → {stake, reputation, active_jobs, is_selectable, health, …}: what selections see of a runner.",
            run: handlers::get_runner,
        },
        Method {
            name: "attest",
            doc: "{attestation} → null: what the sender provides, signed, in canonical CBOR (000 appendix A). Takes the place of the last.",
            run: attestations::attest,
        },
        Method { name: "get_attestation", doc: "{runner} → bytes: a runner's attestation as it was signed.", run: attestations::get },
        Method {
            name: "publish_model",
            doc: "{weights, arch, tokenizer, license, name?} → {model_id}: publishes a model. The value is its deposit.",
            run: models::publish,
        },
        Method {
            name: "retire_model",
            doc: "{model_id} → null: withdraws the sender's model and pays the deposit back.",
            run: models::retire,
        },
        Method {
            name: "set_model_status",
            doc: "{model_id, status} → null: 0 listed, 1 flagged, 2 banned. Governance only.",
            run: models::set_status,
        },
        Method { name: "get_model", doc: "{model_id} → {publisher, name, status}: a published model.", run: models::get },
    ],
};
