//! A volume, as the chain has it, with its relays: reads and writes files.

mod clash;
mod quorum;
mod range;
mod read;
mod resume;
mod whole;
mod write;

pub use clash::{Clash, directories};
pub use resume::content_hash;
pub use write::Commit;

use crate::link::{AT_ONCE, Link, LinkError, Place};
use crate::segments::Meta;
use crate::tree::Tree;
use commonware_codec::EncodeSize as _;
use cowboy_service::{Chain, ChainError};
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Partition, Relay, Status, Volume as Record};
use cowboy_types::signing::PrivateKey;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Hash, List, Text};
use cowboy_volumes::{Leaf, Name, Node, Page, Token};
use futures::stream::FuturesUnordered;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// How long a relay is waited for before another one is asked beside it.
const PATIENCE: Duration = Duration::from_millis(400);

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// The chain cannot be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The chain has no such volume.
    #[error("the chain has no such volume")]
    NotFound,
    /// It was deleted.
    #[error("the volume was deleted")]
    Deleted,
    /// Nothing was ever written to the partition.
    #[error("the volume has no partition {0}")]
    NoPartition(String),
    /// There is no such file.
    #[error("{0} is not there")]
    NoFile(String),
    /// The partition has files, and the key opens none of them.
    #[error("the key does not open what partition {0} has")]
    WrongKey(String),
    /// The partition has another key by now than the one with which files were encrypted.
    #[error("partition {0} has another key by now than the one that these files were encrypted with: its owner rewrote it, or went back")]
    Rekeyed(String),
    /// Paths would be files, and directories of others.
    #[error("{}", clash::said(.0))]
    Clash(Vec<Clash>),
    /// Somebody committed to the partition while it was read.
    #[error("somebody committed to partition {0} meanwhile")]
    Moved(String),
    /// The volume would have more bytes than it may.
    #[error("the volume would have {needed} bytes of ciphertext, and its quota is {quota}")]
    OverQuota {
        /// Bytes of ciphertext that it would have, padding included.
        needed: u64,
        /// Bytes that it may have.
        quota: u64,
    },
    /// Too few relays have it, or serve it.
    #[error("{what} needs {needed} relays, and {found} gave it: {reasons}")]
    Lost {
        /// What is missing.
        what: String,
        /// Relays that are needed.
        needed: usize,
        /// Relays that gave it.
        found: usize,
        /// What happened at the others.
        reasons: String,
    },
    /// The file was changed while it was read, or is longer than a volume takes.
    #[error("{0}")]
    Source(&'static str),
    /// The content is not what its leaf says: whoever wrote it made a mistake, or has another key.
    #[error("{0} does not decrypt: the key is another one, or its writer made it so")]
    Damaged(String),
    /// More files are there than the root says: whoever wrote them would have a reader hold more than it counts with.
    #[error("the partition has more files than the {0} that its root says: its writer made it so")]
    Miscounted(u32),
    /// The records of its files take more bytes than the reader has for them.
    #[error("the list of the partition's files takes more than {0} bytes")]
    TooLong(u64),
    /// The partition has as many files as it can.
    #[error("the partition has as many files as it can")]
    Full,
    /// A local file cannot be read or written.
    #[error("{0}")]
    Local(#[from] std::io::Error),
}

/// Who reads and writes.
#[derive(Clone)]
pub struct Signer {
    /// The key of the owner, of the holder of a capability, or of a relay of the volume.
    pub key: PrivateKey,
    /// The capability, where the holder has one.
    pub capability: Option<Fixed<16>>,
}

/// A file in a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What its writer says of it.
    pub meta: Meta,
    /// Its record.
    pub leaf: Leaf,
}

/// The files of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Those that the key opens, by path.
    pub entries: Vec<Entry>,
    /// How many others there are: a writer made them with another key.
    pub closed: usize,
}

/// What a file is made of.
pub struct Source<R> {
    /// Where its content comes from.
    pub content: R,
    /// The length of the content.
    pub size: u64,
    /// When it was written: ms since 1970.
    pub written_ms: u64,
    /// What kind of content it is, as HTTP names it.
    pub kind: Text<64>,
}

/// A volume and its relays.
pub struct Volume {
    chain: Arc<Chain>,
    id: Hash,
    record: Record,
    relays: Vec<Option<(Address, Relay)>>,
    signer: Signer,
    links: Vec<Place>,
    /// Slots whose relays failed.
    failed: Mutex<BTreeSet<usize>>,
    /// What public files have in each part.
    sums: Arc<whole::Known>,
}

impl Volume {
    /// The volume, as the chain has it now.
    ///
    /// # Errors
    ///
    /// If the chain cannot be read, has no such volume, or it was deleted.
    pub async fn open(chain: Arc<Chain>, id: Hash, signer: Signer) -> Result<Self, VolumeError> {
        let record: Record = chain.read(&[state::volume_key(&id)]).await?.read(0)?.ok_or(VolumeError::NotFound)?;
        if record.status == Status::Deleted {
            return Err(VolumeError::Deleted);
        }
        let addresses: Vec<Option<Address>> = record.slots.iter().map(|slot| slot.serving()).collect();
        let keys: Vec<_> = addresses.iter().flatten().map(|address| state::relay_key(*address)).collect();
        let mut relays = Vec::with_capacity(addresses.len());
        let found = if keys.is_empty() { None } else { Some(chain.read(&keys).await?) };
        let mut index = 0;
        for address in addresses {
            let relay = match (&found, address) {
                (Some(found), Some(address)) => {
                    let relay: Option<Relay> = found.read(index)?;
                    index += 1;
                    relay.map(|relay| (address, relay))
                }
                _ => None,
            };
            relays.push(relay);
        }
        let links = relays.iter().map(|_| Place::default()).collect();
        Ok(Self { chain, id, record, relays, signer, links, failed: Mutex::default(), sums: Arc::default() })
    }

    /// The same volume, with what was learned of its files when it was open before.
    #[must_use]
    pub fn remembering(self, before: &Self) -> Self {
        Self { sums: before.sums.clone(), ..self }
    }

    /// The volume's record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its id.
    pub fn id(&self) -> &Hash {
        &self.id
    }

    fn failed(&self) -> BTreeSet<usize> {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fail(&self, slot: usize) {
        self.failed.lock().unwrap_or_else(PoisonError::into_inner).insert(slot);
    }

    /// The slots with a relay that serves, those that failed last.
    fn slots(&self) -> Vec<usize> {
        let failed = self.failed();
        let mut slots: Vec<usize> = (0..self.relays.len()).filter(|slot| self.relays[*slot].is_some()).collect();
        slots.sort_by_key(|slot| (failed.contains(slot), *slot));
        slots
    }

    /// The connection to the relay of a slot.
    async fn link(&self, slot: usize) -> Result<Arc<Link>, LinkError> {
        let (Some(Some((address, relay))), Some(place)) = (self.relays.get(slot), self.links.get(slot)) else {
            return Err(LinkError::False);
        };
        let token = Token {
            genesis: self.chain.genesis,
            volume: self.id,
            capability: self.signer.capability.unwrap_or_default(),
            holder: self.signer.key.address(),
        };
        place.link(Link::open(*address, relay, &token, &self.signer.key)).await
    }

    /// What the first `needed` relays give that can, of these slots in this order. Another one is asked where one fails, and beside those that take
    /// long.
    async fn gather<T>(
        &self,
        what: &str,
        slots: Vec<usize>,
        needed: usize,
        ask: impl AsyncFn(usize, Arc<Link>) -> Result<T, LinkError>,
    ) -> Result<Vec<(usize, T)>, VolumeError> {
        let one = async |slot: usize| match self.link(slot).await {
            Ok(link) => (slot, ask(slot, link).await),
            Err(error) => (slot, Err(error)),
        };
        let mut pending: BTreeSet<usize> = slots.iter().take(needed).copied().collect();
        let mut left = slots.into_iter();
        let mut asked: FuturesUnordered<_> = left.by_ref().take(needed).map(&one).collect();
        let (mut given, mut reasons) = (Vec::with_capacity(needed), Vec::new());
        while given.len() < needed && !asked.is_empty() {
            match tokio::time::timeout(PATIENCE, asked.next()).await {
                Ok(Some((slot, Ok(found)))) => {
                    pending.remove(&slot);
                    given.push((slot, found));
                    continue;
                }
                Ok(Some((slot, Err(error)))) => {
                    self.fail(slot);
                    pending.remove(&slot);
                    reasons.push(format!("slot {slot}: {error}"));
                }
                Ok(None) => break,
                Err(_) => pending.iter().for_each(|slot| self.fail(*slot)),
            }
            let next = left.next();
            pending.extend(next);
            asked.extend(next.map(&one));
        }
        if given.len() < needed {
            let empty = self.relays.iter().enumerate().filter(|(_, relay)| relay.is_none());
            reasons.extend(empty.map(|(slot, _)| format!("slot {slot}: no relay serves it yet")));
            return Err(VolumeError::Lost { what: what.to_owned(), needed, found: given.len(), reasons: reasons.join("; ") });
        }
        Ok(given)
    }

    /// What the first relay gives that can.
    async fn first<T>(&self, what: &str, ask: impl AsyncFn(Arc<Link>) -> Result<T, LinkError>) -> Result<T, VolumeError> {
        let given = self.gather(what, self.slots(), 1, async |_, link| ask(link).await).await?;
        Ok(given.into_iter().next().expect("one was needed").1)
    }

    /// A partition, as the chain has it now; none before its first commit.
    ///
    /// # Errors
    ///
    /// If the chain cannot be read.
    pub async fn partition(&self, name: &Name) -> Result<Option<Partition>, VolumeError> {
        Ok(self.chain.read(&[state::partition_key(&self.id, &name.partition())]).await?.read(0)?)
    }

    /// The chain that has the volume.
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The tree of a partition's standing root.
    ///
    /// # Errors
    ///
    /// If no relay gives it.
    pub async fn tree(&self, partition: Hash, standing: Option<&Partition>) -> Result<Tree, VolumeError> {
        let Some(standing) = standing else { return Ok(Tree::empty()) };
        self.tree_of(partition, standing.root.top.root()).await
    }

    /// The tree of a root.
    ///
    /// # Errors
    ///
    /// If no relay gives it.
    pub async fn tree_of(&self, partition: Hash, root: Hash) -> Result<Tree, VolumeError> {
        self.first("the tree", async |link| link.tree(partition, root).await).await
    }

    /// A page of a tree.
    ///
    /// # Errors
    ///
    /// If no relay gives it.
    pub async fn page(&self, partition: Hash, tree: &Tree, place: usize) -> Result<Page, VolumeError> {
        let node = tree.nodes.get(place).copied().unwrap_or(Node::EMPTY);
        if node == Node::EMPTY {
            return Ok(Page { leaves: List::default() });
        }
        let (code, depth) = (self.record.code, tree.top.depth);
        self.first("a page", async |link| link.page(partition, code, depth, place, &node).await).await
    }

    async fn pages(&self, partition: Hash, tree: &Tree, places: BTreeSet<usize>) -> Result<BTreeMap<usize, Page>, VolumeError> {
        self.pages_within(partition, tree, places, u64::MAX).await
    }

    /// Pages of a tree that take `most` bytes at most.
    async fn pages_within(
        &self,
        partition: Hash,
        tree: &Tree,
        places: BTreeSet<usize>,
        most: u64,
    ) -> Result<BTreeMap<usize, Page>, VolumeError> {
        let fetch = async |place| Ok::<_, VolumeError>((place, self.page(partition, tree, place).await?));
        collect(futures::stream::iter(places).map(fetch).buffer_unordered(AT_ONCE), tree.top.leaves, most).await
    }
}

/// Pages as they come, as long as they have no more leaves than the root says, which nobody else checks, and take no more than `most` bytes.
async fn collect(
    fetched: impl Stream<Item = Result<(usize, Page), VolumeError>>,
    leaves: u32,
    most: u64,
) -> Result<BTreeMap<usize, Page>, VolumeError> {
    let mut fetched = pin!(fetched);
    let (mut pages, mut left, mut room) = (BTreeMap::new(), usize::try_from(leaves).unwrap_or(usize::MAX), most);
    while let Some((place, page)) = fetched.try_next().await? {
        left = left.checked_sub(page.leaves.len()).ok_or(VolumeError::Miscounted(leaves))?;
        let bytes = u64::try_from(page.encode_size()).unwrap_or(u64::MAX);
        room = room.checked_sub(bytes).ok_or(VolumeError::TooLong(most))?;
        pages.insert(place, page);
    }
    Ok(pages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::Blob;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A root that says fewer files than there are has a reader hold one page more than it says, and not all of them.
    #[tokio::test]
    async fn a_root_says_how_many_files_are_held() {
        let leaf = |number: u8| Leaf {
            tag: Fixed([number; 32]),
            write_id: Fixed([0; 16]),
            ciphertext_bytes: 0,
            shard_bytes: 0,
            shards: List::default(),
            meta: Blob::default(),
        };
        let page = Page { leaves: List::new((0..100).map(leaf).collect()).expect("a page") };
        for (leaves, expected) in [(0, 1), (250, 3), (999, 10)] {
            let fetched = AtomicUsize::new(0);
            let pages = futures::stream::iter(0..4_096).map(|place| {
                fetched.fetch_add(1, Ordering::Relaxed);
                Ok((place, page.clone()))
            });
            assert!(matches!(collect(pages, leaves, u64::MAX).await, Err(VolumeError::Miscounted(said)) if said == leaves));
            assert_eq!(fetched.into_inner(), expected);
        }
        let pages = futures::stream::iter(0..10).map(|place| Ok((place, page.clone())));
        assert_eq!(collect(pages, 1_000, u64::MAX).await.expect("as many as the root says").len(), 10);
        let (length, fetched) = (u64::try_from(page.encode_size()).expect("short"), AtomicUsize::new(0));
        let pages = futures::stream::iter(0..4_096).map(|place| {
            fetched.fetch_add(1, Ordering::Relaxed);
            Ok((place, page.clone()))
        });
        let most = 4 * length + 1;
        assert!(matches!(collect(pages, u32::MAX, most).await, Err(VolumeError::TooLong(said)) if said == most));
        assert_eq!(fetched.into_inner(), 5);
    }
}
