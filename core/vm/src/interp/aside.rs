//! What is around the loop, and what it does out of line: arithmetic of floats, calls of builtin functions, and everything that goes the general way.

use super::{Frame, OnReturn, Vm};
use crate::costs::Charge;
use crate::error::{Exit, Outcome, Throw, Trap};
use crate::image::{LinkedCode, Program};
use crate::payload::Payload;
use crate::runtime::native::{NATIVE_PARAMETERS, Role};
use crate::runtime::operator::BinaryOp;
use crate::value::{Link, Ref, Value};
use crate::window::{afresh, push};
use cowboy_compiler::opcode::{CYCLES, Instruction, Op};
use cowboy_num::F64;
use std::sync::Arc;

/// Whether a float holds the integer exactly.
#[inline(always)]
fn exact(number: i64) -> bool {
    number.unsigned_abs() < 1 << 53
}

#[inline(never)]
pub(super) fn add(left: F64, right: F64) -> F64 {
    left + right
}

#[inline(never)]
pub(super) fn subtract(left: F64, right: F64) -> F64 {
    left - right
}

#[inline(never)]
pub(super) fn multiply(left: F64, right: F64) -> F64 {
    left * right
}

/// A float and an integer as two floats.
#[inline(never)]
pub(super) fn float_operands(left: &Value, right: &Value) -> Option<(F64, F64)> {
    match (left, right) {
        (&Value::Float(left), &Value::Int(right)) => Some((left, F64::from_i64(right))),
        (&Value::Int(left), &Value::Float(right)) => Some((F64::from_i64(left), right)),
        _ => None,
    }
}

/// `left / right` of floats, or integers that floats hold exactly; `None` for others, and for a zero divisor.
#[inline(never)]
pub(super) fn divide(left: &Value, right: &Value) -> Option<F64> {
    let (left, right) = match (left, right) {
        (&Value::Float(left), &Value::Float(right)) => (left, right),
        (&Value::Int(left), &Value::Int(right)) if exact(left) && exact(right) => (F64::from_i64(left), F64::from_i64(right)),
        _ => float_operands(left, right)?,
    };
    (!right.is_zero()).then(|| left / right)
}

/// `x << y` where the result fits.
#[inline(always)]
pub(super) fn shifted(x: i64, y: i64) -> Option<i64> {
    let shift = u32::try_from(y).ok().filter(|&shift| shift < 63)?;
    let result = x << shift;
    (result >> shift == x).then_some(result)
}

/// Whether a `Format` has neither conversion nor specification.
#[inline(always)]
pub(super) fn plain_field(ins: &Instruction) -> bool {
    ins.c == u16::MAX && (ins.flags >> 4) & 3 == 0
}

impl Vm {
    /// Runs until the host is needed or the entry is over.
    pub fn run(&mut self) -> Exit {
        let mut program = Arc::clone(&self.program);
        loop {
            if self.frames.is_empty() {
                return Exit::Trap(Trap::Internal);
            }
            if let Err(trap) = self.check_limits() {
                self.settle_profile();
                return self.trapped(trap);
            }
            self.run_loop(&program);
            let exit = match self.thrown.take() {
                None => self.finished(),
                Some(Throw::Line) => {
                    drop(program);
                    let outcome = self.line();
                    program = Arc::clone(&self.program);
                    match outcome {
                        Ok(()) if self.frames.is_empty() => self.finished(),
                        Ok(()) => None,
                        Err(throw) => self.thrown(throw),
                    }
                }
                Some(throw) => self.thrown(throw),
            };
            if let Some(exit) = exit {
                self.settle_profile();
                return exit;
            }
        }
    }

    pub(crate) fn trapped(&mut self, trap: Trap) -> Exit {
        if trap == Trap::OutOfCycles {
            self.meter.cycles = 0;
        }
        Exit::Trap(trap)
    }

    /// The outcome of an instruction, for the loop: whether to go on. What was thrown by the instruction before the saved position
    /// waits in `thrown`, so that the loop itself handles nothing that has to be dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn goes_on(&mut self, outcome: Outcome<()>) -> bool {
        match outcome {
            Ok(()) => true,
            Err(throw) => {
                self.thrown = Some(throw);
                false
            }
        }
    }

    /// Gives back what the instruction before the saved position was charged, and goes before it.
    #[cold]
    #[inline(never)]
    pub(super) fn again(&mut self, op: Op) {
        self.meter.cycles += i64::from(CYCLES[op as usize]);
        if let Some(frame) = self.frames.last_mut() {
            frame.pc -= 1;
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn general(&mut self, ins: Instruction, program: &Program) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let (base, frame_code) = (frame.base as usize, frame.code as usize);
        match ins.op {
            Op::GetSlice if self.get_slice_quickly(ins, base) => return true,
            Op::SetSlice if self.set_slice_quickly(ins, base) => return true,
            Op::GetItem | Op::SetItem if self.begin_item_method(ins, base) => return true,
            _ if self.shortcut(ins, base, &program.codes[frame_code]) => return true,
            _ => {}
        }
        match self.general_form(ins, program) {
            Ok(()) => true,
            Err(throw @ Throw::Call(_)) => self.begin_left(throw),
            outcome => self.goes_on(outcome),
        }
    }

    /// An instruction of the top frame in the form that no condition has to hold for.
    #[inline(always)]
    pub(super) fn general_form(&mut self, ins: Instruction, program: &Program) -> Outcome<()> {
        let Some(frame) = self.frames.last() else { return Err(Throw::Trap(Trap::Internal)) };
        let (code, base) = (&program.codes[frame.code as usize], frame.base as usize);
        if let Some(op) = BinaryOp::of(ins.op) {
            self.binary_instruction(ins, base, op)
        } else if ins.op as u8 >= Op::LoadAttr as u8 {
            match ins.op as u8 >= Op::Call as u8 {
                true => self.step_flow(ins, code, base),
                false => self.step_objects(ins, code, base),
            }
        } else {
            self.step(ins, program)
        }
    }

    #[inline(never)]
    pub(super) fn call_builtin(&mut self, row: u16, at: usize, count: usize, dest: usize) -> bool {
        let native = self.native(row);
        let signature = &native.signature;
        if signature.simple && count >= signature.required && count <= signature.positional {
            self.owe(Charge::of_function(native));
            let parameters = signature.names.len();
            let mut arguments = [Value::Undefined; NATIVE_PARAMETERS];
            for (argument, register) in arguments.iter_mut().zip(&self.registers[at..at + count]) {
                *argument = afresh(register);
            }
            let outcome = self.run_native(native, &arguments[..parameters]);
            if let Ok(value) = &outcome {
                let value = afresh(value);
                for register in &mut self.registers[at - 1..at + count] {
                    let held = register.object();
                    *register = Value::Undefined;
                    if let Some(object) = held {
                        self.heap.release_object(object);
                    }
                }
                let place = &mut self.registers[dest];
                let old = place.object();
                *place = afresh(&value);
                if let Some(old) = old {
                    self.heap.release_object(old);
                }
                self.reload = self.heap.exhausted();
                return self.meter.cycles >= 0 || self.goes_on(Err(Throw::Trap(Trap::OutOfCycles)));
            }
            return self.called_builtin(row, &arguments[..parameters], outcome, at, count, dest);
        }
        let callee = std::mem::replace(&mut self.registers[at - 1], Value::Undefined);
        let outcome = self.call_native(row, at, count, None, dest, OnReturn::Store);
        self.heap.release(callee);
        match outcome {
            Ok(reload) => {
                self.reload = reload;
                true
            }
            Err(throw) => self.goes_on(Err(throw)),
        }
    }

    /// What follows when a builtin function did not give a value.
    #[inline(never)]
    pub(super) fn called_builtin(&mut self, row: u16, arguments: &[Value], outcome: Outcome, at: usize, count: usize, dest: usize) -> bool {
        let callee = std::mem::replace(&mut self.registers[at - 1], Value::Undefined);
        let outcome = self.finish_native(row, arguments, outcome, at, count, dest, OnReturn::Store);
        self.heap.release(callee);
        match outcome {
            Ok(reload) => {
                self.reload = reload;
                true
            }
            Err(throw) => self.goes_on(Err(throw)),
        }
    }

    /// `len`, `list.append` and `dict.get`, the most frequent builtin functions: whether the arguments from `at` on are such that this was all.
    #[inline(never)]
    pub(super) fn call_at_once(&mut self, row: u16, at: usize, count: u16, dest: usize) -> bool {
        let native = self.native(row);
        let price = Charge::of_function(native);
        let value = match (native.role, &self.registers[at..at + usize::from(count)]) {
            (Role::Length, [value]) => match self.heap.quick_length(value) {
                Some(length) => Value::Int(length),
                None => return false,
            },
            (Role::Append, [list, value]) => {
                let (list, value) = (afresh(list), afresh(value));
                if !self.append_quickly(&list, &value) {
                    let Value::Obj(parent) = list else { return false };
                    let is_list = matches!(self.heap.payload(parent), Payload::List(_));
                    if !is_list || !self.heap.label_at_once(parent, &value) || !self.append_quickly(&list, &value) {
                        return false;
                    }
                }
                // The list has the reference now.
                self.registers[at + 1] = Value::Undefined;
                Value::None
            }
            (Role::Get, [table, key, default @ ..]) if default.len() <= 1 => {
                let Value::Obj(object) = *table else { return false };
                let Payload::Dict(table) = self.heap.payload(object) else { return false };
                let found = match (self.heap.find_known(table, key), default) {
                    (Some(Some(position)), _) => afresh(&table.entries[position].value),
                    (Some(None), [default]) => afresh(default),
                    (Some(None), _) => Value::None,
                    (None, _) => return false,
                };
                self.heap.retain(found)
            }
            _ => return false,
        };
        self.owe(price);
        for register in &mut self.registers[at - 1..at + usize::from(count)] {
            let held = register.object();
            *register = Value::Undefined;
            if let Some(object) = held {
                self.heap.release_object(object);
            }
        }
        let place = &mut self.registers[dest];
        let old = place.object();
        *place = afresh(&value);
        if let Some(old) = old {
            self.heap.release_object(old);
        }
        true
    }

    /// Calls a class by making an instance and pushing the frame of its `__init__`, where that is all there is to it; the arguments are in
    /// `count` registers from `at` on, the class before them.
    #[inline]
    pub(super) fn construct(&mut self, class: Ref, at: usize, count: u16, dest: usize, program: &Program) -> bool {
        let Some((number, globals, init)) = self.constructor(class) else { return false };
        let code = &program.codes[number as usize];
        let room = self.registers.len() >= at - 1 + usize::from(code.code.registers);
        if code.plain != Some(count + 1) || !room || self.frames.len() >= self.meter.limits.recursion {
            return false;
        }
        // The instance takes over the reference to its class that the register had.
        let instance = self.heap.instance(class);
        self.registers[at - 1] = self.heap.retain(instance);
        if !code.code.free_names.is_empty() {
            self.copy_closure(init, at - 1 + usize::from(code.code.free_start));
        }
        self.push_frame(number, at - 1, dest, globals, OnReturn::Init(instance));
        true
    }

    /// Calls a function whose call makes a generator or coroutine, with an argument for each parameter in the registers from `at` on.
    fn call_lazily(&mut self, function: Ref, code: &LinkedCode, number: u32, at: usize, dest: usize) -> bool {
        self.registers[at - 1] = Value::Undefined;
        if !code.code.free_names.is_empty() {
            self.copy_closure(function, at + usize::from(code.code.free_start));
        }
        let outcome = self.rest_new_generator(function, code, number, at, OnReturn::Store, dest);
        self.heap.release_object(function);
        self.goes_on(outcome)
    }

    #[inline(never)]
    pub(super) fn call(&mut self, at: usize, count: u16, dest: usize, program: &Program) -> bool {
        if let Value::Obj(object) = self.registers[at] {
            if let Payload::Function(function) = self.heap.payload(object) {
                let number = function.code;
                let callee: &LinkedCode = &program.codes[number as usize];
                if callee.lazy == Some(count) && self.registers.len() > at + 1 + usize::from(callee.code.registers) {
                    return self.call_lazily(object, callee, number, at + 1, dest);
                }
            }
        }
        let outcome = self.call_registers(at, usize::from(count), None, dest).map(|_| ());
        self.goes_on(outcome)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn leave(&mut self, value: Value, code: &LinkedCode) -> bool {
        let outcome = self.return_value(value, code);
        self.goes_on(outcome)
    }

    #[inline(always)]
    pub(super) fn push_frame(&mut self, code: u32, base: usize, dest: usize, globals: Ref, on_return: OnReturn) {
        let (base, dest, handled) = (base as u32, dest as u32, self.handled.len() as u32);
        let (generator, namespace) = (Link::NONE, Value::Undefined);
        push(&mut self.frames, Frame { code, pc: 0, base, dest, globals, handled, generator, namespace, on_return });
    }
}
