#![no_main]

#[path = "../bodies/cbor.rs"]
mod cbor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| cbor::body(bytes));
