//! What a public file has in each of its parts, learned by reading all of it once (decision 649).
//!
//! Nothing is encrypted in a public volume, so that no part of a file says by itself that it belongs to it. A cell that its own slot gave is proven by the
//! hash of the slot's shard. A cell that was computed out of others is proven by nothing but the hash of the whole file.

use super::{Entry, VolumeError};
use commonware_codec::Encode as _;
use cowboy_types::Hash;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Files of which the sums are kept: of 1 GiB they take half a MiB.
const FILES: usize = 4;

/// Failures to read files whole that are remembered.
const FAILURES: usize = 64;

/// How long it is remembered that a file is not what its record says: other relays may give another one later.
const DAMAGED_FOR: Duration = Duration::from_secs(600);

/// How long it is remembered that too few relays gave a file.
const LOST_FOR: Duration = Duration::from_secs(10);

/// Characters of the reasons of relays that are remembered.
const REASONS: usize = 1_024;

/// The hash of each segment of a file, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sums(Arc<[blake3::Hash]>);

impl Sums {
    /// Whether the segment with this number has this content.
    pub(super) fn has(&self, number: u64, segment: &[u8]) -> bool {
        let sum = usize::try_from(number).ok().and_then(|number| self.0.get(number));
        sum.is_some_and(|sum| *sum == blake3::hash(segment))
    }
}

/// A file while it is read.
#[derive(Default)]
pub(super) struct Whole {
    all: blake3::Hasher,
    sums: Vec<blake3::Hash>,
}

impl Whole {
    /// Adds the next segment.
    pub(super) fn add(&mut self, segment: &[u8]) {
        self.all.update(segment);
        self.sums.push(blake3::hash(segment));
    }

    /// The sums, where the file has this hash.
    pub(super) fn finish(self, hash: &Hash) -> Option<Sums> {
        (self.all.finalize().as_bytes() == &hash.0).then(|| Sums(self.sums.into()))
    }
}

/// Why a file could not be read whole. Reading it may have cost a gigabyte, so that this is remembered for a while (decision 666).
#[derive(Clone, Debug, PartialEq, Eq)]
enum Failure {
    /// It is not what its record says.
    Damaged,
    /// Too few relays gave it.
    Lost { what: String, needed: usize, found: usize, reasons: String },
}

impl Failure {
    /// The failure with this error; none where it says nothing of the file.
    fn of(error: &VolumeError) -> Option<Self> {
        match error {
            VolumeError::Damaged(_) => Some(Self::Damaged),
            VolumeError::Lost { what, needed, found, reasons } => {
                let reasons = reasons.chars().take(REASONS).collect();
                Some(Self::Lost { what: what.clone(), needed: *needed, found: *found, reasons })
            }
            _ => None,
        }
    }

    /// The error that a file at this path has.
    fn error(self, path: &str) -> VolumeError {
        match self {
            Self::Damaged => VolumeError::Damaged(path.to_owned()),
            Self::Lost { what, needed, found, reasons } => VolumeError::Lost { what, needed, found, reasons },
        }
    }

    const fn lasts(&self) -> Duration {
        match self {
            Self::Damaged => DAMAGED_FOR,
            Self::Lost { .. } => LOST_FOR,
        }
    }
}

/// The sums of the last files that were read whole, by the hashes of the files.
#[derive(Default)]
pub(super) struct Known {
    sums: Mutex<VecDeque<(Hash, Sums)>>,
    /// Files that are being read whole.
    turns: Mutex<BTreeMap<Hash, Weak<tokio::sync::Mutex<()>>>>,
    /// The last failures, by the hashes of the files' records, and when they were.
    failures: Mutex<VecDeque<(Hash, Instant, Failure)>>,
}

impl Entry {
    /// The hash of its record: what is remembered of a file is remembered by this, and not by the hash of the content, which any writer can name.
    pub fn record(&self) -> Hash {
        Hash(*blake3::hash(&self.leaf.encode()).as_bytes())
    }
}

impl Known {
    fn get(&self, hash: &Hash) -> Option<Sums> {
        let known = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|(of, _)| of == hash).map(|(_, sums)| sums.clone())
    }

    fn keep(&self, hash: Hash, sums: Sums) {
        let mut known = self.sums.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|(of, _)| *of != hash);
        known.push_back((hash, sums));
        if known.len() > FILES {
            known.pop_front();
        }
    }

    /// Held by whoever reads a file whole. Others that need it wait, and find what was learned (decision 656).
    fn turn(&self, hash: &Hash) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = turns.get(hash).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::default();
        turns.insert(*hash, Arc::downgrade(&turn));
        turn
    }

    /// Why the file of a record could not be read whole, where that was a moment before `now`.
    fn failure(&self, now: Instant, record: &Hash) -> Option<Failure> {
        let failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, at, failure) = failures.iter().find(|(of, ..)| of == record)?;
        (now.saturating_duration_since(*at) < failure.lasts()).then(|| failure.clone())
    }

    fn fail(&self, now: Instant, record: Hash, failure: Failure) {
        let mut failures = self.failures.lock().unwrap_or_else(PoisonError::into_inner);
        failures.retain(|(of, at, failure)| *of != record && now.saturating_duration_since(*at) < failure.lasts());
        if failures.len() >= FAILURES {
            failures.pop_front();
        }
        failures.push_back((record, now, failure));
    }

    /// The sums of a file, where they are known. Else one reader at a time reads the file, unless that failed a moment ago.
    ///
    /// # Errors
    ///
    /// As reading the file.
    pub(super) async fn learned(
        &self,
        entry: &Entry,
        reading: impl Future<Output = Result<Sums, VolumeError>>,
    ) -> Result<Sums, VolumeError> {
        let hash = entry.meta.hash;
        if let Some(sums) = self.get(&hash) {
            return Ok(sums);
        }
        let turn = self.turn(&hash);
        let _one = turn.lock().await;
        if let Some(sums) = self.get(&hash) {
            return Ok(sums);
        }
        let record = entry.record();
        if let Some(failure) = self.failure(Instant::now(), &record) {
            return Err(failure.error(&entry.meta.path));
        }
        let read = reading.await;
        match &read {
            Ok(sums) => self.keep(hash, sums.clone()),
            Err(error) => {
                if let Some(failure) = Failure::of(error) {
                    self.fail(Instant::now(), record, failure);
                }
            }
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cells::{self, Stripe};
    use crate::segments::{Meta, SEGMENT_BYTES};
    use cowboy_types::wire::Fixed;
    use cowboy_types::{Blob, List, Text};
    use cowboy_volumes::{Code, Leaf};
    use std::cell::Cell;

    const CODE: Code = Code { data: 2, parity: 1 };

    fn bytes(length: u64) -> Vec<u8> {
        (0..length).map(|number| number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()[7]).collect()
    }

    fn sums_of(file: &[u8], hash: &Hash) -> Option<Sums> {
        let mut whole = Whole::default();
        file.chunks(SEGMENT_BYTES).for_each(|segment| whole.add(segment));
        whole.finish(hash)
    }

    /// The cells of each stripe of a file, one of them changed after it was coded.
    fn cells_of(file: &[u8], changed: usize) -> Vec<(Stripe, Vec<Vec<u8>>)> {
        let (mut found, mut at) = (Vec::new(), 0);
        for stripe in cells::stripes(CODE, u64::try_from(file.len()).expect("short")) {
            let end = at + usize::try_from(stripe.length).expect("short");
            let mut cells = cells::encode(CODE, stripe, &file[at..end]);
            cells[changed][7] ^= 1;
            found.push((stripe, cells));
            at = end;
        }
        found
    }

    /// What is read while this slot is gone.
    fn read_without(cells: &[(Stripe, Vec<Vec<u8>>)], gone: usize) -> Vec<u8> {
        let read = |(stripe, cells): &(Stripe, Vec<Vec<u8>>)| {
            let left = cells.iter().enumerate().map(|(place, cell)| (place != gone).then(|| cell.clone())).collect();
            cells::join(*stripe, cells::decode(CODE, *stripe, left).expect("two of three"))
        };
        cells.iter().flat_map(read).collect()
    }

    /// The parity of a file is not what its writer says: with all data slots its parts are those of the file, and no part that is computed in the place of
    /// a data slot is. Of a file that is a code word, each part is the same, whichever slot is gone.
    #[test]
    fn computed_parts_are_of_the_file_or_are_refused() {
        let file = bytes(5 * 65_536 + 77);
        let hash = Hash(*blake3::hash(&file).as_bytes());
        let sums = sums_of(&file, &hash).expect("it is the file");
        let parts =
            |file: &[u8]| -> Vec<bool> { (0..).zip(file.chunks(SEGMENT_BYTES)).map(|(number, part)| sums.has(number, part)).collect() };
        assert_eq!(parts(&file), [true; 6]);
        let bad = cells_of(&file, 2);
        assert_eq!(read_without(&bad, 2), file);
        for gone in [0, 1] {
            let read = read_without(&bad, gone);
            assert!(parts(&read).contains(&false), "slot {gone} is gone");
            assert_eq!(sums_of(&read, &hash), None, "slot {gone} is gone: nothing is learned of another file");
        }
        let mut good = cells_of(&file, 2);
        good.iter_mut().for_each(|(_, cells)| cells[2][7] ^= 1);
        assert!((0..3).all(|gone| read_without(&good, gone) == file));
        assert!(!sums.has(1, &file[..SEGMENT_BYTES]) && !sums.has(6, b"") && !sums.has(u64::MAX, b""), "each part has its place");
    }

    /// One reader at a time reads a file whole, and waits for no other file.
    #[test]
    fn a_file_is_read_whole_by_one() {
        let known = Known::default();
        let (one, again, other) = (known.turn(&Hash([1; 32])), known.turn(&Hash([1; 32])), known.turn(&Hash([2; 32])));
        let held = one.try_lock().expect("nobody reads it");
        assert!(again.try_lock().is_err() && other.try_lock().is_ok());
        drop(held);
        assert!(again.try_lock().is_ok());
        drop((one, again, other));
        drop(known.turn(&Hash([3; 32])));
        assert_eq!(known.turns.lock().expect("nothing panics").len(), 1, "what is over is forgotten");
    }

    /// The last files are remembered, each once.
    #[test]
    fn few_files_are_remembered() {
        let known = Known::default();
        let (hash, sums) = (|number: u8| Hash([number; 32]), sums_of(b"a", &Hash(*blake3::hash(b"a").as_bytes())).expect("it is the file"));
        assert_eq!(known.get(&hash(0)), None);
        (0..6).for_each(|number| known.keep(hash(number), sums.clone()));
        known.keep(hash(5), sums.clone());
        let found: Vec<bool> = (0..7).map(|number| known.get(&hash(number)).is_some()).collect();
        assert_eq!(found, [false, false, true, true, true, true, false]);
    }

    fn entry(write_id: u8) -> Entry {
        let (path, kind) = (Text::new("notes/a").expect("short"), Text::new("").expect("short"));
        let meta = Meta { path, size: 1, hash: Hash(*blake3::hash(b"a").as_bytes()), written_ms: 0, kind };
        let (tag, write_id, shards) = (Fixed([0; 32]), Fixed([write_id; 16]), List::default());
        Entry { meta, leaf: Leaf { tag, write_id, ciphertext_bytes: 1, shard_bytes: 1, shards, meta: Blob::default() } }
    }

    /// A file that could not be read whole is not read again at once, whoever asks. Another file whose writer names the same content is.
    #[tokio::test]
    async fn failures_are_remembered() {
        let (known, reads) = (Known::default(), Cell::new(0));
        let learned = async |entry: &Entry, found: Result<Sums, VolumeError>| {
            let reading = async {
                reads.set(reads.get() + 1);
                found
            };
            known.learned(entry, reading).await
        };
        let damaged = || Err(VolumeError::Damaged("notes/a".to_owned()));
        for _ in 0..3 {
            assert!(matches!(learned(&entry(1), damaged()).await, Err(VolumeError::Damaged(path)) if path == "notes/a"));
        }
        assert_eq!(reads.get(), 1);
        let chain = || Err(VolumeError::NotFound);
        assert!(learned(&entry(2), chain()).await.is_err() && learned(&entry(2), chain()).await.is_err());
        assert_eq!(reads.get(), 3, "what says nothing of the file is not remembered");
        let sums = sums_of(b"a", &entry(1).meta.hash).expect("it is the file");
        assert_eq!(learned(&entry(2), Ok(sums.clone())).await.ok(), Some(sums.clone()));
        assert_eq!(learned(&entry(1), damaged()).await.ok(), Some(sums), "it is known by now what the content has");
        assert_eq!(reads.get(), 4);
    }

    /// What is remembered of failures passes, and is bounded however many files and reasons there are.
    #[test]
    fn few_failures_are_remembered() {
        let (known, now) = (Known::default(), Instant::now());
        let reasons = "x".repeat(REASONS + 1);
        let lost = VolumeError::Lost { what: "a stripe".to_owned(), needed: 4, found: 3, reasons };
        let lost = Failure::of(&lost).expect("it is of the file");
        assert!(matches!(lost.clone().error("p"), VolumeError::Lost { needed: 4, found: 3, reasons, .. } if reasons.len() == REASONS));
        for (failure, lasts) in [(Failure::Damaged, DAMAGED_FOR), (lost, LOST_FOR)] {
            known.fail(now, Hash([1; 32]), failure.clone());
            assert_eq!(known.failure(now, &Hash([1; 32])), Some(failure));
            assert_eq!((known.failure(now + lasts, &Hash([1; 32])), known.failure(now, &Hash([2; 32]))), (None, None));
        }
        for number in 0..=FAILURES {
            let number = u8::try_from(number).expect("few");
            known.fail(now, Hash([number; 32]), Failure::Damaged);
        }
        assert_eq!(known.failures.lock().expect("nothing panics").len(), FAILURES);
        known.fail(now + DAMAGED_FOR, Hash([0; 32]), Failure::Damaged);
        assert_eq!(known.failures.lock().expect("nothing panics").len(), 1, "what has passed is forgotten");
    }
}
