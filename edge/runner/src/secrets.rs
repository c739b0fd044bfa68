//! Secrets of jobs: released to this runner by a committee, put into the work, and kept out of the result (decisions 144, 506).

use crate::execute::Fault;
use base64::{Engine as _, prelude::BASE64_STANDARD, prelude::BASE64_URL_SAFE_NO_PAD};
use cowboy_api::sender::Call;
use cowboy_proxy::collect;
use cowboy_sealing::{TransportSecret, open};
use cowboy_secrets::Sealed;
use cowboy_secrets::partial::release_id;
use cowboy_secrets::{Identity, Kind};
use cowboy_service::{Chain, ChainError};
use cowboy_system::offchain::request as submission;
use cowboy_system::secrets::jobs::{Asked, asked};
use cowboy_system::secrets::types::{Release, Secret, Version};
use cowboy_system::secrets::{NUMBER, state};
use cowboy_types::cbor::Value;
use cowboy_types::error::ACTOR_NOT_FOUND;
use cowboy_types::job::JobSpec;
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, Hash, keccak256};
use rand_chacha::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Map, Value as Json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::OnceCell;
use tokio::time::Instant;
use zeroize::Zeroizing;

/// The fields of a web job that may contain `${KEY}`.
const FIELDS: [&str; 3] = ["headers", "body", "json"];

/// How long a release is waited for, from the call to the answers.
const PATIENCE: Duration = Duration::from_secs(60);

/// The wait before the chain is looked at again.
const PAUSE: Duration = Duration::from_millis(300);

/// The wait before a call that is not seen on the chain is sent again.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// The shortest value that is looked for in results: a shorter one stands in any text.
const SHORTEST: usize = 4;

/// What secrets of jobs are fetched with.
pub(crate) struct Secrets {
    node: String,
    runner: Address,
    /// What transport keys follow from, so that a runner that starts again reads what was released to it.
    seed: [u8; 32],
    post: Box<dyn Fn(Call) + Send + Sync>,
    chain: OnceCell<Chain>,
}

/// The values of a job's secrets. They are overwritten when they are dropped.
pub(crate) struct Values(Vec<(String, Zeroizing<String>)>);

fn outside(reason: impl std::fmt::Display) -> Fault {
    Fault::External(format!("a secret of the job: {reason}"))
}

impl Secrets {
    pub(crate) fn new(node: &str, runner: Address, seed: [u8; 32], post: impl Fn(Call) + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { node: node.to_owned(), runner, seed, post: Box::new(post), chain: OnceCell::new() })
    }

    /// The values of the secrets that a job names; none where it names none.
    pub(crate) async fn obtain(&self, job: &Hash, spec: &JobSpec, submitter: Address) -> Result<Values, Fault> {
        let request = submission::Request::read(&spec.request).map_err(|refusal| Fault::Actor(refusal.to_string()))?;
        let wanted = asked(&request).map_err(|_| Fault::Actor("the job's secrets cannot be read".into()))?;
        let mut values = Vec::with_capacity(wanted.len());
        for (index, asked) in (0u64..).zip(&wanted) {
            let obtained = tokio::time::timeout(PATIENCE, self.one(job, index, asked, submitter)).await;
            let value = obtained.map_err(|_| outside("the committee did not answer in time"))??;
            let text = String::from_utf8(value.to_vec()).map_err(|_| Fault::Actor(format!("the secret {} is not text", asked.as_name)))?;
            values.push((asked.as_name.clone(), Zeroizing::new(text)));
        }
        Ok(Values(values))
    }

    /// The value of one secret: the release is opened, the committee asked, the value opened, and those who answered are named.
    async fn one(&self, job: &Hash, index: u64, asked: &Asked, submitter: Address) -> Result<Zeroizing<Vec<u8>>, Fault> {
        let chain = self.chain.get_or_try_init(|| Chain::connect(&self.node, None)).await.map_err(outside)?;
        let account = match asked.account {
            Some(account) => account,
            None => account_of(chain, submitter).await?,
        };
        let transport = self.transport(job, index);
        let (id, release) = self.opened(chain, (job, index), (account, asked), &transport).await?;
        let collected = collect(chain, &id, &transport).await.map_err(outside)?;
        let number = Count(release.identity.version);
        let records = chain.read(&[state::sealed_key(account, &asked.name, number)]).await.map_err(outside)?;
        let sealed = Sealed::parse(&records.bytes(0).ok_or_else(|| outside("it was deleted"))?).map_err(outside)?;
        if sealed.identity != release.identity {
            return Err(outside("the sealed bytes are of another identity"));
        }
        let value = open(&sealed, &collected.signature).map_err(outside)?;
        let closing = [
            ("release_id", Value::Bytes(id.0.to_vec())),
            ("epoch", Value::uint(collected.epoch)),
            ("served", Value::uint(u64::from(collected.served))),
        ];
        (self.post)(call("close_release", Value::dict(closing)));
        Ok(value)
    }

    fn transport(&self, job: &Hash, index: u64) -> TransportSecret {
        let seed = keccak256(&[b"cowboy-runner-transport:", &self.seed, &job.0, &index.to_be_bytes()]);
        TransportSecret::random(&mut ChaCha20Rng::from_seed(seed.0))
    }

    /// Opens the release to this runner, and waits until it stands on the chain.
    async fn opened(
        &self,
        chain: &Chain,
        (job, index): (&Hash, u64),
        (account, asked): (Address, &Asked),
        transport: &TransportSecret,
    ) -> Result<(Hash, Release), Fault> {
        let public = transport.key();
        let fields = [
            ("job", Value::Bytes(job.0.to_vec())),
            ("index", Value::uint(index)),
            ("transport", Value::Bytes(public.key.bytes().to_vec())),
            ("proof", Value::Bytes(public.proof.bytes().to_vec())),
        ];
        let mut posted: Option<Instant> = None;
        loop {
            let identity = self.identity(chain, account, asked).await?;
            let id = release_id(job, self.runner, &identity);
            let records = chain.read(&[state::release_record_key(&id)]).await.map_err(outside)?;
            if let Some(release) = records.read::<Release>(0).map_err(outside)? {
                return Ok((id, release));
            }
            if posted.is_none_or(|posted| posted.elapsed() > AGAIN_AFTER) {
                posted = Some(Instant::now());
                (self.post)(call("release_to_runner", Value::dict(fields.clone())));
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// The identity that would be released now.
    async fn identity(&self, chain: &Chain, account: Address, asked: &Asked) -> Result<Identity, Fault> {
        let records = chain.read(&[state::secret_key(account, &asked.name)]).await.map_err(outside)?;
        let secret = records.read::<Secret>(0).map_err(outside)?.ok_or_else(|| outside("it was deleted"))?;
        let number = asked.version.unwrap_or(secret.latest);
        let records = chain.read(&[state::version_key(account, &asked.name, number)]).await.map_err(outside)?;
        let version = records.read::<Version>(0).map_err(outside)?.ok_or_else(|| outside("it was deleted"))?;
        Ok(Identity {
            kind: Kind::Secret,
            genesis: chain.genesis,
            key_id: version.key_id,
            account,
            name_hash: asked.name,
            version: number.0,
            policy_hash: version.policy.hash(),
        })
    }
}

/// The account that stands behind a submitter: its own, or its owner's.
async fn account_of(chain: &Chain, submitter: Address) -> Result<Address, Fault> {
    match chain.client.actor(&submitter).await {
        Ok(actor) => Ok(actor.owner.0),
        Err(error) if error.code == ACTOR_NOT_FOUND.code => Ok(submitter),
        Err(error) => Err(outside(ChainError::from(error))),
    }
}

fn call(method: &'static str, argument: Value) -> Call {
    // What is sent more than once is tried out first.
    Call { target: Address::system(NUMBER), method, argument, value: Amount::ZERO, tries: 1 }
}

impl Values {
    /// Puts the values in the place of `${KEY}` in the headers and the body of a request.
    pub(crate) fn put_into(&self, fields: &mut Map<String, Json>) {
        let mut waiting: Vec<&mut Json> =
            fields.iter_mut().filter(|(name, _)| FIELDS.contains(&name.as_str())).map(|(_, value)| value).collect();
        while let Some(value) = waiting.pop() {
            match value {
                Json::String(text) => {
                    for (name, value) in &self.0 {
                        let place = format!("${{{name}}}");
                        if text.contains(&place) {
                            *text = text.replace(&place, value);
                        }
                    }
                }
                Json::Array(items) => waiting.extend(items.iter_mut()),
                Json::Object(pairs) => waiting.extend(pairs.values_mut()),
                _ => {}
            }
        }
    }

    /// The name of a secret whose value stands in a result: as it is, in hex, in base64, percent-encoded, or as JSON writes it.
    pub(crate) fn echoed_in(&self, result: &[u8]) -> Option<&str> {
        let contains = |needle: &[u8]| needle.len() >= SHORTEST && result.windows(needle.len()).any(|window| window == needle);
        let found = self.0.iter().find(|(_, value)| forms(value).iter().any(|form| contains(form.as_bytes())));
        found.map(|(name, _)| name.as_str())
    }
}

/// How a value may stand in a result.
fn forms(value: &str) -> Vec<Zeroizing<String>> {
    let hex: String = value.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String =
        value
            .bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }
            })
            .collect();
    let json = Json::from(value).to_string();
    let forms = [
        value.to_owned(),
        hex.to_uppercase(),
        hex,
        BASE64_STANDARD.encode(value).trim_end_matches('=').to_owned(),
        BASE64_URL_SAFE_NO_PAD.encode(value),
        percent,
        json.trim_matches('"').to_owned(),
    ];
    forms.into_iter().map(Zeroizing::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values() -> Values {
        Values(vec![("KEY".into(), Zeroizing::new("sk-\"1 2\"".into())), ("OTHER".into(), Zeroizing::new("0123456789".into()))])
    }

    /// Only headers and body are filled in: an address would stand in logs.
    #[test]
    fn values_go_where_the_job_says() {
        let request = json!({
            "url": "https://example.com/?k=${KEY}",
            "headers": { "authorization": "Bearer ${KEY}", "x-both": "${OTHER}-${KEY}" },
            "json": { "list": ["${OTHER}", 1, null, { "deep": "a${KEY}" }] },
        });
        let Json::Object(mut fields) = request else { unreachable!("it is an object") };
        values().put_into(&mut fields);
        assert_eq!(fields["url"], "https://example.com/?k=${KEY}");
        assert_eq!(fields["headers"], json!({ "authorization": "Bearer sk-\"1 2\"", "x-both": "0123456789-sk-\"1 2\"" }));
        assert_eq!(fields["json"], json!({ "list": ["0123456789", 1, null, { "deep": "ask-\"1 2\"" }] }));
    }

    /// A result that contains a value in any of these forms is found.
    #[test]
    fn values_are_found_in_results() {
        let rows = [
            ("raw", "it is sk-\"1 2\"!", Some("KEY")),
            ("hex", "736b2d2231203222", Some("KEY")),
            ("hex in capitals", "736B2D2231203222", Some("KEY")),
            ("base64", "c2stIjEgMiI=", Some("KEY")),
            ("percent", "sk-%221%202%22", Some("KEY")),
            ("JSON", r#"{"echo":"sk-\"1 2\""}"#, Some("KEY")),
            ("another one", "x0123456789y", Some("OTHER")),
            ("nothing", "sk-", None),
        ];
        for (case, result, expected) in rows {
            assert_eq!(values().echoed_in(result.as_bytes()), expected, "{case}");
        }
    }
}
