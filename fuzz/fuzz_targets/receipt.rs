#![no_main]

#[path = "../bodies/receipt.rs"]
mod receipt;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| receipt::body(bytes));
