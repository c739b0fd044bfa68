//! Bytes of requests and answers that a server holds at once.

use crate::{
    Client,
    keeping::Keeping,
    subnet::{self, Subnet},
};
use std::{
    collections::{HashMap, hash_map::Entry},
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// The longest answer that is never refused for want of memory, in bytes: how the node is, and why others are refused.
const SMALL_ANSWER: usize = 16 * 1024;

/// A bound on the bytes of bodies, in all, for each client and for each subnet. Clones share it.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max: usize,
    share: usize,
    share_of_subnet: usize,
    sums: Mutex<Sums>,
}

#[derive(Debug, Default)]
struct Sums {
    total: usize,
    /// No client without bytes.
    by_client: HashMap<Client, usize>,
    /// No subnet without bytes.
    by_subnet: HashMap<Subnet, usize>,
}

/// Bytes that count until this is dropped.
#[derive(Debug)]
pub struct Held {
    memory: Memory,
    client: Client,
    bytes: usize,
}

impl Memory {
    /// At most `max` bytes at once, at most `share` of one client, and at most twice that of one subnet.
    pub fn new(max: usize, share: usize) -> Self {
        let share_of_subnet = share.saturating_mul(subnet::SHARES);
        Self(Arc::new(Inner { max, share, share_of_subnet, sums: Mutex::default() }))
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
        if bytes == 0 {
            return true;
        }
        let (bounds, subnet) = (&self.memory.0, self.client.subnet());
        let mut sums = self.memory.sums();
        let within = |sum: usize, max: usize| sum.checked_add(bytes).filter(|sum| *sum <= max);
        let total = within(sums.total, bounds.max);
        let own = within(sums.by_client.get(&self.client).copied().unwrap_or(0), bounds.share);
        let of_subnet = within(sums.by_subnet.get(&subnet).copied().unwrap_or(0), bounds.share_of_subnet);
        let (Some(total), Some(own), Some(of_subnet)) = (total, own, of_subnet) else { return false };
        sums.total = total;
        sums.by_client.insert(self.client, own);
        sums.by_subnet.insert(subnet, of_subnet);
        drop(sums);
        self.bytes += bytes;
        true
    }

    /// Counts an answer. A small one is never refused: without room for it, it does not count.
    #[must_use]
    pub fn add_answer(&mut self, bytes: usize) -> bool {
        self.add(bytes) || bytes <= SMALL_ANSWER
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
        release(&mut sums.by_client, self.client, self.bytes);
        release(&mut sums.by_subnet, self.client.subnet(), self.bytes);
    }
}

/// Counts bytes of a key no more, and forgets the key with the last of them.
fn release<K: Eq + Hash>(sums: &mut HashMap<K, usize>, key: K, bytes: usize) {
    if let Entry::Occupied(mut own) = sums.entry(key) {
        *own.get_mut() -= bytes;
        if *own.get() == 0 {
            own.remove();
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
        assert!(memory.sums().by_client.is_empty() && memory.sums().by_subnet.is_empty(), "nobody is remembered");
    }

    /// Whoever has a /56 of IPv6 has 256 clients, and a part of the memory all the same.
    #[test]
    fn a_subnet_has_a_share_of_the_bytes() {
        let memory = Memory::new(80, 10);
        let hold = |text: &str| memory.hold(text.parse::<IpAddr>().expect("an address").into());
        let mut neighbours: Vec<Held> = (0..8).map(|net| hold(&format!("2001:db8:1:{net:x}::1"))).collect();
        assert_eq!(neighbours.iter_mut().map(|held| held.add(10)).filter(|is_counted| *is_counted).count(), 2);
        let mut other = hold("2001:db8:2::1");
        assert!(other.add(10), "another network has bytes of its own");
        drop(neighbours);
        assert_eq!(memory.held(), 10);
    }

    /// How the node is can be asked for where no memory is left.
    #[test]
    fn small_answers_are_never_refused() {
        let memory = Memory::new(100_000, 100_000);
        let (mut full, mut other) = (memory.hold(client(1)), memory.hold(client(2)));
        assert!(full.add_answer(100_000));
        assert!(other.add_answer(SMALL_ANSWER) && !other.add_answer(SMALL_ANSWER + 1));
        assert_eq!(memory.held(), 100_000, "it does not count");
        drop(full);
        assert!(other.add_answer(SMALL_ANSWER + 1));
        assert_eq!(memory.held(), SMALL_ANSWER + 1);
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
