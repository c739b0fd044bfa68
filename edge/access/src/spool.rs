//! Files that are not committed yet: on the disk, without a name, and not too many.
//!
//! A file loses its name as soon as it is made, so a program that is killed leaves nothing of its content. A name that it had no time to remove goes
//! when the next one opens the folder.

use crate::fault::Fault;
use bytes::Bytes;
use cowboy_host::files;
use cowboy_serve::free_bytes;
use futures::{Stream, StreamExt as _, stream};
use rustix::fs::{FallocateFlags, fallocate};
use std::collections::VecDeque;
use std::fs::{self, File, Permissions};
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::AsyncRead;
use tokio_util::io::StreamReader;

/// Bytes that are read or written at once.
const PIECE: u64 = 256 * 1024;

/// What the names of files begin with, for as long as they have one.
const PREFIX: &str = "cowboy-spool-";

/// The bytes of the disk that are left to everybody else.
const SPARE: u64 = 64 << 20;

/// Content that is read once.
pub(crate) type Content = Pin<Box<dyn AsyncRead>>;

/// The room for files that are not committed yet.
#[derive(Clone, Debug)]
pub(crate) struct Spool {
    folder: PathBuf,
    most: u64,
    /// The bytes of the disk that stay free.
    spare: u64,
    used: Arc<AtomicU64>,
    /// Bytes that are to come, and are not on the disk yet.
    awaited: Arc<AtomicU64>,
    /// How much of the disk is free.
    free: fn(&Path) -> io::Result<u64>,
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

    /// Gives some of them back.
    fn give_back(&mut self, bytes: u64) {
        let bytes = bytes.min(self.bytes);
        self.bytes -= bytes;
        self.used.fetch_sub(bytes, Ordering::Relaxed);
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

/// The place of what comes into a file. What does not come whole gives its room back, also where nobody waits for it any more.
struct Coming<'a> {
    spooled: &'a Spooled,
    place: Range<u64>,
    /// Bytes of it that are not on the disk yet.
    awaited: u64,
}

impl<'a> Coming<'a> {
    /// A place for this many bytes behind what is there.
    fn new(spooled: &'a Spooled, bytes: u64) -> Result<Self, Fault> {
        let start = spooled.reserve(bytes)?;
        spooled.spool.awaited.fetch_add(bytes, Ordering::Relaxed);
        Ok(Self { spooled, place: start..start.saturating_add(bytes), awaited: bytes })
    }

    /// Notes bytes that are on the disk, or that nobody waits for any more.
    fn settle(&mut self, bytes: u64) {
        let bytes = bytes.min(self.awaited);
        self.awaited -= bytes;
        self.spooled.spool.awaited.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// All of it came.
    fn kept(mut self) -> Range<u64> {
        std::mem::replace(&mut self.place, 0..0)
    }
}

impl Drop for Coming<'_> {
    fn drop(&mut self) {
        self.settle(u64::MAX);
        self.spooled.give_back(&self.place);
    }
}

/// What is to be sent: parts of a file of the spool, in order.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    spooled: Arc<Spooled>,
    parts: Vec<Range<u64>>,
}

/// Work that waits for files or the kernel, off the thread that answers.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}

/// A file in a folder that has no name any more, and that only its owner could open before.
fn nameless(folder: &Path) -> io::Result<File> {
    let (file, name) = tempfile::Builder::new().prefix(PREFIX).tempfile_in(folder)?.into_parts();
    match name.close() {
        // Another program that opened the folder took it for one that was left.
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(file),
    }
}

impl Spool {
    /// At most this many bytes, in a folder that is made where it is missing. What a program that was killed left there is removed.
    pub(crate) fn open(folder: &Path, most: u64) -> io::Result<Self> {
        files::create_folder(folder)?;
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            // A file of this program is a plain one. In a shared folder others may have put anything else under such a name.
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if !is_file || !entry.file_name().to_string_lossy().starts_with(PREFIX) {
                continue;
            }
            match fs::remove_file(entry.path()) {
                // It is gone, or another account's.
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied) => {}
                removed => removed?,
            }
        }
        Ok(Self { folder: folder.to_owned(), most, spare: SPARE, used: Arc::default(), awaited: Arc::default(), free: free_bytes })
    }

    /// The same in a folder of this program's own, which nobody else may enter.
    pub(crate) fn own(folder: &Path, most: u64) -> io::Result<Self> {
        let spool = Self::open(folder, most)?;
        fs::set_permissions(folder, Permissions::from_mode(0o700))?;
        Ok(spool)
    }

    /// Where it lies.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Holds bytes.
    fn hold(&self, bytes: u64) -> Result<Held, Fault> {
        let more = |used: u64| used.checked_add(bytes).filter(|used| *used <= self.most);
        let held = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        let held = held.map(|_| Held { bytes, used: self.used.clone() }).map_err(|_| Fault::SpoolFull(self.most))?;
        // What comes beside it has its room already, though the disk does not know of it yet.
        let needed = bytes.saturating_add(self.awaited.load(Ordering::Relaxed)).saturating_add(self.spare);
        if bytes > 0 && (self.free)(&self.folder)? < needed {
            return Err(Fault::DiskFull);
        }
        Ok(held)
    }

    /// A new, empty file.
    pub(crate) async fn file(&self) -> Result<Arc<Spooled>, Fault> {
        let folder = self.folder.clone();
        let file = apart(move || nameless(&folder)).await?;
        Ok(Arc::new(Spooled { file: Arc::new(file), length: Mutex::new((0, self.hold(0)?)), spool: self.clone() }))
    }

    /// Bytes that are held.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// The same on a disk whose free bytes are these.
    #[cfg(test)]
    fn having(self, free: fn(&Path) -> io::Result<u64>) -> Self {
        Self { free, ..self }
    }

    /// The same on a disk of which that many bytes stay free.
    #[cfg(test)]
    pub(crate) fn sparing(self, spare: u64) -> Self {
        Self { spare, ..self }
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

    /// Gives back the room of a place that nobody reads: of the spool, and of the disk where it can.
    fn give_back(&self, place: &Range<u64>) {
        let bytes = place.end.saturating_sub(place.start);
        if bytes == 0 {
            return;
        }
        let mut length = self.length.lock().unwrap_or_else(PoisonError::into_inner);
        length.1.give_back(bytes);
        // Not every file system does that; then the disk has it again with the rest of the file.
        let _ = fallocate(&*self.file, FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE, place.start, bytes);
    }

    /// Bytes of the spool that it holds.
    pub(crate) fn held(&self) -> u64 {
        self.length.lock().unwrap_or_else(PoisonError::into_inner).1.bytes
    }

    /// Writes a stream of exactly this many bytes behind what is there, and shows each piece to `see`. Several may be written at once.
    pub(crate) async fn append<S, E>(&self, mut pieces: S, length: u64, mut see: impl FnMut(&[u8])) -> Result<Range<u64>, Fault>
    where
        S: Stream<Item = Result<Bytes, E>> + Unpin,
        E: Into<Fault>,
    {
        let mut coming = Coming::new(self, length)?;
        let (start, mut left) = (coming.place.start, length);
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| -> Fault { error.into() })?;
            see(&piece);
            let (at, bytes) = (start.saturating_add(length.saturating_sub(left)), u64::try_from(piece.len()).unwrap_or(u64::MAX));
            left = left.checked_sub(bytes).ok_or(Fault::Incomplete)?;
            self.store(at, piece).await?;
            coming.settle(bytes);
        }
        if left > 0 { Err(Fault::Incomplete) } else { Ok(coming.kept()) }
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
        length.1.give_back(freed);
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

    /// Where they lie.
    pub(crate) fn parts(&self) -> &[Range<u64>] {
        &self.parts
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
    #[cfg(any(test, feature = "testing"))]
    pub(crate) async fn bytes(&self) -> Vec<u8> {
        futures::TryStreamExt::try_collect::<Vec<Bytes>>(self.pieces()).await.expect("it is read").concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::spool;

    fn pieces(parts: &'static [&'static [u8]]) -> impl Stream<Item = Result<Bytes, io::Error>> + Unpin {
        stream::iter(parts.iter().map(|part| Ok(Bytes::from_static(part))))
    }

    /// Parts lie behind each other, are read in any order, and have exactly the length that was said.
    #[tokio::test]
    async fn parts_lie_in_order() {
        let spool = spool(100);
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

    /// What does not come whole has no room, whether it fails or nobody waits for it any more, however often it is tried; what came before and comes after
    /// is as it was.
    #[tokio::test]
    async fn what_does_not_come_whole_has_no_room() {
        let spool = spool(10);
        let file = spool.file().await.expect("there is room");
        let first = file.append(pieces(&[b"abc"]), 3, |_| {}).await.expect("it is as long");
        for _ in 0..3 {
            assert!(matches!(file.append(pieces(&[b"defg"]), 7, |_| {}).await, Err(Fault::Incomplete)));
            let endless = stream::iter([Ok::<_, io::Error>(Bytes::from_static(b"hi"))]).chain(stream::pending());
            let mut stalled = Box::pin(file.append(endless, 7, |_| {}));
            assert!(futures::poll!(&mut stalled).is_pending());
            assert_eq!((spool.used(), file.held()), (10, 10));
            drop(stalled);
            assert_eq!((spool.used(), file.held()), (3, 3));
        }
        let last = file.append(pieces(&[b"jklm", b"nop"]), 7, |_| {}).await.expect("there is room");
        assert_eq!(Body::new(file.clone(), vec![first, last]).bytes().await, b"abcjklmnop");
        drop(file);
        assert_eq!(spool.used(), 0);
    }

    /// What is held is bounded, also where a file is said to be as long as no file is, and is given back.
    #[tokio::test]
    async fn room_is_bounded() {
        let spool = spool(10);
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

    /// The folder is its owner's alone where it is this program's own; files have no name in it, and what a killed program left there goes. What others put
    /// into a folder that was named stays.
    #[tokio::test]
    async fn nothing_is_left_in_the_folder() {
        let parent = tempfile::tempdir().expect("a folder");
        let folder = parent.path().join("state").join("spool");
        let mode = |folder: &Path| fs::metadata(folder).expect("it is there").permissions().mode() & 0o777;
        Spool::open(&folder, 10).expect("it is made");
        assert_eq!(mode(&folder), 0o700);
        fs::set_permissions(&folder, Permissions::from_mode(0o755)).expect("it is its owner's");
        for name in ["cowboy-spool-left", ".tmpOther"] {
            fs::write(folder.join(name), "x").expect("it is written");
        }
        fs::create_dir(folder.join("cowboy-spool-folder")).expect("it is made");
        Spool::open(&folder, 10).expect("it is there");
        fs::remove_dir(folder.join("cowboy-spool-folder")).expect("it is no file of this program");
        assert_eq!(mode(&folder), 0o755, "a folder that was named keeps its rights");
        let spool = Spool::own(&folder, 10).expect("it is there");
        assert_eq!(mode(&folder), 0o700);
        let file = spool.file().await.expect("there is room");
        file.write(0, Bytes::from_static(b"abc")).await.expect("there is room");
        let left = fs::read_dir(&folder).expect("it is there").map(|entry| entry.expect("an entry").file_name());
        assert_eq!(left.map(|name| name.to_string_lossy().into_owned()).collect::<Vec<_>>(), [".tmpOther"]);
        assert_eq!(file.file.metadata().expect("it is open").permissions().mode() & 0o777, 0o600);
        assert!(Spool::open(&folder.join(".tmpOther"), 10).is_err(), "a file is no folder");
    }

    /// What is to come has its room on the disk before it is there: of two bodies for which there is room for one, one is taken, and the other once the
    /// first is written, or comes no more.
    #[tokio::test]
    async fn what_is_to_come_has_its_room() {
        let spool = spool(10_000).sparing(100).having(|_| Ok(1_000));
        let (one, other) = (spool.file().await.expect("it is empty"), spool.file().await.expect("it is empty"));
        let stalled = || stream::pending::<io::Result<Bytes>>();
        let mut waiting = Box::pin(one.append(stalled(), 600, |_| {}));
        assert!(futures::poll!(&mut waiting).is_pending());
        assert!(matches!(other.append(stalled(), 301, |_| {}).await, Err(Fault::DiskFull)));
        drop(waiting);
        for _ in 0..2 {
            // As that disk says, what is written takes nothing.
            let whole = stream::iter([Ok::<_, io::Error>(Bytes::from(vec![7; 900]))]);
            other.append(whole, 900, |_| {}).await.expect("there is room");
        }
        assert_eq!((spool.used(), spool.awaited.load(Ordering::Relaxed)), (1_800, 0));
    }

    /// A disk without room is told before it is full, and what was not written is not held.
    #[tokio::test]
    async fn the_disk_keeps_room() {
        let spool = spool(100).sparing(u64::MAX);
        let file = spool.file().await.expect("an empty file needs none");
        assert!(matches!(file.append(pieces(&[b"abc"]), 3, |_| {}).await, Err(Fault::DiskFull)));
        assert!(matches!(file.write(0, Bytes::from_static(b"abc")).await, Err(Fault::DiskFull)));
        assert_eq!((spool.used(), file.length()), (0, 0));
        assert!(matches!(Fault::from(io::Error::from(io::ErrorKind::StorageFull)), Fault::DiskFull));
    }
}
