#![no_main]

#[path = "../bodies/witness.rs"]
mod witness;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| witness::body(bytes));
