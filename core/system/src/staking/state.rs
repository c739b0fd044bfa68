//! Where the records of validators stand. No other file spells their keys.

use super::types::{Attestations, MAX_PLAYERS, Member, StakeTotal, Status, Validator, ValidatorSet};
use crate::governance::NUMBER;
use crate::treasury::vesting::bucket_address;
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::units::{Amount, Count};
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, List};

fn of(prefix: &str, rest: &[u8]) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [prefix.as_bytes(), rest].concat())
}

/// The address that holds all stakes. Nobody has its key.
pub fn stakes() -> Address {
    bucket_address("stakes")
}

/// The address that holds the rewards of the running epoch. Nobody has its key.
pub fn rewards() -> Address {
    bucket_address("rewards")
}

/// A validator by its address.
pub fn validator_key(address: Address) -> Key {
    of("validator:", &address.0)
}

/// Who has a network key.
pub fn network_key(key: &Fixed<32>) -> Key {
    of("validator_key:", &key.0)
}

/// The set that was fixed at the beginning of an epoch.
pub fn set_key(epoch: u64) -> Key {
    of("validator_set:", &epoch.to_be_bytes())
}

/// Who is dealt shares of the group key in an epoch of the engine.
pub fn players_key(epoch: u64) -> Key {
    of("validator_players:", &epoch.to_be_bytes())
}

/// The height at which the players of an epoch are fixed, where an epoch has `length` blocks: two epochs before, in the last block
/// before the middle. `None` for the first two epochs, whose players are those of genesis.
pub fn players_fixed_at(length: u64, epoch: u64) -> Option<u64> {
    epoch.checked_sub(2)?.checked_mul(length)?.checked_add((length / 2).checked_sub(1)?)
}

/// The newest set in two numbers.
pub fn total_key() -> Key {
    Key::system(NUMBER, "system:stake_total")
}

/// Who attested a fault: whose, which kind, in which round.
pub fn fault_key(accused: Address, kind: u8, epoch: u64, view: u64) -> Key {
    of("fault:", &[&accused.0[..], &[kind], &epoch.to_be_bytes(), &view.to_be_bytes()].concat())
}

/// A validator, where one is registered at the address.
pub fn validator(world: &World, address: Address) -> Result<Option<Validator>, Miss> {
    world.read(&validator_key(address))
}

/// Changes a validator.
pub fn set_validator(world: &mut World, address: Address, record: &Validator) {
    world.write(validator_key(address), record);
}

/// Enters a new validator.
pub fn add(world: &mut World, address: Address, record: &Validator) -> Result<(), Miss> {
    Directory::validators().insert(world, &address.0)?;
    world.put(network_key(&record.network_key), Some(address.0.to_vec().into()));
    set_validator(world, address, record);
    Ok(())
}

/// Takes a validator out.
pub fn remove(world: &mut World, address: Address, record: &Validator) -> Result<(), Miss> {
    world.require([&network_key(&record.network_key)])?;
    Directory::validators().remove(world, &address.0)?;
    world.remove(network_key(&record.network_key));
    world.remove(validator_key(address));
    Ok(())
}

/// Every validator, ascending by address.
pub fn all(world: &World) -> Result<Vec<(Address, Validator)>, Miss> {
    let names = Directory::validators().list(world, &[], usize::MAX)?;
    let addresses: Vec<Address> = names.iter().map(|name| Address(name[..].try_into().expect("the directory lists addresses"))).collect();
    let keys: Vec<Key> = addresses.iter().map(|address| validator_key(*address)).collect();
    world.require(&keys)?;
    let mut found = Vec::with_capacity(addresses.len());
    for address in addresses {
        found.push((address, validator(world, address)?.expect("a listed validator has a record")));
    }
    Ok(found)
}

/// The set that was fixed at the beginning of an epoch.
pub fn set(world: &World, epoch: u64) -> Result<Option<ValidatorSet>, Miss> {
    world.read(&set_key(epoch))
}

/// The newest set in two numbers.
pub fn total(world: &World) -> Result<Option<StakeTotal>, Miss> {
    world.read(&total_key())
}

/// Fixes the set of an epoch: every active validator, ascending by network key.
pub fn fix(world: &mut World, epoch: u64, validators: &[(Address, Validator)]) {
    let mut members: Vec<Member> = validators
        .iter()
        .filter(|(_, validator)| validator.status == Status::Active)
        .map(|(address, validator)| member(*address, validator))
        .collect();
    members.sort_by_key(|member| member.network_key.0);
    let stake = members.iter().fold(Amount::ZERO, |sum, member| sum.saturating_add(member.stake));
    let count = Count(u64::try_from(members.len()).expect("validators are few"));
    world.write(total_key(), &StakeTotal { epoch: Count(epoch), members: count, stake });
    let members = List::new(members).expect("stakes bound how many validators there are");
    world.write(set_key(epoch), &ValidatorSet { epoch: Count(epoch), members });
}

/// Fixes the players of an epoch: whoever is active or waits to be, the highest stakes where they are more than can sign.
/// Writes nothing where there is nobody.
pub fn fix_players(world: &mut World, epoch: u64, validators: &[(Address, Validator)]) {
    let stays = |validator: &Validator| matches!(validator.status, Status::Active | Status::Waiting);
    let mut members: Vec<Member> =
        validators.iter().filter(|(_, validator)| stays(validator)).map(|(address, validator)| member(*address, validator)).collect();
    if members.is_empty() {
        return;
    }
    members.sort_by_key(|member| (std::cmp::Reverse(member.stake), member.network_key.0));
    members.truncate(MAX_PLAYERS);
    members.sort_by_key(|member| member.network_key.0);
    let members = List::new(members).expect("they were cut to fewer");
    world.write(players_key(epoch), &ValidatorSet { epoch: Count(epoch), members });
}

fn member(address: Address, validator: &Validator) -> Member {
    Member {
        address,
        signing_key: validator.signing_key,
        network_key: validator.network_key,
        vrf_key: validator.vrf_key,
        endpoint: validator.endpoint,
        stake: validator.stake,
    }
}

/// Takes a validator out of the newest set at once: it earns, votes and attests no more.
pub fn drop_member(world: &mut World, address: Address) -> Result<(), Miss> {
    let Some(mut total) = self::total(world)? else { return Ok(()) };
    let Some(mut set) = self::set(world, total.epoch.0)? else { return Ok(()) };
    let mut members = set.members.into_vec();
    let Some(place) = members.iter().position(|member| member.address == address) else { return Ok(()) };
    let gone = members.remove(place);
    total.members = Count(total.members.0.saturating_sub(1));
    total.stake = total.stake.saturating_sub(gone.stake);
    set.members = List::new(members).expect("fewer members than before fit");
    world.write(set_key(total.epoch.0), &set);
    world.write(total_key(), &total);
    Ok(())
}

/// Who attested a fault so far.
pub fn attestations(world: &World, key: &Key) -> Result<Attestations, Miss> {
    Ok(world.read(key)?.unwrap_or(Attestations { witnesses: List::default(), is_done: false }))
}
