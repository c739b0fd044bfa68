//! Where the guest book keeps its signatures.

use super::NUMBER;
use cowboy_state::{Key, Kind, Miss, World};
use cowboy_types::Address;
use cowboy_types::units::Count;

/// How often a name stands in the book.
pub(super) fn key(name: &str) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), name.as_bytes().to_vec())
}

/// The same, as it is.
pub(super) fn signatures(world: &World, name: &str) -> Result<Count, Miss> {
    Ok(world.read(&key(name))?.unwrap_or_default())
}
