//! What other nodes and later versions read, frozen: copies of blocks, and the ledger's file.

use crate::records::record;
use commonware_conformance::{Conformance, conformance_tests};
use cowboy_store::{BlockCopy, Ledger};

/// A copy of a block as it is sent.
struct Copy;

impl Conformance for Copy {
    async fn commit(seed: u64) -> Vec<u8> {
        let record = record(seed, seed % 3);
        BlockCopy { block: record.block, certificate: record.certificate, concerns: record.concerns, receipts: record.receipts }.encode()
    }
}

/// The whole file of a ledger of some blocks: the tables' keys and values, the embedded store's pages, and their checksums.
struct File;

impl Conformance for File {
    async fn commit(seed: u64) -> Vec<u8> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ledger.redb");
        let ledger = Ledger::open(&path).expect("it is new");
        (1..=seed + 1).for_each(|number| ledger.append(&record(number, 0)).expect("it writes"));
        drop(ledger);
        std::fs::read(&path).expect("the file is there")
    }
}

conformance_tests! {
    Copy => 16,
    File => 4,
}
