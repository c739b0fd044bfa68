//! What 0x09 does for validators.

use super::api::{
    AddStake, EditValidator, Edited, GetValidator, Leave, Leaving, Left, RegisterValidator, Registered, Staked, Unjail, Unjailed,
    ValidatorState, Withdraw,
};
use super::epoch::free_after;
use super::possession::Registration;
use super::state;
use super::types::{MAX_VALIDATORS, Punishment, Status, Validator};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::{Miss, Step};
use cowboy_types::actors::GOVERNANCE as NUMBER;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Text, error, signing};

/// The sender's own record.
fn own(context: &Context<'_>) -> Step<Validator> {
    Ok(state::validator(context.world, context.sender)?.ok_or(error::VALIDATOR_UNKNOWN)?)
}

/// When the stake of a validator is free that gave notice: later than the notice says, where it signed for longer.
fn free_at(context: &Context<'_>, validator: Address, until: Height) -> Result<Height, Miss> {
    let duty = state::duty(context.world, validator)?;
    Ok(duty.map_or(until, |epoch| until.max(free_after(context.params, epoch.0))))
}

/// Moves what came with the call to where stakes stand.
fn bind(context: &mut Context<'_>) -> Step<()> {
    assert!(context.world.debit(Address::system(NUMBER), context.value)?, "the value came with the call");
    context.world.credit(state::stakes(), context.value)?;
    Ok(())
}

impl Handle for RegisterValidator {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { signing_key, network_key, network_proof, vrf_key, vrf_proof, endpoint } = self;
        let record =
            Validator { signing_key, network_key, vrf_key, endpoint, stake: context.value, status: Status::Waiting, jailings: Count::ZERO };
        let is_taken = context.world.get(&state::network_key(&record.network_key))?.is_some();
        if state::validator(context.world, context.sender)?.is_some() {
            return Err(error::VALIDATOR_STATE.into());
        }
        if is_taken {
            return Err(error::VALIDATOR_KEY_TAKEN.into());
        }
        if signing::address_of_public_key(&record.signing_key).is_none() {
            return Err(error::INVALID_ARGUMENT.into());
        }
        let costs = &context.params.costs;
        context.spend(costs.verify_ed25519.saturating_add(costs.verify_bls), context.params.weights.possession)?;
        let registration =
            Registration { genesis: context.genesis, account: context.sender, network_key: record.network_key, vrf_key: record.vrf_key };
        if !registration.is_proven(&network_proof, &vrf_proof) {
            return Err(error::KEY_POSSESSION.into());
        }
        if context.value.0 < context.params.consensus.validator_stake {
            return Err(error::VALIDATOR_STAKE.into());
        }
        if state::count(context.world)? >= MAX_VALIDATORS {
            return Err(error::VALIDATOR_STATE.into());
        }
        bind(context)?;
        context.charge_kept(&record);
        state::add(context.world, context.sender, &record)?;
        Registered { stake: record.stake, validator: context.sender }.emit(context.world);
        Ok(())
    }
}

impl Handle for AddStake {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        if context.value == Amount::ZERO || matches!(record.status, Status::Leaving { .. }) {
            return Err(error::VALIDATOR_STATE.into());
        }
        bind(context)?;
        record.stake = record.stake.saturating_add(context.value);
        state::set_validator(context.world, context.sender, &record);
        Staked { stake: record.stake, validator: context.sender }.emit(context.world);
        Ok(())
    }
}

impl Handle for EditValidator {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        record.endpoint = self.endpoint;
        context.charge_kept(&record);
        state::set_validator(context.world, context.sender, &record);
        Edited { stake: record.stake, validator: context.sender }.emit(context.world);
        Ok(())
    }
}

impl Handle for Leave {
    fn handle(self, context: &mut Context<'_>) -> Step<Height> {
        let mut record = own(context)?;
        if matches!(record.status, Status::Leaving { .. }) {
            return Err(error::VALIDATOR_STATE.into());
        }
        let at_once = Height(context.height.0.saturating_add(context.params.consensus.unbonding));
        let running = state::total(context.world)?.map_or(0, |total| total.epoch.0);
        let after_duty = at_once.max(free_after(context.params, running));
        let until = match record.status {
            Status::Active => after_duty,
            // Who was jailed in this epoch has its share to the end of it. Leaving ends no jail (decision 582).
            Status::Jailed { until } => after_duty.max(until),
            Status::Waiting | Status::Leaving { .. } => at_once,
        };
        record.status = Status::Leaving { until };
        state::set_validator(context.world, context.sender, &record);
        Leaving { stake: record.stake, validator: context.sender }.emit(context.world);
        Ok(until)
    }
}

impl Handle for Withdraw {
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let record = own(context)?;
        let Status::Leaving { until } = record.status else { return Err(error::VALIDATOR_STATE.into()) };
        if context.height < free_at(context, context.sender, until)? || state::has_duty(context.world, &record.network_key)? {
            return Err(error::STILL_BOUND.into());
        }
        assert!(context.world.debit(state::stakes(), record.stake)?, "every stake is there");
        context.world.credit(context.sender, record.stake)?;
        state::remove(context.world, context.sender, &record)?;
        Left { stake: record.stake, validator: context.sender }.emit(context.world);
        Ok(record.stake)
    }
}

impl Handle for Unjail {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        let Status::Jailed { until } = record.status else { return Err(error::VALIDATOR_STATE.into()) };
        if context.height < until {
            return Err(error::STILL_BOUND.into());
        }
        if record.stake.0 < context.params.consensus.validator_stake {
            return Err(error::VALIDATOR_STAKE.into());
        }
        record.status = Status::Waiting;
        state::set_validator(context.world, context.sender, &record);
        let is_slashed = state::punishment(context.world, context.sender)?.is_some_and(|newest| newest.is_slashed);
        state::set_punishment(context.world, context.sender, &Punishment { ended_at: Some(context.height), is_slashed });
        Unjailed { stake: record.stake, validator: context.sender }.emit(context.world);
        Ok(())
    }
}

impl Handle for GetValidator {
    fn handle(self, context: &mut Context<'_>) -> Step<ValidatorState> {
        let Self { address } = self;
        let record = state::validator(context.world, address)?.ok_or(error::VALIDATOR_UNKNOWN)?;
        let (status, until) = match record.status {
            Status::Waiting => ("waiting", None),
            Status::Active => ("active", None),
            Status::Leaving { until } => ("leaving", Some(free_at(context, address, until)?)),
            Status::Jailed { until } => ("jailed", Some(until)),
        };
        let Validator { signing_key, network_key, vrf_key, endpoint, stake, jailings, .. } = record;
        let status = Text::new(status).expect("names of states are short");
        let is_share_public = state::dealing(context.world)?.is_some_and(|dealing| dealing.revealed.contains(&address));
        Ok(ValidatorState { endpoint, is_share_public, jailings, network_key, signing_key, stake, status, until, vrf_key })
    }
}
