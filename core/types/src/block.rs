//! What validators agree on: a header, and the transactions its root commits to (decision 133).

use crate::hash::{Hash, blake3};
use crate::transaction::{Signature, Transaction};
use crate::units::{Cells, Count, Cycles, Height, Price, TimestampMs};
use crate::wire::{Blob, Fixed, List};
use commonware_codec::{Encode as _, EncodeSize as _, Write as _};

/// The protocol version with which a chain begins.
pub const FIRST_VERSION: u8 = 1;

/// The most transactions in a block.
pub const MAX_BLOCK_TRANSACTIONS: usize = 8_192;

/// The most bytes of transactions in a block. Bounds what one network message must carry.
pub const MAX_BLOCK_BODY_BYTES: usize = 4 * 1024 * 1024;

/// The most bytes of a resharing payload.
pub const MAX_RESHARE_BYTES: usize = 1024 * 1024;

/// A threshold-BLS seed: the signature, which is also its randomness (003 §3.4).
pub type Seed = Fixed<48>;

/// The most seeds a header carries; older rounds are left out.
pub const MAX_SEEDS: usize = 256;

crate::record! {
    /// The round in which a block was proposed, by whom, and on top of what.
    pub struct Context {
        /// The epoch of the proposal's round.
        pub epoch: Count,
        /// The view of the proposal's round, within the epoch.
        pub view: Count,
        /// The proposer's Ed25519 consensus key.
        pub leader: Fixed<32>,
        /// The view in which the parent was proposed.
        pub parent_view: Count,
        /// The parent's digest.
        pub parent: Hash,
    }
}

crate::record! {
    /// What one lane used of a block.
    pub struct LaneUsage {
        /// Compute.
        pub cycles: Cycles,
        /// Cells (bytes).
        pub cells: Cells,
    }
}

crate::record! {
    /// What a block's lanes used (003 §6.3).
    pub struct Usage {
        /// Governance, validators, upgrades.
        pub system: LaneUsage,
        /// Timers that fired.
        pub timer: LaneUsage,
        /// Job results and callbacks.
        pub runner: LaneUsage,
        /// Everything else, deliveries included.
        pub user: LaneUsage,
    }
}

crate::record! {
    /// The part of a block that is signed, voted on, and enough for a light client.
    pub struct Header {
        /// The version of the protocol under which the block is executed.
        pub version: u8,
        /// The genesis that the chain grew from.
        pub genesis: Hash,
        /// Round, proposer and parent.
        pub context: Context,
        /// The digest of the block before.
        pub parent: Hash,
        /// How many blocks stand between genesis (0) and this one.
        pub number: Count,
        /// Heights that a dev chain jumped over so far; zero on every other chain.
        pub skipped: Count,
        /// The proposer's clock, later than the parent's (decision 121).
        pub timestamp_ms: TimestampMs,
        /// The seeds of every round from the parent's to the one before this block's, ascending. The last is the beacon.
        pub seeds: List<Seed, MAX_SEEDS>,
        /// BLS signature by the proposer over beacon ‖ height; keccak256 of it orders the transactions.
        pub proposer_vrf: Fixed<48>,
        /// Burned for a cycle in this block.
        pub base_fee_cycle: Price,
        /// Burned for a cell in this block.
        pub base_fee_cell: Price,
        /// The use of each lane.
        pub usage: Usage,
        /// Keccak tree over the transactions' digests.
        pub tx_root: Hash,
        /// BLAKE3 of the encoded transactions with their signatures, which their digests leave out (decision 556).
        pub body: Hash,
        /// Keccak tree over the keccak256 of the receipts.
        pub receipt_root: Hash,
        /// BLAKE3 root of the state after this block.
        pub state_root: Hash,
        /// Root of the log of state operations, for syncing state.
        pub ops_root: Hash,
        /// First operation that state sync needs.
        pub ops_start: Count,
        /// One past the last operation.
        pub ops_end: Count,
        /// BLAKE3 of the resharing payload in the body, where there is one.
        pub reshare: Option<Hash>,
        /// Who voted for the parent, as the proposer saw it: a bitmap by validator index, a claim and no proof.
        pub voters: Blob<128>,
        /// Room for later versions; empty in version 1.
        pub extension: Blob<1024>,
        /// The proposer's secp256k1 signature over BLAKE3 of everything before it.
        pub signature: Signature,
    }
}

impl Header {
    /// The block's name: BLAKE3 of the header, signature included.
    pub fn digest(&self) -> Hash {
        blake3(&[&self.encode()])
    }

    /// What the proposer signs: BLAKE3 of the header without the signature.
    pub fn signing_digest(&self) -> Hash {
        let mut bytes = Vec::with_capacity(self.encode_size());
        self.write(&mut bytes);
        let unsigned = bytes.len().saturating_sub(self.signature.encode_size());
        blake3(&[bytes.get(..unsigned).unwrap_or_default()])
    }

    /// Whose key signed it; `None` where the signature is none.
    #[cfg(feature = "signing")]
    pub fn signer(&self) -> Option<crate::Address> {
        crate::signing::recover(&self.signing_digest(), &self.signature)
    }

    /// The protocol height: the number, plus what a dev chain skipped.
    pub fn height(&self) -> Height {
        Height(self.number.0.saturating_add(self.skipped.0))
    }
}

crate::record! {
    /// A header and the body it commits to.
    pub struct Block {
        /// What is voted on.
        pub header: Header,
        /// What was asked, in the order of execution.
        pub transactions: List<Transaction, MAX_BLOCK_TRANSACTIONS>,
        /// A piece of the key resharing protocol, where the proposer had one.
        pub reshare: Option<Blob<MAX_RESHARE_BYTES>>,
    }
}

/// What a header says of the transactions of its block, signatures included.
pub fn body_hash(transactions: &List<Transaction, MAX_BLOCK_TRANSACTIONS>) -> Hash {
    blake3(&[&transactions.encode()])
}

impl Block {
    /// The block's name.
    pub fn digest(&self) -> Hash {
        self.header.digest()
    }

    /// Whether the body is the one that the header commits to, to the last byte, and within its bounds: a header has one body, so that all who have a
    /// block of one name come to the same verdict on it.
    pub fn is_body_committed(&self) -> bool {
        let digests: Vec<Hash> = self.transactions.iter().map(Transaction::digest).collect();
        let reshare = self.reshare.as_ref().map(|payload| blake3(&[payload]));
        self.transactions.encode_size() <= MAX_BLOCK_BODY_BYTES
            && body_hash(&self.transactions) == self.header.body
            && crate::merkle::root(&digests) == self.header.tx_root
            && reshare == self.header.reshare
    }
}
