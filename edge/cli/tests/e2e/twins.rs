//! Two nodes with the keys of one validator.
#![cfg(unix)]

use crate::{
    network::{daemon, free_ports, make, start_with},
    process::{Node, cowboy, get_text, wait_for_height},
};
use serde_json::Value;
use std::{fs, os::unix::fs::PermissionsExt as _};

/// A node without a block has no answer for `cowboy status`.
fn health(node: &Node) -> Value {
    let answer = get_text(&node.url, "/health/detailed");
    let (_, body) = answer.split_once("\r\n\r\n").expect("headers, and what they are of");
    serde_json::from_str(body).expect("JSON")
}

/// The second node of a validator is a peer of nobody, says why, and proposes and votes nothing that anybody hears: the first one continues,
/// and nobody is in jail. With the files of the first one it does not start.
#[test]
fn a_second_node_with_a_validators_keys_says_so() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    make(root, &[]);
    let nodes: Vec<Node> = (0..4).map(|index| start_with(root, index, &[])).collect();
    wait_for_height(&nodes[0].url, 5);
    let same = daemon(root, &["start", "--config", "network/validator-0.json", "--port", "0"]);
    assert!(same.0 == Some(1) && same.1.contains("is not free for validators"), "{same:?}");

    let path = root.join("network/twin.json");
    let mut file: Value = serde_json::from_slice(&fs::read(root.join("network/validator-0.json")).expect("it is there")).expect("JSON");
    file["listen"] = format!("127.0.0.1:{}", free_ports(1)).into();
    file["state"] = "twin".into();
    fs::write(&path, file.to_string()).expect("it is writable");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("it is ours");
    let twin = Node::start(root, &["start", "--config", "network/twin.json", "--port", "0"]).expect("it starts");
    let mut height = 5;
    let said = loop {
        let health = health(&twin);
        let said = health["waits_for"].as_str().unwrap_or_default().to_owned();
        if said.contains("while another node has its keys") {
            break said;
        }
        height += 5;
        assert!(height < 300, "{health}");
        wait_for_height(&nodes[0].url, height);
    };
    assert!(said.contains("0 of 3 other validators are reached"), "{said}");
    // For longer than it listens before it votes.
    wait_for_height(&nodes[0].url, height + 80);
    // A busy machine breaks connections, and the twin asks for the place of one that is broken: a quorum without it stays.
    let standing = health(&nodes[0]);
    assert!(standing["peers_connected"].as_u64() >= Some(2), "{standing}\n{}", health(&twin));
    let validators = cowboy(root, &nodes[1].url, &["validator", "list", "--json"]).json();
    let validators = validators["validators"].as_array().expect("a list");
    assert!(validators.iter().all(|validator| validator["status"] == "active" && validator["jailings"] == 0), "{validators:?}");
    for node in nodes.into_iter().chain([twin]) {
        assert_eq!(node.terminate(), Some(0));
    }
}
