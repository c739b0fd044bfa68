//! Between an outcome, as the chain has it, and the output of the library.

use super::{LIMIT, SHARING, fixed, key_set};
use crate::points;
use bytes::{BufMut as _, BytesMut};
use commonware_codec::{Decode as _, DecodeExt as _, Encode as _, Write as _};
use commonware_cryptography::bls12381::dkg::feldman_desmedt::Output;
use commonware_cryptography::bls12381::primitives::group::{G2, Share};
use commonware_cryptography::bls12381::primitives::sharing::ModeVersion;
use commonware_cryptography::bls12381::primitives::variant::MinSig;
use commonware_cryptography::ed25519::PublicKey;
use commonware_math::algebra::CryptoGroup as _;
use cowboy_secrets::dealing::MAX_MEMBERS;
use cowboy_secrets::{Outcome, PointG2, share_key};
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, List};

/// Bytes of the hash with which an encoded output begins.
const SUMMARY_BYTES: usize = 32;

/// What the chain keeps of an output.
///
/// # Panics
///
/// If the output is of more than sixteen members.
pub(super) fn to_outcome(output: &Output<MinSig, PublicKey>) -> Outcome {
    let summary = output.encode()[..SUMMARY_BYTES].try_into().expect("an output begins with its summary");
    // The public half is the way of evaluation, the number of members in four bytes, and the polynomial.
    let public = output.public().encode().slice(SHARING.encode().len() + 4..);
    let polynomial: List<PointG2, MAX_MEMBERS> = List::decode(public).expect("the coefficients of an output are points");
    let index = |key: &PublicKey| output.players().position(key).and_then(|index| u16::try_from(index).ok());
    let revealed = output.revealed().iter().map(|key| index(key).expect("whose share is public is a player")).collect();
    Outcome {
        summary: Hash(summary),
        polynomial,
        dealers: List::new(output.dealers().iter().map(fixed).collect()).expect("no more dealers than members"),
        revealed: List::new(revealed).expect("no more than members"),
    }
}

/// The output that an outcome with these members is of; none where there is none.
pub(super) fn to_output(outcome: &Outcome, members: &[Fixed<32>]) -> Option<Output<MinSig, PublicKey>> {
    let mut bytes = BytesMut::new();
    bytes.put_slice(&outcome.summary.0);
    SHARING.write(&mut bytes);
    u32::try_from(members.len()).ok()?.write(&mut bytes);
    outcome.polynomial.write(&mut bytes);
    key_set(outcome.dealers.iter()).ok()?.write(&mut bytes);
    key_set(members.iter()).ok()?.write(&mut bytes);
    let revealed: Option<Vec<&Fixed<32>>> = outcome.revealed.iter().map(|index| members.get(usize::from(*index))).collect();
    key_set(revealed?.into_iter()).ok()?.write(&mut bytes);
    Output::decode_cfg(bytes.freeze(), &(LIMIT, ModeVersion::v0())).ok()
}

/// Whether a share is the one that an outcome's polynomial gives a member.
pub fn is_share(outcome: &Outcome, index: u16, share: &Share) -> bool {
    let public = share.private.expose(|private| points::from_g2(&(G2::generator() * private)));
    share.index.get() == u32::from(index) && public.is_some() && public == share_key(&outcome.polynomial, index)
}
