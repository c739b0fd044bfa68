//! Keeps what a program prints, up to a limit.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;

/// What two streams may have together.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    left: Arc<AtomicUsize>,
    exceeded: watch::Sender<bool>,
}

impl Budget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self { left: Arc::new(AtomicUsize::new(bytes)), exceeded: watch::Sender::new(false) }
    }

    /// Whether the streams have more bytes than they may.
    pub(crate) fn is_exceeded(&self) -> bool {
        *self.exceeded.borrow()
    }

    /// Returns as soon as they have.
    pub(crate) async fn exceeded(&self) {
        let mut exceeded = self.exceeded.subscribe();
        // The sender lives as long as this.
        let _ = exceeded.wait_for(|is_exceeded| *is_exceeded).await;
    }

    /// Reads to the end, or until the streams have more bytes than they may (decision 670): what comes after that is not read. A stream that cannot be read
    /// is an error, for a part of it would be taken for the whole.
    pub(crate) async fn keep(self, mut stream: impl AsyncRead + Unpin) -> io::Result<Vec<u8>> {
        let (mut kept, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
        loop {
            let read = stream.read(&mut buffer).await?;
            if read == 0 {
                return Ok(kept);
            }
            let take = |left: usize| Some(left - left.min(read));
            let left = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).unwrap_or(0);
            kept.extend_from_slice(&buffer[..left.min(read)]);
            if left < read {
                self.exceeded.send_replace(true);
                return Ok(kept);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 670: whatever the order in which they are read, streams with more bytes than they may have together exceed the budget; as many are none too many.
    #[tokio::test]
    async fn two_streams_share_what_is_kept() {
        let (first, second) = (&b"123456"[..], &b"abcdef"[..]);
        for (bytes, is_exceeded) in [(12, false), (11, true)] {
            for streams in [[first, second], [second, first]] {
                let budget = Budget::new(bytes);
                assert_eq!(budget.clone().keep(streams[0]).await.expect("bytes are read"), streams[0]);
                assert_eq!(budget.clone().keep(streams[1]).await.expect("bytes are read"), &streams[1][..bytes - 6]);
                assert_eq!(budget.is_exceeded(), is_exceeded, "{bytes}");
            }
        }
    }

    /// Decision 670: a stream without an end is read until it has too many bytes, and who waits for that hears of it.
    #[tokio::test]
    async fn what_has_no_end_is_not_read_on() {
        let budget = Budget::new(1 << 20);
        let kept = budget.clone().keep(tokio::io::repeat(b'x')).await.expect("bytes are read");
        assert_eq!((kept.len(), budget.is_exceeded()), (1 << 20, true));
        budget.exceeded().await;
    }
}
