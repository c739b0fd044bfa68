//! What decodes as canonical CBOR encodes to the same bytes, but for minus zero, which reads as zero.

use cowboy_types::cbor;

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(value) = cbor::decode(bytes) {
        let again = value.encode();
        let has_minus_zero = bytes.windows(9).any(|part| part == [0xFB, 0x80, 0, 0, 0, 0, 0, 0, 0]);
        assert!(has_minus_zero || again == bytes);
        assert_eq!(cbor::decode(&again), Ok(value));
    }
}
