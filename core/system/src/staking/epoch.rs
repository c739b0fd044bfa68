//! Rewards, block by block, and the turn of an epoch (003 §8.2, Validator Set, Staking and Rewards).

use super::types::{Status, ValidatorSet};
use super::{inflation, state};
use cowboy_params::Params;
use cowboy_state::records::Supply;
use cowboy_state::{Miss, World};
use cowboy_types::units::{Amount, Height};

/// Sets that stay readable: the newest, the one that deals, and the one that signs, with one to spare.
const SETS_KEPT: u64 = 4;

/// The epoch of a height.
pub fn epoch_of(params: &Params, height: Height) -> u64 {
    height.0 / params.consensus.epoch
}

/// What a block makes for its validators: a block's part of the year's inflation of all CBY there are, rounded down.
/// Nothing where nobody stakes.
pub fn reward(world: &mut World, params: &Params, height: Height, supply: &Supply) -> Result<Amount, Miss> {
    if state::total(world)?.is_none_or(|total| total.stake == Amount::ZERO) {
        return Ok(Amount::ZERO);
    }
    let rate = inflation::move_rate(world, params, height, supply)?;
    let yearly = u128::from(inflation::all(supply).0) * u128::from(rate) / 10_000;
    let block = yearly / u128::from(params.economics.year);
    Ok(Amount(u64::try_from(block).expect("a part of all CBY fits")))
}

/// Whether the epoch turns with this block: it is the first of an epoch for which no set was fixed.
pub fn is_due(world: &World, params: &Params, height: Height) -> Result<bool, Miss> {
    Ok(state::total(world)?.is_some_and(|total| epoch_of(params, height) > total.epoch.0))
}

/// Whether this block fixes who is dealt shares two epochs later. Nobody can change it afterwards, so that all validators name the
/// same players in the last block of the epoch.
pub fn is_middle(params: &Params, height: Height) -> bool {
    state::players_fixed_at(params.consensus.epoch, epoch_of(params, height).saturating_add(2)) == Some(height.0)
}

/// Fixes who is dealt shares two epochs later, and forgets whom nobody asks for any more.
pub fn fix_players(world: &mut World, params: &Params, height: Height) -> Result<(), Miss> {
    let epoch = epoch_of(params, height).saturating_add(2);
    let validators = state::all(world)?;
    state::fix_players(world, epoch, &validators);
    if let Some(old) = epoch.checked_sub(SETS_KEPT).map(state::players_key) {
        world.require([&old])?;
        if world.read::<ValidatorSet>(&old)?.is_some() {
            world.remove(old);
        }
    }
    Ok(())
}

/// Pays the rewards that gathered to the members of the newest set, and fixes the next one. Epochs that a dev chain
/// jumped over turn together.
pub fn turn(world: &mut World, params: &Params, height: Height) -> Result<(), Miss> {
    let epoch = epoch_of(params, height);
    let last = state::total(world)?.expect("genesis fixed the first set").epoch.0;
    let set = state::set(world, last)?.expect("the newest set is kept");
    pay(world, &set)?;
    let mut validators = state::all(world)?;
    let old: Vec<_> = (last.saturating_sub(SETS_KEPT)..=last).map(state::set_key).collect();
    world.require(&old)?;
    for (address, validator) in &mut validators {
        if validator.status == Status::Waiting {
            validator.status = Status::Active;
            state::set_validator(world, *address, validator);
        }
    }
    state::fix(world, epoch, &validators);
    for key in old {
        let is_old = world.read::<ValidatorSet>(&key)?.is_some_and(|set| set.epoch.0.saturating_add(SETS_KEPT) <= epoch);
        if is_old {
            world.remove(key);
        }
    }
    Ok(())
}

/// Pays what gathered, in proportion to stake; what does not divide waits for the next epoch.
fn pay(world: &mut World, set: &ValidatorSet) -> Result<(), Miss> {
    let stake: u128 = set.members.iter().map(|member| u128::from(member.stake.0)).sum();
    let accounts: Vec<_> = set.members.iter().map(|member| cowboy_state::Key::account(member.address)).collect();
    world.require(&accounts)?;
    let gathered = world.account(state::rewards())?.balance;
    if stake == 0 {
        return Ok(());
    }
    for member in set.members.iter() {
        let part = u128::from(gathered.0) * u128::from(member.stake.0) / stake;
        let part = Amount(u64::try_from(part).expect("a part is at most the whole"));
        assert!(world.debit(state::rewards(), part)?, "parts are at most the whole");
        world.credit(member.address, part)?;
    }
    Ok(())
}
