//! The VM's layers: the heap; `runtime`, which is `Vm` and what everybody shares; the types in `objects`; the interpreter in `interp`; builtins
//! and modules. Methods of `Vm` are called without naming the file that has them, so `tools/tidy`, which looks at paths, does not see such
//! calls. What a lower layer asks of the interpreter is in `runtime/protocol.rs`.

use super::graph;
use super::source::{Crate, Function};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Folders and files by layer, the lowest first.
const LAYERS: &[&[&str]] = &[&["heap.rs", "heap/"], &["runtime/"], &["objects/"], &["interp/"], &["builtins.rs", "builtins/", "modules/"]];

fn layer(function: &Function) -> Option<usize> {
    LAYERS.iter().position(|places| places.iter().any(|place| function.file.starts_with(place)))
}

/// The methods that the traits of `runtime/protocol.rs` declare.
fn protocol() -> BTreeSet<String> {
    let file = syn::parse_file(include_str!("../../src/runtime/protocol.rs")).expect("it compiles");
    let traits = file.items.iter().filter_map(|item| match item {
        syn::Item::Trait(declared) => Some(declared),
        _ => None,
    });
    traits
        .flat_map(|declared| &declared.items)
        .filter_map(|item| match item {
            syn::TraitItem::Fn(function) => Some(function.sig.ident.to_string()),
            _ => None,
        })
        .collect()
}

#[test]
fn lower_layers_call_upper_ones_by_the_protocol_only() {
    let found = Crate::read(Path::new(env!("CARGO_MANIFEST_DIR")), &[]);
    let protocol = protocol();
    assert!(protocol.len() > 10, "only {protocol:?} read");
    let functions: BTreeMap<&str, &Function> = found.functions.iter().map(|function| (function.id.as_str(), function)).collect();
    let mut wrong = Vec::new();
    for (caller, targets) in &graph::calls(&found) {
        // The types of what a macro is given are unknown.
        let Some(own) = layer(functions[caller.as_str()]).filter(|_| !caller.ends_with('!')) else { continue };
        for target in targets {
            let called = functions[target.as_str()];
            // Native functions are called by number, through the table.
            let is_free = called.is_native || protocol.contains(&called.name);
            if layer(called).is_some_and(|other| other > own) && !is_free {
                wrong.push(format!("{caller} calls {target}"));
            }
        }
    }
    assert!(wrong.is_empty(), "a layer calls one above it; move what it needs down, or add it to runtime/protocol.rs: {wrong:#?}");
}
