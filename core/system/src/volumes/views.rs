//! What others read of volumes and relays.

use super::api::{GetCap, GetPartition, GetVolume, ListCaps, ListVolumes, ReferTo};
use super::forms::{
    DescribedCapability, DescribedDemand, DescribedPartition, DescribedPoint, DescribedRelay, DescribedRoot, DescribedRound, DescribedSlot,
    DescribedTop, DescribedVolume,
};
use super::relay_api::{GetDemand, GetPool, GetRelay, GetRound, ListRelays};
use super::types::{Capability, Keys, Point, Relay, Root, Slot, Status, Volume};
use super::{commits, ledger, state, status};
use crate::actor::{Context, Handle};
use crate::standstill::{Standstill, VOLUMES};
use cowboy_state::Step;
use cowboy_types::units::Amount;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text, error};
use cowboy_volumes::BlobRef;
use cowboy_volumes::code::OBJECT_BYTES;

/// Entries of a list that a view returns, at most.
const LISTED: usize = 256;

/// Relays that a view returns, at most.
const RELAYS: usize = 64;

pub(super) fn described_relay(context: &Context<'_>, still: &Standstill, address: Address, record: &Relay) -> DescribedRelay {
    DescribedRelay {
        address,
        ask: record.ask,
        capacity: record.capacity,
        certificate: record.certificate,
        endpoint: record.endpoint.clone(),
        gave_way_at: record.gave_way_at,
        is_eligible: record.is_eligible(context.params, still, context.height),
        is_healthy: record.is_healthy(context.params, still, context.height),
        key: record.key,
        last_heartbeat: record.last_heartbeat,
        left_at: record.left_at,
        misses: record.misses,
        next_draw: record.draw_at,
        port: record.port,
        region: record.region.clone(),
        registered_at: record.registered_at,
        reserved: record.reserved,
        rests_until: Some(record.rests_until).filter(|_| record.rests(context.height)),
        slots: record.slots,
        stake: record.stake,
    }
}

fn described_slot(slot: &Slot) -> DescribedSlot {
    DescribedSlot { is_serving: slot.place.is_some(), price: slot.price, relay: slot.relay, since: slot.since }
}

pub(super) fn described_volume(context: &Context<'_>, id: &Hash, record: &Volume) -> DescribedVolume {
    let mut counted = record.clone();
    ledger::count(context.params, &mut counted, context.height);
    let roots =
        record.partitions.iter().map(|listed| DescribedRoot { bytes: listed.bytes, partition: listed.partition, root: listed.root });
    DescribedVolume {
        bytes: record.bytes,
        data: record.code.data,
        deleted_at: record.deleted_at,
        escrow: record.escrow,
        keys: status::keys_name(record.keys),
        manifest_root: commits::manifest(record),
        max_price: record.max_price,
        owed: ledger::owed(context.params, &counted),
        owner: record.owner,
        parity: record.code.parity,
        partitions: List::new(roots.collect()).expect("as many as in the record"),
        per_epoch: ledger::volume_cost(context.params, record, record.bytes),
        quota: record.quota,
        slots: List::new(record.slots.iter().map(described_slot).collect()).expect("as many as in the record"),
        status: status::status_name(record.status),
        volume_id: *id,
    }
}

impl Handle for GetVolume {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedVolume>> {
        let record = state::volume(context.world, &self.volume)?;
        Ok(record.map(|record| described_volume(context, &self.volume, &record)))
    }
}

impl Handle for ListVolumes {
    fn handle(self, context: &mut Context<'_>) -> Step<List<Hash, LISTED>> {
        let first = self.first.map_or_else(Vec::new, |first| first.0.to_vec());
        let names = state::volumes_of(self.account).list(context.world, &first, LISTED)?;
        context.charge_records(names.len());
        let ids = names.iter().map(|name| Hash(name[..].try_into().expect("the directory lists ids"))).collect();
        Ok(List::new(ids).expect("the list is bounded"))
    }
}

impl Handle for ReferTo {
    fn handle(self, context: &mut Context<'_>) -> Step<Fixed<64>> {
        let record = state::volume(context.world, &self.volume)?.ok_or(error::VOLUME_NOT_FOUND)?;
        if record.status == Status::Deleted {
            return Err(error::VOLUME_STATE.into());
        }
        if self.size > OBJECT_BYTES {
            return Err(error::VOLUME_INVALID.into());
        }
        let reference = BlobRef::new(&self.volume, record.keys == Keys::Public, self.hash, self.size);
        Ok(Fixed(reference.to_bytes()))
    }
}

fn described_top(root: &Root) -> DescribedTop {
    let top = &root.top;
    DescribedTop {
        at: root.at,
        behind: u64::from(root.behind),
        depth: top.depth,
        key_version: root.key_version,
        leaves: u64::from(top.leaves),
        node: top.node.hash,
        root: top.root(),
        sum: top.node.sum,
    }
}

impl Handle for GetPartition {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedPartition>> {
        let record = state::partition(context.world, &self.volume, &self.partition)?;
        Ok(record.map(|record| DescribedPartition {
            key_version: record.key_version,
            previous: record.previous.as_ref().map(described_top),
            root: described_top(&record.root),
            sequence: record.sequence,
        }))
    }
}

fn described_capability(id: Fixed<16>, record: &Capability) -> DescribedCapability {
    DescribedCapability {
        capability: id,
        from: record.from,
        holder: record.holder,
        job: record.job,
        max_bytes: record.max_bytes,
        mode: Text::new(record.mode.letters()).expect("it is short"),
        partition: record.partition,
        until: record.until,
        used_bytes: record.used_bytes,
        volume_id: record.volume,
    }
}

impl Handle for GetCap {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedCapability>> {
        let record = state::capability(context.world, &self.capability)?;
        Ok(record.map(|record| described_capability(self.capability, &record)))
    }
}

impl Handle for ListCaps {
    fn handle(self, context: &mut Context<'_>) -> Step<List<DescribedCapability, LISTED>> {
        let ids = state::capabilities_of(context.world, &self.volume, LISTED)?;
        context.charge_records(ids.len());
        context.world.require(&ids.iter().map(state::capability_key).collect::<Vec<_>>())?;
        let mut found = Vec::new();
        for id in ids {
            let record = state::capability(context.world, &id)?.expect("a listed capability has a record");
            found.push(described_capability(id, &record));
        }
        Ok(List::new(found).expect("the list is bounded"))
    }
}

impl Handle for GetRelay {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedRelay>> {
        let (record, still) = (state::relay(context.world, self.address)?, VOLUMES.read(context.world)?);
        Ok(record.map(|record| described_relay(context, &still, self.address, &record)))
    }
}

impl Handle for ListRelays {
    fn handle(self, context: &mut Context<'_>) -> Step<List<DescribedRelay, RELAYS>> {
        let first = self.first.map_or_else(Vec::new, |first| first.0.to_vec());
        let names = state::relays().list(context.world, &first, RELAYS)?;
        context.charge_records(names.len());
        let addresses: Vec<Address> =
            names.iter().map(|name| Address(name[..].try_into().expect("the directory lists addresses"))).collect();
        context.world.require(&addresses.iter().map(|address| state::relay_key(*address)).collect::<Vec<_>>())?;
        let (still, mut found) = (VOLUMES.read(context.world)?, Vec::new());
        for address in addresses {
            let record = state::relay(context.world, address)?.expect("a listed relay has a record");
            found.push(described_relay(context, &still, address, &record));
        }
        Ok(List::new(found).expect("the list is bounded"))
    }
}

fn described_point(point: &Point) -> DescribedPoint {
    DescribedPoint { at: point.at, partition: point.partition, root: point.top.root(), slot: point.slot, volume_id: point.volume }
}

impl Handle for GetRound {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedRound>> {
        let (record, still) = (state::round(context.world, self.address)?, VOLUMES.read(context.world)?);
        Ok(record.map(|record| DescribedRound {
            height: record.height,
            points: List::new(record.points.iter().map(described_point).collect()).expect("as many as in the record"),
            until: record.answered_until(&still),
        }))
    }
}

impl Handle for GetDemand {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<DescribedDemand>> {
        let (record, still) = (state::demand(context.world, &self.demand)?, VOLUMES.read(context.world)?);
        Ok(record.map(|record| DescribedDemand {
            bond: record.bond,
            by: record.by,
            length: record.length,
            relay: record.relay,
            shard: record.shard,
            shard_bytes: record.shard_bytes,
            slot: record.slot,
            start: record.start,
            until: record.answered_until(&still),
            volume_id: record.volume,
        }))
    }
}

impl Handle for GetPool {
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        Ok(state::pool(context.world)?)
    }
}
