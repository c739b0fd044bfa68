//! Forgetting what no root names any more (decision 159).

use crate::store::{Item, Kind, Store};
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
    store: &'a Store,
    height: u64,
    /// Items that were named last before this height are noted again.
    before: u64,
    items: Vec<(Item, u64)>,
}

impl Notes<'_> {
    fn add(&mut self, item: Item) -> io::Result<()> {
        if let Some((length, at)) = self.store.row(&item)?
            && at <= self.before
        {
            self.items.push((item, length));
        }
        if self.items.len() == BATCH { self.write() } else { Ok(()) }
    }

    fn write(&mut self) -> io::Result<()> {
        self.store.name(&std::mem::take(&mut self.items), self.height)
    }

    /// The items that a root names, as far as they are here.
    fn add_all_of(&mut self, named: &Named) -> io::Result<()> {
        let item = |kind, hash| Item { volume: named.volume, kind, hash };
        let root = item(Kind::Tree, named.root);
        self.add(root)?;
        let Some(tree) = self.store.get(&root)?.and_then(|bytes| Tree::parse(&bytes)) else { return Ok(()) };
        for place in tree.filled() {
            let Some(node) = tree.nodes.get(place) else { continue };
            self.add(item(Kind::Page, node.hash))?;
            let page = self.store.get(&item(Kind::Page, node.hash))?;
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
pub(crate) fn sweep(store: &Store, roots: &[Named], height: u64, kept_for: u64) -> io::Result<usize> {
    let mut notes = Notes { store, height, before: height.saturating_sub(kept_for / NOTES), items: Vec::new() };
    for named in roots {
        notes.add_all_of(named)?;
    }
    notes.write()?;
    let (mut removed, mut after) = (0_usize, None);
    loop {
        let old = store.older(height.saturating_sub(kept_for), after.as_ref())?;
        let Some(last) = old.last() else { return Ok(removed) };
        after = Some(*last);
        store.remove(&old)?;
        removed = removed.saturating_add(old.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_codec::Encode as _;
    use cowboy_types::wire::Fixed;
    use cowboy_types::{Blob, List};
    use cowboy_volumes::{Leaf, Top};

    const VOLUME: Hash = Hash([1; 32]);
    const CODE: Code = Code { data: 2, parity: 1 };
    const KEPT_FOR: u64 = 800;

    /// Keeps a shard that came at a height.
    fn shard(store: &Store, content: u8, height: u64) -> Item {
        let bytes = [content; 64];
        let hash = Hash(*bao::encode::outboard(bytes).1.as_bytes());
        let mut incoming = store.begin(VOLUME, 64).expect("it begins");
        incoming.write(&bytes).expect("it is written");
        assert!(store.end(incoming, &hash, height).expect("it is kept"));
        Item { volume: VOLUME, kind: Kind::Shard, hash }
    }

    /// Keeps the page and the tree of one file with this shard, which came at a height.
    fn root(store: &Store, shard: &Item, height: u64) -> (Named, [Item; 2]) {
        let leaf = Leaf {
            tag: Fixed([5; 32]),
            write_id: Fixed([2; 16]),
            ciphertext_bytes: 100,
            shard_bytes: CODE.shard_bytes(100),
            shards: List::new(vec![shard.hash; 3]).expect("few"),
            meta: Blob::default(),
        };
        let page = Page { leaves: List::new(vec![leaf]).expect("one") };
        let node = page.node().expect("small");
        let tree = Tree { top: Top::of(0, 1, vec![node]).expect("a tree"), nodes: vec![node] };
        let item = |kind, hash| Item { volume: VOLUME, kind, hash };
        let items = [item(Kind::Page, node.hash), item(Kind::Tree, tree.top.root())];
        store.put(&items[0], &page.encode(), height).expect("it is kept");
        store.put(&items[1], &tree.to_bytes(), height).expect("it is kept");
        (Named { volume: VOLUME, code: CODE, slot: 0, root: tree.top.root(), depth: 0 }, items)
    }

    /// what no root names is forgotten when as many blocks passed since it came, or since a root named it last, and not a block before.
    #[test]
    fn what_no_root_names_is_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(folder.path()).expect("it opens");
        let (stands, orphan) = (shard(&store, 1, 10), shard(&store, 2, 10));
        let (named, of_root) = root(&store, &stands, 10);
        let has = |item: &Item| store.row(item).expect("it is read").is_some();
        let all = |items: &[&Item]| items.iter().all(|item| has(item));
        let sweep = |roots: &[Named], height| sweep(&store, roots, height, KEPT_FOR).expect("it sweeps");
        let root_items = [&stands, &of_root[0], &of_root[1]];
        assert_eq!(sweep(std::slice::from_ref(&named), 10 + KEPT_FOR), 0);
        assert!(has(&orphan) && all(&root_items));
        assert_eq!(sweep(std::slice::from_ref(&named), 11 + KEPT_FOR), 1, "the orphan");
        assert!(!has(&orphan) && all(&root_items));
        // A root that stands keeps what it names, however long.
        let mut last = 0;
        for step in 0..80 {
            last = 11 + KEPT_FOR + step * (KEPT_FOR / NOTES);
            assert_eq!(sweep(std::slice::from_ref(&named), last), 0, "at {last}");
        }
        // Then it is gone, as when its volume was deleted.
        assert_eq!(sweep(&[], last + KEPT_FOR), 0);
        assert!(all(&root_items));
        assert_eq!(sweep(&[], last + KEPT_FOR + 1), 3);
        assert_eq!(store.used(), 0);
    }
}
