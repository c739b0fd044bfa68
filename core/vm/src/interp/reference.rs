//! The machine without its fast paths: every program costs the same, does the same and needs the same memory where each instruction, and
//! each method of text, takes its general form. A fast path is a shorter way to the same end, never another price.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a test reads programs and runs their generator"
)]

use crate::{Entry, Limits, Vm, compile, script_image};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What one run with so many cycles leaves: its end, what it used, and what it printed.
fn run(source: &str, is_general: bool, cycles: u64) -> Option<(String, u64, String)> {
    let unit = compile(source, "program.py").ok()?;
    let limits = Limits { cycles, memory_bytes: 1 << 28, weight_ns: 1 << 50, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    if is_general {
        vm.without_fast_paths();
    }
    let exit = vm.run();
    Some((format!("{exit:?}"), vm.usage().cycles, vm.take_output()))
}

/// The program in both forms; a difference as a sentence.
fn difference(name: &str, source: &str) -> Option<String> {
    let quick = run(source, false, 1 << 34)?;
    // What would go on for ever is told as well.
    let general = run(source, true, 2 * quick.1 + 10_000)?;
    (quick != general).then(|| {
        format!(
            "{name}: {} cycles with fast paths, {} without; {} / {}",
            quick.1,
            general.1,
            &quick.0[..quick.0.len().min(200)],
            &general.0[..general.0.len().min(200)]
        )
    })
}

fn programs_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a readable folder").filter_map(|entry| Some(entry.ok()?.path()));
    let mut found: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "py")).collect();
    found.sort();
    found
}

fn all_agree(paths: &[PathBuf]) {
    let wrong: Vec<String> = paths
        .iter()
        .filter_map(|path| difference(&path.display().to_string(), &std::fs::read_to_string(path).expect("a readable program")))
        .collect();
    assert!(wrong.is_empty(), "{} of {} programs differ\n{}", wrong.len(), paths.len(), wrong.join("\n"));
}

#[test]
fn the_corpus_costs_the_same_without_fast_paths() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let paths: Vec<PathBuf> =
        [corpus.clone(), corpus.join("errors"), corpus.join("frozen")].iter().flat_map(|folder| programs_in(folder)).collect();
    assert!(paths.len() > 50, "the corpus is there");
    all_agree(&paths);
}

#[test]
fn random_programs_cost_the_same_without_fast_paths() {
    const COUNT: &str = "150";
    let scratch = std::env::temp_dir().join(format!("cowboy-reference-{}", std::process::id()));
    let generator = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/generate.py");
    match Command::new("python3").args(["-W", "ignore", generator, "1", COUNT]).arg(&scratch).status() {
        Ok(status) => assert!(status.success(), "the generator runs"),
        Err(error) => return println!("skipped: there is no python3 to write programs: {error}"),
    }
    let paths = programs_in(&scratch);
    assert_eq!(paths.len().to_string(), COUNT);
    all_agree(&paths);
    let _ = std::fs::remove_dir_all(&scratch);
}

/// A function pays for its registers however it is called, left or resumed.
#[test]
fn large_functions_cost_the_same_without_fast_paths() {
    let lines: String = (0..100).map(|index| format!("        a{index} = 1\n")).collect();
    let head = |parameters: &str| format!("def f({parameters}):\n    if x:\n{lines}");
    let rows = [
        ("x, y=2", "return x", "for i in range(5): f(0), f(0, 1), f(x=0), f(1)"),
        ("x, *, y=2", "return x", "for i in range(5): f(0), f(0, y=1)"),
        ("x", "return 1 // x", "for i in range(5):\n    try: f(i)\n    except ZeroDivisionError: print(i)"),
        (
            "x",
            "yield from (x, 'y', (1, 2))",
            "print(list(f(0)), set(f(1)), tuple(f(0)), ''.join(map(str, f(0))), [*f(0)], sum(f(0), start=[]) if 0 else 0)",
        ),
        (
            "x",
            "y = yield x\n    yield y\n    yield 'z' * 100",
            "for i in f(0): print(i)\nprint(list(f(0)), set(f(0)), dict(zip(f(0), f(1))))\ng = f(0)\nnext(g)\nprint(g.send(3))",
        ),
    ];
    let wrong: Vec<String> =
        rows.iter().filter_map(|(parameters, word, call)| difference(word, &format!("{}    {word}\n{call}\n", head(parameters)))).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What the fast paths are about, at the sizes where they begin and end.
#[test]
fn fast_paths_cost_the_same_at_their_edges() {
    let sizes = [0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65, 100, 1000];
    let bodies = [
        "l[:]",
        "l[1:]",
        "l[::-1]",
        "l[2:n:2]",
        "l[:] = m",
        "l[1:] = m[1:]",
        "l[1:3] = m[1:3]",
        "t[1:]",
        "s[1:]",
        "s[::-1]",
        "b[1:]",
        "l + m",
        "l * 2",
        "l == m",
        "s.split(',')",
        "s.split()",
        "s.split('ab,ab,ab,')",
        "s.rsplit(',')",
        "','.join(w)",
        "'--------'.join(w)",
        "s.upper()",
        "s.lower()",
        "s.strip()",
        "s.strip('abcdefgh,')",
        "s.find('zz')",
        "s.rfind('a,')",
        "s.find('abcdefghijkl')",
        "s.startswith('ab')",
        "s.endswith(s)",
        "s + s",
        "s == s + ''",
        "f'{s}{n}{s!r}'",
        "'%s %d' % (s, n)",
        "'{} {}'.format(s, n)",
        "str(n)",
        "str(10 ** n)",
        "list(l)",
        "tuple(l)",
        "sum(l)",
        "sorted(l)",
        "len(l)",
        "d.get(n)",
        "d.get('x' * 9)",
        "d.get('x' * n)",
        "('x' * n) in d",
        "{t: 1}[t]",
        "{t: 1}.get(t)",
        "t in {t: 1}",
        "{s: 1}[s]",
        "{b: 1}[b]",
        "d[n // 2 if n else 0]",
        "[x for x in l]",
        "{x: x for x in l}",
        "[a + b for a, b in zip(l, m)]",
        "[a + b for a, b in enumerate(l)]",
        "[a for a, b in d.items()]",
        "a, *rest = [1] + l",
        "2 ** n",
        "3 ** n % 7",
        "(1 << n) - 1",
        "(1 << n) + n",
        "((1 << n) * 5 + 3) & 0xffffffffffffffff",
        "(1 << n) >> 5",
        "9223372036854775807 << (n & 1)",
        "-9223372036854775808 << (n & 1)",
        "-(1 << n) // 7",
        "9223372036854775807 + n",
        "-9223372036854775808 - n",
        "(1 << 63) * n",
        "n * (1 << 64)",
        "(7 << n) // (3 << n // 2)",
        "n ** 0.5",
        "(n + 0.25) ** 0.5",
        "float(-n) ** 0.5 if n > 99 else 0.0 ** 0.5",
        "1.5 + n",
        "n / 3",
        "n < 1.5",
        "s < s + 'a'",
        "'é' * n + s",
        "('é' * n)[n // 2:]",
        "n in l",
        "n in d",
        "n in s.split()",
    ];
    let mut wrong = Vec::new();
    for body in bodies {
        for n in sizes {
            let source = format!(
                "n = {n}\nl = list(range(n))\nm = [i + 1 for i in l]\nt = tuple(l)\ns = 'ab,' * n\nb = bytes(n)\nw = ['ab'] * n\nd = {{i: str(i) for i in range(n + 1)}}\ndef f(l, m, s, n):\n    {body}\n    {body}\nf(l, m, s, n)\n"
            );
            wrong.extend(difference(&format!("{body} for n = {n}"), &source));
        }
    }
    assert!(wrong.is_empty(), "{} differ\n{}", wrong.len(), wrong.join("\n"));
}
