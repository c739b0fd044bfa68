//! An author's first hour: a project, its tests, payloads, and what mistakes are told.

use super::process::{Node, cowboy};
use serde_json::json;
use std::{fs, path::Path};

/// The first account of every devnet.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
/// Limits for a transaction that is sent though it fails.
const LIMITS: [&str; 8] =
    ["--cycles-limit", "400000", "--cells-limit", "9000", "--max-fee-per-cycle", "20000", "--max-fee-per-cell", "20000"];
/// Nobody listens here.
const NOWHERE: &str = "http://127.0.0.1:1";

#[test]
fn a_project_is_made_tested_and_profiled() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let run = |arguments: &[&str]| cowboy(folder.path(), NOWHERE, arguments);
    let empty = run(&["test"]);
    assert_eq!(empty.code, Some(5));
    assert!(empty.stdout.contains("no tests of actors in .") && empty.stdout.contains("cowboy init myagent"), "{empty:?}");
    assert_eq!(run(&["init", "my-agent"]).code, Some(0));
    let again = run(&["init", "my-agent"]);
    assert!(again.code == Some(1) && again.stderr.contains("my-agent is a project already"), "{again:?}");
    assert_eq!(run(&["init", "2x"]).code, Some(2));

    let project = folder.path().join("my-agent");
    let run = |arguments: &[&str]| {
        let said = cowboy(&project, NOWHERE, arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said
    };
    assert!(run(&["test"]).stdout.contains("3 passed"));
    let profiled = run(&["test", "--profile", "cycles.svg"]);
    assert!(profiled.stderr.contains(" for transactions and their bytes"), "{profiled:?}");
    let total = profiled.stdout.rsplit(", ").next().and_then(|said| said.split(' ').next()).expect("cycles are printed").to_owned();
    assert!(profiled.stderr.starts_with(&format!("{total} cycles in cycles.svg")), "the profile has all cycles: {profiled:?}");
    assert!(project.join("cycles.svg").is_file());
    assert!(run(&["lint", "--strict", "actor.py"]).stdout.contains("0 errors, 0 warnings"));
    assert_eq!(run(&["vm", "run", "script.py", "--stats"]).stdout, "45\n");
    // A key is nothing for a repository, wherever it is made.
    run(&["wallet", "create"]);
    assert_eq!(fs::read_to_string(project.join(".cowboy/.gitignore")).ok().as_deref(), Some("*\n"));
    let none = cowboy(&project, NOWHERE, &["test", "-k", "nothing", "--profile", "none.svg"]);
    assert!(none.code == Some(5) && none.stderr.contains("nothing ran, so there is no flame graph"), "{none:?}");
}

/// The tests of the SDK that the VM can run pass in it as under pytest; the others are left out, and named.
#[test]
fn the_same_tests_pass_in_the_machine() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/python/tests");
    let said = cowboy(&tests, NOWHERE, &["test"]);
    assert_eq!(said.code, Some(0), "{}", said.stdout);
    assert!(said.stdout.contains(" files left out as no tests of actors (-v says why)"), "{}", said.stdout);
    let named = cowboy(&tests, NOWHERE, &["test", "-v", "-k", "nosuchtest"]).stdout;
    for line in [
        "LEFT OUT test_library.py: it defines the actor Asker itself, but the VM deploys files",
        "LEFT OUT test_parity.py: import of 'importlib.metadata', which the VM does not have",
        "LEFT OUT test_spawn.py: it uses pytest's fixture tmp_path",
    ] {
        assert!(named.contains(line), "{line}\n{named}");
    }
}

const SHOP: &str = "from cowboy_sdk import Actor, Address, actor, deferred, public, set_interval


@actor
class Shop(Actor):
    @public
    def init(self, owner: Address, price: int) -> None:
        self.storage['terms'] = [owner, price]

    @public
    def price(self) -> int:
        return self.storage['terms'][1]

    @public
    def greet(self, name: str) -> str:
        return 'Hello, ' + name

    @public
    def wake(self) -> None:
        set_interval(9, 'wake')

    @public
    def nested(self) -> None:
        self._inner()

    def _inner(self) -> None:
        raise ValueError('from inside')
";

const BROKEN: &str = "from cowboy_sdk import Actor, actor, public


@actor
class Broken(Actor):
    @public
    def init(self) -> None:
        print('about to fail')
        raise ValueError('no terms')
";

/// Payloads are written as the handler reads them, init's too; mistakes are told before anything is sent, with the word that is wrong.
#[test]
fn payloads_and_mistakes_are_told() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    fs::write(root.join("shop.py"), SHOP).expect("the directory is writable");
    let run = |arguments: &[&str]| cowboy(root, &node.url, &[arguments, &["--private-key", KEY]].concat());
    let owner = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";
    let refusals: &[(&[&str], i32, &str)] = &[
        (&["actor", "deploy", "shop.py"], 1, "init() takes owner: Address, price: int: nothing was sent for 'owner', 'price'"),
        (&["actor", "deploy", "shop.py", "--init-payload", "[1,"], 2, "the payload [1, is not JSON"),
        (&["actor", "deploy", "shop.py", "--init-payload", r#"{"owner": "0x12", "price": 5}"#], 1, "'owner'"),
    ];
    for (arguments, code, text) in refusals {
        let said = run(arguments);
        assert!(said.code == Some(*code) && said.stderr.contains(text), "{arguments:?}: {said:?}");
    }
    let init = format!(r#"{{"owner": "{owner}", "price": 5}}"#);
    fs::write(root.join("narrow.json"), r#"{"entitlements":[{"id":"storage.kv"}]}"#).expect("the directory is writable");
    let deployed = run(&["actor", "deploy", "shop.py", "--manifest-json", "narrow.json", "--init-payload", &init]);
    assert_eq!(deployed.code, Some(0), "{deployed:?}");
    assert_eq!(run(&["actor", "query", "shop", "price"]).stdout, "5\n");
    assert_eq!(run(&["actor", "query", "shop", "greet", "Ada"]).stdout, "\"Hello, Ada\"\n");
    assert_eq!(run(&["query", "shop", "greet", "--payload", r#"{"name": "Ada"}"#]).stdout, "\"Hello, Ada\"\n");
    let before = run(&["account", "nonce"]).stdout;
    let refusals: &[(&[&str], i32, &str)] = &[
        (&["actor", "execute", "shop", "greet", r#"{"name":"#], 2, "is not JSON"),
        (&["actor", "execute", "shop", "greet"], 1, "greet() takes name: str: nothing was sent for 'name'"),
        (&["actor", "execute", "shop", "greet", "5"], 1, "'name' has to be str, not int 5"),
        (&["actor", "execute", "shop", "wake"], 1, "The manifest does not grant econ.hold_balance, timer.schedule."),
        (&["actor", "execute", "shop", "wake"], 1, "{\"id\": \"timer.schedule\"} for set_interval in line"),
        (&["actor", "query", "0xD8dA6BF26964aF9D7eEd9e03E53415D37aA96045", "price"], 2, "wrong checksum (EIP-55)"),
    ];
    for (arguments, code, text) in refusals {
        let said = run(arguments);
        assert!(said.code == Some(*code) && said.stderr.contains(text), "{arguments:?}: {said:?}");
    }
    assert_eq!(run(&["account", "nonce"]).stdout, before, "nothing was sent");
    // What fails on the chain is found there, with the line.
    assert_eq!(run(&["actor", "failures", "shop"]).stdout, "no failures\n");
    assert_eq!(run(&["actor", "timers", "shop"]).stdout, "no timers\n");
    run(&[&["actor", "execute", "shop", "nested", "--force"][..], &LIMITS].concat());
    let failures = run(&["actor", "failures", "shop"]).stdout;
    assert!(failures.contains("transaction nested failed: ValueError: from inside, line 27 of actor.py"), "{failures}");
    let hash = failures.split_whitespace().last().expect("the receipt's name").to_owned();
    let trace = run(&["transaction", "trace", &hash]).stdout;
    assert!(trace.contains(".nested: failed, ") && trace.contains("  ValueError: from inside"), "{trace}");
    // A traceback begins in the author's file.
    let nested = run(&["--json", "actor", "execute", "shop", "nested"]);
    let error: serde_json::Value = serde_json::from_str(&nested.stderr).expect("a failure is JSON");
    let trace = error["error"]["context"]["trace"].as_str().expect("a traceback").to_owned();
    assert!(trace.starts_with("Traceback (most recent call last):\n  File \"actor.py\", line "), "{trace}");
    let malformed = run(&["--json", "actor", "execute", "shop", "greet", "{"]);
    let error: serde_json::Value = serde_json::from_str(&malformed.stderr).expect("a failure is JSON");
    assert!(error["error"]["fix"].as_str().is_some_and(|fix| fix.starts_with("quote it")), "{error}");
    // The folder's actors are those of one chain.
    let kept = root.join(".cowboy/actors.json");
    let mut actors: serde_json::Value = serde_json::from_slice(&fs::read(&kept).expect("it is there")).expect("it is JSON");
    actors["genesis"] = json!(format!("0x{}", "00".repeat(32)));
    actors["actors"]["shop"] = json!("0x0900000000000000000000000000000000000009");
    fs::write(&kept, actors.to_string()).expect("the directory is writable");
    let said = run(&["actor", "query", "shop", "price"]);
    assert!(
        said.code == Some(1) && said.stderr.contains("The actors of this folder were deployed on the chain with genesis 0x00"),
        "{said:?}"
    );
}

/// What a handler printed is shown with its failure: by the devnet, and by the trace of the transaction. The devnet names the handler
/// of a deployment that fails, whose receipt has no address.
#[test]
fn failures_come_with_what_was_printed() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let deploy = |source: &str| {
        fs::write(root.join("broken.py"), source).expect("the directory is writable");
        cowboy(root, &node.url, &[&["actor", "deploy", "broken.py", "--private-key", KEY, "--force"][..], &LIMITS].concat())
    };
    assert_ne!(deploy(BROKEN).code, Some(0));
    let line = node.line_with("  failed: transaction ");
    assert!(line.ends_with(".init: ValueError: no terms, line 9 of actor.py") && !line.contains(&"0".repeat(40)), "{line}");
    assert_eq!(node.line_with("printed:").trim(), "printed: about to fail");
    let hash = node.line_with("#/tx/").rsplit('/').next().map(str::to_owned).expect("the receipt's name");
    let trace = cowboy(root, &node.url, &["transaction", "trace", &hash]).stdout;
    assert!(trace.contains("\n  printed: about to fail\n") && trace.contains("  ValueError: no terms"), "{trace}");
    deploy("raise KeyError('a body that fails')\n");
    let line = node.line_with("  failed: transaction ");
    assert!(line.ends_with(".<module>: KeyError: 'a body that fails', line 1 of actor.py"), "{line}");
}

/// Names and classes are searched by their beginnings. Where a name is served is what the registry says, and before a gateway is in it, what the node says that serves names itself.
#[test]
fn a_name_says_where_it_is_served() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &["--balance", "20000"]);
    let run = |arguments: &[&str]| {
        let said = cowboy(root, &node.url, &[arguments, &["--private-key", KEY]].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said
    };
    let site = "from cowboy_sdk import actor, http\n\n@actor\nclass Site:\n    @http.get('/')\n    def index(self, request):\n        return http.html('hello')\n";
    fs::write(root.join("site.py"), site).expect("the directory is writable");
    run(&["actor", "deploy", "site.py"]);
    let url = |name: &str| run(&["name", "register", name, "--actor", "site"]).stdout.trim().to_owned();
    let served = node.said.iter().find_map(|line| line.strip_prefix("names ")).expect("the devnet serves names").trim();
    assert_eq!(url("mysite"), served.replace("<name>", "mysite"), "the port that the devnet took, not the usual one");
    let found = run(&["search", "SIT"]).stdout;
    assert!(found.starts_with("class    Site ") && found.lines().count() == 1, "{found}");
    assert!(run(&["search", "mysi"]).stdout.starts_with("name     mysite "));
    assert_eq!(run(&["search", "no such & thing"]).stdout, "nothing begins with \"no such & thing\"\n");
    run(&["gateway", "register", "localhost", "--http-port", "5080", "--stake", "10000cby"]);
    assert_eq!(url("other"), "http://other.localhost:5080");
}

/// Completions, manual pages, and networks by name: what users of other clients expect.
#[test]
fn shells_manuals_and_networks() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let run = |arguments: &[&str]| {
        let said = cowboy(root, NOWHERE, arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said.stdout
    };
    for (shell, begin) in [("bash", "_cowboy()"), ("zsh", "#compdef cowboy"), ("fish", "# Print an optspec")] {
        let script = run(&["completions", shell]);
        assert!(script.starts_with(begin) && script.contains("redeploy") && script.contains("rpc-url"), "{shell}: {script}");
    }
    run(&["man", "man1"]);
    let page = fs::read_to_string(root.join("man1/cowboy-actor-deploy.1")).expect("every command has a page");
    assert!(page.contains("init\\-payload"), "{page}");

    run(&["init", "local"]);
    run(&["config", "add", "test", "http://127.0.0.1:7", "--key-file", "test.key"]);
    assert!(run(&["config", "use", "test"]).contains("http://127.0.0.1:7 (in use)"));
    let shown: serde_json::Value = serde_json::from_str(&run(&["config", "show", "--json"])).expect("it is JSON");
    assert_eq!((&shown["network"], &shown["networks"]["test"]["key_file"]), (&json!("test"), &json!("test.key")));
    let unknown = cowboy(root, NOWHERE, &["--network", "nowhere", "status"]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("no network named \"nowhere\" (test)"), "{unknown:?}");
    run(&["config", "remove", "test"]);
    assert_eq!(cowboy(root, NOWHERE, &["config", "use", "test"]).code, Some(1));
}
