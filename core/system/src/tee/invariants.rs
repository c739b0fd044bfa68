//! What holds between the records of trusted environments.

use super::types::Attestation;
use super::{NUMBER, state};
use crate::market::runners;
use crate::records::{Broken, Records, address_of, holds};

/// Who attested is a runner, its program is one that governance decided about, and an attestation was made before it lapses.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    for (name, attestation) in records.of::<Attestation>(NUMBER, "attestation:")? {
        let (runner, _) = address_of(name)?;
        holds("who attested an environment is a runner", records.bytes(&runners::runner_key(runner)).is_some(), &runner)?;
        let policy = state::policy_key(&state::policy_id(&attestation.environment, &attestation.measurement));
        holds("governance decided about an attested program", records.bytes(&policy).is_some(), &attestation)?;
        let is_ordered = attestation.at <= records.height() && attestation.at <= attestation.valid_until;
        holds("an attestation was made before it lapses", is_ordered, &attestation)?;
    }
    Ok(())
}
