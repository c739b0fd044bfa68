//! `.cowboy/uploads`: files that relays have and that no commit names yet, so that a command that was killed does not send them again (decision 599).
//!
//! What is kept of a file is its leaf. Whether it stands for the content that is there now says the leaf itself, and nothing is ever encrypted again
//! under a write id that was kept: so no nonce of a key serves two contents, whatever becomes of these files.

use super::kept_name;
use crate::client::session::Session;
use bytes::Bytes;
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_api::keystore::CONFIG_DIRECTORY;
use cowboy_host::files;
use cowboy_types::wire::Fixed;
use cowboy_volume::Volume;
use cowboy_volumes::{Leaf, Name};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What the names of these files end with.
const EXTENSION: &str = "leaf";

/// The files of one partition that were sent and not committed: a file for each, readable by its owner alone.
pub(super) struct Journal {
    folder: PathBuf,
}

/// A leaf, and the height at which the chain was before it was sent; none where the file has none.
fn read(path: &Path) -> Option<(Leaf, u64)> {
    let bytes = files::read(path).ok()??;
    let (height, leaf) = bytes.split_first_chunk::<8>()?;
    Some((Leaf::decode(Bytes::copy_from_slice(leaf)).ok()?, u64::from_be_bytes(*height)))
}

impl Journal {
    /// That of a partition. A volume that was deleted and created again, maybe with another code, has others.
    pub(super) fn of(session: &Session, volume: &Volume, partition: &Name) -> Self {
        let name = kept_name(&volume.chain().genesis, volume.id(), &partition.partition());
        let name = format!("{name}-{}", volume.record().generation.0);
        Self { folder: session.project.join(CONFIG_DIRECTORY).join("uploads").join(name) }
    }

    fn path(&self, tag: &Fixed<32>) -> PathBuf {
        self.folder.join(hex::encode(tag.0)).with_extension(EXTENSION)
    }

    /// Keeps the leaf of a file that relays have.
    pub(super) fn keep(&self, leaf: &Leaf, height: u64) -> io::Result<()> {
        files::create_folder(&self.folder)?;
        files::replace(&self.path(&leaf.tag), &[&height.to_be_bytes()[..], &leaf.encode()].concat())
    }

    /// The leaf that was kept of the file at a place, and the height before it was sent.
    pub(super) fn kept(&self, tag: &Fixed<32>) -> Option<(Leaf, u64)> {
        read(&self.path(tag)).filter(|(leaf, _)| leaf.tag == *tag)
    }

    /// Forgets a file that is committed.
    pub(super) fn forget(&self, tag: &Fixed<32>) {
        // What stays is forgotten when it is old.
        let _ = fs::remove_file(self.path(tag));
    }

    /// Forgets what is too old to be committed, and what is no leaf.
    pub(super) fn forget_old(&self, is_recent: impl Fn(u64) -> bool) {
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let is_one = path.extension().is_some_and(|extension| extension == EXTENSION);
            if is_one && read(&path).is_none_or(|(_, height)| !is_recent(height)) {
                let _ = fs::remove_file(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cowboy_types::{Blob, List};
    use std::os::unix::fs::PermissionsExt as _;

    fn leaf(number: u8) -> Leaf {
        Leaf {
            tag: Fixed([number; 32]),
            write_id: Fixed([number; 16]),
            ciphertext_bytes: 5,
            shard_bytes: 64,
            shards: List::default(),
            meta: Blob::default(),
        }
    }

    /// What was sent is known until it is committed or too old; the files are their owner's alone, and one that is damaged stands for nothing.
    #[test]
    fn what_was_sent_is_known() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal { folder: folder.path().join("uploads") };
        let kept = |number: u8| journal.kept(&Fixed([number; 32]));
        journal.forget_old(|_| false);
        assert_eq!(kept(1), None);
        for (number, height) in [(1, 10), (2, 20), (3, 30), (4, 40)] {
            journal.keep(&leaf(number), height).expect("it is written");
        }
        assert_eq!(kept(1), Some((leaf(1), 10)));
        let mode = fs::metadata(journal.path(&Fixed([1; 32]))).expect("its metadata").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(files::mode_for_others(&journal.folder), None, "others do not enter it");

        journal.keep(&leaf(1), 50).expect("it is written");
        journal.forget(&Fixed([2; 32]));
        fs::copy(journal.path(&Fixed([1; 32])), journal.path(&Fixed([3; 32]))).expect("it is copied");
        fs::write(journal.path(&Fixed([5; 32])), "half").expect("it is written");
        assert_eq!([1, 2, 3, 4, 5].map(kept), [Some((leaf(1), 50)), None, None, Some((leaf(4), 40)), None], "a place has its own leaf");
        journal.forget_old(|height| height >= 50);
        assert_eq!([1, 4].map(kept), [Some((leaf(1), 50)), None]);
        assert_eq!(fs::read_dir(&journal.folder).expect("a folder").count(), 2, "what is no leaf is forgotten, too");
        journal.forget(&Fixed([9; 32]));
    }
}
