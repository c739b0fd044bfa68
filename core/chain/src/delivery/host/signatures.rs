//! Signatures that an actor checks: secp256k1, Ed25519 and BLS12-381 (003 §3.5, §16.1, §17.3).
//!
//! Sizes that belong to no scheme are refused as bad input. Bytes of the right size that are no key or no signature
//! simply do not hold, whatever is wrong with them: an actor that takes signatures from strangers needs one answer.

use super::{Arguments, read};
use crate::delivery::frames::{Price, Reply};
use crate::delivery::{Machine, Step};
use crate::engine::HostValue;
use cowboy_system::pairing;
use cowboy_types::{Hash, error, keccak256, signing, wire::Fixed};

/// secp256k1 over the message's Keccak-256: compressed key of 33 bytes, r ‖ s of 64 with s in the lower half.
const SECP256K1: u64 = 1;
/// Ed25519 (ZIP 215): key of 32 bytes, signature of 64. The published SDK knows this number.
const ED25519: u64 = 2;
/// BLS12-381, proof-of-possession suites: key of 48 bytes and signature of 96, or key of 96 and signature of 48.
const BLS12_381: u64 = 3;

impl Machine {
    /// (scheme, public key, message, signature) → whether the signature holds.
    pub(super) fn verify_signature(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let scheme = read!(arguments.number(0));
        let (key, message, signature) = (read!(arguments.bytes(1)), read!(arguments.bytes(2)), read!(arguments.bytes(3)));
        let costs = &self.environment.params.costs;
        let (cycles, holds) = match scheme {
            SECP256K1 => (costs.verify_secp256k1, secp256k1_holds(key, message, signature)),
            ED25519 => (costs.verify_ed25519, ed25519_holds(key, message, signature)),
            BLS12_381 => (costs.verify_bls, bls_holds(key, message, signature)),
            _ => (0, None),
        };
        // The price is 003's whatever the message's length; the weight of decision 132 stands for hashing it.
        let hashing = u64::try_from(message.len()).unwrap_or(u64::MAX).saturating_mul(self.environment.params.weights.signed_byte);
        let price = Price { weight: hashing, ..Price::cycles(cycles) };
        match holds {
            Some(holds) => Ok(Reply::Value(HostValue::Bool(holds), price)),
            None => Reply::refuse(error::INVALID_ARGUMENT, price),
        }
    }

    /// The address whose key signed a 32-byte digest, or None.
    pub(super) fn recover(&mut self, arguments: Arguments<'_>) -> Step<Reply> {
        let (digest, signature) = (read!(arguments.bytes(0)), read!(arguments.bytes(1)));
        let price = Price::cycles(self.environment.params.costs.verify_secp256k1);
        let (Ok(digest), Ok(mut signature)) = (<[u8; 32]>::try_from(digest), <[u8; 65]>::try_from(signature)) else {
            return Reply::refuse(error::INVALID_ARGUMENT, price);
        };
        // Ethereum's wallets write v as 27 or 28.
        if let 27 | 28 = signature[64] {
            signature[64] -= 27;
        }
        let signer = signing::recover(&Hash(digest), &Fixed(signature));
        Ok(Reply::Value(signer.map_or(HostValue::None, |address| HostValue::Bytes(address.0.to_vec())), price))
    }
}

/// Whether it holds; `None` where the sizes are not the scheme's. So for each scheme below.
fn secp256k1_holds(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    let (key, signature) = (Fixed(<[u8; 33]>::try_from(key).ok()?), <[u8; 64]>::try_from(signature).ok()?);
    Some(signing::is_signed_by(&keccak256(&[message]), &signature, &key))
}

fn ed25519_holds(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    let (key, signature) = (<[u8; 32]>::try_from(key).ok()?, <[u8; 64]>::try_from(signature).ok()?);
    Some(ed25519_consensus::VerificationKey::try_from(key).is_ok_and(|key| key.verify(&signature.into(), message).is_ok()))
}

/// Whether a BLS signature holds, of either suite.
fn bls_holds(key: &[u8], message: &[u8], signature: &[u8]) -> Option<bool> {
    match (key.len(), signature.len()) {
        (48, 96) => Some(pairing::holds_in_g2(key, message, signature, pairing::G2_SUITE)),
        (96, 48) => Some(pairing::holds_in_g1(key, message, signature, pairing::G1_SUITE)),
        _ => None,
    }
}
