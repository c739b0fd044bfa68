//! The keccak tree over transactions and receipts (decision 120).
//!
//! leaf_i = H(be32(i) ‖ digest_i); a level's odd last node is paired with itself;
//! root = H(be32(n) ‖ tree root), where the empty tree's root is H("").
//! It is the binary Merkle tree of commonware-storage; `edge/store` tests the two against each other.

use crate::hash::{Hash, keccak256};

fn leaf(index: u32, digest: &Hash) -> Hash {
    keccak256(&[&index.to_be_bytes(), &digest.0])
}

fn node(left: &Hash, right: &Hash) -> Hash {
    keccak256(&[&left.0, &right.0])
}

fn finish(count: u32, tree: &Hash) -> Hash {
    keccak256(&[&count.to_be_bytes(), &tree.0])
}

fn be32(number: usize) -> u32 {
    u32::try_from(number).expect("a block's lists are shorter than 2^32")
}

fn above(level: &[Hash]) -> Vec<Hash> {
    level.chunks(2).filter_map(|pair| Some(node(pair.first()?, pair.last()?))).collect()
}

/// The root of the tree over these digests.
pub fn root(digests: &[Hash]) -> Hash {
    let mut level: Vec<Hash> = digests.iter().enumerate().map(|(i, digest)| leaf(be32(i), digest)).collect();
    while level.len() > 1 {
        level = above(&level);
    }
    let tree = level.first().copied().unwrap_or_else(|| keccak256(&[]));
    finish(be32(digests.len()), &tree)
}

crate::record! {
    /// A proof that a digest stands at a place of the tree: the place, the tree's size, and one sibling a level.
    pub struct Inclusion {
        /// The digest's place, from 0.
        pub index: crate::units::Count,
        /// How many digests the tree has.
        pub count: crate::units::Count,
        /// The node beside the path on each level, from the leaves up. An odd last node has none.
        pub siblings: crate::wire::List<Hash, 32>,
    }
}

/// The proof for the digest at `index`, or `None` where the list is shorter.
pub fn prove(digests: &[Hash], index: usize) -> Option<Inclusion> {
    if index >= digests.len() {
        return None;
    }
    let mut level: Vec<Hash> = digests.iter().enumerate().map(|(i, digest)| leaf(be32(i), digest)).collect();
    let mut siblings = Vec::new();
    let mut place = index;
    while level.len() > 1 {
        if let Some(sibling) = level.get(place ^ 1) {
            siblings.push(*sibling);
        }
        level = above(&level);
        place /= 2;
    }
    Some(Inclusion {
        index: crate::units::Count(u64::from(be32(index))),
        count: crate::units::Count(u64::from(be32(digests.len()))),
        siblings: crate::wire::List::new(siblings)?,
    })
}

impl Inclusion {
    /// Whether the digest stands where the proof says, in the tree of this root.
    pub fn verify(&self, digest: &Hash, root: &Hash) -> bool {
        let (Ok(index), Ok(count)) = (u32::try_from(self.index.0), u32::try_from(self.count.0)) else { return false };
        if index >= count {
            return false;
        }
        let mut current = leaf(index, digest);
        let (mut place, mut width) = (index, count);
        let mut siblings = self.siblings.iter();
        while width > 1 {
            let is_odd_last = place % 2 == 0 && place == width.saturating_sub(1);
            current = match (is_odd_last, place % 2) {
                (true, _) => node(&current, &current),
                (false, side) => match (siblings.next(), side) {
                    (Some(sibling), 0) => node(&current, sibling),
                    (Some(sibling), _) => node(sibling, &current),
                    (None, _) => return false,
                },
            };
            place /= 2;
            width = width.div_ceil(2);
        }
        siblings.next().is_none() && finish(count, &current) == *root
    }
}
