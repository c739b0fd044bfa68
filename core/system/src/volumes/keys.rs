//! The keys of volumes' partitions: the committee's signature over the partition's identity makes one, and it stands nowhere (decision 151).

use super::state;
use super::types::{Keys, Partition, Status, Volume, first_key_version};
use crate::actor::{Context, Handle};
use crate::secrets::api::ReleasePartition;
use crate::secrets::releases::{self, Opening};
use cowboy_secrets::{Identity, Kind};
use cowboy_state::Step;
use cowboy_types::Hash;
use cowboy_types::error;
use cowboy_types::units::Height;

/// What the committee signs to make the key of a partition, which has no record before its first commit.
pub fn identity(genesis: Hash, (id, volume): (&Hash, &Volume), (name, standing): (&Hash, Option<&Partition>)) -> Identity {
    Identity {
        kind: Kind::Partition,
        genesis,
        key_id: volume.key_id,
        account: volume.creator,
        name_hash: *id,
        version: standing.map_or_else(|| first_key_version(volume.generation), |partition| partition.key_version),
        policy_hash: *name,
    }
}

impl Handle for ReleasePartition {
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        let sender = context.sender;
        let volume = state::volume(context.world, &self.volume)?.ok_or(error::VOLUME_NOT_FOUND)?;
        if volume.keys != Keys::Committee || volume.status == Status::Deleted {
            return Err(error::VOLUME_STATE.into());
        }
        let held = match self.capability {
            None => None,
            Some(id) => state::capability(context.world, &id)?.filter(|record| {
                record.volume == self.volume && record.partition == self.partition && record.is_held_by(sender, context.height)
            }),
        };
        if volume.owner != sender && held.is_none() {
            return Err(error::CAPABILITY_REFUSED.into());
        }
        // A runner reads for whoever submitted its job: the volume's owner pays, once for each job.
        let job = held.map(|record| record.job).filter(|job| *job != Hash::ZERO);
        let (payer, subject) = job.map_or((sender, context.id), |job| (volume.owner, job));
        let standing = state::partition(context.world, &self.volume, &self.partition)?;
        let identity = identity(context.genesis, (&self.volume, &volume), (&self.partition, standing.as_ref()));
        let opening = Opening {
            payer,
            recipient: sender,
            subject,
            deadline: Height(context.height.0.saturating_add(context.params.secrets.release_window)),
            transport: self.transport,
            proof: self.proof,
            copies: None,
        };
        releases::grant(context, identity, opening)
    }
}
