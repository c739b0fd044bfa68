//! What 0x06 does.

use super::NUMBER;
use crate::actor::{Context, address_argument, hash_argument, number_argument};
use crate::{auction, timers};
use cowboy_state::records::{Markets, keys};
use cowboy_state::{Step, Stop};
use cowboy_types::cbor::Value;
use cowboy_types::units::Height;
use cowboy_types::{Hash, error};

pub(super) fn get_basefee(context: &mut Context<'_>, _: &Value) -> Step<Value> {
    let markets: Markets = context.world.read(&keys::markets())?.expect("genesis wrote the base fees");
    Ok(Value::map([("cycle", Value::uint(markets.base_fee_cycle.0)), ("cell", Value::uint(markets.base_fee_cell.0))]))
}

/// How the auction of timers stands: what a bidding agent has to know (003 §5.1b).
pub(super) fn get_timer_auction(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let scheduler = match argument.get("scheduler") {
        Some(_) => address_argument(argument, "scheduler")?,
        None => context.sender,
    };
    let auction = auction::read(context.world, context.height)?;
    let weight = auction.weight(auction::fires(context.world, scheduler)?);
    Ok(Value::map([
        ("base_fee", Value::uint(auction.lane_fee(context.params).0)),
        ("is_on", Value::Bool(auction::is_on(context.params, context.height))),
        ("median_tip", Value::uint(auction.median_tip.0)),
        ("weight", Value::uint(weight)),
    ]))
}

pub(super) fn cancel_timer(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let id = hash_argument(argument, "timer_id")?;
    cancel(context, &id)?;
    Ok(Value::Null)
}

pub(super) fn extend_timer(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let (id, expires_at) = (hash_argument(argument, "timer_id")?, Height(number_argument(argument, "expires_at")?));
    extend(context, &id, expires_at)?;
    Ok(Value::Null)
}

/// SYS_CANCEL_TIMER: removes a timer of the sender, or any timer for governance. Removing one that is gone changes
/// nothing.
pub fn cancel(context: &mut Context<'_>, id: &Hash) -> Step<()> {
    context.require_running(NUMBER)?;
    match timers::read(context.world, id) {
        Err(Stop::Abort(abort)) if abort == error::TIMER_NOT_FOUND => Ok(()),
        Err(stop) => Err(stop),
        Ok(timer) => {
            let is_own = timer.fee_payer == context.sender;
            if !is_own {
                context.require_governance()?;
            }
            timers::remove(context.world, id, &timer)?;
            let data = Value::map([("timer_id", Value::Bytes(id.0.to_vec())), ("actor", Value::Bytes(timer.actor.0.to_vec()))]);
            context.announce(NUMBER, if is_own { "timer.cancelled" } else { "timer.cancelled_by_governance" }, &data);
            Ok(())
        }
    }
}

/// SYS_EXTEND_TIMER: moves the last height of a timer of the sender, or of any timer for governance.
pub fn extend(context: &mut Context<'_>, id: &Hash, expires_at: Height) -> Step<()> {
    context.require_running(NUMBER)?;
    let timer = timers::read(context.world, id)?;
    let is_own = timer.fee_payer == context.sender;
    if !is_own {
        context.require_governance()?;
    }
    timers::extend(context, id, timer, expires_at)?;
    let data = Value::map([("timer_id", Value::Bytes(id.0.to_vec())), ("expires_at", Value::uint(expires_at.0))]);
    context.announce(NUMBER, if is_own { "timer.extended" } else { "timer.extended_by_governance" }, &data);
    Ok(())
}
