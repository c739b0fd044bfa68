//! Demands that a relay publishes what it does not serve, and acknowledgements that contradict each other (decisions 153, 156).

use super::forms::Moved;
use super::ledger;
use super::placement::Now;
use super::relay_api::{Accuse, Accused, Answer, Answered, Demand as DemandPart, Demanded, Evicted, Refused};
use super::state::{self, Subject};
use super::types::{Demand, Keys, Volume};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use crate::staking::possession;
use crate::standstill::VOLUMES;
use commonware_codec::DecodeExt as _;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::{Amount, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, List, actors, error, keccak256};
use cowboy_volumes::relay::{DEMAND_BYTES, Succession};
use cowboy_volumes::{Leaf, Route, slice};

/// Whether the sender may read a partition.
fn reads(context: &Context<'_>, volume: &Volume, id: &Hash, partition: &Hash, capability: Option<Fixed<16>>) -> Result<bool, Miss> {
    if volume.keys == Keys::Public || volume.owner == context.sender {
        return Ok(true);
    }
    let Some(capability) = capability else { return Ok(false) };
    let record = state::capability(context.world, &capability)?;
    Ok(record.is_some_and(|record| {
        record.volume == *id && record.partition == *partition && record.mode.reads() && record.is_held_by(context.sender, context.height)
    }))
}

impl Handle for DemandPart {
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        let rows = &context.params.volumes;
        let Self { volume: id, partition: name, slot, leaf, route, start, length, capability } = self;
        let volume = state::volume(context.world, &id)?.ok_or(error::VOLUME_NOT_FOUND)?;
        let partition = state::partition(context.world, &id, &name)?.ok_or(error::VOLUME_NOT_FOUND)?;
        if context.value.0 < rows.demand_bond {
            return Err(error::STORAGE_BOND.into());
        }
        if !reads(context, &volume, &id, &name, capability)? {
            return Err(error::CAPABILITY_REFUSED.into());
        }
        context.spend_reading(leaf.len().saturating_add(route.len()))?;
        let route = Route::decode(bytes::Bytes::from(route)).map_err(|_| error::DEMAND_INVALID)?;
        let parsed = Leaf::parse(&leaf, volume.code).ok_or(error::DEMAND_INVALID)?;
        route.start(&leaf, parsed.counted(), &partition.root.top.node).ok_or(error::DEMAND_INVALID)?;
        let place = usize::from(slot);
        let relay = volume.slots.get(place).and_then(super::types::Slot::serving).ok_or(error::SLOT_FOREIGN)?;
        let is_behind = partition.root.behind & super::types::bit(place) != 0;
        let ends_in = start.checked_add(length).is_some_and(|end| end <= parsed.shard_bytes);
        if is_behind || !ends_in || !(1..=DEMAND_BYTES).contains(&length) {
            return Err(error::DEMAND_INVALID.into());
        }
        let shard = *parsed.shards.get(place).ok_or(error::DEMAND_INVALID)?;
        let mut keeper = state::relay(context.world, relay)?.ok_or(error::RELAY_UNKNOWN)?;
        if u64::try_from(keeper.demands.len()).unwrap_or(u64::MAX) >= rows.demands {
            return Err(error::DEMANDS_FULL.into());
        }
        let until = Height(context.height.0.saturating_add(rows.demand_window));
        let record = Demand {
            volume: id,
            slot,
            relay,
            shard,
            shard_bytes: parsed.shard_bytes,
            start,
            length,
            by: context.sender,
            bond: context.value,
            set_at: context.height,
            until,
        };
        // A delivery may demand several parts, each once.
        let part = [&id.0[..], &name.0, &[slot], &shard.0, &start.to_be_bytes(), &length.to_be_bytes()].concat();
        let demand = keccak256(&[b"cowboy-demand:", &context.id.0, &part]);
        if state::demand(context.world, &demand)?.is_some() {
            return Err(error::DEMAND_INVALID.into());
        }
        let mut demands = std::mem::take(&mut keeper.demands).into_vec();
        demands.push(demand);
        keeper.demands = List::new(demands).ok_or(error::DEMANDS_FULL)?;
        state::set_relay(context.world, relay, Some(keeper.next_look), &keeper)?;
        context.charge_kept(&record);
        context.world.write(state::demand_key(&demand), &record);
        state::reschedule(context.world, Subject::Demand(demand), None, Some(until.next()))?;
        Demanded { demand, length, relay, shard, start, until, volume_id: id }.emit(context.world);
        Ok(demand)
    }
}

impl Handle for Answer {
    /// Publishes the part that was demanded. The fee goes to the pool and not to the relay, which else could keep others from demanding for nothing.
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let demand = state::demand(context.world, &self.demand)?.ok_or(error::DEMAND_NOT_FOUND)?;
        if demand.relay != context.sender || context.height > demand.answered_until(&VOLUMES.read(context.world)?) {
            return Err(error::DEMAND_NOT_FOUND.into());
        }
        context.spend_reading(self.slice.len())?;
        if slice::open(&self.slice, &demand.shard, demand.shard_bytes, demand.start, demand.length).is_none() {
            return Err(error::PROOF_INVALID.into());
        }
        let fee = Amount(context.params.volumes.demand_fee).min(demand.bond);
        state::take(context.world, actors::RELAYS, demand.bond)?;
        ledger::add_to_pool(context.world, fee)?;
        context.world.credit(demand.by, demand.bond.saturating_sub(fee))?;
        end(context.world, &self.demand, &demand)?;
        context.is_due = true;
        Answered { demand: self.demand, relay: demand.relay }.emit(context.world);
        Ok(())
    }
}

/// Removes a demand that is over.
fn end(world: &mut World, id: &Hash, demand: &Demand) -> Result<(), Miss> {
    state::reschedule(world, Subject::Demand(*id), Some(demand.until.next()), None)?;
    world.remove(state::demand_key(id));
    let Some(mut relay) = state::relay(world, demand.relay)? else { return Ok(()) };
    let mut demands = std::mem::take(&mut relay.demands).into_vec();
    demands.retain(|open| open != id);
    relay.demands = List::new(demands).expect("no more than before");
    state::set_relay(world, demand.relay, Some(relay.next_look), &relay)
}

/// Ends a demand that the relay did not answer: it loses stake, and who demanded gets the bond back, and a bounty from the pool. The bounty is never
/// more than what the relay lost, and one whose stake does not cover the loss is evicted (decision 672). Where a pause moved its end, it is looked at then.
pub(super) fn expire(world: &mut World, now: Now<'_>, id: &Hash) -> Result<(), Miss> {
    let Now { params, height, .. } = now;
    let demand = state::demand(world, id)?.expect("the agenda names demands that are there");
    let until = demand.answered_until(now.still);
    if height <= until {
        state::reschedule(world, Subject::Demand(*id), Some(demand.until.next()), Some(until.next()))?;
        world.write(state::demand_key(id), &Demand { set_at: height, until, ..demand });
        return Ok(());
    }
    end(world, id, &demand)?;
    let (loss, mut burned, mut is_evicted) = (Amount(params.volumes.demand_slash), Amount::ZERO, false);
    if let Some(mut relay) = state::relay(world, demand.relay)? {
        let before = relay.next_look;
        burned = ledger::slash(world, &mut relay, loss)?;
        is_evicted = burned < loss && relay.left_at.is_none();
        if is_evicted {
            // It is paid for nothing after the last proof that it made, as after a proof that it missed.
            (relay.left_at, relay.missed_at, relay.next_look) = (Some(height), height, height.next());
        }
        state::set_relay(world, demand.relay, Some(before), &relay)?;
    }
    let bounty = ledger::draw_from_pool(world, Amount(params.volumes.demand_bounty).min(burned))?;
    let back = demand.bond.saturating_add(bounty);
    state::take(world, actors::RELAYS, back)?;
    world.credit(demand.by, back)?;
    Refused(Moved { amount: burned, relay: demand.relay }).emit(world);
    if is_evicted {
        Evicted(Moved { amount: Amount::ZERO, relay: demand.relay }).emit(world);
    }
    Ok(())
}

impl Handle for Accuse {
    /// Shows two acknowledgements of a relay for one root with different sums. One of them is a lie.
    fn handle(self, context: &mut Context<'_>) -> Step<Amount> {
        let Self { relay: address, volume, generation, partition, sequence, old, new, until, slot, sums, signatures } = self;
        let mut relay = state::relay(context.world, address)?.ok_or(error::RELAY_UNKNOWN)?;
        let succession = Succession { volume, generation, partition, sequence, old, new, until };
        let ([one, other], [first, second]) = (&sums[..], &signatures[..]) else { return Err(error::ACCUSATION_FALSE.into()) };
        let shown = state::shown_key(address, &keccak256(&[&succession.message(&context.genesis, slot, 0)]));
        if one == other || context.world.read::<bool>(&shown)?.is_some() {
            return Err(error::ACCUSATION_FALSE.into());
        }
        for (sum, signature) in [(one, first), (other, second)] {
            context.spend(0, context.params.weights.verify_ed25519)?;
            if !possession::network_key_signs(&relay.key, &succession.message(&context.genesis, slot, *sum), signature.0) {
                return Err(error::ACCUSATION_FALSE.into());
            }
        }
        context.world.write(shown, &true);
        let burned = ledger::slash(context.world, &mut relay, Amount(context.params.volumes.contradiction))?;
        // What is shown is kept for good, and stake pays for it: without, a relay could fill the state by accusing itself.
        if burned == Amount::ZERO {
            return Err(error::RELAY_UNKNOWN.into());
        }
        state::set_relay(context.world, address, Some(relay.next_look), &relay)?;
        Accused(Moved { amount: burned, relay: address }).emit(context.world);
        Ok(burned)
    }
}
