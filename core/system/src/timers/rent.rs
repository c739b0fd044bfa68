//! Rent of timers that accounts schedule: paid ahead up to the last height; what a timer does not use comes back (decision 743).
//!
//! An actor pays rent for its timers with that for its storage. Invariant: 0x0A holds what the timers' records say.

use super::events::RentPrepaid;
use super::occupied;
use crate::actor::Context;
use crate::rent_rate;
use crate::schema::Emit as _;
use cowboy_state::records::{Timer, TimerRent};
use cowboy_state::{Key, Miss, Step, World};
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Hash, actors, error};

/// Who holds rent that is paid ahead, and who receives what is used of it.
pub const RENT_ACCOUNTS: [Address; 2] = [HOLDER, TREASURY];

const HOLDER: Address = Address::system(actors::STORAGE);

const TREASURY: Address = Address::system(actors::TREASURY);

/// Takes the rent of a timer from now up to its last height from the account that pays for it, at the rate of the block, and `most` at most. Nothing where an
/// actor pays. Fails where the balance does not cover it.
pub(super) fn prepay(context: &mut Context<'_>, id: &Hash, timer: &Timer, most: Amount) -> Step<Option<TimerRent>> {
    let payer = timer.fee_payer;
    if context.world.actor(payer)?.is_some() {
        return Ok(None);
    }
    let rate = rent_rate::current(context.world, context.params)?;
    let since = context.height;
    let bytes = occupied(context.params, 1, timer.payload_bytes.0);
    let held = rent_rate::of_blocks(context.params, rate, bytes, blocks(since, timer.expires_at)).min(most);
    if !context.world.debit(payer, held)? {
        return Err(error::TIMER_UNFUNDED.into());
    }
    context.world.credit(HOLDER, held)?;
    RentPrepaid { timer_id: *id, payer, amount: held, until: timer.expires_at }.emit(context.world);
    Ok(Some(TimerRent { held, since }))
}

/// Ends what was paid ahead for a timer, which is removed or whose last height moves: the treasury receives the rent up to now, the payer the rest. Answers the
/// rest.
pub(super) fn settle(world: &mut World, now: Height, timer: &Timer) -> Result<Amount, Miss> {
    let Some(rent) = &timer.rent else { return Ok(Amount::ZERO) };
    world.require([&Key::account(HOLDER), &Key::account(TREASURY), &Key::account(timer.fee_payer)])?;
    let used = used(rent, timer.expires_at, now);
    assert!(world.debit(HOLDER, rent.held)?, "0x0A holds the rent of timers");
    world.credit(TREASURY, used)?;
    let rest = rent.held.saturating_sub(used);
    world.credit(timer.fee_payer, rest)?;
    Ok(rest)
}

/// Blocks from a height up to a timer's last one, both counted: it is removed in the block after it.
fn blocks(since: Height, expires_at: Height) -> u64 {
    expires_at.next().0.saturating_sub(since.0).max(1)
}

/// The part of the rent for the time up to now, rounded up.
fn used(rent: &TimerRent, expires_at: Height, now: Height) -> Amount {
    let paid_for = blocks(rent.since, expires_at);
    let stood = now.0.saturating_sub(rent.since.0).min(paid_for);
    let part = u128::from(rent.held.0).saturating_mul(u128::from(stood)).div_ceil(u128::from(paid_for));
    Amount(u64::try_from(part).expect("a part is at most the whole"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 743: what is used follows the time that a timer stood, rounded up, and is never more than what was paid.
    #[test]
    fn rent_follows_the_time_that_a_timer_stood() {
        let rent = |held: u64| TimerRent { held: Amount(held), since: Height(10) };
        let rows =
            [(100, 10, 0), (100, 11, 10), (100, 15, 50), (100, 19, 90), (100, 20, 100), (100, 99, 100), (7, 11, 1), (7, 12, 2), (0, 15, 0)];
        for (held, now, expected) in rows {
            assert_eq!(used(&rent(held), Height(19), Height(now)), Amount(expected), "{held} at {now}");
        }
        assert_eq!(used(&rent(u64::MAX), Height(u64::MAX), Height(u64::MAX)), Amount::MAX);
        assert_eq!(used(&rent(5), Height(3), Height(10)), Amount::ZERO, "a last height that is over");
    }
}
