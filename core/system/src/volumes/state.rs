//! Where the records of volumes and relays stand. No other file spells their keys.

use super::types::{Capability, Demand, Partition, Relay, Round, Volume};
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::units::{Amount, Count, Height};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, actors};

const VOLUMES: Address = Address::system(actors::STORAGE);
const RELAYS: Address = Address::system(actors::RELAYS);

fn of(owner: Address, prefix: &str, rest: &[&[u8]]) -> Key {
    Key::named(Kind::System, owner, [prefix.as_bytes(), &rest.concat()].concat())
}

/// Every relay, by its address.
pub const fn relays() -> Directory {
    Directory::of_system(RELAYS, 32)
}

/// What the protocol looks at by itself: the height, and the [`Subject`].
pub const fn agenda() -> Directory {
    Directory::of_system(RELAYS, 33)
}

/// The ids of an account's volumes.
pub const fn volumes_of(account: Address) -> Directory {
    Directory::of_system(account, 41)
}

/// The capabilities for volumes: the volume, then the capability.
pub const fn capabilities() -> Directory {
    Directory::of_system(VOLUMES, 34)
}

/// What the protocol looks at by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Subject {
    /// A volume: its money, its slots, its end.
    Volume(Hash),
    /// A relay: whether it is up, its proofs.
    Relay(Address),
    /// A demand whose time is over.
    Demand(Hash),
    /// A capability of a job whose time is over.
    Mount(Fixed<16>),
}

impl Subject {
    fn name(self, height: Height) -> Vec<u8> {
        let subject = match &self {
            Self::Volume(id) => [&[0][..], &id.0].concat(),
            Self::Relay(address) => [&[1][..], &address.0].concat(),
            Self::Demand(id) => [&[2][..], &id.0].concat(),
            Self::Mount(id) => [&[3][..], &id.0].concat(),
        };
        [&height.0.to_be_bytes()[..], &subject].concat()
    }

    /// An entry of the agenda: its height and its subject.
    pub fn of_name(name: &[u8]) -> Option<(Height, Self)> {
        let (height, rest) = name.split_first_chunk()?;
        let (kind, id) = rest.split_first()?;
        let subject = match kind {
            0 => Self::Volume(Hash(id.try_into().ok()?)),
            1 => Self::Relay(Address(id.try_into().ok()?)),
            2 => Self::Demand(Hash(id.try_into().ok()?)),
            _ => Self::Mount(Fixed(id.try_into().ok()?)),
        };
        Some((Height(u64::from_be_bytes(*height)), subject))
    }
}

/// The first entry of the agenda.
pub fn first_due(world: &World) -> Result<Option<(Height, Subject)>, Miss> {
    let first = agenda().list(world, &[], 1)?;
    Ok(first.first().map(|name| Subject::of_name(name).expect("the agenda lists what this code wrote")))
}

/// Moves a subject's entry from one height to another.
pub fn reschedule(world: &mut World, subject: Subject, from: Option<Height>, to: Option<Height>) -> Result<(), Miss> {
    if from == to {
        return Ok(());
    }
    if let Some(from) = from {
        agenda().remove(world, &subject.name(from))?;
    }
    if let Some(to) = to {
        agenda().insert(world, &subject.name(to))?;
    }
    Ok(())
}

/// A volume by its id.
pub fn volume_key(id: &Hash) -> Key {
    of(VOLUMES, "volume:", &[&id.0])
}

/// How often a volume of an id was created or handed over. It stays when the volume is removed.
pub fn generation_key(id: &Hash) -> Key {
    of(VOLUMES, "generation:", &[&id.0])
}

/// Begins the next generation of the volumes of an id, because one is created or handed over. Answers its number, 1 for the first one.
pub fn begin_generation(world: &mut World, id: &Hash) -> Result<Count, Miss> {
    let before: Count = world.read(&generation_key(id))?.unwrap_or(Count::ZERO);
    let generation = Count(before.0.saturating_add(1));
    world.write(generation_key(id), &generation);
    Ok(generation)
}

/// A partition of a volume.
pub fn partition_key(volume: &Hash, partition: &Hash) -> Key {
    of(VOLUMES, "partition:", &[&volume.0, &partition.0])
}

/// A capability by its id.
pub fn capability_key(id: &Fixed<16>) -> Key {
    of(VOLUMES, "capability:", &[&id.0])
}

/// A relay by its address.
pub fn relay_key(address: Address) -> Key {
    of(RELAYS, "relay:", &[&address.0])
}

/// Whose an Ed25519 key is.
pub fn signer_key(key: &Fixed<32>) -> Key {
    of(RELAYS, "signer:", &[&key.0])
}

/// A page of a relay's directory: its level, 0 at the bottom, and its number.
pub fn page_key(relay: Address, level: u8, page: u64) -> Key {
    of(RELAYS, "page:", &[&relay.0, &[level], &page.to_be_bytes()])
}

/// The round of proofs of a relay that is under way.
pub fn round_key(relay: Address) -> Key {
    of(RELAYS, "round:", &[&relay.0])
}

/// A demand by its id.
pub fn demand_key(id: &Hash) -> Key {
    of(RELAYS, "demand:", &[&id.0])
}

/// Two acknowledgements of a relay that were shown to contradict each other.
pub fn shown_key(relay: Address, message: &Hash) -> Key {
    of(RELAYS, "shown:", &[&relay.0, &message.0])
}

/// What bounties are paid from.
pub fn pool_key() -> Key {
    of(RELAYS, "pool", &[])
}

/// A volume.
pub fn volume(world: &World, id: &Hash) -> Result<Option<Volume>, Miss> {
    world.read(&volume_key(id))
}

/// Changes a volume, and its place in the agenda.
pub fn set_volume(world: &mut World, id: &Hash, before: Option<Height>, record: &Volume) -> Result<(), Miss> {
    reschedule(world, Subject::Volume(*id), before, Some(record.next_look))?;
    world.write(volume_key(id), record);
    Ok(())
}

/// A partition.
pub fn partition(world: &World, volume: &Hash, partition: &Hash) -> Result<Option<Partition>, Miss> {
    world.read(&partition_key(volume, partition))
}

/// A capability.
pub fn capability(world: &World, id: &Fixed<16>) -> Result<Option<Capability>, Miss> {
    world.read(&capability_key(id))
}

/// The name of a capability in the directory.
pub fn listed_capability(volume: &Hash, id: &Fixed<16>) -> Vec<u8> {
    [&volume.0[..], &id.0].concat()
}

/// The ids of a volume's capabilities, at most `limit`.
pub fn capabilities_of(world: &World, volume: &Hash, limit: usize) -> Result<Vec<Fixed<16>>, Miss> {
    let names = capabilities().list(world, &volume.0, limit)?;
    Ok(names.iter().filter_map(|name| name.strip_prefix(&volume.0[..])?.try_into().ok().map(Fixed)).collect())
}

/// A relay, where one is registered at the address.
pub fn relay(world: &World, address: Address) -> Result<Option<Relay>, Miss> {
    world.read(&relay_key(address))
}

/// Changes a relay, and its place in the agenda.
pub fn set_relay(world: &mut World, address: Address, before: Option<Height>, record: &Relay) -> Result<(), Miss> {
    reschedule(world, Subject::Relay(address), before, Some(record.next_look))?;
    world.write(relay_key(address), record);
    Ok(())
}

/// Every relay, ascending by address.
pub fn all_relays(world: &World) -> Result<Vec<(Address, Relay)>, Miss> {
    let names = relays().list(world, &[], usize::MAX)?;
    let addresses: Vec<Address> = names.iter().map(|name| Address(name[..].try_into().expect("the directory lists addresses"))).collect();
    world.require(&addresses.iter().map(|address| relay_key(*address)).collect::<Vec<_>>())?;
    let record = |address: Address| Ok((address, relay(world, address)?.expect("a listed relay has a record")));
    addresses.into_iter().map(record).collect()
}

/// The round of proofs of a relay that is under way.
pub fn round(world: &World, relay: Address) -> Result<Option<Round>, Miss> {
    world.read(&round_key(relay))
}

/// A demand.
pub fn demand(world: &World, id: &Hash) -> Result<Option<Demand>, Miss> {
    world.read(&demand_key(id))
}

/// What bounties are paid from.
pub fn pool(world: &World) -> Result<Amount, Miss> {
    Ok(world.read(&pool_key())?.unwrap_or(Amount::ZERO))
}

/// Takes CBY that a system actor holds for others out of its balance.
pub fn take(world: &mut World, keeper: u8, amount: Amount) -> Result<(), Miss> {
    assert!(world.debit(Address::system(keeper), amount)?, "0x0A has every escrow, and 0x0B stakes, bonds and the pool");
    Ok(())
}
