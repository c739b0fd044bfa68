//! Sources that nest as deep as they can: what is accepted compiles on half of the promised stack, and what is not is refused at once.

use super::on_stack;
use cowboy_vm::{CompileErrorKind, STACK_BYTES, check, compile, disassemble};
use dashu_int::IBig;

/// What nests: what opens a level, what is innermost, and what closes a level.
const NESTS: &[(&str, &str, &str)] = &[
    ("(", "1", ")"),
    ("[", "1", "]"),
    ("{0: ", "1", "}"),
    ("{", "1", "}"),
    ("(1, ", "1", ")"),
    ("f(", "1", ")"),
    ("f(a, *", "1", ")"),
    ("f(a=", "1", ")"),
    ("f", "(1)", "(1)"),
    ("x", "[1]", "[1]"),
    ("x[", "1", "]"),
    ("x[1:", "1", "]"),
    ("x", ".a", ".a"),
    ("1 + ", "1", ""),
    ("", "1", " * 2"),
    ("2 ** ", "1", ""),
    ("-", "1", ""),
    ("~", "1", ""),
    ("not ", "1", ""),
    ("1 < ", "1", ""),
    ("1 and ", "1", ""),
    ("1 or not ", "1", ""),
    ("1 if 1 else ", "1", ""),
    ("", "1", " if 1 else 1"),
    ("(1 if ", "1", " else 1)"),
    ("lambda: ", "1", ""),
    ("lambda a, b=1, *c: ", "1", ""),
    ("lambda a=", "1", ": 1"),
    ("lambda a=(lambda: ", "1", "): 1"),
    ("(yield ", "1", ")"),
    ("yield 1, ", "1", ""),
    ("await ", "1", ""),
    ("(a := ", "1", ")"),
    ("[a for a in ", "[]", "]"),
    ("[", "1", " for a in b]"),
    ("[a for a in b if ", "1", "]"),
    ("(a for a in (", "1", "))"),
    ("{a: b for a in ", "[]", "}"),
    ("*", "a", ""),
    ("f'{", "1", "}'"),
    ("f\"{f'{", "1", "}'}\""),
    ("f'{(", "1", ")}'"),
    ("f'{1:{", "1", "}}'"),
    ("'a' ", "'a'", ""),
    ("1, ", "1", ""),
];

/// Statements that nest, one more indented than the other.
const BLOCKS: &[&str] =
    &["if a:", "while a:", "for a in b:", "with a:", "def f():", "async def f():", "class C:", "try:", "match a:\n case 1:"];

/// Patterns of `match` that nest.
const PATTERNS: &[(&str, &str)] = &[("[", "]"), ("C(", ")"), ("C(a=", ")"), ("{1: ", "}"), ("(1 | ", ")"), ("", " | 1"), ("a.", "")];

fn accepted(source: &str) -> bool {
    match compile(source, "deep.py") {
        Ok(unit) => {
            disassemble(&unit);
            true
        }
        Err(_) => false,
    }
}

/// The largest number of levels that is accepted, and everything on the way and beyond.
fn try_all(source: impl Fn(usize) -> String + Sync) -> usize {
    on_stack(STACK_BYTES / 2, || {
        let (mut low, mut high) = (0, 4_096);
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if accepted(&source(middle)) { low = middle } else { high = middle }
        }
        for levels in [low + 1, 495, 499, 501, 1_000, 30_000] {
            let source = source(levels);
            accepted(&source);
            check(&source);
        }
        low
    })
}

fn statements() -> Vec<Box<dyn Fn(&str) -> String + Sync>> {
    vec![
        Box::new(|expression| format!("x = {expression}\n")),
        Box::new(|expression| format!("async def f():\n    {expression}\n")),
        Box::new(|expression| format!("def f(a: {expression} = {expression}) -> {expression}:\n    return {expression}\n")),
        Box::new(|expression| format!("x: {expression} = 1\nassert {expression}, {expression}\n")),
        Box::new(|expression| format!("@{expression}\nclass C({expression}): pass\n")),
        Box::new(|expression| format!("{expression} = 1\ndel {expression}\nfor {expression} in a: pass\n")),
        Box::new(|expression| {
            format!(
                "from cowboy_sdk import runner\n@runner.continuation\nasync def f(a):\n    x = await g({expression})\n    y = {expression}\n    return await g(y)\n"
            )
        }),
        Box::new(|expression| {
            format!("if 1:\n  if 1:\n    with {expression} as a, {expression}:\n      raise {expression} from {expression}\n")
        }),
        Box::new(|expression| format!("x = ({expression}\ny = 1\n")),
        Box::new(|expression| format!("x = f'''{{{expression} ]}}''' + [\n")),
    ]
}

#[test]
fn expressions_that_are_accepted_need_at_most_half_of_the_stack() {
    for statement in statements() {
        for (open, inner, close) in NESTS {
            try_all(|levels| statement(&format!("{}{inner}{}", open.repeat(levels), close.repeat(levels))));
        }
    }
}

/// Depth in one direction is not multiplied with depth in another.
#[test]
fn directions_of_nesting_add_up() {
    let chain = |levels: usize| format!("1{}", " + 1".repeat(levels));
    let products: Vec<Box<dyn Fn(usize) -> String + Sync>> = vec![
        Box::new(move |levels| {
            let sum = " + 1".repeat(levels);
            format!("x = {}1{}\n", "(".repeat(levels), format!("{sum})").repeat(levels))
        }),
        Box::new(|levels| format!("x = {}1\n", format!("lambda: {}", "- ".repeat(levels)).repeat(levels))),
        Box::new(|levels| format!("x = {}1\n", format!("lambda a, b: {}", "not ".repeat(levels)).repeat(levels))),
        Box::new(|levels| format!("x = {}1{}\n", "f(".repeat(levels), format!("{})", ".a".repeat(levels)).repeat(levels))),
        Box::new(|levels| {
            (0..levels.min(300)).map(|depth| format!("{}{}\n", " ".repeat(depth), "if 1: ".repeat(levels.min(300)))).collect()
        }),
        Box::new(move |levels| (0..levels.min(1_000)).map(|depth| format!("{}if {}:\n", " ".repeat(depth), chain(levels))).collect()),
    ];
    for product in products {
        on_stack(STACK_BYTES / 2, || {
            for levels in [10, 90, 200, 400, 499, 501, 800] {
                let source = product(levels);
                if source.len() < 1 << 20 {
                    accepted(&source);
                    check(&source);
                }
            }
        });
    }
}

#[test]
fn blocks_that_are_accepted_need_at_most_half_of_the_stack() {
    for block in BLOCKS {
        let levels = try_all(|levels| {
            let mut source = String::new();
            let lines: Vec<&str> = block.split('\n').collect();
            for depth in 0..levels.min(1_300) {
                let indent = " ".repeat(depth * lines.len());
                for line in &lines {
                    source.push_str(&format!("{indent}{line}\n"));
                }
            }
            source.push_str(&format!("{}pass\n", " ".repeat(levels.min(1_300) * lines.len())));
            for depth in (0..levels.min(1_300)).rev().filter(|_| *block == "try:") {
                source.push_str(&format!("{}finally: pass\n", " ".repeat(depth)));
            }
            source
        });
        assert!(levels >= 15, "{block} {levels}");
        // The same in a continuation, which is taken apart first.
        try_all(|levels| {
            let levels = levels.min(1_300);
            let mut source =
                "from cowboy_sdk import runner\n@runner.continuation\n@bounded_loop(max_iterations=2)\nasync def f(a):\n".to_owned();
            for depth in 0..levels {
                source.push_str(&format!("{}{}\n", " ".repeat(depth + 1), block.lines().next().unwrap_or_default()));
            }
            source.push_str(&format!("{}await a\n", " ".repeat(levels + 1)));
            source
        });
    }
    // On one line, which is no Python, but is read.
    for word in ["if a: ", "class C: ", "else: ", "for a in b: ", "def f(): "] {
        try_all(|levels| format!("{}pass\n", word.repeat(levels)));
        try_all(|levels| format!("x = (1 2\n{}pass\n", word.repeat(levels)));
    }
}

#[test]
fn patterns_that_are_accepted_need_at_most_half_of_the_stack() {
    for (open, close) in PATTERNS {
        try_all(|levels| format!("match x:\n    case {}a{}: pass\n", open.repeat(levels), close.repeat(levels)));
    }
}

/// Rows of clauses are no nesting, however long, unless they become it.
#[test]
fn clauses_in_a_row_are_flat() {
    let rows: &[(&str, &str, &str)] = &[
        ("if a: pass\n", "elif a: pass\n", ""),
        ("", "@a\n", "def f(): pass\n"),
        ("x = (", "'a' ", ")\n"),
        ("x = [", "1, ", "]\n"),
        ("x = [", "lambda a, b: a + b, ", "]\n"),
        ("x = {", "1: 2.5,\n  ", "}\n"),
        ("", "x.a = -1; ", "\n"),
        ("match x:\n", "  case 1: pass\n", ""),
        ("try: pass\n", "except a: pass\n", ""),
        ("with a", ", a", ": pass\n"),
    ];
    for (open, row, close) in rows {
        let source = format!("{open}{}{close}", row.repeat(3_000));
        let outcome = on_stack(STACK_BYTES / 2, || compile(&source, "long.py").map(|_| ()));
        let is_with = open.starts_with("with");
        assert_eq!(outcome.is_err(), is_with, "{open}{row} {:?}", outcome.err());
    }
    let head = "from cowboy_sdk import runner\n@runner.continuation\nasync def f(a):\n";
    for source in [
        format!("{head}    if a: pass\n{}    else: await a\n", "    elif a: pass\n".repeat(30_000)),
        format!("{head}    with a{}: await a\n", ", a".repeat(30_000)),
    ] {
        let error = on_stack(STACK_BYTES / 2, || compile(&source, "long.py").map(|_| ()).expect_err("too deep"));
        assert_eq!(error.kind, CompileErrorKind::TooLarge, "{error}");
    }
}

/// An integer in a source has the limit of all integers, however it is written and wherever it stands (decision 784).
#[test]
fn integers_in_sources_are_bounded() {
    let largest = (IBig::ONE << 4_096) - IBig::ONE;
    for place in ["x = {}\n", "x = -{}\n", "x = f'{{{}}}'\n", "match x:\n    case {}: pass\n", "def f(a={}): pass\n"] {
        for (number, is_taken) in [
            (largest.to_string(), true),
            ((&largest + IBig::ONE).to_string(), false),
            (format!("0x{}", "f".repeat(1_024)), true),
            (format!("0x1{}", "0".repeat(1_024)), false),
            (format!("0b{}", "1_".repeat(4_096).trim_end_matches('_')), true),
            (format!("0o2{}", "0".repeat(1_365)), false),
            (format!("1{}", "0".repeat(200_000)), false),
        ] {
            let source = place.replace("{}", &number).replace("{{", "{").replace("}}", "}");
            let refused = compile(&source, "numbers.py").err().map(|error| error.kind);
            assert_eq!(refused, (!is_taken).then_some(CompileErrorKind::TooLarge), "{place} of {} characters", number.len());
        }
    }
}

/// What CPython 3.11 refuses in an f-string is refused before it is parsed, with its words.
#[test]
fn f_strings_are_those_of_python_3_11() {
    let cases = [
        ("x = f'{1:{2:{3}}}'\n", Some("f-string: expressions nested too deeply")),
        ("x = f'{1:{2:{3:{4}}}}'\n", Some("f-string: expressions nested too deeply")),
        ("x = f'{1:{2:3}}'\n", None),
        ("x = f'{a['b']}'\n", Some("f-string: expecting '}' (the quotes of an f-string cannot be used inside it)")),
        ("x = f'{a[\"b\"]}'\n", None),
        ("x = f'{(1, 2)[0]:>{3}}{{}}'\n", None),
        ("x = f'''{\n1\n}'''\n", None),
        ("x = f'{1'\n", Some("f-string: expecting '}' (the quotes of an f-string cannot be used inside it)")),
        ("x = f'}'\n", Some("f-string: single '}' is not allowed")),
        ("x = f'{(1]}'\n", Some("f-string: closing parenthesis ']' does not match the opening one")),
        ("x = f'{1)}'\n", Some("f-string: unmatched ')'")),
        ("x = f'{a\\n}'\n", Some("f-string expression part cannot include a backslash")),
        ("x = f'''{a # b\n}'''\n", Some("f-string expression part cannot include '#'")),
        ("x = f'abc\n", Some("f-string: unterminated string")),
        ("x = f'\\N{BULLET}{1}\\{1}'\n", None),
        ("x = rf'\\N{1}\\{1}'\n", None),
        ("x = f'{lambda x: 1}'\n", Some("")),
        ("x = f'{1!r:^{4}}' f\"{'a' 'b'}\" rF'{1}' u''\n", None),
    ];
    for (source, refusal) in cases {
        let outcome = compile(source, "text.py");
        match refusal {
            None => assert!(outcome.is_ok(), "{source}: {:?}", outcome.err()),
            Some(words) => {
                let error = outcome.map(|_| ()).expect_err(source);
                assert!(words.is_empty() || error.message == words, "{source}: {error}");
                assert_eq!(error.line, 1, "{source}: {error}");
            }
        }
    }
}
