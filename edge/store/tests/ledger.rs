//! The ledger and the folder.

use cowboy_store::{BlockRecord, Concern, Directory, Ledger, Place, Retention, StoreError};
use cowboy_types::{
    Address, Block, Hash, Height, Receipt, blake3,
    receipt::{Event, Fee, ReceiptKind},
    units::Count,
    wire::{Blob, Fixed, List, Text},
};
use std::fs;

const SENDER: Address = Address([1; 20]);
const TARGET: Address = Address([2; 20]);
const ACTOR: Address = Address([3; 20]);
const BYSTANDER: Address = Address([4; 20]);

fn receipt(number: u64, index: u32) -> Receipt {
    let id = blake3(&[&number.to_be_bytes(), &index.to_be_bytes()]);
    let event = Event { emitter: ACTOR, name: Text::new("moved").expect("short"), data: Blob::default() };
    Receipt {
        id,
        kind: ReceiptKind::Transaction,
        origin: if index == 0 { id } else { blake3(&[&number.to_be_bytes(), &0u32.to_be_bytes()]) },
        sender: SENDER,
        target: TARGET,
        handler: Text::default(),
        value: Default::default(),
        cycles_used: Default::default(),
        cells_used: Default::default(),
        fee: Fee {
            payer: SENDER,
            cycle_price: Default::default(),
            cell_price: Default::default(),
            reserved: Default::default(),
            burned: Default::default(),
            tip: Default::default(),
            refunded: Default::default(),
        },
        created: (index == 1).then_some(ACTOR),
        return_data: Blob::default(),
        events: List::new(vec![event.clone(), event]).expect("two events"),
        abort: None,
    }
}

fn record(number: u64, skipped: u64) -> BlockRecord {
    let zero = || cowboy_types::LaneUsage { cycles: Default::default(), cells: Default::default() };
    let header = cowboy_types::Header {
        version: 1,
        genesis: Hash::ZERO,
        context: cowboy_types::Context {
            epoch: Count(0),
            view: Count(number),
            leader: Fixed([0; 32]),
            parent_view: Count(0),
            parent: Hash::ZERO,
        },
        parent: Hash::ZERO,
        number: Count(number),
        skipped: Count(skipped),
        timestamp_ms: Default::default(),
        seeds: List::default(),
        proposer_vrf: Fixed([0; 48]),
        base_fee_cycle: Default::default(),
        base_fee_cell: Default::default(),
        usage: cowboy_types::block::Usage { system: zero(), timer: zero(), runner: zero(), user: zero() },
        tx_root: Hash::ZERO,
        receipt_root: Hash::ZERO,
        state_root: Hash::ZERO,
        ops_root: Hash::ZERO,
        ops_start: Count(0),
        ops_end: Count(1),
        reshare: None,
        voters: Blob::default(),
        extension: Blob::default(),
        signature: Fixed([0; 65]),
    };
    BlockRecord {
        block: Block { header, transactions: List::default(), reshare: None },
        receipts: vec![receipt(number, 0), receipt(number, 1)],
        concerns: vec![Concern { address: BYSTANDER, receipt: 1 }],
        certificate: number.is_multiple_of(2).then(|| vec![7]),
        carry: vec![1, 2],
        traces: vec![(1, vec![9])],
        overwritten: vec![8],
    }
}

/// Everything that can be asked, as text to compare.
fn answers(ledger: &Ledger) -> String {
    let view = ledger.view().expect("it opens");
    let place = |number, index| Place { number, index };
    let all = (
        view.tip(),
        [1, 2, 3].map(|number| {
            (view.block(number), view.receipts(number), view.certificate(number), view.certificate_from(number), view.carry(number))
        }),
        [1, 2, 102, 103].map(|height| view.number_at(Height(height))),
        [SENDER, TARGET, BYSTANDER, ACTOR].map(|account| view.of_account(&account, None, 10)),
        (view.of_account(&SENDER, Some(place(2, 0)), 10), view.of_account(&SENDER, None, 1)),
        (view.of_emitter(&ACTOR, place(2, 1), 10), view.of_emitter(&ACTOR, place(0, 0), 3)),
        (view.of_origin(&receipt(2, 0).id, 10), view.of_deployer(&SENDER, None, 10), view.of_deployer(&SENDER, Some(place(1, 1)), 10)),
        (view.place_of(&receipt(3, 1).id), view.number_of(&record(2, 100).block.digest())),
    );
    format!("{all:#?}")
}

/// a block written twice is written once, and the indexes follow from the blocks.
#[test]
fn writing_again_and_indexing_again_change_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.redb");
    let ledger = Ledger::open(&path).expect("it opens");
    for (number, skipped) in [(1, 0), (2, 100), (3, 100)] {
        ledger.append(&record(number, skipped)).expect("it writes");
    }
    let once = answers(&ledger);
    ledger.append(&record(2, 100)).expect("it writes again");
    assert_eq!(answers(&ledger), once);
    ledger.reindex().expect("it indexes");
    assert_eq!(answers(&ledger), once);
    drop(ledger);
    let ledger = Ledger::open(&path).expect("it opens again");
    assert_eq!(answers(&ledger), once);
    let view = ledger.view().expect("it opens");
    assert_eq!(view.number_at(Height(102)).expect("it reads"), Some(2), "heights count what was skipped");
    assert_eq!(view.number_at(Height(50)).expect("it reads"), None);
    assert_eq!(view.of_account(&BYSTANDER, None, 9).expect("it reads").len(), 3, "a receipt concerns more than its two ends");
    assert_eq!(view.certificate_from(1).expect("it reads").map(|(number, _)| number), Some(2));
}

/// Of the newest blocks traces and overwritten values are kept, as many as was said; of a receipt without a trace it is
/// still known that there was none.
#[test]
fn what_is_kept_of_the_newest_blocks_only() {
    let ledger = Ledger::in_memory().expect("memory is enough").keeping(Retention { traces: 3, values: 2 });
    (1..=5).for_each(|number| ledger.append(&record(number, 0)).expect("it writes"));
    ledger.append(&record(5, 0)).expect("it writes again");
    let traces = |ledger: &Ledger| {
        let view = ledger.view().expect("it opens");
        [1, 2, 3, 5].map(|number| [0, 1].map(|index| view.trace(Place { number, index }).expect("it reads")))
    };
    let kept = [Some(None), Some(Some(vec![9]))];
    assert_eq!(traces(&ledger), [[None, None], [None, None], kept.clone(), kept.clone()]);
    assert_eq!(ledger.view().expect("it opens").overwritten().expect("it reads"), [(4, vec![8]), (5, vec![8])]);
    let less = ledger.keeping(Retention { traces: 1, values: 1 });
    less.append(&record(6, 0)).expect("it writes");
    assert_eq!(traces(&less), [[None, None], [None, None], [None, None], [None, None]], "a lower retention holds from the next block on");
    assert_eq!(less.view().expect("it opens").overwritten().expect("it reads"), [(6, vec![8])]);
}

#[test]
fn a_view_does_not_see_later_blocks() {
    let ledger = Ledger::in_memory().expect("memory is enough");
    ledger.append(&record(1, 0)).expect("it writes");
    let view = ledger.view().expect("it opens");
    ledger.append(&record(2, 0)).expect("it writes");
    assert_eq!(view.tip().expect("it reads"), Some(1));
}

#[test]
fn a_folder_belongs_to_one_chain_and_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("node");
    let (ours, other) = (Hash([1; 32]), Hash([2; 32]));
    let directory = Directory::open(&path, &ours).expect("it is new");
    assert!(matches!(Directory::open(&path, &ours), Err(StoreError::InUse(_))));
    assert!(matches!(Directory::wipe(&path), Err(StoreError::InUse(_))));
    drop(directory);
    assert_eq!(Directory::genesis_of(&path).expect("it reads"), Some(ours));
    let refusal = Directory::open(&path, &other).expect_err("another chain");
    assert!(matches!(refusal, StoreError::OtherChain { .. }) && refusal.to_string().contains("--reset"), "{refusal}");
    fs::write(path.join("chain"), format!("format 999\ngenesis {ours}\n")).expect("it writes");
    assert!(matches!(Directory::open(&path, &ours), Err(StoreError::NewerFormat { found: 999, .. })));
    fs::write(path.join("chain"), "no marker").expect("it writes");
    assert!(matches!(Directory::open(&path, &ours), Err(StoreError::NotAChain { .. })));
    Directory::wipe(&path).expect("nobody holds it");
    Directory::open(&path, &other).expect("it is new again");
}

#[test]
fn a_folder_of_somebody_else_is_not_wiped() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("letter"), "dear").expect("it writes");
    assert!(matches!(Directory::wipe(folder.path()), Err(StoreError::NotAChain { .. })));
    assert!(folder.path().join("letter").exists());
}

#[test]
fn a_full_disk_is_said_plainly() {
    let full = StoreError::file("/x", std::io::Error::from(std::io::ErrorKind::StorageFull));
    assert!(matches!(full, StoreError::DiskFull) && full.to_string().contains("free some space"));
}
