//! Loops over pairs: `for index, item in enumerate(items)` gets its two variables without the tuple that would be taken apart at once.

use super::Vm;
use super::window::afresh;
use crate::objects::payload::{DictPart, Iter, Payload};
use crate::value::{Ref, Value};

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

    /// The next pair of `enumerate`, `dict.items` or a `zip` of two, into the registers from `dest` on: what it costs beside the step of
    /// the loop. `None`, and nothing has changed, where the general form has to see to it, as at the end.
    #[inline(never)]
    pub(super) fn next_pair(&mut self, source: Ref, dest: usize) -> Option<i64> {
        let Payload::Iterator(state) = self.heap.payload(source) else { return None };
        let (pair, price) = match **state {
            Iter::Enumerate { inner, count } => {
                let (item, next) = (self.item_ahead(inner)?, count.checked_add(1)?);
                self.pass_item(inner);
                if let Payload::Iterator(state) = self.heap.payload_mut(source) {
                    if let Iter::Enumerate { count, .. } = &mut **state {
                        *count = next;
                    }
                }
                ([Value::Int(count), item], 0)
            }
            Iter::Dict { dict: Value::Obj(dict), index, size, kind: DictPart::Items } => {
                let (Payload::Dict(table) | Payload::Set(table)) = self.heap.payload(dict).core() else { return None };
                if table.len() != size {
                    return None;
                }
                let (found, entry) = table.live_from(index)?;
                self.set_iterator_position(source, found + 1);
                ([entry.key, entry.value], 0)
            }
            Iter::Zip { ref inner, .. } => {
                let &[first, second] = inner.as_slice() else { return None };
                let pair = [self.item_ahead(first)?, self.item_ahead(second)?];
                // One iterator on both sides gives its items in turns.
                if first.is(second) {
                    return None;
                }
                self.pass_item(first);
                self.pass_item(second);
                (pair, 3)
            }
            _ => return None,
        };
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
