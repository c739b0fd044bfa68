//! Resident memory of the VM. Without an argument: what 1,000 cached actors take. With the name of a filling: what an invocation needs
//! that fills the modelled 10 MiB with objects of that sort. Prints one JSON object; figures are MiB beyond what the process had before.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "a bench reads what the system says of the process, and prints"
)]

use cowboy_vm::{Entry, Exit, Limits, Vm, build_image, compile, script_image};

/// What an invocation fills its memory with: a name, and an expression for the item of a number.
const FILLINGS: &[(&str, &str)] = &[
    ("small integers", "i"),
    ("short strings", "'item %d' % i"),
    ("tuples", "(i, i)"),
    ("lists", "[i]"),
    ("dicts", "{'a': i}"),
    ("objects", "Item(i)"),
    ("long strings", "'x' * 10000"),
];

const ACTORS: usize = 1_000;

/// Bytes of a resident page that the process has.
fn resident() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").expect("Linux describes processes");
    let line = text.lines().find(|line| line.starts_with("VmRSS:")).expect("the resident memory is described");
    let kibibytes: f64 = line.split_whitespace().nth(1).and_then(|field| field.parse().ok()).expect("a number of KiB");
    kibibytes / 1024.0
}

/// Fills the memory of a run until 10 MiB are modelled or the item count is reached; modelled and resident MiB.
fn filled(expression: &str) -> (f64, f64) {
    let source = format!(
        "class Item:\n    def __init__(self, number):\n        self.number = number\n\n\ndef fill(count):\n    kept = []\n    for i in range(count):\n        kept.append({expression})\n\n\nfill(10000000)\n"
    );
    let image = script_image(&compile(&source, "fill.py").expect("valid source"));
    let limits = Limits { cycles: 1 << 40, weight_ns: 1 << 50, ..Limits::default() };
    let before = resident();
    let mut vm = Vm::start(image, Entry::Script, limits);
    let exit = vm.run();
    assert!(matches!(exit, Exit::Trap(_)), "the memory ended, not {exit:?}");
    let modelled = vm.usage().peak_memory as f64 / f64::from(1 << 20);
    (modelled, resident() - before)
}

fn actor(number: usize) -> String {
    format!(
        "from cowboy_sdk import actor, storage\n\nNAME = 'actor {number}'\n\n\n@actor\nclass Counter:\n    def add(self, amount: int = {number}):\n        if amount < 0:\n            raise ValueError('negative')\n        value = (storage.get('count') or 0) + amount\n        storage.set('count', value)\n        return value\n\n    def count(self):\n        return storage.get('count') or 0\n"
    )
}

/// 1,000 images in memory at once: resident MiB, and what they say of themselves.
fn cached() -> (f64, f64) {
    // The base image is everybody's, and made once.
    let load =
        |number| build_image(&compile(&actor(number), "main.py").expect("valid source"), Limits::default()).expect("a module that loads").0;
    drop(load(0));
    let base = resident();
    let images: Vec<_> = (1..=ACTORS).map(load).collect();
    let footprint = images.iter().map(|image| image.footprint()).sum::<usize>() as f64 / f64::from(1 << 20);
    (resident() - base, footprint)
}

fn main() {
    match std::env::args().nth(1) {
        // Each in a process of its own: memory that an earlier one gave back would be used again.
        Some(name) => {
            let (_, expression) = FILLINGS.iter().find(|row| row.0 == name).expect("the name of a filling");
            let (modelled, resident) = filled(expression);
            println!("{{\"modelled\": {modelled:.1}, \"resident\": {resident:.1}}}");
        }
        None => {
            let (resident, footprint) = cached();
            let names: Vec<String> = FILLINGS.iter().map(|(name, _)| format!("{name:?}")).collect();
            println!("{{\"actors\": {resident:.1}, \"footprint\": {footprint:.1}, \"fillings\": [{}]}}", names.join(", "));
        }
    }
}
