//! The system actors, each from its folder, the formats of their records, and documents of trusted environments.

mod documents;
mod formats;
mod invariants;

#[path = "../src/containers/tests.rs"]
mod containers;
#[path = "../src/dispatcher/tests/mod.rs"]
mod dispatcher;
#[path = "../src/entitlements/tests/mod.rs"]
mod entitlements;
#[path = "../src/gateways/tests/mod.rs"]
mod gateways;
#[path = "../src/governance/tests/mod.rs"]
mod governance;
#[path = "../src/names/tests/mod.rs"]
mod names;
#[path = "../src/runners/tests/mod.rs"]
mod runners;
#[path = "../src/secrets/tests/mod.rs"]
mod secrets;
#[path = "../src/staking/tests/mod.rs"]
mod staking;
#[path = "../src/storage/tests.rs"]
mod storage;
#[path = "../src/tee/tests.rs"]
mod tee;
#[path = "../src/tokens/tests.rs"]
mod tokens;
#[path = "../src/treasury/tests.rs"]
mod treasury;
#[path = "../src/verifier/tests/mod.rs"]
mod verifier;
#[path = "../src/volumes/tests/mod.rs"]
mod volumes;

cowboy_testkit::suite! {
    "core/system/tests":
    containers,
    dispatcher::adversaries,
    dispatcher::costs,
    dispatcher::path,
    dispatcher::provides,
    dispatcher::queue,
    dispatcher::refused,
    dispatcher::selection,
    dispatcher::submission,
    dispatcher::waiting,
    entitlements,
    entitlements::burdens,
    entitlements::open_permissions,
    entitlements::permissions,
    gateways,
    gateways::web,
    governance,
    governance::government,
    governance::upgrades,
    names,
    runners::delegation,
    runners::registry,
    secrets,
    secrets::dealing,
    secrets::jobs,
    secrets::releases,
    staking,
    staking::signers,
    storage,
    tee,
    tokens,
    treasury,
    verifier::disputes,
    verifier::modes,
    verifier::review,
    volumes,
    volumes::adversaries,
    volumes::contents,
    volumes::keys,
    volumes::money,
    volumes::of_actors,
    volumes::proofs,
}
