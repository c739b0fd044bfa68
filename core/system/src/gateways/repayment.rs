//! Actors that pay for their commands (decisions 178, 329).
//!
//! The gateway signs and its account pays, as for any transaction. Where a manifest says `"pays": "actor"`, the target of a
//! dispatch that succeeds gives the gateway the base fees of the command back. Tips are the gateway's own, and so is what stands beside the command in
//! its transaction: it chooses them (decision 732).

use super::{api, state, types::Repaid};
use crate::actor::Context;
use crate::rent_rate;
use crate::schema::Emit as _;
use crate::storage::rent;
use cowboy_params::Params;
use cowboy_state::{Key, Kind, Miss, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Event};

/// What an actor paid in the period of a height.
fn paid(world: &World, params: &Params, height: Height, actor: Address) -> Result<Repaid, Miss> {
    let period = Count(height.0 / params.gateways.fee_period.max(1));
    let stored = world.read::<Repaid>(&state::repaid_key(actor))?;
    Ok(stored.filter(|repaid| repaid.period == period).unwrap_or(Repaid { period, amount: Amount::ZERO }))
}

/// What is left of an actor's bound in this period. Reads all that [`repay`] will touch.
pub(super) fn allowed(context: &Context<'_>, actor: Address, most: u64) -> Result<Amount, Miss> {
    context.world.require([
        &state::repaid_key(actor),
        &Key::account(actor),
        &Key::account(context.sender),
        &Key::of(Kind::Actor, actor),
        &rent_rate::key(),
    ])?;
    let paid = paid(context.world, context.params, context.height, actor)?;
    Ok(Amount(most.saturating_sub(paid.amount.0)))
}

/// What an actor has beyond the reserve for its rent (003 §4.4).
fn spare(world: &World, params: &Params, actor: Address) -> Result<Amount, Miss> {
    let bytes = world.actor(actor)?.map_or(0, |record| rent::billable(params, &record));
    let reserve = rent::reserve(params, rent_rate::current(world, params)?, bytes);
    Ok(world.account(actor)?.balance.saturating_sub(reserve))
}

/// Moves what a command cost from its actor to the gateway that paid for it: at most `most`, and what the actor has beyond the reserve for its rent. Answers
/// the event that says so; none where nothing moved.
pub fn repay(
    world: &mut World,
    (params, height): (&Params, Height),
    (actor, gateway): (Address, Address),
    (cost, most): (Amount, Amount),
) -> Result<Option<Event>, Miss> {
    let mut record = paid(world, params, height, actor)?;
    let amount = cost.min(most).min(spare(world, params, actor)?);
    if amount == Amount::ZERO {
        return Ok(None);
    }
    assert!(world.debit(actor, amount)?, "the actor has as much");
    world.credit(gateway, amount)?;
    record.amount = record.amount.saturating_add(amount);
    world.write(state::repaid_key(actor), &record);
    Ok(Some(api::Repaid { actor, amount, gateway }.event()))
}
