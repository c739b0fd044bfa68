#![no_main]

#[path = "../bodies/keystore.rs"]
mod keystore;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| keystore::body(bytes));
