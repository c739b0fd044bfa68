//! What the client says: what was paid, which actor had a name before, the exception first, and what a wait is for.

use crate::process::{Node, Said, cowboy};
use serde_json::{Value, json};
use std::{fs, path::Path};

/// The first account of every devnet.
const KEY: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const OWN: &str = "0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266";
const OTHER: &str = "0x70997970c51812dc3a010c7d01b50e0d17dc79c8";

const SITE: &str = "from cowboy_sdk import Address, actor, http, public


@actor
class Site:
    @http.get('/')
    def index(self, request):
        return http.html('hello')

    @public
    def keep(self, owner: Address) -> str:
        return str(owner)

    @public
    def greet(self, name: str) -> str:
        return 'Hello, ' + name

    @public
    def boom(self) -> None:
        raise ValueError('it went wrong')

    @public
    def deep(self, n: int) -> int:
        return self._down(n)

    def _down(self, n):
        return 1 // n if n == 0 else self._down(n - 1)
";

fn run(root: &Path, node: &Node, arguments: &[&str]) -> Said {
    cowboy(root, &node.url, &[arguments, &["--private-key", KEY]].concat())
}

fn error_of(said: &Said) -> Value {
    let error: Value = serde_json::from_str(&said.stderr).expect("a failure is JSON");
    error["error"].clone()
}

#[test]
fn what_was_paid_is_said() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |arguments: &[&str]| run(root, &node, arguments);
    fs::write(root.join("site.py"), SITE).expect("the directory is writable");
    assert_eq!(run(&["actor", "deploy", "site.py"]).code, Some(0));
    let said = run(&["name", "register", "mysite", "--actor", "site"]);
    assert!(said.stdout.starts_with("http://mysite.") && said.stdout.lines().count() == 1, "{said:?}");
    assert!(said.stderr.contains("Paid: 10 CBY for mysite, and a fee of ") && !said.stderr.contains("costs"), "{said:?}");
    let said = run(&["name", "register", "abc", "--actor", "site"]);
    assert!(said.stderr.starts_with("abc costs 1000 CBY\n"), "{said:?}");
    assert_eq!(run(&["name", "register", "other1", "--actor", "site", "--json"]).json()["paid"], 10_000_000_000_u64);
    for (arguments, text) in [
        (&["name", "register", "brief1", "--actor", "site", "--days", "10"][..], "at least 365 days"),
        (&["name", "release", "mysite"], "only those can be released"),
    ] {
        let said = run(arguments);
        assert!(said.code == Some(1) && said.stderr.contains(text), "{arguments:?}: {said:?}");
    }
    assert_eq!(run(&["token", "list"]).stdout, "no tokens\n");
    let wrong = run(&["job", "run", "nofile.json"]);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("\"nofile.json\" is neither JSON nor a file"), "{wrong:?}");
    // What the chain would refuse has its code and its slug, before anything is sent.
    let wrong = run(&[
        "job",
        "submit",
        r#"{"job_type": {"type": "Http", "url": "https://example.com"}, "verification": {"mode": "some"}}"#,
        "--json",
    ]);
    let error = error_of(&wrong);
    assert!(wrong.code == Some(2) && error["code"].is_u64() && error["slug"].is_string(), "{wrong:?}");
    assert!(error["context"]["reason"].is_string() && error["what"].is_string() && error["fix"].is_string(), "{error}");
}

/// What is wrong with a name is said in words of names, and so is what a name below another one holds and gives back.
#[test]
fn names_have_words_of_their_own() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |arguments: &[&str]| run(root, &node, arguments);
    fs::write(root.join("site.py"), SITE).expect("the directory is writable");
    let deployed = run(&["actor", "deploy", "site.py"]);
    assert_eq!(run(&["name", "register", "mysite", "--actor", "site"]).code, Some(0));
    for (arguments, code, text) in [
        (&["name", "register", "MySite", "--actor", "site"][..], 2, "fix: Write it in lower case: mysite."),
        (&["name", "renew", "mysite", "--days", "3"], 1, "mysite cannot be renewed for 3 days"),
        (&["name", "get", "nobody1"], 1, "Nobody has registered nobody1."),
        (&["name", "resolve", "nobody1"], 1, "Nobody has registered nobody1."),
        (&["block", "get", "abc"], 2, "names no block"),
        (&["name", "show"], 2, "fix: cowboy name has the commands register, renew, "),
    ] {
        let said = run(arguments);
        assert!(said.code == Some(code) && said.stderr.contains(text), "{arguments:?}: {said:?}");
    }
    assert_eq!(run(&["name", "set-policy", "mysite", "owner-only"]).code, Some(0));
    let said = run(&["name", "register", "blog.mysite", "--actor", "site"]);
    assert!(said.stderr.contains("Held: 1 CBY, which `cowboy name release blog.mysite` returns"), "{said:?}");
    let said = run(&["name", "release", "blog.mysite"]);
    assert!(said.stdout.starts_with("blog.mysite is released, and the deposit for it went back"), "{said:?}");
    assert!(run(&["name", "get", "mysite"]).stdout.contains(" days of 86400 blocks"));
    let address = deployed.stdout.lines().find_map(|line| line.strip_prefix("Actor address: ")).expect("it is printed");
    assert_eq!(run(&["actor", "list"]).stdout, format!("{address}  site\n"));
    fs::write(root.join("empty.py"), "").expect("the directory is writable");
    assert!(run(&["actor", "deploy", "empty.py"]).stderr.contains("Warning: empty.py has no class and no function"));
    assert!(run(&["status"]).stdout.contains("s ago by this computer's clock"));
}

#[test]
fn a_name_says_which_actor_had_it() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let deploy = |source: &str| {
        fs::write(root.join("site.py"), source).expect("the directory is writable");
        let said = run(root, &node, &["actor", "deploy", "site.py", "--fund", "2cby"]);
        assert_eq!(said.code, Some(0), "{said:?}");
        said
    };
    let first = deploy(SITE);
    assert!(!first.stderr.contains("Note:"), "{first:?}");
    let address = first.stdout.lines().find_map(|line| line.strip_prefix("Actor address: ")).expect("it is printed").to_owned();
    let second = deploy(&SITE.replace("hello", "good day"));
    assert!(second.stderr.contains(&format!("Note: site was {address} (2 CBY, 0 timers)")), "{second:?}");
    let kept: Value = serde_json::from_slice(&fs::read(root.join(".cowboy/actors.json")).expect("it is there")).expect("it is JSON");
    assert_eq!(kept["former"], json!({ "site": [address] }));
}

#[test]
fn the_exception_comes_first() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &[]);
    let run = |arguments: &[&str]| run(root, &node, arguments);
    fs::write(root.join("site.py"), SITE).expect("the directory is writable");
    assert_eq!(run(&["actor", "deploy", "site.py"]).code, Some(0));
    let raised = run(&["actor", "execute", "site", "boom"]);
    assert!(
        raised.stderr.starts_with("error: ValueError: it went wrong (line 20 of actor.py, in boom)\n  The handler raised"),
        "{raised:?}"
    );
    assert!(raised.stderr.contains("\n  sent: nothing: the simulation failed"), "{raised:?}");
    let wrong = run(&["actor", "execute", "site", "greet", "5"]).stderr;
    assert!(wrong.lines().next().is_some_and(|line| line.contains("'name' has to be str")) && !wrong.contains("cowboy_sdk/"), "{wrong}");
    let deep = run(&["actor", "execute", "site", "deep", "40"]).stderr;
    assert!(deep.contains(" more times]") && deep.matches("in _down").count() < 10, "{deep}");

    // An address needs no quotes where a handler takes one; other hex is no text.
    assert_eq!(run(&["actor", "execute", "site", "keep", OTHER]).code, Some(0));
    let raw = run(&["actor", "execute", "site", "greet", OTHER]);
    assert!(raw.code == Some(2) && raw.stderr.contains("is raw bytes, and greet reads CBOR"), "{raw:?}");
}

#[test]
fn a_wait_says_what_is_missing() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let node = Node::dev(folder.path(), &[]);
    let said = run(folder.path(), &node, &["transfer", OTHER, "1", "--nonce", "40", "--timeout", "1", "--json"]);
    assert_eq!(said.code, Some(1), "{said:?}");
    let error = error_of(&said);
    assert!(error["why"].as_str().is_some_and(|why| why.contains("nonce 40") && why.contains("missing before it: 40")), "{error}");
    assert!(error["context"]["tx_hash"].as_str().is_some_and(|hash| hash.len() == 66), "{error}");
    assert!(!error["fix"].as_str().unwrap_or_default().contains("timeout_ms"), "{error}");
}

/// Who leaves reads how much comes back, from which height on, and the command that pays it; programs read the same.
#[test]
fn who_leaves_reads_when_the_stake_is_free() {
    let folder = tempfile::tempdir().expect("a directory for the test");
    let root = folder.path();
    let node = Node::dev(root, &["--balance", "100000"]);
    let run = |arguments: &[&str]| {
        let said = run(root, &node, arguments);
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        said
    };
    let declaration = json!({
        "result_key": "0xd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "kinds": ["http"], "max_concurrent": 4,
        "rates": { "http_request_base": 1_000, "max_job_value": 5_000_000_000_u64 },
    });
    run(&["runner", "register", &declaration.to_string(), "--stake", "20000cby"]);
    run(&["gateway", "register", "localhost", "--http-port", "5080", "--stake", "10000cby"]);
    run(&["runner", "delegate", OWN, "500cby"]);
    let said = run(&["runner", "undelegate", OWN, "200cby"]).stdout;
    assert!(said.contains("\nStake: 200 CBY, free from height 604"), "{said}");
    assert!(said.ends_with("\nAfter that: cowboy runner withdraw-delegation RUNNER\n"), "{said}");
    let said = run(&["runner", "leave"]).stdout;
    assert!(said.contains("\nStake: 20000 CBY, free from height 604") && said.contains(" on, in about 7 days\n"), "{said}");
    assert!(said.ends_with("\nAfter that: cowboy runner withdraw\n"), "{said}");
    let left = run(&["gateway", "unstake", "--json"]).json();
    assert_eq!(
        (&left["leaving"]["stake"], &left["leaving"]["withdraw"]),
        (&json!(10_000_000_000_000_u64), &json!("cowboy gateway unstake"))
    );
    assert_eq!(left["leaving"]["free_from"], left["gateway"]["leaving"]);
}
