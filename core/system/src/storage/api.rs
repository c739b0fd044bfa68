//! The methods and events of 0x0A.

use super::NUMBER;
use crate::actor::methods;
use crate::schema::{Form, Refused, Shape, events, form};
use cowboy_types::cbor::Value;
use cowboy_types::units::{Amount, Count};
use cowboy_types::{Address, List, Text};

form! {
    /// What an actor owes and has put down.
    pub(crate) struct Rent {
        /// The bond for its larger quota.
        bond: Amount,
        /// Rent that it did not pay.
        debt: Amount,
        /// Rent of an epoch, at today's size and rate.
        per_epoch: Amount,
        /// Rent that was paid ahead.
        prepaid: Amount,
        /// The bytes that it may store.
        quota: Count,
        /// The balance that it has to keep.
        reserve: Amount,
        /// Bytes of its code, its manifest with those that it had before, and its storage.
        size: Count,
        /// paid, overdue, eviction_imminent or dormant.
        state: Text<32>,
        /// Epochs in a row that it did not pay.
        unpaid: Count,
    }
}

form! {
    /// What is left to restore.
    pub(crate) struct Missing {
        /// Chunks that are still pruned.
        missing: Count,
    }
}

/// An entry of storage: a list of a key and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry(pub(super) Vec<u8>, pub(super) Vec<u8>);

impl Form for Entry {
    const SHAPE: Shape = Shape::List(&Shape::Bytes(0), 2);

    fn read(value: &Value) -> Result<Self, Refused> {
        match value {
            Value::Array(pair) => match &pair[..] {
                [Value::Bytes(key), Value::Bytes(value)] => Ok(Self(key.clone(), value.clone())),
                _ => Err(Refused::WHOLE),
            },
            _ => Err(Refused::WHOLE),
        }
    }

    fn write(&self) -> Value {
        Value::Array(vec![Value::Bytes(self.0.clone()), Value::Bytes(self.1.clone())])
    }
}

methods! {
    /// What 0x0A is asked.
    pub(super) METHODS by NUMBER;

    /// Returns what an actor owes and has put down.
    "get_rent" GetRent [view] {
        /// The actor.
        actor: Address,
    } -> Rent;

    /// Pays rent ahead with the value, for any actor. Collections draw on it first.
    "prepay" Prepay [payable] {
        /// The actor.
        actor: Address,
    } -> ();

    /// Pays an actor's debt and the catch-up fee with the value, exactly. Anybody may.
    "pay_debt" PayDebt [payable] {
        /// The actor.
        actor: Address,
    } -> ();

    /// Extends or reduces a quota. The value is the bond that is missing; a bond that is
    /// no longer needed is refunded to whoever posted it. The actor or its owner.
    "set_quota" SetQuota [payable] {
        /// The actor.
        actor: Address,
        /// The bytes that it may store.
        quota: u64,
    } -> ();

    /// Restores a pruned chunk. Anybody may.
    "restore" Restore [kept] {
        /// The actor.
        actor: Address,
        /// The chunk's place.
        chunk: u64,
        /// The entries that were pruned, each a list of key and value.
        entries: List<Entry, { super::chunks::CHUNK_ENTRIES }>,
    } -> Missing;
}

events! {
    /// What 0x0A emits when it is asked.
    pub(super) EVENTS by NUMBER;

    /// Rent was paid ahead.
    "rent.prepaid" Prepaid {
        /// The actor.
        actor: Address,
        /// Base units of CBY.
        amount: Amount,
    }

    /// A debt was paid.
    "rent.debt_paid" DebtPaid {
        /// The actor.
        actor: Address,
        /// Base units of CBY, the catch-up fee included.
        paid: Amount,
    }

    /// A quota was extended or reduced.
    "storage.quota" QuotaSet {
        /// The actor.
        actor: Address,
        /// The bond for it.
        bond: Amount,
        /// The bytes that the actor may store.
        quota: Count,
    }

    /// A dormant actor runs again.
    "rent.restored" Restored {
        /// The actor.
        actor: Address,
    }
}

form! {
    /// What an actor paid, and how far it is behind.
    pub(crate) struct RentPaid {
        /// The actor.
        actor: Address,
        /// Base units of CBY.
        paid: Amount,
        /// Epochs in a row that it did not pay.
        unpaid: Count,
    }
}

form! {
    /// What an actor owes.
    pub(crate) struct RentOwed {
        /// The actor.
        actor: Address,
        /// Rent that it did not pay, in base units of CBY.
        debt: Amount,
        /// Epochs in a row that it did not pay.
        unpaid: Count,
    }
}

events! {
    /// What 0x0A emits when it collects rent and prunes storage.
    pub(super) COLLECTION by NUMBER;

    /// Rent was collected.
    "rent.collected" RentCollected(RentPaid)

    /// A debt and the catch-up fee were collected.
    "rent.caught_up" CaughtUp(RentPaid)

    /// An actor did not pay, within its time of grace.
    "rent.overdue" Overdue(RentOwed)

    /// An actor did not pay, and its time of grace is over.
    "rent.eviction_imminent" EvictionImminent(RentOwed)

    /// An actor is dormant from now on, and its storage will be pruned.
    "rent.evicted" Evicted(RentOwed)

    /// The storage of a dormant actor is pruned.
    "rent.pruned" StoragePruned {
        /// The actor.
        actor: Address,
        /// Chunks that were pruned.
        chunks: Count,
        /// What it owes, in base units of CBY.
        debt: Amount,
    }
}
