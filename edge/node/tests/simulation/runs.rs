//! Runs of blocks that a follower verifies together, with a lie in them: it is found wherever it is, and what came before it is kept.

use crate::{
    common::genesis,
    devnet::{block_on, finalization, send, start, wait_for},
};
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_node::{BlockTime, Feed, Fetched, FollowError, NodeConfig, NodeHandle, genesis as node_genesis};
use cowboy_types::{
    Block,
    block::body_hash,
    wire::{Fixed, List},
};
use std::path::Path;

/// The blocks of the chain.
pub(crate) const BLOCKS: u64 = 12;

/// The bytes of the two signatures at the end of a certificate.
const SIGNATURES: usize = 96;

/// A lone validator that has made these blocks.
pub(crate) fn source(directory: &Path) -> NodeHandle {
    let node = start(directory, BlockTime::Instant);
    for nonce in 0..BLOCKS - 1 {
        send(&node, 0, nonce, 5).expect("it is taken");
        wait_for(&node, nonce + 2);
    }
    assert_eq!(node.head().number, BLOCKS);
    node
}

/// All its blocks, each with its certificate: the block of number n stands in place n - 1.
pub(crate) fn blocks(node: &NodeHandle) -> Vec<Fetched> {
    let view = node.view().expect("the ledger opens");
    let fetched = |number| Fetched {
        block: view.block_bytes(number).expect("the ledger reads").expect("it is there"),
        certificate: view.certificate(number).expect("the ledger reads").expect("a lone validator certifies every block"),
    };
    (1..=BLOCKS).map(fetched).collect()
}

pub(crate) fn follow(directory: &Path, node: &NodeHandle) -> (NodeHandle, Feed) {
    NodeHandle::follow(NodeConfig::follower(directory.to_owned(), node.config().genesis.clone())).expect("the follower starts")
}

/// The certificate of a block with the signatures of another one.
fn exchange_signatures(run: &mut [Fetched], place: usize, with: usize) {
    let other = run[with].certificate.clone();
    let certificate = &mut run[place].certificate;
    let (end, from) = (certificate.len() - SIGNATURES, other.len() - SIGNATURES);
    certificate.truncate(end);
    certificate.extend(&other[from..]);
}

/// Another block of the same number on the same parent.
fn invent(run: &mut [Fetched], place: usize) {
    let mut block = Block::decode(run[place].block.clone()).expect("a block");
    block.header.timestamp_ms.0 += 1;
    run[place].block = block.encode().to_vec();
}

/// What a source changes, what the follower says to it, and the newest block that it has afterwards.
struct Lie {
    name: &'static str,
    change: fn(&mut Vec<Fetched>),
    is_seen: fn(&FollowError) -> bool,
    kept: u64,
}

const LIES: [Lie; 11] = [
    Lie {
        name: "signatures of another block, in the middle",
        change: |run| exchange_signatures(run, 5, 4),
        is_seen: |error| matches!(error, FollowError::Certificate(6)),
        kept: 5,
    },
    Lie {
        name: "the same at the end",
        change: |run| exchange_signatures(run, 11, 10),
        is_seen: |error| matches!(error, FollowError::Certificate(12)),
        kept: 11,
    },
    Lie {
        name: "the same at the beginning",
        change: |run| exchange_signatures(run, 0, 1),
        is_seen: |error| matches!(error, FollowError::Certificate(1)),
        kept: 0,
    },
    Lie {
        name: "two certificates that exchanged their signatures: their sum is right",
        change: |run| {
            let third = run[2].certificate.clone();
            exchange_signatures(run, 2, 8);
            run.push(Fetched { block: Vec::new(), certificate: third });
            exchange_signatures(run, 8, 12);
            run.pop();
        },
        is_seen: |error| matches!(error, FollowError::Certificate(3)),
        kept: 2,
    },
    Lie {
        name: "the certificate of another block",
        change: |run| run[7].certificate = run[6].certificate.clone(),
        is_seen: |error| matches!(error, FollowError::Certificate(8)),
        kept: 7,
    },
    Lie {
        name: "no points of the curve",
        change: |run| {
            let length = run[3].certificate.len();
            run[3].certificate[length - SIGNATURES..].fill(0xFF);
        },
        is_seen: |error| matches!(error, FollowError::Certificate(4)),
        kept: 3,
    },
    Lie {
        name: "an invented block with the certificate of the real one",
        change: |run| invent(run, 5),
        is_seen: |error| matches!(error, FollowError::Certificate(6)),
        kept: 5,
    },
    Lie {
        name: "an invented block without a certificate, and the real ones after it",
        change: |run| {
            invent(run, 5);
            run[5].certificate.clear();
        },
        is_seen: |error| matches!(error, FollowError::Forked(7)),
        kept: 5,
    },
    Lie {
        name: "an invented block whose certificate would prove those before it, which have none",
        change: |run| {
            run[..5].iter_mut().for_each(|fetched| fetched.certificate.clear());
            invent(run, 5);
        },
        is_seen: |error| matches!(error, FollowError::Certificate(6)),
        kept: 0,
    },
    Lie {
        name: "bytes that are no block",
        change: |run| run[9].block.truncate(40),
        is_seen: |error| matches!(error, FollowError::NotABlock(_)),
        kept: 9,
    },
    Lie {
        name: "a block is left out",
        change: |run| drop(run.remove(4)),
        is_seen: |error| matches!(error, FollowError::NotNext { last: 4, found: 6 }),
        kept: 4,
    },
];

/// A lie in a run is found as if its blocks came one by one: those before it are executed, nothing of it is believed, and an honest source gives the
/// rest.
#[test]
fn a_lie_in_a_run_costs_what_came_after_it() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    for (case, lie) in LIES.iter().enumerate() {
        let (follower, feed) = follow(&parent.path().join(format!("follower-{case}")), &node);
        let mut run = blocks(&node);
        (lie.change)(&mut run);
        let refused = block_on(feed.push_run(run)).expect_err(lie.name);
        assert!((lie.is_seen)(&refused) && refused.is_of_source(), "{}: {refused:?}", lie.name);
        assert_eq!(follower.head().number, lie.kept, "{}", lie.name);
        block_on(feed.restart()).expect("it runs");
        let kept = usize::try_from(lie.kept).expect("it is small");
        block_on(feed.push_run(blocks(&node).split_off(kept))).expect(lie.name);
        assert_eq!(follower.head(), node.head(), "{}", lie.name);
        let view = follower.view().expect("the ledger opens");
        for (number, fetched) in (1..).zip(blocks(&node)) {
            let stored = view.certificate(number).expect("the ledger reads");
            assert_eq!(stored, Some(fetched.certificate), "{}: only what was verified is stored", lie.name);
        }
        drop(feed);
        follower.shutdown();
    }
    node.shutdown();
}

/// What a block that its validators certified has instead of what it should have; the second block is the one before it.
type Change = fn(&mut Block, &Block);

const FAULTS: [(&str, Change); 4] = [
    ("the seed of another round", |block, before| block.header.seeds = before.header.seeds.clone()),
    ("a seed that is no point", |block, _| {
        block.header.seeds = List::new(vec![Fixed([0xFF; 48]); block.header.seeds.len()]).expect("as many as before");
    }),
    ("the VRF of another block", |block, before| block.header.proposer_vrf = before.header.proposer_vrf),
    ("the signature of another transaction", |block, before| {
        let mut transactions = block.transactions.to_vec();
        transactions[0].signature = before.transactions[0].signature;
        block.transactions = List::new(transactions).expect("as many as before");
        block.header.body = body_hash(&block.transactions);
    }),
];

/// Decision 695: what is verified for a run together is refused where it is wrong, also in a block that its proposer signed and its validators certified. The
/// blocks before it are kept, and the right ones are taken after it. Without certificates between, all seeds of the run are verified, and not only the last.
#[test]
fn a_fault_in_a_certified_header_is_found() {
    const PLACE: usize = 8;
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let (genesis, keys) = node_genesis::dev(genesis(1)).expect("a genesis");
    for (case, (name, change)) in FAULTS.into_iter().enumerate() {
        for has_certificates in [true, false] {
            let (follower, feed) = follow(&parent.path().join(format!("follower-{case}-{has_certificates}")), &node);
            let mut run = blocks(&node);
            run.truncate(PLACE + 1);
            let decoded = |fetched: &Fetched| Block::decode(fetched.block.clone()).expect("a block");
            let (mut block, before) = (decoded(&run[PLACE]), decoded(&run[PLACE - 1]));
            change(&mut block, &before);
            block.header.signature = keys[0].signer.sign(&block.header.signing_digest());
            run[PLACE].certificate = finalization(&genesis, &keys[0], &run[PLACE].certificate, &block);
            run[PLACE].block = block.encode().to_vec();
            if !has_certificates {
                run[..PLACE].iter_mut().for_each(|fetched| fetched.certificate.clear());
            }
            let refused = block_on(feed.push_run(run)).expect_err(name);
            assert!(matches!(refused, FollowError::Header(9)), "{name}: {refused:?}");
            assert_eq!(follower.head().number, 8, "{name}: what came before it is kept");
            block_on(feed.push_run(blocks(&node).split_off(PLACE))).expect(name);
            assert_eq!(follower.head(), node.head(), "{name}");
            drop(feed);
            follower.shutdown();
        }
    }
    node.shutdown();
}

/// One certificate at the end of a run proves all of it, and all of it is on the disk.
#[test]
fn one_certificate_proves_a_run() {
    let parent = tempfile::tempdir().expect("a folder");
    let node = source(&parent.path().join("source"));
    let directory = parent.path().join("follower");
    let (follower, feed) = follow(&directory, &node);
    let mut run = blocks(&node);
    let last = run.split_off(11);
    run.iter_mut().for_each(|fetched| fetched.certificate.clear());
    block_on(feed.push_run(run)).expect("they wait");
    assert_eq!(follower.head().number, 0, "nobody has proven them");
    block_on(feed.push_run(last)).expect("it proves them");
    assert_eq!(follower.head(), node.head());
    let view = follower.view().expect("the ledger opens");
    assert_eq!(view.certificate(11).expect("the ledger reads"), None, "it has none to give to others");
    drop((view, feed));
    follower.shutdown();
    let (again, feed) = follow(&directory, &node);
    let root = block_on(again.chain().expect("it runs").state().expect("the state is open").root());
    assert_eq!((again.head(), root), (node.head(), node.head().state_root));
    drop(feed);
    again.shutdown();
    node.shutdown();
}
