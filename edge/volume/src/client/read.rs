//! Reading: lists of files, and their content.

use super::range::{Segment, count};
use super::{Entry, Listing, Volume, VolumeError};
use crate::cells::{self, Stripe};
use crate::keys::PartitionKey;
use crate::link::{Link, LinkError};
use crate::segments;
use crate::tree::Tree;
use bytes::Bytes;
use commonware_codec::Encode as _;
use cowboy_volumes::tree::page_of;
use cowboy_volumes::{Leaf, Name, Path, Route, leaf};
use std::sync::Arc;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

impl Volume {
    /// Every file of a partition, by path. Their records take `most` bytes at most.
    ///
    /// # Errors
    ///
    /// If the chain or its relays cannot be read, the key opens none of them, or they are more than the root says or take more bytes.
    pub async fn list(&self, partition: &Name, key: &PartitionKey, most: u64) -> Result<Listing, VolumeError> {
        let standing = self.partition(partition).await?;
        self.is_under(partition, standing.as_ref(), key)?;
        let tree = self.tree(partition.partition(), standing.as_ref()).await?;
        let pages = self.pages_within(partition.partition(), &tree, tree.filled(), most).await?;
        let (mut entries, mut closed) = (Vec::new(), 0);
        for leaf in pages.into_values().flat_map(|page| page.leaves.into_vec()) {
            match segments::open_meta(key, &self.id, &leaf) {
                Some(meta) => entries.push(Entry { meta, leaf }),
                None => closed += 1,
            }
        }
        if entries.is_empty() && closed > 0 {
            return Err(VolumeError::WrongKey(partition.as_str().to_owned()));
        }
        entries.sort_by(|one, other| one.meta.path.cmp(&other.meta.path));
        Ok(Listing { entries, closed })
    }

    /// Refuses a key that opens no file of the partition. All pages are looked at before it is refused: a writer may have put files under another key.
    pub(super) async fn opens(&self, partition: &Name, tree: &Tree, key: &PartitionKey) -> Result<(), VolumeError> {
        let filled = tree.filled();
        for place in &filled {
            let page = self.page(partition.partition(), tree, *place).await?;
            if page.leaves.iter().any(|leaf| segments::open_meta(key, &self.id, leaf).is_some()) {
                return Ok(());
            }
        }
        if filled.is_empty() { Ok(()) } else { Err(VolumeError::WrongKey(partition.as_str().to_owned())) }
    }

    /// A file; none where there is none.
    ///
    /// # Errors
    ///
    /// If the chain or its relays cannot be read, or the key is another.
    pub async fn find(&self, path: &Path, key: &PartitionKey) -> Result<Option<Entry>, VolumeError> {
        let partition = path.partition();
        let standing = self.partition(&partition).await?;
        self.is_under(&partition, standing.as_ref(), key)?;
        let tree = self.tree(partition.partition(), standing.as_ref()).await?;
        let tag = leaf::tag(key.tags(), path);
        let page = self.page(partition.partition(), &tree, page_of(&tag, tree.top.depth)).await?;
        let Some(leaf) = page.leaves.iter().find(|leaf| leaf.tag == tag).cloned() else {
            // Under another key it would have another tag.
            self.opens(&partition, &tree, key).await?;
            return Ok(None);
        };
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
        let mut hasher = blake3::Hasher::new();
        let write = async |segment: Segment| {
            hasher.update(&segment.bytes);
            out.write_all(&segment.bytes).await?;
            Ok::<(), VolumeError>(())
        };
        self.segments(entry, key, 0..count(entry.meta.size), write).await?;
        out.flush().await?;
        if hasher.finalize().as_bytes() == &entry.meta.hash.0 { Ok(()) } else { Err(VolumeError::Damaged(entry.meta.path.to_string())) }
    }

    /// The data cells of a stripe, and whether one of them was computed out of others.
    pub(super) async fn stripe(&self, leaf: &Leaf, stripe: Stripe) -> Result<(Vec<Vec<u8>>, bool), VolumeError> {
        let cells = self.cells(leaf, stripe, None).await?;
        let is_computed = cells.iter().take(usize::from(self.record.code.data)).any(Option::is_none);
        let data = cells::decode(self.record.code, stripe, cells).ok_or(VolumeError::Source("the code does not decode"))?;
        Ok((data, is_computed))
    }

    /// Enough cells of a stripe, each at its slot. All data slots are asked first, and others in the place of those that fail.
    async fn cells(&self, leaf: &Leaf, stripe: Stripe, without: Option<usize>) -> Result<Vec<Option<Vec<u8>>>, VolumeError> {
        let code = self.record.code;
        let slots: Vec<usize> = self.slots().into_iter().filter(|slot| Some(*slot) != without).collect();
        let fetch = async |slot: usize, link: Arc<Link>| {
            let shard = leaf.shards.get(slot).ok_or(LinkError::False)?;
            link.part(shard, leaf.shard_bytes, stripe.start, stripe.cell).await
        };
        let mut cells = vec![None; code.slots()];
        for (slot, cell) in self.gather("a stripe", slots, usize::from(code.data), fetch).await? {
            cells[slot] = Some(cell);
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
        let route = Route::new(&page, at, &tree.nodes, place).ok_or_else(missing)?;
        let leaf = page.leaves.get(at).cloned().ok_or_else(missing)?;
        Ok((leaf, route.encode()))
    }
}
