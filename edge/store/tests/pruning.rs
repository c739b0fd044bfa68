//! A ledger that keeps the newest blocks only.

use crate::{
    ledger::committed,
    records::{ACTOR, BYSTANDER, CREATED, SENDER, TARGET, TOKEN},
};
use cowboy_store::{Ledger, Place, Retention, check::check};
use cowboy_types::{Hash, Height};
use std::fs;

/// A ledger that is to keep some blocks has no row that leads to an older one, is sound, and does not grow. One that is to keep less drops some of
/// the older ones with each block.
#[test]
fn blocks_are_pruned_by_age() {
    const KEPT: u64 = 20;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.redb");
    let retention = Retention { blocks: u64::MAX, traces: 4, values: 3 };
    let ledger = Ledger::open(&path).expect("it opens").keeping(retention);
    let mut parent = Hash::ZERO;
    let mut append = |ledger: &Ledger, numbers: std::ops::RangeInclusive<u64>| {
        for number in numbers {
            let record = committed(number, parent);
            parent = record.block.digest();
            ledger.append(&record).expect("it writes");
        }
    };
    append(&ledger, 1..=60);
    let (old, receipt) = {
        let view = ledger.view().expect("it opens");
        let block = view.block(60 - KEPT).expect("it reads").expect("it is kept");
        (block.digest(), view.receipts(60 - KEPT).expect("it reads").remove(0))
    };
    let ledger = ledger.keeping(Retention { blocks: KEPT, ..retention });
    append(&ledger, 61..=61);
    assert_eq!(ledger.view().expect("it opens").first().expect("it reads"), Some(17), "a few at once");
    append(&ledger, 62..=120);
    let grown = fs::metadata(&path).expect("it is there").len();
    append(&ledger, 121..=200);
    assert!(fs::metadata(&path).expect("it is there").len() <= grown, "it grows");
    let view = ledger.view().expect("it opens");
    let oldest = 201 - KEPT;
    assert_eq!((view.first().expect("it reads"), view.tip().expect("it reads")), (Some(oldest), Some(200)));
    assert_eq!((view.block(oldest - 1).expect("it reads"), view.number_of(&old).expect("it reads")), (None, None));
    assert_eq!(view.place_of(&receipt.id).expect("it reads"), None);
    assert_eq!(view.number_at(Height(oldest - 1)).expect("it reads"), None);
    let is_kept = |place: &Place| place.number >= oldest;
    let events = view.of_emitter(&ACTOR, Place { number: 0, index: 0 }, 1_000).expect("it reads");
    let accounts = [SENDER, TARGET, BYSTANDER].map(|account| view.of_account(&account, None, 1_000).expect("it reads"));
    let deployed = view.of_deployer(&SENDER, None, 1_000).expect("it reads");
    let moved = view.of_token(&TOKEN, None, 1_000).expect("it reads");
    let places =
        events.iter().chain(&moved).map(|(place, _)| place).chain(accounts.iter().flatten()).chain(deployed.iter().map(|(place, _)| place));
    assert!(places.clone().count() > 100 && places.clone().all(is_kept), "an index leads to a pruned block");
    assert_eq!(view.of_origin(&receipt.origin, 9).expect("it reads"), []);
    assert!(view.class_of(&CREATED).expect("it reads").is_some(), "what an actor is stays known");
    drop((view, ledger));
    let report = check(&path).expect("it is there");
    assert!(report.is_sound() && report.blocks == KEPT, "{report:?}");
}
