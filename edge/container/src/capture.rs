//! Keeps the first bytes of what a program prints, and counts the rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// What two streams may keep together.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: Arc<AtomicUsize>,
    dropped: Arc<AtomicU64>,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)), dropped: Arc::default() }
    }

    /// Bytes that were not kept.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Reads to the end. The writer never waits for more than the reading takes.
    pub(crate) async fn keep(self, mut stream: impl AsyncRead + Unpin) -> Vec<u8> {
        let (mut kept, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let take = |left: usize| Some(left - left.min(read));
            let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or(0);
            let count = left.min(read);
            kept.extend_from_slice(&buffer[..count]);
            self.dropped.fetch_add(u64::try_from(read - count).unwrap_or(u64::MAX), Ordering::Relaxed);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn two_streams_share_what_is_kept() {
        let budget = Budget::new(10);
        assert_eq!(budget.clone().keep(&b"123456"[..]).await, b"123456");
        assert_eq!(budget.clone().keep(&b"abcdef"[..]).await, b"abcd");
        assert_eq!(budget.dropped(), 2);
    }
}
