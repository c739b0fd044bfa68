//! How runners leave: by themselves, or for others in a full registry (decisions 582, 597 and 606).

use super::api::{Released, Unstaked, Withdrew};
use super::payouts::{free_at, pay_out};
use super::{attestations, delegations, state};
use crate::actor::Context;
use crate::room::{Standing, place_for};
use crate::schema::Emit as _;
use crate::standstill::{MARKET, Standstill};
use crate::tee::state::attestation_key;
use cowboy_params::Jobs;
use cowboy_state::{Miss, Step, World};
use cowboy_types::job::{Runner, TRANCHES, Tranche};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, List, error};

/// CBY that count for a runner, wherever its stake is asked for: its own and what others delegated to it, up to a multiple of its own (decision 721).
/// A slash takes from all that stands for it.
pub fn effective_stake(rows: &Jobs, runner: &Runner) -> Amount {
    runner.stake.saturating_add(delegations::counted(rows.self_bond, runner.stake, runner.delegated))
}

/// Whether a runner is heard of often enough (002 §4; decision 78). Blocks in which nobody could be heard of do not count (decision 320).
pub fn is_healthy(rows: &Jobs, runner: &Runner, height: Height, standstill: &Standstill) -> bool {
    standstill.ran(runner.heartbeat_at, height) <= rows.heartbeat_timeout
}

/// Begins the time after which stake is free.
pub(super) fn release(context: &mut Context<'_>, address: Address, mut runner: Runner, amount: Amount) -> Step<Released> {
    let release = Height(context.height.0.saturating_add(context.params.consensus.unbonding));
    let mut tranches = std::mem::take(&mut runner.unbonding).into_vec();
    if amount > Amount::ZERO {
        tranches.push(Tranche { amount, release });
    }
    runner.unbonding = List::new(tranches).ok_or(error::UNBONDING)?;
    state::write(context.world, address, &runner);
    Unstaked { runner: address, amount, release }.emit(context.world);
    Ok(Released { release })
}

/// What a runner asked back and may take out now, and what has to wait.
pub(super) fn freed(context: &Context<'_>, still: &Standstill, runner: &Runner) -> (Amount, Vec<Tranche>) {
    let (params, now) = (context.params, context.height);
    let is_free = |tranche: &&Tranche| free_at(params, still, tranche.release).max(runner.held_until) <= now;
    let (free, waiting): (Vec<&Tranche>, Vec<&Tranche>) = runner.unbonding.iter().partition(is_free);
    let amount = free.iter().fold(Amount::ZERO, |sum, tranche| sum.saturating_add(tranche.amount));
    (amount, waiting.into_iter().cloned().collect())
}

/// Removes a runner that has no stake left, with what it attested and proved.
pub(super) fn remove(world: &mut World, address: Address, runner: &Runner) -> Result<(), Miss> {
    delegations::close(world, address, runner)?;
    state::directory().remove(world, &address.0)?;
    let records = [state::profile_key(address), attestations::key(address), attestation_key(address)];
    world.require(&records)?;
    for record in records {
        world.remove(record);
    }
    world.remove(state::runner_key(address));
    Ok(())
}

/// What counts for a runner, and what still answers for what it did.
fn standing(rows: &Jobs, runner: &Runner) -> Amount {
    runner.unbonding.iter().fold(effective_stake(rows, runner), |sum, tranche| sum.saturating_add(tranche.amount))
}

/// Makes room for one more runner with this stake. Where the registry is full, it takes the place of one that left, which is paid what it asked back
/// (decision 582), or of one that has less stake and gives way (decisions 597 and 606); fails where there is none.
pub(super) fn make_room(context: &mut Context<'_>, stake: Amount) -> Step<()> {
    let count = state::directory().count(context.world)?;
    if !context.is_full(count, context.params.jobs.runners, count)? {
        return Ok(());
    }
    let (still, mut others) = (MARKET.read(context.world)?, Vec::new());
    for (address, runner) in state::all(context.world)? {
        let (has_work, stays) = (runner.active_jobs > Count::ZERO, !runner.is_leaving);
        let (amount, waiting) = freed(context, &still, &runner);
        let standing = Standing {
            is_free: !has_work && !stays && runner.stake == Amount::ZERO && waiting.is_empty(),
            is_busy: has_work && stays,
            is_up: stays && is_healthy(&context.params.jobs, &runner, context.height, &still),
            stake: standing(&context.params.jobs, &runner),
            registered_at: runner.registered_at,
        };
        others.push((standing, (address, runner, amount)));
    }
    let (standing, (address, runner, amount)) = place_for(others, stake).ok_or(error::REGISTRY_FULL)?;
    if !standing.is_free {
        return give_way(context, address, runner);
    }
    remove(context.world, address, &runner)?;
    pay_out(context.world, address, amount)?;
    Withdrew { runner: address, amount }.emit(context.world);
    Ok(())
}

/// Has a runner leave and takes its place. It does the jobs that it has under way and is paid for them, as one that left by itself; its stake is free
/// after the unbonding time, and answers for what it did until then.
fn give_way(context: &mut Context<'_>, address: Address, mut runner: Runner) -> Step<()> {
    state::directory().remove(context.world, &address.0)?;
    let mut amount = std::mem::take(&mut runner.stake);
    if runner.is_leaving && amount == Amount::ZERO {
        return Ok(());
    }
    runner.is_leaving = true;
    let mut tranches = std::mem::take(&mut runner.unbonding).into_vec();
    // Where one more has no room, the newest waits with it.
    if tranches.len() >= TRANCHES {
        amount = tranches.pop().map_or(amount, |newest| newest.amount.saturating_add(amount));
    }
    runner.unbonding = List::new(tranches).expect("no more than before");
    release(context, address, runner, amount).map(drop)
}
