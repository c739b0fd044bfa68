//! Continuations: what the compiler refuses when an actor is deployed, with the place. What they do is in `sdk.rs`.

use cowboy_vm::{CompileErrorKind, compile};

const HEAD: &str = "from cowboy_sdk import actor, bounded_loop, capture, runner, TaskGroup\n\n@actor\nclass A:\n    @runner.continuation\n";

/// The refusal of a method with this body: line and column within the body, and the words.
fn refused(decorator: &str, body: &str) -> (u32, u32, String) {
    let mut source = format!("{HEAD}    {decorator}\n    async def go(self, payload):\n");
    for line in body.lines() {
        source.push_str(&format!("        {line}\n"));
    }
    let error = compile(&source, "actor.py").expect_err(body);
    assert_eq!(error.kind, CompileErrorKind::Forbidden, "{error}");
    (error.line - 7, error.column - 8, error.message)
}

/// What would not survive an await, or never get to it, is refused at deployment with line and column; `_lowering.py` does the same.
#[test]
fn refusals() {
    let rows = [
        ("for i in [1]:\n    await runner.http('u')", 1, 1, "needs a bound: add @bounded_loop"),
        ("yield 1\nawait runner.http('u')", 1, 1, "a continuation cannot yield"),
        ("x = [await runner.http(u) for u in 'ab']", 1, 5, "a comprehension cannot await"),
        ("x = payload and await runner.http('u')", 1, 5, "use an if statement"),
        ("x = await runner.http('u') if payload else 1", 1, 5, "use an if statement"),
        ("x = 1 < 2 < await runner.http('u')", 1, 5, "name the result first"),
        ("x = str(payload) + (await runner.http('u')).text", 1, 5, "give its result a name first"),
        ("try:\n    pass\nfinally:\n    await runner.http('u')", 4, 5, "finally cannot await"),
        ("try:\n    pass\nexcept KeyError:\n    await runner.http('u')\n    raise", 5, 5, "cannot raise again"),
        ("match payload:\n    case 1:\n        await runner.http('u')", 1, 1, "a case cannot await"),
        ("async for x in payload:\n    pass", 1, 1, "use for"),
        ("async with TaskGroup() as g:\n    await runner.http('u')", 1, 1, "cannot await inside"),
        ("self.storage['a'] += await runner.http('u')", 1, 1, "await first, then add"),
        ("x: (await runner.http('u')) = 1", 1, 5, "an await cannot stand here"),
        ("match payload:\n    case 1 if await runner.http('u'):\n        pass", 1, 1, "a case cannot await"),
        ("try:\n    pass\nexcept (await runner.http('u')):\n    pass", 3, 9, "an await cannot stand here"),
        ("def f(a=await runner.http('u')):\n    pass", 1, 9, "an await cannot stand here"),
        ("f = lambda a=await runner.http('u'): a", 1, 14, "an await cannot stand here"),
        ("async def inner():\n    await runner.http('u')\nawait runner.http('u')", 1, 1, "make it a method"),
        ("f = lambda: 1\nawait runner.http('u')\nreturn f()", 1, 1, "'f' is a function, which cannot be kept"),
        ("g = (i for i in 'ab')\nawait runner.http('u')\nreturn list(g)", 1, 1, "'g' is a generator, which cannot be kept"),
        ("import json\nawait runner.http('u')\nreturn json.dumps(1)", 1, 1, "'json' is a module, which cannot be kept"),
        (
            "try:\n    pass\nexcept KeyError as e:\n    await runner.http('u')\n    return e",
            3,
            1,
            "'e' is an exception, which cannot be kept",
        ),
    ];
    for (body, line, column, words) in rows {
        let (at_line, at_column, message) = refused("@public", body);
        assert!(message.starts_with("go(): ") && message.contains(words), "{body}: {message}");
        assert_eq!((at_line, at_column), (line, column), "{body}");
    }
    let (_, _, message) = refused("@public", &["await runner.http('u')"; 9].join("\n"));
    assert!(message.contains("9 awaits, at most 8"), "{message}");
    for (body, words) in [
        ("while (await runner.http('u')).text:\n    pass", "a loop's condition cannot await"),
        ("for i in 'a':\n    pass\nelse:\n    await runner.http('u')", "a loop's else cannot await"),
    ] {
        let (_, _, message) = refused("@bounded_loop(max_iterations=2)", body);
        assert!(message.contains(words), "{message}");
    }
}

/// A module without a continuation keeps its coroutines as they are.
#[test]
fn plain_coroutines_stay() {
    let source = "async def f():\n    for i in [1]:\n        await g()\n\nasync def g():\n    yield 1\n";
    assert!(compile(source, "actor.py").is_ok());
}
