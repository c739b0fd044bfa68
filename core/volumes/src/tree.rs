//! The tree of a partition: leaves sorted by their tags, in pages by bits of the tag, with the sum of bytes in every node (decision 152).
//!
//! The sums are of what each file counts in a slot: the bytes of a shard, and at least [`leaf::FILE_BYTES`]. So a root alone says how much a slot holds,
//! and which leaf has a given byte of it.

use crate::code::Code;
use crate::leaf::{self, Leaf};
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_types::wire::Fixed;
use cowboy_types::{Hash, List, record};

/// The most leaves of a page.
pub const PAGE_LEAVES: usize = 256;

/// The most bits of a tag that choose a page: 4,096 pages.
pub const MAX_DEPTH: u8 = 12;

/// The longest path from a leaf to the root: a page's 8 levels, then one for each bit of the depth.
pub const MAX_STEPS: usize = 20;

/// The most bytes of an encoded page.
pub const PAGE_BYTES: usize = 640 * 1_024;

record! {
    /// A node of the tree.
    #[derive(Copy)]
    pub struct Node {
        /// Its hash: of a leaf, BLAKE3(0x00 ‖ bytes); of two nodes, BLAKE3(0x01 ‖ left ‖ its sum ‖ right ‖ its sum); zeros where nothing is below.
        pub hash: Hash,
        /// What the files below count in a slot.
        pub sum: u64,
    }
}

record! {
    /// The top of a partition's tree. Its hash is the partition's root.
    #[derive(Copy)]
    pub struct Top {
        /// Bits of a tag that choose a page.
        pub depth: u8,
        /// Files.
        pub leaves: u32,
        /// The node above all.
        pub node: Node,
    }
}

record! {
    /// The leaves of a page, ascending by their tags.
    pub struct Page {
        /// The leaves.
        pub leaves: List<Leaf, PAGE_LEAVES>,
    }
}

record! {
    /// A step from a node to the one above it.
    #[derive(Copy)]
    pub struct Turn {
        /// Whether the other node stands left.
        pub is_left: bool,
        /// The other node.
        pub other: Node,
    }
}

record! {
    /// The way from a leaf up to the root.
    pub struct Route {
        /// The steps, from the leaf up.
        pub turns: List<Turn, MAX_STEPS>,
    }
}

impl Node {
    /// Where nothing is below.
    pub const EMPTY: Self = Self { hash: Hash::ZERO, sum: 0 };

    /// The node of a leaf.
    pub fn of(leaf: &Leaf) -> Self {
        Self { hash: leaf.hash(), sum: leaf.counted() }
    }

    /// The node above two; none where the sum overflows.
    pub fn join(left: &Self, right: &Self) -> Option<Self> {
        let sum = left.sum.checked_add(right.sum)?;
        if *left == Self::EMPTY && *right == Self::EMPTY {
            return Some(Self::EMPTY);
        }
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[1]);
        for node in [left, right] {
            hasher.update(&node.hash.0).update(&node.sum.to_be_bytes());
        }
        Some(Self { hash: Hash(*hasher.finalize().as_bytes()), sum })
    }
}

/// The levels of a tree over these nodes, padded with [`Node::EMPTY`] to a power of two: the nodes first, the top last. None where the sum
/// overflows.
fn levels(nodes: Vec<Node>) -> Option<Vec<Vec<Node>>> {
    let mut level = nodes;
    level.resize(level.len().max(1).next_power_of_two(), Node::EMPTY);
    let mut levels = vec![level];
    while let Some(last) = levels.last().filter(|last| last.len() > 1) {
        let above: Option<Vec<Node>> = last.as_chunks::<2>().0.iter().map(|[left, right]| Node::join(left, right)).collect();
        levels.push(above?);
    }
    Some(levels)
}

/// The node above all of these; none where the sum overflows.
pub fn top_of(nodes: Vec<Node>) -> Option<Node> {
    levels(nodes)?.last()?.first().copied()
}

/// The way from the node at a place up to the top.
fn route(nodes: Vec<Node>, mut place: usize) -> Option<Vec<Turn>> {
    let levels = levels(nodes)?;
    let (_, below) = levels.split_last()?;
    let mut turns = Vec::new();
    for level in below {
        let other = *level.get(place ^ 1)?;
        turns.push(Turn { is_left: place & 1 == 1, other });
        place >>= 1;
    }
    Some(turns)
}

/// The page to which a tag belongs: by the first bits of its second half, so that a directory may have as many files as a partition.
pub fn page_of(tag: &Fixed<32>, depth: u8) -> usize {
    let first = tag.0.last_chunk::<16>().and_then(|name| name.first_chunk::<2>()).map_or(0, |bytes| u16::from_be_bytes(*bytes));
    usize::from(first.checked_shr(16_u32.saturating_sub(u32::from(depth))).unwrap_or(0))
}

/// The pages of a tree of this depth.
pub fn pages(depth: u8) -> usize {
    1_usize.checked_shl(u32::from(depth)).unwrap_or(usize::MAX)
}

impl Page {
    /// The page of these bytes, or none where they are not page `place` of a tree of this depth in a volume with this code.
    pub fn parse(bytes: &[u8], code: Code, depth: u8, place: usize) -> Option<Self> {
        let page = Self::decode(bytes::Bytes::copy_from_slice(bytes)).ok()?;
        let is_sorted = page.leaves.is_sorted_by(|one, next| one.tag < next.tag);
        let belongs = page.leaves.iter().all(|leaf| leaf.is_of(code) && page_of(&leaf.tag, depth) == place);
        (is_sorted && belongs).then_some(page)
    }

    /// Its node; none where the sum overflows.
    pub fn node(&self) -> Option<Node> {
        top_of(self.leaves.iter().map(Node::of).collect())
    }

    /// The place of the leaf with a byte of the page, and the place of the byte in it: the byte stands at `at` among all that the page's files count. It
    /// is one of the leaf itself where the shard is shorter.
    pub fn find(&self, mut at: u64) -> Option<(usize, u64)> {
        for (place, leaf) in self.leaves.iter().enumerate() {
            match at.checked_sub(leaf.counted()) {
                Some(rest) => at = rest,
                None => return Some((place, at)),
            }
        }
        None
    }
}

impl Top {
    /// The top of a partition without files.
    pub const EMPTY: Self = Self { depth: 0, leaves: 0, node: Node::EMPTY };

    /// The top over the nodes of all pages; none where they are not 2^depth, or a sum overflows.
    pub fn of(depth: u8, leaves: u32, pages: Vec<Node>) -> Option<Self> {
        let is_whole = depth <= MAX_DEPTH && pages.len() == self::pages(depth);
        is_whole.then(|| top_of(pages)).flatten().map(|node| Self { depth, leaves, node })
    }

    /// The partition's root: BLAKE3(0x02 ‖ bytes).
    pub fn root(&self) -> Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&[2]).update(&self.encode());
        Hash(*hasher.finalize().as_bytes())
    }
}

impl Route {
    /// The way from a leaf of a page to the top of the tree, whose pages have these nodes.
    pub fn new(page: &Page, leaf: usize, pages: &[Node], place: usize) -> Option<Self> {
        let mut turns = route(page.leaves.iter().map(Node::of).collect(), leaf)?;
        turns.extend(route(pages.to_vec(), place)?);
        List::new(turns).map(|turns| Self { turns })
    }

    /// Where the bytes of a leaf begin among all bytes under a node, if the way leads from the leaf to it. None where it leads elsewhere.
    pub fn start(&self, leaf: &[u8], sum: u64, top: &Node) -> Option<u64> {
        let mut node = Node { hash: leaf::hash(leaf), sum };
        let mut start = 0_u64;
        for Turn { is_left, other } in self.turns.iter() {
            node = if *is_left {
                start = start.checked_add(other.sum)?;
                Node::join(other, &node)?
            } else {
                Node::join(&node, other)?
            };
        }
        (node == *top).then_some(start)
    }
}
