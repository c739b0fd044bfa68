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

/// The names of actors: the actor, the name's owner, then the name. A name is listed where its owner, which is the actor or owned it then, pointed it there
/// itself (decision 620).
pub const fn names_of_actors() -> Directory {
    Directory::of_system(Address::system(NUMBER), 33)
}

/// A name's registration.
pub fn key(name: &str) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [b"name:", name.as_bytes()].concat())
}

fn listing((actor, owner): (Address, Address), name: &str) -> Vec<u8> {
    [&actor.0, &owner.0, name.as_bytes()].concat()
}

/// A name's own record, whether it still counts or not.
pub fn registration(world: &World, name: &str) -> Result<Option<Registration>, Miss> {
    world.read(&key(name))
}

/// Whether a name is owned by the actor that answers to it, or by the owner of that actor. Anybody may point a name at an actor of somebody
/// else, who has no say in it.
fn is_own(world: &World, record: &Registration) -> Result<bool, Miss> {
    let owner = record.owner;
    Ok(owner == record.actor || world.actor(record.actor)?.is_some_and(|actor| actor.owner == owner))
}

/// Writes a name's record as `by` wants it, and moves its place in the directories. A name that somebody else gave to its owner is not listed before the
/// owner has pointed it at the actor itself: else anybody could fill an actor's list with names that are free for them.
pub fn set(world: &mut World, name: &str, record: &Registration, by: Address) -> Result<(), Miss> {
    let is_listed = by == record.owner && is_own(world, record)?;
    let pair = (record.actor, record.owner);
    match registration(world, name)? {
        Some(before) if (before.actor, before.owner) == pair => {}
        Some(before) => {
            names_of_actors().remove(world, &listing((before.actor, before.owner), name))?;
        }
        None => {
            names().insert(world, name.as_bytes())?;
        }
    }
    if is_listed {
        names_of_actors().insert(world, &listing(pair, name))?;
    }
    world.write(key(name), record);
    Ok(())
}

/// Removes a name's record, and its places in the directories.
pub fn remove(world: &mut World, name: &str, record: &Registration) -> Result<(), Miss> {
    names().remove(world, name.as_bytes())?;
    names_of_actors().remove(world, &listing((record.actor, record.owner), name))?;
    world.remove(key(name));
    Ok(())
}

/// The names from `from` on that are listed for an actor and for who owns it now, ascending, whether they still count or not; at most `limit`.
pub fn of_actor(world: &World, actor: Address, from: &str, limit: usize) -> Result<Vec<String>, Miss> {
    let owner = world.actor(actor)?.map(|record| record.owner).filter(|owner| *owner != actor);
    let mut names = Vec::new();
    for owner in [Some(actor), owner].into_iter().flatten() {
        let prefix = listing((actor, owner), "");
        let listed = names_of_actors().list(world, &listing((actor, owner), from), limit)?;
        let own = listed.iter().map_while(|name| name.strip_prefix(&prefix[..]));
        names.extend(own.map(|name| String::from_utf8_lossy(name).into_owned()));
    }
    names.sort_unstable();
    names.truncate(limit);
    Ok(names)
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
