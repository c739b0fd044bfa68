//! The methods and events of 0x06 but for tokens.

use super::NUMBER;
use crate::actor::methods;
use crate::schema::{events, form};
use cowboy_types::units::{Height, Price};
use cowboy_types::{Address, Hash};

form! {
    /// The base fees of the next block.
    pub(crate) struct BaseFees {
        /// Base units of CBY a cycle.
        cycle: Price,
        /// Base units of CBY a cell.
        cell: Price,
    }
}

form! {
    /// The auction of timers, as a bidding agent has to know it (003 §5.1b).
    pub(crate) struct TimerAuction {
        /// The timer lane's base fee of a cycle.
        base_fee: Price,
        /// The median tip of the block before.
        median_tip: Price,
        /// The weight of the scheduler's tips, in basis points.
        weight: u64,
    }
}

methods! {
    /// What 0x06 is asked about fees and timers.
    pub(super) METHODS by NUMBER;

    /// Returns the base fees of the next block.
    "get_basefee" GetBaseFee [view] {} -> BaseFees;

    /// Returns the state of the timer auction, for a scheduler's tips.
    "get_timer_auction" GetTimerAuction [view, since(2)] {
        /// The scheduler; the sender where none is named.
        scheduler: Option<Address>,
    } -> TimerAuction;

    /// Removes a timer; one that is gone changes nothing. Governance, or who pays for the timer (SYS 48).
    "cancel_timer" CancelTimer [routine] {
        /// The timer's id.
        timer_id: Hash,
    } -> ();

    /// Moves a timer's last height. Governance, or who pays for the timer (SYS 50).
    "extend_timer" ExtendTimer [routine] {
        /// The timer's id.
        timer_id: Hash,
        /// Its new last height.
        expires_at: Height,
    } -> ();
}

events! {
    /// What 0x06 emits about timers.
    pub(super) EVENTS by NUMBER;

    /// The payer removed a timer.
    "timer.cancelled" Cancelled {
        /// The timer's id.
        timer_id: Hash,
        /// Whose handler it would have run.
        actor: Address,
    }

    /// Governance removed a timer.
    "timer.cancelled_by_governance" CancelledByGovernance {
        /// The timer's id.
        timer_id: Hash,
        /// Whose handler it would have run.
        actor: Address,
    }

    /// The payer moved a timer's last height.
    "timer.extended" Extended {
        /// The timer's id.
        timer_id: Hash,
        /// Its new last height.
        expires_at: Height,
    }

    /// Governance moved a timer's last height.
    "timer.extended_by_governance" ExtendedByGovernance {
        /// The timer's id.
        timer_id: Hash,
        /// Its new last height.
        expires_at: Height,
    }
}
