//! Eviction and return: storage goes chunk by chunk, leaves its hashes, and comes back to whoever has it (003 State Rent).
//!
//! What is pruned leaves the state, and a block's outcome hands it to the nodes, which keep it for a while (decision 328).

use super::api::{Restored, StoragePruned};
use super::chunks::{CHUNK_ENTRIES, KEPT_EPOCHS, Pruned, chunk_bytes, is_full};
use super::rent::{self, Collected};
use super::state;
use crate::entitlements::lifecycle::Standings;
use crate::entitlements::manifests;
use crate::schema::Emit as _;
use crate::timers;
use cowboy_params::Params;
use cowboy_state::records::{ActorStatus, keys};
use cowboy_state::{Directory, Key, Miss, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Hash, keccak256};

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
    state::remove_account(world, actor)?;
    rent::enlist(world, params, height, actor, &record)?;
    Ok(true)
}

/// One piece of work on the first actor that is being pruned: some timers, a chunk, or the end. `None` where nobody is.
pub fn prune(world: &mut World, params: &Params, height: Height) -> Result<Option<Collected>, Miss> {
    let Some(name) = Directory::evictions().list(world, &[], 1)?.into_iter().next() else { return Ok(None) };
    let actor = Address(name[..].try_into().expect("the directory lists addresses"));
    let mut collected = Collected::new(params, actor);
    let timers = Directory::timers_of(actor).list(world, &[], CHUNK_ENTRIES)?;
    if !timers.is_empty() {
        collected.count(params, timers.len(), 0);
        for id in timers {
            let id = Hash(id[..].try_into().expect("the directory lists ids"));
            let timer = world.read(&keys::timer(&id))?.expect("a listed timer is there");
            timers::remove(world, height, &id, &timer)?;
        }
        return Ok(Some(collected));
    }
    let mut dormancy = state::dormancy(world, actor)?.expect("an actor that is being pruned is dormant");
    let names = Directory::storage(actor).list(world, &[], CHUNK_ENTRIES)?;
    if names.is_empty() {
        dormancy.is_pruned = true;
        world.write(state::dormancy_key(actor), &dormancy);
        Directory::evictions().remove(world, &actor.0)?;
        collected.events.push(StoragePruned { actor, chunks: dormancy.chunks, debt: dormancy.debt }.event());
        // Its debt may be paid already, and without storage nobody has anything to bring back.
        if wake(world, params, height, actor)? {
            collected.events.push(Restored { actor }.event());
        }
        return Ok(Some(collected));
    }
    let records: Vec<Key> = names.iter().map(|name| Key::storage(actor, name.clone())).collect();
    world.require(&records)?;
    // All of them were read, also those that the chunk does not take.
    let mut read = 0usize;
    for record in &records {
        read = read.saturating_add(world.get(record)?.map_or(0, |value| value.len()));
    }
    collected.count(params, records.len(), read);
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
