//! A connection that ends when nothing moves on it.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Instant, Sleep},
};

/// A stream whose reads and writes fail after a time in which none of them got anywhere: a visitor who asks nothing more, does not
/// read the answer, or is gone.
pub(crate) struct Idle<S> {
    stream: S,
    after: Duration,
    moved: Instant,
    /// Set again only when it rings: a busy connection pays for no timer.
    alarm: Pin<Box<Sleep>>,
}

impl<S> Idle<S> {
    pub(crate) fn new(stream: S, after: Duration) -> Self {
        Self { stream, after, moved: Instant::now(), alarm: Box::pin(tokio::time::sleep(after)) }
    }

    /// What a ready or waiting operation means for the time.
    fn watch<T>(&mut self, context: &mut Context<'_>, result: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if result.is_ready() {
            self.moved = Instant::now();
            return result;
        }
        loop {
            ready!(self.alarm.as_mut().poll(context));
            let end = self.moved + self.after;
            if end <= Instant::now() {
                return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
            }
            self.alarm.as_mut().reset(end);
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Idle<S> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        self.watch(context, result)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Idle<S> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.watch(context, result)
    }

    fn poll_write_vectored(mut self: Pin<&mut Self>, context: &mut Context<'_>, slices: &[io::IoSlice<'_>]) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.watch(context, result)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.stream).poll_shutdown(context);
        self.watch(context, result)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    /// A connection on which something moves lives; one that stands still, reading or writing, ends.
    #[tokio::test]
    async fn what_stands_still_ends() {
        let (near, mut far) = tokio::io::duplex(8);
        let mut near = Idle::new(near, Duration::from_millis(20));
        let mut byte = [0];
        far.write_all(b"a").await.expect("there is room");
        assert!(near.read_exact(&mut byte).await.is_ok());
        let silent = near.read_exact(&mut byte).await.expect_err("nobody sends");
        assert_eq!(silent.kind(), io::ErrorKind::TimedOut);
        // The alarm that rang is set again by what moves.
        far.write_all(b"b").await.expect("there is room");
        assert!(near.read_exact(&mut byte).await.is_ok());
        let stuck = near.write_all(&[0; 9]).await.expect_err("nobody reads");
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
    }
}
