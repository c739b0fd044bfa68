//! What 0x06 does.

use super::api::{
    BaseFees, CancelTimer, Cancelled, CancelledByGovernance, ExtendTimer, Extended, ExtendedByGovernance, GetBaseFee, GetTimerAuction,
    TimerAuction,
};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use crate::{auction, timers};
use cowboy_state::records::{Markets, Timer, keys};
use cowboy_state::{Step, Stop};
use cowboy_types::error;

impl Handle for GetBaseFee {
    fn handle(self, context: &mut Context<'_>) -> Step<BaseFees> {
        let markets: Markets = context.world.read(&keys::markets())?.expect("genesis wrote the base fees");
        Ok(BaseFees { cycle: markets.base_fee_cycle, cell: markets.base_fee_cell })
    }
}

impl Handle for GetTimerAuction {
    fn handle(self, context: &mut Context<'_>) -> Step<TimerAuction> {
        let Self { scheduler } = self;
        let scheduler = scheduler.unwrap_or(context.sender);
        let auction = auction::read(context.world, context.height)?;
        let weight = auction.weight(auction::fires(context.world, scheduler)?);
        Ok(TimerAuction { base_fee: auction.lane_fee(context.params), median_tip: auction.median_tip, weight })
    }
}

/// SYS_CANCEL_TIMER: removes a timer of the sender, or any timer for governance. Removing one that is gone changes nothing.
impl Handle for CancelTimer {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { timer_id } = self;
        let timer = match timers::read(context.world, &timer_id) {
            Err(Stop::Abort(abort)) if abort == error::TIMER_NOT_FOUND => return Ok(()),
            read => read?,
        };
        let is_own = is_payer(context, &timer)?;
        timers::remove(context.world, context.height, &timer_id, &timer)?;
        if is_own {
            Cancelled { timer_id, actor: timer.actor }.emit(context.world);
        } else {
            CancelledByGovernance { timer_id, actor: timer.actor }.emit(context.world);
        }
        Ok(())
    }
}

/// SYS_EXTEND_TIMER: moves the last height of a timer of the sender, or of any timer for governance.
impl Handle for ExtendTimer {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { timer_id, expires_at } = self;
        let timer = timers::read(context.world, &timer_id)?;
        let is_own = is_payer(context, &timer)?;
        timers::extend(context, &timer_id, timer, expires_at)?;
        if is_own {
            Extended { timer_id, expires_at }.emit(context.world);
        } else {
            ExtendedByGovernance { timer_id, expires_at }.emit(context.world);
        }
        Ok(())
    }
}

/// Whether the sender pays for a timer. Anybody else has to be governance.
fn is_payer(context: &Context<'_>, timer: &Timer) -> Step<bool> {
    let is_own = timer.fee_payer == context.sender;
    if !is_own {
        context.require_governance()?;
    }
    Ok(is_own)
}
