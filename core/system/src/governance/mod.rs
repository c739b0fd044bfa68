//! 0x09, Governance: the parameters that the chain runs under, and its validators (003 §9, §13.1, Validator Set).
//!
//! A moved parameter takes effect in the next block: a block runs under one set of parameters.

pub mod actions;
pub mod handlers;
pub mod pauses;
mod proposals;
pub mod published;
pub mod state;
pub mod types;

use crate::actor::{Actor, Method};
use crate::staking;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::GOVERNANCE;

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "Governance",
    doc: "Parameters and who may move them; validators.",
    methods: &[
        Method { name: "get_param", doc: "{name} → number: a parameter of the running block, by its name.", run: handlers::get_param },
        Method {
            name: "update_timer_config",
            doc: "{max_ttl_blocks, max_cycles_per_fire, max_cells_per_fire, max_timers_per_actor, gc_cycles_per_block} → null. Governance only (SYS 49).",
            run: handlers::update_timer_config,
        },
        Method {
            name: "register_validator",
            doc: "{signing_key, network_key, network_proof, vrf_key, vrf_proof}, with the stake as value → null: the sender becomes a validator, active from the next epoch on. The proofs are signatures of both keys over the registration.",
            run: staking::handlers::register,
        },
        Method { name: "add_stake", doc: "{}, with value → null: adds to the sender's own stake.", run: staking::handlers::add_stake },
        Method {
            name: "leave",
            doc: "{} → height: the sender is out of the next set, and withdraws from that height on.",
            run: staking::handlers::leave,
        },
        Method { name: "withdraw", doc: "{} → amount: gives a validator that left its stake back.", run: staking::handlers::withdraw },
        Method {
            name: "unjail",
            doc: "{} → null: lets the sender out of jail when its time is over; it is active from the next epoch on.",
            run: staking::handlers::unjail,
        },
        Method {
            name: "report_equivocation",
            doc: "{validator, first, second} → null: two encoded headers of this chain, of one round and at most 604,800 blocks old, that one validator signed. Anybody may show them.",
            run: staking::faults::report_equivocation,
        },
        Method {
            name: "attest_fault",
            doc: "{validator, fault, epoch, view} → bool: a member says that another, in a round of this epoch and at most 604,800 rounds ago, double voted (double_vote), proposed an invalid block (invalid_proposal) or missed too much (downtime); true once more than two thirds say so.",
            run: staking::faults::attest,
        },
        Method {
            name: "get_validator",
            doc: "{address} → {jailings, network_key, signing_key, stake, status, until, vrf_key}.",
            run: staking::handlers::get_validator,
        },
        Method {
            name: "propose",
            doc: "{action, …} or {actions: [{action, …}, …]} (at most 16, all or nothing), with the tier's deposit as value → number. Actions: {action: set_parameter, name, value}, {action: call, actor, method, argument} as 0x09, {action: disburse, bucket, to, amount}, {action: set_council, members}, {action: circuit_break, actor} and {action: resume, actor}.",
            run: proposals::propose,
        },
        Method {
            name: "preview",
            doc: "{action, …} or {actions: […]} → {deposit, error, events, tier}: what a proposal would do if it took effect now, and what it puts down. Nothing of it stays; error is null, or why it would fail.",
            run: proposals::preview,
        },
        Method {
            name: "vote",
            doc: "{proposal, choice: yes | no | abstain} → null: a member of the newest set votes, or changes its vote.",
            run: proposals::vote,
        },
        Method {
            name: "count",
            doc: "{proposal} → bool: counts both chambers when the voting is over; what is accepted waits for its timelock. Anybody may ask.",
            run: proposals::count,
        },
        Method {
            name: "execute",
            doc: "{proposal} → bool: makes an accepted proposal take effect after its timelock. Anybody may ask.",
            run: proposals::execute,
        },
        Method {
            name: "cancel",
            doc: "{proposal} → bool: a member of the council wants a waiting proposal stopped; true once seven do.",
            run: proposals::cancel,
        },
        Method {
            name: "fast_track",
            doc: "{proposal} → bool: a member of the council wants a tier 3 proposal quick; true once seven do.",
            run: proposals::fast_track,
        },
        Method {
            name: "circuit_break",
            doc: "{actor} → bool: a member of the council wants a system actor paused; true once seven do. It is paused from the next block on, and the vote that ratifies it is open.",
            run: pauses::circuit_break,
        },
        Method {
            name: "get_pauses",
            doc: "{} → [{actor, proposal, until}, …]: the paused system actors; until and the proposal that ratifies it are null once it is ratified.",
            run: pauses::get_pauses,
        },
        Method {
            name: "get_proposal",
            doc: "{proposal} → {ballots, height, is_fast, proposer, stage, tier}.",
            run: proposals::get_proposal,
        },
        Method {
            name: "get_history",
            doc: "{name} → [{height, proposal, value}, …]: what a parameter became, and when.",
            run: proposals::get_history,
        },
    ],
};
