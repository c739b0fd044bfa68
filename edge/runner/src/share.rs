//! Revelations between runners: members give theirs to the aggregator, which opens all commitments in one transaction (002 §8).
//!
//! They do so only after everybody committed: what is given away then helps nobody to copy. Whoever gets no answer reveals by itself.

use crate::execute::Usage;
use cowboy_api::{HexAddress, HexBytes, HexHash};
use cowboy_system::verifier::{FAULT_ACTOR, FAULT_IMPOSSIBLE};
use cowboy_types::{
    Address, Hash,
    cbor::{self, Value},
    job::{self, SALT_BYTES},
};
use ed25519_consensus::VerificationKey;
use serde::{Deserialize, Serialize};

/// A member's revelation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Share {
    /// Of which job.
    pub job_id: HexHash,
    /// Of which draw.
    pub attempt: u64,
    /// Whose it is.
    pub runner: HexAddress,
    /// The result's bytes.
    pub output: HexBytes,
    /// What the commitment was salted with.
    pub salt: HexBytes,
    /// Ed25519 over the result's bytes.
    pub signature: HexBytes,
    /// What the work took.
    pub usage: Usage,
    /// The fault's number, zero where there is none.
    pub fault: u64,
    /// What a trusted environment says of it; empty for nothing.
    pub attestation: HexBytes,
}

impl Share {
    /// Whether the chain will take it. One that it does not would spoil all others that go with it.
    pub(crate) fn is_right(&self, commitment: &Hash, result_key: &[u8], most_bytes: u64) -> bool {
        let Ok(salt) = <[u8; SALT_BYTES]>::try_from(self.salt.0.as_slice()) else { return false };
        let opens = salt[32..] == self.runner.0.0 && job::commitment(&self.output.0, &salt) == *commitment;
        let signed = || {
            let signature = <[u8; 64]>::try_from(self.signature.0.as_slice()).ok()?;
            VerificationKey::try_from(result_key).ok()?.verify(&signature.into(), &self.output.0).ok()
        };
        opens && self.output.0.len() as u64 <= most_bytes && self.has_known_fault() && signed().is_some()
    }

    /// A report says the same fault as the share.
    fn has_known_fault(&self) -> bool {
        if self.fault == 0 {
            return true;
        }
        let Ok(report) = cbor::decode(&self.output.0) else { return false };
        let fault = report.get("fault").and_then(Value::as_u64);
        (FAULT_ACTOR..=FAULT_IMPOSSIBLE).contains(&self.fault)
            && fault == Some(self.fault)
            && report.get("progress").and_then(Value::as_u64).is_some()
    }

    /// The argument of `submit_result` and `reveal`.
    pub(crate) fn argument(&self, has_salt: bool) -> Value {
        let mut fields = self.fields();
        fields.push(("job_id", Value::Bytes(self.job_id.0.0.to_vec())));
        fields.push(("output", Value::Bytes(self.output.0.clone())));
        if !has_salt {
            fields.retain(|(name, _)| *name != "salt");
        }
        Value::dict(fields)
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let mut fields = vec![
            ("salt", Value::Bytes(self.salt.0.clone())),
            ("signature", Value::Bytes(self.signature.0.clone())),
            ("usage", self.usage.value()),
        ];
        if self.fault != 0 {
            fields.push(("fault", Value::uint(self.fault)));
        }
        if !self.attestation.0.is_empty() {
            fields.push(("attestation", Value::Bytes(self.attestation.0.clone())));
        }
        fields
    }
}

/// The argument of `submit_verified_result`: every different result once (decision 127).
pub(crate) fn together(job: &Hash, shares: &[&Share]) -> Value {
    let mut outputs: Vec<&[u8]> = Vec::new();
    let mut reveals = Vec::with_capacity(shares.len());
    for share in shares {
        let output = share.output.0.as_slice();
        let place = outputs.iter().position(|known| *known == output).unwrap_or_else(|| {
            outputs.push(output);
            outputs.len() - 1
        });
        let mut fields = share.fields();
        fields.push(("runner", Value::Bytes(share.runner.0.0.to_vec())));
        fields.push(("output", Value::uint(u64::try_from(place).unwrap_or(u64::MAX))));
        reveals.push(Value::dict(fields));
    }
    Value::map([
        ("job_id", Value::Bytes(job.0.to_vec())),
        ("outputs", Value::Array(outputs.into_iter().map(|output| Value::Bytes(output.to_vec())).collect())),
        ("reveals", Value::Array(reveals)),
    ])
}

/// What a runner says on the chain of a fault: `{"fault", "progress"}` in place of a result (decision 81).
pub(crate) fn report(fault: u64) -> Vec<u8> {
    Value::map([("fault", Value::uint(fault)), ("progress", Value::uint(0))]).encode()
}

/// What a development chain takes for an attestation. It proves nothing.
pub(crate) fn dev_attestation(runner: &Address, output: &[u8], model: &Hash) -> Vec<u8> {
    let digest = cowboy_types::keccak256(&[output]);
    let mut fields =
        vec![("type", Value::text("dev")), ("runner", Value::Bytes(runner.0.to_vec())), ("output", Value::Bytes(digest.0.to_vec()))];
    if *model != Hash::ZERO {
        fields.push(("model", Value::Bytes(model.0.to_vec())));
    }
    Value::dict(fields).encode()
}
