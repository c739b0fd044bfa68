#![no_main]

#[path = "../bodies/manifest.rs"]
mod manifest;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| manifest::body(bytes));
