//! Values: what a register holds.

use crate::num::F64;

/// A handle of an object in the heap. Handles below the image's length belong to the frozen image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ref(pub(crate) u32);

/// A Python value: immediate, or the handle of an object. 16 bytes; copying it does not count a reference.
///
/// The tag is a whole word: values then move as two words, where a byte and fifteen more would be put together on the stack.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Value {
    /// No value: an unbound variable or an absent argument. Never seen by a program.
    Undefined,
    /// `None`
    None,
    /// `NotImplemented`
    NotImplemented,
    /// `...`
    Ellipsis,
    /// `True` and `False`
    Bool(bool),
    /// An integer of 64 bits; larger ones are objects.
    Int(i64),
    /// A float.
    Float(F64),
    /// An object.
    Obj(Ref),
}

impl Value {
    /// `is`: the same immediate, or the same object.
    #[inline]
    pub(crate) fn is(self, other: Value) -> bool {
        match (self, other) {
            (Value::Obj(a), Value::Obj(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a.0 == b.0,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::None, Value::None)
            | (Value::Undefined, Value::Undefined)
            | (Value::Ellipsis, Value::Ellipsis)
            | (Value::NotImplemented, Value::NotImplemented) => true,
            _ => false,
        }
    }

    /// Whether there is no value.
    #[inline]
    pub(crate) fn is_undefined(self) -> bool {
        matches!(self, Value::Undefined)
    }

    /// Whether it is `None`.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        matches!(self, Value::None)
    }

    /// The handle, for an object.
    #[inline]
    pub(crate) fn object(self) -> Option<Ref> {
        match self {
            Value::Obj(object) => Some(object),
            _ => None,
        }
    }

    /// The value, or `default` when there is none.
    pub(crate) fn or(self, default: Value) -> Value {
        if self.is_undefined() { default } else { self }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_value_is_sixteen_bytes() {
        assert_eq!(size_of::<super::Value>(), 16);
    }
}
