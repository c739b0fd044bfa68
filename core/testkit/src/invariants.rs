//! What holds after every block, whatever happened in it.

use bytes::Bytes;
use cowboy_chain::{StateKey, invariants};
use cowboy_state::{Key, Kind};
use cowboy_system::records::{Broken, Records};
use cowboy_system::schema::EventRow;
use cowboy_system::secrets::state::handed_key;
use cowboy_system::{ACTORS, dispatcher, registry, runners, verifier};
use cowboy_types::cbor::{self, Value};
use cowboy_types::units::Height;
use cowboy_types::{Address, Event, Receipt};
use std::collections::{BTreeMap, BTreeSet};

/// What an actor owes to others.
type Owed = fn(&Records<'_>) -> Result<u128, Broken>;

/// The actors of the market. No test sends CBY to them without a reason, so that they have what they owe and no more.
const MARKET: [(u8, Owed); 3] = [
    (runners::NUMBER, runners::invariants::owed),
    (dispatcher::NUMBER, dispatcher::invariants::owed),
    (verifier::NUMBER, verifier::invariants::owed),
];

/// Asserts all of it.
pub(crate) fn check(state: &BTreeMap<StateKey, Bytes>, height: Height) {
    if let Err(broken) = checked(state, height) {
        panic!("after block {}: {broken}", height.0);
    }
}

fn checked(state: &BTreeMap<StateKey, Bytes>, height: Height) -> Result<(), Broken> {
    let records = Records::open(state, height)?;
    invariants::check(&records)?;
    for (number, owed) in MARKET {
        let balance = u128::from(records.balance(Address::system(number))?.0);
        cowboy_system::records::equal("the market has what it owes and no more", &balance, &owed(&records)?)?;
    }
    Ok(())
}

/// Asserts that a block takes back no note that an actor was handed on: they stay for good (decision 735).
pub(crate) fn check_notes(before: &BTreeMap<StateKey, Bytes>, writes: &BTreeMap<StateKey, Option<Bytes>>) {
    assert_eq!(lost_note(before, writes), None, "a note that an actor was handed on stays for good");
}

/// The actor whose note is not what it was, where there is one.
fn lost_note(before: &BTreeMap<StateKey, Bytes>, writes: &BTreeMap<StateKey, Option<Bytes>>) -> Option<Address> {
    writes.iter().find_map(|(digest, written)| {
        let stood = before.get(digest).filter(|stood| written.as_ref() != Some(*stood))?;
        let (key, _) = Key::open(stood)?;
        let actor = Address(*key.name.last_chunk()?);
        (key == handed_key(actor)).then_some(actor)
    })
}

/// Asserts that a table of a system actor declares every event of a block that is not an actor's own, with the fields that it has.
pub(crate) fn check_events(state: &BTreeMap<StateKey, Bytes>, receipts: &[Receipt]) {
    for event in receipts.iter().flat_map(|receipt| receipt.events.iter()) {
        let is_actor = state.contains_key(&Key::of(Kind::Actor, event.emitter).digest());
        assert!(is_actor || is_declared(event), "no table declares {} of {}, {:?}", &*event.name, event.emitter, cbor::decode(&event.data));
    }
}

fn is_declared(event: &Event) -> bool {
    let rows: Vec<&EventRow> = match registry::at(event.emitter) {
        Some(actor) => actor.events.iter().copied().flatten().filter(|row| !row.is_of_account).collect(),
        None => ACTORS.iter().flat_map(|actor| actor.events.iter().copied().flatten()).filter(|row| row.is_of_account).collect(),
    };
    let Ok(Value::Map(data)) = cbor::decode(&event.data) else { return false };
    let names: BTreeSet<&str> = data.iter().filter_map(|(name, _)| name.as_text()).collect();
    rows.into_iter().any(|row| row.name == &*event.name && row.data.iter().map(|field| field.name).collect::<BTreeSet<_>>() == names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::actors;

    /// A note that is removed, or says something else, is found; other records change, and notes come.
    #[test]
    fn a_note_that_is_taken_back_is_found() {
        let (actor, other) = (Address([7; 20]), Address([8; 20]));
        let (note, account) = (handed_key(actor), Key::account(actor));
        let before = BTreeMap::from([(note.digest(), note.seal(&[1])), (account.digest(), account.seal(&[1]))]);
        let rows = [
            (&note, None, Some(actor)),
            (&note, Some(&[0]), Some(actor)),
            (&note, Some(&[1]), None),
            (&handed_key(other), Some(&[1]), None),
            (&account, None, None),
        ];
        for (key, written, lost) in rows {
            let writes = BTreeMap::from([(key.digest(), written.map(|body: &[u8; 1]| key.seal(body)))]);
            assert_eq!(lost_note(&before, &writes), lost, "{key:?}: {written:?}");
        }
    }

    /// An event is declared by its emitter, its name and its fields together.
    #[test]
    fn an_event_that_no_table_declares_is_found() {
        let event = |emitter: Address, name: &str, field: &str| {
            let data = Value::dict([(field, Value::Null)]).encode();
            Event::new(emitter, cowboy_types::Text::new(name).expect("short"), cowboy_types::Blob::new(data).expect("short"))
        };
        let (registry, account) = (Address::system(actors::ENTITLEMENTS), Address([7; 20]));
        let rows = [
            (event(registry, "ActorRedeployed", "actor"), true),
            (event(registry, "ActorRedeployed", "actors"), false),
            (event(registry, "ActorMoved", "actor"), false),
            (event(Address::system(actors::STORAGE), "ActorRedeployed", "actor"), false),
            (event(account, "ActorRedeployed", "actor"), false),
            (event(account, "timer.paused", "id"), true),
            (event(registry, "timer.paused", "id"), false),
        ];
        for (event, expected) in rows {
            assert_eq!(is_declared(&event), expected, "{event:?}");
        }
    }
}
