//! What holds between the records of the system actors after every block: each actor's `invariants.rs`.

use crate::records::{Broken, Records};
use crate::{
    basefee, containers, dispatcher, entitlements, gateways, governance, names, runners, secrets, staking, storage, tee, tokens, treasury,
    verifier, volumes,
};

/// The check of every actor's folder.
pub const CHECKS: &[fn(&Records<'_>) -> Result<(), Broken>] = &[
    runners::invariants::check,
    dispatcher::invariants::check,
    verifier::invariants::check,
    secrets::invariants::check,
    tee::invariants::check,
    basefee::invariants::check,
    tokens::invariants::check,
    entitlements::invariants::check,
    treasury::invariants::check,
    governance::invariants::check,
    staking::invariants::check,
    storage::invariants::check,
    volumes::invariants::check,
    names::invariants::check,
    gateways::invariants::check,
    containers::invariants::check,
];

/// Checks the records of all system actors. Fails with the first rule that does not hold.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    CHECKS.iter().try_for_each(|check| check(records))
}
