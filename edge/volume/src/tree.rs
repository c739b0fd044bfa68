//! A partition's tree in a client's hands: which pages change when files do.

use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_types::List;
use cowboy_types::wire::Fixed;
use cowboy_volumes::tree::{MAX_DEPTH, PAGE_LEAVES, page_of, pages};
use cowboy_volumes::{Leaf, Node, Page, Top};
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of an encoded node.
const NODE_BYTES: usize = 40;

/// Bytes of an encoded top.
const TOP_BYTES: usize = 1 + 4 + NODE_BYTES;

/// The top of a tree and the nodes of its pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The top.
    pub top: Top,
    /// The nodes of the pages.
    pub nodes: Vec<Node>,
}

/// A change of a file: the leaf that it has from now on, or the tag of the one that goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// A new or changed file.
    Put(Leaf),
    /// A file that is removed.
    Remove(Fixed<32>),
}

/// A tree that follows another one, and the pages that are new in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The tree.
    pub tree: Tree,
    /// Its new pages, by their places.
    pub pages: BTreeMap<usize, Page>,
}

impl Change {
    fn tag(&self) -> &Fixed<32> {
        match self {
            Self::Put(leaf) => &leaf.tag,
            Self::Remove(tag) => tag,
        }
    }
}

impl Tree {
    /// The tree without files.
    pub fn empty() -> Self {
        Self { top: Top::EMPTY, nodes: vec![Node::EMPTY] }
    }

    /// The nodes of pages as they are sent.
    pub fn nodes_bytes(nodes: &[Node]) -> Vec<u8> {
        nodes.iter().flat_map(|node| node.encode().to_vec()).collect()
    }

    /// The nodes of the pages of a tree of this depth, where the bytes are those.
    pub fn parse_nodes(bytes: &[u8], depth: u8) -> Option<Vec<Node>> {
        let (nodes, rest) = bytes.as_chunks::<NODE_BYTES>();
        let nodes: Option<Vec<Node>> = nodes.iter().map(|node| Node::decode(Bytes::copy_from_slice(node)).ok()).collect();
        nodes.filter(|nodes| rest.is_empty() && nodes.len() == pages(depth))
    }

    /// The tree as it is sent and kept: the top, then the nodes of the pages.
    pub fn to_bytes(&self) -> Vec<u8> {
        [self.top.encode().to_vec(), Self::nodes_bytes(&self.nodes)].concat()
    }

    /// The tree, where the bytes are one whose top is over its pages.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let (head, rest) = bytes.split_at_checked(TOP_BYTES)?;
        let top = Top::decode(Bytes::copy_from_slice(head)).ok().filter(|top| top.depth <= MAX_DEPTH)?;
        let nodes = Self::parse_nodes(rest, top.depth)?;
        (Top::of(top.depth, top.leaves, nodes.clone())? == top).then_some(Self { top, nodes })
    }

    /// The page with a byte of all that a slot holds, and the place of the byte in it.
    pub fn page_with(&self, mut byte: u64) -> Option<(usize, u64)> {
        for (place, node) in self.nodes.iter().enumerate() {
            match byte.checked_sub(node.sum) {
                Some(rest) => byte = rest,
                None => return Some((place, byte)),
            }
        }
        None
    }

    /// The places of the pages that changes concern.
    pub fn touched(&self, changes: &[Change]) -> BTreeSet<usize> {
        changes.iter().map(|change| page_of(change.tag(), self.top.depth)).collect()
    }

    /// The places of all pages with files.
    pub fn filled(&self) -> BTreeSet<usize> {
        self.nodes.iter().enumerate().filter(|(_, node)| **node != Node::EMPTY).map(|(place, _)| place).collect()
    }

    /// Whether changes may overfill one of these pages, so that all pages are needed to make a deeper tree.
    pub fn overflows(&self, loaded: &BTreeMap<usize, Page>, changes: &[Change]) -> bool {
        let mut counts: BTreeMap<usize, BTreeSet<Fixed<32>>> = BTreeMap::new();
        for (place, page) in loaded {
            counts.insert(*place, page.leaves.iter().map(|leaf| leaf.tag).collect());
        }
        for change in changes {
            let tags = counts.entry(page_of(change.tag(), self.top.depth)).or_default();
            match change {
                Change::Put(leaf) => tags.insert(leaf.tag),
                Change::Remove(tag) => tags.remove(tag),
            };
        }
        counts.values().any(|tags| tags.len() > PAGE_LEAVES)
    }

    /// The tree after changes, out of the pages that they concern: of all pages, where one of them overflows. None where a partition cannot have as
    /// many files.
    pub fn changed(&self, loaded: &BTreeMap<usize, Page>, changes: &[Change]) -> Option<Draft> {
        let mut leaves: BTreeMap<Fixed<32>, Leaf> = BTreeMap::new();
        let before: usize = loaded.values().map(|page| page.leaves.len()).sum();
        leaves.extend(loaded.values().flat_map(|page| page.leaves.iter().map(|leaf| (leaf.tag, leaf.clone()))));
        for change in changes {
            match change {
                Change::Put(leaf) => drop(leaves.insert(leaf.tag, leaf.clone())),
                Change::Remove(tag) => drop(leaves.remove(tag)),
            }
        }
        let count = usize::try_from(self.top.leaves).ok()?.checked_add(leaves.len())?.checked_sub(before)?;
        let (mut depth, grows) = (self.top.depth, self.overflows(loaded, changes));
        let parts = |depth: u8| -> BTreeMap<usize, Vec<Leaf>> {
            let mut parts: BTreeMap<usize, Vec<Leaf>> = BTreeMap::new();
            for leaf in leaves.values() {
                parts.entry(page_of(&leaf.tag, depth)).or_default().push(leaf.clone());
            }
            parts
        };
        if grows {
            while parts(depth).values().any(|part| part.len() > PAGE_LEAVES) {
                depth = depth.checked_add(1).filter(|depth| *depth <= MAX_DEPTH)?;
            }
        }
        let mut nodes = if grows { vec![Node::EMPTY; pages(depth)] } else { self.nodes.clone() };
        let mut parts = parts(depth);
        let places: BTreeSet<usize> =
            if grows { parts.keys().copied().collect() } else { loaded.keys().copied().chain(parts.keys().copied()).collect() };
        let mut changed = BTreeMap::new();
        for place in places {
            let page = Page { leaves: List::new(parts.remove(&place).unwrap_or_default())? };
            let node = page.node()?;
            let slot = nodes.get_mut(place)?;
            if *slot != node {
                *slot = node;
                if node != Node::EMPTY {
                    changed.insert(place, page);
                }
            }
        }
        let top = Top::of(depth, u32::try_from(count).ok()?, nodes.clone())?;
        Some(Draft { tree: Self { top, nodes }, pages: changed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::{Blob, Hash};
    use cowboy_volumes::Code;

    fn leaf(number: u32, length: u64) -> Leaf {
        let code = Code { data: 2, parity: 1 };
        Leaf {
            tag: Fixed(blake3::hash(&number.to_be_bytes()).into()),
            write_id: Fixed([0; 16]),
            ciphertext_bytes: length,
            shard_bytes: code.shard_bytes(length),
            shards: List::new(vec![Hash([1; 32]); 3]).expect("few"),
            meta: Blob::default(),
        }
    }

    /// The same files make the same tree, in whatever steps they came, and a step uploads the pages that it changed.
    #[test]
    fn a_tree_follows_from_its_files() {
        let (mut tree, mut all): (Tree, BTreeMap<usize, Page>) = (Tree::empty(), BTreeMap::new());
        let step = |tree: &Tree, all: &BTreeMap<usize, Page>, changes: &[Change]| {
            let touched = tree.touched(changes);
            let some: BTreeMap<usize, Page> =
                touched.iter().map(|place| (*place, all.get(place).cloned().unwrap_or(Page { leaves: List::default() }))).collect();
            let loaded = if tree.overflows(&some, changes) { all.clone() } else { some };
            tree.changed(&loaded, changes).expect("few files")
        };
        for batch in 0..10_u32 {
            let changes: Vec<Change> =
                (batch * 100..batch * 100 + 100).map(|number| Change::Put(leaf(number, u64::from(number)))).collect();
            let draft = step(&tree, &all, &changes);
            if draft.tree.top.depth != tree.top.depth {
                all.clear();
            }
            all.extend(draft.pages.clone());
            tree = draft.tree;
            assert_eq!(tree.top.leaves, batch * 100 + 100);
        }
        assert!(tree.top.depth >= 2, "1,000 files do not fit two pages");
        let at_once: Vec<Change> = (0..1_000).map(|number| Change::Put(leaf(number, u64::from(number)))).collect();
        let whole = Tree::empty().changed(&BTreeMap::new(), &at_once).expect("few files");
        assert!(whole.tree.top.depth <= tree.top.depth);

        // A file that is changed and put back, or added and removed, leaves the tree as it was.
        for changes in [vec![Change::Put(leaf(5, 9_999))], vec![Change::Put(leaf(5_000, 1))]] {
            let draft = step(&tree, &all, &changes);
            assert_eq!(draft.pages.len(), 1, "one page is new");
            let mut after = all.clone();
            after.extend(draft.pages.clone());
            let back = [match &changes[0] {
                Change::Put(leaf) if leaf.ciphertext_bytes == 1 => Change::Remove(leaf.tag),
                _ => Change::Put(leaf(5, 5)),
            }];
            assert_eq!(step(&draft.tree, &after, &back).tree, tree);
        }
        assert_eq!(Tree::parse(&tree.to_bytes()), Some(tree.clone()));
        let mut changed = tree.to_bytes();
        changed[60] ^= 1;
        assert_eq!(Tree::parse(&changed), None, "the top is over other pages");
        assert_eq!(tree.page_with(tree.top.node.sum), None);
        let everything: Vec<Change> = (0..1_000).map(|number| Change::Remove(leaf(number, 0).tag)).collect();
        let empty = step(&tree, &all, &everything).tree;
        assert_eq!((empty.top.leaves, empty.top.node), (0, Node::EMPTY));
    }
}
