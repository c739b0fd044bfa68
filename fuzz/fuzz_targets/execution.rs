#![no_main]

#[path = "../bodies/execution.rs"]
mod execution;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| execution::body(bytes));
