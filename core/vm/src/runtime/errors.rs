//! Exceptions: making them, and what they hold.

use super::Vm;
use crate::error::Throw;
use crate::payload::{Attributes, Exception, Payload};
use crate::types::{EMPTY_TUPLE, ty};
use crate::value::{Ref, Value};

impl Vm {
    /// An exception of a class with one argument.
    pub(crate) fn exception(&mut self, class: Ref, argument: Value) -> Value {
        let args = if argument.is_undefined() {
            Value::Obj(EMPTY_TUPLE)
        } else {
            self.heap.make(ty::TUPLE, Payload::Tuple(vec![argument].into()))
        };
        self.exception_with(class, args)
    }

    /// An exception of a class with a tuple of arguments.
    pub(crate) fn exception_with(&mut self, class: Ref, args: Value) -> Value {
        let exception = Exception {
            args,
            cause: Value::None,
            context: Value::None,
            suppress: false,
            trace: Vec::new(),
            shown: Value::None,
            attributes: Attributes::default(),
        };
        self.heap.retain(Value::Obj(class));
        self.heap.make(class, Payload::Exception(Box::new(exception)))
    }

    /// Raises a builtin exception with a message.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise(&mut self, class: Ref, message: &str) -> Throw {
        let message = self.heap.str(message);
        let exception = self.exception(class, message);
        Throw::Raise(exception)
    }

    /// Raises TypeError.
    pub(crate) fn type_error(&mut self, message: impl AsRef<str>) -> Throw {
        self.raise(ty::TYPE_ERROR, message.as_ref())
    }

    /// Raises ValueError.
    pub(crate) fn value_error(&mut self, message: impl AsRef<str>) -> Throw {
        self.raise(ty::VALUE_ERROR, message.as_ref())
    }

    /// Raises KeyError with the key itself.
    pub(crate) fn key_error(&mut self, key: Value) -> Throw {
        self.heap.retain(key);
        let exception = self.exception(ty::KEY_ERROR, key);
        Throw::Raise(exception)
    }

    /// Raises what a number function reported.
    pub(crate) fn number_error(&mut self, error: cowboy_num::NumberError) -> Throw {
        use cowboy_num::NumberError;
        match error {
            NumberError::ZeroDivision(message) => self.raise(ty::ZERO_DIVISION_ERROR, message),
            NumberError::Value(message) => self.raise(ty::VALUE_ERROR, &message),
            NumberError::Overflow(message) => self.raise(ty::OVERFLOW_ERROR, &message),
        }
    }

    /// StopIteration with a value, whose reference is taken over.
    pub(crate) fn stop_iteration(&mut self, value: Value) -> Throw {
        let argument = if value.is_none() { Value::Undefined } else { value };
        Throw::Raise(self.exception(ty::STOP_ITERATION, argument))
    }

    /// TypeError for a value that cannot be iterated.
    pub(crate) fn not_iterable(&mut self, value: Value) -> Throw {
        let message = format!("'{}' object is not iterable", self.heap.class_name(value));
        self.type_error(message)
    }
}
