//! Where the records of gateways stand. No other file spells their keys.

use super::NUMBER;
use super::types::{Gateway, Hold, Holds, MAX_HOLDS, Request};
use crate::treasury::vesting::bucket_address;
use cowboy_params::Params;
use cowboy_state::{Directory, Key, Kind, Miss, World};
use cowboy_types::units::{Count, Height};
use cowboy_types::{Address, List};
use std::cmp::Reverse;

fn of(prefix: &str, rest: &[u8]) -> Key {
    Key::named(Kind::System, Address::system(NUMBER), [prefix.as_bytes(), rest].concat())
}

/// The address that holds all stakes. Nobody has its key.
pub fn stakes() -> Address {
    bucket_address("gateway_stakes")
}

/// The address that holds what name fees bring gateways, until an epoch turns. Nobody has its key.
pub fn pool() -> Address {
    bucket_address("gateway_pool")
}

/// Every gateway that was active when the pool was last shared out, or became active since.
pub const fn active() -> Directory {
    Directory::of_system(Address::system(NUMBER), 32)
}

/// Requests that were delivered, by height and then id.
pub const fn requests() -> Directory {
    Directory::of_system(Address::system(NUMBER), 33)
}

/// A gateway by its address.
pub fn gateway_key(address: Address) -> Key {
    of("gateway:", &address.0)
}

/// A request by its id.
pub fn request_key(id: &str) -> Key {
    of("request:", id.as_bytes())
}

/// What an actor paid for its commands lately.
pub fn repaid_key(actor: Address) -> Key {
    of("repaid:", &actor.0)
}

/// Whether two dispatches under a gateway's nonce were shown. The record stays for good, as what a gateway signed is evidence for ever; each burned a part of
/// its stake, so that there are few: at three tenths of what is left, about a hundred for any stake.
pub fn fault_key(gateway: Address, nonce: u64) -> Key {
    of("fault:", &[&gateway.0[..], &nonce.to_be_bytes()].concat())
}

/// Whether a false answer of a gateway about a block was shown. The record stays, as the one of [`fault_key`].
pub fn answer_fault_key(gateway: Address, height: Height) -> Key {
    of("answer_fault:", &[&gateway.0[..], &height.0.to_be_bytes()].concat())
}

/// What a gateway's stake waits for: decisions about its answers.
pub fn held_key(gateway: Address) -> Key {
    of("held:", &gateway.0)
}

/// The epoch in which the pool was last shared out; absent while no gateway ever registered.
pub fn epoch_key() -> Key {
    Key::system(NUMBER, "system:gateway_epoch")
}

/// A gateway, where one is registered at the address.
pub fn gateway(world: &World, address: Address) -> Result<Option<Gateway>, Miss> {
    world.read(&gateway_key(address))
}

/// Changes a gateway.
pub fn set_gateway(world: &mut World, address: Address, record: &Gateway) {
    world.write(gateway_key(address), record);
}

/// What a gateway's stake waits for: until when for those that gave way, and the proposals.
fn holds(world: &World, address: Address) -> Result<(Height, Vec<Hold>), Miss> {
    let holds = world.read::<Holds>(&held_key(address))?;
    Ok(holds.map(|holds| (holds.gave_way, holds.proposals.into_vec())).unwrap_or_default())
}

/// The height until which a gateway's stake waits for decisions about its answers (decision 761).
pub fn held(world: &World, address: Address) -> Result<Height, Miss> {
    Ok(world.read::<Holds>(&held_key(address))?.map_or(Height::ZERO, |holds| holds.until()))
}

/// The height from which the stake of a gateway that leaves is free; none where it does not leave.
pub fn free_at(world: &World, address: Address, record: &Gateway) -> Result<Option<Height>, Miss> {
    let Some(until) = record.leaving else { return Ok(None) };
    Ok(Some(until.max(held(world, address)?)))
}

/// Has a gateway's stake wait for a proposal. Where it waits for as many as there is room for, the oldest gives way, and the stake waits until the height of that
/// one whatever becomes of the others: else a gateway could push out the proposal that will be accepted, with some of its own that will not.
pub fn hold(world: &mut World, address: Address, hold: Hold) -> Result<(), Miss> {
    let (mut gave_way, mut proposals) = holds(world, address)?;
    let over = proposals.len().saturating_sub(MAX_HOLDS - 1);
    for oldest in proposals.drain(..over) {
        gave_way = gave_way.max(oldest.until);
    }
    proposals.push(hold);
    write_holds(world, address, gave_way, proposals);
    Ok(())
}

/// Has it wait no longer for a proposal.
pub fn release(world: &mut World, address: Address, proposal: Count) -> Result<(), Miss> {
    let (gave_way, mut proposals) = holds(world, address)?;
    let before = proposals.len();
    proposals.retain(|hold| hold.proposal != proposal);
    if proposals.len() < before {
        write_holds(world, address, gave_way, proposals);
    }
    Ok(())
}

fn write_holds(world: &mut World, address: Address, gave_way: Height, proposals: Vec<Hold>) {
    if proposals.is_empty() && gave_way == Height::ZERO {
        world.remove(held_key(address));
        return;
    }
    let proposals = List::new(proposals).expect("no more than there is room for");
    world.write(held_key(address), &Holds { gave_way, proposals });
}

/// Takes a gateway out whose stake was paid.
pub fn remove(world: &mut World, address: Address) -> Result<(), Miss> {
    world.require([&held_key(address)])?;
    active().remove(world, &address.0)?;
    world.remove(held_key(address));
    world.remove(gateway_key(address));
    Ok(())
}

/// A request, while it is remembered.
pub fn request(world: &World, id: &str) -> Result<Option<Request>, Miss> {
    world.read(&request_key(id))
}

fn listing(height: Height, id: &str) -> Vec<u8> {
    [&height.0.to_be_bytes()[..], id.as_bytes()].concat()
}

/// Remembers a request.
pub fn add_request(world: &mut World, id: &str, record: &Request) -> Result<(), Miss> {
    requests().insert(world, &listing(record.height, id))?;
    world.write(request_key(id), record);
    Ok(())
}

/// Forgets the oldest requests that were delivered before a height, at most so many.
pub fn forget_requests(world: &mut World, before: Height, limit: usize) -> Result<(), Miss> {
    let listed = requests().list(world, &[], limit)?;
    let is_old = |name: &&bytes::Bytes| u64::from_be_bytes(name[..8].try_into().expect("a place begins with eight bytes")) < before.0;
    let old: Vec<_> = listed.iter().take_while(is_old).collect();
    world.require(&old.iter().map(|name| of("request:", &name[8..])).collect::<Vec<_>>())?;
    for name in old {
        requests().remove(world, name)?;
        world.remove(of("request:", &name[8..]));
    }
    Ok(())
}

/// The epoch in which the pool was last shared out.
pub fn epoch(world: &World) -> Result<Option<Count>, Miss> {
    world.read(&epoch_key())
}

/// The addresses of gateways that are listed as active, ascending. Some may have stopped since.
pub fn listed(world: &World, limit: usize) -> Result<Vec<Address>, Miss> {
    let names = active().list(world, &[], limit)?;
    Ok(names.iter().map(|name| Address(name[..].try_into().expect("the directory lists addresses"))).collect())
}

/// The gateways that are active at a height, where a reader takes only `limit` of them: those with the most stake, of equals those that came first, so
/// that a place costs more stake than those before it have (decision 723). Reads every gateway that is listed as active.
pub fn foremost(world: &World, params: &Params, height: Height, limit: usize) -> Result<Vec<(Address, Gateway)>, Miss> {
    let addresses = listed(world, usize::MAX)?;
    world.require(&addresses.iter().map(|address| gateway_key(*address)).collect::<Vec<_>>())?;
    let mut found = Vec::new();
    for address in addresses {
        found.extend(gateway(world, address)?.filter(|record| record.is_active(params, height)).map(|record| (address, record)));
    }
    found.sort_by_key(|(address, record)| (Reverse(record.stake), record.registered_at, *address));
    found.truncate(limit);
    Ok(found)
}
