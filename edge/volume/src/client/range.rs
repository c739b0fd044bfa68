//! Reading a part of a file: only the stripes that carry it are fetched.

use super::whole::{Sums, Whole};
use super::{Entry, Volume, VolumeError};
use crate::cells::{self, Stripe};
use crate::keys::PartitionKey;
use crate::segments::{Cipher, SEGMENT_BYTES};
use cowboy_volumes::{Code, Path};
use futures::StreamExt as _;
use std::ops::Range;
use std::pin::pin;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

/// Stripes that are fetched ahead.
const AHEAD: usize = 4;

/// Bytes of a whole segment.
const SEGMENT: u64 = SEGMENT_BYTES as u64;

/// A segment of a file.
pub(super) struct Segment {
    /// Its content.
    pub(super) bytes: Vec<u8>,
    /// Whether a slot gave nothing for it, so that some of it may be computed out of the cells of others.
    pub(super) is_computed: bool,
}

/// How many segments a file of this length has.
pub(super) fn count(size: u64) -> u64 {
    size.div_ceil(SEGMENT).max(1)
}

/// The segments that carry a part of a file.
fn carrying(part: &Range<u64>) -> Range<u64> {
    part.start / SEGMENT..part.end.div_ceil(SEGMENT)
}

/// The stripes that carry a part of the ciphertext, and where the first of them begins in it.
fn stripes_of(code: Code, length: u64, part: &Range<u64>) -> (Vec<Stripe>, u64) {
    let (mut at, mut start, mut found) = (0_u64, None, Vec::new());
    for stripe in cells::stripes(code, length) {
        let end = at.saturating_add(stripe.length);
        if at < part.end && end > part.start {
            start.get_or_insert(at);
            found.push(stripe);
        }
        at = end;
    }
    (found, start.unwrap_or(part.start))
}

impl Volume {
    /// Writes a part of a file's content out, as much of it as there is. Each segment is checked before it is written: one of a public volume that was
    /// computed out of other cells against the whole file, which is read once for it (decision 649).
    ///
    /// # Errors
    ///
    /// If too few relays have it, or it does not decrypt.
    pub async fn get_part(
        &self,
        entry: &Entry,
        key: &PartitionKey,
        part: Range<u64>,
        out: &mut (impl AsyncWrite + Unpin),
    ) -> Result<(), VolumeError> {
        let part = part.start.min(entry.meta.size)..part.end.min(entry.meta.size);
        if part.is_empty() {
            return Ok(());
        }
        if part == (0..entry.meta.size) {
            // All of it is checked as a whole, too: in a public volume nothing else says that the shards are of one file.
            return self.get(entry, key, out).await;
        }
        let numbers = carrying(&part);
        let mut number = numbers.start;
        let write = async |Segment { bytes, is_computed }| {
            if is_computed && key.is_public() && !self.sums_of(entry, key).await?.has(number, &bytes) {
                return Err(VolumeError::Damaged(entry.meta.path.to_string()));
            }
            let at = number.saturating_mul(SEGMENT);
            let within = |place: u64| usize::try_from(place.saturating_sub(at)).unwrap_or(usize::MAX).min(bytes.len());
            out.write_all(&bytes[within(part.start)..within(part.end)]).await?;
            number = number.saturating_add(1);
            Ok::<(), VolumeError>(())
        };
        self.segments(entry, key, numbers, write).await?;
        Ok(out.flush().await?)
    }

    /// Hands these segments of a file on, in order, each once it is checked. Stripes are fetched ahead.
    pub(super) async fn segments(
        &self,
        entry: &Entry,
        key: &PartitionKey,
        numbers: Range<u64>,
        mut each: impl AsyncFnMut(Segment) -> Result<(), VolumeError>,
    ) -> Result<(), VolumeError> {
        let text = entry.meta.path.to_string();
        let damaged = || VolumeError::Damaged(text.clone());
        let path = Path::new(&text).ok_or_else(damaged)?;
        let (leaf, cipher) = (&entry.leaf, Cipher::new(key, &entry.leaf.write_id.0, &self.id, &path));
        let (length, last) = (leaf.ciphertext_bytes, count(entry.meta.size) - 1);
        if cipher.length(entry.meta.size) != length {
            return Err(damaged());
        }
        let sealed = u64::try_from(cipher.segment()).map_err(|_| damaged())?;
        let part = numbers.start.saturating_mul(sealed)..numbers.end.saturating_mul(sealed).min(length);
        let (stripes, start) = stripes_of(self.record.code, length, &part);
        let fetched = futures::stream::iter(stripes)
            .map(async |stripe| {
                let (data, is_computed) = self.stripe(leaf, stripe).await?;
                Ok::<_, VolumeError>((cells::join(stripe, data), is_computed))
            })
            .buffered(AHEAD);
        let mut fetched = pin!(fetched);
        let mut skipped = usize::try_from(part.start.saturating_sub(start)).map_err(|_| damaged())?;
        let (mut rest, mut is_computed) = (Vec::<u8>::new(), false);
        for number in numbers {
            let wanted = usize::try_from(length.saturating_sub(number.saturating_mul(sealed)).min(sealed)).map_err(|_| damaged())?;
            while rest.len() < wanted {
                let (stripe, is_of_others) = fetched.next().await.ok_or_else(damaged)??;
                is_computed = is_of_others || (is_computed && !rest.is_empty());
                rest.extend(stripe.get(skipped..).unwrap_or_default());
                skipped = 0;
            }
            let mut bytes: Vec<u8> = rest.drain(..wanted).collect();
            if !cipher.open(number, number == last, &mut bytes) {
                return Err(damaged());
            }
            each(Segment { bytes, is_computed }).await?;
        }
        Ok(())
    }

    /// The hashes of a public file's segments, known from a file that is as long and whole as its record says. The first question reads the file.
    async fn sums_of(&self, entry: &Entry, key: &PartitionKey) -> Result<Sums, VolumeError> {
        let reading = async {
            let mut whole = Whole::default();
            let add = async |segment: Segment| {
                whole.add(&segment.bytes);
                Ok::<(), VolumeError>(())
            };
            self.segments(entry, key, 0..count(entry.meta.size), add).await?;
            whole.finish(&entry.meta.hash).ok_or_else(|| VolumeError::Damaged(entry.meta.path.to_string()))
        };
        self.sums.learned(entry, reading).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A part is carried by the stripes that it touches and by no other, whatever the code and wherever it begins.
    #[test]
    fn a_part_has_its_stripes() {
        for code in [Code { data: 4, parity: 2 }, Code { data: 1, parity: 1 }, Code { data: 2, parity: 1 }] {
            let full = u64::from(code.data) * 65_536;
            for length in [1, full - 1, full, full + 1, 5 * full + 7] {
                for (start, end) in [(0, 1), (0, length), (length - 1, length), (full - 1, full + 1), (2 * full, 2 * full + 1)] {
                    let part = start.min(length)..end.min(length);
                    if part.is_empty() {
                        continue;
                    }
                    let (stripes, first) = stripes_of(code, length, &part);
                    let expected = (part.end - 1) / full - part.start / full + 1;
                    assert_eq!(u64::try_from(stripes.len()).expect("few"), expected, "{part:?} of {length}");
                    assert_eq!(first, part.start / full * full, "{part:?} of {length}");
                    let carried: u64 = stripes.iter().map(|stripe| stripe.length).sum();
                    assert!(first <= part.start && first + carried >= part.end);
                }
            }
        }
        assert_eq!(stripes_of(Code { data: 4, parity: 2 }, 0, &(0..0)), (Vec::new(), 0));
    }

    /// Segments of a part, at their edges; an empty file has one.
    #[test]
    fn a_part_has_its_segments() {
        assert_eq!([0, 1, SEGMENT, SEGMENT + 1].map(count), [1, 1, 1, 2]);
        for (part, expected) in
            [(0..1, 0..1), (SEGMENT - 1..SEGMENT + 1, 0..2), (SEGMENT..2 * SEGMENT, 1..2), (3 * SEGMENT..3 * SEGMENT + 1, 3..4)]
        {
            assert_eq!(carrying(&part), expected, "{part:?}");
        }
    }
}
