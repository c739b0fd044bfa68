//! Networks of four validators in four processes.

use crate::{
    ops,
    process::{Node, cowboy, wait_for_height},
};
use commonware_codec::Encode as _;
use cowboy_store::{BlockCopy, BlockRecord, Ledger};
use serde_json::Value;
use std::{
    fs,
    path::Path,
    process::Command,
    sync::atomic::{AtomicU16, Ordering},
};

/// The account that a network funds, and its key.
pub(crate) const FUNDED: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
pub(crate) const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
pub(crate) const RECEIVER: &str = "0x1100000000000000000000000000000000000011";

/// `cowboyd` with these arguments, to its end: its exit code and what it said.
pub(crate) fn daemon(root: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_cowboyd")).args(arguments).current_dir(root).output().expect("the program runs");
    (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
}

/// Makes the files of a network in the folder, with a block every 200 ms and these options.
pub(crate) fn make(root: &Path, options: &[&str]) {
    let port = free_ports(4).to_string();
    let made = ["genesis", "--validators", "4", "--fund", FUNDED, "--p2p-port", &port, "--block-time-ms", "200"];
    let made = daemon(root, &[&made, options].concat());
    assert_eq!(made.0, Some(0), "{made:?}");
}

/// The first of this many ports in a row that are free now, and that no other test of this process takes.
pub(crate) fn free_ports(count: u16) -> u16 {
    static TAKEN: AtomicU16 = AtomicU16::new(0);
    let is_free = |port| std::net::UdpSocket::bind(("127.0.0.1", port)).is_ok() && std::net::TcpListener::bind(("127.0.0.1", port)).is_ok();
    let are_free = |first: &u16| (*first..first + count).all(is_free);
    // Other processes begin elsewhere, and all below the ports that the system gives to clients.
    let begin = 10_000 + u16::try_from(std::process::id() % 200).expect("it is below") * 100;
    let mut rows = std::iter::repeat_with(|| begin + TAKEN.fetch_add(count, Ordering::Relaxed)).take(1_000);
    rows.find(are_free).expect("some ports are free")
}

fn start(root: &Path, index: usize) -> Node {
    start_at(root, index, 0)
}

fn start_at(root: &Path, index: usize, port: u16) -> Node {
    launch(root, index, port, &[])
}

/// Starts a validator with more options.
pub(crate) fn start_with(root: &Path, index: usize, more: &[&str]) -> Node {
    launch(root, index, 0, more)
}

/// How often a node is started whose port is taken.
const MAX_STARTS: usize = 100;

fn launch(root: &Path, index: usize, port: u16, more: &[&str]) -> Node {
    let (config, port) = (format!("network/validator-{index}.json"), port.to_string());
    let arguments = [&["start", "--config", &config, "--port", &port], more].concat();
    // A port that a node had before may be the end of somebody's connection for a while.
    let mut tries = std::iter::repeat_with(|| Node::start(root, &arguments)).take(MAX_STARTS);
    let is_taken = |started: &Result<Node, String>| started.as_ref().err().is_some_and(|why| why.contains("Address already in use"));
    tries.find(|started| !is_taken(started)).expect("the port is free in the end").expect("the validator starts")
}

/// Sends money and answers the height of the block that it is in.
pub(crate) fn transfer(root: &Path, node: &Node) -> u64 {
    let sent = cowboy(root, &node.url, &["transfer", RECEIVER, "1cby", "--private-key", KEY, "--json"]);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    sent.json()["receipt"]["block_height"].as_u64().expect("the receipt names its block")
}

/// A block, without its certificate: which ones a node holds is its own affair. `None` where the node refuses.
fn block(root: &Path, node: &Node, height: u64) -> Option<Value> {
    const MAX_TRIES: usize = 1_000;
    let height = height.to_string();
    let asked = || cowboy(root, &node.url, &["block", "get", &height, "--json"]);
    // A validator that has listened starts again to vote, and answers nothing meanwhile.
    let said = std::iter::repeat_with(asked).take(MAX_TRIES).find(|said| !said.stderr.contains("\"busy\"")).expect("it answers");
    if said.code != Some(0) {
        assert!(said.stderr.contains("damaged"), "{said:?}");
        return None;
    }
    let mut block = said.json();
    block["certificate"] = Value::Null;
    Some(block)
}

/// What governance would decide first: nobody of it is a deployer.
const GENESIS: &str = r#"
chain_id = 7
council = [
    "0x1100000000000000000000000000000000000011", "0x1100000000000000000000000000000000000012", "0x1100000000000000000000000000000000000013",
    "0x1100000000000000000000000000000000000014", "0x1100000000000000000000000000000000000015", "0x1100000000000000000000000000000000000016",
    "0x1100000000000000000000000000000000000017", "0x1100000000000000000000000000000000000018", "0x1100000000000000000000000000000000000019",
]

[parameters]
"rent.rate" = 2000000

[[image]]
digest = "0x0707070707070707070707070707070707070707070707070707070707070707"
allowed = true
name = "alpine"
"#;

/// The node has every metric that an alert or a panel names, some rounds after one of the others is gone: before, no leader was skipped.
fn has_the_metrics_of_alerts(node: &Node, port: u16, height: u64) {
    for later in 1.. {
        wait_for_height(&node.url, height + later);
        let missing = ops::missing(&format!("127.0.0.1:{port}"));
        if missing.is_empty() {
            return;
        }
        assert!(later < 200, "no node has {missing:?}");
    }
}

/// Four validators agree on what `genesis.toml` says, and a transfer goes through any of them.
#[test]
fn four_validators_agree() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    fs::write(root.join("genesis.toml"), GENESIS).expect("it is writable");
    make(root, &["--config", "genesis.toml"]);
    let (code, shown) = daemon(root, &["genesis", "--show", "network/genesis.json"]);
    assert!(code == Some(0) && shown.contains("[[image]]") && shown.contains("\"rent.rate\" = 2000000"), "{shown}");
    // The metrics are at the port after that of the API.
    let port = free_ports(2);
    let mut nodes: Vec<Node> = (0..4).map(|index| start_at(root, index, if index == 0 { port } else { 0 })).collect();
    nodes.iter().for_each(|node| wait_for_height(&node.url, 1));
    let council = cowboy(root, &nodes[1].url, &["gov", "council", "--json"]).json();
    assert_eq!(council["members"].as_array().map(Vec::len), Some(9), "{council}");
    let rate = cowboy(root, &nodes[2].url, &["gov", "params", "rent.rate", "--json"]).json();
    assert_eq!(rate["params"][0]["value"], 2_000_000, "{rate}");
    let ban = r#"{"action": "call", "actor": "0x0000000000000000000000000000000000000011", "method": "set_image",
        "argument": {"digest": "0x0707070707070707070707070707070707070707070707070707070707070707", "allowed": false, "name": "alpine"}}"#;
    let preview = cowboy(root, &nodes[3].url, &["gov", "preview", ban, "--private-key", KEY, "--json"]).json();
    assert_eq!((&preview["tier"], &preview["events"][0]["name"]), (&0.into(), &"ImageSet".into()), "{preview}");
    let digest = format!("sha256:{}", "08".repeat(32));
    let allow = cowboy(root, &nodes[3].url, &["image", "allow", &digest, "--name", "busybox", "--private-key", KEY, "--json"]).json();
    assert_eq!((&allow["proposal"], &allow["image"]), (&0.into(), &format!("busybox@{digest}").into()), "{allow}");
    let proposal = cowboy(root, &nodes[3].url, &["gov", "show", "0", "--json"]).json();
    assert_eq!(proposal["actions"][0]["method"], "set_image", "{proposal}");
    let listed = cowboy(root, &nodes[3].url, &["image", "list", "--json"]).json();
    assert_eq!((&listed[0]["name"], &listed[1]), (&"alpine".into(), &serde_json::Value::Null), "a proposal is no decision: {listed}");
    let height = transfer(root, &nodes[0]);
    let blocks: Vec<_> = nodes
        .iter()
        .map(|node| {
            wait_for_height(&node.url, height);
            block(root, node, height).expect("it is there")["hash"].clone()
        })
        .collect();
    assert!(blocks.iter().all(|hash| *hash == blocks[0]), "{blocks:?}");
    assert_eq!(nodes.pop().map(Node::terminate), Some(Some(0)));
    has_the_metrics_of_alerts(&nodes[0], port + 1, height);
    for node in nodes {
        assert_eq!(node.terminate(), Some(0));
    }
}

/// A stranger with a stake and new keys registers by command, adds to its stake, and gives notice; each is in the list of
/// validators. Keys of somebody else, too small a stake, and steps out of order are refused with a reason.
#[test]
fn a_stranger_registers_by_command() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    make(root, &[]);
    let nodes: Vec<Node> = (0..4).map(|index| start(root, index)).collect();
    wait_for_height(&nodes[0].url, 1);
    let validator =
        |arguments: &[&str]| cowboy(root, &nodes[1].url, &[&["validator"], arguments, &["--private-key", KEY, "--json"]].concat());
    let made = daemon(root, &["keys", "new", "--genesis", "network/genesis.json", "--out", "network/newcomer.json"]);
    assert_eq!(made.0, Some(0), "{made:?}");
    let shown = daemon(root, &["--json", "keys", "show", "--config", "network/newcomer.json"]);
    assert!(shown.1.contains("\"has_share\": false"), "{shown:?}");
    for (file, account) in [("own.json", FUNDED), ("foreign.json", RECEIVER)] {
        let said = daemon(root, &["--json", "keys", "registration", "--config", "network/newcomer.json", "--account", account]);
        assert_eq!(said.0, Some(0), "{said:?}");
        fs::write(root.join(file), said.1).expect("it is writable");
    }
    for (arguments, reason) in [
        (&["leave"][..], "validator_unknown"),
        (&["register", "@foreign.json"], "key_possession"),
        (&["register", "@own.json", "--stake", "99999cby"], "validator_stake"),
        (&["register", "{}"], "argument `signing_key`: missing"),
    ] {
        let refused = validator(arguments);
        assert!(refused.code != Some(0) && refused.stderr.contains(reason), "{arguments:?}: {refused:?}");
    }
    for arguments in [&["register", "@own.json"][..], &["add-stake", "500cby"], &["edit", "--address", "127.0.0.1:3009"]] {
        let done = validator(arguments);
        assert_eq!(done.code, Some(0), "{arguments:?}: {done:?}");
    }
    let nowhere = validator(&["edit", "--address", "no-such-host.invalid:3009"]);
    assert!(nowhere.code != Some(0) && nowhere.stderr.contains("no-such-host.invalid"), "{nowhere:?}");
    let own = validator(&["get"]).json();
    assert_eq!(own["network_address"], "127.0.0.1:3009", "{own}");
    assert_eq!((&own["status"], &own["stake"]), (&"waiting".into(), &(100_500u64 * 1_000_000_000).into()), "{own}");
    assert_eq!((&own["in_set"], &own["is_signing"]), (&false.into(), &false.into()), "{own}");
    assert!(validator(&["register", "@own.json"]).stderr.contains("validator_state"), "once is enough");
    let other = cowboy(root, &nodes[1].url, &["validator", "register", "@own.json", "--private-key", &"22".repeat(32)]);
    assert!(other.code != Some(0) && other.stderr.contains("is that of the validator 0x"), "a key of its own: {other:?}");
    // Its own node does not run; another one says how far it is.
    let said = daemon(root, &["doctor", "--config", "network/newcomer.json", "--port", "1", "--source", &nodes[1].url]).1;
    assert!(said.contains("waiting, does not sign; registered, and not yet in a set: the next one is fixed at height"), "{said}");
    assert!(validator(&["unjail"]).stderr.contains("is not in jail"), "it is not in jail");
    let left = validator(&["leave"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert_eq!(validator(&["get"]).json()["status"], "leaving");
    assert!(validator(&["withdraw"]).stderr.contains("still_bound"), "its stake is bound");
    for node in nodes {
        assert_eq!(node.terminate(), Some(0));
    }
}

/// A validator's file as JSON.
fn file(root: &Path, index: usize) -> Value {
    let text = fs::read(root.join(format!("network/validator-{index}.json"))).expect("it is readable");
    serde_json::from_slice(&text).expect("it is JSON")
}

/// Whether the validator with this consensus key signs blocks, as a node says.
fn signs(root: &Path, node: &Node, key: &str) -> bool {
    let listed = cowboy(root, &node.url, &["validator", "list", "--json"]).json();
    let rows = listed["validators"].as_array().expect("a list").clone();
    rows.iter().any(|row| row["consensus_key"] == key && row["is_signing"] == true)
}

/// Starts the newcomer again that lost its shares and has them from a backup. That of another validator is refused.
fn without_shares(root: &Path, node: Node) -> Node {
    assert_eq!(node.terminate(), Some(0));
    let config = |index: usize| format!("network/validator-{index}.json");
    for (index, out) in [(4, "own.backup"), (1, "other.backup")] {
        let made = daemon(root, &["keys", "backup", "--config", &config(index), "--out", out]);
        assert_eq!(made.0, Some(0), "{made:?}");
    }
    let shares = root.join("network").join(file(root, 4)["state"].as_str().expect("a folder")).join("secrets");
    assert!(fs::read_dir(&shares).expect("it has shares").count() > 0);
    fs::remove_dir_all(&shares).expect("it is stopped");
    let refused = daemon(root, &["keys", "restore", "other.backup", "--config", &config(4)]);
    assert!(refused.0 == Some(1) && refused.1.contains("is of another validator"), "{refused:?}");
    assert!(!shares.exists());
    let restored = daemon(root, &["keys", "restore", "own.backup", "--config", &config(4)]);
    assert_eq!(restored.0, Some(0), "{restored:?}");
    start(root, 4)
}

/// A stranger with new keys registers and signs some epochs later, and who gave notice does not sign any more: then the network
/// continues without who left, and without one of the others, which it only can with the newcomer's votes.
#[test]
fn validators_come_and_go() {
    const LENGTH: u64 = 32;
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    fs::write(root.join("genesis.toml"), format!("[parameters]\n\"consensus.epoch\" = {LENGTH}\n")).expect("it is writable");
    make(root, &["--config", "genesis.toml"]);
    let key_of = |index: usize| {
        let shown = daemon(root, &["--json", "keys", "show", "--config", &format!("network/validator-{index}.json")]).1;
        let shown: Value = serde_json::from_str(&shown).expect("it is JSON");
        shown["network"].as_str().expect("a key").to_owned()
    };
    // The others learn from the chain where the newcomer listens.
    let listen = format!("127.0.0.1:{}", free_ports(1));
    // The newcomer knows one of them. The chain has no address of the others, which connect to it (decision 657).
    let peer = format!("{}@{}", key_of(0), file(root, 0)["listen"].as_str().expect("an address"));
    let new = ["keys", "new", "--genesis", "network/genesis.json", "--out", "network/validator-4.json", "--listen", &listen];
    let made = daemon(root, &[&new[..], &["--peer", &peer]].concat());
    assert_eq!(made.0, Some(0), "{made:?}");
    let keys: Vec<String> = (0..5).map(key_of).collect();
    let mut nodes: Vec<Node> = (0..5).map(|index| start(root, index)).collect();
    wait_for_height(&nodes[0].url, 1);
    let said = daemon(root, &["--json", "keys", "registration", "--config", "network/validator-4.json", "--account", FUNDED]);
    fs::write(root.join("registration.json"), said.1).expect("it is writable");
    let registered = cowboy(root, &nodes[0].url, &["validator", "register", "@registration.json", "--private-key", KEY, "--json"]);
    assert_eq!(registered.code, Some(0), "{registered:?}");
    let leaver = file(root, 3)["secrets"]["signer"].as_str().expect("a key").to_owned();
    let account = cowboy(root, &nodes[0].url, &["validator", "list", "--json"]).json();
    let rows = account["validators"].as_array().expect("a list").clone();
    let account =
        rows.iter().find(|row| row["consensus_key"] == keys[3]).expect("it is listed")["address"].as_str().expect("an address").to_owned();
    assert_eq!(cowboy(root, &nodes[0].url, &["transfer", &account, "10cby", "--private-key", KEY, "--json"]).code, Some(0));
    let left = cowboy(root, &nodes[0].url, &["validator", "leave", "--private-key", &leaver, "--json"]);
    assert_eq!(left.code, Some(0), "{left:?}");
    assert!(left.json()["leaving"]["free_from"].as_u64() > Some(604_800), "a week after it signs for the last time: {left:?}");
    assert!(signs(root, &nodes[0], &keys[3]) && !signs(root, &nodes[0], &keys[4]));
    let watched = std::thread::spawn({
        let (root, url) = (root.to_owned(), nodes[1].url.clone());
        move || cowboy(&root, &url, &["validator", "status", FUNDED, "--watch"])
    });
    // Fixed in the middle of an epoch, dealt to two epochs later, and signing in the one after; one more where it came late.
    for epoch in 3..=5 {
        wait_for_height(&nodes[0].url, epoch * LENGTH + 2);
        if signs(root, &nodes[0], &keys[4]) && !signs(root, &nodes[0], &keys[3]) {
            break;
        }
    }
    assert!(signs(root, &nodes[0], &keys[4]) && !signs(root, &nodes[0], &keys[3]));
    let watched = watched.join().expect("it does not panic");
    let stages = watched.stdout.lines().map(|line| line.split_once(": ").expect("a height").1);
    // Where the middle of the epoch was near, it is over before the first look.
    let mut stages = stages.skip_while(|line| line.starts_with("bonded with 100000 CBY; the next set is fixed at height"));
    for stage in ["in the set fixed at height", "receiving a share", "signing"] {
        assert!(stages.next().is_some_and(|line| line.starts_with(stage)), "{watched:?}");
    }
    let newcomer = nodes.remove(4);
    nodes.push(without_shares(root, newcomer));
    for index in 0..4 {
        assert!(file(root, index)["secrets"].get("share").is_none(), "the share of genesis is over: validator {index}");
        let shown = daemon(root, &["--json", "keys", "show", "--config", &format!("network/validator-{index}.json")]).1;
        assert!(shown.contains("\"has_share\": true") && shown.contains("secrets: epoch-"), "{shown}");
    }
    let newest = cowboy(root, &nodes[1].url, &["status", "--json"]).json()["health"]["height"].as_u64().expect("a height");
    for gone in [3, 0] {
        assert_eq!(nodes.remove(gone).terminate(), Some(0));
    }
    wait_for_height(&nodes[0].url, newest + 10);
    for node in nodes {
        assert_eq!(node.terminate(), Some(0));
    }
}

/// Flips a bit of a block's first receipt, wherever the stopped node's ledger has it.
fn damage(ledger: &Path, number: u64) {
    let receipts = Ledger::open(ledger).and_then(|ledger| ledger.view()?.receipts(number)).expect("the ledger is whole");
    let row = receipts.first().expect("the block has a transaction").encode();
    let mut file = fs::read(ledger).expect("it is there");
    let places: Vec<usize> = (0..file.len() - row.len()).filter(|at| file[*at..].starts_with(&row)).collect();
    assert!(!places.is_empty(), "the ledger has the receipt");
    places.into_iter().for_each(|at| file[at + 40] ^= 4);
    fs::write(ledger, file).expect("it is writable");
}

/// A record that the disk damaged is refused, and then fetched again from a peer: by a validator, and by a follower.
#[test]
fn what_the_disk_damaged_is_fetched_again() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    make(root, &[]);
    let mut nodes: Vec<Node> = (0..4).map(|index| start(root, index)).collect();
    wait_for_height(&nodes[0].url, 1);
    let height = transfer(root, &nodes[0]);
    // Later blocks, so that the damaged page is an old one.
    let newest = height + 20;
    let source = nodes[0].url.clone();
    let init = daemon(root, &["init", &source, "--out", "follower"]);
    assert_eq!(init.0, Some(0), "{init:?}");
    let follow = ["start", "--config", "follower/node.json", "--port", "0"];
    let follower = Node::start(root, &follow).expect("the follower starts");
    nodes.iter().chain([&follower]).for_each(|node| wait_for_height(&node.url, newest));
    let truth = block(root, &nodes[0], height).expect("it is there");
    let last = nodes.pop().expect("there are four");
    for (node, state, restart) in [(last, "network/state-3", None), (follower, "follower/state", Some(follow))] {
        assert_eq!(node.terminate(), Some(0));
        damage(&root.join(state).join("ledger.redb"), height);
        let node = match restart {
            Some(arguments) => Node::start(root, &arguments).expect("the follower starts"),
            None => start(root, 3),
        };
        // A refusal has the damaged row's name, and makes the node fetch the block.
        let mut answers = vec![];
        while answers.last().is_none_or(Option::is_none) {
            assert!(answers.len() < 600, "{state}: nothing is fetched");
            answers.push(block(root, &node, height));
        }
        assert_eq!(answers.first(), Some(&None), "{state}: the damage is noticed");
        assert_eq!(answers.pop().flatten().as_ref(), Some(&truth), "{state}");
        assert_eq!(node.terminate(), Some(0));
    }
}

/// Fills the state of the last validator from the exported snapshot.
fn import(root: &Path) {
    let imported = daemon(root, &["snapshot", "import", "chain.tar", "--state", "network/state-3"]);
    assert_eq!(imported.0, Some(0), "{imported:?}");
}

/// Whether the newest block of a ledger has a certificate.
fn is_certified(ledger: &Path) -> bool {
    let ledger = Ledger::open(ledger).expect("it is whole");
    let view = ledger.view().expect("it reads");
    let tip = view.tip().expect("it reads").expect("there are blocks");
    view.certificate_from(tip).expect("it reads").is_some()
}

/// Gives the newest blocks a certificate that is not theirs.
fn forge_certificates(ledger: &Ledger, tip: u64) {
    let certificate = ledger.view().and_then(|view| view.certificate(tip - 1)).expect("it reads").unwrap_or_default();
    (tip.saturating_sub(20)..=tip).for_each(|number| ledger.certify(number, &certificate).expect("it writes"));
}

/// Writes another block in the place of the first one, as whole in itself as that.
fn forge_block(ledger: &Ledger, _tip: u64) {
    let view = ledger.view().expect("it reads");
    let first = view.first().expect("it reads").expect("there are blocks");
    let BlockCopy { mut block, certificate, concerns, receipts } = view.copy(first).expect("it reads").expect("it is there");
    block.header.timestamp_ms.0 += 1;
    let record = BlockRecord {
        block,
        receipts,
        concerns,
        certificate,
        carry: vec![],
        traces: vec![],
        outlines: vec![],
        overwritten: vec![],
        pruned: vec![],
    };
    ledger.append(&record).expect("it writes");
}

/// A validator whose disk is lost begins with another validator's snapshot, listens, and proposes again. A snapshot that no certificate
/// proves is refused.
#[test]
fn a_validator_begins_with_the_snapshot_of_another() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    make(root, &[]);
    let keys = daemon(root, &["keys", "show", "--config", "network/validator-3.json", "--json"]);
    let own = serde_json::from_str::<Value>(&keys.1).expect("keys are JSON")["network"].clone();
    let mut nodes: Vec<Node> = (0..4).map(|index| start(root, index)).collect();
    wait_for_height(&nodes[0].url, 1);
    let height = transfer(root, &nodes[0]);
    wait_for_height(&nodes[3].url, height);
    let voted = fs::read(root.join("network/state-0/engine/voted")).expect("it is there");
    assert!(voted.iter().any(|byte| *byte != 0), "votes are noted beside the engine's record");
    assert_eq!(nodes.pop().map(Node::terminate), Some(Some(0)));
    // A node that ends between a block and its certificate has nothing that proves the block yet.
    while !is_certified(&root.join("network/state-3/ledger.redb")) {
        assert_eq!(start(root, 3).terminate(), Some(0));
    }
    let exported = daemon(root, &["snapshot", "export", "--state", "network/state-3", "--out", "chain.tar"]);
    assert_eq!(exported.0, Some(0), "{exported:?}");
    fs::remove_dir_all(root.join("network/state-3")).expect("it is stopped");

    // Somebody who makes up a certificate, or an old block.
    let mut tip = 0;
    let forgeries: [(fn(&Ledger, u64), &str); 2] =
        [(forge_certificates, "not proven by this chain's validators"), (forge_block, "does not follow block")];
    for (forge, reason) in forgeries {
        import(root);
        let ledger = Ledger::open(&root.join("network/state-3/ledger.redb")).expect("it is whole");
        tip = ledger.view().and_then(|view| view.tip()).expect("it reads").expect("there are blocks");
        forge(&ledger, tip);
        drop(ledger);
        let refused = Node::start(root, &["start", "--config", "network/validator-3.json", "--port", "0"]).err().unwrap_or_default();
        assert!(refused.starts_with("exit Some(1)") && refused.contains(reason), "{refused}");
        fs::remove_dir_all(root.join("network/state-3")).expect("it is stopped");
    }

    import(root);
    // The record of votes in the snapshot is the validator's own; it is lost with the disk. One that only listened has none.
    let record = root.join("network/state-3/engine/cowboy-simplex_consensus_0");
    assert!(fs::remove_dir_all(&record).is_ok() || !record.exists());
    fs::remove_file(root.join("network/state-3/engine/voter")).expect("it is stopped");
    nodes.push(start(root, 3));
    let begins = cowboy(root, &nodes[3].url, &["status", "--json"]).json()["health"]["height"].as_u64().expect("a height");
    assert!(begins >= tip, "it begins with block {tip}, at {begins}");
    let mut height = tip + 1;
    loop {
        wait_for_height(&nodes[3].url, height);
        if block(root, &nodes[3], height).expect("it is there")["header"]["proposer"] == own {
            break;
        }
        assert!(height < tip + 400, "it proposes nothing");
        height += 1;
    }
}
