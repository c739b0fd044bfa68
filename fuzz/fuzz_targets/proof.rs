#![no_main]

#[path = "../bodies/proof.rs"]
mod proof;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| proof::body(bytes));
