//! What 0x05 does when it is asked.

use super::api::{
    Attest, EnvironmentAttested, GetAttestation, GetPolicy, GetRoots, Policy, PolicyId, PolicySet, Proof, Proven, RootsSet, SetPolicy,
    SetRoots,
};
use super::types::{Attestation, Program, Roots};
use super::{documents, state};
use crate::actor::{Context, Handle};
use crate::market::runners;
use crate::schema::Emit;
use cowboy_state::Step;
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, Blob, Hash, List, error, keccak256};

/// What separates this use of a document's data from every other.
const KEY_DOMAIN: &[u8] = b"cowboy-tee-key:";

/// What a document must carry to bind a runner to its program's key.
pub fn binding(runner: Address, key: &[u8; 32]) -> Hash {
    keccak256(&[KEY_DOMAIN, &runner.0, key])
}

impl Handle for Attest {
    fn handle(self, context: &mut Context<'_>) -> Step<Proven> {
        let Self { environment, document, collateral, key } = self;
        let runner = runners::read(context.world, context.sender)?;
        let roots = state::roots(context.world, &environment)?;
        context.spend(context.params.jobs.tee_document, context.params.weights.tee_document)?;
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
        context.charge_kept(&attestation);
        context.world.write(state::attestation_key(context.sender), &attestation);
        EnvironmentAttested { runner: context.sender, environment, policy_id, valid_until }.emit(context.world);
        Ok(Proven { measurement, valid_until })
    }
}

impl Handle for GetAttestation {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<Proof>> {
        let Self { runner } = self;
        let attestation = state::attestation(context.world, runner)?;
        Ok(attestation.map(|Attestation { environment, measurement, key, at, valid_until }| Proof {
            environment,
            measurement,
            key,
            at,
            valid_until,
        }))
    }
}

impl Handle for SetPolicy {
    fn handle(self, context: &mut Context<'_>) -> Step<PolicyId> {
        let SetPolicy { environment, measurement, accepted, models, name } = self;
        // An enclave in debug mode measures as zeros, and anybody can look into it.
        if measurement.iter().all(|byte| *byte == 0) {
            return Err(error::INVALID_ARGUMENT.into());
        }
        let policy_id = state::policy_id(&environment, &measurement);
        context.world.write(state::policy_key(&policy_id), &Program { is_accepted: accepted, models, name });
        PolicySet { policy_id, environment, accepted }.emit(context.world);
        Ok(PolicyId { policy_id })
    }
}

impl Handle for GetPolicy {
    fn handle(self, context: &mut Context<'_>) -> Step<Option<Policy>> {
        let Self { environment, measurement } = self;
        let policy = state::policy(context.world, &environment, &measurement)?;
        Ok(policy.map(|Program { is_accepted, models, name }| Policy { accepted: is_accepted, models, name }))
    }
}

impl Handle for SetRoots {
    fn handle(self, context: &mut Context<'_>) -> Step<()> {
        let Self { environment, roots } = self;
        let count = Count(u64::try_from(roots.len()).expect("eight at most"));
        context.world.write(state::roots_key(&environment), &Roots { certificates: roots });
        RootsSet { environment, roots: count }.emit(context.world);
        Ok(())
    }
}

impl Handle for GetRoots {
    fn handle(self, context: &mut Context<'_>) -> Step<List<Vec<u8>, 8>> {
        let Self { environment } = self;
        Ok(List::new(state::roots(context.world, &environment)?).expect("as many stand in a record, or are built in"))
    }
}
