#![no_main]

#[path = "../bodies/block.rs"]
mod block;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| block::body(bytes));
