//! Capabilities: the right of another account to a partition (decision 154).

use super::api::{CapabilityIssued, CapabilityRevoked, IssueCap, RevokeCap};
use super::forms::Granted;
use super::state::{self, Subject};
use super::status::own;
use super::types::{Capability, Volume};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::{Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, error};
use cowboy_volumes::{Mode, capability};

impl Handle for IssueCap {
    fn handle(self, context: &mut Context<'_>) -> Step<Fixed<16>> {
        let mut volume = own(context, &self.volume)?;
        let mode = Mode::of_letters(&self.mode).ok_or(error::VOLUME_INVALID)?;
        let id = capability::id(&self.volume, &context.id);
        if state::capability(context.world, &id)?.is_some() {
            return Err(error::VOLUME_EXISTS.into());
        }
        let record = Capability {
            volume: self.volume,
            partition: self.partition,
            holder: self.holder,
            mode,
            max_bytes: self.max_bytes,
            used_bytes: 0,
            from: context.height,
            until: Height(self.until),
            job: Hash::ZERO,
        };
        issue(context, &mut volume, &id, &record)?;
        Ok(id)
    }
}

/// Writes a new capability of a volume, and lists it.
pub(super) fn issue(context: &mut Context<'_>, volume: &mut Volume, id: &Fixed<16>, record: &Capability) -> Step<()> {
    if volume.capabilities.0 >= context.params.volumes.capabilities {
        return Err(error::VOLUME_LIMIT.into());
    }
    let of = &record.volume;
    context.charge_kept(record);
    context.world.write(state::capability_key(id), record);
    state::capabilities().insert(context.world, &state::listed_capability(of, id))?;
    state::reschedule(context.world, Subject::Mount(*id), None, record.ends_at())?;
    volume.capabilities = Count(volume.capabilities.0.saturating_add(1));
    state::set_volume(context.world, of, Some(volume.next_look), volume)?;
    CapabilityIssued(Granted::new(*id, record)).emit(context.world);
    Ok(())
}

impl Handle for RevokeCap {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let record = state::capability(context.world, &self.capability)?.ok_or(error::CAPABILITY_REFUSED)?;
        let volume = own(context, &record.volume)?;
        Ok(take_back(context.world, volume, &self.capability, &record)?)
    }
}

/// Takes a capability back.
fn take_back(world: &mut World, mut volume: Volume, id: &Fixed<16>, record: &Capability) -> Result<(), Miss> {
    forget(world, id, record)?;
    volume.capabilities = Count(volume.capabilities.0.saturating_sub(1));
    state::set_volume(world, &record.volume, Some(volume.next_look), &volume)?;
    CapabilityRevoked(Granted::new(*id, record)).emit(world);
    Ok(())
}

/// Takes the capability of a job back whose time is over.
pub(super) fn expire(world: &mut World, id: &Fixed<16>) -> Result<(), Miss> {
    let record = state::capability(world, id)?.expect("the agenda names capabilities that are there");
    let volume = state::volume(world, &record.volume)?.expect("a capability's volume is there");
    take_back(world, volume, id, &record)
}

/// Removes the record of a capability.
fn forget(world: &mut World, id: &Fixed<16>, record: &Capability) -> Result<(), Miss> {
    world.remove(state::capability_key(id));
    state::reschedule(world, Subject::Mount(*id), record.ends_at(), None)?;
    state::capabilities().remove(world, &state::listed_capability(&record.volume, id))?;
    Ok(())
}

/// Removes some capabilities of a volume that is removed. Answers whether there were none.
pub(super) fn forget_some(world: &mut World, id: &Hash, volume: &mut Volume, limit: usize) -> Result<bool, Miss> {
    let some = state::capabilities_of(world, id, limit)?;
    world.require(&some.iter().map(state::capability_key).collect::<Vec<_>>())?;
    for capability in &some {
        let record = state::capability(world, capability)?.expect("a listed capability has a record");
        forget(world, capability, &record)?;
    }
    volume.capabilities = Count(volume.capabilities.0.saturating_sub(u64::try_from(some.len()).unwrap_or(u64::MAX)));
    Ok(some.is_empty())
}

/// Lets the sender add bytes to a partition: as the owner, or with a capability that allows it, which counts them.
pub(super) fn use_to_write(
    context: &mut Context<'_>,
    id: &Hash,
    volume: &Volume,
    partition: &Hash,
    capability: Option<Fixed<16>>,
    added: u64,
) -> Step<()> {
    let Some(capability) = capability else {
        return if volume.owner == context.sender { Ok(()) } else { Err(error::VOLUME_FOREIGN.into()) };
    };
    let mut record = state::capability(context.world, &capability)?.ok_or(error::CAPABILITY_REFUSED)?;
    let is_of = record.volume == *id && record.partition == *partition && record.mode.writes();
    let holds = record.is_held_by(context.sender, context.height);
    let used = record.used_bytes.checked_add(added).filter(|used| *used <= record.max_bytes);
    let Some(used) = used.filter(|_| is_of && holds) else { return Err(error::CAPABILITY_REFUSED.into()) };
    record.used_bytes = used;
    context.world.write(state::capability_key(&capability), &record);
    Ok(())
}
