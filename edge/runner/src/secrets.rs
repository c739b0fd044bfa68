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

/// The most bytes of the texts of a request with the values in it: those of eight secrets, each once, fit with the longest request.
const MAX_FILLED_BYTES: usize = 1 << 20;

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

    /// The value that stands for a name in a request.
    fn in_request(&self, name: &str) -> Option<&str> {
        let known = self.0.iter().find(|known| known.place == Place::Request && known.name == name);
        known.map(|known| known.text().unwrap_or_default())
    }

    /// A text with the values in the place of `${KEY}`; none where it has more bytes than there is room for. A value is no template: `${KEY}` in it stays.
    fn filled(&self, text: &str, room: &mut usize) -> Option<String> {
        let mut filled = String::new();
        let mut add = |part: &str| {
            *room = room.checked_sub(part.len())?;
            filled.push_str(part);
            Some(())
        };
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            add(before)?;
            let named = after.split_once('}').and_then(|(name, behind)| Some((self.in_request(name)?, behind)));
            let (part, behind) = named.unwrap_or(("${", after));
            add(part)?;
            rest = behind;
        }
        add(rest)?;
        Some(filled)
    }

    /// Puts the values in the place of `${KEY}` in the headers and the body of a request.
    ///
    /// # Errors
    ///
    /// [`Fault::Actor`] where the request would have more than [`MAX_FILLED_BYTES`]: a job may name a long value thousands of times (decision 778).
    pub(crate) fn put_into(&self, fields: &mut Map<String, Json>) -> Result<(), Fault> {
        let long = || Fault::Actor(format!("with the values of its secrets, the request has more than {MAX_FILLED_BYTES} bytes"));
        let mut room = MAX_FILLED_BYTES;
        let mut waiting: Vec<&mut Json> =
            fields.iter_mut().filter(|(name, _)| FIELDS.contains(&name.as_str())).map(|(_, value)| value).collect();
        while let Some(value) = waiting.pop() {
            match value {
                Json::String(text) => *text = self.filled(text, &mut room).ok_or_else(long)?,
                Json::Array(items) => waiting.extend(items.iter_mut()),
                Json::Object(pairs) => waiting.extend(pairs.values_mut()),
                _ => {}
            }
        }
        Ok(())
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
        values().put_into(&mut fields).expect("it is short");
        assert_eq!(fields["url"], "https://example.com/?k=${KEY}");
        assert_eq!(
            fields["headers"],
            json!({ "authorization": "Bearer sk-\"1 2\"", "x-both": "0123456789-sk-\"1 2\"", "x-file": "${FILE}" })
        );
        assert_eq!(fields["json"], json!({ "list": ["0123456789", 1, null, { "deep": "ask-\"1 2\"" }] }));
    }

    /// Decision 778: a value is no template, and however often a job names one, the request that is sent has a bound, over all its texts.
    #[test]
    fn values_make_no_request_long() {
        let known =
            |name: &str, value: String| Known { name: name.into(), place: Place::Request, value: Zeroizing::new(value.into_bytes()) };
        let values = Values(vec![known("A", "${B}".repeat(16_000)), known("B", "x".repeat(60_000))]);
        let filled = |header: &str, body: &str| {
            let mut fields = Map::from_iter([("headers".to_owned(), json!({ "x": header })), ("body".to_owned(), Json::from(body))]);
            values.put_into(&mut fields).map(|()| fields["body"].as_str().unwrap_or_default().to_owned()).map_err(|fault| fault.number())
        };
        assert_eq!(filled("", "${A}"), Ok("${B}".repeat(16_000)), "what a value says is sent as it is");
        assert_eq!(filled("", "${${B}}-${C}-${").map(|body| body.replace(&"x".repeat(60_000), "B")), Ok("${B}-${C}-${".to_owned()));
        let most = MAX_FILLED_BYTES / 60_000;
        assert!(filled("", &"${B}".repeat(most)).is_ok());
        assert_eq!(filled("", &"${B}".repeat(most + 1)), Err(1));
        assert_eq!(filled("${B}", &"${B}".repeat(most)), Err(1), "all texts together");
        assert_eq!(filled("", &"${A}".repeat(16_000)), Err(1));
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
