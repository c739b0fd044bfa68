//! Where the records of rent stand. No other file spells their keys, but those of rent accounts.

use super::NUMBER;
use super::types::Dormancy;
pub use crate::rent_accounts::{account, account_key, listed, listing, remove_account, set_account};
use cowboy_state::{Key, Kind, Miss, World};
use cowboy_types::{Address, Hash};

fn of(prefix: &str, actor: Address, rest: &[u8]) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [prefix.as_bytes(), &actor.0, rest].concat())
}

/// What it takes to bring a dormant actor back.
pub fn dormancy_key(actor: Address) -> Key {
    of("dormant:", actor, &[])
}

/// The hash of a pruned chunk that is missing.
pub fn chunk_key(actor: Address, chunk: u64) -> Key {
    of("pruned:", actor, &chunk.to_be_bytes())
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
