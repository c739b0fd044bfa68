//! Commands of other gateways that wait in the own pool, by their request's id.

use cowboy_chain::SignedTransaction;
use cowboy_system::gateways::{
    DISPATCH, NUMBER,
    envelope::{is_request_id, request_id},
};
use cowboy_types::{
    Address, Hash, Transaction,
    cbor::{Item, Reader},
    instruction::{Actor, Instruction},
};
use std::{
    collections::{HashMap, HashSet},
    sync::Mutex,
};

/// The most items of a payload that are read: the arguments of a gateway have a few for each header. What a stranger wrote may have a
/// hundred thousand.
const MAX_ITEMS: usize = 1_024;

/// What the transactions of the pool ask for, each read once.
#[derive(Debug)]
pub(crate) struct Pooled {
    genesis: Hash,
    by_digest: Mutex<HashMap<Hash, Option<(String, Address)>>>,
}

impl Pooled {
    /// The pool of the chain with this genesis hash.
    pub(crate) fn new(genesis: Hash) -> Self {
        Self { genesis, by_digest: Mutex::default() }
    }

    /// Whether one of these transactions, which are all that wait, sends the actor a request of this id. Reads those that are new.
    pub(crate) fn contains(&self, waiting: &[SignedTransaction], id: &str, target: Address) -> bool {
        let mut by_digest = self.by_digest.lock().expect("nothing panics while it holds the lock");
        let mut is_found = false;
        for signed in waiting {
            let request = by_digest.entry(*signed.digest()).or_insert_with(|| dispatched_by_sender(self.genesis, signed.transaction()));
            is_found |= request.as_ref().is_some_and(|(found, actor)| found == id && *actor == target);
        }
        if by_digest.len() > waiting.len() {
            let waiting: HashSet<&Hash> = waiting.iter().map(SignedTransaction::digest).collect();
            by_digest.retain(|digest, _| waiting.contains(digest));
        }
        is_found
    }
}

/// The id and the target of the request that an own transaction dispatches. `None` for anything else, and for a payload with more items than a gateway's has
/// before all is found.
pub(crate) fn dispatched(transaction: &Transaction) -> Option<(String, Address)> {
    request_in(transaction).map(|request| (request.id, request.target))
}

/// The same of anybody's transaction: anybody may name an id that was seen, and it is its sender's alone, on the chain with this genesis hash.
pub(crate) fn dispatched_by_sender(genesis: Hash, transaction: &Transaction) -> Option<(String, Address)> {
    let request = request_in(transaction)?;
    (request_id(genesis, transaction.from, request.target, &request.salt) == request.id).then_some((request.id, request.target))
}

/// What a dispatch says.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    id: String,
    target: Address,
    /// What the id is made of.
    salt: [u8; 32],
}

fn request_in(transaction: &Transaction) -> Option<Request> {
    let Instruction::Actor(Actor::Execute { target, handler, payload, .. }) = &transaction.instruction else { return None };
    (*target == Address::system(NUMBER) && &handler[..] == DISPATCH).then(|| request_of(payload)).flatten()
}

fn request_of(payload: &[u8]) -> Option<Request> {
    let mut items = Items { reader: Reader::new(payload), left: MAX_ITEMS };
    let (mut id, mut target, mut salt) = (None, None, None);
    let Item::Map(fields) = items.next()? else { return None };
    for _ in 0..fields {
        match items.next()? {
            Item::Text("salt") => {
                let Item::Bytes(bytes) = items.next()? else { return None };
                salt = Some(<[u8; 32]>::try_from(bytes).ok()?);
            }
            Item::Text("target") => {
                let Item::Bytes(bytes) = items.next()? else { return None };
                target = Some(Address(bytes.try_into().ok()?));
            }
            Item::Text("envelope") => id = Some(items.request_id()?),
            _ => items.skip()?,
        }
        if let (Some(id), Some(target), Some(salt)) = (&id, target, salt) {
            return Some(Request { id: String::clone(id), target, salt });
        }
    }
    None
}

/// A reader that gives up after a number of items.
struct Items<'a> {
    reader: Reader<'a>,
    left: usize,
}

impl<'a> Items<'a> {
    fn next(&mut self) -> Option<Item<'a>> {
        self.left = self.left.checked_sub(1)?;
        self.reader.next_item().ok()?
    }

    /// Passes over one value, with all that is in it.
    fn skip(&mut self) -> Option<()> {
        let mut values = 1_u64;
        while values > 0 {
            let inner = match self.next()? {
                Item::Array(count) => count,
                Item::Map(count) => count.checked_mul(2)?,
                _ => 0,
            };
            values = values.checked_sub(1)?.checked_add(inner)?;
        }
        Some(())
    }

    /// The id of the envelope that comes next, of which the rest is not read: nothing after it names the target.
    fn request_id(&mut self) -> Option<String> {
        let Item::Map(fields) = self.next()? else { return None };
        let mut id = None;
        for _ in 0..fields {
            match self.next()? {
                Item::Text("request_id") => {
                    let Item::Text(text) = self.next()? else { return None };
                    id = is_request_id(text).then(|| text.to_owned());
                }
                _ => self.skip()?,
            }
        }
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{self, GENESIS};
    use cowboy_types::cbor::Value;

    const ACTOR: Address = Address([7; 20]);
    const SALT: [u8; 32] = [9; 32];

    fn payload(id: &str, headers: usize) -> Vec<u8> {
        let header = || Value::Array(vec![Value::text("accept"), Value::text("text/plain")]);
        let envelope = Value::map([
            ("body", Value::Bytes(b"hello".to_vec())),
            ("headers", Value::Array((0..headers).map(|_| header()).collect())),
            ("request_id", Value::text(id)),
        ]);
        Value::map([("salt", Value::Bytes(SALT.to_vec())), ("target", Value::Bytes(ACTOR.0.to_vec())), ("envelope", envelope)]).encode()
    }

    fn id() -> String {
        request_id(GENESIS, Address([8; 20]), ACTOR, &SALT)
    }

    /// A request is found in the payload that its gateway sends.
    #[test]
    fn requests_are_found_in_payloads() {
        assert_eq!(request_of(&payload(&id(), 3)), Some(Request { id: id(), target: ACTOR, salt: SALT }));
        assert_eq!(request_of(&payload("a", 3)), None, "no id of a request");
        assert_eq!(request_of(b"\xa1"), None);
    }

    /// Attack: somebody sends a transaction that names another gateway's request, or one that it had on another chain. It is not that request's.
    #[test]
    fn requests_are_their_senders_on_their_chain() {
        let own = testing::dispatch(1, "one");
        assert!(dispatched(&own).is_some() && dispatched_by_sender(GENESIS, &own) == dispatched(&own));
        assert_eq!(dispatched_by_sender(Hash([1; 32]), &own), None, "of another chain");
        assert_eq!(dispatched_by_sender(GENESIS, &Transaction { from: Address([8; 20]), ..own }), None, "of another sender");
    }

    /// A payload of a hundred thousand items costs no more than one of a thousand.
    #[test]
    fn reading_ends_where_a_gateway_would_have_ended() {
        assert!(request_of(&payload(&id(), MAX_ITEMS / 3 - 10)).is_some());
        assert_eq!(request_of(&payload(&id(), MAX_ITEMS)), None);
    }
}
