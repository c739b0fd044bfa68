//! Where the TEE Verifier keeps what it knows.

use super::NUMBER;
use super::types::{Attestation, Program, Roots};
use cowboy_state::{Key, Kind, Miss, World};
use cowboy_types::environment::Environment;
use cowboy_types::units::Height;
use cowboy_types::{Address, Hash, keccak256};

const OWNER: Address = Address::system(NUMBER);

fn named(prefix: &[u8], rest: &[u8]) -> Key {
    Key::named(Kind::System, OWNER, [prefix, rest].concat())
}

/// A program's name: keccak256(the environment's name ‖ ":" ‖ its measurement).
pub fn policy_id(environment: &Environment, measurement: &[u8]) -> Hash {
    keccak256(&[environment.slug().as_bytes(), b":", measurement])
}

/// What governance thinks of a program.
pub fn policy_key(id: &Hash) -> Key {
    named(b"policy:", &id.0)
}

/// The roots of an environment, where governance named any.
pub fn roots_key(environment: &Environment) -> Key {
    named(b"roots:", environment.slug().as_bytes())
}

/// What a runner proved.
pub fn attestation_key(runner: Address) -> Key {
    named(b"attestation:", &runner.0)
}

/// What governance thinks of a program, where it thinks anything.
pub fn policy(world: &World, environment: &Environment, measurement: &[u8]) -> Result<Option<Program>, Miss> {
    world.read(&policy_key(&policy_id(environment, measurement)))
}

/// The roots of an environment: those that governance named, else the manufacturer's.
pub fn roots(world: &World, environment: &Environment) -> Result<Vec<Vec<u8>>, Miss> {
    let named = world.read::<Roots>(&roots_key(environment))?;
    Ok(match named {
        Some(roots) => roots.certificates.iter().map(|certificate| certificate.to_vec()).collect(),
        None => super::documents::manufacturers_roots(environment),
    })
}

/// What a runner proved, where it did.
pub fn attestation(world: &World, runner: Address) -> Result<Option<Attestation>, Miss> {
    world.read(&attestation_key(runner))
}

/// What a runner proved, and the program that it proved, where both count at a height: the proof has not lapsed, and governance still accepts the program. A
/// program that is taken out ends all proofs of it at once (decision 779).
pub fn current(world: &World, height: Height, runner: Address) -> Result<Option<(Attestation, Program)>, Miss> {
    let Some(proven) = attestation(world, runner)?.filter(|proven| proven.valid_until >= height) else { return Ok(None) };
    let program = policy(world, &proven.environment, &proven.measurement)?.filter(|program| program.is_accepted);
    Ok(program.map(|program| (proven, program)))
}
