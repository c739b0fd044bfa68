//! A reference to a file in a volume (decision 160).

use cowboy_types::Hash;

/// The multihash code and length of BLAKE3.
const MULTIHASH: [u8; 2] = [0x1E, 0x20];

/// The version byte of a reference.
const VERSION: u8 = 1;

/// A file, by its content and the volume that keeps it. The volume's escrow says for how long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlobRef {
    /// The BLAKE3 hash of the content.
    pub hash: Hash,
    /// Bytes of the content.
    pub size: u64,
    /// The first 20 bytes of the volume's id.
    pub volume: [u8; 20],
    /// Whether the volume is public.
    pub is_public: bool,
}

impl BlobRef {
    /// Bytes of a reference.
    pub const BYTES: usize = 64;

    /// The reference to a file of a volume.
    pub fn new(volume: &Hash, is_public: bool, hash: Hash, size: u64) -> Self {
        let mut first = [0; 20];
        first.iter_mut().zip(volume.0).for_each(|(to, from)| *to = from);
        Self { hash, size, volume: first, is_public }
    }

    /// The reference of these bytes, or none where they are none.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; Self::BYTES] = bytes.try_into().ok()?;
        let (version, rest) = bytes.split_first()?;
        let (multihash, rest) = rest.split_first_chunk::<2>()?;
        let (hash, rest) = rest.split_first_chunk::<32>()?;
        let (size, rest) = rest.split_first_chunk::<8>()?;
        let (volume, flags) = rest.split_first_chunk::<20>()?;
        let is_known = *version == VERSION && *multihash == MULTIHASH && matches!(flags, [0 | 1]);
        is_known.then(|| Self { hash: Hash(*hash), size: u64::from_be_bytes(*size), volume: *volume, is_public: flags == [1] })
    }

    /// The bytes: 0x01 ‖ 0x1e20 ‖ BLAKE3 hash ‖ size, eight bytes, big-endian ‖ 20 bytes of the volume's id ‖ flags.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let parts = [&[VERSION][..], &MULTIHASH, &self.hash.0, &self.size.to_be_bytes(), &self.volume, &[u8::from(self.is_public)]];
        let bytes = parts.concat();
        bytes.try_into().unwrap_or([0; Self::BYTES])
    }
}
