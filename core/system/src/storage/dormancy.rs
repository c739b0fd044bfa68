//! How an actor becomes dormant (003 State Rent).

use super::types::{Dormancy, RentAccount};
use super::{NUMBER, state};
use cowboy_state::records::{Actor, ActorStatus};
use cowboy_state::{Directory, Miss, World};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash};

/// Makes an actor dormant: it runs no more, its bond is forfeited, and its storage waits for being pruned. Code, address
/// and balance stay.
pub(super) fn begin(world: &mut World, actor: Address, record: &mut Actor, account: &RentAccount) -> Result<(), Miss> {
    state::remove_account(world, actor)?;
    Directory::evictions().insert(world, &actor.0)?;
    // What was prepaid and did not suffice for an epoch is the actor's again.
    assert!(world.debit(Address::system(NUMBER), account.bond.saturating_add(account.prepaid))?, "0x0A holds bonds and what was prepaid");
    world.credit(actor, account.prepaid)?;
    record.status = ActorStatus::Dormant;
    record.storage_quota = Count::ZERO;
    let dormancy = Dormancy { debt: account.debt, chunks: Count::ZERO, missing: Count::ZERO, root: Hash::ZERO, is_pruned: false };
    world.write(state::dormancy_key(actor), &dormancy);
    world.burn(account.bond)
}

/// Prunes a dormant actor again, whose storage came back in part or whose debt stands.
pub(super) fn resume(world: &mut World, actor: Address) -> Result<(), Miss> {
    state::remove_account(world, actor)?;
    let mut dormancy = state::dormancy(world, actor)?.expect("a dormant actor has a record of it");
    dormancy.is_pruned = false;
    world.write(state::dormancy_key(actor), &dormancy);
    Directory::evictions().insert(world, &actor.0)?;
    Ok(())
}
