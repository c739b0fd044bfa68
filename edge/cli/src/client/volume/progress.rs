//! How far a command is that sends, fetches or removes files: on stderr, with bytes and a rate. On a terminal that is one line that moves, and elsewhere a
//! line now and then: the result says what was done.

use cowboy_console::{amount::bytes as shown, output::Output};
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The time between two lines where each is a line of its own.
const EVERY: Duration = Duration::from_secs(10);

/// The time between two looks of the line that moves.
const REDRAWN: Duration = Duration::from_millis(100);

/// How far it is.
pub(super) struct Progress {
    output: Output,
    /// Whether it is one line that moves.
    is_moving: bool,
    count: Count,
    began: Instant,
    /// When it last said how far it is.
    said: Option<Instant>,
}

/// Files and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Count {
    /// All files.
    files: usize,
    /// All bytes.
    bytes: u64,
    /// The number of the file that is worked on, from 1.
    number: usize,
    /// Its path.
    path: String,
    /// Bytes of files that are done, and of those that were not sent again.
    done: u64,
    /// Bytes that were sent or fetched.
    moved: u64,
}

impl Count {
    fn line(&self, elapsed: Duration) -> String {
        if self.bytes == 0 {
            return format!("{} of {}: {}", self.number, self.files, self.path);
        }
        // Before the first byte there is no rate.
        let rate = if self.moved == 0 {
            String::new()
        } else {
            let rate = u128::from(self.moved) * 1_000 / elapsed.as_millis().max(1);
            format!(", {}/s", shown(u64::try_from(rate).unwrap_or(u64::MAX)))
        };
        format!("{} of {}: {} ({} of {}{rate})", self.number, self.files, self.path, shown(self.done), shown(self.bytes))
    }
}

impl Progress {
    /// Of `files` files with `bytes` bytes.
    pub(super) fn new(output: Output, files: usize, bytes: u64) -> Self {
        let count = Count { files, bytes, ..Count::default() };
        Self { output, is_moving: output.has_moving_line(), count, began: Instant::now(), said: None }
    }

    /// Says how far it is, where that is due.
    fn say(&mut self) {
        if !is_due(self.is_moving, self.began.elapsed(), self.said.map(|said| said.elapsed())) {
            return;
        }
        let line = self.count.line(self.began.elapsed());
        if self.is_moving {
            self.output.moving(line);
        } else {
            self.output.progress(line);
        }
        self.said = Some(Instant::now());
    }

    /// The next file.
    pub(super) fn next(&mut self, path: &str) {
        self.count.number += 1;
        path.clone_into(&mut self.count.path);
        self.say();
    }

    /// Bytes that need not be moved.
    pub(super) fn skip(&mut self, bytes: u64) {
        self.count.done = self.count.done.saturating_add(bytes);
    }

    /// Bytes of all files so far.
    pub(super) fn done(&self) -> u64 {
        self.count.done
    }

    /// Counts what is read from or written to it.
    pub(super) fn counted<T>(&mut self, inner: T) -> Counted<'_, T> {
        Counted { inner, progress: self }
    }

    fn advance(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.skip(bytes);
        self.count.moved = self.count.moved.saturating_add(bytes);
        self.say();
    }
}

/// Whether a line is due, so long after the beginning and after the last one. A line that moves begins at once.
fn is_due(is_moving: bool, running: Duration, silent: Option<Duration>) -> bool {
    match (is_moving, silent) {
        (true, silent) => silent.is_none_or(|silent| silent >= REDRAWN),
        (false, silent) => silent.unwrap_or(running) >= EVERY,
    }
}

/// A file whose bytes are counted as they go.
pub(super) struct Counted<'a, T> {
    inner: T,
    progress: &'a mut Progress,
}

impl<T> Counted<'_, T> {
    /// The file.
    pub(super) fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Counted<'_, T> {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.inner).poll_read(context, buffer);
        this.progress.advance(buffer.filled().len().saturating_sub(before));
        polled
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Counted<'_, T> {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let polled = Pin::new(&mut this.inner).poll_write(context, bytes);
        if let Poll::Ready(Ok(written)) = &polled {
            this.progress.advance(*written);
        }
        polled
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    #[test]
    fn a_line_has_bytes_and_a_rate() {
        let path = "notes/a".to_owned();
        let count = Count { files: 3, bytes: 4 << 20, number: 2, path, done: 3 << 20, moved: 2 << 20 };
        assert_eq!(count.line(Duration::from_secs(2)), "2 of 3: notes/a (3.0 MiB of 4.0 MiB, 1.0 MiB/s)");
        let removed = Count { files: 3, number: 2, path: "notes/a".to_owned(), ..Count::default() };
        assert_eq!(removed.line(Duration::ZERO), "2 of 3: notes/a");
    }

    /// Thousands of small files are one line that moves, and in a log a line for each ten seconds, if it takes so long.
    #[test]
    fn lines_are_not_as_many_as_files() {
        let seconds = Duration::from_secs;
        let rows = [
            (true, seconds(0), None, true),
            (true, seconds(1), Some(Duration::from_millis(99)), false),
            (true, seconds(1), Some(REDRAWN), true),
            (false, seconds(0), None, false),
            (false, seconds(10), None, true),
            (false, seconds(100), Some(seconds(9)), false),
            (false, seconds(100), Some(seconds(10)), true),
        ];
        for (is_moving, running, silent, expected) in rows {
            assert_eq!(is_due(is_moving, running, silent), expected, "{is_moving} {running:?} {silent:?}");
        }
    }

    /// What is skipped counts as done, and not as moved: the rate is that of the line.
    #[tokio::test]
    async fn bytes_are_counted_as_they_go() {
        let mut progress = Progress::new(Output { json: true }, 2, 9);
        progress.next("notes/a");
        progress.skip(4);
        progress.next("notes/b");
        let mut read = Vec::new();
        progress.counted(&b"five!"[..]).read_to_end(&mut read).await.expect("it is read");
        let mut written = progress.counted(Vec::new());
        written.write_all(&read).await.expect("it is written");
        assert_eq!(written.into_inner(), b"five!");
        assert_eq!((progress.done(), progress.count.moved, progress.count.number), (14, 10, 2));
    }
}
