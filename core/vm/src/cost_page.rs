//! What everything costs, as a page: work by its rows, instructions, host functions and builtin functions.

use crate::costs::COSTS;
use crate::limits::CYCLE_WEIGHT;
use crate::natives::natives;
use crate::runtime::native::NativeKind;
use cowboy_compiler::opcode::{OPCODES, OpcodeRow};
use std::fmt::Write as _;

/// The operands of an instruction in words: `a register, b register, c integer`.
fn operands(row: &OpcodeRow) -> String {
    let mut words = Vec::new();
    for (name, operand) in ["a", "b", "c"].into_iter().zip(row.operands) {
        if !operand.words().is_empty() {
            words.push(format!("{}: {}", if operand.is_wide() { "bc" } else { name }, operand.words()));
        }
    }
    words.join("; ")
}

/// The page of costs, in Markdown.
pub fn markdown() -> String {
    let mut page = format!(
        "# Costs\n\nGenerated from the tables of `core/vm` by `cargo run -p cowboy-vm --example costs > docs/costs.md`.\n\n\
         Every instruction charges its cycles before it runs. A builtin function charges its own cycles in addition to the 10 of the call. Work that\n\
         grows with a size is charged by size, before it is done. 003 §3.5 fixes arithmetic at 1, calls at 10, dictionary access at 3, list access at 2,\n\
         and text at 1 per character. Each cycle counts as {CYCLE_WEIGHT} ns of modelled execution time (weight), which is not charged but limits a delivery.\n\
         Cycles of methods of system actors count in the same way.\n\
         Builtin functions, host functions and some other work add the weight in their rows.\n\n\
         ## Work\n\nThe symbol is the name of the row in `core/vm/src/costs/rows.rs`. Prices for several units are rounded down.\n\n\
         | work | cycles | source | symbol |\n|---|---|---|---|\n"
    );
    for row in COSTS {
        writeln!(page, "| {} | {} | {} | `{}` |", row.work, row.price(), row.source, row.symbol).expect("a string takes everything");
    }
    page.push_str("\n## Instructions\n\n| instruction | cycles | operands | meaning |\n|---|---|---|---|\n");
    for row in OPCODES {
        let (operands, meaning) = (operands(row), row.doc.replace('|', "\\|"));
        writeln!(page, "| `{}` | {} | {operands} | {meaning} |", row.name, row.cycles).expect("a string takes everything");
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
    let cost = |native: &crate::runtime::native::Native| NativeCost {
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
