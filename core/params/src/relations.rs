//! Relations between parameters: what must hold between the values of several rows, each of which lies in its own range.

use crate::Params;
use std::fmt;

/// A parameter, with a factor.
struct Term {
    factor: u64,
    name: &'static str,
    value: fn(&Params) -> u64,
}

/// A sum of parameters that must not be greater than another one.
///
/// No decision of governance breaks one that held before (decision 553).
pub struct Relation {
    lower: &'static [Term],
    upper: &'static [Term],
    /// What would be wrong without it.
    pub reason: &'static str,
}

impl Relation {
    /// Whether it holds for these parameters.
    pub fn holds(&self, params: &Params) -> bool {
        sum(self.lower, params) <= sum(self.upper, params)
    }
}

impl fmt::Display for Relation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ≤ {}", written(self.lower), written(self.upper))
    }
}

fn sum(terms: &[Term], params: &Params) -> u128 {
    terms.iter().map(|term| u128::from(term.factor).saturating_mul(u128::from((term.value)(params)))).fold(0, u128::saturating_add)
}

fn written(terms: &[Term]) -> String {
    let term = |term: &Term| match term.factor {
        1 => format!("`{}`", term.name),
        factor => format!("{factor} × `{}`", term.name),
    };
    terms.iter().map(term).collect::<Vec<_>>().join(" + ")
}

/// Declares relations: sums of rows, with a factor before each, and the reason.
macro_rules! relations {
    ($( $lower_factor:literal $lower_group:ident.$lower:ident $(+ $more_factor:literal $more_group:ident.$more:ident)*
        <= $upper_factor:literal $upper_group:ident.$upper:ident: $reason:literal; )+) => {
        &[ $( Relation {
            lower: &[
                relations!(@term $lower_factor $lower_group.$lower),
                $( relations!(@term $more_factor $more_group.$more), )*
            ],
            upper: &[relations!(@term $upper_factor $upper_group.$upper)],
            reason: $reason,
        }, )+ ]
    };
    (@term $factor:literal $group:ident.$row:ident) => {
        Term { factor: $factor, name: concat!(stringify!($group), ".", stringify!($row)), value: |params| params.$group.$row }
    };
}

impl Params {
    /// What must hold between the rows.
    pub const RELATIONS: &'static [Relation] = relations! {
        // What validators do in governance: a vote, or the execution of sixteen actions, with an argument of half a KiB.
        1 intrinsic.message_cycles + 18 execution.system_method_cycles + 512 costs.argument_byte <= 1 lanes.system_cycles:
            "a validator's vote and a decision of sixteen actions fit in the system lane, so that governance can always undo what it did";
        1 intrinsic.message_cycles + 18 execution.system_method_cycles + 512 costs.argument_byte <= 1 lanes.user_cycles:
            "the same in the lane of those who are no validators, as for proposals";
        1 intrinsic.message_cycles + 18 execution.system_method_cycles + 512 costs.argument_byte <= 1 execution.actor_block_cycles:
            "the same within what one actor may use in a block without spare room";
        1 lanes.system_cycles + 1 lanes.runner_cycles + 1 lanes.user_cycles + 1 lanes.timer_cycles <= 1 fees.block_cycles:
            "a block has room for all lanes, so that none takes what another one is for";
        1 fees.cycles_target <= 1 fees.block_cycles: "full blocks raise the base fee";
        1 fees.cells_target <= 1 fees.block_cells: "full blocks raise the base fee";
        1 fees.base_fee_min <= 1 fees.base_fee_max: "the floor lies below the ceiling";
        1 intrinsic.deploy_cycles <= 1 lanes.user_cycles: "an actor can be deployed";
        1 intrinsic.transfer_cycles <= 1 lanes.user_cycles: "CBY can be transferred";
        1 gateways.command_cycles_max <= 1 lanes.user_cycles: "a command of a gateway fits in a block";
        1 jobs.callback_cycles <= 1 lanes.runner_cycles: "a callback fits in a block";
        4 jobs.callback_cells <= 1 fees.block_cells: "a callback fits in the quarter of a block that callbacks have";
        1 jobs.callback_cells <= 1 fees.cells_target: "the same where the target is lower";
        // An outcome of sixteen points, and an argument as long as a transaction.
        1 intrinsic.message_cycles + 16 costs.verify_bls + 131_072 costs.argument_byte <= 1 lanes.runner_cycles:
            "what proxies and relays have to say in time fits in its lane";
        1 costs.call + 1 costs.timer <= 1 timers.cycles_per_fire: "a timer can ask for what its fire costs";
        1 costs.call + 1 costs.timer <= 1 timers.auction_cycles_per_fire: "a timer can ask for what its fire costs";
        1 costs.call + 1 timers.bid_cost <= 1 timers.bid_cycles: "a bidding agent can be asked";
        1 lanes.runner_fee_multiplier <= 1 jobs.callback_price: "a callback that names no price offers its lane's base fee";
        1 timers.cycles_per_fire <= 1 lanes.timer_cycles: "a timer fits in a block";
        1 timers.auction_cycles_per_fire <= 1 lanes.timer_cycles: "a timer fits in a block";
        1 timers.cells_per_fire <= 1 fees.block_cells: "a timer fits in a block";
        1 execution.storage_quota_per_actor <= 1 execution.storage_quota_bonded: "a bond takes no storage away";
        1 execution.delivery_weight <= 1 execution.block_weight: "a delivery fits in a block";
        1 consensus.evidence_age <= 1 consensus.unbonding: "the stake of who leaves is there for as long as a fault can be shown";
        1 governance.voting_ratify <= 1 governance.pause: "a pause can be ratified before it ends";
        1 governance.voting_fast <= 1 governance.voting_3: "the fast way is no slower";
        1 governance.timelock_fast <= 1 governance.timelock: "the fast way is no slower";
        1 jobs.committee_min <= 1 jobs.committee_max: "a committee has a size";
        1 jobs.threshold_fallback <= 1 jobs.committee_fallback: "a committee can reach its threshold";
        1 jobs.reputation_min <= 1 jobs.reputation_start: "a new runner can be drawn";
        1 jobs.timeout_default <= 1 jobs.timeout_max: "a job that names no timeout is accepted";
        1 jobs.challenge_window <= 1 jobs.dispute_max: "the first claim shortens no window in which others are made";
        1 jobs.dispute_window <= 1 jobs.dispute_max: "the first claim shortens no window in which others are made";
        1 jobs.timeout_max <= 1 jobs.dispute_max: "the first claim shortens no window that a job names itself";
        // From leaving to a commitment and a revelation, then the window, and a claim in its last block.
        1 jobs.timeout_max + 1 jobs.reveal_window + 1 jobs.challenge_window + 1 jobs.dispute_max <= 1 consensus.unbonding:
            "the stake of a runner that leaves is there until claims against it are decided";
        1 jobs.timeout_max + 1 jobs.reveal_window + 1 jobs.dispute_window + 1 jobs.dispute_max <= 1 consensus.unbonding:
            "the stake of a runner that leaves is there until claims against it are decided";
        2 jobs.timeout_max + 1 jobs.reveal_window + 1 jobs.dispute_max <= 1 consensus.unbonding:
            "the same in a window that a job names itself";
        1 names.length_min <= 1 names.length_max: "a label has a length";
        1 names.duration_min <= 1 names.duration_max: "a name can be registered";
        1 names.renewal_min <= 1 names.duration_max: "a name can be renewed";
        1 gateways.request_bytes_default <= 1 gateways.request_bytes_max: "a manifest that names no number is accepted";
        1 gateways.response_bytes_default <= 1 gateways.response_bytes_max: "a manifest that names no number is accepted";
        1 gateways.query_cycles_default <= 1 gateways.query_cycles_max: "a manifest that names no number is accepted";
        1 secrets.members <= 1 secrets.proxies: "a committee can be drawn";
        5 secrets.phase <= 1 secrets.term: "a key is dealt before its term is over";
        1 volumes.proof_window <= 1 volumes.proof_period: "a round of proofs ends before the next one begins";
        1 volumes.demand_fee <= 1 volumes.demand_bond: "a demand's bond covers what it costs";
        1 volumes.demand_bounty <= 1 volumes.demand_slash: "a relay that demands from itself and is silent gains nothing from the pool";
        1 containers.small_cpu <= 1 containers.cpu_max: "a job can have the class";
        1 containers.small_memory <= 1 containers.memory_max: "a job can have the class";
        1 containers.small_scratch <= 1 containers.scratch_max: "a job can have the class";
        1 containers.small_seconds <= 1 containers.seconds_max: "a job can have the class";
        1 containers.medium_cpu <= 1 containers.cpu_max: "a job can have the class";
        1 containers.medium_memory <= 1 containers.memory_max: "a job can have the class";
        1 containers.medium_scratch <= 1 containers.scratch_max: "a job can have the class";
        1 containers.medium_seconds <= 1 containers.seconds_max: "a job can have the class";
        1 containers.large_cpu <= 1 containers.cpu_max: "a job can have the class";
        1 containers.large_memory <= 1 containers.memory_max: "a job can have the class";
        1 containers.large_scratch <= 1 containers.scratch_max: "a job can have the class";
        1 containers.large_seconds <= 1 containers.seconds_max: "a job can have the class";
    };

    /// The first relation that these parameters break and others did not.
    pub fn broken_since(&self, before: &Self) -> Option<&'static Relation> {
        Self::RELATIONS.iter().find(|relation| relation.holds(before) && !relation.holds(self))
    }
}
