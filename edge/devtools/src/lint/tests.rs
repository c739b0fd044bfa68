//! Each rule on a source that breaks it and on one that does not.

use super::{rules::RULES, *};

#[test]
fn every_rule_says_why_and_what_to_do() {
    for rule in RULES {
        assert!(rule.why.len() > 20 && rule.fix.len() > 10, "{}", rule.name);
    }
}

#[test]
fn surprises_are_found_at_their_place() {
    let actor =
        |body: &str| format!("from cowboy_sdk import actor, public\n\n@actor\nclass A:\n    @public\n    def go(self, x):\n{body}\n");
    let rows: &[(&str, String, &[(&str, usize, usize)])] = &[
        ("nothing", actor("        self.storage['a'] = x"), &[]),
        ("an attribute", actor("        self.count = x"), &[("lost-attribute", 7, 9)]),
        ("its augmented form", actor("        self.count += x"), &[("lost-attribute", 7, 9)]),
        (
            "in a function of the handler",
            actor("        def inner():\n            self.a = 1\n        inner()"),
            &[("lost-attribute", 8, 13)],
        ),
        ("in __init__", actor("        pass\n    def __init__(self):\n        self.a = 1"), &[]),
        ("a global", actor("        global COUNT\n        COUNT = 1"), &[("lost-global", 7, 9)]),
        ("no decorator", actor("        pass\n    def stop(self):\n        pass"), &[("unreachable-handler", 8, 9)]),
        ("a timer's handler", actor("        set_timer(9, 'stop')\n    def stop(self):\n        pass"), &[]),
        ("a timer to nobody", actor("        set_timer(9, 'nosuch')"), &[("no-such-handler", 7, 22)]),
        ("an interval to nobody", actor("        set_interval(9, handler='nosuch')"), &[("no-such-handler", 7, 33)]),
        (
            "a file without an actor",
            "from cowboy_sdk import public\n\nclass A:\n    def go(self):\n        pass\n".to_owned(),
            &[("no-actor", 3, 7)],
        ),
        ("functions as handlers", "class A:\n    pass\ndef go(payload):\n    return payload\n".to_owned(), &[]),
        ("a job that is not awaited", actor("        page = runner.http(x)"), &[("not-awaited", 7, 16)]),
        (
            "jobs that are sent",
            actor(
                "        pass\n    @runner.continuation\n    async def ask(self):\n        await runner.http(1)\n        await runner.within(2, runner.llm('x'))\n        g.create_task(runner.http(1))\n",
            ),
            &[],
        ),
        (
            "an async method",
            actor("        pass\n    @public\n    async def ask(self):\n        await runner.http(1)"),
            &[("not-a-continuation", 9, 15)],
        ),
        ("a list of the class", actor("        pass\n    seen = []"), &[("mutable-class-attribute", 8, 5)]),
        ("a float as money", actor("        call(x, 'pay', 1, value=x / 2)"), &[("float-as-money", 7, 33)]),
        ("a whole amount", actor("        call(x, 'pay', 1, value=x // 2)"), &[]),
        ("a helper", actor("        pass\n    def _stop(self):\n        pass"), &[]),
        ("a default", "def f(x, known=[]):\n    return known\n".to_owned(), &[("mutable-default", 1, 16)]),
        ("print", actor("        print(x)"), &[("print", 7, 9)]),
        ("print of a script", "print(1)\n".to_owned(), &[]),
        ("a back reference", "class N:\n    def add(self, child):\n        child.parent = self\n".to_owned(), &[("back-reference", 3, 9)]),
        ("an endless loop", actor("        while True:\n            x += 1"), &[("endless-loop", 7, 9)]),
        ("a loop that ends", actor("        while True:\n            if x:\n                break"), &[]),
        ("a bare except", actor("        try:\n            x()\n        except:\n            pass"), &[("swallowed-error", 9, 9)]),
        ("a precise one", actor("        try:\n            x()\n        except ValueError:\n            pass"), &[]),
        ("a send", actor("        send(x, 1)"), &[("not-deferred", 7, 9)]),
        (
            "names that are not there",
            "from cowboy_sdk import actor, nosuch\nfrom math import isqrt, wurzel\nimport cowboy_sdk.nosuch\nimport cowboy_sdk.http\nfrom cowboy_sdk.errors import *\n".to_owned(),
            &[("unknown-import", 1, 31), ("unknown-import", 2, 25), ("unknown-import", 3, 8)],
        ),
        ("one in a function", actor("        from cowboy_sdk.http import nosuch"), &[("unknown-import", 7, 37)]),
        (
            "one for type checkers",
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    from cowboy_sdk import nosuch\n".to_owned(),
            &[],
        ),
        ("refusals come alone", actor("        print(eval(x))"), &[("forbidden_source", 7, 15)]),
        ("all of them", "import os\nimport time\n".to_owned(), &[("forbidden_source", 1, 8), ("forbidden_source", 2, 8)]),
    ];
    for (name, source, expected) in rows {
        let found = findings(source);
        let places: Vec<(&str, usize, usize)> = found.iter().map(|finding| (finding.rule, finding.line, finding.column)).collect();
        assert_eq!(&places, expected, "{name}");
    }
}

#[test]
fn an_import_that_always_runs_is_an_error() {
    let errors = |source: &str| findings(source).iter().map(|finding| finding.is_error).collect::<Vec<bool>>();
    assert_eq!(errors("from math import wurzel\n"), [true]);
    assert_eq!(errors("try:\n    from math import wurzel\nexcept ImportError:\n    wurzel = None\n"), [false]);
    assert_eq!(findings("from math import wurzel\n")[0].what, "cannot import name 'wurzel' from 'math' (unknown location)");
}

/// A name that a module does not have is found where it is looked up, unless the name before it may stand for something else.
#[test]
fn lookups_of_names_that_are_not_there_are_found() {
    let rows: &[(&str, &[(&str, usize, usize)])] = &[
        ("from cowboy_sdk import runtime\n\ndef now():\n    return runtime.block_height()\n", &[("unknown-name", 4, 20)]),
        ("from cowboy_sdk import runtime\n\ndef now():\n    return runtime.current_block()\n", &[]),
        ("from cowboy_sdk import runtime\n\ndef now(runtime):\n    return runtime.block_height()\n", &[]),
        ("from cowboy_sdk import Address\n\ndef of(x):\n    return Address.nosuch\n", &[]),
        ("import json\n\ntry:\n    json.loads('1')\nexcept ValueError as json:\n    json.nosuch\n", &[]),
        ("import json\n\nmatch 1:\n    case [json, *rest]:\n        json.nosuch\n", &[]),
    ];
    for (source, expected) in rows {
        let found = findings(source);
        let places: Vec<(&str, usize, usize)> = found.iter().map(|finding| (finding.rule, finding.line, finding.column)).collect();
        assert_eq!(&places, expected, "{source}");
    }
}

/// The SDK defers a continuation by itself, so that nothing is to be written above it.
#[test]
fn a_continuation_is_deferred() {
    let handler = |mark: &str| {
        format!(
            "from cowboy_sdk import actor, public, runner, send\n\n@actor\nclass A:\n    @public\n    {mark}\n    async def go(self):\n        send(self.sender, 1)\n        await runner.http('https://a.example')\n"
        )
    };
    let rules = |source: &str| findings(source).iter().map(|finding| finding.rule).collect::<Vec<_>>();
    assert_eq!(rules(&handler("@runner.continuation")), [""; 0]);
    assert_eq!(rules(&handler("# nothing")), ["not-a-continuation", "not-deferred"]);
}

/// Who misspells a name, or looks for it in the wrong module, reads the right one.
#[test]
fn a_name_that_is_not_there_has_a_suggestion() {
    let rows = [
        ("from cowboy_sdk import Actr\n", "cannot import name 'Actr' from 'cowboy_sdk' (unknown location); did you mean Actor?"),
        ("from cowboy_sdk import llm\n", "cannot import name 'llm' from 'cowboy_sdk' (unknown location); it is in cowboy_sdk.runner"),
        ("from cowboy_sdk import msg\n", "cannot import name 'msg' from 'cowboy_sdk' (unknown location)"),
        ("from math import srqt\n", "cannot import name 'srqt' from 'math' (unknown location)"),
        ("from math import sqt\n", "cannot import name 'sqt' from 'math' (unknown location); did you mean sqrt?"),
    ];
    for (source, what) in rows {
        assert_eq!(findings(source)[0].what, what);
    }
}

#[test]
fn a_finding_marks_its_place() {
    let source = "class N:\n    def add(self, child):\n        child.parent = self\n";
    let shown = findings(source)[0].show("n.py", source);
    assert!(shown.starts_with("warning[back-reference]: an object is given a reference to self\n  --> n.py:3:9\n"), "{shown}");
    assert!(shown.contains("   3 |         child.parent = self\n     |         ^^^^^^^^^^^^\n  why: "), "{shown}");
}
