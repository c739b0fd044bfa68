//! CBY that the Dispatcher holds for its jobs: what is paid out of it, and what is destroyed.

use super::NUMBER;
use cowboy_state::{Miss, World};
use cowboy_types::Address;
use cowboy_types::units::Amount;

const OWNER: Address = Address::system(NUMBER);

/// Pays CBY that the Dispatcher holds.
pub(crate) fn pay_out(world: &mut World, to: Address, amount: Amount) -> Result<(), Miss> {
    let was_there = world.debit(OWNER, amount)?;
    assert!(was_there, "the Dispatcher holds what its jobs do");
    world.credit(to, amount)
}

/// Destroys CBY that the Dispatcher holds.
pub(super) fn burn(world: &mut World, amount: Amount) -> Result<(), Miss> {
    let was_there = world.debit(OWNER, amount)?;
    assert!(was_there, "the Dispatcher holds what its jobs do");
    world.burn(amount)
}
