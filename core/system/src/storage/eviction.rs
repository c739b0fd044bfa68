//! Eviction and return: storage goes chunk by chunk, leaves its hashes, and comes back to whoever has it (003 State Rent).
//!
//! A chunk is what stands next in the actor's directory until it has 64 entries or 32 KiB: a transaction can carry it back.

use super::rent::{Collected, event};
use super::types::{Dormancy, RentAccount};
use super::{NUMBER, state};
use crate::timers;
use cowboy_state::records::{Actor, ActorStatus, keys};
use cowboy_state::{Directory, Key, Miss, World};
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash, keccak256};

/// Entries of a chunk.
pub const CHUNK_ENTRIES: usize = 64;

/// Bytes after which a chunk takes no further entry.
pub const CHUNK_BYTES: usize = 32 * 1024;

/// Whether a chunk with these numbers of entries and bytes is full.
const fn is_full(entries: usize, bytes: usize) -> bool {
    entries >= CHUNK_ENTRIES || bytes >= CHUNK_BYTES
}

/// An actor's entries, ascending by key, in the chunks in which an eviction prunes them.
pub fn chunks<T>(entries: impl IntoIterator<Item = T>, bytes_of: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let (mut chunks, mut chunk, mut bytes) = (Vec::new(), Vec::new(), 0usize);
    for entry in entries {
        bytes = bytes.saturating_add(bytes_of(&entry));
        chunk.push(entry);
        if is_full(chunk.len(), bytes) {
            chunks.push(std::mem::take(&mut chunk));
            bytes = 0;
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

/// The hash of a chunk: keccak256 over each key's and value's length, four bytes, and bytes.
pub fn chunk_hash<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: &[(K, V)]) -> Hash {
    let mut bytes = Vec::new();
    for (key, value) in entries {
        for part in [key.as_ref(), value.as_ref()] {
            let length = u32::try_from(part.len()).expect("keys and values are short");
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(part);
        }
    }
    keccak256(&[&bytes])
}

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

/// One piece of work on the first actor that is being pruned: some timers, a chunk, or the end. `None` where nobody is.
pub fn prune(world: &mut World) -> Result<Option<Collected>, Miss> {
    let Some(name) = Directory::evictions().list(world, &[], 1)?.into_iter().next() else { return Ok(None) };
    let actor = Address(name[..].try_into().expect("the directory lists addresses"));
    let mut collected = Collected { actor, events: Vec::new() };
    let timers = Directory::timers_of(actor).list(world, &[], CHUNK_ENTRIES)?;
    if !timers.is_empty() {
        for id in timers {
            let id = Hash(id[..].try_into().expect("the directory lists ids"));
            let timer = world.read(&keys::timer(&id))?.expect("a listed timer is there");
            timers::remove(world, &id, &timer)?;
        }
        return Ok(Some(collected));
    }
    let mut dormancy = state::dormancy(world, actor)?.expect("an actor that is being pruned is dormant");
    let names = Directory::storage(actor).list(world, &[], CHUNK_ENTRIES)?;
    if names.is_empty() {
        dormancy.is_pruned = true;
        world.write(state::dormancy_key(actor), &dormancy);
        Directory::evictions().remove(world, &actor.0)?;
        collected.events.push(event("rent.pruned", actor, [("chunks", dormancy.chunks.0), ("debt", dormancy.debt.0)]));
        return Ok(Some(collected));
    }
    let records: Vec<Key> = names.iter().map(|name| Key::storage(actor, name.clone())).collect();
    world.require(&records)?;
    let (mut entries, mut size) = (Vec::new(), 0usize);
    for record in records {
        let value = world.get(&record)?.cloned().expect("the directory lists only keys that are there");
        size += record.name.len() + value.len();
        entries.push((record.name.clone(), value));
        if is_full(entries.len(), size) {
            break;
        }
    }
    let mut record = world.actor(actor)?.expect("a dormant actor exists");
    let hash = chunk_hash(&entries);
    for (name, _) in &entries {
        Directory::storage(actor).remove(world, name)?;
        world.remove(Key::storage(actor, name.clone()));
    }
    world.put(state::chunk_key(actor, dormancy.chunks.0), Some(hash.0.to_vec().into()));
    dormancy.root = keccak256(&[&dormancy.root.0, &hash.0]);
    dormancy.chunks = Count(dormancy.chunks.0 + 1);
    dormancy.missing = Count(dormancy.missing.0 + 1);
    record.storage_bytes = Count(record.storage_bytes.0.saturating_sub(u64::try_from(size).expect("a chunk is small")));
    world.write(state::dormancy_key(actor), &dormancy);
    world.set_actor(actor, &record);
    Ok(Some(collected))
}
