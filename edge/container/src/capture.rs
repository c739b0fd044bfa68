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

/// What was kept of a stream.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Captured {
    pub(crate) bytes: Vec<u8>,
    /// Whether the stream had no more bytes than these.
    pub(crate) is_whole: bool,
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
    pub(crate) async fn keep(self, mut stream: impl AsyncRead + Unpin) -> Captured {
        let (mut kept, mut buffer) = (Captured { bytes: Vec::new(), is_whole: true }, vec![0; 64 << 10]);
        while let Ok(read @ 1..) = stream.read(&mut buffer).await {
            let take = |left: usize| Some(left - left.min(read));
            let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or(0);
            let count = left.min(read);
            kept.bytes.extend_from_slice(&buffer[..count]);
            kept.is_whole &= count == read;
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
        let kept = |bytes: &[u8], is_whole| Captured { bytes: bytes.to_vec(), is_whole };
        assert_eq!(budget.clone().keep(&b"123456"[..]).await, kept(b"123456", true));
        assert_eq!(budget.clone().keep(&b"abcdef"[..]).await, kept(b"abcd", false));
        assert_eq!(budget.dropped(), 2);
    }
}
