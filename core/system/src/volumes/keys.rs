//! The keys of volumes' partitions: the committee's signature over the partition's identity makes one, and it stands nowhere (decision 151).

use super::state;
use super::types::{Keys, Status, first_key_version};
use crate::actor::{Context, Handle};
use crate::secrets::api::ReleasePartition;
use crate::secrets::releases::{self, Opening};
use cowboy_secrets::{Identity, Kind};
use cowboy_state::Step;
use cowboy_types::Hash;
use cowboy_types::error;
use cowboy_types::units::Height;

impl Handle for ReleasePartition {
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        let sender = context.sender;
        let volume = state::volume(context.world, &self.volume)?.ok_or(error::VOLUME_NOT_FOUND)?;
        if volume.keys != Keys::Committee || volume.status == Status::Deleted {
            return Err(error::VOLUME_STATE.into());
        }
        let is_holder = match self.capability {
            None => false,
            Some(id) => state::capability(context.world, &id)?.is_some_and(|record| {
                let holds = record.from <= context.height && context.height <= record.until;
                record.volume == self.volume && record.partition == self.partition && record.holder == sender && holds
            }),
        };
        if volume.owner != sender && !is_holder {
            return Err(error::CAPABILITY_REFUSED.into());
        }
        let found = state::partition(context.world, &self.volume, &self.partition)?;
        let version = found.map_or_else(|| first_key_version(volume.generation), |partition| partition.key_version);
        let identity = Identity {
            kind: Kind::Partition,
            genesis: context.genesis,
            key_id: volume.key_id,
            account: volume.creator,
            name_hash: self.volume,
            version,
            policy_hash: self.partition,
        };
        let opening = Opening {
            payer: sender,
            recipient: sender,
            subject: context.id,
            deadline: Height(context.height.0.saturating_add(context.params.secrets.release_window)),
            transport: self.transport,
            proof: self.proof,
            copies: None,
        };
        releases::grant(context, identity, opening)
    }
}
