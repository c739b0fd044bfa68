//! Where the records of 0x04 stand. No other file spells their keys.

use super::NUMBER;
use super::types::{Committee, Proxy, Release, ReleaseKey, Round, Secret, Vault, Version};
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_secrets::dealing::Phase;
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::units::{Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};
use std::ops::RangeInclusive;

/// The number of the first key.
pub(super) const FIRST_KEY: u32 = 1;

const OWNER: Address = Address::system(NUMBER);

fn of(prefix: &str, rest: &[&[u8]]) -> Key {
    Key::named(Kind::System, OWNER, [prefix.as_bytes(), &rest.concat()].concat())
}

/// Every proxy, by its address.
pub const fn proxies() -> Directory {
    Directory::of_system(OWNER, 32)
}

/// What 0x04 looks at by itself: the kind of the [`Subject`], the height, and the subject. Keys stand before releases, so that no number of
/// releases delays a dealing.
pub const fn agenda() -> Directory {
    Directory::of_system(OWNER, 33)
}

/// The hashes of the names of an account's secrets.
pub const fn secrets_of(account: Address) -> Directory {
    Directory::of_system(account, 40)
}

/// What 0x04 looks at by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A key: its committee and its dealings.
    Key(u32),
    /// A release.
    Release(Hash),
}

/// What the name of an entry of the agenda begins with.
const KEYS: u8 = 0;
const RELEASES: u8 = 1;

impl Subject {
    fn name(self, height: Height) -> Vec<u8> {
        let (kind, id) = match self {
            Self::Key(id) => (KEYS, id.to_be_bytes().to_vec()),
            Self::Release(id) => (RELEASES, id.0.to_vec()),
        };
        [&[kind][..], &height.0.to_be_bytes(), &id].concat()
    }

    /// An entry of the agenda: its height and its subject.
    pub fn of_name(name: &[u8]) -> Option<(Height, Self)> {
        let (kind, rest) = name.split_first()?;
        let (height, id) = rest.split_first_chunk()?;
        let subject = match *kind {
            KEYS => Self::Key(u32::from_be_bytes(id.try_into().ok()?)),
            _ => Self::Release(Hash(id.try_into().ok()?)),
        };
        Some((Height(u64::from_be_bytes(*height)), subject))
    }
}

/// The first entry of a kind.
fn first_of(world: &World, kind: u8) -> Result<Option<(Height, Subject)>, Miss> {
    let first = agenda().list(world, &[kind], 1)?;
    let first = first.first().filter(|name| name.first() == Some(&kind));
    Ok(first.map(|name| Subject::of_name(name).expect("the agenda lists what this code wrote")))
}

/// The entry of the agenda with the lowest height.
pub fn first_due(world: &World) -> Result<Option<(Height, Subject)>, Miss> {
    let entries = [first_of(world, KEYS)?, first_of(world, RELEASES)?];
    Ok(entries.into_iter().flatten().min_by_key(|(height, _)| *height))
}

/// What is looked at next at a height: keys that are due, then releases.
pub fn next_due(world: &World, height: Height) -> Result<Option<Subject>, Miss> {
    for kind in [KEYS, RELEASES] {
        if let Some((due, subject)) = first_of(world, kind)?
            && due <= height
        {
            return Ok(Some(subject));
        }
    }
    Ok(None)
}

/// Moves a subject's entry from one height to another.
pub fn reschedule(world: &mut World, subject: Subject, from: Option<Height>, to: Option<Height>) -> Result<(), Miss> {
    if let Some(from) = from {
        agenda().remove(world, &subject.name(from))?;
    }
    if let Some(to) = to {
        agenda().insert(world, &subject.name(to))?;
    }
    Ok(())
}

/// A proxy by its address.
pub fn proxy_key(address: Address) -> Key {
    of("proxy:", &[&address.0])
}

/// Whose an Ed25519 key is.
pub fn signer_key(key: &Fixed<32>) -> Key {
    of("signer:", &[&key.0])
}

/// The number of the key that new secrets are sealed to.
pub fn current_key() -> Key {
    of("current", &[])
}

/// A key by its number.
pub fn release_key(id: u32) -> Key {
    of("key:", &[&id.to_be_bytes()])
}

/// The committee of an epoch of a key.
pub fn committee_key(id: u32, epoch: Count) -> Key {
    of("committee:", &[&id.to_be_bytes(), &epoch.0.to_be_bytes()])
}

/// The dealing of a key that is under way.
pub fn round_key(id: u32) -> Key {
    of("round:", &[&id.to_be_bytes()])
}

/// A message of a dealing, by its phase and the place of who spoke.
pub fn message_key(id: u32, phase: Phase, place: usize) -> Key {
    let place = u16::try_from(place).expect("a committee has few places");
    of("message:", &[&id.to_be_bytes(), phase.encode().as_ref(), &place.to_be_bytes()])
}

/// The key of a message whose name has this after its prefix.
pub(super) fn message_named(rest: &[u8]) -> Key {
    of("message:", &[rest])
}

/// What an account keeps.
pub fn vault_key(account: Address) -> Key {
    of("vault:", &[&account.0])
}

/// A secret by its account and the hash of its name.
pub fn secret_key(account: Address, name: &Hash) -> Key {
    of("secret:", &[&account.0, &name.0])
}

/// A version of a secret.
pub fn version_key(account: Address, name: &Hash, version: Count) -> Key {
    of("version:", &[&account.0, &name.0, &version.0.to_be_bytes()])
}

/// The sealed bytes of a version.
pub fn sealed_key(account: Address, name: &Hash, version: Count) -> Key {
    of("sealed:", &[&account.0, &name.0, &version.0.to_be_bytes()])
}

/// A release by its id.
pub fn release_record_key(id: &Hash) -> Key {
    of("release:", &[&id.0])
}

/// To how many runners of a job a version of a secret was released.
pub fn given_key(job: &Hash, account: Address, name: &Hash, version: Count) -> Key {
    of("given:", &[&job.0, &account.0, &name.0, &version.0.to_be_bytes()])
}

/// Whether an actor was ever handed on.
pub fn handed_key(actor: Address) -> Key {
    of("handed:", &[&actor.0])
}

/// Notes for good that an actor is handed on: also where it comes back, somebody else may have written its storage (decision 735).
pub fn note_handed_on(world: &mut World, actor: Address) -> Result<(), Miss> {
    if !was_handed_on(world, actor)? {
        world.write(handed_key(actor), &true);
    }
    Ok(())
}

/// Whether an actor was ever handed on to another account (decision 735).
pub fn was_handed_on(world: &World, actor: Address) -> Result<bool, Miss> {
    Ok(world.read(&handed_key(actor))?.unwrap_or(false))
}

/// A proxy, where one is registered at the address.
pub fn proxy(world: &World, address: Address) -> Result<Option<Proxy>, Miss> {
    world.read(&proxy_key(address))
}

/// Changes a proxy.
pub fn set_proxy(world: &mut World, address: Address, record: &Proxy) {
    world.write(proxy_key(address), record);
}

/// Every proxy, ascending by address.
pub fn all_proxies(world: &World) -> Result<Vec<(Address, Proxy)>, Miss> {
    let names = proxies().list(world, &[], usize::MAX)?;
    let addresses: Vec<Address> = names.iter().map(|name| Address(name[..].try_into().expect("the directory lists addresses"))).collect();
    world.require(&addresses.iter().map(|address| proxy_key(*address)).collect::<Vec<_>>())?;
    let record = |address: Address| Ok((address, proxy(world, address)?.expect("a listed proxy has a record")));
    addresses.into_iter().map(record).collect()
}

/// The number of the key that new secrets are sealed to; none before the first proxies came.
pub fn current(world: &World) -> Result<Option<u32>, Miss> {
    world.read(&current_key())
}

/// The numbers of all keys that were begun. `newest` is what [`current_key`] names. Any of them may have committees and a dealing: one that another
/// replaced opens what is sealed to it until its sunset, and as long as volumes have their keys from it.
pub fn key_ids(newest: Option<u32>) -> RangeInclusive<u32> {
    FIRST_KEY..=newest.unwrap_or(0)
}

/// A key.
pub fn key(world: &World, id: u32) -> Result<Option<ReleaseKey>, Miss> {
    world.read(&release_key(id))
}

/// Changes a key, and its place in the agenda.
pub fn set_key(world: &mut World, id: u32, before: Option<Height>, record: &ReleaseKey) -> Result<(), Miss> {
    reschedule(world, Subject::Key(id), before, Some(record.next_look))?;
    world.write(release_key(id), record);
    Ok(())
}

/// The committee of an epoch of a key.
pub fn committee(world: &World, id: u32, epoch: Count) -> Result<Option<Committee>, Miss> {
    world.read(&committee_key(id, epoch))
}

/// The dealing of a key that is under way.
pub fn round(world: &World, id: u32) -> Result<Option<Round>, Miss> {
    world.read(&round_key(id))
}

/// What an account keeps.
pub fn vault(world: &World, account: Address) -> Result<Option<Vault>, Miss> {
    world.read(&vault_key(account))
}

/// A secret.
pub fn secret(world: &World, account: Address, name: &Hash) -> Result<Option<Secret>, Miss> {
    world.read(&secret_key(account, name))
}

/// A version of a secret.
pub fn version(world: &World, account: Address, name: &Hash, version: Count) -> Result<Option<Version>, Miss> {
    world.read(&version_key(account, name, version))
}

/// The sealed bytes of a version.
pub fn sealed(world: &World, account: Address, name: &Hash, version: Count) -> Result<Option<Bytes>, Miss> {
    Ok(world.get(&sealed_key(account, name, version))?.cloned())
}

/// A release.
pub fn release(world: &World, id: &Hash) -> Result<Option<Release>, Miss> {
    world.read(&release_record_key(id))
}

/// Changes a release, and its place in the agenda.
pub fn set_release(world: &mut World, id: &Hash, before: Option<Height>, record: &Release) -> Result<(), Miss> {
    reschedule(world, Subject::Release(*id), before, Some(record.next_look))?;
    world.write(release_record_key(id), record);
    Ok(())
}
