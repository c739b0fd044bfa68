//! The cache of what was read, and the journal of what was changed.

use crate::key::{Key, Kind, StateKey};
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode, Read};
use cowboy_types::units::Amount;
use cowboy_types::{Abort, Address, Event, Hash};
use std::collections::{BTreeMap, BTreeSet};

/// Records that were asked for and never fetched. Not a failure: fetch them and ask again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss(pub Vec<Key>);

impl From<Key> for Miss {
    fn from(key: Key) -> Self {
        Self(vec![key])
    }
}

/// Why a handler stops.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stop {
    /// Records are missing: undo what it did, fetch them, and run it again, uncharged.
    Miss(Miss),
    /// It failed.
    Abort(Abort),
}

impl From<Miss> for Stop {
    fn from(miss: Miss) -> Self {
        Self::Miss(miss)
    }
}

impl From<Abort> for Stop {
    fn from(abort: Abort) -> Self {
        Self::Abort(abort)
    }
}

/// The result of a handler that may have to run again.
pub type Step<T> = Result<T, Stop>;

/// A record as it was before the block, and as it is now. What was written and never fetched is new: nothing was there before. What was
/// erased and never fetched was there, and stands here as empty.
#[derive(Clone, Debug)]
struct Slot {
    before: Option<Bytes>,
    now: Option<Bytes>,
}

/// A change of the journal: the record, and what it was until then.
type Change = (Key, Previous);

/// What a record was before a change.
#[derive(Clone, Debug)]
enum Previous {
    /// Nobody had asked for it.
    Unknown,
    /// This, or nothing.
    Known(Option<Bytes>),
}

impl Previous {
    /// Its bytes, where it had any.
    fn bytes(&self) -> Option<&Bytes> {
        match self {
            Self::Unknown => None,
            Self::Known(bytes) => bytes.as_ref(),
        }
    }
}

/// A message that left a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// The id of the receipt that its delivery will have.
    pub receipt: Hash,
    /// Its message id (003 §3.3).
    pub id: Hash,
    /// The recipient's address.
    pub target: Address,
    /// The handler.
    pub handler: String,
    /// CBY that go along.
    pub value: Amount,
}

/// A point to which the overlay can be rolled back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    journal: usize,
    events: usize,
    sent: usize,
}

/// What an execution sees of the state: what was fetched, what was changed since, and the events and messages of the running delivery.
#[derive(Clone, Debug, Default)]
pub struct World {
    slots: BTreeMap<Key, Slot>,
    journal: Vec<Change>,
    wanted: BTreeMap<StateKey, Key>,
    events: Vec<Event>,
    sent: Vec<SentMessage>,
}

impl World {
    /// A record's bytes, `None` where there is no such record.
    pub fn get(&self, key: &Key) -> Result<Option<&Bytes>, Miss> {
        match self.slots.get(key) {
            Some(slot) => Ok(slot.now.as_ref()),
            None => Err(key.clone().into()),
        }
    }

    /// A record, decoded.
    pub fn read<T: Read<Cfg = ()>>(&self, key: &Key) -> Result<Option<T>, Miss> {
        Ok(self.get(key)?.map(|bytes| T::decode_cfg(bytes.clone(), &()).expect("the state holds only records that this code wrote")))
    }

    /// A record as it was before the block. Only for records that were fetched.
    pub fn read_before<T: Read<Cfg = ()>>(&self, key: &Key) -> Option<T> {
        let bytes = self.slots.get(key)?.before.clone()?;
        Some(T::decode_cfg(bytes, &()).expect("the state holds only records that this code wrote"))
    }

    /// Requests several records; returns all missing keys in one batch.
    pub fn require<'a>(&self, keys: impl IntoIterator<Item = &'a Key>) -> Result<(), Miss> {
        let missing: BTreeSet<&Key> = keys.into_iter().filter(|key| !self.slots.contains_key(*key)).collect();
        if missing.is_empty() { Ok(()) } else { Err(Miss(missing.into_iter().cloned().collect())) }
    }

    /// Whether a record was fetched or written, present or absent.
    pub fn knows(&self, key: &Key) -> bool {
        self.slots.contains_key(key)
    }

    /// Changes or removes a record. The record need not have been fetched only where it is known to be new.
    pub fn put(&mut self, key: Key, value: Option<Bytes>) {
        let previous = match self.slots.get_mut(&key) {
            Some(slot) => Previous::Known(std::mem::replace(&mut slot.now, value)),
            None => {
                self.slots.insert(key.clone(), Slot { before: None, now: value });
                Previous::Unknown
            }
        };
        self.journal.push((key, previous));
    }

    /// Changes a record to the encoding of a value.
    pub fn write(&mut self, key: Key, record: &impl Encode) {
        self.put(key, Some(record.encode()));
    }

    /// Removes a record, which was read: nobody would remove one that is not known to be there.
    pub fn remove(&mut self, key: Key) {
        debug_assert!(self.knows(&key), "a record is read before it is removed: {key:?}");
        self.put(key, None);
    }

    /// Removes a record that is there, as another record says, and whose content nobody needs: it is not read for that.
    pub fn erase(&mut self, key: Key) {
        if self.knows(&key) {
            return self.put(key, None);
        }
        self.slots.insert(key.clone(), Slot { before: Some(Bytes::new()), now: None });
        self.journal.push((key, Previous::Unknown));
    }

    /// Adds an event to those of the running delivery.
    pub fn push_event(&mut self, event: Event) {
        self.events.push(event);
    }

    /// The events emitted since a checkpoint, in order.
    pub fn events_since(&self, checkpoint: &Checkpoint) -> &[Event] {
        self.events.get(checkpoint.events..).unwrap_or_default()
    }

    fn journal_since(&self, checkpoint: &Checkpoint) -> &[(Key, Previous)] {
        self.journal.get(checkpoint.journal..).unwrap_or_default()
    }

    /// Accounts that changed since a checkpoint, each with what it was then.
    pub fn accounts_since(&self, checkpoint: &Checkpoint) -> BTreeMap<Address, Option<Bytes>> {
        let mut accounts = BTreeMap::new();
        for (key, previous) in self.journal_since(checkpoint) {
            if key.kind == Kind::Account {
                accounts.entry(key.address).or_insert_with(|| previous.bytes().cloned());
            }
        }
        accounts
    }

    /// Records of these kinds that differ from what they were at a checkpoint, by key: each as it was then and as it is now. At most
    /// `limit` of them, those that were written first.
    pub fn changes_since(&self, checkpoint: &Checkpoint, kinds: &[Kind], limit: usize) -> Vec<(Key, Option<Bytes>, Option<Bytes>)> {
        let mut before: BTreeMap<&Key, Option<&Bytes>> = BTreeMap::new();
        for (key, previous) in self.journal_since(checkpoint) {
            if kinds.contains(&key.kind) && (before.len() < limit || before.contains_key(key)) {
                before.entry(key).or_insert(previous.bytes());
            }
        }
        let now = |key: &Key| self.slots.get(key).and_then(|slot| slot.now.clone());
        let changes = before.into_iter().map(|(key, before)| (key.clone(), before.cloned(), now(key)));
        changes.filter(|(_, before, now)| before != now).collect()
    }

    /// How many announcements the running delivery made.
    pub fn announcements(&self) -> usize {
        self.events.len()
    }

    /// Takes every announcement away, for the receipt of the delivery that made them.
    pub fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Notes a message that the running delivery sends. Undone by a rollback.
    pub fn note_message(&mut self, message: SentMessage) {
        self.sent.push(message);
    }

    /// How many messages the running delivery has sent.
    pub fn messages(&self) -> u64 {
        u64::try_from(self.sent.len()).expect("messages are few")
    }

    /// Takes the messages of the running delivery, which is over.
    pub fn take_messages(&mut self) -> Vec<SentMessage> {
        std::mem::take(&mut self.sent)
    }

    /// Begins a delivery: no message sent, no event emitted.
    pub fn begin_delivery(&mut self) {
        self.sent.clear();
        self.events.clear();
    }

    /// A point to come back to.
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { journal: self.journal.len(), events: self.events.len(), sent: self.sent.len() }
    }

    /// Undoes every change, announcement and message since the checkpoint. What was fetched stays. A record that was only written is again one
    /// that nobody asked for: that the store has none would be a guess.
    pub fn rollback(&mut self, checkpoint: &Checkpoint) {
        while self.journal.len() > checkpoint.journal {
            let (key, previous) = self.journal.pop().expect("the journal is longer than the checkpoint");
            match previous {
                Previous::Unknown => drop(self.slots.remove(&key)),
                Previous::Known(previous) => self.slots.get_mut(&key).expect("a journaled record has a slot").now = previous,
            }
        }
        self.events.truncate(checkpoint.events);
        self.sent.truncate(checkpoint.sent);
    }

    /// Undoes everything. What was fetched stays.
    pub fn rollback_all(&mut self) {
        self.rollback(&Checkpoint { journal: 0, events: 0, sent: 0 });
    }

    /// Notes what is asked of the store, and answers the digests to ask for.
    pub fn want(&mut self, miss: Miss) -> Vec<StateKey> {
        let mut digests = Vec::with_capacity(miss.0.len());
        for key in miss.0 {
            let digest = key.digest();
            self.wanted.insert(digest, key);
            digests.push(digest);
        }
        digests
    }

    /// Takes the store's answer to [`World::want`]. Answers nobody asked for are dropped.
    pub fn fill(&mut self, digest: &StateKey, stored: Option<Bytes>) {
        let Some(key) = self.wanted.remove(digest) else { return };
        let body = stored.map(|stored| {
            let (named, body) = Key::open(&stored).expect("the store keeps only sealed records");
            assert_eq!(named, key, "a stored record names the key under which it stands");
            body
        });
        self.slots.entry(key).or_insert(Slot { before: body.clone(), now: body });
    }

    /// What the store has to change: sealed records, `None` where one goes.
    pub fn writes(&self) -> BTreeMap<StateKey, Option<Bytes>> {
        let changed = self.slots.iter().filter(|(_, slot)| slot.before != slot.now);
        changed.map(|(key, slot)| (key.digest(), slot.now.as_ref().map(|body| key.seal(body)))).collect()
    }

    /// Every changed record of a kind: its key, what it was, what it is.
    pub fn changes(&self, kind: Kind) -> impl Iterator<Item = (&Key, Option<&Bytes>, Option<&Bytes>)> {
        let first = Key::of(kind, Address::ZERO);
        self.slots
            .range(first..)
            .take_while(move |(key, _)| key.kind == kind)
            .filter(|(_, slot)| slot.before != slot.now)
            .map(|(key, slot)| (key, slot.before.as_ref(), slot.now.as_ref()))
    }
}
