//! Proofs that relays still hold what they are paid for (decision 155).
//!
//! Each relay has a round of its own every `volumes.proof_period` blocks: four bytes are drawn from all that it should hold, and it shows the chunk
//! of each. What this proves is that it can get at them; colluding relays may fetch from each other.

use super::directory;
use super::forms::Moved;
use super::ledger;
use super::placement::Now;
use super::registry::next_draw;
use super::relay_api::{Drawn, Evicted, Missed, Prove, Proven};
use super::state;
use super::types::{POINTS, Point, Relay, Round, Volume, bit};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use crate::standstill::VOLUMES;
use commonware_codec::DecodeExt as _;
use cowboy_params::Params;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, List, error, keccak256};
use cowboy_volumes::relay::PointProof;
use cowboy_volumes::{Code, Leaf, slice};

/// What separates this use of a beacon from every other.
const DOMAIN: &[u8] = b"cowboy-por-v1:";

/// Draws the points of a relay's next round. Nothing is drawn for a relay that holds nothing.
pub(super) fn draw(world: &mut World, now: Now<'_>, address: Address, relay: &mut Relay) -> Result<(), Miss> {
    relay.draw_at = next_draw(now.params, address, now.height);
    let total = directory::total(world, address)?;
    let mut points = Vec::new();
    for number in 0..POINTS {
        let number = u8::try_from(number).expect("four points");
        let Some(byte) = byte(now.beacon, now.height, address, number, total) else { break };
        points.extend(point(world, address, byte)?);
    }
    if points.is_empty() {
        relay.proven_at = now.height;
        return Ok(());
    }
    let round =
        Round { height: now.height, until: now.after(now.params.volumes.proof_window), points: List::new(points).expect("four points") };
    Drawn { points: u64::try_from(round.points.len()).unwrap_or(u64::MAX), relay: address, until: round.until }.emit(world);
    world.write(state::round_key(address), &round);
    Ok(())
}

/// The byte that a point of a round asks for, of `total` bytes that a relay keeps. None where it keeps nothing.
pub fn byte(beacon: &[u8], height: Height, relay: Address, number: u8, total: u64) -> Option<u64> {
    let seed = keccak256(&[DOMAIN, beacon, &relay.0, &height.0.to_be_bytes(), &[number]]);
    let wide = u128::from_be_bytes(*seed.0.first_chunk().expect("a digest has sixteen bytes"));
    let byte = wide.checked_rem(u128::from(total))?;
    Some(u64::try_from(byte).expect("it is below a number of 64 bits"))
}

/// The point of a byte; none where the relay never said that it has the root. A writer can keep from it what others were sent.
fn point(world: &World, address: Address, byte: u64) -> Result<Option<Point>, Miss> {
    let Some((entry, mut at)) = directory::find(world, address, byte)? else { return Ok(None) };
    let volume = state::volume(world, &entry.volume)?.expect("the directory lists volumes that are there");
    for listed in volume.partitions.iter() {
        if let Some(rest) = at.checked_sub(listed.bytes) {
            at = rest;
            continue;
        }
        let partition = state::partition(world, &entry.volume, &listed.partition)?.expect("a listed partition has a record");
        let is_behind = partition.root.behind & bit(usize::from(entry.slot)) != 0;
        let point = Point { volume: entry.volume, slot: entry.slot, partition: listed.partition, top: partition.root.top, at };
        return Ok(Some(point).filter(|_| !is_behind));
    }
    Ok(None)
}

/// The volume of a point, where the relay still has the slot.
fn standing(world: &World, relay: Address, point: &Point) -> Result<Option<Volume>, Miss> {
    let volume = state::volume(world, &point.volume)?;
    Ok(volume.filter(|volume| volume.slots.get(usize::from(point.slot)).is_some_and(|slot| slot.serving() == Some(relay))))
}

/// Whether bytes prove a point of a volume with this code.
pub fn proves(point: &Point, code: Code, proof: &[u8]) -> bool {
    let Ok(proof) = PointProof::decode(bytes::Bytes::copy_from_slice(proof)) else { return false };
    let Some(leaf) = Leaf::parse(&proof.leaf, code) else { return false };
    let Some(start) = proof.route.start(&proof.leaf, leaf.counted(), &point.top.node) else { return false };
    let Some(at) = point.at.checked_sub(start).filter(|at| *at < leaf.counted()) else { return false };
    if at >= leaf.shard_bytes {
        // Behind the end of a short shard, the leaf is what the relay keeps, and it is shown.
        return proof.slice.is_empty();
    }
    let Some(shard) = leaf.shards.get(usize::from(point.slot)) else { return false };
    let (from, length) = slice::chunk(at, leaf.shard_bytes);
    slice::open(&proof.slice, shard, leaf.shard_bytes, from, length).is_some()
}

impl Handle for Prove {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let address = context.sender;
        let mut relay = super::registry::own(context)?;
        let round = state::round(context.world, address)?.ok_or(error::PROOF_NOT_DUE)?;
        let still = VOLUMES.read(context.world)?;
        if context.height > round.answered_until(&still) || self.height != round.height {
            return Err(error::PROOF_NOT_DUE.into());
        }
        if self.proofs.len() != round.points.len() {
            return Err(error::PROOF_INVALID.into());
        }
        context.charge_records(round.points.len());
        let mut is_due = true;
        for (point, proof) in round.points.iter().zip(self.proofs.iter()) {
            context.spend_reading(proof.len())?;
            let Some(volume) = standing(context.world, address, point)? else {
                // What was lost meanwhile is not asked for. What is said of it is free as far as it has the form of an answer (decision 781).
                is_due = is_due && (proof.is_empty() || PointProof::decode(bytes::Bytes::copy_from_slice(proof)).is_ok());
                continue;
            };
            if !proves(point, volume.code, proof) {
                return Err(error::PROOF_INVALID.into());
            }
        }
        context.world.remove(state::round_key(address));
        context.is_due = is_due;
        relay.misses = Count::ZERO;
        relay.proven_at = round.height;
        let before = relay.next_look;
        if !relay.is_healthy(context.params, &still, context.height) {
            // Its slots waited for this.
            relay.next_look = context.height.next();
        }
        state::set_relay(context.world, address, Some(before), &relay)?;
        Proven { height: round.height, relay: address }.emit(context.world);
        Ok(())
    }
}

/// Ends a round that the relay did not answer. A point of a slot that it lost meanwhile counts for nothing.
pub(super) fn miss(
    world: &mut World,
    params: &Params,
    height: Height,
    address: Address,
    relay: &mut Relay,
    round: &Round,
) -> Result<(), Miss> {
    world.remove(state::round_key(address));
    let mut is_missed = false;
    for point in round.points.iter() {
        is_missed |= standing(world, address, point)?.is_some();
    }
    if !is_missed {
        return Ok(());
    }
    relay.misses = Count(relay.misses.0.saturating_add(1));
    relay.missed_at = height;
    let burned = ledger::slash(world, relay, Amount(params.volumes.miss))?;
    Missed(Moved { amount: burned, relay: address }).emit(world);
    if relay.misses.0 >= params.volumes.misses && relay.left_at.is_none() {
        let burned = ledger::slash(world, relay, Amount(params.volumes.eviction))?;
        relay.left_at = Some(height);
        Evicted(Moved { amount: burned, relay: address }).emit(world);
    }
    Ok(())
}
