//! What holds between the records of runners, delegations and models.

use super::delegations::{Delegation, Pool};
use super::{NUMBER, state};
use crate::records::{Broken, Records, equal, holds};
use cowboy_types::job::{Model, Runner};
use cowboy_types::units::Amount;
use cowboy_types::{Address, Hash};
use std::collections::BTreeMap;

/// What 0x01 owes to others: stakes, delegations, and the deposits of models.
pub fn owed(records: &Records<'_>) -> Result<u128, Broken> {
    let of_runner = |runner: &Runner| {
        let leaving: u128 = runner.unbonding.iter().map(|tranche| u128::from(tranche.amount.0)).sum();
        u128::from(runner.stake.0) + u128::from(runner.delegated.0) + leaving
    };
    let staked: u128 = records.of::<Runner>(NUMBER, "runner:")?.iter().map(|(_, runner)| of_runner(runner)).sum();
    let of_pool = |pool: &Pool| u128::from(pool.leaving.0) + u128::from(pool.active.0);
    let delegated: u128 = records.of::<Pool>(NUMBER, "delegations:")?.iter().map(|(_, pool)| of_pool(pool)).sum();
    let deposits: u128 = records.of::<Model>(NUMBER, "model:")?.iter().map(|(_, model)| u128::from(model.deposit.0)).sum();
    Ok(staked + delegated + deposits)
}

/// 0x01 has what it owes; runners and models are listed once, runners with a profile; the shares of delegators are those of their pool.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    records.covers("0x01 has stakes, delegations and deposits", Address::system(NUMBER), owed(records)?)?;
    let named = |prefix| records.named(NUMBER, prefix).map(|(name, _)| name.to_vec()).collect::<Vec<_>>();
    let listed = |directory| records.names(directory).iter().map(|name| name.to_vec()).collect::<Vec<_>>();
    let places = listed(state::directory());
    let runners = records.of::<Runner>(NUMBER, "runner:")?;
    // One that gave way to another stands only with what it takes with it.
    let is_gone = |runner: &Runner| runner.is_leaving && runner.stake == Amount::ZERO;
    let expected = runners.iter().filter(|(name, runner)| !is_gone(runner) || places.iter().any(|place| place[..] == **name));
    equal("every runner is listed once", &places, &expected.map(|(name, _)| name.to_vec()).collect())?;
    equal("every runner has a profile", &named("profile:"), &named("runner:"))?;
    let is_runner = |name: &Vec<u8>| runners.iter().any(|(runner, _)| **runner == name[..]);
    let attested = named("attestation:");
    holds("who attested something is a runner", attested.iter().all(is_runner), &attested)?;
    equal("every model is listed once", &listed(state::models()), &named("model:"))?;
    for (name, model) in records.of::<Model>(NUMBER, "model:")? {
        if let [weights, arch, tokenizer, license] = &model.parts[..] {
            let id: Hash = Model::id(weights, arch, tokenizer, license);
            equal("a model stands under its id", &name, &&id.0[..])?;
        }
    }
    let mut shares: BTreeMap<&[u8], (u128, u128)> = BTreeMap::new();
    for (name, delegation) in records.of::<Delegation>(NUMBER, "delegation:")? {
        let (pool, _) = name.split_at(name.len().saturating_sub(20));
        let (active, leaving) = shares.entry(pool).or_default();
        *active += delegation.shares;
        *leaving += delegation.leaving.iter().map(|leaving| leaving.shares).sum::<u128>();
    }
    for (name, pool) in records.of::<Pool>(NUMBER, "delegations:")? {
        let of_delegators = shares.remove(name).unwrap_or_default();
        equal("the shares of delegators are those of their pool", &(pool.shares, pool.leaving_shares), &of_delegators)?;
        holds("a runner's record has what counts, until the runner is gone", pool.is_closed || pool.active == Amount::ZERO, &pool)?;
    }
    holds("every delegation is in a pool", shares.is_empty(), &shares)
}
