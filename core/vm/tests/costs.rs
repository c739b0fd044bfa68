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

#[test]
fn prices_that_the_whitepaper_fixes_stand_in_the_table() {
    // 003 §3.5
    let rows = [("Add", 1), ("Mul", 1), ("Less", 1), ("Call", 10), ("In", 3), ("SetItem", 3), ("ListAppend", 2)];
    for (name, cycles) in rows {
        let row = cowboy_vm::OPCODES.iter().find(|row| row.name == name).expect("an instruction");
        assert_eq!(row.cycles, cycles, "{name}");
    }
}
