//! Where the records of rent stand. No other file spells their keys.

use super::NUMBER;
use super::types::{Dormancy, RentAccount};
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash};

fn of(prefix: &str, actor: Address, rest: &[u8]) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [prefix.as_bytes(), &actor.0, rest].concat())
}

/// An actor's rent account.
pub fn account_key(actor: Address) -> Key {
    of("rent:", actor, &[])
}

/// What it takes to bring a dormant actor back.
pub fn dormancy_key(actor: Address) -> Key {
    of("dormant:", actor, &[])
}

/// The hash of a pruned chunk that is missing.
pub fn chunk_key(actor: Address, chunk: u64) -> Key {
    of("pruned:", actor, &chunk.to_be_bytes())
}

/// An actor's place in the directory of collections: by height, then address.
pub fn listing(height: Height, actor: Address) -> Vec<u8> {
    [&height.0.to_be_bytes()[..], &actor.0].concat()
}

/// The height and actor of a place in the directory of collections.
pub fn listed(name: &[u8]) -> (Height, Address) {
    let (height, actor) = name.split_at(8);
    let height = u64::from_be_bytes(height.try_into().expect("a place begins with eight bytes"));
    (Height(height), Address(actor.try_into().expect("a place ends with an address")))
}

/// An actor's rent account, where it has one.
pub fn account(world: &World, actor: Address) -> Result<Option<RentAccount>, Miss> {
    world.read(&account_key(actor))
}

/// Writes an actor's rent account, and moves its place in the directory where that changed.
pub fn set_account(world: &mut World, actor: Address, record: &RentAccount) -> Result<(), Miss> {
    let before = account(world, actor)?.map(|before| before.next_at);
    if before != Some(record.next_at) {
        if let Some(before) = before {
            Directory::rents().remove(world, &listing(before, actor))?;
        }
        Directory::rents().insert(world, &listing(record.next_at, actor))?;
    }
    world.write(account_key(actor), record);
    Ok(())
}

/// Takes an actor out of the books of rent.
pub fn remove_account(world: &mut World, actor: Address) -> Result<(), Miss> {
    if let Some(account) = account(world, actor)? {
        Directory::rents().remove(world, &listing(account.next_at, actor))?;
        world.remove(account_key(actor));
    }
    Ok(())
}

/// What it takes to bring an actor back, where it is dormant.
pub fn dormancy(world: &World, actor: Address) -> Result<Option<Dormancy>, Miss> {
    world.read(&dormancy_key(actor))
}

/// The hash of a pruned chunk, where it is missing.
pub fn chunk(world: &World, actor: Address, chunk: u64) -> Result<Option<Hash>, Miss> {
    let bytes = world.get(&chunk_key(actor, chunk))?;
    Ok(bytes.map(|bytes| Hash(bytes[..].try_into().expect("a chunk's record is its hash"))))
}
