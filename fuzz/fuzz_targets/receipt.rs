//! What decodes as a receipt encodes to the same bytes.
#![no_main]

use commonware_codec::{Decode as _, Encode as _};
use cowboy_types::Receipt;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(receipt) = Receipt::decode_cfg(bytes.to_vec(), &()) {
        assert_eq!(receipt.encode(), bytes);
    }
});
