//! Roots of partitions: committing one, and going back to the one before (decision 153).

use super::api::{Commit, ManifestCommitted, Revert};
use super::forms::Acknowledgement;
use super::keys::standing_version;
use super::placement::{self, Now};
use super::status::{own, restate};
use super::types::{Keys, Listed, Partition, Root, Status, Volume, bit};
use super::{capabilities, ledger, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use crate::staking::possession;
use crate::standstill::VOLUMES;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::Count;
use cowboy_types::{Hash, List, Text, error};
use cowboy_volumes::name::manifest_root;
use cowboy_volumes::relay::Succession;
use cowboy_volumes::tree::MAX_DEPTH;
use cowboy_volumes::{Node, Top};

/// The root of a volume's manifest.
pub(super) fn manifest(volume: &Volume) -> Hash {
    manifest_root(volume.partitions.iter().map(|listed| (&listed.partition, &listed.root)))
}

/// Whether shards of `bytes` bytes a slot fit the quota.
fn fits(volume: &Volume, bytes: u64) -> bool {
    bytes.checked_mul(u64::from(volume.code.data)).is_some_and(|bytes| bytes <= volume.quota)
}

/// Puts a root in the place of another one, which the slots of `was_behind` had not acknowledged: in the partition's record, in the volume's list,
/// in the relays' directories.
fn replace(context: &mut Context<'_>, id: &Hash, mut volume: Volume, name: Hash, partition: &Partition, was_behind: u32) -> Step<()> {
    let (params, top) = (context.params, &partition.root.top);
    let mut listed = std::mem::take(&mut volume.partitions).into_vec();
    let spare = partition.previous.as_ref().map_or(0, |previous| previous.top.node.sum.saturating_sub(top.node.sum));
    let entry = Listed { partition: name, root: top.root(), bytes: top.node.sum, spare };
    let (before, spared) = match listed.binary_search_by_key(&name, |listed| listed.partition) {
        Ok(place) => {
            let replaced = std::mem::replace(&mut listed[place], entry);
            (replaced.bytes, replaced.spare)
        }
        Err(place) => {
            listed.insert(place, entry);
            (0, 0)
        }
    };
    volume.partitions = List::new(listed).ok_or(error::VOLUME_LIMIT)?;
    ledger::count(params, &mut volume, context.height);
    volume.spare = volume.spare.saturating_sub(spared).saturating_add(spare);
    let bytes = volume.bytes.saturating_sub(before).checked_add(top.node.sum).ok_or(error::VOLUME_FULL)?;
    let grows = bytes > volume.bytes;
    if grows && !fits(&volume, bytes) {
        return Err(error::VOLUME_FULL.into());
    }
    if grows && !ledger::lasts(params, &volume, bytes) {
        return Err(error::VOLUME_ESCROW.into());
    }
    // What relays did not acknowledge is not stored with them, and not paid for.
    ledger::change_slots(&mut volume, |place, slot| {
        let missing = |behind: u32, bytes: u64| if behind & bit(place) == 0 { 0 } else { bytes };
        if slot.place.is_some() {
            let rest = slot.missing.saturating_sub(missing(was_behind, before));
            slot.missing = rest.saturating_add(missing(partition.root.behind, top.node.sum));
            slot.catch_up(params, bytes);
        }
    });
    let delta = i64::try_from(i128::from(bytes).saturating_sub(i128::from(volume.bytes))).unwrap_or(i64::MAX);
    if bytes != volume.bytes {
        volume.bytes = bytes;
        context.charge_records(volume.slots.len().saturating_mul(3));
        placement::resize(context.world, &volume)?;
    }
    restate(context.world, params, id, &mut volume);
    context.charge_kept(&volume);
    context.world.write(state::partition_key(id, &name), partition);
    state::set_volume(context.world, id, Some(volume.next_look), &volume)?;
    let event = ManifestCommitted {
        height: context.height,
        key_version: partition.root.key_version,
        manifest_root: manifest(&volume),
        partition: name,
        root: top.root(),
        size_delta: delta,
        visibility: Text::new(if volume.keys == Keys::Public { "public" } else { "private" }).expect("it is short"),
        volume_id: *id,
    };
    event.emit(context.world);
    Ok(())
}

/// Which slots acknowledged a root: as bits, where enough did and each signature is right. Slots ascend.
fn acknowledged(context: &mut Context<'_>, volume: &Volume, succession: &Succession, sum: u64, acks: &[Acknowledgement]) -> Step<u32> {
    let mut bits = 0;
    let is_ascending = acks.is_sorted_by(|one, next| one.slot < next.slot);
    if !is_ascending || acks.len() < volume.code.quorum() {
        return Err(error::COMMIT_ACKS.into());
    }
    let genesis = context.genesis;
    for ack in acks {
        context.spend(context.params.costs.storage_read, context.params.weights.verify_ed25519)?;
        let place = usize::from(ack.slot);
        let address = volume.slots.get(place).and_then(super::types::Slot::serving).ok_or(error::COMMIT_ACKS)?;
        let relay = state::relay(context.world, address)?.ok_or(error::COMMIT_ACKS)?;
        if !possession::network_key_signs(&relay.key, &succession.message(&genesis, ack.slot, sum), ack.signature.0) {
            return Err(error::COMMIT_ACKS.into());
        }
        bits |= bit(place);
    }
    Ok(bits)
}

/// The newest version of a partition's key once a root under this version stands: files are under the version of the standing root, or, where the
/// owner rewrites a private partition, under the next one (decision 603).
fn newest_key_version(context: &mut Context<'_>, volume: &Volume, found: Option<&Partition>, version: u64, is_holder: bool) -> Step<u64> {
    let standing = standing_version(volume, found);
    if version == standing {
        return Ok(found.map_or(standing, |found| found.key_version));
    }
    let next = found.and_then(|found| found.next_key_version(volume.generation));
    if next != Some(version) || volume.keys == Keys::Public {
        context.explanation = Some(format!("The files that stand are under version {standing}, and these under {version}."));
        return Err(error::KEY_VERSION.into());
    }
    if is_holder { Err(error::CAPABILITY_REFUSED.into()) } else { Ok(version) }
}

impl Handle for Commit {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { volume: id, partition: name, old, depth, leaves, node, sum, acks, until, key_version, capability } = self;
        if until < context.height.0 {
            return Err(error::COMMIT_ACKS.into());
        }
        let volume = state::volume(context.world, &id)?.ok_or(error::VOLUME_NOT_FOUND)?;
        if volume.status == Status::Deleted {
            return Err(error::VOLUME_STATE.into());
        }
        let found = state::partition(context.world, &id, &name)?;
        let standing = found.as_ref().map_or(Hash::ZERO, |partition| partition.root.top.root());
        if standing != old {
            return Err(error::COMMIT_CONFLICT.into());
        }
        let newest = newest_key_version(context, &volume, found.as_ref(), key_version, capability.is_some())?;
        let leaves = u32::try_from(leaves).ok().filter(|_| depth <= MAX_DEPTH).ok_or(error::VOLUME_INVALID)?;
        let top = Top { depth, leaves, node: Node { hash: node, sum } };
        let before = found.as_ref().map_or(0, |partition| partition.root.top.node.sum);
        let added = sum.saturating_sub(before).saturating_mul(u64::from(volume.code.data));
        capabilities::use_to_write(context, &id, &volume, &name, capability, added)?;
        // Nobody but the owner deletes. Relays see which files there are, and the chain how many.
        if capability.is_some() && found.as_ref().is_some_and(|partition| partition.root.top.leaves > top.leaves) {
            return Err(error::CAPABILITY_REFUSED.into());
        }
        let sequence = found.as_ref().map_or(Count::ZERO, |partition| partition.sequence).0.saturating_add(1);
        let succession = Succession { volume: id, generation: volume.generation.0, partition: name, sequence, old, new: top.root(), until };
        let bits = acknowledged(context, &volume, &succession, sum, &acks)?;
        let serving = volume.slots.iter().enumerate().filter(|(_, slot)| slot.relay.is_some());
        let behind = serving.fold(0, |behind, (place, _)| behind | bit(place)) & !bits;
        let root = Root { top, at: context.height, behind, key_version };
        let was_behind = found.as_ref().map_or(0, |partition| partition.root.behind);
        let partition = match found {
            Some(found) => Partition { previous: Some(found.root), root, sequence: Count(sequence), key_version: newest },
            None => Partition { previous: None, root, sequence: Count(1), key_version: newest },
        };
        replace(context, &id, volume, name, &partition, was_behind)
    }
}

/// Forgets the roots of a volume that cannot come back any more: relays keep and the volume pays nothing for them from now on.
pub(super) fn forget(world: &mut World, now: Now<'_>, id: &Hash, volume: &mut Volume) -> Result<(), Miss> {
    let keys: Vec<_> = volume.partitions.iter().map(|listed| state::partition_key(id, &listed.partition)).collect();
    world.require(&keys)?;
    let mut all = std::mem::take(&mut volume.partitions).into_vec();
    for listed in &mut all {
        let mut partition = state::partition(world, id, &listed.partition)?.expect("a listed partition has a record");
        if partition.previous.is_none() || partition.can_revert(now.params, now.still, now.height) {
            continue;
        }
        partition.previous = None;
        volume.spare = volume.spare.saturating_sub(std::mem::take(&mut listed.spare));
        world.write(state::partition_key(id, &listed.partition), &partition);
    }
    volume.partitions = List::new(all).expect("as many as before");
    Ok(())
}

impl Handle for Revert {
    /// Puts the root before the standing one back, with the version of its key, while relays keep it. The standing one is lost.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { volume: id, partition: name } = self;
        let volume = own(context, &id)?;
        if volume.status == Status::Deleted {
            return Err(error::VOLUME_STATE.into());
        }
        let mut partition = state::partition(context.world, &id, &name)?.ok_or(error::VOLUME_NOT_FOUND)?;
        let is_in_time = partition.can_revert(context.params, &VOLUMES.read(context.world)?, context.height);
        let mut previous = partition.previous.take().filter(|_| is_in_time).ok_or(error::COMMIT_REVERT)?;
        // Whoever came after the standing root was committed was never asked to have the one before.
        for (place, slot) in volume.slots.iter().enumerate() {
            if slot.relay.is_some() && slot.since >= partition.root.at {
                previous.behind |= bit(place);
            }
        }
        let was_behind = partition.root.behind;
        partition.root = Root { at: context.height, ..previous };
        partition.sequence = Count(partition.sequence.0.saturating_add(1));
        replace(context, &id, volume, name, &partition, was_behind)
    }
}
