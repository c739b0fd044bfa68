//! Eviction and return: storage goes chunk by chunk, leaves its hashes, and comes back to whoever has it (003 State Rent).
//!
//! A chunk is what stands next in the actor's directory until it has 64 entries or 32 KiB: a transaction can carry it back.
//! What is pruned leaves the state, and a block's outcome hands it to the nodes, which keep it for a while (decision 328).

use super::api::Restored;
use super::rent::{self, Collected, event};
use super::types::{Dormancy, RentAccount};
use super::{NUMBER, state};
use crate::entitlements::lifecycle::Standings;
use crate::entitlements::manifests;
use crate::schema::Emit as _;
use crate::timers;
use cowboy_params::Params;
use cowboy_state::records::{Actor, ActorStatus, keys};
use cowboy_state::{Directory, Key, Miss, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, keccak256};

/// Entries of a chunk.
pub const CHUNK_ENTRIES: usize = 64;

/// Bytes after which a chunk takes no further entry.
pub const CHUNK_BYTES: usize = 32 * 1024;

/// Rent epochs for which every full node keeps a chunk after it was pruned.
pub const KEPT_EPOCHS: u64 = 30;

/// A chunk as it was pruned: what brings it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// The hash that stands in the state while the chunk is missing.
    pub hash: Hash,
    /// What the hash is of: see [`chunk_bytes`].
    pub bytes: Vec<u8>,
    /// The last height at which nodes keep it.
    pub until: Height,
}

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

/// The hash of a chunk: keccak256 of its bytes.
pub fn chunk_hash<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: &[(K, V)]) -> Hash {
    keccak256(&[&chunk_bytes(entries)])
}

/// A chunk in bytes: each key and each value behind its length, four bytes, big-endian.
pub fn chunk_bytes<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: &[(K, V)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in entries {
        for part in [key.as_ref(), value.as_ref()] {
            let length = u32::try_from(part.len()).expect("keys and values are short");
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(part);
        }
    }
    bytes
}

/// The entries of a chunk, or `None` where the bytes are none.
pub fn chunk_entries(bytes: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let (mut entries, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let mut part = || {
            let (length, behind) = rest.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
            let (part, behind) = behind.split_at_checked(length)?;
            rest = behind;
            Some(part.to_vec())
        };
        entries.push((part()?, part()?));
    }
    Some(entries)
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

/// Has a dormant actor run again where its debt is paid and its storage is whole. Answers whether it does.
pub(super) fn wake(world: &mut World, params: &Params, height: Height, actor: Address) -> Result<bool, Miss> {
    let Some(dormancy) = state::dormancy(world, actor)? else { return Ok(false) };
    if !dormancy.is_pruned || dormancy.missing > Count::ZERO || dormancy.debt > Amount::ZERO {
        return Ok(false);
    }
    let mut record = world.actor(actor)?.expect("a dormant actor exists");
    // What it holds may have been removed meanwhile (000 §9.11).
    let standings = Standings::read(world)?;
    let is_executable = standings.rows().is_empty() || standings.are_executable(&manifests::granted(world, actor)?, height);
    record.status = if is_executable { ActorStatus::Active } else { ActorStatus::NonExecutable };
    record.rent_epoch = Count(rent::epoch_of(params, height));
    world.remove(state::dormancy_key(actor));
    world.set_actor(actor, &record);
    rent::enlist(world, params, height, actor, &record)?;
    Ok(true)
}

/// One piece of work on the first actor that is being pruned: some timers, a chunk, or the end. `None` where nobody is.
pub fn prune(world: &mut World, params: &Params, height: Height) -> Result<Option<Collected>, Miss> {
    let Some(name) = Directory::evictions().list(world, &[], 1)?.into_iter().next() else { return Ok(None) };
    let actor = Address(name[..].try_into().expect("the directory lists addresses"));
    let mut collected = Collected { actor, events: Vec::new(), pruned: None };
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
        // Its debt may be paid already, and without storage nobody has anything to bring back.
        if wake(world, params, height, actor)? {
            collected.events.push(Restored { actor }.event());
        }
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
    let bytes = chunk_bytes(&entries);
    let hash = keccak256(&[&bytes]);
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
    let until = Height(height.0.saturating_add(params.rent.epoch.saturating_mul(KEPT_EPOCHS)));
    collected.pruned = Some(Pruned { hash, bytes, until });
    Ok(Some(collected))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk comes back from its bytes, and from nothing else.
    #[test]
    fn chunks_are_read_as_they_are_written() {
        let entries = vec![(b"a".to_vec(), b"".to_vec()), (b"".to_vec(), vec![7; 300])];
        let bytes = chunk_bytes(&entries);
        assert_eq!((chunk_entries(&bytes), chunk_entries(b"")), (Some(entries.clone()), Some(Vec::new())));
        assert_eq!(chunk_hash(&entries), keccak256(&[&bytes]));
        for wrong in [&bytes[..bytes.len() - 1], &bytes[..5], &[0, 0, 0][..], &[255; 8][..]] {
            assert_eq!(chunk_entries(wrong), None, "{wrong:?}");
        }
    }
}
