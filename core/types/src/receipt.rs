//! What came of a delivery: consensus data, committed to by the header's receipt root.

use crate::address::Address;
use crate::error::Abort;
use crate::hash::{Hash, keccak256};
use crate::units::{Amount, Cells, Cycles, Price};
use crate::wire::{Blob, List, Text};
use commonware_codec::Encode as _;

/// The most bytes a handler returns, and the largest inline blob (003 §7.1).
pub const MAX_RETURN_BYTES: usize = 64 * 1024;

/// The most bytes of one event's data.
pub const MAX_EVENT_BYTES: usize = 4_096;

/// The most events of one receipt.
pub const MAX_RECEIPT_EVENTS: usize = 65_536;

crate::variants! {
    /// What set a delivery off.
    pub enum ReceiptKind {
        /// A signed transaction.
        0 Transaction,
        /// A message that an actor sent in an earlier block.
        1 Message,
        /// A timer that came due, or was removed unfired.
        2 Timer,
        /// The answer to an off-chain job.
        3 Callback,
        /// What the chain did with an off-chain job by itself: a draw, a decision, a payout.
        4 Job,
        /// What the protocol did by itself at a height.
        5 Protocol,
    }
}

crate::record! {
    /// An event that an actor or the protocol emitted during a delivery. Only [`Event::new`] makes one, and ARCHITECTURE.md says where that is
    /// called: an event of the protocol has a row in a table of its system actor.
    #[non_exhaustive]
    pub struct Event {
        /// The emitter.
        pub emitter: Address,
        /// The name.
        pub name: Text<256>,
        /// Its data, canonical CBOR.
        pub data: Blob<MAX_EVENT_BYTES>,
    }
}

impl Event {
    /// An event from its parts.
    pub fn new(emitter: Address, name: Text<256>, data: Blob<MAX_EVENT_BYTES>) -> Self {
        Self { emitter, name, data }
    }
}

crate::record! {
    /// What a delivery cost, and where the money went (003 §2.3, §8.4).
    pub struct Fee {
        /// The payer's address.
        pub payer: Address,
        /// Paid for a cycle, tip included.
        pub cycle_price: Price,
        /// Paid for a cell, tip included.
        pub cell_price: Price,
        /// Reserved before it ran.
        pub reserved: Amount,
        /// The base fees of what was used; gone for ever.
        pub burned: Amount,
        /// The tip, paid to the proposer.
        pub tip: Amount,
        /// Given back at once. What its messages may still use stays reserved.
        pub refunded: Amount,
    }
}

crate::record! {
    /// What came of a transaction, a message, a timer or a callback.
    pub struct Receipt {
        /// Its name: a transaction's digest, or keccak256(origin ‖ be32(index)) (decision 125).
        pub id: Hash,
        /// The origin of the delivery.
        pub kind: ReceiptKind,
        /// The transaction or timer where it began; its own name for a transaction.
        pub origin: Hash,
        /// The requester.
        pub sender: Address,
        /// The address that was called.
        pub target: Address,
        /// Which handler of it, where it has any.
        pub handler: Text<256>,
        /// CBY that went along.
        pub value: Amount,
        /// Compute used, wasted work of a failed call included.
        pub cycles_used: Cycles,
        /// Cells used (bytes).
        pub cells_used: Cells,
        /// The fee.
        pub fee: Fee,
        /// The actor it deployed.
        pub created: Option<Address>,
        /// What the handler returned.
        pub return_data: Blob<MAX_RETURN_BYTES>,
        /// The emitted events; none if the delivery failed, except events of the protocol.
        pub events: List<Event, MAX_RECEIPT_EVENTS>,
        /// Why it failed, where it did.
        pub abort: Option<Abort>,
    }
}

impl Fee {
    /// The fee of what cost nothing.
    pub fn none(payer: Address) -> Self {
        Self {
            payer,
            cycle_price: Price::ZERO,
            cell_price: Price::ZERO,
            reserved: Amount::ZERO,
            burned: Amount::ZERO,
            tip: Amount::ZERO,
            refunded: Amount::ZERO,
        }
    }
}

impl Receipt {
    /// The receipt of a delivery from an actor to an address that succeeded, used nothing and cost nothing: it emitted and returned nothing.
    pub fn unpaid(kind: ReceiptKind, (origin, id): (Hash, Hash), (sender, target): (Address, Address), payer: Address) -> Self {
        Self {
            id,
            kind,
            origin,
            sender,
            target,
            handler: Text::default(),
            value: Amount::ZERO,
            cycles_used: Cycles::ZERO,
            cells_used: Cells::ZERO,
            fee: Fee::none(payer),
            created: None,
            return_data: Blob::default(),
            events: List::default(),
            abort: None,
        }
    }

    /// The receipt's leaf in the header's receipt root: keccak256 of its encoding.
    pub fn digest(&self) -> Hash {
        keccak256(&[&self.encode()])
    }

    /// Whether everything it asked for was done.
    pub fn is_success(&self) -> bool {
        self.abort.is_none()
    }
}
