#![no_main]

#[path = "../bodies/follow.rs"]
mod follow;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| follow::body(bytes));
