//! What a measured program says of a result: canonical CBOR `{"type", "runner", "output", "model"?, "signature"}`; no model is zeros.
//!
//! `signature` is the program's Ed25519 signature over the [`digest`]. The type `dev` has none, proves nothing, and is taken on chains for
//! development alone.

use super::{DEV_BIT, DEV_NAME, state};
use cowboy_state::{Miss, World};
use cowboy_types::cbor::{self, Value};
use cowboy_types::job::{JobSpec, Runner};
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash, keccak256};

/// What separates this use of a program's key from every other.
const RESULT_DOMAIN: &[u8] = b"cowboy-tee-result:";

/// What an attestation of a result is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attested {
    /// It holds.
    Accepted,
    /// It holds, and proves that another model than the job's ran.
    WrongModel,
    /// There is none, or it does not hold.
    Refused,
}

/// Whose result a statement is about.
#[derive(Clone, Copy, Debug)]
pub struct About<'a> {
    /// The job.
    pub job: &'a Hash,
    /// What it asked for.
    pub spec: &'a JobSpec,
    /// Who did it.
    pub address: Address,
    /// Its registration.
    pub runner: &'a Runner,
    /// keccak256 of the result.
    pub output: &'a Hash,
}

/// What a program signs: keccak256(domain ‖ job ‖ runner ‖ keccak256(result) ‖ model).
pub fn digest(job: &Hash, runner: Address, output: &Hash, model: &Hash) -> Hash {
    keccak256(&[RESULT_DOMAIN, &job.0, &runner.0, &output.0, &model.0])
}

/// Looks at what is said of a result. Costs one signature's check.
pub fn check(world: &World, is_dev: bool, height: Height, about: &About<'_>, bytes: &[u8]) -> Result<Attested, Miss> {
    let Ok(value) = cbor::decode(bytes) else { return Ok(Attested::Refused) };
    let bytes_of = |name: &str| value.get(name).and_then(Value::as_bytes);
    let is_about = bytes_of("runner") == Some(&about.address.0[..]) && bytes_of("output") == Some(&about.output.0[..]);
    let model = bytes_of("model").map_or(Some(Hash::ZERO), |bytes| bytes.try_into().ok().map(Hash));
    let Some(model) = model.filter(|_| is_about) else { return Ok(Attested::Refused) };
    let name = value.get("type").and_then(Value::as_text).unwrap_or("");
    let wanted = &about.spec.verification.tee_type;
    let holds = if !wanted.is_empty() && wanted[..] != *name {
        false
    } else if name == DEV_NAME {
        is_dev && about.runner.tee & DEV_BIT != 0
    } else {
        is_signed(world, height, about, name, &model, bytes_of("signature").unwrap_or(&[]))?
    };
    Ok(match holds {
        false => Attested::Refused,
        true if about.spec.model != Hash::ZERO && about.spec.model != model => Attested::WrongModel,
        true => Attested::Accepted,
    })
}

/// Whether the program that the runner proved signed, and is still accepted.
fn is_signed(world: &World, height: Height, about: &About<'_>, name: &str, model: &Hash, signature: &[u8]) -> Result<bool, Miss> {
    let Some((attestation, program)) = state::current(world, height, about.address)? else { return Ok(false) };
    let can_run = program.models.is_empty() || program.models.contains(model);
    let is_about = attestation.environment.slug() == name && can_run;
    let Ok(signature) = <[u8; 64]>::try_from(signature) else { return Ok(false) };
    let message = digest(about.job, about.address, about.output, model);
    Ok(is_about
        && ed25519_consensus::VerificationKey::try_from(attestation.key.0)
            .is_ok_and(|key| key.verify(&signature.into(), &message.0).is_ok()))
}
