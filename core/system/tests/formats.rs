//! The formats of the system actors' records: both ways, and frozen.

use arbitrary::Arbitrary;
use bytes::Bytes;
use commonware_codec::{Codec, conformance::generate_value};
use cowboy_system::containers::state::Image;
use cowboy_system::entitlements::state::{
    Accepts, Assignment, Deprecations, DomainSet, Grantor, Holder, ManifestHistory, OpenDelegation, Permission, Role, Sweep,
};
use cowboy_system::gateways::answers::SignedAnswer;
use cowboy_system::gateways::types::{Gateway, Repaid, Request};
use cowboy_system::governance::types::{Agreement, Council, History, Pauses, Proposal, Wishes};
use cowboy_system::names::types::{Policy, Registration};
use cowboy_system::runners::attestations::RunnerAttestation;
use cowboy_system::runners::delegations::{Delegation, Pool};
use cowboy_system::staking::types::{Attestations, Inflation, StakeTotal, Validator, ValidatorSet};
use cowboy_system::storage::types::{Dormancy, RentAccount, RentRate};
use cowboy_system::tee::types::{Attestation, Program, Roots};
use cowboy_system::tokens::state::Token;
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
    Accepts Agreement Assignment Attestation Attestations Council Delegation Deprecations DomainSet Dormancy Gateway Grantor History Holder Image Inflation
    ManifestHistory OpenDelegation Pauses Permission Policy Pool Program Proposal Registration RentAccount RentRate Repaid Request Role Roots RunnerAttestation
    SignedAnswer StakeTotal Sweep Token Validator ValidatorSet Wishes
}
