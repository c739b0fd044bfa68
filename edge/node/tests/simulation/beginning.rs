//! A follower that begins at a final block: with the operations of its state, each of which it verifies.

use crate::{
    common::genesis,
    devnet::{block_on, send, start, wait_for},
};
use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_chain::GenesisConfig;
use cowboy_node::{
    BlockTime, Fetched, FollowError, Genesis, NodeConfig, NodeHandle,
    begin::{Batch, BeginError, Certified, Fetch, begin, boundary},
    genesis::{DevGenesis, dev},
    reader::Wanted,
};
use cowboy_types::{Block, ChainId, units::Count};
use std::{
    collections::BTreeSet,
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// What a source says: an encoded block, its certificate, and operations.
struct Said {
    block: Vec<u8>,
    certificate: Vec<u8>,
    fetch: Fetch,
}

/// The node's newest block, and its operations, changed by `lie` on their way.
fn said(node: &NodeHandle, lie: fn(Wanted, Vec<u8>) -> Vec<u8>, ask: fn(Wanted) -> Wanted) -> Said {
    let (view, number) = (node.view().expect("the ledger opens"), node.head().number);
    let block = view.block_bytes(number).expect("the ledger reads").expect("the newest is there");
    let certificate = view.certificate(number).expect("the ledger reads").expect("a lone validator certifies every block");
    let state = node.chain().expect("it runs").state().expect("the state is open").clone();
    let fetch: Fetch = Arc::new(move |wanted| {
        let state = state.clone();
        Box::pin(async move {
            let found = state.operations(ask(wanted)).await.ok_or("there are none")?;
            Ok(Bytes::from(lie(wanted, found.to_vec())).into())
        })
    });
    Said { block, certificate, fetch }
}

fn truth(_: Wanted, bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

fn as_is(wanted: Wanted) -> Wanted {
    wanted
}

fn flipped(place: impl Fn(usize) -> usize, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let at = place(bytes.len());
    bytes[at] ^= 1;
    bytes
}

fn begun(directory: &Path, source: &NodeHandle, said: &Said) -> Result<u64, BeginError> {
    let newest = Certified { block: said.block.clone(), certificate: said.certificate.clone() };
    begin(directory, &source.config().genesis, &newest, None, said.fetch.clone()).map(|head| head.number)
}

/// A chain with some history: every block changes what the one before it wrote.
fn source(directory: &Path) -> NodeHandle {
    let node = start(directory, BlockTime::Instant);
    for nonce in 0..40 {
        send(&node, 0, nonce, 5).expect("it is taken");
        wait_for(&node, nonce + 2);
    }
    node
}

/// The follower has the state of the block where it starts, continues with the next, and has the same state after a restart.
#[test]
fn a_follower_begins_at_a_final_block() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let directory = parent.path().join("follower");
    let first = begun(&directory, &node, &said(&node, truth, as_is)).expect("the source is honest");
    assert_eq!(first, node.head().number);
    let follow =
        || NodeHandle::follow(NodeConfig::follower(directory.clone(), node.config().genesis.clone())).expect("the follower starts");
    let (follower, feed) = follow();
    assert_eq!(follower.head(), node.head());
    let root = |node: &NodeHandle| block_on(node.chain().expect("it runs").state().expect("the state is open").root());
    assert_eq!(root(&follower), node.head().state_root);
    send(&node, 0, 40, 5).expect("it is taken");
    wait_for(&node, first + 1);
    let next = said(&node, truth, as_is);
    block_on(feed.push(next.block, next.certificate)).expect("it follows");
    assert_eq!((follower.head(), root(&follower)), (node.head(), node.head().state_root));
    let older = node.view().expect("the ledger opens").block_bytes(1).expect("the ledger reads").expect("it is there");
    assert!(matches!(block_on(feed.push(older, Vec::new())), Err(FollowError::NotNext { .. })));
    drop(feed);
    follower.shutdown();
    let (again, feed) = follow();
    assert_eq!((again.head(), root(&again)), (node.head(), node.head().state_root));
    drop(feed);
    again.shutdown();
    node.shutdown();
}

/// A follower prunes the log of its state, as a validator does, and has the same state after it.
#[test]
fn a_follower_prunes_its_state() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = start(&parent.path().join("source"), BlockTime::Every(std::time::Duration::from_millis(5)));
    let kept = cowboy_node::engine::Kept::default();
    let last = u64::try_from(kept.states + kept.interval.get()).expect("it is small");
    wait_for(&node, last);
    let directory = parent.path().join("follower");
    let follow =
        || NodeHandle::follow(NodeConfig::follower(directory.clone(), node.config().genesis.clone())).expect("the follower starts");
    let pruned = |node: &NodeHandle| {
        let text = node.metrics().expect("it runs");
        let calls = text.lines().filter(|line| line.contains("prune_calls") && !line.starts_with('#'));
        calls.filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).max()
    };
    let (follower, feed) = follow();
    assert_eq!(pruned(&follower), Some(0));
    let (view, root) = (node.view().expect("the ledger opens"), |node: &NodeHandle| {
        block_on(node.chain().expect("it runs").state().expect("the state is open").root())
    });
    for number in 1..=last {
        let block = view.block_bytes(number).expect("the ledger reads").expect("it is there");
        let certificate = view.certificate(number).expect("the ledger reads").expect("a lone validator certifies every block");
        block_on(feed.push(block, certificate)).expect("it follows");
        if number <= u64::try_from(kept.states).expect("it is small") {
            assert_eq!(pruned(&follower), Some(0), "the newest states are kept");
        }
    }
    assert_eq!(pruned(&follower), Some(1));
    let head = follower.head();
    assert_eq!((head.number, root(&follower)), (last, head.state_root));
    drop(feed);
    follower.shutdown();
    let (again, feed) = follow();
    assert_eq!((again.head(), root(&again)), (head, head.state_root));
    drop(feed);
    again.shutdown();
    node.shutdown();
}

/// How many requests a state sync with this source makes, and how it ends.
fn counted(
    directory: &Path,
    node: &NodeHandle,
    fetch: impl Fn(usize, Bytes) -> Result<Batch, String> + Send + Sync + 'static,
) -> (usize, Result<u64, BeginError>) {
    let honest = said(node, truth, as_is);
    let (count, fetch) = (Arc::new(AtomicUsize::new(0)), Arc::new(fetch));
    let counts = count.clone();
    let counting: Fetch = Arc::new(move |wanted| {
        let (number, inner, fetch) = (counts.fetch_add(1, Ordering::Relaxed), honest.fetch.clone(), fetch.clone());
        Box::pin(async move { fetch(number, inner(wanted).await?.bytes) })
    });
    let ended = begun(directory, node, &Said { fetch: counting, ..said(node, truth, as_is) });
    (count.load(Ordering::Relaxed), ended)
}

/// A joiner that three of four sources lie to fetches from the fourth what they gave, and rejects all of them.
#[test]
fn all_but_one_source_lie() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let liars = Arc::new(Mutex::new(BTreeSet::from([0usize, 1, 2])));
    let asked = liars.clone();
    let (_, ended) = counted(&parent.path().join("follower"), &node, move |_, bytes| {
        // One that was rejected is not asked again.
        let liar = asked.lock().expect("nothing panics").first().copied();
        let lied = |place: fn(usize) -> usize| Bytes::from(flipped(place, &bytes));
        let bytes = match liar {
            None => return Ok(bytes.into()),
            Some(0) => lied(|length| length - 1),
            Some(1) => bytes.slice(..bytes.len() / 2),
            Some(_) => lied(|_| 12),
        };
        let asked = asked.clone();
        let reject = move || {
            // Batches that were asked for at the same time are rejected together.
            let _ = asked.lock().expect("nothing panics").remove(&liar.unwrap_or_default());
        };
        Ok(Batch { bytes, reject: Box::new(reject) })
    });
    assert_eq!(ended.expect("one is honest"), node.head().number);
    assert!(liars.lock().expect("nothing panics").is_empty(), "all liars are rejected");
    node.shutdown();
}

/// A state sync whose sources go away continues from what it has on its disk, and has the right state.
#[test]
fn a_state_sync_continues_where_it_stopped() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let (all, ended) = counted(&parent.path().join("whole"), &node, |_, bytes| Ok(bytes.into()));
    assert!(ended.is_ok() && all > 0, "{all} requests: {ended:?}");
    let directory = parent.path().join("follower");
    let last = all - 1;
    let (_, ended) = counted(&directory, &node, move |number, bytes| if number < last { Ok(bytes.into()) } else { Err("gone".into()) });
    assert!(matches!(ended, Err(BeginError::Source(_))), "{ended:?}");
    assert!(!directory.exists() && directory.with_extension("part").exists());
    let (_, ended) = counted(&directory, &node, |_, bytes| Ok(bytes.into()));
    assert_eq!(ended.expect("the source is honest"), node.head().number);
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(directory, node.config().genesis.clone())).expect("the follower starts");
    assert_eq!(follower.head(), node.head());
    drop(feed);
    follower.shutdown();
    node.shutdown();
}

/// Where the process that is killed has the source's chain, where it begins, and with which request it ends. Set only for that process.
const SOURCE: &str = "COWBOY_TEST_BEGINS_FROM";
const FOLDER: &str = "COWBOY_TEST_BEGINS_IN";
const LAST: &str = "COWBOY_TEST_BEGINS_UNTIL";

/// A source that was stopped, once it has its state again.
fn again(directory: &Path) -> NodeHandle {
    let node = start(directory, BlockTime::Instant);
    let chain = node.chain().expect("it runs");
    assert!(block_on(async { chain.wait_until_open().await && chain.wait_until_current().await }));
    node
}

/// What the killed process does: begins, and ends without another word at one of its requests.
#[test]
#[ignore = "this is the process that the other test lets end"]
fn the_process_that_ends_while_it_begins() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let source = std::env::var_os(SOURCE).expect("the other test says it");
    let last: usize = std::env::var(LAST).ok().and_then(|last| last.parse().ok()).expect("the other test says it");
    let node = again(Path::new(&source));
    let (_, ended) = counted(Path::new(&folder), &node, move |number, bytes| match number < last {
        true => Ok(bytes.into()),
        // Nothing is written or closed after this.
        false => std::process::abort(),
    });
    drop(ended);
}

/// A state sync that is killed at any of its requests continues in the same folder, and has the right state.
#[test]
fn a_state_sync_survives_being_killed() {
    let parent = tempfile::tempdir().expect("a folder");
    let directory = parent.path().join("source");
    let node = source(&directory);
    let (all, ended) = counted(&parent.path().join("whole"), &node, |_, bytes| Ok(bytes.into()));
    assert!(ended.is_ok() && all > 0, "{all} requests: {ended:?}");
    let (head, genesis) = (node.head(), node.config().genesis.clone());
    node.shutdown();
    let folders: Vec<_> = (0..all).map(|last| parent.path().join(format!("follower-{last}"))).collect();
    for (last, folder) in folders.iter().enumerate() {
        let output = std::process::Command::new(std::env::current_exe().expect("this program"))
            .args(["--exact", "beginning::the_process_that_ends_while_it_begins", "--ignored"])
            .envs([(SOURCE, directory.as_os_str()), (FOLDER, folder.as_os_str())])
            .env(LAST, last.to_string())
            .output()
            .expect("it runs");
        assert!(!output.status.success() && !folder.exists(), "request {last}: {}", String::from_utf8_lossy(&output.stdout));
    }
    let node = again(&directory);
    assert_eq!(node.head(), head);
    for (last, folder) in folders.into_iter().enumerate() {
        let (_, ended) = counted(&folder, &node, |_, bytes| Ok(bytes.into()));
        assert_eq!(ended.expect("the source is honest"), head.number, "killed at request {last}");
        let (follower, feed) = NodeHandle::follow(NodeConfig::follower(folder, genesis.clone())).expect("the follower starts");
        assert_eq!(follower.head(), head);
        drop(feed);
        follower.shutdown();
    }
    node.shutdown();
}

/// Blocks that a source forged and nobody certified are given up with it, and the next source's blocks are taken.
#[test]
fn a_forged_block_does_not_stop_the_next_source() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let directory = parent.path().join("follower");
    begun(&directory, &node, &said(&node, truth, as_is)).expect("the source is honest");
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(directory, node.config().genesis.clone())).expect("the follower starts");
    send(&node, 0, 40, 5).expect("it is taken");
    wait_for(&node, follower.head().number + 1);
    let next = said(&node, truth, as_is);
    let mut forged = Block::decode(next.block.clone()).expect("a block");
    forged.header.timestamp_ms.0 += 1;
    block_on(feed.push(forged.encode().to_vec(), Vec::new())).expect("it waits for a certificate");
    let refused = block_on(feed.push(next.block.clone(), next.certificate.clone())).expect_err("it does not follow the forged one");
    assert!(matches!(refused, FollowError::NotNext { .. }) && refused.is_of_source(), "{refused}");
    block_on(feed.restart()).expect("it runs");
    block_on(feed.push(next.block, next.certificate)).expect("it follows");
    assert_eq!(follower.head(), node.head());
    drop(feed);
    follower.shutdown();
    node.shutdown();
}

/// A lone validator of a chain with epochs of 24 blocks, past its first: another block than genesis says who signs, and the follower
/// needs that one too, from the validators. Then it follows into the next epoch by itself.
#[test]
fn a_follower_begins_in_a_later_epoch() {
    const LENGTH: u64 = 24;
    let parent = tempfile::tempdir().expect("a folder");
    let row = cowboy_params::Params::row("consensus.epoch").expect("a row of the table").id;
    let (made, mut keys) = dev(DevGenesis { parameters: [(row, LENGTH)].into(), ..genesis(1) }).expect("a genesis");
    let genesis = Genesis::new(GenesisConfig { is_dev: false, ..made.config }, made.sharing).expect("a genesis");
    let mut config = NodeConfig::alone(parent.path().join("source"), genesis.clone(), keys.remove(0));
    config.block_time = BlockTime::Instant;
    let node = NodeHandle::start(config).expect("the node starts");
    let send_until = |number: u64| {
        for nonce in node.head().number - 1..number - 1 {
            send(&node, 0, nonce, 5).expect("it is taken");
            wait_for(&node, nonce + 2);
        }
    };
    send_until(LENGTH + 5);
    let block = |number| {
        let view = node.view().expect("the ledger opens");
        let block = view.block_bytes(number).expect("the ledger reads").expect("it is there");
        let certificate = view.certificate(number).expect("the ledger reads").expect("a lone validator certifies every block");
        Certified { block, certificate }
    };
    let first = node.head().number;
    assert_eq!(boundary(&genesis, first), Some(LENGTH - 1));
    assert_eq!((boundary(&genesis, LENGTH - 2), boundary(&genesis, LENGTH - 1)), (None, None), "genesis says it, and the block itself");
    let (right, other) = (block(LENGTH - 1), block(LENGTH - 2));
    let uncertified = Certified { certificate: block(first).certificate, ..right.clone() };
    let directory = parent.path().join("follower");
    let fetch = said(&node, truth, as_is).fetch;
    let begun = |introduces| begin(&directory, &genesis, &block(first), introduces, fetch.clone());
    for (what, introduces) in [("none", None), ("another block", Some(&other)), ("no certificate of it", Some(&uncertified))] {
        let found = begun(introduces);
        assert!(matches!(found, Err(BeginError::Boundary(number)) if number == LENGTH - 1), "{what}: {found:?}");
        assert!(!directory.exists() && !directory.with_extension("part").exists(), "{what}: something is kept");
    }
    assert_eq!(begun(Some(&right)).expect("the source is honest").number, first);
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(directory, genesis.clone())).expect("the follower starts");
    send_until(2 * LENGTH + 2);
    let fetched = |number| {
        let Certified { block, certificate } = block(number);
        Fetched { block, certificate }
    };
    // The last block of the epoch is in the middle of the run.
    block_on(feed.push_run((first + 1..=2 * LENGTH + 2).map(fetched).collect())).expect("it follows");
    assert_eq!(follower.head(), node.head());
    drop(feed);
    follower.shutdown();
    node.shutdown();
}

/// Who asks for operations can ask for anything: there are some, or there are none.
#[test]
fn any_question_about_operations_has_an_answer() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let state = node.chain().expect("it runs").state().expect("the state is open").clone();
    let newest = node.chain().expect("it runs").tip_block().expect("the ledger reads").header().clone();
    let (first, end) = (newest.ops_start.0, newest.ops_end.0);
    let numbers = [0, 1, 2, first.saturating_sub(1), first, first + 1, end - 1, end, end + 1, 1 << 40, 1 << 62, u64::MAX];
    let mut found = 0;
    for (size, start) in numbers.iter().flat_map(|size| numbers.map(|start| (*size, start))) {
        for most in [0, 1, 64, 65, u64::MAX] {
            found += usize::from(block_on(state.operations(Wanted { size, start, most })).is_some());
        }
    }
    assert!(found > 0);
    assert!(block_on(state.operations(Wanted { size: end, start: first, most: 64 })).is_some());
    node.shutdown();
}

/// Whatever the source changes is found, and nothing is kept of it.
#[test]
fn lies_about_a_state_are_found() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let honest = || said(&node, truth, as_is);
    let changed = |change: fn(&mut Block)| {
        let mut said = honest();
        let mut block = Block::decode(said.block.clone()).expect("a block");
        change(&mut block);
        said.block = block.encode().to_vec();
        said
    };
    let foreign = {
        let other = DevGenesis { chain_id: ChainId(7), ..genesis(1) };
        let (genesis, mut keys) = dev(other).expect("a genesis");
        let mut config = NodeConfig::alone(parent.path().join("foreign"), genesis, keys.remove(0));
        config.block_time = BlockTime::Instant;
        let node = NodeHandle::start(config).expect("the node starts");
        let said = said(&node, truth, as_is);
        node.shutdown();
        said
    };
    let is_operations: fn(&BeginError) -> bool = |error| matches!(error, BeginError::Operations(_));
    let is_certificate: fn(&BeginError) -> bool = |error| matches!(error, BeginError::Certificate(_));
    let is_source: fn(&BeginError) -> bool = |error| matches!(error, BeginError::Source(_));
    let is_no_block: fn(&BeginError) -> bool = |error| matches!(error, BeginError::NotABlock(_));
    let rows = [
        ("the last byte of an operation", said(&node, |_, bytes| flipped(|length| length - 1, &bytes), as_is), is_operations),
        ("a byte in the middle", said(&node, |_, bytes| flipped(|length| length / 2, &bytes), as_is), is_operations),
        ("a byte of the proof", said(&node, |_, bytes| flipped(|_| 12, &bytes), as_is), is_operations),
        ("operations cut short", said(&node, |_, bytes| bytes[..bytes.len() - 1].to_vec(), as_is), is_operations),
        ("bytes behind", said(&node, |_, bytes| [bytes.as_slice(), b"\0"].concat(), as_is), is_operations),
        ("nothing", said(&node, |_, _| Vec::new(), as_is), is_operations),
        ("other operations", said(&node, truth, |wanted| Wanted { start: wanted.start + 1, ..wanted }), is_operations),
        ("the first instead of many", said(&node, truth, |wanted| Wanted { most: 0, ..wanted }), is_operations),
        ("operations of an older state", said(&node, truth, |wanted| Wanted { size: 2, start: 0, ..wanted }), is_source),
        ("no operations", said(&node, truth, |wanted| Wanted { size: u64::MAX, ..wanted }), is_source),
        ("a version that nobody knows", changed(|block| block.header.version = 255), is_certificate),
        ("the range's beginning", changed(|block| block.header.ops_start = Count(block.header.ops_start.0 + 1)), is_certificate),
        ("the range's end", changed(|block| block.header.ops_end = Count(block.header.ops_end.0 - 1)), is_certificate),
        ("the root of the operations", changed(|block| block.header.ops_root.0[0] ^= 1), is_certificate),
        ("the root of the state", changed(|block| block.header.state_root.0[0] ^= 1), is_certificate),
        ("the body", changed(|block| block.transactions = Default::default()), is_no_block),
        ("the certificate", Said { certificate: flipped(|length| length - 1, &honest().certificate), ..honest() }, is_certificate),
        ("a block of another chain", foreign, is_certificate),
        ("no block", Said { block: vec![1, 2, 3], ..honest() }, is_no_block),
    ];
    let directory = parent.path().join("follower");
    for (what, said, expected) in rows {
        let found = begun(&directory, &node, &said);
        assert!(found.as_ref().is_err_and(expected), "{what}: {found:?}");
        // What was verified before the source went away is kept.
        let is_kept = directory.with_extension("part").exists() && !is_source(&found.expect_err("it is one"));
        assert!(!directory.exists() && !is_kept, "{what}: something is kept");
    }
    assert!(begun(&directory, &node, &honest()).is_ok(), "and the truth is taken after all of them");
    node.shutdown();
}
