//! 0x06, Dual Basefee and Token Registry: the two base fees, what governance may do to single timers, and the protocol's tokens, with
//! keys of their own (003 §9, §5.1a).

pub mod handlers;

use crate::actor::{Actor, Method};
use crate::tokens::METHODS as TOKENS;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::BASEFEE;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Dual Basefee and Token Registry",
    doc: "The base fees of both markets, single timers as governance sees them, and fungible tokens.",
    methods: &[
        Method {
            name: "get_basefee", doc: "{} → {cell, cycle}: the base fees of the next block to be made.", run: handlers::get_basefee
        },
        Method {
            name: "get_timer_auction",
            doc: "{scheduler} → {base_fee, is_on, median_tip, weight}: the timer lane's base fee of a cycle, the median tip of the block before, and the weight of a scheduler's tips in basis points, the sender's where none is named.",
            run: handlers::get_timer_auction,
        },
        Method {
            name: "cancel_timer",
            doc: "{timer_id} → null: removes any timer; one that is gone changes nothing. Governance, or who pays for the timer (SYS 48).",
            run: handlers::cancel_timer,
        },
        Method {
            name: "extend_timer",
            doc: "{timer_id, expires_at} → null: moves any timer's last height. Governance, or who pays for the timer (SYS 50).",
            run: handlers::extend_timer,
        },
        TOKENS[0],
        TOKENS[1],
        TOKENS[2],
        TOKENS[3],
        TOKENS[4],
        TOKENS[5],
        TOKENS[6],
        TOKENS[7],
        TOKENS[8],
        TOKENS[9],
        TOKENS[10],
        TOKENS[11],
    ],
};
