//! The loop of a runner whose node never answers: whatever is asked of it fails.

use super::*;
use crate::{
    behaviour::Honest,
    execute::Usage,
    journal::{JournalError, Owner},
    plan::Member,
    releases::Releases,
    report::OwnedReport,
    secrets::Secrets,
    volumes::Volumes,
};
use cowboy_types::{ChainId, signing::PrivateKey};
use serde_json::json;
use std::path::Path;

const JOB: Hash = Hash([7; 32]);
const NEXT: Hash = Hash([8; 32]);
const OTHER: Address = Address([2; 20]);

/// Nobody listens there.
const NODE: &str = "http://127.0.0.1:1";

fn manager(folder: &Path) -> JobManager {
    let key = PrivateKey::from_bytes([1; 32]).expect("a key");
    let (address, client) = (key.address(), Client::new(NODE).expect("an address"));
    let (journal, _) = Journal::open(folder, &Owner { runner: Hex(address), genesis: Hex(Hash::ZERO) }).expect("a new journal");
    let releases = Releases::new(NODE, address, [0; 32], drop);
    let config = Config::default();
    let context = Context {
        sender: Sender::start(client.clone(), key.clone(), ChainId(1)),
        client,
        address,
        genesis: Hash::ZERO,
        secret: [0; 32],
        result_key: SigningKey::from([1; 32]),
        params: Params::GENESIS,
        executors: Executors::of(&config).expect("there are none"),
        journal: Arc::new(journal),
        board: Board::new(),
        behaviour: Arc::new(Honest),
        environment: Environment { tee: None, is_dev: false, runner: address },
        secrets: Secrets::new(releases.clone()),
        volumes: Volumes::new(releases, key, folder, 0).expect("a folder"),
        peers: Peers::new(true).expect("a client"),
        config,
    };
    JobManager::new(context, BTreeMap::new(), 0)
}

/// A job that waits for this runner and another one.
fn active(own: Address) -> Active {
    let job = json!({
        "job_type": { "type": "Http", "url": "https://example.com" },
        "bounds": { "max_wall_time_seconds": 20 },
        "result_schema": { "max_return_bytes": 4_096, "expected_execution_ms": 1_000, "data_format": "" },
        "verification": { "mode": "none" },
        "max_price": 1_000_000,
        "timeout_blocks": 30,
    });
    let params = Params::GENESIS;
    let submission = lower::decoded(&cowboy_api::cbor::encode(&job)).expect("it is canonical");
    let spec = lower::lower(&Offer::reading(&params, Address::ZERO), &submission).expect("a job");
    let member = |runner| Member { runner, commitment: Hash::ZERO, has_revealed: false, is_out: false };
    let view = View {
        status: "assigned".into(),
        attempt: 0,
        members: vec![member(own), member(OTHER)],
        aggregator: Some(own),
        commit_until: 100,
        reveal_from: 105,
        reveal_until: 160,
    };
    Active {
        view,
        spec: Arc::new(spec),
        assignment: Assignment { job: JOB, attempt: 0, index: 0 },
        submitter: Address::ZERO,
        hosts: None,
        is_at_work: false,
        broken_off: 0,
        posted: None,
        shared: None,
        shares: BTreeMap::new(),
        seen_at: 0,
        is_stale: false,
    }
}

fn record() -> Record {
    let result = Some(Hex(b"what the work gave".to_vec()));
    Record { report: OwnedReport { result, usage: Usage::default(), fault: 0, progress: 0, attestation: Hex(Vec::new()) }, height: 1 }
}

fn share(runner: Address, key: &SigningKey) -> Share {
    let report = record().report;
    let signature = key.sign(&report.view().signed(&Hash::ZERO, &JOB)).to_bytes().to_vec();
    Share { job_id: Hex(JOB), attempt: 0, runner: Hex(runner), report, salt: Hex(vec![0; job::SALT_BYTES]), signature: Hex(signature) }
}

/// Decision 687: a result that a full disk does not take is kept again, and the work is not done again: it may have cost something, or changed something.
#[tokio::test]
async fn what_cannot_be_kept_is_not_done_again() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut manager = manager(folder.path());
    manager.jobs.insert(JOB, active(manager.context.address));
    assert_eq!(manager.move_one(JOB), Step::Execute);
    manager.queue.clear();
    assert_eq!(manager.executed(Ok((JOB, record(), Err(JournalError::Closed)))), None);
    assert!(manager.records.is_empty(), "it is not committed to");
    assert_eq!(manager.move_one(JOB), Step::Execute, "with the next block");
    manager.start_work();
    let done = manager.running.join_next().await.expect("it is kept");
    assert_eq!(manager.executed(done), Some(JOB));
    assert_eq!(manager.records.get(&JOB), Some(&record()), "this runner has no executor: work would be a fault");
}

/// Decision 739: while the disk is full, results that are due are tried to be kept with each block, and nothing else is begun; with room, all continues.
#[tokio::test]
async fn no_work_is_begun_while_the_disk_is_full() {
    let (folder, disk) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let path = disk.path().join("journal.redb");
    let mut manager = manager(folder.path());
    manager.context.journal = Arc::new(Journal::failing(&path));
    manager.context.config.runner.max_executing = 1;
    for job in [JOB, NEXT] {
        manager.jobs.insert(job, active(manager.context.address));
        assert_eq!(manager.move_one(job), Step::Execute);
    }
    for _ in 0..3 {
        manager.start_work();
        let done = manager.running.join_next().await.expect("the first is done, or kept");
        assert_eq!(manager.executed(done), None);
        manager.start_work();
        assert!(manager.running.is_empty(), "the second would be done, and not be kept");
        assert_eq!((manager.move_one(JOB), manager.move_one(NEXT)), (Step::Execute, Step::Wait), "with the next block");
        assert!(manager.records.is_empty(), "nothing is committed to");
    }
    std::fs::remove_dir(&path).expect("it is empty");
    for job in [JOB, NEXT] {
        manager.start_work();
        let done = manager.running.join_next().await.expect("it is kept");
        assert_eq!(manager.executed(done), Some(job));
    }
    assert!(manager.unkept.is_empty() && manager.queue.is_empty());
    let (records, owner) = (manager.records.clone(), Owner { runner: Hex(manager.context.address), genesis: Hex(Hash::ZERO) });
    drop(manager);
    let (_, found) = Journal::open(disk.path(), &owner).expect("nobody else has it");
    assert_eq!((found.len(), found), (2, records));
}

/// A result that is due no more, and cannot be kept, keeps back no other work.
#[tokio::test]
async fn a_result_that_is_late_keeps_nothing_back() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut manager = manager(folder.path());
    for job in [JOB, NEXT] {
        manager.jobs.insert(job, active(manager.context.address));
    }
    assert_eq!(manager.executed(Ok((JOB, record(), Err(JournalError::Closed)))), None);
    assert_eq!(manager.move_one(NEXT), Step::Execute);
    assert_eq!(manager.next_in_queue(), None, "the first is due");
    let late = manager.jobs.get_mut(&JOB).expect("it is there");
    late.view.commit_until = manager.height;
    assert_eq!(manager.next_in_queue(), Some((100, NEXT)));
}

/// A node that does not know a job for a moment makes it no new one: it is done once, and its result is kept, whether the disk takes it or not.
#[tokio::test]
async fn a_job_that_comes_back_is_done_once() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut manager = manager(folder.path());
    for _ in 0..3 {
        manager.jobs.insert(JOB, active(manager.context.address));
        assert_eq!(manager.move_one(JOB), Step::Execute);
        manager.start_work();
        assert_eq!((manager.running.len(), manager.queue.len()), (1, 0));
        manager.forget(&JOB, None);
    }
    let (id, record, kept) = manager.running.join_next().await.expect("it is at work").expect("it ends");
    kept.expect("there is room");
    assert_eq!(manager.executed(Ok((id, record.clone(), Err(JournalError::Closed)))), None);
    assert_eq!(manager.unkept.get(&JOB), Some(&record));
    manager.jobs.insert(JOB, active(manager.context.address));
    assert_eq!(manager.move_one(JOB), Step::Execute);
    manager.start_work();
    let done = manager.running.join_next().await.expect("it is kept");
    assert_eq!((manager.executed(done), manager.records.get(&JOB)), (Some(JOB), Some(&record)));
}

/// An execution that broke off, as one that panics does, is begun again with the next block, and is at work once. Strategy: somebody submits a job with which
/// a runner breaks off, so that it works in every block. After the second time it reports a fault without working.
#[tokio::test]
async fn what_broke_off_is_begun_again() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut manager = manager(folder.path());
    manager.jobs.insert(JOB, active(manager.context.address));
    for _ in 0..2 {
        assert_eq!(manager.refusal(&manager.jobs[&JOB]), None);
        assert_eq!(manager.move_one(JOB), Step::Execute);
        manager.start_work();
        assert_eq!((manager.running.len(), manager.working.len()), (1, 1));
        manager.running.abort_all();
        let done = manager.running.join_next().await.expect("it was begun");
        assert!(done.is_err(), "it had no time to end");
        assert_eq!((manager.executed(done), manager.working.len()), (None, 0));
    }
    assert_eq!(manager.refusal(&manager.jobs[&JOB]), Some("the runner itself broke off"));
    assert_eq!(manager.move_one(JOB), Step::Execute);
    manager.start_work();
    let done = manager.running.join_next().await.expect("it is reported");
    assert_eq!((manager.executed(done), manager.working.len()), (Some(JOB), 0));
    assert_eq!(manager.records.get(&JOB).map(|record| record.report.fault), Some(2));
}

/// Decision 686: a node that does not know a job yet, or knows it as one of others, makes no result forgotten.
#[tokio::test]
async fn a_node_that_is_behind_loses_no_result() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut manager = manager(folder.path());
    manager.records.insert(JOB, record());
    manager.unkept.insert(NEXT, record());
    for status in [None, Some("drawing"), Some("assigned")] {
        [JOB, NEXT].iter().for_each(|job| manager.forget(job, status));
        assert_eq!((manager.records.len(), manager.unkept.len()), (1, 1), "{status:?}");
    }
    [JOB, NEXT].iter().for_each(|job| manager.forget(job, Some("settled")));
    assert!(manager.records.is_empty() && manager.unkept.is_empty());
}

/// Decision 688: whoever is no member of a job, or not the one that it names, makes this runner ask its node nothing, and remember nothing.
#[tokio::test]
async fn shares_of_strangers_ask_the_node_nothing() {
    let folder = tempfile::tempdir().expect("a folder for the test");
    let mut manager = manager(folder.path());
    let key = SigningKey::from([9; 32]);
    let right = share(OTHER, &key);
    manager.take_share(right.clone()).await.expect("no such job");
    manager.jobs.insert(JOB, active(manager.context.address));
    manager.take_share(share(Address([3; 20]), &key)).await.expect("no member");
    assert!(manager.peers.is_empty());
    manager.take_share(right.clone()).await.expect_err("the key of a member is asked for");
    let result_key = key.verification_key().to_bytes().to_vec();
    manager.peers.insert(OTHER, Peer { endpoint: String::new(), result_key });
    manager.take_share(share(OTHER, &SigningKey::from([8; 32]))).await.expect("another key");
    manager.take_share(right).await.expect_err("the sender may know a newer block");
}
