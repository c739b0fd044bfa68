//! One program of the corpus, as `tests/golden_cycles.txt` has it.

use cowboy_vm::{Entry, Exit, Limits, Vm, compile, script_image};
use sha2::{Digest as _, Sha256};

/// `cycles memory digest` of a program: what it used, and the first 8 bytes of SHA-256 over what it printed and how it ended.
pub(crate) fn report(source: &str) -> String {
    let (mut cycles, mut memory, mut output) = (0, 0, String::new());
    let last = match compile(source, "program.py") {
        Err(error) => format!("refused: {error}"),
        Ok(unit) => {
            let limits = Limits { cycles: 1 << 34, memory_bytes: 1 << 28, weight_ns: 1 << 50, ..Limits::default() };
            let mut vm = Vm::start(script_image(&unit), Entry::Script, limits);
            let exit = vm.run();
            (cycles, memory) = (vm.usage().cycles, vm.usage().peak_memory);
            output = vm.take_output();
            match exit {
                Exit::Return(_) => String::new(),
                Exit::Raise(error) if error.message.is_empty() => error.type_name,
                Exit::Raise(error) => format!("{}: {}", error.type_name, error.message),
                other => format!("{other:?}"),
            }
        }
    };
    let digest = Sha256::new().chain_update(&output).chain_update([0]).chain_update(&last).finalize();
    let digest: String = digest[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{cycles} {memory} {digest}")
}
