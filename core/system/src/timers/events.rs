//! What is emitted about timers, by 0x06 and in the name of whoever pays for them.

use super::Failed;
use crate::auction::NUMBER;
use crate::schema::{Emit as _, EmitFor as _, events};
use cowboy_state::records::Timer;
use cowboy_types::instruction::HandlerName;
use cowboy_types::units::{Amount, Count, Height, Price};
use cowboy_types::{Abort, Address, Event, Hash, Text, error};

/// The word of an error's row.
type Slug = Text<64>;

events! {
    /// What 0x06 emits about timers by itself.
    pub(crate) EVENTS by NUMBER;

    /// A timer was scheduled with a tip above its maximum; the tip was cut to the maximum.
    "TimerPriorityClampedAtSchedule" PriorityClamped {
        /// The timer's id.
        timer_id: Hash,
        /// The tip for a cycle that was asked for.
        asked: Price,
        /// The tip that the timer has.
        priority: Price,
    }

    /// An account scheduled a timer, or its last height moved: its rent is paid up to there. What an earlier last height left of it came back.
    "timer.rent_prepaid" RentPrepaid {
        /// The timer's id.
        timer_id: Hash,
        /// Who pays.
        payer: Address,
        /// Base units of CBY. What the timer does not use comes back when it fires or is removed.
        amount: Amount,
        /// The timer's last height.
        until: Height,
    }

    /// A timer was removed without firing: its last height is over.
    "TimerExpired" Expired {
        /// The timer's id.
        timer_id: Hash,
        /// Who would have paid.
        fee_payer: Address,
        /// Its last height.
        expires_at: Height,
    }

    /// A timer was removed without firing: its payer does not have what a fire can cost, or, where its bidding agent has it wait, the next question.
    "TimerCancelledInsufficientFunds" Unfunded {
        /// The timer's id.
        timer_id: Hash,
        /// Who would have paid.
        fee_payer: Address,
        /// The most that the fire, or the question, can cost, in base units of CBY.
        required: Amount,
        /// What the payer has, in base units of CBY.
        available: Amount,
    }
}

events! {
    /// What is emitted about timers in the name of whoever pays for them.
    pub(crate) OF_PAYERS of accounts;

    /// A fire failed. It is charged all the same.
    "timer.failed" FireFailed {
        /// The timer's id.
        id: Hash,
        /// The handler that failed.
        handler: HandlerName,
        /// The word of its error.
        error: Slug,
        /// Fires in a row that failed, this one included.
        consecutive: Count,
    }

    /// An interval was paused: as many fires in a row failed as it allows.
    "timer.paused" Paused {
        /// The timer's id.
        id: Hash,
    }

    /// A timer was removed without firing.
    "timer.removed" Removed {
        /// The timer's id.
        id: Hash,
        /// The word of the error that says why.
        reason: Slug,
    }
}

/// Why a due timer is removed without firing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfired {
    /// Its last height is over.
    Expired,
    /// Its payer does not have what the fire can cost, or the question to an agent that has it wait.
    Unfunded {
        /// The most that this can cost.
        required: Amount,
        /// What the payer has.
        available: Amount,
    },
}

impl Unfired {
    /// The error of the timer's receipt.
    pub fn abort(self) -> Abort {
        match self {
            Self::Expired => error::TIMER_EXPIRED,
            Self::Unfunded { .. } => error::TIMER_UNFUNDED,
        }
    }

    /// The events that say it: one of 0x06, and one of the payer.
    pub fn events(self, id: &Hash, timer: &Timer) -> Vec<Event> {
        let (timer_id, fee_payer) = (*id, timer.fee_payer);
        let event = match self {
            Self::Expired => Expired { timer_id, fee_payer, expires_at: timer.expires_at }.event(),
            Self::Unfunded { required, available } => Unfunded { timer_id, fee_payer, required, available }.event(),
        };
        vec![event, Removed { id: *id, reason: slug(&self.abort()) }.event_of(fee_payer)]
    }
}

/// The events of a fire that failed, in the name of the account or actor that pays for the timer.
pub fn failure(id: &Hash, payer: Address, handler: &str, abort: &Abort, failed: Failed) -> Vec<Event> {
    let handler = HandlerName::new(handler).expect("handler names are bounded where they are decoded");
    let event = FireFailed { id: *id, handler, error: slug(abort), consecutive: Count(failed.consecutive) };
    let mut events = vec![event.event_of(payer)];
    if failed.is_paused {
        events.push(Paused { id: *id }.event_of(payer));
    }
    events
}

fn slug(abort: &Abort) -> Slug {
    Slug::new(error::row(abort.code).slug).expect("the words of errors are short")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever fails, its word fits into the event.
    #[test]
    fn every_error_has_a_word_that_fits() {
        for row in error::TABLE {
            assert_eq!(slug(&Abort { code: row.code }).len(), row.slug.len());
        }
    }
}
