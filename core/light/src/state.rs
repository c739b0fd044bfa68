//! That a record has a value, or none, in the state of a root.
//!
//! The state is a log of operations under a merkle mountain range. An update names its key, its value, and the
//! next key there is, so one update proves a value, and also that no key lies between the two. A bitmap says
//! which operations are still in force; every 256 operations, 32 bytes of it are hashed into the tree.
//!
//! root = H(root of the log ‖ root of the tree with the bitmap \[‖ bits in the last chunk ‖ H(last chunk)\]),
//! H being BLAKE3. The last chunk is there where it is not full.

use bytes::Bytes;
use commonware_codec::{Buf, Decode, Encode as _, Error, Read, ReadExt as _, varint::UInt};
use cowboy_types::{Hash, blake3};

/// Bytes of bitmap that are hashed into the tree together.
const CHUNK_BYTES: usize = 32;

/// Operations that a chunk covers.
const CHUNK_BITS: u64 = 256;

/// The height of the subtrees that chunks are hashed into: 2^8 operations.
const CHUNK_HEIGHT: u32 = 8;

/// The most operations that a log can have.
const MAX_LEAVES: u64 = 1 << 62;

/// The most digests that a proof can need: a path, and the peaks.
const MAX_DIGESTS: usize = 192;

/// The largest record in a proof of absence.
const MAX_VALUE_BYTES: usize = 4 * 1024 * 1024;

/// What stands before an update in the log.
const UPDATE: u8 = 0xD2;

/// What stands before a commit in the log.
const COMMIT: u8 = 0xD3;

/// What begins the root: a mountain range, whose peaks are folded from the newest on.
const DOMAIN: [u8; 2] = [0, 1];

/// Whether the proof shows that `key` has `value` in the state of `root`.
///
/// Any other bytes than one proof are no proof.
pub fn proves_value(root: &Hash, key: &[u8; 32], value: &[u8], proof: &[u8]) -> bool {
    let mut bytes = Bytes::copy_from_slice(proof);
    let parts = Operation::read(&mut bytes).and_then(|operation| Ok((operation, <[u8; 32]>::read(&mut bytes)?)));
    let Ok((operation, next)) = parts else { return false };
    bytes.is_empty() && operation.proves(root, &update(key, value, &next))
}

/// Whether the proof shows that `key` has no value in the state of `root`.
pub fn proves_absence(root: &Hash, key: &[u8; 32], proof: &[u8]) -> bool {
    match Absence::decode(Bytes::copy_from_slice(proof)) {
        Ok(Absence::Between { operation, key: before, value, next }) => {
            is_between(&before, key, &next) && operation.proves(root, &update(&before, &value, &next))
        }
        // A state without keys: its newest operation is a commit that says that nothing before it is in force.
        Ok(Absence::Nothing { operation, metadata }) => {
            let mut commit = vec![COMMIT];
            commit.extend(metadata.encode());
            commit.extend(UInt(operation.place).encode());
            operation.proves(root, &commit)
        }
        Err(_) => false,
    }
}

fn update(key: &[u8; 32], value: &[u8], next: &[u8; 32]) -> Vec<u8> {
    let mut bytes = vec![UPDATE];
    bytes.extend(key);
    bytes.extend(Bytes::copy_from_slice(value).encode());
    bytes.extend(next);
    bytes
}

/// Whether `key` lies after `before` and before `next`, where after the last key comes the first.
fn is_between(before: &[u8; 32], key: &[u8; 32], next: &[u8; 32]) -> bool {
    let is_last = before >= next;
    if is_last { key > before || key < next } else { before < key && key < next }
}

enum Absence {
    Between { operation: Operation, key: [u8; 32], value: Bytes, next: [u8; 32] },
    Nothing { operation: Operation, metadata: Option<Bytes> },
}

impl Read for Absence {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        match u8::read(buf)? {
            0 => Ok(Self::Between {
                operation: Operation::read(buf)?,
                key: <[u8; 32]>::read(buf)?,
                value: Bytes::read_cfg(buf, &(0..=MAX_VALUE_BYTES).into())?,
                next: <[u8; 32]>::read(buf)?,
            }),
            1 => Ok(Self::Nothing {
                operation: Operation::read(buf)?,
                metadata: Option::<Bytes>::read_cfg(buf, &(0..=MAX_VALUE_BYTES).into())?,
            }),
            other => Err(Error::InvalidEnum(other)),
        }
    }
}

impl Absence {
    fn decode(bytes: Bytes) -> Result<Self, Error> {
        Self::decode_cfg(bytes, &())
    }
}

/// The proof that an operation stands at a place of the log and is in force.
struct Operation {
    place: u64,
    chunk: [u8; CHUNK_BYTES],
    /// How many operations the log has.
    leaves: u64,
    /// How many of the oldest peaks hold nothing that is in force.
    inactive_peaks: u64,
    digests: Vec<Hash>,
    last_chunk: Option<Hash>,
    log_root: Hash,
}

impl Read for Operation {
    type Cfg = ();
    fn read_cfg(buf: &mut impl Buf, (): &()) -> Result<Self, Error> {
        let place = UInt::<u64>::read(buf)?.0;
        let chunk = <[u8; CHUNK_BYTES]>::read(buf)?;
        let leaves = UInt::<u64>::read(buf)?.0;
        if place >= leaves || leaves > MAX_LEAVES {
            return Err(Error::Invalid("state proof", "the place is not in the log"));
        }
        Ok(Self {
            place,
            chunk,
            leaves,
            inactive_peaks: UInt::<u64>::read(buf)?.0,
            digests: Vec::<Hash>::read_cfg(buf, &((0..=MAX_DIGESTS).into(), ()))?,
            last_chunk: Option::<Hash>::read(buf)?,
            log_root: Hash::read(buf)?,
        })
    }
}

/// A perfect tree over operations.
#[derive(Clone, Copy)]
struct Subtree {
    /// The position of its root among all nodes, in the order in which they are added.
    position: u64,
    height: u32,
    first: u64,
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "a log has at most MAX_LEAVES operations, and only a tree that is higher than a leaf has children"
)]
impl Subtree {
    /// The trees of the range over this many operations, the oldest and highest first.
    fn peaks(leaves: u64) -> Vec<Self> {
        let mut peaks = Vec::new();
        let mut first = 0;
        for height in (0..62).rev().filter(|height| leaves >> height & 1 == 1) {
            peaks.push(Self { position: root_position(first, height), height, first });
            first += 1 << height;
        }
        peaks
    }

    fn contains(&self, place: u64) -> bool {
        (self.first..self.first + (1 << self.height)).contains(&place)
    }

    fn children(&self) -> (Self, Self) {
        let height = self.height - 1;
        let middle = self.first + (1 << height);
        let left = Self { position: self.position - (1 << self.height), height, first: self.first };
        (left, Self { position: self.position - 1, height, first: middle })
    }
}

/// Where the root of the tree of this height stands whose first operation has this place.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a log has at most MAX_LEAVES operations, so that positions have 63 bits; a number has no more ones than twice itself"
)]
fn root_position(first: u64, height: u32) -> u64 {
    // A leaf stands after twice as many nodes as there are leaves before it, less those that are yet to be joined.
    2 * first - u64::from(first.count_ones()) + (1 << (height + 1)) - 2
}

fn node(position: u64, left: &Hash, right: &Hash) -> Hash {
    blake3(&[&position.to_be_bytes(), &left.0, &right.0])
}

fn fold(one: &Hash, other: &Hash) -> Hash {
    blake3(&[&one.0, &other.0])
}

impl Operation {
    fn proves(&self, root: &Hash, operation: &[u8]) -> bool {
        self.is_in_force() && self.is_last_chunk_sound() && self.root(operation) == Some(*root)
    }

    fn is_in_force(&self) -> bool {
        let bit = self.place % CHUNK_BITS;
        let byte = usize::try_from(bit / 8).expect("a chunk is small");
        self.chunk.get(byte).is_some_and(|bits| bits >> (bit % 8) & 1 == 1)
    }

    /// A chunk that is not full is in no subtree, so where the operation is in it, the proof carries its digest.
    fn is_last_chunk_sound(&self) -> bool {
        let is_partial = !self.leaves.is_multiple_of(CHUNK_BITS);
        let is_in_last = self.place / CHUNK_BITS == self.leaves / CHUNK_BITS;
        match self.last_chunk {
            Some(digest) => is_partial && (!is_in_last || digest == blake3(&[&self.chunk])),
            None => !is_partial,
        }
    }

    fn root(&self, operation: &[u8]) -> Option<Hash> {
        let tree = self.tree_root(operation)?;
        let bits = (self.leaves % CHUNK_BITS).to_be_bytes();
        Some(match &self.last_chunk {
            Some(last) => blake3(&[&self.log_root.0, &tree.0, &bits, &last.0]),
            None => blake3(&[&self.log_root.0, &tree.0]),
        })
    }

    /// The root of the tree with the bitmap, from the operation and the digests beside its path.
    ///
    /// The digests are: the inactive peaks before the operation's, folded; the active ones before it; the inactive
    /// ones after it; the active ones after it, folded; the nodes beside the path, from the left.
    #[expect(clippy::arithmetic_side_effects, reason = "these numbers count among at most 62 peaks, of which one is the operation's")]
    fn tree_root(&self, operation: &[u8]) -> Option<Hash> {
        let peaks = Subtree::peaks(self.leaves);
        let (own, peak) = peaks.iter().enumerate().find(|(_, peak)| peak.contains(self.place))?;
        let inactive = usize::try_from(self.inactive_peaks).ok().filter(|inactive| *inactive <= peaks.len())?;
        let folded_before = inactive.min(own);
        let after = peaks.len() - own - 1;
        let listed_after = inactive.saturating_sub(own + 1).min(after);

        let mut digests = self.digests.iter().copied();
        let mut roots: Vec<Hash> = Vec::new();
        let before = usize::from(folded_before > 0) + own - folded_before;
        roots.extend(digests.by_ref().take(before));
        let mut behind: Vec<Hash> = digests.by_ref().take(listed_after).collect();
        behind.extend(digests.by_ref().take(usize::from(after > listed_after)));
        let path = self.climb(*peak, operation, &mut digests)?;
        roots.push(path);
        roots.extend(behind);
        if digests.next().is_some() || roots.len() != before + 1 + listed_after + usize::from(after > listed_after) {
            return None;
        }
        let still_inactive = if folded_before > 0 { inactive - folded_before + 1 } else { inactive };
        Some(self.bag(&roots, still_inactive, inactive))
    }

    /// The digest of a subtree that holds the operation.
    fn climb(&self, subtree: Subtree, operation: &[u8], beside: &mut impl Iterator<Item = Hash>) -> Option<Hash> {
        if !subtree.contains(self.place) {
            return beside.next();
        }
        if subtree.height == 0 {
            return Some(blake3(&[&subtree.position.to_be_bytes(), operation]));
        }
        let (left, right) = subtree.children();
        let left = self.climb(left, operation, beside)?;
        let right = self.climb(right, operation, beside)?;
        let digest = node(subtree.position, &left, &right);
        // A full chunk without a bit leaves its subtree's digest as it is; the operation's own has one.
        Some(if subtree.height == CHUNK_HEIGHT { blake3(&[&self.chunk, &digest.0]) } else { digest })
    }

    /// Folds the peaks: the inactive ones from the oldest on, the others from the newest on, and the two together.
    fn bag(&self, peaks: &[Hash], inactive: usize, committed: usize) -> Hash {
        let split = inactive.max(1).min(peaks.len());
        let (old, new) = peaks.split_at(split);
        let old = old.iter().copied().reduce(|folded, peak| fold(&folded, &peak)).expect("a log with an operation has a peak");
        let new = new.iter().rev().copied().reduce(|folded, peak| fold(&peak, &folded));
        let all = new.map_or(old, |new| fold(&old, &new));
        let leaves = self.leaves.to_be_bytes();
        let inactive = u64::try_from(committed).expect("there are at most 62 peaks").to_be_bytes();
        if committed == 0 { blake3(&[&DOMAIN, &leaves, &all.0]) } else { blake3(&[&DOMAIN, &leaves, &inactive, &all.0]) }
    }
}
