#![no_main]

#[path = "../bodies/image.rs"]
mod image;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| image::body(bytes));
