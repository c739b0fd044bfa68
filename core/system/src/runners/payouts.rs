//! What the Runner Registry pays, and from when.

use super::NUMBER;
use crate::standstill::Standstill;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::Address;
use cowboy_types::units::{Amount, Height};

const OWNER: Address = Address::system(NUMBER);

/// When stake is free that was asked back for a height: later by the blocks since then in which the market stood still, so that nobody
/// leaves before what stood still is decided.
pub(super) fn free_at(params: &Params, standstill: &Standstill, release: Height) -> Height {
    standstill.ending(release, params.consensus.unbonding)
}

/// Pays CBY that the registry holds.
pub(super) fn pay_out(world: &mut World, to: Address, amount: Amount) -> Result<(), Miss> {
    let was_there = world.debit(OWNER, amount)?;
    assert!(was_there, "the registry holds all stakes and deposits");
    world.credit(to, amount)
}
