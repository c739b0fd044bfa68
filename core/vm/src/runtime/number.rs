//! Integers that arguments and indices give, and floats.

use super::Vm;
use crate::costs::LARGE_AS_FLOAT;
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::payload::Payload;
use crate::runtime::protocol::Compare;
use crate::types::{nm, ty};
use crate::value::Value;
use crate::window::moved;
use cowboy_num::{F64, int};
use dashu_int::IBig;

impl Vm {
    /// An integer value, checked against the size limit.
    pub(crate) fn int_value(&mut self, value: IBig) -> Outcome {
        self.fresh_integer(value)
    }

    /// The same, in line.
    #[inline(always)]
    pub(crate) fn fresh_integer(&mut self, value: IBig) -> Outcome {
        if let Ok(small) = i64::try_from(&value) {
            return Ok(Value::Int(small));
        }
        let bits = int::bit_length(&value);
        if bits > int::MAX_BITS {
            return Err(self.number_error(cowboy_num::NumberError::TOO_LARGE));
        }
        Ok(Value::Obj(self.heap.alloc_sized(ty::INT, Payload::BigInt(moved(value)), crate::payload::big_size(bits))))
    }

    /// A number as float; too large an integer is an OverflowError.
    pub(crate) fn to_float(&mut self, number: &Number) -> Outcome<F64> {
        match number {
            Number::Small(value) => Ok(F64::from_i64(*value)),
            Number::Float(value) => Ok(*value),
            Number::Big(value) => match F64::from_int(value) {
                Some(value) => {
                    self.spend(LARGE_AS_FLOAT.once())?;
                    Ok(value)
                }
                None => Err(self.raise(ty::OVERFLOW_ERROR, "int too large to convert to float")),
            },
        }
    }

    /// The same for an option that has to be an integer.
    pub(crate) fn integer_option(&mut self, value: Value) -> Outcome<bool> {
        if value.is_undefined() {
            return Ok(false);
        }
        if let Some(number) = self.heap.as_int(value) {
            let number = i32::try_from(number);
            return number
                .map(|number| number != 0)
                .map_err(|_| self.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C int"));
        }
        Err(self.not_an_integer(value))
    }

    /// An argument that is a position, or counts something.
    pub(crate) fn whole(&mut self, value: Value) -> Outcome<i64> {
        match self.heap.number(value) {
            Some(Number::Small(number)) => Ok(number),
            Some(Number::Big(_)) => Err(self.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C ssize_t")),
            _ => Err(self.not_an_integer(value)),
        }
    }

    /// The truth of an option of a native function, false where it is not given. `Fallback` where only Python code knows it: what a native
    /// function calls in between would become its own result.
    pub(crate) fn option(&mut self, value: Value) -> Outcome<bool> {
        if self.python_method(value, nm::BOOL).is_some() || self.python_method(value, nm::LEN).is_some() {
            return Err(Throw::Fallback);
        }
        self.truth(value)
    }

    /// TypeError for an argument that is no integer; `Fallback` where its `__index__` has to be asked first.
    pub(crate) fn not_an_integer(&mut self, value: Value) -> Throw {
        if self.python_method(value, nm::INDEX).is_some() {
            return Throw::Fallback;
        }
        let message = format!("'{}' object cannot be interpreted as an integer", self.heap.class_name(value));
        self.type_error(message)
    }

    /// An index as a number; `None` when the key is not one. Calls `__index__` when that is written in Python.
    pub(crate) fn index_number(&mut self, key: Value) -> Outcome<Option<i64>> {
        match self.heap.number(key) {
            Some(Number::Small(index)) => Ok(Some(index)),
            Some(Number::Big(number)) => {
                let _ = number;
                Err(self.raise(ty::INDEX_ERROR, "cannot fit 'int' into an index-sized integer"))
            }
            _ => Ok(None),
        }
    }
}
