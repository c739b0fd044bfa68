#![no_main]

#[path = "../bodies/s3_chunks.rs"]
mod s3_chunks;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| s3_chunks::body(bytes));
