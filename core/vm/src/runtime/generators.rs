//! Generators, as far as their methods know them.

use super::Vm;
use crate::error::Outcome;
use crate::frame::OnReturn;
use crate::payload::{GeneratorState, Payload};
use crate::types::{nm, ty};
use crate::value::Value;

/// The sort of step of an asynchronous generator that raises in it what is sent.
pub(crate) const THROWN: u8 = 1;

impl Vm {
    /// `anext(value)`
    pub(crate) fn async_next(&mut self, value: Value) -> Outcome {
        if self.heap.class_of(value) == ty::ASYNC_GENERATOR {
            self.heap.retain(value);
            return Ok(self.heap.make(ty::ASYNC_STEP, Payload::AsyncStep { generator: value, sent: Value::None, kind: 0 }));
        }
        match self.special(value, nm::ANEXT) {
            Some(function) => Err(self.call_special(function, &[value], OnReturn::Store)),
            None => {
                let message = format!("'async for' requires an iterator with __anext__ method, got {}", self.heap.class_name(value));
                Err(self.type_error(message))
            }
        }
    }

    /// Whether what is thrown into a suspended generator reaches an object of a class written in Python, which takes anything.
    pub(crate) fn throws_into_object(&self, generator: Value) -> bool {
        let mut current = generator;
        for _ in 0..self.meter.limits.recursion {
            let Value::Obj(object) = current else { return false };
            match self.heap.payload(object) {
                Payload::Generator(row) => match row.delegate.and_then(|register| row.registers.get(usize::from(register))) {
                    Some(&inner) if row.state == GeneratorState::Suspended => current = inner,
                    _ => return false,
                },
                payload => return matches!(payload, Payload::Instance(_) | Payload::Extended(_)),
            }
        }
        false
    }
}
