//! The formats of the system actors' records: both ways, and frozen.

use cowboy_system::containers::state::Image;
use cowboy_system::entitlements::state::{
    Accepts, Assignment, Deprecations, DomainSet, Grantor, Holder, ManifestHistory, OpenDelegation, Permission, Role, Sweep,
};
use cowboy_system::gateways::answers::SignedAnswer;
use cowboy_system::gateways::types::{Gateway, Holds, Repaid, Request};
use cowboy_system::governance::types::{Agreement, Council, History, Pauses, Proposal, Wishes};
use cowboy_system::names::domains::DomainClaim;
use cowboy_system::names::types::{Policy, Registration};
use cowboy_system::rent_rate::RentRate;
use cowboy_system::runners::attestations::RunnerAttestation;
use cowboy_system::runners::delegations::{Delegation, Pool};
use cowboy_system::secrets::types::{Committee, Proxy, Release, ReleaseKey, Round, Secret, Vault, Version};
use cowboy_system::staking::types::{Attestations, Inflation, StakeTotal, Validator, ValidatorSet};
use cowboy_system::storage::sweep::RentSweep;
use cowboy_system::storage::types::{Dormancy, RentAccount};
use cowboy_system::tee::types::{Attestation, Program, Roots};
use cowboy_system::tokens::state::Token;

cowboy_types::format_tests! {
    Accepts Agreement Assignment Attestation Attestations Committee Council Delegation Deprecations DomainClaim DomainSet Dormancy Gateway Grantor History Holder Holds Image Inflation
    ManifestHistory OpenDelegation Pauses Permission Policy Pool Program Proposal Proxy Registration Release ReleaseKey RentAccount RentRate RentSweep Repaid Request Role Roots Round RunnerAttestation
    Secret SignedAnswer StakeTotal Sweep Token Validator ValidatorSet Vault Version Wishes
}

mod standstill {
    use cowboy_system::standstill::{Span, Standstill};

    cowboy_types::format_tests! { Span Standstill }
}

mod volumes {
    use cowboy_system::volumes::directory::{Entries, Sums};
    use cowboy_system::volumes::types::{Capability, Demand, Keys, Partition, Point, Relay, Root, Round, Slot, Status, Volume};

    cowboy_types::format_tests! { Capability Demand Entries Keys Partition Point Relay Root Round Slot Status Sums Volume }
}
