//! BLS signatures by several keys, verified together.

use commonware_cryptography::bls12381::primitives::{
    group::SmallScalar,
    ops::hash_with_namespace,
    variant::{MinSig, Variant},
};
use commonware_math::algebra::Space as _;
use commonware_parallel::Sequential;
use rand_core::CryptoRng;
use std::collections::BTreeMap;

type Public = <MinSig as Variant>::Public;
type Signature = <MinSig as Variant>::Signature;

/// Whose key made a signature. Two keys have different signers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Signer {
    /// The validators of the chain together.
    Group,
    /// A validator in an epoch, by its network key.
    Validator(u64, [u8; 32]),
}

/// A signature that is to be verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signed {
    signer: Signer,
    key: Public,
    /// The message as a point.
    hashed: Signature,
    signature: Signature,
}

impl Signed {
    /// A signature over a message in a namespace, as [`commonware_cryptography::bls12381::primitives::ops::sign_message`] makes it.
    pub(crate) fn new((signer, key): (Signer, Public), namespace: &[u8], message: &[u8], signature: Signature) -> Self {
        Self { signer, key, hashed: hash_with_namespace::<MinSig>(MinSig::MESSAGE, namespace, message), signature }
    }
}

/// Whether all of these are right, with one check of pairings: one pairing for each signer, and one more.
pub(crate) fn hold<'a>(random: &mut impl CryptoRng, signed: impl IntoIterator<Item = &'a Signed>) -> bool {
    let mut by_signer: BTreeMap<Signer, Vec<&Signed>> = BTreeMap::new();
    for one in signed {
        by_signer.entry(one.signer).or_default().push(one);
    }
    if by_signer.is_empty() {
        return true;
    }
    let (mut keys, mut messages, mut signatures) = (Vec::new(), Vec::new(), Vec::new());
    for of_signer in by_signer.values() {
        let (message, signature) = combined(random, of_signer);
        keys.push(of_signer[0].key);
        messages.push(message);
        signatures.push(signature);
    }
    MinSig::batch_verify(random, &keys, &messages, &signatures, &Sequential).is_ok()
}

/// One message and one signature in place of several of one signer. Random factors keep errors from making up for each other.
fn combined(random: &mut impl CryptoRng, signed: &[&Signed]) -> (Signature, Signature) {
    if let [one] = signed {
        return (one.hashed, one.signature);
    }
    let factors: Vec<SmallScalar> = signed.iter().map(|_| SmallScalar::random(&mut *random)).collect();
    let sum = |points: Vec<Signature>| Signature::msm(&points, &factors, &Sequential);
    (sum(signed.iter().map(|one| one.hashed).collect()), sum(signed.iter().map(|one| one.signature).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::bls12381::primitives::{
        group::Private,
        ops::{compute_public, sign_message},
    };
    use commonware_math::algebra::Random as _;
    use rand_chacha::ChaCha20Rng;
    use rand_core::SeedableRng as _;

    const NAMESPACE: &[u8] = b"test";

    fn validator(byte: u8) -> Signer {
        Signer::Validator(3, [byte; 32])
    }

    /// Five signatures by three signers: two have two, and one has one.
    fn signed(random: &mut ChaCha20Rng) -> Vec<Signed> {
        let keys: Vec<Private> = (0..3).map(|_| Private::random(&mut *random)).collect();
        let rows = [(0, Signer::Group), (1, validator(1)), (0, Signer::Group), (2, validator(2)), (1, validator(1))];
        let sign = |(message, (key, signer)): (u8, (usize, Signer))| {
            let signature: Signature = sign_message::<MinSig>(&keys[key], NAMESPACE, &[message]);
            Signed::new((signer, compute_public::<MinSig>(&keys[key])), NAMESPACE, &[message], signature)
        };
        (0..).zip(rows).map(sign).collect()
    }

    /// Signatures that are verified together are right only if each of them is, whoever made them.
    #[test]
    fn each_of_them_is_verified() {
        let mut random = ChaCha20Rng::from_seed([7; 32]);
        let right = signed(&mut random);
        assert!(hold(&mut random, &right) && hold(&mut random, &[]));
        for place in 0..right.len() {
            assert!(hold(&mut random, &right[place..=place]) && hold(&mut random, &right[..place]), "the first {place}");
            let mut wrong = right.clone();
            wrong[place].signature = right[(place + 1) % right.len()].signature;
            assert!(!hold(&mut random, &wrong) && !hold(&mut random, &wrong[place..=place]), "the {place}. is another one's");
            wrong = right.clone();
            wrong[place].hashed = right[(place + 1) % right.len()].hashed;
            assert!(!hold(&mut random, &wrong), "the {place}. is of another message");
            wrong = right.clone();
            wrong[place].key = right[(place + 1) % right.len()].key;
            wrong[place].signer = validator(9);
            assert!(!hold(&mut random, &wrong), "the {place}. is of another key");
        }
    }

    /// What one takes away another one may not add, of one signer or of two.
    #[test]
    fn errors_do_not_make_up_for_each_other() {
        let mut random = ChaCha20Rng::from_seed([8; 32]);
        let right = signed(&mut random);
        for (one, other) in [(0, 2), (1, 4), (0, 1), (3, 4)] {
            let mut exchanged = right.clone();
            exchanged[one].signature = right[other].signature;
            exchanged[other].signature = right[one].signature;
            assert!(!hold(&mut random, &exchanged), "{one} and {other}");
        }
    }
}
