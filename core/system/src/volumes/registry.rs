//! Relays: registering, heartbeats, leaving, and slots that they rebuild (decision 158).

use super::directory::{self, Entry};
use super::forms::{DescribedRelay, Moved, SlotMoved};
use super::ledger::{self, change_slot};
use super::relay_api::{
    AddStake, Heartbeat, LateAck, Leave, Leaving, Left, RegisterRelay, Registered, SlotFilled, Staked, TakeSlot, UpdateRelay, Updated,
    Withdraw,
};
use super::types::{REGION_BYTES, Relay, Slot, bit};
use super::{state, views};
use crate::actor::{Context, Handle};
use crate::endpoint;
use crate::room::{Standing, place_for};
use crate::schema::Emit;
use crate::staking::possession;
use crate::standstill::VOLUMES;
use cowboy_params::Params;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Address, Text, actors, error, keccak256};
use cowboy_volumes::relay::key_message;

/// The bytes of a GiB.
const GIB: u64 = 1 << 30;

/// The sender's own record.
pub(super) fn own(context: &Context<'_>) -> Step<Relay> {
    Ok(state::relay(context.world, context.sender)?.ok_or(error::RELAY_UNKNOWN)?)
}

/// The stake that a relay of this capacity needs.
fn stake_for(params: &Params, capacity: u64) -> Amount {
    let per_gib = u128::from(params.volumes.stake_per_gib).saturating_mul(u128::from(capacity.div_ceil(GIB)));
    Amount(params.volumes.relay_stake.max(u64::try_from(per_gib).unwrap_or(u64::MAX)))
}

/// Whether a relay may say that it has this capacity. Stake is asked for only where it offers more bytes: one that lost stake stays reachable (decision 713).
fn may_offer(params: &Params, relay: &Relay, capacity: u64) -> bool {
    // One that gave way is given no slots for its stake, and adds none.
    let offers_more = capacity > relay.capacity && relay.gave_way_at.is_none();
    capacity >= relay.reserved && (!offers_more || relay.stake >= stake_for(params, capacity))
}

/// The capacity that a relay says it has: the configured one, or, where that would be refused for want of stake or because more is in use, the one that the
/// chain knows. Else the chain would not learn either where the relay is (decision 713).
pub fn offered(params: &Params, relay: &Relay, configured: u64) -> u64 {
    if may_offer(params, relay, configured) { configured } else { relay.capacity }
}

/// The first height after this one at which points are drawn for a relay. Relays have different ones.
pub(super) fn next_draw(params: &Params, relay: Address, height: Height) -> Height {
    let period = params.volumes.proof_period.max(1);
    let hash = keccak256(&[b"cowboy-relay-phase:", &relay.0]);
    let phase = u64::from_be_bytes(*hash.0.first_chunk().unwrap_or(&[0; 8])) % period;
    let next = height.0.saturating_add(1);
    let ahead = phase.saturating_add(period).saturating_sub(next % period) % period;
    Height(next.saturating_add(ahead))
}

fn region(text: &str) -> Step<Text<REGION_BYTES>> {
    let is_plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    Ok(Text::new(text).filter(|_| is_plain).ok_or(error::RELAY_ENDPOINT)?)
}

impl Handle for RegisterRelay {
    fn handle(self, context: &mut Context<'_>) -> Step<DescribedRelay> {
        let (endpoint, port) = endpoint::checked(&self.endpoint, self.port).ok_or(error::RELAY_ENDPOINT)?;
        let region = region(&self.region)?;
        let is_new = state::relay(context.world, context.sender)?.is_none();
        if !is_new || context.world.read::<Address>(&state::signer_key(&self.key))?.is_some() {
            return Err(error::RELAY_EXISTS.into());
        }
        make_room(context, context.value)?;
        if context.value < stake_for(context.params, self.capacity) {
            return Err(error::RELAY_STAKE.into());
        }
        context.charge(0, context.params.weights.verify_ed25519);
        if !possession::network_key_signs(&self.key, &key_message(&context.genesis, context.sender, &self.key), self.proof.0) {
            return Err(error::RELAY_KEY.into());
        }
        let draw_at = next_draw(context.params, context.sender, context.height);
        let record = Relay {
            endpoint,
            port,
            certificate: self.certificate,
            key: self.key,
            region,
            capacity: self.capacity,
            ask: Amount(self.ask),
            stake: context.value,
            ..Relay::new(context.height, draw_at)
        };
        state::relays().insert(context.world, &context.sender.0)?;
        context.world.write(state::signer_key(&self.key), &context.sender);
        context.charge_kept(&record);
        state::set_relay(context.world, context.sender, None, &record)?;
        Registered(Moved { amount: record.stake, relay: context.sender }).emit(context.world);
        let still = VOLUMES.read(context.world)?;
        Ok(views::described_relay(context, &still, context.sender, &record))
    }
}

impl Handle for UpdateRelay {
    /// Changes what a relay says of itself. Slots that it has keep their price.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        (record.endpoint, record.port) = endpoint::checked(&self.endpoint, self.port).ok_or(error::RELAY_ENDPOINT)?;
        if !may_offer(context.params, &record, self.capacity) {
            return Err(error::RELAY_STAKE.into());
        }
        (record.certificate, record.capacity, record.ask) = (self.certificate, self.capacity, Amount(self.ask));
        context.charge_kept(&record);
        state::set_relay(context.world, context.sender, Some(record.next_look), &record)?;
        Updated(Moved { amount: record.stake, relay: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for Heartbeat {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        context.is_due = record.is_heartbeat_due(context.params.volumes.alive, context.height.0);
        record.last_heartbeat = context.height;
        Ok(state::set_relay(context.world, context.sender, Some(record.next_look), &record)?)
    }
}

impl Handle for AddStake {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        if context.value == Amount::ZERO || record.left_at.is_some() || record.gave_way_at.is_some() {
            return Err(error::RELAY_STATE.into());
        }
        record.stake = record.stake.saturating_add(context.value);
        state::set_relay(context.world, context.sender, Some(record.next_look), &record)?;
        Staked(Moved { amount: record.stake, relay: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for Leave {
    /// Leaves after a last round of proofs: the one that is under way, or one that is drawn in the next block. After a pause that round was drawn before,
    /// there is one more.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut record = own(context)?;
        if record.left_at.is_some() {
            return Err(error::RELAY_STATE.into());
        }
        let before = record.next_look;
        record.left_at = Some(context.height);
        record.next_look = context.height.next();
        if state::round(context.world, context.sender)?.is_none() {
            record.draw_at = record.next_look;
        }
        state::set_relay(context.world, context.sender, Some(before), &record)?;
        Leaving(Moved { amount: record.stake, relay: context.sender }).emit(context.world);
        Ok(())
    }
}

impl Handle for Withdraw {
    /// Pays the stake once nothing of the relay can be asked for any more.
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let record = own(context)?;
        if record.left_at.is_none() || !record.is_idle() {
            return Err(error::RELAY_STATE.into());
        }
        if context.height < record.free_at(context.params, &VOLUMES.read(context.world)?) {
            return Err(error::STILL_BOUND.into());
        }
        remove(context.world, context.sender, &record)?;
        Ok(record.stake)
    }
}

/// Removes a relay of which nothing can be asked any more, and pays its stake.
fn remove(world: &mut World, relay: Address, record: &Relay) -> Result<(), Miss> {
    state::take(world, actors::RELAYS, record.stake)?;
    world.credit(relay, record.stake)?;
    state::relays().remove(world, &relay.0)?;
    state::reschedule(world, state::Subject::Relay(relay), Some(record.next_look), None)?;
    world.require([&state::signer_key(&record.key), &state::round_key(relay)])?;
    world.remove(state::signer_key(&record.key));
    world.remove(state::round_key(relay));
    world.remove(state::relay_key(relay));
    Left(Moved { amount: record.stake, relay }).emit(world);
    Ok(())
}

/// Makes room for one more relay with this stake. Where the registry is full, it takes the place of one that is gone, which is paid its stake (decision
/// 582), or of one that has less stake and gives way (decisions 597 and 606); fails where there is none.
fn make_room(context: &mut Context<'_>, stake: Amount) -> Step<()> {
    let (params, height) = (context.params, context.height);
    let count = state::relays().count(context.world)?;
    if !context.is_full(count, params.volumes.relays, count)? {
        return Ok(());
    }
    let (still, mut others) = (VOLUMES.read(context.world)?, Vec::new());
    for (address, relay) in state::all_relays(context.world)? {
        let is_free = height >= relay.free_at(params, &still);
        if !is_free && relay.stake >= stake {
            continue;
        }
        context.charge_records(1);
        let has_work = !relay.is_idle() || state::round(context.world, address)?.is_some();
        let standing = Standing {
            is_free: is_free && !has_work,
            is_busy: has_work && relay.left_at.is_none(),
            is_up: relay.is_healthy(params, &still, height),
            stake: relay.stake,
            registered_at: relay.registered_at,
        };
        others.push((standing, (address, relay)));
    }
    let (standing, (address, relay)) = place_for(others, stake).ok_or(error::RELAYS_FULL)?;
    match standing.is_free {
        true => remove(context.world, address, &relay)?,
        false => give_way(context.world, height, address, relay)?,
    }
    Ok(())
}

/// Takes a relay's place. One that keeps nothing leaves; another one serves its slots, and is paid for them, until it leaves by itself, is found gone, or
/// its last slot ends. Its stake answers for what it did until it is free.
fn give_way(world: &mut World, height: Height, address: Address, mut relay: Relay) -> Result<(), Miss> {
    state::relays().remove(world, &address.0)?;
    if relay.left_at.is_none() {
        relay.gave_way_at = Some(height);
        relay.left_at = relay.has_no_slots().then_some(height);
        state::set_relay(world, address, Some(relay.next_look), &relay)?;
        Leaving(Moved { amount: relay.stake, relay: address }).emit(world);
    }
    Ok(())
}

impl Handle for TakeSlot {
    /// Says that the sender has rebuilt the shards of a slot that it was given: it serves and is paid from now on.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { volume: id, slot, roots } = self;
        let mut relay = own(context)?;
        let mut volume = state::volume(context.world, &id)?.ok_or(error::VOLUME_NOT_FOUND)?;
        let place = usize::from(slot);
        let is_given = volume.slots.get(place).is_some_and(|slot| slot.relay == Some(context.sender) && slot.place.is_none());
        if !is_given {
            return Err(error::SLOT_FOREIGN.into());
        }
        ledger::count(context.params, &mut volume, context.height);
        let entry = Entry { volume: id, slot, bytes: volume.bytes };
        let place_in_directory = directory::push(context.world, context.sender, &mut relay, entry)?.ok_or(error::RELAY_STATE)?;
        context.charge_records(volume.partitions.len());
        let mut missing: u64 = 0;
        for (number, listed) in volume.partitions.iter().enumerate() {
            let mut partition = state::partition(context.world, &id, &listed.partition)?.expect("a listed partition has a record");
            match roots.get(number) == Some(&listed.root) {
                true => partition.root.behind &= !bit(place),
                false => {
                    partition.root.behind |= bit(place);
                    missing = missing.saturating_add(listed.bytes);
                }
            }
            context.world.write(state::partition_key(&id, &listed.partition), &partition);
        }
        let (from, since) = (volume.byte_blocks, context.height);
        // A slot that it takes without enough of the bytes ends no row of slots that it did not rebuild, and its time to rebuild continues (decision 690).
        let is_rebuilt = Slot::is_rebuilt(context.params, volume.bytes, missing);
        change_slot(&mut volume, place, |slot| {
            let behind_since = (!is_rebuilt).then_some(slot.since);
            *slot = Slot { place: Some(place_in_directory), from, since, missing, behind_since, ..slot.clone() };
        });
        if is_rebuilt {
            relay.late = Count::ZERO;
        }
        state::set_relay(context.world, context.sender, Some(relay.next_look), &relay)?;
        state::set_volume(context.world, &id, Some(volume.next_look), &volume)?;
        SlotFilled(SlotMoved { relay: Some(context.sender), slot, volume_id: id }).emit(context.world);
        Ok(())
    }
}

impl Handle for LateAck {
    /// Says that the sender now has all of a root that it did not acknowledge: it is paid for it, and proves it, from now on. With enough of a slot that
    /// it took without its bytes, it has rebuilt that.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { volume: id, partition: name, root } = self;
        let mut volume = state::volume(context.world, &id)?.ok_or(error::VOLUME_NOT_FOUND)?;
        let place = volume.slots.iter().position(|slot| slot.serving() == Some(context.sender)).ok_or(error::SLOT_FOREIGN)?;
        let mut partition = state::partition(context.world, &id, &name)?.ok_or(error::VOLUME_NOT_FOUND)?;
        if partition.root.top.root() != root {
            return Err(error::COMMIT_CONFLICT.into());
        }
        if partition.root.behind & bit(place) == 0 {
            return Ok(());
        }
        partition.root.behind &= !bit(place);
        context.world.write(state::partition_key(&id, &name), &partition);
        context.charge_records(1);
        ledger::count(context.params, &mut volume, context.height);
        let (params, all, bytes) = (context.params, volume.bytes, partition.root.top.node.sum);
        let mut has_caught_up = false;
        change_slot(&mut volume, place, |slot| {
            slot.missing = slot.missing.saturating_sub(bytes);
            let was_behind = slot.behind_since.is_some();
            slot.catch_up(params, all);
            has_caught_up = was_behind && slot.behind_since.is_none();
        });
        if has_caught_up {
            let mut relay = own(context)?;
            relay.late = Count::ZERO;
            context.charge_records(1);
            state::set_relay(context.world, context.sender, Some(relay.next_look), &relay)?;
        }
        Ok(state::set_volume(context.world, &id, Some(volume.next_look), &volume)?)
    }
}
