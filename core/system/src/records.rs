//! All records of a state, opened: what the actors' `invariants.rs` look at.

use bytes::Bytes;
use commonware_codec::DecodeExt;
use cowboy_state::records::Account;
use cowboy_state::{Directory, Key, Kind, StateKey, World};
use cowboy_types::Address;
use cowboy_types::units::{Amount, Height};
use std::collections::BTreeMap;
use std::fmt::Debug;

/// A rule that the records of a state break.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {found}")]
pub struct Broken {
    /// The rule.
    pub rule: &'static str,
    /// What was found in its place.
    pub found: String,
}

/// Fails with a rule where two values that must be equal are not.
pub fn equal<T: PartialEq + Debug>(rule: &'static str, found: &T, expected: &T) -> Result<(), Broken> {
    if found == expected { Ok(()) } else { Err(Broken { rule, found: format!("{found:?} in the place of {expected:?}") }) }
}

/// Fails with a rule where something does not hold of what is named.
pub fn holds(rule: &'static str, does: bool, of: &dyn Debug) -> Result<(), Broken> {
    if does { Ok(()) } else { Err(Broken { rule, found: format!("{of:?}") }) }
}

/// Fails with a rule where values do not ascend, or one stands there twice.
pub fn ascending<T: Ord + Debug>(rule: &'static str, values: &[T]) -> Result<(), Broken> {
    holds(rule, values.is_sorted_by(|one, next| one < next), &values)
}

/// The address with which a record's name begins, and the rest of the name.
pub fn address_of(name: &[u8]) -> Result<(Address, &[u8]), Broken> {
    let (address, rest) =
        name.split_first_chunk().ok_or(Broken { rule: "a record is named as its kind wants", found: format!("{name:?}") })?;
    Ok((Address(*address), rest))
}

/// All records of a state after a block.
pub struct Records<'a> {
    stored: &'a BTreeMap<StateKey, Bytes>,
    opened: BTreeMap<Key, Bytes>,
    height: Height,
}

impl<'a> Records<'a> {
    /// Opens the records of the state after the block of a height. Fails where one stands under another key than it names.
    pub fn open(stored: &'a BTreeMap<StateKey, Bytes>, height: Height) -> Result<Self, Broken> {
        let mut opened = BTreeMap::new();
        for (digest, stored) in stored {
            let (key, body) = Key::open(stored).ok_or(Broken { rule: "every record is sealed", found: format!("{digest:?}") })?;
            equal("every record stands under the digest of the key it names", digest, &key.digest())?;
            opened.insert(key, body);
        }
        Ok(Self { stored, opened, height })
    }

    /// The height of the block.
    pub const fn height(&self) -> Height {
        self.height
    }

    /// Every record with its key, ascending by key.
    pub fn all(&self) -> impl Iterator<Item = (&Key, &Bytes)> {
        self.opened.iter()
    }

    /// A record's bytes.
    pub fn bytes(&self, key: &Key) -> Option<&Bytes> {
        self.opened.get(key)
    }

    /// A record.
    pub fn record<T: DecodeExt<()>>(&self, key: &Key) -> Result<Option<T>, Broken> {
        self.bytes(key).map(|body| decoded(key, body)).transpose()
    }

    /// The balance of an account.
    pub fn balance(&self, address: Address) -> Result<Amount, Broken> {
        Ok(self.record::<Account>(&Key::account(address))?.map_or(Amount::ZERO, |account| account.balance))
    }

    /// Every record of a kind, ascending by key.
    pub fn of_kind<T: DecodeExt<()>>(&self, kind: Kind) -> Result<Vec<(&Key, T)>, Broken> {
        let own = self.opened.range(Key::of(kind, Address::ZERO)..).take_while(|(key, _)| key.kind == kind);
        own.map(|(key, body)| Ok((key, decoded(key, body)?))).collect()
    }

    /// The bytes of every record of a system actor whose name begins with a prefix, with the rest of its name, ascending.
    pub fn named(&self, number: u8, prefix: &'static str) -> impl Iterator<Item = (&[u8], &Bytes)> {
        let first = Key::named(Kind::System, Address::system(number), prefix.as_bytes());
        let address = first.address;
        let own = self.opened.range(first..).take_while(move |(key, _)| key.kind == Kind::System && key.address == address);
        own.map_while(move |(key, body)| Some((key.name.strip_prefix(prefix.as_bytes())?, body)))
    }

    /// The same, decoded.
    pub fn of<T: DecodeExt<()>>(&self, number: u8, prefix: &'static str) -> Result<Vec<(&[u8], T)>, Broken> {
        let rule = "a record of a system actor decodes";
        let decoded = |(name, body): (_, &Bytes)| match T::decode(body.clone()) {
            Ok(record) => Ok((name, record)),
            Err(error) => Err(Broken { rule, found: format!("{prefix}{name:?}: {error}") }),
        };
        self.named(number, prefix).map(decoded).collect()
    }

    /// Every name of a directory, ascending.
    pub fn names(&self, directory: Directory) -> Vec<Bytes> {
        let mut world = World::default();
        loop {
            match directory.list(&world, &[], usize::MAX) {
                Ok(names) => return names,
                Err(miss) => {
                    for digest in world.want(miss) {
                        world.fill(&digest, self.stored.get(&digest).cloned());
                    }
                }
            }
        }
    }

    /// Fails with a rule where an address has less than others are owed of it. It may have more: anybody may send CBY to it.
    pub fn covers(&self, rule: &'static str, address: Address, owed: u128) -> Result<(), Broken> {
        let balance = self.balance(address)?;
        if u128::from(balance.0) >= owed { Ok(()) } else { Err(Broken { rule, found: format!("{} of {owed}", balance.0) }) }
    }
}

fn decoded<T: DecodeExt<()>>(key: &Key, body: &Bytes) -> Result<T, Broken> {
    T::decode(body.clone()).map_err(|error| Broken { rule: "a record decodes", found: format!("{key:?}: {error}") })
}
