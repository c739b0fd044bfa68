//! A protocol upgrade as a chain and its operator see it.

use crate::process::{Node, Said, cowboy};
use serde_json::Value;
use std::path::Path;

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
