#![no_main]

#[path = "../bodies/s3_head.rs"]
mod s3_head;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| s3_head::body(bytes));
