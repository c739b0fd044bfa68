//! Encrypting a file in segments, so that a part of it can be read, and a cut or a swap is seen (decision 152).

use crate::keys::PartitionKey;
use aes_gcm::aead::{AeadInOut as _, KeyInit as _};
use aes_gcm::{Aes256Gcm, Key, Nonce, Tag};
use commonware_codec::{DecodeExt as _, Encode as _};
use cowboy_types::{Blob, Hash, Text, record};
use cowboy_volumes::leaf::META_BYTES;
use cowboy_volumes::name::PATH_BYTES;
use cowboy_volumes::{Leaf, Path};

/// Plain bytes of a segment; the last one of a file has fewer, or none where the file is empty.
pub const SEGMENT_BYTES: usize = 65_536;

/// Bytes of a segment's tag.
pub const TAG_BYTES: usize = 16;

/// What sets the nonce of a leaf's part for readers apart from those of segments.
const META: u8 = 2;

record! {
    /// What readers learn of a file.
    pub struct Meta {
        /// Its path.
        pub path: Text<PATH_BYTES>,
        /// Its length.
        pub size: u64,
        /// The BLAKE3 hash of its content.
        pub hash: Hash,
        /// When it was written: ms since 1970.
        pub written_ms: u64,
        /// What kind of content it is, as HTTP names it.
        pub kind: Text<64>,
    }
}

/// The cipher of a file's content; none where nothing is encrypted.
pub struct Cipher(Option<Aes256Gcm>);

fn cipher(key: &[u8; 32]) -> Aes256Gcm {
    Aes256Gcm::new(&Key::<Aes256Gcm>::from(*key))
}

/// The nonce of a segment: its number in eight bytes, big-endian, three zeros, and whether it is the last one.
fn nonce(number: u64, last: u8) -> Nonce<aes_gcm::aead::consts::U12> {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes[11] = last;
    Nonce::from(bytes)
}

impl Cipher {
    /// The cipher of a file.
    pub fn new(key: &PartitionKey, write_id: &[u8; 16], volume: &Hash, path: &Path) -> Self {
        Self((!key.is_public()).then(|| cipher(&key.object(write_id, volume, path))))
    }

    /// Bytes of ciphertext of a file with `size` bytes.
    pub fn length(&self, size: u64) -> u64 {
        let segments = size.div_ceil(SEGMENT_BYTES as u64).max(1);
        // A record may say that its file has any size.
        let tags = if self.0.is_some() { segments.saturating_mul(TAG_BYTES as u64) } else { 0 };
        size.saturating_add(tags)
    }

    /// Bytes of ciphertext of a whole segment.
    pub fn segment(&self) -> usize {
        SEGMENT_BYTES + if self.0.is_some() { TAG_BYTES } else { 0 }
    }

    /// Encrypts a segment in place.
    pub fn seal(&self, number: u64, is_last: bool, segment: &mut Vec<u8>) {
        if let Some(cipher) = &self.0 {
            let tag = cipher.encrypt_inout_detached(&nonce(number, u8::from(is_last)), &[], segment.as_mut_slice().into());
            segment.extend_from_slice(&tag.expect("a segment is short"));
        }
    }

    /// Decrypts a segment in place. False where it is not that segment of the file.
    pub fn open(&self, number: u64, is_last: bool, segment: &mut Vec<u8>) -> bool {
        let Some(cipher) = &self.0 else { return true };
        open(cipher, &nonce(number, u8::from(is_last)), &[], segment)
    }
}

fn open(cipher: &Aes256Gcm, nonce: &Nonce<aes_gcm::aead::consts::U12>, data: &[u8], bytes: &mut Vec<u8>) -> bool {
    let Some(length) = bytes.len().checked_sub(TAG_BYTES) else { return false };
    let Ok(tag) = <[u8; TAG_BYTES]>::try_from(&bytes[length..]) else { return false };
    bytes.truncate(length);
    cipher.decrypt_inout_detached(nonce, data, bytes.as_mut_slice().into(), &Tag::from(tag)).is_ok()
}

/// What a leaf's part for readers is bound to, so that a relay cannot give it to another file.
fn bound(leaf: &Leaf) -> Vec<u8> {
    let hashes: Vec<u8> = leaf.shards.iter().flat_map(|hash| hash.0).collect();
    [&leaf.tag.0[..], &leaf.ciphertext_bytes.to_be_bytes(), &hashes].concat()
}

/// What a leaf tells readers, encrypted.
pub fn seal_meta(key: &PartitionKey, volume: &Hash, leaf: &Leaf, meta: &Meta) -> Blob<META_BYTES> {
    let mut bytes = meta.encode().to_vec();
    if !key.is_public() {
        let cipher = cipher(&key.meta(&leaf.write_id.0, volume));
        let tag = cipher.encrypt_inout_detached(&nonce(u64::MAX, META), &bound(leaf), bytes.as_mut_slice().into());
        bytes.extend_from_slice(&tag.expect("it is short"));
    }
    Blob::new(bytes).expect("paths are short")
}

/// What a leaf tells readers; none where it is not for this key, or was changed.
pub fn open_meta(key: &PartitionKey, volume: &Hash, leaf: &Leaf) -> Option<Meta> {
    let mut bytes = leaf.meta.to_vec();
    let is_whole = key.is_public() || open(&cipher(&key.meta(&leaf.write_id.0, volume)), &nonce(u64::MAX, META), &bound(leaf), &mut bytes);
    is_whole.then(|| Meta::decode(bytes::Bytes::from(bytes)).ok()).flatten()
}
