//! Rebuilding what the relay should have and has not: out of what other relays of the volume give, checked against the chain's roots.

use crate::app::App;
use crate::requests;
use crate::store::{Item, Kind, Reserved};
use commonware_codec::Encode as _;
use cowboy_types::Hash;
use cowboy_types::signing::PrivateKey;
use cowboy_volume::cells::stripes;
use cowboy_volume::{Signer, Volume, VolumeError};
use cowboy_volumes::Leaf;
use std::collections::BTreeMap;

/// Why a slot cannot be rebuilt.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RepairError {
    /// Others do not give what is needed.
    #[error(transparent)]
    Volume(#[from] VolumeError),
    /// The store cannot be used.
    #[error("the store cannot be used: {0}")]
    Store(#[from] std::io::Error),
    /// It has no room: what others say that the volume has is more than its quota allows, or its writers sent much that they did not commit.
    #[error("the volume has as much here as it may")]
    Full,
    /// What the others gave is no code word: a writer uploaded what cannot be rebuilt.
    #[error("the shard of slot {slot} of a file is not what its leaf says: its writer made it so")]
    Damaged {
        /// The slot.
        slot: usize,
    },
}

/// What was rebuilt.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rebuilt {
    /// The partitions that are whole, with their roots.
    pub(crate) roots: BTreeMap<Hash, Hash>,
    /// Files of which this slot's shard cannot be made, because their writers uploaded no code words.
    pub(crate) damaged: usize,
    /// The height at which it was over.
    pub(crate) at: u64,
}

/// Rebuilds everything that a slot of a volume has to have under the standing roots of these partitions. A file that its writer damaged keeps its
/// partition from being whole, and nothing else.
pub(crate) async fn rebuild(app: &App, key: &PrivateKey, id: Hash, slot: usize, partitions: &[Hash]) -> Result<Rebuilt, RepairError> {
    let mut rebuilt = Rebuilt::default();
    let volume = Volume::open(app.chain.clone(), id, Signer { key: key.clone(), capability: None }).await?;
    for listed in volume.record().partitions.iter().filter(|listed| partitions.contains(&listed.partition)) {
        let known = app.store.get(&Item { volume: id, kind: Kind::Tree, hash: listed.root })?;
        let tree = match known.and_then(|bytes| cowboy_volume::Tree::parse(&bytes)) {
            Some(tree) => tree,
            None if listed.root == cowboy_volumes::Top::EMPTY.root() => cowboy_volume::Tree::empty(),
            None => volume.tree_of(listed.partition, listed.root).await?,
        };
        let before = rebuilt.damaged;
        for place in tree.filled() {
            let page = volume.page(listed.partition, &tree, place).await?;
            if let Some(node) = tree.nodes.get(place) {
                keep(app, &volume, Item { volume: id, kind: Kind::Page, hash: node.hash }, &page.encode())?;
            }
            for leaf in page.leaves.iter() {
                match shard(app, &volume, id, leaf, slot).await {
                    Err(RepairError::Damaged { .. }) => rebuilt.damaged += 1,
                    done => done?,
                }
            }
        }
        if rebuilt.damaged > before {
            continue;
        }
        // The tree comes last: whoever has it has everything below.
        keep(app, &volume, Item { volume: id, kind: Kind::Tree, hash: listed.root }, &tree.to_bytes())?;
        rebuilt.roots.insert(listed.partition, listed.root);
    }
    rebuilt.at = app.height();
    Ok(rebuilt)
}

/// Room for an item of a volume while it comes: what is rebuilt is bounded by the volume's part of the disk, as what clients send is.
fn room(app: &App, volume: &Volume, length: u64) -> Result<Reserved, RepairError> {
    let share = requests::share(volume.record().slot_quota());
    app.store.reserve(*volume.id(), length, share)?.ok_or(RepairError::Full)
}

/// Keeps a page or a tree, where there is room. What is here already takes none.
fn keep(app: &App, volume: &Volume, item: Item, bytes: &[u8]) -> Result<(), RepairError> {
    let _room = match app.store.length(&item)? {
        Some(_) => None,
        None => Some(room(app, volume, u64::try_from(bytes.len()).unwrap_or(u64::MAX))?),
    };
    Ok(app.store.put(&item, bytes, app.height())?)
}

/// Rebuilds the shard of a file, cell by cell, where it is not there.
async fn shard(app: &App, volume: &Volume, id: Hash, leaf: &Leaf, slot: usize) -> Result<(), RepairError> {
    let damaged = RepairError::Damaged { slot };
    let Some(hash) = leaf.shards.get(slot) else { return Err(damaged) };
    let item = Item { volume: id, kind: Kind::Shard, hash: *hash };
    if let Some(length) = app.store.length(&item)? {
        // No tree names it while its partition is not whole.
        app.store.name(&[(item, length)], app.height())?;
        return Ok(());
    }
    let _room = room(app, volume, leaf.shard_bytes)?;
    let mut incoming = app.store.begin(id, leaf.shard_bytes)?;
    for stripe in stripes(volume.record().code, leaf.ciphertext_bytes) {
        let cell = volume.rebuilt(leaf, stripe, slot).await?;
        tokio::task::block_in_place(|| incoming.write(&cell))?;
    }
    match tokio::task::block_in_place(|| app.store.end(incoming, hash, app.height()))? {
        true => Ok(()),
        false => Err(damaged),
    }
}
