//! Volumes, as the executor of a container sees them: it knows no chain and no relays.

use crate::execute::Fault;
use cowboy_container::{Changes, Mode, Mount};
use cowboy_image::Source;
use cowboy_system::offchain::container::Mount as Asked;
use cowboy_types::Hash;
use futures::future::BoxFuture;
use std::{path::PathBuf, time::Duration};

/// The volumes of one job.
pub trait Volumes: Send + Sync {
    /// Fetches what the job mounts to be read. Answers a folder for each of its mounts, in their order; they are there until this is dropped.
    fn fetch(&self) -> BoxFuture<'_, Result<Vec<PathBuf>, Fault>>;

    /// Keeps what the program wrote: when it returns, the chain has it.
    fn keep(&self, changes: Vec<Changes>) -> BoxFuture<'_, Result<(), Fault>>;

    /// How long keeping may take.
    fn time_to_keep(&self) -> Duration;

    /// The image layout in a folder of a public volume.
    fn layout(&self, volume: Hash, path: &str) -> Box<dyn Source>;
}

/// The mounts of a box.
pub(super) fn mounts(asked: &[Asked], folders: Vec<PathBuf>) -> Vec<Mount> {
    let mount = |(asked, source): (&Asked, PathBuf)| {
        let mode = if asked.mode.writes() { Mode::Overlay { max_bytes: size_of(asked) } } else { Mode::ReadOnly };
        Mount { source, name: asked.name.as_str().to_owned(), mode }
    };
    asked.iter().zip(folders).map(mount).collect()
}

/// Bytes of memory for what is written to a mount. A file system has at least a page.
fn size_of(asked: &Asked) -> u64 {
    asked.max_bytes.max(4_096)
}
