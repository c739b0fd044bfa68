//! Between the checked bytes of points and commonware's points.

use commonware_codec::{Copying, DecodeExt as _, Encode as _};
use commonware_cryptography::bls12381::primitives::group::{G1, G2};
use cowboy_secrets::{PointG1, PointG2};

/// A point of G1 as commonware has it.
pub(crate) fn to_g1(point: &PointG1) -> G1 {
    G1::decode(Copying(point.bytes())).expect("the bytes were checked when the point was made")
}

/// A point of G2 as commonware has it.
pub(crate) fn to_g2(point: &PointG2) -> G2 {
    G2::decode(Copying(point.bytes())).expect("the bytes were checked when the point was made")
}

/// The bytes of a point of G1; none for the identity element.
pub(crate) fn from_g1(point: &G1) -> Option<PointG1> {
    PointG1::decode(point.encode()).ok()
}

/// The bytes of a point of G2; none for the identity element.
pub(crate) fn from_g2(point: &G2) -> Option<PointG2> {
    PointG2::decode(point.encode()).ok()
}
