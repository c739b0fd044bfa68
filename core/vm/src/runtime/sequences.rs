//! Texts, tuples, lists and views: making them, and what they hold.

use super::Vm;
use crate::error::{Outcome, Throw, Trap};
use crate::payload::Payload;
use crate::value::Value;
use cowboy_num::sizes;

/// Builtin iterators inside one another that a step goes through natively; deeper is a RecursionError where the iterator is made.
pub(crate) const ITERATOR_NESTING: u8 = 200;

/// A position from an index that may count from the end.
pub(crate) fn absolute(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(i64::try_from(length).ok()?)? } else { index };
    sizes::index(index).filter(|&index| index < length)
}

impl Vm {
    /// Appends to a list in a register; takes the reference over.
    #[inline]
    pub(crate) fn list_push(&mut self, list: Value, value: Value) -> Outcome<()> {
        let Value::Obj(object) = list else { return Err(Throw::Trap(Trap::Internal)) };
        if self.heap.is_container(value) {
            if let Err(throw) = self.store_barrier(object, value) {
                self.heap.release(value);
                return Err(throw);
            }
        }
        if let Payload::List(list) = self.heap.payload_mut(object).core_mut() {
            list.items.push(value);
            let (before, after) = list.resized();
            if before != after {
                self.heap.resize_memory(before, after);
            }
        }
        Ok(())
    }
}
