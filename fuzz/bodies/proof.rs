//! Any bytes are an anchor or a proof, or are refused; none proves what it does not show.

use commonware_codec::{Decode as _, Encode as _};
use cowboy_light::{answer::Anchor, state};
use cowboy_types::Hash;

pub(crate) fn body(bytes: &[u8]) {
    if let Ok(anchor) = Anchor::decode_cfg(bytes.to_vec(), &()) {
        assert_eq!(anchor.encode(), bytes);
        let _ = anchor.check();
    }
    assert!(!state::proves_value(&Hash::ZERO, &[7; 32], b"value", bytes));
    assert!(!state::proves_absence(&Hash::ZERO, &[7; 32], bytes));
}
