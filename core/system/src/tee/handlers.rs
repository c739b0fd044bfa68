//! What 0x05 does when it is asked.

use super::types::{Attestation, Environment, Program, Roots};
use super::{NUMBER, documents, state};
use crate::actor::Context;
use crate::reader::Reader;
use crate::runners;
use cowboy_state::Step;
use cowboy_types::cbor::Value;
use cowboy_types::units::Height;
use cowboy_types::wire::Fixed;
use cowboy_types::{Abort, Address, Blob, Hash, List, error, keccak256};

/// What separates this use of a document's data from every other.
const KEY_DOMAIN: &[u8] = b"cowboy-tee-key:";

/// Modelled execution time of verifying a document, in ns: up to six certificates on 384-bit curves.
const DOCUMENT_WEIGHT: u64 = 20_000_000;

fn invalid() -> Abort {
    error::INVALID_ARGUMENT
}

fn environment(reader: &Reader<'_>) -> Result<Environment, Abort> {
    super::environment(reader.text_or_empty("environment")?).ok_or(invalid())
}

/// What a document must carry to bind a runner to its program's key.
pub fn binding(runner: Address, key: &[u8; 32]) -> Hash {
    keccak256(&[KEY_DOMAIN, &runner.0, key])
}

pub(super) fn attest(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let (environment, key) = (environment(&reader)?, reader.fixed("key")?);
    let (document, collateral) = (reader.bytes_or_empty("document")?, reader.bytes_or_empty("collateral")?);
    let runner = runners::state::read(context.world, context.sender)?;
    let roots = state::roots(context.world, &environment)?;
    context.spend(context.params.jobs.tee_document, DOCUMENT_WEIGHT)?;
    // The block's time is the only one that all validators share.
    let seconds = context.timestamp.0 / 1_000;
    let proven = documents::verify(&environment, &roots, document, collateral, seconds).ok_or(error::TEE_DOCUMENT)?;
    let is_bound = proven.data.starts_with(&binding(context.sender, &key).0);
    if !is_bound || runner.tee & environment.bit() == 0 {
        return Err(error::TEE_DOCUMENT.into());
    }
    let policy = state::policy(context.world, &environment, &proven.measurement)?;
    if !policy.is_some_and(|policy| policy.is_accepted) {
        return Err(error::TEE_POLICY.into());
    }
    let valid_until = Height(context.height.0.saturating_add(context.params.jobs.tee_lifetime));
    let measurement = Blob::new(proven.measurement.clone()).ok_or(error::TEE_DOCUMENT)?;
    let attestation = Attestation { environment: environment.clone(), measurement, key: Fixed(key), at: context.height, valid_until };
    context.world.write(state::attestation_key(context.sender), &attestation);
    let data = Value::dict(vec![
        ("runner", Value::Bytes(context.sender.0.to_vec())),
        ("environment", Value::text(environment.slug())),
        ("policy_id", Value::Bytes(state::policy_id(&environment, &proven.measurement).0.to_vec())),
        ("valid_until", Value::uint(valid_until.0)),
    ]);
    context.announce(NUMBER, "EnvironmentAttested", &data);
    Ok(Value::dict(vec![("measurement", Value::Bytes(proven.measurement)), ("valid_until", Value::uint(valid_until.0))]))
}

pub(super) fn get_attestation(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let runner = Reader::new(argument, invalid).address("runner")?;
    let Some(attestation) = state::attestation(context.world, runner)? else { return Ok(Value::Null) };
    Ok(Value::dict(vec![
        ("environment", Value::text(attestation.environment.slug())),
        ("measurement", Value::Bytes(attestation.measurement.to_vec())),
        ("key", Value::Bytes(attestation.key.0.to_vec())),
        ("at", Value::uint(attestation.at.0)),
        ("valid_until", Value::uint(attestation.valid_until.0)),
    ]))
}

pub(super) fn set_policy(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_governance()?;
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let (environment, measurement) = (environment(&reader)?, reader.bytes_or_empty("measurement")?);
    // An enclave in debug mode measures as zeros, and anybody can look into it.
    if measurement.len() > 256 || measurement.iter().all(|byte| *byte == 0) {
        return Err(invalid().into());
    }
    let model = |item: &Value| item.as_bytes().and_then(|bytes| bytes.try_into().ok()).map(Hash).ok_or(invalid());
    let models = reader.items("models")?.iter().map(model).collect::<Result<Vec<Hash>, Abort>>()?;
    let policy =
        Program { is_accepted: reader.flag("accepted")?, models: List::new(models).ok_or(invalid())?, name: reader.bounded_text("name")? };
    let id = state::policy_id(&environment, measurement);
    context.world.write(state::policy_key(&id), &policy);
    let data = Value::dict(vec![
        ("policy_id", Value::Bytes(id.0.to_vec())),
        ("environment", Value::text(environment.slug())),
        ("accepted", Value::Bool(policy.is_accepted)),
    ]);
    context.announce(NUMBER, "PolicySet", &data);
    Ok(Value::dict(vec![("policy_id", Value::Bytes(id.0.to_vec()))]))
}

pub(super) fn get_policy(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let reader = Reader::new(argument, invalid);
    let (environment, measurement) = (environment(&reader)?, reader.bytes_or_empty("measurement")?);
    let Some(policy) = state::policy(context.world, &environment, measurement)? else { return Ok(Value::Null) };
    let models = policy.models.iter().map(|model| Value::Bytes(model.0.to_vec())).collect();
    Ok(Value::dict(vec![
        ("accepted", Value::Bool(policy.is_accepted)),
        ("models", Value::Array(models)),
        ("name", Value::text(policy.name.to_string())),
    ]))
}

pub(super) fn set_roots(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    context.require_governance()?;
    context.require_no_value()?;
    let reader = Reader::new(argument, invalid);
    let environment = environment(&reader)?;
    let certificate = |item: &Value| item.as_bytes().and_then(|bytes| Blob::new(bytes.to_vec())).ok_or(invalid());
    let certificates = reader.items("roots")?.iter().map(certificate).collect::<Result<Vec<_>, Abort>>()?;
    let roots = Roots { certificates: List::new(certificates).ok_or(invalid())? };
    context.world.write(state::roots_key(&environment), &roots);
    let count = u64::try_from(roots.certificates.len()).expect("eight at most");
    let data = Value::dict(vec![("environment", Value::text(environment.slug())), ("roots", Value::uint(count))]);
    context.announce(NUMBER, "RootsSet", &data);
    Ok(Value::Null)
}

pub(super) fn get_roots(context: &mut Context<'_>, argument: &Value) -> Step<Value> {
    let environment = environment(&Reader::new(argument, invalid))?;
    Ok(Value::Array(state::roots(context.world, &environment)?.into_iter().map(Value::Bytes).collect()))
}
