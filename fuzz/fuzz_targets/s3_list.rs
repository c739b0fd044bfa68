#![no_main]

#[path = "../bodies/s3_list.rs"]
mod s3_list;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| s3_list::body(bytes));
