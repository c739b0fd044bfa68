//! Actors from source to answers, and Python without a chain.

use crate::process::{Node, Said, cowboy};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read as _, Write as _},
    net::TcpStream,
    path::Path,
    process::Command,
};

const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

const SUM: &str = "from cowboy_sdk import actor, public


@actor
class Sum:
    @public
    def init(self):
        self.storage['total'] = 0

    @public
    def add(self, amount: int) -> int:
        self.storage['total'] += amount
        return self.storage['total']

    @public
    def plus(self, amount: int) -> int:
        return self.storage['total'] + amount
";

const CLOCK: &str = "from cowboy_sdk import actor, public, set_interval


@actor
class Clock:
    @public
    def init(self):
        set_interval(1000, 'tick', gas_limit=100_000, cells_limit=10_000)

    def tick(self):
        self.storage['ticks'] = self.storage.get('ticks', 0) + 1
";

/// The README's first actor: new, deploy, execute, query, logs, by the name of its folder (A-90 to A-92).
#[test]
fn a_first_actor_answers() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |arguments: &[&str]| {
        let said = cowboy(root, &node.url, &[arguments, &["--private-key", KEY]].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said
    };
    fs::write(root.join("sum.py"), SUM).expect("the directory is writable");
    run(&["actor", "deploy", "--code", "sum.py"]);
    assert_eq!(run(&["actor", "execute", "sum", "add", "--payload", "-1", "--json"]).json()["result"], -1);
    assert_eq!(run(&["query", "sum", "plus", "--payload", "-2", "--json"]).json()["result"], -3);
    assert_eq!(run(&["proof", "storage", "sum", "total", "--json"]).json()["value"], -1);
    run(&["actor", "new", "hello"]);
    let predicted = run(&["actor", "address", "--code", "hello/actor.py"]).stdout;
    let deployed = run(&["actor", "deploy", "--code", "hello/actor.py"]);
    assert!(deployed.stderr.contains("Entitlements: storage.kv (inferred from the source)"), "{deployed:?}");
    assert!(deployed.stdout.contains(&format!("Actor address: {}", predicted.trim())), "{deployed:?}");
    let called = run(&["actor", "execute", "hello", "greet", "--payload", "\"Ada\""]).stdout;
    assert!(called.contains("Result: \"Hello, Ada!\"") && called.contains("Event: greeted"), "{called}");
    assert_eq!(run(&["actor", "query", "hello", "greetings"]).stdout.trim(), "1");
    let again = cowboy(root, &node.url, &["actor", "deploy", "--code", "hello/actor.py", "--private-key", KEY]);
    assert!(again.code == Some(1) && again.stderr.contains("--salt 01") && again.stderr.contains(predicted.trim()), "{again:?}");
    assert_eq!(run(&["query", "hello", "greetings", "--json"]).json()["result"], 1);
    fs::write(root.join("clock.py"), CLOCK).expect("the directory is writable");
    let unfunded = run(&["actor", "deploy", "--code", "clock.py"]);
    assert!(unfunded.stderr.contains("Warning: the actor has 0 CBY, and the first fire of its timer reserves 1.1 CBY."), "{unfunded:?}");
    let funded = run(&["actor", "deploy", "--code", "clock.py", "--salt", "01", "--fund", "2cby"]);
    assert!(!funded.stderr.contains("Warning"), "{funded:?}");
    // An account schedules a call of its own, and takes it back.
    let set = run(&["timer", "schedule", "hello", "greet", "--in", "5000", "--payload", "\"Bo\"", "--json"]).json();
    let timer = set["timer"].as_str().expect("the receipt names the timer").to_owned();
    let listed = run(&["timer", "list", "--json"]).json();
    assert_eq!((&listed["timers"][0]["id"], &listed["timers"][0]["height"]), (&json!(timer), &set["height"]), "{listed}");
    run(&["timer", "cancel", &timer]);
    assert_eq!(run(&["timer", "list"]).stdout.trim(), "no timers");
    let logs = run(&["actor", "logs", "hello", "--json"]).json();
    assert_eq!((&logs["total_count"], &logs["logs"][0]["value"]), (&json!(1), &json!({ "count": 1, "name": "Ada" })));
    let actor = run(&["actor", "get", "hello", "--json"]).json();
    assert_eq!((&actor["handlers"], &actor["storage"]["greetings"]), (&json!(["init", "greet", "greetings"]), &json!(1)));
}

/// What an actor does wrong comes back with the line of Python.
#[test]
fn failures_name_the_line() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let write = |name: &str, source: &str| fs::write(root.join(name), source).expect("the directory is writable");
    write("bad_syntax.py", "def f(:\n");
    write("forbidden.py", "import os\n");
    write(
        "raises.py",
        "from cowboy_sdk import actor, public\n\n@actor\nclass A:\n    @public\n    def boom(self):\n        raise ValueError('too hot')\n",
    );
    write(
        "endless.py",
        "from cowboy_sdk import actor, public\n\n@actor\nclass A:\n    @public\n    def spin(self):\n        while True:\n            pass\n",
    );
    let run = |arguments: &[&str]| cowboy(root, &node.url, &[arguments, &["--private-key", KEY]].concat());
    let deploy = |name: &str| run(&["actor", "deploy", "--code", name]);
    let rows: Vec<(&str, Said, &str, &str)> = vec![
        ("not Python", deploy("bad_syntax.py"), "syntax_error", "1 | def f(:\n     |       ^"),
        ("a forbidden import", deploy("forbidden.py"), "forbidden_source", "os"),
        (
            "no such handler",
            {
                assert_eq!(deploy("raises.py").code, Some(0));
                run(&["actor", "execute", "raises", "nothing"])
            },
            "nothing",
            "offers",
        ),
        ("an exception", run(&["actor", "execute", "raises", "boom"]), "handler_raised", "line 7, in boom"),
        ("an exception of a query", run(&["actor", "query", "raises", "boom"]), "handler_raised", "ValueError: too hot"),
        (
            "an endless loop",
            {
                assert_eq!(deploy("endless.py").code, Some(0));
                run(&["actor", "execute", "endless", "spin"])
            },
            "out_of_cycles",
            "",
        ),
        ("an endless query", run(&["actor", "query", "endless", "spin"]), "out_of_cycles", ""),
    ];
    for (name, said, slug, detail) in rows {
        assert_eq!(said.code, Some(1), "{name}: {said:?}");
        assert!(said.stderr.contains(slug) && said.stderr.contains(detail), "{name}: no {slug} or {detail:?} in {said:?}");
    }
    assert_eq!(cowboy(root, &node.url, &["status"]).code, Some(0), "the node stays up");
}

const SITE: &str = "from cowboy_sdk import actor, http


@actor
class Site:
    @http.get('/boom')
    def boom(self, request):
        raise RuntimeError('boom')

    @http.post('/sign')
    def sign(self, request):
        return request.json()['text']
";

/// The whole response of a gateway at this port to a request for a name.
fn asked(port: &str, method: &str, host: &str, path: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("the gateway listens");
    let length = body.len();
    write!(stream, "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}")
        .expect("the gateway reads");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("the gateway answers");
    text
}

/// Exceptions of handlers behind the gateway: those of commands are in the trace and among the actor's failures, those of pages in the
/// devnet's log, with class, message and line.
#[test]
fn failures_behind_the_gateway_name_the_line() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &["--quiet"]);
    let names = node.said.iter().find(|line| line.contains("<name>.localhost:")).expect("names are served");
    let port = names.trim().rsplit(':').next().expect("there is a port").to_owned();
    let run = |arguments: &[&str]| {
        let said = cowboy(root, &node.url, &[arguments, &["--private-key", KEY]].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said
    };
    fs::write(root.join("site.py"), SITE).expect("the directory is writable");
    run(&["actor", "deploy", "--code", "site.py"]);
    run(&["name", "register", "failing", "--actor", "site"]);
    assert!(asked(&port, "GET", "failing.localhost", "/boom", "").starts_with("HTTP/1.1 500"));
    // The gateway registers itself with its first command, which it cannot try before.
    let accepted = asked(&port, "POST", "failing.localhost", "/sign", "{\"txt\": \"x\"}");
    let (_, rest) = accepted.split_once("\"transaction_hash\":\"").unwrap_or_else(|| panic!("{accepted}"));
    let hash = rest.split('"').next().expect("a text has a beginning");
    let traced = loop {
        let traced = cowboy(root, &node.url, &["transaction", "trace", hash]);
        if traced.code == Some(0) && !traced.stdout.contains("waits") {
            break traced.stdout;
        }
    };
    assert!(traced.contains("http.request failed:") && traced.contains("line 12, in sign"), "{traced}");
    assert!(traced.contains("KeyError"), "{traced}");
    let failures = run(&["actor", "failures", "site"]).stdout;
    assert!(failures.contains("command http.request failed: KeyError: 'text', line 12 of actor.py"), "{failures}");
    assert!(Command::new("kill").args(["-TERM", &node.id().to_string()]).status().is_ok_and(|told| told.success()));
    let (_, log) = node.ended();
    assert!(log.contains("RuntimeError: boom") && log.contains("line 8 of actor.py"), "{log}");
}

const NAPPER: &str = "from cowboy_sdk import actor, public, runner


@actor
class Napper:
    @public
    @runner.continuation
    async def nap(self) -> str:
        await runner.sleep(1)
        return 'rested'
";

/// A method that waits for a block is followed to its result, also where that block is there before anybody asks; and its trace has both parts.
#[test]
fn a_method_that_sleeps_is_followed() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |arguments: &[&str]| {
        let said = cowboy(root, &node.url, &[arguments, &["--private-key", KEY]].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said
    };
    fs::write(root.join("napper.py"), NAPPER).expect("the directory is writable");
    run(&["actor", "deploy", "napper.py", "--fund", "50cby"]);
    let napped = run(&["actor", "execute", "napper", "nap", "--wait", "--json"]).json();
    assert_eq!(napped["result"], "rested", "{napped}");
    let (hash, fire) = (&napped["tx_hash"], &napped["outcome"]["callbacks"][0]["tx_hash"]);
    let traced = run(&["transaction", "trace", hash.as_str().expect("a hash")]).stdout;
    assert!(traced.contains(".nap: success") && traced.contains(".nap__resume: success → \"rested\""), "{traced}");
    let status = run(&["transaction", "status", fire.as_str().expect("a hash")]).stdout;
    assert!(status.contains("timer → ") && status.contains("nap__resume") && status.contains("success"), "{status}");
    assert!(run(&["actor", "get", "napper"]).stdout.contains("0 messages, 0 timers"));
}

/// `cowboyd dev --example`: deployed, named, and alive (A-108, A-120).
#[test]
fn an_example_is_deployed_and_lives() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let node = Node::dev(folder.path(), &["--example", "heartbeat"]);
    let root = folder.path();
    // The example is deployed after the node is ready; the first account's nonce says when.
    let creator = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
    let actor = loop {
        let history = cowboy_history(&node.url, creator);
        if let Some(target) = history["entries"][0]["target"].as_str() {
            break target.to_owned();
        }
    };
    assert_eq!(cowboy(root, &node.url, &["chain", "mine", "30"]).code, Some(0));
    let beats = cowboy(root, &node.url, &["query", &actor, "beats", "--json"]).json();
    assert!(beats["result"].as_u64() >= Some(5), "{beats}");
}

fn cowboy_history(url: &str, address: &str) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(async {
        cowboy_api::Client::new(url)
            .expect("the address is good")
            .get(&format!("/account/{address}/history"))
            .await
            .expect("the node answers")
    })
}

/// A script runs as under CPython: output, traceback, exit code.
#[test]
fn scripts_run_in_the_virtual_machine() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let run = |source: &str, more: &[&str]| {
        fs::write(folder.path().join("script.py"), source).expect("the directory is writable");
        cowboy(folder.path(), "http://127.0.0.1:1", &[&["vm", "run", "script.py"], more].concat())
    };
    let good = run("print('hello', 2 ** 64)\n", &["--stats"]);
    assert_eq!((good.code, good.stdout.as_str()), (Some(0), "hello 18446744073709551616\n"));
    let stats: Value = serde_json::from_str(&good.stderr).expect("statistics are JSON");
    assert!(stats["cycles"].as_u64() > Some(0) && stats["peak_memory"].is_u64(), "{stats}");
    let rows = [
        (
            "print('before')\nraise ValueError('no')\n",
            vec![],
            "before\n",
            "Traceback (most recent call last):\n  File \"script.py\", line 2, in <module>\n    raise ValueError('no')\nValueError: no\n",
        ),
        (
            "def f(n):\n    return f(n + 1)\n\nf(0)\n",
            vec![],
            "",
            "Traceback (most recent call last):\n  File \"script.py\", line 4, in <module>\n    f(0)\n  File \"script.py\", line 2, in f\n    return f(n + 1)\n  File \"script.py\", line 2, in f\n    return f(n + 1)\n  File \"script.py\", line 2, in f\n    return f(n + 1)\n  [Previous line repeated 252 more times]\nRecursionError: maximum recursion depth exceeded\n",
        ),
        ("while True: pass\n", vec!["--cycles", "1000"], "", "trap: out_of_cycles\n"),
        ("x = [0]\nwhile True: x = x + x\n", vec![], "", "trap: out_of_memory\n"),
    ];
    for (source, more, stdout, stderr) in rows {
        let said = run(source, &more);
        assert_eq!((said.code, said.stdout.as_str(), said.stderr.as_str()), (Some(1), stdout, stderr), "{source}");
    }
    let traced = run("def f(x):\n    return x + 1\n\nprint(f(1))\n", &["--trace"]);
    let lines: Vec<&str> =
        traced.stderr.lines().map(|line| line.trim_start_matches([' ', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9'])).collect();
    let expected = ["script.py:1    def f(x):", "script.py:4    print(f(1))", "script.py:2      call f", "script.py:2      return x + 1"];
    assert_eq!((traced.stdout.as_str(), lines.as_slice()), ("2\n", expected.as_slice()), "{traced:?}");
    for (source, reason) in [("import os\n", "           ^^\nForbidden"), ("def f(:\n", "    def f(:\n          ^\nSyntaxError")] {
        let said = run(source, &[]);
        assert!(said.code == Some(1) && said.stderr.contains(reason), "{said:?}");
    }
}

/// One handler on a chain in memory, as one JSON line.
#[test]
fn a_handler_runs_without_a_chain() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let run = |arguments: &[&str]| cowboy(folder.path(), "http://127.0.0.1:1", arguments);
    assert_eq!(run(&["actor", "new", "hello"]).code, Some(0));
    let good = run(&["dev", "--code", "hello/actor.py", "--handler", "greet", "--payload", "\"Ada\""]);
    assert_eq!((good.code, good.stdout.lines().count()), (Some(0), 1), "{good:?}");
    let result = good.json();
    assert_eq!((&result["ok"], &result["output"], &result["state"]["greetings"]), (&json!(true), &json!("Hello, Ada!"), &json!(1)));
    assert_eq!(result["events"], json!([{ "name": "greeted", "data": { "count": 1, "name": "Ada" } }]));
    assert!(result["gas_used"].as_u64() > Some(0), "{result}");
    let bad = run(&["dev", "--code", "hello/actor.py", "--handler", "nothing"]);
    assert_eq!((bad.code, bad.json()["ok"].as_bool()), (Some(1), Some(false)), "{bad:?}");
    assert_eq!(run(&["dev", "--code", "nowhere.py", "--handler", "x"]).code, Some(1));
    assert!(!Path::new("nowhere.py").exists());
}

/// What a source needs and its manifest does not grant is said before it is deployed, with the line and what to add; and who may do what
/// is granted, listed and taken back (A-263, A-271).
#[test]
fn entitlements_are_said_granted_and_listed() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |arguments: &[&str]| {
        let said = cowboy(root, &node.url, &[arguments, &["--private-key", KEY]].concat());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said
    };
    let source = "from cowboy_sdk import actor, public, set_timer\n\n@actor\nclass A:\n    @public\n    def beat(self):\n        set_timer(99999, 'beat')\n";
    fs::write(root.join("beat.py"), source).expect("the directory is writable");
    fs::write(root.join("narrow.json"), r#"{"entitlements":[{"id":"econ.hold_balance"}]}"#).expect("the directory is writable");
    let deployed = run(&["actor", "deploy", "--code", "beat.py", "--manifest-json", "narrow.json"]);
    let warning = "Warning: set_timer needs timer.schedule, which narrow.json does not grant: add {\"id\": \"timer.schedule\"} (line 1)";
    assert!(deployed.stderr.contains(warning), "{deployed:?}");
    assert!(run(&["entitlement", "registry"]).stdout.contains("storage.kv"));
    let runner = "0x1100000000000000000000000000000000000011";
    let granted = run(&["entitlement", "grant", runner, "pool:eu", "join_pool:eu", "--until", "900000", "--json"]).json();
    let id = granted["id"].as_str().expect("the id is printed").to_owned();
    let listed = run(&["entitlement", "list", runner]).stdout;
    assert!(listed.contains(&format!("{id}  pool:eu  join_pool:eu")), "{listed}");
    run(&["entitlement", "revoke", &id]);
    assert_eq!(run(&["entitlement", "list", runner]).stdout.trim(), format!("{runner} has no permissions and no roles"));
    let refused = cowboy(root, &node.url, &["entitlement", "revoke", &id, "--private-key", KEY]);
    assert!(refused.code == Some(1) && refused.stderr.contains("permission_not_found"), "{refused:?}");
}
