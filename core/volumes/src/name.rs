//! Names of volumes, partitions and files (decisions 149, 150).

use cowboy_types::{Address, Hash, keccak256, merkle};

/// The longest name of a volume, of a partition, or of a part of a path, in bytes.
pub const NAME_BYTES: usize = 64;

/// The longest path, in bytes.
pub const PATH_BYTES: usize = 512;

/// The most partitions of a volume.
pub const MAX_PARTITIONS: usize = 64;

/// A name of a volume or a partition: `[A-Za-z0-9_.-]{1,64}`, but neither `.` nor `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(String);

/// A path in a volume: the partition, then at least one part, with `/` between them. Parts are names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(String);

/// Whether a text is a name.
fn is_name(text: &str) -> bool {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte));
    is_plain && (1..=NAME_BYTES).contains(&text.len()) && !matches!(text, "." | "..")
}

impl Name {
    /// The name, or none where the text is not one.
    pub fn new(text: &str) -> Option<Self> {
        is_name(text).then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the volume that an account gives this name: keccak256("cowboy-volume:" ‖ account ‖ name).
    pub fn volume(&self, account: Address) -> Hash {
        keccak256(&[b"cowboy-volume:", &account.0, self.0.as_bytes()])
    }

    /// What stands for the partition of this name on the chain: keccak256("cowboy-partition:" ‖ name).
    pub fn partition(&self) -> Hash {
        keccak256(&[b"cowboy-partition:", self.0.as_bytes()])
    }
}

impl Path {
    /// The path, or none where the text is not one.
    pub fn new(text: &str) -> Option<Self> {
        let is_path = text.len() <= PATH_BYTES && text.contains('/') && text.split('/').all(is_name);
        is_path.then(|| Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The partition in which it lies.
    pub fn partition(&self) -> Name {
        Name(self.0.split('/').next().unwrap_or_default().to_owned())
    }

    /// The directory, partition included, and the name of the file in it.
    pub fn split(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or(("", &self.0))
    }
}

/// The root over a volume's partitions, which the chain and others name the manifest by: the tree over keccak256(0x00 ‖ partition ‖ root), in the
/// order of the partitions (decision 120).
pub fn manifest_root<'a>(partitions: impl Iterator<Item = (&'a Hash, &'a Hash)>) -> Hash {
    let digests: Vec<Hash> = partitions.map(|(partition, root)| keccak256(&[&[0], &partition.0, &root.0])).collect();
    merkle::root(&digests)
}
