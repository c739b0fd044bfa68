//! For recipients: asks the members of a committee for their answers, and puts them together.

use crate::answers::{Answered, Asked};
use commonware_codec::DecodeExt as _;
use cowboy_api::Hex;
use cowboy_sealing::{CombineError, TransportSecret, combine};
use cowboy_secrets::{Outcome, Partial, PointG1, share_key};
use cowboy_service::tls;
use cowboy_service::{Chain, ChainError};
use cowboy_system::secrets::state;
use cowboy_system::secrets::types::{Committee, Proxy, Release, ReleaseKey, bit};
use cowboy_types::Hash;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use reqwest::redirect::Policy;
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
    },
}

/// The signature of a committee over what is released, and who answered.
pub struct Collected {
    /// The signature.
    pub signature: PointG1,
    /// The number of the committee.
    pub epoch: u64,
    /// The bit of each member that answered.
    pub served: u16,
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
    let (mut shares, mut served, mut reasons) = (Vec::new(), 0u16, Vec::new());
    while let Some((index, answered)) = asked.next().await {
        let member = u16::try_from(index).map_err(|_| ChainError::Record)?;
        let share = answered.and_then(|answered| {
            let partial = Partial::decode(answered.answer.0).map_err(|_| "its answer is malformed".to_string())?;
            let share_key = share_key(&outcome.polynomial, member).ok_or("it has no share")?;
            secret.share(&release.identity, &share_key, &partial).ok_or_else(|| "its answer does not hold".to_string())
        });
        match share {
            Ok(share) => {
                shares.push((member, share));
                served |= bit(index);
            }
            Err(reason) => reasons.push(format!("member {index}: {reason}")),
        }
        if shares.len() >= outcome.polynomial.len() {
            break;
        }
    }
    match combine(&outcome.polynomial, &release.identity, &shares) {
        Ok(signature) => Ok(Collected { signature, epoch: key.epoch.0, served }),
        Err(source) => Err(CollectError::Few { source, silent: reasons.len(), reasons: reasons.join("; ") }),
    }
}

/// A member's answer.
async fn ask(proxy: &Proxy, release_id: &Hash) -> Result<Answered, String> {
    let host = if proxy.endpoint.contains(':') { format!("[{}]", &proxy.endpoint[..]) } else { proxy.endpoint.to_string() };
    let tls = tls::client(proxy.certificate).map_err(|error| error.to_string())?;
    // The certificate is the proxy's; where it redirects to, anything may be.
    let client = reqwest::Client::builder().tls_backend_preconfigured(tls).timeout(PATIENCE).redirect(Policy::none()).no_proxy().build();
    let client = client.map_err(|error| error.to_string())?;
    let url = format!("https://{host}:{}/v1/release", proxy.port);
    let mut response = client.post(url).json(&Asked { release_id: Hex(*release_id) }).send().await.map_err(|error| error.to_string())?;
    let status = response.status();
    let mut body = Vec::new();
    while let Some(part) = response.chunk().await.map_err(|error| error.to_string())? {
        body.extend_from_slice(&part);
        if body.len() > MAX_ANSWER_BYTES {
            return Err(format!("its answer has more than {MAX_ANSWER_BYTES} bytes"));
        }
    }
    if !status.is_success() {
        return Err(format!("it answers {status}: {:?}", String::from_utf8_lossy(&body[..body.len().min(200)])));
    }
    serde_json::from_slice(&body).map_err(|error| error.to_string())
}
