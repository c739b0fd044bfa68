//! Every function of the VM, and of the crates below it, that may call itself, directly or through others, is listed in `recursion.txt` with the reason why its
//! depth is bounded; so is every type that holds itself, because such values are compared, copied and freed natively. The list is
//! compared with the graph of calls that the sources make.

use super::graph;
use super::source::Crate;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The entries of the list with the group that each is in. A group is a reason, from the margin, with its entries indented below.
fn listed(text: &str) -> BTreeMap<String, usize> {
    let mut entries = BTreeMap::new();
    let (mut group, mut in_reason) = (0, false);
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        if !line.starts_with(' ') {
            group += usize::from(!in_reason);
            in_reason = true;
            continue;
        }
        assert!(group > 0, "{line}: an entry without a reason");
        in_reason = false;
        let old = entries.insert(line.trim().to_owned(), group);
        assert!(old.is_none(), "{line}: listed twice");
    }
    entries
}

#[test]
fn every_function_that_calls_itself_is_listed_with_its_bound() {
    let found = Crate::read(Path::new(env!("CARGO_MANIFEST_DIR")), &["compiler", "num", "unicode"]);
    assert!(found.functions.len() > 2_500, "only {} functions read", found.functions.len());
    let entries = listed(include_str!("recursion.txt"));
    let mut cycles = graph::cycles(&graph::calls(&found));
    cycles.extend(graph::cycles(&found.types).into_iter().map(|types| types.into_iter().map(|name| format!("type {name}")).collect()));
    let recursive: BTreeSet<&String> = cycles.iter().flatten().collect();
    let missing: Vec<&&String> = recursive.iter().filter(|name| !entries.contains_key(name.as_str())).collect();
    assert!(missing.is_empty(), "they call themselves; bound their depth and list them in tests/stack/recursion.txt: {missing:#?}");
    let stale: Vec<&String> = entries.keys().filter(|name| !recursive.contains(name)).collect();
    assert!(stale.is_empty(), "tests/stack/recursion.txt lists what no longer calls itself: {stale:#?}");
    for cycle in cycles {
        let groups: BTreeSet<usize> = cycle.iter().map(|name| entries[name]).collect();
        assert_eq!(groups.len(), 1, "they call one another, so one reason has to hold for all: {cycle:#?}");
    }
}
