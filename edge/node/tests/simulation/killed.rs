//! A node that is killed without warning, over and over.

use crate::common::{genesis, key, transfer};
use cowboy_node::{BlockTime, NodeConfig, NodeHandle, genesis as node_genesis};
use cowboy_types::{Address, Amount};
use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

/// Where the killed process keeps its chain. Set only for that process.
const FOLDER: &str = "COWBOY_TEST_KILLED_FOLDER";

/// The block at which the killed process ends by itself, as soon as it is told of it.
const LAST: &str = "COWBOY_TEST_KILLED_LAST";

const RECEIVER: Address = Address([0x55; 20]);

/// How often it is killed.
const KILLS: u64 = 6;

fn start(folder: &Path, block_time: Duration) -> NodeHandle {
    let (genesis, mut keys) = node_genesis::dev(genesis(1)).expect("a genesis");
    let mut config = NodeConfig::alone(folder.to_owned(), genesis, keys.remove(0));
    config.block_time = BlockTime::Every(block_time);
    NodeHandle::start(config).expect("the node starts")
}

/// What the killed process does: sends a transfer for every block, and tells each block's number. At the one that it is given it ends at once, and nothing is written any
/// more.
#[test]
#[ignore = "this is the process that the other test kills"]
fn the_process_that_is_killed() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let last = std::env::var(LAST).map_or(u64::MAX, |last| last.parse().expect("a number"));
    let node = start(Path::new(&folder), Duration::from_millis(1));
    let mut head = node.watch_head();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        loop {
            let nonce = node.account(key(0).address()).await.expect("the node runs").nonce.0;
            // What waits already, or is taken meanwhile, is refused, which is no harm.
            let _ = node.submit(vec![transfer(0, nonce, RECEIVER, Amount(1)).to_bytes().to_vec()]).await;
            let number = head.borrow_and_update().number;
            writeln!(std::io::stdout(), "block {number}").expect("somebody reads");
            head.changed().await.expect("the node lives");
            let number = head.borrow().number;
            if number >= last {
                writeln!(std::io::stdout(), "block {number}").expect("somebody reads");
                std::process::abort();
            }
        }
    });
}

/// Runs the process that is killed, and answers the last block that it told of. It is killed when it told of one after `enough`, or ends at `last`.
fn run(folder: &Path, enough: u64, last: Option<u64>) -> Option<u64> {
    let mut process = Command::new(std::env::current_exe().expect("this program"));
    process.args(["--exact", "killed::the_process_that_is_killed", "--ignored", "--nocapture"]).env(FOLDER, folder);
    if let Some(last) = last {
        process.env(LAST, last.to_string());
    }
    let mut process = process.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    let lines = BufReader::new(process.stdout.take().expect("it is piped")).lines();
    let numbers = lines.map_while(Result::ok).filter_map(|line| line.strip_prefix("block ")?.parse::<u64>().ok());
    let told = numbers.take_while(|number| *number <= enough).last();
    // One that has ended by itself cannot be killed, which is no harm.
    let _ = process.kill();
    process.wait().expect("it ends");
    told
}

/// killed between any two writes, a node restarts to the same root, with every receipt and index row, and continues.
#[test]
fn a_node_survives_being_killed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut told = 0;
    for kill in 1..=KILLS {
        told = run(folder.path(), told + 3 * kill, None).unwrap_or(told).max(told);
    }
    assert!(told > 3 * KILLS, "it went on after every kill");

    let node = start(folder.path(), Duration::from_secs(3_600));
    assert!(node.head().number >= told, "what was told is kept");
    assert!(check_ledger(&node, RECEIVER) > 0, "something was sent");
    node.shutdown();
}

/// Decision 775, A-159: a lone node tells of a block before its ledger is on the disk. One that ends at that moment has the block, its receipts and the same state when it is
/// ready again.
#[test]
fn a_node_that_ends_as_it_tells_of_a_block_has_it_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut receipts = 0;
    for last in [8, 16, 24] {
        let told = run(folder.path(), u64::MAX, Some(last)).expect("it tells of blocks");
        assert!(told >= last, "it went on to block {last}");
        let node = start(folder.path(), Duration::from_secs(3_600));
        assert!(node.head().number >= told, "block {told} was told, and is kept");
        receipts = check_ledger(&node, RECEIVER);
        node.shutdown();
    }
    assert!(receipts > 0, "something was sent");
}

/// Checks that every block follows the one before, that every transaction has its receipt, and that the receiver has what
/// the receipts say. Answers how many there are.
pub(crate) fn check_ledger(node: &NodeHandle, receiver: Address) -> u64 {
    let view = node.view().expect("the ledger opens");
    let tip = view.tip().expect("the ledger reads").expect("there are blocks");
    let mut parent = node.config().genesis.block.hash();
    let mut receipts = 0;
    for number in 1..=tip {
        let block = view.block(number).expect("the ledger reads").expect("no block is missing");
        assert_eq!(block.header.parent, parent);
        parent = block.digest();
        assert_eq!(view.number_of(&parent).expect("the ledger reads"), Some(number));
        for transaction in block.transactions.iter() {
            let place = view.place_of(&transaction.digest()).expect("the ledger reads").expect("it is indexed");
            let receipt = view.receipt(place).expect("the ledger reads").expect("there is a receipt");
            assert!(place.number == number && receipt.is_success());
            receipts += 1;
        }
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let keys = vec![cowboy_state::Key::account(receiver).digest()];
    let stored = runtime.block_on(node.read(tip, keys)).expect("the newest block can be read").remove(0);
    let received = stored.as_ref().and_then(cowboy_node::mempool::account_of).map_or(0, |account| account.balance.0);
    assert_eq!(received, receipts, "every receipt moved one unit, and nothing else did");
    receipts
}
