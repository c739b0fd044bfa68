//! Ledgers of older programs, and blocks that are written together.

use super::*;

/// A ledger of a program that had no catalog gets one when it is opened.
#[test]
fn an_older_ledger_gets_its_catalog() {
    let ledger = Ledger::in_memory().expect("memory is enough");
    (1..=2 * BATCH + 1).for_each(|number| ledger.append(&records::record(number, 0)).expect("it writes"));
    let answers = || {
        let view = ledger.view().expect("it opens");
        (view.actors_with("", 9), view.class_of(&records::CREATED), view.of_token(&records::TOKEN, None, 9_999))
    };
    let once = format!("{:?}", answers());
    let write = begin_write(&ledger.database).expect("it writes");
    catalog::forget(&write).expect("it writes");
    write.commit().expect("it writes");
    assert_ne!(format!("{:?}", answers()), once);
    ledger.catalogue().expect("it indexes");
    assert_eq!(format!("{:?}", answers()), once);
}

/// Blocks that are written together are found as those that were written one by one, and so are those that are pruned.
#[test]
fn blocks_are_written_together() {
    const BLOCKS: u64 = 700;
    let records: Vec<BlockRecord> = (1..=BLOCKS).map(|number| records::record(number, 0)).collect();
    let kept = Retention { blocks: 100, traces: 10, values: 3 };
    let ledger = || Ledger::in_memory().expect("memory is enough").keeping(kept);
    let (singly, together) = (ledger(), ledger());
    records.iter().for_each(|record| singly.append(record).expect("it writes"));
    records.chunks(64).for_each(|run| together.append_all(run).expect("it writes"));
    together.append_all(&[]).expect("there is nothing to write");
    let answers = |ledger: &Ledger| {
        let view = ledger.view().expect("it opens");
        let blocks: Vec<_> = (1..=BLOCKS)
            .map(|number| (view.block_bytes(number), view.certificate(number), view.receipts(number), view.carry(number)))
            .map(|found| format!("{found:?}"))
            .collect();
        let others = (view.first(), view.tip(), view.overwritten(), view.of_token(&records::TOKEN, None, 9_999));
        (format!("{others:?}"), blocks)
    };
    assert_eq!(answers(&singly), answers(&together));
    assert_eq!(together.view().expect("it opens").first().expect("it reads"), Some(BLOCKS - 99));
}
