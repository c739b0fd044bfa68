//! What decodes as a transaction encodes to the same bytes, and its signatures can be checked.

use cowboy_types::{Transaction, signing};

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(transaction) = Transaction::from_bytes(bytes) {
        assert_eq!(transaction.to_bytes(), bytes);
        let _ = signing::verify(&transaction);
    }
}
