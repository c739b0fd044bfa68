//! What everything costs, as a page: instructions, builtin functions, and the work that grows with a size.

use crate::limits::{CLASS_WEIGHT, CYCLE_WEIGHT, RAISE_WEIGHT};
use crate::native::{NativeKind, natives};
use crate::opcode::OPCODES;
use std::fmt::Write as _;

/// Work charged by its size, before it is done: what, cycles, where the price comes from.
const BY_SIZE: &[(&str, &str, &str)] = &[
    ("text joined, appended or formatted", "1 a byte of what is written", "003 §3.5"),
    ("`s += t` that nobody else sees", "1 a character of `t`, whatever `s` holds", "003 §3.5"),
    ("bytes joined or appended", "1 for 4 bytes of what is written", "ours"),
    ("sequences repeated", "1 for 4 bytes of the result, 2 an item", "ours"),
    ("slices read", "1 for 2 items", "ours"),
    (
        "a character of text beyond ASCII found by its number",
        "4; the first time far from both ends, 1 for 8 bytes of the text",
        "decision 282",
    ),
    ("slices written, deleted", "1 for 2 items of the list, 1 for 4", "ours"),
    ("as many items of a list overwritten as there are new ones", "1 an item, and 1 for 8 of the list", "decision 282"),
    ("lists and tuples joined", "4, and 1 for 2 items", "ours"),
    ("lists copied", "5 for 8 items", "decision 282"),
    ("`list.sort`, `sorted`", "n · (⌊log₂ n⌋ + 1)", "ours"),
    ("lists and tuples compared", "10, and 1 for 2 items of the shorter one, 1 for 8 of the longer one", "ours"),
    ("text and bytes compared, beyond 64 bytes", "1 for 32 bytes", "ours"),
    ("an integer compared with a float", "2", "ours"),
    ("values compared that are not both numbers or both texts", "5", "ours"),
    ("a truth value in arithmetic", "2", "ours"),
    ("an integer above 64 bits made a float", "20", "ours"),
    ("`x in list`, `count`, `index`", "2 an item that is looked at", "ours"),
    ("`in`, `find`, `count`, `replace`, `split`, `partition` of text and bytes", "1 for 4 bytes of both", "ours"),
    ("text beyond ASCII: the same methods", "3 for 4 bytes", "ours"),
    ("text split, bytes split", "3 a part, 4 a part", "ours"),
    ("characters beyond ASCII as a list, as a set", "5 a character; 2 a byte, and 4 a different character", "decision 282"),
    ("characters stripped by a set beyond ASCII", "1 a byte of the set", "decision 282"),
    ("tabs expanded", "1 for 2 bytes, 3 a tab or line, 1 a byte of what is written", "decision 282"),
    ("what an error handler of an encoding writes", "4 a stretch, and 1 to 6 a character", "decision 282"),
    ("`ascii`", "1 a byte of both", "decision 282"),
    ("text in other cases, asked what it is", "2 a byte beyond ASCII, 1 a byte", "ours"),
    ("sets and dicts copied, sets combined", "2 an entry, 1 for 8 gaps, 5 where they are combined", "ours, decision 282"),
    ("builtin content of a subclass's instance taken for its methods", "1 for 16 bytes", "decision 282"),
    ("a member joined to a union of types", "1, and 1 for 4 members", "decision 282"),
    ("what stands between values of JSON", "1 for 8 bytes, 1 a level of indent", "decision 282"),
    ("a dict or set displayed", "2 an entry", "ours"),
    ("a key further than 16 places from where its hash says", "3 a place", "ours"),
    ("deleted entries of a dict passed over", "1 for 8", "ours"),
    ("items of a dict as a list", "8 a pair", "ours"),
    ("`**mapping`", "3 an entry; as keywords 20, and 1 for 8 bytes of the name", "ours"),
    ("names of attributes as text, encodings, specifications of formats", "1 for 4 bytes, 3 a byte, 1 for 2 bytes", "ours"),
    ("a float formatted", "12, beside its text", "ours"),
    ("a field of `format` or `%`", "8, beside its text", "ours"),
    ("a power of floats, of complex numbers", "120, 350", "ours"),
    ("a class made", "8 an entry of its namespace, 15 a slot, 3 an ancestor, and a quarter of its bases times their ancestors", "ours"),
    ("an attribute of a class set or deleted", "50, beside its instruction", "ours"),
    ("an attribute of a class with more than 10 ancestors", "1 for 4 ancestors, beside its instruction", "ours"),
    ("an attribute that `hasattr` or `getattr` with a default misses", "15", "ours"),
    ("`isinstance`, `issubclass`, `except` with a tuple", "4, 4 and 2 a class", "ours"),
    ("values passed to and from the host", "4 an object, and 1 for 16 bytes", "ours"),
    ("`//`, `%`, `divmod` of floats", "8, and 1 for 16 powers of two between them", "ours"),
    (
        "a special method, property or helper in Python",
        "10, as any call; 5 for finding that of an operator or comparison",
        "003 §3.5, ours",
    ),
    ("an exception made by calling its class, raised", "10, 40", "ours"),
    ("text of more than 64 bytes hashed for the first time, bytes hashed", "1 for 8 bytes", "ours"),
    ("`hash` of integers above 64 bits, of frozensets, of instances", "120; 4, and 1 an item; 3", "ours"),
    ("integers above 64 bits, as operands or result: `+ - & | ^ >>`", "3, and limbs of the larger one", "ours, decision 282"),
    ("`<<` beyond 64 bits", "3, limbs, and 1 for 256 bits that it shifts", "ours, decision 282"),
    ("integers above 64 bits: `* / // % divmod`", "3, and the product of the limbs", "ours, decision 282"),
    ("integers above 64 bits: `**`", "3, and 64 · limbs²", "ours, decision 282"),
    ("`pow` by a modulus", "3, and for each bit of the exponent 3 and a quarter of the modulus's limbs²", "decision 282"),
    ("an integer rounded to a power of ten", "8, and a quarter of limbs²", "decision 282"),
    ("`f(*a, **b)`", "1 an argument, 12 a keyword", "ours"),
    ("a store that moves labels of the cycle barrier", "1 an edge visited", "ours"),
    (
        "`re`",
        "1 a step of the matcher, 2 more for a set or either case in text beyond ASCII, 1 for 16 groups an attempt",
        "ours, decision 282",
    ),
    ("a part of a text that `re` finds, a match", "5 and 1 for 16 bytes; 4, and 2 a group", "decision 282"),
    ("blocks of SHA-3 and SHAKE", "45 a block; `keccak256` 26", "decision 282, 003 §3.5"),
];

/// The page of costs, in Markdown.
pub fn markdown() -> String {
    let mut page = format!(
        "# Costs\n\nGenerated from the tables of `core/vm` by `cargo run -p cowboy-vm --example costs > docs/costs.md`.\n\n\
         Every instruction charges its cycles before it runs. A builtin function charges its own cycles in addition to the 10 of the call. Work that\n\
         grows with a size is charged by size, before it is done. 003 §3.5 fixes arithmetic at 1, calls at 10, dictionary access at 3, list access at 2,\n\
         and text at 1 per character. Each cycle counts as {CYCLE_WEIGHT} ns of modelled execution time (weight), which is not charged but limits a delivery.\n\
         An exception that is raised adds {RAISE_WEIGHT} ns, a class that is made {CLASS_WEIGHT} ns. Builtin functions and host functions add the weight in their rows.\n\n\
         ## By size\n\n| work | cycles | source |\n|---|---|---|\n"
    );
    for (work, cycles, source) in BY_SIZE {
        writeln!(page, "| {work} | {cycles} | {source} |").expect("a string takes everything");
    }
    page.push_str("\n## Instructions\n\n| instruction | cycles | meaning |\n|---|---|---|\n");
    for row in OPCODES {
        writeln!(page, "| `{}` | {} | {} |", row.name, row.cycles, row.doc.replace('|', "\\|")).expect("a string takes everything");
    }
    page.push_str(
        "\n## Host functions\n\nThe cycles of the call itself. The price of the work is a parameter of the protocol.\n\n\
         | function | cycles | weight, ns |\n|---|---|---|\n",
    );
    for row in crate::host::HOST_FUNCTIONS {
        writeln!(page, "| `{}` | {} | {} |", row.name, row.cycles, row.weight).expect("a string takes everything");
    }
    page.push_str("\n## Builtin functions\n\n| function | cycles | weight, ns |\n|---|---|---|\n");
    let mut rows: Vec<_> = natives().iter().map(|native| (native.name, native.cycles, native.weight)).collect();
    rows.sort_unstable();
    for (name, cycles, weight) in rows {
        writeln!(page, "| `{name}` | {cycles} | {weight} |").expect("a string takes everything");
    }
    page
}

/// What calling a native function costs, and with how many arguments it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NativeCost {
    /// `owner.name`, or the name alone for builtin functions.
    pub name: &'static str,
    /// Cycles, beside the 10 of the call.
    pub cycles: u32,
    /// Weight in nanoseconds.
    pub weight: u32,
    /// Whether its first argument is the receiver.
    pub is_method: bool,
    /// Arguments that must be given, the receiver among them.
    pub required: usize,
    /// Arguments that may be given by position.
    pub positional: usize,
    /// Whether it takes any number more.
    pub takes_more: bool,
}

/// The cost of every native function, in the order of the table.
pub fn native_costs() -> Vec<NativeCost> {
    let cost = |native: &crate::native::Native| NativeCost {
        name: native.name,
        cycles: native.cycles,
        weight: native.weight,
        is_method: native.kind == NativeKind::Method,
        required: native.signature.required,
        positional: native.signature.positional,
        takes_more: native.signature.var_positional,
    };
    natives().iter().map(cost).collect()
}
