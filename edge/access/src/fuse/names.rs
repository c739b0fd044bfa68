//! Names in the mounted folder, and the numbers by which the kernel knows them.

use crate::fault::Fault;
use cowboy_volumes::Name;
use cowboy_volumes::name::{NAME_BYTES, PATH_BYTES};
use fuser::Errno;
use std::collections::BTreeMap;
use std::ffi::OsStr;

/// The number of the mounted folder.
pub(super) const ROOT: u64 = 1;

/// What a failure is for the kernel.
pub(super) fn errno(fault: &Fault) -> Errno {
    match fault {
        Fault::NoPartition(_) | Fault::NoFile(_) => Errno::ENOENT,
        Fault::Path(_) => Errno::EINVAL,
        Fault::Forbidden(_) => Errno::EACCES,
        Fault::Condition | Fault::Clash(_) => Errno::EEXIST,
        Fault::TooLong => Errno::EFBIG,
        Fault::OverQuota(_) | Fault::SpoolFull(_) | Fault::DiskFull => Errno::ENOSPC,
        Fault::Incomplete | Fault::Broken(_) | Fault::Digest(_) | Fault::Busy | Fault::Closed | Fault::Outside(_) => Errno::EIO,
    }
}

/// The path of a name in a folder. That of the mounted folder is empty.
pub(super) fn child(folder: &str, name: &OsStr) -> Result<String, Errno> {
    if name.len() > NAME_BYTES {
        return Err(Errno::ENAMETOOLONG);
    }
    let name = name.to_str().filter(|name| Name::new(name).is_some()).ok_or(Errno::EINVAL)?;
    let path = if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    if path.len() > PATH_BYTES { Err(Errno::ENAMETOOLONG) } else { Ok(path) }
}

/// The folder in which a path lies.
pub(super) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The name in a folder that leads to a path, and whether that is all of it. None where it lies elsewhere.
pub(super) fn within<'a>(folder: &str, path: &'a str) -> Option<(&'a str, bool)> {
    let rest = if folder.is_empty() { path } else { path.strip_prefix(folder)?.strip_prefix('/')? };
    match rest.split_once('/') {
        Some((name, _)) => Some((name, false)),
        None => Some((rest, true)).filter(|(name, _)| !name.is_empty()),
    }
}

/// What stands before the number of a file beside another one.
const CONFLICT: &str = ".conflict-";

/// The name of a file without the number that it got beside another one, in two parts: what stands before that number, and its ending.
fn halves(name: &str) -> (&str, &str) {
    if let Some((stem, rest)) = name.rsplit_once(CONFLICT) {
        let ending = rest.trim_start_matches(|character: char| character.is_ascii_digit());
        if ending.len() < rest.len() && (ending.is_empty() || ending.starts_with('.')) {
            return (stem, ending);
        }
    }
    match name.rfind('.') {
        // A name that begins with its only dot has no ending, and neither has one that is hardly anything else.
        Some(at) if at > 0 && name.len().saturating_sub(at) < NAME_BYTES / 2 => name.split_at(at),
        _ => (name, ""),
    }
}

/// The path of a file that is kept beside the one at a path: `notes/a.conflict-1.txt` beside `notes/a.txt`. None where it would be too long.
pub(super) fn beside(path: &str, number: u32) -> Option<String> {
    let (folder, name) = path.rsplit_once('/')?;
    let (stem, ending) = halves(name);
    let added = format!("{CONFLICT}{number}{ending}");
    // Names are of ASCII.
    let stem = stem.get(..NAME_BYTES.checked_sub(added.len())?.min(stem.len()))?;
    Some(format!("{folder}/{stem}{added}")).filter(|found| found.len() <= PATH_BYTES)
}

/// What the kernel knows by a number.
struct Known {
    /// Where it is; nowhere where it was removed.
    path: Option<String>,
    /// How often the kernel was told of it and has not forgotten it.
    lookups: u64,
}

/// The numbers of what the kernel knows.
pub(super) struct Numbers {
    known: BTreeMap<u64, Known>,
    by_path: BTreeMap<String, u64>,
    next: u64,
}

impl Default for Numbers {
    fn default() -> Self {
        let root = Known { path: Some(String::new()), lookups: 1 };
        Self { known: BTreeMap::from([(ROOT, root)]), by_path: BTreeMap::from([(String::new(), ROOT)]), next: ROOT + 1 }
    }
}

impl Numbers {
    /// The number of a path, of which the kernel is told once more.
    pub(super) fn looked_up(&mut self, path: &str) -> u64 {
        let number = *self.by_path.entry(path.to_owned()).or_insert_with(|| {
            self.next = self.next.saturating_add(1);
            self.next
        });
        let known = self.known.entry(number).or_insert_with(|| Known { path: Some(path.to_owned()), lookups: 0 });
        known.lookups = known.lookups.saturating_add(1);
        number
    }

    /// The number of a path, where the kernel knows one.
    pub(super) fn number(&self, path: &str) -> Option<u64> {
        self.by_path.get(path).copied()
    }

    /// The path of a number.
    pub(super) fn path(&self, number: u64) -> Result<String, Errno> {
        self.known.get(&number).and_then(|known| known.path.clone()).ok_or(Errno::ENOENT)
    }

    /// The kernel forgot a number, as often as it says.
    pub(super) fn forget(&mut self, number: u64, times: u64) {
        let Some(known) = self.known.get_mut(&number).filter(|_| number != ROOT) else { return };
        known.lookups = known.lookups.saturating_sub(times);
        if known.lookups == 0
            && let Some(path) = self.known.remove(&number).and_then(|known| known.path)
        {
            self.by_path.remove(&path);
        }
    }

    /// What was at a path is nowhere.
    pub(super) fn gone(&mut self, path: &str) {
        let known = self.by_path.remove(path).and_then(|number| self.known.get_mut(&number));
        if let Some(known) = known {
            known.path = None;
        }
    }

    /// What was at a path is at another one, in the place of what was there.
    pub(super) fn moved(&mut self, from: &str, to: &str) {
        self.gone(to);
        if let Some(number) = self.by_path.remove(from) {
            self.by_path.insert(to.to_owned(), number);
            if let Some(known) = self.known.get_mut(&number) {
                known.path = Some(to.to_owned());
            }
        }
    }

    /// How many are known.
    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.known.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt as _;

    /// Names that no volume has, and paths that are too long, have errors of their own.
    #[test]
    fn names_have_limits() {
        let of = |folder: &str, name: &[u8]| child(folder, OsStr::from_bytes(name)).map_err(i32::from);
        let (invalid, too_long) = (Err(i32::from(Errno::EINVAL)), Err(i32::from(Errno::ENAMETOOLONG)));
        assert_eq!(of("", b"notes"), Ok("notes".to_owned()));
        assert_eq!(of("notes", b"a-1_2.txt"), Ok("notes/a-1_2.txt".to_owned()));
        for name in [&b""[..], b".", b"..", b"a b", b"a~", b"\xff", b"a\0", "ä".as_bytes()] {
            assert_eq!(of("notes", name), invalid, "{name:?}");
        }
        assert_eq!(of("notes", &[b'a'; 65]), too_long);
        assert!(of("notes", &[b'a'; 64]).is_ok());
        assert_eq!(of(&"a/".repeat(255), b"aaa"), too_long);
    }

    #[test]
    fn folders_have_names() {
        let rows = [
            ("", "notes", Some(("notes", true))),
            ("", "notes/a", Some(("notes", false))),
            ("notes", "notes/a", Some(("a", true))),
            ("notes", "notes/a/b", Some(("a", false))),
            ("notes", "notes2/a", None),
            ("notes", "notes", None),
            ("", "", None),
        ];
        for (folder, path, expected) in rows {
            assert_eq!(within(folder, path), expected, "{path} in {folder}");
        }
        assert_eq!((parent("notes/a/b"), parent("notes")), ("notes/a", ""));
    }

    /// A file beside another one keeps its ending, and its name has no second number; a long name is cut, and a path that is too long is none.
    #[test]
    fn files_beside_others_have_names() {
        let long = "x".repeat(NAME_BYTES);
        let (plain, dotted) = (format!("notes/{long}"), format!("notes/a.{}", &long[..NAME_BYTES - 2]));
        let rows = [
            ("notes/a.txt", "notes/a.conflict-7.txt".to_owned()),
            ("notes/d/a.tar.gz", "notes/d/a.tar.conflict-7.gz".to_owned()),
            ("notes/a", "notes/a.conflict-7".to_owned()),
            ("notes/.profile", "notes/.profile.conflict-7".to_owned()),
            ("notes/a.conflict-1.txt", "notes/a.conflict-7.txt".to_owned()),
            ("notes/a.conflict-12", "notes/a.conflict-7".to_owned()),
            ("notes/a.conflict-x", "notes/a.conflict-7.conflict-x".to_owned()),
            (plain.as_str(), format!("notes/{}.conflict-7", &long[..NAME_BYTES - 11])),
            (dotted.as_str(), format!("notes/a.{}.conflict-7", &long[..NAME_BYTES - 13])),
        ];
        for (path, expected) in rows {
            let found = beside(path, 7);
            assert_eq!(found.as_deref(), Some(expected.as_str()), "{path}");
            assert!(found.is_some_and(|found| cowboy_volumes::Path::new(&found).is_some()), "{path}");
        }
        let deep = format!("{}a", "a/".repeat(255));
        assert_eq!((deep.len(), beside(&deep, 7)), (511, None));
    }

    /// A number stays with what it was given for, where that is moved, and leads nowhere once it is removed. What the kernel forgot is not held.
    #[test]
    fn numbers_follow() {
        let mut numbers = Numbers::default();
        let (one, other) = (numbers.looked_up("notes/a"), numbers.looked_up("notes/b"));
        assert_eq!(numbers.looked_up("notes/a"), one);
        numbers.moved("notes/a", "notes/b");
        assert_eq!(numbers.path(one).ok().as_deref(), Some("notes/b"));
        assert!(numbers.path(other).is_err());
        let third = numbers.looked_up("notes/a");
        assert!(third != one && third != other);
        numbers.gone("notes/a");
        assert!(numbers.path(third).is_err() && numbers.path(99).is_err());
        numbers.forget(one, 1);
        assert!(numbers.path(one).is_ok());
        for (number, times) in [(one, 1), (other, u64::MAX), (third, 1), (ROOT, u64::MAX), (99, 1)] {
            numbers.forget(number, times);
        }
        assert_eq!((numbers.count(), numbers.path(ROOT).ok().as_deref()), (1, Some("")));
    }
}
