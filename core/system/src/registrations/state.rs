//! Where the records of names stand. No other file spells their keys.

use super::types::{NAME_BYTES, Registration};
use super::{NUMBER, label};
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::Address;
use cowboy_types::units::Height;

/// Every name.
pub const fn names() -> Directory {
    Directory::of_system(Address::system(NUMBER), 32)
}

/// The names of actors: an address, then the name. A name is listed where its owner is the actor, or owned it when the record was written.
pub const fn names_of_actors() -> Directory {
    Directory::of_system(Address::system(NUMBER), 33)
}

/// A name's registration.
pub fn key(name: &str) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [b"name:", name.as_bytes()].concat())
}

fn listing(actor: Address, name: &str) -> Vec<u8> {
    [&actor.0, name.as_bytes()].concat()
}

/// A name's own record, whether it still counts or not.
pub fn registration(world: &World, name: &str) -> Result<Option<Registration>, Miss> {
    world.read(&key(name))
}

/// Whether a name is owned by the actor that answers to it, or by the owner of that actor. Anybody may point a name at an actor of somebody
/// else, who has no say in it.
pub fn is_own(world: &World, record: &Registration) -> Result<bool, Miss> {
    let owner = record.owner;
    Ok(owner == record.actor || world.actor(record.actor)?.is_some_and(|actor| actor.owner == owner))
}

/// Writes a name's record, and moves its place in the directories.
pub fn set(world: &mut World, name: &str, record: &Registration) -> Result<(), Miss> {
    let is_own = is_own(world, record)?;
    match registration(world, name)? {
        Some(before) if before.actor == record.actor && is_own => {}
        Some(before) => {
            names_of_actors().remove(world, &listing(before.actor, name))?;
        }
        None => {
            names().insert(world, name.as_bytes())?;
        }
    }
    if is_own {
        names_of_actors().insert(world, &listing(record.actor, name))?;
    }
    world.write(key(name), record);
    Ok(())
}

/// Removes a name's record, and its places in the directories.
pub fn remove(world: &mut World, name: &str, record: &Registration) -> Result<(), Miss> {
    names().remove(world, name.as_bytes())?;
    names_of_actors().remove(world, &listing(record.actor, name))?;
    world.remove(key(name));
    Ok(())
}

/// The names that are listed for an actor, ascending, whether they still count or not; at most so many.
pub fn of_actor(world: &World, actor: Address, limit: usize) -> Result<Vec<String>, Miss> {
    let listed = names_of_actors().list(world, &actor.0, limit)?;
    let own = listed.iter().filter_map(|name| name.strip_prefix(&actor.0[..]));
    Ok(own.map(|name| String::from_utf8_lossy(name).into_owned()).collect())
}

/// A registration that counts at a height, with the height at which it no longer does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// The name that was registered.
    pub name: String,
    /// Its record.
    pub record: Registration,
    /// When it ends: its own expiry, or that of the rented name above.
    pub expires_at: Height,
}

/// The registration of exactly this name, where it counts at the height.
pub fn live(world: &World, name: &str, height: Height) -> Result<Option<Live>, Miss> {
    world.require([&key(name), &key(label::root_of(name))])?;
    let (Some(record), Some(root)) = (registration(world, name)?, registration(world, label::root_of(name))?) else { return Ok(None) };
    let expires_at = record.expires_at.min(root.expires_at);
    let is_of_root = record.root_registered_at == root.registered_at;
    let counts = is_of_root && height < expires_at;
    Ok(counts.then(|| Live { name: name.to_string(), record, expires_at }))
}

/// What answers to a name at a height: its own registration, or else that of the nearest name above (004 §7.2).
pub fn resolve(world: &World, name: &str, height: Height) -> Result<Option<Live>, Miss> {
    if name.len() > NAME_BYTES {
        return Ok(None);
    }
    let all: Vec<&str> = core::iter::once(name).chain(label::above(name)).collect();
    world.require(&all.iter().map(|name| key(name)).collect::<Vec<_>>())?;
    for name in all {
        if let Some(found) = live(world, name, height)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}
