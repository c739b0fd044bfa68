#![no_main]

#[path = "../bodies/job.rs"]
mod job;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| job::body(bytes));
