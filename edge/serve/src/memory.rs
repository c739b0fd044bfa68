//! Bytes of requests and answers that a server holds at once.

use crate::{Client, keeping::Keeping};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// A bound on the bytes of bodies, in all and for each client. Clones share it.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max: usize,
    share: usize,
    sums: Mutex<Sums>,
}

#[derive(Debug, Default)]
struct Sums {
    total: usize,
    /// No client without bytes.
    by_client: HashMap<Client, usize>,
}

/// Bytes that count until this is dropped.
#[derive(Debug)]
pub struct Held {
    memory: Memory,
    client: Client,
    bytes: usize,
}

impl Memory {
    /// At most `max` bytes at once, and at most `share` of one client.
    pub fn new(max: usize, share: usize) -> Self {
        Self(Arc::new(Inner { max, share, sums: Mutex::default() }))
    }

    /// Nothing yet, to which bytes are added that count for `client`.
    pub fn hold(&self, client: Client) -> Held {
        Held { memory: self.clone(), client, bytes: 0 }
    }

    /// Bytes that count now.
    pub fn held(&self) -> usize {
        self.sums().total
    }

    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.0.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    /// Counts more bytes; false, and nothing is counted, where that is beyond a bound.
    #[must_use]
    pub fn add(&mut self, bytes: usize) -> bool {
        let mut sums = self.memory.sums();
        let own = sums.by_client.get(&self.client).copied().unwrap_or(0);
        let total = sums.total.checked_add(bytes).filter(|sum| *sum <= self.memory.0.max);
        let own = own.checked_add(bytes).filter(|sum| *sum <= self.memory.0.share);
        let (Some(total), Some(own)) = (total, own) else { return false };
        sums.total = total;
        if own > 0 {
            sums.by_client.insert(self.client, own);
        }
        self.bytes += bytes;
        true
    }

    /// A body whose bytes count until it is sent or dropped.
    pub fn with<B>(self, body: B) -> Keeping<B, Self> {
        Keeping::new(body, self)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut sums = self.memory.sums();
        sums.total -= self.bytes;
        if let Some(own) = sums.by_client.get_mut(&self.client) {
            *own -= self.bytes;
            if *own == 0 {
                sums.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::IpAddr;

    fn client(number: u8) -> Client {
        IpAddr::from([192, 0, 2, number]).into()
    }

    #[test]
    fn a_client_has_a_share_of_the_bytes() {
        let memory = Memory::new(10, 6);
        let (mut one, mut again, mut other) = (memory.hold(client(1)), memory.hold(client(1)), memory.hold(client(2)));
        assert!(one.add(4) && again.add(2) && !again.add(1), "both count for the same client");
        assert!(other.add(4) && !other.add(1), "the others have the rest");
        drop(one);
        assert!(again.add(2) && !other.add(3) && other.add(2));
        drop((again, other));
        assert!(memory.sums().by_client.is_empty(), "no client is remembered");
    }

    #[test]
    fn bytes_count_until_they_are_dropped() {
        let memory = Memory::new(10, 10);
        let (mut one, mut other) = (memory.hold(client(1)), memory.hold(client(1)));
        assert!(one.add(6) && !other.add(5) && other.add(4) && !one.add(1));
        let body = one.with(http_body_util::Full::new(bytes::Bytes::from_static(b"answer")));
        assert!(!other.add(1), "an answer that is not sent yet counts");
        drop(body);
        assert!(other.add(6) && !other.add(1) && !other.add(usize::MAX));
    }
}
