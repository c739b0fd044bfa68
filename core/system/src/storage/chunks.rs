//! Chunks: the pieces in which an actor's storage goes, and comes back (003 State Rent).
//!
//! A chunk is what stands next in the actor's directory until it has 64 entries or 32 KiB: a transaction can carry it back.

use cowboy_types::units::Height;
use cowboy_types::{Hash, keccak256};

/// Entries of a chunk.
pub const CHUNK_ENTRIES: usize = 64;

/// Bytes after which a chunk takes no further entry.
pub const CHUNK_BYTES: usize = 32 * 1024;

/// Rent epochs for which every full node keeps a chunk after it was pruned.
pub const KEPT_EPOCHS: u64 = 30;

/// A chunk as it was pruned: what brings it back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pruned {
    /// The hash that stands in the state while the chunk is missing.
    pub hash: Hash,
    /// What the hash is of: see [`chunk_bytes`].
    pub bytes: Vec<u8>,
    /// The last height at which nodes keep it.
    pub until: Height,
}

/// Whether a chunk with these numbers of entries and bytes is full.
pub(super) const fn is_full(entries: usize, bytes: usize) -> bool {
    entries >= CHUNK_ENTRIES || bytes >= CHUNK_BYTES
}

/// An actor's entries, ascending by key, in the chunks in which an eviction prunes them.
pub fn chunks<T>(entries: impl IntoIterator<Item = T>, bytes_of: impl Fn(&T) -> usize) -> Vec<Vec<T>> {
    let (mut chunks, mut chunk, mut bytes) = (Vec::new(), Vec::new(), 0usize);
    for entry in entries {
        bytes = bytes.saturating_add(bytes_of(&entry));
        chunk.push(entry);
        if is_full(chunk.len(), bytes) {
            chunks.push(std::mem::take(&mut chunk));
            bytes = 0;
        }
    }
    if !chunk.is_empty() {
        chunks.push(chunk);
    }
    chunks
}

/// The hash of a chunk: keccak256 of its bytes.
pub fn chunk_hash<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: &[(K, V)]) -> Hash {
    keccak256(&[&chunk_bytes(entries)])
}

/// A chunk in bytes: each key and each value behind its length, four bytes, big-endian.
pub fn chunk_bytes<K: AsRef<[u8]>, V: AsRef<[u8]>>(entries: &[(K, V)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (key, value) in entries {
        for part in [key.as_ref(), value.as_ref()] {
            let length = u32::try_from(part.len()).expect("keys and values are short");
            bytes.extend_from_slice(&length.to_be_bytes());
            bytes.extend_from_slice(part);
        }
    }
    bytes
}

/// The entries of a chunk, or `None` where the bytes are none.
pub fn chunk_entries(bytes: &[u8]) -> Option<Vec<(Vec<u8>, Vec<u8>)>> {
    let (mut entries, mut rest) = (Vec::new(), bytes);
    while !rest.is_empty() {
        let mut part = || {
            let (length, behind) = rest.split_first_chunk::<4>()?;
            let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
            let (part, behind) = behind.split_at_checked(length)?;
            rest = behind;
            Some(part.to_vec())
        };
        entries.push((part()?, part()?));
    }
    Some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A chunk comes back from its bytes, and from nothing else.
    #[test]
    fn chunks_are_read_as_they_are_written() {
        let entries = vec![(b"a".to_vec(), b"".to_vec()), (b"".to_vec(), vec![7; 300])];
        let bytes = chunk_bytes(&entries);
        assert_eq!((chunk_entries(&bytes), chunk_entries(b"")), (Some(entries.clone()), Some(Vec::new())));
        assert_eq!(chunk_hash(&entries), keccak256(&[&bytes]));
        for wrong in [&bytes[..bytes.len() - 1], &bytes[..5], &[0, 0, 0][..], &[255; 8][..]] {
            assert_eq!(chunk_entries(wrong), None, "{wrong:?}");
        }
    }
}
