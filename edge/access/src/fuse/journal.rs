//! Removals that failed, in a file of the project: the next mount of the volume tries them again (decision 624).
//!
//! Each line says of a path that the removal of a content failed, or that nothing is left to remove. A line that a killed program had no time to end stands
//! for nothing.

use cowboy_types::Hash;
use cowboy_volumes::Path;
use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path;

/// The most bytes of the file that are read.
const MAX_BYTES: u64 = 64 << 20;

/// What a line of a removal that failed begins with.
const FAILED: &str = "+";

/// What a line of a path begins with at which nothing is left to remove.
const OVER: &str = "-";

/// Removals that failed, with the content of each.
pub(crate) type Failed = BTreeMap<Path, Hash>;

/// The file. Without one, nothing is kept.
#[derive(Debug, Default)]
pub(crate) struct Journal(Option<File>);

/// What a file says, and the bytes of it that are whole lines. None where it says anything else.
fn parse(text: &str) -> Option<(Failed, usize)> {
    let whole = text.rfind('\n').map_or(0, |end| end.saturating_add(1));
    let mut failed = Failed::new();
    for line in text.get(..whole)?.lines() {
        match line.split_once(' ')? {
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
    }
    Some((failed, whole))
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
            DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(path)?;
        if !lock(&file)? {
            return Ok((Self(Some(file)), Failed::new()));
        }
        if file.metadata()?.len() > MAX_BYTES {
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too long: remove it"));
        }
        let mut text = String::new();
        file.read_to_string(&mut text)?;
        let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it has a line that is no removal: remove it");
        let (failed, whole) = parse(&text).ok_or_else(damaged)?;
        let kept = if failed.is_empty() { 0 } else { whole };
        file.set_len(u64::try_from(kept).map_err(io::Error::other)?)?;
        Ok((Self(Some(file)), failed))
    }

    /// Keeps a removal that failed.
    pub(super) fn keep(&self, path: &Path, content: &Hash) -> io::Result<()> {
        self.add(&format!("{FAILED} {} {}\n", hex::encode(content.0), path.as_str()))
    }

    /// Notes that nothing is left to remove at a path.
    pub(super) fn forget(&self, path: &Path) -> io::Result<()> {
        self.add(&format!("{OVER} {}\n", path.as_str()))
    }

    fn add(&self, line: &str) -> io::Result<()> {
        let Some(mut file) = self.0.as_ref() else { return Ok(()) };
        file.write_all(line.as_bytes())
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

    /// Lines that are no removals are refused.
    #[test]
    fn damaged_lines_are_refused() {
        let hash = "01".repeat(32);
        for text in ["x\n", "+ notes/a\n", "+ 01 notes/a\n", "* notes/a\n", "- ../a\n", "\n", &format!("+ {hash} ../a\n")] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse(&format!("+ {hash} notes/a\n- notes/b\n")).map(|(failed, _)| failed.len()), Some(1));
        assert_eq!(parse("").map(|(_, whole)| whole), Some(0));
    }
}
