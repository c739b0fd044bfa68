//! Capabilities: the right of another account to a partition (decision 154).

use super::api::{CapabilityIssued, CapabilityRevoked, IssueCap, RevokeCap};
use super::forms::Granted;
use super::types::{Capability, Volume};
use super::{owners, state};
use crate::actor::{Context, Handle};
use crate::schema::Emit;
use cowboy_state::{Miss, Step, World};
use cowboy_types::units::{Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, Text, error};
use cowboy_volumes::{Mode, capability};

/// The mode that an argument names.
fn mode_of(text: &str) -> Option<Mode> {
    [Mode::Read, Mode::Write, Mode::ReadWrite].into_iter().find(|mode| &*mode_name(*mode) == text)
}

/// What a mode is called.
pub(super) fn mode_name(mode: Mode) -> Text<4> {
    let name = match mode {
        Mode::Read => "r",
        Mode::Write => "w",
        Mode::ReadWrite => "rw",
    };
    Text::new(name).expect("it is short")
}

impl Handle for IssueCap {
    fn handle(self, context: &mut Context<'_>) -> Step<Fixed<16>> {
        let mut volume = owners::own(context, &self.volume)?;
        let mode = mode_of(&self.mode).ok_or(error::VOLUME_INVALID)?;
        if volume.capabilities.0 >= context.params.volumes.capabilities {
            return Err(error::VOLUME_LIMIT.into());
        }
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
        };
        context.charge_kept(&record);
        context.world.write(state::capability_key(&id), &record);
        state::capabilities().insert(context.world, &state::listed_capability(&self.volume, &id))?;
        volume.capabilities = Count(volume.capabilities.0.saturating_add(1));
        state::set_volume(context.world, &self.volume, Some(volume.next_look), &volume)?;
        let granted = Granted { capability: id, holder: self.holder, partition: self.partition, volume_id: self.volume };
        CapabilityIssued(granted).emit(context.world);
        Ok(id)
    }
}

impl Handle for RevokeCap {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let record = state::capability(context.world, &self.capability)?.ok_or(error::CAPABILITY_REFUSED)?;
        let mut volume = owners::own(context, &record.volume)?;
        forget(context.world, &record.volume, &self.capability)?;
        volume.capabilities = Count(volume.capabilities.0.saturating_sub(1));
        state::set_volume(context.world, &record.volume, Some(volume.next_look), &volume)?;
        let Capability { holder, partition, volume: volume_id, .. } = record;
        CapabilityRevoked(Granted { capability: self.capability, holder, partition, volume_id }).emit(context.world);
        Ok(())
    }
}

/// Removes the record of a capability.
pub(super) fn forget(world: &mut World, volume: &Hash, id: &Fixed<16>) -> Result<(), Miss> {
    let key = state::capability_key(id);
    world.require([&key])?;
    world.remove(key);
    state::capabilities().remove(world, &state::listed_capability(volume, id))?;
    Ok(())
}

/// Removes some capabilities of a volume that is removed. Answers whether there were none.
pub(super) fn forget_some(world: &mut World, id: &Hash, volume: &mut Volume, limit: usize) -> Result<bool, Miss> {
    let some = state::capabilities_of(world, id, limit)?;
    world.require(&some.iter().map(state::capability_key).collect::<Vec<_>>())?;
    for capability in &some {
        forget(world, id, capability)?;
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
    let is_of = record.volume == *id && record.partition == *partition && record.holder == context.sender && record.mode.writes();
    let holds = record.from <= context.height && context.height <= record.until;
    let used = record.used_bytes.checked_add(added).filter(|used| *used <= record.max_bytes);
    let Some(used) = used.filter(|_| is_of && holds) else { return Err(error::CAPABILITY_REFUSED.into()) };
    record.used_bytes = used;
    context.world.write(state::capability_key(&capability), &record);
    Ok(())
}
