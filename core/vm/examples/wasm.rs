//! The VM as a WebAssembly module that runs a program: built for wasm32-unknown-unknown and driven by `tests/wasm.mjs`.
//! `reserve(n)` answers where `n` bytes of source go, `run()` runs them and answers how long the report is that `place()` points to.

#[path = "corpus/run.rs"]
mod run;

use std::sync::Mutex;

/// The source, then the report on it.
static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// What the last panic said.
static PANIC: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Makes room for a source, and says where.
#[unsafe(no_mangle)]
pub extern "C" fn reserve(bytes: usize) -> *mut u8 {
    let mut text = TEXT.lock().expect("one thread");
    *text = vec![0; bytes];
    text.as_mut_ptr()
}

/// Runs the source; the answer's length. Its place is what `place` says.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    // A trap says nothing in WebAssembly: what a panic says is left where `trap` finds it.
    std::panic::set_hook(Box::new(|panic| *PANIC.lock().expect("one thread") = panic.to_string().into_bytes()));
    let mut text = TEXT.lock().expect("one thread");
    let report = run::report(&String::from_utf8_lossy(&text));
    *text = report.into_bytes();
    text.len()
}

/// The message of a trap: its length.
#[unsafe(no_mangle)]
pub extern "C" fn trap() -> usize {
    PANIC.lock().expect("one thread").len()
}

/// Where `trap`'s text is.
#[unsafe(no_mangle)]
pub extern "C" fn trap_place() -> *const u8 {
    PANIC.lock().expect("one thread").as_ptr()
}

/// Where the report is.
#[unsafe(no_mangle)]
pub extern "C" fn place() -> *const u8 {
    TEXT.lock().expect("one thread").as_ptr()
}
