//! Puts under conditions, in a file of the project: a client that repeats one after this program was started anew finds its own file (decision 747).
//!
//! A line says of a file's record which request put it, and when. It is written before the commit, so that it is there whatever becomes of the program.

use super::repeats::{KEPT, LASTS};
use cowboy_host::{clock, files};
use cowboy_types::{Hash, blake3};
use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// The most bytes of the file, before it is written anew.
const MAX_BYTES: u64 = 1 << 20;

/// Which request put a file, and when: ms since 1970.
type Request = (Hash, u64);

/// The file. Without one, nothing is kept.
#[derive(Default)]
pub(crate) struct Requests {
    file: Option<File>,
    length: u64,
    /// The newest lines of this program.
    lines: VecDeque<String>,
    /// What programs before this one noted, by the records of the files.
    earlier: BTreeMap<Hash, Request>,
}

fn is_fresh(now: u64, at: u64) -> bool {
    now.saturating_sub(at) < clock::as_ms(LASTS)
}

/// What a line says. None where it says anything else: a program that is killed leaves a part of one.
fn parse(line: &str) -> Option<(Hash, Request)> {
    let mut words = line.split(' ');
    let mut hash = || -> Option<Hash> {
        let mut bytes = [0; 32];
        hex::decode_to_slice(words.next()?, &mut bytes).ok()?;
        Some(Hash(bytes))
    };
    let (record, request) = (hash()?, hash()?);
    Some((record, (request, words.next()?.parse().ok()?)))
}

/// What [`parse`] reads. It begins with the end of the line before, of which there may be a part only.
fn line(record: &Hash, (request, at): &Request) -> String {
    format!("\n{} {} {at}", hex::encode(record.0), hex::encode(request.0))
}

/// What a file has that is written anew: the newest of what earlier programs noted and is fresh, and the newest lines of this one.
fn newest(now: u64, earlier: &BTreeMap<Hash, Request>, lines: &VecDeque<String>) -> String {
    let mut fresh: Vec<_> = earlier.iter().filter(|(_, (_, at))| is_fresh(now, *at)).collect();
    fresh.sort_by_key(|(_, (_, at))| Reverse(*at));
    fresh.into_iter().take(KEPT).map(|(record, request)| line(record, request)).chain(lines.iter().cloned()).collect()
}

impl Requests {
    /// Opens a file, which is made where it is missing, with what is fresh in it.
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            files::create_folder(folder)?;
        }
        let file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        let mut bytes = Vec::new();
        (&file).take(2 * MAX_BYTES).read_to_end(&mut bytes)?;
        let now = clock::now_ms();
        let noted = String::from_utf8_lossy(&bytes).lines().filter_map(parse).filter(|(_, (_, at))| is_fresh(now, *at)).collect();
        let length = u64::try_from(bytes.len()).map_err(io::Error::other)?;
        Ok(Self { file: Some(file), length, lines: VecDeque::new(), earlier: noted })
    }

    /// Notes the request that puts a file with this record.
    pub(super) fn note(&mut self, now: u64, record: &Hash, caller: &str) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let line = line(record, &(blake3(&[caller.as_bytes()]), now));
        if self.lines.len() >= KEPT {
            self.lines.pop_front();
        }
        self.lines.push_back(line.clone());
        let is_full = self.length >= MAX_BYTES;
        let text = if is_full { newest(now, &self.earlier, &self.lines) } else { line };
        if is_full {
            file.set_len(0)?;
            self.length = 0;
        }
        file.write_all(text.as_bytes())?;
        self.length = self.length.saturating_add(u64::try_from(text.len()).map_err(io::Error::other)?);
        Ok(())
    }

    /// Whether a program before this one put a file with this record for this request.
    pub(super) fn is_of(&self, now: u64, record: &Hash, caller: &str) -> bool {
        let found = self.earlier.get(record);
        found.is_some_and(|(request, at)| *request == blake3(&[caller.as_bytes()]) && is_fresh(now, *at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    /// What was noted is there for the next program, for ten minutes, also behind a line that there was no time to end; the file is its owner's alone.
    #[test]
    fn the_next_program_knows_requests() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("requests").join("volume");
        let open = || Requests::open(&place).expect("it opens");
        let (now, long_ago) = (clock::now_ms(), clock::now_ms() - clock::as_ms(LASTS));
        open().note(now, &Hash([1; 32]), "one").expect("it is written");
        let mut torn = OpenOptions::new().append(true).open(&place).expect("it is there");
        torn.write_all(b"\n0202 03").expect("it is written");
        let mut requests = open();
        requests.note(now, &Hash([2; 32]), "two").expect("it is written");
        requests.note(long_ago, &Hash([3; 32]), "three").expect("it is written");
        assert!(!requests.is_of(now, &Hash([2; 32]), "two"), "of this program, others know");
        let requests = open();
        let known = |record: u8, caller: &str| requests.is_of(now, &Hash([record; 32]), caller);
        assert_eq!([known(1, "one"), known(2, "two"), known(3, "three"), known(1, "two")], [true, true, false, false]);
        assert!(!requests.is_of(now + clock::as_ms(LASTS), &Hash([1; 32]), "one"));
        assert_eq!(fs::metadata(&place).expect("it is there").permissions().mode() & 0o777, 0o600);
    }

    /// However many requests come, the file is bounded, and has the newest.
    #[test]
    fn the_file_is_bounded() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("requests");
        let (mut requests, now) = (Requests::open(&place).expect("it opens"), clock::now_ms());
        let record = |number: u32| blake3(&[&number.to_be_bytes()]);
        for number in 0..20_000 {
            requests.note(now, &record(number), "one").expect("it is written");
        }
        assert!(fs::metadata(&place).expect("it is there").len() <= MAX_BYTES + 1_024);
        let next = Requests::open(&place).expect("it opens");
        assert!((19_900..20_000).all(|number| next.is_of(now, &record(number), "one")) && !next.is_of(now, &record(0), "one"));
    }
    /// A file that is written anew has what earlier programs noted, too, unless it is too old or too much.
    #[test]
    fn a_full_file_has_the_requests_of_earlier_programs() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("requests");
        let open = || Requests::open(&place).expect("it opens");
        let (now, record) = (clock::now_ms(), |number: u32| blake3(&[&number.to_be_bytes()]));
        open().note(now, &record(0), "one").expect("it is written");
        let mut requests = open();
        for number in 1..10_000 {
            requests.note(now, &record(number), "one").expect("it is written");
        }
        let next = open();
        assert!([0, 9_000, 9_999].iter().all(|number| next.is_of(now, &record(*number), "one")));
        let later = now + clock::as_ms(LASTS);
        assert_eq!(newest(later, &next.earlier, &VecDeque::new()), "");
        let many: BTreeMap<Hash, Request> = (0..20_000).map(|number| (record(number), (Hash::ZERO, now + u64::from(number)))).collect();
        let kept = newest(now, &many, &VecDeque::new());
        assert_eq!(kept.lines().filter_map(parse).count(), KEPT);
        assert!(kept.lines().filter_map(parse).any(|(found, _)| found == record(19_999)), "the newest");
    }
}
