//! What 0x0F does when asked.

use super::api::{
    AddStake, Described, Dispatch, Dispatched, Draw, Drew, EndpointSet, GetGateway, Heartbeat, IsActiveGateway, Leaving, LeavingBegun,
    Left, Moved, Register, Registered, SetEndpoint, Staked, Unstake,
};
use super::envelope::{Envelope, request_id};
use super::ingress::{COMMANDS, Ingress};
use super::types::{Gateway, Request};
use super::{HANDLER, NUMBER, repayment, state};
use crate::actor::{Context, Forward, Handle};
use crate::endpoint;
use crate::entitlements::manifests;
use crate::schema::Emit;
use crate::staking::epoch::epoch_of;
use cowboy_state::{Miss, Step};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Text, error};

/// Requests that one dispatch forgets at most: more than it adds, so that they never pile up.
const FORGOTTEN: usize = 3;

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

fn described(context: &Context<'_>, address: Address, record: &Gateway) -> Result<Described, Miss> {
    let (params, height) = (context.params, context.height);
    Ok(Described {
        address,
        endpoint: record.endpoint.clone(),
        health: record.health(params, height),
        http_port: record.http_port,
        is_active: record.is_active(params, height),
        last_heartbeat: record.last_heartbeat,
        leaving: state::free_at(context.world, address, record)?,
        registered_at: record.registered_at,
        stake_amount: record.stake,
    })
}

impl Handle for Register {
    fn handle(self, context: &mut Context<'_>) -> Step<Described> {
        let (endpoint, http_port) = endpoint::checked(&self.endpoint, self.http_port).ok_or(error::GATEWAY_ENDPOINT)?;
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
        context.charge_kept(&record);
        state::set_gateway(context.world, context.sender, &record);
        Registered(Moved { amount: record.stake, gateway: context.sender }).emit(context.world);
        Ok(described(context, context.sender, &record)?)
    }
}

impl Handle for Heartbeat {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        if record.leaving.is_some() {
            return Err(error::GATEWAY_STATE.into());
        }
        record.count_uptime(context.params, context.height);
        record.last_heartbeat = context.height;
        state::active().insert(context.world, &context.sender.0)?;
        state::set_gateway(context.world, context.sender, &record);
        Ok(())
    }
}

impl Handle for SetEndpoint {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        (record.endpoint, record.http_port) = endpoint::checked(&self.endpoint, self.http_port).ok_or(error::GATEWAY_ENDPOINT)?;
        context.charge_kept(&record);
        state::set_gateway(context.world, context.sender, &record);
        EndpointSet(Moved { amount: record.stake, gateway: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for AddStake {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        if context.value == Amount::ZERO || record.leaving.is_some() {
            return Err(error::GATEWAY_STATE.into());
        }
        bind(context)?;
        record.count_uptime(context.params, context.height);
        record.stake = record.stake.saturating_add(context.value);
        state::set_gateway(context.world, context.sender, &record);
        Staked(Moved { amount: record.stake, gateway: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for Draw {
    /// Stake above the least pays fees; the least stays (decision 71).
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { amount } = self;
        let mut record = own(context)?;
        let left = record.stake.0.checked_sub(amount.0).filter(|left| *left >= context.params.gateways.stake_min);
        record.count_uptime(context.params, context.height);
        record.stake = Amount(left.ok_or(error::GATEWAY_STAKE)?);
        assert!(context.world.debit(state::stakes(), amount)?, "every stake is there");
        context.world.credit(context.sender, amount)?;
        state::set_gateway(context.world, context.sender, &record);
        Drew(Moved { amount, gateway: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for Unstake {
    fn handle(self, context: &mut Context<'_>) -> Step<Leaving> {
        let mut record = own(context)?;
        let (params, now, gateway) = (context.params, context.height, context.sender);
        let held = state::held(context.world, gateway)?;
        let until = match record.leaving {
            Some(until) => until,
            // Inactive since its health ran out, or else from now on (004 §9.2).
            None => {
                let since = record.last_heartbeat.0.saturating_add(params.gateways.health).min(now.0);
                record.count_uptime(params, now);
                Height(since.saturating_add(params.gateways.unstake_delay))
            }
        };
        let free_at = until.max(held);
        if now < free_at && record.leaving.is_some() {
            return Err(error::STILL_BOUND.into());
        }
        if now < free_at {
            // What it is held for may be over sooner.
            record.leaving = Some(until);
            state::set_gateway(context.world, gateway, &record);
            LeavingBegun(Moved { amount: record.stake, gateway }).emit(context.world);
            return Ok(Leaving { released: Amount::ZERO, until: free_at });
        }
        assert!(context.world.debit(state::stakes(), record.stake)?, "every stake is there");
        context.world.credit(gateway, record.stake)?;
        state::remove(context.world, gateway)?;
        Left(Moved { amount: record.stake, gateway }).emit(context.world);
        Ok(Leaving { released: record.stake, until: free_at })
    }
}

impl Handle for Dispatch {
    /// Checks that an active gateway brings a request that its target takes, and hands it on in this transaction (004 §8.4).
    fn handle(self, context: &mut Context<'_>) -> Step<Value> {
        let Self { target, envelope: value, salt } = self;
        let record = state::gateway(context.world, context.sender)?;
        if !record.is_some_and(|record| record.is_active(context.params, context.height)) {
            return Err(error::UNAUTHORIZED_GATEWAY.into());
        }
        let ingress = Ingress::of(context.params, &manifests::read(context, target)?).ok_or(error::INGRESS_MISSING)?;
        let envelope = Envelope::read(&value)?;
        if !COMMANDS.contains(&envelope.method) || !ingress.accepts(envelope.method) {
            return Err(error::INGRESS_METHOD.into());
        }
        if u64::try_from(envelope.body_bytes).unwrap_or(u64::MAX) > ingress.request_bytes {
            return Err(error::INGRESS_TOO_LARGE.into());
        }
        if envelope.request_id != request_id(context.genesis, context.sender, target, &salt.0) {
            return Err(error::REQUEST_ID_FOREIGN.into());
        }
        if state::request(context.world, envelope.request_id)?.is_some() {
            return Err(error::REQUEST_REPEATED.into());
        }
        let oldest = Height(context.height.0.saturating_sub(context.params.gateways.requests_kept));
        state::forget_requests(context.world, oldest, FORGOTTEN)?;
        let request = Request { gateway: context.sender, target, delivery: context.id, height: context.height };
        state::add_request(context.world, envelope.request_id, &request)?;
        let method = Text::new(envelope.method.to_owned()).ok_or(error::INVALID_ARGUMENT)?;
        let request_id = Text::new(envelope.request_id.to_owned()).ok_or(error::INVALID_ARGUMENT)?;
        Dispatched { gateway: context.sender, method, request_id, target }.emit(context.world);
        let repays = match ingress.max_fees {
            Some(most) => Some(repayment::allowed(context, target, most)?),
            None => None,
        };
        let cycles = Some(context.params.gateways.command_cycles_max);
        context.forward = Some(Forward { target, handler: HANDLER, payload: value.encode(), cycles, repays });
        Ok(Value::Null)
    }
}

impl Handle for IsActiveGateway {
    fn handle(self, context: &mut Context<'_>) -> Step<bool> {
        let record = state::gateway(context.world, self.address)?;
        Ok(record.is_some_and(|record| record.is_active(context.params, context.height)))
    }
}

impl Handle for GetGateway {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<Described>> {
        let record = state::gateway(context.world, self.address)?;
        Ok(record.map(|record| described(context, self.address, &record)).transpose()?)
    }
}
