//! What validators say to each other about the bodies of blocks.

use commonware_codec::{Encode as _, EncodeSize as _};
use cowboy_types::{
    Block, Hash, Transaction, blake3,
    block::{Header, MAX_BLOCK_BODY_BYTES, MAX_BLOCK_TRANSACTIONS, MAX_RESHARE_BYTES},
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
    /// The transactions that were asked for.
    pub struct Answer {
        /// The block.
        pub block: Hash,
        /// In the order of the block.
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

    fn has(&self, index: usize) -> bool {
        self.indices.get(index / 8).is_some_and(|bits| bits >> (index % 8) & 1 == 1)
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        message(REQUEST, self)
    }
}

impl Answer {
    /// The transactions of a block that a request asks for.
    pub(super) fn of(block: &Block, request: &Request) -> Self {
        let asked = block.transactions.iter().enumerate().filter(|(index, _)| request.has(*index));
        let transactions = asked.map(|(_, transaction)| transaction.clone()).collect();
        Self { block: request.block, transactions: List::new(transactions).expect("no more than the block has") }
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        message(ANSWER, self)
    }
}
