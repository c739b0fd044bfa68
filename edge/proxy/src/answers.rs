//! What a release is answered: the member's share of the signature, encrypted to the recipient's key (decision 144).

use crate::behaviour::Behaviour;
use crate::keys::Keys;
use crate::store::Store;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_api::Hex;
use cowboy_sealing::{answer, dealing::is_share};
use cowboy_secrets::partial::answer_digest;
use cowboy_secrets::{Outcome, PointG1};
use cowboy_service::{Chain, ChainError};
use cowboy_system::secrets::standing::{Source, over};
use cowboy_system::secrets::state;
use cowboy_system::secrets::types::{Committee, Release, ReleaseKey, Secret};
use cowboy_system::standstill::{SECRETS, Standstill};
use cowboy_types::Hash;
use cowboy_types::units::{Count, Height};
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
    /// It need not be answered any more, and never again.
    #[error("the release is not open: {0}")]
    Closed(&'static str),
    /// The proxy holds no share of the key.
    #[error("this proxy is no member of a committee that answers")]
    NoSeat,
    /// The proxy gives no answers.
    #[error("this proxy does not answer")]
    Silent,
    /// The chain cannot be read.
    #[error("the chain cannot be read now: {0}")]
    Chain(#[from] ChainError),
    /// The share cannot be read.
    #[error("this proxy's share cannot be read: ask the other members; the proxy's log says what its operator can do")]
    Store(#[from] std::io::Error),
}

/// The answer to a release that stands on the chain. Who asks does not matter: only the recipient can read it.
pub(crate) async fn answer_release(chain: &Chain, store: &Store, own: (&Keys, &dyn Behaviour), id: &Hash) -> Result<Answered, Refusal> {
    let found = chain.read(&[state::release_record_key(id)]).await?;
    let release: Release = found.read(0)?.ok_or(Refusal::Closed("the chain has no such release"))?;
    let height = Height(found.height);
    let key = standing_key(chain, &release, height).await?;
    // Whoever asks may have the committee before in mind: it answers a while longer.
    let epochs = key.committees().collect();
    answer_of(chain, store, own, (id, &release), epochs).await
}

/// The answer to a demand: of the committee that the chain will check it against, and of no other.
pub(crate) async fn answer_demand(
    chain: &Chain,
    store: &Store,
    own: (&Keys, &dyn Behaviour),
    (id, release): (&Hash, &Release),
    until: Height,
) -> Result<Answered, Refusal> {
    standing_key(chain, release, until).await?;
    answer_of(chain, store, own, (id, release), vec![release.epoch]).await
}

/// The key of a release that has to be answered at a height, by the rule by which the chain blames whoever is silent.
async fn standing_key(chain: &Chain, release: &Release, height: Height) -> Result<ReleaseKey, Refusal> {
    let [secret, version] = Source::keys(release);
    let records = chain.read(&[state::release_key(release.identity.key_id), secret, version, SECRETS.key()]).await?;
    let still: Standstill = records.read(3)?.unwrap_or_default();
    let source = Source { secret: records.read::<Secret>(1)?, has_version: records.bytes(2).is_some() };
    match over(release, &source, &still, height) {
        Some(over) => Err(Refusal::Closed(over.reason())),
        None => records.read(0)?.ok_or(Refusal::Closed("its key opens nothing any more")),
    }
}

/// The answer with the share of the first of some committees that still answers and of which this proxy is a member.
async fn answer_of(
    chain: &Chain,
    store: &Store,
    (keys, behaviour): (&Keys, &dyn Behaviour),
    (id, release): (&Hash, &Release),
    epochs: Vec<Count>,
) -> Result<Answered, Refusal> {
    let identity = &release.identity;
    let mut wanted: Vec<_> = epochs.iter().map(|epoch| state::committee_key(identity.key_id, *epoch)).collect();
    wanted.push(SECRETS.key());
    let records = chain.read(&wanted).await?;
    let still: Standstill = records.read(epochs.len())?.unwrap_or_default();
    let (own, mut unreadable) = (keys.public(), None);
    for (place, epoch) in epochs.iter().enumerate() {
        let Some(committee) = records.read::<Committee>(place)? else { continue };
        let seat = committee.members.iter().position(|member| member.key == own).and_then(|index| u16::try_from(index).ok());
        let (Some(index), true) = (seat, committee.does_answer(&chain.params(), &still, Height(records.height))) else { continue };
        let outcome = Outcome::decode(committee.outcome.bytes().clone()).map_err(|_| ChainError::Record)?;
        let share = match store.share(identity.key_id, epoch.0) {
            Ok(share) => share.filter(|share| is_share(&outcome, index, share)),
            Err(error) => {
                // The share of another committee may be one that can be read.
                unreadable = Some(error);
                None
            }
        };
        let Some(share) = share else { continue };
        let transport = PointG1::new(release.transport.0).ok_or(ChainError::Record)?;
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(std::io::Error::other)?;
        let partial = answer(&mut ChaCha20Rng::from_seed(seed), &share, identity, &transport);
        let answer = behaviour.answer(partial.encode().to_vec()).ok_or(Refusal::Silent)?;
        let signature = keys.sign(&answer_digest(id, epoch.0, index, &answer).0);
        return Ok(Answered { epoch: epoch.0, index, answer: Hex(answer), signature: Hex(signature.0.to_vec()) });
    }
    Err(unreadable.map_or(Refusal::NoSeat, Refusal::Store))
}
