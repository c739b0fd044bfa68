//! A lone validator over QUIC and real files, as `cowboyd dev` runs it.

use crate::common::{FUNDS, genesis, key, transfer};
use commonware_codec::{Decode as _, Encode as _};
use commonware_consensus::simplex::types::{Finalization, Finalize, Proposal};
use commonware_cryptography::{Signer as _, blake3::Digest};
use commonware_parallel::Sequential;
use commonware_utils::non_empty;
use cowboy_chain::GenesisConfig;
use cowboy_node::{
    AskError, BlockTime, DevError, FollowError, Genesis, KeepUp, NodeConfig, NodeHandle, Refused, block::engine_digest,
    committee::ValidatorKeys, genesis as node_genesis, seeds::Scheme,
};
use cowboy_types::{Address, Amount, Block, Header, Height};
use futures::future::BoxFuture;
use std::{
    net::UdpSocket,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

const STRANGER: Address = Address([0x77; 20]);

pub(crate) fn start(directory: &Path, block_time: BlockTime) -> NodeHandle {
    let (genesis, mut keys) = node_genesis::dev(genesis(1)).expect("a genesis");
    let mut config = NodeConfig::alone(directory.to_owned(), genesis, keys.remove(0));
    config.block_time = block_time;
    NodeHandle::start(config).expect("the node starts")
}

pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime").block_on(future)
}

pub(crate) fn wait_for(node: &NodeHandle, number: u64) {
    let mut head = node.watch_head();
    block_on(async { head.wait_for(|head| head.number >= number).await.expect("the node lives") });
}

pub(crate) fn send(node: &NodeHandle, from: u64, nonce: u64, amount: u64) -> Result<cowboy_types::Hash, Refused> {
    let transaction = transfer(from, nonce, STRANGER, Amount(amount));
    block_on(node.submit(vec![transaction.to_bytes().to_vec()])).expect("the node runs").remove(0)
}

fn balance(node: &NodeHandle, address: Address) -> u64 {
    block_on(node.account(address)).expect("the node runs").balance.0
}

/// a lone validator makes certified blocks and continues from the same state after a restart.
#[test]
fn a_lone_validator_survives_a_restart() {
    let directory = tempfile::tempdir().expect("a folder");
    let steady = BlockTime::Every(Duration::from_millis(20));
    let node = start(directory.path(), steady);
    wait_for(&node, 5);
    node.shutdown();
    let stopped_at = node.head();
    let node = start(directory.path(), steady);
    assert!(node.head().number >= stopped_at.number);
    wait_for(&node, stopped_at.number + 5);
    let view = node.view().expect("the ledger opens");
    for number in 1..=stopped_at.number {
        assert!(view.block(number).expect("the ledger reads").is_some(), "block {number} is in the ledger");
        assert!(view.certificate(number).expect("the ledger reads").is_some(), "block {number} has a certificate");
    }
    node.shutdown();
}

/// An instant chain makes a block for work and none without; a transfer moves money and leaves a receipt and index rows.
#[test]
fn an_instant_chain_works_and_then_stands_still() {
    let directory = tempfile::tempdir().expect("a folder");
    let node = start(directory.path(), BlockTime::Instant);
    assert_eq!(node.head().number, 1, "the first block holds genesis");
    let mut blocks = node.subscribe();
    let digest = send(&node, 0, 0, 5).expect("it is taken");
    let block = block_on(blocks.recv()).expect("a block");
    assert_eq!((block.receipts.len(), block.receipts[0].is_success()), (1, true));
    assert_eq!(block.receipts[0].id, digest);
    assert_eq!(balance(&node, STRANGER), 5);
    let view = node.view().expect("the ledger opens");
    let place = view.place_of(&digest).expect("the ledger reads").expect("it is indexed");
    assert_eq!((place.number, place.index), (2, 0));
    assert_eq!(view.of_account(&key(0).address(), None, 10).expect("the ledger reads"), [place]);
    assert_eq!(view.of_account(&STRANGER, None, 10).expect("the ledger reads"), [place]);
    // Work that a chain without work would have done in the meantime shows as an extra block before the next.
    send(&node, 0, 1, 5).expect("it is taken");
    let next = block_on(blocks.recv()).expect("a block");
    assert_eq!((next.block.header().number.0, next.receipts.len()), (3, 1), "no block stands between");
    node.shutdown();
}

/// State is answered as of a height, and only for the newest ones.
#[test]
fn reads_are_pinned_to_a_block() {
    let directory = tempfile::tempdir().expect("a folder");
    let node = start(directory.path(), BlockTime::Instant);
    let mut blocks = node.subscribe();
    for nonce in 0..20 {
        send(&node, 0, nonce, 1).expect("it is taken");
        block_on(blocks.recv()).expect("a block");
    }
    let account = cowboy_state::Key::account(STRANGER).digest();
    let balance_at = |number| {
        let stored = block_on(node.read(number, vec![account]))?.remove(0);
        Ok::<u64, AskError>(stored.as_ref().and_then(cowboy_node::mempool::account_of).map_or(0, |account| account.balance.0))
    };
    assert_eq!(balance_at(21).expect("the newest"), 20);
    assert_eq!(balance_at(10).expect("among the newest 16"), 9);
    assert!(matches!(balance_at(2), Err(AskError::TooOld(_))));
    assert!(matches!(balance_at(22), Err(AskError::NotYet { number: 22, tip: 21 })));
    node.shutdown();
}

/// What the mempool refuses, and replaces.
#[test]
fn the_mempool_refuses() {
    let directory = tempfile::tempdir().expect("a folder");
    let node = start(directory.path(), BlockTime::Every(Duration::from_secs(3_600)));
    send(&node, 0, 0, 5).expect("it is taken");
    assert_eq!(send(&node, 0, 0, 5), Err(Refused::Known));
    assert_eq!(send(&node, 0, 0, 6), Err(Refused::Underpriced { bump: 1_000 }));
    assert!(send(&node, 0, 2, 5).is_ok(), "a gap is no reason to refuse");
    assert!(matches!(send(&node, 0, 9_000, 5), Err(Refused::TooFarAhead { .. })));
    assert!(matches!(send(&node, 1, 0, FUNDS.0), Err(Refused::Invalid(_))), "the fee is not covered");
    let garbage = block_on(node.submit(vec![vec![0xFF; 10]])).expect("the node runs").remove(0);
    assert!(matches!(garbage, Err(Refused::Invalid(_))));
    let mut better = transfer(0, 0, STRANGER, Amount(7));
    better.max_fee_per_cycle.0 = 22_000;
    better.max_fee_per_cell.0 = 22_000;
    key(0).sign_transaction(&mut better);
    let replaced = block_on(node.submit(vec![better.to_bytes().to_vec()])).expect("the node runs").remove(0);
    assert_eq!(replaced, Ok(better.digest()));
    block_on(node.mine(1)).expect("a block");
    assert_eq!(balance(&node, STRANGER), 7, "the better offer went in, and what stands behind the gap waits");
    assert_eq!(node.chain().expect("the node runs").mempool.size().transactions, 1);
    node.shutdown();
}

/// Decision 136: mine and warp move height and clock, and time does not go back afterwards.
#[test]
fn mine_and_warp() {
    let directory = tempfile::tempdir().expect("a folder");
    let node = start(directory.path(), BlockTime::Instant);
    let mined = block_on(node.mine(3)).expect("blocks");
    assert_eq!((mined.number, mined.height), (4, Height(4)));
    let warped = block_on(node.warp_to_height(Height(1_000_000))).expect("a warp");
    assert_eq!(warped.height, Height(1_000_000));
    assert_eq!(warped.number, 5, "nothing was due, so one block is enough");
    assert!(warped.timestamp_ms.0 >= mined.timestamp_ms.0 + 999_000_000);
    assert!(matches!(block_on(node.warp_to_height(Height(7))), Err(DevError::Past { .. })));
    node.shutdown();
    let node = start(directory.path(), BlockTime::Instant);
    let after = block_on(node.mine(1)).expect("a block");
    assert_eq!((after.number, after.height), (6, Height(1_000_001)));
    assert!(after.timestamp_ms > warped.timestamp_ms);
    let view = node.view().expect("the ledger opens");
    assert_eq!(view.number_at(Height(1_000_000)).expect("the ledger reads"), Some(5));
    assert_eq!(view.number_at(Height(999_999)).expect("the ledger reads"), None, "skipped by the warp");
    node.shutdown();
}

/// Decision 605: ordered blocks and warps stop for services every few heights, and lead where they would without.
#[test]
fn ordered_blocks_stop_for_services() {
    let directory = tempfile::tempdir().expect("a folder");
    let node = start(directory.path(), BlockTime::Instant);
    wait_for(&node, 1);
    let stops: Arc<Mutex<Vec<u64>>> = Arc::default();
    let noted = stops.clone();
    let until_sent = move |_: NodeHandle, height: Height| -> BoxFuture<'static, ()> {
        noted.lock().expect("nothing panicked").push(height.0);
        Box::pin(async {})
    };
    node.keep_up(KeepUp { every: 10, until_sent: Arc::new(until_sent) });
    let begun = node.head().height.0;
    let mined = block_on(node.mine(25)).expect("blocks").height.0;
    let warped = block_on(node.warp_to_height(Height(mined + 35))).expect("a warp").height.0;
    assert_eq!((mined, warped), (begun + 25, begun + 60));
    assert_eq!(*stops.lock().expect("nothing panicked"), [10, 20, 25, 35, 45, 55, 60].map(|height| begun + height));
    node.shutdown();
}

/// Decision 137: a revert restores state, ledger and clock; newer snapshots are gone.
#[test]
fn snapshot_and_revert() {
    let directory = tempfile::tempdir().expect("a folder");
    let node = start(directory.path(), BlockTime::Instant);
    send(&node, 0, 0, 5).expect("it is taken");
    wait_for(&node, 2);
    let before = node.head();
    let first = node.snapshot().expect("a snapshot");
    send(&node, 0, 1, 5).expect("it is taken");
    wait_for(&node, 3);
    let second = node.snapshot().expect("a snapshot");
    assert_eq!(balance(&node, STRANGER), 10);
    assert_eq!(node.revert(first).expect("a revert"), before);
    assert_eq!(balance(&node, STRANGER), 5);
    assert!(matches!(node.revert(second), Err(DevError::NoSnapshot(_))));
    send(&node, 0, 1, 7).expect("the nonce is free again");
    wait_for(&node, 3);
    assert_eq!(balance(&node, STRANGER), 12);
    node.shutdown();
}

/// a follower that begins at genesis trusts nothing: it verifies certificates, executes every block, and has the same roots.
#[test]
fn a_follower_verifies_and_executes() {
    let (directory, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let node = start(directory.path(), BlockTime::Instant);
    for nonce in 0..5 {
        send(&node, 0, nonce, 3).expect("it is taken");
        wait_for(&node, 2 + nonce);
    }
    let view = node.view().expect("the ledger opens");
    let frame = |number: u64| {
        let block = view.block_bytes(number).expect("the ledger reads").expect("there is a block");
        (block, view.certificate(number).expect("the ledger reads").expect("there is a certificate"))
    };
    let (genesis, _) = node_genesis::dev(genesis(1)).expect("a genesis");
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(other.path().to_owned(), genesis.clone())).expect("the follower starts");
    block_on(async {
        let (block, certificate) = frame(1);
        let refused = feed.push(block.clone(), frame(2).1).await;
        assert!(matches!(refused, Err(FollowError::Certificate(1))), "a certificate of another block");
        feed.push(block, certificate).await.expect("the first block follows genesis");
        assert_eq!(follower.head().number, 1);
        assert!(matches!(feed.push(frame(3).0, frame(3).1).await, Err(FollowError::NotNext { last: 1, found: 3 })));
        let mut changed = cowboy_types::Block::clone(&view.block(2).expect("the ledger reads").expect("a block"));
        changed.header.state_root.0[0] ^= 1;
        let changed = commonware_codec::Encode::encode(&changed).to_vec();
        assert!(matches!(feed.push(changed, frame(2).1).await, Err(FollowError::Certificate(2))), "a changed header has another digest");
        feed.push(frame(2).0, Vec::new()).await.expect("it waits for a certificate");
        assert_eq!(follower.head().number, 1, "what nothing certifies yet is not executed");
        feed.push(frame(3).0, frame(3).1).await.expect("it certifies both");
        assert_eq!(follower.head().number, 3);
    });
    follower.shutdown();
    drop((follower, feed));
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(other.path().to_owned(), genesis)).expect("the follower starts again");
    assert_eq!(follower.head().number, 3);
    for number in 4..=6 {
        let (block, certificate) = frame(number);
        block_on(feed.push(block, certificate)).expect("it follows");
    }
    assert_eq!(follower.head(), node.head());
    assert_eq!(balance(&follower, STRANGER), 15);
    follower.shutdown();
    node.shutdown();
}

/// A finalization of this block by the lone validator of a dev chain, with the round of another one.
pub(crate) fn finalization(genesis: &Genesis, keys: &ValidatorKeys, of: &[u8], block: &Block) -> Vec<u8> {
    let share = keys.share.clone().expect("a dev chain's validator has its share");
    let voter = genesis.committee.voter(&genesis.namespace(), share).expect("the share is the committee's");
    let other = Finalization::<Scheme, Digest>::decode_cfg(bytes::Bytes::copy_from_slice(of), &()).expect("a node certifies its blocks");
    let proposal = Proposal { payload: engine_digest(&block.digest()), ..other.proposal };
    let vote = Finalize::sign(&voter, proposal).expect("a validator signs");
    Finalization::from_finalizes(&voter, non_empty![@std::iter::once(&vote)], &Sequential).expect("one is enough").encode().to_vec()
}

/// a block whose roots, prices or usage are not those of its execution is refused, even where its proposer signed it and every
/// validator finalized it.
#[test]
fn what_execution_does_not_lead_to_is_refused() {
    let (directory, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let node = start(directory.path(), BlockTime::Instant);
    send(&node, 0, 0, 3).expect("it is taken");
    wait_for(&node, 2);
    let view = node.view().expect("the ledger opens");
    let certificate = |number| view.certificate(number).expect("the ledger reads").expect("there is a certificate");
    let truth = view.block(2).expect("the ledger reads").expect("a block");
    let (genesis, keys) = node_genesis::dev(genesis(1)).expect("a genesis");
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(other.path().to_owned(), genesis.clone())).expect("the follower starts");
    block_on(feed.push(view.block_bytes(1).expect("the ledger reads").expect("a block"), certificate(1))).expect("it follows genesis");
    let push = |change: &dyn Fn(&mut Header)| {
        let mut block = Block::clone(&truth);
        change(&mut block.header);
        block.header.signature = keys[0].signer.sign(&block.header.signing_digest());
        block_on(feed.push(block.encode().to_vec(), finalization(&genesis, &keys[0], &certificate(2), &block)))
    };
    let changes: [(&str, &dyn Fn(&mut Header)); 5] = [
        ("state root", &|header| header.state_root.0[0] ^= 1),
        ("receipt root", &|header| header.receipt_root.0[0] ^= 1),
        ("root of operations", &|header| header.ops_root.0[0] ^= 1),
        ("base fee", &|header| header.base_fee_cycle.0 += 1),
        ("usage", &|header| header.usage.user.cycles.0 += 1),
    ];
    for (what, change) in changes {
        let refused = push(change);
        assert!(matches!(refused, Err(FollowError::Different(2))), "{what}: {refused:?}");
    }
    let refused = push(&|header| header.tx_root.0[0] ^= 1);
    assert!(matches!(refused, Err(FollowError::NotABlock(_))), "its transactions have another root: {refused:?}");
    assert_eq!(follower.head().number, 1, "nothing of them is kept");
    push(&|_| {}).expect("the same block, unchanged, is taken");
    assert_eq!(follower.head().number, 2);
    follower.shutdown();
    node.shutdown();
}

/// A fork from the past: whoever still has the shares that a quorum had then can certify another block in the place of a final one, and a
/// node that has the final one does not take it.
#[test]
fn a_certified_fork_replaces_no_final_block() {
    let (directory, other) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let node = start(directory.path(), BlockTime::Instant);
    (0..2).for_each(|nonce| drop(send(&node, 0, nonce, 3).map(|_| wait_for(&node, nonce + 2))));
    let view = node.view().expect("the ledger opens");
    let certificate = |number| view.certificate(number).expect("the ledger reads").expect("there is a certificate");
    let (genesis, keys) = node_genesis::dev(genesis(1)).expect("a genesis");
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(other.path().to_owned(), genesis.clone())).expect("the follower starts");
    let push = |number: u64, change: u64| {
        let mut block = Block::clone(&view.block(number).expect("the ledger reads").expect("a block"));
        block.header.timestamp_ms.0 += change;
        block.header.signature = keys[0].signer.sign(&block.header.signing_digest());
        block_on(feed.push(block.encode().to_vec(), finalization(&genesis, &keys[0], &certificate(number), &block)))
    };
    (1..=2).for_each(|number| push(number, 0).expect("it follows"));
    for number in 1..=2 {
        let refused = push(number, 1);
        assert!(matches!(refused, Err(FollowError::NotNext { last: 2, .. })), "{number}: {refused:?}");
    }
    push(3, 0).expect("the final chain continues");
    assert_eq!(follower.head(), node.head());
    follower.shutdown();
    node.shutdown();
}

/// four validators agree over QUIC on real sockets, and a transaction given to one reaches a block of any;
/// votes are gathered and checked together.
#[test]
fn four_validators_over_quic() {
    let (genesis, keys) = node_genesis::dev(genesis(4)).expect("a genesis");
    let sockets: Vec<UdpSocket> = keys.iter().map(|_| UdpSocket::bind("127.0.0.1:0").expect("a free port")).collect();
    let addresses: Vec<_> = sockets.iter().map(|socket| socket.local_addr().expect("it is bound")).collect();
    drop(sockets);
    let folders: Vec<_> = keys.iter().map(|_| tempfile::tempdir().expect("a folder")).collect();
    let nodes: Vec<NodeHandle> = (0..keys.len())
        .map(|own| {
            let mut config = NodeConfig::alone(folders[own].path().to_owned(), genesis.clone(), keys[own].clone());
            config.listen = addresses[own];
            config.block_time = BlockTime::Every(Duration::from_millis(100));
            let others = (0..keys.len()).filter(|other| *other != own);
            config.peers = others.map(|other| (keys[other].network.public_key(), addresses[other])).collect();
            NodeHandle::start(config).expect("the node starts")
        })
        .collect();
    nodes.iter().for_each(|node| wait_for(node, 1));
    let digest = send(&nodes[2], 0, 0, 5).expect("it is taken");
    let receipt = block_on(async {
        let mut head = nodes[1].watch_head();
        loop {
            let place = nodes[1].view().expect("the ledger opens").place_of(&digest).expect("the ledger reads");
            match place {
                Some(place) => return place,
                None => head.changed().await.expect("the node lives"),
            }
        }
    });
    for node in &nodes {
        wait_for(node, receipt.number);
        let block = node.view().expect("the ledger opens").block(receipt.number).expect("the ledger reads").expect("a block");
        assert_eq!(block.digest(), nodes[1].view().expect("it opens").block(receipt.number).expect("it reads").expect("a block").digest());
    }
    let metrics = nodes[0].metrics().expect("the node runs");
    let (batches, votes) = (metric(&metrics, "batcher_batch_size_count"), metric(&metrics, "batcher_batch_size_sum"));
    assert!(batches > 0.0 && votes > batches, "{votes} votes were checked in {batches} batches");
    nodes.iter().for_each(NodeHandle::shutdown);
}

/// A chain that one validator began takes in others: a node whose keys are of no validator yet starts beside it, and follows.
#[test]
fn a_newcomer_starts_beside_a_lone_founder() {
    let (dev, founder) = node_genesis::dev(genesis(1)).expect("a genesis");
    let genesis = Genesis::new(GenesisConfig { is_dev: false, ..dev.config }, dev.sharing).expect("a genesis");
    let keys = [founder[0].clone(), ValidatorKeys::derive(b"a newcomer")];
    let sockets = [(); 2].map(|()| UdpSocket::bind("127.0.0.1:0").expect("a free port"));
    let addresses = sockets.map(|socket| socket.local_addr().expect("it is bound"));
    let folders = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    let nodes = [0, 1].map(|own| {
        let mut config = NodeConfig::alone(folders[own].path().to_owned(), genesis.clone(), keys[own].clone());
        config.listen = addresses[own];
        config.peers = vec![(keys[1 - own].network.public_key(), addresses[1 - own])];
        NodeHandle::start(config).expect("the node starts")
    });
    wait_for(&nodes[1], 2);
    nodes.iter().for_each(NodeHandle::shutdown);
}

/// The sum of a metric over all its labels.
fn metric(page: &str, name: &str) -> f64 {
    let rows =
        page.lines().filter(|line| !line.starts_with('#') && line.split(['{', ' ']).next().is_some_and(|found| found.ends_with(name)));
    rows.filter_map(|row| row.rsplit(' ').next()?.parse::<f64>().ok()).sum()
}
