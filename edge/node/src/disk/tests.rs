//! What is on the disk when.

use super::*;
use futures::{FutureExt as _, executor::block_on};

/// A file that notes what happens to it.
#[derive(Clone)]
struct Probe {
    name: &'static str,
    events: Arc<Mutex<Vec<String>>>,
}

impl Probe {
    fn note(&self, event: &str) {
        self.events.lock().expect("one thread").push(format!("{} {event}", self.name));
    }
}

impl Blob for Probe {
    async fn read_at_buf(&self, _: u64, _: usize, _: impl Into<IoBufsMut> + Send, _: ReadOptions) -> Result<IoBufsMut, Error> {
        unreachable!("nothing is read")
    }

    async fn read_at(&self, _: u64, _: usize, _: ReadOptions) -> Result<IoBufsMut, Error> {
        unreachable!("nothing is read")
    }

    async fn write_at(&self, _: u64, _: impl Into<IoBufs> + Send, options: WriteOptions) -> Result<(), Error> {
        self.note(if options.contains(WriteOptions::SYNC) { "is written and synced" } else { "is written" });
        Ok(())
    }

    async fn resize(&self, _: u64) -> Result<(), Error> {
        self.note("is resized");
        Ok(())
    }

    async fn sync(&self) -> Result<(), Error> {
        self.note("is synced");
        Ok(())
    }

    async fn start_sync(&self) -> Handle<()> {
        self.note("is synced");
        Handle::ready(Ok(()))
    }
}

/// A way to have a file on the disk.
type Way = fn(&EngineFile<Probe>);

fn written(file: &EngineFile<Probe>) {
    block_on(file.write_at(0, b"vote".to_vec(), WriteOptions::SYNC)).expect("it is written");
}

fn synced(file: &EngineFile<Probe>) {
    block_on(file.sync()).expect("it is synced");
}

fn started(file: &EngineFile<Probe>) {
    block_on(async { file.start_sync().await.await }).expect("it is synced");
}

const WAYS: [Way; 3] = [written, synced, started];

/// The files of one engine, and what happens to them.
fn files(record: Option<&Record<Probe>>) -> (EngineFile<Probe>, EngineFile<Probe>, impl Fn() -> Vec<String>) {
    let events = Arc::new(Mutex::new(Vec::new()));
    let probe = |name| Probe { name, events: events.clone() };
    let (votes, blocks) = (EngineFile::new(probe("votes"), record, true), EngineFile::new(probe("blocks"), record, false));
    (votes, blocks, move || mem::take(&mut *events.lock().expect("one thread")))
}

/// Decision 776: a vote of a validator that signs alone waits for no disk, and is on it before anything is that is synced later. What is synced is not synced again.
#[test]
fn a_lone_record_is_synced_with_the_next_file() {
    for record_way in WAYS {
        for way in WAYS {
            let record = Record::default();
            let (votes, blocks, take) = files(Some(&record));
            record_way(&votes);
            assert!(take().iter().all(|event| event == "votes is written"), "the record is not synced by itself");
            way(&blocks);
            let events = take();
            assert!(events.contains(&"votes is synced".to_owned()), "the record is synced too: {events:?}");
            way(&blocks);
            assert!(take().iter().all(|event| event.starts_with("blocks")), "the record was not written to since");
            written(&votes);
            way(&blocks);
            assert!(take().contains(&"votes is synced".to_owned()), "it was written to again");
        }
    }
}

/// A write that comes while the record is synced is synced with the file after it.
#[test]
fn a_write_during_a_sync_is_not_forgotten() {
    let record = Record::default();
    let (votes, blocks, take) = files(Some(&record));
    written(&votes);
    let syncing = block_on(blocks.start_sync());
    written(&votes);
    block_on(syncing).expect("it is synced");
    take();
    synced(&blocks);
    assert!(take().contains(&"votes is synced".to_owned()));
}

/// Every other validator has each vote on the disk before the engine sends it.
#[test]
fn without_a_lone_record_every_file_is_synced_by_itself() {
    let (votes, blocks, take) = files(None);
    for (way, event) in WAYS.into_iter().zip(["votes is written and synced", "votes is synced", "votes is synced"]) {
        way(&votes);
        assert_eq!(take(), [event]);
    }
    synced(&blocks);
    assert_eq!(take(), ["blocks is synced"]);
}

/// The file of the next round is made once, and given to whoever asks for it. Before a partition is removed, what is under way in it ends.
#[test]
fn the_file_of_the_next_round_is_made_ahead() {
    let record = Record::default();
    let (votes, _, take) = files(Some(&record));
    let probe = Probe { name: "next", events: Arc::default() };
    let opened = |probe: &Probe| Handle::ready(Ok(Ok((probe.clone(), 0, commonware_runtime::DEFAULT_BLOB_VERSION))));
    let mut made = Vec::new();
    record.make_next("votes", &7u64.to_be_bytes(), |partition, name| {
        made.push((partition, name));
        opened(&probe)
    });
    assert_eq!(made, [("votes".to_owned(), 8u64.to_be_bytes().to_vec())]);
    assert!(record.take("votes", &7u64.to_be_bytes()).is_none() && record.take("others", &8u64.to_be_bytes()).is_none());
    assert!(record.take("votes", &8u64.to_be_bytes()).is_some());
    assert!(record.take("votes", &8u64.to_be_bytes()).is_none(), "it is given once");

    for name in [b"short".as_slice(), &u64::MAX.to_be_bytes()] {
        record.make_next("votes", name, |_, _| unreachable!("there is no next one"));
    }
    record.make_next("votes", &8u64.to_be_bytes(), |_, _| opened(&probe));
    record.make_next("others", &8u64.to_be_bytes(), |_, _| opened(&probe));
    written(&votes);
    take();
    record.settle("votes").now_or_never().expect("it waits for nothing").expect("it is synced");
    assert_eq!(take(), ["votes is synced"]);
    assert!(record.take("votes", &9u64.to_be_bytes()).is_none() && record.take("others", &9u64.to_be_bytes()).is_some());
}

/// The engine's records of votes, and nothing else of it.
#[test]
fn records_are_known_by_their_names() {
    assert!(is_record(&crate::votes::record(7)));
    for other in [crate::votes::HEARD, "cowboy-blocks-keys", "cowboy-cache-cache-0-verified-key", "cowboy-state-log_data"] {
        assert!(!is_record(other), "{other}");
    }
}
