//! A volume, as the chain has it, with its relays: reads and writes files.

use crate::cells::{self, Stripe};
use crate::keys::PartitionKey;
use crate::link::{AT_ONCE, Link, LinkError, Upload};
use crate::segments::{self, Cipher, Meta, SEGMENT_BYTES};
use crate::tree::{Change, Draft, Tree};
use bytes::Bytes;
use cowboy_service::{Chain, ChainError};
use cowboy_system::volumes::state;
use cowboy_system::volumes::types::{Partition, Relay, Volume as Record};
use cowboy_types::cbor::Value;
use cowboy_types::signing::PrivateKey;
use cowboy_types::wire::Fixed;
use cowboy_types::{Address, Blob, Hash, List, Text};
use cowboy_volumes::code::OBJECT_BYTES;
use cowboy_volumes::tree::page_of;
use cowboy_volumes::{Leaf, Name, Node, Page, Path, Token, leaf};
use futures::stream::FuturesUnordered;
use futures::{StreamExt as _, TryStreamExt as _, future};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};

/// How long a relay is waited for before another one is asked beside it.
const PATIENCE: Duration = Duration::from_millis(400);

/// Stripes that are fetched ahead.
const AHEAD: usize = 4;

/// Why a file cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum VolumeError {
    /// The chain cannot be read.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// The chain has no such volume.
    #[error("the chain has no such volume")]
    NotFound,
    /// There is no such file.
    #[error("{0} is not there")]
    NoFile(String),
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
    links: Vec<tokio::sync::Mutex<Option<Arc<Link>>>>,
    /// Slots whose relays failed.
    failed: Mutex<BTreeSet<usize>>,
}

impl Volume {
    /// The volume, as the chain has it now.
    ///
    /// # Errors
    ///
    /// If the chain cannot be read, or has no such volume.
    pub async fn open(chain: Arc<Chain>, id: Hash, signer: Signer) -> Result<Self, VolumeError> {
        let record: Record = chain.read(&[state::volume_key(&id)]).await?.read(0)?.ok_or(VolumeError::NotFound)?;
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
        let links = relays.iter().map(|_| tokio::sync::Mutex::default()).collect();
        Ok(Self { chain, id, record, relays, signer, links, failed: Mutex::default() })
    }

    /// The volume's record.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Its id.
    pub fn id(&self) -> &Hash {
        &self.id
    }

    /// The relay of a slot that serves.
    pub fn relay(&self, slot: usize) -> Option<Address> {
        self.relays.get(slot)?.as_ref().map(|(address, _)| *address)
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
        let mut link = place.lock().await;
        if let Some(link) = &*link {
            return Ok(link.clone());
        }
        let token = Token {
            genesis: self.chain.genesis,
            volume: self.id,
            capability: self.signer.capability.unwrap_or_default(),
            holder: self.signer.key.address(),
        };
        let opened = Arc::new(Link::open(*address, relay, &token, &self.signer.key).await?);
        *link = Some(opened.clone());
        Ok(opened)
    }

    /// What the first relay gives that can. Another is asked when one fails, and when it takes long.
    async fn first<T>(&self, what: &str, ask: impl AsyncFn(Arc<Link>) -> Result<T, LinkError>) -> Result<T, VolumeError> {
        let one = async |slot: usize| match self.link(slot).await {
            Ok(link) => (slot, ask(link).await),
            Err(error) => (slot, Err(error)),
        };
        let (mut left, mut reasons) = (self.slots().into_iter(), Vec::new());
        let mut pending: BTreeSet<usize> = left.as_slice().first().copied().into_iter().collect();
        let mut asked: FuturesUnordered<_> = left.by_ref().take(1).map(&one).collect();
        while !asked.is_empty() {
            match tokio::time::timeout(PATIENCE, asked.next()).await {
                Ok(Some((_, Ok(given)))) => return Ok(given),
                Ok(Some((slot, Err(error)))) => {
                    self.fail(slot);
                    pending.remove(&slot);
                    reasons.push(format!("slot {slot}: {error}"));
                    let next = left.next();
                    pending.extend(next);
                    asked.extend(next.map(&one));
                }
                Ok(None) => break,
                Err(_) => {
                    pending.iter().for_each(|slot| self.fail(*slot));
                    let next = left.next();
                    pending.extend(next);
                    asked.extend(next.map(&one));
                }
            }
        }
        Err(VolumeError::Lost { what: what.to_owned(), needed: 1, found: 0, reasons: reasons.join("; ") })
    }

    /// A partition, as the chain has it now; none before its first commit.
    ///
    /// # Errors
    ///
    /// If the chain cannot be read.
    pub async fn partition(&self, name: &Name) -> Result<Option<Partition>, VolumeError> {
        Ok(self.chain.read(&[state::partition_key(&self.id, &name.partition())]).await?.read(0)?)
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
        let fetch = async |place| Ok::<_, VolumeError>((place, self.page(partition, tree, place).await?));
        futures::stream::iter(places).map(fetch).buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Every file of a partition that the key opens, by path.
    ///
    /// # Errors
    ///
    /// If the chain or its relays cannot be read.
    pub async fn list(&self, partition: &Name, key: &PartitionKey) -> Result<Vec<Entry>, VolumeError> {
        let standing = self.partition(partition).await?;
        let tree = self.tree(partition.partition(), standing.as_ref()).await?;
        let pages = self.pages(partition.partition(), &tree, tree.filled()).await?;
        let mut entries = Vec::new();
        for leaf in pages.into_values().flat_map(|page| page.leaves.into_vec()) {
            let meta = segments::open_meta(key, &self.id, &leaf).ok_or_else(|| VolumeError::Damaged("a file".to_owned()))?;
            entries.push(Entry { meta, leaf });
        }
        entries.sort_by(|one, other| one.meta.path.cmp(&other.meta.path));
        Ok(entries)
    }

    /// A file; none where there is none.
    ///
    /// # Errors
    ///
    /// If the chain or its relays cannot be read, or the key is another.
    pub async fn find(&self, path: &Path, key: &PartitionKey) -> Result<Option<Entry>, VolumeError> {
        let partition = path.partition();
        let standing = self.partition(&partition).await?;
        let tree = self.tree(partition.partition(), standing.as_ref()).await?;
        let tag = leaf::tag(key.tags(), path);
        let page = self.page(partition.partition(), &tree, page_of(&tag, tree.top.depth)).await?;
        let Some(leaf) = page.leaves.iter().find(|leaf| leaf.tag == tag).cloned() else { return Ok(None) };
        let meta = segments::open_meta(key, &self.id, &leaf).filter(|meta| &*meta.path == path.as_str());
        let meta = meta.ok_or_else(|| VolumeError::Damaged(path.as_str().to_owned()))?;
        Ok(Some(Entry { meta, leaf }))
    }

    /// Writes a file's content out. Each part is checked before it is written.
    ///
    /// # Errors
    ///
    /// If too few relays have it, or it does not decrypt.
    pub async fn get(&self, entry: &Entry, key: &PartitionKey, out: &mut (impl AsyncWrite + Unpin)) -> Result<(), VolumeError> {
        let text = entry.meta.path.to_string();
        let damaged = || VolumeError::Damaged(text.clone());
        let path = Path::new(&text).ok_or_else(damaged)?;
        let cipher = Cipher::new(key, &entry.leaf.write_id.0, &self.id, &path);
        if cipher.length(entry.meta.size) != entry.leaf.ciphertext_bytes {
            return Err(damaged());
        }
        let leaf = &entry.leaf;
        let fetched = futures::stream::iter(cells::stripes(self.record.code, leaf.ciphertext_bytes))
            .map(async |stripe| Ok::<_, VolumeError>(cells::join(stripe, self.stripe(leaf, stripe, None).await?)))
            .buffered(AHEAD);
        let mut fetched = pin!(fetched);
        let (mut rest, mut number, mut hasher) = (Vec::new(), 0_u64, blake3::Hasher::new());
        let segments = entry.meta.size.div_ceil(SEGMENT_BYTES as u64).max(1);
        loop {
            let next = fetched.next().await.transpose()?;
            let is_over = next.is_none();
            rest.extend(next.unwrap_or_default());
            while number < segments && (rest.len() >= cipher.segment() || is_over) {
                let length = rest.len().min(cipher.segment());
                let mut segment: Vec<u8> = rest.drain(..length).collect();
                if !cipher.open(number, number + 1 == segments, &mut segment) {
                    return Err(damaged());
                }
                hasher.update(&segment);
                out.write_all(&segment).await?;
                number += 1;
            }
            if is_over {
                break;
            }
        }
        out.flush().await?;
        if rest.is_empty() && hasher.finalize().as_bytes() == &entry.meta.hash.0 { Ok(()) } else { Err(damaged()) }
    }

    /// The data cells of a stripe, from whichever relays give theirs first: all data slots are asked, and others in the place of those that fail.
    /// A slot that rebuilds its shards is not asked.
    async fn stripe(&self, leaf: &Leaf, stripe: Stripe, without: Option<usize>) -> Result<Vec<Vec<u8>>, VolumeError> {
        let cells = self.cells(leaf, stripe, without).await?;
        let code = self.record.code;
        cells::decode(code, stripe, cells).ok_or(VolumeError::Source("the code does not decode"))
    }

    async fn cells(&self, leaf: &Leaf, stripe: Stripe, without: Option<usize>) -> Result<Vec<Option<Vec<u8>>>, VolumeError> {
        let (code, needed) = (self.record.code, usize::from(self.record.code.data));
        let slots: Vec<usize> = self.slots().into_iter().filter(|slot| Some(*slot) != without).collect();
        let mut pending: BTreeSet<usize> = slots.iter().take(needed).copied().collect();
        let mut left = slots.into_iter();
        let (mut cells, mut found, mut reasons) = (vec![None; code.slots()], 0, Vec::new());
        let fetch = async |slot: usize| {
            let given = match (leaf.shards.get(slot), self.link(slot).await) {
                (Some(shard), Ok(link)) => link.part(shard, leaf.shard_bytes, stripe.start, stripe.cell).await,
                (None, _) => Err(LinkError::False),
                (_, Err(error)) => Err(error),
            };
            (slot, given)
        };
        let mut asked: FuturesUnordered<_> = left.by_ref().take(needed).map(&fetch).collect();
        while found < needed && !asked.is_empty() {
            match tokio::time::timeout(PATIENCE, asked.next()).await {
                Ok(Some((slot, Ok(cell)))) => {
                    cells[slot] = Some(cell);
                    pending.remove(&slot);
                    found += 1;
                }
                Ok(Some((slot, Err(error)))) => {
                    self.fail(slot);
                    pending.remove(&slot);
                    reasons.push(format!("slot {slot}: {error}"));
                    let next = left.next();
                    pending.extend(next);
                    asked.extend(next.map(&fetch));
                }
                Ok(None) => break,
                Err(_) => {
                    pending.iter().for_each(|slot| self.fail(*slot));
                    let next = left.next();
                    pending.extend(next);
                    asked.extend(next.map(&fetch));
                }
            }
        }
        if found < needed {
            return Err(VolumeError::Lost { what: "a stripe".to_owned(), needed, found, reasons: reasons.join("; ") });
        }
        Ok(cells)
    }

    /// The cell of a slot, rebuilt from others.
    ///
    /// # Errors
    ///
    /// If too few relays give theirs.
    pub async fn rebuilt(&self, leaf: &Leaf, stripe: Stripe, slot: usize) -> Result<Vec<u8>, VolumeError> {
        let cells = self.cells(leaf, stripe, Some(slot)).await?;
        cells::rebuild(self.record.code, stripe, cells, slot).ok_or(VolumeError::Source("the code does not decode"))
    }

    /// The uploads of a shard to every relay that takes it, by slot.
    async fn uploads(&self, length: u64) -> Vec<Result<Upload, String>> {
        let begin = async |slot| {
            let begun = match self.link(slot).await {
                Ok(link) => link.upload(length).await,
                Err(error) => Err(error),
            };
            begun.map_err(|error| error.to_string())
        };
        future::join_all((0..self.relays.len()).map(begin)).await
    }

    /// Sends a file to the relays. Nobody sees it before it is committed.
    ///
    /// # Errors
    ///
    /// If the content is not as long as it was said, or too few relays take it.
    pub async fn put<R: AsyncRead + Unpin>(&self, path: &Path, key: &PartitionKey, source: &mut Source<R>) -> Result<Leaf, VolumeError> {
        if source.size > OBJECT_BYTES {
            return Err(VolumeError::Source("a file has at most 1 GiB"));
        }
        let mut write_id = [0; 16];
        getrandom::fill(&mut write_id).map_err(std::io::Error::other)?;
        let (code, cipher) = (self.record.code, Cipher::new(key, &write_id, &self.id, path));
        let length = cipher.length(source.size);
        let mut uploads = self.uploads(code.shard_bytes(length)).await;
        let mut hashers = vec![blake3::Hasher::new(); code.slots()];
        let (mut plain, mut number, mut left) = (blake3::Hasher::new(), 0, source.size);
        let mut ready: Vec<u8> = Vec::new();
        let segments = source.size.div_ceil(SEGMENT_BYTES as u64).max(1);
        for stripe in cells::stripes(code, length) {
            let wanted = usize::try_from(stripe.length).unwrap_or(usize::MAX);
            while ready.len() < wanted && number < segments {
                let size = usize::try_from(left.min(SEGMENT_BYTES as u64)).unwrap_or(SEGMENT_BYTES);
                let mut segment = vec![0; size];
                source.content.read_exact(&mut segment).await?;
                plain.update(&segment);
                cipher.seal(number, number + 1 == segments, &mut segment);
                ready.append(&mut segment);
                number += 1;
                left -= u64::try_from(size).unwrap_or(0);
            }
            let bytes: Vec<u8> = ready.drain(..wanted.min(ready.len())).collect();
            let cells = cells::encode(code, stripe, &bytes);
            let send = async |(upload, cell): (&mut Result<Upload, String>, &Vec<u8>)| {
                if let Ok(open) = upload
                    && let Err(error) = open.write(cell).await
                {
                    *upload = Err(error.to_string());
                }
            };
            future::join_all(uploads.iter_mut().zip(&cells).map(send)).await;
            for (hasher, cell) in hashers.iter_mut().zip(&cells) {
                hasher.update(cell);
            }
        }
        if source.content.read(&mut [0]).await? > 0 {
            return Err(VolumeError::Source("the file grew while it was read"));
        }
        let shards: Vec<Hash> = hashers.iter().map(|hasher| Hash(*hasher.finalize().as_bytes())).collect();
        self.finish(uploads, &shards).await?;
        let mut leaf = Leaf {
            tag: leaf::tag(key.tags(), path),
            write_id: Fixed(write_id),
            ciphertext_bytes: length,
            shard_bytes: code.shard_bytes(length),
            shards: List::new(shards).ok_or(VolumeError::Source("a volume has at most 24 slots"))?,
            meta: Blob::default(),
        };
        let meta = Meta {
            path: Text::new(path.as_str()).ok_or(VolumeError::Source("the path is too long"))?,
            size: source.size,
            hash: Hash(*plain.finalize().as_bytes()),
            written_ms: source.written_ms,
            kind: source.kind.clone(),
        };
        leaf.meta = segments::seal_meta(key, &self.id, &leaf, &meta);
        Ok(leaf)
    }

    /// Ends uploads. Enough relays must have kept their shards.
    async fn finish(&self, uploads: Vec<Result<Upload, String>>, shards: &[Hash]) -> Result<(), VolumeError> {
        let end = async |(upload, shard): (Result<Upload, String>, &Hash)| upload?.finish(shard).await.map_err(|error| error.to_string());
        let ended = future::join_all(uploads.into_iter().zip(shards).map(end)).await;
        let reasons: Vec<String> =
            ended.iter().enumerate().filter_map(|(slot, ended)| Some(format!("slot {slot}: {}", ended.as_ref().err()?))).collect();
        let (needed, found) = (self.record.code.quorum(), ended.len() - reasons.len());
        if found < needed {
            return Err(VolumeError::Lost { what: "a file".to_owned(), needed, found, reasons: reasons.join("; ") });
        }
        Ok(())
    }

    /// What to ask 0x0A's `commit` with, so that these changes stand: the pages that they make are with the relays by then, and enough of these have
    /// signed the new root. None where nothing changes.
    ///
    /// # Errors
    ///
    /// If the relays do not give the tree as it stands, or too few of them sign.
    pub async fn commit(&self, partition: &Name, changes: &[Change]) -> Result<Option<Value>, VolumeError> {
        let name = partition.partition();
        let standing = self.partition(partition).await?;
        let tree = self.tree(name, standing.as_ref()).await?;
        let touched = self.pages(name, &tree, tree.touched(changes)).await?;
        let loaded = if tree.overflows(&touched, changes) { self.pages(name, &tree, tree.filled()).await? } else { touched };
        let draft = tree.changed(&loaded, changes).ok_or(VolumeError::Full)?;
        let old = standing.map_or(Hash::ZERO, |standing| standing.root.top.root());
        if draft.tree == tree && old != Hash::ZERO {
            return Ok(None);
        }
        let acks = self.acks(name, old, &draft).await?;
        let top = draft.tree.top;
        let ack = |(slot, signature): &(u8, Fixed<64>)| {
            Value::dict([("slot", Value::uint(u64::from(*slot))), ("signature", Value::Bytes(signature.0.to_vec()))])
        };
        let hash = |hash: &Hash| Value::Bytes(hash.0.to_vec());
        Ok(Some(Value::dict([
            ("volume", hash(&self.id)),
            ("partition", hash(&name)),
            ("old", hash(&old)),
            ("depth", Value::uint(u64::from(top.depth))),
            ("leaves", Value::uint(u64::from(top.leaves))),
            ("node", hash(&top.node.hash)),
            ("sum", Value::uint(top.node.sum)),
            ("acks", Value::Array(acks.iter().map(ack).collect())),
            ("capability", self.signer.capability.map_or(Value::Null, |id| Value::Bytes(id.0.to_vec()))),
        ])))
    }

    /// The signatures of the relays that have all of a draft, ascending by slot.
    async fn acks(&self, partition: Hash, old: Hash, draft: &Draft) -> Result<Vec<(u8, Fixed<64>)>, VolumeError> {
        let (top, nodes) = (draft.tree.top, &draft.tree.nodes);
        let sign = async |slot: usize| -> Result<(u8, Fixed<64>), LinkError> {
            let link = self.link(slot).await?;
            for (place, page) in &draft.pages {
                link.put_page(partition, top.depth, *place, page).await?;
            }
            let (said, signature) = link.ack(partition, old, top, nodes).await?;
            if usize::from(said) == slot { Ok((said, signature)) } else { Err(LinkError::False) }
        };
        let signed = future::join_all((0..self.relays.len()).map(sign)).await;
        let mut reasons = Vec::new();
        let mut acks = Vec::new();
        for (slot, signed) in signed.into_iter().enumerate() {
            match signed {
                Ok(ack) => acks.push(ack),
                Err(error) => reasons.push(format!("slot {slot}: {error}")),
            }
        }
        let needed = self.record.code.quorum();
        if acks.len() < needed {
            return Err(VolumeError::Lost { what: "a commit".to_owned(), needed, found: acks.len(), reasons: reasons.join("; ") });
        }
        Ok(acks)
    }

    /// What a demand to a relay names: the leaf of a file, and the way to it.
    ///
    /// # Errors
    ///
    /// If the chain or its relays cannot be read, or there is no such file.
    pub async fn proof_of(&self, path: &Path, key: &PartitionKey) -> Result<(Leaf, Bytes), VolumeError> {
        let partition = path.partition();
        let standing = self.partition(&partition).await?;
        let tree = self.tree(partition.partition(), standing.as_ref()).await?;
        let tag = leaf::tag(key.tags(), path);
        let place = page_of(&tag, tree.top.depth);
        let page = self.page(partition.partition(), &tree, place).await?;
        let missing = || VolumeError::NoFile(path.as_str().to_owned());
        let at = page.leaves.iter().position(|leaf| leaf.tag == tag).ok_or_else(missing)?;
        let route = cowboy_volumes::Route::new(&page, at, &tree.nodes, place).ok_or_else(missing)?;
        let leaf = page.leaves.get(at).cloned().ok_or_else(missing)?;
        Ok((leaf, commonware_codec::Encode::encode(&route)))
    }
}
