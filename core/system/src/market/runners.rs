//! The records of runners and models, which the Runner Registry (0x01) keeps.

use cowboy_state::{Directory, Key, Kind, Miss, Step, World};
pub use cowboy_types::actors::RUNNERS as NUMBER;
use cowboy_types::job::{Model, Profile, Runner};
use cowboy_types::{Address, Hash, error};

const OWNER: Address = Address::system(NUMBER);

fn named(prefix: &[u8], rest: &[u8]) -> Key {
    Key::named(Kind::System, OWNER, [prefix, rest].concat())
}

/// A runner's record.
pub fn runner_key(runner: Address) -> Key {
    named(b"runner:", &runner.0)
}

/// A runner's profile.
pub fn profile_key(runner: Address) -> Key {
    named(b"profile:", &runner.0)
}

/// A model's record.
pub fn model_key(model: &Hash) -> Key {
    named(b"model:", &model.0)
}

/// Every runner, by address.
pub const fn directory() -> Directory {
    Directory::of_system(OWNER, 32)
}

/// Every model, by id.
pub const fn models() -> Directory {
    Directory::of_system(OWNER, 33)
}

/// The jobs that a runner has under way, by id.
pub const fn jobs_of(runner: Address) -> Directory {
    Directory::of_system(runner, 34)
}

/// A runner, where the address is one.
pub fn find(world: &World, runner: Address) -> Result<Option<Runner>, Miss> {
    world.read(&runner_key(runner))
}

/// A runner; fails where the address is none.
pub fn read(world: &World, runner: Address) -> Step<Runner> {
    Ok(find(world, runner)?.ok_or(error::RUNNER_NOT_FOUND)?)
}

/// Keeps a runner.
pub fn write(world: &mut World, runner: Address, record: &Runner) {
    world.write(runner_key(runner), record);
}

/// What a runner says of itself.
pub fn profile(world: &World, runner: Address) -> Result<Profile, Miss> {
    Ok(world.read(&profile_key(runner))?.expect("every runner has a profile"))
}

/// The addresses of all runners, ascending. At most as many as the parameter allows.
pub fn addresses(world: &World) -> Result<Vec<Address>, Miss> {
    let names = directory().list(world, &[], usize::MAX)?;
    Ok(names.iter().map(|name| Address(name[..].try_into().expect("the directory holds addresses"))).collect())
}

/// Whether a runner has its place in the registry: one that gave way to another has a record until it took its stake.
pub fn is_listed(world: &World, runner: Address) -> Result<bool, Miss> {
    Ok(directory().list(world, &runner.0, 1)?.first().is_some_and(|name| name[..] == runner.0))
}

/// Every runner that has its place, ascending by address.
pub fn all(world: &World) -> Result<Vec<(Address, Runner)>, Miss> {
    let addresses = addresses(world)?;
    let keys: Vec<Key> = addresses.iter().map(|address| runner_key(*address)).collect();
    world.require(&keys)?;
    addresses.into_iter().map(|address| Ok((address, find(world, address)?.expect("a listed runner is there")))).collect()
}

/// A published model.
pub fn model(world: &World, id: &Hash) -> Step<Model> {
    Ok(world.read(&model_key(id))?.ok_or(error::MODEL_NOT_FOUND)?)
}
