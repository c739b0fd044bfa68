//! Both meters watched while every native function is driven to its limits: what a run holds stays near its modelled memory, and what
//! it copies near its cycles, whatever is called with whatever.
//!
//! The allocator counts, so nothing depends on the computer: bytes held stand for resident memory, bytes asked for stand for work. Most
//! runs have a tenth of the memory of an invocation, and a tenth of what may come beside it, so that all of them take seconds.
//! `ALLOWANCE_SEED` and `ALLOWANCE_DRAWS` choose other calls, or more.
#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a test that may be told a seed, and prints it")]

#[path = "../examples/calibrate/calls.rs"]
mod calls;

use calls::{HOSTILE, Random, call_program};

#[path = "../examples/calibrate/nesting.rs"]
mod nesting;
use cowboy_vm::{Entry, Exit, HostValue, Limits, Vm, compile, native_costs, script_image};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The system's allocator, with an account of it.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);
static TAKEN: AtomicUsize = AtomicUsize::new(0);

fn take(bytes: usize) {
    TAKEN.fetch_add(bytes, Relaxed);
    MOST.fetch_max(HELD.fetch_add(bytes, Relaxed) + bytes, Relaxed);
}

// SAFETY: every call is passed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        take(layout.size());
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_sub(layout.size(), Relaxed);
        take(size);
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What an invocation may have: modelled bytes, and what it may hold besides a multiple of those.
const MEMORY: usize = 10 << 20;
const TIMES: usize = 3;
const BESIDE: usize = 32 << 20;
/// Most runs have this part of it.
const PART: usize = 10;
/// Bytes that may be asked for, and so written, with a cycle; at 10 GB/s they take 10 ns.
const BYTES_A_CYCLE: usize = 100;
/// Bytes that may be asked for beside them: some copies of all that a run holds.
const COPIES: usize = 80 << 20;
/// Builtins inside one another: deeper than any step goes natively.
const DEPTH: usize = 1_000;
/// Cycles of a hostile program.
const CYCLES: u64 = 1_000_000;

/// Runs a program up to its mark with a part of an invocation's memory, and then watches it; what is wrong with it.
fn watched(source: &str, most: u64, part: usize) -> Option<String> {
    let unit = compile(source, "program.py").ok()?;
    let limits = Limits { cycles: 1 << 25, memory_bytes: MEMORY / part, weight_ns: 1 << 50, ..Limits::default() };
    let image = script_image(&unit);
    let before = HELD.load(Relaxed);
    let mut vm = Vm::start(image, Entry::Script, limits);
    if !matches!(vm.run(), Exit::HostCall(_)) {
        return None;
    }
    let left = limits.cycles.saturating_sub(vm.usage().cycles);
    vm.charge(left.saturating_sub(most), 0, 0).ok()?;
    let begun = vm.usage().cycles;
    MOST.store(HELD.load(Relaxed), Relaxed);
    let taken = TAKEN.load(Relaxed);
    drop(vm.resume(Ok(HostValue::None)));
    let usage = vm.usage();
    // What is printed is the host's to take.
    let held = MOST.load(Relaxed).saturating_sub(before).saturating_sub(2 * vm.take_output().capacity());
    let allowed = TIMES * usage.peak_memory + BESIDE / part;
    if held > allowed {
        return Some(format!("holds {held} bytes where {} are modelled", usage.peak_memory));
    }
    let (taken, cycles) = (TAKEN.load(Relaxed) - taken, usize::try_from(usage.cycles - begun).expect("a number of cycles"));
    let allowed = cycles.saturating_mul(BYTES_A_CYCLE) + COPIES / part;
    (taken > allowed).then(|| format!("asks for {taken} bytes in {cycles} cycles"))
}

/// Beginnings of the names of hostile programs that also run with the memory of an invocation.
const WHOLE: &[&str] =
    &["format, one", "percent", "print with", "split", "lines", "replace", "json with", "a bytearray", "a table that was emptied"];

/// One test, because the account is the whole process's.
#[test]
fn no_native_function_takes_more_than_is_charged() {
    let number = |name: &str, otherwise: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise);
    let (seed, draws) = (number("ALLOWANCE_SEED", 1), number("ALLOWANCE_DRAWS", 3));
    println!("seed {seed}, {draws} draws");
    let mut wrong: Vec<String> = Vec::new();
    for (name, setup, body) in HOSTILE {
        let mut sizes = vec![(100_000, PART)];
        // What strangers found, as large as they wrote it.
        if WHOLE.iter().any(|whole| name.starts_with(whole)) {
            sizes.push((1_000_000, 1));
        }
        for (size, part) in sizes {
            let program = calls::hostile_program(setup, body, size);
            wrong.extend(watched(&program, CYCLES, part).map(|what| format!("{name}, {size}: {what}\n{body}")));
        }
    }
    // Builtins in each other, some of all pairs: the bench does them all.
    for (name, setup, body) in nesting::iterators().step_by(9).chain(nesting::values().step_by(23)) {
        let program = calls::hostile_program(&setup, &body, DEPTH);
        wrong.extend(watched(&program, CYCLES / 4, PART).map(|what| format!("{name}: {what}")));
    }
    let mut random = Random::new(seed);
    let rows = native_costs();
    let mut watched_calls = 0;
    for _ in 0..draws {
        for row in &rows {
            let size = [30, 3_000, 50_000, 120_000][random.below(4)];
            let Some(call) = call_program(row, size, &mut random) else { continue };
            watched_calls += 1;
            wrong.extend(watched(&call.program, call.budget, PART).map(|what| format!("{}: {what}", call.shown)));
        }
    }
    println!("{watched_calls} calls and {} programs", HOSTILE.len());
    assert!(watched_calls > 1_000, "most native functions can be called");
    assert!(wrong.is_empty(), "{} take more than they are charged for\n{}", wrong.len(), wrong.join("\n"));
}
