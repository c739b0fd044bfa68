#![no_main]

#[path = "../bodies/record.rs"]
mod record;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| record::body(bytes));
