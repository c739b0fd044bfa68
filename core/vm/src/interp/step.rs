//! Instructions in their general form: names, cells, operators, comparisons and jumps. The loop comes here when its quick form
//! does not apply. The frame's `pc` is already the next instruction's; whoever jumps changes it.

use super::registers::{consume, register, set, take};
use super::{CompareOp, Expect, OnReturn, Pending, Then, Vm};
use crate::error::{Outcome, Throw, Trap};
use crate::image::{LinkedCode, Program};
use crate::payload::Payload;
use crate::runtime::operator::BinaryOp;
use crate::runtime::protocol::Compare;
use crate::types::ty;
use crate::value::Value;
use cowboy_compiler::opcode::{Instruction, NEGATE, Op, TEMP_A, TEMP_B, TEMP_C};

impl Vm {
    /// Runs one instruction of the top frame.
    #[inline(never)]
    pub(super) fn step(&mut self, ins: Instruction, program: &Program) -> Outcome<()> {
        let top = self.frames.len() - 1;
        let frame = &self.frames[top];
        let code: &LinkedCode = &program.codes[frame.code as usize];
        let base = frame.base as usize;
        match ins.op {
            Op::Nop => {}
            Op::Move => return Err(self.unbound(code, ins.b)),
            Op::LoadGlobal => {
                let globals = self.frames[top].globals;
                let name = code.names[usize::from(code.code.sites[ins.wide() as usize])];
                let value = self.load_global(globals, name, self.sites() + ins.wide())?;
                self.heap.retain(value);
                set!(self, base, ins.a, value);
            }
            Op::StoreGlobal => {
                let value = take!(self, base, ins.a, ins.flags & TEMP_A != 0);
                if value.is_undefined() {
                    return Err(self.unbound(code, ins.a));
                }
                let globals = self.frames[top].globals;
                self.dict_set_name(globals, code.names[usize::from(ins.b)], value);
            }
            Op::DeleteGlobal => {
                let globals = self.frames[top].globals;
                self.delete_global(globals, code.names[usize::from(ins.b)])?;
            }
            Op::LoadName => {
                let value = self.load_name(top, code.names[usize::from(ins.b)])?;
                set!(self, base, ins.a, value);
            }
            Op::StoreName => {
                let value = take!(self, base, ins.a, ins.flags & TEMP_A != 0);
                self.store_name(top, code.names[usize::from(ins.b)], value)?;
            }
            Op::DeleteName => {
                self.delete_name(top, code.names[usize::from(ins.b)])?;
            }
            _ => return self.step_cells(ins, code, base),
        }
        Ok(())
    }

    /// Cells, and registers that may hold nothing.
    fn step_cells(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::LoadClassCell => {
                let name = code.names[usize::from(ins.b)];
                let value = match self.namespace_get(self.frames.len() - 1, name)? {
                    Some(value) => value,
                    None => self.load_cell(code, register!(self, base, ins.c), ins.c)?,
                };
                set!(self, base, ins.a, value);
            }
            Op::MakeCell => {
                let value = take!(self, base, ins.a, true);
                let cell = self.heap.make(ty::CELL, Payload::Cell(value));
                self.registers[base + usize::from(ins.a)] = cell;
            }
            Op::LoadCell => {
                let cell = register!(self, base, ins.b);
                let value = self.load_cell(code, cell, ins.b)?;
                set!(self, base, ins.a, value);
            }
            Op::StoreCell => {
                let value = take!(self, base, ins.b, ins.flags & TEMP_B != 0);
                if value.is_undefined() {
                    return Err(self.unbound(code, ins.b));
                }
                let cell = register!(self, base, ins.a);
                self.store_cell(cell, value)?;
            }
            Op::DeleteCell => {
                let cell = register!(self, base, ins.a);
                let old = self.load_cell(code, cell, ins.a)?;
                self.heap.release(old);
                self.store_cell(cell, Value::Undefined)?;
            }
            Op::Unbind => {
                if register!(self, base, ins.a).is_undefined() {
                    return Err(self.unbound(code, ins.a));
                }
                consume!(self, base, ins.a, true);
            }
            Op::Check => {
                if register!(self, base, ins.a).is_undefined() {
                    return Err(self.unbound(code, ins.a));
                }
            }
            _ => return self.step_operators(ins, code, base),
        }
        Ok(())
    }

    /// Operators and comparisons.
    fn step_operators(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::Negative | Op::Positive | Op::Invert => {
                let operand = register!(self, base, ins.b);
                let outcome = self.unary(ins.op, operand);
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                set!(self, base, ins.a, outcome?);
            }
            Op::Not => {
                let value = register!(self, base, ins.b);
                let outcome = if value.is_undefined() {
                    Err(self.unbound(code, ins.b))
                } else {
                    self.truth_or_call(value, OnReturn::Truth { negate: true })
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                set!(self, base, ins.a, Value::truth(!outcome?));
            }
            Op::Is | Op::IsNot => {
                let (left, right) = (register!(self, base, ins.b), register!(self, base, ins.c));
                if left.is_undefined() || right.is_undefined() {
                    return Err(self.unbound(code, if left.is_undefined() { ins.b } else { ins.c }));
                }
                let same = left.is(right);
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
                set!(self, base, ins.a, Value::truth(same == (ins.op == Op::Is)));
            }
            Op::In | Op::NotIn => {
                let (item, container) = (register!(self, base, ins.b), register!(self, base, ins.c));
                let outcome = if item.is_undefined() || container.is_undefined() {
                    Err(self.unbound(code, if item.is_undefined() { ins.b } else { ins.c }))
                } else {
                    self.contains_or_call(container, item, ins.op == Op::NotIn)
                };
                consume!(self, base, ins.b, ins.flags & TEMP_B != 0);
                consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
                let found = outcome?;
                set!(self, base, ins.a, Value::truth(found == (ins.op == Op::In)));
            }
            Op::AddInt => self.immediate_instruction(ins, base, BinaryOp::Add)?,
            Op::SubInt => self.immediate_instruction(ins, base, BinaryOp::Sub)?,
            Op::MulInt => self.immediate_instruction(ins, base, BinaryOp::Mul)?,
            Op::FloorDivInt => self.immediate_instruction(ins, base, BinaryOp::FloorDiv)?,
            Op::ModInt => self.immediate_instruction(ins, base, BinaryOp::Mod)?,
            Op::AndInt => self.immediate_instruction(ins, base, BinaryOp::And)?,
            Op::OrInt => self.immediate_instruction(ins, base, BinaryOp::Or)?,
            Op::XorInt => self.immediate_instruction(ins, base, BinaryOp::Xor)?,
            Op::LeftShiftInt => self.immediate_instruction(ins, base, BinaryOp::LeftShift)?,
            Op::RightShiftInt => self.immediate_instruction(ins, base, BinaryOp::RightShift)?,
            Op::Less => self.comparison(ins, base, CompareOp::Lt)?,
            Op::LessEqual => self.comparison(ins, base, CompareOp::Le)?,
            Op::Greater => self.comparison(ins, base, CompareOp::Gt)?,
            Op::GreaterEqual => self.comparison(ins, base, CompareOp::Ge)?,
            Op::Equal => self.comparison(ins, base, CompareOp::Eq)?,
            Op::NotEqual => self.comparison(ins, base, CompareOp::Ne)?,
            _ => return self.step_jumps(ins, code, base),
        }
        Ok(())
    }

    /// Jumps, also those that compare.
    fn step_jumps(&mut self, ins: Instruction, code: &LinkedCode, base: usize) -> Outcome<()> {
        match ins.op {
            Op::JumpIfNone | Op::JumpIfNotNone => {
                let value = register!(self, base, ins.a);
                if value.is_undefined() {
                    return Err(self.unbound(code, ins.a));
                }
                consume!(self, base, ins.a, ins.flags & TEMP_A != 0);
                if value.is_none() == (ins.op == Op::JumpIfNone) {
                    self.jump(ins.wide());
                }
            }
            Op::JumpLess => self.jump_by_comparison(ins, base, CompareOp::Lt)?,
            Op::JumpLessEqual => self.jump_by_comparison(ins, base, CompareOp::Le)?,
            Op::JumpGreater => self.jump_by_comparison(ins, base, CompareOp::Gt)?,
            Op::JumpGreaterEqual => self.jump_by_comparison(ins, base, CompareOp::Ge)?,
            Op::JumpEqual => self.jump_by_comparison(ins, base, CompareOp::Eq)?,
            Op::JumpNotEqual => self.jump_by_comparison(ins, base, CompareOp::Ne)?,
            Op::JumpLessInt => self.jump_by_immediate(ins, base, CompareOp::Lt)?,
            Op::JumpLessEqualInt => self.jump_by_immediate(ins, base, CompareOp::Le)?,
            Op::JumpGreaterInt => self.jump_by_immediate(ins, base, CompareOp::Gt)?,
            Op::JumpGreaterEqualInt => self.jump_by_immediate(ins, base, CompareOp::Ge)?,
            Op::JumpEqualInt => self.jump_by_immediate(ins, base, CompareOp::Eq)?,
            Op::JumpNotEqualInt => self.jump_by_immediate(ins, base, CompareOp::Ne)?,
            Op::Jump => {
                if self.heap.exhausted() {
                    return Err(Throw::Trap(Trap::OutOfMemory));
                }
                self.jump(ins.wide());
            }
            Op::JumpIfTrue => self.jump_by_truth(ins, base, true, false)?,
            Op::JumpIfFalse => self.jump_by_truth(ins, base, false, false)?,
            Op::JumpIfTrueKeep => self.jump_by_truth(ins, base, true, true)?,
            Op::JumpIfFalseKeep => self.jump_by_truth(ins, base, false, true)?,
            _ => return self.step_objects(ins, code, base),
        }
        Ok(())
    }

    /// Lets the top frame go on at an instruction.
    pub(super) fn jump(&mut self, target: u32) {
        if let Some(frame) = self.frames.last_mut() {
            frame.pc = target;
        }
    }

    /// The instruction at a distance from the next one.
    pub(super) fn relative(&self, distance: i64) -> u32 {
        let here = self.frames.last().map_or(0, |frame| i64::from(frame.pc));
        u32::try_from(here + distance).expect("jumps stay inside their code")
    }

    fn comparison(&mut self, ins: Instruction, base: usize, op: CompareOp) -> Outcome<()> {
        let truth = self.compare_registers(ins, base, op, Then::Store)?;
        set!(self, base, ins.a, truth);
        Ok(())
    }

    fn jump_by_comparison(&mut self, ins: Instruction, base: usize, op: CompareOp) -> Outcome<()> {
        let target = self.relative(ins.immediate());
        if self.compare_jump(ins, base, op, target)? == (ins.flags & NEGATE == 0) {
            self.jump(target);
        }
        Ok(())
    }

    fn jump_by_immediate(&mut self, ins: Instruction, base: usize, op: CompareOp) -> Outcome<()> {
        let right = i64::from(i16::from_ne_bytes(ins.b.to_ne_bytes()));
        let target = self.relative(ins.immediate());
        if self.compare_jump_immediate(ins, base, op, right, target)? == (ins.flags & NEGATE == 0) {
            self.jump(target);
        }
        Ok(())
    }

    fn jump_by_truth(&mut self, ins: Instruction, base: usize, when: bool, keep: bool) -> Outcome<()> {
        let value = register!(self, base, ins.a);
        let outcome = if value.is_undefined() {
            Err(self.unbound_register(ins.a))
        } else {
            self.truth_or_call(value, OnReturn::Jump { when, target: ins.wide() })
        };
        consume!(self, base, ins.a, !keep && ins.flags & TEMP_A != 0);
        if outcome? == when {
            self.jump(ins.wide());
        }
        Ok(())
    }

    /// UnboundLocalError for a register; in a comprehension, which has a scope of its own, the NameError for a free variable.
    #[cold]
    pub(crate) fn unbound(&mut self, code: &LinkedCode, register: u16) -> Throw {
        let name = code.code.local_names.get(usize::from(register)).cloned().unwrap_or_default();
        if self.frames.last().is_some_and(|frame| code.code.is_in_comprehension(frame.pc)) {
            return self.unbound_free(&name);
        }
        let message = format!("cannot access local variable '{name}' where it is not associated with a value");
        self.raise(ty::UNBOUND_LOCAL_ERROR, &message)
    }

    #[cold]
    fn unbound_cell(&mut self, code: &LinkedCode, register: u16) -> Throw {
        let name = code.code.local_names.get(usize::from(register)).cloned().unwrap_or_default();
        if register >= code.code.free_start && code.code.free_names.contains(&name) {
            return self.unbound_free(&name);
        }
        self.unbound(code, register)
    }

    fn unbound_free(&mut self, name: &str) -> Throw {
        let message = format!("cannot access free variable '{name}' where it is not associated with a value in enclosing scope");
        self.raise(ty::NAME_ERROR, &message)
    }

    fn load_cell(&mut self, code: &LinkedCode, cell: Value, register: u16) -> Outcome {
        if let Value::Obj(cell) = cell {
            if let Payload::Cell(content) = self.heap.payload(cell) {
                let content = *content;
                if !content.is_undefined() {
                    return Ok(self.heap.retain(content));
                }
            }
        }
        Err(self.unbound_cell(code, register))
    }

    fn store_cell(&mut self, cell: Value, value: Value) -> Outcome<()> {
        let Value::Obj(cell) = cell else { return Err(Throw::Trap(Trap::Internal)) };
        self.store_barrier(cell, value)?;
        if let Payload::Cell(content) = self.heap.payload_mut(cell) {
            let old = std::mem::replace(content, value);
            self.heap.release(old);
        }
        Ok(())
    }

    /// The truth of a value, or the call that finds it out.
    pub(crate) fn truth_or_call(&mut self, value: Value, on_return: OnReturn) -> Outcome<bool> {
        match self.truth(value) {
            Err(Throw::Call(mut call)) => {
                let then = match on_return {
                    OnReturn::Jump { when, target } => Some(Then::Jump { when, target }),
                    _ => None,
                };
                let negate = matches!(on_return, OnReturn::Truth { negate: true });
                let expect = match call.on_return {
                    OnReturn::Other(ref pending) => match **pending {
                        Pending::Check { expect, .. } => expect,
                        _ => Expect::Bool,
                    },
                    _ => Expect::Bool,
                };
                call.on_return = OnReturn::Other(Box::new(Pending::Check { expect, then, negate }));
                Err(Throw::Call(call))
            }
            outcome => outcome,
        }
    }
}

/// Keeps the result of a call from being stored anywhere.
pub(crate) fn discard(throw: Throw) -> Throw {
    match throw {
        Throw::Call(mut call) => {
            if matches!(call.on_return, OnReturn::Store) {
                call.on_return = OnReturn::Discard;
            }
            Throw::Call(call)
        }
        throw => throw,
    }
}
