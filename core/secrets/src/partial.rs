//! The answer of one member of a committee, encrypted to a transport key (decision 144).

use crate::curve::{self, PointG1, PointG2};
use crate::identity::Identity;
use commonware_codec::Encode as _;
use cowboy_types::{Address, Hash, keccak256, record};

record! {
    /// A member's share of the signature over an identity, encrypted: E1 = r · g1, E2 = r · g2, E3 = r · tpk + s · H(identity). Its encoding
    /// has 192 bytes. Only the owner of the transport key learns the share; anybody can check the answer.
    pub struct Partial {
        /// r · g1.
        pub e1: PointG1,
        /// r · g2.
        pub e2: PointG2,
        /// r · tpk + s · H(identity).
        pub e3: PointG1,
    }
}

impl Partial {
    /// Whether the answer contains the share of the member with this share key, of the signature over this identity, for this transport key.
    pub fn is_valid(&self, identity: &Identity, transport: &PointG1, share_key: &PointG2) -> bool {
        curve::is_encrypted([&self.e1, &self.e3], &self.e2, transport, share_key, &identity.message())
    }

    /// What the member signs with its own key: keccak256("cowboy-partial:" ‖ release id ‖ epoch ‖ index ‖ answer), numbers big-endian.
    pub fn digest(&self, release: &Hash, epoch: u64, index: u16) -> Hash {
        answer_digest(release, epoch, index, &self.encode())
    }
}

/// The same of an answer's bytes, which need not be one.
pub fn answer_digest(release: &Hash, epoch: u64, index: u16, answer: &[u8]) -> Hash {
    keccak256(&[b"cowboy-partial:", &release.0, &epoch.to_be_bytes(), &index.to_be_bytes(), answer])
}

/// The id of a release: keccak256("cowboy-release:" ‖ job ‖ runner ‖ keccak256(identity)).
pub fn release_id(job: &Hash, runner: Address, identity: &Identity) -> Hash {
    keccak256(&[b"cowboy-release:", &job.0, &runner.0, &identity.hash().0])
}
