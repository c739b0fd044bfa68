//! Who rules an actor: what an actor grants binds it while the same account rules it (decision 596).

use crate::actor::Context;
use cowboy_state::{Miss, Step, World};
use cowboy_types::{Address, error};

/// How many owners one above another are followed. An actor below a longer chain grants nothing.
const OWNERS: usize = 8;

/// Who rules an address: it itself unless it is an actor, else who rules its owner. `None` at the end of a longer chain. And how many actors it passed.
fn follow(world: &World, address: Address) -> Result<(Option<Address>, usize), Miss> {
    let mut ruler = address;
    for passed in 0..=OWNERS {
        match world.actor(ruler)? {
            Some(actor) if actor.owner != ruler => ruler = actor.owner,
            _ => return Ok((Some(ruler), passed)),
        }
    }
    Ok((None, OWNERS))
}

/// Who rules the sender where it is an actor; nobody but itself rules an account.
pub(super) fn of_sender(context: &mut Context<'_>) -> Step<Option<Address>> {
    let sender = context.sender;
    if context.world.actor(sender)?.is_none() {
        return Ok(None);
    }
    let (ruler, passed) = follow(context.world, sender)?;
    context.charge_records(passed);
    Ok(Some(ruler.ok_or(error::GRANT_UNAUTHORIZED)?))
}

/// Whether the same account rules who granted something as when it was granted.
pub(super) fn is_the_same(context: &mut Context<'_>, issuer: Address, then: Option<Address>) -> Result<bool, Miss> {
    if then.is_none() {
        return Ok(true);
    }
    let (now, passed) = follow(context.world, issuer)?;
    context.charge_records(passed);
    Ok(now == then)
}

/// The same for execution itself, which pays nobody for reading.
pub(super) fn is_the_same_in(world: &World, issuer: Address, then: Option<Address>) -> Result<bool, Miss> {
    Ok(then.is_none() || follow(world, issuer)?.0 == then)
}
