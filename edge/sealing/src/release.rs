//! Answers of a committee's members, and what they make together (decision 144).

use crate::points;
use commonware_codec::Encode as _;
use commonware_cryptography::bls12381::primitives::group::{G1, G2, Private, Scalar, Share};
use commonware_cryptography::bls12381::primitives::ops;
use commonware_cryptography::bls12381::primitives::variant::{MinPk, MinSig, Variant as _};
use commonware_math::algebra::{CryptoGroup as _, Random as _};
use commonware_math::poly::Interpolator;
use commonware_parallel::Sequential;
use commonware_utils::ordered::Map;
use cowboy_secrets::{Identity, Partial, PointG1, PointG2, TransportKey, curve, identity, share_key, transport};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// The suite of the hash that makes the factor of an answer.
const FACTOR: &[u8] = b"COWBOY_SECRET_ANSWER_BLS12381_XMD:SHA-256_SSWU_RO_";

/// A member's share of the signature over an identity, encrypted to a transport key.
///
/// The factor is hashed from random bytes, the share, the identity and the key, so that bad randomness does not repeat a factor for another
/// identity or key.
pub fn answer(rng: &mut impl CryptoRng, share: &Share, identity: &Identity, transport: &PointG1) -> Partial {
    let message = identity.encode();
    let hashed = ops::hash_with_namespace::<MinSig>(MinSig::MESSAGE, identity::NAMESPACE, &message);
    loop {
        let mut seed = Zeroizing::new(vec![0; 32]);
        rng.fill_bytes(&mut seed);
        share.private.expose(|private| seed.extend_from_slice(&Zeroizing::new(private.encode().to_vec())));
        seed.extend_from_slice(&message);
        seed.extend_from_slice(transport.bytes());
        let factor = Scalar::map(FACTOR, &seed);
        let signed = share.private.expose(|private| hashed * private);
        let third = points::to_g1(transport) * &factor + &signed;
        let made = (points::from_g1(&(G1::generator() * &factor)), points::from_g2(&(G2::generator() * &factor)), points::from_g1(&third));
        // None of them is the identity element, except with a probability that does not matter; then it draws again.
        if let (Some(e1), Some(e2), Some(e3)) = made {
            return Partial { e1, e2, e3 };
        }
    }
}

/// The secret of a transport key. It is overwritten when it is dropped.
pub struct TransportSecret(Private);

impl TransportSecret {
    /// A new one.
    pub fn random(rng: &mut impl CryptoRng) -> Self {
        Self(Private::random(rng))
    }

    /// Its 32 bytes, big-endian, for a file that only its owner reads.
    pub fn bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.encode().to_vec())
    }

    /// The key, with the proof that its owner has the secret.
    pub fn key(&self) -> TransportKey {
        let key = points::from_g1(&ops::compute_public::<MinPk>(&self.0)).expect("a secret is not zero");
        let proof = points::from_g2(&ops::sign_proof_of_possession::<MinPk>(&self.0, transport::NAMESPACE)).expect("a secret is not zero");
        TransportKey { key, proof }
    }

    /// The share of the signature in a member's answer; none where the answer is not that member's, or is for another identity or key.
    pub fn share(&self, identity: &Identity, share_key: &PointG2, answer: &Partial) -> Option<PointG1> {
        if !answer.is_valid(identity, &self.key().key, share_key) {
            return None;
        }
        let mask = self.0.expose(|secret| points::to_g1(&answer.e1) * secret);
        points::from_g1(&(points::to_g1(&answer.e3) - &mask))
    }
}

/// Why shares make no signature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CombineError {
    /// Too few members answered.
    #[error("{found} members answered, and {needed} are needed")]
    Few {
        /// How many members the shares are from.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// Shares are not the members'.
    #[error("the shares of members {0:?} are not the ones that the committee's polynomial gives them")]
    Wrong(Vec<u16>),
}

/// The committee's signature over an identity, from the shares of as many members as its polynomial has coefficients (the constant first).
/// Further shares are not used; of two of one member, the last is.
///
/// # Errors
///
/// If the members are too few, or the shares make no signature: then some are not what [`TransportSecret::share`] returned.
pub fn combine(polynomial: &[PointG2], identity: &Identity, shares: &[(u16, PointG1)]) -> Result<PointG1, CombineError> {
    let needed = polynomial.len();
    let mut by_member: std::collections::BTreeMap<u16, PointG1> = shares.iter().copied().collect();
    let Some(committee) = polynomial.first().filter(|_| by_member.len() >= needed) else {
        return Err(CombineError::Few { found: by_member.len(), needed });
    };
    while by_member.len() > needed {
        by_member.pop_last();
    }
    let places = by_member.keys().map(|member| (*member, Scalar::from_u64(u64::from(*member) + 1)));
    let values = Map::from_iter_dedup(by_member.iter().map(|(member, share)| (*member, points::to_g1(share))));
    let signature = Interpolator::new(places).interpolate(&values, &Sequential);
    let message = identity.message();
    let signature = signature.as_ref().and_then(points::from_g1).filter(|signature| curve::is_signature(committee, &message, signature));
    signature.ok_or_else(|| {
        by_member.retain(|member, share| share_key(polynomial, *member).is_none_or(|key| !curve::is_signature(&key, &message, share)));
        CombineError::Wrong(by_member.into_keys().collect())
    })
}
