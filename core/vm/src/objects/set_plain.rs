//! Sets whose keys are integers and short texts, as most are: they are combined and compared in place, without a list of their entries.

use crate::costs::{ENTRY_LISTED, ITEM_LOOKED_AT};
use crate::error::{Outcome, Throw};
use crate::heap::Heap;
use crate::heap::order::SHORT_TEXT;
use crate::objects::tables::entries;
use crate::payload::Payload;
use crate::payload::dict::{Dict, Entry};
use crate::runtime::Vm;
use crate::runtime::operator::BinaryOp;
use crate::value::{Ref, Value};

impl Heap {
    fn set(&self, object: Ref) -> Option<&Dict> {
        match self.payload(object).core() {
            Payload::Set(table) => Some(table),
            _ => None,
        }
    }

    /// Whether all keys of one set are in another one, and how many were looked at; `None` when that is not certain without running code
    /// or charging for it.
    fn all_inside(&self, inner: Ref, outer: Ref) -> Option<(bool, usize)> {
        let (inner, outer) = (self.set(inner)?, self.set(outer)?);
        let mut looked = 0;
        for entry in inner.iter() {
            looked += 1;
            if self.find_certain(outer, &entry.key, SHORT_TEXT)?.is_none() {
                return Some((false, looked));
            }
        }
        Some((true, looked))
    }

    /// The entries of `left op right` in their order, not retained; `None` when they are not certain without running code or charging for it.
    fn combined(&self, op: BinaryOp, left: Ref, right: Ref) -> Option<Vec<Entry>> {
        let (left, right) = (self.set(left)?, self.set(right)?);
        let mut kept = Vec::with_capacity(if op == BinaryOp::And { left.len().min(right.len()) } else { left.len() });
        for entry in left.iter() {
            // In a union the right keys alone are looked up, but a key of another sort is compared with those too.
            let found = self.find_certain(right, &entry.key, SHORT_TEXT)?.is_some();
            if op == BinaryOp::Or || found == (op == BinaryOp::And) {
                kept.push(*entry);
            }
        }
        if matches!(op, BinaryOp::Or | BinaryOp::Xor) {
            for entry in right.iter() {
                if self.find_certain(left, &entry.key, SHORT_TEXT)?.is_none() {
                    kept.push(*entry);
                }
            }
        }
        Some(kept)
    }
}

impl Vm {
    /// `left op right` of two sets as a new one of a class; `None`, and nothing has changed, when that is not certain without running code.
    pub(super) fn combine_plain(&mut self, op: BinaryOp, left: Ref, right: Ref, class: Ref) -> Outcome<Option<Value>> {
        let Some(kept) = self.heap.combined(op, left, right) else { return Ok(None) };
        let set = self.heap.new_set(class);
        for Entry { key, hash, .. } in kept {
            // No two of them are equal, but one may be far from where it should be in the new table, which costs.
            self.dict_find(set, key, hash)?;
            self.heap.retain(key);
            self.heap.dict_add(set, key, Value::None, hash);
        }
        Ok(Some(Value::Obj(set)))
    }
}

/// Whether all keys of one set are in another one.
pub(super) fn inside(vm: &mut Vm, inner: Value, outer: Value) -> Outcome<bool> {
    let (Value::Obj(source), Value::Obj(target)) = (inner, outer) else { return Err(Throw::Fallback) };
    vm.owe(ENTRY_LISTED.of(vm.heap.dict_len(source)));
    if let Some((is_inside, looked)) = vm.heap.all_inside(source, target) {
        vm.spend(ITEM_LOOKED_AT.once().times(looked))?;
        return Ok(is_inside);
    }
    for (item, hash) in entries(vm, inner).ok_or(Throw::Fallback)? {
        vm.spend(ITEM_LOOKED_AT.once())?;
        if vm.dict_find(target, item, hash)?.is_none() {
            return Ok(false);
        }
    }
    Ok(true)
}
