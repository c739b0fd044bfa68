//! What validators say to each other about the bodies of blocks.

use commonware_codec::{Encode as _, EncodeSize as _, FixedSize as _};
use cowboy_types::{
    Block, Hash, Transaction, blake3,
    block::{Header, MAX_BLOCK_BODY_BYTES, MAX_BLOCK_TRANSACTIONS, MAX_RESHARE_BYTES},
    instruction::MAX_TRANSACTION_BYTES,
    wire::{Blob, Fixed, List},
};

/// The first byte of a message: a block with its transactions.
pub(super) const WHOLE: u8 = 0;

/// One without.
pub(super) const COMPACT: u8 = 1;

/// A question for transactions.
pub(super) const REQUEST: u8 = 2;

/// The transactions.
pub(super) const ANSWER: u8 = 3;

/// The most bytes of the transactions in one answer in a large set: any transaction that a block may have fits.
pub(super) const PART_BYTES: usize = MAX_TRANSACTION_BYTES;

/// The most bytes of an answer in any set: its kind, the block, how many transactions follow, and these.
pub(super) const MAX_ANSWER_BYTES: usize = 1 + Hash::SIZE + 8 + MAX_BLOCK_BODY_BYTES;

/// Signers of a set so small that an answer has room for a whole body.
const FEW: usize = 4;

/// The most bytes of the transactions in one answer in a set of this many signers. A peer sends one answer at a time, and what a leader sends to all others at once
/// has as many bytes as the largest body has, or more in a large set. Very few have next to nothing for each other: a body comes at once there.
pub(super) fn part_of(signers: usize) -> usize {
    let others = if signers <= FEW { 1 } else { signers - 1 };
    PART_BYTES.max(MAX_BLOCK_BODY_BYTES / others)
}

/// Stands for a signed transaction: eight bytes of its hash, by which a mempool finds it, and eight of a hash that covers the signatures, too. Two signed
/// transactions with one id are as hard to find as two with one hash of 128 bits, so no two nodes can be given different ones.
pub(super) type Id = Fixed<16>;

/// The id of a transaction with this hash.
pub(super) fn id_of(transaction: &Transaction, digest: &Hash) -> Id {
    let mut id = [0; 16];
    id[..8].copy_from_slice(&digest.0[..8]);
    id[8..].copy_from_slice(&blake3(&[&transaction.encode()]).0[..8]);
    Fixed(id)
}

/// The beginning of the hash of the transaction that an id stands for.
pub(super) fn prefix_of(id: &Id) -> [u8; 8] {
    *id.0.first_chunk().expect("an id has sixteen bytes")
}

cowboy_types::record! {
    /// A block without its transactions.
    pub struct Compact {
        /// The header.
        pub header: Header,
        /// The transactions, in their order.
        pub ids: List<Fixed<16>, MAX_BLOCK_TRANSACTIONS>,
        /// What else is in the body.
        pub reshare: Option<Blob<MAX_RESHARE_BYTES>>,
    }
}

cowboy_types::record! {
    /// Asks for transactions of a block.
    pub struct Request {
        /// The block.
        pub block: Hash,
        /// A bit for each transaction of the block, in their order; the lowest of a byte comes first.
        pub indices: Blob<{ MAX_BLOCK_TRANSACTIONS / 8 }>,
    }
}

cowboy_types::record! {
    /// Some of the transactions that were asked for; none where the sender has none of them, or sends nothing more for now.
    pub struct Answer {
        /// The block.
        pub block: Hash,
        /// In any order.
        pub transactions: List<Transaction, MAX_BLOCK_TRANSACTIONS>,
    }
}

/// A message of this kind.
fn message(kind: u8, content: &impl commonware_codec::Encode) -> Vec<u8> {
    [&[kind][..], &content.encode()].concat()
}

impl Compact {
    /// A block without its transactions.
    pub(super) fn of(block: &Block) -> Self {
        let ids = block.transactions.iter().map(|transaction| id_of(transaction, &transaction.digest())).collect();
        let ids = List::new(ids).expect("as many as the block has");
        Self { header: block.header.clone(), ids, reshare: block.reshare.clone() }
    }

    /// The whole block in its encoding, where these are the transactions that the header commits to.
    pub(super) fn with(&self, transactions: Vec<Transaction>) -> Option<Vec<u8>> {
        let transactions = List::<Transaction, MAX_BLOCK_TRANSACTIONS>::new(transactions)?;
        if transactions.encode_size() > MAX_BLOCK_BODY_BYTES {
            return None;
        }
        let body = transactions.encode();
        let is_committed = blake3(&[&body]) == self.header.body;
        is_committed.then(|| [self.header.encode().as_ref(), &body, self.reshare.encode().as_ref()].concat())
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        message(COMPACT, self)
    }
}

impl Request {
    /// Asks for the transactions of a block with these indices.
    pub(super) fn new(block: Hash, indices: impl IntoIterator<Item = usize>) -> Self {
        let mut bits = Vec::new();
        for index in indices {
            if bits.len() <= index / 8 {
                bits.resize(index / 8 + 1, 0);
            }
            bits[index / 8] |= 1 << (index % 8);
        }
        Self { block, indices: Blob::new(bits).expect("a block has no more transactions") }
    }

    /// The indices of the transactions that it asks for, ascending.
    pub(super) fn indices(&self) -> impl Iterator<Item = usize> {
        let has = move |index: &usize| self.indices.get(index / 8).is_some_and(|bits| bits >> (index % 8) & 1 == 1);
        (0..8 * self.indices.len()).filter(has)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        message(REQUEST, self)
    }
}

impl Answer {
    /// Of the transactions that a request asks for, and `find` has, as many as have room in `most` bytes: those from `first` on, in 256ths of all that it asks
    /// for, so that not all answers are the same. `None` where there are none.
    pub(super) fn of<'a>(request: &Request, first: u8, most: usize, find: impl Fn(usize) -> Option<&'a Transaction>) -> Option<Self> {
        let indices: Vec<usize> = request.indices().collect();
        let (before, after) = indices.split_at(indices.len() * usize::from(first) / 256);
        let (mut transactions, mut bytes) = (Vec::new(), 0usize);
        for transaction in after.iter().chain(before).filter_map(|index| find(*index)) {
            let size = transaction.encode_size();
            if bytes.saturating_add(size) <= most {
                bytes = bytes.saturating_add(size);
                transactions.push(transaction.clone());
            } else if bytes >= most / 2 {
                // Before that a long one is passed over: an answer with little counts as if there were nothing.
                break;
            }
        }
        let transactions = List::<_, MAX_BLOCK_TRANSACTIONS>::new(transactions).filter(|transactions| !transactions.is_empty())?;
        Some(Self { block: request.block, transactions })
    }

    /// Says that the sender has nothing for whoever asked about this block, or sends it nothing now.
    pub(super) fn nothing(block: Hash) -> Self {
        Self { block, transactions: List::default() }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        message(ANSWER, self)
    }
}
