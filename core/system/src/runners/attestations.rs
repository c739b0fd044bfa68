//! What runners provide: attestations, signed and for a span of heights (000 §5.1, §6), and their match with what jobs require.
//!
//! A runner that attested something provides exactly that, while it lasts. One that never did provides what its registration says: its own list, or what
//! follows from its kinds, hosts, environments and regions.

use super::api::{Attest, Attested, GetAttestation};
use super::environments::ENVIRONMENTS;
use super::{NUMBER, state};
use crate::actor::{Context, Handle};
use crate::entitlements::grants::{bounds, domain_sets, read_set};
use crate::entitlements::manifests;
use crate::market::mistake::Mistake;
use crate::market::request::Request;
use crate::schema::Emit;
use cowboy_state::{Key, Kind, Miss, Step, World};
use cowboy_types::cbor::Value;
use cowboy_types::entitlement::{Attestation, Bounds, DomainSets, Grants, domain, registry};
use cowboy_types::job::{JobKind, JobSpec, Profile, Runner};
use cowboy_types::units::Height;
use cowboy_types::{Address, Blob, error, record};

record! {
    /// A runner's attestation as it was signed (000 §5.1).
    pub struct RunnerAttestation {
        /// Canonical CBOR (000 appendix A).
        pub attestation: Blob<65_536>,
        /// The height of the submission.
        pub submitted_at: Height,
    }
}

/// A runner's attestation.
pub fn key(runner: Address) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [b"attestation:", &runner.0[..]].concat())
}

/// A runner's attestation, `None` where it never submitted one.
pub fn read(world: &World, runner: Address) -> Result<Option<Attestation>, Miss> {
    Ok(world.read::<RunnerAttestation>(&key(runner))?.as_ref().map(decoded))
}

fn decoded(stored: &RunnerAttestation) -> Attestation {
    Attestation::decode(Bounds::NONE, &stored.attestation).expect("an attestation is checked before it is stored")
}

/// Refuses what is too long to be read for each job that asks for something attested (decision 560).
pub(super) fn require_short(context: &mut Context<'_>, provided: &[u8]) -> Step<()> {
    let most = context.params.entitlements.provided_bytes;
    if u64::try_from(provided.len()).is_ok_and(|bytes| bytes <= most) {
        return Ok(());
    }
    context.explanation = Some(format!("what a runner provides has {} bytes; it may have {most}.", provided.len()));
    Err(error::INVALID_ARGUMENT.into())
}

/// Keeps a runner's attestation in the place of its last. What is expired, badly signed or another's is refused, so that none is ever matched.
impl Handle for Attest {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { attestation: bytes } = self;
        require_short(context, &bytes)?;
        let attestation = Attestation::decode(bounds(context.params, context.rules), &bytes)?;
        state::read(context.world, context.sender)?;
        let is_span = attestation.valid_from <= attestation.valid_until && context.height <= attestation.valid_until;
        if attestation.runner_id != context.sender || !is_span || !attestation.is_signed() {
            return Err(error::ATTESTATION_INVALID.into());
        }
        let (runner, submitted_at) = (context.sender, context.height);
        let stored = Blob::new(bytes).ok_or(error::ATTESTATION_INVALID)?;
        let record = RunnerAttestation { attestation: stored, submitted_at };
        context.charge_kept(&record);
        context.world.write(key(runner), &record);
        Attested { runner, valid_from: attestation.valid_from, valid_until: attestation.valid_until }.emit(context.world);
        Ok(())
    }
}

impl Handle for GetAttestation {
    fn handle(self, context: &mut Context<'_>) -> Step<Vec<u8>> {
        let stored = context.world.read::<RunnerAttestation>(&key(self.runner))?.ok_or(error::ATTESTATION_INVALID)?;
        Ok(stored.attestation.to_vec())
    }
}

/// What a job requires of its runners: what its submitter's manifest requires, and what it says itself (000 §6).
pub(crate) struct Requirements {
    lists: Vec<Grants>,
    sets: DomainSets,
}

impl Requirements {
    /// Reads them: those of whoever asked for the work, also where somebody else has it done again.
    pub(crate) fn of(context: &mut Context<'_>, submitter: Address, spec: &JobSpec) -> Step<Self> {
        let mut lists = vec![manifests::read(context, submitter)?];
        context.spend_reading(spec.request.len().saturating_add(spec.requires.len()))?;
        if !spec.requires.is_empty() {
            let required = Grants::parse_manifest(bounds(context.params, context.rules), &spec.requires);
            let mistake = |_| Mistake::invalid("requires: it has to be a manifest in canonical CBOR.").explain(context);
            lists.push(required.map_err(mistake)?);
        }
        lists.push(needs(context, spec)?);
        lists.retain(|list| list.all().iter().any(|grant| grant.entitlement.attested));
        let sets = domain_sets(context.world, &lists)?;
        Ok(Self { lists, sets })
    }

    /// Whether every runner fits.
    pub(crate) fn are_none(&self) -> bool {
        self.lists.is_empty()
    }

    /// Whether a runner provides them. What it says that it provides is paid for by the byte before it is decoded.
    pub(crate) fn are_met(&mut self, context: &mut Context<'_>, address: Address, runner: &Runner, profile: &Profile) -> Step<bool> {
        let stored = context.world.read::<RunnerAttestation>(&key(address))?;
        let said = match &stored {
            Some(stored) => stored.attestation.len(),
            None => profile.provides.len().saturating_mul(self.lists.len()),
        };
        context.spend_reading(said)?;
        let (world, height) = (&*context.world, context.height);
        let attested = stored.as_ref().map(decoded);
        for required in &self.lists {
            let provided = match &attested {
                Some(attestation) if attestation.is_valid_at(height) => attestation.capabilities.clone(),
                Some(_) => Grants::default(),
                None => registered(runner, profile, required),
            };
            for name in provided.domain_sets() {
                read_set(world, name, &mut self.sets)?;
            }
            if !provided.provide(required, &self.sets) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What a job itself says that it needs of a runner, as its manifest was held to it.
fn needs(context: &mut Context<'_>, spec: &JobSpec) -> Step<Grants> {
    let request = Request::read(&spec.request).map_err(cowboy_types::Abort::from)?;
    let text = |name: &str| request.need(name).and_then(Value::as_text).map(Value::text);
    let grant = |id: &str, name: &str, value: Value| Value::map([("id", Value::text(id)), ("params", Value::dict([(name, value)]))]);
    let mut grants = Vec::new();
    match (request.need("min_vram_gb"), request.need("gpu")) {
        (Some(gigabytes), _) => grants.push(grant("accel.gpu", "min_vram_gb", gigabytes.clone())),
        (None, Some(Value::Bool(true))) => grants.push(Value::map([("id", Value::text("accel.gpu"))])),
        _ => {}
    }
    grants.extend(text("region").map(|region| grant("sec.data_residency", "region", region)));
    let mistake = |_| Mistake::invalid("gpu, min_vram_gb and region have to be as the entitlements of a manifest.").explain(context);
    Ok(Grants::read(Bounds::NONE, &Value::Array(grants)).map_err(mistake)?)
}

/// What a registration says that a runner provides. Of several regions and environments it is the one that is asked for.
fn registered(runner: &Runner, profile: &Profile, required: &Grants) -> Grants {
    if let Ok(own) = Grants::parse_manifest(Bounds::NONE, &profile.provides) {
        return own;
    }
    let does = |kinds: &[JobKind]| kinds.iter().any(|kind| runner.kinds & kind.bit() != 0);
    let grant = |id: &str, params: Vec<(&str, Value)>| Value::map([("id", Value::text(id)), ("params", Value::dict(params))]);
    let mut grants = Vec::new();
    if does(&[JobKind::Http, JobKind::Mcp]) {
        let hosts = profile.domains.iter().filter(|host| domain::is_canonical_pattern(host));
        let hosts = Value::Array(hosts.map(|host| Value::text(host.to_string())).collect());
        grants.push(grant("http.fetch", if profile.domains.is_empty() { vec![] } else { vec![("allowlist_domains", hosts)] }));
    }
    if does(&[JobKind::Llm]) {
        grants.push(grant("oracle.llm", vec![]));
    }
    let asked = |id: &str, name: &str| required.get(id).and_then(|grant| grant.text(name)).map(str::to_string);
    if !profile.regions.is_empty() {
        let region = asked("sec.data_residency", "region").filter(|region| profile.regions.iter().any(|own| **own == **region));
        grants.push(grant("sec.data_residency", region.map(|region| ("region", Value::text(region))).into_iter().collect()));
    }
    if runner.tee != 0 {
        let has = |name: &str| ENVIRONMENTS.iter().any(|(known, bit)| *known == name && runner.tee & bit != 0);
        let tee = asked("sec.tee_required", "tee_type").filter(|name| registry::TEE_TYPES.contains(&name.as_str()) && has(name));
        grants.push(grant("sec.tee_required", tee.map(|name| ("tee_type", Value::text(name))).into_iter().collect()));
    }
    Grants::read(Bounds::NONE, &Value::Array(grants)).expect("the rows ascend and their parameters are right")
}
