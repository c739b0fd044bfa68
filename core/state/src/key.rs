//! Names of records: readable ones, and the digests under which the store keeps them.

use bytes::{BufMut, Bytes};
use commonware_codec::{EncodeSize as _, Read as _, ReadExt as _, Write as _};
use cowboy_types::{Address, Blob, Hash, blake3};
use std::cmp::Ordering;
use std::fmt;

/// The namespace of records that the Python VM and the protocol itself own. Other VMs get other numbers.
pub const VM_NAMESPACE: u8 = 0;

/// The longest name of a record within its kind and address, in bytes.
pub const MAX_NAME_BYTES: usize = 8_192;

/// The name of a record in the store: blake3(kind ‖ vm namespace ‖ address ‖ name) (decision 124).
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateKey(pub [u8; 32]);

impl AsRef<[u8]> for StateKey {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl fmt::Debug for StateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&Hash(self.0), f)
    }
}

macro_rules! kinds {
    ($( $(#[doc = $doc:literal])+ $number:literal $Kind:ident; )+) => {
        /// What a record is. Numbers are for ever.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind { $( $(#[doc = $doc])+ $Kind, )+ }

        impl Kind {
            /// Every kind with its number.
            pub const ALL: &'static [(u8, Self)] = &[ $( ($number, Self::$Kind), )+ ];

            /// The number that stands for the kind in keys.
            pub const fn number(self) -> u8 {
                match self { $( Self::$Kind => $number, )+ }
            }

            /// The kind of a number.
            pub const fn from_number(number: u8) -> Option<Self> {
                match number { $( $number => Some(Self::$Kind), )+ _ => None }
            }
        }
    };
}

kinds! {
    /// An account's nonce and balance; no name.
    0x00 Account;
    /// What the protocol knows of an actor; no name.
    0x01 Actor;
    /// Canonical source by its hash, under the zero address.
    0x02 Code;
    /// An actor's own value under an actor's own key.
    0x03 Storage;
    /// What waits for an address; no name.
    0x04 Mailbox;
    /// A scheduled timer by its id, under the zero address.
    0x05 Timer;
    /// A node of a directory; the name is the directory's tag, then the node's number.
    0x06 Directory;
    /// A message that waits for delivery, by its place in the queue, under the zero address.
    0x07 Message;
    /// A record of the protocol by its name, under the system actor that holds it.
    0x08 System;
    /// What is left of a transaction or timer whose messages are under way, by its id, under the zero address.
    0x09 Origin;
    /// A message id that an address received.
    0x0A Seen;
    /// An actor's manifest as it was deployed; no name.
    0x0B Manifest;
    /// What an actor spent in the current block of entitlement quotas; no name.
    0x0C Spent;
    /// A timer's payload by the timer's id, under the zero address. Apart, so that looking at due timers is cheap.
    0x0D TimerPayload;
}

/// A record's readable name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What the record is.
    pub kind: Kind,
    /// Whose it is; zero for what belongs to no one.
    pub address: Address,
    /// Which of them, at most [`MAX_NAME_BYTES`].
    pub name: Bytes,
}

/// An address as numbers of the same order: comparing these is several times faster than comparing bytes, and a
/// block compares addresses millions of times.
fn numbers(address: &Address) -> (u128, u32) {
    let (high, low) = address.0.split_at(16);
    let high = u128::from_be_bytes(high.try_into().expect("sixteen bytes"));
    (high, u32::from_be_bytes(low.try_into().expect("four bytes")))
}

impl Ord for Key {
    /// By kind, address, name.
    fn cmp(&self, other: &Self) -> Ordering {
        let of_name = || if self.name.is_empty() && other.name.is_empty() { Ordering::Equal } else { self.name.cmp(&other.name) };
        self.kind.cmp(&other.kind).then_with(|| numbers(&self.address).cmp(&numbers(&other.address))).then_with(of_name)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Key {
    /// The record of this kind that an address has one of.
    pub const fn of(kind: Kind, address: Address) -> Self {
        Self { kind, address, name: Bytes::new() }
    }

    /// The record of this kind and name at an address.
    pub fn named(kind: Kind, address: Address, name: impl Into<Bytes>) -> Self {
        Self { kind, address, name: name.into() }
    }

    /// The record of this kind and id that belongs to no address.
    pub fn global(kind: Kind, id: &Hash) -> Self {
        Self::named(kind, Address::ZERO, Bytes::copy_from_slice(&id.0))
    }

    /// An account's nonce and balance.
    pub const fn account(address: Address) -> Self {
        Self::of(Kind::Account, address)
    }

    /// An actor's value under its own key.
    pub fn storage(actor: Address, name: impl Into<Bytes>) -> Self {
        Self::named(Kind::Storage, actor, name)
    }

    /// A named record of the protocol.
    pub fn system(number: u8, name: &'static str) -> Self {
        Self::named(Kind::System, Address::system(number), Bytes::from_static(name.as_bytes()))
    }

    /// The key's digest, under which the store keeps the record.
    pub fn digest(&self) -> StateKey {
        StateKey(blake3(&[&[self.kind.number(), VM_NAMESPACE], &self.address.0, &self.name]).0)
    }

    /// The bytes that the store keeps: the readable key, then the record.
    pub fn seal(&self, body: &[u8]) -> Bytes {
        let name = Blob::<MAX_NAME_BYTES>::new(self.name.clone()).expect("names are bounded where they are made");
        let mut bytes = Vec::with_capacity(name.encode_size().saturating_add(body.len()).saturating_add(22));
        bytes.put_u8(self.kind.number());
        bytes.put_u8(VM_NAMESPACE);
        bytes.put_slice(&self.address.0);
        name.write(&mut bytes);
        bytes.put_slice(body);
        bytes.into()
    }

    /// The readable key and the record out of stored bytes, or `None` where the bytes are no record.
    pub fn open(stored: &Bytes) -> Option<(Self, Bytes)> {
        let mut rest = stored.clone();
        let kind = Kind::from_number(u8::read(&mut rest).ok()?)?;
        if u8::read(&mut rest).ok()? != VM_NAMESPACE {
            return None;
        }
        let address = Address::read(&mut rest).ok()?;
        let name = Blob::<MAX_NAME_BYTES>::read_cfg(&mut rest, &()).ok()?;
        Some((Self { kind, address, name: name.bytes().clone() }, rest))
    }
}
