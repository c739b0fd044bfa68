//! 0x08, Treasury: holds what the protocol earns, and the book of all CBY (003 §8, §9).

mod handlers;
pub mod vesting;

use crate::actor::{Actor, Method};

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::TREASURY;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Treasury",
    doc: "The protocol's own CBY, vesting schedules, and the book of all CBY.",
    methods: &[
        Method {
            name: "get_supply", doc: "{} → {burned, genesis, minted}: all CBY there are, in base units.", run: handlers::get_supply
        },
        Method {
            name: "get_vesting",
            doc: "{bucket} → {beneficiary, held, released, total, vested}: a genesis bucket at this block's time.",
            run: vesting::get_vesting,
        },
        Method {
            name: "release",
            doc: "{bucket} → amount: pays what has vested to the bucket's beneficiary. Anybody may ask.",
            run: vesting::release,
        },
        Method {
            name: "set_beneficiary",
            doc: "{bucket, beneficiary} → null: who receives what vests. Governance, or the present beneficiary.",
            run: vesting::set_beneficiary,
        },
        Method {
            name: "disburse",
            doc: "{bucket, to, amount} → amount: pays out of a bucket that decisions release. Governance only.",
            run: vesting::disburse,
        },
    ],
};
