//! A protocol upgrade as a chain and its operator see it.

use crate::{
    network::{FUNDED, daemon, free_ports, start_with, transfer},
    process::{Node, Said, cowboy, wait_for_height},
};
use serde_json::Value;
use std::{fs, path::Path};

const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const OWN: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const GOVERNANCE: &str = "0x0000000000000000000000000000000000000009";

/// A devnet that decides in two hours, kept in a folder.
const DEVNET: [&str; 11] = [
    "dev",
    "--port",
    "0",
    "--block-time",
    "instant",
    "--runners",
    "0",
    "--no-gateway",
    "--parameter=governance.voting_3=3600",
    "--parameter=governance.timelock=3600",
    "--state=chain",
];

fn run(root: &Path, node: &Node, arguments: &[&str]) -> Said {
    let said = cowboy(root, &node.url, &[arguments, &["--private-key", KEY, "--json"]].concat());
    assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
    said
}

/// A-283: a decision schedules two versions. The node switches to the one that it knows, and stops before the other with an exit code of its
/// own and a message that says what to install; also when it is started again.
#[test]
fn a_decision_upgrades_the_protocol() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::start(root, &DEVNET).expect("the devnet starts");
    let run = |arguments: &[&str]| -> Value { run(root, &node, arguments).json() };
    run(&["chain", "set-balance", OWN, "100000cby"]);
    let decision =
        r#"{"actions": [{"action": "upgrade", "version": 2, "height": 20000}, {"action": "upgrade", "version": 3, "height": 30000}]}"#;
    assert_eq!(run(&["gov", "preview", decision])["error"], Value::Null);
    run(&["gov", "propose", decision]);
    let validator = run(&["validator", "list"])["validators"][0]["address"].as_str().expect("somebody signs").to_owned();
    run(&["chain", "impersonate", &validator, "execute", GOVERNANCE, "vote", "--payload", r#"{"proposal": 0, "choice": "yes"}"#]);
    for step in ["count", "execute"] {
        run(&["chain", "warp", "--blocks", "3600"]);
        run(&["gov", step, "0"]);
    }
    assert_eq!(run(&["gov", "show", "0"])["stage"], "executed");
    let upgrades = run(&["gov", "upgrades"]);
    let known: Vec<bool> = upgrades["scheduled"].as_array().expect("a list").iter().filter_map(|row| row["is_known"].as_bool()).collect();
    assert_eq!((&upgrades["version"], known), (&1.into(), vec![true, false]), "{upgrades}");
    let health = run(&["status"])["health"].clone();
    assert_eq!((&health["protocol_version"], &health["upgrade"]["version"]), (&1.into(), &2.into()), "{health}");
    let height = run(&["chain", "warp", "--blocks", "15000"])["height"].to_string();
    assert_eq!(run(&["block", "get", &height])["header"]["version"], 2);
    assert_eq!(run(&["gov", "upgrades"])["version"], 2);
    // The height never comes, so that the request has no answer.
    let _ = cowboy(root, &node.url, &["chain", "warp", "--blocks", "15000"]);
    let (code, said) = node.ended();
    let words = "protocol version 3 begins at height 30000, and this build executes versions up to 2: install a release with version 3";
    assert!(code == Some(3) && said.contains(words), "exit {code:?}: {said}");
    let again = Node::start(root, &DEVNET).err().unwrap_or_default();
    assert!(again.starts_with("exit Some(3)") && again.contains(words), "{again}");
}

/// A-283: `upgrade check` names the blocks that another version would change, each with what it was and what it would be, and refuses what it cannot
/// compare, with the reason.
#[test]
fn an_upgrade_is_tried_on_the_blocks_of_a_stopped_node() {
    const HEIGHT: u64 = 60;
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    fs::write(root.join("genesis.toml"), format!("[[upgrade]]\nversion = 2\nheight = {HEIGHT}\n")).expect("it is writable");
    let port = free_ports(1).to_string();
    let genesis =
        ["genesis", "--config", "genesis.toml", "--validators", "1", "--fund", FUNDED, "--p2p-port", &port, "--block-time-ms", "200"];
    let made = daemon(root, &genesis);
    assert_eq!(made.0, Some(0), "{made:?}");
    let node = start_with(root, 0, &[]);
    wait_for_height(&node.url, 1);
    let before = transfer(root, &node);
    wait_for_height(&node.url, HEIGHT);
    let after = transfer(root, &node);
    assert!(before < HEIGHT && after > HEIGHT, "the transfers are in blocks {before} and {after}");
    let check = |more: &[&str]| daemon(root, &[&["--json", "upgrade", "check", "--config", "network/validator-0.json"], more].concat());
    let running = check(&["--from", "2"]);
    assert!(running.0 == Some(1) && running.1.contains("in use by another node"), "{running:?}");
    assert_eq!(node.terminate(), Some(0));

    for (version, other) in [(2, 1), (1, 2)] {
        let (code, said) = check(&["--from", "2", "--to", &after.to_string(), "--version", &version.to_string()]);
        assert_eq!(code, Some(0), "{said}");
        let found: Value = serde_json::from_str(&said).unwrap_or_else(|error| panic!("{error}: {said}"));
        assert_eq!((found["version"].as_u64(), found["compared"].as_u64()), (Some(version), Some(after - 1)), "{said}");
        let differing = found["differing"].as_array().expect("a list");
        // Every block of version 1 would begin the auction, and the first one of version 2 did.
        let is_named = |row: &Value| row["height"].as_u64() == Some(if version == 2 { before } else { HEIGHT });
        assert!(differing.iter().any(is_named), "{said}");
        // The others have this version already.
        let is_other = |row: &Value| {
            let is_before = row["height"].as_u64().is_some_and(|height| height < HEIGHT);
            is_before == (other == 1) && row["was"]["version"] == other && row["would_be"]["version"] == version
        };
        assert!(differing.iter().all(is_other), "{said}");
    }
    for (more, code, reason) in
        [(&["--from", "2", "--version", "9"][..], 2, "version 9 is unknown"), (&["--from", "1000000"][..], 1, "no block has such a height")]
    {
        let refused = check(more);
        assert!(refused.0 == Some(code) && refused.1.contains(reason), "{more:?}: {refused:?}");
    }
}
