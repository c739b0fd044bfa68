//! The keys of partitions and files (decisions 151, 152, 603).

use cowboy_types::Hash;
use cowboy_volumes::{Name, Path};
use hkdf::Hkdf;
use sha2::Sha256;
use zeroize::Zeroizing;

/// Bytes of a key.
pub const KEY_BYTES: usize = 32;

/// The key of a partition. Of a public volume it is zeros, and nothing is encrypted.
#[derive(Clone)]
pub struct PartitionKey {
    key: Zeroizing<[u8; KEY_BYTES]>,
    /// Which of the partition's keys it is, where that is known.
    version: Option<u64>,
    is_public: bool,
}

/// A key that follows from others.
fn derived(secret: &[u8], salt: &[u8], info: &[&[u8]]) -> Zeroizing<[u8; KEY_BYTES]> {
    let mut key = Zeroizing::new([0; KEY_BYTES]);
    Hkdf::<Sha256>::new(Some(salt), secret).expand_multi_info(info, &mut *key).expect("32 bytes are few");
    key
}

impl PartitionKey {
    /// Of a public volume.
    pub fn public() -> Self {
        Self { key: Zeroizing::new([0; KEY_BYTES]), version: None, is_public: true }
    }

    /// Of a volume whose key its owner keeps: HKDF-SHA256 of the owner's key, with volume and partition.
    pub fn owned(secret: &[u8; KEY_BYTES], volume: &Hash, partition: &Name) -> Self {
        let key = derived(secret, &volume.0, &[b"cowboy-partition-key-v1", &partition.partition().0]);
        Self { key, version: None, is_public: false }
    }

    /// Of a volume whose keys the committee makes: HKDF-SHA256 of its signature over the partition's identity.
    pub fn released(signature: &[u8]) -> Self {
        Self { key: derived(signature, &[], &[b"cowboy-partition-key-v1"]), version: None, is_public: false }
    }

    /// The same, as the key of this version: what is encrypted with it stands under no other one.
    pub fn at(self, version: u64) -> Self {
        Self { version: Some(version), ..self }
    }

    /// Its version, where that is known: a key of a public volume has none.
    pub fn version(&self) -> Option<u64> {
        self.version
    }

    /// Whether nothing is encrypted under it.
    pub fn is_public(&self) -> bool {
        self.is_public
    }

    /// The key of tags.
    pub fn tags(&self) -> &[u8; KEY_BYTES] {
        &self.key
    }

    /// The key of a file's content.
    pub(crate) fn object(&self, write_id: &[u8; 16], volume: &Hash, path: &Path) -> Zeroizing<[u8; KEY_BYTES]> {
        derived(&*self.key, write_id, &[b"cowboy-object-v1", &volume.0, path.as_str().as_bytes()])
    }

    /// The key of what a leaf tells readers. It does not depend on the path, which readers learn from it.
    pub(crate) fn meta(&self, write_id: &[u8; 16], volume: &Hash) -> Zeroizing<[u8; KEY_BYTES]> {
        derived(&*self.key, write_id, &[b"cowboy-meta-v1", &volume.0])
    }
}
