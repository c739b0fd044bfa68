//! Secrets of jobs: released to this runner by a committee, put into the work, and kept out of the result (decisions 144, 506, 552).

use crate::execute::{Done, Fault, container::ContainerSecrets, echo};
use crate::releases::{Releases, named};
use cowboy_sealing::{TransportSecret, open};
use cowboy_secrets::Sealed;
use cowboy_secrets::partial::release_id;
use cowboy_secrets::{Identity, Kind};
use cowboy_service::{Chain, ChainError};
use cowboy_system::offchain::request as submission;
use cowboy_system::requests::secrets::release_to_runner;
use cowboy_system::secrets::jobs::{Asked, FIELDS, Place, asked};
use cowboy_system::secrets::state;
use cowboy_system::secrets::types::{Release, Secret, Version};
use cowboy_types::error::ACTOR_NOT_FOUND;
use cowboy_types::job::JobSpec;
use cowboy_types::units::Count;
use cowboy_types::{Address, Hash};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use zeroize::Zeroizing;

/// How long a release is waited for, from the call to the answers.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Values of secrets that somebody gives, by the names that the job has for them.
pub type Given = BTreeMap<String, Zeroizing<Vec<u8>>>;

/// What secrets of jobs are fetched with.
pub(crate) struct Secrets(Arc<Releases>);

/// The values of a job's secrets. They are overwritten when they are dropped.
pub(crate) struct Values(Vec<Known>);

/// A value, and where it goes.
struct Known {
    name: String,
    place: Place,
    value: Zeroizing<Vec<u8>>,
}

impl Known {
    fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.value).ok()
    }

    /// Refuses what its place does not take.
    fn require_fit(self) -> Result<Self, Fault> {
        let is_right = match self.place {
            Place::Request => self.text().is_some(),
            Place::Variable => self.text().is_some_and(|text| !text.contains('\0')),
            Place::File => true,
        };
        if is_right { Ok(self) } else { Err(Fault::Actor(format!("the secret {} is not text", self.name))) }
    }
}

fn outside(reason: impl std::fmt::Display) -> Fault {
    Fault::External(format!("a secret of the job: {reason}"))
}

impl Secrets {
    pub(crate) fn new(releases: Arc<Releases>) -> Arc<Self> {
        Arc::new(Self(releases))
    }

    /// The values of the secrets that a job names; none where it names none.
    pub(crate) async fn obtain(&self, job: &Hash, spec: &JobSpec, submitter: Address) -> Result<Values, Fault> {
        let request = submission::Request::read(&spec.request).map_err(|refusal| Fault::Actor(refusal.to_string()))?;
        let wanted = asked(&request).map_err(|_| Fault::Actor("the job's secrets cannot be read".into()))?;
        // All at the same time: what committees take is a part of the job's time.
        let obtaining = (0u64..).zip(&wanted).map(|(index, asked)| async move {
            let obtained = tokio::time::timeout(PATIENCE, self.one(job, index, asked, submitter)).await;
            let value = obtained.map_err(|_| outside("the committee did not answer in time"))??;
            Known { name: asked.as_name.clone(), place: asked.place, value }.require_fit()
        });
        futures::future::try_join_all(obtaining).await.map(Values)
    }

    /// The value of one secret: the release is opened, the committee asked, the value opened, and those who answered are named.
    async fn one(&self, job: &Hash, index: u64, asked: &Asked, submitter: Address) -> Result<Zeroizing<Vec<u8>>, Fault> {
        let chain = self.0.chain().await.map_err(outside)?;
        let account = match asked.account {
            Some(account) => account,
            None => account_of(chain, submitter).await?,
        };
        // A job that uses a secret in two places has one release of it.
        let transport = self.0.transport(&[&job.0, &account.0, &asked.name.0]);
        let (id, release) = self.opened(chain, (job, index), (account, asked), &transport).await?;
        let signature = self.0.signature(chain, &id, &transport).await.map_err(outside)?;
        let number = Count(release.identity.version);
        let records = chain.read(&[state::sealed_key(account, &asked.name, number)]).await.map_err(outside)?;
        let sealed = Sealed::parse(&records.bytes(0).ok_or_else(|| outside("it was deleted"))?).map_err(outside)?;
        if sealed.identity != release.identity {
            return Err(outside("the sealed bytes are of another identity"));
        }
        open(&sealed, &signature).map_err(outside)
    }

    /// Opens the release to this runner, and waits until it stands on the chain.
    async fn opened(
        &self,
        chain: &Chain,
        (job, index): (&Hash, u64),
        (account, asked): (Address, &Asked),
        transport: &TransportSecret,
    ) -> Result<(Hash, Release), Fault> {
        let request = release_to_runner(*job, index, named(transport));
        let look = || async {
            let identity = identity(chain, account, asked).await?;
            let id = release_id(job, self.0.runner, &identity);
            let records = chain.read(&[state::release_record_key(&id)]).await.map_err(outside)?;
            Ok(records.read::<Release>(0).map_err(outside)?.map(|release| (id, release)))
        };
        self.0.until(request, look).await
    }
}

/// The identity that would be released now.
async fn identity(chain: &Chain, account: Address, asked: &Asked) -> Result<Identity, Fault> {
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

/// The account that stands behind a submitter: its own, or its owner's.
async fn account_of(chain: &Chain, submitter: Address) -> Result<Address, Fault> {
    match chain.client.actor(&submitter).await {
        Ok(actor) => Ok(actor.owner.0),
        Err(error) if error.code == ACTOR_NOT_FOUND.code => Ok(submitter),
        Err(error) => Err(outside(ChainError::from(error))),
    }
}

impl Values {
    /// What was given for the secrets of a job that runs without a chain.
    pub(crate) fn given(wanted: &[Asked], given: &Given) -> Result<Self, Fault> {
        let known = wanted.iter().filter_map(|asked| {
            let value = given.get(&asked.as_name)?.clone();
            Some(Known { name: asked.as_name.clone(), place: asked.place, value }.require_fit())
        });
        known.collect::<Result<_, _>>().map(Self)
    }

    /// What came of a job, without a value: neither its result nor its message contains one.
    pub(crate) fn kept_out_of(&self, done: Done) -> Done {
        let message = done.result.as_ref().err().map(ToString::to_string).unwrap_or_default();
        let said = done.result.as_deref().unwrap_or(message.as_bytes());
        match self.echoed_in(said) {
            // Only the number of a fault is public, but its message stands in the runner's log.
            Some(name) => match &done.result {
                Ok(_) => Done { result: Err(echo::fault(name)), ..done },
                Err(fault) => Done { result: Err(Fault::of(fault.number(), echo::fault(name).to_string())), ..done },
            },
            None => done,
        }
    }

    /// Puts the values in the place of `${KEY}` in the headers and the body of a request.
    pub(crate) fn put_into(&self, fields: &mut Map<String, Json>) {
        let mut waiting: Vec<&mut Json> =
            fields.iter_mut().filter(|(name, _)| FIELDS.contains(&name.as_str())).map(|(_, value)| value).collect();
        while let Some(value) = waiting.pop() {
            match value {
                Json::String(text) => {
                    for known in self.0.iter().filter(|known| known.place == Place::Request) {
                        let place = format!("${{{}}}", known.name);
                        if text.contains(&place) {
                            *text = text.replace(&place, known.text().unwrap_or_default());
                        }
                    }
                }
                Json::Array(items) => waiting.extend(items.iter_mut()),
                Json::Object(pairs) => waiting.extend(pairs.values_mut()),
                _ => {}
            }
        }
    }

    /// What a container gets of them.
    pub(crate) fn of_container(&self) -> ContainerSecrets {
        let at = |place| self.0.iter().filter(move |known| known.place == place);
        let variables = at(Place::Variable).map(|known| (known.name.clone(), Zeroizing::new(known.text().unwrap_or_default().to_owned())));
        let files = at(Place::File).map(|known| (known.name.clone(), known.value.clone()));
        ContainerSecrets { variables: variables.collect(), files: files.collect() }
    }

    /// The name of a secret whose value stands in a result or a message.
    fn echoed_in(&self, said: &[u8]) -> Option<&str> {
        echo::find(self.0.iter().map(|known| (known.name.as_str(), known.value.as_slice())), said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values() -> Values {
        let known = |name: &str, place, value: &str| Known { name: name.into(), place, value: Zeroizing::new(value.into()) };
        Values(vec![
            known("KEY", Place::Request, "sk-\"1 2\""),
            known("OTHER", Place::Request, "0123456789"),
            known("FILE", Place::File, "two\nlines\n"),
            known("VARIABLE", Place::Variable, "in the environment"),
        ])
    }

    /// Only headers and body are filled in: an address would stand in logs.
    #[test]
    fn values_go_where_the_job_says() {
        let request = json!({
            "url": "https://example.com/?k=${KEY}",
            "headers": { "authorization": "Bearer ${KEY}", "x-both": "${OTHER}-${KEY}", "x-file": "${FILE}" },
            "json": { "list": ["${OTHER}", 1, null, { "deep": "a${KEY}" }] },
        });
        let Json::Object(mut fields) = request else { unreachable!("it is an object") };
        values().put_into(&mut fields);
        assert_eq!(fields["url"], "https://example.com/?k=${KEY}");
        assert_eq!(
            fields["headers"],
            json!({ "authorization": "Bearer sk-\"1 2\"", "x-both": "0123456789-sk-\"1 2\"", "x-file": "${FILE}" })
        );
        assert_eq!(fields["json"], json!({ "list": ["0123456789", 1, null, { "deep": "ask-\"1 2\"" }] }));
    }

    /// A container gets what its job says, each value in its place; what is no text cannot be a variable.
    #[test]
    fn values_are_where_the_job_says() {
        let given = values().of_container();
        let names = |names: Vec<&String>| names.into_iter().map(String::as_str).collect::<Vec<_>>().join(",");
        assert_eq!(names(given.variables.iter().map(|(name, _)| name).collect()), "VARIABLE");
        assert_eq!(names(given.files.iter().map(|(name, _)| name).collect()), "FILE");
        for (place, value, is_right) in [
            (Place::File, &b"\xff\0"[..], true),
            (Place::Variable, b"\xff", false),
            (Place::Variable, b"a\0b", false),
            (Place::Request, b"\xff", false),
        ] {
            let known = Known { name: "KEY".into(), place, value: Zeroizing::new(value.to_vec()) };
            assert_eq!(known.require_fit().is_ok(), is_right, "{place:?} {value:?}");
        }
    }
}
