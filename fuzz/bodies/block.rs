//! What decodes as a block encodes to the same bytes.

use commonware_codec::{Decode as _, Encode as _};
use cowboy_types::Block;

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(block) = Block::decode_cfg(bytes.to_vec(), &()) {
        assert_eq!(block.encode(), bytes);
    }
}
