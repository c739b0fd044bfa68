#![no_main]

#[path = "../bodies/transaction.rs"]
mod transaction;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| transaction::body(bytes));
