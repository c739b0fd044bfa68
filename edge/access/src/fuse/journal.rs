//! Removals that failed, in a file of the project: the next mount of the volume tries them again (decision 624).
//!
//! Each line says of a path that the removal of a content failed, or that nothing is left to remove. A line that a program had no time or no room to end is
//! the last one, and stands for nothing (decision 633). Programs that mount the same volume share the file, and take turns with it.

use cowboy_host::files;
use cowboy_types::Hash;
use cowboy_volumes::Path;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path;

/// The most bytes of the file that are read.
const MAX_BYTES: u64 = 64 << 20;

/// What a line of a removal that failed begins with.
const FAILED: &str = "+";

/// What a line of a path begins with at which nothing is left to remove.
const OVER: &str = "-";

/// The most bytes of a line: its beginning, a hash and a path.
const LINE_BYTES: u64 = 1_024;

/// Removals that failed, with the content of each.
pub(crate) type Failed = BTreeMap<Path, Hash>;

/// What the name of the file ends with that is locked while a program reads the file or writes to it.
const TURNS: &str = "lock";

/// The file, and the one that is locked in turns.
#[derive(Debug)]
struct Shared {
    file: File,
    turns: File,
}

/// The turn of a program with the file. What lies there is whole lines, but for one that a program had no time or no room to end.
struct Turn<'a>(&'a Shared);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // It is free at the latest when the file is closed.
        let _ = self.0.turns.unlock();
    }
}

impl Shared {
    fn open(path: &path::Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true).mode(0o600);
        Ok(Self { file: options.open(path)?, turns: options.open(path.with_extension(TURNS))? })
    }

    /// Waits for the programs that read or write now: a line is short.
    fn turn(&self) -> io::Result<Turn<'_>> {
        self.turns.lock()?;
        Ok(Turn(self))
    }
}

impl Turn<'_> {
    /// Writes a line, after what is whole.
    fn add(&self, line: &str) -> io::Result<()> {
        let mut file = &self.0.file;
        // A line that there was no room to end would be one with this.
        let length = file.metadata()?.len();
        let start = length.saturating_sub(LINE_BYTES);
        let mut tail = vec![0; usize::try_from(length.saturating_sub(start)).map_err(io::Error::other)?];
        file.read_exact_at(&mut tail, start)?;
        let kept = start.saturating_add(u64::try_from(whole(&tail)).map_err(io::Error::other)?);
        if kept < length {
            file.set_len(kept)?;
        }
        file.write_all(line.as_bytes())
    }
}

/// The file. Without one, nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    shared: Option<Shared>,
    /// The paths of which it says that a removal failed.
    kept: RefCell<BTreeSet<Path>>,
}

/// What a line adds to what failed, or takes from it. None where it says anything else.
fn follow(failed: &mut Failed, line: &[u8]) -> Option<()> {
    match std::str::from_utf8(line).ok()?.strip_suffix('\n')?.split_once(' ')? {
        (FAILED, rest) => {
            let (content, path) = rest.split_once(' ')?;
            let mut hash = [0; 32];
            hex::decode_to_slice(content, &mut hash).ok()?;
            failed.insert(Path::new(path)?, Hash(hash));
        }
        (OVER, path) => {
            failed.remove(&Path::new(path)?);
        }
        _ => return None,
    }
    Some(())
}

/// How many bytes are whole lines: one that a program had no time or no room to end is the last, and stands for nothing.
fn whole(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end.saturating_add(1))
}

/// What the whole lines of a file say; or the number of the first of them that says anything else.
fn parse(bytes: &[u8]) -> Result<Failed, usize> {
    let mut failed = Failed::new();
    for (number, line) in (1_usize..).zip(bytes[..whole(bytes)].split_inclusive(|byte| *byte == b'\n')) {
        follow(&mut failed, line).ok_or(number)?;
    }
    Ok(failed)
}

/// What a file says, and its bytes up to the end of its last whole line.
fn read(file: &File) -> io::Result<(Failed, u64)> {
    if file.metadata()?.len() > MAX_BYTES {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too long: remove it"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes)?;
    let refused =
        |line: usize| io::Error::new(io::ErrorKind::InvalidData, format!("its line {line} is no removal: correct that line, or remove it"));
    Ok((parse(&bytes).map_err(refused)?, u64::try_from(whole(&bytes)).map_err(io::Error::other)?))
}

/// What whoever serves the volume in another way is told of removals that a mounted folder left. Nothing is changed.
pub(crate) fn left_behind(path: &path::Path) -> Option<String> {
    let failed = match File::open(path).and_then(|file| read(&file)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return Some(format!("{}: {error}", path.display())),
        Ok((failed, _)) => failed,
    };
    let first = failed.keys().next()?.as_str();
    let files = if failed.len() == 1 { first.to_owned() } else { format!("{} files, {first} among them", failed.len()) };
    Some(format!("removed in a mounted folder, and still in the volume: {files}; only `cowboy volume mount` removes what is left of that"))
}

/// Locks a file for as long as it is open. Answers whether no other program has it.
fn lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => {
            file.unlock()?;
            file.lock_shared()?;
            Ok(true)
        }
        Err(TryLockError::WouldBlock) => {
            file.lock_shared()?;
            Ok(false)
        }
        Err(TryLockError::Error(error)) => Err(error),
    }
}

impl Journal {
    /// Opens a file, which is made where it is missing, and answers what is left in it. Where another program has it, that one cares for what is left.
    pub(crate) fn open(path: &path::Path) -> io::Result<(Self, Failed)> {
        if let Some(folder) = path.parent() {
            files::create_folder(folder)?;
        }
        let shared = Shared::open(path)?;
        let turn = shared.turn()?;
        if !lock(&shared.file)? {
            drop(turn);
            return Ok((Self { shared: Some(shared), kept: RefCell::default() }, Failed::new()));
        }
        let (failed, whole) = read(&shared.file)?;
        shared.file.set_len(if failed.is_empty() { 0 } else { whole })?;
        drop(turn);
        let kept = RefCell::new(failed.keys().cloned().collect());
        Ok((Self { shared: Some(shared), kept }, failed))
    }

    /// Keeps a removal that failed.
    pub(super) fn keep(&self, path: &Path, content: &Hash) -> io::Result<()> {
        self.add(&format!("{FAILED} {} {}\n", hex::encode(content.0), path.as_str()))?;
        self.kept.borrow_mut().insert(path.clone());
        Ok(())
    }

    /// Notes that nothing is left to remove at a path, where anything else is noted.
    pub(super) fn forget(&self, path: &Path) -> io::Result<()> {
        let is_kept = self.kept.borrow().contains(path);
        if is_kept {
            self.add(&format!("{OVER} {}\n", path.as_str()))?;
            self.kept.borrow_mut().remove(path);
        }
        Ok(())
    }

    fn add(&self, line: &str) -> io::Result<()> {
        match &self.shared {
            Some(shared) => shared.turn()?.add(line),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    fn at(text: &str) -> Path {
        Path::new(text).expect("a path")
    }

    /// What failed is left until it is over, also where the program was killed in the middle of a line; the file is its owner's alone.
    #[test]
    fn what_failed_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("removals").join("volume");
        let (journal, failed) = Journal::open(&place).expect("it is made");
        assert!(failed.is_empty());
        assert_eq!(fs::metadata(&place).expect("it is there").permissions().mode() & 0o777, 0o600);
        journal.keep(&at("notes/a"), &Hash([1; 32])).expect("it is written");
        journal.keep(&at("notes/b"), &Hash([2; 32])).expect("it is written");
        journal.keep(&at("notes/a"), &Hash([3; 32])).expect("it is written");
        journal.forget(&at("notes/b")).expect("it is written");
        assert!(Journal::open(&place).expect("it is there").1.is_empty(), "who has it cares for it");
        drop(journal);
        let mut torn = OpenOptions::new().append(true).open(&place).expect("it is there");
        torn.write_all(b"+ 0404 not").expect("it is written");
        drop(torn);
        for _ in 0..2 {
            let (journal, failed) = Journal::open(&place).expect("it is there");
            assert_eq!(failed, Failed::from([(at("notes/a"), Hash([3; 32]))]));
            journal.keep(&at("notes/a"), &Hash([3; 32])).expect("it is written");
        }
        Journal::open(&place).expect("it is there").0.forget(&at("notes/a")).expect("it is written");
        assert!(Journal::open(&place).expect("it is there").1.is_empty());
        assert_eq!(fs::metadata(&place).expect("it is there").len(), 0, "nothing is left, and nothing grows");
    }

    /// A line that there was no room to end is cut off before the next one is written, by whichever program writes it, and nothing else is lost with it.
    #[test]
    fn a_torn_line_is_the_last_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("removals");
        let tear = |bytes: &[u8]| {
            let mut torn = OpenOptions::new().append(true).open(&place).expect("it is there");
            torn.write_all(bytes).expect("it is written");
        };
        let (journal, _) = Journal::open(&place).expect("it is made");
        tear(b"+ 0101");
        journal.keep(&at("notes/a"), &Hash([1; 32])).expect("it is written");
        tear(&[0, 0xFF]);
        let (other, _) = Journal::open(&place).expect("it is shared");
        other.keep(&at("notes/b"), &Hash([2; 32])).expect("it is written");
        tear(b"-");
        journal.forget(&at("notes/a")).expect("it is written");
        journal.forget(&at("notes/none")).expect("nothing is to be written");
        let said = left_behind(&place).expect("one is left");
        assert!(said.contains("still in the volume: notes/b;"), "{said}");
        tear(&[0xFF; 70]);
        drop((journal, other));
        let (journal, failed) = Journal::open(&place).expect("only the last line is torn");
        assert_eq!(failed, Failed::from([(at("notes/b"), Hash([2; 32]))]));
        journal.keep(&at("notes/c"), &Hash([3; 32])).expect("it is written");
        assert!(left_behind(&place).is_some_and(|said| said.contains("2 files, notes/b among them")));
        journal.forget(&at("notes/b")).and_then(|()| journal.forget(&at("notes/c"))).expect("it is written");
        assert_eq!((left_behind(&place), left_behind(&folder.path().join("none"))), (None, None));
        drop(journal);
        tear(b"+ notes/a\n");
        let refused = Journal::open(&place).expect_err("that line was ended").to_string();
        assert!(refused.starts_with("its line 7 is no removal"), "{refused}");
        assert!(left_behind(&place).is_some_and(|said| said.contains("its line 7 is no removal")));
    }

    /// A program that writes while another one is in the middle of a line waits for it, and takes its line for no torn one; so does one that opens the file.
    #[test]
    fn programs_take_turns() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path().join("removals");
        let (journal, _) = Journal::open(&place).expect("it is made");
        let shared = journal.shared.as_ref().expect("there is a file");
        let line = format!("{FAILED} {} notes/a\n", "01".repeat(32));
        let (before, after) = line.split_at(20);
        let turn = shared.turn().expect("it is free");
        (&shared.file).write_all(before.as_bytes()).expect("it is written");
        let (begun, begins) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                let taken = OpenOptions::new().append(true).open(place.with_extension(TURNS)).expect("it is there");
                begun.send(matches!(taken.try_lock(), Err(TryLockError::WouldBlock))).expect("somebody waits");
                let (other, _) = Journal::open(&place).expect("it is shared");
                other.keep(&at("notes/b"), &Hash([2; 32])).expect("it is written");
            });
            assert!(begins.recv().expect("it begins"), "it is the turn of this program");
            (0..1_000).for_each(|_| std::thread::yield_now());
            (&shared.file).write_all(after.as_bytes()).expect("it is written");
            drop(turn);
            other.join().expect("it is done");
        });
        drop(journal);
        let (_, failed) = Journal::open(&place).expect("all lines are whole");
        assert_eq!(failed, Failed::from([(at("notes/a"), Hash([1; 32])), (at("notes/b"), Hash([2; 32]))]));
    }

    /// Lines that are no removals are refused.
    #[test]
    fn damaged_lines_are_refused() {
        let hash = "01".repeat(32);
        for text in ["x\n", "+ notes/a\n", "+ 01 notes/a\n", "* notes/a\n", "- ../a\n", "\n", &format!("+ {hash} ../a\n")] {
            assert_eq!(parse(text.as_bytes()), Err(1), "{text:?}");
            assert_eq!(parse(format!("- notes/b\n{text}").as_bytes()), Err(2), "{text:?}");
        }
        assert_eq!(parse(b"- notes/\xFF\n"), Err(1));
        let text = format!("+ {hash} notes/a\n- notes/b\n");
        assert_eq!(parse(text.as_bytes()).map(|failed| failed.len()), Ok(1));
        assert_eq!((whole(text.as_bytes()), whole(b"- notes"), whole(b"")), (text.len(), 0, 0));
    }
}
