//! Checks a stopped node's ledger from its pages to its hashes, and saves what is readable of a damaged one.

use crate::{BlockRecord, Ledger, Retention, View, error::StoreError, pages::Pages, position::Place};
use cowboy_types::{Block, Hash, Receipt, merkle};
use std::path::Path;

/// What is wrong with a ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Blocks that were checked.
    pub blocks: u64,
    /// Pages of the file that are not as they were written.
    pub pages: Vec<u64>,
    /// What else was found, one line each: rows that are damaged or contradict each other.
    pub faults: Vec<String>,
    /// Blocks that an earlier repair could not save.
    pub lost: Vec<u64>,
}

impl Report {
    /// Whether everything is as it should be.
    pub fn is_sound(&self) -> bool {
        self.pages.is_empty() && self.faults.is_empty() && self.lost.is_empty()
    }
}

/// Checks the ledger in this file: every page, every block against its hash, its parent and its roots, and every index row that
/// follows from them.
///
/// Fails where the file cannot be used at all; a ledger that does not open is reported as a fault.
pub fn check(path: &Path) -> Result<Report, StoreError> {
    let pages = Pages::damaged_pages(path)?;
    let mut report = Report { pages, ..Report::default() };
    let walked = Ledger::open(path).and_then(|ledger| walk(&ledger, &mut report));
    if let Err(error) = walked {
        report.faults.push(error.to_string());
    }
    Ok(report)
}

/// Checks the rows of a ledger that is open, as [`check`] does, but not its pages.
pub fn check_rows(ledger: &Ledger) -> Result<Report, StoreError> {
    let mut report = Report::default();
    walk(ledger, &mut report)?;
    Ok(report)
}

fn walk(ledger: &Ledger, report: &mut Report) -> Result<(), StoreError> {
    let view = ledger.view()?;
    report.lost = view.lost()?;
    let (Some(first), Some(tip)) = (view.first()?, view.tip()?) else { return Ok(()) };
    let mut parent = None;
    for number in (first..=tip).filter(|number| !report.lost.contains(number)) {
        report.blocks += 1;
        let is_first = number == first;
        match sound(&view, number, is_first) {
            Ok(block) => {
                if parent.is_some_and(|(before, digest)| before + 1 == number && digest != block.header.parent) {
                    report.faults.push(format!("block {number} does not follow block {}", number - 1));
                }
                parent = Some((number, block.digest()));
            }
            Err(fault) => report.faults.push(fault.to_string()),
        }
    }
    Ok(())
}

/// Reads everything about a block and checks it. The block that a ledger begins with has no receipts.
fn sound(view: &View, number: u64, is_first: bool) -> Result<Block, StoreError> {
    let damaged = |what: &str| StoreError::Damaged { row: format!("{what} of block {number}") };
    let block = view.block(number)?.ok_or_else(|| damaged("the row"))?;
    if block.header.number.0 != number || !block.is_body_committed() {
        return Err(damaged("the body"));
    }
    let receipts = view.receipts(number)?;
    let digests: Vec<Hash> = receipts.iter().map(Receipt::digest).collect();
    let is_begun = is_first && receipts.is_empty();
    if !is_begun && merkle::root(&digests) != block.header.receipt_root {
        return Err(damaged("the receipts"));
    }
    if view.number_of(&block.digest())? != Some(number) || view.number_at(block.header.height())? != Some(number) {
        return Err(damaged("the index"));
    }
    for (index, receipt) in (0..).zip(&receipts) {
        if view.place_of(&receipt.id)? != Some(Place { number, index }) {
            return Err(damaged("the index of the receipts"));
        }
        view.trace(Place { number, index })?;
    }
    view.certificate(number)?;
    view.carry(number)?.ok_or_else(|| damaged("the carry"))?;
    view.concerns(number)?;
    Ok(block)
}

/// What a repair saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// Blocks that are whole in the new file.
    pub saved: u64,
    /// Blocks that could not be saved. Reads that would need them are refused.
    pub lost: Vec<u64>,
}

/// Writes everything that is readable of the ledger in this file into a new one, makes the indexes anew, and puts it in the place
/// of the old one, which is kept beside it with the ending `damaged`.
///
/// Fails where the old ledger does not open, and changes nothing then.
pub fn repair(path: &Path) -> Result<Repaired, StoreError> {
    let failed = |error| StoreError::file(path, error);
    let draft = path.with_extension("repair");
    if draft.exists() {
        std::fs::remove_file(&draft).map_err(failed)?;
    }
    let repaired = {
        let old = Ledger::open(path)?;
        let view = old.view()?;
        let new = Ledger::open(&draft)?.keeping(Retention { blocks: u64::MAX, traces: u64::MAX, values: u64::MAX });
        let mut repaired = Repaired { saved: 0, lost: view.lost()? };
        let (first, tip) = (view.first()?, view.tip()?);
        for number in first.into_iter().flat_map(|first| first..=tip.unwrap_or(first)) {
            match save(&view, &new, number, Some(number) == first) {
                Ok(()) => repaired.saved += 1,
                Err(error @ StoreError::Damaged { .. }) => {
                    tracing::warn!(%error, "a block is lost");
                    repaired.lost.push(number);
                }
                Err(other) => return Err(other),
            }
        }
        repaired.lost.sort_unstable();
        repaired.lost.dedup();
        new.lose(&repaired.lost)?;
        for block in view.boundaries().unwrap_or_default() {
            new.keep_boundary(&block)?;
        }
        match view.chunks() {
            Ok(chunks) => new.keep(&chunks)?,
            Err(error) => tracing::warn!(%error, "the chunks of storage that were pruned are lost"),
        }
        repaired
    };
    std::fs::rename(path, path.with_extension("damaged")).map_err(failed)?;
    std::fs::rename(&draft, path).map_err(failed)?;
    Ok(repaired)
}

/// Copies a block with everything that is kept about it. Its indexes are made anew, so a damaged one is no harm.
fn save(view: &View, new: &Ledger, number: u64, is_first: bool) -> Result<(), StoreError> {
    let damaged = |what: &str| StoreError::Damaged { row: format!("{what} of block {number}") };
    let block = view.block(number)?.ok_or_else(|| damaged("the row"))?;
    let receipts = view.receipts(number)?;
    let digests: Vec<Hash> = receipts.iter().map(Receipt::digest).collect();
    let carry = view.carry(number)?.ok_or_else(|| damaged("the carry"))?;
    // Without its certificate a block is proven by the next one that has one.
    let certificate = view.certificate(number).unwrap_or(None);
    if block.header.number.0 != number || !block.is_body_committed() {
        return Err(damaged("the body"));
    }
    if let (true, true, Some(certificate)) = (is_first, receipts.is_empty(), &certificate) {
        return new.begin(&block, certificate, &carry, view.introduction()?.as_ref());
    }
    if merkle::root(&digests) != block.header.receipt_root {
        return Err(damaged("the receipts"));
    }
    let traces = view.traces(number);
    let record = BlockRecord {
        block,
        concerns: view.concerns(number)?,
        certificate,
        carry,
        traces: traces.as_ref().ok().cloned().flatten().unwrap_or_default(),
        outlines: view.outlines(number).unwrap_or_default(),
        overwritten: view.overwritten_by(number).unwrap_or_default().unwrap_or_default(),
        pruned: Vec::new(),
        receipts,
    };
    new.append(&record)?;
    // What was dropped as too old, or is damaged, is not there in the new file either.
    new.forget(number, !matches!(traces, Ok(Some(_))), !matches!(view.overwritten_by(number), Ok(Some(_))))
}
