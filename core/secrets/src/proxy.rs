//! The key of a proxy: what proves that it is the one who registers it (decision 145).

use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash};

/// What sets the message apart from everything else that the key signs.
const DOMAIN: &[u8] = b"cowboy-proxy-key-v1:";

/// What a proxy's Ed25519 key signs: "cowboy-proxy-key-v1:" ‖ genesis hash ‖ account ‖ key. A proof for another chain, account or key proves
/// nothing.
pub fn proof_message(genesis: &Hash, account: Address, key: &Fixed<32>) -> Vec<u8> {
    [DOMAIN, &genesis.0, &account.0, &key.0].concat()
}
