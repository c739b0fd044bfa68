//! What 0x0F does when asked.

use super::envelope::{Envelope, request_id};
use super::ingress::{COMMANDS, Ingress};
use super::types::{ENDPOINT_BYTES, Gateway, Request};
use super::{HANDLER, NUMBER, repayment, state};
use crate::actor::{Context, Forward, address_argument, amount_argument, hash_argument, number_argument};
use crate::entitlements::manifests;
use crate::staking::epoch::epoch_of;
use core::net::Ipv6Addr;
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::domain;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Text, error};

/// Requests that one dispatch forgets at most: more than it adds, so that they never pile up.
const FORGOTTEN: usize = 3;

/// Where a gateway says it is reached.
fn endpoint_arguments(argument: &Value) -> Step<(Text<ENDPOINT_BYTES>, u16)> {
    let endpoint = argument.get("endpoint").and_then(Value::as_text).ok_or(error::INVALID_ARGUMENT)?;
    let port = number_argument(argument, "http_port")?;
    let is_ipv6 = endpoint.parse::<Ipv6Addr>().is_ok_and(|address| address.to_string() == endpoint);
    let port = u16::try_from(port).ok().filter(|port| *port > 0).ok_or(error::GATEWAY_ENDPOINT)?;
    if !is_ipv6 && !domain::is_canonical_host(endpoint) {
        return Err(error::GATEWAY_ENDPOINT.into());
    }
    Ok((Text::new(endpoint).ok_or(error::GATEWAY_ENDPOINT)?, port))
}

/// The sender's own record.
fn own(context: &Context<'_>) -> Step<Gateway> {
    Ok(state::gateway(context.world, context.sender)?.ok_or(error::GATEWAY_UNKNOWN)?)
}

/// Moves what came with the call to where stakes stand.
fn bind(context: &mut Context<'_>) -> Step<()> {
    assert!(context.world.debit(Address::system(NUMBER), context.value)?, "the value came with the call");
    context.world.credit(state::stakes(), context.value)?;
    Ok(())
}

pub(super) fn announce(context: &mut Context<'_>, name: &'static str, gateway: Address, amount: Amount) {
    let data = Value::map([("amount", Value::uint(amount.0)), ("gateway", Value::Bytes(gateway.0.to_vec()))]);
    context.announce(NUMBER, name, &data);
}

fn shown(context: &Context<'_>, address: Address, record: &Gateway) -> Value {
    let (params, height) = (context.params, context.height);
    Value::map([
        ("address", Value::Bytes(address.0.to_vec())),
        ("endpoint", Value::text(record.endpoint.to_string())),
        ("health", Value::uint(record.health(params, height))),
        ("http_port", Value::uint(u64::from(record.http_port))),
        ("is_active", Value::Bool(record.is_active(params, height))),
        ("last_heartbeat", Value::uint(record.last_heartbeat.0)),
        ("leaving", record.leaving.map_or(Value::Null, |until| Value::uint(until.0))),
        ("registered_at", Value::uint(record.registered_at.0)),
        ("stake_amount", Value::uint(record.stake.0)),
    ])
}

pub(super) fn register(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (endpoint, http_port) = endpoint_arguments(argument)?;
    if state::gateway(context.world, context.sender)?.is_some() {
        return Err(error::GATEWAY_EXISTS.into());
    }
    if context.value.0 < context.params.gateways.stake_min {
        return Err(error::GATEWAY_STAKE.into());
    }
    bind(context)?;
    let record = Gateway {
        endpoint,
        http_port,
        stake: context.value,
        last_heartbeat: context.height,
        registered_at: context.height,
        counted_to: context.height,
        weight: Count::ZERO,
        leaving: None,
    };
    state::active().insert(context.world, &context.sender.0)?;
    if state::epoch(context.world)?.is_none() {
        context.world.write(state::epoch_key(), &Count(epoch_of(context.params, context.height)));
    }
    state::set_gateway(context.world, context.sender, &record);
    announce(context, "gateway.registered", context.sender, record.stake);
    Ok(shown(context, context.sender, &record))
}

pub(super) fn heartbeat(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let mut record = own(context)?;
    if record.leaving.is_some() {
        return Err(error::GATEWAY_STATE.into());
    }
    record.count_uptime(context.params, context.height);
    record.last_heartbeat = context.height;
    state::active().insert(context.world, &context.sender.0)?;
    state::set_gateway(context.world, context.sender, &record);
    Ok(Value::Null)
}

pub(super) fn set_endpoint(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let mut record = own(context)?;
    (record.endpoint, record.http_port) = endpoint_arguments(argument)?;
    state::set_gateway(context.world, context.sender, &record);
    announce(context, "gateway.moved", context.sender, record.stake);
    Ok(Value::Null)
}

pub(super) fn add_stake(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let mut record = own(context)?;
    if context.value == Amount::ZERO || record.leaving.is_some() {
        return Err(error::GATEWAY_STATE.into());
    }
    bind(context)?;
    record.count_uptime(context.params, context.height);
    record.stake = record.stake.saturating_add(context.value);
    state::set_gateway(context.world, context.sender, &record);
    announce(context, "gateway.staked", context.sender, record.stake);
    Ok(Value::Null)
}

/// Stake above the least pays fees; the least stays (decision 71).
pub(super) fn draw(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let amount = amount_argument(argument, "amount")?;
    let mut record = own(context)?;
    let left = record.stake.0.checked_sub(amount.0).filter(|left| *left >= context.params.gateways.stake_min);
    record.count_uptime(context.params, context.height);
    record.stake = Amount(left.ok_or(error::GATEWAY_STAKE)?);
    assert!(context.world.debit(state::stakes(), amount)?, "every stake is there");
    context.world.credit(context.sender, amount)?;
    state::set_gateway(context.world, context.sender, &record);
    announce(context, "gateway.drew", context.sender, amount);
    Ok(Value::Null)
}

pub(super) fn unstake(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let mut record = own(context)?;
    let (params, now) = (context.params, context.height);
    let until = match record.leaving {
        Some(until) => until,
        // Inactive since its health ran out, or else from now on (004 §9.2).
        None => {
            let since = record.last_heartbeat.0.saturating_add(params.gateways.health).min(now.0);
            record.count_uptime(params, now);
            Height(since.saturating_add(params.gateways.unstake_delay))
        }
    };
    if now < until && record.leaving.is_some() {
        return Err(error::STILL_BOUND.into());
    }
    if now < until {
        record.leaving = Some(until);
        state::set_gateway(context.world, context.sender, &record);
        announce(context, "gateway.leaving", context.sender, record.stake);
        return Ok(Value::map([("released", Value::uint(0)), ("until", Value::uint(until.0))]));
    }
    assert!(context.world.debit(state::stakes(), record.stake)?, "every stake is there");
    context.world.credit(context.sender, record.stake)?;
    state::active().remove(context.world, &context.sender.0)?;
    context.world.remove(state::gateway_key(context.sender));
    announce(context, "gateway.left", context.sender, record.stake);
    Ok(Value::map([("released", Value::uint(record.stake.0)), ("until", Value::uint(until.0))]))
}

/// Checks that an active gateway brings a request that its target takes, and hands it on in this transaction (004 §8.4).
pub(super) fn dispatch(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let record = state::gateway(context.world, context.sender)?;
    if !record.is_some_and(|record| record.is_active(context.params, context.height)) {
        return Err(error::UNAUTHORIZED_GATEWAY.into());
    }
    let target = address_argument(argument, "target")?;
    let value = argument.get("envelope").ok_or(error::INVALID_ARGUMENT)?;
    let ingress = Ingress::of(context.params, &manifests::read(context, target)?).ok_or(error::INGRESS_MISSING)?;
    let envelope = Envelope::read(value)?;
    if !COMMANDS.contains(&envelope.method) || !ingress.accepts(envelope.method) {
        return Err(error::INGRESS_METHOD.into());
    }
    if u64::try_from(envelope.body_bytes).unwrap_or(u64::MAX) > ingress.request_bytes {
        return Err(error::INGRESS_TOO_LARGE.into());
    }
    let salt = hash_argument(argument, "salt")?;
    if envelope.request_id != request_id(context.sender, target, &salt.0) {
        return Err(error::REQUEST_ID_FOREIGN.into());
    }
    if state::request(context.world, envelope.request_id)?.is_some() {
        return Err(error::REQUEST_REPEATED.into());
    }
    let oldest = Height(context.height.0.saturating_sub(context.params.gateways.requests_kept));
    state::forget_requests(context.world, oldest, FORGOTTEN)?;
    let request = Request { gateway: context.sender, target, delivery: context.id, height: context.height };
    state::add_request(context.world, envelope.request_id, &request)?;
    let data = Value::map([
        ("gateway", Value::Bytes(context.sender.0.to_vec())),
        ("method", Value::text(envelope.method)),
        ("request_id", Value::text(envelope.request_id)),
        ("target", Value::Bytes(target.0.to_vec())),
    ]);
    context.announce(NUMBER, "http.dispatched", &data);
    let repays = match ingress.max_fees {
        Some(most) => Some(repayment::allowed(context, target, most)?),
        None => None,
    };
    let cycles = Some(context.params.gateways.command_cycles_max);
    context.forward = Some(Forward { target, handler: HANDLER, payload: value.encode(), cycles, repays });
    Ok(Value::Null)
}

pub(super) fn is_active(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let record = state::gateway(context.world, address_argument(argument, "address")?)?;
    Ok(Value::Bool(record.is_some_and(|record| record.is_active(context.params, context.height))))
}

pub(super) fn get_gateway(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let address = address_argument(argument, "address")?;
    let record = state::gateway(context.world, address)?;
    Ok(record.map_or(Value::Null, |record| shown(context, address, &record)))
}
