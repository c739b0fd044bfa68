//! How many connections a process has open, in all and for each client.

use crate::Client;
use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

/// The connections that servers of one process share. Clones share them.
#[derive(Clone, Debug)]
pub struct Slots(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max: usize,
    open: Mutex<Open>,
    refused: AtomicU64,
}

#[derive(Debug, Default)]
struct Open {
    total: usize,
    by_client: HashMap<Client, usize>,
}

/// A connection's place, given back when this is dropped.
#[derive(Debug)]
pub struct Slot {
    slots: Slots,
    client: Client,
}

/// Why a connection is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Full {
    /// The process has as many connections as its files allow.
    #[error("the server has its {0} connections")]
    Total(usize),
    /// This client has its share.
    #[error("this client has its {0} connections")]
    Client(usize),
}

impl Slots {
    /// At most this many connections at once.
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Inner { max, open: Mutex::default(), refused: AtomicU64::new(0) }))
    }

    /// Takes a place for a connection of `client`, which may have `share` of them.
    ///
    /// # Errors
    ///
    /// If all places are taken, or this client has its share.
    pub fn take(&self, client: Client, share: usize) -> Result<Slot, Full> {
        let mut open = self.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        let full = if open.total >= self.0.max {
            Some(Full::Total(self.0.max))
        } else if open.by_client.get(&client).is_some_and(|count| *count >= share) {
            Some(Full::Client(share))
        } else {
            None
        };
        if let Some(full) = full {
            self.0.refused.fetch_add(1, Ordering::Relaxed);
            return Err(full);
        }
        open.total += 1;
        *open.by_client.entry(client).or_default() += 1;
        Ok(Slot { slots: self.clone(), client })
    }

    /// Connections that are open now.
    pub fn open(&self) -> usize {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner).total
    }

    /// Connections that were refused since the start.
    pub fn refused(&self) -> u64 {
        self.0.refused.load(Ordering::Relaxed)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut open = self.slots.0.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.total -= 1;
        if let Some(count) = open.by_client.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                open.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    #[test]
    fn a_client_has_a_share_and_all_have_a_total() {
        let (one, other) = (Client::from(IpAddr::from([192, 0, 2, 1])), Client::from(IpAddr::from([192, 0, 2, 2])));
        let slots = Slots::new(3);
        let held = [slots.take(one, 2), slots.take(one, 2)];
        assert!(held.iter().all(Result::is_ok));
        assert_eq!(slots.take(one, 2).err(), Some(Full::Client(2)));
        let third = slots.take(other, 2).expect("another client has a share of its own");
        assert_eq!(slots.take(other, 2).err(), Some(Full::Total(3)));
        assert_eq!((slots.open(), slots.refused()), (3, 2));
        drop((held, third));
        assert_eq!(slots.open(), 0);
        assert!(slots.0.open.lock().expect("nothing panicked").by_client.is_empty(), "no client is remembered");
    }
}
