//! 0x11, Container Registry: the images that jobs may run (003 §5.2, §9, §12.2; A-234).
//!
//! Invariant: an image stands here by the digest of its manifest, so that what was looked at is what runs.

pub mod handlers;
pub mod state;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::CONTAINERS;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Container Registry",
    doc: "Container images that jobs may run.",
    methods: &[
        Method {
            name: "set_image",
            doc: "{digest, allowed, name?} → null: takes an image in or out, by the SHA-256 of its manifest. Governance only.",
            run: handlers::set_image,
        },
        Method {
            name: "get_image",
            doc: "{digest} → {allowed, name, since} or null: what governance thinks of an image.",
            run: handlers::get_image,
        },
    ],
};
