//! The ledger: every finalized block with its receipts and certificate, and the indexes over them.
//!
//! A block is written in one transaction of the embedded store, on the disk before the block is
//! acknowledged to consensus, and writing it again changes nothing. Readers may see it earlier ([`Ledger::show`]). The indexes hold nothing that
//! the blocks and receipts do not say; [`Ledger::reindex`] makes them anew.
//!
//! [`Retention`] says how many blocks are kept; what is older is pruned with its receipts and index rows. What an actor's source defines and
//! who received a token stays.
//!
//! Old blocks that are small are packed, many in a row of the file (`packing.rs`).
//!
//! Beside that the ledger keeps, of the newest blocks only, what nobody could find out again without executing them:
//! traces, and the values that they overwrote.

use crate::{
    catalog::{self, Outline},
    chunks::{self, Chunk},
    copies::{BlockCopy, Copies, concerns_bytes},
    error::StoreError,
    index::Tables,
    packing,
    pages::{Damages, Pages, guarded},
    position::Concern,
    recent::RECENT_BLOCKS,
    sections,
    tables::*,
    view::{Rows, View},
};
use commonware_codec::Encode as _;
use cowboy_types::{Block, Receipt};
use redb::{Database, Durability, ReadableDatabase as _, ReadableTableMetadata as _, WriteTransaction};
use std::{path::Path, sync::Arc, time::Duration};

/// Memory that the ledger's pages may take.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// How often an open ledger is tried again, and how long after.
const OPEN_TRIES: u32 = 60;
const OPEN_WAIT: Duration = Duration::from_millis(50);

/// Blocks that are added to the catalog of an older ledger in one transaction.
const BATCH: u64 = 256;

/// The most blocks that are written together: less than a section, whose blocks are packed by what an earlier transaction wrote.
pub const MAX_TOGETHER: usize = 64;

/// The most blocks that are pruned with one that is written: more than one, so that a ledger that is to keep less gets there.
const MAX_PRUNED: usize = 16;

/// How many of the newest blocks the ledger keeps, and of how many what is not kept with every block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Blocks with their receipts, certificates and index rows. At least 1.
    pub blocks: u64,
    /// Blocks with traces: what happened inside each delivery.
    pub traces: u64,
    /// Blocks with the values that they overwrote: how many heights below the newest can be queried (decision 126).
    pub values: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { blocks: u64::MAX, traces: 65_536, values: RECENT_BLOCKS }
    }
}

/// Everything that is kept about one finalized block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockRecord {
    /// The block.
    pub block: Block,
    /// What came of it: the transactions' receipts in order, then the deliveries'.
    pub receipts: Vec<Receipt>,
    /// Which addresses each receipt concerns, beside its sender and its target.
    pub concerns: Vec<Concern>,
    /// The encoded finalization, where this node has one of exactly this block.
    pub certificate: Option<Vec<u8>>,
    /// Bytes that the driver wants back after a restart.
    pub carry: Vec<u8>,
    /// Traces that say more than their receipts, each with its receipt's place.
    pub traces: Vec<(u32, Vec<u8>)>,
    /// What the sources define that actors got in the block.
    pub outlines: Vec<Outline>,
    /// The values that the block overwrote.
    pub overwritten: Vec<u8>,
    /// Chunks of storage that the block pruned.
    pub pruned: Vec<Chunk>,
}

/// Blocks that end an epoch of which a copy is kept.
const MAX_BOUNDARIES: u64 = 2;

/// Writes the concerns of a block where it has any, in place of those that it had.
fn keep_concerns(write: &WriteTransaction, number: u64, concerns: &[Concern]) -> Result<(), StoreError> {
    let mut table = write.open_table(CONCERNS)?;
    match concerns.is_empty() {
        true => drop(table.remove(number)?),
        false => drop(table.insert(number, &*concerns_bytes(concerns))?),
    }
    Ok(())
}

/// Drops a block, the oldest, and every row that is there because of it.
fn drop_block(write: &WriteTransaction, Rows { block, receipts, concerns }: &Rows) -> Result<(), StoreError> {
    let number = block.header.number.0;
    Tables::open(write)?.forget(block, receipts, concerns)?;
    write.open_table(BLOCKS)?.remove(number)?;
    write.open_table(RECEIPTS)?.retain_in((number, 0)..=(number, u32::MAX), |_, _| false)?;
    write.open_table(CONCERNS)?.remove(number)?;
    write.open_table(CERTIFICATES)?.remove(number)?;
    write.open_table(CARRY)?.remove(number)?;
    write.open_table(TRACES)?.retain_in((number, 0)..=(number, TRACED), |_, _| false)?;
    write.open_table(OVERWRITTEN)?.remove(number)?;
    Ok(())
}

/// The ledger of one chain. Clones share it.
#[derive(Clone, Debug)]
pub struct Ledger {
    pub(crate) database: Arc<Database>,
    retention: Retention,
    damages: Damages,
    copies: Copies,
    sections: sections::Cache,
}

impl Ledger {
    /// Opens the ledger in this file, making it where it does not exist.
    ///
    /// A node that is started again in the same process waits a little for the readers of its ledger to finish.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            create(path)?;
        }
        let damages = Damages::default();
        for _ in 0..OPEN_TRIES {
            if let Some(pages) = Pages::open(path, damages.clone())? {
                let database =
                    guarded(|| "the directory".into(), || Ok(Database::builder().set_cache_size(CACHE_BYTES).create_with_backend(pages)?))?;
                return Self::prepare(database, damages);
            }
            std::thread::sleep(OPEN_WAIT);
        }
        Err(StoreError::InUse(path.to_owned()))
    }

    /// A ledger that lives in memory, for simulations.
    pub fn in_memory() -> Result<Self, StoreError> {
        Self::prepare(Database::builder().create_with_backend(redb::backends::InMemoryBackend::new())?, Damages::default())
    }

    fn prepare(database: Database, damages: Damages) -> Result<Self, StoreError> {
        let ledger = Self {
            database: Arc::new(database),
            retention: Retention::default(),
            damages,
            copies: Copies::default(),
            sections: sections::Cache::default(),
        };
        let write = begin_write(&ledger.database)?;
        Tables::open(&write)?;
        write.open_table(BLOCKS)?;
        write.open_table(SECTIONS)?;
        write.open_table(MARKS)?;
        write.open_table(RECEIPTS)?;
        write.open_table(CERTIFICATES)?;
        write.open_table(CARRY)?;
        write.open_table(CONCERNS)?;
        write.open_table(TRACES)?;
        write.open_table(OVERWRITTEN)?;
        write.open_table(LOST)?;
        write.open_table(OUTLINES)?;
        write.open_table(CHUNKS)?;
        write.open_table(CHUNKS_UNTIL)?;
        write.open_table(INTRODUCTIONS)?;
        write.open_table(BOUNDARIES)?;
        write.commit()?;
        ledger.catalogue()?;
        Ok(ledger)
    }

    /// The same, keeping this much of the newest blocks. What is older goes when the next block is written.
    pub fn keeping(self, retention: Retention) -> Self {
        Self { retention, ..self }
    }

    /// How often a page of the file was read that is not as it was written.
    pub fn damages(&self) -> u64 {
        self.damages.count()
    }

    /// How much is kept of the newest blocks.
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// Writes a block and its index rows, and returns when they are on the disk.
    pub fn append(&self, record: &BlockRecord) -> Result<(), StoreError> {
        self.append_all(std::slice::from_ref(record))
    }

    /// The same for blocks that follow each other, at most [`MAX_TOGETHER`]: all of them, or none, in one transaction.
    pub fn append_all(&self, records: &[BlockRecord]) -> Result<(), StoreError> {
        self.write_all(records, Durability::Immediate)
    }

    /// Writes a block and its index rows for readers of this process, who see them when this returns. They are on the disk after [`Ledger::sync`], or
    /// the next write that is. A crash before that leaves the ledger without the block.
    pub fn show(&self, record: &BlockRecord) -> Result<(), StoreError> {
        self.write_all(std::slice::from_ref(record), Durability::None)
    }

    /// Returns when everything that was shown is on the disk.
    pub fn sync(&self) -> Result<(), StoreError> {
        Ok(begin_write(&self.database)?.commit()?)
    }

    fn write_all(&self, records: &[BlockRecord], durability: Durability) -> Result<(), StoreError> {
        assert!(records.len() <= MAX_TOGETHER, "old blocks are packed and pruned by what an earlier transaction wrote");
        let [first, ..] = records else { return Ok(()) };
        let first = first.block.header.number.0;
        let mut write = begin_write(&self.database)?;
        write.set_durability(durability)?;
        let mut newest = first;
        for record in records {
            newest = record.block.header.number.0;
            self.put(&write, record)?;
        }
        self.prune(&write, newest, first, MAX_PRUNED.saturating_mul(records.len()))?;
        packing::pack(&write, || self.view(), newest)?;
        Ok(write.commit()?)
    }

    fn put(&self, write: &WriteTransaction, record: &BlockRecord) -> Result<(), StoreError> {
        let number = record.block.header.number.0;
        write.open_table(BLOCKS)?.insert(number, &*record.block.encode())?;
        write.open_table(CARRY)?.insert(number, &*record.carry)?;
        keep_concerns(write, number, &record.concerns)?;
        {
            let mut receipts = write.open_table(RECEIPTS)?;
            for (index, receipt) in (0..).zip(&record.receipts) {
                receipts.insert((number, index), &*receipt.encode())?;
            }
        }
        if let Some(certificate) = &record.certificate {
            write.open_table(CERTIFICATES)?.insert(number, &**certificate)?;
        }
        {
            let mut outlines = write.open_table(OUTLINES)?;
            for outline in &record.outlines {
                outlines.insert((number, &outline.actor.0), &*outline.to_text())?;
            }
        }
        Tables::open(write)?.index(&record.block, &record.receipts, &record.concerns, &record.outlines)?;
        self.remember(write, record)
    }

    /// Keeps a copy of a block that ends an epoch, in place of the oldest copy where there are more than [`MAX_BOUNDARIES`].
    pub fn keep_boundary(&self, block: &Block) -> Result<(), StoreError> {
        let write = begin_write(&self.database)?;
        {
            let mut table = write.open_table(BOUNDARIES)?;
            table.insert(block.header.number.0, &*block.encode())?;
            while table.len()? > MAX_BOUNDARIES {
                table.pop_first()?;
            }
        }
        Ok(write.commit()?)
    }

    /// Writes the block that a ledger begins with: without what came of it, which nobody here has seen. `introduces` is an older
    /// block that says who signs after it, where neither genesis nor the block itself does.
    pub fn begin(&self, block: &Block, certificate: &[u8], carry: &[u8], introduces: Option<&Block>) -> Result<(), StoreError> {
        let write = begin_write(&self.database)?;
        let number = block.header.number.0;
        write.open_table(BLOCKS)?.insert(number, &*block.encode())?;
        write.open_table(CARRY)?.insert(number, carry)?;
        write.open_table(CERTIFICATES)?.insert(number, certificate)?;
        if let Some(introduces) = introduces {
            write.open_table(INTRODUCTIONS)?.insert(introduces.header.number.0, &*introduces.encode())?;
        }
        Tables::open(&write)?.index(block, &[], &[], &[])?;
        Ok(write.commit()?)
    }

    /// Keeps of the block what is kept of the newest only, and drops what is too old.
    fn remember(&self, write: &WriteTransaction, record: &BlockRecord) -> Result<(), StoreError> {
        let number = record.block.header.number.0;
        let Retention { traces, values, .. } = self.retention;
        let mut table = write.open_table(TRACES)?;
        for (place, trace) in &record.traces {
            table.insert((number, *place), &**trace)?;
        }
        if !record.receipts.is_empty() {
            table.insert((number, TRACED), [].as_slice())?;
        }
        table.retain_in((0, 0)..(number.saturating_add(1).saturating_sub(traces), 0), |_, _| false)?;
        let mut table = write.open_table(OVERWRITTEN)?;
        table.insert(number, &*record.overwritten)?;
        table.retain_in(0..number.saturating_add(1).saturating_sub(values), |_, _| false)?;
        chunks::keep(write, &record.pruned)?;
        chunks::forget(write, record.block.header.height())
    }

    /// Drops the oldest blocks below `end` where there are more than are kept, up to one with a damaged row: only a repair writes where that is.
    fn prune(&self, write: &WriteTransaction, newest: u64, end: u64, most: usize) -> Result<(), StoreError> {
        let floor = newest.saturating_add(1).saturating_sub(self.retention.blocks).min(end);
        if floor <= 1 {
            return Ok(());
        }
        let view = self.view()?;
        for rows in view.rows_below(floor, most)? {
            drop_block(write, &rows)?;
            packing::prune(write, rows.block.header.number.0.saturating_add(1))?;
        }
        write.open_table(LOST)?.retain_in(..floor, |_, ()| false)?;
        Ok(())
    }

    /// Keeps chunks of storage that were kept elsewhere.
    pub(crate) fn keep(&self, chunks: &[Chunk]) -> Result<(), StoreError> {
        let write = begin_write(&self.database)?;
        chunks::keep(&write, chunks)?;
        Ok(write.commit()?)
    }

    /// Notes that a repair could not save these blocks.
    pub(crate) fn lose(&self, numbers: &[u64]) -> Result<(), StoreError> {
        let write = begin_write(&self.database)?;
        {
            let mut lost = write.open_table(LOST)?;
            for number in numbers {
                lost.insert(number, ())?;
            }
        }
        Ok(write.commit()?)
    }

    /// Drops of a block what is kept of the newest only.
    pub(crate) fn forget(&self, number: u64, traces: bool, values: bool) -> Result<(), StoreError> {
        if !traces && !values {
            return Ok(());
        }
        let write = begin_write(&self.database)?;
        if traces {
            write.open_table(TRACES)?.retain_in((number, 0)..=(number, TRACED), |_, _| false)?;
        }
        if values {
            write.open_table(OVERWRITTEN)?.remove(number)?;
        }
        Ok(write.commit()?)
    }

    /// Adds a certificate that arrived after its block.
    pub fn certify(&self, number: u64, certificate: &[u8]) -> Result<(), StoreError> {
        let write = begin_write(&self.database)?;
        write.open_table(CERTIFICATES)?.insert(number, certificate)?;
        Ok(write.commit()?)
    }

    /// The blocks that are to be fetched again, ascending: those that a repair could not save, and those of which a damaged row was read
    /// and no copy is held.
    pub fn missing(&self) -> Result<Vec<u64>, StoreError> {
        let mut missing = self.view()?.lost()?;
        missing.extend(self.copies.missing());
        missing.sort_unstable();
        missing.dedup();
        Ok(missing)
    }

    /// Takes a copy of a block that is missing. The caller has verified that it is this chain's block.
    ///
    /// A block that a repair could not save is written, with its index rows. Of any other the damaged rows are still in the file, where
    /// only a repair can replace them: its copy is held in memory and read in their place.
    pub fn restore(&self, copy: BlockCopy) -> Result<(), StoreError> {
        let number = copy.block.header.number.0;
        if !self.view()?.lost()?.contains(&number) {
            self.copies.hold(copy);
            return Ok(());
        }
        let write = begin_write(&self.database)?;
        {
            write.open_table(BLOCKS)?.insert(number, &*copy.block.encode())?;
            // A block that is continued from has been executed here; this one is old.
            write.open_table(CARRY)?.insert(number, [].as_slice())?;
            keep_concerns(&write, number, &copy.concerns)?;
            let mut receipts = write.open_table(RECEIPTS)?;
            for (index, receipt) in (0..).zip(&copy.receipts) {
                receipts.insert((number, index), &*receipt.encode())?;
            }
            if let Some(certificate) = &copy.certificate {
                write.open_table(CERTIFICATES)?.insert(number, &**certificate)?;
            }
            Tables::open(&write)?.index(&copy.block, &copy.receipts, &copy.concerns, &[])?;
            write.open_table(LOST)?.remove(number)?;
        }
        Ok(write.commit()?)
    }

    /// Makes every index anew from the blocks, the receipts and the outlines of sources.
    pub fn reindex(&self) -> Result<(), StoreError> {
        let write = begin_write(&self.database)?;
        Tables::delete(&write)?;
        {
            let mut tables = Tables::open(&write)?;
            let view = self.view()?;
            let (first, end) = (view.first()?.unwrap_or(0), view.tip()?.map_or(0, |tip| tip + 1));
            for number in first..end {
                if let Some(block) = view.block(number)? {
                    tables.index(&block, &view.receipts(number)?, &view.concerns(number)?, &view.outlines(number)?)?;
                }
            }
        }
        Ok(write.commit()?)
    }

    /// Makes the catalog of a ledger that an older program wrote. Blocks that cannot be read are left out.
    fn catalogue(&self) -> Result<(), StoreError> {
        let view = self.view()?;
        if view.is_catalogued()? {
            return Ok(());
        }
        let end = view.tip()?.map_or(0, |tip| tip + 1);
        let mut next = view.first()?.unwrap_or(end);
        while next < end {
            let readable = |number| Some((view.block(number).ok()??, view.receipts(number).ok()?, view.outlines(number).ok()?));
            let batch: Vec<(Block, Vec<Receipt>, Vec<Outline>)> = (next..end.min(next + BATCH)).filter_map(readable).collect();
            let write = begin_write(&self.database)?;
            {
                let mut tables = catalog::Tables::open(&write)?;
                batch.iter().try_for_each(|(block, receipts, outlines)| tables.index(block, receipts, outlines))?;
            }
            write.commit()?;
            next += BATCH;
        }
        let write = begin_write(&self.database)?;
        catalog::complete(&write)?;
        Ok(write.commit()?)
    }

    /// A view of the ledger that later blocks do not change.
    pub fn view(&self) -> Result<View, StoreError> {
        Ok(View { read: self.database.begin_read()?, copies: self.copies.clone(), sections: self.sections.clone() })
    }
}

/// A transaction that is on the disk when its commit returns. In two phases: after a crash the last commit is whole, or was never
/// acknowledged; one that a disk damaged is an error, and not taken back.
pub(crate) fn begin_write(database: &Database) -> Result<WriteTransaction, StoreError> {
    let mut write = database.begin_write()?;
    write.set_durability(Durability::Immediate)?;
    write.set_two_phase_commit(true);
    Ok(write)
}

/// Makes an empty ledger, so that the file is there as a whole or not at all.
fn create(path: &Path) -> Result<(), StoreError> {
    let draft = path.with_extension("draft");
    let pages = Pages::create(&draft, Damages::default())?;
    drop(Ledger::prepare(Database::builder().create_with_backend(pages)?, Damages::default())?);
    std::fs::rename(&draft, path).map_err(|error| StoreError::file(path, error))
}

#[cfg(test)]
#[path = "../tests/records/mod.rs"]
pub(crate) mod records;

#[cfg(test)]
mod tests;
