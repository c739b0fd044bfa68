//! 0x06, Dual Basefee: the two base fees, and what governance may do to single timers (003 §9, §5.1a).

pub mod handlers;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = 0x06;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Dual Basefee",
    doc: "The base fees of both markets, and single timers as governance sees them.",
    methods: &[
        Method {
            name: "get_basefee", doc: "{} → {cell, cycle}: the base fees of the next block to be made.", run: handlers::get_basefee
        },
        Method {
            name: "cancel_timer",
            doc: "{timer_id} → null: removes any timer; one that is gone changes nothing. System deployers only (SYS 48).",
            run: handlers::cancel_timer,
        },
        Method {
            name: "extend_timer",
            doc: "{timer_id, expires_at} → null: moves any timer's last height. System deployers only (SYS 50).",
            run: handlers::extend_timer,
        },
    ],
};
