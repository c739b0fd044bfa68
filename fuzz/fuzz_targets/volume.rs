#![no_main]

#[path = "../bodies/volume.rs"]
mod volume;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| volume::body(bytes));
