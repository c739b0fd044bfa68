//! Records of a committed state, decoded.

use bytes::Bytes;
use commonware_codec::DecodeExt;
use cowboy_chain::StateKey;
use cowboy_state::records::Account;
use cowboy_state::{Directory, Key, Kind, World};
use cowboy_types::Address;
use std::collections::BTreeMap;

/// The records of a state.
#[derive(Clone, Copy)]
pub struct Records<'a>(pub(crate) &'a BTreeMap<StateKey, Bytes>);

impl Records<'_> {
    /// Every record with its key.
    pub fn opened(&self) -> impl Iterator<Item = (Key, Bytes)> {
        self.0.values().map(|stored| Key::open(stored).expect("the state holds sealed records"))
    }

    /// A record.
    pub fn record<T: DecodeExt<()>>(&self, key: &Key) -> Option<T> {
        let (_, body) = Key::open(self.0.get(&key.digest())?).expect("the state holds sealed records");
        Some(decoded(body))
    }

    /// The record of an account.
    pub fn account(&self, address: Address) -> Account {
        self.record(&Key::account(address)).unwrap_or(Account::UNSEEN)
    }

    /// The balance of an account in base units.
    pub fn balance(&self, address: Address) -> u64 {
        self.account(address).balance.0
    }

    /// Every record of a kind.
    pub fn all<T: DecodeExt<()>>(&self, kind: Kind) -> Vec<(Key, T)> {
        self.opened().filter(|(key, _)| key.kind == kind).map(|(key, body)| (key, decoded(body))).collect()
    }

    /// Every record of a system actor whose name begins with a prefix, with the rest of its name.
    pub fn of<T: DecodeExt<()>>(&self, number: u8, prefix: &[u8]) -> Vec<(Vec<u8>, T)> {
        let own = self.opened().filter(|(key, _)| key.kind == Kind::System && key.address == Address::system(number));
        own.filter_map(|(key, body)| Some((key.name.strip_prefix(prefix)?.to_vec(), decoded(body)))).collect()
    }

    /// Every name of a directory.
    pub fn names(&self, directory: Directory) -> Vec<Bytes> {
        let mut world = World::default();
        loop {
            match directory.list(&world, &[], usize::MAX) {
                Ok(names) => return names,
                Err(miss) => {
                    for digest in world.want(miss) {
                        world.fill(&digest, self.0.get(&digest).cloned());
                    }
                }
            }
        }
    }
}

/// A record out of its body.
fn decoded<T: DecodeExt<()>>(body: Bytes) -> T {
    T::decode(body).unwrap_or_else(|error| unreachable!("the state holds records: {error}"))
}
