//! What a runner answers for: its result, and everything that it says beside it (003 §5.3; decision 308).
//!
//! A commitment opens to the whole report, and the runner's signature covers it: whoever carries it to the chain can neither drop nor
//! change a part of it.

use super::record::Usage;
use crate::cbor::Value;
use crate::hash::{Hash, keccak256};

/// What separates a signature of a report from every other use of the runner's key.
const DOMAIN: &[u8] = b"cowboy-report-v1";

/// A runner's report of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report<'a> {
    /// The result's bytes; nothing where the work failed.
    pub result: Option<&'a [u8]>,
    /// What the work took.
    pub usage: Usage,
    /// Why there is no result, 1 to 3; zero where there is one.
    pub fault: u64,
    /// Work done before the fault, in hundredths of a percent; zero where there is a result.
    pub progress: u64,
    /// What a trusted environment says of the result; empty for nothing.
    pub attestation: &'a [u8],
}

impl Report<'_> {
    /// The bytes that are committed to: the canonical CBOR map `{attestation, fault, progress, result, usage}`, absent fields null.
    pub fn encode(&self) -> Vec<u8> {
        let bytes = |bytes: &[u8]| Value::Bytes(bytes.to_vec());
        let number = |number: u64| if self.fault == 0 { Value::Null } else { Value::uint(number) };
        Value::map([
            ("attestation", if self.attestation.is_empty() { Value::Null } else { bytes(self.attestation) }),
            ("fault", number(self.fault)),
            ("progress", number(self.progress)),
            ("result", self.result.map_or(Value::Null, bytes)),
            ("usage", self.usage.value()),
        ])
        .encode()
    }

    /// What the runner's Ed25519 key signs: domain ‖ genesis hash ‖ job ‖ keccak256 of the [encoding](Self::encode).
    pub fn signed(&self, genesis: &Hash, job: &Hash) -> Vec<u8> {
        [DOMAIN, &genesis.0, &job.0, &keccak256(&[&self.encode()]).0].concat()
    }
}

impl Usage {
    /// Nothing used.
    pub fn nothing() -> Self {
        let none = crate::units::Count::ZERO;
        Self { input_tokens: none, output_tokens: none, requests: none, compute_ms: none, memory_mb: none }
    }

    /// The usage as a map of the chain's arguments and of a report.
    pub fn value(&self) -> Value {
        Value::map([
            ("input_tokens", Value::uint(self.input_tokens.0)),
            ("output_tokens", Value::uint(self.output_tokens.0)),
            ("requests", Value::uint(self.requests.0)),
            ("compute_ms", Value::uint(self.compute_ms.0)),
            ("memory_mb", Value::uint(self.memory_mb.0)),
        ])
    }
}
