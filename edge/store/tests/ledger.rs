//! The ledger.

use crate::records::{ACTOR, BYSTANDER, CREATED, SENDER, SPAWNED, TARGET, TOKEN, receipt, record};
use commonware_codec::Encode as _;
use cowboy_store::{
    BlockCopy, BlockRecord, Chunk, Ledger, Place, Retention, StoreError,
    catalog::Outline,
    check::{check, repair},
};
use cowboy_types::{Address, Hash, Height, List, Receipt, Transaction, blake3};
use std::{fs, io::Write as _};

/// Every read, one by one: what it says, or that it is refused.
fn reads(ledger: &Ledger, tip: u64) -> Vec<Option<String>> {
    fn said<T: std::fmt::Debug>(read: Result<T, StoreError>) -> Option<String> {
        read.ok().map(|found| format!("{found:?}"))
    }
    let Ok(view) = ledger.view() else { return Vec::new() };
    let mut all = vec![said(view.tip()), said(view.first()), said(view.overwritten()), said(view.lost())];
    for number in 1..=tip + 1 {
        let digest = record(number, 0).block.digest();
        all.extend([said(view.block(number)), said(view.block_bytes(number)), said(view.receipts(number)), said(view.carry(number))]);
        all.extend([said(view.certificate(number)), said(view.certificate_from(number)), said(view.number_at(Height(number)))]);
        all.extend([said(view.number_of(&digest)), said(view.of_origin(&receipt(number, 0).id, 10))]);
        for index in 0..3 {
            let place = Place { number, index };
            all.extend([said(view.receipt(place)), said(view.trace(place)), said(view.place_of(&receipt(number, index).id))]);
        }
    }
    all.extend([said(view.receipts_before(None, 1_000)), said(view.busy_before(u64::MAX)), said(view.actors_with("", 1_000))]);
    all.extend([
        said(view.holders(&TOKEN, &SENDER, 9)),
        said(view.tokens_of(&BYSTANDER, &TOKEN, 9)),
        said(view.of_token(&TOKEN, None, 1_000)),
    ]);
    for account in [SENDER, TARGET, BYSTANDER, ACTOR] {
        all.extend([said(view.of_account(&account, None, 1_000)), said(view.of_emitter(&account, Place { number: 0, index: 0 }, 1_000))]);
        all.extend([said(view.of_deployer(&account, None, 1_000)), said(view.class_of(&account)), said(view.accounts(&account, 2))]);
    }
    all
}

/// Whether a read of [`reads`] is that of a trace.
fn is_of_trace(read: usize, tip: u64) -> bool {
    let blocks = usize::try_from(tip + 1).expect("few");
    let of_blocks = read.checked_sub(4).filter(|read| *read < 18 * blocks);
    of_blocks.is_some_and(|read| [10, 13, 16].contains(&(read % 18)))
}

/// Damages a file: a bit is flipped, or the file is cut off. Answers what was done.
fn damage(bytes: &mut Vec<u8>, seed: u64) -> String {
    let drawn = |what: &str, below: usize| {
        let hash = blake3(&[what.as_bytes(), &seed.to_be_bytes()]);
        let number = u64::from_be_bytes(*hash.0.first_chunk().expect("a hash is longer"));
        usize::try_from(number % u64::try_from(below).expect("a file is small")).expect("it is below")
    };
    if seed.is_multiple_of(10) {
        bytes.truncate(drawn("length", bytes.len()));
        return format!("seed {seed}: cut to {} bytes", bytes.len());
    }
    let (at, bit) = (drawn("at", bytes.len()), drawn("bit", 8));
    bytes[at] ^= 1 << bit;
    format!("seed {seed}: bit {bit} of byte {at}")
}

/// Whatever bit of the ledger's file flips, or wherever it is cut off, each read says the truth or is refused.
///
/// `COWBOY_FLIPS=n` damages n files. Half of them are those of a node that was killed.
#[test]
fn nothing_damaged_is_served() {
    const BLOCKS: u64 = 40;
    let flips = std::env::var("COWBOY_FLIPS").ok().and_then(|flips| flips.parse().ok()).unwrap_or(120u64);
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.redb");
    let ledger = Ledger::open(&path).expect("it opens");
    (1..=BLOCKS).for_each(|number| ledger.append(&record(number, 0)).expect("it writes"));
    let truth = reads(&ledger, BLOCKS);
    let killed = fs::read(&path).expect("it is there");
    drop(ledger);
    let stopped = fs::read(&path).expect("it is there");
    let (mut wrong, mut refused, mut healthy) = (Vec::new(), 0, 0);
    for seed in 0..flips {
        let mut bytes = if seed.is_multiple_of(2) { stopped.clone() } else { killed.clone() };
        let what = damage(&mut bytes, seed / 2);
        let damaged = folder.path().join("damaged.redb");
        fs::write(&damaged, bytes).expect("it writes");
        let Ok(ledger) = Ledger::open(&damaged) else {
            refused += 1;
            continue;
        };
        let found = reads(&ledger, BLOCKS);
        let is_true = found.iter().zip(&truth).all(|(found, truth)| found.is_none() || found == truth);
        if !is_true || found.len() > truth.len() {
            wrong.push(what);
        }
        match found == truth {
            true => healthy += 1,
            false => refused += 1,
        }
    }
    let figures = format!("{flips} damaged files: {healthy} without harm, {refused} refused in whole or in part, {} wrong", wrong.len());
    writeln!(std::io::stdout(), "{figures}").expect("somebody reads");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(refused > 0, "some damage was found");
}

/// A record whose roots are those of its body and receipts, on this parent.
pub(crate) fn committed(number: u64, parent: Hash) -> BlockRecord {
    let mut record = record(number, 0);
    let digests: Vec<Hash> = record.receipts.iter().map(Receipt::digest).collect();
    record.block.header.receipt_root = cowboy_types::merkle::root(&digests);
    let transactions: Vec<Hash> = record.block.transactions.iter().map(Transaction::digest).collect();
    record.block.header.tx_root = cowboy_types::merkle::root(&transactions);
    record.block.header.body = cowboy_types::block::body_hash(&record.block.transactions);
    record.block.header.parent = parent;
    record
}

/// A header has one body: with another signature of a transaction, whose digest is the same, it is another block (decision 556).
#[test]
fn a_header_commits_to_signatures() {
    let mut block = committed(1, Hash::ZERO).block;
    assert!(block.is_body_committed());
    let mut transactions = block.transactions.into_vec();
    let digest = transactions[0].digest();
    transactions[0].signature.0[0] ^= 1;
    assert_eq!(transactions[0].digest(), digest);
    block.transactions = List::new(transactions).expect("one transaction");
    assert!(!block.is_body_committed());
}

/// The check finds what is damaged. A repair saves the rest, and whatever would need what is lost is refused.
#[test]
fn a_damaged_ledger_is_found_and_repaired() {
    const BLOCKS: u64 = 30;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.redb");
    let ledger = Ledger::open(&path).expect("it opens").keeping(Retention { traces: 4, values: 3, ..Retention::default() });
    let mut parent = Hash::ZERO;
    for number in 1..=BLOCKS {
        let record = committed(number, parent);
        parent = record.block.digest();
        ledger.append(&record).expect("it writes");
    }
    let truth = reads(&ledger, BLOCKS);
    drop(ledger);
    let whole = fs::read(&path).expect("it is there");
    let sound = check(&path).expect("it is there");
    assert!(sound.is_sound() && sound.blocks == BLOCKS, "{sound:?}");
    repair(&path).expect("there is nothing to repair");
    assert!(reads(&Ledger::open(&path).expect("it opens"), BLOCKS) == truth, "a repair of a whole ledger changes nothing");

    let repaired = |bytes: Vec<u8>, what: &str| {
        fs::write(&path, bytes).expect("it writes");
        let report = check(&path).expect("it is there");
        let Ok(repaired) = repair(&path) else {
            assert!(!report.is_sound(), "{what}: what cannot be repaired is found");
            return None;
        };
        assert_eq!(repaired.saved + u64::try_from(repaired.lost.len()).expect("few"), BLOCKS, "{what}");
        let after = check(&path).expect("it is there");
        assert_eq!((after.pages, after.faults, &after.lost), (vec![], vec![], &repaired.lost), "{what}");
        let found = reads(&Ledger::open(&path).expect("it opens"), BLOCKS);
        // What the newest blocks overwrote may be given up, and traces that are damaged; and the list of lost blocks is another one.
        let wrong: Vec<_> = found.iter().zip(&truth).enumerate().filter(|(_, (found, truth))| found.is_some() && found != truth).collect();
        let is_given_up = |(read, (found, _)): &(usize, (&Option<String>, &Option<String>))| {
            [2, 3].contains(read) || is_of_trace(*read, BLOCKS) && found.as_deref() == Some("None")
        };
        assert!(wrong.iter().all(is_given_up), "{what}: {repaired:?}: {wrong:#?}");
        Some((!report.is_sound(), repaired.lost, found))
    };
    for seed in 100..110 {
        let mut bytes = whole.clone();
        let what = damage(&mut bytes, seed * 10 + 1);
        repaired(bytes, &what);
    }
    let (was_found, lost, found) = repaired(with_damaged_receipt(&whole), "a receipt of block 7").expect("the rest is whole");
    assert!(was_found && lost.contains(&7) && lost.len() < 20, "{lost:?}");
    let refused = found.iter().filter(|read| read.is_none()).count();
    assert!(refused > lost.len(), "whatever would need the lost blocks is refused");
}

/// The file with a bit of every copy of a receipt of block 7 flipped.
fn with_damaged_receipt(whole: &[u8]) -> Vec<u8> {
    let (receipt, mut bytes) = (receipt(7, 1).encode(), whole.to_vec());
    for at in 0..bytes.len() - receipt.len() {
        if bytes[at..].starts_with(&receipt) {
            bytes[at + 40] ^= 4;
        }
    }
    bytes
}

/// A block that ends an epoch is there whichever page of the file is damaged, also after a repair; copies of older ones go.
#[test]
fn a_block_that_ends_an_epoch_outlives_its_row() {
    let folder = tempfile::tempdir().expect("a folder");
    let (good, path) = (folder.path().join("good.redb"), folder.path().join("ledger.redb"));
    let ledger = Ledger::open(&good).expect("it opens");
    let (mut parent, mut blocks) = (Hash::ZERO, Vec::new());
    for number in 1..=30 {
        let record = committed(number, parent);
        parent = record.block.digest();
        if number % 7 == 0 {
            ledger.keep_boundary(&record.block).expect("it writes");
        }
        ledger.append(&record).expect("it writes");
        blocks.push(record.block);
    }
    drop(ledger);
    let (whole, row) = (fs::read(&good).expect("it is there"), blocks[20].encode());
    let places = (0..whole.len() - row.len()).filter(|at| whole[*at..].starts_with(&row));
    let mut refused = 0;
    for place in places {
        let mut bytes = whole.clone();
        bytes[place + 40] ^= 4;
        fs::write(&path, bytes).expect("it writes");
        let Ok(ledger) = Ledger::open(&path) else { continue };
        let view = ledger.view().expect("it opens");
        assert_eq!(view.boundary(21).ok().flatten().as_ref(), Some(&blocks[20]));
        if view.block(21).is_err() {
            refused += 1;
            assert!(view.boundary(20).is_err() || view.boundary(20).ok().flatten().as_ref() == Some(&blocks[19]));
            drop((view, ledger));
            repair(&path).expect("the rest is whole");
            let ledger = Ledger::open(&path).expect("it opens");
            let repaired = ledger.view().expect("it opens");
            assert!(repaired.block(21).is_err(), "it is to be fetched again");
            assert_eq!(repaired.boundary(21).ok().flatten().as_ref(), Some(&blocks[20]));
        }
    }
    assert!(refused > 0, "some damage was found");
}

/// A damaged record is refused and named as missing; a copy from another node is read in its place. After a repair, copies of the
/// blocks that are lost make the ledger whole.
#[test]
fn copies_replace_what_is_damaged() {
    const BLOCKS: u64 = 30;
    let folder = tempfile::tempdir().expect("a folder");
    let (good, path) = (folder.path().join("good.redb"), folder.path().join("ledger.redb"));
    let ledger = Ledger::open(&good).expect("it opens").keeping(Retention { traces: 0, values: 0, ..Retention::default() });
    let mut parent = Hash::ZERO;
    for number in 1..=BLOCKS {
        let record = committed(number, parent);
        parent = record.block.digest();
        ledger.append(&record).expect("it writes");
    }
    let truth = reads(&ledger, BLOCKS);
    drop(ledger);
    fs::write(&path, with_damaged_receipt(&fs::read(&good).expect("it is there"))).expect("it writes");
    let ledger = Ledger::open(&good).expect("it opens");
    let copy = |number: u64| {
        let bytes = ledger.view().and_then(|view| view.copy(number)).expect("it reads").expect("it is there").encode();
        for at in [3, 40, bytes.len() / 2, bytes.len() - 5] {
            let mut other = bytes.clone();
            other[at] ^= 1;
            let decoded = BlockCopy::decode(&other);
            assert!(
                decoded.is_none_or(|decoded| decoded.block.header.receipt_root == committed(number, Hash::ZERO).block.header.receipt_root)
            );
        }
        BlockCopy::decode(&bytes).expect("a copy is whole")
    };
    let mut cut = copy(7).encode();
    cut.truncate(cut.len() - 1);
    assert_eq!(BlockCopy::decode(&cut), None, "a copy that is cut off");

    let damaged = Ledger::open(&path).expect("it opens");
    assert_eq!(damaged.missing().ok(), Some(vec![]), "nobody has asked for it");
    let place = Place { number: 7, index: 1 };
    assert!(matches!(damaged.view().expect("it opens").receipt(place), Err(StoreError::Damaged { .. })));
    assert_eq!((damaged.missing().ok(), damaged.damages()), (Some(vec![7]), 1));
    damaged.restore(copy(7)).expect("it is held");
    assert_eq!(damaged.missing().ok(), Some(vec![]));
    let view = damaged.view().expect("it opens");
    assert_eq!(view.receipt(place).ok().flatten(), Some(receipt(7, 1)));
    assert_eq!(view.receipts(7).ok(), Some(vec![receipt(7, 0), receipt(7, 1)]));
    drop((view, damaged));

    let repaired = repair(&path).expect("the rest is whole");
    let ledger = Ledger::open(&path).expect("it opens");
    assert!(repaired.lost.contains(&7) && ledger.missing().ok() == Some(repaired.lost.clone()), "{repaired:?}");
    for number in repaired.lost.iter().rev() {
        ledger.restore(copy(*number)).expect("it writes");
    }
    // What a copy does not have is what only the newest blocks need: the carry.
    let is_same = |(place, (found, truth)): (usize, (&Option<String>, &Option<String>))| {
        let is_carry = place >= 4 && (place - 4) % 18 == 3;
        found == truth || is_carry
    };
    assert!(reads(&ledger, BLOCKS).iter().zip(&truth).enumerate().all(is_same), "everything is there again");
    drop(ledger);
    assert!(check(&path).expect("it is there").is_sound());
}

/// A ledger that an older program wrote, without checksums, is taken over as it is.
#[test]
fn a_ledger_without_checksums_gets_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.redb");
    let blocks: redb::TableDefinition<u64, &[u8]> = redb::TableDefinition::new("blocks");
    let block = record(1, 0).block;
    let old = redb::Database::create(&path).expect("it is new");
    let write = old.begin_write().expect("nobody else writes");
    write.open_table(blocks).expect("it is new").insert(1, &*block.encode()).expect("it writes");
    write.commit().expect("it writes");
    drop(old);
    for _ in 0..2 {
        let ledger = Ledger::open(&path).expect("it opens");
        assert_eq!(ledger.view().expect("it opens").block(1).expect("it reads"), Some(block.clone()));
        assert_eq!(ledger.damages(), 0);
    }
}

/// Two processes, or two nodes of one process, never have one ledger open.
#[test]
fn a_ledger_is_open_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.redb");
    let ledger = Ledger::open(&path).expect("it opens");
    assert!(matches!(Ledger::open(&path), Err(StoreError::InUse(_))));
    drop(ledger);
    Ledger::open(&path).expect("it is free again");
    fs::write(&path, []).expect("it writes");
    assert!(matches!(Ledger::open(&path), Err(StoreError::Ledger(_))), "an empty file is no new ledger");
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
        (view.actors_with("gre", 10), view.actors_with("GREETER", 10), view.actors_with("reeter", 10), view.class_of(&CREATED)),
        (view.holders(&TOKEN, &Address::ZERO, 10), view.tokens_of(&BYSTANDER, &Hash::ZERO, 10), view.of_token(&TOKEN, None, 4)),
        (view.of_token(&TOKEN, Some((place(2, 0), 2)), 10), view.receipts_before(Some(place(2, 1)), 10), view.accounts(&TARGET, 2)),
        ([1, 2, 3].map(|number| view.receipt_count(number)), view.busy_before(3)),
    );
    let spawned =
        (view.actors_with("chi", 10), view.class_of(&SPAWNED), ["handle_timer", "Child"].map(|name| view.has_handler(&SPAWNED, name)));
    format!("{all:#?}{spawned:#?}")
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
    let words: Vec<_> = view.actors_with("gre", 9).expect("it reads").into_iter().map(|found| (found.actor, found.spelling)).collect();
    assert_eq!(words, [(CREATED, "greet".to_owned()), (CREATED, "Greeter".to_owned())]);
    let spawned: Vec<_> = view.actors_with("child", 9).expect("it reads").into_iter().map(|found| found.actor).collect();
    assert_eq!(spawned, [SPAWNED], "no transaction has its source, and indexing again keeps it");
    assert_eq!(["handle_timer", "Child"].map(|name| view.has_handler(&SPAWNED, name).expect("it reads")), [true, false]);
    assert_eq!(view.holders(&TOKEN, &Address::ZERO, 9).expect("it reads"), [BYSTANDER]);
    assert_eq!(view.of_token(&TOKEN, None, 1).expect("it reads"), [(Place { number: 3, index: 1 }, 2)]);
    assert_eq!(view.accounts(&Address::ZERO, 9).expect("it reads"), [SENDER, TARGET, BYSTANDER], "each once, in order");
    assert_eq!(view.number_at(Height(102)).expect("it reads"), Some(2), "heights count what was skipped");
    assert_eq!(view.number_at(Height(50)).expect("it reads"), None);
    assert_eq!(view.of_account(&BYSTANDER, None, 9).expect("it reads").len(), 3, "a receipt concerns more than its two ends");
    assert_eq!(view.certificate_from(1).expect("it reads").map(|(number, _)| number), Some(2));
    assert_eq!(view.receipt_id(Place { number: 3, index: 1 }).expect("it reads"), Some(receipt(3, 1).id));
}

/// Of the newest blocks traces and overwritten values are kept, as many as was said; of a receipt without a trace it is
/// still known that there was none.
#[test]
fn what_is_kept_of_the_newest_blocks_only() {
    let ledger = Ledger::in_memory().expect("memory is enough").keeping(Retention { traces: 3, values: 2, ..Retention::default() });
    (1..=5).for_each(|number| ledger.append(&record(number, 0)).expect("it writes"));
    ledger.append(&record(5, 0)).expect("it writes again");
    let traces = |ledger: &Ledger| {
        let view = ledger.view().expect("it opens");
        [1, 2, 3, 5].map(|number| [0, 1].map(|index| view.trace(Place { number, index }).expect("it reads")))
    };
    let kept = [Some(None), Some(Some(vec![9]))];
    assert_eq!(traces(&ledger), [[None, None], [None, None], kept.clone(), kept.clone()]);
    assert_eq!(ledger.view().expect("it opens").overwritten().expect("it reads"), [(4, vec![8]), (5, vec![8])]);
    let less = ledger.keeping(Retention { traces: 1, values: 1, ..Retention::default() });
    less.append(&record(6, 0)).expect("it writes");
    assert_eq!(traces(&less), [[None, None], [None, None], [None, None], [None, None]], "a lower retention holds from the next block on");
    assert_eq!(less.view().expect("it opens").overwritten().expect("it reads"), [(6, vec![8])]);
}

/// What an actor's source defines is what its newest one does, in whatever order blocks come into the ledger.
#[test]
fn an_upgrade_replaces_what_a_source_defines() {
    let ledger = Ledger::in_memory().expect("memory is enough");
    let first = "class Handle_timer:\n    def handle_timer(self): ...\n    def gone(self): ...\n";
    let second = "class Second:\n    def handle_timer(self): ...\n";
    let sources = [first, second, "def other(): ...\n"];
    let write = |number: u64, source: &str| {
        let outlines = vec![Outline::of(SPAWNED, source)];
        ledger.append(&BlockRecord { outlines, ..record(number, 0) }).expect("it writes");
    };
    let defines = || {
        let view = ledger.view().expect("it opens");
        let has = ["handle_timer", "gone", "other", "Second"].map(|name| view.has_handler(&SPAWNED, name).expect("it reads"));
        (has, view.class_of(&SPAWNED).expect("it reads"))
    };
    let expected = [
        ([true, true, false, false], Some("Handle_timer".to_owned())),
        ([true, false, false, false], Some("Second".to_owned())),
        ([false, false, true, false], None),
    ];
    for (number, (source, expected)) in (1..).zip(sources.iter().zip(&expected)) {
        write(number, source);
        assert_eq!(defines(), *expected, "block {number}");
    }
    write(1, first);
    assert_eq!(defines(), expected[2], "a block that comes again changes nothing");
    ledger.reindex().expect("it indexes");
    assert_eq!(defines(), expected[2]);
    let found = ledger.view().expect("it opens").actors_with("gone", 9).expect("it reads");
    assert_eq!(found.len(), 1, "a search finds what it once defined");
}

/// pruned chunks are kept until their height, longer where they were pruned again, and go with the block after it.
#[test]
fn pruned_chunks_are_kept_for_their_time() {
    let ledger = Ledger::in_memory().expect("memory is enough");
    let chunk = |byte: u8, until: u64| Chunk { hash: Hash([byte; 32]), bytes: vec![byte; 3], until: Height(until) };
    let append = |number: u64, pruned: Vec<Chunk>| {
        ledger.append(&BlockRecord { pruned, ..record(number, 0) }).expect("it writes");
        let view = ledger.view().expect("it opens");
        [1, 2, 3].map(|byte| view.chunk(&Hash([byte; 32])).expect("it reads").map(|bytes| bytes.len()))
    };
    assert_eq!(append(1, vec![chunk(1, 3), chunk(2, 3)]), [Some(3), Some(3), None]);
    assert_eq!(append(2, vec![chunk(2, 5), chunk(3, 4)]), [Some(3); 3]);
    assert_eq!(append(3, vec![chunk(2, 4)]), [Some(3); 3], "the last height counts, and the later of two");
    assert_eq!(append(4, vec![]), [None, Some(3), Some(3)]);
    assert_eq!(append(5, vec![]), [None, Some(3), None]);
    assert_eq!(ledger.view().expect("it opens").chunks().expect("it reads"), [chunk(2, 5)]);
    assert_eq!(append(6, vec![]), [None; 3]);
}

#[test]
fn a_view_does_not_see_later_blocks() {
    let ledger = Ledger::in_memory().expect("memory is enough");
    ledger.append(&record(1, 0)).expect("it writes");
    let view = ledger.view().expect("it opens");
    ledger.append(&record(2, 0)).expect("it writes");
    assert_eq!(view.tip().expect("it reads"), Some(1));
}
