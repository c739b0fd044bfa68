//! What a runner says that it provides, signed (000 §4, §5.1, appendices A and B).

use super::{Bounds, Grants};
use crate::cbor::{self, Value};
use crate::transaction::Signature;
use crate::units::Height;
use crate::wire::Fixed;
use crate::{Abort, Address, Hash, error, keccak256};

/// A runner's signed list of what it provides, for a span of heights.
#[derive(Clone, Debug, PartialEq)]
pub struct Attestation {
    /// The runner's account, which signs.
    pub runner_id: Address,
    /// What it provides.
    pub capabilities: Grants,
    /// The first height at which it counts.
    pub valid_from: Height,
    /// The last height at which it counts.
    pub valid_until: Height,
    /// What commits to evidence off the chain, like a bundle of TEE quotes.
    pub evidence_hash: Option<Hash>,
    /// The runner's recoverable signature over [`Attestation::digest`].
    pub signature: Signature,
}

impl Attestation {
    /// Reads an attestation: canonical CBOR with exactly the fields of 000 appendix A. Says nothing of signature and heights.
    pub fn decode(bounds: Bounds, bytes: &[u8]) -> Result<Self, Abort> {
        if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > bounds.bytes {
            return Err(error::ATTESTATION_INVALID);
        }
        let record = cbor::decode(bytes).map_err(|_| error::ATTESTATION_INVALID)?;
        let Value::Map(pairs) = &record else { return Err(error::ATTESTATION_INVALID) };
        let evidence = record.get("evidence_hash");
        if pairs.len() != if evidence.is_some() { 6 } else { 5 } {
            return Err(error::ATTESTATION_INVALID);
        }
        let height = |name| record.get(name).and_then(Value::as_u64).map(Height).ok_or(error::ATTESTATION_INVALID);
        Ok(Self {
            runner_id: Address(exactly(record.get("runner_id"))?),
            capabilities: Grants::read(bounds, record.get("capabilities").ok_or(error::ATTESTATION_INVALID)?)?,
            valid_from: height("valid_from")?,
            valid_until: height("valid_until")?,
            evidence_hash: evidence.map(|hash| exactly(Some(hash)).map(Hash)).transpose()?,
            signature: Fixed(exactly(record.get("signature"))?),
        })
    }

    /// The record on the wire.
    pub fn encode(&self) -> Vec<u8> {
        self.record(Some(("signature", Value::Bytes(self.signature.0.to_vec())))).encode()
    }

    /// What the runner signs: the record without the signature, in canonical CBOR (000 appendix B).
    pub fn preimage(&self) -> Vec<u8> {
        self.record(None).encode()
    }

    /// keccak256 of the preimage.
    pub fn digest(&self) -> Hash {
        keccak256(&[&self.preimage()])
    }

    /// Whether it counts at a height: both ends do (decision 55).
    pub fn is_valid_at(&self, height: Height) -> bool {
        self.valid_from <= height && height <= self.valid_until
    }

    /// Whether the runner's own key signed it.
    #[cfg(feature = "signing")]
    pub fn is_signed(&self) -> bool {
        crate::signing::recover(&self.digest(), &self.signature) == Some(self.runner_id)
    }

    /// Puts a signature on it.
    #[cfg(all(feature = "signing", not(target_family = "wasm")))]
    pub fn sign(&mut self, key: &crate::signing::PrivateKey) {
        self.signature = key.sign(&self.digest());
    }

    fn record(&self, signature: Option<(&str, Value)>) -> Value {
        let mut pairs = vec![
            ("capabilities", self.capabilities.to_value()),
            ("runner_id", Value::Bytes(self.runner_id.0.to_vec())),
            ("valid_from", Value::uint(self.valid_from.0)),
            ("valid_until", Value::uint(self.valid_until.0)),
        ];
        pairs.extend(self.evidence_hash.map(|hash| ("evidence_hash", Value::Bytes(hash.0.to_vec()))));
        pairs.extend(signature);
        Value::dict(pairs)
    }
}

fn exactly<const N: usize>(value: Option<&Value>) -> Result<[u8; N], Abort> {
    value.and_then(Value::as_bytes).and_then(|bytes| bytes.try_into().ok()).ok_or(error::ATTESTATION_INVALID)
}
