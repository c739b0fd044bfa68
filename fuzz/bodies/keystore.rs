//! What reads as a key file writes to a file that reads as the same key, in both forms.

use cowboy_api::keystore::{decode, encode_hex, encode_pem};

pub(crate) fn body(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(key) = decode(text) {
        for written in [encode_pem(&key), encode_hex(&key)] {
            let read = decode(&written).expect("what was written reads");
            assert_eq!(read.to_bytes(), key.to_bytes());
        }
    }
}
