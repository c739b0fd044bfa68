//! Chunks of storage that blocks pruned, each once, with the height until which it is kept.

use crate::{
    error::StoreError,
    tables::{CHUNKS, CHUNKS_UNTIL},
};
use cowboy_types::{Hash, Height};
use redb::{ReadableTable as _, WriteTransaction};

/// A chunk of storage that left the state, kept for whoever restores it (decision 328).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Keccak-256 of the bytes.
    pub hash: Hash,
    /// The chunk.
    pub bytes: Vec<u8>,
    /// The last height at which it is kept.
    pub until: Height,
}

/// Writes chunks of storage, and until when they are kept.
pub(crate) fn keep(write: &WriteTransaction, chunks: &[Chunk]) -> Result<(), StoreError> {
    let (mut by_hash, mut by_height) = (write.open_table(CHUNKS)?, write.open_table(CHUNKS_UNTIL)?);
    for chunk in chunks {
        // Equal storage of two actors is one chunk, which is kept as long as either needs it.
        let known = by_hash.get(&chunk.hash.0)?.map_or(0, |kept| kept.value().0);
        if chunk.until.0 > known {
            by_hash.insert(&chunk.hash.0, (chunk.until.0, &*chunk.bytes))?;
            by_height.insert((chunk.until.0, &chunk.hash.0), ())?;
        }
    }
    Ok(())
}

/// Drops the chunks that are kept until below a height.
pub(crate) fn forget(write: &WriteTransaction, height: Height) -> Result<(), StoreError> {
    let (mut by_hash, mut by_height) = (write.open_table(CHUNKS)?, write.open_table(CHUNKS_UNTIL)?);
    let over = by_height.range(..(height.0, &[0; 32]))?.map(|row| row.map(|(key, _)| *key.value().1)).collect::<Result<Vec<_>, _>>()?;
    for hash in over {
        // The same chunk may have been pruned again since.
        let is_over = by_hash.get(&hash)?.is_some_and(|kept| kept.value().0 < height.0);
        if is_over {
            by_hash.remove(&hash)?;
        }
    }
    by_height.retain_in(..(height.0, &[0; 32]), |_, ()| false)?;
    Ok(())
}
