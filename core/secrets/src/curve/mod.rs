//! Points of BLS12-381, compressed, and the equations between them: by the C library, and in Rust where there is no C.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(any(target_family = "wasm", test))]
mod portable;

#[cfg(not(target_family = "wasm"))]
use native as library;
#[cfg(target_family = "wasm")]
use portable as library;

use bls12_381::{G2Affine, G2Projective};
use bytes::BufMut;
use commonware_codec::{Buf, Error, FixedSize, Read, ReadExt as _, Write};
use cowboy_types::wire::Fixed;
use std::fmt;

/// The suite of signatures in G1.
const G1_SUITE: &[u8] = b"BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_POP_";

/// The suite of proofs of possession in G2.
const G2_POSSESSION: &[u8] = b"BLS_POP_BLS12381G2_XMD:SHA-256_SSWU_RO_POP_";

macro_rules! points {
    ($( $(#[$attribute:meta])* $Point:ident: $length:literal, $is_point:ident; )+) => { $(
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Point([u8; $length]);

        impl $Point {
            /// The point of these bytes; none where they are not the canonical form of a point of the group, or are the identity element.
            pub fn new(bytes: [u8; $length]) -> Option<Self> {
                library::$is_point(&bytes).then_some(Self(bytes))
            }

            /// The compressed bytes.
            pub const fn bytes(&self) -> &[u8; $length] {
                &self.0
            }
        }

        impl fmt::Debug for $Point {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&Fixed(self.0), f)
            }
        }

        impl FixedSize for $Point {
            const SIZE: usize = $length;
        }

        impl Write for $Point {
            fn write(&self, buf: &mut impl BufMut) {
                buf.put_slice(&self.0);
            }
        }

        impl Read for $Point {
            type Cfg = ();
            fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
                let bytes = Fixed::<$length>::read(buf)?.0;
                Self::new(bytes).ok_or(Error::Invalid(stringify!($Point), "the bytes are no point of the group, or its identity element"))
            }
        }
    )+ };
}

points! {
    /// A point of G1: a partial answer, a signature, a transport key.
    PointG1: 48, is_in_g1;
    /// A point of G2: a committee's key, a coefficient of its polynomial, a proof of possession.
    PointG2: 96, is_in_g2;
}

#[cfg(feature = "arbitrary")]
mod random {
    use super::{PointG1, PointG2};
    use arbitrary::{Arbitrary, Unstructured};
    use bls12_381::{G1Affine, G2Affine, Scalar};

    /// A scalar other than zero.
    fn factor(u: &mut Unstructured<'_>) -> arbitrary::Result<Scalar> {
        Ok(Scalar::from(u64::arbitrary(u)?.max(1)))
    }

    impl<'a> Arbitrary<'a> for PointG1 {
        #[expect(clippy::arithmetic_side_effects, reason = "a multiple of a point")]
        fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
            Ok(Self(G1Affine::from(G1Affine::generator() * factor(u)?).to_compressed()))
        }
    }

    impl<'a> Arbitrary<'a> for PointG2 {
        #[expect(clippy::arithmetic_side_effects, reason = "a multiple of a point")]
        fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
            Ok(Self(G2Affine::from(G2Affine::generator() * factor(u)?).to_compressed()))
        }
    }
}

/// A message in a namespace: the namespace's length in one byte, the namespace, the message.
///
/// # Panics
///
/// If the namespace is not shorter than 128 bytes.
pub fn in_namespace(namespace: &[u8], message: &[u8]) -> Vec<u8> {
    let length = u8::try_from(namespace.len()).ok().filter(|length| *length < 128);
    let length = length.expect("a namespace is a constant shorter than 128 bytes");
    [&[length], namespace, message].concat()
}

/// Whether `proof` is a signature of the owner of `key` over the message, in the suite of proofs of possession.
pub(crate) fn is_possessed(key: &PointG1, message: &[u8], proof: &PointG2) -> bool {
    library::is_possessed(key, message, proof)
}

/// Whether `signature` is a signature of `key` over the message.
pub fn is_signature(key: &PointG2, message: &[u8], signature: &PointG1) -> bool {
    library::is_signature(key, message, signature)
}

/// Whether the two equations of a partial answer hold: both of its first points have one factor, and its third is that factor times the transport
/// key, plus the hashed message times the share of `share`.
pub(crate) fn is_encrypted(answer: [&PointG1; 2], e2: &PointG2, tpk: &PointG1, share: &PointG2, message: &[u8]) -> bool {
    library::is_encrypted(answer, e2, tpk, share, message)
}

/// The public key of a member's share: the polynomial, constant first, at `index` + 1. None where there is no coefficient, or the result is the
/// identity element.
///
/// The result is the same as that of `Mode::NonZeroCounter` of commonware.
#[expect(clippy::arithmetic_side_effects, reason = "an index has 16 bits; the sums are of points")]
pub fn share_key(polynomial: &[PointG2], index: u16) -> Option<PointG2> {
    let at = u32::from(index) + 1;
    let mut sum = G2Projective::identity();
    for coefficient in polynomial.iter().rev() {
        let coefficient = Option::<G2Affine>::from(G2Affine::from_compressed_unchecked(&coefficient.0))?;
        sum = multiple(&sum, at) + coefficient;
    }
    let key = G2Affine::from(sum);
    (!bool::from(key.is_identity())).then(|| PointG2(key.to_compressed()))
}

/// A small multiple of a public point: an index has few bits, so that doubling and adding is far cheaper than a product with a scalar.
#[expect(clippy::arithmetic_side_effects, reason = "the bits of a number; the sums are of points")]
fn multiple(point: &G2Projective, by: u32) -> G2Projective {
    let mut sum = G2Projective::identity();
    for bit in (0..u32::BITS - by.leading_zeros()).rev() {
        sum = sum.double();
        if by >> bit & 1 == 1 {
            sum += point;
        }
    }
    sum
}

#[cfg(test)]
mod tests;
