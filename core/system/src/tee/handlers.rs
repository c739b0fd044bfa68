//! What 0x05 does when it is asked.

use super::api::{
    Attest, EnvironmentAttested, GetAttestation, GetPolicy, GetRoots, Policy, PolicyId, PolicySet, Proof, Proven, RootsSet, SetPolicy,
    SetRoots,
};
use super::types::{Attestation, Program, Roots};
use super::{documents, state};
use crate::actor::Context;
use crate::runners;
use crate::schema::Emit;
use cowboy_state::Step;
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Blob, Hash, List, error, keccak256};

/// What separates this use of a document's data from every other.
const KEY_DOMAIN: &[u8] = b"cowboy-tee-key:";

/// Modelled execution time of verifying a document, in ns: up to six certificates on 384-bit curves.
const DOCUMENT_WEIGHT: u64 = 20_000_000;

/// What a document must carry to bind a runner to its program's key.
pub fn binding(runner: Address, key: &[u8; 32]) -> Hash {
    keccak256(&[KEY_DOMAIN, &runner.0, key])
}

pub(super) fn attest(context: &mut Context<'_>, Attest { environment, document, collateral, key }: Attest) -> Step<Proven> {
    let runner = runners::state::read(context.world, context.sender)?;
    let roots = state::roots(context.world, &environment)?;
    context.spend(context.params.jobs.tee_document, DOCUMENT_WEIGHT)?;
    // The block's time is the only one that all validators share.
    let seconds = context.timestamp.0 / 1_000;
    let proven = documents::verify(&environment, &roots, &document, &collateral, seconds).ok_or(error::TEE_DOCUMENT)?;
    let is_bound = proven.data.starts_with(&binding(context.sender, &key.0).0);
    if !is_bound || runner.tee & environment.bit() == 0 {
        return Err(error::TEE_DOCUMENT.into());
    }
    let policy = state::policy(context.world, &environment, &proven.measurement)?;
    if !policy.is_some_and(|policy| policy.is_accepted) {
        return Err(error::TEE_POLICY.into());
    }
    let policy_id = state::policy_id(&environment, &proven.measurement);
    let valid_until = Height(context.height.0.saturating_add(context.params.jobs.tee_lifetime));
    let measurement = Blob::new(proven.measurement).ok_or(error::TEE_DOCUMENT)?;
    let attestation =
        Attestation { environment: environment.clone(), measurement: measurement.clone(), key, at: context.height, valid_until };
    context.world.write(state::attestation_key(context.sender), &attestation);
    EnvironmentAttested { runner: context.sender, environment, policy_id, valid_until }.emit(context.world);
    Ok(Proven { measurement, valid_until })
}

pub(super) fn get_attestation(context: &mut Context<'_>, GetAttestation { runner }: GetAttestation) -> Step<Option<Proof>> {
    let attestation = state::attestation(context.world, runner)?;
    Ok(attestation.map(|Attestation { environment, measurement, key, at, valid_until }| Proof {
        environment,
        measurement,
        key,
        at,
        valid_until,
    }))
}

pub(super) fn set_policy(context: &mut Context<'_>, arguments: SetPolicy) -> Step<PolicyId> {
    let SetPolicy { environment, measurement, accepted, models, name } = arguments;
    // An enclave in debug mode measures as zeros, and anybody can look into it.
    if measurement.iter().all(|byte| *byte == 0) {
        return Err(error::INVALID_ARGUMENT.into());
    }
    let policy_id = state::policy_id(&environment, &measurement);
    context.world.write(state::policy_key(&policy_id), &Program { is_accepted: accepted, models, name });
    PolicySet { policy_id, environment, accepted }.emit(context.world);
    Ok(PolicyId { policy_id })
}

pub(super) fn get_policy(context: &mut Context<'_>, GetPolicy { environment, measurement }: GetPolicy) -> Step<Option<Policy>> {
    let policy = state::policy(context.world, &environment, &measurement)?;
    Ok(policy.map(|Program { is_accepted, models, name }| Policy { accepted: is_accepted, models, name }))
}

pub(super) fn set_roots(context: &mut Context<'_>, SetRoots { environment, roots }: SetRoots) -> Step<()> {
    let count = Count(u64::try_from(roots.len()).expect("eight at most"));
    context.world.write(state::roots_key(&environment), &Roots { certificates: roots });
    RootsSet { environment, roots: count }.emit(context.world);
    Ok(())
}

pub(super) fn get_roots(context: &mut Context<'_>, GetRoots { environment }: GetRoots) -> Step<List<Vec<u8>, 8>> {
    Ok(List::new(state::roots(context.world, &environment)?).expect("as many stand in a record, or are built in"))
}
