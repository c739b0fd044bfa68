//! The engine's archives of final blocks and their certificates, with the ledger behind them.
//!
//! The engine prunes its own archives; the ledger keeps every block. A peer that asks for a pruned block, or a node whose own archives
//! are lost, gets it from the ledger. Whoever asks verifies what it gets, so a damaged ledger row is treated as missing here.

use crate::{block::SealedBlock, seeds::Scheme};
use commonware_codec::Decode as _;
use commonware_consensus::{
    marshal::store::{Blocks, Certificates},
    simplex::types::Finalization,
    types::Height as BlockNumber,
};
use commonware_cryptography::{Digestible as _, blake3::Digest};
use commonware_runtime::Handle;
use commonware_storage::archive::Identifier;
use cowboy_store::{Ledger, StoreError};
use cowboy_types::Hash;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};
use tokio::sync::watch;

/// An archive of the engine, with the ledger behind it.
pub(crate) struct Backed<A> {
    archive: A,
    history: History,
}

impl<A> Backed<A> {
    /// Puts the ledger behind the archive.
    pub(crate) fn new(archive: A, history: History) -> Self {
        Self { archive, history }
    }
}

impl<A: Blocks> Backed<A> {
    /// The same for blocks, of which the newest one's number is noted.
    pub(crate) fn noting(archive: A, history: History, newest: &watch::Sender<u64>) -> Self {
        newest.send_replace(archive.last_index().map_or(0, |number| number.get()));
        Self::new(archive, history)
    }
}

/// The ledger as the engine's archives read it. Clones share it.
#[derive(Clone)]
pub(crate) struct History {
    genesis: Arc<SealedBlock>,
    ledger: Ledger,
    is_open: Arc<AtomicBool>,
}

impl History {
    /// Closed at first: while the engine recovers, only its own archives say how far it had come.
    pub(crate) fn new(genesis: Arc<SealedBlock>, ledger: Ledger) -> Self {
        Self { genesis, ledger, is_open: Arc::default() }
    }

    /// Answers from the ledger from now on.
    pub(crate) fn open(&self) {
        self.is_open.store(true, Ordering::Release);
    }

    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    /// What the ledger says, once it may be asked. It begins after genesis.
    fn ask<T>(&self, id: &Identifier<'_, Digest>, read: impl Fn(&cowboy_store::View, u64) -> Result<Option<T>, StoreError>) -> Option<T> {
        if !self.is_open() {
            return None;
        }
        let found = self.ledger.view().and_then(|view| {
            let number = match id {
                Identifier::Index(number) => Some(*number),
                Identifier::Key(digest) => view.number_of(&Hash((**digest).into()))?,
            };
            number.filter(|number| *number > 0).map_or(Ok(None), |number| read(&view, number))
        });
        found.unwrap_or_else(|error| {
            tracing::warn!(%error, "a row of the ledger cannot be served to peers");
            None
        })
    }

    fn block(&self, id: &Identifier<'_, Digest>) -> Option<Arc<SealedBlock>> {
        let is_genesis = match id {
            Identifier::Index(number) => *number == 0,
            Identifier::Key(digest) => **digest == self.genesis.digest(),
        };
        if is_genesis {
            // It says who signs in the first epoch, whose every start needs it.
            return self.is_open().then(|| self.genesis.clone());
        }
        let block = self.ask(id, |view, number| view.boundary(number))?;
        let block = SealedBlock::check(block).ok()?;
        let is_wanted = match id {
            Identifier::Index(number) => block.header().number.0 == *number,
            Identifier::Key(digest) => block.digest() == **digest,
        };
        is_wanted.then(|| Arc::new(block))
    }

    fn certificate(&self, id: &Identifier<'_, Digest>) -> Option<Finalization<Scheme, Digest>> {
        let bytes = self.ask(id, |view, number| view.certificate(number))?;
        Finalization::decode_cfg(bytes::Bytes::from(bytes), &()).ok()
    }
}

impl<A> Certificates for Backed<A>
where
    A: Certificates<BlockDigest = Digest, Commitment = Digest, Scheme = Scheme>,
{
    type BlockDigest = Digest;
    type Commitment = Digest;
    type Scheme = Scheme;
    type Error = A::Error;

    async fn put(mut self, number: BlockNumber, digest: Digest, finalization: &Finalization<Scheme, Digest>) -> Result<Self, A::Error> {
        self.archive = self.archive.put(number, digest, finalization).await?;
        Ok(self)
    }

    async fn sync(mut self) -> Result<Self, A::Error> {
        self.archive = self.archive.sync().await?;
        Ok(self)
    }

    async fn start_sync(mut self) -> Result<(Self, Handle<()>), A::Error> {
        let handle;
        (self.archive, handle) = self.archive.start_sync().await?;
        Ok((self, handle))
    }

    async fn get(&self, id: Identifier<'_, Digest>) -> Result<Option<Finalization<Scheme, Digest>>, A::Error> {
        match self.archive.get(copied(&id)).await? {
            Some(found) => Ok(Some(found)),
            None => Ok(self.history.certificate(&id)),
        }
    }

    async fn has(&self, number: BlockNumber) -> Result<bool, A::Error> {
        self.archive.has(number).await
    }

    async fn prune(mut self, least: BlockNumber) -> Result<Self, A::Error> {
        self.archive = self.archive.prune(least).await?;
        Ok(self)
    }

    fn last_index(&self) -> Option<BlockNumber> {
        self.archive.last_index()
    }

    fn ranges_from(&self, from: BlockNumber) -> impl Iterator<Item = (BlockNumber, BlockNumber)> {
        self.archive.ranges_from(from)
    }
}

impl<A: Blocks<Block = Arc<SealedBlock>>> Blocks for Backed<A> {
    type Block = Arc<SealedBlock>;
    type Error = A::Error;

    async fn put(mut self, digest: Digest, block: &Arc<SealedBlock>) -> Result<Self, A::Error> {
        self.archive = self.archive.put(digest, block).await?;
        Ok(self)
    }

    async fn sync(mut self) -> Result<Self, A::Error> {
        self.archive = self.archive.sync().await?;
        Ok(self)
    }

    async fn start_sync(mut self) -> Result<(Self, Handle<()>), A::Error> {
        let handle;
        (self.archive, handle) = self.archive.start_sync().await?;
        Ok((self, handle))
    }

    async fn get(&self, id: Identifier<'_, Digest>) -> Result<Option<Arc<SealedBlock>>, A::Error> {
        match self.archive.get(copied(&id)).await? {
            Some(found) => Ok(Some(found)),
            None => Ok(self.history.block(&id)),
        }
    }

    async fn prune(mut self, least: BlockNumber) -> Result<Self, A::Error> {
        self.archive = self.archive.prune(least).await?;
        Ok(self)
    }

    fn missing_items(&self, start: BlockNumber, max: usize) -> Vec<BlockNumber> {
        self.archive.missing_items(start, max)
    }

    fn next_gap(&self, value: BlockNumber) -> (Option<BlockNumber>, Option<BlockNumber>) {
        self.archive.next_gap(value)
    }

    fn last_index(&self) -> Option<BlockNumber> {
        self.archive.last_index()
    }
}

/// The identifier once more: the archive takes it by value.
fn copied<'a>(id: &Identifier<'a, Digest>) -> Identifier<'a, Digest> {
    match id {
        Identifier::Index(number) => Identifier::Index(*number),
        Identifier::Key(digest) => Identifier::Key(digest),
    }
}
