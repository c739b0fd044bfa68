//! The database behind `state_root`: QMDB `current`, ordered, with values of any size (decisions 116, 124).
//!
//! `current` proves what a key's value is now, and `ordered` that a key has none. The root depends on
//! the history of batches, so one block is one batch, and every choice in this file is consensus.

use commonware_cryptography::blake3::{Blake3, Digest};
use commonware_parallel::Sequential;
use commonware_runtime::{Storage, buffer::paged::CacheRef};
use commonware_storage::{
    journal::contiguous::variable::Config as JournalConfig,
    merkle::full::Config as MerkleConfig,
    mmr,
    qmdb::current::{self, VariableConfig},
    translator::EightCap,
};
use commonware_utils::{NZU16, NZU64, NZUsize, sequence::FixedBytes};
use std::num::{NonZeroU16, NonZeroUsize};

/// A state key: 32 bytes, BLAKE3 of what the record is (decision 124).
pub type Key = cowboy_state::StateKey;

/// A state record's bytes.
pub type Value = bytes::Bytes;

/// The merkle structure over the log of operations.
pub type Family = mmr::Family;

/// Bytes of activity bitmap in one leaf of the state tree. Part of every root.
pub const CHUNK: usize = 32;

/// The key as the database has it.
pub type RawKey = FixedBytes<32>;

/// The database on runtime `E`.
pub type Db<E> = current::ordered::variable::Db<Family, E, RawKey, Value, Blake3, EightCap, CHUNK, Sequential>;

/// How the database's log decodes.
pub type CodecConfig = ((), commonware_codec::RangeCfg<usize>);

/// The configuration of [`Db`].
pub type Config = VariableConfig<EightCap, CodecConfig, Sequential>;

/// The largest state record, in bytes: bounds what one damaged length can ask for.
pub const MAX_VALUE_BYTES: usize = 4 * 1024 * 1024;

/// A key in the database's type.
pub fn raw(key: &Key) -> RawKey {
    RawKey::new(key.0)
}

/// A root in the protocol's type.
pub fn hash(digest: Digest) -> cowboy_types::Hash {
    cowboy_types::Hash(digest.into())
}

/// Bytes in a page. Part of the format on the disk.
const PAGE: NonZeroU16 = NZU16!(4_096);

/// Pages that a node keeps however small its state is: 8 MiB.
const LEAST_PAGES: NonZeroUsize = NZUsize!(2_048);

/// The same for the only validator of a dev chain, which is started often and is idle most of the time: 1 MiB.
const MIN_PAGES_ALONE: NonZeroUsize = NZUsize!(256);

/// Pages that a node keeps at most: 512 MiB.
const MOST_PAGES: NonZeroUsize = NZUsize!(131_072);

/// Memory for pages: as much as the database under `prefix` fills on the disk, within 8 to 512 MiB.
///
/// A page that is not here is read past the operating system's own cache, which takes about 20 µs, and a block of
/// transfers asks for several thousand. The memory is taken at once, so a young chain does not take what only an old one needs.
pub async fn page_cache<E: Storage>(context: &E, prefix: &str) -> CacheRef {
    page_cache_from(LEAST_PAGES, context, prefix).await
}

/// [`page_cache`] for the only validator of a dev chain: within 1 to 512 MiB.
pub async fn page_cache_alone<E: Storage>(context: &E, prefix: &str) -> CacheRef {
    page_cache_from(MIN_PAGES_ALONE, context, prefix).await
}

async fn page_cache_from<E: Storage>(min: NonZeroUsize, context: &E, prefix: &str) -> CacheRef {
    let log = format!("{prefix}-state-log_data");
    let mut bytes: u64 = 0;
    // What cannot be read here cannot be opened either, and opening says why.
    for name in context.scan(&log).await.unwrap_or_default() {
        bytes = bytes.saturating_add(context.open(&log, &name).await.map_or(0, |(_, size)| size));
    }
    // The tree over the log takes half as much again.
    let pages = usize::try_from(bytes / u64::from(PAGE.get()) / 2 * 3).unwrap_or(usize::MAX);
    CacheRef::new(PAGE, NonZeroUsize::new(pages).map_or(min, |pages| pages.clamp(min, MOST_PAGES)))
}

/// The configuration of a database whose partitions begin with `prefix`.
pub fn config(prefix: &str, page_cache: CacheRef) -> Config {
    let buffer: NonZeroUsize = NZUsize!(256 * 1024);
    VariableConfig {
        merkle_config: MerkleConfig {
            journal_partition: format!("{prefix}-state-tree"),
            metadata_partition: format!("{prefix}-state-tree-meta"),
            items_per_blob: NZU64!(1 << 18),
            write_buffer: buffer,
            replay_buffer: buffer,
            strategy: Sequential,
            page_cache: page_cache.clone(),
        },
        journal_config: JournalConfig {
            partition: format!("{prefix}-state-log"),
            items_per_section: NZU64!(1 << 16),
            compression: None,
            codec_config: ((), (0..=MAX_VALUE_BYTES).into()),
            page_cache,
            write_buffer: buffer,
            replay_buffer: buffer,
        },
        grafted_metadata_partition: format!("{prefix}-state-bitmap"),
        translator: EightCap,
        init_cache: Some(NZUsize!(1 << 12)),
        init_buffer: NZUsize!(1 << 20),
        init_concurrency: (),
    }
}
