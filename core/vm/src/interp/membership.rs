//! Membership: `in` and `not in`.

use super::{OnReturn, Vm};
use crate::costs::{ITEM_LOOKED_AT, TEXT_PASSED};
use crate::error::{Outcome, Throw, Trap};
use crate::heap::numbers::Number;
use crate::payload::{DictPart, Payload};
use crate::runtime::protocol::{Compare, Hashing, Membership};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use crate::window::afresh;

impl Membership for Vm {
    fn contains_native(&mut self, container: Value, item: Value) -> Outcome<bool> {
        let class = self.heap.class_of(container);
        if let (ty::LIST | ty::TUPLE, Value::Obj(object)) = (class, container) {
            return self.holds(object, item);
        }
        if self.heap.is_python_instance(container) || self.heap.slot_class_is_type(container) {
            if let Some(function) = self.lookup(class, nm::CONTAINS) {
                if !self.is_inherited(class, nm::CONTAINS, function) {
                    if function.is_none() {
                        let message = format!("'{}' object is not a container", self.heap.class_name(container));
                        return Err(self.type_error(message));
                    }
                    return Err(self.call_special(function, &[container, item], OnReturn::Truth { negate: false }));
                }
            } else if self.lookup(class, nm::ITER).or_else(|| self.lookup(class, nm::GETITEM)).is_none_or(|found| found.is_none()) {
                let message = format!("argument of type '{}' is not iterable", self.heap.class_name(container));
                return Err(self.type_error(message));
            } else {
                return Err(Throw::Fallback);
            }
        }
        let Value::Obj(object) = container else {
            let message = format!("argument of type '{}' is not iterable", self.heap.class_name(container));
            return Err(self.type_error(message));
        };
        match self.heap.payload(object).core() {
            Payload::Dict(_) | Payload::Set(_) => {
                let key = crate::objects::set::frozen_key(self, object, item)?;
                let found = self.hash_native(key).and_then(|hash| self.dict_find(object, key, hash));
                self.heap.release(key);
                found.map(|found| found.is_some())
            }
            Payload::DictView { dict: Value::Obj(dict), part: DictPart::Keys } => {
                let dict = *dict;
                let hash = self.hash_native(item)?;
                Ok(self.dict_find(dict, item, hash)?.is_some())
            }
            Payload::MappingProxy(inner) => {
                let inner = *inner;
                if matches!(inner, Value::Obj(dict) if matches!(self.heap.payload(dict).core(), Payload::Dict(_))) {
                    return self.contains_native(inner, item);
                }
                let name = self.attribute_name(item)?;
                Ok(match inner {
                    Value::Obj(class) => match self.heap.payload(class) {
                        Payload::Class(row) => row.attributes.contains_key(&name),
                        _ => false,
                    },
                    _ => false,
                })
            }
            Payload::Str(text) => {
                let length = text.text.len();
                if self.heap.text(item).is_none() {
                    let message = format!("'in <string>' requires string as left operand, not {}", self.heap.class_name(item));
                    return Err(self.type_error(message));
                }
                self.spend(TEXT_PASSED.of(length))?;
                let found = self.heap.text(container).zip(self.heap.text(item)).is_some_and(|(text, needle)| text.contains(needle));
                Ok(found)
            }
            Payload::Bytes(_) | Payload::ByteArray(..) => crate::objects::bytes::holds(self, container, item),
            Payload::Range(range) => {
                let range = *range;
                match self.heap.number(item) {
                    Some(Number::Small(value)) => {
                        let inside = if range.step > 0 {
                            range.start <= value && value < range.stop
                        } else {
                            range.stop < value && value <= range.start
                        };
                        Ok(inside && value.abs_diff(range.start) % range.step.unsigned_abs() == 0)
                    }
                    Some(Number::Float(value)) => Ok(match value.to_i64() {
                        Some(whole) if value.is_integer() => self.contains_native(container, Value::Int(whole))?,
                        _ => false,
                    }),
                    Some(Number::Big(_)) => Ok(false),
                    None => Err(Throw::Fallback),
                }
            }
            Payload::List(_) | Payload::Tuple(_) => self.holds(object, item),
            _ => match self.special(container, nm::ITER).or_else(|| self.special(container, nm::GETITEM)) {
                Some(_) => Err(Throw::Fallback),
                None => {
                    let message = format!("argument of type '{}' is not iterable", self.heap.class_name(container));
                    Err(self.type_error(message))
                }
            },
        }
    }
}

impl Vm {
    /// `item in container`; a call when Python code decides, which then gives the opposite when `negate`.
    pub(crate) fn contains_or_call(&mut self, container: Value, item: Value, negate: bool) -> Outcome<bool> {
        let outcome = self.contains_native(container, item);
        let throw = match outcome {
            Ok(found) => return Ok(found),
            Err(Throw::Fallback) => match self.call_helper("contains", &[container, item]) {
                Err(throw) => throw,
                Ok(_) => Throw::Trap(Trap::Internal),
            },
            Err(throw) => throw,
        };
        match throw {
            Throw::Call(mut call) => {
                call.on_return = OnReturn::Truth { negate };
                Err(Throw::Call(call))
            }
            throw => Err(throw),
        }
    }

    /// Whether one of the items of a list or tuple is, or equals, a value.
    fn holds(&mut self, object: Ref, item: Value) -> Outcome<bool> {
        // No Python code runs in between, so the items stay where they are; a copy of all would be work before its price.
        for index in 0.. {
            let value = match self.heap.payload(object).core() {
                Payload::List(list) => list.items.get(index),
                Payload::Tuple(items) => items.get(index),
                _ => None,
            };
            let Some(value) = value else { break };
            let value = afresh(value);
            self.spend(ITEM_LOOKED_AT.once())?;
            let quick = match (value, item) {
                (Value::Int(one), Value::Int(other)) => Some(one == other),
                (Value::Obj(one), Value::Obj(other)) => self.heap.same_text(one, other),
                _ => None,
            };
            let same = match quick {
                Some(same) => same,
                None => self.equal_native(value, item)?,
            };
            if same {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
