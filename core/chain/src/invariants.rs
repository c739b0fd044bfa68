//! What holds between the records of a state after every block: those of the transition itself, and those of the system actors.

use crate::supply::held;
use cowboy_state::records::{Actor, Mailbox, Message, Origin, Supply, keys};
use cowboy_state::{Directory, Kind};
use cowboy_system::records::{Broken, Records, equal};
use cowboy_types::Address;
use cowboy_types::units::Count;
use std::collections::BTreeMap;

/// Checks all records. Fails with the first rule that does not hold.
pub fn check(records: &Records<'_>) -> Result<(), Broken> {
    supply(records)?;
    mailboxes(records)?;
    storage(records)?;
    cowboy_system::invariants::check(records)
}

/// Genesis + minted − burned is what all records hold.
pub fn supply(records: &Records<'_>) -> Result<(), Broken> {
    let found: u128 = records.all().map(|(key, body)| u128::from(held(key.kind, body))).sum();
    let supply: Option<Supply> = records.record(&keys::supply())?;
    let made = supply.as_ref().map_or(0, |supply| u128::from(supply.genesis.0) + u128::from(supply.minted.0));
    let burned = supply.map_or(0, |supply| u128::from(supply.burned.0));
    equal("the supply is what all records hold", &(found + burned), &made)
}

/// Mailboxes count and list what waits, and an origin lives while messages of it are under way.
pub fn mailboxes(records: &Records<'_>) -> Result<(), Broken> {
    let mut waiting: BTreeMap<Address, Mailbox> = BTreeMap::new();
    let mut outstanding: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    for (_, message) in records.of_kind::<Message>(Kind::Message)? {
        let mailbox = waiting.entry(message.target).or_insert(Mailbox { count: Count(0), bytes: Count(0) });
        mailbox.count.0 += 1;
        mailbox.bytes.0 += length(message.payload.len() + message.handler.len());
        *outstanding.entry(message.origin.0.to_vec()).or_default() += 1;
    }
    let stored: BTreeMap<Address, Mailbox> =
        records.of_kind::<Mailbox>(Kind::Mailbox)?.into_iter().map(|(key, mailbox)| (key.address, mailbox)).collect();
    equal("a mailbox counts what waits for it", &stored, &waiting)?;
    for (receiver, mailbox) in &waiting {
        let places = length(records.names(Directory::mailbox(*receiver)).len());
        equal("a mailbox lists what waits for it", &places, &mailbox.count.0)?;
    }
    let origins: BTreeMap<Vec<u8>, u64> =
        records.of_kind::<Origin>(Kind::Origin)?.into_iter().map(|(key, origin)| (key.name.to_vec(), origin.outstanding.0)).collect();
    equal("an origin lives while messages of it are under way", &origins, &outstanding)
}

/// An actor counts the bytes that it stores, and lists their keys.
pub fn storage(records: &Records<'_>) -> Result<(), Broken> {
    let mut stored: BTreeMap<Address, (u64, Vec<&[u8]>)> = BTreeMap::new();
    let own = records.all().filter(|(key, _)| key.kind == Kind::Storage);
    for (key, body) in own {
        let (bytes, names) = stored.entry(key.address).or_default();
        *bytes += length(key.name.len() + body.len());
        names.push(&key.name);
    }
    for (key, actor) in records.of_kind::<Actor>(Kind::Actor)? {
        let (bytes, names) = stored.remove(&key.address).unwrap_or_default();
        equal("an actor counts the bytes it stores", &actor.storage_bytes.0, &bytes)?;
        let listed = records.names(Directory::storage(key.address));
        equal("an actor lists the keys it stores", &listed.iter().map(|name| &name[..]).collect(), &names)?;
    }
    Ok(())
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
