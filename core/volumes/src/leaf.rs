//! The record of a file in a partition's tree (decision 152).

use crate::code::{Code, MAX_SLOTS, OBJECT_BYTES};
use crate::name::Path;
use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, Hash, List, record};

/// The longest part of a leaf that only readers understand.
pub const META_BYTES: usize = 1_024;

/// What a file counts in a slot at least, in bytes: every relay of the volume keeps its leaf, however short the file is (decision 565).
pub const FILE_BYTES: u64 = 1_024;

/// Bytes of a tag's half: of the directory, then of the name in it.
const HALF: usize = 16;

record! {
    /// A file. Relays and the chain see how long it is, and nothing of its name or content.
    pub struct Leaf {
        /// Where it stands among the leaves of its page: what the directory hashes to under the partition's key, and then the name, which chooses the
        /// page.
        pub tag: Fixed<32>,
        /// Random: the key of the ciphertext is derived from it.
        pub write_id: Fixed<16>,
        /// Bytes of the ciphertext.
        pub ciphertext_bytes: u64,
        /// Bytes of each shard.
        pub shard_bytes: u64,
        /// The BLAKE3 hash of each shard, in the order of the slots.
        pub shards: List<Hash, MAX_SLOTS>,
        /// Path, size, hash, time and type, encrypted.
        pub meta: Blob<META_BYTES>,
    }
}

impl Leaf {
    /// The leaf of these bytes, or none where they are none for a volume with this code.
    pub fn parse(bytes: &[u8], code: Code) -> Option<Self> {
        Self::decode(Bytes::copy_from_slice(bytes)).ok().filter(|leaf| leaf.is_of(code))
    }

    /// Whether a volume with this code can have the leaf: it has a hash for each slot, and a shard is as long as the ciphertext makes it.
    pub fn is_of(&self, code: Code) -> bool {
        // Each segment of a file has a tag of 16 bytes.
        let most = OBJECT_BYTES.saturating_add(OBJECT_BYTES / 4_096);
        self.shards.len() == code.slots() && self.ciphertext_bytes <= most && self.shard_bytes == code.shard_bytes(self.ciphertext_bytes)
    }

    /// What it counts in a slot: what the volume pays for, what its quota bounds, and among how many bytes points are drawn.
    pub fn counted(&self) -> u64 {
        self.shard_bytes.max(FILE_BYTES)
    }

    /// What the tree has for it: BLAKE3(0x00 ‖ bytes).
    pub fn hash(&self) -> Hash {
        hash(&self.encode())
    }
}

/// What the tree has for the leaf of these bytes.
pub fn hash(bytes: &[u8]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[0]).update(bytes);
    Hash(*hasher.finalize().as_bytes())
}

/// The tag of a path under a partition's key.
pub fn tag(key: &[u8; 32], path: &Path) -> Fixed<32> {
    let (directory, name) = path.split();
    let mut tag = [0; 2 * HALF];
    let (first, last) = tag.split_at_mut(HALF);
    first.copy_from_slice(&half(key, 0, directory));
    last.copy_from_slice(&half(key, 1, name));
    Fixed(tag)
}

fn half(key: &[u8; 32], kind: u8, text: &str) -> [u8; HALF] {
    let mut hasher = blake3::Hasher::new_keyed(key);
    hasher.update(&[kind]).update(text.as_bytes());
    let mut half = [0; HALF];
    hasher.finalize_xof().fill(&mut half);
    half
}
