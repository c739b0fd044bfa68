#![no_main]

#[path = "../bodies/secret.rs"]
mod secret;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| secret::body(bytes));
