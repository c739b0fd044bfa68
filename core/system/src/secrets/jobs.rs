//! Secrets of jobs: who may use one, which runners may see it, and the release to a runner that was drawn (decisions 143, 144, 506).

use super::api::ReleaseToRunner;
use super::releases::{self, Opening};
use super::types::Version;
use super::{NUMBER, state};
use crate::actor::{Context, Handle};
use crate::entitlements::check::is_member;
use crate::market::claims;
use crate::market::container::is_reserved;
use crate::market::mistake::Mistake;
use crate::market::request::Request;
use crate::runners::handlers::effective_stake;
use crate::runners::{self, reputation};
use crate::tee;
use cowboy_secrets::policy::{Actors, Attestation, Runners};
use cowboy_secrets::{Name, Policy};
use cowboy_state::{Miss, Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::job::{JobKind, JobSpec, Runner};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Abort, Address, Hash, error};
use std::collections::BTreeSet;

/// The most secrets of a job.
pub const MAX_SECRETS: usize = 8;

/// Records that are read for a secret of a job: the secret, its version, and whether the actor that asks was handed on, or who had it in the job.
pub(crate) const RECORDS_OF_ASKED: usize = 3;

/// The fields of a web job that may have `${KEY}` in them.
pub const FIELDS: [&str; 3] = ["headers", "body", "json"];

/// What a secret of a job is.
const FORM: &str = "secrets: each is {name_hash, as}, with the 32 bytes of the name's hash and a name like API_KEY, and maybe account, version and, \
    in a container, in (env or file). `cowboy job` takes names and puts the hashes in their place.";

/// A secret that a job names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// The account that keeps it; none for the account that submits, or that owns the actor that does.
    pub account: Option<Address>,
    /// The hash of its name.
    pub name: Hash,
    /// The version; none for the newest.
    pub version: Option<Count>,
    /// What stands for the value in the job: `${KEY}` of `KEY`.
    pub as_name: String,
    /// Where the value goes.
    pub place: Place,
}

/// Where the value of a secret goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Into the headers and the body of a web job, where they name it.
    Request,
    /// Into a variable of a container's environment.
    Variable,
    /// Into a file of a container, `/run/secrets/KEY`.
    File,
}

/// A version of a secret that a job asks for.
pub(crate) struct Found {
    account: Address,
    name: Hash,
    number: Count,
    pauses: Count,
    version: Version,
}

impl Found {
    /// To whom it may be released.
    pub(crate) const fn policy(&self) -> &Policy {
        &self.version.policy
    }
}

/// The secrets that a submission names, in its order.
///
/// # Errors
///
/// If one is not `{name_hash, as}` with, maybe, `account`, `version` and, in a container, `in`; if there are more than eight, or one stands twice, also
/// as a variable of the environment; or if the kind of work has no place for them.
pub fn asked(request: &Request) -> Result<Vec<Asked>, Mistake> {
    let items = match request.work.get("secrets") {
        None => return Ok(Vec::new()),
        Some(Value::Array(items)) => items,
        Some(_) => return Err(Mistake::invalid("secrets: it has to be a list.")),
    };
    // A value goes where the job itself says, and to nobody else's service.
    let is_container = match request.kind {
        JobKind::Http => false,
        JobKind::Container => true,
        _ if items.is_empty() => return Ok(Vec::new()),
        _ => return Err(Mistake::new(error::SECRETS_NOT_APPLICABLE, "secrets: leave them out of this kind of job.")),
    };
    let asked = items.iter().map(|item| one(item, is_container)).collect::<Option<Vec<_>>>().ok_or_else(|| Mistake::invalid(FORM))?;
    if asked.len() > MAX_SECRETS {
        return Err(Mistake::invalid(format!("secrets: there are {}; a job has at most {MAX_SECRETS}.", asked.len())));
    }
    let is_variable = |one: &Asked| request.work.get("env").is_some_and(|env| env.get(&one.as_name).is_some());
    let is_set = |one: &Asked| one.place == Place::Variable && (is_reserved(&one.as_name) || is_variable(one));
    let is_twice = |(place, one): (usize, &Asked)| asked.iter().take(place).any(|other| other.as_name == one.as_name) || is_set(one);
    if let Some(place) = asked.iter().enumerate().position(is_twice) {
        return Err(Mistake::invalid(format!("secrets[{place}].as: another secret, a variable of env or the runner has this name.")));
    }
    Ok(asked)
}

/// Whether a submission names secrets.
pub(crate) fn are_named(request: &Request) -> bool {
    asked(request).is_ok_and(|asked| !asked.is_empty())
}

/// The names of the placeholders in a text: of `${KEY}` it is `KEY`.
fn names_in(text: &str) -> impl Iterator<Item = &str> {
    let names = text.split("${").skip(1).filter_map(|rest| rest.split_once('}')).map(|(name, _)| name);
    names.filter(|name| Name::new(name).is_some())
}

/// The names of the placeholders of a web job.
fn placeholders(request: &Request) -> BTreeSet<&str> {
    let mut names = BTreeSet::new();
    let mut waiting: Vec<&Value> = FIELDS.iter().filter_map(|name| request.work.get(*name)).collect();
    while let Some(value) = waiting.pop() {
        match value {
            Value::Text(text) => names.extend(names_in(text)),
            Value::Array(items) => waiting.extend(items),
            Value::Map(pairs) => waiting.extend(pairs.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    names
}

/// The secrets that a submission names, where each placeholder of a web job is of one of them: another would be sent as it stands (decision 587).
///
/// # Errors
///
/// Those of [`asked`]; and if a web job with secrets has the placeholder of another one.
pub fn checked(request: &Request) -> Result<Vec<Asked>, Mistake> {
    let asked = asked(request)?;
    if request.kind != JobKind::Http || asked.is_empty() {
        return Ok(asked);
    }
    match placeholders(request).into_iter().find(|name| !asked.iter().any(|one| one.as_name == *name)) {
        Some(name) => Err(Mistake::invalid(format!("${{{name}}} is the placeholder of a secret that secrets does not name."))),
        None => Ok(asked),
    }
}

/// Refuses a web job that names a secret and has no placeholder of it: it would be released for nothing. Clients ask; the chain does not.
///
/// # Errors
///
/// If a secret of a web job has no placeholder.
pub fn require_used(request: &Request, asked: &[Asked]) -> Result<(), Mistake> {
    let used = placeholders(request);
    let unused = asked.iter().find(|one| one.place == Place::Request && !used.contains(one.as_name.as_str()));
    unused.map_or(Ok(()), |one| {
        let name = &one.as_name;
        Err(Mistake::invalid(format!("secrets names {name}, and no header, body or json has ${{{name}}} in it.")))
    })
}

fn one(item: &Value, is_container: bool) -> Option<Asked> {
    let Value::Map(pairs) = item else { return None };
    let known: &[&str] =
        if is_container { &["account", "name_hash", "version", "as", "in"] } else { &["account", "name_hash", "version", "as"] };
    let is_known = |(key, _): &(Value, Value)| key.as_text().is_some_and(|key| known.contains(&key));
    if !pairs.iter().all(is_known) {
        return None;
    }
    let account = match item.get("account") {
        None | Some(Value::Null) => None,
        Some(value) => Some(Address(value.as_bytes()?.try_into().ok()?)),
    };
    let version = match item.get("version") {
        None | Some(Value::Null) => None,
        Some(value) => Some(Count(value.as_u64()?)),
    };
    let name = Hash(item.get("name_hash")?.as_bytes()?.try_into().ok()?);
    let as_name = Name::new(item.get("as")?.as_text()?)?.as_str().to_owned();
    let place = match item.get("in").map(Value::as_text) {
        _ if !is_container => Place::Request,
        None | Some(Some("env")) => Place::Variable,
        Some(Some("file")) => Place::File,
        Some(_) => return None,
    };
    Some(Asked { account, name, version, as_name, place })
}

/// The account that keeps a secret which a submitter asks for: the one that is named, or the submitter's own, or its owner's.
fn keeper(world: &World, submitter: Address, asked: &Asked) -> Result<Address, Miss> {
    match asked.account {
        Some(account) => Ok(account),
        None => Ok(world.actor(submitter)?.map_or(submitter, |actor| actor.owner)),
    }
}

/// To how many more runners of a job the secrets that it asks for may be released: whoever has had one counts, also where it was replaced (decision 763).
/// There is no limit where it asks for none.
pub(crate) fn left(world: &World, asked: &[Asked], (id, submitter): (&Hash, Address), height: Height) -> Result<Option<u64>, Miss> {
    let mut least = None;
    for one in asked {
        let left = left_of(world, one, (id, submitter), height)?;
        least = Some(least.map_or(left, |least: u64| least.min(left)));
    }
    Ok(least)
}

fn left_of(world: &World, asked: &Asked, (id, submitter): (&Hash, Address), height: Height) -> Result<u64, Miss> {
    let account = keeper(world, submitter, asked)?;
    let Some(secret) = state::secret(world, account, &asked.name)?.filter(|secret| !secret.is_paused) else { return Ok(0) };
    let number = asked.version.unwrap_or(secret.latest);
    let version = state::version(world, account, &asked.name, number)?;
    let Some(version) = version.filter(|version| releases::is_open(&version.policy, version, height)) else { return Ok(0) };
    let given = world.read::<Count>(&state::given_key(id, account, &asked.name, number))?.unwrap_or(Count::ZERO);
    let copies = u64::from(version.policy.copies).saturating_sub(given.0);
    let releases = match version.policy.max_releases {
        Count::ZERO => u64::MAX,
        most => most.0.saturating_sub(version.released.0),
    };
    Ok(copies.min(releases))
}

/// The version that is asked for, where it may be released at all now.
fn find(context: &Context<'_>, submitter: Address, asked: &Asked) -> Step<Found> {
    let account = keeper(context.world, submitter, asked)?;
    let secret = state::secret(context.world, account, &asked.name)?.ok_or(error::SECRET_NOT_FOUND)?;
    if secret.is_paused {
        return Err(error::SECRET_PAUSED.into());
    }
    let number = asked.version.unwrap_or(secret.latest);
    let version = state::version(context.world, account, &asked.name, number)?.ok_or(error::SECRET_NOT_FOUND)?;
    Ok(Found { account, name: asked.name, number, pauses: secret.pauses, version })
}

/// Whether a policy lets a submitter use a secret in this job. An actor that was ever handed on uses it only where the policy lists the actor, or needs no
/// account: nobody is asked who receives an actor, and whoever had it may still decide what it does (decisions 733 and 735).
fn may_use(context: &Context<'_>, found: &Found, submitter: Address, kind: &JobKind, hosts: &[String]) -> Step<bool> {
    let policy = found.policy();
    let actor = context.world.actor(submitter)?;
    let account = actor.as_ref().map_or(submitter, |actor| actor.owner);
    let is_handed_on = actor.is_some() && state::was_handed_on(context.world, submitter)?;
    let is_actor = match &policy.actors {
        Actors::Any => !is_handed_on || policy.accounts.is_empty(),
        Actors::Owned => !is_handed_on && account == found.account,
        Actors::Listed { addresses } => addresses.contains(&submitter),
    };
    let has_code = policy.code_hashes.is_empty() || actor.is_some_and(|actor| policy.code_hashes.contains(&actor.code_hash));
    let is_account = policy.accounts.is_empty() || policy.accounts.contains(&account);
    let reaches = hosts.iter().all(|host| policy.reaches(host));
    Ok(is_actor && has_code && is_account && reaches && policy.jobs & kind.bit() != 0)
}

/// The policies of the secrets that a job names, where its submitter may use them: what its runners are filtered by.
pub(crate) fn admitted(context: &mut Context<'_>, request: &Request, spec: &JobSpec, submitter: Address) -> Step<Vec<Policy>> {
    let asked = checked(request).map_err(|mistake| mistake.explain(context))?;
    if !asked.is_empty() {
        context.require_needed(NUMBER)?;
    }
    context.charge_records(asked.len().saturating_mul(RECORDS_OF_ASKED));
    let mut policies = Vec::with_capacity(asked.len());
    for asked in &asked {
        let found = find(context, submitter, asked)?;
        let (policy, height) = (found.policy(), context.height);
        let runners = spec.verification.runners.0;
        let is_alone = spec.verification.mode.is_single() || (1..=u64::from(policy.copies)).contains(&runners);
        let hosts = request.hosts();
        if !is_alone || !may_use(context, &found, submitter, &spec.kind, &hosts)? || !releases::is_open(policy, &found.version, height) {
            let name = &asked.as_name;
            context.explanation = hosts
                .iter()
                .find(|host| !policy.reaches(host))
                .map(|host| format!("The policy of {name} does not name the host {host}, which the job reaches."))
                .or_else(|| (!is_alone).then(|| format!("The policy of {name} allows {} runners; the job has more.", policy.copies)))
                .or_else(|| {
                    let is_other = policy.jobs & spec.kind.bit() == 0;
                    is_other.then(|| format!("The policy of {name} does not allow jobs of the kind {}.", spec.kind.name()))
                });
            return Err(error::RELEASE_REFUSED.into());
        }
        policies.push(policy.clone());
    }
    Ok(policies)
}

/// Whether policies let a runner see what they are of.
pub(crate) fn may_see(context: &mut Context<'_>, policies: &[Policy], runner: Address, record: &Runner) -> Step<bool> {
    for policy in policies {
        let is_named = match &policy.runners {
            Runners::Any => true,
            Runners::Listed { addresses } => addresses.contains(&runner),
            Runners::Pool { id } => is_member(context.world, context.params, context.height, runner, &id.0)?,
        };
        let points = reputation::points(&context.params.jobs, record, context.height);
        let is_good = effective_stake(&context.params.jobs, record) >= policy.min_stake && points >= policy.min_reputation.0;
        if !is_named || !is_good || !is_attested(context, policy, runner, record)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_attested(context: &Context<'_>, policy: &Policy, runner: Address, record: &Runner) -> Step<bool> {
    let Attestation::Required { environments, measurements } = &policy.attestation else { return Ok(true) };
    let Some((attestation, _)) = tee::state::current(context.world, context.height, runner)? else { return Ok(false) };
    let has = record.tee & attestation.environment.bit() != 0 && environments.contains(&attestation.environment);
    Ok(has && (measurements.is_empty() || measurements.contains(&attestation.measurement)))
}

impl Handle for ReleaseToRunner {
    /// Opens a release to a runner that was drawn for a job, until its commitment is due. All that held at the submission has to hold still.
    fn handle(self, context: &mut Context<'_>) -> Step<Hash> {
        let runner = context.sender;
        let (job, spec, request) = claims::of_drawn(context, &self.job)?;
        let wanted = asked(&request).map_err(Abort::from)?;
        let asked = usize::try_from(self.index).ok().and_then(|index| wanted.get(index)).ok_or(error::SECRET_NOT_FOUND)?;
        let found = find(context, job.submitter, asked)?;
        let record = runners::state::find(context.world, runner)?.ok_or(error::RUNNER_NOT_FOUND)?;
        let policies = [found.policy().clone()];
        let is_allowed = may_use(context, &found, job.submitter, &spec.kind, &request.hosts())?;
        if !is_allowed || !may_see(context, &policies, runner, &record)? {
            return Err(error::RELEASE_REFUSED.into());
        }
        let Found { account, name, number, pauses, version } = found;
        let opening = Opening {
            payer: account,
            recipient: runner,
            subject: self.job,
            deadline: Height(job.commit_until.0),
            transport: self.transport,
            proof: self.proof,
            copies: Some(version.policy.copies),
        };
        releases::open(context, version, (account, name, number), pauses, opening)
    }
}
