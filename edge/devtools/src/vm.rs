//! `cowboy vm`: Python in the chain's virtual machine, on this machine.

use crate::profile::Looks;
use clap::{Args, Subcommand};
use cowboy_console::{
    failure::Failure,
    output::{self, Output},
};
use cowboy_types::{Abort, error};
use cowboy_vm::{
    CompileError, CompileErrorKind, Entry, Exit, HostCall, HostError, HostValue, Limits, LineEvent, Profiler, PyError, Unit, Usage,
    Vm as Machine, compile, disassemble, script_image,
};
use serde_json::json;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
};

/// Python in the VM of the chain, without one.
#[derive(Debug, Subcommand)]
pub enum Vm {
    /// Run a script: output goes to stdout, a traceback to stderr
    Run(Run),
    /// Print the instructions of a source, with lines and cycles
    Disassemble(Disassemble),
}

/// Runs a script.
#[derive(Args, Debug)]
#[command(
    after_help = "Examples:\n  cowboy vm run script.py\n  cowboy vm run script.py --cycles 1000000 --stats\n  cowboy vm run script.py --trace 2> trace.txt\n  cowboy vm run script.py --profile cycles.svg --lines"
)]
pub struct Run {
    /// The script
    file: PathBuf,
    /// The maximum number of cycles [default: no limit]
    #[arg(long, value_name = "N")]
    cycles: Option<u64>,
    /// The memory limit in MiB; a call of an actor has 10
    #[arg(long, value_name = "MIB", default_value_t = 10)]
    memory: usize,
    /// Print cycles and peak memory as JSON on stderr
    #[arg(long)]
    stats: bool,
    /// Print every line before it runs, every call, and calls of host functions on stderr, with the cycles used so far
    #[arg(long, conflicts_with_all = ["profile", "lines"])]
    trace: bool,
    #[command(flatten)]
    looks: Looks,
}

/// Prints the instructions of a source: every function with its lines, and what each instruction costs and does.
#[derive(Args, Debug)]
pub struct Disassemble {
    /// The source
    file: PathBuf,
}

impl Vm {
    /// Runs the script, or prints its instructions.
    pub fn run(self, output: Output) -> Result<(), Failure> {
        match self {
            Self::Run(run) => run.run(),
            Self::Disassemble(Disassemble { file }) => {
                let (name, unit, _) = read(&file)?;
                let text = disassemble(&unit);
                output.result(&json!({ "file": name, "instructions": text }), text.trim_end());
                Ok(())
            }
        }
    }
}

/// Cycles that no script uses up: the VM counts them in 63 bits.
const NO_BOUND: u64 = i64::MAX.unsigned_abs();

impl Run {
    fn run(self) -> Result<(), Failure> {
        let (name, unit, source) = read(&self.file)?;
        let limits = Limits {
            cycles: self.cycles.unwrap_or(NO_BOUND),
            cells: NO_BOUND,
            memory_bytes: self.memory.saturating_mul(1 << 20),
            weight_ns: NO_BOUND,
            ..Limits::default()
        };
        let mut machine = Machine::start(script_image(&unit), Entry::Script, limits);
        if self.trace {
            machine.trace_lines(show_line);
        }
        let profiler = self.looks.is_profiling().then(|| Profiler::new(&name));
        if let Some(profiler) = &profiler {
            machine.profile(profiler);
        }
        let mut exit = machine.run();
        loop {
            output::text(&machine.take_output());
            match exit {
                Exit::HostCall(call) => exit = machine.resume(self.answer(&call)),
                _ => break,
            }
        }
        if self.stats {
            output::note(statistics(&machine.usage()));
        }
        if let Some(profiler) = profiler {
            self.looks.show(&profiler.take(), &BTreeMap::from([(name.clone(), source)]), 0)?;
        }
        match exit {
            Exit::Raise(error) => Err(Failure::Told(traceback(&error))),
            Exit::Trap(trap) => Err(Failure::Told(format!("trap: {}", trap.slug()))),
            Exit::Return(_) | Exit::HostCall(_) => self.looks.snapshot(&BTreeMap::from([(name, machine.usage().cycles)])),
        }
    }

    /// There is no chain behind a script.
    fn answer(&self, call: &HostCall) -> Result<HostValue, HostError> {
        if self.trace {
            output::note(format_args!("host: {:?} {:?}", call.function, call.args));
        }
        let message = format!("{:?} needs a chain, which a script does not have; deploy it as an actor", call.function);
        Err(refusal(&error::UNAVAILABLE, message))
    }
}

/// A refusal by a host that is no chain, with the name and the number of the chain's own for the same reason.
pub(crate) fn refusal(abort: &Abort, message: String) -> HostError {
    let row = error::row(abort.code);
    HostError { code: row.class.code(), name: row.slug, message }
}

/// A source from a file: its name, compiled, and its text.
fn read(file: &Path) -> Result<(String, Arc<Unit>, String), Failure> {
    let bytes = std::fs::read(file).map_err(Failure::file(file))?;
    let name = file.display().to_string();
    let Some(source) = cowboy_chain::canonical_source(&bytes) else {
        return Err(Failure::argument(format!("{name} is not UTF-8"), "save it as UTF-8"));
    };
    let unit = compile(&source, &name).map_err(|error| Failure::Told(describe(&error, &name, &source)))?;
    Ok((name, unit, source.to_string()))
}

/// Prints a line of the script that is about to run, after what the one before it printed.
fn show_line(event: &LineEvent<'_>) {
    output::text(&event.printed);
    let indent = "  ".repeat(event.depth.saturating_sub(1));
    if event.is_call && event.depth > 1 {
        output::note(format_args!("{:>10}  {}:{:<4} {indent}call {}", event.cycles, event.file, event.line, event.function));
    }
    output::note(format_args!("{:>10}  {}:{:<4} {indent}{}", event.cycles, event.file, event.line, event.text));
}

fn statistics(usage: &Usage) -> serde_json::Value {
    json!({ "cycles": usage.cycles, "cells": usage.cells, "peak_memory": usage.peak_memory, "weight_ns": usage.weight_ns })
}

/// What CPython prints about it.
pub(crate) fn traceback(error: &PyError) -> String {
    error.traceback.join("\n")
}

/// A refusal of the source, with its line.
pub(crate) fn describe(error: &CompileError, file: &str, source: &str) -> String {
    let name = match error.kind {
        CompileErrorKind::Syntax => "SyntaxError",
        CompileErrorKind::Forbidden => "Forbidden",
        CompileErrorKind::TooLarge => "TooLarge",
    };
    format!("{}\n{name}: {}", error.shown(file, source).join("\n"), error.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An author who handles a refusal here handles the chain's: name and number are of the table of errors.
    #[test]
    fn refusals_are_those_of_the_chain() {
        for (abort, code, name) in [(error::UNAVAILABLE, 5, "unavailable"), (error::INVALID_ARGUMENT, 2, "invalid_argument")] {
            let refused = refusal(&abort, "no chain".to_owned());
            assert_eq!((refused.code, refused.name, refused.message.as_str()), (code, name, "no chain"));
        }
    }
}
