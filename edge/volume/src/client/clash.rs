//! Paths that are a file and a directory: no file system has both, so no client makes one that would be, and readers leave the file out (decision 604).

use super::{Entry, Listing, Volume, VolumeError};
use crate::keys::PartitionKey;
use crate::link::AT_ONCE;
use crate::segments;
use crate::tree::{Change, Tree};
use cowboy_types::wire::Fixed;
use cowboy_types::{Blob, Hash, List};
use cowboy_volumes::{Leaf, Name, Page, Path, leaf};
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::pin::pin;

/// A file that cannot be put, for another file of the partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Clash {
    /// The path of the file.
    pub path: String,
    /// The file that lies below that path, or whose path leads there.
    pub other: String,
}

/// What a failure says of clashes.
pub(super) fn said(clashes: &[Clash]) -> String {
    let first = clashes
        .first()
        .map(|Clash { path, other }| format!("{path} cannot be a file beside {other}: one would be a directory of the other"));
    let more = clashes.len().saturating_sub(1);
    let first = first.unwrap_or_default();
    if more == 0 { first } else { format!("{first}; and {more} more") }
}

/// The paths that are directories where all of these are files.
pub fn directories<'a>(paths: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    for path in paths {
        // The deepest first: where that is known, so are those above it.
        for (end, _) in path.rmatch_indices('/') {
            if !found.insert(path.get(..end).unwrap_or_default()) {
                break;
            }
        }
    }
    found
}

/// What is in the way of new files, out of those that stand: however many these are, one of them for each new one is in memory.
struct Search<'a> {
    new: BTreeSet<&'a str>,
    /// The directories of the new ones.
    directories: BTreeSet<&'a str>,
    /// What was found, by new path.
    found: BTreeMap<&'a str, String>,
}

/// Which of two files in the way of a path is named: one that its path leads through, the deepest first, and then the first below it.
fn rank<'a>(path: &str, other: &'a str) -> (bool, Reverse<usize>, &'a str) {
    if other.len() < path.len() { (false, Reverse(other.len()), "") } else { (true, Reverse(0), other) }
}

impl<'a> Search<'a> {
    /// A search for new files, which may be in the way of each other.
    fn new(new: &[&'a Path]) -> Self {
        let paths: BTreeSet<&'a str> = new.iter().map(|path| path.as_str()).collect();
        let mut search = Self { directories: directories(paths.iter().copied()), new: paths.clone(), found: BTreeMap::new() };
        paths.into_iter().for_each(|path| search.look(path));
        search
    }

    /// Looks at a file that is there.
    fn look(&mut self, other: &str) {
        let mut hit: Vec<&'a str> = other.match_indices('/').filter_map(|(end, _)| self.new.get(other.get(..end)?).copied()).collect();
        if self.directories.contains(other) {
            let inside = format!("{other}/");
            hit.extend(
                self.new.range::<str, _>((Bound::Included(inside.as_str()), Bound::Unbounded)).take_while(|path| path.starts_with(&inside)),
            );
        }
        for path in hit {
            if self.found.get(path).is_none_or(|known| rank(path, other) < rank(path, known)) {
                self.found.insert(path, other.to_owned());
            }
        }
    }

    /// The new files that cannot be there.
    fn clashes(mut self, new: &[&Path]) -> Vec<Clash> {
        let clash = |path: &&Path| Some(Clash { path: path.as_str().to_owned(), other: self.found.remove(path.as_str())? });
        new.iter().filter_map(clash).collect()
    }
}

/// Hands pages on as they come.
async fn each(pages: impl Stream<Item = Result<Page, VolumeError>>, mut look: impl FnMut(&Page)) -> Result<(), VolumeError> {
    let mut pages = pin!(pages);
    while let Some(page) = pages.try_next().await? {
        look(&page);
    }
    Ok(())
}

/// The paths of the files that changes put.
pub(super) fn put_by(changes: &[Change], volume: &Hash, key: &PartitionKey) -> Vec<Path> {
    let path = |change: &Change| match change {
        Change::Put(leaf) => Path::new(&segments::open_meta(key, volume, leaf)?.path),
        Change::Remove(_) => None,
    };
    changes.iter().filter_map(path).collect()
}

/// The tags of the files that changes remove.
pub(super) fn removed_by(changes: &[Change]) -> Vec<Fixed<32>> {
    changes.iter().filter_map(|change| if let Change::Remove(tag) = change { Some(*tag) } else { None }).collect()
}

/// A leaf of which nothing but its place is known.
fn placed(tag: Fixed<32>) -> Change {
    let (write_id, shards, meta) = (Fixed([0; 16]), List::default(), Blob::default());
    Change::Put(Leaf { tag, write_id, ciphertext_bytes: 0, shard_bytes: 0, shards, meta })
}

impl Volume {
    /// Those of these paths that cannot be files of a partition's tree once the files with these tags are gone. A file that replaces another one can.
    /// All pages are read where one of the paths is new: the names of a directory are spread over them. A few of them are in memory at once.
    pub(super) async fn clashes(
        &self,
        (partition, tree): (Hash, &Tree),
        key: &PartitionKey,
        paths: &[&Path],
        removed: &[Fixed<32>],
    ) -> Result<Vec<Clash>, VolumeError> {
        let by_tag: BTreeMap<Fixed<32>, &Path> = paths.iter().map(|path| (leaf::tag(key.tags(), path), *path)).collect();
        let touched = tree.touched(&by_tag.keys().copied().map(placed).collect::<Vec<_>>());
        let touched = self.pages(partition, tree, touched).await?;
        let known: BTreeSet<Fixed<32>> = touched.values().flat_map(|page| page.leaves.iter().map(|leaf| leaf.tag)).collect();
        let new: Vec<&Path> = by_tag.iter().filter(|(tag, _)| !known.contains(tag)).map(|(_, path)| *path).collect();
        if new.is_empty() {
            return Ok(Vec::new());
        }
        let removed: BTreeSet<&Fixed<32>> = removed.iter().collect();
        let mut search = Search::new(&new);
        let look = |page: &Page| {
            let standing = page.leaves.iter().filter(|leaf| !removed.contains(&leaf.tag));
            standing.filter_map(|leaf| found(key, &self.id, leaf)).for_each(|path| search.look(path.as_str()));
        };
        let fetch = async |place| self.page(partition, tree, place).await;
        each(futures::stream::iter(tree.filled()).map(fetch).buffer_unordered(AT_ONCE), look).await?;
        Ok(search.clashes(&new))
    }
}

/// The path at which readers find a leaf; none where the key does not open it, or it is at another place than it says.
fn found(key: &PartitionKey, volume: &Hash, leaf: &Leaf) -> Option<Path> {
    let meta = segments::open_meta(key, volume, leaf)?;
    Path::new(&meta.path).filter(|path| leaf::tag(key.tags(), path) == leaf.tag)
}

impl Entry {
    /// Whether it is where its path says, so that readers find it there.
    pub fn is_placed(&self, key: &PartitionKey) -> bool {
        Path::new(&self.meta.path).is_some_and(|path| leaf::tag(key.tags(), &path) == self.leaf.tag)
    }
}

impl Listing {
    /// Takes out what no folder can have: files that their writer put at another place than their paths say, where nobody finds them, and files whose
    /// paths are directories of others. Answers their paths.
    pub fn take_bad(&mut self, partition: &Name, key: &PartitionKey) -> Vec<String> {
        let is_own = |entry: &Entry| entry.is_placed(key) && Path::new(&entry.meta.path).is_some_and(|path| path.partition() == *partition);
        let (placed, bad): (Vec<_>, Vec<_>) = std::mem::take(&mut self.entries).into_iter().partition(is_own);
        let paths: Vec<String> = placed.iter().map(|entry| entry.meta.path.to_string()).collect();
        let directories = directories(paths.iter().map(String::as_str));
        let (shadowed, good): (Vec<_>, Vec<_>) = placed.into_iter().partition(|entry| directories.contains(&*entry.meta.path));
        self.entries = good;
        bad.into_iter().chain(shadowed).map(|entry| entry.meta.path.to_string()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segments::Meta;
    use cowboy_types::Text;

    fn path(text: &str) -> Path {
        Path::new(text).expect("a path")
    }

    fn clashes(standing: &[&str], new: &[&Path]) -> Vec<Clash> {
        let mut search = Search::new(new);
        standing.iter().for_each(|path| search.look(path));
        search.clashes(new)
    }

    /// A new file is refused where it would be a directory of others, and where others would be directories of it, at any depth; beside names that only
    /// begin alike it is fine.
    #[test]
    fn a_path_is_one_of_the_two() {
        let standing = ["notes/a", "notes/b/c/d", "notes/b-c", "notes/e.txt"];
        let other = |text: &str| clashes(&standing, &[&path(text)]).pop().map(|clash| clash.other);
        for (text, expected) in [
            ("notes/a/x", Some("notes/a")),
            ("notes/a/x/y", Some("notes/a")),
            ("notes/b", Some("notes/b/c/d")),
            ("notes/b/c", Some("notes/b/c/d")),
            ("notes/b/c/d/e", Some("notes/b/c/d")),
            ("notes/b/c/e", None),
            ("notes/a-x", None),
            ("notes/e", None),
            ("notes/ab/x", None),
        ] {
            assert_eq!(other(text).as_deref(), expected, "{text}");
        }
        let (one, two) = (path("notes/new"), path("notes/new/x"));
        let both = clashes(&[], &[&one, &two]);
        assert_eq!(both.iter().map(|clash| clash.other.as_str()).collect::<Vec<_>>(), ["notes/new/x", "notes/new"]);
        assert_eq!(said(&both), "notes/new cannot be a file beside notes/new/x: one would be a directory of the other; and 1 more");
    }

    /// Of several files in the way of a path, the same one is named in whatever order they are seen: the deepest that its path leads through, or the first
    /// below it.
    #[test]
    fn the_same_file_is_named_in_any_order() {
        let new = path("notes/a/b/c");
        let mut standing = ["notes/a", "notes/a/b", "notes/a/b/c/x", "notes/a/b/c/d"];
        for expected in ["notes/a/b", "notes/a/b"] {
            assert_eq!(clashes(&standing, &[&new]), [Clash { path: "notes/a/b/c".into(), other: expected.into() }]);
            standing.reverse();
        }
        let mut below = ["notes/a/b/c/x", "notes/a/b/c/d"];
        for expected in ["notes/a/b/c/d", "notes/a/b/c/d"] {
            assert_eq!(clashes(&below, &[&new]).pop().map(|clash| clash.other).as_deref(), Some(expected));
            below.reverse();
        }
    }

    fn entry(text: &str, key: &PartitionKey) -> Entry {
        let meta = Meta {
            path: Text::new(text).expect("short"),
            size: 0,
            hash: Hash::ZERO,
            written_ms: 0,
            kind: Text::new("text/plain").expect("short"),
        };
        let tag = Path::new(text).map_or(Fixed([0; 32]), |path| leaf::tag(key.tags(), &path));
        let Change::Put(leaf) = placed(tag) else { unreachable!("it is put") };
        Entry { meta, leaf }
    }

    /// One file that no folder can have costs a reader no other one, and is named.
    #[test]
    fn what_no_folder_has_is_taken_out() {
        let (key, notes) = (PartitionKey::public(), Name::new("notes").expect("a name"));
        let paths = ["notes/a", "notes/a/b", "notes/a/b/c", "notes/d", "notes/../x", "other/x", "notes/moved"];
        let mut entries: Vec<Entry> = paths.iter().map(|text| entry(text, &key)).collect();
        entries.last_mut().expect("the moved one").leaf.tag = Fixed([9; 32]);
        let mut listing = Listing { entries, closed: 0 };
        assert_eq!(listing.take_bad(&notes, &key), ["notes/../x", "other/x", "notes/moved", "notes/a", "notes/a/b"]);
        assert_eq!(listing.entries.iter().map(|entry| &*entry.meta.path).collect::<Vec<_>>(), ["notes/a/b/c", "notes/d"]);
        assert!(listing.take_bad(&notes, &key).is_empty());
    }
}
