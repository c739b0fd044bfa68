//! Forgetting what no root names any more (decision 159).

use crate::app::App;
use crate::store::{Item, Kind};
use cowboy_types::Hash;
use cowboy_volume::Tree;
use cowboy_volumes::{Code, Page};
use std::io;

/// How often an item that roots name is written down as such, in the time after which it would be forgotten.
const NOTES: u64 = 8;

/// Items that are noted at once.
const BATCH: usize = 1_024;

/// A root that names items of a volume.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) volume: Hash,
    pub(crate) code: Code,
    pub(crate) slot: usize,
    pub(crate) root: Hash,
    pub(crate) depth: u8,
}

/// Notes in batches which items are named.
struct Notes<'a> {
    app: &'a App,
    height: u64,
    /// Items that were named last before this height are noted again.
    before: u64,
    items: Vec<(Item, u64)>,
}

impl Notes<'_> {
    fn add(&mut self, item: Item) -> io::Result<()> {
        if let Some((length, at)) = self.app.store.row(&item)?
            && at <= self.before
        {
            self.items.push((item, length));
        }
        if self.items.len() == BATCH { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.app.store.name(&std::mem::take(&mut self.items), self.height)
    }

    /// The items that a root names, as far as they are here.
    fn add_all_of(&mut self, named: &Named) -> io::Result<()> {
        let item = |kind, hash| Item { volume: named.volume, kind, hash };
        let root = item(Kind::Tree, named.root);
        self.add(root)?;
        let Some(tree) = self.app.store.get(&root)?.and_then(|bytes| Tree::parse(&bytes)) else { return Ok(()) };
        for place in tree.filled() {
            let Some(node) = tree.nodes.get(place) else { continue };
            self.add(item(Kind::Page, node.hash))?;
            let page = self.app.store.get(&item(Kind::Page, node.hash))?;
            let page = page.and_then(|bytes| Page::parse(&bytes, named.code, named.depth, place));
            let leaves = page.map(|page| page.leaves.into_vec()).unwrap_or_default();
            for shard in leaves.iter().filter_map(|leaf| leaf.shards.get(named.slot)) {
                self.add(item(Kind::Shard, *shard))?;
            }
        }
        Ok(())
    }
}

/// Notes what these roots name, and removes what none named for `kept_for` blocks. However much there is, a few pages of it are in memory at once.
pub(crate) fn sweep(app: &App, roots: &[Named], height: u64, kept_for: u64) -> io::Result<usize> {
    let mut notes = Notes { app, height, before: height.saturating_sub(kept_for / NOTES), items: Vec::new() };
    for named in roots {
        notes.add_all_of(named)?;
    }
    notes.write()?;
    let (mut removed, mut after) = (0_usize, None);
    loop {
        let old = app.store.older(height.saturating_sub(kept_for), after.as_ref())?;
        let Some(last) = old.last() else { return Ok(removed) };
        after = Some(*last);
        app.store.remove(&old)?;
        removed = removed.saturating_add(old.len());
    }
}
