//! Growth of time against growth of cycles: a program whose time grows faster than what it is charged has work that nobody pays, however
//! little that is at one size.

use crate::calls::{HOSTILE, Random, call_program, hostile_program};
use crate::measure::Bench;
use crate::nesting::{Nested, iterators, values};
use cowboy_vm::{compile, native_costs};

/// Sizes from small to the limits; each is ten times the one before.
const SIZES: &[usize] = &[1_000, 10_000, 100_000, 1_000_000];
/// Depths of what is nested, up to where recursion ends it.
const DEPTHS: &[usize] = &[1, 10, 100, 1_000];
/// Cycles of a measurement: some calls of the largest size.
const BUDGET: u64 = 3_000_000;
/// How many times as long a cycle may take at one size as at the size before.
const STEADY: f64 = 2.0;
/// Nanoseconds a cycle below which growth is of no interest.
const CHEAP: f64 = 8.0;

/// What a program's cycles take at each size.
pub(crate) struct Growth {
    pub(crate) name: String,
    pub(crate) program: String,
    /// Nanoseconds a cycle by size; those that could not be measured are left out.
    pub(crate) times: Vec<(usize, f64)>,
}

impl Growth {
    /// The most that a cycle took.
    pub(crate) fn worst(&self) -> f64 {
        self.times.iter().map(|&(_, time)| time).fold(0.0, f64::max)
    }

    /// The power of the cycles with which time grows, over the sizes that were measured; 1 where all is paid.
    pub(crate) fn slope(&self) -> f64 {
        let (Some(first), Some(last)) = (self.times.first(), self.times.last()) else { return 1.0 };
        let tens = (last.0 as f64 / first.0 as f64).log10();
        if tens == 0.0 { 1.0 } else { 1.0 + (last.1 / first.1).log10() / tens }
    }

    /// Whether a cycle takes ever longer.
    pub(crate) fn is_steep(&self) -> bool {
        self.times.windows(2).any(|pair| pair[1].1 > CHEAP && pair[1].1 > STEADY * pair[0].1)
    }
}

/// A program at every size.
fn growth(bench: &mut Bench, sizes: &[usize], name: &str, shown: &str, program: &dyn Fn(usize) -> Option<String>) -> Growth {
    let mut times = Vec::new();
    for &size in sizes {
        let Some(unit) = program(size).and_then(|program| compile(&program, "program.py").ok()) else { continue };
        let Some(cost) = bench.measure(&unit, shown, BUDGET, 1) else { continue };
        // What looks expensive was perhaps only disturbed.
        let cost = if cost.time > CHEAP { bench.measure(&unit, shown, BUDGET, 3).unwrap_or(cost) } else { cost };
        times.push((size, cost.time));
    }
    Growth { name: name.to_owned(), program: shown.to_owned(), times }
}

/// Builtins around each other, ever deeper, drawn as long as there is time; and how many were.
pub(crate) fn nesting(bench: &mut Bench, only: &str, random: &mut Random) -> (Vec<Growth>, usize) {
    let mut programs: Vec<Nested> = iterators().chain(values()).filter(|(name, ..)| name.contains(only)).collect();
    let mut found = Vec::new();
    let mut tried = 0;
    while !bench.is_over() && !programs.is_empty() {
        let (name, setup, body) = programs.swap_remove(random.below(programs.len()));
        tried += 1;
        let shown = format!("{name}: {body}");
        let growth = growth(bench, DEPTHS, &name, &shown, &|depth| Some(hostile_program(&setup, &body, depth)));
        if growth.is_steep() || growth.worst() > CHEAP {
            found.push(growth);
        }
    }
    sort(&mut found);
    (found, tried)
}

/// Those that grow faster than their cycles first, then by what a cycle took.
fn sort(found: &mut [Growth]) {
    found.sort_by(|one, other| (other.is_steep(), other.worst()).partial_cmp(&(one.is_steep(), one.worst())).expect("times are numbers"));
}

/// The programs whose work is a product, then calls of all native functions in turn with arguments that are drawn, as long as there is
/// time; worst first.
pub(crate) fn sizes(bench: &mut Bench, only: &str, random: &mut Random) -> Vec<Growth> {
    let mut found: Vec<Growth> = Vec::new();
    for (name, setup, body) in HOSTILE.iter().filter(|row| row.0.contains(only)) {
        found.push(growth(bench, SIZES, name, body, &|size| Some(hostile_program(setup, body, size))));
    }
    let rows = native_costs();
    let chosen: Vec<_> = rows.iter().filter(|row| row.name.contains(only)).collect();
    while !bench.is_over() && !chosen.is_empty() {
        for row in &chosen {
            if bench.is_over() {
                break;
            }
            // The same draw at every size.
            let seed = u64::try_from(random.below(1 << 30)).expect("30 bits");
            let call = |size| call_program(row, size, &mut Random::new(seed));
            let Some(shown) = call(SIZES[0]).map(|call| call.shown) else { continue };
            let growth = growth(bench, SIZES, row.name, &shown, &|size| call(size).map(|call| call.program));
            if growth.is_steep() || growth.worst() > CHEAP {
                found.push(growth);
            }
        }
    }
    sort(&mut found);
    found
}
