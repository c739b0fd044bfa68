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
    tables: &[&[
        Method::untyped("get_param", "{name} → number: a parameter of the running block, by its name.", handlers::get_param).view(),
        Method::untyped("update_timer_config", "{max_ttl_blocks, max_cycles_per_fire, max_cells_per_fire, max_timers_per_actor, gc_cycles_per_block} → null. Governance only (SYS 49).", handlers::update_timer_config).routine(),
        Method::untyped("register_validator", "{signing_key, network_key, network_proof, vrf_key, vrf_proof, endpoint?}, with the stake as value → null: the sender becomes a validator, active from the next epoch on. The proofs are signatures of both keys over the registration. The endpoint is where it listens for other validators: 16 bytes of IPv6 (IPv4 is mapped), then the port in big-endian.", staking::handlers::register).payable(),
        Method::untyped("add_stake", "{}, with value → null: adds to the sender's own stake.", staking::handlers::add_stake).payable(),
        Method::untyped("edit_validator", "{endpoint} → null: changes where other validators find the sender. They read it when the next players are fixed.", staking::handlers::edit),
        Method::untyped("leave", "{} → height: the sender is out of the next set, and withdraws from that height on.", staking::handlers::leave),
        Method::untyped("withdraw", "{} → amount: gives a validator that left its stake back.", staking::handlers::withdraw),
        Method::untyped("unjail", "{} → null: lets the sender out of jail when its time is over; it is active from the next epoch on.", staking::handlers::unjail),
        Method::untyped("report_equivocation", "{validator, first, second} → null: two encoded headers of this chain, of one round and at most 604,800 blocks old, that one validator signed. Anybody may show them.", staking::faults::report_equivocation),
        Method::untyped("attest_fault", "{validator, fault, epoch, view} → bool: a member says that another, in a round of this epoch and at most 604,800 rounds ago, double voted (double_vote), proposed an invalid block (invalid_proposal) or missed too much (downtime); true once more than two thirds say so.", staking::faults::attest),
        Method::untyped("get_validator", "{address} → {endpoint, jailings, network_key, signing_key, stake, status, until, vrf_key}.", staking::handlers::get_validator).view(),
        Method::untyped("propose", "{action, …} or {actions: [{action, …}, …]} (at most 16, all or nothing), with the tier's deposit as value → number. Actions: {action: set_parameter, name, value}, {action: call, actor, method, argument} as 0x09, {action: disburse, bucket, to, amount}, {action: set_council, members}, {action: circuit_break, actor} and {action: resume, actor}.", proposals::propose).payable(),
        Method::untyped("preview", "{action, …} or {actions: […]} → {deposit, error, events, tier}: what a proposal would do if it took effect now, and what it puts down. Nothing of it stays; error is null, or why it would fail.", proposals::preview).view(),
        Method::untyped("vote", "{proposal, choice: yes | no | abstain} → null: a member of the newest set votes, or changes its vote.", proposals::vote),
        Method::untyped("count", "{proposal} → bool: counts both chambers when the voting is over; what is accepted waits for its timelock. Anybody may ask.", proposals::count),
        Method::untyped("execute", "{proposal} → bool: makes an accepted proposal take effect after its timelock. Anybody may ask.", proposals::execute),
        Method::untyped("cancel", "{proposal} → bool: a member of the council wants a waiting proposal stopped; true once seven do.", proposals::cancel),
        Method::untyped("fast_track", "{proposal} → bool: a member of the council wants a tier 3 proposal quick; true once seven do.", proposals::fast_track),
        Method::untyped("circuit_break", "{actor} → bool: a member of the council wants a system actor paused; true once seven do. It is paused from the next block on, and the vote that ratifies it is open.", pauses::circuit_break),
        Method::untyped("get_pauses", "{} → [{actor, proposal, until}, …]: the paused system actors; until and the proposal that ratifies it are null once it is ratified.", pauses::get_pauses).view(),
        Method::untyped("get_proposal", "{proposal} → {ballots, height, is_fast, proposer, stage, tier}.", proposals::get_proposal).view(),
        Method::untyped("get_history", "{name} → [{height, proposal, value}, …]: what a parameter became, and when.", proposals::get_history).view(),
    ]],
    events: &[],
};
