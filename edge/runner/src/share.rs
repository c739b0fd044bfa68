//! Revelations between runners: members give theirs to the aggregator, which opens all commitments in one transaction (002 §8).
//!
//! They do so only after everybody committed: what is given away then helps nobody to copy. Whoever gets no answer reveals by itself.

use crate::report::OwnedReport;
use cowboy_api::{HexAddress, HexBytes, HexHash};
use cowboy_system::offchain::{FAULT_ACTOR, FAULT_IMPOSSIBLE};
use cowboy_types::{
    Hash,
    cbor::Value,
    job::{self, SALT_BYTES},
};
use ed25519_consensus::VerificationKey;
use serde::{Deserialize, Serialize};

/// A member's revelation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Share {
    /// The job's id.
    pub job_id: HexHash,
    /// The number of the draw.
    pub attempt: u64,
    /// The runner's address.
    pub runner: HexAddress,
    /// What it committed to.
    pub report: OwnedReport,
    /// What the commitment was salted with.
    pub salt: HexBytes,
    /// Ed25519 over the report: see [`job::Report::signed`].
    pub signature: HexBytes,
}

impl Share {
    /// Whether the chain will take it. One that it does not would spoil all others that go with it.
    pub(crate) fn is_right(&self, genesis: &Hash, commitment: &Hash, result_key: &[u8], most_bytes: u64) -> bool {
        let Ok(salt) = <[u8; SALT_BYTES]>::try_from(self.salt.0.as_slice()) else { return false };
        let report = self.report.view();
        let opens = salt[32..] == self.runner.0.0 && job::commitment(&report.encode(), &salt) == *commitment;
        let signed = || {
            let signature = <[u8; 64]>::try_from(self.signature.0.as_slice()).ok()?;
            VerificationKey::try_from(result_key).ok()?.verify(&signature.into(), &report.signed(genesis, &self.job_id.0)).ok()
        };
        let is_whole = match report.result {
            Some(output) => report.fault == 0 && report.progress == 0 && output.len() as u64 <= most_bytes,
            None => (FAULT_ACTOR..=FAULT_IMPOSSIBLE).contains(&report.fault) && report.progress <= 10_000,
        };
        opens && is_whole && signed().is_some()
    }

    /// The argument of `submit_result` and `reveal`.
    pub(crate) fn argument(&self, has_salt: bool) -> Value {
        let mut fields = self.fields();
        fields.push(("job_id", Value::Bytes(self.job_id.0.0.to_vec())));
        if let Some(output) = &self.report.result {
            fields.push(("output", Value::Bytes(output.0.clone())));
        }
        if !has_salt {
            fields.retain(|(name, _)| *name != "salt");
        }
        Value::dict(fields)
    }

    fn fields(&self) -> Vec<(&'static str, Value)> {
        let mut fields = vec![
            ("salt", Value::Bytes(self.salt.0.clone())),
            ("signature", Value::Bytes(self.signature.0.clone())),
            ("usage", self.report.view().usage.value()),
        ];
        if self.report.fault != 0 {
            fields.push(("fault", Value::uint(self.report.fault)));
            fields.push(("progress", Value::uint(self.report.progress)));
        }
        if !self.report.attestation.0.is_empty() {
            fields.push(("attestation", Value::Bytes(self.report.attestation.0.clone())));
        }
        fields
    }
}

/// The argument of `submit_verified_result`: every different result once (decision 127).
pub(crate) fn together(job: &Hash, shares: &[&Share]) -> Value {
    let mut outputs: Vec<&[u8]> = Vec::new();
    let mut reveals = Vec::with_capacity(shares.len());
    for share in shares {
        let mut fields = share.fields();
        fields.push(("runner", Value::Bytes(share.runner.0.0.to_vec())));
        if let Some(output) = share.report.view().result {
            let place = outputs.iter().position(|known| *known == output).unwrap_or_else(|| {
                outputs.push(output);
                outputs.len() - 1
            });
            fields.push(("output", Value::uint(u64::try_from(place).unwrap_or(u64::MAX))));
        }
        reveals.push(Value::dict(fields));
    }
    Value::map([
        ("job_id", Value::Bytes(job.0.to_vec())),
        ("outputs", Value::Array(outputs.into_iter().map(|output| Value::Bytes(output.to_vec())).collect())),
        ("reveals", Value::Array(reveals)),
    ])
}
