//! What builtin values answer without running code: their length, truth and items.

use super::Heap;
use super::labels::is_tracked;
use crate::payload::Payload;
use crate::types::FIXED_COUNT;
use crate::value::{Ref, Value};

impl Heap {
    /// The length of something builtin.
    #[inline(always)]
    pub(crate) fn quick_length(&self, value: &Value) -> Option<i64> {
        let Value::Obj(object) = *value else { return None };
        let slot = self.slot(object);
        if slot.class.0 >= FIXED_COUNT {
            return None;
        }
        let length = match &slot.payload {
            Payload::List(list) => list.items.len(),
            Payload::Tuple(items) => items.len(),
            Payload::Dict(table) | Payload::Set(table) => table.len(),
            Payload::Str(text) => text.chars as usize,
            _ => return None,
        };
        i64::try_from(length).ok()
    }

    /// The truth of something builtin.
    #[inline(always)]
    pub(crate) fn quick_truth(&self, value: &Value) -> Option<bool> {
        match *value {
            Value::Bool(truth) => Some(truth.into()),
            Value::Int(number) => Some(number != 0),
            Value::None => Some(false),
            Value::Obj(_) => self.truth_of_object(value),
            _ => None,
        }
    }

    /// The same for an integer beyond 64 bits, and for what has a length.
    #[inline(never)]
    pub(crate) fn truth_of_object(&self, value: &Value) -> Option<bool> {
        match *value {
            Value::Obj(object) if matches!(self.payload(object), Payload::BigInt(_)) => Some(true),
            _ => self.quick_length(value).map(|length| length > 0),
        }
    }

    /// The items of a list or tuple.
    #[inline(always)]
    pub(crate) fn items(&self, object: Ref) -> Option<&[Value]> {
        match self.payload(object) {
            Payload::List(list) => Some(&list.items),
            Payload::Tuple(items) => Some(items),
            _ => None,
        }
    }

    /// Whether storing `value` into `parent` leaves every label of the cycle barrier as it is.
    #[inline(always)]
    pub(crate) fn holds_at_once(&self, parent: Ref, value: &Value) -> bool {
        match *value {
            Value::Obj(child) => {
                let slot = self.slot(child);
                !is_tracked(&slot.payload) || (slot.depth != i32::MAX && slot.depth > self.slot(parent).depth)
            }
            Value::Undefined => false,
            _ => true,
        }
    }
}
