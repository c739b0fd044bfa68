//! The keys of volumes' partitions: the committee's signature over the partition's identity makes one, and it stands nowhere (decisions 151, 603).

use super::state;
use super::types::{Keys, Partition, Status, Volume, first_key_version};
use crate::actor::{Context, Handle};
use crate::secrets::api::ReleasePartition;
use crate::secrets::releases::{self, Opening};
use crate::standstill::VOLUMES;
use cowboy_secrets::{Identity, Kind};
use cowboy_state::{Miss, Step};
use cowboy_types::Hash;
use cowboy_types::error;
use cowboy_types::units::Height;

/// What the committee signs to make a version of the key of a partition.
pub fn identity(genesis: Hash, (id, volume): (&Hash, &Volume), partition: &Hash, version: u64) -> Identity {
    Identity {
        kind: Kind::Partition,
        genesis,
        key_id: volume.key_id,
        account: volume.creator,
        name_hash: *id,
        version,
        policy_hash: *partition,
    }
}

/// The version of the key under which the files of a partition are, or will be where it has no root yet.
pub fn standing_version(volume: &Volume, standing: Option<&Partition>) -> u64 {
    standing.map_or_else(|| first_key_version(volume.generation), |partition| partition.root.key_version)
}

/// Whether the owner may have a version of a partition's key released: to rewrite the partition with the next one, and to go back to the one before.
fn is_open_to_owner(context: &Context<'_>, volume: &Volume, standing: Option<&Partition>, version: u64) -> Result<bool, Miss> {
    let Some(partition) = standing else { return Ok(false) };
    let previous = partition.previous_key_version(context.params, &VOLUMES.read(context.world)?, context.height);
    Ok([partition.next_key_version(volume.generation), previous].contains(&Some(version)))
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
        let found = state::partition(context.world, &self.volume, &self.partition)?;
        let standing = standing_version(&volume, found.as_ref());
        let version = self.key_version.unwrap_or(standing);
        // Who holds a right reads what stands, and nothing else.
        let is_open = version == standing || volume.owner == sender && is_open_to_owner(context, &volume, found.as_ref(), version)?;
        if !is_open {
            context.explanation = Some(format!("The files that stand are under version {standing}; version {version} is not released."));
            return Err(error::KEY_VERSION.into());
        }
        // A runner reads for whoever submitted its job: the volume's owner pays, once for each job.
        let job = held.map(|record| record.job).filter(|job| *job != Hash::ZERO);
        let (payer, subject) = job.map_or((sender, context.id), |job| (volume.owner, job));
        let identity = identity(context.genesis, (&self.volume, &volume), &self.partition, version);
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
