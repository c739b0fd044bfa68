//! Parts of a shard, checked against its hash: slices of Bao, the tree that BLAKE3 hashes (decision 152).

use bao::decode::SliceDecoder;
use blake3::Hash as Blake3;
use cowboy_types::Hash;
use std::io::{Cursor, Read as _};

/// The bytes that one node of the tree covers at the bottom.
pub const CHUNK_BYTES: u64 = 1_024;

/// The longest part that is asked for at once.
pub const MAX_PART: u64 = 65_536;

/// The part of a shard with `length` bytes from `start` on, where a slice proves it under the shard's hash and length. None where it does not:
/// damaged, cut, longer, or of another place.
pub fn open(slice: &[u8], shard: &Hash, shard_bytes: u64, start: u64, length: u64) -> Option<Vec<u8>> {
    let end = start.checked_add(length)?;
    if length == 0 || length > MAX_PART || end > shard_bytes {
        return None;
    }
    let header: [u8; 8] = *slice.first_chunk()?;
    if u64::from_le_bytes(header) != shard_bytes {
        return None;
    }
    let mut input = Cursor::new(slice);
    let mut part = Vec::new();
    let mut decoder = SliceDecoder::new(&mut input, &Blake3::from_bytes(shard.0), start, length);
    decoder.read_to_end(&mut part).ok()?;
    let read = usize::try_from(input.position()).ok()?;
    let is_whole = u64::try_from(part.len()).ok()? == length && read == slice.len();
    is_whole.then_some(part)
}

/// Where the chunk with this byte begins, and its length, in a shard of `shard_bytes` bytes.
pub fn chunk(at: u64, shard_bytes: u64) -> (u64, u64) {
    let start = at.saturating_sub(at % CHUNK_BYTES);
    (start, shard_bytes.saturating_sub(start).min(CHUNK_BYTES))
}
