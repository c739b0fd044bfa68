//! Programs that `generate.py` writes with CPython's output, and what the VM prints. The fuzz target `language` runs them too.

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use std::{fs, path::Path, process::Command};

/// Output, and the last line of the traceback of what nobody caught after `!! `.
fn ours(program: &Path) -> String {
    let source = fs::read_to_string(program).expect("a readable program");
    let unit = match compile(&source, "program.py") {
        Ok(unit) => unit,
        Err(error) => return format!("refused: {error}"),
    };
    let limits = Limits { cycles: 1 << 34, weight_ns: 1 << 50, ..Limits::default() };
    let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
    let exit = vm.run();
    let output = vm.take_output();
    match exit {
        Exit::Return(_) => output,
        Exit::Raise(error) if error.message.is_empty() => format!("{output}!! {}\n", error.type_name),
        Exit::Raise(error) => format!("{output}!! {}: {}\n", error.type_name, error.message),
        other => format!("{output}!! {other:?}\n"),
    }
}

/// Writes these programs with one CPython process into a folder, runs them here, and answers the seeds of those that print something
/// else, with the first line that differs. The folder stays where there are any.
pub(crate) fn differences(first: u32, count: u32, folder: &Path) -> Vec<(u32, Option<usize>)> {
    let _ = fs::remove_dir_all(folder);
    let mut generate = Command::new("python3");
    generate.args(["-W", "ignore", "-c", include_str!("generate.py"), &first.to_string(), &count.to_string()]);
    assert!(generate.arg(folder).arg("--expect").status().is_ok_and(|status| status.success()), "the generator runs");
    let mut wrong = Vec::new();
    for seed in first..first + count {
        let program = folder.join(format!("g{seed}.py"));
        let expected = fs::read_to_string(program.with_extension("out")).expect("the expectation is beside its program");
        let got = ours(&program);
        if got != expected {
            wrong.push((seed, got.lines().zip(expected.lines()).position(|(one, other)| one != other)));
        }
    }
    if wrong.is_empty() {
        let _ = fs::remove_dir_all(folder);
    }
    wrong
}
