//! The ledger at one moment: blocks, receipts and what is kept beside them.

use crate::{
    Chunk, StoreError,
    copies::{BlockCopy, Copies, concerns_of},
    pages::guarded,
    position::{Concern, Place, place},
    sections::{self, Packed},
    tables::*,
};
use commonware_codec::{Copying, Decode as _, Encode as _, ReadExt as _};
use cowboy_types::{Block, Hash, Header, Height, Receipt, merkle};
use redb::{ReadTransaction, ReadableTable as _, TableDefinition};

/// The ledger at one moment.
pub struct View {
    pub(crate) read: ReadTransaction,
    pub(crate) copies: Copies,
    pub(crate) sections: sections::Cache,
}

/// The rows of a block that name its rows in the indexes.
pub(crate) struct Rows {
    pub(crate) block: Block,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) concerns: Vec<Concern>,
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
        let oldest = || {
            let row = self.read.open_table(BLOCKS)?.first()?.map(|(number, _)| number.value());
            let packed = self.first_packed(0..row.unwrap_or(u64::MAX), |_| Some(()))?;
            Ok(packed.map(|(number, ())| number).or(row))
        };
        let oldest = self.read(|| "the oldest block".into(), oldest)?;
        Ok(oldest.into_iter().chain(lost).min())
    }

    /// Reads rows of one block. Where a repair lost the block, a row that is not there may have been.
    pub(crate) fn of<T>(
        &self,
        number: u64,
        row: impl Fn() -> String,
        read: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        guarded(&row, || match self.read.open_table(LOST)?.get(number)? {
            Some(_) => Err(StoreError::Damaged { row: row() }),
            None => read(),
        })
    }

    /// A row of a block, or what is packed of it.
    fn row(
        &self,
        table: TableDefinition<'_, u64, &'static [u8]>,
        number: u64,
        part: impl FnOnce(Packed) -> Option<Vec<u8>>,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        match self.read.open_table(table)?.get(number)? {
            Some(bytes) => Ok(Some(bytes.value().to_vec())),
            None => Ok(self.packed(number)?.and_then(part)),
        }
    }

    /// Reads rows, all of which were verified; `row` names them where they are damaged.
    pub(crate) fn read<T>(&self, row: impl Fn() -> String, read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        guarded(row, read)
    }

    /// The block of this number.
    pub fn block(&self, number: u64) -> Result<Option<Block>, StoreError> {
        self.block_bytes(number)?.map(|bytes| decode("block", number, &bytes)).transpose()
    }

    /// The header of the block of this number. The transactions, which may have megabytes, are not decoded.
    pub fn header(&self, number: u64) -> Result<Option<Header>, StoreError> {
        self.block_bytes(number)?.map(|bytes| header_of_block(number, &bytes)).transpose()
    }

    /// The encoded block of this number.
    pub fn block_bytes(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let row = || format!("block {number}");
        let read = self.read(row, || {
            let found = self.row(BLOCKS, number, |packed| Some(packed.block))?;
            // Between the oldest block and the newest none is missing, unless a repair could not save it.
            let is_lost = found.is_none() && number >= self.first()?.unwrap_or(u64::MAX) && number <= self.tip()?.unwrap_or(0);
            if is_lost { Err(StoreError::Damaged { row: row() }) } else { Ok(found) }
        });
        self.copies.instead(number, read, |copy| Some(copy.block.encode().to_vec()))
    }

    /// The block before those of this ledger that says who signs in them, where the ledger began with one.
    pub fn introduction(&self) -> Result<Option<Block>, StoreError> {
        self.read(
            || "the block that introduces the ledger's first epoch".into(),
            || {
                let table = self.read.open_table(INTRODUCTIONS)?;
                let Some((number, bytes)) = table.first()? else { return Ok(None) };
                decode("block", number.value(), bytes.value()).map(Some)
            },
        )
    }

    /// The copies of blocks that end an epoch, ascending.
    pub(crate) fn boundaries(&self) -> Result<Vec<Block>, StoreError> {
        self.read(
            || "the copies of blocks that end an epoch".into(),
            || {
                let table = self.read.open_table(BOUNDARIES)?;
                let rows = table.iter()?.map(|row| row.map(|(number, bytes)| (number.value(), bytes.value().to_vec())));
                rows.map(|row| row.map_err(Into::into).and_then(|(number, bytes)| decode("block", number, &bytes))).collect()
            },
        )
    }

    /// The block of this number, or the copy that is kept of one that ends an epoch, where its own row is damaged.
    pub fn boundary(&self, number: u64) -> Result<Option<Block>, StoreError> {
        self.block(number).or_else(|damaged| {
            let copy = self.read(
                || format!("the copy of block {number}"),
                || Ok(self.read.open_table(BOUNDARIES)?.get(number)?.map(|bytes| bytes.value().to_vec())),
            )?;
            copy.ok_or(damaged).and_then(|bytes| decode("block", number, &bytes).map(Some))
        })
    }

    /// The number of the block with this digest.
    pub fn number_of(&self, digest: &Hash) -> Result<Option<u64>, StoreError> {
        let found = || Ok(self.read.open_table(BY_DIGEST)?.get(&digest.0)?.map(|number| number.value()));
        self.complete(|| format!("the number of block {digest}"), found)
    }

    /// The number of the block at this height, or `None` where a warp skipped it or it is yet to come.
    pub fn number_at(&self, height: Height) -> Result<Option<u64>, StoreError> {
        let found = || Ok(self.read.open_table(BY_HEIGHT)?.get(height.0)?.map(|number| number.value()));
        let row = || format!("the number of the block at height {height}");
        if let Some(number) = self.read(row, found)? {
            return Ok(Some(number));
        }
        // A block whose height is its number has no row.
        let same = self.header(height.0)?.filter(|header| header.height() == height).map(|_| height.0);
        self.complete(row, || Ok(same))
    }

    /// The encoded finalization of exactly this block, where this node has one.
    pub fn certificate(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let found = || self.row(CERTIFICATES, number, |packed| packed.certificate);
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
            let found = self.first_packed(number..end, |packed| packed.certificate.clone())?.or(found);
            let end = found.as_ref().map_or(u64::MAX, |(number, _)| *number);
            let is_lost = self.lost()?.iter().any(|lost| (number..end).contains(lost));
            if is_lost { Err(StoreError::Damaged { row: row() }) } else { Ok(found) }
        })
    }

    /// What the driver left for itself with this block.
    pub fn carry(&self, number: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let found = || self.row(CARRY, number, |packed| packed.carry);
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

    /// A chunk of storage that was pruned, where it is still kept.
    pub fn chunk(&self, hash: &Hash) -> Result<Option<Vec<u8>>, StoreError> {
        let found = || Ok(self.read.open_table(CHUNKS)?.get(&hash.0)?.map(|kept| kept.value().1.to_vec()));
        self.read(|| format!("the chunk {hash}"), found)
    }

    /// All chunks that are kept.
    pub fn chunks(&self) -> Result<Vec<Chunk>, StoreError> {
        self.read(
            || "the chunks of storage that were pruned".into(),
            || {
                let table = self.read.open_table(CHUNKS)?;
                let chunk = |(hash, kept): (redb::AccessGuard<'_, &[u8; 32]>, redb::AccessGuard<'_, (u64, &[u8])>)| {
                    let (until, bytes) = kept.value();
                    Chunk { hash: Hash(*hash.value()), bytes: bytes.to_vec(), until: Height(until) }
                };
                table.iter()?.map(|row| row.map(chunk).map_err(Into::into)).collect()
            },
        )
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

    /// The name of the receipt at this place, read without the rest, which may have thousands of events.
    pub fn receipt_id(&self, place: Place) -> Result<Option<Hash>, StoreError> {
        let read = self.of(
            place.number,
            || format!("receipt {} of block {}", place.index, place.number),
            || {
                let row = self.read.open_table(RECEIPTS)?.get((place.number, place.index))?;
                row.map(|bytes| id_of_receipt(place.number, bytes.value())).transpose()
            },
        );
        let index = usize::try_from(place.index).unwrap_or(usize::MAX);
        self.copies.instead(place.number, read, |copy| copy.receipts.get(index).map(|receipt| receipt.id))
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

    /// The rows of the oldest blocks below a number, ascending, at most `limit`, and none from the first on that cannot be read: out of the
    /// file, also where a copy is held.
    pub(crate) fn rows_below(&self, floor: u64, limit: usize) -> Result<Vec<Rows>, StoreError> {
        let mut found = Vec::new();
        let Some(first) = self.first()?.filter(|first| *first < floor) else { return Ok(found) };
        let lost = self.lost()?;
        for number in (first..floor).filter(|number| !lost.contains(number)).take(limit) {
            match self.read(|| format!("block {number}"), || self.rows_of(number)) {
                Ok(rows) => found.push(rows),
                Err(StoreError::Damaged { row }) => {
                    tracing::warn!(row, "blocks are not pruned: a row is damaged");
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// The rows of a block. Reads all its other rows too, so that whoever removes them meets no damaged page.
    fn rows_of(&self, number: u64) -> Result<Rows, StoreError> {
        let missing = || StoreError::Damaged { row: format!("block {number}") };
        let block = self.row(BLOCKS, number, |packed| Some(packed.block))?.ok_or_else(missing)?;
        self.read_ending(number)?;
        let rows = self.read.open_table(RECEIPTS)?.range((number, 0)..=(number, u32::MAX))?;
        let receipts = rows.map(|row| decode("receipt", number, row?.1.value())).collect::<Result<_, StoreError>>()?;
        let concerns = self.read.open_table(CONCERNS)?.get(number)?.map(|bytes| concerns_of(bytes.value())).unwrap_or_default();
        self.read.open_table(CERTIFICATES)?.get(number)?;
        self.read.open_table(CARRY)?.get(number)?;
        self.read.open_table(OVERWRITTEN)?.get(number)?;
        self.read.open_table(TRACES)?.range((number, 0)..=(number, TRACED))?.try_for_each(|row| row.map(drop))?;
        Ok(Rows { block: decode("block", number, &block)?, receipts, concerns })
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

    /// A row of an index. Where a repair lost blocks, a row that is not there may be one of theirs.
    pub(crate) fn complete<T>(
        &self,
        row: impl Fn() -> String,
        read: impl FnOnce() -> Result<Option<T>, StoreError>,
    ) -> Result<Option<T>, StoreError> {
        match self.read(&row, read)? {
            None if !self.lost()?.is_empty() => Err(StoreError::Damaged { row: row() }),
            found => Ok(found),
        }
    }

    /// Rows of an index. Where a repair lost blocks, some may be missing.
    pub(crate) fn listed<T>(
        &self,
        row: impl Fn() -> String,
        read: impl FnOnce() -> Result<Vec<T>, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
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

pub(crate) fn decode<T: commonware_codec::Read<Cfg = ()>>(kind: &str, number: u64, bytes: &[u8]) -> Result<T, StoreError> {
    T::decode_cfg(bytes::Bytes::copy_from_slice(bytes), &()).map_err(|_| StoreError::Damaged { row: format!("{kind} of block {number}") })
}

/// The header that an encoded block begins with.
fn header_of_block(number: u64, bytes: &[u8]) -> Result<Header, StoreError> {
    Header::read(&mut Copying(bytes)).map_err(|_| StoreError::Damaged { row: format!("block {number}") })
}

/// The name that an encoded receipt begins with.
fn id_of_receipt(number: u64, bytes: &[u8]) -> Result<Hash, StoreError> {
    bytes.first_chunk().map(|id| Hash(*id)).ok_or_else(|| StoreError::Damaged { row: format!("receipt of block {number}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 720: the name of a receipt is read without what follows it.
    #[test]
    fn a_name_is_read_without_the_rest() {
        assert_eq!(id_of_receipt(1, &[[7; 32].as_slice(), &[0xff; 9]].concat()).ok(), Some(Hash([7; 32])));
        assert!(matches!(id_of_receipt(1, &[7; 31]), Err(StoreError::Damaged { .. })));
    }
}
