//! The book of timers (003 §5.1a): scheduling, moving and removing them. Firing is the block's business.
//!
//! Invariants: every timer stands in the chain's directory by height and place, in its actor's directory,
//! and in its actor's count; so it is found by any of the three and removed from all.

use crate::actor::Context;
use cowboy_state::records::{Payload, Timer, TimerBook, keys};
use cowboy_state::{Directory, Step, World};
use cowboy_types::instruction::HandlerName;
use cowboy_types::units::{Cells, Count, Cycles, Height, Price};
use cowboy_types::{Abort, Address, Hash, error, keccak256};

/// A timer as its actor asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it is due.
    pub height: Height,
    /// The handler to run.
    pub handler: HandlerName,
    /// The handler's argument.
    pub payload: Payload,
    /// Who pays; the actor itself where absent.
    pub fee_payer: Option<Address>,
    /// Cycles of the fire; the most where absent.
    pub cycles_limit: Option<Cycles>,
    /// Cells of the fire; the most where absent.
    pub cells_limit: Option<Cells>,
    /// The last height at which it may fire; as late as allowed where absent.
    pub expires_at: Option<Height>,
    /// Live timers that the actor's manifest allows, where it says.
    pub max_timers: Option<u64>,
    /// Who signed the transaction under way: may be named as payer, as the signature is their consent.
    pub signer: Address,
}

/// Where a timer stands in the chain's directory: by height, then place, then id.
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
fn refusal(context: &Context<'_>, actor: Address, request: &Request, live: u64) -> Result<(), Abort> {
    let rows = &context.params.timers;
    if request.height <= context.height {
        return Err(error::TIMER_IN_PAST);
    }
    if u64::try_from(request.payload.len()).unwrap_or(u64::MAX) > rows.payload_bytes {
        return Err(error::TIMER_PAYLOAD);
    }
    if request.cycles_limit.is_some_and(|limit| limit.0 > rows.cycles_per_fire || limit == Cycles::ZERO)
        || request.cells_limit.is_some_and(|limit| limit.0 > rows.cells_per_fire)
    {
        return Err(error::TIMER_LIMIT);
    }
    let latest = Height(context.height.0.saturating_add(rows.ttl_blocks));
    let expires_at = request.expires_at.unwrap_or(latest);
    if expires_at < request.height || expires_at > latest {
        return Err(error::TIMER_EXPIRY);
    }
    if let Some(payer) = request.fee_payer {
        // Decision 113: the actor itself, or who signed; never the system band (003 §9 note 4).
        if payer.is_system_band() || (payer != actor && payer != request.signer) {
            return Err(error::BAD_FEE_PAYER);
        }
    }
    if live >= rows.timers_per_actor {
        return Err(error::TOO_MANY_TIMERS);
    }
    if request.max_timers.is_some_and(|most| live >= most) {
        return Err(error::ENTITLEMENT_QUOTA);
    }
    Ok(())
}

/// Schedules a timer of an actor. Answers its id: keccak256(actor ‖ height ‖ payload ‖ the actor's timer nonce) (decision 128).
pub fn schedule(context: &mut Context<'_>, actor: Address, request: Request) -> Step<Hash> {
    let mut record = context.world.actor(actor)?.ok_or(error::ACTOR_NOT_FOUND)?;
    let mut book = context.world.read::<TimerBook>(&keys::timers())?.unwrap_or(TimerBook { sequence: Count::ZERO, live: Count::ZERO });
    refusal(context, actor, &request, record.timers_live.0)?;
    let id = keccak256(&[&actor.0, &request.height.0.to_be_bytes(), &request.payload, &record.timers_set.0.to_be_bytes()]);
    let rows = &context.params.timers;
    let timer = Timer {
        actor,
        height: request.height,
        sequence: book.sequence,
        handler: request.handler,
        payload_bytes: Count(u64::try_from(request.payload.len()).expect("a payload's length fits")),
        fee_payer: request.fee_payer.unwrap_or(actor),
        cycles_limit: request.cycles_limit.unwrap_or(Cycles(rows.cycles_per_fire)),
        cells_limit: request.cells_limit.unwrap_or(Cells(rows.cells_per_fire)),
        expires_at: request.expires_at.unwrap_or(Height(context.height.0.saturating_add(rows.ttl_blocks))),
        created_at: context.height,
        max_fee_per_cycle: Price::ZERO,
        priority_per_cycle: Price::ZERO,
    };
    Directory::timers().insert(context.world, &listing(timer.height, timer.sequence, &id))?;
    Directory::timers_of(actor).insert(context.world, &id.0)?;
    book.sequence = Count(book.sequence.0 + 1);
    book.live = Count(book.live.0 + 1);
    record.timers_set = Count(record.timers_set.0 + 1);
    record.timers_live = Count(record.timers_live.0 + 1);
    if !request.payload.is_empty() {
        context.world.put(keys::timer_payload(&id), Some(request.payload.bytes().clone()));
    }
    context.world.write(keys::timer(&id), &timer);
    context.world.write(keys::timers(), &book);
    context.world.set_actor(actor, &record);
    Ok(id)
}

/// A live timer.
pub fn read(world: &World, id: &Hash) -> Step<Timer> {
    Ok(world.read(&keys::timer(id))?.ok_or(error::TIMER_NOT_FOUND)?)
}

/// A timer's payload.
pub fn payload(world: &World, id: &Hash, timer: &Timer) -> Result<bytes::Bytes, cowboy_state::Miss> {
    if timer.payload_bytes == Count::ZERO {
        return Ok(bytes::Bytes::new());
    }
    Ok(world.get(&keys::timer_payload(id))?.cloned().expect("a timer with a payload has its record"))
}

/// Takes a timer out of the book: it fired, expired, could not be paid, or was cancelled.
pub fn remove(world: &mut World, id: &Hash, timer: &Timer) -> Result<(), cowboy_state::Miss> {
    let mut record = world.actor(timer.actor)?.expect("an actor with a timer exists");
    let mut book = world.read::<TimerBook>(&keys::timers())?.expect("a timer was scheduled, so there is a book");
    Directory::timers().remove(world, &listing(timer.height, timer.sequence, id))?;
    Directory::timers_of(timer.actor).remove(world, &id.0)?;
    record.timers_live = Count(record.timers_live.0 - 1);
    book.live = Count(book.live.0 - 1);
    world.remove(keys::timer(id));
    if timer.payload_bytes > Count::ZERO {
        world.require([&keys::timer_payload(id)])?;
        world.remove(keys::timer_payload(id));
    }
    world.write(keys::timers(), &book);
    world.set_actor(timer.actor, &record);
    Ok(())
}

/// Moves a timer's last height: not before it is due, not beyond the longest time to live.
pub fn extend(context: &mut Context<'_>, id: &Hash, mut timer: Timer, expires_at: Height) -> Step<()> {
    let latest = Height(context.height.0.saturating_add(context.params.timers.ttl_blocks));
    if expires_at < timer.height || expires_at > latest {
        return Err(error::TIMER_EXPIRY.into());
    }
    timer.expires_at = expires_at;
    context.world.write(keys::timer(id), &timer);
    Ok(())
}
