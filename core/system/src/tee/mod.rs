//! 0x05, TEE Verifier: which roots and which programs are trusted, and which runners proved that they run one (003 §5.5, §9).
//!
//! A runner proves its environment once in a while: it submits a document that the hardware signed, in which stands a key that only
//! the measured program has. That key then signs what the program says of each result. So a result costs one signature's check, and
//! the certificates of a manufacturer are walked once a day, not once a result.
//!
//! Invariants: an attestation stands only for a registered runner, an environment that is known, and a key that its document names.
//!
//! - [`documents`]: the manufacturers' formats, as pure functions of bytes and the block's time.
//! - [`statement`]: what a program says of a result.

pub(crate) mod api;
pub mod documents;
pub mod handlers;
pub mod invariants;
pub mod state;
pub mod statement;
pub mod types;

use crate::actor::Actor;
use cowboy_state::{Key, Miss, World};
use cowboy_types::Address;
use cowboy_types::environment::Environment;
use cowboy_types::job::Runner;
use cowboy_types::units::Height;

/// The actor's number.
pub const NUMBER: u8 = cowboy_types::actors::TEE;

/// The bit of the environment that proves nothing, for chains for development alone.
pub const DEV_BIT: u8 = 128;

/// Its name.
pub const DEV_NAME: &str = "dev";

/// The actor.
pub const ACTOR: Actor = Actor {
    number: NUMBER,
    name: "TEE Verifier",
    doc: "Remote attestation: trusted roots, accepted programs, what runners proved.",
    tables: &[api::METHODS],
    events: &[api::EVENTS],
    proposed: None,
};

/// Whether a runner may be drawn where an environment is required, of this name if it is not empty: it proved one that is still accepted;
/// on chains for development it is enough to say that it has the one that proves nothing.
pub fn is_attested(world: &World, is_dev: bool, height: Height, address: Address, runner: &Runner, name: &str) -> Result<bool, Miss> {
    let is_wanted = |environment: &str| name.is_empty() || name == environment;
    if is_dev && runner.tee & DEV_BIT != 0 && is_wanted(DEV_NAME) {
        return Ok(true);
    }
    let Some((attestation, _)) = state::current(world, height, address)? else { return Ok(false) };
    Ok(runner.tee & attestation.environment.bit() != 0 && is_wanted(attestation.environment.slug()))
}

/// Asks for all that [`is_attested`] reads of these runners, in two rounds instead of one for each program.
pub fn require(world: &World, runners: &[Address]) -> Result<(), Miss> {
    let proofs: Vec<Key> = runners.iter().map(|runner| state::attestation_key(*runner)).collect();
    world.require(&proofs)?;
    let mut programs = Vec::new();
    for runner in runners {
        if let Some(attestation) = state::attestation(world, *runner)? {
            programs.push(state::policy_key(&state::policy_id(&attestation.environment, &attestation.measurement)));
        }
    }
    world.require(&programs)
}

/// The environment of a name.
pub fn environment(name: &str) -> Option<Environment> {
    Environment::ALL.into_iter().find(|environment| environment.slug() == name)
}
