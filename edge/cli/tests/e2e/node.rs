//! `cowboyd`: starting, refusing to start, stopping, keeping its chain.

use crate::process::{Node, cowboy, wait_for_height};
use std::{fs, net::TcpListener, path::Path};

#[test]
fn the_banner_says_where_everything_is_and_who_has_money() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let node = Node::dev(folder.path(), &[]);
    let banner = node.said.join("\n");
    let expected = [
        "chain id   1337",
        &format!("RPC        {}", node.url),
        &format!("explorer   {}/explorer/", node.url),
        &format!("swagger    {}/swagger-ui/", node.url),
        "base fees  10000 per cycle, 10000 per cell",
        "(0) 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266  0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
        "(9) 0xa0ee7a142d267c1f36714e4a8f75612f20a79720  0x2a871d0798f97d79848a013d4936a73bf4cc922c825d33c1cf7073dff6d409c6",
    ];
    for line in expected {
        assert!(banner.contains(line), "no {line:?} in\n{banner}");
    }
    assert_eq!(node.terminate(), Some(0), "SIGTERM is a clean end");
}

/// Jobs would wait in vain for runners that do not start: the devnet does not start, with the reason, and the folder of its chain is not made.
#[test]
fn a_devnet_whose_runners_cannot_work_does_not_start() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    fs::write(folder.path().join("runner.toml"), "[tools.sum]\nfile = \"none.wasm\"\n").expect("the directory is writable");
    let arguments = ["dev", "--port", "0", "--state", "chain", "--runners", "1", "--no-demo", "--runner-config", "runner.toml"];
    let refused = Node::start(folder.path(), &arguments).err().unwrap_or_default();
    assert!(refused.starts_with("exit Some(1): ") && refused.contains("the devnet's runners do not work: "), "{refused}");
    assert!(refused.contains("none.wasm") && refused.contains("fix: correct the file of --runner-config"), "{refused}");
    assert!(!folder.path().join("chain").exists(), "nothing is made");
}

/// What stands in the way is named, with what to do about it, and nothing is touched.
#[test]
fn a_node_that_cannot_start_says_why() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let busy = TcpListener::bind(("127.0.0.1", 0)).expect("the loopback has free ports");
    let port = busy.local_addr().expect("it listens").port().to_string();
    fs::create_dir(root.join("thesis")).expect("the directory is writable");
    fs::write(root.join("thesis/text"), "years of work").expect("the directory is writable");
    fs::create_dir(root.join("damaged")).expect("the directory is writable");
    fs::write(root.join("damaged/dev.json"), "{").expect("the directory is writable");
    damaged(root, "no-state", "state");
    damaged(root, "no-votes", "simplex");
    let kept = Node::dev(root, &["--state", "kept"]);
    let newer = newer_state(root);
    let rows: Vec<(Vec<&str>, &str, &str)> = vec![
        (vec!["dev", "--port", &port], "exit Some(1)", "cannot listen"),
        (vec!["dev", "--port", "0", "--state", "thesis"], "exit Some(1)", "not a node's folder"),
        (vec!["dev", "--port", "0", "--state", "thesis", "--reset"], "exit Some(1)", "not a node's folder"),
        (vec!["dev", "--port", "0", "--state", "damaged"], "exit Some(1)", "damaged"),
        (vec!["dev", "--port", "0", "--state", "thesis/text"], "exit Some(1)", "a part of the path is a file"),
        (vec!["dev", "--port", "0", "--state", "thesis/text/chain"], "exit Some(1)", "a part of the path is a file"),
        (
            vec!["dev", "--port", "0", "--runners", "0", "--state", "no-state"],
            "exit Some(1)",
            "are damaged: the chain cannot go on after block",
        ),
        (vec!["dev", "--port", "0", "--runners", "0", "--state", "no-votes"], "exit Some(1)", "the engine's record of its votes is lost"),
        (vec!["dev", "--port", "0", "--state", "kept"], "exit Some(1)", "in use by another node"),
        (vec!["dev", "--port", "0", "--state", newer], "exit Some(1)", "use a newer program"),
        (vec!["dev", "--port", "0", "--example", "nonsense"], "exit Some(2)", "choose one of"),
        (vec!["dev", "--port", "0", "--mnemonic", "not words"], "exit Some(1)", "not a mnemonic"),
        (vec!["dev", "--port", "0", "--balance", "100000000"], "exit Some(1)", "bucket"),
        (
            vec!["dev", "--port", "0", "--parameter", "rent.rate=8", "--parameter", "rent.rate=7"],
            "exit Some(2)",
            "--parameter has rent.rate twice",
        ),
        (vec!["dev", "--block-time", "fast"], "exit Some(2)", "not a block time"),
        (vec!["dev", "--reset"], "exit Some(2)", "--state"),
        (vec!["start", "--config", "nowhere.json"], "exit Some(1)", "nowhere.json"),
        (vec!["follow", "http://127.0.0.1:1"], "exit Some(1)", "unreachable"),
        (
            vec!["follow", &kept.url, "--port", "0", "--genesis", "0x0000000000000000000000000000000000000000000000000000000000000000"],
            "exit Some(1)",
            "follow another node",
        ),
        (vec!["nonsense"], "exit Some(2)", "cowboyd has the commands dev, "),
    ];
    for (arguments, code, reason) in rows {
        let said = Node::start(root, &arguments).err().unwrap_or_default();
        assert!(said.starts_with(code) && said.contains(reason), "{arguments:?}: {said}");
    }
    assert_eq!(fs::read_to_string(root.join("thesis/text")).ok().as_deref(), Some("years of work"));
    assert_eq!(kept.terminate(), Some(0), "the node that holds the folder has noticed nothing");
}

/// A folder whose chain has four blocks, and has lost some of the engine's files.
fn damaged(root: &Path, name: &str, lost: &str) {
    let node = Node::dev(root, &["--state", name]);
    assert_eq!(cowboy(root, &node.url, &["chain", "mine", "4"]).code, Some(0));
    assert_eq!(node.terminate(), Some(0));
    let engine = root.join(name).join("engine");
    let mut removed = 0;
    for partition in fs::read_dir(&engine).expect("the engine has files").flatten() {
        if partition.file_name().to_string_lossy().starts_with(&format!("cowboy-{lost}")) {
            fs::remove_dir_all(partition.path()).expect("the directory is writable");
            removed += 1;
        }
    }
    assert!(removed > 0, "nothing of {engine:?} begins with cowboy-{lost}");
}

/// A folder that a newer program left behind.
fn newer_state(root: &Path) -> &'static str {
    let node = Node::dev(root, &["--state", "newer"]);
    assert_eq!(node.terminate(), Some(0));
    let marker = root.join("newer/chain");
    let text = fs::read_to_string(&marker).expect("the folder has a marker");
    fs::write(&marker, text.replacen("format 3", "format 999", 1)).expect("the marker is writable");
    "newer"
}

#[test]
fn a_kept_chain_goes_on_and_a_reset_one_begins_anew() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let faucet = |url: &str| cowboy(root, url, &["faucet", "0x1100000000000000000000000000000000000011", "--json"]);
    let balance = |url: &str| {
        cowboy(root, url, &["account", "balance", "0x1100000000000000000000000000000000000011", "--json"]).json()["balance"].as_u64()
    };
    let genesis = |url: &str| cowboy(root, url, &["status", "--json"]).json()["health"]["genesis"].as_str().map(str::to_owned);

    let first = Node::dev(root, &["--state", "chain"]);
    assert_eq!(faucet(&first.url).code, Some(0));
    let (was, money) = (genesis(&first.url), balance(&first.url));
    assert_eq!(money, Some(5_000_000_000_000));
    assert_eq!(first.terminate(), Some(0));

    let other = Node::start(root, &["dev", "--port", "0", "--state", "chain", "--chain-id", "6"]).err().unwrap_or_default();
    assert!(other.starts_with("exit Some(1)") && other.contains("the one in chain began with --chain-id 1337"), "{other}");
    let second = Node::dev(root, &["--state", "chain"]);
    assert_eq!((genesis(&second.url), balance(&second.url)), (was.clone(), money), "the chain goes on");
    let accounts = second.said.iter().filter(|line| line.starts_with('(')).count();
    assert_eq!(accounts, 10, "the banner lists the chain's accounts: {:?}", second.said);
    drop(second);

    let third = Node::dev(root, &["--state", "chain"]);
    assert_eq!((genesis(&third.url), balance(&third.url)), (was.clone(), money), "even after being killed");
    assert_eq!(third.terminate(), Some(0));

    let fourth = Node::dev(root, &["--state", "chain", "--reset"]);
    assert_eq!(balance(&fourth.url), Some(0), "a reset chain begins anew");
    assert_ne!(genesis(&fourth.url), was);
}

/// A follower trusts nothing: it verifies certificates, executes, and gives the same responses.
#[test]
fn a_follower_answers_what_its_source_does() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let source = Node::dev(root, &[]);
    let account = "0x1100000000000000000000000000000000000011";
    let sent = cowboy(root, &source.url, &["faucet", account, "--json"]).json();
    let follower = Node::start(root, &["follow", &source.url, "--port", "0", "--state", "follower"]).expect("the follower starts");
    let hash = sent["tx_hash"].as_str().expect("the faucet names its transaction");
    // The follower answers a question about the block only once it has it.
    let height =
        cowboy(root, &source.url, &["transaction", "status", hash, "--json"]).json()["block_height"].as_u64().expect("it is included");
    wait_for_height(&follower.url, height);
    for question in [
        vec!["account", "balance", account, "--json"],
        vec!["transaction", "status", hash, "--json"],
        vec!["block", "get", &height.to_string(), "--json"],
    ] {
        let (asked, followed) = (cowboy(root, &source.url, &question), cowboy(root, &follower.url, &question));
        let mut expected = asked.json();
        let mut found = followed.json();
        // Which certificates a node holds is its own affair.
        expected["certificate"] = serde_json::Value::Null;
        found["certificate"] = serde_json::Value::Null;
        assert_eq!(found, expected, "{question:?}");
    }
    assert_eq!(cowboy(root, &follower.url, &["faucet", account]).code, Some(1), "a follower has no faucet");
    assert_eq!((follower.terminate(), source.terminate()), (Some(0), Some(0)));
}

/// Names cannot be served where the metrics are: the command says so before anything listens.
#[test]
fn names_and_metrics_need_ports_of_their_own() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let arguments = ["dev", "--port", "4000", "--gateway-port", "4001"];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_cowboyd")).args(arguments).current_dir(folder.path()).output();
    let output = output.expect("the program runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && said.contains("--gateway-port 4001 is in use") && said.contains("metrics"), "{said}");
}

/// A chain exported from one folder continues in another; and a folder that `init` made follows it.
#[test]
fn a_chain_moves_and_is_followed_from_a_config() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let account = "0x1100000000000000000000000000000000000011";
    let daemon = |arguments: &[&str]| {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_cowboyd")).args(arguments).current_dir(root).output();
        let output = output.expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr))
    };
    let first = Node::dev(root, &["--state", "chain"]);
    assert_eq!(cowboy(root, &first.url, &["faucet", account]).code, Some(0));
    let running = daemon(&["snapshot", "export", "--state", "chain", "--out", "chain.tar"]);
    assert!(running.0 == Some(1) && running.1.contains("in use by another node"), "{running:?}");
    assert_eq!(first.terminate(), Some(0));
    let packed = daemon(&["snapshot", "export", "--state", "chain", "--out", "chain.tar", "--json"]);
    assert_eq!(packed.0, Some(0), "{packed:?}");
    let unpacked = daemon(&["snapshot", "import", "chain.tar", "--state", "copy"]);
    assert_eq!(unpacked.0, Some(0), "{unpacked:?}");
    assert_eq!(daemon(&["check", "--state", "chain"]).0, Some(0), "everything is as it was written");
    let ledger = root.join("chain/ledger.redb");
    let mut bytes = fs::read(&ledger).expect("it is there");
    // Beyond the two copies of the first page, where the newest pages are.
    let at = (20_000..bytes.len()).find(|at| bytes[*at] != 0).expect("there are blocks");
    bytes[at] ^= 16;
    fs::write(&ledger, bytes).expect("it is writable");
    let damaged = daemon(&["check", "--state", "chain"]);
    assert!(damaged.0 == Some(1) && damaged.1.contains("damaged pages of the ledger"), "{damaged:?}");
    assert_eq!(daemon(&["snapshot", "import", "chain.tar", "--state", "chain"]).0, Some(0), "a folder with the same chain is replaced");
    let sound = daemon(&["check", "--state", "chain"]);
    assert!(sound.0 == Some(0) && sound.1.contains("the state is that of block"), "{sound:?}");
    let second = Node::dev(root, &["--state", "copy"]);
    let balance = |url: &str| cowboy(root, url, &["account", "balance", account, "--json"]).json()["balance"].as_u64();
    assert_eq!(balance(&second.url), Some(5_000_000_000_000), "the copy has what the chain had");
    let made = daemon(&["init", &second.url, "--out", "node"]);
    assert!(made.0 == Some(0) && made.1.contains("cowboyd start --config node/node.json"), "{made:?}");
    let again = daemon(&["init", &second.url, "--out", "node"]);
    assert_eq!(again.0, Some(1), "what is there stays: {again:?}");
    let follower = Node::start(root, &["start", "--config", "node/node.json", "--port", "0"]).expect("the follower starts");
    let height = cowboy(root, &second.url, &["status", "--json"]).json()["health"]["height"].as_u64().expect("a height");
    wait_for_height(&follower.url, height);
    assert_eq!(balance(&follower.url), Some(5_000_000_000_000), "the follower has executed everything");
    assert_eq!((follower.terminate(), second.terminate()), (Some(0), Some(0)));
}
