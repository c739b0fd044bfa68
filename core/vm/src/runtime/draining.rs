//! Which native functions take every item of a generator.

use crate::costs::{
    Cost, DRAINED_INTO_LIST, DRAINED_INTO_SET, DRAINED_INTO_TEXT, DRAINED_INTO_TUPLE, DRAINED_ITEM, DRAINED_ITEM_ONCE_MORE,
    DRAINED_ONTO_LIST,
};

/// How a builtin function takes the items of a generator, which is its second argument.
#[derive(Debug)]
pub(crate) struct Draining {
    pub name: &'static str,
    /// Whether it hashes the items.
    pub hashed: bool,
    pub begun: Cost,
    pub item: Cost,
}

/// The functions. What they take in lists and texts costs what it cost as a loop written in Python.
pub(crate) const DRAINING: &[Draining] = &[
    Draining { name: "list.__init__", hashed: false, begun: DRAINED_INTO_LIST, item: DRAINED_ITEM },
    Draining { name: "list.extend", hashed: false, begun: DRAINED_ONTO_LIST, item: DRAINED_ITEM },
    Draining { name: "tuple.__new__", hashed: false, begun: DRAINED_INTO_TUPLE, item: DRAINED_ITEM_ONCE_MORE },
    Draining { name: "str.join", hashed: false, begun: DRAINED_INTO_TEXT, item: DRAINED_ITEM_ONCE_MORE },
    Draining { name: "set.__init__", hashed: true, begun: DRAINED_INTO_SET, item: DRAINED_ITEM_ONCE_MORE },
    Draining { name: "frozenset.__new__", hashed: true, begun: DRAINED_INTO_SET, item: DRAINED_ITEM_ONCE_MORE },
];

/// How a native function takes all items of its second argument; `None` if it does not.
pub(crate) fn draining(name: &str) -> Option<&'static Draining> {
    DRAINING.iter().find(|row| row.name == name)
}
