//! What exceptions hold.

use super::Heap;
use crate::payload::Payload;
use crate::types::ty;
use crate::value::{Ref, Value};

impl Heap {
    /// The class, when the value is a class of exceptions.
    pub(crate) fn exception_class(&self, value: Value) -> Option<Ref> {
        let class = value.object()?;
        let is_class = matches!(self.payload(class), Payload::Class(_));
        (is_class && self.is_subclass(class, ty::BASE_EXCEPTION)).then_some(class)
    }

    /// The exception's own data.
    pub(crate) fn exception_data(&self, exception: Value) -> Option<&crate::payload::Exception> {
        match self.payload(exception.object()?).core() {
            Payload::Exception(row) => Some(row),
            _ => None,
        }
    }

    /// The exception's own data, to be changed.
    pub(crate) fn exception_row(&mut self, exception: Value) -> Option<&mut crate::payload::Exception> {
        match self.payload_mut(exception.object()?).core_mut() {
            Payload::Exception(row) => Some(row),
            _ => None,
        }
    }
}
