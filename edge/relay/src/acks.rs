//! Acknowledgements of roots: a relay signs that it has all that its slot has to have under a new one.

use crate::app::App;
use crate::refusal::{Refusal, on_disk};
use crate::session::Right;
use crate::store::{Item, Kind, Store};
use cowboy_types::Hash;
use cowboy_volume::Tree;
use cowboy_volume::wire::Answer;
use cowboy_volumes::relay::{ACK_BLOCKS, Succession};
use cowboy_volumes::{Page, Top};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::{Arc, Mutex as Lock, PoisonError};
use tokio::sync::{Mutex, OwnedMutexGuard, Semaphore, SemaphorePermit};

/// Blocks by which a client may be ahead of this relay.
const SLACK: u64 = 60;

/// Roots that are looked through at once. Their trees may name a million files, for a request of a few KiB.
const AT_ONCE: usize = 2;

/// Turns to look through a root: one for a volume at a time, so that no volume takes those of others.
pub(crate) struct Acks {
    volumes: Lock<HashMap<Hash, Arc<Mutex<()>>>>,
    turns: Semaphore,
}

/// A turn.
pub(crate) struct Turn<'a> {
    _volume: OwnedMutexGuard<()>,
    _turn: Option<SemaphorePermit<'a>>,
}

impl Acks {
    pub(crate) fn new() -> Self {
        Self { volumes: Lock::default(), turns: Semaphore::new(AT_ONCE) }
    }

    /// Waits for a turn of a volume.
    pub(crate) async fn turn(&self, volume: &Hash) -> Turn<'_> {
        let own = {
            let mut volumes = self.volumes.lock().unwrap_or_else(PoisonError::into_inner);
            // Those for which nobody waits.
            volumes.retain(|_, own| Arc::strong_count(own) > 1);
            volumes.entry(*volume).or_default().clone()
        };
        let own = own.lock_owned().await;
        // Nobody closes it.
        Turn { _volume: own, _turn: self.turns.acquire().await.ok() }
    }
}

/// Signs a new root where everything of it is here that the slot has to have, and will be while the signature holds.
pub(crate) fn sign(app: &App, right: &Right, succession: &Succession, tree: &Tree) -> Result<Answer, Refusal> {
    let height = app.height();
    if succession.until > height.saturating_add(ACK_BLOCKS + SLACK) {
        return Err(Refusal::Said("the signature would hold for too long"));
    }
    let slot = right.slot.ok_or(Refusal::Said("this relay does not serve the volume yet"))?;
    if Top::of(tree.top.depth, tree.top.leaves, tree.nodes.clone()) != Some(tree.top) {
        return Err(Refusal::Said("the top is not over these pages"));
    }
    let held = on_disk(|| has_all(&app.store, right, slot, succession, tree))?.map_err(Refusal::Said)?;
    // A signature gives no item a longer life, as else what nobody commits, and so nobody pays for, would be kept for ever. What no root names has to have
    // come lately, so that it is there until the commit.
    if held.iter().any(|at| at.saturating_add(app.kept_for() / 2) < height) {
        return Err(Refusal::Said("a part came long ago and no root names it: send all of it again"));
    }
    let item = Item { volume: right.volume, kind: Kind::Tree, hash: succession.new };
    on_disk(|| app.store.put(&item, &tree.to_bytes(), height))?;
    let signature = app.key.sign(&succession.message(&app.chain.genesis, slot, tree.top.node.sum));
    Ok(Answer::Acked { slot, signature })
}

/// When the pages of a tree and the slot's shards of its files were named last, or came, where the store has all of them. Those of pages that the
/// standing root has too are there: this relay signed it, or says that it is behind, and names them as long as it stands.
fn has_all(store: &Store, right: &Right, slot: u8, succession: &Succession, tree: &Tree) -> io::Result<Result<Vec<u64>, &'static str>> {
    let (volume, old) = (right.volume, succession.old);
    let known = store.get(&Item { volume, kind: Kind::Tree, hash: old })?.and_then(|bytes| Tree::parse(&bytes));
    let before = if old == Hash::ZERO { Some(Tree::empty()) } else { known };
    let stands = right.roots.contains(&(succession.partition, old));
    let kept: BTreeSet<Hash> = before.iter().filter(|_| stands).flat_map(|before| &before.nodes).map(|node| node.hash).collect();
    let (mut pages, mut shards) = (BTreeSet::new(), BTreeMap::new());
    let mut new = BTreeSet::new();
    let mut files = 0_usize;
    for (place, node) in tree.nodes.iter().enumerate() {
        if node.sum == 0 && node.hash == Hash::ZERO {
            continue;
        }
        let item = Item { volume, kind: Kind::Page, hash: node.hash };
        let Some(bytes) = store.get(&item)? else { return Ok(Err("a page is not here")) };
        let page = Page::parse(&bytes, right.code, tree.top.depth, place).filter(|page| page.node() == Some(*node));
        let Some(page) = page else { return Ok(Err("a page is of another place")) };
        files = files.saturating_add(page.leaves.len());
        pages.insert(item);
        if kept.contains(&node.hash) {
            continue;
        }
        for leaf in page.leaves.iter() {
            let Some(shard) = leaf.shards.get(usize::from(slot)) else { return Ok(Err("a leaf has too few shards")) };
            // However many leaves name a shard, it is looked for once.
            if *shards.entry(Item { volume, kind: Kind::Shard, hash: *shard }).or_insert(leaf.shard_bytes) != leaf.shard_bytes {
                return Ok(Err("a shard is not here"));
            }
        }
        new.extend(page.leaves.iter().map(|leaf| leaf.tag));
    }
    if right.is_holder() {
        // Nobody but the owner deletes: every file of a page that is gone stands in one that is new.
        let Some(before) = before else { return Ok(Err("the root before it is not here, so it cannot be seen whether a file is deleted")) };
        let standing: BTreeSet<Hash> = tree.nodes.iter().map(|node| node.hash).collect();
        for place in before.filled() {
            let hash = before.nodes[place].hash;
            if standing.contains(&hash) {
                continue;
            }
            let bytes = store.get(&Item { volume, kind: Kind::Page, hash })?.unwrap_or_default();
            let page = Page::parse(&bytes, right.code, before.top.depth, place);
            if page.is_none_or(|page| page.leaves.iter().any(|leaf| !new.contains(&leaf.tag))) {
                return Ok(Err("only the owner deletes files"));
            }
        }
    }
    if usize::try_from(tree.top.leaves).ok() != Some(files) {
        return Ok(Err("the top counts other files"));
    }
    let items: Vec<Item> = pages.iter().chain(shards.keys()).copied().collect();
    let mut named = Vec::with_capacity(items.len());
    for (item, row) in items.iter().zip(store.rows(&items)?) {
        match row {
            Some((length, at)) if shards.get(item).is_none_or(|expected| *expected == length) => named.push(at),
            _ => return Ok(Err("a shard is not here")),
        }
    }
    Ok(Ok(named))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whoever asks for many acknowledgements of one volume keeps nobody of another waiting.
    #[tokio::test]
    async fn a_volume_has_one_turn() {
        let acks = Acks::new();
        let (one, other) = (Hash([1; 32]), Hash([2; 32]));
        let first = acks.turn(&one).await;
        let mut second = std::pin::pin!(acks.turn(&one));
        assert!(futures::poll!(&mut second).is_pending());
        let of_other = acks.turn(&other).await;
        assert_eq!(acks.turns.available_permits(), 0);
        drop(first);
        drop(second.await);
        drop(of_other);
        drop(acks.turn(&Hash([3; 32])).await);
        assert_eq!(acks.volumes.lock().expect("nothing panicked").len(), 1, "volumes are forgotten");
    }
}
