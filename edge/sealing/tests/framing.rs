//! What `cowboy-secrets` computes by itself is what commonware computes.

use crate::vectors::{Committee, identity, random};
use commonware_codec::Encode as _;
use commonware_cryptography::bls12381::primitives::ops;
use commonware_cryptography::bls12381::primitives::variant::{MinPk, MinSig};
use commonware_math::algebra::Random as _;
use commonware_utils::Participant;
use cowboy_sealing::TransportSecret;
use cowboy_secrets::{PointG1, curve, identity, share_key, transport};

/// The message, its namespace and its suite are those of commonware's signatures.
#[test]
fn a_signature_of_commonware_is_one_over_an_identity() {
    let (private, public) = ops::keypair::<_, MinSig>(&mut random(1));
    let identity = identity(1);
    let signature = |namespace: &[u8]| {
        let signature = ops::sign_message::<MinSig>(&private, namespace, &identity.encode());
        PointG1::new(signature.encode().as_ref().try_into().expect("48 bytes")).expect("a point")
    };
    let public = cowboy_secrets::PointG2::new(public.encode().as_ref().try_into().expect("96 bytes")).expect("a point");
    assert!(curve::is_signature(&public, &identity.message(), &signature(identity::NAMESPACE)));
    assert!(!curve::is_signature(&public, &identity.message(), &signature(b"cowboy-secret-v2")));
}

/// The key of a share is the polynomial at the same place for both.
#[test]
fn share_keys_are_those_of_a_dealing() {
    for members in [4, 7, 16] {
        let committee = Committee::new(u64::from(members), members);
        assert_eq!(committee.polynomial.len(), [3, 5, 11][usize::from(members > 4) + usize::from(members > 7)]);
        for (index, share) in (0_u16..).zip(&committee.shares) {
            let key = share_key(&committee.polynomial, index).expect("a key").bytes().to_vec();
            let dealt = committee.sharing.partial_public(Participant::new(u32::from(index))).expect("a member");
            assert_eq!(key, dealt.encode().to_vec(), "member {index} of {members}");
            assert_eq!(key, share.public::<MinSig>().encode().to_vec(), "member {index} of {members}");
        }
    }
}

/// A proof of possession is commonware's, in the namespace of transport keys alone.
#[test]
fn a_transport_key_is_possessed_by_its_maker() {
    let secret = TransportSecret::random(&mut random(3));
    let mut key = secret.key();
    assert!(key.is_possessed());
    let other = commonware_cryptography::bls12381::primitives::group::Private::random(random(3));
    let proof = ops::sign_proof_of_possession::<MinPk>(&other, b"cowboy-transport-v2");
    key.proof = cowboy_secrets::PointG2::new(proof.encode().as_ref().try_into().expect("96 bytes")).expect("a point");
    assert!(!key.is_possessed(), "the proof is of the same secret, in another namespace than {:?}", transport::NAMESPACE);
}
