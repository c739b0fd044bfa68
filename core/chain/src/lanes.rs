//! Block space by kind of work (003 §6.3, §17.9; decisions 4 to 6).
//!
//! A lane is filled by cycles used. What a higher lane leaves free flows down to the user lane, which
//! never borrows what may still be needed: the timer lane keeps what this height's timers declare.

use cowboy_params::Params;
use cowboy_system::{governance, runners, verifier};
use cowboy_types::Address;
use cowboy_types::block::{LaneUsage, Usage};
use cowboy_types::instruction::{Actor, Custom, Instruction, System};
use cowboy_types::units::{Cells, Cycles};

use crate::fees::Used;

/// A part of a block's space. The order is the order in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lane {
    /// Governance, validators, upgrades.
    System,
    /// Job results and callbacks.
    Runner,
    /// Everything else, deliveries of messages included.
    User,
    /// Timers, after all transactions.
    Timer,
}

impl Lane {
    /// The lane of an instruction. The proposer has no say in it.
    pub fn of(instruction: &Instruction) -> Self {
        match instruction {
            Instruction::System(System::CancelTimer { .. } | System::UpdateTimerConfig { .. } | System::ExtendTimer { .. }) => Self::System,
            Instruction::System(_) => Self::User,
            Instruction::Actor(actor) => Self::of_actor(actor),
            Instruction::Custom(Custom::SetBalance { .. }) => Self::System,
            Instruction::Custom(Custom::Impersonate { .. }) => Self::User,
        }
    }

    /// What runners say of jobs, and that they are there, has a lane of its own (decision 85).
    fn of_actor(actor: &Actor) -> Self {
        let Actor::Execute { target, handler, .. } = actor else { return Self::User };
        // Whatever governance and the validators do is asked of 0x09.
        if *target == Address::system(governance::NUMBER) {
            return Self::System;
        }
        let is_heartbeat = *target == Address::system(runners::NUMBER) && &handler[..] == "heartbeat";
        if *target == Address::system(verifier::NUMBER) || is_heartbeat { Self::Runner } else { Self::User }
    }

    /// The lane's own budget of cycles.
    pub fn budget(self, params: &Params) -> Cycles {
        Cycles(match self {
            Self::System => params.lanes.system_cycles,
            Self::Runner => params.lanes.runner_cycles,
            Self::User => params.lanes.user_cycles,
            Self::Timer => params.lanes.timer_cycles,
        })
    }

    /// The lane's base fee as a share of the global one, in basis points.
    pub fn fee_multiplier(self, params: &Params) -> u64 {
        match self {
            Self::System => params.lanes.system_fee_multiplier,
            Self::Runner => params.lanes.runner_fee_multiplier,
            Self::User => params.lanes.user_fee_multiplier,
            Self::Timer => params.lanes.timer_fee_multiplier,
        }
    }
}

/// What the lanes of a block have used so far.
#[derive(Clone, Debug)]
pub struct Space {
    usage: Usage,
    timers_declared: Cycles,
}

impl Space {
    /// An empty block, whose due timers declare this many cycles.
    pub fn new(timers_declared: Cycles) -> Self {
        let none = || LaneUsage { cycles: Cycles::ZERO, cells: Cells::ZERO };
        Self { usage: Usage { system: none(), timer: none(), runner: none(), user: none() }, timers_declared }
    }

    /// What the lanes used.
    pub fn usage(&self) -> &Usage {
        &self.usage
    }

    fn used(&self, lane: Lane) -> Cycles {
        match lane {
            Lane::System => self.usage.system.cycles,
            Lane::Runner => self.usage.runner.cycles,
            Lane::User => self.usage.user.cycles,
            Lane::Timer => self.usage.timer.cycles,
        }
    }

    /// Cycles of all lanes.
    pub fn cycles(&self) -> Cycles {
        [Lane::System, Lane::Runner, Lane::User, Lane::Timer]
            .into_iter()
            .fold(Cycles::ZERO, |sum, lane| sum.saturating_add(self.used(lane)))
    }

    /// Cells of all lanes.
    pub fn cells(&self) -> Cells {
        let usage = &self.usage;
        [&usage.system, &usage.runner, &usage.user, &usage.timer].into_iter().fold(Cells::ZERO, |sum, lane| sum.saturating_add(lane.cells))
    }

    /// Counts what a delivery used.
    pub fn count(&mut self, lane: Lane, used: Used) {
        let slot = match lane {
            Lane::System => &mut self.usage.system,
            Lane::Runner => &mut self.usage.runner,
            Lane::User => &mut self.usage.user,
            Lane::Timer => &mut self.usage.timer,
        };
        slot.cycles = slot.cycles.saturating_add(used.cycles);
        slot.cells = slot.cells.saturating_add(used.cells);
    }

    /// Cycles that a lane still holds at its turn, spill of the lanes before it included, within the block's cap.
    pub fn left(&self, params: &Params, lane: Lane) -> Cycles {
        let own = |lane: Lane| lane.budget(params).saturating_sub(self.used(lane));
        let timers = || Lane::Timer.budget(params).saturating_sub(self.timers_declared);
        let left = match lane {
            Lane::System | Lane::Timer => own(lane),
            Lane::Runner => own(Lane::System).saturating_add(own(Lane::Runner)),
            // Lanes above that borrowed have used more than their own: their surplus is what all three leave together.
            Lane::User => {
                let budget = [Lane::System, Lane::Runner, Lane::User]
                    .into_iter()
                    .fold(Cycles::ZERO, |sum, lane| sum.saturating_add(lane.budget(params)));
                let used = [Lane::System, Lane::Runner, Lane::User]
                    .into_iter()
                    .fold(Cycles::ZERO, |sum, lane| sum.saturating_add(self.used(lane)));
                budget.saturating_add(timers()).saturating_sub(used)
            }
        };
        left.min(Cycles(params.fees.block_cycles).saturating_sub(self.cycles()))
    }

    /// Whether a lane has room for a delivery beyond its actor's share of the block: what it leaves is kept for the others.
    pub fn has_spare(&self, params: &Params, lane: Lane, cycles: Cycles) -> bool {
        let kept = u128::from(lane.budget(params).0) * u128::from(params.execution.burst_reserve) / 10_000;
        let kept = Cycles(u64::try_from(kept).expect("a share is less than the whole"));
        cycles.saturating_add(kept) <= self.left(params, lane)
    }

    /// Cells that the block still holds.
    pub fn cells_left(&self, params: &Params) -> Cells {
        Cells(params.fees.block_cells).saturating_sub(self.cells())
    }
}
