//! Loops over pairs: `for index, item in enumerate(items)` gets its two variables without the tuple that would be taken apart at once.

use super::Vm;
use crate::costs::{Charge, ZIPPED};
use crate::heap::labels::is_tracked;
use crate::payload::{DictPart, Iter, Payload};
use crate::value::{Ref, Value};
use crate::window::afresh;

/// Modelled bytes of the tuple that is not made: it counts all the same.
const PAIR: usize = 56;

impl Vm {
    /// The next item of an iterator over a list, tuple or range, which stays where it is.
    #[inline]
    fn item_ahead(&self, iterator: Value) -> Option<Value> {
        let Payload::Iterator(state) = self.heap.payload(iterator.object()?) else { return None };
        match **state {
            Iter::Sequence { sequence: Value::Obj(sequence), index } => self.heap.items(sequence)?.get(index).map(afresh),
            Iter::Range { next, left: 1.., .. } => Some(Value::Int(next)),
            _ => None,
        }
    }

    /// Goes past the item that [`Vm::item_ahead`] found.
    #[inline]
    fn pass_item(&mut self, iterator: Value) {
        let Value::Obj(object) = iterator else { return };
        if let Payload::Iterator(state) = self.heap.payload_mut(object) {
            match &mut **state {
                Iter::Sequence { index, .. } => *index += 1,
                Iter::Range { next, step, left } => (*next, *left) = (next.wrapping_add(*step), *left - 1),
                _ => {}
            }
        }
    }

    /// Whether a value may be held by a tuple that nobody sees: a container that was never held before gets a label when it is.
    #[inline]
    fn has_label(&self, value: &Value) -> bool {
        match *value {
            Value::Obj(object) => {
                let slot = self.heap.slot(object);
                slot.depth != i32::MAX || !is_tracked(&slot.payload)
            }
            _ => true,
        }
    }

    /// The next pair of `enumerate`, `dict.items` or a `zip` of two, into the registers from `dest` on: what it costs beside the step of
    /// the loop. `None`, and nothing has changed, where the general form has to see to it, as at the end.
    #[inline(never)]
    pub(super) fn next_pair(&mut self, source: Ref, dest: usize) -> Option<Charge> {
        let Payload::Iterator(state) = self.heap.payload(source) else { return None };
        let (pair, price, position) = match **state {
            Iter::Enumerate { inner, count, .. } => {
                count.checked_add(1)?;
                ([Value::Int(count), self.item_ahead(inner)?], Charge::NONE, 0)
            }
            Iter::Dict { dict: Value::Obj(dict), index, size, kind: DictPart::Items } => {
                let (Payload::Dict(table) | Payload::Set(table)) = self.heap.payload(dict).core() else { return None };
                if table.len() != size {
                    return None;
                }
                let (found, entry) = table.live_from(index)?;
                ([entry.key, entry.value], table.passing(index, found), found + 1)
            }
            Iter::Zip { ref inner, .. } => {
                let &[first, second] = inner.as_slice() else { return None };
                // One iterator on both sides gives its items in turns.
                if first.is(second) {
                    return None;
                }
                ([self.item_ahead(first)?, self.item_ahead(second)?], ZIPPED.of(3), 0)
            }
            _ => return None,
        };
        if !pair.iter().all(|value| self.has_label(value)) {
            return None;
        }
        let Payload::Iterator(state) = self.heap.payload_mut(source) else { return None };
        match &mut **state {
            Iter::Enumerate { inner, count, .. } => {
                *count += 1;
                let inner = *inner;
                self.pass_item(inner);
            }
            Iter::Dict { index, .. } => *index = position,
            Iter::Zip { inner, .. } => {
                let (first, second) = (inner[0], inner[1]);
                self.pass_item(first);
                self.pass_item(second);
            }
            _ => {}
        }
        self.heap.use_memory(PAIR);
        self.heap.free_memory(PAIR);
        self.heap.retain_each(&pair);
        for (place, value) in self.registers[dest..dest + 2].iter_mut().zip(&pair) {
            let old = place.object();
            *place = afresh(value);
            if let Some(old) = old {
                self.heap.release_object(old);
            }
        }
        Some(price)
    }
}
