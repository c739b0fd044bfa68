//! What 0x01 does with runners.

use super::api::{
    AddStake, BelowStake, Declared, GetRunner, Heartbeat, Leave, Rates, Register, Registered, Released, RunnerState, Staked, Unstake,
    Update, Updated, Withdraw, Withdrawn, Withdrew,
};
use super::attestations::require_short;
pub use super::leaving::{effective_stake, is_healthy};
use super::leaving::{freed, make_room, release, remove};
use super::payouts::pay_out;
use super::{NUMBER, delegations, reputation, state};
use crate::actor::{Context, Handle};
use crate::market::{jobs, payment};
use crate::schema::Emit;
use crate::standstill::{MARKET, Standstill};
use cowboy_params::{Jobs, Params};
use cowboy_state::{Miss, Step, World};
use cowboy_types::job::{Capacity, JobKind, Profile, RateCard, Runner};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Abort, Address, List, Text, error};

const OWNER: Address = Address::system(NUMBER);

/// The stake that a runner's largest job asks for: the floor, or a multiple of the job (003 §5.2).
pub fn required_stake(rows: &Jobs, max_job_value: Amount) -> Amount {
    let by_value = u128::from(max_job_value.0) * u128::from(rows.runner_stake_ratio) / 10_000;
    Amount(u64::try_from(by_value).unwrap_or(u64::MAX).max(rows.runner_stake_floor))
}

impl From<Rates> for RateCard {
    fn from(rates: Rates) -> Self {
        let Rates { llm_input_token, llm_output_token, http_request_base, compute_second, memory_mb, min_job_value, max_job_value } = rates;
        Self { llm_input_token, llm_output_token, http_request_base, compute_second, memory_mb, min_job_value, max_job_value }
    }
}

/// What a runner says of itself, as it is kept.
struct Declaration {
    kinds: u8,
    tee: u8,
    result_key: Fixed<32>,
    rates: RateCard,
    max_concurrent: Count,
    profile: Profile,
}

impl TryFrom<Declared> for Declaration {
    type Error = Abort;

    /// Refuses who does no kind of work, or none at a time.
    fn try_from(declared: Declared) -> Result<Self, Abort> {
        let Declared { result_key, kinds, rates, max_concurrent, tee, endpoint, regions, domains, models, provides, containers } = declared;
        let capacity = containers.map(Capacity::from);
        let does_containers = kinds.contains(&JobKind::Container);
        if kinds.is_empty() || max_concurrent == Count::ZERO || does_containers != capacity.is_some() {
            return Err(error::INVALID_ARGUMENT);
        }
        if capacity.as_ref().is_some_and(|capacity| capacity.platforms == 0) {
            return Err(error::INVALID_ARGUMENT);
        }
        Ok(Self {
            kinds: kinds.iter().fold(0, |bits, kind| bits | kind.bit()),
            tee: tee.iter().fold(0, |bits, environment| bits | environment.bit()),
            result_key,
            rates: rates.into(),
            max_concurrent,
            profile: Profile { endpoint, regions, domains, models, provides, containers: capacity },
        })
    }
}

impl Handle for Register {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let declared = Declaration::try_from(self.0)?;
        require_short(context, &declared.profile.provides)?;
        let (sender, stake, height, rows) = (context.sender, context.value, context.height, &context.params.jobs);
        if state::find(context.world, sender)?.is_some() {
            return Err(error::RUNNER_EXISTS.into());
        }
        if stake < required_stake(rows, declared.rates.max_job_value) {
            return Err(error::STAKE_TOO_LOW.into());
        }
        make_room(context, stake)?;
        let mut runner = Runner {
            stake,
            delegated: Amount::ZERO,
            unbonding: List::default(),
            kinds: declared.kinds,
            tee: declared.tee,
            result_key: declared.result_key,
            former_rates: declared.rates.clone(),
            rates: declared.rates,
            rates_since: height,
            max_concurrent: declared.max_concurrent,
            active_jobs: Count::ZERO,
            registered_at: height,
            heartbeat_at: height,
            reputation: Count::ZERO,
            score: Count::ZERO,
            reputation_at: height,
            held_until: Height::ZERO,
            holds: Count::ZERO,
            probation_until: Height::ZERO,
            probations: Count::ZERO,
            jobs_done: Count::ZERO,
            jobs_failed: Count::ZERO,
            crashes: Count::ZERO,
            crashes_since: height,
            is_flagged: false,
            is_leaving: false,
        };
        reputation::set(&mut runner, height, rows.reputation_start);
        state::directory().insert(context.world, &sender.0)?;
        context.charge_kept(&declared.profile);
        context.charge_kept(&runner);
        context.world.write(state::profile_key(sender), &declared.profile);
        state::write(context.world, sender, &runner);
        Registered { runner: sender, stake }.emit(context.world);
        Ok(())
    }
}

/// The longest time from a job's submission to its last draw: it waits for its seed, and then each time it is drawn, once for a further committee, it may
/// wait for runners, commitments and revelations.
fn longest_wait(rows: &Jobs) -> u64 {
    let of_draw = rows.timeout_max.saturating_mul(2).saturating_add(rows.reveal_window);
    of_draw.saturating_mul(rows.retries.saturating_add(2)).saturating_add(rows.timeout_max)
}

impl Handle for Update {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let declared = Declaration::try_from(self.0)?;
        require_short(context, &declared.profile.provides)?;
        let mut runner = state::read(context.world, context.sender)?;
        // Stake is asked for only where it takes larger jobs: one that lost stake stays reachable. The draw looks at the stake for each job (decision 713).
        let (rows, largest) = (&context.params.jobs, declared.rates.max_job_value);
        if largest > runner.rates.max_job_value && effective_stake(rows, &runner) < required_stake(rows, largest) {
            return Err(error::STAKE_TOO_LOW.into());
        }
        // A result under way is signed with the key that was there when it was asked for.
        if runner.active_jobs > Count::ZERO && runner.result_key != declared.result_key {
            return Err(error::RUNNER_BUSY.into());
        }
        let was_full = runner.active_jobs >= runner.max_concurrent;
        runner.kinds = declared.kinds;
        runner.tee = declared.tee;
        runner.result_key = declared.result_key;
        runner.set_rates(declared.rates, context.height, longest_wait(&context.params.jobs));
        runner.max_concurrent = declared.max_concurrent;
        if was_full && runner.active_jobs < runner.max_concurrent {
            jobs::note_free_slot(context.world)?;
        }
        let sender = context.sender;
        context.charge_kept(&declared.profile);
        context.charge_kept(&runner);
        context.world.write(state::profile_key(sender), &declared.profile);
        state::write(context.world, sender, &runner);
        Updated { runner: sender }.emit(context.world);
        Ok(())
    }
}

impl Handle for AddStake {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let (sender, amount, rows) = (context.sender, context.value, &context.params.jobs);
        let mut runner = state::read(context.world, sender)?;
        runner.stake = runner.stake.saturating_add(amount);
        if runner.is_leaving {
            // As for registering: else its record would stay with nothing behind it, and delegators would bear every slash.
            if effective_stake(rows, &runner) < required_stake(rows, runner.rates.max_job_value) {
                return Err(error::STAKE_TOO_LOW.into());
            }
            runner.is_leaving = false;
            if !state::is_listed(context.world, sender)? {
                make_room(context, effective_stake(rows, &runner))?;
                state::directory().insert(context.world, &sender.0)?;
            }
        }
        state::write(context.world, sender, &runner);
        Staked { runner: sender, amount }.emit(context.world);
        Ok(())
    }
}

impl Handle for Unstake {
    fn handle(self, context: &mut Context<'_>) -> Step<Released> {
        let Self { amount } = self;
        let rows = &context.params.jobs;
        let mut runner = state::read(context.world, context.sender)?;
        runner.stake = runner.stake.checked_sub(amount).ok_or(error::STAKE_TOO_LOW)?;
        // What counts is asked for, not the part of all that others delegated: who delegates the most would keep the runner's stake in (decision 721).
        let required = required_stake(rows, runner.rates.max_job_value);
        if effective_stake(rows, &runner) < required && !runner.is_leaving {
            return Err(error::STAKE_TOO_LOW.into());
        }
        release(context, context.sender, runner, amount)
    }
}

impl Handle for Leave {
    fn handle(self, context: &mut Context<'_>) -> Step<Released> {
        let mut runner = state::read(context.world, context.sender)?;
        let amount = std::mem::take(&mut runner.stake);
        runner.is_leaving = true;
        release(context, context.sender, runner, amount)
    }
}

impl Handle for Withdraw {
    fn handle(self, context: &mut Context<'_>) -> Step<Withdrawn> {
        let sender = context.sender;
        let mut runner = state::read(context.world, sender)?;
        let (amount, waiting) = freed(context, &MARKET.read(context.world)?, &runner);
        let is_gone = runner.is_leaving && waiting.is_empty() && runner.stake == Amount::ZERO;
        if amount == Amount::ZERO && !is_gone {
            return Err(error::UNBONDING.into());
        }
        if is_gone && runner.active_jobs > Count::ZERO {
            return Err(error::RUNNER_BUSY.into());
        }
        runner.unbonding = List::new(waiting).expect("fewer tranches fit");
        if is_gone {
            remove(context.world, sender, &runner)?;
        } else {
            state::write(context.world, sender, &runner);
        }
        pay_out(context.world, sender, amount)?;
        Withdrew { runner: sender, amount }.emit(context.world);
        Ok(Withdrawn { amount })
    }
}

impl Handle for Heartbeat {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let (sender, height, rows) = (context.sender, context.height, &context.params.jobs);
        let mut runner = state::read(context.world, sender)?;
        runner.heartbeat_at = height;
        let is_low = reputation::points(rows, &runner, height) < rows.reputation_min;
        if is_low && runner.probation_until <= height {
            reputation::set(&mut runner, height, rows.reputation_min);
        }
        state::write(context.world, sender, &runner);
        Ok(())
    }
}

/// What [`health`] says of a runner that may be drawn.
pub const HEALTHY: &str = "healthy";

/// Why no job is drawn to a runner, in a word: `leaving`, `probation`, `low` (its reputation), `silent` (no heartbeat) or `stake` (below
/// what the smallest job asks for); else [`HEALTHY`].
pub fn health(rows: &Jobs, runner: &Runner, height: Height, standstill: &Standstill) -> &'static str {
    match () {
        () if runner.is_leaving => "leaving",
        () if runner.probation_until > height => "probation",
        () if reputation::points(rows, runner, height) < rows.reputation_min => "low",
        () if !is_healthy(rows, runner, height, standstill) => "silent",
        () if effective_stake(rows, runner) < required_stake(rows, Amount::ZERO) => "stake",
        () => HEALTHY,
    }
}

impl Handle for GetRunner {
    fn handle(self, context: &mut Context<'_>) -> Step<RunnerState> {
        let runner = state::read(context.world, self.runner)?;
        let rows = &context.params.jobs;
        let health = health(rows, &runner, context.height, &MARKET.read(context.world)?);
        Ok(RunnerState {
            stake: runner.stake,
            delegated: runner.delegated,
            reputation: reputation::points(rows, &runner, context.height),
            active_jobs: runner.active_jobs,
            max_concurrent: runner.max_concurrent,
            last_heartbeat: runner.heartbeat_at,
            is_selectable: health == HEALTHY,
            health: Text::new(health).expect("a word"),
            is_flagged: runner.is_flagged,
        })
    }
}

/// Puts a runner whose reputation fell too low on probation, twice as long each time.
fn put_on_probation(rows: &Jobs, runner: &mut Runner, height: Height) {
    if reputation::points(rows, runner, height) < rows.reputation_min && runner.probation_until <= height {
        let doublings = runner.probations.0.min(rows.probation_doublings);
        runner.probation_until = Height(height.0.saturating_add(rows.probation << doublings));
        runner.probations = Count(runner.probations.0 + 1);
    }
}

/// Books a failure of a runner: it loses points, and what is left moves to nothing.
pub fn fail(rows: &Jobs, runner: &mut Runner, height: Height, points: u64) {
    reputation::lose(rows, runner, height, points);
    runner.jobs_failed = Count(runner.jobs_failed.0.saturating_add(1));
    put_on_probation(rows, runner, height);
}

/// What was slashed, and where it went (003 §8.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slashed {
    /// All of it.
    pub amount: Amount,
    /// What of it paid for the proof.
    pub cost: Amount,
    /// The share of whoever proved it, or asked for the job.
    pub to_submitter: Amount,
}

impl Slashed {
    const NOTHING: Self = Self { amount: Amount::ZERO, cost: Amount::ZERO, to_submitter: Amount::ZERO };
}

/// Who is given a part of slashed stake: whoever proved the fault, or asked for the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entitled {
    /// Who it is.
    pub address: Address,
    /// What its proof cost and nobody else pays back: it comes out of the runner's own stake before the rest is distributed (decision 592).
    pub cost: Amount,
}

impl From<Address> for Entitled {
    fn from(address: Address) -> Self {
        Self { address, cost: Amount::ZERO }
    }
}

/// Takes a share of everything that stands for a runner, what leaves included, and its whole reputation.
/// Nothing happens where the runner is gone. `share` is in hundredths of a percent.
pub fn slash(
    world: &mut World,
    params: &Params,
    height: Height,
    address: Address,
    share: u64,
    entitled: Entitled,
) -> Result<Slashed, Miss> {
    let Some(mut runner) = state::find(world, address)? else { return Ok(Slashed::NOTHING) };
    reputation::set(&mut runner, height, 0);
    runner.jobs_failed = Count(runner.jobs_failed.0.saturating_add(1));
    put_on_probation(&params.jobs, &mut runner, height);
    take_share(world, params, address, runner, share, entitled)
}

/// Takes at least `amount` of what stands for a runner, rounded up to whole hundredths of a percent of it, but at most `max_share` of it. What it asked back
/// stands for it, too, and is counted as what it is taken from. Its reputation stays. Nothing happens where the runner is gone.
pub fn fine(
    world: &mut World,
    params: &Params,
    address: Address,
    amount: Amount,
    max_share: u64,
    submitter: Address,
) -> Result<Slashed, Miss> {
    let Some(runner) = state::find(world, address)? else { return Ok(Slashed::NOTHING) };
    let staked = runner.stake.saturating_add(runner.delegated);
    let stands = runner.unbonding.iter().fold(staked, |sum, tranche| sum.saturating_add(tranche.amount));
    let stands = u128::from(stands.0).max(1);
    let share = (u128::from(amount.0) * 10_000).div_ceil(stands).min(u128::from(max_share));
    take_share(world, params, address, runner, u64::try_from(share).expect("at most another share"), submitter.into())
}

/// Takes a share of everything that stands for a runner out of its record and out of the registry, and gives it where slashes go.
fn take_share(
    world: &mut World,
    params: &Params,
    address: Address,
    mut runner: Runner,
    share: u64,
    entitled: Entitled,
) -> Result<Slashed, Miss> {
    let part = |amount: Amount, share: u64| {
        Amount(u64::try_from(u128::from(amount.0) * u128::from(share.min(10_000)) / 10_000).expect("a share is less than the whole"))
    };
    let take = |amount: &mut Amount| {
        let taken = part(*amount, share);
        *amount = amount.saturating_sub(taken);
        taken
    };
    let rows = &params.jobs;
    let before = effective_stake(rows, &runner);
    let mut own = take(&mut runner.stake);
    let mut tranches = std::mem::take(&mut runner.unbonding).into_vec();
    for tranche in &mut tranches {
        own = own.saturating_add(take(&mut tranche.amount));
    }
    runner.unbonding = List::new(tranches).expect("as many tranches fit");
    let delegated = take(&mut runner.delegated).saturating_add(delegations::slash_leaving(world, address, &runner, take)?);
    let amount = own.saturating_add(delegated);
    state::write(world, address, &runner);
    let required = required_stake(rows, Amount::ZERO);
    let stake = effective_stake(rows, &runner);
    if before >= required && stake < required {
        BelowStake { runner: address, stake, required }.emit(world);
    }
    let was_there = world.debit(OWNER, amount)?;
    assert!(was_there, "the registry holds all stakes");
    // What others stood for it with pays nobody: a claimant, or the job's submitter, may be one with the runner (decision 592).
    let cost = entitled.cost.min(own);
    let rest = amount.saturating_sub(cost);
    let to_submitter = payment::of_slash(rows, own.saturating_sub(cost), rows.slash_submitter);
    let to_treasury = payment::of_slash(rows, rest, rows.slash_treasury);
    world.credit(entitled.address, cost.saturating_add(to_submitter))?;
    world.credit(Address::system(crate::treasury::NUMBER), to_treasury)?;
    world.burn(rest.saturating_sub(to_submitter).saturating_sub(to_treasury))?;
    Ok(Slashed { amount, cost, to_submitter })
}
