//! A node whose files may not grow any more, as on a full disk.

use crate::{
    common::{genesis, sign},
    killed::check_ledger,
    script::RECEIVER,
};
use cowboy_node::{BlockTime, NodeConfig, NodeError, NodeHandle, genesis as node_genesis};
use cowboy_types::{Amount, Blob, Instruction, System};
use std::{io::Write as _, path::Path, process::Command, time::Duration};

/// Where the process with the limit keeps its chain. Set only for that process.
const FOLDER: &str = "COWBOY_TEST_FULL_FOLDER";

fn start(folder: &Path, block_time: Duration) -> Result<NodeHandle, NodeError> {
    let (genesis, mut keys) = node_genesis::dev(genesis(1)).expect("a genesis");
    let mut config = NodeConfig::alone(folder.to_owned(), genesis, keys.remove(0));
    config.block_time = BlockTime::Every(block_time);
    NodeHandle::start(config)
}

/// What the process with the limit does: fills the disk, and tells how far it came and what ended it.
#[test]
#[ignore = "this is the process that the other test gives little room"]
fn the_process_on_a_full_disk() {
    let Some(folder) = std::env::var_os(FOLDER) else { return };
    let node = match start(Path::new(&folder), Duration::from_millis(1)) {
        Ok(node) => node,
        Err(error) => return tell(&error.to_string()),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let fill = async {
        let mut head = node.watch_head();
        loop {
            for account in 0..4 {
                let nonce = node.account(crate::common::key(account).address()).await.map_or(0, |account| account.nonce.0);
                let mut transaction = sign(account, nonce, Instruction::System(System::Transfer { to: RECEIVER, amount: Amount(1) }));
                transaction.metadata = Blob::new(vec![7; 60_000]).expect("it fits");
                crate::common::key(account).sign_transaction(&mut transaction);
                // What waits already is refused, which is no harm.
                let _ = node.submit(vec![transaction.to_bytes().to_vec()]).await;
            }
            tell(&format!("block {}", head.borrow_and_update().number));
            if head.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    };
    let ended = runtime.block_on(async {
        tokio::select! {
            ended = node.ended() => ended,
            () = fill => unreachable!("it never ends"),
        }
    });
    tell(&ended.to_string());
}

fn tell(line: &str) {
    writeln!(std::io::stdout(), "told: {line}").expect("somebody reads");
}

/// A disk without space is named before anything of the folder is opened: what cannot be written would look damaged.
#[test]
#[cfg(target_os = "linux")]
fn a_node_does_not_start_on_a_full_disk() {
    let refused = start(Path::new("/proc"), Duration::from_secs(1)).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(refused.contains("chain's data is full"), "{refused}");
}

/// Files that may not grow end the node with an error that names the limit; with room again it continues, and no acknowledged block is lost.
#[test]
#[cfg(unix)]
fn a_full_disk_is_named_and_survived() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut told = 0;
    // The second run finds the disk full a little later: by then other files have grown.
    for kilobytes in [2_048, 4_096] {
        let output = Command::new("bash")
            .args(["-c", "trap '' XFSZ; ulimit -f $1; shift; exec \"$@\"", "limited", &kilobytes.to_string()])
            .arg(std::env::current_exe().expect("this program"))
            .args(["--exact", "full_disk::the_process_on_a_full_disk", "--ignored", "--nocapture"])
            .env(FOLDER, folder.path())
            .env("RUST_BACKTRACE", "0")
            .output()
            .expect("it runs");
        let said = String::from_utf8_lossy(&output.stdout);
        let lines: Vec<&str> = said.lines().filter_map(|line| line.split_once("told: ").map(|(_, line)| line)).collect();
        let names_the_limit = lines.last().is_some_and(|line| line.contains("RLIMIT_FSIZE"));
        assert!(names_the_limit, "{kilobytes} KiB: {said}\n{}", String::from_utf8_lossy(&output.stderr));
        told = lines.iter().filter_map(|line| line.strip_prefix("block ")?.parse::<u64>().ok()).max().unwrap_or(told).max(told);
    }
    let node = start(folder.path(), Duration::from_secs(3_600)).expect("there is room again");
    assert!(told > 0 && node.head().number >= told, "what was told is kept");
    assert!(check_ledger(&node, RECEIVER) > 0, "something was sent");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let head = node.head();
    assert_eq!(runtime.block_on(node.mine(1)).expect("it goes on").number, head.number + 1);
    node.shutdown();
}
