//! Listings that were read: those of the partitions that were asked for last, up to a number of files.

use super::Listing;
use cowboy_types::Hash;
use cowboy_volumes::Name;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The most files of all listings that are kept. One takes about 500 bytes, and a partition has at most as many.
const MAX_FILES: usize = 1 << 20;

/// A listing that was read, with the root that has it.
struct Known {
    root: Option<Hash>,
    files: Rc<Listing>,
    seen: Instant,
    /// When it was used, in the order of uses.
    used: u64,
}

/// Listings by partition.
pub(super) struct Listings {
    all: BTreeMap<Name, Known>,
    uses: u64,
    most: usize,
}

impl Default for Listings {
    fn default() -> Self {
        Self { all: BTreeMap::new(), uses: 0, most: MAX_FILES }
    }
}

impl Listings {
    /// Notes that a partition's listing is used, if it is one that `is_right` takes.
    fn used(&mut self, partition: &Name, is_right: impl Fn(&Known) -> bool) -> Option<&mut Known> {
        let found = self.all.get_mut(partition).filter(|known| is_right(known))?;
        self.uses = self.uses.saturating_add(1);
        found.used = self.uses;
        Some(found)
    }

    /// The files of a partition that were seen within `age`.
    pub(super) fn recent(&mut self, partition: &Name, age: Duration) -> Option<Rc<Listing>> {
        self.used(partition, |known| !age.is_zero() && known.seen.elapsed() < age).map(|known| known.files.clone())
    }

    /// The files of a partition that has this root.
    pub(super) fn of_root(&mut self, partition: &Name, root: Option<Hash>) -> Option<Rc<Listing>> {
        self.used(partition, |known| known.root == root).map(|known| known.files.clone())
    }

    /// The same, which was seen to stand.
    pub(super) fn standing(&mut self, partition: &Name, root: Option<Hash>) -> Option<Rc<Listing>> {
        let known = self.used(partition, |known| known.root == root)?;
        known.seen = Instant::now();
        Some(known.files.clone())
    }

    /// Keeps a listing that was read. Those that were used longest ago go where all have too many files.
    pub(super) fn keep(&mut self, partition: &Name, root: Option<Hash>, files: Rc<Listing>) {
        self.uses = self.uses.saturating_add(1);
        self.all.insert(partition.clone(), Known { root, files, seen: Instant::now(), used: self.uses });
        self.evict();
    }

    /// Takes a commit over into the listing that it follows. Another one is forgotten.
    pub(super) fn follow(&mut self, partition: &Name, old: Option<Hash>, new: Hash, change: impl FnOnce(&mut Listing)) {
        match self.used(partition, |known| known.root == old) {
            Some(known) => {
                change(Rc::make_mut(&mut known.files));
                (known.root, known.seen) = (Some(new), Instant::now());
                self.evict();
            }
            None => drop(self.all.remove(partition)),
        }
    }

    /// Forgets listings until the others have few enough files. The one that was used last stays: a list that is asked for in parts is not read for each.
    fn evict(&mut self) {
        while self.all.len() > 1 && self.all.values().map(|known| known.files.len()).sum::<usize>() > self.most {
            let oldest = self.all.iter().min_by_key(|(_, known)| known.used).map(|(partition, _)| partition.clone());
            let Some(oldest) = oldest else { return };
            self.all.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::entry;

    /// However many partitions are listed, what is kept of them is bounded: those that were used last stay, a large one alone.
    #[test]
    fn few_listings_are_kept() {
        let listing =
            |count: usize| Rc::new((0..count).map(|at| (format!("p/{at}"), entry(&format!("p/{at}"), b"x"))).collect::<Listing>());
        let name = |text: &str| Name::new(text).expect("a name");
        let root = Some(Hash([1; 32]));
        let mut known = Listings { most: 10, ..Listings::default() };
        for (partition, count) in [("a", 4), ("b", 4)] {
            known.keep(&name(partition), root, listing(count));
        }
        assert!(known.recent(&name("a"), Duration::from_secs(600)).is_some(), "it is used");
        known.keep(&name("c"), root, listing(4));
        let has = |known: &Listings| known.all.keys().map(|name| name.as_str().to_owned()).collect::<Vec<_>>().concat();
        assert_eq!(has(&known), "ac");
        known.keep(&name("d"), root, listing(40));
        assert_eq!(has(&known), "d", "the one that is asked for is there, however large");
        assert!(known.of_root(&name("d"), None).is_none() && known.standing(&name("d"), root).is_some());
        assert!(known.recent(&name("d"), Duration::ZERO).is_none());
        // It grows by what is committed.
        let mut known = Listings { most: 2, ..Listings::default() };
        known.keep(&name("a"), root, listing(1));
        known.keep(&name("b"), root, listing(1));
        known.follow(&name("b"), root, Hash([2; 32]), |files| drop(files.insert("p/new".to_owned(), entry("p/new", b"x"))));
        assert_eq!(has(&known), "b");
        known.follow(&name("b"), root, Hash([3; 32]), |_| {});
        assert_eq!(has(&known), "", "a commit that it does not know");
    }
}
