//! Old blocks, packed: a row each would leave the pages of the embedded store half empty.
//!
//! The embedded store halves a page that is full, and rows that come in ascending order never fill the halves again. Blocks without work
//! also repeat most of the block before: the genesis, the leaders, the parent's digest. So a run of [`SECTION`] blocks that are old enough
//! becomes one compressed value, in pieces that fill a page each. A row of the same block counts more than what is packed.
//!
//! Only blocks that are small are packed: one with many transactions fills its pages by itself.

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use std::{
    collections::VecDeque,
    io::{self, Read as _, Write as _},
    ops::Range,
    sync::{Arc, Mutex},
};

/// Blocks of a section. Part of the format on the disk.
pub(crate) const SECTION: u64 = 256;

/// The most bytes of a block, its certificate and its carry that are packed.
const MAX_BYTES: usize = 2_048;

/// Bytes of a piece: with the embedded store's own, a page.
pub(crate) const PIECE: usize = 4_072;

/// Sections that stay unpacked in memory.
const MAX_CACHED: usize = 4;

/// The rows of a block that are packed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packed {
    /// The encoded block.
    pub(crate) block: Vec<u8>,
    /// Its certificate.
    pub(crate) certificate: Option<Vec<u8>>,
    /// What the driver left for itself.
    pub(crate) carry: Option<Vec<u8>>,
}

impl Packed {
    fn parts(&self) -> [Option<&Vec<u8>>; 3] {
        [Some(&self.block), self.certificate.as_ref(), self.carry.as_ref()]
    }

    pub(crate) fn is_small(&self) -> bool {
        self.parts().into_iter().flatten().map(Vec::len).sum::<usize>() <= MAX_BYTES
    }
}

/// The packed blocks of a section: for each of its numbers, where the block is packed.
pub(crate) type Blocks = Vec<Option<Packed>>;

/// The section of a block.
pub(crate) fn section_of(number: u64) -> u64 {
    number / SECTION
}

/// The numbers of a section.
pub(crate) fn numbers(section: u64) -> Range<u64> {
    section.saturating_mul(SECTION)..section.saturating_add(1).saturating_mul(SECTION)
}

/// A section, compressed. Each part stands behind its length and one more in big-endian; 0 says that there is none.
pub(crate) fn compress(blocks: &Blocks) -> io::Result<Vec<u8>> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    for block in blocks {
        for part in block.as_ref().map_or([None; 3], Packed::parts) {
            let length = part.map_or(0, |part| part.len() + 1);
            let length = u16::try_from(length).map_err(|_| io::Error::other("a part is longer than what is packed"))?;
            encoder.write_all(&length.to_be_bytes())?;
            encoder.write_all(part.map_or(&[], Vec::as_slice))?;
        }
    }
    encoder.finish()
}

/// The section in these bytes, or `None` where they are none.
pub(crate) fn decompress(bytes: &[u8]) -> Option<Blocks> {
    let most = u64::try_from(MAX_BYTES + 6).ok()?.checked_mul(SECTION)?;
    let mut raw = Vec::new();
    DeflateDecoder::new(bytes).take(most).read_to_end(&mut raw).ok()?;
    let mut rest = raw.as_slice();
    let mut part = || {
        let (length, tail) = rest.split_first_chunk::<2>()?;
        let (part, tail) = match usize::from(u16::from_be_bytes(*length)).checked_sub(1) {
            None => (None, tail),
            Some(length) => tail.split_at_checked(length).map(|(part, tail)| (Some(part.to_vec()), tail))?,
        };
        rest = tail;
        Some(part)
    };
    let mut blocks = Blocks::new();
    for _ in 0..SECTION {
        let [block, certificate, carry] = [part()?, part()?, part()?];
        blocks.push(block.map(|block| Packed { block, certificate, carry }));
    }
    rest.is_empty().then_some(blocks)
}

/// Sections that were read lately, the newest last. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cache(Arc<Mutex<VecDeque<(u64, Arc<Blocks>)>>>);

impl Cache {
    pub(crate) fn get(&self, section: u64) -> Option<Arc<Blocks>> {
        let cached = self.0.lock().expect("nothing panics while it holds the lock");
        cached.iter().find(|(number, _)| *number == section).map(|(_, blocks)| blocks.clone())
    }

    pub(crate) fn put(&self, section: u64, blocks: Arc<Blocks>) {
        let mut cached = self.0.lock().expect("nothing panics while it holds the lock");
        cached.retain(|(number, _)| *number != section);
        cached.push_back((section, blocks));
        if cached.len() > MAX_CACHED {
            cached.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(length: usize) -> Packed {
        Packed { block: vec![7; length], certificate: (length.is_multiple_of(2)).then(|| vec![8; 131]), carry: Some(Vec::new()) }
    }

    #[test]
    fn a_section_comes_back_as_it_was() {
        let blocks: Blocks = (0..256).map(|number| (number % 5 != 0).then(|| packed(400 + number))).collect();
        let bytes = compress(&blocks).expect("it compresses");
        assert!(bytes.len() < 20_000, "{} bytes", bytes.len());
        assert_eq!(decompress(&bytes), Some(blocks));
        for other in [&bytes[..bytes.len() - 1], &bytes[..20], &[][..], b"no section"] {
            assert_eq!(decompress(other), None);
        }
    }

    #[test]
    fn a_section_that_claims_more_than_is_packed_is_none() {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        (0..1_000).for_each(|_| encoder.write_all(&[0; 100_000]).expect("it writes"));
        assert_eq!(decompress(&encoder.finish().expect("it compresses")), None);
    }

    #[test]
    fn only_small_blocks_are_packed() {
        assert!(packed(MAX_BYTES - 131).is_small());
        assert!(!packed(MAX_BYTES + 1).is_small());
    }
}
