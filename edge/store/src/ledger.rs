//! The ledger: every finalized block with its receipts and certificate, and the indexes over them.
//!
//! A block is written in one transaction of the embedded store, fsynced before the block is
//! acknowledged to consensus, and writing it again changes nothing. The indexes hold nothing that
//! the blocks and receipts do not say; [`Ledger::reindex`] makes them anew.
//!
//! Beside that it keeps, of the newest blocks only, what nobody could find out again without executing them:
//! traces, and the values that they overwrote. [`Retention`] says of how many.

use crate::{
    copies::{BlockCopy, Copies, concerns_bytes, concerns_of},
    error::StoreError,
    pages::{Damages, Pages, guarded},
    recent::RECENT_BLOCKS,
};
use commonware_codec::{Decode as _, Encode as _};
use cowboy_types::{Address, Block, Hash, Height, Receipt, merkle};
use redb::{Database, Durability, ReadTransaction, ReadableDatabase as _, ReadableTable as _, Table, TableDefinition, WriteTransaction};
use std::{path::Path, sync::Arc, time::Duration};

/// Memory that the ledger's pages may take.
const CACHE_BYTES: usize = 8 * 1024 * 1024;

/// How often an open ledger is tried again, and how long after.
const OPEN_TRIES: u32 = 60;
const OPEN_WAIT: Duration = Duration::from_millis(50);

/// Block number → the block.
const BLOCKS: TableDefinition<u64, &[u8]> = TableDefinition::new("blocks");
/// Block number, place in the block → receipt.
const RECEIPTS: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("receipts");
/// Block number → the finalization certificate, where this node has seen one of exactly this block.
const CERTIFICATES: TableDefinition<u64, &[u8]> = TableDefinition::new("certificates");
/// Block number → the addresses that each receipt concerns: 20 bytes and the receipt's place in big-endian, each.
const CONCERNS: TableDefinition<u64, &[u8]> = TableDefinition::new("concerns");
/// Block number → what the driver needs to continue from it after a restart.
const CARRY: TableDefinition<u64, &[u8]> = TableDefinition::new("carry");
/// Block number, place in the block → the receipt's trace, where it says more than the receipt; at [`TRACED`] a mark
/// that the block's traces are kept.
const TRACES: TableDefinition<(u64, u32), &[u8]> = TableDefinition::new("traces");
/// Block number → the values that the block overwrote.
const OVERWRITTEN: TableDefinition<u64, &[u8]> = TableDefinition::new("overwritten");
/// The number of each block that a repair could not save → nothing.
const LOST: TableDefinition<u64, ()> = TableDefinition::new("lost");
/// Block digest → block number.
const BY_DIGEST: TableDefinition<&[u8; 32], u64> = TableDefinition::new("by_digest");
/// Height → block number. Differs from the number on dev chains that skipped heights.
const BY_HEIGHT: TableDefinition<u64, u64> = TableDefinition::new("by_height");
/// Receipt id (a transaction's digest, or a delivery's) → place.
const BY_ID: TableDefinition<&[u8; 32], (u64, u32)> = TableDefinition::new("by_id");
/// Account, place → nothing: every receipt that an account sent or received.
const BY_ACCOUNT: TableDefinition<(&[u8; 20], u64, u32), ()> = TableDefinition::new("by_account");
/// Emitter, place, event's index → nothing.
const BY_EMITTER: TableDefinition<(&[u8; 20], u64, u32, u32), ()> = TableDefinition::new("by_emitter");
/// Origin, place → nothing: the deliveries that a transaction or timer set off.
const BY_ORIGIN: TableDefinition<(&[u8; 32], u64, u32), ()> = TableDefinition::new("by_origin");
/// Deployer, place → actor.
const BY_DEPLOYER: TableDefinition<(&[u8; 20], u64, u32), &[u8; 20]> = TableDefinition::new("by_deployer");

/// The place of the mark that a block's traces are kept. No block has as many receipts.
const TRACED: u32 = u32::MAX;

/// Of how many of the newest blocks the ledger keeps what is not kept for ever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Blocks with traces: what happened inside each delivery.
    pub traces: u64,
    /// Blocks with the values that they overwrote: how many heights below the newest can be queried (decision 126).
    pub values: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self { traces: 65_536, values: RECENT_BLOCKS }
    }
}

/// Where a receipt stands: the block, and the place in the block's receipts, transactions first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The block's number.
    pub number: u64,
    /// The place in it, from 0.
    pub index: u32,
}

/// An address that a receipt of a block concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Concern {
    /// The address.
    pub address: Address,
    /// The receipt's place in the block.
    pub receipt: u32,
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
    /// The values that the block overwrote.
    pub overwritten: Vec<u8>,
}

/// The ledger of one chain. Clones share it.
#[derive(Clone, Debug)]
pub struct Ledger {
    database: Arc<Database>,
    retention: Retention,
    damages: Damages,
    copies: Copies,
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
        let ledger = Self { database: Arc::new(database), retention: Retention::default(), damages, copies: Copies::default() };
        let write = begin_write(&ledger.database)?;
        Tables::open(&write)?;
        write.open_table(BLOCKS)?;
        write.open_table(RECEIPTS)?;
        write.open_table(CERTIFICATES)?;
        write.open_table(CARRY)?;
        write.open_table(CONCERNS)?;
        write.open_table(TRACES)?;
        write.open_table(OVERWRITTEN)?;
        write.open_table(LOST)?;
        write.commit()?;
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
        let write = begin_write(&self.database)?;
        let number = record.block.header.number.0;
        {
            write.open_table(BLOCKS)?.insert(number, &*record.block.encode())?;
            write.open_table(CARRY)?.insert(number, &*record.carry)?;
            write.open_table(CONCERNS)?.insert(number, &*concerns_bytes(&record.concerns))?;
            let mut receipts = write.open_table(RECEIPTS)?;
            for (index, receipt) in (0..).zip(&record.receipts) {
                receipts.insert((number, index), &*receipt.encode())?;
            }
            if let Some(certificate) = &record.certificate {
                write.open_table(CERTIFICATES)?.insert(number, &**certificate)?;
            }
            Tables::open(&write)?.index(&record.block, &record.receipts, &record.concerns)?;
            self.remember(&write, record)?;
        }
        Ok(write.commit()?)
    }

    /// Writes the block that a ledger begins with: without what came of it, which nobody here has seen.
    pub fn begin(&self, block: &Block, certificate: &[u8], carry: &[u8]) -> Result<(), StoreError> {
        let write = begin_write(&self.database)?;
        let number = block.header.number.0;
        write.open_table(BLOCKS)?.insert(number, &*block.encode())?;
        write.open_table(CARRY)?.insert(number, carry)?;
        write.open_table(CERTIFICATES)?.insert(number, certificate)?;
        Tables::open(&write)?.index(block, &[], &[])?;
        Ok(write.commit()?)
    }

    /// Keeps of the block what is kept of the newest only, and drops what is too old.
    fn remember(&self, write: &WriteTransaction, record: &BlockRecord) -> Result<(), StoreError> {
        let number = record.block.header.number.0;
        let Retention { traces, values } = self.retention;
        let mut table = write.open_table(TRACES)?;
        for (place, trace) in &record.traces {
            table.insert((number, *place), &**trace)?;
        }
        table.insert((number, TRACED), [].as_slice())?;
        table.retain_in((0, 0)..(number.saturating_add(1).saturating_sub(traces), 0), |_, _| false)?;
        let mut table = write.open_table(OVERWRITTEN)?;
        table.insert(number, &*record.overwritten)?;
        table.retain_in(0..number.saturating_add(1).saturating_sub(values), |_, _| false)?;
        Ok(())
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
            write.open_table(CONCERNS)?.insert(number, &*concerns_bytes(&copy.concerns))?;
            let mut receipts = write.open_table(RECEIPTS)?;
            for (index, receipt) in (0..).zip(&copy.receipts) {
                receipts.insert((number, index), &*receipt.encode())?;
            }
            if let Some(certificate) = &copy.certificate {
                write.open_table(CERTIFICATES)?.insert(number, &**certificate)?;
            }
            Tables::open(&write)?.index(&copy.block, &copy.receipts, &copy.concerns)?;
            write.open_table(LOST)?.remove(number)?;
        }
        Ok(write.commit()?)
    }

    /// Makes every index anew from the blocks and receipts.
    pub fn reindex(&self) -> Result<(), StoreError> {
        let write = begin_write(&self.database)?;
        Tables::delete(&write)?;
        {
            let blocks = write.open_table(BLOCKS)?;
            let receipts = write.open_table(RECEIPTS)?;
            let concerns = write.open_table(CONCERNS)?;
            let mut tables = Tables::open(&write)?;
            for row in blocks.iter()? {
                let (number, bytes) = row?;
                let block: Block = decode("block", number.value(), bytes.value())?;
                let mut found = Vec::new();
                for row in receipts.range((number.value(), 0)..=(number.value(), u32::MAX))? {
                    found.push(decode("receipt", number.value(), row?.1.value())?);
                }
                let concerns = concerns.get(number.value())?.map(|bytes| concerns_of(bytes.value())).unwrap_or_default();
                tables.index(&block, &found, &concerns)?;
            }
        }
        Ok(write.commit()?)
    }

    /// A view of the ledger that later blocks do not change.
    pub fn view(&self) -> Result<View, StoreError> {
        Ok(View { read: self.database.begin_read()?, copies: self.copies.clone() })
    }
}

/// A transaction that is on the disk when its commit returns. In two phases: after a crash the last commit is whole, or was never
/// acknowledged; one that a disk damaged is an error, and not taken back.
fn begin_write(database: &Database) -> Result<WriteTransaction, StoreError> {
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

/// The ledger at one moment.
pub struct View {
    read: ReadTransaction,
    copies: Copies,
}

impl View {
    /// The number of the newest block, lost or not, or `None` before the first.
    pub fn tip(&self) -> Result<Option<u64>, StoreError> {
        let lost = self.lost()?.last().copied();
        let newest = || Ok(self.read.open_table(BLOCKS)?.last()?.map(|(number, _)| number.value()));
        Ok(self.read(|| "the newest block".into(), newest)?.max(lost))
    }

    /// The number of the oldest block, lost or not, or `None` before the first.
    pub fn first(&self) -> Result<Option<u64>, StoreError> {
        let lost = self.lost()?.first().copied();
        let oldest = || Ok(self.read.open_table(BLOCKS)?.first()?.map(|(number, _)| number.value()));
        let oldest = self.read(|| "the oldest block".into(), oldest)?;
        Ok(oldest.into_iter().chain(lost).min())
    }

    /// Reads rows of one block. Where a repair lost the block, a row that is not there may have been.
    fn of<T>(&self, number: u64, row: impl Fn() -> String, read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        guarded(&row, || match self.read.open_table(LOST)?.get(number)? {
            Some(_) => Err(StoreError::Damaged { row: row() }),
            None => read(),
        })
    }

    /// Reads rows, all of which were verified; `row` names them where they are damaged.
    fn read<T>(&self, row: impl Fn() -> String, read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        guarded(row, read)
    }

    /// The block of this number.
    pub fn block(&self, number: u64) -> Result<Option<Block>, StoreError> {
        self.block_bytes(number)?.map(|bytes| decode("block", number, &bytes)).transpose()
    }

    /// The encoded block of this number.
    pub fn block_bytes(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let row = || format!("block {number}");
        let read = self.read(row, || {
            let found = self.read.open_table(BLOCKS)?.get(number)?.map(|bytes| bytes.value().to_vec());
            // Between the oldest block and the newest none is missing, unless a repair could not save it.
            let is_lost = found.is_none() && number >= self.first()?.unwrap_or(u64::MAX) && number <= self.tip()?.unwrap_or(0);
            if is_lost { Err(StoreError::Damaged { row: row() }) } else { Ok(found) }
        });
        self.copies.instead(number, read, |copy| Some(copy.block.encode().to_vec()))
    }

    /// The number of the block with this digest.
    pub fn number_of(&self, digest: &Hash) -> Result<Option<u64>, StoreError> {
        let found = || Ok(self.read.open_table(BY_DIGEST)?.get(&digest.0)?.map(|number| number.value()));
        self.complete(|| format!("the number of block {digest}"), found)
    }

    /// The number of the block at this height, or `None` where a warp skipped it or it is yet to come.
    pub fn number_at(&self, height: Height) -> Result<Option<u64>, StoreError> {
        let found = || Ok(self.read.open_table(BY_HEIGHT)?.get(height.0)?.map(|number| number.value()));
        self.complete(|| format!("the number of the block at height {height}"), found)
    }

    /// The encoded finalization of exactly this block, where this node has one.
    pub fn certificate(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let found = || Ok(self.read.open_table(CERTIFICATES)?.get(number)?.map(|bytes| bytes.value().to_vec()));
        let read = self.of(number, || format!("the certificate of block {number}"), found);
        self.copies.instead(number, read, |copy| copy.certificate.clone())
    }

    /// The number and finalization of the first block from `number` on that has one: it finalizes every block before it too.
    pub fn certificate_from(&self, number: u64) -> Result<Option<(u64, Vec<u8>)>, StoreError> {
        let row = || format!("the first certificate from block {number} on");
        self.read(row, || {
            let found = self.read.open_table(CERTIFICATES)?.range(number..)?.next().transpose()?;
            let found = found.map(|(number, bytes)| (number.value(), bytes.value().to_vec()));
            let end = found.as_ref().map_or(u64::MAX, |(number, _)| *number);
            let is_lost = self.lost()?.iter().any(|lost| (number..end).contains(lost));
            if is_lost { Err(StoreError::Damaged { row: row() }) } else { Ok(found) }
        })
    }

    /// What the driver left for itself with this block.
    pub fn carry(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let found = || Ok(self.read.open_table(CARRY)?.get(number)?.map(|bytes| bytes.value().to_vec()));
        self.of(number, || format!("the carry of block {number}"), found)
    }

    /// The trace of the receipt at this place: `None` where the block's traces are not kept any more, and nothing inside
    /// where the receipt says it all.
    pub fn trace(&self, place: Place) -> Result<Option<Option<Vec<u8>>>, StoreError> {
        self.of(
            place.number,
            || format!("trace {} of block {}", place.index, place.number),
            || {
                let table = self.read.open_table(TRACES)?;
                if table.get((place.number, TRACED))?.is_none() {
                    return Ok(None);
                }
                Ok(Some(table.get((place.number, place.index))?.map(|bytes| bytes.value().to_vec())))
            },
        )
    }

    /// Every trace of a block that says more than its receipt, each with its receipt's place; `None` where the block's traces are
    /// not kept any more.
    pub fn traces(&self, number: u64) -> Result<Option<Vec<(u32, Vec<u8>)>>, StoreError> {
        self.read(
            || format!("the traces of block {number}"),
            || {
                let rows = self.read.open_table(TRACES)?.range((number, 0)..=(number, TRACED))?;
                let rows: Vec<_> =
                    rows.map(|row| row.map(|(key, bytes)| (key.value().1, bytes.value().to_vec()))).collect::<Result<_, _>>()?;
                Ok(rows.split_last().filter(|(mark, _)| mark.0 == TRACED).map(|(_, traces)| traces.to_vec()))
            },
        )
    }

    /// The addresses that the receipts of a block concern, beside their senders and targets.
    pub fn concerns(&self, number: u64) -> Result<Vec<Concern>, StoreError> {
        let found = || Ok(self.read.open_table(CONCERNS)?.get(number)?.map(|bytes| concerns_of(bytes.value())).unwrap_or_default());
        self.read(|| format!("the concerns of block {number}"), found)
    }

    /// The values that a block overwrote, where they are still kept.
    pub fn overwritten_by(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let found = || Ok(self.read.open_table(OVERWRITTEN)?.get(number)?.map(|bytes| bytes.value().to_vec()));
        self.read(|| format!("the values that block {number} overwrote"), found)
    }

    /// The values that the newest blocks overwrote, each with the block's number, ascending.
    pub fn overwritten(&self) -> Result<Vec<(u64, Vec<u8>)>, StoreError> {
        self.read(
            || "the values that the newest blocks overwrote".into(),
            || {
                let rows = self.read.open_table(OVERWRITTEN)?.range::<u64>(..)?;
                rows.map(|row| row.map(|(number, bytes)| (number.value(), bytes.value().to_vec())).map_err(Into::into)).collect()
            },
        )
    }

    /// Where the receipt with this id stands. A transaction's id is its digest.
    pub fn place_of(&self, id: &Hash) -> Result<Option<Place>, StoreError> {
        let found = || Ok(self.read.open_table(BY_ID)?.get(&id.0)?.map(|found| place(found.value().0, found.value().1)));
        self.complete(|| format!("the place of receipt {id}"), found)
    }

    /// The receipt at this place.
    pub fn receipt(&self, place: Place) -> Result<Option<Receipt>, StoreError> {
        let read = self.of(
            place.number,
            || format!("receipt {} of block {}", place.index, place.number),
            || {
                let row = self.read.open_table(RECEIPTS)?.get((place.number, place.index))?;
                row.map(|bytes| decode("receipt", place.number, bytes.value())).transpose()
            },
        );
        let index = usize::try_from(place.index).unwrap_or(usize::MAX);
        self.copies.instead(place.number, read, |copy| copy.receipts.get(index).cloned())
    }

    /// All receipts of a block, in order.
    pub fn receipts(&self, number: u64) -> Result<Vec<Receipt>, StoreError> {
        let read = self.of(
            number,
            || format!("the receipts of block {number}"),
            || {
                let rows = self.read.open_table(RECEIPTS)?.range((number, 0)..=(number, u32::MAX))?;
                rows.map(|row| decode("receipt", number, row?.1.value())).collect()
            },
        );
        self.copies.instead(number, read, |copy| copy.receipts.clone())
    }

    /// Everything about a block that another node can check; `None` where this ledger has not got it, or only the block that it began
    /// with, of which it has no receipts.
    pub fn copy(&self, number: u64) -> Result<Option<BlockCopy>, StoreError> {
        let Some(block) = self.block(number)? else { return Ok(None) };
        let receipts = self.receipts(number)?;
        let digests: Vec<Hash> = receipts.iter().map(Receipt::digest).collect();
        if merkle::root(&digests) != block.header.receipt_root {
            return Ok(None);
        }
        Ok(Some(BlockCopy { block, certificate: self.certificate(number)?, concerns: self.concerns(number)?, receipts }))
    }

    /// Receipts that the account sent or received, newest first, older than `before` where given; at most `limit`.
    pub fn of_account(&self, account: &Address, before: Option<Place>, limit: usize) -> Result<Vec<Place>, StoreError> {
        let end = before.unwrap_or(Place { number: u64::MAX, index: u32::MAX });
        self.listed(
            || format!("the receipts of account {account}"),
            || {
                let rows = self.read.open_table(BY_ACCOUNT)?.range((&account.0, 0, 0)..(&account.0, end.number, end.index))?;
                rows.rev()
                    .take(limit)
                    .map(|row| row.map(|(key, _)| place(key.value().1, key.value().2)).map_err(Into::into))
                    .collect::<Result<_, _>>()
            },
        )
    }

    /// Events of the emitter from block `from` on, oldest first: the receipt's place and the event's index in it; at most `limit`.
    pub fn of_emitter(&self, emitter: &Address, from: Place, limit: usize) -> Result<Vec<(Place, u32)>, StoreError> {
        let start = (&emitter.0, from.number, from.index, 0);
        self.listed(
            || format!("the events of {emitter}"),
            || {
                let rows = self.read.open_table(BY_EMITTER)?.range(start..=(&emitter.0, u64::MAX, u32::MAX, u32::MAX))?;
                rows.take(limit)
                    .map(|row| {
                        let (key, _) = row?;
                        let (_, number, index, event) = key.value();
                        Ok((place(number, index), event))
                    })
                    .collect()
            },
        )
    }

    /// The deliveries that a transaction or timer set off, in order; at most `limit`.
    pub fn of_origin(&self, origin: &Hash, limit: usize) -> Result<Vec<Place>, StoreError> {
        self.listed(
            || format!("the deliveries of {origin}"),
            || {
                let rows = self.read.open_table(BY_ORIGIN)?.range((&origin.0, 0, 0)..=(&origin.0, u64::MAX, u32::MAX))?;
                rows.take(limit).map(|row| row.map(|(key, _)| place(key.value().1, key.value().2)).map_err(Into::into)).collect()
            },
        )
    }

    /// Actors that the account deployed, oldest first; at most `limit`.
    pub fn of_deployer(&self, deployer: &Address, after: Option<Place>, limit: usize) -> Result<Vec<(Place, Address)>, StoreError> {
        let start = after.map_or((0, 0), |place| (place.number, place.index.saturating_add(1)));
        self.listed(
            || format!("the actors of {deployer}"),
            || {
                let rows = self.read.open_table(BY_DEPLOYER)?.range((&deployer.0, start.0, start.1)..=(&deployer.0, u64::MAX, u32::MAX))?;
                rows.take(limit)
                    .map(|row| {
                        let (key, actor) = row?;
                        Ok((place(key.value().1, key.value().2), Address(*actor.value())))
                    })
                    .collect()
            },
        )
    }

    /// A row of an index. Where a repair lost blocks, a row that is not there may be one of theirs.
    fn complete<T>(&self, row: impl Fn() -> String, read: impl FnOnce() -> Result<Option<T>, StoreError>) -> Result<Option<T>, StoreError> {
        match self.read(&row, read)? {
            None if !self.lost()?.is_empty() => Err(StoreError::Damaged { row: row() }),
            found => Ok(found),
        }
    }

    /// Rows of an index. Where a repair lost blocks, some may be missing.
    fn listed<T>(&self, row: impl Fn() -> String, read: impl FnOnce() -> Result<Vec<T>, StoreError>) -> Result<Vec<T>, StoreError> {
        match self.lost()?.is_empty() {
            true => self.read(row, read),
            false => Err(StoreError::Damaged { row: row() }),
        }
    }

    /// The blocks that a repair could not save, and that were not fetched again since.
    pub fn lost(&self) -> Result<Vec<u64>, StoreError> {
        self.read(
            || "the list of lost blocks".into(),
            || {
                let rows = self.read.open_table(LOST)?.range::<u64>(..)?;
                rows.map(|row| row.map(|(number, _)| number.value()).map_err(Into::into)).collect()
            },
        )
    }
}

fn place(number: u64, index: u32) -> Place {
    Place { number, index }
}

fn decode<T: commonware_codec::Read<Cfg = ()>>(kind: &str, number: u64, bytes: &[u8]) -> Result<T, StoreError> {
    T::decode_cfg(bytes::Bytes::copy_from_slice(bytes), &()).map_err(|_| StoreError::Damaged { row: format!("{kind} of block {number}") })
}

/// The index tables, open for writing.
struct Tables<'a> {
    by_digest: Table<'a, &'static [u8; 32], u64>,
    by_height: Table<'a, u64, u64>,
    by_id: Table<'a, &'static [u8; 32], (u64, u32)>,
    by_account: Table<'a, (&'static [u8; 20], u64, u32), ()>,
    by_emitter: Table<'a, (&'static [u8; 20], u64, u32, u32), ()>,
    by_origin: Table<'a, (&'static [u8; 32], u64, u32), ()>,
    by_deployer: Table<'a, (&'static [u8; 20], u64, u32), &'static [u8; 20]>,
}

impl<'a> Tables<'a> {
    fn open(write: &'a WriteTransaction) -> Result<Self, StoreError> {
        Ok(Self {
            by_digest: write.open_table(BY_DIGEST)?,
            by_height: write.open_table(BY_HEIGHT)?,
            by_id: write.open_table(BY_ID)?,
            by_account: write.open_table(BY_ACCOUNT)?,
            by_emitter: write.open_table(BY_EMITTER)?,
            by_origin: write.open_table(BY_ORIGIN)?,
            by_deployer: write.open_table(BY_DEPLOYER)?,
        })
    }

    fn delete(write: &WriteTransaction) -> Result<(), StoreError> {
        write.delete_table(BY_DIGEST)?;
        write.delete_table(BY_HEIGHT)?;
        write.delete_table(BY_ID)?;
        write.delete_table(BY_ACCOUNT)?;
        write.delete_table(BY_EMITTER)?;
        write.delete_table(BY_ORIGIN)?;
        write.delete_table(BY_DEPLOYER)?;
        Ok(())
    }

    fn index(&mut self, block: &Block, receipts: &[Receipt], concerns: &[Concern]) -> Result<(), StoreError> {
        let number = block.header.number.0;
        for concern in concerns {
            self.by_account.insert((&concern.address.0, number, concern.receipt), ())?;
        }
        self.by_digest.insert(&block.digest().0, number)?;
        self.by_height.insert(block.header.height().0, number)?;
        for (index, receipt) in (0..).zip(receipts) {
            self.by_id.insert(&receipt.id.0, (number, index))?;
            self.by_account.insert((&receipt.sender.0, number, index), ())?;
            self.by_account.insert((&receipt.target.0, number, index), ())?;
            if receipt.origin != receipt.id {
                self.by_origin.insert((&receipt.origin.0, number, index), ())?;
            }
            if let Some(actor) = &receipt.created {
                self.by_deployer.insert((&receipt.sender.0, number, index), &actor.0)?;
            }
            for (position, event) in (0..).zip(receipt.events.iter()) {
                self.by_emitter.insert((&event.emitter.0, number, index, position), ())?;
            }
        }
        Ok(())
    }
}
