//! What 0x09 does for validators.

use super::possession::Registration;
use super::state;
use super::types::{NO_ENDPOINT, Status, Validator};
use crate::actor::{Context, address_argument};
use crate::governance::NUMBER;
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, error, signing};

/// Nanoseconds of weight for verifying both proofs of possession.
const POSSESSION_WEIGHT: u64 = 2_000_000;

fn key_argument<const N: usize>(argument: &Value, name: &str) -> Step<Fixed<N>> {
    let bytes = argument.get(name).and_then(Value::as_bytes).ok_or(error::INVALID_ARGUMENT)?;
    Ok(Fixed(bytes.try_into().map_err(|_| error::INVALID_ARGUMENT)?))
}

/// The sender's own record.
fn own(context: &Context<'_>) -> Step<Validator> {
    Ok(state::validator(context.world, context.sender)?.ok_or(error::VALIDATOR_UNKNOWN)?)
}

/// Moves what came with the call to where stakes stand.
fn bind(context: &mut Context<'_>) -> Step<()> {
    assert!(context.world.debit(Address::system(NUMBER), context.value)?, "the value came with the call");
    context.world.credit(state::stakes(), context.value)?;
    Ok(())
}

fn announce(context: &mut Context<'_>, name: &'static str, stake: Amount) {
    let data = Value::map([("stake", Value::uint(stake.0)), ("validator", Value::Bytes(context.sender.0.to_vec()))]);
    context.announce(NUMBER, name, &data);
}

pub(crate) fn register(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let record = Validator {
        signing_key: key_argument(argument, "signing_key")?,
        network_key: key_argument(argument, "network_key")?,
        vrf_key: key_argument(argument, "vrf_key")?,
        endpoint: match argument.get("endpoint") {
            None | Some(Value::Null) => NO_ENDPOINT,
            Some(_) => key_argument(argument, "endpoint")?,
        },
        stake: context.value,
        status: Status::Waiting,
        jailings: Count::ZERO,
    };
    let (network_proof, vrf_proof) = (key_argument::<64>(argument, "network_proof")?, key_argument::<48>(argument, "vrf_proof")?);
    let is_taken = context.world.get(&state::network_key(&record.network_key))?.is_some();
    if state::validator(context.world, context.sender)?.is_some() || is_taken {
        return Err(error::VALIDATOR_STATE.into());
    }
    if signing::address_of_public_key(&record.signing_key).is_none() {
        return Err(error::INVALID_ARGUMENT.into());
    }
    context.spend(context.params.costs.verify_ed25519.saturating_add(context.params.costs.verify_bls), POSSESSION_WEIGHT)?;
    let registration =
        Registration { genesis: context.genesis, account: context.sender, network_key: record.network_key, vrf_key: record.vrf_key };
    if !registration.is_proven(&network_proof, &vrf_proof) {
        return Err(error::KEY_POSSESSION.into());
    }
    if context.value.0 < context.params.consensus.validator_stake {
        return Err(error::VALIDATOR_STAKE.into());
    }
    bind(context)?;
    state::add(context.world, context.sender, &record)?;
    announce(context, "validator.registered", record.stake);
    Ok(Value::Null)
}

pub(crate) fn add_stake(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let mut record = own(context)?;
    if context.value == Amount::ZERO || matches!(record.status, Status::Leaving { .. }) {
        return Err(error::VALIDATOR_STATE.into());
    }
    bind(context)?;
    record.stake = record.stake.saturating_add(context.value);
    state::set_validator(context.world, context.sender, &record);
    announce(context, "validator.staked", record.stake);
    Ok(Value::Null)
}

pub(crate) fn edit(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let mut record = own(context)?;
    record.endpoint = key_argument(argument, "endpoint")?;
    state::set_validator(context.world, context.sender, &record);
    announce(context, "validator.edited", record.stake);
    Ok(Value::Null)
}

pub(crate) fn leave(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let mut record = own(context)?;
    if matches!(record.status, Status::Leaving { .. }) {
        return Err(error::VALIDATOR_STATE.into());
    }
    let until = Height(context.height.0.saturating_add(context.params.consensus.unbonding));
    record.status = Status::Leaving { until };
    state::set_validator(context.world, context.sender, &record);
    announce(context, "validator.leaving", record.stake);
    Ok(Value::uint(until.0))
}

pub(crate) fn withdraw(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let record = own(context)?;
    let Status::Leaving { until } = record.status else { return Err(error::VALIDATOR_STATE.into()) };
    if context.height < until {
        return Err(error::STILL_BOUND.into());
    }
    assert!(context.world.debit(state::stakes(), record.stake)?, "every stake is there");
    context.world.credit(context.sender, record.stake)?;
    state::remove(context.world, context.sender, &record)?;
    announce(context, "validator.left", record.stake);
    Ok(Value::uint(record.stake.0))
}

pub(crate) fn unjail(context: &mut Context<'_>, _: &Value) -> Step<Value> {
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
    announce(context, "validator.unjailed", record.stake);
    Ok(Value::Null)
}

pub(crate) fn get_validator(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let address = address_argument(argument, "address")?;
    let record = state::validator(context.world, address)?.ok_or(error::VALIDATOR_UNKNOWN)?;
    let (status, until) = match record.status {
        Status::Waiting => ("waiting", Value::Null),
        Status::Active => ("active", Value::Null),
        Status::Leaving { until } => ("leaving", Value::uint(until.0)),
        Status::Jailed { until } => ("jailed", Value::uint(until.0)),
    };
    Ok(Value::map([
        ("endpoint", Value::Bytes(record.endpoint.0.to_vec())),
        ("jailings", Value::uint(record.jailings.0)),
        ("network_key", Value::Bytes(record.network_key.0.to_vec())),
        ("signing_key", Value::Bytes(record.signing_key.0.to_vec())),
        ("stake", Value::uint(record.stake.0)),
        ("status", Value::text(status)),
        ("until", until),
        ("vrf_key", Value::Bytes(record.vrf_key.0.to_vec())),
    ]))
}
