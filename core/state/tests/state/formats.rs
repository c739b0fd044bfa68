//! The records' formats: both ways, and frozen.

use arbitrary::Arbitrary;
use bytes::Bytes;
use commonware_codec::{Codec, conformance::generate_value};
use cowboy_state::directory::{Node, Root};
use cowboy_state::records::{
    Account, Actor, Deployers, GenesisValidators, Mailbox, Markets, Message, Origin, ParameterChanges, Queue, SeedIndex, SeedRecord, Seen,
    Spent, Supply, Timer, TimerBook, Vesting, VestingClaim,
};
use std::fmt::Debug;

fn check_both_ways<T>(seed: u64)
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

macro_rules! formats {
    ($($Record:ident)+) => {
        #[test]
        fn records_decode_to_what_was_encoded() {
            for seed in 0..64 {
                $( check_both_ways::<$Record>(seed); )+
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

formats! {
    Account Actor Deployers GenesisValidators Mailbox Markets Message Node Origin ParameterChanges Queue Root SeedIndex SeedRecord Seen Spent Supply Timer TimerBook
    Vesting VestingClaim
}
