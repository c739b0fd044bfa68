//! What a node does under limits of the system, and whether it says how it stands.
#![cfg(target_os = "linux")]

use crate::process::{Node, cowboy, get_text};
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::Value;
use std::{fs, io::Read as _, net::TcpStream, os::unix::fs::PermissionsExt as _, path::Path, process::Command, time::Duration};

const DEV: [&str; 6] = ["dev", "--port", "0", "--runners", "0", "--no-gateway"];

/// A limit that is too low to run a node is told by its name, with what to do, and nothing is begun.
#[test]
fn limits_that_are_too_low_are_told_at_the_start() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let rows = [
        ("ulimit -n 64", "may open 64 files, and needs 384: raise the limit with `ulimit -n 4096`"),
        ("ulimit -f 2048", "may write files of 1 MiB"),
        ("ulimit -v 2000000", "may use 1953 MiB of address space"),
    ];
    for (limit, words) in rows {
        let arguments = [&DEV[..], &["--state", "chain"]].concat();
        let said = Node::limited(folder.path(), limit, &arguments).err().unwrap_or_default();
        assert!(said.starts_with("exit Some(1)") && said.contains(words), "{limit}: {said}");
        assert!(!folder.path().join("chain").exists(), "{limit}");
    }
}

/// Decision 287: a runner is told of limits at its start, too, instead of being ended without a word where a file grows beyond one; and of a key that
/// others can read.
#[test]
fn a_runner_hears_of_limits_at_the_start() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let key = folder.path().join("runner.key");
    fs::write(&key, "no key").expect("the directory is writable");
    let run = |limit: &str, mode: u32| {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).expect("it is ours");
        let script = format!("{limit} && exec \"$0\"");
        fs::write(folder.path().join("runner.toml"), "[runner]\nkey = \"runner.key\"\n[http]\n").expect("the directory is writable");
        let done = Command::new("sh")
            .args(["-c", &script, env!("CARGO_BIN_EXE_cowboy-runner")])
            .current_dir(folder.path())
            .env_remove("RUST_LOG")
            .env_remove("COWBOY_PRIVATE_KEY")
            .output()
            .expect("the shell runs");
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (code, said) = run("ulimit -f 2048", 0o600);
    assert!(code == Some(1) && said.contains("may write files of 1 MiB"), "{code:?}: {said}");
    // It ends for its key, which is none.
    for (mode, is_warned) in [(0o600, false), (0o640, true)] {
        let (code, said) = run("true", mode);
        assert!(code.is_some_and(|code| code != 0), "{mode:o}: {said}");
        assert_eq!(said.contains(&format!("has the mode {mode:o}, so others on this computer can use the key")), is_warned, "{said}");
    }
}

/// A limit that is met while the node runs ends it with the limit's name, and not without a word.
#[test]
fn limits_that_are_met_later_are_told() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let rows = [(Resource::Nofile, 1, "ulimit -n 4096"), (Resource::Fsize, 1_000, "ulimit -f unlimited")];
    for (resource, limit, words) in rows {
        let node = Node::start(folder.path(), &[&DEV[..], &["--block-time", "10ms"]].concat()).expect("the devnet starts");
        let lowered = Rlimit { current: Some(limit), maximum: Some(limit) };
        let pid = i32::try_from(node.id()).ok().and_then(Pid::from_raw).expect("a process has a number");
        prlimit(Some(pid), resource, lowered).expect("limits of one's own processes may be lowered");
        let (code, said) = node.ended();
        assert!(code == Some(1) && said.contains(words) && !said.contains("panicked"), "{resource:?}: exit {code:?}: {said}");
    }
}

/// Idle connections take none of the engine's files: the chain makes progress, and others are served when they end.
#[test]
fn idle_connections_take_no_files_of_the_engine() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let arguments = [&DEV[..], &["--block-time", "20ms"]].concat();
    let node = Node::limited(folder.path(), "ulimit -n 400", &arguments).expect("the devnet starts");
    let address = node.url.trim_start_matches("http://").to_owned();
    let before = height(&node.url);
    let mut idle: Vec<TcpStream> = (0..150).map(|_| TcpStream::connect(&address).expect("the system takes it")).collect();
    let mut refused = String::new();
    let last = idle.last_mut().expect("there are some");
    last.set_read_timeout(Some(Duration::from_secs(60))).expect("a timeout");
    // The reason, or its loss with the connection.
    let _ = last.read_to_string(&mut refused);
    assert!(refused.is_empty() || refused.starts_with("HTTP/1.1 503"), "{refused}");
    drop(idle);
    while height(&node.url) < before + 100 {}
    assert_eq!(node.terminate(), Some(0), "the node has noticed nothing");
}

fn height(url: &str) -> u64 {
    loop {
        let said = cowboy(Path::new("."), url, &["status", "--json"]);
        // While connections end, others are refused.
        if said.code == Some(0) {
            return said.json()["health"]["height"].as_u64().expect("a height");
        }
    }
}

/// What is in a state folder is its owner's alone: the mnemonic, the ledger, votes.
#[test]
fn nobody_else_reads_the_state() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let state = folder.path().join("chain");
    fs::create_dir(&state).expect("the directory is writable");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let node = Node::dev(folder.path(), &["--state", "chain"]);
    assert_eq!(node.terminate(), Some(0));
    let mut seen = Vec::new();
    let mut waiting = vec![state];
    while let Some(path) = waiting.pop() {
        let metadata = fs::metadata(&path).expect("it is there");
        assert_eq!(metadata.permissions().mode() & 0o077, 0, "{}", path.display());
        if metadata.is_dir() {
            waiting.extend(fs::read_dir(&path).expect("it is ours").map(|entry| entry.expect("an entry").path()));
        } else {
            seen.push(path.file_name().expect("files have names").to_string_lossy().into_owned());
        }
    }
    assert!(["dev.json", "ledger.redb", "chain"].iter().all(|name| seen.iter().any(|seen| seen == name)), "{seen:?}");
}

/// A validator that cannot make progress is alive and not ready, and reports which validators it waits for.
#[test]
fn a_validator_alone_says_that_it_waits_for_others() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let genesis = ["genesis", "--validators", "4", "--out", "network", "--p2p-port", "0"];
    let made = Command::new(env!("CARGO_BIN_EXE_cowboyd")).args(genesis).current_dir(folder.path()).output();
    assert!(made.is_ok_and(|made| made.status.success()));
    // Whoever else listens there speaks no QUIC of this chain.
    let node = Node::start(folder.path(), &["start", "--config", "network/validator-0.json", "--port", "0"]).expect("the validator starts");
    let (alive, _) = get(&node.url, "/health");
    let (ready, said) = get(&node.url, "/health/ready");
    assert_eq!((alive, ready), (200, 503), "{said}");
    let waits_for = said["context"]["waits_for"].as_str().unwrap_or_default();
    assert_eq!(waits_for, "the first block; 0 of 3 other validators are reached, and 2 are needed", "{said}");
    let (_, detailed) = get(&node.url, "/health/detailed");
    assert_eq!((detailed["status"].as_str(), detailed["peers_connected"].as_u64()), (Some("waiting"), Some(0)), "{detailed}");
    assert_eq!(node.terminate(), Some(0));
}

/// The status and the JSON of a path.
fn get(url: &str, path: &str) -> (u16, Value) {
    let text = get_text(url, path);
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = text.split_once("\r\n\r\n").expect("a body").1;
    (status, serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}")))
}
