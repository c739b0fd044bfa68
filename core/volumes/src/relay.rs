//! What relays sign, and what they answer to proofs (decisions 153, 155).

use crate::leaf::META_BYTES;
use crate::tree::Route;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, record};

/// The longest leaf: hashes of 24 shards, the longest meta, and the rest.
pub const LEAF_BYTES: usize = 32 + 16 + 8 + 8 + 1 + 24 * 32 + 2 + META_BYTES;

/// The longest slice of one chunk: the header, 40 levels of the tree, the chunk.
pub const CHUNK_SLICE_BYTES: usize = 8 + 40 * 64 + 1_024;

/// The longest part of a shard that can be demanded: what the chain carries.
pub const DEMAND_BYTES: u64 = 32_768;

/// The blocks for which a client asks an acknowledgement to hold, and the most for which a relay signs one: far fewer than it keeps what no root
/// names.
pub const ACK_BLOCKS: u64 = 600;

/// What a relay's Ed25519 key signs when it registers: "cowboy-relay-key-v1:" ‖ genesis hash ‖ account ‖ key.
pub fn key_message(genesis: &Hash, account: Address, key: &Fixed<32>) -> Vec<u8> {
    [&b"cowboy-relay-key-v1:"[..], &genesis.0, &account.0, &key.0].concat()
}

/// A root that follows another one in a partition of a volume.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Succession {
    /// The volume.
    pub volume: Hash,
    /// How often a volume of its id was created or handed over: another one of the same name, or another owner's, is another one.
    pub generation: u64,
    /// The partition.
    pub partition: Hash,
    /// How many roots the partition had, the new one counted: a root that stood before can stand again, and this is another moment.
    pub sequence: u64,
    /// The root before it; zeros where the partition had none.
    pub old: Hash,
    /// The new root.
    pub new: Hash,
    /// The last height at which it may be committed. Relays forget what no root names, so no acknowledgement holds for long.
    pub until: u64,
}

impl Succession {
    /// What the relay of a slot signs once it holds every page of the new root, and its shard of every file: "cowboy-storage-ack:" ‖ genesis hash
    /// ‖ volume ‖ partition ‖ old ‖ new ‖ generation ‖ sequence ‖ until ‖ slot, one byte ‖ sum; numbers have eight bytes, big-endian.
    pub fn message(&self, genesis: &Hash, slot: u8, sum: u64) -> Vec<u8> {
        let Self { volume, generation, partition, sequence, old, new, until } = self;
        let hashes = [genesis, volume, partition, old, new].map(|hash| &hash.0[..]).concat();
        let numbers = [generation, sequence, until].map(|number| number.to_be_bytes()).concat();
        [&b"cowboy-storage-ack:"[..], &hashes, &numbers, &[slot], &sum.to_be_bytes()].concat()
    }
}

record! {
    /// The answer for one point: the leaf that has the byte, the way to it, and the chunk. There is no chunk where the byte is behind the shard's end:
    /// the leaf proves it.
    pub struct PointProof {
        /// The leaf.
        pub leaf: Blob<LEAF_BYTES>,
        /// The way to the partition's node.
        pub route: Route,
        /// The slice with the chunk; empty where the byte is behind the shard's end.
        pub slice: Blob<CHUNK_SLICE_BYTES>,
    }
}
