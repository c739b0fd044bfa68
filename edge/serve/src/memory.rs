//! Bytes of requests and answers that a server holds at once.

use crate::keeping::Keeping;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// A bound on the bytes of bodies. Clones share it.
#[derive(Clone, Debug)]
pub struct Memory(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    max: usize,
    held: AtomicUsize,
}

/// Bytes that count until this is dropped.
#[derive(Debug)]
pub struct Held {
    memory: Memory,
    bytes: usize,
}

impl Memory {
    /// At most this many bytes at once.
    pub fn new(max: usize) -> Self {
        Self(Arc::new(Inner { max, held: AtomicUsize::new(0) }))
    }

    /// Nothing yet, to which bytes are added.
    pub fn hold(&self) -> Held {
        Held { memory: self.clone(), bytes: 0 }
    }
}

impl Held {
    /// Counts more bytes; false, and nothing is counted, where that is beyond the bound.
    #[must_use]
    pub fn add(&mut self, bytes: usize) -> bool {
        let inner = &self.memory.0;
        let fits = |held: usize| held.checked_add(bytes).filter(|sum| *sum <= inner.max);
        let is_added = inner.held.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok();
        if is_added {
            self.bytes += bytes;
        }
        is_added
    }

    /// A body whose bytes count until it is sent or dropped.
    pub fn with<B>(self, body: B) -> Keeping<B, Self> {
        Keeping::new(body, self)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.memory.0.held.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_count_until_they_are_dropped() {
        let memory = Memory::new(10);
        let (mut one, mut other) = (memory.hold(), memory.hold());
        assert!(one.add(6) && !other.add(5) && other.add(4) && !one.add(1));
        let body = one.with(http_body_util::Full::new(bytes::Bytes::from_static(b"answer")));
        assert!(!other.add(1), "an answer that is not sent yet counts");
        drop(body);
        assert!(other.add(6) && !other.add(1) && !other.add(usize::MAX));
    }
}
