//! For recipients: asks the members of a committee for their answers, and puts them together.

use crate::answers::{Answered, Asked};
use commonware_codec::DecodeExt as _;
use cowboy_api::Hex;
use cowboy_api::client;
use cowboy_api::sender::Request;
use cowboy_sealing::{CombineError, TransportSecret, combine};
use cowboy_secrets::partial::answer_digest;
use cowboy_secrets::{Outcome, Partial, PointG1, share_key};
use cowboy_service::tls;
use cowboy_service::{Chain, ChainError, authority};
use cowboy_system::requests::secrets as requests;
use cowboy_system::secrets::state;
use cowboy_system::secrets::types::{Committee, Member, Proxy, Release, ReleaseKey, bit};
use cowboy_system::staking::possession::network_key_signs;
use cowboy_types::Hash;
use cowboy_types::wire::Fixed;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use std::time::Duration;

/// How long a member is waited for.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most bytes of an answer.
const MAX_ANSWER_BYTES: usize = 4_096;

/// Why a release cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    /// The chain cannot be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The chain has no such release.
    #[error("the chain has no such release, or its key has no committee")]
    NotFound,
    /// The answers make no signature.
    #[error("{source}; {silent} members did not answer as they should: {reasons}")]
    Few {
        /// What is missing.
        source: CombineError,
        /// How many did not answer.
        silent: usize,
        /// Their results.
        reasons: String,
        /// What members signed, and what does not hold.
        false_answers: Vec<FalseAnswer>,
    },
}

impl CollectError {
    /// What members signed, and what does not hold: where too few answers are left, these are the reason.
    pub fn false_answers(&self) -> &[FalseAnswer] {
        match self {
            Self::Few { false_answers, .. } => false_answers,
            Self::Chain(_) | Self::NotFound => &[],
        }
    }
}

/// The signature of a committee over what is released, and who answered.
pub struct Collected {
    /// The signature.
    pub signature: PointG1,
    /// The number of the committee.
    pub epoch: u64,
    /// The bit of each member that answered.
    pub served: u16,
    /// What members signed, and what does not hold.
    pub false_answers: Vec<FalseAnswer>,
}

/// An answer that a member of a committee signed, and that does not hold: it costs the member stake and seat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FalseAnswer {
    release: Hash,
    epoch: u64,
    index: u16,
    answer: Fixed<192>,
    signature: Fixed<64>,
}

impl FalseAnswer {
    /// An answer that does not hold, where the member signed it as what the chain takes it for. Nobody answers for what anybody could have sent.
    fn of(release: &Hash, (epoch, index): (u64, u16), member: &Member, answered: &Answered) -> Option<Self> {
        let answer: [u8; 192] = answered.answer.0[..].try_into().ok()?;
        let signature: [u8; 64] = answered.signature.0[..].try_into().ok()?;
        let is_for = (answered.epoch, answered.index) == (epoch, index);
        let is_signed = is_for && network_key_signs(&member.key, &answer_digest(release, epoch, index, &answer).0, signature);
        is_signed.then_some(Self { release: *release, epoch, index, answer: Fixed(answer), signature: Fixed(signature) })
    }

    /// What shows it to the chain.
    pub fn accusation(&self) -> Request {
        requests::accuse(self.release, (self.epoch, self.index), self.answer, self.signature)
    }
}

/// Asks every member of the committee that holds the key, and combines the first answers that suffice.
///
/// # Errors
///
/// If the chain cannot be read, or too few members answer.
pub async fn collect(chain: &Chain, release_id: &Hash, secret: &TransportSecret) -> Result<Collected, CollectError> {
    let found = chain.read(&[state::release_record_key(release_id)]).await?;
    let release: Release = found.read(0)?.ok_or(CollectError::NotFound)?;
    let records = chain.read(&[state::release_key(release.identity.key_id)]).await?;
    let key: ReleaseKey = records.read(0)?.ok_or(CollectError::NotFound)?;
    let records = chain.read(&[state::committee_key(release.identity.key_id, key.epoch)]).await?;
    let committee: Committee = records.read(0)?.ok_or(CollectError::NotFound)?;
    let outcome = Outcome::decode(committee.outcome.bytes().clone()).map_err(|_| ChainError::Record)?;
    let wanted: Vec<_> = committee.members.iter().map(|member| state::proxy_key(member.address)).collect();
    let records = chain.read(&wanted).await?;
    let mut asked = FuturesUnordered::new();
    for index in 0..wanted.len() {
        let proxy: Option<Proxy> = records.read(index)?;
        asked.push(async move {
            let Some(proxy) = proxy else { return (index, Err("it is not registered any more".to_string())) };
            (index, ask(&proxy, release_id).await)
        });
    }
    // With another key than the release names, no answer would seem to hold.
    let is_recipient = *secret.key().key.bytes() == release.transport.0;
    let (mut shares, mut served, mut reasons, mut false_answers) = (Vec::new(), 0u16, Vec::new(), Vec::new());
    while let Some((index, answered)) = asked.next().await {
        let place = u16::try_from(index).map_err(|_| ChainError::Record)?;
        let share = answered.and_then(|answered| {
            let share_key = share_key(&outcome.polynomial, place).ok_or("it has no share")?;
            let partial = Partial::decode(answered.answer.0.clone()).ok();
            let share = partial.and_then(|partial| secret.share(&release.identity, &share_key, &partial));
            if share.is_none() {
                let member = committee.members.get(index).filter(|_| is_recipient);
                false_answers.extend(member.and_then(|member| FalseAnswer::of(release_id, (key.epoch.0, place), member, &answered)));
            }
            share.ok_or_else(|| "its answer does not hold".to_string())
        });
        match share {
            Ok(share) => {
                shares.push((place, share));
                served |= bit(index);
            }
            Err(reason) => reasons.push(format!("member {index}: {reason}")),
        }
        if shares.len() >= outcome.polynomial.len() {
            break;
        }
    }
    match combine(&outcome.polynomial, &release.identity, &shares) {
        Ok(signature) => Ok(Collected { signature, epoch: key.epoch.0, served, false_answers }),
        Err(source) => Err(CollectError::Few { source, silent: reasons.len(), reasons: reasons.join("; "), false_answers }),
    }
}

/// A member's answer.
async fn ask(proxy: &Proxy, release_id: &Hash) -> Result<Answered, String> {
    let url = format!("https://{}/v1/release", authority(&proxy.endpoint, proxy.port));
    let tls = tls::client(proxy.certificate).map_err(|error| error.to_string())?;
    // The certificate is the proxy's; where it redirects to, anything may be.
    let builder = client::builder(&url).tls_backend_preconfigured(tls).timeout(PATIENCE).no_proxy();
    let client = builder.build().map_err(|error| error.to_string())?;
    let asking = client.post(url).json(&Asked { release_id: Hex(*release_id) });
    let response = asking.send().await.map_err(|error| client::innermost(&error))?;
    let status = response.status();
    let body = client::body(response, MAX_ANSWER_BYTES).await.map_err(|error| error.to_string())?;
    if !status.is_success() {
        return Err(format!("it answers {status}: {:?}", String::from_utf8_lossy(&body[..body.len().min(200)])));
    }
    serde_json::from_slice(&body).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::Keys;
    use cowboy_types::signing::PrivateKey;

    /// A member answers for what it signed for this release, as the member that it is, and for nothing else.
    #[test]
    fn a_false_answer_is_signed() {
        let keys = Keys::of(&PrivateKey::from_bytes([7; 32]).expect("a key"));
        let member = Member { address: PrivateKey::from_bytes([7; 32]).expect("a key").address(), key: keys.public() };
        let (release, epoch, index) = (Hash([3; 32]), 4, 2);
        let signature = keys.sign(&answer_digest(&release, epoch, index, &[9; 192]).0);
        let answered = |epoch: u64, index: u16, answer: Vec<u8>, signature: Vec<u8>| {
            FalseAnswer::of(&release, (4, 2), &member, &Answered { epoch, index, answer: Hex(answer), signature: Hex(signature) })
        };
        let signed = signature.0.to_vec();
        let found = answered(epoch, index, vec![9; 192], signed.clone()).expect("it is signed");
        let Request { actor, method, .. } = found.accusation();
        assert_eq!((actor, method, found.release), (cowboy_system::secrets::NUMBER, "accuse", release));
        let mut changed = signed.clone();
        changed[0] ^= 1;
        for (case, other) in [
            ("another committee", answered(5, index, vec![9; 192], signed.clone())),
            ("another place", answered(epoch, 1, vec![9; 192], signed.clone())),
            ("other bytes", answered(epoch, index, vec![8; 192], signed.clone())),
            ("too few bytes", answered(epoch, index, vec![9; 191], signed.clone())),
            ("another signature", answered(epoch, index, vec![9; 192], changed)),
            ("no signature", answered(epoch, index, vec![9; 192], Vec::new())),
        ] {
            assert_eq!(other, None, "{case}");
        }
        let stranger = Member { key: Keys::of(&PrivateKey::from_bytes([8; 32]).expect("a key")).public(), ..member.clone() };
        let answer = Answered { epoch, index, answer: Hex(vec![9; 192]), signature: Hex(signed) };
        assert_eq!(FalseAnswer::of(&release, (epoch, index), &stranger, &answer), None, "somebody else signed it");
        assert_eq!(FalseAnswer::of(&Hash([4; 32]), (epoch, index), &member, &answer), None, "for another release");
    }
}
