//! Full nodes that join a network by a record.

use crate::{
    network::{FUNDED, daemon, free_ports, make, start_with, transfer},
    process::{Node, cowboy, wait_for_height},
};
use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
};

const LISTEN: [&str; 2] = ["--listen", "127.0.0.1:0"];

/// The record that a node printed when it started.
fn record(node: &Node) -> String {
    node.said.iter().find_map(|line| line.strip_prefix("record ")).expect("it prints its record").to_owned()
}

fn join(root: &Path, dir: &str, more: &[&str]) -> Node {
    Node::start(root, &[&["join", "--dir", dir, "--port", "0"], &LISTEN[..], more].concat()).expect("it joins")
}

fn hash(root: &Path, node: &Node, height: u64) -> serde_json::Value {
    cowboy(root, &node.url, &["block", "get", &height.to_string(), "--json"]).json()["hash"].clone()
}

fn height(root: &Path, node: &Node) -> u64 {
    cowboy(root, &node.url, &["status", "--json"]).json()["health"]["height"].as_u64().expect("a height")
}

/// A full node joins by the record of a validator: genesis and state come from peers, transactions that it takes are included. A second
/// one joins by the record of the first, finds the validator by it, and continues without it. Killed, it continues without any record.
#[test]
fn full_nodes_join_by_a_record() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    make(root, &[]);
    let nodes: Vec<Node> = (0..4).map(|index| start_with(root, index, if index == 0 { &LISTEN } else { &[] })).collect();
    wait_for_height(&nodes[0].url, 20);
    let validator = record(&nodes[0]);
    let bootstrap = ["--bootstrap", validator.as_str()];
    let unknown = format!("0x{}", "11".repeat(32));
    let refused = daemon(root, &[&["join", "--dir", "other", "--port", "0", "--checkpoint", &unknown], &LISTEN[..], &bootstrap].concat());
    assert!(refused.0 != Some(0) && refused.1.contains("no block with the hash of the checkpoint"), "{refused:?}");
    // Decision 759: the block is noted before the state is fetched, so that a node that is killed afterwards has the note.
    assert_eq!(fs::read_to_string(root.join("other/checkpoint")).expect("it is noted").trim(), unknown);
    let checkpoint = hash(root, &nodes[0], 5);
    let checkpoint = checkpoint.as_str().expect("a hash");
    let first = join(root, "first", &[&bootstrap[..], &["--checkpoint", checkpoint]].concat());
    assert!(first.said.iter().any(|line| line.starts_with("began at height ")), "{:?}", first.said);
    assert_eq!(fs::read_to_string(root.join("first/checkpoint")).expect("it is noted").trim(), checkpoint);
    assert_eq!(
        fs::read(root.join("first/genesis.json")).expect("it is kept"),
        fs::read(root.join("network/genesis.json")).expect("it is there")
    );
    let included = transfer(root, &first);
    wait_for_height(&nodes[1].url, included);
    assert_eq!(hash(root, &first, included), hash(root, &nodes[1], included));

    // A second program in the same folder leaves the record of the first one as it is.
    let beside = daemon(root, &[&["join", "--dir", "first", "--port", "0"], &LISTEN[..]].concat());
    assert!(beside.0 != Some(0) && beside.1.contains("is in use by another node"), "{beside:?}");
    let (code, shown) = daemon(root, &["record", "--dir", "first"]);
    assert_eq!((code, shown.trim()), (Some(0), record(&first).as_str()));
    let second = join(root, "second", &["--bootstrap", &record(&first)]);
    let known = || fs::read_to_string(root.join("second/state.overlay/peers")).unwrap_or_default();
    wait_for_height(&second.url, included);
    let mut newest = included;
    while !known().contains(&validator) {
        newest += 5;
        assert!(newest < included + 600, "the validator is not found by the first");
        wait_for_height(&nodes[0].url, newest);
    }
    assert_eq!(first.terminate(), Some(0));
    let newest = height(root, &nodes[0]);
    wait_for_height(&second.url, newest + 20);

    drop(second);
    // Decision 759: the note of a chain that was deleted does not stand for the next one, which was checked against no block.
    fs::remove_dir_all(root.join("first/state")).expect("it is stopped");
    let anew = join(root, "first", &bootstrap);
    assert!(anew.said.iter().any(|line| line.starts_with("began at height ")), "{:?}", anew.said);
    assert!(!root.join("first/checkpoint").exists(), "nothing is noted");
    assert_eq!(anew.terminate(), Some(0));
    // Decision 759: its chain was checked against no block, so it must have the one that is trusted.
    let refused = daemon(root, &[&["join", "--dir", "second", "--port", "0", "--checkpoint", &unknown], &LISTEN[..]].concat());
    assert!(refused.0 != Some(0) && refused.1.contains("was not checked against the checkpoint"), "{refused:?}");
    let newer = hash(root, &nodes[0], newest);
    let again = join(root, "second", &["--checkpoint", newer.as_str().expect("a hash")]);
    assert!(!again.said.iter().any(|line| line.starts_with("began at height ")), "its chain is kept: {:?}", again.said);
    wait_for_height(&again.url, newest + 40);
    let included = transfer(root, &again);
    assert_eq!(hash(root, &again, included), hash(root, &nodes[0], included));
    for node in nodes.into_iter().chain([again]) {
        assert_eq!(node.terminate(), Some(0));
    }
}

/// What does not fit together ends in one sentence, and makes nothing that would be in the way.
#[test]
fn joins_that_cannot_be_are_refused() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    for chain in ["a", "b"] {
        let port = free_ports(1).to_string();
        let made = daemon(root, &["genesis", "--validators", "1", "--fund", FUNDED, "--out", chain, "--p2p-port", &port]);
        assert_eq!(made.0, Some(0), "{made:?}");
    }
    let node =
        Node::start(root, &["start", "--config", "a/validator-0.json", "--port", "0", "--listen", "127.0.0.1:0"]).expect("it starts");
    let record = record(&node);
    let refused = |arguments: &[&str], reason: &str| {
        let said = daemon(root, &[&["join", "--port", "0"], &LISTEN[..], arguments].concat());
        assert!(said.0 != Some(0) && said.1.contains(reason), "{arguments:?}: {said:?}");
    };
    refused(&["--dir", "c"], "no chain is named");
    refused(&["--dir", "c", "--bootstrap", "enr:abc"], "not a signed node record");
    refused(&["--dir", "c", "--bootstrap", &record, "--genesis", "b/genesis.json"], "of different chains");
    let foreign =
        daemon(root, &[&["start", "--config", "b/validator-0.json", "--port", "0", "--bootstrap", &record], &LISTEN[..]].concat());
    let words = ["the record is of another chain", "name records of nodes of this chain"];
    assert!(foreign.0 == Some(1) && words.iter().all(|words| foreign.1.contains(words)) && !root.join("b/state-0").exists(), "{foreign:?}");
    // The port is said before anything is fetched.
    let port = node.url.rsplit(':').next().expect("a port");
    let beside = daemon(root, &[&["join", "--dir", "c", "--bootstrap", &record, "--port", port], &LISTEN[..]].concat());
    assert!(beside.0 == Some(1) && beside.1.contains("take another port with --port"), "{beside:?}");
    assert!(!root.join("c").exists(), "no folder is left behind");
    refused(&["--dir", "c", "--genesis", "b/genesis.json"], "no peer is known");
    assert!(!root.join("c/state").exists() && !root.join("c/genesis.json").exists());
    assert_eq!(node.terminate(), Some(0));
}

/// A node that answers every path with these bytes, on threads that end with the process. Connections to `/follow` stay open.
fn fake_source(height: u64, follow: &'static [u8]) -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("the loopback has free ports");
    let url = format!("http://{}", listener.local_addr().expect("it listens"));
    std::thread::spawn(move || {
        let mut open = Vec::new();
        for mut connection in listener.incoming().flatten() {
            let mut asked = [0; 1_024];
            let length = connection.read(&mut asked).unwrap_or(0);
            let answer = match asked[..length].starts_with(b"GET /follow") {
                true => [b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n".as_slice(), follow].concat(),
                false => {
                    let body = format!("{{\"height\":{height}}}");
                    format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
                }
            };
            // The follower may be gone.
            let _ = connection.write_all(&answer);
            if asked.starts_with(b"GET /follow") {
                open.push(connection);
            }
        }
    });
    url
}

/// Of three sources one lies and claims to be far ahead, one stays where it is and says so, and one is right: the follower has its blocks.
#[test]
fn a_follower_leaves_sources_that_lie_or_stay() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::start(root, &["dev", "--port", "0", "--block-time", "200ms", "--runners", "0"]).expect("the devnet starts");
    let liar = fake_source(1_000_000, &[0, 0, 0, 6, 0, 0, 0, 2, 1, 2]);
    let stays = fake_source(0, &[]);
    let follower = Node::start(root, &["follow", &node.url, &liar, &stays, "--port", "0", "--quiet"]).expect("it follows");
    wait_for_height(&follower.url, height(root, &node) + 60);
    assert_eq!(hash(root, &follower, 30), hash(root, &node, 30));
    assert_eq!(follower.terminate(), Some(0));
    assert_eq!(node.terminate(), Some(0));
}
