#![no_main]

#[path = "../bodies/source.rs"]
mod source;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| source::body(bytes));
