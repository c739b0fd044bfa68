//! What decodes as a receipt encodes to the same bytes.

use commonware_codec::{Decode as _, Encode as _};
use cowboy_types::Receipt;

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(receipt) = Receipt::decode_cfg(bytes.to_vec(), &()) {
        assert_eq!(receipt.encode(), bytes);
    }
}
