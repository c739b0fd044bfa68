#![no_main]

#[path = "../bodies/s3_xml.rs"]
mod s3_xml;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| s3_xml::body(bytes));
