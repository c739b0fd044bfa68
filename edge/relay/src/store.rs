//! Shards, pages and trees on disk. An index says what there is, and has what is short itself; everything else is a file, which is written beside its
//! place, synced and moved there.

mod index;
mod room;

pub(crate) use room::Reserved;

use bao::encode::{Encoder, SliceExtractor, outboard};
use cowboy_types::Hash;
use index::Index;
use redb::{ReadableDatabase as _, ReadableTable as _, TableDefinition};
use room::Totals;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Cursor, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What there is: the volume, the kind and the hash; its length, and the height at which a root named it last, or at which it came.
const ITEMS: TableDefinition<'_, &[u8], (u64, u64)> = TableDefinition::new("items");

/// The bytes of items that are short, by the same keys. In files they would take many times their length.
const SHORT: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("short");

/// The longest item that is short, in bytes.
const SHORT_BYTES: u64 = 16 << 10;

/// What an item in the index takes beside its bytes, about.
const BESIDE_SHORT: u64 = 128;

/// What the two files of a shard take beside their bytes, at most: a block of the disk each.
const BESIDE_FILES: u64 = 8 << 10;

/// Items that one look at the index answers, at most.
const AT_ONCE: usize = 1_024;

/// The folder of files that are being written.
const UNFINISHED: &str = "unfinished";

/// What a relay keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A shard of a file.
    Shard,
    /// A page of a tree.
    Page,
    /// A tree: its top and the nodes of its pages.
    Tree,
}

impl Kind {
    const fn number(self) -> u8 {
        match self {
            Self::Shard => 0,
            Self::Page => 1,
            Self::Tree => 2,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Shard => "shard",
            Self::Page => "page",
            Self::Tree => "tree",
        }
    }
}

/// An item of a volume.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Item {
    /// The volume.
    pub volume: Hash,
    /// What it is.
    pub kind: Kind,
    /// Its hash.
    pub hash: Hash,
}

impl Item {
    fn key(&self) -> Vec<u8> {
        [&self.volume.0[..], &[self.kind.number()], &self.hash.0].concat()
    }

    fn of_key(key: &[u8]) -> Option<Self> {
        let (volume, rest) = key.split_first_chunk::<32>()?;
        let (kind, hash) = rest.split_first()?;
        let kind = [Kind::Shard, Kind::Page, Kind::Tree].into_iter().find(|known| known.number() == *kind)?;
        Some(Self { volume: Hash(*volume), kind, hash: Hash(hash.try_into().ok()?) })
    }
}

/// The store of a relay.
pub struct Store {
    folder: PathBuf,
    index: Index,
    next: AtomicU64,
    totals: Arc<Mutex<Totals>>,
}

/// A shard that is being written.
pub struct Incoming {
    to: Destination,
    left: u64,
    length: u64,
    volume: Hash,
}

/// Where a shard is written.
enum Destination {
    /// To memory, where it is short.
    Memory(Vec<u8>),
    /// To a file, with its tree beside it.
    Files { path: PathBuf, data: File, tree: Box<Encoder<File>> },
}

/// An item with its length and the height at which it was named last; none where it goes.
type Note<'a> = (Item, Option<(u64, u64)>, Option<&'a [u8]>);

/// What an item of this many bytes takes on disk, about: what volumes are limited by.
pub(crate) fn on_disk(length: u64) -> u64 {
    match length <= SHORT_BYTES {
        true => length.saturating_add(BESIDE_SHORT),
        // A node of the tree for each KiB.
        false => length.saturating_add(length / 16).saturating_add(BESIDE_FILES),
    }
}

/// A failure of the index. Writers are told that the disk is full, wherever that was noticed.
fn failed(error: impl Into<redb::Error>) -> io::Error {
    match error.into() {
        redb::Error::Io(full) if matches!(full.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) => full,
        error => io::Error::other(error),
    }
}

/// What a file gives; none where there is no such file.
fn unless_gone<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}

impl Store {
    /// Opens the folder, and makes it where it is missing. What an earlier process left unfinished is removed.
    ///
    /// # Errors
    ///
    /// If it cannot be made or read, or another process has it.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let unfinished = folder.join(UNFINISHED);
        if unfinished.exists() {
            fs::remove_dir_all(&unfinished)?;
        }
        fs::create_dir_all(&unfinished)?;
        let index = Index::open(folder.join("index.redb"))?;
        let used = index.with(|index| {
            let writing = index.begin_write().map_err(failed)?;
            let mut used: BTreeMap<Hash, u64> = BTreeMap::new();
            {
                writing.open_table(SHORT).map_err(failed)?;
                let items = writing.open_table(ITEMS).map_err(failed)?;
                for row in items.iter().map_err(failed)? {
                    let (key, row) = row.map_err(failed)?;
                    if let Some(item) = Item::of_key(key.value()) {
                        let sum = used.entry(item.volume).or_default();
                        *sum = sum.saturating_add(on_disk(row.value().0));
                    }
                }
            }
            writing.commit().map_err(failed)?;
            Ok(used)
        })?;
        let totals = Arc::new(Mutex::new(Totals { used, coming: BTreeMap::new() }));
        Ok(Self { folder: folder.to_owned(), index, next: AtomicU64::new(0), totals })
    }

    fn totals(&self) -> MutexGuard<'_, Totals> {
        self.totals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that all items take on disk, about.
    pub fn used(&self) -> u64 {
        self.totals().used.values().fold(0, |sum, used| sum.saturating_add(*used))
    }

    /// Bytes that the items of a volume take on disk, about.
    pub fn used_by(&self, volume: &Hash) -> u64 {
        self.totals().used.get(volume).copied().unwrap_or(0)
    }

    fn path(&self, item: &Item) -> PathBuf {
        self.folder.join("volumes").join(hex::encode(item.volume.0)).join(format!("{}-{}", item.kind.name(), hex::encode(item.hash.0)))
    }

    /// The nodes of the tree of a shard beside it.
    fn tree_path(path: &Path) -> PathBuf {
        path.with_extension("bao")
    }

    fn beside(&self) -> PathBuf {
        self.folder.join(UNFINISHED).join(self.next.fetch_add(1, Ordering::Relaxed).to_string())
    }

    /// The length of an item; none where it is not there.
    ///
    /// # Errors
    ///
    /// If the index cannot be read.
    pub fn length(&self, item: &Item) -> io::Result<Option<u64>> {
        Ok(self.row(item)?.map(|(length, _)| length))
    }

    fn note<'a>(&self, rows: impl IntoIterator<Item = Note<'a>>) -> io::Result<()> {
        let changes = self.index.with(|index| {
            let writing = index.begin_write().map_err(failed)?;
            // By volume: bytes that come, and bytes that go.
            let mut changes: BTreeMap<Hash, (u64, u64)> = BTreeMap::new();
            {
                let mut items = writing.open_table(ITEMS).map_err(failed)?;
                let mut short = writing.open_table(SHORT).map_err(failed)?;
                for (item, row, bytes) in rows {
                    let key = item.key();
                    let before = match row {
                        Some(row) => items.insert(&key[..], row).map_err(failed)?.map(|row| row.value().0),
                        None => items.remove(&key[..]).map_err(failed)?.map(|row| row.value().0),
                    };
                    match (row, bytes) {
                        (Some(_), Some(bytes)) => drop(short.insert(&key[..], bytes).map_err(failed)?),
                        (Some(_), None) => {}
                        (None, _) => drop(short.remove(&key[..]).map_err(failed)?),
                    }
                    let (come, gone) = changes.entry(item.volume).or_default();
                    *come = come.saturating_add(row.map_or(0, |(length, _)| on_disk(length)));
                    *gone = gone.saturating_add(before.map_or(0, on_disk));
                }
            }
            writing.commit().map_err(failed)?;
            Ok(changes)
        })?;
        let mut totals = self.totals();
        for (volume, (come, gone)) in changes {
            let sum = totals.used.entry(volume).or_default();
            *sum = sum.saturating_add(come).saturating_sub(gone);
        }
        Ok(())
    }

    /// Moves a finished file to its place.
    fn place(&self, from: &Path, to: &Path) -> io::Result<()> {
        let folder = to.parent().ok_or_else(|| io::Error::other("a place is in a folder"))?;
        fs::create_dir_all(folder)?;
        fs::rename(from, to)?;
        File::open(folder)?.sync_all()
    }

    /// The bytes of a short item.
    fn short(&self, item: &Item) -> io::Result<Option<Vec<u8>>> {
        self.index.with(|index| {
            let reading = index.begin_read().map_err(failed)?;
            let short = reading.open_table(SHORT).map_err(failed)?;
            Ok(short.get(&item.key()[..]).map_err(failed)?.map(|bytes| bytes.value().to_vec()))
        })
    }

    /// Keeps a page or a tree.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn put(&self, item: &Item, bytes: &[u8], height: u64) -> io::Result<()> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if length <= SHORT_BYTES {
            return self.note([(*item, Some((length, height)), Some(bytes))]);
        }
        if self.length(item)?.is_none() {
            let beside = self.beside();
            let mut file = OpenOptions::new().write(true).create_new(true).open(&beside)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            self.place(&beside, &self.path(item))?;
        }
        self.note([(*item, Some((length, height)), None)])
    }

    /// Forgets an item whose file is gone, though the index named it: so it can come again, and keeps nothing else from being read.
    fn lost<T>(&self, item: &Item) -> io::Result<Option<T>> {
        tracing::error!(volume = %item.volume, hash = %item.hash, "the disk lost a {}", item.kind.name());
        self.note([(*item, None, None)])?;
        Ok(None)
    }

    /// The bytes of a page or a tree; none where it is not there.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn get(&self, item: &Item) -> io::Result<Option<Vec<u8>>> {
        match self.length(item)? {
            None => Ok(None),
            Some(length) if length <= SHORT_BYTES => self.short(item),
            Some(_) => match unless_gone(fs::read(self.path(item)))? {
                Some(bytes) => Ok(Some(bytes)),
                None => self.lost(item),
            },
        }
    }

    /// Begins to write a shard.
    ///
    /// # Errors
    ///
    /// If no file can be made.
    pub fn begin(&self, volume: Hash, length: u64) -> io::Result<Incoming> {
        if length <= SHORT_BYTES {
            return Ok(Incoming { to: Destination::Memory(Vec::new()), left: length, length, volume });
        }
        let path = self.beside();
        let open = |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).open(path);
        let (data, tree) = (open(&path)?, Box::new(Encoder::new_outboard(open(&Self::tree_path(&path))?)));
        Ok(Incoming { to: Destination::Files { path, data, tree }, left: length, length, volume })
    }

    /// Ends a shard. It is kept where it is whole and has this hash; answers whether it was.
    ///
    /// # Errors
    ///
    /// If it cannot be written.
    pub fn end(&self, mut incoming: Incoming, hash: &Hash, height: u64) -> io::Result<bool> {
        let item = Item { volume: incoming.volume, kind: Kind::Shard, hash: *hash };
        let row = Some((incoming.length, height));
        let is_whole = incoming.left == 0;
        match &mut incoming.to {
            Destination::Memory(bytes) => {
                if !is_whole || outboard(&bytes).1.as_bytes() != &hash.0 {
                    return Ok(false);
                }
                self.note([(item, row, Some(&bytes[..]))])?;
            }
            Destination::Files { path, data, tree } => {
                let found = tree.finalize()?;
                if !is_whole || found.as_bytes() != &hash.0 {
                    return Ok(false);
                }
                if self.length(&item)?.is_none() {
                    let to = self.path(&item);
                    data.sync_all()?;
                    File::open(Self::tree_path(path))?.sync_all()?;
                    self.place(&Self::tree_path(path), &Self::tree_path(&to))?;
                    self.place(path, &to)?;
                }
                self.note([(item, row, None)])?;
            }
        }
        Ok(true)
    }

    /// The slice that proves a part of a shard; none where the shard is not there, or is shorter.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn slice(&self, volume: Hash, shard: &Hash, start: u64, length: u64) -> io::Result<Option<Vec<u8>>> {
        let item = Item { volume, kind: Kind::Shard, hash: *shard };
        let Some(whole) = self.length(&item)? else { return Ok(None) };
        if start.checked_add(length).is_none_or(|end| end > whole) {
            return Ok(None);
        }
        let mut slice = Vec::new();
        if whole <= SHORT_BYTES {
            let Some(bytes) = self.short(&item)? else { return Ok(None) };
            let tree = Cursor::new(outboard(&bytes).0);
            SliceExtractor::new_outboard(Cursor::new(bytes), tree, start, length).read_to_end(&mut slice)?;
        } else {
            let path = self.path(&item);
            let files = (unless_gone(File::open(&path))?, unless_gone(File::open(Self::tree_path(&path)))?);
            let (Some(data), Some(tree)) = files else { return self.lost(&item) };
            SliceExtractor::new_outboard(data, tree, start, length).read_to_end(&mut slice)?;
        }
        Ok(Some(slice))
    }

    /// An item's length, and the height at which it was named last.
    ///
    /// # Errors
    ///
    /// If the index cannot be read.
    pub fn row(&self, item: &Item) -> io::Result<Option<(u64, u64)>> {
        self.index.with(|index| {
            let reading = index.begin_read().map_err(failed)?;
            let items = reading.open_table(ITEMS).map_err(failed)?;
            Ok(items.get(&item.key()[..]).map_err(failed)?.map(|row| row.value()))
        })
    }

    /// Those of many items, in one look at the index.
    ///
    /// # Errors
    ///
    /// If the index cannot be read.
    pub fn rows<'a>(&self, items: impl IntoIterator<Item = &'a Item>) -> io::Result<Vec<Option<(u64, u64)>>> {
        self.index.with(|index| {
            let reading = index.begin_read().map_err(failed)?;
            let rows = reading.open_table(ITEMS).map_err(failed)?;
            items.into_iter().map(|item| Ok(rows.get(&item.key()[..]).map_err(failed)?.map(|row| row.value()))).collect()
        })
    }

    /// Some items that were named last before a height, none of them up to `after`; fewer than there is room for where there are no others.
    ///
    /// # Errors
    ///
    /// If the index cannot be read.
    pub fn older(&self, height: u64, after: Option<&Item>) -> io::Result<Vec<Item>> {
        self.index.with(|index| {
            let reading = index.begin_read().map_err(failed)?;
            let items = reading.open_table(ITEMS).map_err(failed)?;
            // No key is the beginning of another one.
            let first = after.map_or_else(Vec::new, |item| [item.key(), vec![0]].concat());
            let mut found = Vec::new();
            for row in items.range(&first[..]..).map_err(failed)? {
                let (key, row) = row.map_err(failed)?;
                if row.value().1 < height {
                    found.extend(Item::of_key(key.value()));
                }
                if found.len() == AT_ONCE {
                    break;
                }
            }
            Ok(found)
        })
    }

    /// Notes that roots name these items at a height.
    ///
    /// # Errors
    ///
    /// If the index cannot be written.
    pub fn name(&self, items: &[(Item, u64)], height: u64) -> io::Result<()> {
        self.note(items.iter().map(|(item, length)| (*item, Some((*length, height)), None)))
    }

    /// Removes items.
    ///
    /// # Errors
    ///
    /// If one cannot be removed.
    pub fn remove(&self, items: &[Item]) -> io::Result<()> {
        // The index first: what it does not name is not served, whatever happens to the files.
        self.note(items.iter().map(|item| (*item, None, None)))?;
        for item in items {
            let path = self.path(item);
            for path in [Self::tree_path(&path), path] {
                unless_gone(fs::remove_file(path))?;
            }
        }
        Ok(())
    }
}

impl Incoming {
    /// Takes more of the shard; fails where it is longer than was said.
    ///
    /// # Errors
    ///
    /// If it cannot be written, or is too long.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        self.left = self.left.checked_sub(length).ok_or_else(|| io::Error::other("the shard is longer than was said"))?;
        match &mut self.to {
            Destination::Memory(all) => all.extend_from_slice(bytes),
            Destination::Files { data, tree, .. } => {
                data.write_all(bytes)?;
                tree.write_all(bytes)?;
            }
        }
        Ok(())
    }
}

impl Drop for Incoming {
    fn drop(&mut self) {
        // Of a shard that was kept, nothing is left here.
        if let Destination::Files { path, .. } = &self.to {
            let _ = fs::remove_file(path);
            let _ = fs::remove_file(Store::tree_path(path));
        }
    }
}

#[cfg(test)]
mod tests;
