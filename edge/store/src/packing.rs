//! Packs old blocks into sections, and reads and prunes them.

use crate::{
    error::StoreError,
    sections::{Blocks, PIECE, Packed, SECTION, compress, decompress, numbers, section_of},
    tables::*,
    view::View,
};
use redb::{ReadableTable as _, WriteTransaction};
use std::{ops::Range, sync::Arc};

/// Sections that are packed with one block that is written: more than one, so that an older ledger gets there.
const AT_ONCE: u64 = 2;

/// The marks in [`MARKS`]: the first section that is not packed, and the first block that is not pruned.
const PACKED: &str = "packed";
const PRUNED: &str = "pruned";

/// Packs the sections that are old enough: all but the newest block's and the one before it.
pub(crate) fn pack(write: &WriteTransaction, view: impl FnOnce() -> Result<View, StoreError>, newest: u64) -> Result<(), StoreError> {
    let end = section_of(newest).saturating_sub(1);
    let known = write.open_table(MARKS)?.get(PACKED)?.map(|mark| mark.value());
    if known.unwrap_or(0) >= end {
        return Ok(());
    }
    let view = view()?;
    let next = match known {
        Some(next) => next,
        None => view.first_row()?.map_or(end, section_of),
    };
    let end = end.min(next.saturating_add(AT_ONCE));
    for section in next..end {
        match view.to_pack(section) {
            Ok(blocks) => put(write, section, &blocks)?,
            Err(StoreError::Damaged { row }) => tracing::warn!(row, "blocks are not packed: a row is damaged"),
            Err(error) => return Err(error),
        }
    }
    write.open_table(MARKS)?.insert(PACKED, end.max(next))?;
    Ok(())
}

/// Writes a section in place of its blocks' rows.
fn put(write: &WriteTransaction, section: u64, blocks: &Blocks) -> Result<(), StoreError> {
    let is_packed = |number: u64| blocks[usize::try_from(number % SECTION).expect("a section is small")].is_some();
    if blocks.iter().all(Option::is_none) {
        return Ok(());
    }
    let bytes = compress(blocks).map_err(redb::StorageError::from)?;
    let mut table = write.open_table(SECTIONS)?;
    for (piece, bytes) in (0..).zip(bytes.chunks(PIECE)) {
        table.insert((section, piece), bytes)?;
    }
    for rows in [BLOCKS, CERTIFICATES, CARRY] {
        write.open_table(rows)?.retain_in(numbers(section), |number, _| !is_packed(number))?;
    }
    Ok(())
}

/// Notes that every block below this one is pruned, and drops the sections that have no other.
pub(crate) fn prune(write: &WriteTransaction, first: u64) -> Result<(), StoreError> {
    write.open_table(MARKS)?.insert(PRUNED, first)?;
    write.open_table(SECTIONS)?.retain_in(..(section_of(first), 0), |_, _| false)?;
    Ok(())
}

impl View {
    /// The oldest block that has a row of its own.
    fn first_row(&self) -> Result<Option<u64>, StoreError> {
        let oldest = || Ok(self.read.open_table(BLOCKS)?.first()?.map(|(number, _)| number.value()));
        self.read(|| "the oldest block".into(), oldest)
    }

    /// The blocks of a section that are to be packed. Reads the rows around them too, so that whoever removes them meets no damaged page.
    fn to_pack(&self, section: u64) -> Result<Blocks, StoreError> {
        let around = numbers(section.saturating_sub(1)).start..numbers(section.saturating_add(1)).end;
        let read = || {
            for table in [BLOCKS, CERTIFICATES, CARRY] {
                self.read.open_table(table)?.range(around.clone())?.try_for_each(|row| row.map(drop))?;
            }
            let [blocks, certificates, carries] = [BLOCKS, CERTIFICATES, CARRY].map(|table| self.read.open_table(table));
            let (blocks, certificates, carries) = (blocks?, certificates?, carries?);
            let mut found = Blocks::new();
            for number in numbers(section) {
                let Some(block) = blocks.get(number)? else {
                    found.push(None);
                    continue;
                };
                let bytes = |row: Option<redb::AccessGuard<'_, &[u8]>>| row.map(|bytes| bytes.value().to_vec());
                let packed = Packed {
                    block: block.value().to_vec(),
                    certificate: bytes(certificates.get(number)?),
                    carry: bytes(carries.get(number)?),
                };
                found.push(Some(packed).filter(Packed::is_small));
            }
            Ok(found)
        };
        self.read(|| format!("the blocks of section {section}"), read)
    }

    /// The packed rows of a block, where it is packed and not pruned.
    pub(crate) fn packed(&self, number: u64) -> Result<Option<Packed>, StoreError> {
        if number < self.pruned()? {
            return Ok(None);
        }
        let place = usize::try_from(number % SECTION).expect("a section is small");
        Ok(self.section(section_of(number))?.and_then(|blocks| blocks.get(place).cloned().flatten()))
    }

    /// The first number that is not pruned.
    fn pruned(&self) -> Result<u64, StoreError> {
        Ok(self.read.open_table(MARKS)?.get(PRUNED)?.map_or(0, |mark| mark.value()))
    }

    /// A section, where there is one.
    fn section(&self, section: u64) -> Result<Option<Arc<Blocks>>, StoreError> {
        match self.sections.get(section) {
            Some(blocks) => Ok(Some(blocks)),
            None => self.read_section(section),
        }
    }

    fn read_section(&self, section: u64) -> Result<Option<Arc<Blocks>>, StoreError> {
        let mut bytes = Vec::new();
        for row in self.read.open_table(SECTIONS)?.range((section, 0)..=(section, u32::MAX))? {
            bytes.extend_from_slice(row?.1.value());
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let blocks = decompress(&bytes).ok_or_else(|| StoreError::Damaged { row: format!("section {section}") })?;
        let blocks = Arc::new(blocks);
        self.sections.put(section, blocks.clone());
        Ok(Some(blocks))
    }

    /// Reads, from the file, the section that goes with this block: the last one in it. Nothing where another block is.
    pub(crate) fn read_ending(&self, number: u64) -> Result<(), StoreError> {
        match (number.saturating_add(1)).is_multiple_of(SECTION) {
            true => self.read_section(section_of(number)).map(drop),
            false => Ok(()),
        }
    }

    /// The first packed block of a range that is not pruned and of which this is something.
    pub(crate) fn first_packed<T>(&self, range: Range<u64>, part: impl Fn(&Packed) -> Option<T>) -> Result<Option<(u64, T)>, StoreError> {
        let mut start = range.start.max(self.pruned()?);
        let table = self.read.open_table(SECTIONS)?;
        while start < range.end {
            let next = table.range((section_of(start), 0)..)?.next().transpose()?.map(|(key, _)| key.value().0);
            let Some(section) = next.filter(|section| numbers(*section).start < range.end) else { break };
            let blocks = self.section(section)?.unwrap_or_default();
            let all = numbers(section).zip(blocks.iter());
            let mut wanted = all.filter(|(number, _)| (start..range.end).contains(number));
            let found = wanted.find_map(|(number, packed)| Some((number, part(packed.as_ref()?)?)));
            if found.is_some() {
                return Ok(found);
            }
            start = numbers(section).end;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Ledger,
        ledger::{begin_write, records},
    };
    use cowboy_types::{Height, wire::List};

    /// Undoes all packing, as if an older program had written the ledger.
    fn unpack(write: &WriteTransaction, view: &View) {
        let sections = view.pruned().expect("it reads")..9;
        for (number, packed) in sections.clone().flat_map(numbers).filter_map(|number| Some((number, view.packed(number).ok()??))) {
            write
                .open_table(BLOCKS)
                .and_then(|mut rows| rows.insert(number, &*packed.block).map(drop).map_err(Into::into))
                .expect("it writes");
            for (table, bytes) in [(CERTIFICATES, packed.certificate), (CARRY, packed.carry)] {
                let mut rows = write.open_table(table).expect("it opens");
                if let Some(bytes) = bytes {
                    rows.insert(number, &*bytes).expect("it writes");
                }
            }
        }
        write.delete_table(SECTIONS).expect("it is there");
        write.delete_table(MARKS).expect("it is there");
        write.open_table(SECTIONS).and(write.open_table(MARKS).map(drop)).map(drop).expect("it writes");
    }

    /// The blocks of an older ledger are packed while it grows, and nothing that it says changes.
    #[test]
    fn an_older_ledger_is_packed_while_it_grows() {
        const BLOCKS_BEFORE: u64 = 6 * SECTION;
        let ledger = Ledger::in_memory().expect("memory is enough");
        let append = |number| {
            let mut record = records::record(number, 0);
            (record.block.transactions, record.receipts, record.traces) = (List::default(), Vec::new(), Vec::new());
            (record.concerns, record.outlines) = (Vec::new(), Vec::new());
            ledger.append(&record).expect("it writes");
        };
        (1..=BLOCKS_BEFORE).for_each(append);
        let answers = || {
            let view = ledger.view().expect("it opens");
            let of = |number| (view.block(number), view.certificate(number), view.carry(number), view.number_at(Height(number)));
            format!("{:?}", (1..=BLOCKS_BEFORE).map(of).collect::<Vec<_>>())
        };
        let rows = || {
            let view = ledger.view().expect("it opens");
            view.read.open_table(BLOCKS).expect("it opens").range(..BLOCKS_BEFORE).expect("it reads").count()
        };
        let (truth, packed) = (answers(), rows());
        let write = begin_write(&ledger.database).expect("it writes");
        unpack(&write, &ledger.view().expect("it opens"));
        write.commit().expect("it writes");
        assert!(rows() > 1_000 && packed < 600, "{packed} rows while packed");
        for number in 1..=3 {
            append(BLOCKS_BEFORE + number);
            assert!(answers() == truth, "after {number} blocks more");
        }
        assert_eq!(rows(), packed);
    }
}
