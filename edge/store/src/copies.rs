//! Copies of blocks that replace damaged rows: what another node sends, checked against what the header commits to.

use crate::{StoreError, position::Concern};
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_types::{Address, Block, Receipt, merkle};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard},
};

/// Numbers of damaged blocks that are remembered at once.
const MAX_MISSING: usize = 4_096;

/// Copies that are held in memory at once; the oldest goes first, and is fetched again where it is asked for.
const MAX_COPIES: usize = 16;

/// Bytes of a concern: the address, and the receipt's place in big-endian.
const CONCERN_BYTES: usize = 24;

/// A block with everything that another node can say about it.
///
/// On the wire: block, certificate (empty where there is none of exactly this block), concerns and each receipt, every one behind its
/// length as 4 bytes big-endian.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockCopy {
    /// The block.
    pub block: Block,
    /// The encoded finalization of exactly this block, where the sender has one.
    pub certificate: Option<Vec<u8>>,
    /// Which addresses each receipt concerns, beside its sender and its target. The header does not commit to them.
    pub concerns: Vec<Concern>,
    /// The transactions' receipts in order, then the deliveries'.
    pub receipts: Vec<Receipt>,
}

impl BlockCopy {
    /// The bytes that are sent.
    pub fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut put = |part: &[u8]| {
            bytes.extend(u32::try_from(part.len()).expect("a part is shorter than 4 GiB").to_be_bytes());
            bytes.extend_from_slice(part);
        };
        put(&self.block.encode());
        put(self.certificate.as_deref().unwrap_or_default());
        put(&concerns_bytes(&self.concerns));
        self.receipts.iter().for_each(|receipt| put(&receipt.encode()));
        bytes
    }

    /// The copy in these bytes, where its body and its receipts are those that its header commits to.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let mut parts = Parts(bytes);
        let block = Block::decode(parts.next()??.to_vec()).ok()?;
        let certificate = Some(parts.next()??.to_vec()).filter(|certificate| !certificate.is_empty());
        let concerns = concerns_of(parts.next()??);
        let receipts = parts.map(|part| Receipt::decode(part?.to_vec()).ok()).collect::<Option<Vec<_>>>()?;
        let digests: Vec<_> = receipts.iter().map(Receipt::digest).collect();
        let is_committed = block.is_body_committed() && merkle::root(&digests) == block.header.receipt_root;
        is_committed.then_some(Self { block, certificate, concerns, receipts })
    }
}

/// The parts of an encoded copy. One that is cut off is `None`, and the last.
struct Parts<'a>(&'a [u8]);

impl<'a> Iterator for Parts<'a> {
    type Item = Option<&'a [u8]>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let rest = std::mem::take(&mut self.0);
        Some(rest.split_first_chunk::<4>().and_then(|(length, rest)| {
            let (part, rest) = rest.split_at_checked(usize::try_from(u32::from_be_bytes(*length)).ok()?)?;
            self.0 = rest;
            Some(part)
        }))
    }
}

/// Concerns as the ledger keeps them.
pub(crate) fn concerns_bytes(concerns: &[Concern]) -> Vec<u8> {
    concerns.iter().flat_map(|concern| concern.address.0.into_iter().chain(concern.receipt.to_be_bytes())).collect()
}

/// Concerns from the ledger.
pub(crate) fn concerns_of(bytes: &[u8]) -> Vec<Concern> {
    let (rows, _) = bytes.as_chunks::<CONCERN_BYTES>();
    rows.iter()
        .filter_map(|row| {
            let (address, receipt) = row.split_first_chunk::<20>()?;
            Some(Concern { address: Address(*address), receipt: u32::from_be_bytes(receipt.try_into().ok()?) })
        })
        .collect()
}

/// Which blocks have damaged rows, and copies that are read in their place. Clones share it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copies(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    missing: BTreeSet<u64>,
    held: BTreeMap<u64, Arc<BlockCopy>>,
    /// The numbers of the held copies, the oldest first.
    order: std::collections::VecDeque<u64>,
}

impl Copies {
    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().expect("nothing panics while it holds the lock")
    }

    /// The result of a read, or what a copy of the block says where a row is damaged. A block without a copy is noted as missing.
    pub(crate) fn instead<T>(
        &self,
        number: u64,
        read: Result<T, StoreError>,
        of_copy: impl FnOnce(&BlockCopy) -> T,
    ) -> Result<T, StoreError> {
        let Err(StoreError::Damaged { row }) = read else { return read };
        let held = {
            let mut inner = self.inner();
            let held = inner.held.get(&number).cloned();
            if held.is_none() && inner.missing.len() < MAX_MISSING {
                inner.missing.insert(number);
            }
            held
        };
        held.map(|copy| of_copy(&copy)).ok_or(StoreError::Damaged { row })
    }

    /// Blocks of which damaged rows were read and no copy is there.
    pub(crate) fn missing(&self) -> Vec<u64> {
        self.inner().missing.iter().copied().collect()
    }

    /// Takes a copy.
    pub(crate) fn hold(&self, copy: BlockCopy) {
        let number = copy.block.header.number.0;
        let mut inner = self.inner();
        inner.missing.remove(&number);
        if inner.held.insert(number, Arc::new(copy)).is_none() {
            inner.order.push_back(number);
        }
        if inner.order.len() > MAX_COPIES
            && let Some(oldest) = inner.order.pop_front()
        {
            inner.held.remove(&oldest);
        }
    }
}
