//! Old blocks that are packed.

use crate::records::{SENDER, record};
use cowboy_store::{BlockRecord, Ledger, Retention, StoreError, check::check, check::repair};
use cowboy_types::{
    Blob, Hash, Height, blake3,
    wire::{Fixed, List},
};
use std::{fs, path::Path};

/// Three sections are packed, and a part of the fourth is not.
const BLOCKS: u64 = 4 * 256 + 100;

/// A block without work, with a certificate of its own, as a chain of four validators has them.
fn idle(number: u64, parent: Hash) -> BlockRecord {
    let noise = |what: &str, length: usize| -> Vec<u8> {
        let hashes = (0u32..).flat_map(|part| blake3(&[what.as_bytes(), &number.to_be_bytes(), &part.to_be_bytes()]).0);
        hashes.take(length).collect()
    };
    let hash = |what: &str| Hash(noise(what, 32).try_into().expect("32 bytes"));
    let mut record = record(number, 0);
    let header = &mut record.block.header;
    (header.genesis, header.parent, header.context.parent) = (blake3(&[b"genesis"]), parent, parent);
    header.context.leader = Fixed(blake3(&[&[hash("leader").0[0] % 4]]).0);
    header.seeds = List::new(vec![Fixed(noise("seed", 48).try_into().expect("48 bytes"))]).expect("one seed");
    header.proposer_vrf = Fixed(noise("vrf", 48).try_into().expect("48 bytes"));
    header.signature = Fixed(noise("signature", 65).try_into().expect("65 bytes"));
    header.voters = Blob::new(vec![15]).expect("short");
    (header.state_root, header.ops_root) = (hash("state"), hash("ops"));
    (header.tx_root, header.receipt_root) = (cowboy_types::merkle::root(&[]), cowboy_types::merkle::root(&[]));
    header.body = cowboy_types::block::body_hash(&List::default());
    record.block.transactions = List::default();
    let certificate = [&[0, 1, 2], &record.block.digest().0[..], &noise("certificate", 96)].concat();
    BlockRecord {
        receipts: Vec::new(),
        concerns: Vec::new(),
        // Not every block has one.
        certificate: (!number.is_multiple_of(7)).then_some(certificate),
        carry: vec![0; 17],
        traces: Vec::new(),
        outlines: Vec::new(),
        overwritten: noise("overwritten", 600),
        ..record
    }
}

/// A chain of such blocks. Every 50th has transactions and receipts, and is too large to be packed where its number is odd.
fn chain(blocks: u64) -> Vec<BlockRecord> {
    let mut parent = Hash::ZERO;
    let next = |number: u64| {
        let mut next = idle(number, parent);
        if number.is_multiple_of(50) {
            next = crate::ledger::committed(number, parent);
        }
        if number % 50 == 25 {
            next.block.reshare = Some(Blob::new(vec![3; 5_000]).expect("short"));
            next.block.header.reshare = Some(blake3(&[&[3; 5_000]]));
        }
        parent = next.block.digest();
        next
    };
    (1..=blocks).map(next).collect()
}

fn ledger(path: &Path, blocks: &[BlockRecord], retention: Retention) -> Ledger {
    let ledger = Ledger::open(path).expect("it opens").keeping(retention);
    blocks.iter().for_each(|record| ledger.append(record).expect("it writes"));
    ledger
}

/// Whether every read about the block says what was written; an error where one is refused.
fn is_true(ledger: &Ledger, record: &BlockRecord) -> Result<bool, StoreError> {
    let (view, number) = (ledger.view()?, record.block.header.number.0);
    Ok(view.block(number)?.as_ref() == Some(&record.block)
        && view.header(number)?.as_ref() == Some(&record.block.header)
        && view.certificate(number)? == record.certificate
        && view.carry(number)?.as_ref() == Some(&record.carry)
        && view.receipts(number)? == record.receipts
        && view.number_of(&record.block.digest())? == Some(number)
        && view.number_at(Height(number))? == Some(number)
        && view.concerns(number)? == record.concerns)
}

#[test]
fn packed_blocks_read_as_they_were_written() {
    let (folder, all) = (tempfile::tempdir().expect("a folder"), chain(BLOCKS));
    let path = folder.path().join("ledger.redb");
    let mut ledger = ledger(&path, &all, Retention::default());
    for what in ["written", "opened again", "indexed again", "repaired"] {
        for record in &all {
            assert!(is_true(&ledger, record).expect("it reads"), "{what}: block {}", record.block.header.number.0);
        }
        let view = ledger.view().expect("it opens");
        assert_eq!((view.first().expect("it reads"), view.tip().expect("it reads")), (Some(1), Some(BLOCKS)), "{what}");
        for number in [1, 7, 255, 256, 511, 770, 1_022, BLOCKS] {
            let certified = all.iter().find(|record| record.block.header.number.0 >= number && record.certificate.is_some());
            let expected = certified.map(|record| (record.block.header.number.0, record.certificate.clone().expect("it has one")));
            assert_eq!(view.certificate_from(number).expect("it reads"), expected, "{what}: from block {number} on");
        }
        assert_eq!(view.number_at(Height(BLOCKS + 1)).expect("it reads"), None);
        drop((view, ledger));
        let report = check(&path).expect("it is there");
        assert!(report.is_sound() && report.blocks == BLOCKS, "{what}: {report:?}");
        if what == "indexed again" {
            repair(&path).expect("there is nothing to repair");
        }
        ledger = Ledger::open(&path).expect("it opens");
        if what == "opened again" {
            ledger.reindex().expect("it indexes");
        }
    }
    // A certificate that comes late counts more than what is packed.
    ledger.certify(7, &[1, 2, 3]).expect("it writes");
    let view = ledger.view().expect("it opens");
    assert_eq!(view.certificate_from(7).expect("it reads"), Some((7, vec![1, 2, 3])));
}

/// A block without work takes at most 600 bytes of the ledger's file, certificate and indexes included.
#[cfg(unix)]
#[test]
fn an_idle_block_takes_little_room() {
    use std::os::unix::fs::MetadataExt as _;
    const MAX: u64 = 600;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.redb");
    let mut parent = Hash::ZERO;
    let mut size_after = |numbers: std::ops::RangeInclusive<u64>| {
        let ledger = Ledger::open(&path).expect("it opens");
        for number in numbers {
            let record = idle(number, parent);
            parent = record.block.digest();
            ledger.append(&record).expect("it writes");
        }
        drop(ledger);
        fs::metadata(&path).expect("it is there").blocks() * 512
    };
    let (before, after) = (size_after(1..=1_024), size_after(1_025..=4_096));
    let bytes = (after - before) / 3_072;
    assert!(bytes <= MAX, "a block takes {bytes} bytes");
}

/// What is pruned is gone, whole sections and parts of one.
#[test]
fn packed_blocks_are_pruned_by_age() {
    let (folder, all) = (tempfile::tempdir().expect("a folder"), chain(BLOCKS));
    let path = folder.path().join("ledger.redb");
    for kept in [100, 300, 600] {
        let _ = fs::remove_file(&path);
        let ledger = ledger(&path, &all, Retention { blocks: kept, ..Retention::default() });
        let view = ledger.view().expect("it opens");
        let oldest = BLOCKS + 1 - kept;
        assert_eq!(view.first().expect("it reads"), Some(oldest));
        for record in &all {
            let number = record.block.header.number.0;
            if number >= oldest {
                assert!(is_true(&ledger, record).expect("it reads"), "{kept} are kept: block {number}");
            } else {
                assert_eq!((view.block(number).expect("it reads"), view.certificate(number).expect("it reads")), (None, None));
                assert_eq!(view.number_of(&record.block.digest()).expect("it reads"), None);
                assert_eq!(view.number_at(Height(number)).expect("it reads"), None, "block {number}");
            }
        }
        assert!(view.of_account(&SENDER, None, 9_999).expect("it reads").iter().all(|place| place.number >= oldest));
        drop((view, ledger));
        let report = check(&path).expect("it is there");
        assert!(report.is_sound() && report.blocks == kept, "{report:?}");
    }
}

/// Whatever bit of a packed ledger flips, each read says the truth or is refused.
#[test]
fn nothing_damaged_is_unpacked() {
    let (folder, all) = (tempfile::tempdir().expect("a folder"), chain(BLOCKS));
    let path = folder.path().join("ledger.redb");
    drop(ledger(&path, &all, Retention::default()));
    let whole = fs::read(&path).expect("it is there");
    let (mut refused, mut opened) = (0, 0);
    for seed in 0..60u64 {
        let mut bytes = whole.clone();
        let hash = blake3(&[b"flip", &seed.to_be_bytes()]).0;
        let place = u64::from_be_bytes(*hash.first_chunk().expect("a hash is longer")) % (bytes.len() as u64);
        bytes[usize::try_from(place).expect("a file is small")] ^= 16;
        fs::write(&path, bytes).expect("it writes");
        let Ok(ledger) = Ledger::open(&path) else { continue };
        opened += 1;
        for record in all.iter().step_by(29) {
            match is_true(&ledger, record) {
                Ok(is_true) => assert!(is_true, "seed {seed}: block {}", record.block.header.number.0),
                Err(StoreError::Damaged { .. }) => refused += 1,
                Err(other) => panic!("seed {seed}: {other}"),
            }
        }
    }
    assert!(opened > 30 && refused > 0, "some damage was met: {opened} opened, {refused} reads refused");
}
