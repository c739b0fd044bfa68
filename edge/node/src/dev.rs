//! What only a dev chain allows: blocks on order, later times, and going back (decisions 136, 137).

use crate::{
    application::WARP_MS,
    chain::Head,
    error::{AskError, NodeError, Unavailable},
    node::{KeepUp, NodeHandle},
    pace::BlockTime,
};
use cowboy_store::StoreError;
use cowboy_types::{Height, TimestampMs};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Why a dev control does not do what it is asked.
#[derive(Debug, thiserror::Error)]
pub enum DevError {
    /// The chain is none.
    #[error("only a dev chain allows this: start one with `cowboyd dev`")]
    NotDev,
    /// The chain has other validators.
    #[error("this needs a chain with one validator, and this one has {0}")]
    NotAlone(usize),
    /// The height or time is past.
    #[error("the chain is at height {height} and time {timestamp} ms already: warp goes forward only")]
    Past {
        /// The height it has.
        height: Height,
        /// The time it has.
        timestamp: TimestampMs,
    },
    /// There is no such snapshot.
    #[error("there is no snapshot {0}: snapshots that are newer than one that was reverted to are gone")]
    NoSnapshot(u64),
    /// The node is stopped.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// A question about it has no answer.
    #[error(transparent)]
    Ask(#[from] AskError),
    /// The node does not start again.
    #[error(transparent)]
    Node(#[from] NodeError),
    /// The disk cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// The parts of the folder that a snapshot copies.
const COPIED: [&str; 2] = ["engine", "ledger.redb"];

/// A warp that somebody waits for. Dropping it ends the warp: timers would burn money for nobody.
struct Warping<'a> {
    node: &'a NodeHandle,
    target: Height,
}

impl Drop for Warping<'_> {
    fn drop(&mut self) {
        // A node that is stopped warps no further.
        if let Ok(chain) = self.node.chain() {
            chain.pace.end_warp(self.target);
        }
    }
}

impl NodeHandle {
    fn require_dev(&self) -> Result<(), DevError> {
        if self.config().genesis.chain.is_dev { Ok(()) } else { Err(DevError::NotDev) }
    }

    fn require_alone(&self) -> Result<(), DevError> {
        self.require_dev()?;
        match self.config().genesis.committee.members().len() {
            1 => Ok(()),
            validators => Err(DevError::NotAlone(validators)),
        }
    }

    /// Has blocks that come at once stop for services from now on.
    pub fn keep_up(&self, services: KeepUp) {
        *self.0.services.lock().expect("nothing panics while it holds the lock") = Some(services);
    }

    fn services(&self) -> Option<KeepUp> {
        self.0.services.lock().expect("nothing panics while it holds the lock").clone()
    }

    /// Makes this many more blocks at once, and waits until they are final. They come also where this is dropped.
    pub async fn mine(&self, blocks: u64) -> Result<Head, DevError> {
        self.require_dev()?;
        let target = self.head().number.saturating_add(blocks);
        let Some(services) = self.services() else { return self.mine_until(target).await };
        let node = self.clone();
        let mining = tokio::spawn(async move {
            loop {
                let head = node.mine_until(target.min(node.head().number.saturating_add(services.every.max(1)))).await?;
                (services.until_sent)(node.clone(), head.height).await;
                if head.number >= target {
                    return Ok::<_, DevError>(head);
                }
            }
        });
        mining.await.unwrap_or(Err(Unavailable.into()))
    }

    /// Makes blocks at once up to this number.
    async fn mine_until(&self, number: u64) -> Result<Head, DevError> {
        self.chain()?.pace.mine_until(number);
        self.wait_for(|head| head.number >= number).await
    }

    /// Takes the chain to this height. Every timer on the way fires, in order, at its height; heights at which nothing is due are skipped.
    /// A future that is dropped before ends the warp.
    pub async fn warp_to_height(&self, height: Height) -> Result<Head, DevError> {
        self.require_alone()?;
        let head = self.head();
        if height <= head.height {
            return Err(DevError::Past { height: head.height, timestamp: head.timestamp_ms });
        }
        let Some(services) = self.services() else { return self.warp_until(height).await };
        loop {
            let stop = self.head().height.0.saturating_add(services.every.max(1));
            let head = self.warp_until(height.min(Height(stop))).await?;
            (services.until_sent)(self.clone(), head.height).await;
            if head.height >= height {
                return Ok(head);
            }
        }
    }

    /// The same without a stop.
    async fn warp_until(&self, height: Height) -> Result<Head, DevError> {
        self.chain()?.pace.warp(height);
        let _warping = Warping { node: self, target: height };
        self.wait_for(|head| head.height >= height).await
    }

    /// Takes the chain to the height whose block has about this time: one height a second.
    pub async fn warp_to_time(&self, timestamp: TimestampMs) -> Result<Head, DevError> {
        let head = self.head();
        let heights = timestamp.0.saturating_sub(head.timestamp_ms.0).div_ceil(WARP_MS);
        self.warp_to_height(Height(head.height.0.saturating_add(heights))).await
    }

    /// Changes the block time from the next block on.
    pub fn set_block_time(&self, block_time: BlockTime) -> Result<(), DevError> {
        self.require_alone()?;
        self.chain()?.pace.set_block_time(block_time);
        Ok(())
    }

    async fn wait_for(&self, is_there: impl FnMut(&Head) -> bool) -> Result<Head, DevError> {
        let mut head = self.watch_head();
        // Bound before the answer, because the guard borrows the receiver.
        let found = head.wait_for(is_there).await.map(|head| *head);
        found.map_err(|_| Unavailable.into())
    }

    /// Copies the chain as it is, and answers the copy's number. The node is stopped meanwhile. Blocks the thread.
    pub fn snapshot(&self) -> Result<u64, DevError> {
        self.require_alone()?;
        let directory = self.config().directory.clone();
        let id = snapshots(&directory)?.last().map_or(1, |newest| newest.saturating_add(1));
        self.while_stopped(Self::stop_for_now, || {
            let copy = snapshot_path(&directory, id);
            let draft = copy.with_extension("new");
            remove(&draft)?;
            for part in COPIED {
                copy_all(&directory.join(part), &draft.join(part))?;
            }
            fs::rename(&draft, &copy).map_err(|error| StoreError::file(&copy, error))
        })?;
        Ok(id)
    }

    /// Puts the chain back to a snapshot, which is used up, as are all newer ones. The node is stopped meanwhile. Blocks the thread.
    pub fn revert(&self, id: u64) -> Result<Head, DevError> {
        self.require_alone()?;
        let directory = self.config().directory.clone();
        let kept = snapshots(&directory)?;
        if !kept.contains(&id) {
            return Err(DevError::NoSnapshot(id));
        }
        let stop = |node: &Self| {
            node.stop();
            Ok(())
        };
        self.while_stopped(stop, || {
            for part in COPIED {
                let (from, to) = (snapshot_path(&directory, id).join(part), directory.join(part));
                remove(&to)?;
                fs::rename(&from, &to).map_err(|error| StoreError::file(&to, error))?;
            }
            kept.iter().filter(|kept| **kept >= id).try_for_each(|newer| remove(&snapshot_path(&directory, *newer)))
        })?;
        Ok(self.head())
    }

    /// Stops the node, acts, and starts it again with the same block time and clock, whatever came of the act.
    fn while_stopped(
        &self,
        stop: impl FnOnce(&Self) -> Result<(), Unavailable>,
        act: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), DevError> {
        let _restarting = self.0.restarting.lock().expect("nothing panics while it holds the lock");
        let block_time = self.chain()?.pace.block_time();
        stop(self)?;
        let done = act();
        self.resume()?;
        self.chain()?.pace.set_block_time(block_time);
        Ok(done?)
    }
}

fn snapshots_path(directory: &Path) -> PathBuf {
    directory.join("snapshots")
}

fn snapshot_path(directory: &Path, id: u64) -> PathBuf {
    snapshots_path(directory).join(id.to_string())
}

/// The numbers of the snapshots there are, ascending.
fn snapshots(directory: &Path) -> Result<Vec<u64>, StoreError> {
    let path = snapshots_path(directory);
    fs::create_dir_all(&path).map_err(|error| StoreError::file(&path, error))?;
    let entries = fs::read_dir(&path).map_err(|error| StoreError::file(&path, error))?;
    let mut ids: Vec<u64> = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    ids.sort_unstable();
    Ok(ids)
}

fn remove(path: &Path) -> Result<(), StoreError> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(StoreError::file(path, error)),
        _ => Ok(()),
    }
}

fn copy_all(from: &Path, to: &Path) -> Result<(), StoreError> {
    if !from.is_dir() {
        if let Some(parent) = to.parent() {
            fs::create_dir_all(parent).map_err(|error| StoreError::file(parent, error))?;
        }
        return fs::copy(from, to).map(drop).map_err(|error| StoreError::file(to, error));
    }
    fs::create_dir_all(to).map_err(|error| StoreError::file(to, error))?;
    for entry in fs::read_dir(from).map_err(|error| StoreError::file(from, error))? {
        let entry = entry.map_err(|error| StoreError::file(from, error))?;
        copy_all(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
