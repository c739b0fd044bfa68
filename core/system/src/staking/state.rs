//! Where the records of validators stand. No other file spells their keys.

use super::types::{Attestations, Dealing, Due, Fault, MAX_PLAYERS, Member, Punishment, StakeTotal, Status, Validator, ValidatorSet};
use crate::treasury::vesting::bucket_address;
use cowboy_params::Params;
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::actors::GOVERNANCE as NUMBER;
use cowboy_types::units::{Amount, Count, Height};
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

/// Who signs in an epoch.
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

/// The last epoch in which a validator signs that gave notice before the epoch.
pub fn duty_key(address: Address) -> Key {
    of("validator_duty:", &address.0)
}

/// The newest punishment of a validator.
pub fn punishment_key(address: Address) -> Key {
    of("validator_punished:", &address.0)
}

/// How shares were dealt to those who sign in the running epoch.
pub fn dealing_key() -> Key {
    Key::system(NUMBER, "system:dealing")
}

/// Who signs in the running epoch, in two numbers.
pub fn total_key() -> Key {
    Key::system(NUMBER, "system:stake_total")
}

/// What the names of faults begin with.
pub(super) const FAULT: &str = "fault:";

/// Who attested a fault: whose, which kind, in which round. The record goes once nobody can show the fault any more ([`forget_faults`]).
pub fn fault_key(accused: Address, kind: u8, epoch: u64, view: u64) -> Key {
    of(FAULT, &[&accused.0[..], &[kind], &epoch.to_be_bytes(), &view.to_be_bytes()].concat())
}

/// Faults that were attested or proven, by the height from which their age counts and then by what their keys name.
pub const fn faults() -> Directory {
    Directory::of_system(Address::system(NUMBER), 32)
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
    world.require([&network_key(&record.network_key), &duty_key(address), &punishment_key(address)])?;
    Directory::validators().remove(world, &address.0)?;
    world.remove(network_key(&record.network_key));
    world.remove(duty_key(address));
    world.remove(punishment_key(address));
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

/// How many validators there are.
pub fn count(world: &World) -> Result<usize, Miss> {
    let count = Directory::validators().count(world)?;
    Ok(usize::try_from(count).unwrap_or(usize::MAX))
}

/// Whether the validator with this network key signs in the running epoch, or is dealt shares in it or in a later one.
pub fn has_duty(world: &World, key: &Fixed<32>) -> Result<bool, Miss> {
    let Some(running) = total(world)? else { return Ok(false) };
    let names = |set: Option<ValidatorSet>| set.is_some_and(|set| set.members.iter().any(|member| member.network_key == *key));
    let mut has_duty = names(set(world, running.epoch.0)?);
    for ahead in 0..=2 {
        has_duty |= names(players(world, running.epoch.0.saturating_add(ahead))?);
    }
    Ok(has_duty)
}

/// The last epoch in which a validator signs that gave notice before the epoch.
pub fn duty(world: &World, address: Address) -> Result<Option<Count>, Miss> {
    world.read(&duty_key(address))
}

/// The newest punishment of a validator.
pub fn punishment(world: &World, address: Address) -> Result<Option<Punishment>, Miss> {
    world.read(&punishment_key(address))
}

/// Changes the newest punishment of a validator.
pub fn set_punishment(world: &mut World, address: Address, record: &Punishment) {
    world.write(punishment_key(address), record);
}

/// Whether a validator is being punished: from the proof of a fault until it is let out of jail, or withdraws. Then it is in no set (decision 593).
pub fn is_punished(world: &World, address: Address, validator: &Validator) -> Result<bool, Miss> {
    Ok(match validator.status {
        Status::Jailed { .. } => true,
        Status::Leaving { .. } => punishment(world, address)?.is_some_and(|newest| newest.ended_at.is_none()),
        Status::Waiting | Status::Active => false,
    })
}

/// What a fault of a validator at a height still costs (decision 593). What it did until it was last let out of jail is punished, but for the stake that
/// such a fault costs where jail alone was the punishment: else a small fault would make large ones free.
pub fn due(world: &World, address: Address, validator: &Validator, height: Height, costs_stake: bool) -> Result<Due, Miss> {
    let newest = punishment(world, address)?;
    let is_before = |newest: &Punishment| newest.ended_at.is_some_and(|ended| height <= ended);
    let is_covered = is_punished(world, address, validator)? || newest.as_ref().is_some_and(is_before);
    Ok(match newest {
        _ if !is_covered => Due::All,
        Some(newest) if costs_stake && !newest.is_slashed => Due::Stake,
        _ => Due::Nothing,
    })
}

/// Who signs in an epoch: the newest few are kept.
pub fn set(world: &World, epoch: u64) -> Result<Option<ValidatorSet>, Miss> {
    world.read(&set_key(epoch))
}

/// How shares were dealt to those who sign in the running epoch. None on a chain that deals none.
pub fn dealing(world: &World) -> Result<Option<Dealing>, Miss> {
    world.read(&dealing_key())
}

/// Who is dealt shares in an epoch, once that is fixed.
pub fn players(world: &World, epoch: u64) -> Result<Option<ValidatorSet>, Miss> {
    world.read(&players_key(epoch))
}

/// Who signs in the running epoch, in two numbers.
pub fn total(world: &World) -> Result<Option<StakeTotal>, Miss> {
    world.read(&total_key())
}

/// Fixes who signs in an epoch: these, ascending by network key.
pub fn fix(world: &mut World, epoch: u64, members: Vec<Member>) {
    let stake = members.iter().fold(Amount::ZERO, |sum, member| sum.saturating_add(member.stake));
    let count = Count(u64::try_from(members.len()).expect("validators are few"));
    world.write(total_key(), &StakeTotal { epoch: Count(epoch), members: count, stake });
    let members = List::new(members).expect("stakes bound how many validators there are");
    world.write(set_key(epoch), &ValidatorSet { epoch: Count(epoch), members });
}

/// Fixes who is dealt shares in an epoch. Writes nothing where there is nobody.
pub fn fix_players(world: &mut World, epoch: u64, members: Vec<Member>) {
    if !members.is_empty() {
        let members = List::new(members).expect("no more than can sign");
        world.write(players_key(epoch), &ValidatorSet { epoch: Count(epoch), members });
    }
}

/// Everybody who is active or waits to be, the highest stakes first.
pub fn candidates(validators: &[(Address, Validator)]) -> Vec<Member> {
    let stays = |validator: &Validator| matches!(validator.status, Status::Active | Status::Waiting);
    let mut members: Vec<Member> =
        validators.iter().filter(|(_, validator)| stays(validator)).map(|(address, validator)| member(*address, validator)).collect();
    members.sort_by_key(|member| (std::cmp::Reverse(member.stake), member.network_key.0));
    members
}

/// The first of these candidates, ascending by network key: no more than `limit`, which is 0 for no other limit than that of a block.
pub fn cut(mut members: Vec<Member>, limit: u64) -> Vec<Member> {
    let limit = usize::try_from(limit).ok().filter(|limit| (1..MAX_PLAYERS).contains(limit));
    members.truncate(limit.unwrap_or(MAX_PLAYERS));
    members.sort_by_key(|member| member.network_key.0);
    members
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

/// Takes a validator whose fault was proven out of the running epoch's set at once: it earns, votes and attests no more. It goes out of the set of
/// the epoch before, too, whose faults are still attested, and [`is_punished`] keeps it out of those that follow.
pub fn drop_member(world: &mut World, address: Address) -> Result<(), Miss> {
    let Some(mut total) = self::total(world)? else { return Ok(()) };
    if let Some(before) = total.epoch.0.checked_sub(1) {
        take_member(world, before, address)?;
    }
    let Some(gone) = take_member(world, total.epoch.0, address)? else { return Ok(()) };
    total.members = Count(total.members.0.saturating_sub(1));
    total.stake = total.stake.saturating_sub(gone.stake);
    world.write(total_key(), &total);
    Ok(())
}

/// Takes a validator out of the set of an epoch. `None` where it is not in it.
fn take_member(world: &mut World, epoch: u64, address: Address) -> Result<Option<Member>, Miss> {
    let Some(mut set) = self::set(world, epoch)? else { return Ok(None) };
    let mut members = set.members.into_vec();
    let Some(place) = members.iter().position(|member| member.address == address) else { return Ok(None) };
    let gone = members.remove(place);
    set.members = List::new(members).expect("fewer members than before fit");
    world.write(set_key(epoch), &set);
    Ok(Some(gone))
}

/// Keeps who attested a fault, or that it was punished. A new record is listed by the height from which the fault's age counts.
pub fn keep_fault(world: &mut World, key: Key, height: Height, record: &Attestations) -> Result<(), Miss> {
    if world.get(&key)?.is_none() {
        let name = key.name.strip_prefix(FAULT.as_bytes()).expect("the key of a fault");
        faults().insert(world, &[&height.0.to_be_bytes()[..], name].concat())?;
    }
    world.write(key, record);
    Ok(())
}

/// Forgets the oldest faults that nobody can show any more, at most two: headers of them are older than evidence may be; rounds of their epoch are attested in
/// it and in the next one only. Whoever writes one such record removes more than one, so that they do not add up (decision 751).
pub fn forget_faults(world: &mut World, params: &Params, height: Height, epoch: u64) -> Result<(), Miss> {
    for place in faults().list(world, &[], 2)? {
        let (since, fault) = place.split_at(8);
        let since = u64::from_be_bytes(since.try_into().expect("a place begins with eight bytes"));
        if since.saturating_add(params.consensus.evidence_age) >= height.0 || !is_over(fault, epoch) {
            return Ok(());
        }
        let key = of(FAULT, fault);
        world.require([&key])?;
        faults().remove(world, &place)?;
        world.remove(key);
    }
    Ok(())
}

/// Whether no round of a fault's epoch is attested any more. Headers prove the fault whatever epoch they name, which nothing checks.
fn is_over(fault: &[u8], epoch: u64) -> bool {
    let (_, fault) = fault.split_at(20);
    let (kind, round) = fault.split_at(1);
    let (of_epoch, _) = round.split_at(8);
    let of_epoch = u64::from_be_bytes(of_epoch.try_into().expect("eight bytes"));
    kind == [Fault::Equivocation.number()] || of_epoch.saturating_add(1) < epoch
}

/// Who attested a fault so far.
pub fn attestations(world: &World, key: &Key) -> Result<Attestations, Miss> {
    Ok(world.read(key)?.unwrap_or(Attestations { witnesses: List::default(), is_done: false }))
}
