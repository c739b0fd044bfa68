//! What a release is answered: the member's share of the signature, encrypted to the recipient's key (decision 144).

use crate::keys::Keys;
use crate::store::Store;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_api::Hex;
use cowboy_sealing::{answer, dealing::is_share};
use cowboy_secrets::{Kind, Outcome, PointG1};
use cowboy_service::{Chain, ChainError};
use cowboy_system::secrets::state;
use cowboy_system::secrets::types::{Committee, Release, ReleaseKey, Secret, Version};
use cowboy_system::volumes;
use cowboy_system::volumes::types::Volume;
use cowboy_types::Hash;
use cowboy_types::units::Count;
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde::{Deserialize, Serialize};

/// A request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Asked {
    /// The release.
    pub release_id: Hex<Hash>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    /// The number of the committee.
    pub epoch: u64,
    /// The member's index.
    pub index: u16,
    /// The answer: 192 bytes.
    pub answer: Hex<Vec<u8>>,
    /// The member's signature over it.
    pub signature: Hex<Vec<u8>>,
}

/// Why a release is not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// It is not open on the chain.
    #[error("the release is not open: {0}")]
    Closed(&'static str),
    /// The proxy holds no share of the key.
    #[error("this proxy is no member of a committee that answers")]
    NoSeat,
    /// The chain cannot be read.
    #[error("the chain cannot be read now: {0}")]
    Chain(#[from] ChainError),
    /// The share cannot be read.
    #[error("the share cannot be read")]
    Store(#[from] std::io::Error),
}

/// The answer to a release that stands on the chain. Who asks does not matter: only the recipient can read it.
pub(crate) async fn answer_release(chain: &Chain, store: &Store, keys: &Keys, id: &Hash) -> Result<Answered, Refusal> {
    let found = chain.read(&[state::release_record_key(id)]).await?;
    let release: Release = found.read(0)?.ok_or(Refusal::Closed("the chain has no such release"))?;
    let identity = &release.identity;
    let (account, name, version) = (identity.account, identity.name_hash, Count(identity.version));
    let wanted = match identity.kind {
        Kind::Secret => vec![state::secret_key(account, &name), state::version_key(account, &name, version)],
        Kind::Partition => vec![volumes::state::volume_key(&name)],
    };
    let records = chain.read(&[&[state::release_key(identity.key_id)], &wanted[..]].concat()).await?;
    let key: ReleaseKey = records.read(0)?.ok_or(Refusal::Closed("its key opens nothing any more"))?;
    match identity.kind {
        Kind::Secret => {
            let secret: Secret = records.read(1)?.ok_or(Refusal::Closed("the secret was deleted"))?;
            let _: Version = records.read(2)?.ok_or(Refusal::Closed("the version was deleted"))?;
            if secret.is_paused {
                return Err(Refusal::Closed("the secret is paused"));
            }
        }
        Kind::Partition => drop(records.read::<Volume>(1)?.ok_or(Refusal::Closed("the volume was removed"))?),
    }
    if release.served.is_some() || records.height > release.deadline.0 {
        return Err(Refusal::Closed("it was closed, or its deadline passed"));
    }
    let epochs: Vec<Count> = [Some(key.epoch), key.epoch.checked_sub(Count(1))].into_iter().flatten().collect();
    let wanted: Vec<_> = epochs.iter().map(|epoch| state::committee_key(identity.key_id, *epoch)).collect();
    let records = chain.read(&wanted).await?;
    let own = keys.public();
    for (place, epoch) in epochs.iter().enumerate() {
        let Some(committee) = records.read::<Committee>(place)? else { continue };
        let seat = committee.members.iter().position(|member| member.key == own).and_then(|index| u16::try_from(index).ok());
        let (Some(index), true) = (seat, committee.until.is_none_or(|until| records.height <= until.0)) else { continue };
        let outcome = Outcome::decode(committee.outcome.bytes().clone()).map_err(|_| ChainError::Record)?;
        let Some(share) = store.share(identity.key_id, epoch.0)?.filter(|share| is_share(&outcome, index, share)) else { continue };
        let transport = PointG1::new(release.transport.0).ok_or(ChainError::Record)?;
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(std::io::Error::other)?;
        let partial = answer(&mut ChaCha20Rng::from_seed(seed), &share, identity, &transport);
        let digest = partial.digest(id, epoch.0, index);
        let signature = keys.sign(&digest.0);
        return Ok(Answered { epoch: epoch.0, index, answer: Hex(partial.encode().to_vec()), signature: Hex(signature.0.to_vec()) });
    }
    Err(Refusal::NoSeat)
}
