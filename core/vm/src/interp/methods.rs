//! Special methods written in Python that an instruction calls: their frames are pushed where the instruction stands, without a call
//! that is written down first.

use super::{OnReturn, Vm};
use crate::costs::Charge;
use crate::error::{Throw, Trap};
use crate::payload::Payload;
use crate::types::nm;
use crate::value::{Ref, Value};
use crate::window::afresh;
use cowboy_compiler::opcode::{Instruction, Op, TEMP_A, TEMP_B, TEMP_C};

impl Vm {
    /// `object[key]` and `object[key] = value` of an instance whose class has a method for it; `false`, and nothing has changed, for
    /// everything else.
    #[inline(never)]
    pub(super) fn begin_item_method(&mut self, ins: Instruction, base: usize) -> bool {
        let register = |vm: &Self, index: u16| afresh(&vm.registers[base + usize::from(index)]);
        let dest = base + usize::from(ins.a);
        let is_pushed = match ins.op {
            Op::GetItem => {
                let (object, key) = (register(self, ins.b), register(self, ins.c));
                self.begin_method(nm::GETITEM, &[object, key], dest, OnReturn::Store)
            }
            _ => {
                let (object, key, value) = (register(self, ins.a), register(self, ins.b), register(self, ins.c));
                self.begin_method(nm::SETITEM, &[object, key, value], dest, OnReturn::Discard)
            }
        };
        if !is_pushed {
            return false;
        }
        // The frame has references of its own.
        let temporaries = [(ins.c, TEMP_C), (ins.b, TEMP_B), (ins.a, if ins.op == Op::SetItem { TEMP_A } else { 0 })];
        for (index, flag) in temporaries {
            if ins.flags & flag != 0 {
                let old = std::mem::replace(&mut self.registers[base + usize::from(index)], Value::Undefined);
                self.heap.release(old);
            }
        }
        true
    }

    /// Pushes the frame of the method that the class of the first argument, an instance, has under a name.
    fn begin_method(&mut self, name: Ref, arguments: &[Value], dest: usize, on_return: OnReturn) -> bool {
        let Some(&Value::Obj(receiver)) = arguments.first() else { return false };
        let slot = self.heap.slot(receiver);
        if !matches!(slot.payload, Payload::Instance(_)) || arguments.iter().any(|argument| argument.is_undefined()) {
            return false;
        }
        let class = slot.class;
        match self.lookup(class, name) {
            Some(Value::Obj(function)) => self.begin_plain(function, arguments, dest, on_return),
            _ => false,
        }
    }

    /// Pushes the frame of a function written in Python that takes just these arguments, and charges for the call. `false`, and nothing has
    /// changed, for other callees, and at the recursion limit.
    pub(super) fn begin_plain(&mut self, function: Ref, arguments: &[Value], dest: usize, on_return: OnReturn) -> bool {
        let Payload::Function(row) = self.heap.payload(function) else { return false };
        let (number, globals) = (row.code, row.globals);
        let callee = &self.program.codes[number as usize];
        if callee.plain.map(usize::from) != Some(arguments.len()) || self.frames.len() >= self.meter.limits.recursion {
            return false;
        }
        let (registers, free) = (usize::from(callee.code.registers), usize::from(callee.code.free_start));
        let has_closure = !callee.code.free_names.is_empty();
        self.owe(Charge::of_instruction(Op::Call));
        let first = self.stack_top() + 1;
        self.ensure_registers(first + registers.max(arguments.len()) + 1);
        for (place, argument) in self.registers[first..].iter_mut().zip(arguments) {
            *place = afresh(argument);
        }
        self.heap.retain_each(arguments);
        if has_closure {
            self.copy_closure(function, first + free);
        }
        self.push_frame(number, first, dest, globals, on_return);
        true
    }

    /// Begins the call that an instruction left to the interpreter; whether to continue.
    #[inline(never)]
    pub(super) fn begin_left(&mut self, throw: Throw) -> bool {
        let (Throw::Call(call), Some(frame), Some(ins)) = (throw, self.frames.last(), self.current_instruction()) else {
            return self.goes_on(Err(Throw::Trap(Trap::Internal)));
        };
        let dest = frame.base as usize + usize::from(ins.a);
        let outcome = match self.begin_call(*call, dest) {
            Ok(()) => self.check_limits().map_err(Throw::Trap),
            Err(throw) => Err(throw),
        };
        self.goes_on(outcome)
    }
}
