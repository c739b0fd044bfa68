//! Values: what a register holds.

use cowboy_num::F64;

/// A handle of an object in the heap. Handles below the image's length belong to the frozen image. A whole word, for the reason of
/// [`Value`]; all of them fit 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Ref(pub(crate) u64);

impl Ref {
    /// The handle at a position among the fixed ones.
    pub(crate) fn fixed(position: usize) -> Self {
        Self(u64::try_from(position).expect("a position fits a word"))
    }

    /// The handle as a Python integer.
    #[inline(always)]
    pub(crate) fn number(self) -> i64 {
        i64::from_ne_bytes(self.0.to_ne_bytes())
    }
}

/// A handle, or none, in half a word: where it is kept beside others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(u32);

impl Link {
    /// No handle.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// A handle.
    #[inline(always)]
    pub(crate) fn to(object: Ref) -> Self {
        Self(u32::try_from(object.0).expect("handles fit 32 bits"))
    }

    /// The handle.
    #[inline(always)]
    pub(crate) fn get(self) -> Option<Ref> {
        if self == Self::NONE { None } else { Some(Ref(u64::from(self.0))) }
    }

    /// Whether there is none.
    #[inline(always)]
    pub(crate) fn is_none(self) -> bool {
        self == Self::NONE
    }
}

impl Default for Link {
    fn default() -> Self {
        Self::NONE
    }
}

/// A truth value. A whole word, for the reason of [`Value`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Truth {
    /// `False`
    False,
    /// `True`
    True,
}

impl From<bool> for Truth {
    #[inline(always)]
    fn from(truth: bool) -> Self {
        if truth { Truth::True } else { Truth::False }
    }
}

impl From<Truth> for bool {
    #[inline(always)]
    fn from(truth: Truth) -> Self {
        truth == Truth::True
    }
}

impl From<Truth> for i64 {
    #[inline(always)]
    fn from(truth: Truth) -> Self {
        i64::from(bool::from(truth))
    }
}

impl From<Truth> for u64 {
    #[inline(always)]
    fn from(truth: Truth) -> Self {
        u64::from(bool::from(truth))
    }
}

/// A Python value: immediate, or the handle of an object. 16 bytes; copying it does not count a reference.
///
/// The tag is a whole word, and so is everything that follows it: a value is then handed on in two registers of the processor. If one
/// of them were narrower, each value would go through memory, where reading 16 bytes at once waits for the two writes before.
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
    Bool(Truth),
    /// An integer of 64 bits; larger ones are objects.
    Int(i64),
    /// A float.
    Float(F64),
    /// An object.
    Obj(Ref),
}

impl Value {
    /// `True` or `False`.
    #[inline(always)]
    pub(crate) fn truth(truth: bool) -> Self {
        Value::Bool(Truth::from(truth))
    }

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
