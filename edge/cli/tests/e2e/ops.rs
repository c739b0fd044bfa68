//! What operators use: the files in `ops/`, whose alerts and panels name metrics that exist; `cowboyd testnet`; `cowboyd doctor`.
#![cfg(unix)]

use crate::{
    network::{KEY, RECEIVER, daemon, free_ports},
    process::{Node, PATIENCE, cowboy, get_text, wait_for_block, wait_for_height},
};
use serde_json::Value;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    net::{TcpListener, UdpSocket},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
    time::Instant,
};

const RULES: &str = include_str!("../../../../ops/prometheus.rules.yml");
const DASHBOARD: &str = include_str!("../../../../ops/grafana.json");

/// Words of PromQL and labels, beside which a query has only metrics.
const WORDS: [&str; 15] = [
    "and",
    "by",
    "count",
    "histogram_quantile",
    "increase",
    "instance",
    "label_values",
    "le",
    "leader",
    "max",
    "method",
    "or",
    "peer",
    "rate",
    "sum",
];

/// How the metrics of a gateway begin, which its own tests compare.
const OF_GATEWAYS: &str = "cowboy_gateway_";

/// What Prometheus makes itself.
const OF_PROMETHEUS: [&str; 1] = ["up"];

/// The metrics that the alerts and the dashboard name.
pub(crate) fn named() -> BTreeSet<String> {
    let dashboard: Value = serde_json::from_str(DASHBOARD).expect("the dashboard is JSON");
    let panels = dashboard["panels"].as_array().expect("it has panels");
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().expect("a panel has targets"));
    let variables = dashboard["templating"]["list"].as_array().expect("it has variables");
    let variables = variables.iter().filter(|variable| variable["type"] == "query").map(|variable| &variable["query"]);
    let mut queries: Vec<String> =
        targets.map(|target| &target["expr"]).chain(variables).map(|query| query.as_str().expect("a query is a text").to_owned()).collect();
    let alerts = RULES.matches("- alert: ").count();
    queries.extend(RULES.lines().filter_map(|line| line.trim().strip_prefix("expr: ")).map(str::to_owned));
    assert!(alerts > 5 && panels.len() > 5 && queries.len() >= alerts + panels.len());
    queries.iter().flat_map(|query| names(query)).collect()
}

/// The metrics in a query: its words outside of braces, brackets and texts.
fn names(query: &str) -> Vec<String> {
    let mut outside = String::new();
    let mut depth = 0u32;
    for letter in query.chars() {
        depth += u32::from(matches!(letter, '{' | '['));
        outside.push(if depth == 0 { letter } else { ' ' });
        depth -= u32::from(matches!(letter, '}' | ']'));
    }
    let words = outside.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    let is_name = |word: &&str| {
        word.starts_with(|letter: char| letter.is_ascii_lowercase()) && !WORDS.contains(word) && !OF_PROMETHEUS.contains(word)
    };
    words.filter(is_name).map(str::to_owned).collect()
}

/// The named metrics that a node at this address of `/metrics` does not have.
pub(crate) fn missing(metrics_url: &str) -> Vec<String> {
    let page = get_text(metrics_url, "/metrics");
    let samples: BTreeSet<&str> =
        page.lines().filter(|line| !line.starts_with('#')).filter_map(|line| line.split(['{', ' ']).next()).collect();
    named().into_iter().filter(|name| !name.starts_with(OF_GATEWAYS) && !samples.contains(name.as_str())).collect()
}

/// Names are found wherever a query has them.
#[test]
fn names_are_read_from_queries() {
    let query = "sum by (instance, le) (rate(one_bucket{peer=~\"two\"}[5m])) / three > 0.5 and 10e9 < up{job=\"four\"}";
    assert_eq!(names(query), ["one_bucket", "three"]);
}

/// Whether a process of this number runs.
fn runs(pid: &str) -> bool {
    Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// What doctor says of each check: the worst level, and everything that it says. Its exit code agrees.
fn doctor(root: &Path, arguments: &[&str]) -> BTreeMap<String, (String, String)> {
    let (code, said) = daemon(root, &[&["--json", "doctor"], arguments].concat());
    let end = said.rfind("]\n").expect("a list of findings") + 1;
    let findings: Vec<Value> = serde_json::from_str(&said[..end]).unwrap_or_else(|error| panic!("{error}: {said}"));
    let mut found = BTreeMap::new();
    for finding in &findings {
        let text = |name: &str| finding[name].as_str().unwrap_or_default().to_owned();
        let (level, says): &mut (String, String) = found.entry(text("check")).or_default();
        if level.is_empty() || text("level") == "fail" {
            *level = text("level");
        }
        *says += &format!("{} {}\n", text("says"), text("fix"));
        assert!(finding["level"] == "ok" || !text("fix").is_empty(), "what is wrong has a remedy: {finding}");
    }
    let has_failed = findings.iter().any(|finding| finding["level"] == "fail");
    assert_eq!(code, Some(i32::from(has_failed)), "{said}");
    found
}

/// What a command of the gateway of a testnet prints, or why it fails.
fn gateway(net: &Path, command: &str) -> Result<Value, String> {
    let arguments = ["--config", "gateway-0.toml", "--json", command];
    let output = Command::new(env!("CARGO_BIN_EXE_cowboy-gateway")).args(arguments).current_dir(net).output().expect("the program runs");
    let is_done = output.status.success();
    serde_json::from_slice(&output.stdout).ok().filter(|_| is_done).ok_or_else(|| format!("{command}: {output:?}"))
}

/// A gateway that runs and is registered is healthy for its own doctor, and its status has what the chain and the process know.
fn gateway_is_healthy(net: &Path, node: &str) {
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        match gateway(net, "status") {
            Ok(status) if status["gateway"]["is_active"] == true => break status,
            found => assert!(Instant::now() < deadline, "it does not register: {found:?}"),
        }
        wait_for_block(node);
    };
    assert_eq!((&status["gateway"]["address"], status["height"].is_u64()), (&status["process"]["gateway"], true), "{status}");
    let checks = gateway(net, "doctor").expect("it is healthy");
    let checks: Vec<&str> = checks.as_array().into_iter().flatten().filter_map(|check| check["what"].as_str()).collect();
    let expected = ["key", "node", "clock", "state", "disk", "files", "ports", "registration", "fees", "endpoint", "reachable"];
    assert_eq!(checks, expected);
}

/// Four validators, a full node, a runner and a gateway, each a process: a transfer reaches the full node, doctor finds a validator and the
/// gateway healthy, and at the end nothing is left.
#[test]
fn a_testnet_is_many_processes_and_leaves_none() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let p2p = free_ports(4).to_string();
    let members = ["--validators", "4", "--full-nodes", "1", "--runners", "1", "--gateways", "1", "--epoch", "60"];
    let options = ["--block-time-ms", "200", "--port", "0", "--p2p-port", &p2p, "--state", "net"];
    let testnet = Node::start(root, &[&["testnet"], &members[..], &options].concat()).expect("the testnet starts");
    let rows: Vec<(&str, &str)> = testnet.said.iter().filter_map(|line| line.split_once("  pid ")).collect();
    let url_of = |name: &str| {
        let (line, _) = rows.iter().find(|(line, _)| line.starts_with(name)).unwrap_or_else(|| panic!("no {name}: {rows:?}"));
        line[name.len()..].trim().to_owned()
    };
    assert_eq!(rows.len(), 7, "{rows:?}");
    let full_node = url_of("full node 0");
    let sent = cowboy(root, &full_node, &["transfer", RECEIVER, "1cby", "--private-key", KEY, "--json"]);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let height = sent.json()["receipt"]["block_height"].as_u64().expect("the receipt names its block");
    wait_for_height(&url_of("validator 3"), height);
    let balance = cowboy(root, &url_of("validator 3"), &["account", "balance", RECEIVER, "--json"]).json();
    assert_eq!(balance["balance"], 1_000_000_000, "{balance}");
    let runners = cowboy(root, &full_node, &["runner", "list", "--json"]).json();
    assert_eq!(runners["runners"].as_array().map(Vec::len), Some(1), "{runners}");

    let port = url_of("validator 1").rsplit(':').next().expect("a port").to_owned();
    let look = || doctor(root, &["--config", "net/validator-1.json", "--port", &port]);
    // Three of four make blocks, so that the last connection may come some blocks after the first one.
    let mut looks = (height..height + 50).map(|height| {
        wait_for_height(&url_of("validator 1"), height);
        look()
    });
    let is_connected = |found: &BTreeMap<String, (String, String)>| found.get("peers").is_some_and(|(level, _)| level == "ok");
    let found = looks.find(is_connected).unwrap_or_else(look);
    for check in ["config", "keys", "state", "limits", "ports", "clock", "peers", "progress", "addresses", "validator"] {
        assert_eq!(found.get(check).map(|(level, _)| level.as_str()), Some("ok"), "{check}: {found:#?}");
    }
    assert!(found["reports"].1.contains("for reports of faults"), "{found:#?}");
    // The files of another validator than the one that runs there.
    let found = doctor(root, &["--config", "net/validator-1.json", "--port", "1"]);
    assert!(found["ports"].0 == "fail" && found["ports"].1.contains("end the program that has it"), "{found:#?}");
    let again = daemon(root, &["testnet", "--state", "net", "--port", "0", "--p2p-port", &free_ports(4).to_string()]);
    assert!(again.0 == Some(1) && again.1.contains("net is not empty"), "{again:?}");

    gateway_is_healthy(&root.join("net"), &full_node);

    // The command that it prints is all that another full node needs.
    let command = testnet.said.iter().find_map(|line| line.strip_prefix("to join: cowboyd ")).expect("it says how to join");
    wait_for_height(&full_node, 20);
    let joined = Node::start(root, &command.split_whitespace().collect::<Vec<_>>()).expect("it joins");
    wait_for_height(&joined.url, height);
    let shown = daemon(root, &["record", "--config", "net/validator-0.json"]);
    assert!(shown.0 == Some(0) && command.contains(shown.1.trim()), "{shown:?}");
    assert_eq!(joined.terminate(), Some(0));

    let pids: Vec<String> = rows.iter().map(|(_, pid)| (*pid).to_owned()).collect();
    assert!(pids.iter().all(|pid| runs(pid)));
    assert_eq!(testnet.terminate(), Some(0));
    assert!(pids.iter().all(|pid| !runs(pid)), "something is left of {pids:?}");
}

/// Validators whose datagrams take a while, and of which some are lost, agree nevertheless. None dials another directly.
#[test]
fn a_testnet_has_slow_and_lossy_links() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let port = free_ports(4);
    let links = ["--latency", "20ms±10ms", "--loss", "2%", "--seed", "7"];
    let options = ["--block-time-ms", "200", "--port", "0", "--p2p-port", &port.to_string(), "--state", "net"];
    let testnet = Node::start(root, &[&["testnet"], &links[..], &options].concat()).expect("the testnet starts");
    for index in 0..4 {
        let file: Value =
            serde_json::from_slice(&fs::read(root.join(format!("net/validator-{index}.json"))).expect("it is there")).expect("JSON");
        let peers = file["peers"].as_array().expect("a list");
        let ports = peers.iter().filter_map(|peer| peer["address"].as_str()?.rsplit(':').next()?.parse::<u16>().ok());
        let direct: Vec<u16> = ports.filter(|other| (port..port + 4).contains(other)).collect();
        assert!(peers.len() == 3 && direct.is_empty(), "{direct:?}");
    }
    wait_for_height(&testnet.url, 10);
    let sent = cowboy(root, &testnet.url, &["transfer", RECEIVER, "1cby", "--private-key", KEY, "--json"]);
    assert_eq!(sent.code, Some(0), "{sent:?}");
    let refused = daemon(root, &["testnet", "--loss", "2"]);
    assert!(refused.0 == Some(2) && refused.1.contains("give 2% or 0.5%"), "{refused:?}");
    assert_eq!(testnet.terminate(), Some(0));
}

/// Killed without a word, it leaves no member behind: each notices that its input has ended.
#[test]
fn a_testnet_that_is_killed_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let p2p = free_ports(1).to_string();
    let members = ["testnet", "--validators", "1", "--full-nodes", "1", "--runners", "1", "--gateways", "1"];
    let options = ["--block-time-ms", "200", "--port", "0", "--p2p-port", &p2p, "--state", "net"];
    let testnet = Node::start(folder.path(), &[&members[..], &options].concat()).expect("the testnet starts");
    let pids: Vec<String> = testnet.said.iter().filter_map(|line| Some(line.split_once("  pid ")?.1.to_owned())).collect();
    assert!(pids.len() == 4 && pids.iter().all(|pid| runs(pid)), "{pids:?}");
    // Killed, not told to stop.
    drop(testnet);
    for pid in pids {
        let waited = Command::new("timeout").args(["60", "tail", &format!("--pid={pid}"), "-f", "/dev/null"]).status();
        assert!(waited.is_ok_and(|status| status.success()), "{pid} still runs");
    }
}

/// A port that is taken is named with its option, and a network that cannot be leaves no folder: the next start can have the same one.
#[test]
fn a_testnet_that_cannot_start_leaves_no_folder() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let (api, peers) = (TcpListener::bind("127.0.0.1:0").expect("a free port"), UdpSocket::bind("127.0.0.1:0").expect("a free port"));
    let api = api.local_addr().map(|address| (address.port().to_string(), api)).expect("an address");
    let peers = peers.local_addr().map(|address| (address.port().to_string(), peers)).expect("an address");
    let free = free_ports(1).to_string();
    let twice: [&str; 4] = ["--parameter", "rent.rate=8", "--parameter", "rent.rate=7"];
    let rows: [(&[&str], String); 5] = [
        (&twice, "--parameter has rent.rate twice".to_owned()),
        (&["--epoch", "60", "--parameter", "consensus.epoch=70"], "--epoch and --parameter consensus.epoch are the same".to_owned()),
        (&["--port", &api.0, "--p2p-port", &free], format!("cannot listen at 127.0.0.1:{}", api.0)),
        (&["--port", "0", "--p2p-port", &peers.0], "take another port with --p2p-port".to_owned()),
        (&["--port", "0", "--p2p-port", &free, "--parameter", "no.such=1"], "no.such".to_owned()),
    ];
    for (options, reason) in rows {
        let (code, said) = daemon(root, &[&["testnet", "--validators", "1", "--state", "net"], options].concat());
        assert!(code != Some(0) && said.contains(&reason) && !root.join("net").exists(), "{options:?}: {said}");
    }
}

/// An epoch that is too short for its validators cannot be mended later, so it is said when the genesis is made.
#[test]
fn an_epoch_that_is_too_short_is_said() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    fs::write(root.join("genesis.toml"), "[parameters]\n\"consensus.epoch\" = 10\n").expect("it is writable");
    let said = |validators: &str| {
        let (code, said) = daemon(root, &["genesis", "--config", "genesis.toml", "--validators", validators, "--out", validators]);
        assert_eq!(code, Some(0), "{said}");
        said
    };
    assert!(!said("4").contains("Warning"), "10 blocks are enough for 4");
    assert!(said("7").contains("Warning: consensus.epoch is 10, and 7 validators need 11 blocks or more"), "they are not for 7");
}

/// Doctor names what is wrong with the files, keys and ports of a node that does not run, and what to do.
#[test]
fn doctor_finds_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let port = free_ports(2);
    for out in ["one", "two"] {
        let made = daemon(root, &["genesis", "--validators", "2", "--out", out, "--p2p-port", &port.to_string()]);
        assert_eq!(made.0, Some(0), "{made:?}");
    }
    let (config, api) = ("one/validator-0.json", free_ports(2).to_string());
    let checked = |file: &str| doctor(root, &["--config", file, "--port", &api]);
    let found = checked(config);
    assert!(found.values().all(|(level, _)| level != "fail"), "{found:#?}");
    assert!(found["ports"].1.contains("(UDP) for validators") && found["clock"].0 == "warn", "{found:#?}");

    let text = fs::read_to_string(root.join(config)).expect("it is readable");
    let change = |name: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        fs::write(root.join(name), text.replace(from, to)).expect("it is writable");
        fs::set_permissions(root.join(name), fs::Permissions::from_mode(0o600)).expect("it is ours");
    };
    let key = |index: usize, name: &str| {
        let file: Value =
            serde_json::from_slice(&fs::read(root.join(format!("one/validator-{index}.json"))).expect("it is there")).expect("JSON");
        file["secrets"][name].as_str().expect("a key").to_owned()
    };
    fs::copy(root.join("two/genesis.json"), root.join("one/other.json")).expect("it is writable");
    change("one/foreign.json", "\"genesis.json\"", "\"other.json\"");
    change("one/mixed.json", &key(0, "signer"), &key(1, "signer"));
    change("one/broken.json", &key(0, "network"), "0x12");
    change("one/lost.json", "\"genesis.json\"", "\"nowhere.json\"");
    change("one/unnamed.json", &format!("127.0.0.1:{}", port + 1), "no-such-host.invalid:3000");
    fs::write(root.join("one/cut.json"), &text[..40]).expect("it is writable");
    change("one/open.json", "127.0.0.1", "127.0.0.1");
    fs::set_permissions(root.join("one/open.json"), fs::Permissions::from_mode(0o644)).expect("it is ours");
    for (file, check, words) in [
        ("one/foreign.json", "keys", "of this genesis"),
        ("one/mixed.json", "keys", "the signer key is not the one of the validator"),
        ("one/broken.json", "keys", "the network key of the validator's file is not valid"),
        ("one/lost.json", "genesis", "nowhere.json"),
        ("one/unnamed.json", "peers", "no-such-host.invalid:3000 is not found"),
        ("one/cut.json", "config", "one/cut.json is not what"),
        ("one/open.json", "keys", "chmod 600"),
    ] {
        let found = checked(file);
        assert!(found[check].0 == "fail" && found[check].1.contains(words), "{file}: {found:#?}");
    }

    let _taken = UdpSocket::bind(("127.0.0.1", port)).expect("it is free");
    fs::create_dir_all(root.join("one/state-0/secrets")).expect("it is writable");
    fs::write(root.join("one/state-0/secrets/epoch-3"), "damaged").expect("it is writable");
    fs::write(root.join("one/state-0/chain"), format!("format 2\ngenesis 0x{}\n", "07".repeat(32))).expect("it is writable");
    let found = checked(config);
    for (check, words) in [("ports", "is not free for validators"), ("shares", "epoch-3 is damaged"), ("state", "has another chain")] {
        assert!(found[check].0 == "fail" && found[check].1.contains(words), "{found:#?}");
    }
}

/// What keeps a validator from starting is named, with what to do about it, and nothing is made or changed: a port that is taken, keys of
/// another validator or of another chain, a state and shares of another chain, files that are cut off or damaged.
#[test]
fn what_keeps_a_validator_from_starting_is_one_sentence() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let port = free_ports(2);
    for out in ["one", "two"] {
        let made = daemon(root, &["genesis", "--validators", "2", "--out", out, "--p2p-port", &port.to_string()]);
        assert_eq!(made.0, Some(0), "{made:?}");
    }
    let text = fs::read_to_string(root.join("one/validator-1.json")).expect("it is readable");
    let put = |name: &str, text: &str| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it is writable");
        fs::write(path, text).expect("it is writable");
    };
    let file = |name: &str| -> Value { serde_json::from_slice(&fs::read(root.join(name)).expect("it is there")).expect("JSON") };
    let (mut foreign, other) = (file("one/validator-1.json"), file("two/validator-1.json"));
    foreign["secrets"]["share"] = file("one/validator-0.json")["secrets"]["share"].clone();
    put("one/foreign.json", &foreign.to_string());
    foreign["secrets"] = other["secrets"].clone();
    put("one/elsewhere.json", &foreign.to_string());
    put("one/cut.json", &text[..40]);
    for (name, state) in [("moved", "other-chain"), ("damaged", "damaged")] {
        put(&format!("one/{name}.json"), &text.replace("state-1", state));
    }
    put("one/other-chain/chain", &format!("format 2\ngenesis 0x{}\n", "07".repeat(32)));
    put("one/damaged/secrets/epoch-2", "damaged");
    let _taken = UdpSocket::bind(("127.0.0.1", port)).expect("it is free");
    for (config, problem, mend) in [
        ("validator-0", format!("127.0.0.1:{port} is not free for validators"), "choose another address"),
        ("foreign", "the share key is not the one of the validator".to_owned(), "use the validator's file that was made with this genesis"),
        ("elsewhere", "is of no validator of this genesis".to_owned(), "use the validator's file that was made with it"),
        ("cut", "cut.json is not what".to_owned(), "copy it again"),
        ("moved", "holds the chain with genesis 0x0707".to_owned(), "choose another folder"),
        ("damaged", "epoch-2 is damaged".to_owned(), "restore it"),
    ] {
        let config = format!("one/{config}.json");
        let (code, said) = daemon(root, &["start", "--config", &config, "--port", "0"]);
        assert!(code == Some(1) && said.contains(&problem) && said.contains(mend) && !said.contains("panicked"), "{config}: {said}");
    }
    assert!(!root.join("one/state-0").exists() && !root.join("one/state-1").exists());
    assert_eq!(fs::read_to_string(root.join("one/damaged/secrets/epoch-2")).ok().as_deref(), Some("damaged"));
}
