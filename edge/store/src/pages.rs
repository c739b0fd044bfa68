//! The ledger's file: the embedded store's pages, each with a checksum that is verified when the page is read.
//!
//! The embedded store keeps a checksum of every page and verifies it only when it recovers from a crash. A bit that a disk
//! changes later would be served as truth: as another value, or as a row that is not there. Here every page is verified on its
//! way in, so whatever a reader sees was written.
//!
//! Layout: two copies of the first page, each with a sequence number, then every other page followed by its checksum. The first
//! page is written in place by the embedded store; of its two copies the one that was last synced is never overwritten, so a
//! crash leaves one of them whole. Commits are in two phases (the second names what the first has synced), so every page that is
//! read after a crash was synced, and its checksum with it.

use crate::error::StoreError;
use commonware_cryptography::{Hasher as _, blake3::Blake3};
use redb::{BackendError, StorageBackend};
use std::{
    cell::Cell,
    fs::{File, TryLockError},
    io::{self, Read as _, Seek as _, SeekFrom, Write as _},
    ops::Bound,
    os::unix::fs::FileExt as _,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

/// Bytes of a page of the embedded store.
const PAGE: usize = 4_096;

/// Bytes of a checksum: enough against chance, which is what damages disks.
const CHECK: usize = 8;

/// Bytes from one page to the next in the file.
const STRIDE: usize = PAGE + CHECK;

/// Bytes that each copy of the first page takes.
const COPY: usize = 2 * PAGE;

/// Where the second page begins.
const BODY: usize = 2 * COPY;

/// What a copy of the first page begins with.
const MAGIC: [u8; 8] = *b"cowboyL2";

/// What a file of the embedded store begins with.
const STORE_MAGIC: [u8; 4] = *b"redb";

/// Counts the pages that were read and not as they were written. Clones share the count.
#[derive(Clone, Debug, Default)]
pub(crate) struct Damages(Arc<AtomicU64>);

impl Damages {
    /// How often a damaged page was read.
    pub(crate) fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// The file behind the embedded store.
#[derive(Debug)]
pub(crate) struct Pages {
    file: Mutex<File>,
    first: Mutex<First>,
    damages: Damages,
}

/// The first page, as it was last written.
#[derive(Debug)]
struct First {
    bytes: Vec<u8>,
    sequence: u64,
    /// The copy that holds it.
    copy: usize,
    /// The copy that was last synced.
    synced: usize,
}

thread_local! {
    /// Whether this thread reads inside [`guarded`].
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// What a guarded read of a damaged page unwinds with.
struct DamagedPage(u64);

/// Runs a read of the embedded store. A damaged page on its way is an error that names `row`, and concerns nobody else.
///
/// The embedded store has no error for one page: after the first error of its file it refuses everything, and the node would have
/// to stop for one old record. So a guarded read leaves it by unwinding, which it allows for, and holds no lock meanwhile.
pub(crate) fn guarded<T>(row: impl FnOnce() -> String, read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    let before = IS_GUARDED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(read));
    IS_GUARDED.set(before);
    match result {
        Ok(result) => result,
        Err(payload) => match payload.downcast::<DamagedPage>() {
            Ok(page) => Err(StoreError::Damaged { row: format!("{} (page {})", row(), page.0) }),
            Err(other) => resume_unwind(other),
        },
    }
}

impl Pages {
    /// Opens the file, and keeps it from being opened again. One that an older program wrote gets its checksums here.
    ///
    /// `None` where it is open elsewhere.
    pub(crate) fn open(path: &Path, damages: Damages) -> Result<Option<Self>, StoreError> {
        let mut file = File::options().read(true).write(true).open(path).map_err(|error| StoreError::file(path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(StoreError::file(path, error)),
        }
        let mut magic = [0; STORE_MAGIC.len()];
        if file.read_exact(&mut magic).is_ok() && magic == STORE_MAGIC {
            file = convert(path, &mut file).map_err(|error| StoreError::file(path, error))?;
        }
        let opened = Self::over(file, damages).map_err(|error| match error.kind() {
            io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => StoreError::Ledger(error.to_string()),
            _ => StoreError::file(path, error),
        });
        opened.map(Some)
    }

    /// A new and empty file.
    pub(crate) fn create(path: &Path, damages: Damages) -> Result<Self, StoreError> {
        let file =
            File::options().read(true).write(true).create(true).truncate(true).open(path).map_err(|error| StoreError::file(path, error))?;
        Ok(Self::empty(file, damages))
    }

    fn empty(file: File, damages: Damages) -> Self {
        let first = First { bytes: vec![0; PAGE], sequence: 0, copy: 1, synced: 1 };
        Self { file: Mutex::new(file), first: Mutex::new(first), damages }
    }

    fn over(mut file: File, damages: Damages) -> io::Result<Self> {
        let length = file.metadata()?.len();
        if length < widen(BODY) || !(length - widen(BODY)).is_multiple_of(widen(STRIDE)) {
            return Err(damaged("the file is truncated"));
        }
        let mut copies = Vec::new();
        for copy in 0..2 {
            let mut bytes = vec![0; MAGIC.len() + 8 + PAGE + CHECK];
            file.seek(SeekFrom::Start(widen(copy * COPY)))?;
            file.read_exact(&mut bytes)?;
            copies.extend(decode_first(&bytes, copy));
        }
        if copies.len() < 2 {
            damages.add();
        }
        let first =
            copies.into_iter().max_by_key(|first| first.sequence).ok_or_else(|| damaged("both copies of its first page are damaged"))?;
        Ok(Self { file: Mutex::new(file), first: Mutex::new(first), damages })
    }

    fn file(&self) -> MutexGuard<'_, File> {
        self.file.lock().expect("nothing panics while it holds the lock")
    }

    fn first(&self) -> MutexGuard<'_, First> {
        self.first.lock().expect("nothing panics while it holds the lock")
    }

    /// Reads whole pages, from the second of the file on, and verifies them.
    fn read_pages(&self, first: u64, out: &mut [u8]) -> io::Result<()> {
        let mut raw = vec![0; out.len() / PAGE * STRIDE];
        let read = self.file().read_exact_at(&mut raw, place(first));
        match read {
            // The file was cut off.
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return self.refuse(first),
            other => other?,
        }
        for (number, (page, out)) in (first..).zip(raw.chunks_exact(STRIDE).zip(out.chunks_exact_mut(PAGE))) {
            let (bytes, check) = page.split_at(PAGE);
            if !is_whole(number, bytes, check) {
                return self.refuse(number);
            }
            out.copy_from_slice(bytes);
        }
        Ok(())
    }

    /// Refuses a page. Nothing is locked here.
    fn refuse(&self, page: u64) -> io::Result<()> {
        self.damages.add();
        tracing::error!(page, "a page of the ledger is not as it was written");
        if IS_GUARDED.get() {
            resume_unwind(Box::new(DamagedPage(page)));
        }
        Err(damaged(&format!("page {page} is not as it was written")))
    }

    fn write_pages(&self, first: u64, data: &[u8]) -> io::Result<()> {
        let mut raw = Vec::with_capacity(data.len() / PAGE * STRIDE);
        for (number, page) in (first..).zip(data.chunks_exact(PAGE)) {
            raw.extend_from_slice(page);
            raw.extend_from_slice(&check(number, page));
        }
        self.file().write_all_at(&raw, place(first))
    }

    /// Writes the first page into the copy that was not synced last.
    fn write_first(&self, offset: usize, data: &[u8]) -> io::Result<()> {
        let mut first = self.first();
        first.bytes[offset..offset + data.len()].copy_from_slice(data);
        first.sequence += 1;
        first.copy = 1 - first.synced;
        let encoded = encode_first(&first);
        let mut file = self.file();
        file.seek(SeekFrom::Start(widen(first.copy * COPY)))?;
        file.write_all(&encoded)
    }

    /// The numbers of all damaged pages, of which the first is 1.
    pub(crate) fn damaged_pages(path: &Path) -> Result<Vec<u64>, StoreError> {
        let pages = Self::open(path, Damages::default())?.ok_or_else(|| StoreError::InUse(path.to_owned()))?;
        let failed = |error| StoreError::file(path, error);
        let count = pages.len().map_err(failed)? / widen(PAGE);
        let mut found = if pages.damages.count() > 0 { vec![0] } else { Vec::new() };
        let mut raw = vec![0; STRIDE];
        let mut file = io::BufReader::with_capacity(256 * STRIDE, pages.file.into_inner().expect("nobody else has it"));
        file.seek(SeekFrom::Start(widen(BODY))).map_err(failed)?;
        for number in 1..count {
            file.read_exact(&mut raw).map_err(failed)?;
            let (bytes, check) = raw.split_at(PAGE);
            if !is_whole(number, bytes, check) {
                found.push(number);
            }
        }
        Ok(found)
    }
}

impl StorageBackend for Pages {
    /// The file was locked as a whole when it was opened.
    fn try_lock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<bool, BackendError> {
        Ok(true)
    }

    fn unlock_range(&self, _: Bound<u64>, _: Bound<u64>) -> Result<(), BackendError> {
        Ok(())
    }

    fn len(&self) -> io::Result<u64> {
        let length = self.file().metadata()?.len();
        Ok(match length.checked_sub(widen(BODY)) {
            Some(body) => widen(PAGE) * (1 + body / widen(STRIDE)),
            None => 0,
        })
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let (mut number, start) = split(offset);
        if number > 0 && start == 0 && out.len().is_multiple_of(PAGE) {
            return self.read_pages(number, out);
        }
        // Parts of pages: of the first, mostly.
        let (mut start, mut rest) = (start, out);
        while !rest.is_empty() {
            let (now, later) = rest.split_at_mut((PAGE - start).min(rest.len()));
            if number == 0 {
                now.copy_from_slice(&self.first().bytes[start..start + now.len()]);
            } else {
                let mut page = vec![0; PAGE];
                self.read_pages(number, &mut page)?;
                now.copy_from_slice(&page[start..start + now.len()]);
            }
            (number, start, rest) = (number + 1, 0, later);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let (pages, rest) = split(len);
        if rest != 0 || pages == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the ledger's length is whole pages"));
        }
        self.file().set_len(widen(BODY) + (pages - 1) * widen(STRIDE))
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut first = self.first();
        let mut file = self.file();
        file.sync_data()?;
        if first.synced != first.copy {
            first.synced = first.copy;
            // The other copy becomes the same, so that either may be damaged later. A crash that cuts it off loses nothing.
            file.seek(SeekFrom::Start(widen((1 - first.copy) * COPY)))?;
            file.write_all(&encode_first(&first))?;
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let (mut number, start) = split(offset);
        if number > 0 && start == 0 && data.len().is_multiple_of(PAGE) {
            return self.write_pages(number, data);
        }
        let (mut start, mut rest) = (start, data);
        while !rest.is_empty() {
            let (now, later) = rest.split_at((PAGE - start).min(rest.len()));
            if number == 0 {
                self.write_first(start, now)?;
            } else {
                let mut page = vec![0; PAGE];
                self.read_pages(number, &mut page)?;
                page[start..start + now.len()].copy_from_slice(now);
                self.write_pages(number, &page)?;
            }
            (number, start, rest) = (number + 1, 0, later);
        }
        Ok(())
    }

    fn close(&self) -> io::Result<()> {
        // Once for what was written, and once for the other copy of the first page.
        self.sync_data()?;
        self.sync_data()?;
        self.file().unlock()
    }
}

/// Gives a file of the bare embedded store its checksums.
fn convert(path: &Path, old: &mut File) -> io::Result<File> {
    let draft = path.with_extension("new");
    let file = File::options().read(true).write(true).create(true).truncate(true).open(&draft)?;
    file.try_lock().map_err(|_| io::Error::other("another process converts the ledger"))?;
    let pages = Pages::empty(file, Damages::default());
    let length = old.metadata()?.len();
    if !length.is_multiple_of(widen(PAGE)) {
        return Err(damaged("the file is truncated"));
    }
    pages.set_len(length)?;
    old.seek(SeekFrom::Start(0))?;
    let mut page = vec![0; PAGE];
    for number in 0..length / widen(PAGE) {
        old.read_exact(&mut page)?;
        pages.write(number * widen(PAGE), &page)?;
    }
    pages.close()?;
    std::fs::rename(&draft, path)?;
    Ok(pages.file.into_inner().expect("nobody else has it"))
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn widen(bytes: usize) -> u64 {
    u64::try_from(bytes).expect("a page is small")
}

/// The number of the page at this offset, and the place in the page.
fn split(offset: u64) -> (u64, usize) {
    let start = usize::try_from(offset % widen(PAGE)).expect("a page is small");
    (offset / widen(PAGE), start)
}

/// Where a page begins in the file. The first has two places of its own.
fn place(number: u64) -> u64 {
    widen(BODY) + (number - 1) * widen(STRIDE)
}

fn check(number: u64, page: &[u8]) -> [u8; CHECK] {
    let hash = Blake3::hash(&[&number.to_be_bytes(), page]);
    *hash.first_chunk().expect("a hash is longer")
}

/// Whether the page is as it was written, or was never written.
fn is_whole(number: u64, page: &[u8], found: &[u8]) -> bool {
    found == check(number, page) || (found == [0; CHECK] && page.iter().all(|byte| *byte == 0))
}

fn encode_first(first: &First) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(first.sequence.to_be_bytes());
    bytes.extend_from_slice(&first.bytes);
    let check = check(first.sequence, &bytes);
    bytes.extend(check);
    bytes
}

fn decode_first(bytes: &[u8], copy: usize) -> Option<First> {
    let (body, found) = bytes.split_at_checked(MAGIC.len() + 8 + PAGE)?;
    let (sequence, page) = body.strip_prefix(&MAGIC)?.split_first_chunk::<8>()?;
    let sequence = u64::from_be_bytes(*sequence);
    (found == check(sequence, body)).then(|| First { bytes: page.to_vec(), sequence, copy, synced: copy })
}
