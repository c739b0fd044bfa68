//! State that can be taken back to a mark, so that a step which misses a record changes nothing.
//!
//! A struct that [`journaled!`] declares says of each field whether `undo` restores it. No caller lists what has to be undone, and a new
//! field cannot be forgotten: its type has to say how it is restored.

use cowboy_state::{Checkpoint, Miss, World};
use cowboy_types::Address;
use cowboy_types::units::Amount;
use std::collections::BTreeMap;

/// State that can be taken back to a mark.
pub(crate) trait Journaled {
    /// A point to come back to.
    type Mark;

    /// The point where it is now.
    fn mark(&self) -> Self::Mark;

    /// Undoes every change since the mark. What was fetched from the store stays.
    fn undo(&mut self, mark: Self::Mark);
}

/// An error after which a step may have to run again.
pub(crate) trait MayMiss {
    /// Whether records are missing.
    fn is_miss(&self) -> bool;
}

impl MayMiss for Miss {
    fn is_miss(&self) -> bool {
        true
    }
}

/// Runs a step that either happens whole, or misses records and changes nothing.
pub(crate) fn attempt<S: Journaled, T, E: MayMiss>(state: &mut S, step: impl FnOnce(&mut S) -> Result<T, E>) -> Result<T, E> {
    let mark = state.mark();
    let done = step(state);
    if done.as_ref().is_err_and(MayMiss::is_miss) {
        state.undo(mark);
    }
    done
}

/// Declares a struct with a journal: `undo` restores the fields of `undone`, and leaves alone those of `kept`, which no step that can
/// still miss a record changes, or which only remember what was fetched.
macro_rules! journaled {
    (
        $(#[$about:meta])*
        $visible:vis struct $name:ident {
            kept { $($(#[$kept_about:meta])* $kept_visible:vis $kept:ident: $kept_type:ty,)* }
            undone { $($(#[$undone_about:meta])* $undone_visible:vis $undone:ident: $undone_type:ty,)* }
        }
    ) => {
        $(#[$about])*
        $visible struct $name {
            $($(#[$kept_about])* $kept_visible $kept: $kept_type,)*
            $($(#[$undone_about])* $undone_visible $undone: $undone_type,)*
        }

        impl $crate::journal::Journaled for $name {
            type Mark = ($(<$undone_type as $crate::journal::Journaled>::Mark,)*);

            fn mark(&self) -> Self::Mark {
                ($($crate::journal::Journaled::mark(&self.$undone),)*)
            }

            fn undo(&mut self, mark: Self::Mark) {
                let ($($undone,)*) = mark;
                $($crate::journal::Journaled::undo(&mut self.$undone, $undone);)*
            }
        }
    };
}

/// Lets types whose values are small be restored by value.
macro_rules! by_value {
    ($($type:ty),*) => {
        $(impl $crate::journal::Journaled for $type {
            type Mark = Self;

            fn mark(&self) -> Self {
                self.clone()
            }

            fn undo(&mut self, mark: Self) {
                *self = mark;
            }
        })*
    };
}

pub(crate) use {by_value, journaled};

by_value!(bool, u64, usize, Amount, Option<Address>, Option<String>, Option<(Address, Amount)>);

impl Journaled for World {
    type Mark = Checkpoint;

    fn mark(&self) -> Checkpoint {
        self.checkpoint()
    }

    fn undo(&mut self, mark: Checkpoint) {
        self.rollback(&mark);
    }
}

/// A list that only grows within a step.
impl<T> Journaled for Vec<T> {
    type Mark = usize;

    fn mark(&self) -> usize {
        self.len()
    }

    fn undo(&mut self, mark: usize) {
        assert!(mark <= self.len(), "a step that may still miss a record takes nothing off a list");
        self.truncate(mark);
    }
}

/// A map with a journal.
#[derive(Clone, Debug)]
pub(crate) struct Map<K, V> {
    entries: BTreeMap<K, V>,
    /// Each changed key, and what it had before.
    changes: Vec<(K, Option<V>)>,
}

/// A set with a journal.
pub(crate) type Set<K> = Map<K, ()>;

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), changes: Vec::new() }
    }
}

impl<K: Ord + Clone, V: Clone> Map<K, V> {
    /// What it holds.
    pub(crate) fn entries(&self) -> &BTreeMap<K, V> {
        &self.entries
    }

    /// Sets a key's value. Returns whether it had none.
    pub(crate) fn insert(&mut self, key: K, value: V) -> bool {
        let previous = self.entries.insert(key.clone(), value);
        let is_new = previous.is_none();
        self.changes.push((key, previous));
        is_new
    }

    /// Removes a key.
    pub(crate) fn remove(&mut self, key: &K) {
        if let Some((key, value)) = self.entries.remove_entry(key) {
            self.changes.push((key, Some(value)));
        }
    }
}

impl<K: Ord + Clone, V: Clone> Journaled for Map<K, V> {
    type Mark = usize;

    fn mark(&self) -> usize {
        self.changes.len()
    }

    fn undo(&mut self, mark: usize) {
        while self.changes.len() > mark {
            let (key, previous) = self.changes.pop().expect("there are more changes than the mark has");
            match previous {
                Some(value) => drop(self.entries.insert(key, value)),
                None => drop(self.entries.remove(&key)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Map, Miss, attempt};

    journaled! {
        /// Some of everything.
        struct Parts {
            kept { fetched: usize, }
            undone { count: u64, list: Vec<u8>, map: Map<u8, u8>, }
        }
    }

    /// A step that misses restores what is undone, and leaves what is kept; one that happens stays.
    #[test]
    fn a_step_that_misses_changes_nothing() {
        let mut map = Map::default();
        map.insert(1, 1);
        let mut parts = Parts { fetched: 0, count: 1, list: vec![1], map };
        let step = |parts: &mut Parts, is_missed: bool| {
            parts.fetched += 1;
            parts.count += 1;
            parts.list.push(2);
            parts.map.insert(1, 2);
            parts.map.insert(2, 2);
            parts.map.remove(&1);
            if is_missed { Err(Miss(Vec::new())) } else { Ok(()) }
        };
        let seen =
            |parts: &Parts| (parts.fetched, parts.count, parts.list.clone(), parts.map.entries().clone().into_iter().collect::<Vec<_>>());
        assert!(attempt(&mut parts, |parts| step(parts, true)).is_err());
        assert_eq!(seen(&parts), (1, 1, vec![1], vec![(1, 1)]));
        assert!(attempt(&mut parts, |parts| step(parts, false)).is_ok());
        assert_eq!(seen(&parts), (2, 2, vec![1, 2], vec![(2, 2)]));
    }
}
