//! The tools of authors: `cowboy test`, `cowboy lint`, `cowboy vm`, as people run them. None of them needs a node.

use crate::process::{Said, cowboy};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// A folder with the counter of the examples, and these files beside it.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let counter = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/counter/actor.py");
    fs::copy(counter, folder.path().join("counter.py")).expect("the example is there");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file of the test");
    }
    folder
}

/// Nobody listens at port 1: what would ask a node fails.
fn run(folder: &tempfile::TempDir, arguments: &[&str]) -> Said {
    cowboy(folder.path(), "http://127.0.0.1:1", arguments)
}

const TESTS: &str = r#"
import pytest
from cowboy_sdk.testing import ALICE, BOB, Chain

@pytest.fixture
def counter(chain):
    yield chain.deploy("counter.py")

def test_counts(chain, counter):
    assert chain.execute(counter, "increment", sender=BOB) == 1
    assert chain.query(counter, "get") == 1
    assert chain.storage(counter)["count"] == 1
    assert chain.events(counter) == [("changed", {"count": 1, "amount": 1})]
    assert chain.cycles > 0 and not chain.failures

@pytest.mark.parametrize("amount, total", [(1, 1), (41, 41)])
def test_adds(chain, counter, amount, total):
    assert chain.execute(counter, "add", amount) == total

class TestRefusals:
    def test_a_negative_amount(self, chain, counter):
        with pytest.raises(ValueError, match="positive"):
            chain.execute(counter, "add", -1)
        assert chain.storage(counter)["count"] == 0

    def test_others(self, chain, counter):
        chain.execute(counter, "reset")
        with pytest.raises(Exception) as caught:
            chain.execute(counter, "reset", sender=BOB)
        assert caught.type.__name__ == "PermissionDeniedError"

@pytest.mark.skip(reason="another day")
def test_later():
    assert False
"#;

/// Tests run in the VM: no node, metered, each on its own state.
#[test]
fn tests_run_without_a_node() {
    let folder = folder(&[("test_counter.py", TESTS)]);
    let said = run(&folder, &["test"]);
    assert_eq!((said.code, said.stderr.as_str()), (Some(0), ""), "{said:?}");
    assert!(said.stdout.starts_with(".....s\n5 passed, 1 skipped, "), "{said:?}");
    let verbose = run(&folder, &["test", "-v", "-k", "adds and 41"]).stdout;
    assert!(verbose.starts_with("PASSED  test_counter.py::test_adds[41-41]  ") && verbose.contains("1 passed, 5 deselected"), "{verbose}");
    assert_eq!(run(&folder, &["test"]).stdout, said.stdout, "the same cycles again");
}

/// A failure shows the line, the values and where the actor raised.
#[test]
fn failures_show_lines_and_values() {
    let tests = "from cowboy_sdk.testing import Chain\n\n\
        def test_sum(chain):\n    counter = chain.deploy('counter.py')\n    print('seen')\n    assert (\n        chain.execute(counter, 'add', 2)\n        == 3\n    ), 'wrong'\n\n\
        def helper(chain):\n    return chain.execute(chain.deploy('counter.py'), 'add', -1)\n\n\
        def test_raises(chain):\n    helper(chain)\n\n\
        def test_dicts():\n    assert {'a': 1} == {'a': 2, 'b': 3}\n\n\
        def test_truth():\n    assert not [1]\n\n\
        def test_trap():\n    while True:\n        x = 'x' * 1000000\n        y = x + x\n        [y] * 100000000\n";
    let folder = folder(&[("test_fails.py", tests)]);
    let said = run(&folder, &["test"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    for wanted in [
        "FFFFF\n",
        "____ test_fails.py::test_sum ____\ntest_fails.py:6: in test_sum\n>   assert (\n>           chain.execute(counter, 'add', 2)\n",
        "E   AssertionError: wrong\nE   left:  2\nE   right: 3\n",
        "---- printed ----\nseen\n",
        "test_fails.py:15: in test_raises\n    helper(chain)\ntest_fails.py:12: in helper\n>   return chain.execute",
        "E   ValueError: amount must be a positive integer\nin the actor:\n",
        "  File \"actor.py\", line 22, in add\n",
        "E   only right: 'b': 3\nE   at 'a': 1 and 2\n",
        "E   AssertionError: value: [1], and it should be false\n",
        "E   trap: out_of_memory\n",
        "5 failed, ",
    ] {
        assert!(said.stdout.contains(wanted), "{wanted}\nin\n{}", said.stdout);
    }
    let json = run(&folder, &["test", "--json", "-k", "dicts"]).json();
    assert_eq!((&json["failed"], &json["deselected"], &json["tests"][0]["outcome"]), (&json!(1), &json!(4), &json!("failed")));
}

#[test]
fn exit_codes_are_those_of_pytest() {
    let folder = folder(&[
        ("test_good.py", "def test_a():\n    assert 1 + 1 == 2\n"),
        ("test_bad.py", "def test_a():\n    assert 1 + 1 == 3\n"),
        ("test_syntax.py", "def test_a(:\n    pass\n"),
        ("test_import.py", "import socket\n"),
        ("test_body.py", "1 // 0\n"),
        ("test_none.py", "x = 1\n"),
    ]);
    for (arguments, code) in [
        (vec!["test", "test_good.py"], 0),
        (vec!["test", "test_bad.py"], 1),
        (vec!["test", "test_syntax.py"], 2),
        (vec!["test", "test_import.py"], 2),
        (vec!["test", "test_body.py"], 2),
        (vec!["test", "missing.py"], 2),
        (vec!["test", "test_none.py"], 5),
        (vec!["test", "test_good.py", "-k", "nothing"], 5),
        (vec!["test", "-x"], 1),
    ] {
        assert_eq!(run(&folder, &arguments).code, Some(code), "{arguments:?}");
    }
}

/// Timers and money behave as on a chain.
#[test]
fn time_and_money_pass_in_tests() {
    let actor = "from cowboy_sdk import actor, public, deferred, set_timer, runtime\n\n@actor\nclass Clock:\n    @public\n    @deferred\n    def start(self, to):\n        set_timer(runtime.get_block_height() + 2, 'tick', None)\n        runtime.transfer_balance(to, 5)\n\n    def tick(self, payload):\n        self.storage['ticked'] = True\n";
    let tests = "from cowboy_sdk.testing import ALICE, BOB, Chain\n\ndef test_all():\n    chain = Chain(height=10)\n    assert chain.height == 10\n    clock = chain.deploy('clock.py', value=100)\n    assert chain.balance(clock) == 100\n    assert chain.balance(ALICE) == 1_000_000 - 100\n    chain.execute(clock, 'start', BOB)\n    assert chain.balance(BOB) == 1_000_005\n    assert 'ticked' not in chain.storage(clock)\n    chain.mine(2)\n    assert chain.storage(clock)['ticked'] is True\n    assert [failure[1] for failure in chain.failures] == []\n";
    let folder = folder(&[("clock.py", actor), ("test_clock.py", tests)]);
    let said = run(&folder, &["test"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
}

/// A raw handler gets what it gets from `cowboy_sdk.testing` on CPython: text as UTF-8, `{}` as two bytes, bytes as they are.
#[test]
fn raw_handlers_get_the_bytes_that_tools_send() {
    let actor = "def echo(payload):\n    return payload\n";
    let tests = "import pytest\n\n@pytest.mark.parametrize('given, seen', [({}, b'{}'), ('{\u{e9}', b'{\\xc3\\xa9'), (b'\\xff', b'\\xff'), (None, None)])\n\
        def test_payload(chain, given, seen):\n    assert chain.execute(chain.deploy('echo.py'), 'echo', given) == seen\n";
    let folder = folder(&[("echo.py", actor), ("test_echo.py", tests)]);
    let said = run(&folder, &["test"]);
    assert_eq!(said.code, Some(0), "{}{}", said.stdout, said.stderr);
}

#[test]
fn profiles_show_where_cycles_go() {
    let script = "def work(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n\nprint(work(100))\n";
    let folder = folder(&[("script.py", script), ("test_counter.py", TESTS)]);
    let plain = run(&folder, &["vm", "run", "script.py", "--stats"]);
    let said = run(&folder, &["vm", "run", "script.py", "--stats", "--lines", "--profile", "out.svg"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    let cycles = |said: &Said| said.stderr.lines().find_map(|line| serde_json::from_str::<Value>(line).ok()).expect("--stats is JSON");
    assert_eq!(cycles(&plain), cycles(&said), "looking changes nothing");
    assert!(said.stderr.contains("       100     4          total += i"), "{}", said.stderr);
    let svg = fs::read_to_string(folder.path().join("out.svg")).expect("the graph is written");
    assert!(svg.contains("<svg") && svg.contains("work (script.py:1)"), "it names the function");
    let said = run(&folder, &["test", "-k", "counts", "--profile", "test.svg", "--lines"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.stderr.contains("counter.py\n") && said.stderr.contains("self.storage[\"count\"] = count"), "{}", said.stderr);
    let svg = fs::read_to_string(folder.path().join("test.svg")).expect("the graph is written");
    assert!(svg.contains("Counter.increment (counter.py:"), "actors are in it");
}

#[test]
fn snapshots_of_cycles_are_checked() {
    let folder = folder(&[("script.py", "x = 1\n"), ("test_counter.py", TESTS)]);
    let write = ["test", "--cycles-snapshot", "cycles.json"];
    let check = ["test", "--cycles-snapshot", "cycles.json", "--check"];
    assert_eq!(run(&folder, &check).code, Some(1), "there is none yet");
    assert_eq!(run(&folder, &write).code, Some(0));
    assert_eq!(run(&folder, &check).code, Some(0));
    let source = fs::read_to_string(folder.path().join("counter.py")).expect("copied before");
    let slower = source.replace("        return self._change(1)\n", "        sum([1, 2, 3])\n        return self._change(1)\n");
    fs::write(folder.path().join("counter.py"), slower).expect("a file of the test");
    let said = run(&folder, &check);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("test_counter.py::test_counts: ") && said.stderr.contains(" (+"), "{}", said.stderr);
    for (arguments, code) in [
        (["vm", "run", "script.py", "--cycles-snapshot", "one.json"].as_slice(), 0),
        (&["vm", "run", "script.py", "--cycles-snapshot", "one.json", "--check"], 0),
        (&["vm", "run", "script.py", "--check"], 2),
    ] {
        assert_eq!(run(&folder, arguments).code, Some(code), "{arguments:?}");
    }
}

#[test]
fn lint_teaches() {
    let actor = "import time\n\ndef f():\n    return eval('1')\n";
    let surprising = "from cowboy_sdk import actor, public\n\n@actor\nclass A:\n    @public\n    def go(self):\n        self.count = 1\n";
    let folder = folder(&[("bad.py", actor), ("surprising.py", surprising)]);
    let good = run(&folder, &["lint", "counter.py"]);
    assert_eq!((good.code, good.stdout.as_str()), (Some(0), "0 errors, 0 warnings\n"));
    let said = run(&folder, &["lint", "bad.py"]);
    assert_eq!(said.code, Some(1));
    for wanted in [
        "error[forbidden_source]: import of 'time' is forbidden",
        "cowboy_sdk.pvm_time",
        "--> bad.py:1:8",
        "   1 | import time\n     |        ^^^^",
        "--> bad.py:4:12",
        "2 errors",
    ] {
        assert!(said.stdout.contains(wanted), "{wanted}\nin\n{}", said.stdout);
    }
    let said = run(&folder, &["lint", "surprising.py"]);
    assert_eq!(said.code, Some(0));
    assert!(said.stdout.contains("warning[lost-attribute]") && said.stdout.contains("fix: keep it in self.storage"), "{}", said.stdout);
    assert_eq!(run(&folder, &["lint", "--strict", "surprising.py"]).code, Some(1));
    let rows = run(&folder, &["lint", "bad.py", "surprising.py", "--json"]).json();
    let places: Vec<(&Value, &Value)> = rows.as_array().expect("a list").iter().map(|row| (&row["file"], &row["line"])).collect();
    assert_eq!(places, [(&json!("bad.py"), &json!(1)), (&json!("bad.py"), &json!(4)), (&json!("surprising.py"), &json!(7))]);
}

#[test]
fn disassemblies_have_lines_and_costs() {
    let folder = folder(&[("script.py", "def add(a, b):\n    return a + b\n")]);
    let said = run(&folder, &["vm", "disassemble", "script.py"]);
    assert_eq!(said.code, Some(0), "{said:?}");
    for wanted in ["add (script.py:1)\n", "     2  return a + b\n", "            0   1  Add                r2 = a + b\n", "leave with r2"] {
        assert!(said.stdout.contains(wanted), "{wanted}\nin\n{}", said.stdout);
    }
}

/// A deployment that the chain would refuse is refused before it is sent, with the place.
#[test]
fn deployments_are_checked_before_they_are_sent() {
    let folder = folder(&[("bad.py", "import random\n")]);
    let key = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
    let said = run(&folder, &["actor", "deploy", "--code", "bad.py", "--private-key", key]);
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr.contains("error[forbidden_source]: import of 'random'") && said.stderr.contains("--> bad.py:1:8"),
        "{}",
        said.stderr
    );
}

/// Every program starts `cowboyd` under its own name, with its arguments and exit code; a launcher without `cowboyd` beside it says so.
#[test]
fn every_program_is_the_node_under_its_name() {
    let programs = [
        ("cowboyd", env!("CARGO_BIN_EXE_cowboyd")),
        ("cowboy", env!("CARGO_BIN_EXE_cowboy")),
        ("cowboy-runner", env!("CARGO_BIN_EXE_cowboy-runner")),
        ("cowboy-gateway", env!("CARGO_BIN_EXE_cowboy-gateway")),
        ("cowboy-proxy", env!("CARGO_BIN_EXE_cowboy-proxy")),
        ("cowboy-relay", env!("CARGO_BIN_EXE_cowboy-relay")),
    ];
    let run = |path: &Path, argument: &str| {
        let output = std::process::Command::new(path).arg(argument).output().expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("programs print UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    for (name, path) in programs {
        let version = format!("{name} {}\n", env!("CARGO_PKG_VERSION"));
        assert_eq!(run(Path::new(path), "--version"), (Some(0), version, String::new()));
        assert_eq!(run(Path::new(path), "--nonsense").0, Some(2), "{name}");
    }
    let folder = tempfile::tempdir().expect("a directory for the test");
    let alone = folder.path().join("cowboy");
    fs::copy(programs[1].1, &alone).expect("the launcher is there");
    let (code, _, said) = run(&alone, "--version");
    assert!(code == Some(1) && said.contains("Keep cowboyd in the folder of cowboy"), "{said}");
}
