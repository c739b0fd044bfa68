//! Processor time that a program takes in this VM, start-up and compilation excluded: `time FILE.py ROUNDS` prints each round's
//! nanoseconds, then cycles, weight and peak memory, as one JSON object.

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench reads files and the clock, and prints")]

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};

/// Nanoseconds that this process has been running on a processor.
fn processor_time() -> u64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").expect("Linux counts the time of processes");
    text.split(' ').next().and_then(|field| field.parse().ok()).expect("the first field is a number")
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().expect("a program");
    let rounds: usize = arguments.next().and_then(|text| text.parse().ok()).expect("a number of rounds");
    let source = std::fs::read_to_string(&path).expect("a readable program");
    let unit = compile(&source, "program.py").expect("a program that compiles");
    let image = script_image(&unit);
    let limits = Limits { cycles: 1 << 40, memory_bytes: 1 << 30, weight_ns: 1 << 50, ..Limits::default() };
    let mut times = Vec::new();
    let mut output = String::new();
    let mut usage = cowboy_vm::Usage::default();
    for _ in 0..rounds {
        let start = processor_time();
        let mut vm = Vm::start(image.clone(), Entry::Script, limits);
        let exit = vm.run();
        times.push((processor_time() - start).to_string());
        assert!(matches!(exit, Exit::Return(_)), "{path} ended with {exit:?}");
        output = vm.take_output();
        usage = vm.usage();
    }
    println!(
        "{{\"times\": [{}], \"cycles\": {}, \"weight\": {}, \"memory\": {}, \"output\": {:?}}}",
        times.join(", "),
        usage.cycles,
        usage.weight_ns,
        usage.peak_memory,
        output.trim_end()
    );
}
