//! Generators that are over.

use super::Heap;
use crate::payload::{GeneratorState, Payload};
use crate::value::{Ref, Value};

impl Heap {
    /// Marks a generator whose frame was left, and drops the frame's reference.
    pub(crate) fn finish_generator(&mut self, generator: Ref) {
        let Some(row) = self.generator(generator) else { return };
        let was_running = row.state == GeneratorState::Running;
        row.state = GeneratorState::Done;
        let registers = std::mem::take(&mut row.registers);
        registers.iter().for_each(|&value| self.release(value));
        self.spares.keep_values(registers);
        if was_running {
            self.release(Value::Obj(generator));
        }
    }

    pub(crate) fn generator(&mut self, generator: Ref) -> Option<&mut crate::payload::Generator> {
        match self.payload_mut(generator) {
            Payload::Generator(row) => Some(row),
            _ => None,
        }
    }
}
