//! Deposits for records that nobody pays rent for, and that stand until somebody removes them (decision 368).
//!
//! Invariant: a system actor has at least the deposits that its records name.

use crate::actor::Context;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::Amount;
use cowboy_types::{Address, error};

/// Bytes of a record that one deposit covers. A larger record has one for each part of this size that it begins (decision 744).
const COVERED: usize = 1_024;

/// Takes the deposit of one small record out of an account's balance. A system actor keeps it. Answers how much it is; fails where the balance does
/// not cover it.
pub(crate) fn take(context: &mut Context<'_>, keeper: u8, from: Address) -> Step<Amount> {
    take_for(context, keeper, from, COVERED)
}

/// The same for a record of `bytes` bytes.
pub(crate) fn take_for(context: &mut Context<'_>, keeper: u8, from: Address, bytes: usize) -> Step<Amount> {
    let parts = u64::try_from(bytes.div_ceil(COVERED)).unwrap_or(u64::MAX);
    let deposit = Amount(context.params.rent.record_deposit.saturating_mul(parts));
    if !context.world.debit(from, deposit)? {
        return Err(error::RECORD_DEPOSIT.into());
    }
    context.world.credit(Address::system(keeper), deposit)?;
    Ok(deposit)
}

/// Gives a deposit back, once its record is removed.
pub(crate) fn give_back(world: &mut World, keeper: u8, to: Address, deposit: Amount) -> Result<(), Miss> {
    assert!(world.debit(Address::system(keeper), deposit)?, "a system actor has the deposits of its records");
    world.credit(to, deposit)
}
