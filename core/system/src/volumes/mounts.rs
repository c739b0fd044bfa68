//! Volumes of jobs: the right of a runner that was drawn to what its job mounts, until its commitment is due (decisions 154, 166, 550).

use super::api::MountVolume;
use super::types::{Capability, Keys, Status, Volume};
use super::{capabilities, state};
use crate::actor::{Context, Handle};
use crate::market::claims;
use crate::market::container::{self, Mount};
use crate::market::request::Request;
use cowboy_state::Step;
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, error, keccak256};
use cowboy_volumes::{Mode, capability};

/// The volume that a mount means, where the submitter may have it mounted: its own, or a public one to read.
fn find(context: &Context<'_>, submitter: Address, mount: &Mount) -> Step<(Hash, Volume)> {
    let id = mount.id(submitter);
    let volume = state::volume(context.world, &id)?.ok_or(error::VOLUME_NOT_FOUND)?;
    if volume.status == Status::Deleted {
        return Err(error::VOLUME_STATE.into());
    }
    let is_read = volume.keys == Keys::Public && mount.mode == Mode::Read;
    if volume.owner != submitter && !is_read {
        return Err(error::VOLUME_FOREIGN.into());
    }
    // Nobody but the owner has these keys, and a runner is not the owner.
    if volume.keys == Keys::Owner { Err(error::VOLUME_STATE.into()) } else { Ok((id, volume)) }
}

/// Refuses a job that mounts what its submitter may not have mounted.
pub(crate) fn admitted(context: &mut Context<'_>, request: &Request, submitter: Address) -> Step<()> {
    let mounts = container::mounts(request).map_err(|_| error::CONTAINER_INVALID)?;
    context.charge_records(mounts.len());
    for mount in &mounts {
        find(context, submitter, mount)?;
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
        if volume.keys == Keys::Public && mount.mode == Mode::Read {
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
