//! What decodes as canonical CBOR encodes to the same bytes, in the protocol's codec and in the machine's.
#![no_main]

use cowboy_types::cbor;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(value) = cbor::decode(bytes) {
        assert_eq!(value.encode(), bytes);
    }
    if let Ok(value) = cowboy_vm::cbor::decode(bytes) {
        assert_eq!(cowboy_vm::cbor::encode(&value).as_deref(), Ok(bytes));
    }
});
