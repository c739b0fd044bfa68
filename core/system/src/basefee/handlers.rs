//! What 0x06 does.

use super::NUMBER;
use super::api::{
    BaseFees, CancelTimer, Cancelled, CancelledByGovernance, ExtendTimer, Extended, ExtendedByGovernance, GetBaseFee, GetTimerAuction,
    TimerAuction,
};
use crate::actor::Context;
use crate::schema::Emit;
use crate::{auction, timers};
use cowboy_state::records::{Markets, keys};
use cowboy_state::{Step, Stop};
use cowboy_types::units::Height;
use cowboy_types::{Hash, error};

pub(super) fn get_basefee(context: &mut Context<'_>, _: GetBaseFee) -> Step<BaseFees> {
    let markets: Markets = context.world.read(&keys::markets())?.expect("genesis wrote the base fees");
    Ok(BaseFees { cycle: markets.base_fee_cycle, cell: markets.base_fee_cell })
}

pub(super) fn get_timer_auction(context: &mut Context<'_>, GetTimerAuction { scheduler }: GetTimerAuction) -> Step<TimerAuction> {
    let scheduler = scheduler.unwrap_or(context.sender);
    let auction = auction::read(context.world, context.height)?;
    let weight = auction.weight(auction::fires(context.world, scheduler)?);
    let is_on = auction::is_on(context.params, context.height);
    Ok(TimerAuction { base_fee: auction.lane_fee(context.params), is_on, median_tip: auction.median_tip, weight })
}

pub(super) fn cancel_timer(context: &mut Context<'_>, CancelTimer { timer_id }: CancelTimer) -> Step<()> {
    cancel(context, &timer_id)
}

pub(super) fn extend_timer(context: &mut Context<'_>, ExtendTimer { timer_id, expires_at }: ExtendTimer) -> Step<()> {
    extend(context, &timer_id, expires_at)
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
            let (timer_id, actor) = (*id, timer.actor);
            if is_own {
                Cancelled { timer_id, actor }.emit(context.world);
            } else {
                CancelledByGovernance { timer_id, actor }.emit(context.world);
            }
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
    if is_own {
        Extended { timer_id: *id, expires_at }.emit(context.world);
    } else {
        ExtendedByGovernance { timer_id: *id, expires_at }.emit(context.world);
    }
    Ok(())
}
