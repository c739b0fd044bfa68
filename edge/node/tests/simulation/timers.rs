//! Timers on a dev chain: under warps, snapshots, restarts, and an idle chain.

use crate::{
    common::sign,
    devnet::{block_on, send, start, wait_for},
    script::{call, deploy, deployment, keeper_of, promise},
};
use cowboy_node::{BlockTime, NodeHandle};
use cowboy_types::{Address, Amount, Height, Instruction, Receipt, cbor, receipt::ReceiptKind};

const HEARTBEAT: &str = include_str!("../../../../examples/heartbeat/actor.py");

/// Raises on demand.
const RAISES: &str = "from cowboy_sdk import actor, public\n\n\n@actor\nclass Raises:\n    @public\n    def boom(self) -> None:\n        raise ValueError('too hot')\n";

/// Sends an instruction, and answers its receipt and its block's number.
fn run(node: &NodeHandle, nonce: u64, instruction: Instruction) -> (u64, Receipt) {
    let mut blocks = node.subscribe();
    let transaction = sign(0, nonce, instruction);
    block_on(async {
        node.submit(vec![transaction.to_bytes().to_vec()]).await.expect("the node runs").remove(0).expect("it is taken");
        loop {
            let block = blocks.recv().await.expect("the node lives");
            if let Some(receipt) = block.receipts.iter().find(|receipt| receipt.id == transaction.digest()) {
                return (block.block.header().number.0, receipt.clone());
            }
        }
    })
}

/// A node with the actor that keeps promises.
fn with_keeper(directory: &std::path::Path) -> (NodeHandle, Address) {
    let node = start(directory, BlockTime::Instant);
    let (_, receipt) = run(&node, 0, deployment());
    assert_eq!((receipt.created, receipt.abort), (Some(keeper_of(0)), None));
    (node, keeper_of(0))
}

/// The heights at which timers fired, and of each the event's data, in the order of the receipts.
fn fired(node: &NodeHandle) -> Vec<(u64, Option<u64>)> {
    let view = node.view().expect("the ledger opens");
    let mut fired = Vec::new();
    for number in 1..=node.head().number {
        let height = view.block(number).expect("the ledger reads").expect("there is a block").header.height().0;
        let receipts = view.receipts(number).expect("the ledger reads");
        for receipt in receipts.iter().filter(|receipt| receipt.kind == ReceiptKind::Timer) {
            assert!(receipt.is_success(), "{:?}", node.trace(&node.view().expect("it opens"), &receipt.id));
            let told = receipt.events.iter().next().and_then(|event| cbor::decode(&event.data).ok());
            fired.push((height, told.and_then(|told| told.as_u64())));
        }
    }
    fired
}

/// Decision 136, A-108: on a warp every timer fires, in order and at its height, also such as are set on the way, and
/// nothing else costs a block.
#[test]
fn a_warp_fires_every_timer_on_the_way() {
    let directory = tempfile::tempdir().expect("a folder");
    let (node, keeper) = with_keeper(directory.path());
    let mut promised = Vec::new();
    for (nonce, blocks) in (1..).zip([300, 20, 1_000_000, 20, 7]) {
        let (number, receipt) = run(&node, nonce, promise(keeper, blocks));
        assert_eq!(receipt.abort, None, "{:?}", node.trace(&node.view().expect("it opens"), &receipt.id));
        promised.push(number + blocks);
    }
    promised.sort_unstable();
    let before = node.head();
    let head = block_on(node.warp_to_height(Height(2_000_000))).expect("a warp");
    assert_eq!(head.height, Height(2_000_000));
    assert_eq!(head.number, before.number + 5 + 1, "a block for each height at which a timer is due, and one at the end");
    assert_eq!(fired(&node), promised.into_iter().map(|height| (height, Some(height))).collect::<Vec<_>>());
    node.shutdown();

    let other = tempfile::tempdir().expect("a folder");
    let node = start(other.path(), BlockTime::Instant);
    let grants = ["econ.hold_balance", "storage.kv", "timer.schedule"];
    let (number, receipt) = run(&node, 0, deploy(HEARTBEAT, &grants, Amount(100 * Amount::CBY.0)));
    assert_eq!(receipt.abort, None, "{:?}", node.trace(&node.view().expect("it opens"), &receipt.id));
    block_on(node.warp_to_height(Height(number + 52))).expect("a warp");
    let heights: Vec<u64> = fired(&node).into_iter().map(|(height, _)| height).collect();
    assert_eq!(heights, (1..=10).map(|beat| number + 5 * beat).collect::<Vec<_>>(), "each beat sets the next");
    node.shutdown();
}

/// A warp ends when nobody waits for it any more, and the chain continues from where it is.
#[test]
fn a_warp_that_nobody_waits_for_ends() {
    let directory = tempfile::tempdir().expect("a folder");
    let node = start(directory.path(), BlockTime::Instant);
    let grants = ["econ.hold_balance", "storage.kv", "timer.schedule"];
    let (number, receipt) = run(&node, 0, deploy(HEARTBEAT, &grants, Amount(100 * Amount::CBY.0)));
    assert_eq!(receipt.abort, None, "{:?}", node.trace(&node.view().expect("it opens"), &receipt.id));
    block_on(async {
        let mut heads = node.watch_head();
        tokio::select! {
            head = node.warp_to_height(Height(2_000_000)) => panic!("each beat takes a block: {head:?}"),
            head = heads.wait_for(|head| head.height.0 > number + 50) => drop(head.expect("the node lives")),
        }
    });
    let head = block_on(node.mine(2)).expect("blocks");
    assert_eq!(node.chain().expect("the node runs").pace.warping(head.height), None, "{head:?}");
    assert!(head.height.0 < 100_000, "it went no further: {head:?}");
    let later = block_on(node.mine(7)).expect("blocks");
    assert_eq!(later.height.0 - head.height.0, later.number - head.number, "no height is skipped any more");
    node.shutdown();
}

/// Decision 137: a revert brings back timers that had fired, and they fire again, once, at the same height.
#[test]
fn a_revert_brings_timers_back() {
    let directory = tempfile::tempdir().expect("a folder");
    let (node, keeper) = with_keeper(directory.path());
    let (number, _) = run(&node, 1, promise(keeper, 50));
    let due = number + 50;
    let before = node.head();
    let snapshot = node.snapshot().expect("a snapshot");
    block_on(node.warp_to_height(Height(due + 10))).expect("a warp");
    assert_eq!(fired(&node), [(due, Some(due))]);
    assert_eq!(node.revert(snapshot).expect("a revert"), before);
    assert_eq!(fired(&node), []);
    let (number, _) = run(&node, 2, promise(keeper, 3));
    block_on(node.warp_to_height(Height(due))).expect("a warp");
    assert_eq!(fired(&node), [(number + 3, Some(number + 3)), (due, Some(due))]);
    node.shutdown();
}

/// An instant chain makes a block for a timer that is due at the very next height, and for no later one, also after a restart.
#[test]
fn an_instant_chain_waits_for_later_timers() {
    let directory = tempfile::tempdir().expect("a folder");
    let (node, keeper) = with_keeper(directory.path());
    let (next, _) = run(&node, 1, promise(keeper, 1));
    wait_for(&node, next + 1);
    assert_eq!(fired(&node), [(next + 1, Some(next + 1))], "the timer at the next height is work");
    let (number, _) = run(&node, 2, promise(keeper, 5));
    assert_eq!(number, next + 2, "no block stands between");
    node.shutdown();

    let node = start(directory.path(), BlockTime::Instant);
    assert_eq!(node.head().number, number, "a restart makes no block");
    let mut blocks = node.subscribe();
    send(&node, 0, 3, 1).expect("it is taken");
    let block = block_on(blocks.recv()).expect("a block");
    assert_eq!((block.block.header().number.0, block.receipts.len()), (number + 1, 1), "nor does the timer that is due later");
    block_on(node.mine(4)).expect("blocks");
    assert_eq!(fired(&node), [(next + 1, Some(next + 1)), (number + 5, Some(number + 5))]);
    node.shutdown();
}

/// Decision 126: traces, and the state after the newest blocks, outlive a restart.
#[test]
fn what_is_kept_of_the_newest_blocks_outlives_a_restart() {
    let directory = tempfile::tempdir().expect("a folder");
    let node = start(directory.path(), BlockTime::Instant);
    let (_, deployed) = run(&node, 0, deploy(RAISES, &[], Amount(0)));
    let raises = deployed.created.expect("it is deployed");
    let (_, failed) = run(&node, 1, call(raises, "boom", b""));
    (2..20).for_each(|nonce| drop(run(&node, nonce, crate::script::transfer(1))));
    let tip = node.head().number;
    let account = cowboy_state::Key::account(crate::script::RECEIVER).digest();
    let past = |node: &NodeHandle| {
        let read =
            |number| block_on(node.read(number, vec![account])).map(|values| values.first().cloned()).map_err(|error| error.to_string());
        (tip - 18..=tip).map(read).collect::<Vec<_>>()
    };
    let (trace, values) = (node.trace(&node.view().expect("it opens"), &failed.id).expect("the ledger reads"), past(&node));
    let exception = trace.as_ref().and_then(|trace| trace.calls[0].exception.clone()).expect("it raised");
    assert_eq!((exception.name.as_str(), exception.message.as_str()), ("ValueError", "too hot"));
    assert!(values[..2].iter().all(Result::is_err) && values[2..].iter().all(Result::is_ok), "sixteen blocks are kept: {values:?}");
    node.shutdown();

    let node = start(directory.path(), BlockTime::Instant);
    assert_eq!((node.head().number, past(&node)), (tip, values));
    assert_eq!(node.trace(&node.view().expect("it opens"), &failed.id).expect("the ledger reads"), trace);
    let plain = node.trace(&node.view().expect("it opens"), &deployed.id).expect("the ledger reads").expect("nothing is forgotten yet");
    assert_eq!((plain.calls[0].sender, plain.calls[0].abort.clone()), (deployed.sender, None));
    node.shutdown();
}
