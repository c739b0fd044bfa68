//! Texts, tuples, lists and views: making them, and what they hold.

use super::Vm;
use crate::error::{Outcome, Throw, Trap};
use crate::payload::Payload;
use crate::value::{Ref, Value};
use cowboy_num::sizes;

/// Builtin iterators inside one another that a step goes through natively; deeper is a RecursionError where the iterator is made.
pub(crate) const ITERATOR_NESTING: u8 = 200;

/// A position from an index that may count from the end.
pub(crate) fn absolute(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(i64::try_from(length).ok()?)? } else { index };
    sizes::index(index).filter(|&index| index < length)
}

impl Vm {
    /// Appends to a list until one of the values is refused; takes the references to all of them over.
    pub(crate) fn list_push_all(&mut self, list: Value, values: Vec<Value>) -> Outcome<()> {
        let mut outcome = Ok(());
        for value in values {
            if outcome.is_ok() {
                outcome = self.list_push(list, value);
            } else {
                self.heap.release(value);
            }
        }
        outcome
    }

    /// The items, where the barrier lets a container hold them. It releases them where it refuses one.
    pub(crate) fn admitted(&mut self, object: Ref, items: Vec<Value>) -> Outcome<Vec<Value>> {
        for &item in &items {
            if self.heap.is_container(item) {
                if let Err(throw) = self.store_barrier(object, item) {
                    self.heap.release_all(items);
                    return Err(throw);
                }
            }
        }
        Ok(items)
    }

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
