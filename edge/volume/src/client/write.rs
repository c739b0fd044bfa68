//! Writing: sending files to relays, and committing them.

use super::{Source, Volume, VolumeError, clash, quorum};
use crate::cells;
use crate::keys::PartitionKey;
use crate::link::{LinkError, Upload};
use crate::segments::{self, Cipher, Meta, SEGMENT_BYTES};
use crate::tree::{Change, Draft, Tree};
use cowboy_system::requests::volumes::{self as requests, NewRoot};
use cowboy_system::volumes::keys::standing_version;
use cowboy_system::volumes::types::Partition;
use cowboy_types::cbor::Value;
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, Hash, List, Text};
use cowboy_volumes::code::OBJECT_BYTES;
use cowboy_volumes::relay::{ACK_BLOCKS, Succession};
use cowboy_volumes::{Leaf, Name, Path, leaf};
use std::collections::BTreeMap;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// A change of a partition that enough relays signed.
#[derive(Clone, Debug, PartialEq)]
pub struct Commit {
    /// What to ask 0x0A's `commit` with.
    pub argument: Value,
    /// The root that the change follows; zero for a partition's first.
    pub old: Hash,
    /// The root that it makes.
    pub new: Hash,
    /// The last height at which the signatures hold.
    pub until: u64,
}

/// The root that stands; zeros where there is none.
fn standing_root(standing: Option<&Partition>) -> Hash {
    standing.map_or(Hash::ZERO, |standing| standing.root.top.root())
}

/// Refuses where fewer relays than a file needs take their shards: whatever else is sent of it, it cannot be committed.
fn enough<T>(takes: &[Result<T, String>], needed: usize) -> Result<(), VolumeError> {
    let reason = |(slot, take): (usize, &Result<T, String>)| Some(format!("slot {slot}: {}", take.as_ref().err()?));
    let reasons: Vec<String> = takes.iter().enumerate().filter_map(reason).collect();
    let found = takes.len().saturating_sub(reasons.len());
    if found >= needed {
        return Ok(());
    }
    Err(VolumeError::Lost { what: "a file".to_owned(), needed, found, reasons: reasons.join("; ") })
}

impl Volume {
    /// Refuses files that the partition will not have, before anything is sent: where the key is another than that of the files that are there, the
    /// volume has no room for these lengths, or a path would be a file and a directory. Answers the bytes of ciphertext that they add, padding included.
    ///
    /// # Errors
    ///
    /// If so, or if the chain or its relays cannot be read.
    pub async fn admit(&self, partition: &Name, key: &PartitionKey, files: &[(&Path, u64)]) -> Result<u64, VolumeError> {
        self.admit_changes(partition, key, files, &[]).await
    }

    /// The same, where files with these tags go in the same commit.
    ///
    /// # Errors
    ///
    /// As [`Volume::admit`].
    pub async fn admit_changes(
        &self,
        partition: &Name,
        key: &PartitionKey,
        files: &[(&Path, u64)],
        removed: &[Fixed<32>],
    ) -> Result<u64, VolumeError> {
        let name = partition.partition();
        let standing = self.partition(partition).await?;
        self.is_under(partition, standing.as_ref(), key)?;
        let tree = self.tree(name, standing.as_ref()).await?;
        self.opens(partition, &tree, key).await?;
        let paths: Vec<&Path> = files.iter().map(|(path, _)| *path).collect();
        let clashes = self.clashes((name, &tree), key, &paths, removed).await?;
        if !clashes.is_empty() {
            return Err(VolumeError::Clash(clashes));
        }
        let planned = |(path, size): &(&Path, u64)| {
            let length = Cipher::new(key, &[0; 16], &self.id, path).length(*size);
            Change::Put(Leaf {
                tag: leaf::tag(key.tags(), path),
                write_id: Fixed([0; 16]),
                ciphertext_bytes: length,
                shard_bytes: self.record.code.shard_bytes(length),
                shards: List::default(),
                meta: Blob::default(),
            })
        };
        let changes: Vec<Change> = files.iter().map(planned).chain(removed.iter().copied().map(Change::Remove)).collect();
        let (_, draft) = self.draft(name, tree, &changes).await?;
        let before = standing.map_or(0, |standing| standing.root.top.node.sum);
        let bytes = self.record.bytes.saturating_sub(before).saturating_add(draft.tree.top.node.sum);
        let (needed, quota) = (bytes.saturating_mul(u64::from(self.record.code.data)), self.record.quota);
        if bytes > self.record.bytes && needed > quota {
            return Err(VolumeError::OverQuota { needed, quota });
        }
        Ok(draft.tree.top.node.sum.saturating_sub(before).saturating_mul(u64::from(self.record.code.data)))
    }

    /// Refuses a key of another version than that under which a partition stands.
    pub(super) fn is_under(&self, partition: &Name, standing: Option<&Partition>, key: &PartitionKey) -> Result<(), VolumeError> {
        let is_other = key.version().is_some_and(|version| version != standing_version(&self.record, standing));
        if is_other { Err(VolumeError::Rekeyed(partition.as_str().to_owned())) } else { Ok(()) }
    }

    /// The tree after changes, beside the tree as it was.
    async fn draft(&self, partition: Hash, tree: Tree, changes: &[Change]) -> Result<(Tree, Draft), VolumeError> {
        let touched = self.pages(partition, &tree, tree.touched(changes)).await?;
        let loaded = if tree.overflows(&touched, changes) { self.pages(partition, &tree, tree.filled()).await? } else { touched };
        let draft = tree.changed(&loaded, changes).ok_or(VolumeError::Full)?;
        Ok((tree, draft))
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
        self.ask_all(begin).await
    }

    /// What each relay answers, by slot. One that did not answer an earlier question while enough others did is not asked again.
    async fn ask_all<T>(&self, ask: impl AsyncFn(usize) -> Result<T, String>) -> Vec<Result<T, String>> {
        let (needed, failed) = (self.record.code.quorum(), self.failed());
        let is_skipped = |slot: usize| failed.contains(&slot) && self.relays.len().saturating_sub(failed.len()) >= needed;
        let asking = (0..self.relays.len()).map(|slot| {
            let answer = ask(slot);
            async move { if is_skipped(slot) { Err("it failed a moment ago".to_owned()) } else { answer.await } }
        });
        let answers = quorum::ask(asking, needed, quorum::GRACE).await;
        let bad = answers.iter().enumerate().filter(|(_, answer)| answer.is_err());
        bad.for_each(|(slot, _)| self.fail(slot));
        answers
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
        enough(&uploads, code.quorum())?;
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
            let send = async |(upload, cell): (&mut Result<Upload, String>, &Vec<u8>)| match upload {
                Ok(open) => open.write(cell).await.map_err(|error| error.to_string()),
                Err(reason) => Err(reason.clone()),
            };
            let sent = quorum::ask(uploads.iter_mut().zip(&cells).map(send), code.quorum(), quorum::GRACE).await;
            for (slot, (upload, sent)) in uploads.iter_mut().zip(sent).enumerate() {
                if let Err(reason) = sent {
                    self.fail(slot);
                    *upload = Err(reason);
                }
            }
            enough(&uploads, code.quorum())?;
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
        let needed = self.record.code.quorum();
        let ended = quorum::ask(uploads.into_iter().zip(shards).map(end), needed, quorum::GRACE).await;
        enough(&ended, needed)
    }

    /// The commit with which these changes stand: the pages that they make are with the relays by then, and enough of these have
    /// signed the new root. None where nothing changes. `key` is what the files were put with, and `seen` the root beside which they were admitted, zeros
    /// where the partition had none: where another one stands by now, they are looked at again.
    ///
    /// # Errors
    ///
    /// If the partition has another key by now, a path would be a file and a directory, the relays do not give the tree as it stands, or too few of them
    /// sign.
    pub async fn commit_beside(
        &self,
        partition: &Name,
        key: &PartitionKey,
        changes: &[Change],
        seen: Hash,
    ) -> Result<Option<Commit>, VolumeError> {
        let name = partition.partition();
        let standing = self.partition(partition).await?;
        self.is_under(partition, standing.as_ref(), key)?;
        let tree = self.tree(name, standing.as_ref()).await?;
        let old = standing_root(standing.as_ref());
        if old != seen {
            let (paths, removed) = (clash::put_by(changes, &self.id, key), clash::removed_by(changes));
            let clashes = self.clashes((name, &tree), key, &paths.iter().collect::<Vec<_>>(), &removed).await?;
            if !clashes.is_empty() {
                return Err(VolumeError::Clash(clashes));
            }
        }
        let (tree, draft) = self.draft(name, tree, changes).await?;
        if draft.tree == tree && old != Hash::ZERO {
            return Ok(None);
        }
        let version = standing_version(&self.record, standing.as_ref());
        self.follow(name, standing.as_ref(), &draft, version).await.map(Some)
    }

    /// The root that stands for a partition now; zeros where it has none.
    ///
    /// # Errors
    ///
    /// If the chain cannot be read.
    pub async fn root(&self, partition: &Name) -> Result<Hash, VolumeError> {
        Ok(standing_root(self.partition(partition).await?.as_ref()))
    }

    /// The commit with which a partition has exactly these files, put under this version of its key, the next one: the owner rewrote all that it had
    /// (decision 603). `of` is the record whose files these are.
    ///
    /// # Errors
    ///
    /// If somebody committed since, or as [`Volume::commit_beside`].
    pub async fn rewrite(&self, partition: &Name, version: u64, leaves: Vec<Leaf>, of: &Partition) -> Result<Commit, VolumeError> {
        let standing = self.partition(partition).await?;
        if standing.as_ref().map(|standing| standing.sequence) != Some(of.sequence) {
            return Err(VolumeError::Moved(partition.as_str().to_owned()));
        }
        let changes: Vec<Change> = leaves.into_iter().map(Change::Put).collect();
        let draft = Tree::empty().changed(&BTreeMap::new(), &changes).ok_or(VolumeError::Full)?;
        self.follow(partition.partition(), standing.as_ref(), &draft, version).await
    }

    /// The commit with which a draft follows what stands, under a version of the partition's key.
    async fn follow(&self, partition: Hash, standing: Option<&Partition>, draft: &Draft, version: u64) -> Result<Commit, VolumeError> {
        let (old, top) = (standing_root(standing), draft.tree.top);
        let succession = Succession {
            volume: self.id,
            generation: self.record.generation.0,
            partition,
            sequence: standing.map_or(0, |standing| standing.sequence.0).saturating_add(1),
            old,
            new: top.root(),
            until: self.chain.height().saturating_add(ACK_BLOCKS),
        };
        let acks = self.acks(&succession, draft).await?;
        let root = NewRoot {
            volume: self.id,
            partition,
            old,
            depth: top.depth,
            leaves: u64::from(top.leaves),
            node: top.node.hash,
            sum: top.node.sum,
            until: succession.until,
            key_version: version,
            capability: self.signer.capability,
        };
        let argument = requests::commit(root, &acks).expect("a volume has as many slots as there can be signatures").argument;
        Ok(Commit { argument, old, new: top.root(), until: succession.until })
    }

    /// The signatures of the relays that have all of a draft, ascending by slot.
    async fn acks(&self, succession: &Succession, draft: &Draft) -> Result<Vec<(u8, Fixed<64>)>, VolumeError> {
        let (top, nodes) = (draft.tree.top, &draft.tree.nodes);
        let sign = async |slot: usize| -> Result<(u8, Fixed<64>), LinkError> {
            let link = self.link(slot).await?;
            for (place, page) in &draft.pages {
                link.put_page(succession.partition, top.depth, *place, page).await?;
            }
            let (said, signature) = link.ack(succession, top, nodes).await?;
            if usize::from(said) == slot { Ok((said, signature)) } else { Err(LinkError::False) }
        };
        let signed = self.ask_all(async |slot| sign(slot).await.map_err(|error| error.to_string())).await;
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file is sent to as many relays as a commit needs, or no further; the others are named, with their reasons.
    #[test]
    fn too_few_relays_get_nothing() {
        let taken = |count: u8| (0..3).map(|slot| if slot < count { Ok(()) } else { Err(format!("full {slot}")) }).collect::<Vec<_>>();
        assert!(enough(&taken(3), 2).is_ok() && enough(&taken(2), 2).is_ok());
        let refused = enough(&taken(1), 2).expect_err("one is too few").to_string();
        assert_eq!(refused, "a file needs 2 relays, and 1 gave it: slot 1: full 1; slot 2: full 2");
    }
}
