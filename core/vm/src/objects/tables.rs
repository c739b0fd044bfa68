//! What dicts and sets have in common.

use crate::costs::{ENTRY_COPIED, GAP_COPIED};
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::types::nm;
use crate::value::{Ref, Value};

pub(crate) fn dict(vm: &mut Vm, value: Value) -> Outcome<Ref> {
    vm.class_argument(value)
}

/// Empties a dict or set.
pub(crate) fn clear(vm: &mut Vm, args: &[Value]) -> Outcome {
    let target = dict(vm, args[0])?;
    let before = vm.heap.payload(target).size();
    let old = vm.heap.table_mut(target).map(crate::payload::dict::Dict::take);
    let after = vm.heap.payload(target).size();
    vm.heap.resize_memory(before, after);
    if let Some(old) = old {
        let mut held = Vec::new();
        old.each(&mut |value| held.push(value));
        vm.heap.release_all(held);
    }
    Ok(Value::None)
}

/// A copy of a dict or set of a builtin class.
pub(crate) fn copy_table(vm: &mut Vm, source: Value, class: Ref) -> Outcome {
    let object = dict(vm, source)?;
    let (entries, gaps) = vm.heap.table(object).map_or((0, 0), |table| (table.len(), table.gaps()));
    vm.spend(ENTRY_COPIED.of(entries) + GAP_COPIED.of(gaps))?;
    vm.reserve(vm.heap.payload(object).size())?;
    let payload = match vm.heap.payload(object).core() {
        Payload::Dict(table) => Payload::Dict(table.clone()),
        Payload::Set(table) => Payload::Set(table.clone()),
        _ => return Err(Throw::Fallback),
    };
    let mut held = Vec::new();
    payload.each(&mut |value| held.push(value));
    vm.heap.retain_all(&held);
    let copy = vm.heap.make(class, payload);
    vm.heap.label_children(copy);
    Ok(copy)
}

/// `len` of the builtin content.
pub(crate) fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = dict(vm, args[0])?;
    let length = match vm.heap.payload(object).core() {
        Payload::DictView { dict: Value::Obj(dict), .. } => vm.heap.dict_len(*dict),
        _ => vm.heap.dict_len(object),
    };
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

/// Keys and hashes of a builtin dict or set, not retained; `None` when it is none, or a dict that iterates in its own way. A set is taken as
/// it lies, whatever its class says.
pub(crate) fn entries(vm: &mut Vm, source: Value) -> Option<Vec<(Value, i64)>> {
    let object = source.object()?;
    if matches!(vm.heap.payload(object).core(), Payload::Dict(_)) && vm.python_method(source, nm::ITER).is_some() {
        return None;
    }
    match vm.heap.payload(object).core() {
        Payload::Dict(table) | Payload::Set(table) => Some(table.iter().map(|entry| (entry.key, entry.hash)).collect()),
        _ => None,
    }
}
