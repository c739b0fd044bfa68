//! Forgetting what no root names any more (decision 159).

use crate::app::App;
use crate::store::{Item, Kind};
use cowboy_types::Hash;
use cowboy_volume::Tree;
use cowboy_volumes::{Code, Page};
use std::collections::BTreeMap;
use std::io;

/// How often an item that roots name is written down as such, in the time after which it would be forgotten.
const NOTES: u64 = 8;

/// A root that names items of a volume.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) volume: Hash,
    pub(crate) code: Code,
    pub(crate) slot: usize,
    pub(crate) root: Hash,
    pub(crate) depth: u8,
}

/// The items that a root names, as far as they are here.
fn items_of(app: &App, named: &Named) -> io::Result<Vec<Item>> {
    let item = |kind, hash| Item { volume: named.volume, kind, hash };
    let mut items = vec![item(Kind::Tree, named.root)];
    let Some(tree) = app.store.get(&items[0])?.and_then(|bytes| Tree::parse(&bytes)) else { return Ok(Vec::new()) };
    for place in tree.filled() {
        let Some(node) = tree.nodes.get(place) else { continue };
        items.push(item(Kind::Page, node.hash));
        let page = app.store.get(&item(Kind::Page, node.hash))?;
        let page = page.and_then(|bytes| Page::parse(&bytes, named.code, named.depth, place));
        let leaves = page.map(|page| page.leaves.into_vec()).unwrap_or_default();
        items.extend(leaves.iter().filter_map(|leaf| leaf.shards.get(named.slot)).map(|shard| item(Kind::Shard, *shard)));
    }
    Ok(items)
}

/// Notes what these roots name, and removes what none named for `kept_for` blocks.
pub(crate) fn sweep(app: &App, roots: &[Named], height: u64, kept_for: u64) -> io::Result<usize> {
    let known: BTreeMap<Item, (u64, u64)> = app.store.items()?.into_iter().map(|(item, length, at)| (item, (length, at))).collect();
    let mut notes = BTreeMap::new();
    for named in roots {
        for item in items_of(app, named)? {
            if let Some((length, at)) = known.get(&item)
                && at.saturating_add(kept_for / NOTES) <= height
            {
                notes.insert(item, *length);
            }
        }
    }
    let old = known.iter().filter(|(item, (_, at))| at.saturating_add(kept_for) < height && !notes.contains_key(item));
    let old: Vec<Item> = old.map(|(item, _)| *item).collect();
    app.store.name(&notes.into_iter().collect::<Vec<_>>(), height)?;
    app.store.remove(&old)?;
    Ok(old.len())
}
