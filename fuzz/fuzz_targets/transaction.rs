//! What decodes as a transaction encodes to the same bytes, and its signatures can be checked.
#![no_main]

use cowboy_types::{Transaction, signing};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(transaction) = Transaction::from_bytes(bytes) {
        assert_eq!(transaction.to_bytes(), bytes);
        let _ = signing::verify(&transaction);
    }
});
