#![no_main]

#[path = "../bodies/language.rs"]
mod language;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| language::body(bytes));
