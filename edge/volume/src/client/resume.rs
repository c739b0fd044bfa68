//! Files that were sent and not committed: whether they can be committed without being sent again.

use super::{Volume, quorum};
use crate::keys::PartitionKey;
use crate::link::LinkError;
use crate::segments::{self, Meta, SEGMENT_BYTES};
use crate::wire;
use cowboy_types::Hash;
use cowboy_volumes::{Code, Leaf, Path, leaf};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The BLAKE3 hash of a content: what [`Meta`] has of a file's.
///
/// # Errors
///
/// If it cannot be read.
pub async fn content_hash(content: &mut (impl AsyncRead + Unpin)) -> io::Result<Hash> {
    let (mut hasher, mut part) = (blake3::Hasher::new(), vec![0; SEGMENT_BYTES]);
    loop {
        match content.read(&mut part).await? {
            0 => return Ok(Hash(*hasher.finalize().as_bytes())),
            length => hasher.update(&part[..length]),
        };
    }
}

/// Whether a leaf is that of a file of which its readers are to learn exactly this. What a leaf tells them is authenticated under the partition's key
/// together with the hashes of the shards, so a leaf of another content, path, time, volume or key is not.
fn stands_for(leaf: &Leaf, code: Code, (volume, key): (&Hash, &PartitionKey), meta: &Meta) -> bool {
    let is_at = |path: Path| leaf.tag == leaf::tag(key.tags(), &path);
    leaf.is_of(code) && Path::new(&meta.path).is_some_and(is_at) && segments::open_meta(key, volume, leaf).as_ref() == Some(meta)
}

impl Volume {
    /// Whether a leaf that [`Volume::put`] returned at a height, in this process or an earlier one, can be committed for a file without sending it
    /// again: it is of exactly this content, came lately, and enough relays have its shards. Nothing is encrypted for that, so no write id ever
    /// serves a second content.
    pub async fn is_sent(&self, key: &PartitionKey, (leaf, height): (&Leaf, u64), meta: &Meta) -> bool {
        self.is_recent(height) && stands_for(leaf, self.record.code, (&self.id, key), meta) && self.holds(leaf).await
    }

    /// Whether relays will sign for what was sent at a height, and half of that time is left for the rest of a commit.
    pub fn is_recent(&self, height: u64) -> bool {
        height.saturating_add(wire::signed_for(self.chain.params().rent.orphan_shard_ttl) / 2) >= self.chain.height()
    }

    /// Whether as many relays have their shard of a file as a commit needs.
    async fn holds(&self, leaf: &Leaf) -> bool {
        // Of an empty shard no part can be asked for, and it costs nothing to send it.
        if leaf.shard_bytes == 0 {
            return false;
        }
        let needed = self.record.code.quorum();
        let asking = (0..self.relays.len()).map(|slot| self.look_for(leaf, slot));
        let answers = quorum::ask(asking, needed, quorum::GRACE).await;
        answers.iter().filter(|answer| answer.is_ok()).count() >= needed
    }

    /// Looks for the shard of a slot: its relay shows the first byte, with the way to the shard's hash. One that cannot be reached is not asked again,
    /// and one that lacks the shard may be sent others.
    async fn look_for(&self, leaf: &Leaf, slot: usize) -> Result<(), String> {
        if self.failed().contains(&slot) {
            return Err("it failed a moment ago".to_owned());
        }
        let shown = async {
            let shard = leaf.shards.get(slot).ok_or(LinkError::False)?;
            self.link(slot).await?.part(shard, leaf.shard_bytes, 0, 1).await
        };
        shown.await.map(drop).map_err(|error: LinkError| {
            if matches!(error, LinkError::Unreachable { .. }) {
                self.fail(slot);
            }
            error.to_string()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::seal_meta;
    use cowboy_types::wire::Fixed;
    use cowboy_types::{Blob, List, Text};
    use cowboy_volumes::Name;

    const VOLUME: Hash = Hash([3; 32]);
    const CODE: Code = Code { data: 2, parity: 1 };

    fn meta() -> Meta {
        Meta {
            path: Text::new("notes/a").expect("short"),
            size: 9,
            hash: Hash([4; 32]),
            written_ms: 5,
            kind: Text::new("text/plain").expect("short"),
        }
    }

    fn key(secret: u8) -> PartitionKey {
        PartitionKey::owned(&[secret; 32], &VOLUME, &Name::new("notes").expect("a name"))
    }

    fn leaf_of(meta: &Meta, key: &PartitionKey) -> Leaf {
        let mut leaf = Leaf {
            tag: leaf::tag(key.tags(), &Path::new(&meta.path).expect("a path")),
            write_id: Fixed([7; 16]),
            ciphertext_bytes: 25,
            shard_bytes: CODE.shard_bytes(25),
            shards: List::new(vec![Hash([1; 32]); 3]).expect("few"),
            meta: Blob::default(),
        };
        leaf.meta = seal_meta(key, &VOLUME, &leaf, meta);
        leaf
    }

    /// A leaf that was kept stands for the content that was sent with its write id, and for no other: not for a changed, touched or moved file, not under
    /// another key, in another volume or with another number of shards, and not where it was changed itself.
    #[test]
    fn a_leaf_stands_for_one_content() {
        let leaf = leaf_of(&meta(), &key(1));
        assert!(stands_for(&leaf, CODE, (&VOLUME, &key(1)), &meta()));
        for change in [
            |meta: &mut Meta| meta.hash = Hash([5; 32]),
            |meta: &mut Meta| meta.size += 1,
            |meta: &mut Meta| meta.written_ms += 1,
            |meta: &mut Meta| meta.path = Text::new("notes/b").expect("short"),
            |meta: &mut Meta| meta.kind = Text::new("text/html").expect("short"),
        ] {
            let mut other = meta();
            change(&mut other);
            assert!(!stands_for(&leaf, CODE, (&VOLUME, &key(1)), &other), "{other:?}");
        }
        assert!(!stands_for(&leaf, CODE, (&VOLUME, &key(2)), &meta()));
        assert!(!stands_for(&leaf, CODE, (&Hash([4; 32]), &key(1)), &meta()));
        assert!(!stands_for(&leaf, Code { data: 2, parity: 2 }, (&VOLUME, &key(1)), &meta()));
        for change in [
            |leaf: &mut Leaf| leaf.write_id.0[0] ^= 1,
            |leaf: &mut Leaf| leaf.tag.0[0] ^= 1,
            |leaf: &mut Leaf| leaf.shards = List::new(vec![Hash([2; 32]); 3]).expect("few"),
        ] {
            let mut changed = leaf.clone();
            change(&mut changed);
            assert!(!stands_for(&changed, CODE, (&VOLUME, &key(1)), &meta()));
        }
        let public = PartitionKey::public();
        let mut moved = leaf_of(&meta(), &public);
        assert!(stands_for(&moved, CODE, (&VOLUME, &public), &meta()));
        moved.tag.0[0] ^= 1;
        assert!(!stands_for(&moved, CODE, (&VOLUME, &public), &meta()), "nothing authenticates the place in a public volume");
    }

    /// The hash of a content is that which a reader checks, however it comes.
    #[tokio::test]
    async fn a_content_has_its_hash() {
        for length in [0, 1, SEGMENT_BYTES, SEGMENT_BYTES + 1, 200_000] {
            let bytes = vec![9; length];
            let found = content_hash(&mut &bytes[..]).await.expect("it is read");
            assert_eq!(found, Hash(*blake3::hash(&bytes).as_bytes()), "{length} bytes");
        }
    }
}
