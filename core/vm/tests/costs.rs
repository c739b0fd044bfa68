//! The page of costs is the tables, and a program is charged what 003 §3.5 fixes.

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};

/// The cycles of a function's body that runs once.
fn cycles(body: &str) -> u64 {
    let source = format!(
        "def g():\n    pass\ndef f(a, d, l, s, t):\n{body}    return a\nf(1, {{1: 2}}, [3, 4], {:?}, {:?})\n",
        "x".repeat(100),
        "y".repeat(200)
    );
    let unit = compile(&source, "costs.py").expect("the program is Python");
    let mut vm = Vm::start(script_image(&unit), Entry::Script, Limits::default());
    assert!(matches!(vm.run(), Exit::Return(_)), "{body}");
    vm.usage().cycles
}

/// The cycles of a line: what ten more of it cost.
fn cycles_of(line: &str) -> u64 {
    let lines = |count: usize| format!("    {line}\n").repeat(count);
    let ten = cycles(&lines(11)) - cycles(&lines(1));
    assert_eq!(ten % 10, 0, "{line}: each costs the same");
    ten / 10
}

/// what a program is charged, whatever the tables say.
#[test]
fn primitive_operations_cost_what_the_whitepaper_fixes() {
    let rows = [
        ("arithmetic", "b = a + a", 1),
        ("arithmetic", "b = a * a", 1),
        ("arithmetic", "b = a - a", 1),
        ("a comparison", "b = a < a", 1),
        ("a dict is read", "b = d[a]", 3),
        ("a dict is written", "d[a] = a", 3),
        ("a dict is asked", "b = a in d", 3),
        ("a call, and the 1 of a body that returns", "g()", 10 + 1),
        ("characters that are joined: 300, and the operation", "b = s + t", 300 + 1),
    ];
    for (what, line, expected) in rows {
        assert_eq!(cycles_of(line), expected, "{what}: {line}");
    }
    // A hundred elements more, without what the iteration over them costs.
    let further = |line: &str| cycles_of(&line.replace('?', "t")) - cycles_of(&line.replace('?', "s"));
    assert_eq!(further("b = [c for c in ?]") - further("for c in ?: pass"), 100 * 2, "a list grows");
}

#[test]
fn the_page_of_costs_is_that_of_the_tables() {
    let page = include_str!("../../../docs/costs.md");
    assert_eq!(page, cowboy_vm::costs(), "run: cargo run -p cowboy-vm --example costs > docs/costs.md");
}

/// A row that nothing charges would be a line of the page that is not true.
#[test]
#[allow(clippy::disallowed_methods, reason = "it reads the crate's own sources")]
fn every_row_is_charged_somewhere() {
    fn read(folder: &std::path::Path, all: &mut String) {
        for entry in std::fs::read_dir(folder).expect("a folder of sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                read(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("costs/rows.rs") {
                all.push_str(&std::fs::read_to_string(&path).expect("a source file"));
            }
        }
    }
    let mut sources = String::new();
    read(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut sources);
    let words: std::collections::BTreeSet<&str> = sources.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').collect();
    let page = cowboy_vm::costs();
    let work = page.split("## Work").nth(1).and_then(|rest| rest.split("## Instructions").next()).expect("the part about work");
    let symbols: Vec<&str> = work.lines().filter_map(|line| line.strip_suffix("` |")?.rsplit('`').next()).collect();
    assert!(symbols.len() > 150, "the symbols stand in the last column: {symbols:?}");
    let unused: Vec<&&str> = symbols.iter().filter(|symbol| !words.contains(**symbol)).collect();
    assert!(unused.is_empty(), "rows that nothing charges: {unused:?}");
    // The one other way to make a charge of a number.
    for call in sources.split("Charge::by_rule(").skip(1) {
        let is_parameter = call.starts_with("vm.meter.limits.rules.") || call.starts_with("rules.");
        assert!(is_parameter, "a price that is no row has to be a parameter: by_rule({}", call.lines().next().unwrap_or_default());
    }
}

#[test]
fn prices_that_the_whitepaper_fixes_stand_in_the_table() {
    // 003 §3.5
    let rows = [("Add", 1), ("Mul", 1), ("Less", 1), ("Call", 10), ("In", 3), ("SetItem", 3), ("ListAppend", 2)];
    for (name, cycles) in rows {
        let row = cowboy_vm::OPCODES.iter().find(|row| row.name == name).expect("an instruction");
        assert_eq!(row.cycles, cycles, "{name}");
    }
}
