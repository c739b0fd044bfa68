//! Protocol versions in running networks: everybody switches at one height, and a build that does not know a version stops before it.

use crate::{
    common::genesis,
    devnet::{block_on, send, wait_for},
    network::{Network, VALIDATORS, plan, settle},
};
use commonware_codec::Encode as _;
use cowboy_chain::{ChainConfig, GenesisConfig, genesis::GenesisCall};
use cowboy_node::{
    BlockTime, FollowError, Genesis, NodeConfig, NodeError, NodeHandle, Outdated,
    begin::{BeginError, Certified, begin},
    committee::ValidatorKeys,
    genesis::dev,
    rehearse::{Rehearsal, RehearsalError, STACK_BYTES},
};
use cowboy_system::Versions;
use cowboy_types::{Address, Amount, Block, Height, List, Text, cbor::Value, wire::Blob};
use std::{path::Path, sync::Arc};

/// Calls of a genesis that schedule protocol versions.
fn upgrades(versions: &[(u8, u64)]) -> List<GenesisCall, 1024> {
    let call = |(version, height): &(u8, u64)| GenesisCall {
        sender: Address::system(9),
        actor: 9,
        method: Text::new("schedule_upgrade").expect("it is short"),
        argument: Blob::new(Value::dict([("height", Value::uint(*height)), ("version", Value::uint(u64::from(*version)))]).encode())
            .expect("it is short"),
        value: Amount::ZERO,
    };
    List::new(versions.iter().map(call).collect()).expect("a few")
}

/// A dev chain of a lone validator that upgrades so.
fn chain(versions: &[(u8, u64)]) -> (Genesis, ValidatorKeys) {
    let (made, mut keys) = dev(genesis(1)).expect("a genesis");
    let config = GenesisConfig { calls: upgrades(versions), ..made.config };
    (Genesis::new(config, made.sharing).expect("a genesis"), keys.remove(0))
}

/// The chain as a build sees it that knows versions up to this one.
fn known(genesis: &Genesis, newest: u8) -> Genesis {
    let chain = Arc::new(ChainConfig { versions: Versions::up_to(newest), ..(*genesis.chain).clone() });
    Genesis { chain, ..genesis.clone() }
}

fn start(directory: &Path, genesis: &Genesis, keys: &ValidatorKeys) -> Result<NodeHandle, NodeError> {
    let mut config = NodeConfig::alone(directory.to_owned(), genesis.clone(), keys.clone());
    config.block_time = BlockTime::Instant;
    NodeHandle::start(config)
}

fn header(node: &NodeHandle, number: u64) -> cowboy_types::Header {
    node.view().expect("the ledger opens").block(number).expect("the ledger reads").expect("there is a block").header
}

fn frame(node: &NodeHandle, number: u64) -> (Vec<u8>, Vec<u8>) {
    let view = node.view().expect("the ledger opens");
    let block = view.block_bytes(number).expect("the ledger reads").expect("there is a block");
    (block, view.certificate(number).expect("the ledger reads").expect("there is a certificate"))
}

/// a node whose build does not know a version stops after the last block before it, says what to install, and says so again when it
/// is started again, without another change of its folder. The build that knows the version continues from there, and replays all of it.
#[test]
fn an_old_build_stops_before_the_version_and_a_new_one_continues() {
    let parent = tempfile::tempdir().expect("a folder");
    let (genesis, keys) = chain(&[(2, 5)]);
    let directory = parent.path().join("validator");
    let node = start(&directory, &known(&genesis, 1), &keys).expect("version 1 is known");
    for nonce in 0..3 {
        send(&node, 0, nonce, 5).expect("it is taken");
        wait_for(&node, nonce + 2);
    }
    let expected = Outdated { version: 2, height: Height(5), newest: 1 };
    assert!(matches!(block_on(node.ended()), NodeError::Outdated(outdated) if outdated == expected));
    assert_eq!(node.head().number, 4);
    node.shutdown();
    for _ in 0..2 {
        let refused = start(&directory, &known(&genesis, 1), &keys).err();
        assert!(matches!(refused, Some(NodeError::Outdated(outdated)) if outdated == expected), "{refused:?}");
    }
    let node = start(&directory, &genesis, &keys).expect("version 2 is known");
    for nonce in 3..6 {
        send(&node, 0, nonce, 5).expect("it is taken");
        wait_for(&node, nonce + 2);
    }
    let versions: Vec<u8> = (1..=7).map(|number| header(&node, number).version).collect();
    assert_eq!(versions, [1, 1, 1, 1, 2, 2, 2]);
    follow(parent.path(), &node, &genesis);
    begin_late(parent.path(), &node, &genesis);
    node.shutdown();
}

/// Followers of both builds: the old one stops at the same place, and a new one continues with its folder; blocks whose headers name another
/// version than the schedule are refused.
fn follow(parent: &Path, node: &NodeHandle, genesis: &Genesis) {
    let directory = parent.join("follower");
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(directory.clone(), known(genesis, 1))).expect("the follower starts");
    for number in 1..=4 {
        let (block, certificate) = frame(node, number);
        block_on(feed.push(block, certificate)).expect("version 1 is known");
    }
    let (block, certificate) = frame(node, 5);
    assert!(matches!(block_on(feed.push(block, certificate)), Err(FollowError::Stopped)));
    assert!(matches!(block_on(follower.ended()), NodeError::Outdated(outdated) if outdated.height == Height(5)));
    assert_eq!(follower.head().number, 4);
    follower.shutdown();
    drop((follower, feed));
    // It ends at its start, or, where its state is behind the ledger, once it has caught up.
    match NodeHandle::follow(NodeConfig::follower(directory.clone(), known(genesis, 1))) {
        Ok((follower, feed)) => {
            assert!(matches!(block_on(follower.ended()), NodeError::Outdated(_)));
            follower.shutdown();
            drop((follower, feed));
        }
        Err(refused) => assert!(matches!(refused, NodeError::Outdated(_)), "{refused:?}"),
    }
    let (follower, feed) = NodeHandle::follow(NodeConfig::follower(directory, genesis.clone())).expect("the follower starts again");
    for number in 5..=7 {
        let (block, certificate) = frame(node, number);
        block_on(feed.push(block, certificate)).expect("version 2 is known");
    }
    assert_eq!(follower.head(), node.head());
    follower.shutdown();
}

/// A folder does not begin in a version that the build does not know.
fn begin_late(parent: &Path, node: &NodeHandle, genesis: &Genesis) {
    let (block, certificate) = frame(node, 6);
    let newest = Certified { block, certificate };
    let fetch: cowboy_node::begin::Fetch = Arc::new(|_| Box::pin(async { Err("it is not asked".to_owned()) }));
    let begun = begin(&parent.join("late"), &known(genesis, 1), &newest, None, fetch);
    assert!(matches!(begun, Err(BeginError::Outdated(Outdated { version: 2, height: Height(6), newest: 1 }))), "{begun:?}");
    assert!(!parent.join("late").exists());
}

/// A block whose header names another version than the schedule is refused, before and after a switch, though its proposer signed it and
/// its validators finalized it.
#[test]
fn headers_with_another_version_are_refused() {
    let parent = tempfile::tempdir().expect("a folder");
    let (genesis, keys) = chain(&[(2, 3)]);
    let node = start(&parent.path().join("validator"), &genesis, &keys).expect("it starts");
    for nonce in 0..3 {
        send(&node, 0, nonce, 5).expect("it is taken");
        wait_for(&node, nonce + 2);
    }
    let (follower, feed) =
        NodeHandle::follow(NodeConfig::follower(parent.path().join("follower"), genesis.clone())).expect("the follower starts");
    for number in 1..=4 {
        let (truth, certificate) = frame(&node, number);
        for version in (0..=3).filter(|version| *version != header(&node, number).version) {
            let mut block = node.view().expect("the ledger opens").block(number).expect("the ledger reads").expect("a block");
            block.header.version = version;
            block.header.signature = keys.signer.sign(&block.header.signing_digest());
            let forged = crate::devnet::finalization(&genesis, &keys, &certificate, &block);
            let refused = block_on(feed.push(Block::encode(&block).to_vec(), forged));
            assert!(matches!(refused, Err(FollowError::Different(_) | FollowError::Header(_))), "block {number} as {version}: {refused:?}");
        }
        block_on(feed.push(truth, certificate)).expect("it follows");
    }
    follower.shutdown();
    node.shutdown();
}

/// A warp goes no further than the last block that the build executes.
#[test]
fn a_warp_ends_before_an_unknown_version() {
    let parent = tempfile::tempdir().expect("a folder");
    let (genesis, keys) = chain(&[(2, 500), (3, 1_000)]);
    let node = start(parent.path(), &known(&genesis, 2), &keys).expect("it starts");
    block_on(async {
        assert_eq!(node.warp_to_height(Height(700)).await.expect("it is known").height, Height(700));
        // The chain never comes to this height.
        let warp = node.warp_to_height(Height(2_000));
        tokio::select! {
            head = warp => panic!("version 3 is unknown: {head:?}"),
            ended = node.ended() => assert!(matches!(ended, NodeError::Outdated(outdated) if outdated.version == 3), "{ended}"),
        }
    });
    assert_eq!((node.head().height, header(&node, node.head().number).version), (Height(999), 2));
    node.shutdown();
}

/// four validators switch in the middle of traffic, crashes and loss; one of an old build stays behind before the height, and
/// the others continue without it.
#[test]
fn a_network_upgrades_in_the_middle_of_traffic() {
    const HEIGHT: u64 = 17;
    for (seed, old) in [(3, None), (4, Some((1, Versions::up_to(1))))] {
        let mut network = Network::with(genesis(VALIDATORS), Vec::new(), |config| config.calls = upgrades(&[(2, HEIGHT)]));
        network.old = old;
        settle(seed, "upgrades", plan(network.clone(), seed, old.is_none()));
        for index in 0..4 {
            let view = network.ledger(index).view().expect("the ledger opens");
            let tip = view.tip().expect("the ledger reads").unwrap_or(0);
            let is_old = old.is_some_and(|(old, _)| old == index);
            assert!(if is_old { tip == HEIGHT - 1 } else { tip > HEIGHT }, "validator {index} is at block {tip}");
            for number in 1..=tip {
                let version = view.block(number).expect("the ledger reads").expect("a block").header.version;
                assert_eq!(version, if number < HEIGHT { 1 } else { 2 }, "block {number} of validator {index}");
            }
        }
    }
}

/// Blocks run again as they were, and under the other version, under which each of them leaves another state; a ledger that lacks a block
/// is refused, and a version that is unknown makes blocks invalid.
#[test]
fn blocks_are_run_again_under_another_version() {
    let parent = tempfile::tempdir().expect("a folder");
    let (genesis, keys) = chain(&[(2, 4)]);
    let node = start(parent.path(), &genesis, &keys).expect("it starts");
    for nonce in 0..5 {
        send(&node, 0, nonce, 5).expect("it is taken");
        wait_for(&node, nonce + 2);
    }
    let ledger = node.chain().expect("it runs").ledger.clone();
    let compared = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let mut rehearsal = Rehearsal::new(&genesis, ledger).expect("the ledger opens");
        rehearsal.advance().expect("block 1 runs");
        let of_the_same = rehearsal.compare(1).expect("block 2 runs");
        assert!(of_the_same.is_same() && of_the_same.was == of_the_same.would_be.expect("version 1 is known"));
        let before = rehearsal.compare(2).expect("block 3 runs");
        let after = rehearsal.compare(1).expect("block 4 runs");
        let unknown = rehearsal.compare(9).expect("block 5 runs");
        assert!(unknown.would_be.is_err() && !unknown.is_same());
        rehearsal.advance().expect("block 6 runs");
        assert!(matches!(rehearsal.advance(), Err(RehearsalError::Missing(7))));
        [before, after]
    });
    for (one, version) in compared.expect("a thread").join().expect("it does not panic").into_iter().zip([1, 2]) {
        let would_be = one.would_be.clone().expect("both versions are known");
        assert_eq!((one.was.version, would_be.version), (version, 3 - version));
        assert!(one.records > 0 && !one.is_same(), "the auction has a record: {one:?}");
        assert_eq!((one.was.receipts, one.was.cycles), (1, 21_000), "{one:?}");
    }
    node.shutdown();
}
