//! Calls of native functions, with arguments of many kinds and sizes.

use crate::measure::{Bench, Figure, Random};
use cowboy_vm::{NativeCost, compile, native_costs};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Sizes of arguments.
const SIZES: &[usize] = &[1, 24, 300, 5_000, 60_000];

/// What arguments may be, `N` being a size.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "N",
    "2**62",
    "2**N if N < 4000 else 2**4000",
    "1.5",
    "1e308",
    "5e-324",
    "None",
    "True",
    "''",
    "'a'",
    "'ab'*N",
    "'é'*N",
    "'1'*N",
    "' '*N",
    "'a,'*N",
    "'\\n'*N",
    "b''",
    "b'a'*N",
    "b'1,'*N",
    "bytearray(b'ab'*N)",
    "[]",
    "list(range(N))",
    "['a']*N",
    "[1.5]*N",
    "[[i] for i in range(min(N, 2000))]",
    "tuple(range(N))",
    "('a','b')",
    "{i: i for i in range(min(N, 5000))}",
    "{str(i): i for i in range(min(N, 5000))}",
    "set(range(min(N, 5000)))",
    "range(N)",
    "iter([1]*N)",
    "(i for i in range(N))",
    "len",
    "str",
    "int",
    "abs",
    "object()",
    "(lambda *a: 0)",
    "'%s'*min(N, 500)",
    "'{}'*min(N, 500)",
    "'(a*)*b'",
    "'[1, 2.5, \"x\", {}]'",
    "'['*min(N, 90)+']'*min(N, 90)",
    "'big'",
    "'little'",
    "'utf-8'",
    "'<%dQ' % min(N, 500)",
    "slice(None, None, -1)",
    "slice(0, N)",
    "shared(min(N, 40))",
    "shared(8)",
    "ValueError('x')",
    "type",
];

/// A list that holds another one twice, which holds another one twice.
const SHARED: &str = "def shared(depth):\n    made = [1]\n    for level in range(depth):\n        made = [made, made]\n    return made\n";

/// Receivers by owner.
const RECEIVERS: &[(&str, &[&str])] = &[
    ("int", &["7", "2**62", "2**4000"]),
    ("bool", &["True"]),
    ("float", &["1.5", "1e308", "5e-324"]),
    ("complex", &["(1+2j)"]),
    ("str", &["'ab'*N", "'é'*N", "'1'*N", "'a,'*N", "' '*N", "'Ab\\n'*N", "'{}'*min(N, 500)"]),
    ("bytes", &["b'ab'*N", "b'1'*N", "b'a,'*N"]),
    ("bytearray", &["bytearray(b'ab'*N)", "bytearray(b'a,'*N)"]),
    ("list", &["shared(min(N, 40))", "list(range(N))", "['ab']*N", "[[1]]*N", "[1.5]*N"]),
    ("tuple", &["tuple(range(N))", "('ab',)*N"]),
    ("dict", &["{i: i for i in range(min(N, 5000))}", "{str(i): [i] for i in range(min(N, 5000))}"]),
    ("set", &["set(range(min(N, 5000)))"]),
    ("frozenset", &["frozenset(range(min(N, 5000)))"]),
    ("range", &["range(N)", "range(0, 10**18, 7)"]),
    ("slice", &["slice(1, N, 2)"]),
    ("object", &["object()"]),
    ("type", &["int", "type('T', (), {})"]),
    ("property", &["property(len)"]),
    ("generator", &["(i for i in range(N))"]),
    ("function", &["(lambda *a: 0)"]),
    ("super", &["super(int, 7)"]),
    ("BaseException", &["ValueError('x'*N)"]),
    ("NoneType", &["None"]),
    ("ellipsis", &["..."]),
    ("dict_keys", &["{i: i for i in range(min(N, 5000))}.keys()"]),
    ("dict_values", &["{i: i for i in range(min(N, 5000))}.values()"]),
    ("dict_items", &["{i: i for i in range(min(N, 5000))}.items()"]),
    ("memoryview", &["memoryview(bytearray(N))", "memoryview(bytes(N))[::2]"]),
];

/// A program that calls one native function again and again, and what to call it.
pub(crate) struct Call {
    pub(crate) program: String,
    pub(crate) shown: String,
    /// Cycles of one measurement: enough for a few calls.
    pub(crate) budget: u64,
}

/// A call of a row with arguments that are drawn.
fn call_program(row: &NativeCost, size: usize, random: &mut Random) -> Option<Call> {
    let (owner, short) = row.name.rsplit_once('.').unwrap_or(("", row.name));
    let most = if row.takes_more { row.positional + 3 } else { row.positional };
    let bound = RECEIVERS.iter().find(|(name, _)| *name == owner);
    let (mut import, mut receiver) = (String::new(), String::new());
    let callee = match (bound, owner) {
        (None, "") => short.to_owned(),
        (None, module) => {
            let top = module.split('.').next().unwrap_or_default();
            import = format!("import {top}\n");
            format!("{module}.{short}")
        }
        (Some((_, receivers)), _) => {
            if receivers.is_empty() {
                return None;
            }
            receiver = random.of(receivers).to_owned();
            format!("R.{short}")
        }
    };
    // A method's own row counts its receiver.
    let skipped = usize::from(bound.is_some() && row.is_method);
    let least = row.required.saturating_sub(skipped);
    let count = least + random.below(most.saturating_sub(skipped).saturating_sub(least) + 1);
    let arguments: Vec<&str> = (0..count).map(|_| random.of(VALUES)).collect();
    let names: Vec<String> = (0..count).map(|index| format!("A{index}")).collect();
    let is_fresh = !receiver.is_empty() && random.below(3) == 0;
    let mut program = format!("{SHARED}import pvm_host\n{import}N = {size}\n");
    if !receiver.is_empty() {
        writeln!(program, "R = {receiver}").expect("a string takes everything");
    }
    for (name, value) in names.iter().zip(&arguments) {
        writeln!(program, "{name} = {value}").expect("a string takes everything");
    }
    let call =
        if is_fresh { format!("R = {receiver}\n            R.{short}({})", names.join(", ")) } else { format!("F({})", names.join(", ")) };
    writeln!(
        program,
        "F = {callee}\ntry:\n    F({0})\nexcept Exception:\n    pass\ndef run():\n    pvm_host.current_block()\n    for turn in range(1000000000):\n        try:\n            {call}\n        except Exception:\n            pass\nrun()",
        names.join(", ")
    )
    .expect("a string takes everything");
    let shown = if receiver.is_empty() {
        format!("{callee}({})", arguments.join(", "))
    } else {
        format!("({receiver}).{short}({})", arguments.join(", "))
    };
    let budget = if size > 1_000 { 1_000_000 } else { 150_000 };
    Some(Call { program, shown: format!("N={size}: {shown}{}", if is_fresh { ", fresh" } else { "" }), budget })
}

/// What a row's calls cost: the worst of as many draws as there is time for, every row having its turn before any has the next.
pub(crate) fn natives(bench: &mut Bench, only: &str, random: &mut Random) -> (Vec<Figure>, usize) {
    let rows = native_costs();
    let chosen: Vec<&NativeCost> = rows.iter().filter(|row| row.name.contains(only)).collect();
    let mut worst: BTreeMap<&str, (f64, Call)> = BTreeMap::new();
    let mut draws = 0;
    'draws: for attempt in 0.. {
        for row in &chosen {
            if bench.is_over() {
                break 'draws;
            }
            let size = SIZES[attempt % SIZES.len()];
            let Some(call) = call_program(row, size, random) else { continue };
            let Ok(unit) = compile(&call.program, "program.py") else { continue };
            let Some(cost) = bench.measure(&unit, &call.shown, call.budget, 1) else { continue };
            if worst.get(row.name).is_none_or(|(time, _)| *time < cost.time) {
                worst.insert(row.name, (cost.time, call));
            }
        }
        draws = attempt + 1;
        eprintln!("{draws} draws for each of {} native functions", chosen.len());
    }
    // What looks worst was perhaps only disturbed, so it is measured again.
    let figures = worst.into_iter().filter_map(|(name, (time, call))| {
        let unit = compile(&call.program, "program.py").ok()?;
        let rounds = if time > 5.0 { 5 } else { 2 };
        let cost = bench.measure(&unit, &call.shown, call.budget, rounds)?;
        Some(Figure { name: name.to_owned(), program: call.shown, whole: call.program, cost })
    });
    (figures.collect(), draws)
}

/// A call of any native function, of any size.
pub(crate) fn any_call(rows: &[NativeCost], random: &mut Random) -> Option<Call> {
    let row = rows.get(random.below(rows.len()))?;
    let size = SIZES[random.below(SIZES.len())] + random.below(40);
    call_program(row, size, random)
}
