//! The book of timers (003 §5.1a): scheduling, moving and removing them. Firing is the block's business.
//!
//! Invariants: every timer stands in one of the chain's two directories by height and place ([`line`]), in the directory of who
//! scheduled it, and in the count of the actor that did; so it is found by any of the three and removed from all.

mod events;
mod rent;

use crate::actor::Context;
use crate::auction::{self, Bid};
use crate::schema::Emit as _;
use cowboy_params::Params;
use cowboy_state::records::{Actor, Answer, Asked, Interval, Payload, Timer, TimerBook, keys};
use cowboy_state::{Directory, Miss, Step, World};
use cowboy_types::instruction::HandlerName;
use cowboy_types::units::{Amount, Cells, Count, Cycles, Height};
use cowboy_types::{Abort, Address, Hash, error, keccak256};

pub(crate) use events::{EVENTS, OF_PAYERS};
pub use events::{Unfired, failure};
pub use rent::RENT_ACCOUNTS;

/// A timer as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The actor whose handler runs.
    pub actor: Address,
    /// When it is due.
    pub due: Due,
    /// The handler to run.
    pub handler: HandlerName,
    /// The handler's argument.
    pub payload: Payload,
    /// Who pays, where the request says: only whoever schedules may be named.
    pub fee_payer: Option<Address>,
    /// Cycles of the fire; the most where absent.
    pub cycles_limit: Option<Cycles>,
    /// Cells of the fire; the most where absent.
    pub cells_limit: Option<Cells>,
    /// The last height at which it may fire; as late as allowed where absent.
    pub expires_at: Option<Height>,
    /// Live timers that the actor's manifest allows, where it says.
    pub max_timers: Option<u64>,
    /// How it bids once timers are auctioned.
    pub bid: Bid,
}

/// When a timer is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Once, at a height.
    At(Height),
    /// The interval in blocks.
    Every {
        /// Blocks from one fire to the next.
        blocks: u64,
        /// As many failures in a row pause it; zero for no number.
        max_failures: u64,
    },
}

/// The directory in which a timer stands: one that was put off stands behind its trigger, apart from those that no block has put off (decision 653).
pub fn line(timer: &Timer) -> Directory {
    let is_paused = timer.interval.as_ref().is_some_and(|interval| interval.is_paused);
    if timer.height > timer.trigger && !is_paused { Directory::timers_put_off() } else { Directory::timers() }
}

/// Whether a timer may fire or be removed now. One that was put off may, also before the height at which it is examined again at the latest.
pub fn is_due(timer: &Timer, now: Height) -> bool {
    if line(timer) == Directory::timers_put_off() { timer.trigger <= now } else { timer.height <= now }
}

/// Bytes for which timers owe rent: their payloads, and beside them as many for each as scheduling it costs cells (decisions 559 and 743).
pub fn occupied(params: &Params, timers: u64, payload_bytes: u64) -> u64 {
    timers.saturating_mul(params.intrinsic.timer_cells).saturating_add(payload_bytes)
}

/// Where a timer stands in its directory: by height, then place, then id.
pub fn listing(height: Height, sequence: Count, id: &Hash) -> Vec<u8> {
    [&height.0.to_be_bytes()[..], &sequence.0.to_be_bytes(), &id.0].concat()
}

/// The height and id of a listing.
pub fn listed(name: &[u8]) -> (Height, Hash) {
    let (height, rest) = name.split_at(8);
    let height = u64::from_be_bytes(height.try_into().expect("a listing begins with eight bytes"));
    (Height(height), Hash(rest[8..].try_into().expect("a listing ends with an id")))
}

/// Why a request is refused, in the order of the checks.
fn refusal(context: &Context<'_>, scheduler: Address, request: &Request, height: Height, live: u64) -> Result<(), Abort> {
    let rows = &context.params.timers;
    if height <= context.height {
        return Err(error::TIMER_IN_PAST);
    }
    if u64::try_from(request.payload.len()).unwrap_or(u64::MAX) > rows.payload_bytes {
        return Err(error::TIMER_PAYLOAD);
    }
    let most = auction::max_cycles(context.params, context.rules);
    let (least, reading) = intrinsic(context.params, matches!(request.due, Due::Every { .. }), request.payload.len());
    if request.cycles_limit.is_some_and(|limit| limit.0 > most || limit < least)
        || request.cells_limit.is_some_and(|limit| limit.0 > rows.cells_per_fire || limit < reading)
    {
        return Err(error::TIMER_LIMIT);
    }
    let latest = latest(context);
    let expires_at = request.expires_at.unwrap_or(latest);
    if expires_at < height || expires_at > latest {
        return Err(error::TIMER_EXPIRY);
    }
    // Decision 169: the signature of one transaction is no consent to later fires.
    if request.fee_payer.is_some_and(|payer| payer != scheduler) {
        return Err(error::BAD_FEE_PAYER);
    }
    if live >= rows.timers_per_actor {
        return Err(error::TOO_MANY_TIMERS);
    }
    if request.max_timers.is_some_and(|most| live >= most) {
        return Err(error::ENTITLEMENT_QUOTA);
    }
    Ok(())
}

/// What a fire costs before its handler runs: calling it, putting an interval in its next place, and reading the payload (decision 559).
pub fn intrinsic(params: &Params, is_interval: bool, payload_bytes: usize) -> (Cycles, Cells) {
    let rearming = if is_interval { params.costs.timer } else { 0 };
    let reading = u64::try_from(payload_bytes).unwrap_or(u64::MAX).div_ceil(params.costs.read_bytes_per_cell);
    (Cycles(params.costs.call.saturating_add(rearming)), Cells(reading))
}

/// The last height at which a timer may fire that is scheduled now.
fn latest(context: &Context<'_>) -> Height {
    Height(context.height.0.saturating_add(context.params.timers.ttl_blocks))
}

/// Schedules a timer of the sender, which pays for it: an actor that runs, or the account of a transaction, which pays its rent ahead. Answers its id,
/// keccak256(scheduler ‖ height ‖ payload ‖ nonce). The nonce is an actor's timer counter (decision 128), and the
/// transaction's digest for an account.
pub fn schedule(context: &mut Context<'_>, request: Request) -> Step<Hash> {
    let scheduler = context.sender;
    if context.world.actor(request.actor)?.is_none() {
        return Err(error::ACTOR_NOT_FOUND.into());
    }
    let (height, interval) = match request.due {
        Due::At(height) => (height, None),
        Due::Every { blocks, max_failures } => {
            let interval = Interval { every: Count(blocks), failures: Count::ZERO, max_failures: Count(max_failures), is_paused: false };
            (Height(context.height.0.saturating_add(blocks)), Some(interval))
        }
    };
    let live = Directory::timers_of(scheduler).count(context.world)?;
    refusal(context, scheduler, &request, height, live)?;
    let nonce = match context.world.actor(scheduler)? {
        Some(record) => record.timers_set.0.to_be_bytes().to_vec(),
        None => context.id.0.to_vec(),
    };
    let id = keccak256(&[&scheduler.0, &height.0.to_be_bytes(), &request.payload, &nonce]);
    let (max_fee_per_cycle, priority_per_cycle, bidder) = bid(context, &id, &request)?.fields();
    let rows = &context.params.timers;
    let mut timer = Timer {
        actor: request.actor,
        height,
        trigger: height,
        sequence: Count::ZERO,
        handler: request.handler,
        payload_bytes: Count(u64::try_from(request.payload.len()).expect("a payload's length fits")),
        fee_payer: scheduler,
        cycles_limit: request.cycles_limit.unwrap_or(Cycles(auction::max_cycles(context.params, context.rules))),
        cells_limit: request.cells_limit.unwrap_or(Cells(rows.cells_per_fire)),
        expires_at: request.expires_at.unwrap_or(latest(context)),
        created_at: context.height,
        max_fee_per_cycle,
        priority_per_cycle,
        bidder,
        asked: bidder.map(|_| Asked { height: context.height, answer: Answer::Nothing }),
        interval,
        rent: None,
    };
    timer.rent = rent::prepay(context, &id, &timer, Amount::MAX)?;
    Directory::timers_of(scheduler).insert(context.world, &id.0)?;
    count(context.world, scheduler, |book, record| {
        book.live = Count(book.live.0 + 1);
        if let Some(record) = record {
            record.timers_set = Count(record.timers_set.0 + 1);
            record.timers_live = Count(record.timers_live.0 + 1);
            record.timer_bytes = record.timer_bytes.saturating_add(timer.payload_bytes);
        }
    })?;
    if !request.payload.is_empty() {
        context.world.put(keys::timer_payload(&id), Some(request.payload.bytes().clone()));
    }
    list(context.world, &id, &mut timer)?;
    Ok(id)
}

/// The bid as it is kept. A tip above the maximum is cut to it, with an event. In the auction a maximum below the base fee is
/// refused: such a timer would not fire now.
fn bid(context: &mut Context<'_>, id: &Hash, request: &Request) -> Step<Bid> {
    let Bid::Fixed { max_fee, priority } = request.bid else { return Ok(request.bid) };
    if context.rules.has_timer_auction {
        let base = auction::read(context.world, context.height)?.lane_fee(context.params);
        if max_fee < base {
            return Err(error::TIMER_BELOW_BASE_FEE.into());
        }
    }
    if priority > max_fee {
        events::PriorityClamped { timer_id: *id, asked: priority, priority: max_fee }.emit(context.world);
    }
    Ok(Bid::Fixed { max_fee, priority: priority.min(max_fee) })
}

/// Changes the chain's counts of timers, and those of an actor where an actor schedules.
fn count(world: &mut World, scheduler: Address, change: impl FnOnce(&mut TimerBook, Option<&mut Actor>)) -> Result<(), Miss> {
    let mut record = world.actor(scheduler)?;
    let mut book = world.read::<TimerBook>(&keys::timers())?.unwrap_or(TimerBook { sequence: Count::ZERO, live: Count::ZERO });
    change(&mut book, record.as_mut());
    world.write(keys::timers(), &book);
    if let Some(record) = record {
        world.set_actor(scheduler, &record);
    }
    Ok(())
}

/// Puts a timer in its place by height, behind all that were put there before, and keeps its record.
fn list(world: &mut World, id: &Hash, timer: &mut Timer) -> Result<(), Miss> {
    let mut book = world.read::<TimerBook>(&keys::timers())?.expect("a timer was scheduled, so there is a book");
    timer.sequence = book.sequence;
    book.sequence = Count(book.sequence.0 + 1);
    world.write(keys::timers(), &book);
    line(timer).insert(world, &listing(timer.height, timer.sequence, id))?;
    world.write(keys::timer(id), timer);
    Ok(())
}

/// Moves a live timer to where its changed record belongs, behind all that stand at that height.
fn relist(world: &mut World, id: &Hash, before: &Timer, mut after: Timer) -> Result<(), Miss> {
    line(before).remove(world, &listing(before.height, before.sequence, id))?;
    list(world, id, &mut after)
}

/// Re-arms an interval that fires at `now`: its next fire is one period later, with as long to live as a new timer.
/// Answers whether the timer is one; where not, nothing changes.
pub fn rearm(world: &mut World, params: &Params, now: Height, id: &Hash, timer: &Timer) -> Result<bool, Miss> {
    let Some(interval) = &timer.interval else { return Ok(false) };
    let mut next = timer.clone();
    let height = Height(now.0.saturating_add(interval.every.0));
    next.expires_at = Height(now.0.saturating_add(params.timers.ttl_blocks)).max(height);
    // Its next fire is as old as this one, not as the interval (decision 330).
    next.created_at = now;
    (next.trigger, next.height) = (height, height);
    relist(world, id, timer, next)?;
    Ok(true)
}

/// Puts off a due timer that did not fire, so that blocks examine others first (decision 653).
pub fn put_off(world: &mut World, params: &Params, now: Height, id: &Hash, timer: &Timer) -> Result<(), Miss> {
    let height = again_at(now, timer.trigger, timer.expires_at, params.timers.put_off_blocks);
    relist(world, id, timer, Timer { height, ..timer.clone() })
}

/// When a timer that is put off is examined again at the latest: once it has waited twice as long, after `longest` blocks at most, and as soon as it has expired.
fn again_at(now: Height, trigger: Height, expires_at: Height, longest: u64) -> Height {
    let waited = now.0.saturating_sub(trigger.0);
    Height(now.0.saturating_add(waited.min(longest).max(1))).min(expires_at.next())
}

/// Keeps what a timer's agent answered: it holds until the agent is asked again (decision 614).
pub fn remember_answer(world: &mut World, id: &Hash, asked: Asked) -> Result<(), Miss> {
    let Some(mut timer) = world.read::<Timer>(&keys::timer(id))? else { return Ok(()) };
    timer.asked = Some(asked);
    world.write(keys::timer(id), &timer);
    Ok(())
}

/// What a fire that ended leaves of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Fires in a row that failed, this one included.
    pub consecutive: u64,
    /// Whether the interval is paused now.
    pub is_paused: bool,
}

/// Counts a failed fire. An interval that failed as often in a row as it may is paused.
pub fn fail(world: &mut World, id: &Hash) -> Result<Failed, Miss> {
    let once = Failed { consecutive: 1, is_paused: false };
    let Some(before) = world.read::<Timer>(&keys::timer(id))? else { return Ok(once) };
    let mut timer = before.clone();
    let Some(interval) = &mut timer.interval else { return Ok(once) };
    interval.failures = Count(interval.failures.0.saturating_add(1));
    interval.is_paused = interval.max_failures > Count::ZERO && interval.failures >= interval.max_failures;
    let failed = Failed { consecutive: interval.failures.0, is_paused: interval.is_paused };
    if failed.is_paused {
        // A paused interval stands where it expires, so it is removed there like any other timer.
        timer.height = timer.expires_at.next();
        relist(world, id, &before, timer)?;
    } else {
        world.write(keys::timer(id), &timer);
    }
    Ok(failed)
}

/// Forgets the failures of an interval whose fire succeeded.
pub fn succeed(world: &mut World, id: &Hash) -> Result<(), Miss> {
    let Some(mut timer) = world.read::<Timer>(&keys::timer(id))? else { return Ok(()) };
    if let Some(interval) = timer.interval.as_mut().filter(|interval| interval.failures > Count::ZERO) {
        interval.failures = Count::ZERO;
        world.write(keys::timer(id), &timer);
    }
    Ok(())
}

/// Lets a paused interval fire again, one period from now. One that is not paused stays as it is, and one that has expired stays expired until it is removed
/// (decision 751).
pub fn resume(context: &mut Context<'_>, id: &Hash, before: Timer) -> Step<()> {
    let latest = latest(context);
    let mut timer = before.clone();
    let interval = timer.interval.as_mut().ok_or(error::NOT_AN_INTERVAL)?;
    if !interval.is_paused {
        return Ok(());
    }
    if before.expires_at < context.height {
        return Err(error::TIMER_EXPIRED.into());
    }
    (interval.is_paused, interval.failures) = (false, Count::ZERO);
    let height = Height(context.height.0.saturating_add(interval.every.0));
    timer.expires_at = latest.max(height);
    (timer.trigger, timer.height) = (height, height);
    relist(context.world, id, &before, timer)?;
    Ok(())
}

/// A live timer.
pub fn read(world: &World, id: &Hash) -> Step<Timer> {
    Ok(world.read(&keys::timer(id))?.ok_or(error::TIMER_NOT_FOUND)?)
}

/// A timer's payload.
pub fn payload(world: &World, id: &Hash, timer: &Timer) -> Result<bytes::Bytes, Miss> {
    if timer.payload_bytes == Count::ZERO {
        return Ok(bytes::Bytes::new());
    }
    Ok(world.get(&keys::timer_payload(id))?.cloned().expect("a timer with a payload has its record"))
}

/// Takes a timer out of the book: it fired, expired, could not be paid, or was cancelled. Rent that it did not use comes back. Its payload is not read, since
/// nobody pays for that.
pub fn remove(world: &mut World, now: Height, id: &Hash, timer: &Timer) -> Result<(), Miss> {
    rent::settle(world, now, timer)?;
    line(timer).remove(world, &listing(timer.height, timer.sequence, id))?;
    Directory::timers_of(timer.fee_payer).remove(world, &id.0)?;
    count(world, timer.fee_payer, |book, record| {
        book.live = Count(book.live.0 - 1);
        if let Some(record) = record {
            record.timers_live = Count(record.timers_live.0 - 1);
            record.timer_bytes = record.timer_bytes.saturating_sub(timer.payload_bytes);
        }
    })?;
    world.remove(keys::timer(id));
    if timer.payload_bytes > Count::ZERO {
        world.erase(keys::timer_payload(id));
    }
    Ok(())
}

/// Moves a timer's last height: not before it is due, not into the past, not beyond the longest time to live. One that has expired stays so. Where an account
/// scheduled it, its rent is paid up to there; where somebody else moves it, with no more than what is left of the rent that was paid.
pub fn extend(context: &mut Context<'_>, id: &Hash, before: Timer, expires_at: Height) -> Step<()> {
    if before.expires_at < context.height {
        return Err(error::TIMER_EXPIRED.into());
    }
    let is_paused = before.interval.as_ref().is_some_and(|interval| interval.is_paused);
    let earliest = if is_paused { context.height } else { before.trigger.max(context.height) };
    if expires_at < earliest || expires_at > latest(context) {
        return Err(error::TIMER_EXPIRY.into());
    }
    let mut timer = Timer { expires_at, ..before.clone() };
    let rest = rent::settle(context.world, context.height, &before)?;
    let most = if before.fee_payer == context.sender { Amount::MAX } else { rest };
    timer.rent = rent::prepay(context, id, &timer, most)?;
    if is_paused {
        timer.height = expires_at.next();
        relist(context.world, id, &before, timer)?;
    } else if before.height > expires_at.next() {
        // One that was put off is removed as soon as it has expired.
        timer.height = expires_at.next();
        relist(context.world, id, &before, timer)?;
    } else {
        context.world.write(keys::timer(id), &timer);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 653: who did not fire waits twice as long each time, up to the longest wait, and is removed as soon as it has expired.
    #[test]
    fn waits_double() {
        let again = |now: u64, expires_at: u64| again_at(Height(now), Height(100), Height(expires_at), 16).0;
        let examined: Vec<u64> = std::iter::successors(Some(100), |now| Some(again(*now, 1_000))).take(9).collect();
        assert_eq!(examined, [100, 101, 102, 104, 108, 116, 132, 148, 164]);
        assert_eq!([again(116, 120), again(116, 116), again(100, 100)], [121, 117, 101]);
    }
}
