//! An actor that does not pay goes, and comes back with what somebody kept.

use crate::process::{Node, cowboy, wait_for_height};
use std::{fs, path::Path, process::Command};

const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

const SHELF: &str = "from cowboy_sdk import actor, public


@actor
class Shelf:
    @public
    def fill(self, count: int):
        for place in range(count):
            self.storage['book' + str(place)] = place * place

    @public
    def look(self, place: int) -> int:
        return self.storage['book' + str(place)]
";

/// storage is archived in the pieces in which the chain prunes it, and put back by anybody.
#[test]
fn an_evicted_actor_is_restored_from_an_archive() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let parameters = ["--parameter", "rent.epoch=100", "--parameter", "rent.free_bytes=0"];
    let node = Node::dev(root, &parameters);
    let run = |arguments: &[&str]| {
        let said = cowboy(root, &node.url, &[arguments, &["--private-key", KEY, "--json"]].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said.json()
    };
    fs::write(root.join("shelf.py"), SHELF).expect("the directory is writable");
    run(&["actor", "deploy", "--code", "shelf.py"]);
    run(&["actor", "execute", "shelf", "fill", "--payload", "70"]);
    let kept = run(&["rent", "archive", "shelf", "--out", "shelf.json"]);
    assert!(kept["chunks"].as_u64() >= Some(2) && Path::new(&root.join("shelf.json")).exists(), "{kept}");
    for _ in 0..12 {
        run(&["chain", "warp", "--blocks", "100"]);
        run(&["chain", "mine", "2"]);
    }
    let evicted = run(&["rent", "show", "shelf"]);
    assert_eq!((evicted["state"].as_str(), &evicted["missing"]), (Some("dormant"), &kept["chunks"]), "{evicted}");
    run(&["rent", "restore", "shelf", "--from", "shelf.json"]);
    run(&["rent", "pay", "shelf"]);
    assert_eq!(run(&["rent", "show", "shelf"])["missing"], 0);
    assert_eq!(run(&["query", "shelf", "look", "--payload", "69"])["result"], 69 * 69);
    let idle = cowboy(root, &node.url, &["rent", "pay", "shelf", "--private-key", KEY]);
    assert!(idle.code != Some(0) && idle.stderr.contains("owes nothing"), "{idle:?}");
    run(&["rent", "pay", "shelf", "1cby"]);
    assert_eq!(run(&["rent", "show", "shelf"])["prepaid"], 1_000_000_000);
}

/// a node that only follows has kept what was pruned, and whoever asks it brings the actor back, without an archive.
#[test]
fn an_evicted_actor_is_restored_from_any_full_node() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &["--parameter", "rent.epoch=100", "--parameter", "rent.free_bytes=0"]);
    let init = Command::new(env!("CARGO_BIN_EXE_cowboyd")).args(["init", &node.url, "--out", "node"]).current_dir(root).status();
    assert!(init.expect("the program runs").success());
    let follower = Node::start(root, &["start", "--config", "node/node.json", "--port", "0"]).expect("the follower starts");
    let ask = |url: &str, arguments: &[&str]| {
        let said = cowboy(root, url, &[arguments, &["--private-key", KEY, "--json"]].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said.json()
    };
    fs::write(root.join("shelf.py"), SHELF).expect("the directory is writable");
    ask(&node.url, &["actor", "deploy", "--code", "shelf.py"]);
    ask(&node.url, &["actor", "execute", "shelf", "fill", "--payload", "70"]);
    for _ in 0..12 {
        ask(&node.url, &["chain", "warp", "--blocks", "100"]);
        ask(&node.url, &["chain", "mine", "2"]);
    }
    let height = ask(&node.url, &["status"])["health"]["height"].as_u64().expect("a height");
    wait_for_height(&follower.url, height);
    assert!(ask(&follower.url, &["rent", "show", "shelf"])["missing"].as_u64() >= Some(2));
    ask(&follower.url, &["rent", "restore", "shelf"]);
    ask(&follower.url, &["rent", "pay", "shelf"]);
    assert_eq!(ask(&node.url, &["rent", "show", "shelf"])["missing"], 0);
    assert_eq!(ask(&node.url, &["query", "shelf", "look", "--payload", "69"])["result"], 69 * 69);
    assert_eq!(follower.terminate(), Some(0));
}
