#![no_main]

#[path = "../bodies/permission.rs"]
mod permission;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| permission::body(bytes));
