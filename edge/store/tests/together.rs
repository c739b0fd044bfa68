//! Blocks that are written together, or shown before they are on the disk: after a crash all of them are there, or none.

use crate::records::record;
use cowboy_store::{BlockRecord, Ledger};
use std::{fs, ops::RangeInclusive, path::Path};

/// Bytes before the second page: two copies of the first one, which names what was committed.
const FIRST: usize = 16_384;

/// Bytes of every other page, with its checksum.
const PAGE: usize = 4_104;

fn run(numbers: RangeInclusive<u64>) -> Vec<BlockRecord> {
    numbers.map(|number| record(number, 0)).collect()
}

/// The newest block of a ledger with these bytes, if each block up to it is as it was written, and none after it is there.
fn newest(path: &Path, bytes: &[u8]) -> Option<u64> {
    fs::write(path, bytes).expect("it writes");
    let ledger = Ledger::open(path).expect("it opens");
    let view = ledger.view().expect("it opens");
    let tip = view.tip().expect("it reads");
    for record in run(1..=80) {
        let number = record.block.header.number.0;
        let is_there = Some(number) <= tip;
        assert_eq!(view.block(number).expect("it reads"), is_there.then(|| record.block.clone()), "block {number}");
        assert_eq!(view.receipts(number).expect("it reads"), if is_there { record.receipts } else { Vec::new() }, "block {number}");
        assert_eq!(view.number_of(&record.block.digest()).expect("it reads"), is_there.then_some(number), "block {number}");
    }
    tip
}

/// A node is killed while it writes a run: some pages of the run are on the disk, and the first page, which is written last, is not. The run is written again.
#[test]
fn a_crash_leaves_all_blocks_of_a_run_or_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.redb");
    let ledger = Ledger::open(&path).expect("it opens");
    ledger.append_all(&run(1..=20)).expect("it writes");
    let before = fs::read(&path).expect("it is there");
    ledger.append_all(&run(21..=80)).expect("it writes");
    let after = fs::read(&path).expect("it is there");
    drop(ledger);

    let torn = folder.path().join("torn.redb");
    assert_eq!(newest(&torn, &after), Some(80));
    for share in [1, 2, 3, 7] {
        let mut bytes = before.clone();
        bytes.resize(before.len().max(after.len()), 0);
        let written = after[FIRST..].chunks(PAGE).enumerate().filter(|(place, _)| place % share == 0);
        for (place, page) in written {
            bytes[FIRST + place * PAGE..][..page.len()].copy_from_slice(page);
        }
        assert_eq!(newest(&torn, &bytes), Some(20), "one of {share} pages is written");
        let ledger = Ledger::open(&torn).expect("it opens");
        ledger.append_all(&run(21..=80)).expect("it writes");
        drop(ledger);
        let again = fs::read(&torn).expect("it is there");
        assert_eq!(newest(&torn, &again), Some(80), "written again after one of {share} pages");
    }
}

/// A block that is shown is read at once, by digest and receipt too, and is on the disk when the ledger is synced. A crash before that leaves the ledger as it was, and the
/// block is written again.
#[test]
fn a_block_that_is_shown_is_read_at_once_and_kept_when_it_is_synced() {
    let folder = tempfile::tempdir().expect("a folder");
    let (path, crashed) = (folder.path().join("ledger.redb"), folder.path().join("crashed.redb"));
    let ledger = Ledger::open(&path).expect("it opens");
    ledger.append_all(&run(1..=20)).expect("it writes");
    for number in [21, 22] {
        let shown = record(number, 0);
        ledger.show(&shown).expect("it writes");
        let view = ledger.view().expect("it opens");
        assert_eq!(view.block(number).expect("it reads"), Some(shown.block.clone()));
        assert_eq!(view.receipts(number).expect("it reads"), shown.receipts);
        assert_eq!(view.number_of(&shown.block.digest()).expect("it reads"), Some(number));
        drop(view);
        let before = fs::read(&path).expect("it is there");
        assert_eq!(newest(&crashed, &before), Some(number - 1), "it waits for no disk");
        let again = Ledger::open(&crashed).expect("it opens");
        again.append(&shown).expect("it writes");
        drop(again);
        let written = fs::read(&crashed).expect("it is there");
        assert_eq!(newest(&crashed, &written), Some(number), "it is written again");

        ledger.sync().expect("it writes");
        let after = fs::read(&path).expect("it is there");
        assert_eq!(newest(&crashed, &after), Some(number), "it is on the disk");
    }
    // The next block that is written takes what was shown with it.
    ledger.show(&record(23, 0)).expect("it writes");
    ledger.append(&record(24, 0)).expect("it writes");
    let after = fs::read(&path).expect("it is there");
    assert_eq!(newest(&crashed, &after), Some(24));
}
