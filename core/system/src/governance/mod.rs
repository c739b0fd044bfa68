//! 0x09, Governance: the parameters that the chain runs under (003 §9, §13.1).
//!
//! A moved parameter takes effect in the next block: a block runs under one set of parameters.

pub mod handlers;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = 0x09;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Governance",
    doc: "Parameters and who may move them.",
    methods: &[
        Method { name: "get_param", doc: "{name} → number: a parameter of the running block, by its name.", run: handlers::get_param },
        Method {
            name: "update_timer_config",
            doc: "{max_ttl_blocks, max_cycles_per_fire, max_cells_per_fire, max_timers_per_actor, gc_cycles_per_block} → null. System deployers only (SYS 49).",
            run: handlers::update_timer_config,
        },
    ],
};
