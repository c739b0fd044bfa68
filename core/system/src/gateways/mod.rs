//! 0x0F, Gateway Registry: who brings requests from outside, and the one door they come in by (004 §8.4, §9).
//!
//! - [`ingress`]: what an actor's manifest lets requests do.
//! - [`envelope`]: what a request is.
//! - [`types`], [`state`]: the records, and where they stand.
//! - [`handlers`]: registering, heartbeats, leaving, dispatch.
//! - [`answers`]: what gateways sign of answers to GET.
//! - [`evidence`]: what proves that a gateway cheated.
//! - [`repayment`]: what actors pay for their commands.
//! - [`pool`]: the share of name fees that gateways earn.
//!
//! Invariants: all stakes stand at one address without a key, and are what it holds; only a dispatch makes the registry the
//! sender of anything; a request id is delivered at most once while it is remembered.

pub mod answers;
pub mod envelope;
pub(crate) mod evidence;
pub(crate) mod handlers;
pub mod ingress;
pub mod pool;
pub mod repayment;
pub mod state;
pub mod types;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::GATEWAYS;

/// The handler that takes requests from outside (004 §8.5).
pub const HANDLER: &str = "http.request";

/// The method that delivers them.
pub const DISPATCH: &str = "dispatch";

/// The method that takes two answers of a gateway that contradict each other.
pub const REPORT_ANSWERS: &str = "report_answers";

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Gateway Registry",
    doc: "Gateways, their stakes and health, and the dispatch of requests from outside.",
    tables: &[&[
        Method::untyped(
            "register_gateway",
            "{endpoint, http_port}, with the stake as value → gateway: registers the sender.",
            handlers::register,
        )
        .payable(),
        Method::untyped("heartbeat", "{} → null: the sender is up; its health is full again.", handlers::heartbeat),
        Method::untyped("set_endpoint", "{endpoint, http_port} → null: where the sender is reached.", handlers::set_endpoint),
        Method::untyped("add_stake", "{}, with value → null: stakes more.", handlers::add_stake).payable(),
        Method::untyped(
            "draw",
            "{amount} → null: takes out of the sender's stake what it has above the least, to pay fees with.",
            handlers::draw,
        ),
        Method::untyped(
            "unstake",
            "{} → {released, until}: leaves. The stake is paid when it is asked for again `gateways.unstake_delay` blocks after the sender became inactive.",
            handlers::unstake,
        ),
        Method::untyped(
            DISPATCH,
            "{target, envelope, salt} → what the handler returned: delivers a request to an actor's `http.request`, from this registry. Active gateways only. The request's id is the UUID v4 of the first 16 bytes of keccak256(\"cowboy-request:\" ‖ sender ‖ target ‖ salt), salt having 32 bytes.",
            handlers::dispatch,
        ),
        Method::untyped("is_active_gateway", "{address} → bool: whether a gateway is registered and active.", handlers::is_active).view(),
        Method::untyped("get_gateway", "{address} → gateway or null: a gateway's record.", handlers::get_gateway).view(),
        Method::untyped(
            "report",
            "{first, second} → {slashed}: two dispatches that one gateway signed under one nonce, so that one of them could never run. Anybody may show them.",
            evidence::report,
        ),
        Method::untyped(
            REPORT_ANSWERS,
            "{first, second} → {slashed}: two answers to GET that one gateway signed and that cannot both be true. Anybody may show them; one fault for each height.",
            evidence::report_answers,
        ),
        Method::untyped(
            "judge_answer",
            "{answer} → {slashed}: an answer to GET that a gateway signed and that governance found to be false.",
            evidence::judge_answer,
        )
        .governed(),
    ]],
    events: &[],
};
