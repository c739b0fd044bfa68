//! What `typing` asks about protocols at each check of an instance.

use crate::costs::ENTRY_LISTED;
use crate::error::Outcome;
use crate::payload::{Map, Payload};
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::types::nm;
use crate::value::{Ref, Value};

/// Rows of the module `_vm`.
pub(super) const ROWS: &[NativeRow] = &[NativeRow(NativeKind::Function, "_vm.protocol_names", "cls, unchecked, /", 5, protocol_names, "")];

/// The names that the classes of a protocol set or annotate, in their order and once each, but for some that are in all classes.
fn protocol_names(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let order: Vec<Ref> = match vm.heap.payload(class) {
        Payload::Class(row) => row.mro.iter().copied().take(row.mro.len().saturating_sub(1)).collect(),
        _ => Vec::new(),
    };
    let mut found: Map<Ref, ()> = Map::default();
    for base in order {
        let Payload::Class(row) = vm.heap.payload(base) else { continue };
        if matches!(&*row.name, "Protocol" | "Generic") {
            continue;
        }
        let hints = row.attributes.get(&nm::ANNOTATIONS).copied().unwrap_or(Value::None);
        let (own, hinted) = (row.attributes.len(), hints.object().map_or(0, |hints| vm.heap.dict_len(hints)));
        vm.spend(ENTRY_LISTED.of(own + hinted))?;
        let Payload::Class(row) = vm.heap.payload(base) else { continue };
        let mut names: Vec<Ref> = row.attributes.keys().copied().collect();
        for (name, _) in vm.heap.dict_pairs(hints) {
            names.push(vm.attribute_name(name)?);
        }
        for name in names {
            let unchecked = args[1].object().and_then(|set| vm.heap.dict_position_of_name(set, name)).is_some();
            if !unchecked && !vm.heap.name_text(name).starts_with("_abc_") {
                found.insert(name, ());
            }
        }
    }
    let names: Vec<Value> = found.into_keys().map(Value::Obj).collect();
    let names = vm.heap.retain_all(&names);
    Ok(vm.heap.list(names))
}
