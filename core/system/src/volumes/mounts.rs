//! Volumes of jobs: the right of a runner that was drawn to what its job mounts, until its commitment is due (decisions 154, 166, 550).

use super::api::MountVolume;
use super::types::{Capability, Keys, Status, Volume};
use super::{capabilities, state};
use crate::actor::{Context, Handle};
use crate::market::claims;
use crate::market::container::{self, Mount};
use crate::market::request::Request;
use cowboy_state::{Key, Miss, Step, World};
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, actors, error, keccak256};
use cowboy_volumes::{Mode, capability};

/// What the runner of a job asks system actors for, because of what the job mounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Needed {
    /// Rights, of 0x0A.
    pub(crate) rights: bool,
    /// Keys of partitions, of 0x04.
    pub(crate) keys: bool,
}

impl Needed {
    /// The same with what a mount of a volume needs. Everybody reads a public one without asking.
    fn with(self, volume: &Volume, mount: &Mount) -> Self {
        let does_ask = !is_open(volume, mount);
        Self { rights: self.rights || does_ask, keys: self.keys || does_ask && volume.keys == Keys::Committee }
    }
}

/// What a runner asks for, because of what a job mounts of volumes that are there.
pub(crate) fn needed(world: &World, request: &Request, submitter: Address) -> Result<Needed, Miss> {
    let mounts = container::mounts(request).unwrap_or_default();
    let keys: Vec<Key> = mounts.iter().map(|mount| state::volume_key(&mount.id(submitter))).collect();
    world.require(&keys)?;
    let mut needed = Needed::default();
    for mount in &mounts {
        needed = state::volume(world, &mount.id(submitter))?.map_or(needed, |volume| needed.with(&volume, mount));
    }
    Ok(needed)
}

/// Whether everybody may read what is mounted.
fn is_open(volume: &Volume, mount: &Mount) -> bool {
    volume.keys == Keys::Public && mount.mode == Mode::Read
}

/// The volume that a mount means, where the submitter may have it mounted: its own, or a public one to read.
fn find(context: &Context<'_>, submitter: Address, mount: &Mount) -> Step<(Hash, Volume)> {
    let id = mount.id(submitter);
    let volume = state::volume(context.world, &id)?.ok_or(error::VOLUME_NOT_FOUND)?;
    if volume.status == Status::Deleted {
        return Err(error::VOLUME_STATE.into());
    }
    if volume.owner != submitter && !is_open(&volume, mount) {
        return Err(error::VOLUME_FOREIGN.into());
    }
    // Nobody but the owner has these keys, and a runner is not the owner.
    if volume.keys == Keys::Owner { Err(error::VOLUME_STATE.into()) } else { Ok((id, volume)) }
}

/// Refuses a job that mounts what its submitter may not have mounted, or what no runner could ask for now, because the actor that gives it is paused.
pub(crate) fn admitted(context: &mut Context<'_>, request: &Request, submitter: Address) -> Step<()> {
    let mounts = container::mounts(request).map_err(|_| error::CONTAINER_INVALID)?;
    context.charge_records(mounts.len());
    let mut needed = Needed::default();
    for mount in &mounts {
        let (_, volume) = find(context, submitter, mount)?;
        needed = needed.with(&volume, mount);
    }
    for (is_needed, actor) in [(needed.rights, actors::STORAGE), (needed.keys, actors::SECRETS)] {
        if is_needed {
            context.require_needed(actor)?;
        }
    }
    Ok(())
}

/// The id of the capability that a job's runner has for a mount of a volume. Each job, place and runner has its own.
pub fn capability_of(job: &Hash, index: u64, runner: Address, volume: &Hash) -> Fixed<16> {
    capability::id(volume, &keccak256(&[b"cowboy-mount:", &job.0, &index.to_be_bytes(), &runner.0]))
}

impl Handle for MountVolume {
    fn handle(self, context: &mut Context<'_>) -> Step<Fixed<16>> {
        let runner = context.sender;
        let (job, _, request) = claims::of_drawn(context, &self.job)?;
        let mounts = container::mounts(&request).map_err(|_| error::CONTAINER_INVALID)?;
        let mount = usize::try_from(self.index).ok().and_then(|index| mounts.get(index)).ok_or(error::VOLUME_NOT_FOUND)?;
        let (volume_id, mut volume) = find(context, job.submitter, mount)?;
        // Everybody reads a public volume, and could fill its list of rights.
        if is_open(&volume, mount) {
            return Err(error::VOLUME_STATE.into());
        }
        let id = capability_of(&self.job, self.index, runner, &volume_id);
        let until = Height(job.commit_until.0);
        if let Some(mut record) = state::capability(context.world, &id)? {
            // Deadlines move while the market stands still.
            let before = record.ends_at();
            record.until = until;
            state::reschedule(context.world, state::Subject::Mount(id), before, record.ends_at())?;
            context.world.write(state::capability_key(&id), &record);
            return Ok(id);
        }
        let record = Capability {
            volume: volume_id,
            partition: mount.partition.partition(),
            holder: runner,
            mode: mount.mode,
            max_bytes: mount.max_bytes,
            used_bytes: 0,
            from: context.height,
            until,
            job: self.job,
        };
        capabilities::issue(context, &mut volume, &id, &record)?;
        Ok(id)
    }
}
