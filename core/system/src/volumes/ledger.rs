//! What volumes cost, and who is paid (decisions 157, 161).
//!
//! A slot costs its relay's ask for each MiB and epoch of what stands there. A volume counts the bytes of a slot, times the blocks for which they
//! stood: once for all slots, as their shards have the same lengths. What a relay is paid is the count since it began to be paid, without what
//! stood in roots that it did not acknowledge.

use super::api::Settled;
use super::state;
use super::types::{Relay, Slot, Status, Volume};
use crate::market::payment;
use crate::schema::Emit;
use cowboy_params::Params;
use cowboy_state::{Miss, World};
use cowboy_types::actors::STORAGE;
use cowboy_types::units::{Amount, Height};
use cowboy_types::{Address, Hash, actors};

/// The bytes that asks are for.
pub(super) const UNIT: u128 = 1 << 20;

/// What was paid, and to whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Paid {
    /// To relays.
    pub(super) relays: Amount,
    /// Burned.
    pub(super) burned: Amount,
    /// To the pool of bounties.
    pub(super) pool: Amount,
}

impl Paid {
    /// Says what a volume paid, where it paid anything.
    pub(super) fn emit(self, world: &mut World, id: &Hash) {
        if self != Self::default() {
            Settled { burned: self.burned, pool: self.pool, relays: self.relays, volume_id: *id }.emit(world);
        }
    }
}

/// The bytes that a slot of a volume costs with `bytes` bytes in it: what can come back is kept too, and a share of the quota is paid for where
/// nothing stands, because nobody else has that room.
fn billed(params: &Params, volume: &Volume, bytes: u64) -> u64 {
    let room = u128::from(volume.slot_quota()).saturating_mul(u128::from(params.volumes.room_share)) / 10_000;
    bytes.saturating_add(volume.spare).max(u64::try_from(room).unwrap_or(u64::MAX))
}

/// Counts what stood in a slot up to this block, and what of it each relay did not acknowledge.
pub(super) fn count(params: &Params, volume: &mut Volume, height: Height) {
    let blocks = u128::from(height.0.saturating_sub(volume.counted_to.0));
    let bytes = u128::from(billed(params, volume, volume.bytes));
    volume.byte_blocks = volume.byte_blocks.saturating_add(bytes.saturating_mul(blocks));
    change_slots(volume, |_, slot| slot.from = slot.from.saturating_add(u128::from(slot.missing).saturating_mul(blocks)));
    volume.counted_to = height;
}

/// What bytes, times the blocks for which they stood, cost: rounded up.
pub(super) fn cost(params: &Params, byte_blocks: u128, price: Amount) -> Amount {
    let per = UNIT.saturating_mul(u128::from(params.volumes.epoch.max(1)));
    Amount(u64::try_from(byte_blocks.saturating_mul(u128::from(price.0)).div_ceil(per)).unwrap_or(u64::MAX))
}

/// What `bytes` bytes in a slot cost in an epoch.
pub(super) fn epoch_cost(params: &Params, bytes: u64, price: Amount) -> Amount {
    cost(params, u128::from(bytes).saturating_mul(u128::from(params.volumes.epoch)), price)
}

/// What `bytes` bytes in each slot of a volume cost in an epoch. A slot without a relay counts with the highest price.
pub(super) fn volume_cost(params: &Params, volume: &Volume, bytes: u64) -> Amount {
    let price = |slot: &Slot| if slot.relay.is_some() { slot.price } else { volume.max_price };
    let bytes = billed(params, volume, bytes);
    volume.slots.iter().map(|slot| epoch_cost(params, bytes, price(slot))).fold(Amount::ZERO, Amount::saturating_add)
}

/// What the relays have earned and were not paid.
pub(super) fn owed(params: &Params, volume: &Volume) -> Amount {
    let earned = |slot: &Slot| cost(params, volume.byte_blocks.saturating_sub(slot.from), slot.price);
    volume.slots.iter().filter(|slot| slot.place.is_some()).map(earned).fold(Amount::ZERO, Amount::saturating_add)
}

/// Whether the escrow lasts for another epoch with `bytes` bytes in each slot, after what is owed.
pub(super) fn lasts(params: &Params, volume: &Volume, bytes: u64) -> bool {
    volume.escrow.saturating_sub(owed(params, volume)) >= volume_cost(params, volume, bytes)
}

/// What the relay of a slot gets for what was counted, where the escrow has it. A relay that missed a proof since the last payment gets nothing, and the
/// volume keeps it.
fn due(world: &World, params: &Params, volume: &Volume, place: usize) -> Result<Amount, Miss> {
    let Some(slot) = volume.slots.get(place) else { return Ok(Amount::ZERO) };
    let Some(address) = slot.serving() else { return Ok(Amount::ZERO) };
    let is_paid = state::relay(world, address)?.is_some_and(|relay| relay.missed_at <= volume.paid_to);
    Ok(if is_paid { cost(params, volume.byte_blocks.saturating_sub(slot.from), slot.price) } else { Amount::ZERO })
}

/// Pays the relay of a slot for what was counted, as far as the escrow has it.
pub(super) fn pay(world: &mut World, params: &Params, volume: &mut Volume, place: usize, paid: &mut Paid) -> Result<(), Miss> {
    let due = due(world, params, volume, place)?.min(volume.escrow);
    hand_out(world, params, volume, place, due, paid)
}

/// Pays out of the escrow what the relay of a slot gets for what was counted, with the shares of it that are burned and for the pool.
fn hand_out(world: &mut World, params: &Params, volume: &mut Volume, place: usize, due: Amount, paid: &mut Paid) -> Result<(), Miss> {
    let (count, address) = (volume.byte_blocks, volume.slots.get(place).and_then(Slot::serving));
    let Some(address) = address else { return Ok(()) };
    change_slot(volume, place, |slot| slot.from = count);
    if due == Amount::ZERO {
        return Ok(());
    }
    let to_relay = payment::share(due, params.volumes.relay_share);
    let burned = payment::share(due, params.volumes.burn_share);
    let to_pool = due.saturating_sub(to_relay).saturating_sub(burned);
    state::take(world, STORAGE, due)?;
    world.credit(address, to_relay)?;
    world.burn(burned)?;
    add_to_pool(world, to_pool)?;
    volume.escrow = volume.escrow.saturating_sub(due);
    paid.relays = paid.relays.saturating_add(to_relay);
    paid.burned = paid.burned.saturating_add(burned);
    paid.pool = paid.pool.saturating_add(to_pool);
    Ok(())
}

/// Pays all relays of a volume, and begins a new count. Where the escrow is too short for what they get, each gets the same part of it, rounded down.
pub(super) fn settle(world: &mut World, params: &Params, height: Height, volume: &mut Volume) -> Result<Paid, Miss> {
    count(params, volume, height);
    let mut paid = Paid::default();
    let dues = (0..volume.slots.len()).map(|place| due(world, params, volume, place)).collect::<Result<Vec<_>, _>>()?;
    let (all, escrow) = (dues.iter().map(|due| u128::from(due.0)).fold(0, u128::saturating_add), volume.escrow);
    for (place, due) in dues.into_iter().enumerate() {
        let part = u128::from(due.0).saturating_mul(u128::from(escrow.0)).checked_div(all).unwrap_or(0);
        let part = Amount(u64::try_from(part).unwrap_or(u64::MAX)).min(due);
        hand_out(world, params, volume, place, part, &mut paid)?;
    }
    change_slots(volume, |_, slot| slot.from = 0);
    volume.byte_blocks = 0;
    volume.paid_to = height;
    Ok(paid)
}

/// Epochs that the escrow lasts as the volume stands, after what is owed.
fn epochs_left(params: &Params, volume: &Volume) -> u64 {
    let cost = volume_cost(params, volume, volume.bytes);
    let rest = volume.escrow.saturating_sub(owed(params, volume));
    rest.0.checked_div(cost.0).unwrap_or(u64::MAX)
}

/// How a volume stands that is not deleted.
pub(super) fn standing(params: &Params, volume: &Volume) -> Status {
    if epochs_left(params, volume) < params.volumes.grace_epochs { Status::GracePeriod } else { Status::Active }
}

/// Whether the escrow does not last for another epoch. At the end of an epoch, that means the end of the volume (003 §17.5).
pub(super) fn is_spent(params: &Params, volume: &Volume) -> bool {
    epochs_left(params, volume) == 0
}

/// Changes a slot of a volume.
pub(super) fn change_slot(volume: &mut Volume, place: usize, change: impl FnOnce(&mut Slot)) {
    let mut change = Some(change);
    change_slots(volume, |number, slot| {
        if number == place
            && let Some(change) = change.take()
        {
            change(slot);
        }
    });
}

/// Changes the slots of a volume.
pub(super) fn change_slots(volume: &mut Volume, mut change: impl FnMut(usize, &mut Slot)) {
    let mut slots = std::mem::take(&mut volume.slots).into_vec();
    slots.iter_mut().enumerate().for_each(|(place, slot)| change(place, slot));
    volume.slots = cowboy_types::List::new(slots).expect("as many as before");
}

/// Adds to what bounties are paid from. 0x0B receives it.
pub(super) fn add_to_pool(world: &mut World, amount: Amount) -> Result<(), Miss> {
    let pool = state::pool(world)?.saturating_add(amount);
    world.credit(Address::system(actors::RELAYS), amount)?;
    world.write(state::pool_key(), &pool);
    Ok(())
}

/// Takes up to an amount out of the pool. 0x0B pays it out.
pub(super) fn draw_from_pool(world: &mut World, amount: Amount) -> Result<Amount, Miss> {
    let pool = state::pool(world)?;
    let taken = amount.min(pool);
    world.write(state::pool_key(), &pool.saturating_sub(taken));
    Ok(taken)
}

/// Burns up to an amount of a relay's stake. Answers how much it was.
pub(super) fn slash(world: &mut World, relay: &mut Relay, amount: Amount) -> Result<Amount, Miss> {
    let burned = amount.min(relay.stake);
    relay.stake = relay.stake.saturating_sub(burned);
    state::take(world, actors::RELAYS, burned)?;
    world.burn(burned)?;
    Ok(burned)
}
