//! `cowboyd admin`: what the operator of a running node sees and changes.

use crate::{
    network::{FUNDED, daemon, free_ports},
    process::{Node, Said, wait_for_height},
};
use serde_json::Value;
use std::{fs, path::Path, process::Command};

/// Runs `cowboyd admin` against the endpoint at this port.
fn admin(root: &Path, port: u16, arguments: &[&str]) -> Said {
    let address = format!("127.0.0.1:{port}");
    let arguments = [&["admin", "--admin", address.as_str()], arguments].concat();
    let output = Command::new(env!("CARGO_BIN_EXE_cowboyd")).args(arguments).current_dir(root).env_remove("RUST_LOG").output();
    let output = output.expect("the program runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("it prints UTF-8");
    Said { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// All texts in a JSON value.
fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(values) => values.iter().for_each(|value| texts(value, found)),
        Value::Object(values) => values.values().for_each(|value| texts(value, found)),
        _ => {}
    }
}

/// A validator and a full node that joined it: each is seen and steered through its own endpoint, at the port after the API's or where it was put.
#[test]
fn an_operator_sees_and_steers_nodes() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let port = free_ports(4);
    let (api, own, other, p2p) = (port.to_string(), port + 1, port + 2, (port + 3).to_string());
    let genesis = ["genesis", "--validators", "1", "--fund", FUNDED, "--block-time-ms", "200", "--p2p-port", &p2p, "--out", "network"];
    let made = daemon(root, &genesis);
    assert_eq!(made.0, Some(0), "{made:?}");
    let config = ["start", "--config", "network/validator-0.json", "--listen", "127.0.0.1:0"];
    let exposed = daemon(root, &[&config[..], &["--port", &api, "--admin", &format!("0.0.0.0:{own}")]].concat());
    assert!(exposed.0 == Some(1) && exposed.1.contains("no address of the loopback"), "{exposed:?}");
    let validator = Node::start(root, &[&config[..], &["--port", &api]].concat()).expect("it starts");
    let record = validator.said.iter().find_map(|line| line.strip_prefix("record ")).expect("it prints its record");
    wait_for_height(&validator.url, 5);
    let join = ["join", "--dir", "full", "--port", "0", "--listen", "127.0.0.1:0", "--bootstrap", record];
    let full = Node::start(root, &[&join[..], &["--admin", &format!("127.0.0.1:{other}")]].concat()).expect("it joins");

    let settings = admin(root, own, &["config", "--json"]);
    let shown = settings.json();
    assert_eq!((&shown["is_validator"], &shown["is_dev"], &shown["block_time"]), (&true.into(), &false.into(), &"governed".into()));
    assert_eq!(shown["admin"], format!("127.0.0.1:{own}"));
    assert_eq!(admin(root, other, &["config", "--json"]).json()["is_validator"], false);
    let file = fs::read_to_string(root.join("network/validator-0.json")).expect("it is there");
    let file: Value = serde_json::from_str(&file).expect("it is JSON");
    let mut secrets = Vec::new();
    texts(&file["secrets"], &mut secrets);
    assert!(!secrets.is_empty());
    for secret in secrets {
        assert!(!settings.stdout.contains(secret.trim_start_matches("0x")), "a secret is shown");
    }

    let peers = admin(root, other, &["peers", "--json"]).json();
    let source = &peers["sources"][0];
    assert!(source["name"].as_str().is_some_and(|name| name.starts_with("peer ")), "{peers}");
    assert!(source["round_trip_us"].is_u64() && source["is_usable"] == true && peers["bans"] == serde_json::json!([]), "{peers}");
    let said = admin(root, other, &["peers"]);
    assert!(said.stdout.contains(" ms, ") && said.stdout.ends_with("no bans\n"), "{said:?}");
    let said = admin(root, other, &["unban", "192.0.2.7"]);
    assert!(said.code == Some(1) && said.stderr.contains("192.0.2.7"), "nobody is banned: {said:?}");

    assert_eq!(admin(root, own, &["log-level", "warn,cowboy_node=debug"]).code, Some(0));
    let level = admin(root, own, &["log-level", "--json"]).json();
    assert!(level["filter"].as_str().is_some_and(|filter| filter.contains("cowboy_node=debug")), "{level}");
    assert_eq!(admin(root, own, &["log-level", "cowboy_node=loud"]).code, Some(1));
    assert_eq!(admin(root, own, &["log-level", "--json"]).json(), level, "what is no filter changes nothing");

    let stores = admin(root, own, &["stores", "--json"]);
    assert!(stores.code == Some(0) && stores.json()["is_sound"] == true, "{stores:?}");
    assert_eq!(admin(root, own, &["pool", "--json"]).json()["transactions"], 0);
    assert!(admin(root, own, &["metrics"]).stdout.contains("\ncowboy_node_height "));
    for order in ["metrics", "log-level", "peers", "unban", "config", "pool", "stores"] {
        let help = admin(root, own, &[order, "--help"]);
        assert!(help.code == Some(0) && help.stdout.contains("--admin <ADDRESS:PORT>"), "{help:?}");
    }
    assert_eq!((full.terminate(), validator.terminate()), (Some(0), Some(0)));
    let said = admin(root, own, &["peers"]);
    assert!(said.code == Some(1) && said.stderr.contains("no node has its operator's endpoint"), "{said:?}");
}
