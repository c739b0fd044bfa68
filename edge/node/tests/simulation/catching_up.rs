//! A follower within runs of blocks: what is proven meanwhile, and what a kill between the two writes of a run leaves behind.

use crate::{
    devnet::block_on,
    runs::{BLOCKS, blocks, follow, source},
};
use cowboy_node::{
    Chain, Fetched, NodeHandle,
    reader::{self, Batch, Still},
};
use cowboy_state::{Key, StateKey};
use cowboy_types::Address;
use futures::FutureExt as _;
use std::{collections::BTreeSet, fs, path::Path, pin::pin};

/// More keys than a small batch proves at once.
fn keys() -> BTreeSet<StateKey> {
    (0..100).map(|number| Key::account(Address([number; 20])).digest()).collect()
}

/// Proves all keys in small batches, and that they are proven against the newest block.
async fn prove(node: &NodeHandle) {
    let chain = node.chain().expect("it runs");
    let state = chain.state().expect("the state is open");
    let proofs = reader::prove(&**state, &keys(), Batch::SMALL, |_| true).await.expect("it is one state");
    let root = node.head().state_root;
    assert!(proofs.len() == 100 && proofs.values().all(|proof| proof.root == root), "block {}", node.head().number);
}

/// Has the state stand still, once blocks have paused.
async fn still(chain: &Chain) -> Still {
    loop {
        if let Ok(still) = chain.proving.still().await {
            return still;
        }
        std::thread::yield_now();
    }
}

/// Decision 637: whoever asks for it finds the state of the newest block, and it stays while it is proven, where the follower is not behind.
#[test]
fn the_state_stands_still_while_it_is_proven() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let (follower, feed) = follow(&parent.path().join("follower"), &node);
    let chain = follower.chain().expect("it runs");
    let mut first = blocks(&node);
    let mut later = first.split_off(4).into_iter();
    block_on(async {
        feed.push_run(first).await.expect("they are good");
        let first = still(&chain).await;
        let next = later.next().expect("there is a fifth");
        let mut pushing = pin!(feed.push_run(vec![next]));
        assert!(pushing.as_mut().now_or_never().is_none(), "it is on its way");
        for _ in 0..10 {
            prove(&follower).await;
            assert_eq!(follower.head().number, 4, "it waits");
        }
        drop(first);
        pushing.await.expect("it is good");
        let push = async {
            for fetched in later {
                feed.push_run(vec![fetched]).await.expect("it is good");
            }
        };
        let ask = async {
            for _ in 0..10 {
                // On a slow computer the blocks may come without a pause.
                if let Ok(still) = chain.proving.still().await {
                    still.during(prove(&follower)).await.expect("it is waited for");
                }
            }
        };
        futures::future::join(push, ask).await;
    });
    assert_eq!(follower.head(), node.head());
    drop((chain, feed));
    follower.shutdown();
    node.shutdown();
}

/// Decision 662: a follower that is behind waits for nobody who proves its state. They hear of it, and the next ones find the state of the newest block.
#[test]
fn readers_hold_up_no_follower_that_is_behind() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let (follower, feed) = follow(&parent.path().join("follower"), &node);
    let chain = follower.chain().expect("it runs");
    let mut first = blocks(&node);
    let second = first.split_off(4);
    block_on(async {
        feed.push_run(first).await.expect("they are good");
        let first = still(&chain).await;
        feed.push_run(second).await.expect("they are good");
        assert_eq!((follower.head(), first.holds()), (node.head(), false), "nobody let it go");
        assert_eq!(first.during(std::future::pending::<()>()).await, None);
        let next = still(&chain).await;
        next.during(prove(&follower)).await.expect("nothing is on its way");
    });
    drop((chain, feed));
    follower.shutdown();
    node.shutdown();
}

/// A copy of an old block changes no state: when it is taken, whoever waits for the state finds that of the newest block, however soon more follows.
#[test]
fn copies_let_the_state_stand_still() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let (follower, feed) = follow(&parent.path().join("follower"), &node);
    let chain = follower.chain().expect("it runs");
    block_on(async {
        for fetched in blocks(&node) {
            feed.push_run(vec![fetched]).await.expect("it is good");
            let mut waits = pin!(chain.proving.still());
            // On a slow computer the next block was late, and the state stands still already.
            let moves = waits.as_mut().now_or_never().is_none();
            feed.restore(1, Vec::new()).await.expect_err("it is no block");
            let granted = if moves { waits.now_or_never() } else { Some(chain.proving.still().await) };
            assert!(granted.is_some_and(|still| still.is_ok_and(|still| still.holds())));
        }
    });
    drop((chain, feed));
    follower.shutdown();
    node.shutdown();
}

/// Feeds a follower with these blocks, and stops it. Both writes of the run are on the disk then.
fn feed_and_stop(directory: &Path, node: &NodeHandle, numbers: std::ops::Range<usize>) {
    let (follower, feed) = follow(directory, node);
    let run: Vec<Fetched> = blocks(node).drain(numbers).collect();
    if !run.is_empty() {
        block_on(feed.push_run(run)).expect("they are good");
    }
    drop(feed);
    follower.shutdown();
}

/// A follower that is killed after it wrote the state of a run and before it wrote the ledger (decision 627): the state on the disk is that of the run's last block, and the ledger ends
/// before its first. It goes back to the state of the ledger, whatever that ends with, and continues from there.
#[test]
fn a_follower_killed_between_state_and_ledger_continues() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let last = usize::try_from(BLOCKS).expect("it is small");
    // The newest block of the ledger; the first block holds genesis.
    for kept in [0, 1, 5, last - 1] {
        let (directory, ledger) = (parent.path().join(format!("follower-{kept}")), parent.path().join(format!("ledger-{kept}")));
        let written = directory.join("ledger.redb");
        feed_and_stop(&directory, &node, 0..kept);
        fs::copy(&written, &ledger).expect("the ledger is copied");
        feed_and_stop(&directory, &node, kept..last);
        // What a kill leaves: the state has the second run, and the ledger does not.
        fs::copy(&ledger, &written).expect("the ledger is put back");

        let (follower, feed) = follow(&directory, &node);
        assert_eq!(follower.head().number, u64::try_from(kept).expect("it is small"), "the ledger says how far it is");
        if kept > 0 {
            block_on(prove(&follower));
        }
        // The run comes again, in other pieces.
        let mut run = blocks(&node).split_off(kept);
        let rest = run.split_off(run.len() / 2);
        for run in [run, rest].into_iter().filter(|run| !run.is_empty()) {
            block_on(feed.push_run(run)).expect("they are good");
        }
        assert_eq!(follower.head(), node.head(), "it continues");
        block_on(prove(&follower));
        let (ours, theirs) = (follower.view().expect("the ledger opens"), node.view().expect("the ledger opens"));
        for number in 1..=BLOCKS {
            let bytes = |view: &cowboy_store::View| view.block_bytes(number).expect("the ledger reads");
            assert!(bytes(&ours).is_some() && bytes(&ours) == bytes(&theirs), "block {number}");
        }
        drop((ours, theirs, feed));
        follower.shutdown();
    }
    node.shutdown();
}
