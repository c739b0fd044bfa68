//! The key to which a committee's answers are encrypted (decision 144).

use crate::curve::{self, PointG1, PointG2};
use cowboy_types::record;

/// The namespace of proofs of possession.
pub const NAMESPACE: &[u8] = b"cowboy-transport-v1";

record! {
    /// A transport key: a point of G1, and a signature over it by its owner. Without the proof, a key could be made out of somebody else's.
    pub struct TransportKey {
        /// The key.
        pub key: PointG1,
        /// The proof of possession.
        pub proof: PointG2,
    }
}

impl TransportKey {
    /// Whether whoever made the proof has the key's secret.
    pub fn is_possessed(&self) -> bool {
        curve::is_possessed(&self.key, &curve::in_namespace(NAMESPACE, self.key.bytes()), &self.proof)
    }
}
