//! Numbers without their objects.

use super::Heap;
use crate::frame::CompareOp;
use crate::payload::Payload;
use crate::value::Value;
use cowboy_num::{F64, int};
use dashu_int::IBig;
use std::cmp::Ordering;

/// A number without its object.
#[derive(Clone, Debug)]
pub(crate) enum Number {
    /// An integer that fits.
    Small(i64),
    /// An integer that does not.
    Big(IBig),
    /// A float.
    Float(F64),
}

impl Number {
    /// Words of 64 bits that it takes, and one for the sign where they are full.
    pub(crate) fn limbs(&self) -> usize {
        match self {
            Number::Big(value) => int::bit_length(value) / 64 + 1,
            Number::Small(_) | Number::Float(_) => 1,
        }
    }

    /// The integer at full size.
    pub(crate) fn into_big(self) -> IBig {
        match self {
            Number::Small(value) => IBig::from(value),
            Number::Big(value) => value,
            Number::Float(_) => IBig::ZERO,
        }
    }
}

pub(crate) fn compare_numbers(op: CompareOp, a: &Number, b: &Number) -> bool {
    let ordering = match (a, b) {
        (Number::Small(a), Number::Small(b)) => Some(a.cmp(b)),
        (Number::Float(a), Number::Float(b)) => a.compare(*b),
        (Number::Float(a), Number::Small(b)) => a.compare_i64(*b),
        (Number::Small(a), Number::Float(b)) => b.compare_i64(*a).map(Ordering::reverse),
        (Number::Float(a), Number::Big(b)) => a.compare_int(b),
        (Number::Big(a), Number::Float(b)) => b.compare_int(a).map(Ordering::reverse),
        (Number::Big(a), Number::Big(b)) => Some(a.cmp(b)),
        (Number::Big(a), Number::Small(b)) => Some(a.cmp(&dashu_int::IBig::from(*b))),
        (Number::Small(a), Number::Big(b)) => Some(dashu_int::IBig::from(*a).cmp(b)),
    };
    match ordering {
        Some(ordering) => op.holds(ordering),
        None => op == CompareOp::Ne,
    }
}

impl Heap {
    /// The number a value is, looking through subclasses of `int` and `float`.
    #[inline]
    pub(crate) fn number(&self, value: Value) -> Option<Number> {
        match value {
            Value::Int(value) => Some(Number::Small(value)),
            Value::Bool(value) => Some(Number::Small(i64::from(value))),
            Value::Float(value) => Some(Number::Float(value)),
            Value::Obj(object) => match self.payload(object).core() {
                Payload::BigInt(value) => Some(Number::Big(value.clone())),
                Payload::Scalar(inner) => self.number(*inner),
                _ => None,
            },
            _ => None,
        }
    }

    /// The integer a value is.
    pub(crate) fn as_int(&self, value: Value) -> Option<IBig> {
        match self.number(value)? {
            Number::Float(_) => None,
            number => Some(number.into_big()),
        }
    }

    /// The integer beyond 64 bits that a value is, without a copy of it.
    pub(crate) fn large_integer(&self, value: Value) -> Option<&IBig> {
        let mut payload = self.payload(value.object()?).core();
        if let Payload::Scalar(inner) = payload {
            payload = self.payload(inner.object()?);
        }
        match payload {
            Payload::BigInt(value) => Some(value),
            _ => None,
        }
    }
}
