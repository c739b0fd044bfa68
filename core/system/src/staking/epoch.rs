//! Rewards, block by block, and the turn of an epoch (003 §8.2, Validator Set, Staking and Rewards; decision 382).

use super::api::{DealingFailed, ShareRevealed};
use super::types::{Dealing, Member, Status, Validator, ValidatorSet};
use super::{inflation, state};
use crate::schema::Emit as _;
use cowboy_params::Params;
use cowboy_state::records::Supply;
use cowboy_state::{Miss, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, List};
use std::collections::BTreeMap;

/// Epochs whose sets stay readable: proposals are voted on with the set of the epoch in which they were made.
const SETS_KEPT: u64 = 4;

/// What the last block of an epoch says of the next one, on a chain whose validators deal shares of a group key (decision 367).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextEpoch {
    /// Its number.
    pub epoch: u64,
    /// Who signs in it.
    pub signers: Vec<Member>,
    /// The network keys of those whose share is public.
    pub revealed: Vec<Fixed<32>>,
    /// Whether shares were dealt to these signers in the epoch that ends. If not, they are those who signed before.
    pub is_dealt: bool,
}

/// The epoch of a height.
pub fn epoch_of(params: &Params, height: Height) -> u64 {
    height.0 / params.consensus.epoch
}

/// When the stake of a validator is free whose last duty was in an epoch: as long as a fault of the epoch's last block can be shown.
pub fn free_after(params: &Params, epoch: u64) -> Height {
    let ended = epoch.saturating_add(1).saturating_mul(params.consensus.epoch);
    Height(ended.saturating_add(params.consensus.unbonding))
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

/// Whether the epoch turns with this block by itself: it is the first of an epoch that no block introduced.
pub fn is_due(world: &World, params: &Params, height: Height) -> Result<bool, Miss> {
    Ok(state::total(world)?.is_some_and(|total| epoch_of(params, height) > total.epoch.0))
}

/// Whether this block fixes who is dealt shares two epochs later. Nobody can change it afterwards, so that all validators name the
/// same players in the last block of the epoch.
pub fn is_middle(params: &Params, height: Height) -> bool {
    state::players_fixed_at(params.consensus.epoch, epoch_of(params, height).saturating_add(2)) == Some(height.0)
}

/// Fixes who is dealt shares two epochs later, and forgets whom nobody asks for any more. Who stakes less than the minimum of the moment is
/// left out, and so is whose share of the running epoch is public: it could not be reached when it was dealt to. Few do not sign already,
/// so that newcomers that are silent cannot make a dealing fail (decision 383). Those of them come first that are dealt shares in the epoch
/// before already: else one that has just begun to sign would make room for another (decision 447).
pub fn fix_players(world: &mut World, params: &Params, height: Height) -> Result<(), Miss> {
    let epoch = epoch_of(params, height).saturating_add(2);
    let dealing = state::dealing(world)?;
    let is_left_out = |address: &Address| dealing.as_ref().is_some_and(|dealing| dealing.leaves_out(address));
    let running = state::total(world)?.expect("genesis fixed the first set").epoch.0;
    let signers = state::set(world, running)?.expect("the newest set is kept").members;
    let share = u128::from(params.consensus.newcomers) * u128::try_from(signers.len()).expect("validators are few") / 10_000;
    let most = usize::try_from(share.max(1)).unwrap_or(usize::MAX);
    let before = state::players(world, epoch.saturating_sub(1))?.map_or_else(List::default, |players| players.members);
    let is_among = |members: &[Member], key: &Fixed<32>| members.binary_search_by_key(&key.0, |member| member.network_key.0).is_ok();
    let mut candidates = state::candidates(&state::all(world)?);
    candidates.retain(|member| member.stake.0 >= params.consensus.validator_stake && !is_left_out(&member.address));
    let mut newcomers: Vec<Fixed<32>> = candidates.iter().map(|member| member.network_key).collect();
    newcomers.retain(|key| !is_among(&signers, key));
    // The order by stake stays among those that were chosen before, and among the others.
    newcomers.sort_by_key(|key| !is_among(&before, key));
    newcomers.truncate(most);
    candidates.retain(|member| is_among(&signers, &member.network_key) || newcomers.contains(&member.network_key));
    state::fix_players(world, epoch, state::cut(candidates, params.consensus.max_validators));
    if let Some(old) = epoch.checked_sub(SETS_KEPT).map(state::players_key) {
        world.require([&old])?;
        if world.read::<ValidatorSet>(&old)?.is_some() {
            world.remove(old);
        }
    }
    Ok(())
}

/// Begins an epoch where no shares are dealt: everybody who stakes enough is in its set at once. Epochs that a dev chain jumped over
/// begin together.
pub fn turn(world: &mut World, params: &Params, height: Height) -> Result<(), Miss> {
    let validators = state::all(world)?;
    let signers = state::cut(state::candidates(&validators), params.consensus.max_validators);
    begin(world, epoch_of(params, height), &signers, validators)
}

/// Begins the epoch that the last block of another introduces.
pub fn enter(world: &mut World, next: &NextEpoch) -> Result<(), Miss> {
    let validators = state::all(world)?;
    begin(world, next.epoch, &next.signers, validators)?;
    let mut refused = Vec::new();
    if !next.is_dealt {
        let ended = next.epoch.saturating_sub(1);
        DealingFailed { epoch: Count(ended) }.emit(world);
        let players = state::players(world, ended)?.map_or_else(Vec::new, |players| players.members.into_vec());
        let is_signer = |player: &Member| next.signers.iter().any(|signer| signer.network_key == player.network_key);
        refused.extend(players.iter().filter(|player| !is_signer(player)).map(|player| player.address));
        refused.sort();
    }
    let is_revealed = |member: &&Member| next.revealed.contains(&member.network_key);
    let mut revealed: Vec<Address> = next.signers.iter().filter(is_revealed).map(|member| member.address).collect();
    revealed.sort();
    for validator in &revealed {
        ShareRevealed { epoch: Count(next.epoch), validator: *validator }.emit(world);
    }
    let bounded = |addresses| List::new(addresses).expect("no more than can sign");
    let (revealed, refused) = (bounded(revealed), bounded(refused));
    world.write(state::dealing_key(), &Dealing { epoch: Count(next.epoch), is_dealt: next.is_dealt, revealed, refused });
    Ok(())
}

/// Pays the rewards that gathered to who signed until now, and fixes who signs in an epoch: these, but for those that are being punished or have
/// withdrawn, who can do so and are not paid for it.
fn begin(world: &mut World, epoch: u64, signers: &[Member], validators: Vec<(Address, Validator)>) -> Result<(), Miss> {
    let last = state::total(world)?.expect("genesis fixed the first set").epoch.0;
    pay(world, &state::set(world, last)?.expect("the newest set is kept"))?;
    let old: Vec<_> = (last.saturating_sub(SETS_KEPT)..=last).map(state::set_key).collect();
    let keys: BTreeMap<Fixed<32>, &Member> = signers.iter().map(|member| (member.network_key, member)).collect();
    let is_seated_leaving =
        |validator: &Validator| matches!(validator.status, Status::Leaving { .. }) && keys.contains_key(&validator.network_key);
    let leaving =
        validators.iter().filter(|(_, validator)| is_seated_leaving(validator)).map(|(address, _)| state::punishment_key(*address));
    world.require(&old.iter().cloned().chain(leaving).collect::<Vec<_>>())?;
    let mut members = Vec::with_capacity(signers.len());
    for (address, mut validator) in validators {
        let signs = keys.get(&validator.network_key).filter(|member| member.address == address);
        let status = match (&validator.status, signs) {
            (Status::Waiting, Some(_)) => Some(Status::Active),
            (Status::Active, None) => Some(Status::Waiting),
            _ => None,
        };
        if let Some(member) = signs
            && !state::is_punished(world, address, &validator)?
        {
            members.push((*member).clone());
        }
        if signs.is_some() && matches!(validator.status, Status::Leaving { .. }) {
            world.write(state::duty_key(address), &Count(epoch));
        }
        if let Some(status) = status {
            validator.status = status;
            state::set_validator(world, address, &validator);
        }
    }
    members.sort_by_key(|member| member.network_key.0);
    state::fix(world, epoch, members);
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
