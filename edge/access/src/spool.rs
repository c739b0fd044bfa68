//! Files that are not committed yet: on the disk, without a name, and not too many.
//!
//! They have no name from the beginning, so nothing of them is left behind by a program that was killed.

use crate::fault::Fault;
use bytes::Bytes;
use futures::{Stream, StreamExt as _, stream};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::AsyncRead;
use tokio_util::io::StreamReader;

/// Bytes that are read or written at once.
const PIECE: u64 = 256 * 1024;

/// Content that is read once.
pub(crate) type Content = Pin<Box<dyn AsyncRead>>;

/// The room for files that are not committed yet.
#[derive(Clone, Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    most: u64,
    used: Arc<AtomicU64>,
}

/// Bytes of the spool, given back when they are dropped.
#[derive(Debug)]
pub(crate) struct Held {
    bytes: u64,
    used: Arc<AtomicU64>,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.used.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Held {
    /// The same bytes, held together with these.
    fn join(&mut self, mut other: Self) {
        self.bytes = self.bytes.saturating_add(std::mem::take(&mut other.bytes));
    }
}

/// A file of the spool.
#[derive(Debug)]
pub(crate) struct Spooled {
    file: Arc<File>,
    /// How long it is, and its bytes of the spool.
    length: Mutex<(u64, Held)>,
    spool: Spool,
}

/// What is to be sent: parts of a file of the spool, in order.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    spooled: Arc<Spooled>,
    parts: Vec<Range<u64>>,
}

/// Work with files, off the thread that answers.
async fn apart<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

impl Spool {
    /// At most this many bytes, in a folder.
    pub(crate) fn new(folder: Option<PathBuf>, most: u64) -> Self {
        Self { folder: folder.unwrap_or_else(std::env::temp_dir), most, used: Arc::default() }
    }

    /// Holds bytes.
    fn hold(&self, bytes: u64) -> Result<Held, Fault> {
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.most);
        let held = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        held.map(|_| Held { bytes, used: self.used.clone() }).map_err(|_| Fault::SpoolFull(self.most))
    }

    /// A new, empty file.
    pub(crate) async fn file(&self) -> Result<Arc<Spooled>, Fault> {
        let folder = self.folder.clone();
        let file = apart(move || tempfile::tempfile_in(folder)).await?;
        Ok(Arc::new(Spooled { file: Arc::new(file), length: Mutex::new((0, self.hold(0)?)), spool: self.clone() }))
    }

    /// Bytes that are held.
    #[cfg(test)]
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl Spooled {
    /// Its length.
    pub(crate) fn length(&self) -> u64 {
        self.length.lock().unwrap_or_else(PoisonError::into_inner).0
    }

    /// Makes it at least this long, with zeros.
    fn grow(&self, to: u64) -> Result<(), Fault> {
        let mut length = self.length.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(more) = to.checked_sub(length.0) {
            let held = self.spool.hold(more)?;
            self.file.set_len(to)?;
            length.1.join(held);
            length.0 = to;
        }
        Ok(())
    }

    /// Room for this many bytes behind what is there. Answers where it begins.
    fn reserve(&self, bytes: u64) -> Result<u64, Fault> {
        let mut length = self.length.lock().unwrap_or_else(PoisonError::into_inner);
        let (start, held) = (length.0, self.spool.hold(bytes)?);
        length.1.join(held);
        length.0 = start.saturating_add(bytes);
        Ok(start)
    }

    /// Writes a stream of exactly this many bytes behind what is there, and shows each piece to `see`. Several may be written at once.
    pub(crate) async fn append<S, E>(&self, mut pieces: S, length: u64, mut see: impl FnMut(&[u8])) -> Result<Range<u64>, Fault>
    where
        S: Stream<Item = Result<Bytes, E>> + Unpin,
        E: Into<Fault>,
    {
        let start = self.reserve(length)?;
        let mut left = length;
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| -> Fault { error.into() })?;
            see(&piece);
            let (at, bytes) = (start.saturating_add(length.saturating_sub(left)), u64::try_from(piece.len()).unwrap_or(u64::MAX));
            left = left.checked_sub(bytes).ok_or(Fault::Incomplete)?;
            self.store(at, piece).await?;
        }
        if left > 0 { Err(Fault::Incomplete) } else { Ok(start..start.saturating_add(length)) }
    }

    async fn store(&self, at: u64, bytes: Bytes) -> io::Result<()> {
        let file = self.file.clone();
        apart(move || file.write_all_at(&bytes, at)).await
    }

    /// Writes bytes at a place; what lies between the end and them is zeros.
    pub(crate) async fn write(&self, at: u64, bytes: Bytes) -> Result<(), Fault> {
        let end = u64::try_from(bytes.len()).ok().and_then(|length| at.checked_add(length)).ok_or(Fault::TooLong)?;
        self.grow(end)?;
        Ok(self.store(at, bytes).await?)
    }

    /// Reads as much of a part as there is.
    pub(crate) async fn read(&self, part: Range<u64>) -> Result<Vec<u8>, Fault> {
        let end = part.end.min(self.length());
        let length = usize::try_from(end.saturating_sub(part.start)).map_err(Fault::outside)?;
        let file = self.file.clone();
        let read = move || {
            let mut bytes = vec![0; length];
            file.read_exact_at(&mut bytes, part.start)?;
            Ok(bytes)
        };
        Ok(apart(read).await?)
    }

    /// Cuts it, or makes it longer with zeros.
    pub(crate) async fn resize(&self, to: u64) -> Result<(), Fault> {
        self.grow(to)?;
        let file = self.file.clone();
        apart(move || file.set_len(to)).await?;
        let mut length = self.length.lock().unwrap_or_else(PoisonError::into_inner);
        let freed = length.0.saturating_sub(to);
        length.1.bytes = length.1.bytes.saturating_sub(freed);
        self.spool.used.fetch_sub(freed, Ordering::Relaxed);
        length.0 = to;
        Ok(())
    }
}

impl Body {
    /// Parts of a file.
    pub(crate) fn new(spooled: Arc<Spooled>, parts: Vec<Range<u64>>) -> Self {
        Self { spooled, parts }
    }

    /// All of a file, as long as it is now.
    pub(crate) fn whole(spooled: Arc<Spooled>) -> Self {
        let all = 0..spooled.length();
        Self::new(spooled, vec![all])
    }

    /// How long they are together.
    pub(crate) fn size(&self) -> u64 {
        self.parts.iter().fold(0, |sum, part| sum.saturating_add(part.end.saturating_sub(part.start)))
    }

    /// Their pieces.
    pub(crate) fn pieces(&self) -> impl Stream<Item = io::Result<Bytes>> + use<> {
        let (spooled, parts) = (self.spooled.clone(), VecDeque::from(self.parts.clone()));
        stream::try_unfold((spooled, parts), async |(spooled, mut left): (Arc<Spooled>, VecDeque<Range<u64>>)| {
            let Some(part) = left.pop_front() else { return Ok::<_, io::Error>(None) };
            let end = part.end.min(part.start.saturating_add(PIECE));
            if end < part.end {
                left.push_front(end..part.end);
            }
            let length = usize::try_from(end.saturating_sub(part.start)).map_err(io::Error::other)?;
            let file = spooled.file.clone();
            let read = move || {
                let mut bytes = vec![0; length];
                file.read_exact_at(&mut bytes, part.start)?;
                Ok(Bytes::from(bytes))
            };
            Ok(Some((apart(read).await?, (spooled, left))))
        })
    }

    /// The same, to be read.
    pub(crate) fn content(&self) -> Content {
        Box::pin(StreamReader::new(Box::pin(self.pieces())))
    }

    /// All of it.
    #[cfg(test)]
    pub(crate) async fn bytes(&self) -> Vec<u8> {
        futures::TryStreamExt::try_collect::<Vec<Bytes>>(self.pieces()).await.expect("it is read").concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(parts: &'static [&'static [u8]]) -> impl Stream<Item = Result<Bytes, io::Error>> + Unpin {
        stream::iter(parts.iter().map(|part| Ok(Bytes::from_static(part))))
    }

    /// Parts lie behind each other, are read in any order, and have exactly the length that was said.
    #[tokio::test]
    async fn parts_lie_in_order() {
        let spool = Spool::new(None, 100);
        let file = spool.file().await.expect("there is room");
        let first = file.append(pieces(&[b"ab", b"", b"c"]), 3, |_| {}).await.expect("it is as long");
        let mut seen = Vec::new();
        let second = file.append(pieces(&[b"defg"]), 4, |piece| seen.extend_from_slice(piece)).await.expect("it is as long");
        assert_eq!((first.clone(), second.clone(), &seen[..]), (0..3, 3..7, &b"defg"[..]));
        let body = Body::new(file.clone(), vec![second, first, 0..0]);
        assert_eq!((body.size(), &body.bytes().await[..]), (7, &b"defgabc"[..]));
        assert!(matches!(file.append(pieces(&[b"abc"]), 2, |_| {}).await, Err(Fault::Incomplete)));
        assert!(matches!(file.append(pieces(&[b"abc"]), 4, |_| {}).await, Err(Fault::Incomplete)));
    }

    /// What is held is bounded, also where a file is said to be as long as no file is, and is given back.
    #[tokio::test]
    async fn room_is_bounded() {
        let spool = Spool::new(None, 10);
        let file = spool.file().await.expect("there is room");
        assert!(matches!(file.append(pieces(&[]), u64::MAX, |_| {}).await, Err(Fault::SpoolFull(10))));
        for at in [8, u64::MAX - 1, u64::MAX] {
            assert!(file.write(at, Bytes::from_static(b"abc")).await.is_err(), "{at}");
        }
        file.write(4, Bytes::from_static(b"abc")).await.expect("there is room");
        assert_eq!((spool.used(), file.read(0..u64::MAX).await.expect("it is short")), (7, b"\0\0\0\0abc".to_vec()));
        file.resize(5).await.expect("it is shorter");
        file.resize(8).await.expect("there is room");
        assert_eq!((spool.used(), Body::whole(file.clone()).bytes().await), (8, b"\0\0\0\0a\0\0\0".to_vec()));
        assert!(file.resize(1 << 63).await.is_err());
        assert_eq!(spool.used(), 8);
        assert!(file.read(9..12).await.expect("nothing is there").is_empty());
        drop(file);
        assert_eq!(spool.used(), 0);
    }
}
