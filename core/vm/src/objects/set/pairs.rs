//! Comparison with views of pairs, which are looked up by their keys.

use super::view_of;
use crate::costs::{ENTRY_LISTED, ITEM_LOOKED_AT};
use crate::error::Outcome;
use crate::frame::CompareOp;
use crate::payload::{DictPart, Payload};
use crate::runtime::Vm;
use crate::runtime::protocol::{Compare, Hashing};
use crate::value::{Ref, Value};

/// `left op right` as subset relations where one of them is a view of pairs: these are looked up by their keys, and not hashed unless the
/// other one is a set. `None` for everything else.
pub(super) fn compare_pairs(vm: &mut Vm, op: CompareOp, left: Value, right: Value) -> Outcome<Option<bool>> {
    let (Some(a), Some(b)) = (view_of(vm, left), view_of(vm, right)) else { return Ok(None) };
    let has_pairs = a.1 == Some(DictPart::Items) || b.1 == Some(DictPart::Items);
    // The view of a class's attributes is over no dict.
    if !has_pairs || vm.heap.table(a.0).is_none() || vm.heap.table(b.0).is_none() {
        return Ok(None);
    }
    let (x, y) = (vm.heap.dict_len(a.0), vm.heap.dict_len(b.0));
    let (may_hold, inner, outer) = match op {
        CompareOp::Eq | CompareOp::Ne => (x == y, a, b),
        CompareOp::Le => (x <= y, a, b),
        CompareOp::Lt => (x < y, a, b),
        CompareOp::Ge => (x >= y, b, a),
        CompareOp::Gt => (x > y, b, a),
    };
    let holds = may_hold && pairs_inside(vm, inner, outer)?;
    Ok(Some(holds != (op == CompareOp::Ne)))
}

fn pairs_inside(vm: &mut Vm, inner: (Ref, Option<DictPart>), outer: (Ref, Option<DictPart>)) -> Outcome<bool> {
    let has_pairs = inner.1 == Some(DictPart::Items);
    vm.spend(ENTRY_LISTED.of(vm.heap.dict_len(inner.0)))?;
    let rows: Vec<_> = vm.heap.table(inner.0).map(|table| table.iter().map(|entry| (entry.key, entry.value)).collect()).unwrap_or_default();
    for (key, value) in rows {
        vm.spend(ITEM_LOOKED_AT.once())?;
        let found = if outer.1 != Some(DictPart::Items) {
            let pair = vm.heap.dict_part(key, value, DictPart::Items);
            let found = vm.hash_native(pair).and_then(|hash| vm.dict_find(outer.0, pair, hash));
            vm.heap.release(pair);
            found?.is_some()
        } else if has_pairs {
            holds_pair(vm, outer.0, key, value)?
        } else {
            match tuple_of(vm, key).as_deref() {
                Some(&[first, second]) => holds_pair(vm, outer.0, first, second)?,
                _ => false,
            }
        };
        if !found {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The items of a tuple, not retained.
fn tuple_of(vm: &Vm, value: Value) -> Option<Vec<Value>> {
    match vm.heap.payload(value.object()?).core() {
        Payload::Tuple(items) => Some(items.to_vec()),
        _ => None,
    }
}

/// Whether a dict has a value that is equal under a key.
fn holds_pair(vm: &mut Vm, dict: Ref, key: Value, value: Value) -> Outcome<bool> {
    let hash = vm.hash_native(key)?;
    match vm.dict_find(dict, key, hash)? {
        Some(position) => {
            let other = vm.heap.dict_value_at(dict, position);
            vm.equal_native(other, value)
        }
        None => Ok(false),
    }
}
