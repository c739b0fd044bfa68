//! `cowboy`: what it prints, as text and as JSON, and its exit codes.

use crate::process::{Node, cowboy};
use serde_json::json;
use std::{fs, path::Path};

const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const OWN: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const OTHER: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
const NOBODY: &str = "0x1100000000000000000000000000000000000011";

/// The newcomer's way to a first transfer, without a flag.
#[test]
fn a_newcomer_gets_from_nothing_to_a_transfer() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |arguments: &[&str]| {
        let said = cowboy(root, &node.url, arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said.stdout
    };
    assert!(run(&["init", "local"]).contains(&node.url));
    let made = run(&["wallet", "create"]);
    let address = made.lines().find_map(|line| line.strip_prefix("Address: ")).expect("the address is printed").to_owned();
    assert_eq!(run(&["wallet", "address"]).trim(), address);
    assert_eq!(run(&["wallet", "balance"]).trim(), "0 CBY (0 base units)");
    assert!(run(&["faucet"]).contains("Received: 5000 CBY"));
    assert_eq!(run(&["wallet", "balance"]).trim(), "5000 CBY (5000000000000 base units)");
    let sent = run(&["transfer", NOBODY, "2.5cby"]);
    assert!(sent.starts_with("Transaction hash: 0x") && sent.contains("Fee:    0.21 CBY"), "{sent}");
    assert_eq!(run(&["account", "balance", NOBODY]).trim(), "2.5 CBY (2500000000 base units)");
    assert_eq!(run(&["account", "nonce"]).trim(), "1");
    let hash = sent.lines().next().and_then(|line| line.strip_prefix("Transaction hash: ")).expect("the hash is printed");
    assert!(run(&["transaction", "status", hash]).starts_with("status  success"));
    assert!(run(&["block", "latest"]).contains(hash));
}

/// Every reading command has JSON, with the API's own fields.
#[test]
fn reading_commands_speak_json() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |arguments: &[&str]| {
        let said = cowboy(root, &node.url, &[arguments, &["--json", "--private-key", KEY]].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        assert_eq!(said.stderr, "", "{arguments:?} with --json says nothing else");
        said.json()
    };
    assert_eq!(run(&["version"]), json!({ "version": env!("CARGO_PKG_VERSION") }));
    assert_eq!(run(&["wallet", "address"])["address"], OWN);
    assert_eq!(run(&["account", "balance"]), json!({ "address": OWN, "nonce": 0, "balance": 10_000_000_000_000_u64 }));
    assert_eq!(run(&["account", "balance", NOBODY]), json!({ "address": NOBODY, "nonce": 0, "balance": 0 }));
    assert_eq!(run(&["account", "nonce", OTHER]), json!({ "address": OTHER, "nonce": 0 }));
    let digest = format!("0x{}", "11".repeat(32));
    let signed = run(&["transaction", "sign-hash", &digest]);
    assert_eq!((signed["address"].as_str(), signed["signature"].as_str().map(str::len)), (Some(OWN), Some(2 + 65 * 2)));
    let sent = run(&["transfer", "--to", OTHER, "--amount", "7"]);
    assert_eq!((&sent["receipt"]["status"], &sent["receipt"]["value"]), (&json!("success"), &json!(7)));
    let hash = sent["tx_hash"].as_str().expect("the hash is text");
    assert_eq!(run(&["transaction", "get", hash])["instruction"]["name"], "Transfer");
    assert_eq!(run(&["transaction", "status", hash])["fee"]["total"], 210_000_000);
    let height = sent["receipt"]["block_height"].to_string();
    assert_eq!(run(&["block", "get", &height])["receipts"][0]["tx_hash"], hash);
    assert_eq!(run(&["status"])["health"]["chain_id"], 1337);
    let proven = run(&["proof", "account"]);
    assert_eq!((&proven["verified"], &proven["present"], &proven["value"]["nonce"]), (&json!(true), &json!(true), &json!(1)));
    assert_eq!(run(&["proof", "account", NOBODY, "--absent"])["present"], false);
    let key = proven["group_key"].as_str().expect("the key is text");
    let genesis = proven["genesis"].as_str().expect("the genesis is text");
    let included = run(&["proof", "receipt", hash, "--genesis", genesis, "--group-key", key]);
    assert_eq!((&included["value"]["id"], &included["value"]["status"]), (&json!(hash), &json!("success")));
    assert_eq!(run(&["proof", "transaction", hash])["verified"], true);
    let mined = run(&["chain", "mine", "3"])["height"].as_u64().expect("a height");
    let snapshot = run(&["chain", "snapshot"]);
    let warped = run(&["chain", "warp", "--blocks", "1000"])["height"].as_u64().expect("a height");
    assert!(warped >= mined + 1_000);
    assert!(run(&["chain", "revert", &snapshot["id"].to_string()])["height"].as_u64() < Some(warped));
    assert_eq!(run(&["chain", "set-balance", NOBODY, "3cby"])["status"], "success");
    assert_eq!(run(&["chain", "impersonate", NOBODY, "transfer", OWN, "1cby"])["status"], "success");
    assert_eq!(run(&["account", "balance", NOBODY])["balance"], 2_000_000_000);
}

/// Keys are found in their order, and a bad one is named with its place.
#[test]
fn wallets_keep_and_find_keys() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let nowhere = "http://127.0.0.1:1";
    let run = |arguments: &[&str]| cowboy(root, nowhere, arguments);
    assert!(run(&["wallet", "address"]).stderr.contains("create one with `cowboy wallet create`"));
    let words = run(&["wallet", "create-mnemonic", "--out", "words.pem", "--json"]).json();
    let imported = run(&["wallet", "import", "--mnemonic", words["mnemonic"].as_str().expect("the words are text"), "--json"]).json();
    assert_eq!(imported["address"], words["address"], "the words make the same key");
    let again = run(&["wallet", "create"]);
    assert_eq!((again.code, again.stderr.contains("exists already")), (Some(1), true), "{again:?}");
    assert_eq!(run(&["wallet", "import", KEY, "--force"]).code, Some(0));
    assert_eq!(run(&["wallet", "address"]).stdout.trim(), OWN);
    assert_eq!(run(&["wallet", "export", "--format", "hex"]).stdout.trim(), KEY);
    let pem = run(&["wallet", "export"]).stdout;
    assert!(pem.starts_with("-----BEGIN COWBOY PRIVATE KEY-----"), "{pem}");
    fs::write(root.join("other.pem"), pem).expect("the directory is writable");
    assert_eq!(run(&["wallet", "address", "--private-key", "other.pem"]).stdout.trim(), OWN);
    fs::create_dir_all(root.join("deep/down")).expect("the directory is writable");
    assert_eq!(cowboy(&root.join("deep/down"), nowhere, &["wallet", "address"]).stdout.trim(), OWN, "from any folder below");
    fs::write(root.join(".cowboy/key"), "garbage").expect("the key is writable");
    let bad = run(&["wallet", "address"]);
    assert!(bad.code == Some(1) && bad.stderr.contains(".cowboy/key") && bad.stderr.contains("not a private key"), "{bad:?}");
}

struct Row<'a> {
    arguments: &'a [&'a str],
    code: i32,
    reason: &'a str,
}

/// 1 is failed, 2 is called wrongly; either way the reason is on stderr and nothing on stdout.
#[test]
fn failures_have_reasons_and_codes() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    fs::write(root.join("empty.pem"), "").expect("the directory is writable");
    let hash = format!("0x{}", "12".repeat(32));
    let get = ["transaction", "get", &hash];
    let elsewhere = ["proof", "account", NOBODY, "--genesis", &hash];
    let row = |arguments, code, reason| Row { arguments, code, reason };
    let rows = [
        row(&["nonsense"], 2, "unrecognized subcommand"),
        row(&["transfer"], 2, "required"),
        row(&["transfer", "me", "1", "--private-key", KEY], 2, "neither an address"),
        row(&["transfer", NOBODY, "much", "--private-key", KEY], 2, "not an amount"),
        row(&["transfer", NOBODY, "1", "--private-key", "0x12"], 1, "--private-key"),
        row(&["transfer", NOBODY, "1", "--private-key", "empty.pem"], 1, "not a private key"),
        row(&["transfer", NOBODY, "999999cby", "--private-key", KEY], 1, "insufficient_balance"),
        row(&["transfer", NOBODY, "1", "--private-key", KEY, "--nonce", "5", "--no-wait", "--cycles-limit", "1"], 1, "limit_too_low"),
        row(&["transaction", "get", "0x12"], 2, "not a hash"),
        row(&get, 1, "not_found"),
        row(&["transaction", "submit", "0x1234"], 2, "canonical"),
        row(&["transaction", "submit", "@nowhere"], 1, "nowhere"),
        row(&["block", "get", "123456"], 1, "not_found"),
        row(&["actor", "get", NOBODY], 1, "actor_not_found"),
        row(&["actor", "execute", NOBODY, "greet", "--private-key", KEY], 1, "actor_not_found"),
        row(&["actor", "query", NOBODY, "greet"], 1, "actor_not_found"),
        row(&["actor", "query", "hello", "greet"], 2, "nor an actor that this folder deployed"),
        row(&["actor", "deploy", "--code", "nowhere.py", "--private-key", KEY], 1, "nowhere.py"),
        row(&["actor", "new", "1x"], 2, "class name"),
        row(&["transfer", "0x12", "1", "--private-key", KEY], 2, "2 digits after 0x, and an address has 40"),
        row(&["proof", "storage", NOBODY, "0xz"], 2, "not hex"),
        row(&elsewhere, 1, "ask a node of the right chain"),
        row(&["proof", "account", NOBODY, "--group-key", "0x12"], 2, "the group key is not valid"),
        row(&["chain", "warp"], 2, "required"),
        row(&["chain", "revert", "9"], 1, "no snapshot"),
        row(&["status", "--rpc-url", "http://127.0.0.1:1"], 1, "unreachable"),
        row(&["status", "--rpc-url", "ftp://x"], 1, "http://host:port"),
    ];
    for Row { arguments, code, reason } in rows {
        let said = cowboy(root, &node.url, arguments);
        assert_eq!((said.code, said.stdout.as_str()), (Some(code), ""), "{arguments:?}: {said:?}");
        assert!(said.stderr.contains(reason), "{arguments:?}: no {reason:?} in {said:?}");
    }
    let said = cowboy(root, &node.url, &["block", "get", "123456", "--json"]);
    let error: serde_json::Value = serde_json::from_str(&said.stderr).expect("with --json a failure is JSON too");
    assert_eq!(error["error"]["slug"], "not_found");
}

#[test]
fn help_names_every_command() {
    let said = cowboy(Path::new("."), "http://127.0.0.1:1", &["--help"]);
    assert_eq!(said.code, Some(0));
    for command in [
        "init",
        "wallet",
        "account",
        "actor",
        "transfer",
        "faucet",
        "transaction",
        "block",
        "query",
        "proof",
        "status",
        "chain",
        "vm",
        "dev",
        "version",
    ] {
        assert!(said.stdout.contains(&format!("  {command} ")), "{command}: {}", said.stdout);
        let own = cowboy(Path::new("."), "http://127.0.0.1:1", &[command, "--help"]);
        assert!(own.code == Some(0) && own.stdout.contains("Usage: cowboy"), "{command}: {own:?}");
    }
}
