//! Calls of native functions, with arguments of many kinds and sizes.

use crate::calls::{Call, Random, call_program};
use crate::measure::{Bench, Figure};
use cowboy_vm::{NativeCost, compile, native_costs};
use std::collections::BTreeMap;

/// Sizes of arguments: the last ones as large as memory lets texts and lists be.
const SIZES: &[usize] = &[1, 24, 300, 5_000, 60_000, 1_000_000];

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
