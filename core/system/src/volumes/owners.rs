//! Creating, funding, handing over and deleting volumes (decisions 149, 157, 159).

use super::api::{
    CreateVolume, Created, DeleteVolume, FundVolume, Funded, Handed, Quote, Removed, SetQuota, TransferVolume, UndeleteVolume,
};
use super::forms::{DescribedVolume, Priced, VolumeMoved};
use super::ledger::{self, change_slots};
use super::placement::{self, Now};
use super::status::{delete, own, restate};
use super::types::{Keys, Slot, Status, Volume};
use super::{capabilities, state, views};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use crate::secrets::committee;
use crate::standstill::VOLUMES;
use cowboy_params::Params;
use cowboy_state::{Miss, Step, World};
use cowboy_types::actors::STORAGE;
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::{Hash, List, error};
use cowboy_volumes::{Code, Name};

/// The keys that an argument names.
fn keys_of(text: &str) -> Option<Keys> {
    [(Keys::Public, "public"), (Keys::Committee, "committee"), (Keys::Owner, "owner")]
        .into_iter()
        .find(|(_, name)| *name == text)
        .map(|(keys, _)| keys)
}

/// The code and the bytes of a slot that arguments ask for.
fn shape(params: &Params, data: u8, parity: u8, quota: u64) -> Step<(Code, u64)> {
    let code = Code::new(data, parity).ok_or(error::VOLUME_INVALID)?;
    if !(1..=params.volumes.max_quota).contains(&quota) {
        return Err(error::VOLUME_INVALID.into());
    }
    Ok((code, quota.div_ceil(u64::from(code.data))))
}

/// What a full slot costs for as many epochs as the escrow must last at first.
fn reserve(params: &Params, slot_quota: u64, price: Amount) -> Amount {
    let epochs = ledger::epoch_cost(params, slot_quota, price).0.saturating_mul(params.volumes.reserve_epochs);
    Amount(epochs)
}

impl Handle for CreateVolume {
    fn handle(self, context: &mut Context<'_>) -> Step<DescribedVolume> {
        let (owner, params) = (context.sender, context.params);
        let name = Name::new(&self.name).ok_or(error::VOLUME_INVALID)?;
        let keys = keys_of(&self.keys).ok_or(error::VOLUME_INVALID)?;
        let (code, slot_quota) = shape(params, self.data, self.parity, self.quota)?;
        let id = name.volume(owner);
        if state::volume(context.world, &id)?.is_some() {
            return Err(error::VOLUME_EXISTS.into());
        }
        if state::volumes_of(owner).count(context.world)? >= params.volumes.per_account {
            return Err(error::VOLUME_LIMIT.into());
        }
        let fee = Amount(params.volumes.creation_fee);
        let generation = state::begin_generation(context.world, &id)?;
        let key_id = match keys {
            Keys::Committee => committee::sealing_key(context.world)?.ok_or(error::NO_RELEASE_KEY)?,
            Keys::Public | Keys::Owner => 0,
        };
        let mut volume = Volume {
            owner,
            creator: owner,
            generation,
            keys,
            key_id,
            code,
            quota: self.quota,
            max_price: Amount(self.max_price),
            slots: List::new(vec![Slot::vacant(context.height); code.slots()]).expect("a code has few slots"),
            partitions: List::default(),
            bytes: 0,
            spare: 0,
            escrow: context.value.saturating_sub(fee),
            paid_to: context.height,
            byte_blocks: 0,
            counted_to: context.height,
            status: Status::Active,
            deleted_at: None,
            capabilities: Count::ZERO,
            next_look: Height(context.height.0.saturating_add(params.volumes.epoch)),
        };
        context.charge_records(usize::try_from(state::relays().count(context.world)?).unwrap_or(usize::MAX));
        let beacon = context.draw.beacon.clone();
        let still = VOLUMES.read(context.world)?;
        let now = Now { params, still: &still, height: context.height, beacon: &beacon };
        let given = placement::fill(context.world, now, &id, &mut volume)?;
        if given.len() < code.slots() {
            let others = placement::shortage(context.world, now, &volume)?;
            context.explanation = Some(format!("It needs {} relays, and {} can take a slot{others}.", code.slots(), given.len()));
            return Err(error::VOLUME_RELAYS.into());
        }
        let needed = volume.slots.iter().map(|slot| reserve(params, slot_quota, slot.price)).fold(fee, Amount::saturating_add);
        if context.value < needed {
            context.explanation = Some(format!("{} base units are needed, of which {} are burned.", needed.0, fee.0));
            return Err(error::VOLUME_ESCROW.into());
        }
        state::take(context.world, STORAGE, fee)?;
        context.world.burn(fee)?;
        state::volumes_of(owner).insert(context.world, &id.0)?;
        if keys == Keys::Committee {
            committee::bind(context.world, key_id)?;
        }
        context.charge_kept(&volume);
        state::set_volume(context.world, &id, None, &volume)?;
        Created(VolumeMoved { amount: volume.escrow, owner, volume_id: id }).emit(context.world);
        Ok(views::described_volume(context, &id, &volume))
    }
}

impl Handle for Quote {
    fn handle(self, context: &mut Context<'_>) -> Step<Priced> {
        let params = context.params;
        let (code, slot_quota) = shape(params, self.data, self.parity, self.quota)?;
        let price = Amount(self.max_price);
        let slots = u64::try_from(code.slots()).unwrap_or(u64::MAX);
        let times = |amount: Amount| Amount(amount.0.saturating_mul(slots));
        Ok(Priced {
            escrow: times(reserve(params, slot_quota, price)),
            fee: Amount(params.volumes.creation_fee),
            per_epoch: times(ledger::epoch_cost(params, slot_quota, price)),
        })
    }
}

impl Handle for FundVolume {
    /// Adds the value to the escrow. What was deleted stays deleted: its owner alone takes that back.
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let mut volume = state::volume(context.world, &self.volume)?.ok_or(error::VOLUME_NOT_FOUND)?;
        volume.escrow = volume.escrow.saturating_add(context.value);
        if volume.status != Status::Deleted {
            restate(context.world, context.params, &self.volume, &mut volume);
        }
        state::set_volume(context.world, &self.volume, Some(volume.next_look), &volume)?;
        Funded(VolumeMoved { amount: volume.escrow, owner: volume.owner, volume_id: self.volume }).emit(context.world);
        Ok(volume.escrow)
    }
}

impl Handle for SetQuota {
    /// Changes the quota. The escrow has to last with it, and each relay needs the room.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut volume = own(context, &self.volume)?;
        let (code, params) = (volume.code, context.params);
        let (_, slot_quota) = shape(params, code.data, code.parity, self.quota)?;
        if volume.bytes > slot_quota {
            return Err(error::VOLUME_FULL.into());
        }
        let before = volume.slot_quota();
        context.charge_records(volume.slots.len());
        for address in volume.slots.iter().filter_map(|slot| slot.relay) {
            let mut relay = state::relay(context.world, address)?.expect("a slot names a relay");
            if relay.free().saturating_add(before) < slot_quota {
                return Err(error::VOLUME_RELAYS.into());
            }
            relay.reserved = relay.reserved.saturating_sub(before).saturating_add(slot_quota);
            state::set_relay(context.world, address, Some(relay.next_look), &relay)?;
        }
        ledger::count(context.params, &mut volume, context.height);
        volume.escrow = volume.escrow.saturating_add(context.value);
        let needed = volume.slots.iter().map(|slot| reserve(params, slot_quota, slot.price)).fold(Amount::ZERO, Amount::saturating_add);
        if volume.escrow.saturating_sub(ledger::owed(params, &volume)) < needed {
            context.explanation = Some(format!("The escrow has to hold {} base units beside what is owed.", needed.0));
            return Err(error::VOLUME_ESCROW.into());
        }
        volume.quota = self.quota;
        Ok(state::set_volume(context.world, &self.volume, Some(volume.next_look), &volume)?)
    }
}

impl Handle for TransferVolume {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut volume = own(context, &self.volume)?;
        // Nobody is asked: half of the number stays for what an account creates itself.
        if state::volumes_of(self.to).count(context.world)? >= context.params.volumes.per_account.div_ceil(2) {
            return Err(error::VOLUME_LIMIT.into());
        }
        state::volumes_of(context.sender).remove(context.world, &self.volume.0)?;
        state::volumes_of(self.to).insert(context.world, &self.volume.0)?;
        // Rights were given by the owner before: else it could give itself one, hand the volume over and read on.
        context.charge_records(usize::try_from(volume.capabilities.0).unwrap_or(usize::MAX));
        while !capabilities::forget_some(context.world, &self.volume, &mut volume, RECORDS_AT_ONCE)? {}
        // The one before may have had keys released of partitions that are not there yet, and the next keys of those that are (decision 615).
        volume.generation = state::begin_generation(context.world, &self.volume)?;
        volume.owner = self.to;
        state::set_volume(context.world, &self.volume, Some(volume.next_look), &volume)?;
        Handed(VolumeMoved { amount: volume.escrow, owner: self.to, volume_id: self.volume }).emit(context.world);
        Ok(())
    }
}

impl Handle for DeleteVolume {
    fn handle(self, context: &mut Context<'_>) -> Step<Height> {
        let mut volume = own(context, &self.volume)?;
        if volume.status == Status::Deleted {
            return Err(error::VOLUME_STATE.into());
        }
        let (before, until) = (volume.next_look, Height(context.height.0.saturating_add(context.params.volumes.undelete)));
        delete(context.world, context.height, &self.volume, &mut volume);
        volume.next_look = before.min(until);
        state::set_volume(context.world, &self.volume, Some(before), &volume)?;
        Ok(until)
    }
}

impl Handle for UndeleteVolume {
    /// Takes a deletion back. The value goes to the escrow, which must last. Slots that were lost meanwhile are given to others in the next block.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let mut volume = own(context, &self.volume)?;
        // What is being removed does not come back.
        let removed_at = volume.removed_at(context.params, &VOLUMES.read(context.world)?);
        if removed_at.is_none_or(|at| at <= context.height) {
            return Err(error::VOLUME_STATE.into());
        }
        ledger::count(context.params, &mut volume, context.height);
        volume.escrow = volume.escrow.saturating_add(context.value);
        if !ledger::lasts(context.params, &volume, volume.bytes) {
            return Err(error::VOLUME_ESCROW.into());
        }
        restate(context.world, context.params, &self.volume, &mut volume);
        // Nobody could rebuild a slot meanwhile (decision 689).
        let height = context.height;
        change_slots(&mut volume, |_, slot| {
            if slot.relay.is_some() && slot.place.is_none() {
                slot.since = height;
            }
            slot.behind_since = slot.behind_since.map(|_| height);
        });
        let before = volume.next_look;
        // One that has all of its slots is not looked at for that: whoever takes deletions back in each block would keep others waiting (decision 762).
        if volume.slots.iter().any(|slot| slot.relay.is_none() || slot.rebuilding_since().is_some()) {
            volume.next_look = context.height.next();
        }
        Ok(state::set_volume(context.world, &self.volume, Some(before), &volume)?)
    }
}

/// Slots of a volume that one look takes from their relays, at most, where it is removed.
const SLOTS_AT_ONCE: usize = 4;

/// Partitions or capabilities of a volume that one look removes, at most.
pub(super) const RECORDS_AT_ONCE: usize = 16;

/// Removes a volume for good, a few records in each block: first relays are paid and lose their slots, then partitions and capabilities go, and at
/// last the rest of the escrow goes back to the owner. All relays are paid before the first one loses its slot, so that they share an escrow that is
/// too short, whatever their places (decision 750).
pub(super) fn remove(world: &mut World, now: Now<'_>, id: &Hash, mut volume: Volume) -> Result<(), Miss> {
    let before = volume.next_look;
    let held = volume.slots.iter().enumerate().filter(|(_, slot)| slot.relay.is_some()).map(|(place, _)| place);
    let held: Vec<usize> = held.take(SLOTS_AT_ONCE).collect();
    let is_over = if !held.is_empty() {
        let paid_to = volume.paid_to;
        let mut paid = ledger::settle(world, now.params, now.height, &mut volume)?;
        // Whoever missed a proof since the last epoch gets nothing for the few blocks either for which its slot is still there.
        volume.paid_to = paid_to;
        for place in held {
            placement::vacate(world, now, &mut volume, place, &mut paid)?;
        }
        paid.emit(world, id);
        false
    } else if !volume.partitions.is_empty() {
        remove_partitions(world, id, &mut volume)?;
        false
    } else {
        capabilities::forget_some(world, id, &mut volume, RECORDS_AT_ONCE)?
    };
    if !is_over {
        volume.next_look = now.height.next();
        return state::set_volume(world, id, Some(before), &volume);
    }
    state::take(world, STORAGE, volume.escrow)?;
    world.credit(volume.owner, volume.escrow)?;
    state::volumes_of(volume.owner).remove(world, &id.0)?;
    state::reschedule(world, state::Subject::Volume(*id), Some(before), None)?;
    world.remove(state::volume_key(id));
    if volume.keys == Keys::Committee {
        committee::unbind(world, volume.key_id)?;
    }
    Removed(VolumeMoved { amount: volume.escrow, owner: volume.owner, volume_id: *id }).emit(world);
    Ok(())
}

/// Removes the last partitions of a volume.
fn remove_partitions(world: &mut World, id: &Hash, volume: &mut Volume) -> Result<(), Miss> {
    let mut left = volume.partitions.to_vec();
    let gone = left.split_off(left.len().saturating_sub(RECORDS_AT_ONCE));
    let keys: Vec<_> = gone.iter().map(|listed| state::partition_key(id, &listed.partition)).collect();
    world.require(&keys)?;
    keys.into_iter().for_each(|key| world.remove(key));
    volume.partitions = List::new(left).expect("fewer than before");
    volume.bytes = volume.partitions.iter().map(|listed| listed.bytes).sum();
    volume.spare = volume.partitions.iter().map(|listed| listed.spare).sum();
    Ok(())
}
