//! Tests of formats, for the crates that declare records: both ways, and frozen.

use arbitrary::Arbitrary;
use bytes::Bytes;
use commonware_codec::{Codec, conformance::generate_value};
use std::fmt::Debug;

/// Asserts that a random value decodes from what it encodes to, and from nothing longer.
///
/// # Panics
///
/// Where it does not.
pub fn check_both_ways<T>(seed: u64)
where
    T: Codec<Cfg = ()> + for<'a> Arbitrary<'a> + PartialEq + Debug,
{
    let value: T = generate_value(seed);
    let bytes = value.encode();
    assert_eq!(T::decode_cfg(bytes.clone(), &()).ok(), Some(value), "seed {seed}");
    let mut longer = bytes.to_vec();
    longer.push(0);
    assert!(T::decode_cfg(Bytes::from(longer), &()).is_err(), "one byte too many, seed {seed}");
}

/// The tests of some records: [`check_both_ways`], and a hash of 128 encodings of each in the crate's `conformance.toml`. The caller needs
/// `commonware-codec` and `commonware-conformance`.
#[macro_export]
macro_rules! format_tests {
    ($($Record:ident)+) => {
        #[test]
        fn records_decode_to_what_was_encoded() {
            for seed in 0..64 {
                $( $crate::formats::check_both_ways::<$Record>(seed); )+
            }
        }

        mod conformance {
            use super::*;
            use commonware_codec::conformance::CodecConformance;

            commonware_conformance::conformance_tests! {
                $( CodecConformance<$Record> => 128, )+
            }
        }
    };
}
