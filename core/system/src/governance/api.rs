//! The methods and events of 0x09 but for validators.

use super::NUMBER;
use super::named::ParameterName;
use super::proposed::Proposed;
use super::types::Choice;
use crate::actor::methods;
use crate::schema::{Form, Refused, Shape, events, form};
use cowboy_types::cbor::Value;
use cowboy_types::receipt::MAX_RECEIPT_EVENTS;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, List, Text};

impl Form for Choice {
    const SHAPE: Shape = Shape::Word(&["yes", "no", "abstain"]);

    fn read(value: &Value) -> Result<Self, Refused> {
        match value.as_text() {
            Some("yes") => Ok(Self::Yes),
            Some("no") => Ok(Self::No),
            Some("abstain") => Ok(Self::Abstain),
            _ => Err(Refused::WHOLE),
        }
    }

    fn write(&self) -> Value {
        Value::text(match self {
            Self::Yes => "yes",
            Self::No => "no",
            Self::Abstain => "abstain",
        })
    }
}

form! {
    /// A proposal.
    pub(crate) struct ProposalState {
        /// How many members voted.
        ballots: Count,
        /// When its voting ends, or its timelock.
        height: Option<Height>,
        /// Whether the council shortened its way.
        is_fast: bool,
        /// Who made it.
        proposer: Address,
        /// voting, queued, executed, failed, rejected or cancelled.
        stage: Text<16>,
        /// 0 or 3.
        tier: u8,
    }
}

form! {
    /// A paused system actor.
    pub(crate) struct PauseState {
        /// The actor.
        actor: Address,
        /// The proposal that ratifies the pause; null once it is ratified.
        proposal: Option<Count>,
        /// When the pause ends unless it is ratified; null once it is.
        until: Option<Height>,
    }
}

form! {
    /// A protocol version and when it begins.
    pub(crate) struct ScheduledUpgrade {
        /// The first height at which it applies.
        height: Height,
        /// The version.
        version: u8,
    }
}

form! {
    /// What a parameter became.
    pub(crate) struct ParameterChange {
        /// The height of the decision.
        height: Height,
        /// The proposal.
        proposal: Count,
        /// The value.
        value: u64,
    }
}

methods! {
    /// What 0x09 is asked about parameters and proposals.
    pub(super) METHODS by NUMBER;

    /// Returns a parameter of the running block.
    "get_param" GetParam [view] {
        /// Its name.
        name: ParameterName,
    } -> u64;

    /// Replaces the limits of timers together, each within its parameter's range, from the next block on (SYS 49).
    "update_timer_config" UpdateTimerConfig [governed, routine] {
        /// How far ahead an expiry may lie, in blocks.
        max_ttl_blocks: u64,
        /// Cycles of one fire.
        max_cycles_per_fire: u64,
        /// Cells of one fire.
        max_cells_per_fire: u64,
        /// Live timers of one actor.
        max_timers_per_actor: u64,
        /// Cycles of the cleanup lane.
        gc_cycles_per_block: u64,
    } -> ();

    /// Votes on a proposal, or changes the vote. Members of the newest set.
    "vote" Vote [] {
        /// The proposal's number.
        proposal: u64,
        /// The vote.
        choice: Choice,
    } -> ();

    /// Counts both chambers when the voting is over; what is accepted waits for its timelock. Returns whether it is. Anybody may ask.
    "count" CountVotes [] {
        /// The proposal's number.
        proposal: u64,
    } -> bool;

    /// Makes an accepted proposal take effect after its timelock. Returns whether it did. Anybody may ask.
    "execute" Execute [] {
        /// The proposal's number.
        proposal: u64,
    } -> bool;

    /// Asks to stop a queued proposal. Members of the council. Returns whether seven do, which stops it.
    "cancel" Cancel [] {
        /// The proposal's number.
        proposal: u64,
    } -> bool;

    /// Asks to shorten the voting and the timelock of a proposal of tier 3. Members of the council. Returns whether seven do, which
    /// shortens them.
    "fast_track" FastTrack [] {
        /// The proposal's number.
        proposal: u64,
    } -> bool;

    /// Asks to pause a system actor. Members of the council. Returns whether seven do: it is paused from the next block on, and the
    /// vote that ratifies the pause is open.
    "circuit_break" CircuitBreak [passing] {
        /// The actor, by its address or its number.
        actor: Option<Value>,
    } -> bool;

    /// Returns the paused system actors.
    "get_pauses" GetPauses [view] {} -> List<PauseState, 64>;

    /// Returns a proposal.
    "get_proposal" GetProposal [view] {
        /// Its number.
        proposal: u64,
    } -> ProposalState;

    /// Returns the schedule of protocol versions, those that apply already included.
    "get_upgrades" GetUpgrades [view] {} -> List<ScheduledUpgrade, 255>;

    /// Schedules a protocol version for a height. Decisions and genesis only.
    "schedule_upgrade" ScheduleUpgrade [governed] {
        /// The version: above all others of the schedule, and at most one above the highest that was ever in it.
        version: u8,
        /// The first height at which it applies, at least `governance.upgrade_notice` blocks ahead.
        height: Height,
    } -> ();

    /// Removes a protocol version that does not apply yet from the schedule. Decisions only.
    "cancel_upgrade" CancelUpgrade [governed] {
        /// The version.
        version: u8,
    } -> ();

    /// Returns what a parameter became, and when.
    "get_history" GetHistory [view] {
        /// Its name.
        name: ParameterName,
    } -> List<ParameterChange, 256>;
}

form! {
    /// An event that a proposal would emit.
    pub(crate) struct PreviewEvent {
        /// Its data.
        data: Value,
        /// Who would emit it.
        emitter: Address,
        /// Its name.
        name: Text<256>,
    }
}

form! {
    /// What a proposal would do.
    pub(crate) struct Preview {
        /// What it puts down, in base units of CBY.
        deposit: Amount,
        /// The word of the error with which it would fail; null where it would take effect.
        error: Option<Text<64>>,
        /// What it would emit, up to the failure.
        events: List<PreviewEvent, MAX_RECEIPT_EVENTS>,
        /// Whether the council may cancel it.
        is_cancellable: bool,
        /// Why it cannot be proposed now, where it would decide more than one open claim, or judge more than one answer; else null.
        refusal: Option<Text<256>>,
        /// 0 or 3.
        tier: u8,
    }
}

methods! {
    /// What 0x09 is asked about proposals that are not made yet.
    pub(super) PROPOSALS by NUMBER;

    /// Proposes actions that take effect together or not at all, and returns the proposal's number. The value is the deposit of the strictest tier
    /// among them. An argument without `actions` may have the fields of a single action.
    "propose" Propose(Proposed) [payable, kept] -> u64;

    /// Returns what a proposal would do if it took effect now, and what it puts down. Nothing of it stays. An argument without `actions` may have
    /// the fields of a single action.
    "preview" PreviewProposal(Proposed) [view] -> Preview;
}

events! {
    /// What 0x09 emits about parameters, proposals and pauses.
    pub(super) EVENTS by NUMBER;

    /// The limits of timers were replaced.
    "timer_config.updated" TimerConfigUpdated {
        /// How far ahead an expiry may lie, in blocks.
        max_ttl_blocks: u64,
        /// Cycles of one fire.
        max_cycles_per_fire: u64,
        /// Cells of one fire.
        max_cells_per_fire: u64,
        /// Live timers of one actor.
        max_timers_per_actor: u64,
        /// Cycles of the cleanup lane.
        gc_cycles_per_block: u64,
    }

    /// A proposal was made.
    "proposal.made" Made {
        /// Its number.
        proposal: Count,
    }

    /// A proposal was accepted, and waits.
    "proposal.queued" Queued {
        /// Its number.
        proposal: Count,
    }

    /// A proposal was not accepted.
    "proposal.rejected" Rejected {
        /// Its number.
        proposal: Count,
    }

    /// A proposal took effect.
    "proposal.executed" Executed {
        /// Its number.
        proposal: Count,
    }

    /// A proposal was accepted and could not take effect.
    "proposal.failed" Failed {
        /// Its number.
        proposal: Count,
    }

    /// The council stopped a proposal.
    "proposal.cancelled" Cancelled {
        /// Its number.
        proposal: Count,
    }

    /// The council shortened a proposal's way.
    "proposal.fast_tracked" FastTracked {
        /// Its number.
        proposal: Count,
    }

    /// A system actor is paused from the next block on.
    "actor.paused" Paused {
        /// The actor.
        actor: Address,
    }

    /// A system actor's pause ends with the next block.
    "actor.resumed" Resumed {
        /// The actor.
        actor: Address,
    }

    /// A decision moved a parameter.
    "parameter.moved" ParameterMoved {
        /// Its name.
        name: ParameterName,
        /// The proposal.
        proposal: Count,
        /// The new value.
        value: u64,
    }

    /// A decision scheduled a protocol version.
    "upgrade.scheduled" UpgradeScheduled {
        /// The first height at which it applies.
        height: Height,
        /// The version.
        version: u8,
    }

    /// A decision removed a protocol version from the schedule.
    "upgrade.cancelled" UpgradeCancelled {
        /// The version.
        version: u8,
    }
}
