//! Answers to GET and HEAD that gateways signed, and which of them cannot both be true (004 §12.2, decision 327).

use cowboy_types::units::Height;
use cowboy_types::{Address, Hash, Signature, Text, keccak256, record, signing};

/// The version of the format.
pub const ANSWER_VERSION: u8 = 1;

/// The version of statements about a dev chain (decision 361). Such a chain can be put back, so that two honest statements may
/// contradict each other: no chain takes one as evidence.
pub const DEV_ANSWER_VERSION: u8 = 129;

/// The version of statements about a chain, which may be a dev chain.
pub const fn answer_version(is_dev: bool) -> u8 {
    if is_dev { DEV_ANSWER_VERSION } else { ANSWER_VERSION }
}

/// What separates these signatures from those of transactions.
const DOMAIN: &[u8] = b"cowboy-answer:";

record! {
    /// What a gateway says an actor answered to a request that only reads.
    pub struct Statement {
        /// [`ANSWER_VERSION`], or [`DEV_ANSWER_VERSION`].
        pub version: u8,
        /// The genesis hash of the chain.
        pub genesis: Hash,
        /// The block after which the answer was made.
        pub height: Height,
        /// The root of the state after it.
        pub state_root: Hash,
        /// The name that was asked for.
        pub name: Text<256>,
        /// The actor that it leads to; zero where it leads to none.
        pub actor: Address,
        /// Keccak-256 of the request's envelope in canonical CBOR: method, host, path, query, headers, id (004 §8.1).
        pub request: Hash,
        /// The status.
        pub status: u16,
        /// Keccak-256 of those headers that decide what a client does with the answer.
        pub headers: Hash,
        /// SHA-256 of the body; zero for a failure, whose words are the gateway's own.
        pub body: Hash,
    }
}

record! {
    /// A statement with the signature of the gateway's account.
    pub struct SignedAnswer {
        /// What was said.
        pub statement: Statement,
        /// The signature of its digest.
        pub signature: Signature,
    }
}

impl Statement {
    /// What a gateway signs.
    pub fn digest(&self) -> Hash {
        keccak256(&[DOMAIN, &commonware_codec::Encode::encode(self)])
    }

    /// Whether no chain makes both true: one block with two states, a name with two actors in one state, or two answers to one
    /// request in one state. Both must be of one chain.
    pub fn contradicts(&self, other: &Self) -> bool {
        if self.height != other.height {
            return false;
        }
        let answers = |one: &Self| (one.actor, one.status, one.headers, one.body);
        self.state_root != other.state_root
            || (self.name == other.name && self.actor != other.actor)
            || (self.request == other.request && self.name == other.name && answers(self) != answers(other))
    }
}

impl SignedAnswer {
    /// Whose signature it is; nothing where it is none, or of a version that is not known.
    pub fn signer(&self) -> Option<Address> {
        let is_known = [ANSWER_VERSION, DEV_ANSWER_VERSION].contains(&self.statement.version);
        signing::recover(&self.statement.digest(), &self.signature).filter(|_| is_known)
    }
}
