//! Unpacking: the items of an iterable, in registers or in a list.

use super::Vm;
use crate::costs::ITERATION;
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::runtime::protocol::Iterate;
use crate::types::nm;
use crate::value::Value;

impl Vm {
    /// The items of a builtin iterable that is to give `count` of them: of an iterator no more than one beyond those.
    fn collect_for(&mut self, value: Value, count: usize) -> Outcome<Vec<Value>> {
        let is_iterator = value.object().is_some_and(|object| matches!(self.heap.payload(object), Payload::Iterator(_)));
        if !is_iterator {
            return self.collect(value);
        }
        let mut items = Vec::new();
        while items.len() <= count {
            match self.next_native(value) {
                Ok(Some(item)) => items.push(item),
                Ok(None) => break,
                Err(throw) => {
                    self.heap.release_all(items);
                    return Err(throw);
                }
            }
            self.spend(ITERATION.once())?;
        }
        Ok(items)
    }

    /// Exactly `count` items into registers from `first` on.
    pub(crate) fn unpack(&mut self, value: Value, count: usize, first: usize) -> Outcome<()> {
        let quick = match value {
            Value::Obj(object) if self.heap.slot(object).class.0 < crate::types::FIXED_COUNT => match self.heap.payload(object) {
                Payload::Tuple(items) if items.len() == count => Some(items.to_vec()),
                Payload::List(list) if list.items.len() == count => Some(list.items.clone()),
                _ => None,
            },
            _ => None,
        };
        let items = match quick {
            Some(items) => self.heap.retain_all(&items),
            None => {
                let items = match self.collect_for(value, count) {
                    Ok(items) => items,
                    Err(Throw::Raise(exception)) if !matches!(value, Value::Obj(_)) => {
                        self.heap.release(exception);
                        let message = format!("cannot unpack non-iterable {} object", self.heap.class_name(value));
                        return Err(self.type_error(message));
                    }
                    Err(Throw::Raise(exception)) if self.special(value, nm::ITER).is_none() => {
                        self.heap.release(exception);
                        let message = format!("cannot unpack non-iterable {} object", self.heap.class_name(value));
                        return Err(self.type_error(message));
                    }
                    Err(throw) => return Err(throw),
                };
                if items.len() != count {
                    let got = items.len();
                    self.heap.release_all(items);
                    let message = if got > count {
                        format!("too many values to unpack (expected {count})")
                    } else {
                        format!("not enough values to unpack (expected {count}, got {got})")
                    };
                    return Err(self.value_error(message));
                }
                items
            }
        };
        for (offset, item) in items.into_iter().enumerate() {
            let old = std::mem::replace(&mut self.registers[first + offset], item);
            self.heap.release(old);
        }
        Ok(())
    }

    /// Items before, a list of the rest, and items after it, into registers from `first` on.
    pub(crate) fn unpack_rest(&mut self, value: Value, before: usize, after: usize, first: usize) -> Outcome<()> {
        let mut items = match self.collect(value) {
            Err(Throw::Raise(exception)) if self.special(value, nm::ITER).is_none() => {
                self.heap.release(exception);
                let message = format!("cannot unpack non-iterable {} object", self.heap.class_name(value));
                return Err(self.type_error(message));
            }
            outcome => outcome?,
        };
        if items.len() < before + after {
            let got = items.len();
            self.heap.release_all(items);
            let message = format!("not enough values to unpack (expected at least {}, got {got})", before + after);
            return Err(self.value_error(message));
        }
        let tail = items.split_off(items.len() - after);
        let rest = items.split_off(before);
        let rest = self.heap.list(rest);
        for (offset, item) in items.into_iter().chain([rest]).chain(tail).enumerate() {
            let old = std::mem::replace(&mut self.registers[first + offset], item);
            self.heap.release(old);
        }
        Ok(())
    }

    /// `[*source]` and arguments after `*`.
    pub(crate) fn extend_for_display(&mut self, list: Value, source: Value, callee: Value) -> Outcome {
        if source.is_undefined() {
            let register = self.current_instruction().map_or(0, |ins| ins.b);
            return Err(self.unbound_register(register));
        }
        match self.collect(source) {
            Ok(items) => self.list_push_all(list, items).map(|()| Value::None),
            Err(Throw::Fallback) => self.call_helper("list_extend", &[list, source]),
            Err(Throw::Raise(exception)) if self.special(source, nm::ITER).is_none() => {
                self.heap.release(exception);
                let name = self.heap.class_name(source);
                let message = if callee.is_undefined() {
                    format!("Value after * must be an iterable, not {name}")
                } else {
                    format!("{} argument after * must be an iterable, not {name}", self.callee_name(callee))
                };
                Err(self.type_error(message))
            }
            Err(throw) => Err(throw),
        }
    }
}
