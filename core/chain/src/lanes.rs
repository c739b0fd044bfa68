//! Block space by kind of work (003 §6.3, §17.9; decisions 4 to 6).
//!
//! A lane is filled by cycles used. What a higher lane leaves free flows down to the user lane, which
//! never borrows what may still be needed: the timer lane keeps what this height's timers declare.

use cowboy_params::Params;
use cowboy_state::records::Timer;
use cowboy_state::{Miss, World};
use cowboy_system::auction::lane_base_fee;
use cowboy_system::{dispatcher, governance, runners, staking, verifier};
use cowboy_types::block::{LaneUsage, Usage};
use cowboy_types::cbor::{Item, Reader};
use cowboy_types::instruction::{Actor, Instruction, System};
use cowboy_types::units::{Cells, Cycles};
use cowboy_types::{Address, Hash};

use crate::fees::{BaseFees, Used};

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
    /// The lane of a transaction, from its instruction, its sender and the state at the block's start alone (003 §6.3;
    /// decision 85): so it is known before anything runs, and the same to proposer, verifiers and mempool.
    ///
    /// - Calls of 0x09 and the timer instructions of governance are System for validators and members of the council.
    /// - Calls of 0x03 are Runner for members of the job that they name.
    /// - What runners, proxies and relays have to say in time is Runner for those that are registered (decision 570).
    /// - Everything else is User, whether it fails or not.
    pub fn of(world: &World, sender: Address, instruction: &Instruction) -> Result<Self, Miss> {
        let (is_in, lane) = match Reserved::of(instruction) {
            None => return Ok(Self::User),
            Some(Reserved::System) => (governs(world, sender)?, Self::System),
            Some(Reserved::Duty { target, method }) => (cowboy_system::is_duty(world, sender, target, method)?, Self::Runner),
            Some(Reserved::Results { payload }) => (is_member(world, sender, payload)?, Self::Runner),
        };
        Ok(if is_in { lane } else { Self::User })
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

    /// What the lane burns in a block with these base fees. A transaction in it has to offer at least that.
    pub fn base_fees(self, params: &Params, of_block: BaseFees) -> BaseFees {
        BaseFees { cycle: lane_base_fee(of_block.cycle, self.fee_multiplier(params)), cell: of_block.cell }
    }

    /// The lane's base fee of a cycle as a share of the block's, in basis points.
    fn fee_multiplier(self, params: &Params) -> u64 {
        match self {
            Self::System => params.lanes.system_fee_multiplier,
            Self::Runner => params.lanes.runner_fee_multiplier,
            Self::User => params.lanes.user_fee_multiplier,
            Self::Timer => params.lanes.timer_fee_multiplier,
        }
    }
}

/// A kind of instruction that has a lane of its own when the right account sends it.
enum Reserved<'a> {
    /// What governance and the validators do.
    System,
    /// What services may have to say in time.
    Duty { target: Address, method: &'a str },
    /// What members report of jobs, with the argument that names the job.
    Results { payload: &'a [u8] },
}

impl<'a> Reserved<'a> {
    fn of(instruction: &'a Instruction) -> Option<Self> {
        let (target, handler, payload) = match instruction {
            Instruction::System(System::CancelTimer { .. } | System::UpdateTimerConfig { .. } | System::ExtendTimer { .. }) => {
                return Some(Self::System);
            }
            Instruction::Actor(Actor::Execute { target, handler, payload, .. }) => (*target, handler, payload),
            _ => return None,
        };
        if target == Address::system(governance::NUMBER) {
            Some(Self::System)
        } else if target == Address::system(verifier::NUMBER) {
            Some(Self::Results { payload })
        } else {
            Some(Self::Duty { target, method: handler })
        }
    }
}

/// Whether an account is a registered validator's or a member of the council.
fn governs(world: &World, account: Address) -> Result<bool, Miss> {
    let (validator, council) = (staking::state::validator_key(account), governance::state::council_key());
    world.require([&validator, &council])?;
    Ok(staking::state::validator(world, account)?.is_some() || governance::state::council(world)?.members.contains(&account))
}

/// Whether an account is a member of the job that the argument of a call of 0x03 names.
fn is_member(world: &World, account: Address, payload: &[u8]) -> Result<bool, Miss> {
    // Members are registered runners: nobody else's argument is looked at.
    if runners::state::find(world, account)?.is_none() {
        return Ok(false);
    }
    let Some(id) = named_job(payload) else { return Ok(false) };
    let job = dispatcher::state::find(world, &id)?;
    Ok(job.is_some_and(|job| job.members.iter().any(|member| member.runner == account)))
}

/// Items that are read in search of the job that an argument names. What members report has fewer before it.
const SEARCHED_ITEMS: usize = 64;

/// Bytes that are read for it.
const SEARCHED_BYTES: usize = 4_096;

/// The job that the argument of a call of 0x03 names: its field `job_id`. Nobody pays for this search, which every proposer makes for
/// every candidate, so it builds nothing, ends where the field can no longer come, and reads a bounded part of the argument.
fn named_job(payload: &[u8]) -> Option<Hash> {
    let mut reader = Reader::new(payload);
    let Some(Item::Map(_)) = reader.next_item().ok()? else { return None };
    // Items of the value that is skipped.
    let mut left: u64 = 0;
    for _ in 0..SEARCHED_ITEMS {
        let item = reader.next_item().ok()??;
        if reader.position() > SEARCHED_BYTES {
            return None;
        }
        if left == 0 {
            // Keys ascend by length, then by their bytes.
            match item {
                Item::Text(JOB_ID) => return hash_of(reader.next_item().ok()??),
                Item::Text(key) if (key.len(), key) > (JOB_ID.len(), JOB_ID) => return None,
                _ => left = 1,
            }
            continue;
        }
        let inner = match item {
            Item::Array(items) => items,
            Item::Map(pairs) => pairs.saturating_mul(2),
            _ => 0,
        };
        left = (left - 1).saturating_add(inner);
    }
    None
}

/// A hash as an item.
fn hash_of(item: Item<'_>) -> Option<Hash> {
    if let Item::Bytes(bytes) = item { bytes.try_into().ok().map(Hash) } else { None }
}

/// The field that names a job.
const JOB_ID: &str = "job_id";

/// What a fire may use: what the timer asked for, as far as blocks have room for it, whatever governance moved since it was scheduled. One that never fitted
/// would keep those behind it waiting until it expires (decision 780).
pub(crate) fn limits_of(params: &Params, timer: &Timer) -> Used {
    let cells = Cells(params.fees.cells_target.max(params.timers.cells_per_fire));
    Used { cycles: timer.cycles_limit.min(Lane::Timer.budget(params)), cells: timer.cells_limit.min(cells) }
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

    /// The use of each lane.
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

    /// Cells that messages, in the user lane, and callbacks, in that of runners, may still use before the transactions. Each have a quarter of a block's at most,
    /// so that neither waits for the other, and transactions always find half (decision 583).
    pub fn delivery_cells(&self, params: &Params, lane: Lane) -> Cells {
        let used = match lane {
            Lane::System => self.usage.system.cells,
            Lane::Runner => self.usage.runner.cells,
            Lane::User => self.usage.user.cells,
            Lane::Timer => self.usage.timer.cells,
        };
        Cells(params.delivery_cells()).saturating_sub(used)
    }

    /// Cells that the block still holds.
    pub fn cells_left(&self, params: &Params) -> Cells {
        Cells(params.fees.block_cells).saturating_sub(self.cells())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::cbor::Value;

    /// The job is found behind what members report before it, whatever follows; what hides it behind much else has no lane of its own.
    #[test]
    fn the_job_is_found_near_the_front() {
        let id = || ("job_id", Value::Bytes(vec![7; 32]));
        let argument = |fields: Vec<(&'static str, Value)>| Value::dict(fields).encode();
        let usage = || Value::dict([("bytes_in", Value::uint(1)), ("list", Value::Array(vec![Value::Map(Vec::new()); 3]))]);
        let cut = |bytes: Vec<u8>| bytes[..bytes.len() - 1].to_vec();
        let rows = [
            ("alone", argument(vec![id()]), true),
            ("behind a map", argument(vec![("usage", usage()), id(), ("output", Value::Bytes(vec![1; 60_000]))]), true),
            ("what follows is not read", cut(argument(vec![id(), ("outputs", Value::text("x"))])), true),
            ("not named", argument(vec![("outputs", Value::Array(vec![id().1; 1_000]))]), false),
            ("of another kind", argument(vec![("job_id", Value::text("x"))]), false),
            ("of another length", argument(vec![("job_id", Value::Bytes(vec![7; 31]))]), false),
            ("within a value", argument(vec![("a", Value::dict([id()]))]), false),
            ("behind many items", argument(vec![("a", Value::Array(vec![Value::Null; 100])), id()]), false),
            ("behind a long text", argument(vec![("a", Value::text("x".repeat(5_000))), id()]), false),
            ("no map", Value::Array(vec![Value::text("job_id"), id().1]).encode(), false),
            ("no CBOR", b"{}".to_vec(), false),
            ("nothing", Vec::new(), false),
            ("a map without an end", vec![0xBB, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], false),
        ];
        for (case, payload, is_found) in rows {
            assert_eq!(named_job(&payload), is_found.then_some(Hash([7; 32])), "{case}");
        }
    }
}
