//! The loop.

use super::{CacheKind, CompareOp, Expect, OnReturn, Pending, Then, Vm};
use crate::error::{Exit, Outcome, Throw, Trap};
use crate::image::{LinkedCode, Program};
use crate::objects::payload::Payload;
use crate::opcode::{CYCLES, INPLACE, METHOD, NEGATE, Op, TEMP_A, TEMP_B, TEMP_C};
use crate::types::ty;
use crate::value::Value;
use std::sync::Arc;

/// Why the instruction loop stopped.
enum Stop {
    /// The top frame changed: load it.
    Reload,
    /// Something was thrown by the instruction before the saved position.
    Thrown(Throw),
}

impl Vm {
    /// Runs until the host is needed or the entry is over.
    pub fn run(&mut self) -> Exit {
        let program = Arc::clone(&self.program);
        loop {
            let Some(frame) = self.frames.last() else {
                return Exit::Trap(Trap::Internal);
            };
            debug_assert!((frame.code as usize) < program.codes.len(), "frames run codes of the program");
            if let Err(trap) = self.check_limits() {
                return self.trapped(trap);
            }
            match self.run_frame(&program) {
                Stop::Reload => {
                    if let Some(exit) = self.finished() {
                        return exit;
                    }
                }
                Stop::Thrown(throw) => {
                    if let Some(exit) = self.thrown(throw) {
                        return exit;
                    }
                }
            }
        }
    }

    pub(crate) fn trapped(&mut self, trap: Trap) -> Exit {
        if trap == Trap::OutOfCycles {
            self.cycles = 0;
        }
        Exit::Trap(trap)
    }

    /// Runs instructions of the top frame.
    #[allow(clippy::too_many_lines, clippy::cognitive_complexity, reason = "one arm per instruction, in one place, is the point of it")]
    fn run_frame(&mut self, program: &Program) -> Stop {
        let mut frame_index = self.frames.len() - 1;
        let frame = &self.frames[frame_index];
        let mut code: &LinkedCode = &program.codes[frame.code as usize];
        let mut base = frame.base as usize;
        let mut pc = frame.pc as usize;
        let mut cycles = self.cycles;
        let mut instructions = code.code.instructions.as_slice();

        // Goes on in what is the top frame now.
        macro_rules! reload {
            () => {{
                if self.frames.is_empty() || self.heap.exhausted() || self.weight < 0 {
                    return Stop::Reload;
                }
                frame_index = self.frames.len() - 1;
                let frame = &self.frames[frame_index];
                code = &program.codes[frame.code as usize];
                base = frame.base as usize;
                pc = frame.pc as usize;
                cycles = self.cycles;
                instructions = code.code.instructions.as_slice();
                continue;
            }};
        }

        macro_rules! register {
            ($index:expr) => {
                self.registers[base + $index as usize]
            };
        }
        // Writes a register; what it held is released.
        macro_rules! set {
            ($index:expr, $value:expr) => {{
                let value = $value;
                let old = std::mem::replace(&mut self.registers[base + $index as usize], value);
                if let Value::Obj(_) = old {
                    self.heap.release(old);
                }
            }};
        }
        macro_rules! save {
            () => {{
                self.cycles = cycles;
                self.frames[frame_index].pc = pc as u32;
            }};
        }
        // Consumes a temporary.
        macro_rules! drop_register {
            ($index:expr) => {{
                let old = std::mem::replace(&mut self.registers[base + $index as usize], Value::Undefined);
                if let Value::Obj(_) = old {
                    self.heap.release(old);
                }
            }};
        }
        macro_rules! attempt {
            ($outcome:expr) => {
                match $outcome {
                    Ok(value) => value,
                    Err(throw) => return Stop::Thrown(throw),
                }
            };
        }
        // A value read from a register, with a reference of its own.
        macro_rules! take {
            ($index:expr, $temporary:expr) => {{
                let index = base + $index as usize;
                if $temporary {
                    std::mem::replace(&mut self.registers[index], Value::Undefined)
                } else {
                    let value = self.registers[index];
                    self.heap.retain(value)
                }
            }};
        }
        macro_rules! arithmetic {
            ($ins:expr, $symbol:ident, $checked:ident, |$x:ident, $y:ident| $float:expr) => {{
                match (register!($ins.b), register!($ins.c)) {
                    (Value::Int(left), Value::Int(right)) => {
                        if let Some(result) = left.$checked(right) {
                            set!($ins.a, Value::Int(result));
                            continue;
                        }
                    }
                    (Value::Float($x), Value::Float($y)) => {
                        let result = $float;
                        set!($ins.a, Value::Float(result));
                        continue;
                    }
                    _ => {}
                }
                save!();
                attempt!(self.binary_instruction($ins, base, super::operators::BinaryOp::$symbol));
                cycles = self.cycles;
            }};
        }
        macro_rules! slow_binary {
            ($ins:expr, $symbol:ident) => {{
                save!();
                attempt!(self.binary_instruction($ins, base, super::operators::BinaryOp::$symbol));
                cycles = self.cycles;
            }};
        }
        macro_rules! immediate {
            ($ins:expr, $symbol:ident, |$x:ident, $y:ident| $result:expr) => {{
                if let Value::Int($x) = register!($ins.b) {
                    let $y = $ins.immediate();
                    if let Some(result) = $result {
                        set!($ins.a, Value::Int(result));
                        continue;
                    }
                }
                save!();
                attempt!(self.immediate_instruction($ins, base, super::operators::BinaryOp::$symbol));
                cycles = self.cycles;
            }};
        }
        macro_rules! comparison {
            ($ins:expr, $op:ident, $operator:tt) => {{
                match (register!($ins.b), register!($ins.c)) {
                    (Value::Int(left), Value::Int(right)) => {
                        set!($ins.a, Value::Bool(left $operator right));
                        continue;
                    }
                    (Value::Float(left), Value::Float(right)) => {
                        set!($ins.a, Value::Bool(left $operator right));
                        continue;
                    }
                    _ => {}
                }
                save!();
                let result = self.compare_registers($ins, base, CompareOp::$op, Then::Store);
                cycles = self.cycles;
                let result = attempt!(result);
                set!($ins.a, result);
            }};
        }
        macro_rules! compare_jump {
            ($ins:expr, $op:ident, $operator:tt) => {{
                let truth = match (register!($ins.a), register!($ins.b)) {
                    (Value::Int(left), Value::Int(right)) => left $operator right,
                    (Value::Float(left), Value::Float(right)) => left $operator right,
                    _ => {
                        save!();
                        let target = (pc as i64 + $ins.immediate()) as u32;
                        let outcome = self.compare_jump($ins, base, CompareOp::$op, target);
                        cycles = self.cycles;
                        attempt!(outcome)
                    }
                };
                if truth == ($ins.flags & NEGATE == 0) {
                    pc = (pc as i64 + $ins.immediate()) as usize;
                }
            }};
        }
        macro_rules! compare_jump_immediate {
            ($ins:expr, $op:ident, $operator:tt) => {{
                let right = i64::from(i16::from_ne_bytes($ins.b.to_ne_bytes()));
                let truth = match register!($ins.a) {
                    Value::Int(left) => left $operator right,
                    _ => {
                        save!();
                        let target = (pc as i64 + $ins.immediate()) as u32;
                        let outcome = self.compare_jump_immediate($ins, base, CompareOp::$op, right, target);
                        cycles = self.cycles;
                        attempt!(outcome)
                    }
                };
                if truth == ($ins.flags & NEGATE == 0) {
                    pc = (pc as i64 + $ins.immediate()) as usize;
                }
            }};
        }
        macro_rules! truth_jump {
            ($ins:expr, $when:expr, $keep:expr) => {{
                let value = register!($ins.a);
                let truth = match value {
                    Value::Bool(truth) => truth,
                    Value::None => false,
                    Value::Int(number) => number != 0,
                    value => {
                        save!();
                        let outcome = self.jump_truth(value, $when, $ins.wide());
                        cycles = self.cycles;
                        if outcome.is_err() && !$keep && $ins.flags & TEMP_A != 0 {
                            drop_register!($ins.a);
                        }
                        attempt!(outcome)
                    }
                };
                if $ins.flags & TEMP_A != 0 {
                    drop_register!($ins.a);
                }
                if truth == $when {
                    pc = $ins.wide() as usize;
                }
            }};
        }

        loop {
            let ins = instructions[pc];
            pc += 1;
            cycles -= i64::from(CYCLES[ins.op as usize]);
            if cycles < 0 {
                save!();
                return Stop::Thrown(Throw::Trap(Trap::OutOfCycles));
            }
            match ins.op {
                Op::Nop => {}
                Op::Move => {
                    let value = register!(ins.b);
                    if value.is_undefined() && ins.c == 0 {
                        save!();
                        return Stop::Thrown(self.unbound(code, ins.b));
                    }
                    if ins.flags & TEMP_B != 0 {
                        register!(ins.b) = Value::Undefined;
                    } else {
                        self.heap.retain(value);
                    }
                    set!(ins.a, value);
                }
                Op::LoadConst => {
                    let value = code.consts[ins.wide() as usize];
                    self.heap.retain(value);
                    set!(ins.a, value);
                }
                Op::LoadInt => {
                    let value = i32::from_ne_bytes(ins.wide().to_ne_bytes());
                    set!(ins.a, Value::Int(i64::from(value)));
                }
                Op::LoadNone => set!(ins.a, Value::None),
                Op::LoadGlobal => {
                    let cache = self.caches[(code.sites + ins.wide()) as usize];
                    let globals = self.frames[frame_index].globals;
                    let mut found = Value::Undefined;
                    if let Payload::Dict(dict) = self.heap.payload(globals) {
                        if cache.kind == CacheKind::Global && cache.class == globals {
                            if let Some(entry) = dict.entries.get(cache.index as usize) {
                                if let Value::Obj(key) = entry.key {
                                    if key.0 == cache.shape {
                                        found = entry.value;
                                    }
                                }
                            }
                        } else if cache.kind == CacheKind::Builtin && cache.class == globals && cache.epoch == dict.version {
                            found = cache.value;
                        }
                    }
                    if found.is_undefined() {
                        save!();
                        let name = code.names[code.code.sites[ins.wide() as usize] as usize];
                        found = attempt!(self.load_global(globals, name, code.sites + ins.wide()));
                    }
                    self.heap.retain(found);
                    set!(ins.a, found);
                }
                Op::StoreGlobal => {
                    save!();
                    let value = take!(ins.a, ins.flags & TEMP_A != 0);
                    let globals = self.frames[frame_index].globals;
                    self.dict_set_name(globals, code.names[ins.b as usize], value);
                    cycles = self.cycles;
                }
                Op::DeleteGlobal => {
                    save!();
                    let globals = self.frames[frame_index].globals;
                    attempt!(self.delete_global(globals, code.names[ins.b as usize]));
                }
                Op::LoadName => {
                    save!();
                    let value = attempt!(self.load_name(frame_index, code.names[ins.b as usize]));
                    set!(ins.a, value);
                }
                Op::StoreName => {
                    save!();
                    let value = take!(ins.a, ins.flags & TEMP_A != 0);
                    attempt!(self.store_name(frame_index, code.names[ins.b as usize], value));
                    cycles = self.cycles;
                }
                Op::DeleteName => {
                    save!();
                    attempt!(self.delete_name(frame_index, code.names[ins.b as usize]));
                }
                Op::LoadClassCell => {
                    save!();
                    let name = code.names[ins.b as usize];
                    let value = match attempt!(self.namespace_get(frame_index, name)) {
                        Some(value) => value,
                        None => attempt!(self.load_cell(code, register!(ins.c), ins.c)),
                    };
                    set!(ins.a, value);
                }
                Op::MakeCell => {
                    let value = std::mem::replace(&mut register!(ins.a), Value::Undefined);
                    let cell = self.heap.make(ty::CELL, Payload::Cell(value));
                    register!(ins.a) = cell;
                }
                Op::LoadCell => {
                    let mut value = Value::Undefined;
                    if let Value::Obj(cell) = register!(ins.b) {
                        if let Payload::Cell(content) = self.heap.payload(cell) {
                            value = *content;
                        }
                    }
                    if value.is_undefined() {
                        save!();
                        return Stop::Thrown(self.unbound_cell(code, ins.b));
                    }
                    self.heap.retain(value);
                    set!(ins.a, value);
                }
                Op::StoreCell => {
                    save!();
                    let value = take!(ins.b, ins.flags & TEMP_B != 0);
                    let cell = register!(ins.a);
                    attempt!(self.store_cell(cell, value));
                    cycles = self.cycles;
                }
                Op::DeleteCell => {
                    save!();
                    let cell = register!(ins.a);
                    let old = attempt!(self.load_cell(code, cell, ins.a));
                    self.heap.release(old);
                    attempt!(self.store_cell(cell, Value::Undefined));
                }
                Op::Unbind => {
                    if register!(ins.a).is_undefined() {
                        save!();
                        return Stop::Thrown(self.unbound(code, ins.a));
                    }
                    drop_register!(ins.a);
                }
                Op::Clear => drop_register!(ins.a),
                Op::Check => {
                    if register!(ins.a).is_undefined() {
                        save!();
                        return Stop::Thrown(self.unbound(code, ins.a));
                    }
                }
                Op::Add => arithmetic!(ins, Add, checked_add, |x, y| x + y),
                Op::Sub => arithmetic!(ins, Sub, checked_sub, |x, y| x - y),
                Op::Mul => arithmetic!(ins, Mul, checked_mul, |x, y| x * y),
                Op::TrueDiv => {
                    if let (Value::Float(left), Value::Float(right)) = (register!(ins.b), register!(ins.c)) {
                        if !right.is_zero() {
                            set!(ins.a, Value::Float(left / right));
                            continue;
                        }
                    }
                    slow_binary!(ins, TrueDiv);
                }
                Op::FloorDiv => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(ins.b), register!(ins.c)) {
                        if let Some(result) = floor_div(left, right) {
                            set!(ins.a, Value::Int(result));
                            continue;
                        }
                    }
                    slow_binary!(ins, FloorDiv);
                }
                Op::Mod => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(ins.b), register!(ins.c)) {
                        if let Some(result) = floor_mod(left, right) {
                            set!(ins.a, Value::Int(result));
                            continue;
                        }
                    }
                    slow_binary!(ins, Mod);
                }
                Op::Pow => slow_binary!(ins, Pow),
                Op::LeftShift => slow_binary!(ins, LeftShift),
                Op::RightShift => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(ins.b), register!(ins.c)) {
                        if right >= 0 {
                            set!(ins.a, Value::Int(left >> right.min(63)));
                            continue;
                        }
                    }
                    slow_binary!(ins, RightShift);
                }
                Op::And => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(ins.b), register!(ins.c)) {
                        set!(ins.a, Value::Int(left & right));
                        continue;
                    }
                    slow_binary!(ins, And);
                }
                Op::Or => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(ins.b), register!(ins.c)) {
                        set!(ins.a, Value::Int(left | right));
                        continue;
                    }
                    slow_binary!(ins, Or);
                }
                Op::Xor => {
                    if let (Value::Int(left), Value::Int(right)) = (register!(ins.b), register!(ins.c)) {
                        set!(ins.a, Value::Int(left ^ right));
                        continue;
                    }
                    slow_binary!(ins, Xor);
                }
                Op::MatMul => slow_binary!(ins, MatMul),
                Op::AddInt => immediate!(ins, Add, |x, y| x.checked_add(y)),
                Op::SubInt => immediate!(ins, Sub, |x, y| x.checked_sub(y)),
                Op::MulInt => immediate!(ins, Mul, |x, y| x.checked_mul(y)),
                Op::FloorDivInt => immediate!(ins, FloorDiv, |x, y| floor_div(x, y)),
                Op::ModInt => immediate!(ins, Mod, |x, y| floor_mod(x, y)),
                Op::AndInt => immediate!(ins, And, |x, y| Some(x & y)),
                Op::Negative | Op::Positive | Op::Invert => {
                    match (ins.op, register!(ins.b)) {
                        (Op::Negative, Value::Int(value)) if value != i64::MIN => {
                            set!(ins.a, Value::Int(-value));
                            continue;
                        }
                        (Op::Negative, Value::Float(value)) => {
                            set!(ins.a, Value::Float(-value));
                            continue;
                        }
                        _ => {}
                    }
                    save!();
                    let operand = register!(ins.b);
                    let outcome = self.unary(ins.op, operand);
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    cycles = self.cycles;
                    set!(ins.a, attempt!(outcome));
                }
                Op::Not => {
                    let value = register!(ins.b);
                    let truth = match value {
                        Value::Bool(truth) => truth,
                        value => {
                            save!();
                            let outcome = self.truth_or_call(value, OnReturn::Truth { negate: true });
                            if ins.flags & TEMP_B != 0 {
                                drop_register!(ins.b);
                            }
                            cycles = self.cycles;
                            attempt!(outcome)
                        }
                    };
                    set!(ins.a, Value::Bool(!truth));
                }
                Op::Less => comparison!(ins, Lt, <),
                Op::LessEqual => comparison!(ins, Le, <=),
                Op::Greater => comparison!(ins, Gt, >),
                Op::GreaterEqual => comparison!(ins, Ge, >=),
                Op::Equal => comparison!(ins, Eq, ==),
                Op::NotEqual => comparison!(ins, Ne, !=),
                Op::Is | Op::IsNot => {
                    let (left, right) = (register!(ins.b), register!(ins.c));
                    if left.is_undefined() || right.is_undefined() {
                        save!();
                        return Stop::Thrown(self.unbound(code, if left.is_undefined() { ins.b } else { ins.c }));
                    }
                    let same = left.is(right);
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    if ins.flags & TEMP_C != 0 {
                        drop_register!(ins.c);
                    }
                    set!(ins.a, Value::Bool(same == (ins.op == Op::Is)));
                }
                Op::In | Op::NotIn => {
                    save!();
                    let (item, container) = (register!(ins.b), register!(ins.c));
                    let outcome = if item.is_undefined() || container.is_undefined() {
                        Err(self.unbound(code, if item.is_undefined() { ins.b } else { ins.c }))
                    } else {
                        self.contains_or_call(container, item, ins.op == Op::NotIn)
                    };
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    if ins.flags & TEMP_C != 0 {
                        drop_register!(ins.c);
                    }
                    cycles = self.cycles;
                    let found = attempt!(outcome);
                    set!(ins.a, Value::Bool(found == (ins.op == Op::In)));
                }
                Op::Jump => {
                    let target = ins.wide() as usize;
                    if target < pc && self.heap.exhausted() {
                        save!();
                        return Stop::Thrown(Throw::Trap(Trap::OutOfMemory));
                    }
                    pc = target;
                }
                Op::JumpIfTrue => truth_jump!(ins, true, false),
                Op::JumpIfFalse => truth_jump!(ins, false, false),
                Op::JumpIfTrueKeep => truth_jump!(ins, true, true),
                Op::JumpIfFalseKeep => truth_jump!(ins, false, true),
                Op::JumpIfNone | Op::JumpIfNotNone => {
                    let value = register!(ins.a);
                    if value.is_undefined() {
                        save!();
                        return Stop::Thrown(self.unbound(code, ins.a));
                    }
                    if ins.flags & TEMP_A != 0 {
                        drop_register!(ins.a);
                    }
                    if value.is_none() == (ins.op == Op::JumpIfNone) {
                        pc = ins.wide() as usize;
                    }
                }
                Op::JumpLess => compare_jump!(ins, Lt, <),
                Op::JumpLessEqual => compare_jump!(ins, Le, <=),
                Op::JumpGreater => compare_jump!(ins, Gt, >),
                Op::JumpGreaterEqual => compare_jump!(ins, Ge, >=),
                Op::JumpEqual => compare_jump!(ins, Eq, ==),
                Op::JumpNotEqual => compare_jump!(ins, Ne, !=),
                Op::JumpLessInt => compare_jump_immediate!(ins, Lt, <),
                Op::JumpLessEqualInt => compare_jump_immediate!(ins, Le, <=),
                Op::JumpGreaterInt => compare_jump_immediate!(ins, Gt, >),
                Op::JumpGreaterEqualInt => compare_jump_immediate!(ins, Ge, >=),
                Op::JumpEqualInt => compare_jump_immediate!(ins, Eq, ==),
                Op::JumpNotEqualInt => compare_jump_immediate!(ins, Ne, !=),
                Op::LoadAttr => {
                    let object = register!(ins.b);
                    let site = (code.sites + u32::from(ins.c)) as usize;
                    let mut found = Value::Undefined;
                    if let Value::Obj(object) = object {
                        let cache = &self.caches[site];
                        let slot = self.heap.slot(object);
                        if cache.epoch == self.heap.type_epoch {
                            if cache.kind == CacheKind::Field && cache.class == slot.class {
                                if let Payload::Instance(attributes) = &slot.payload {
                                    if attributes.shape == cache.shape && attributes.dict.is_none() {
                                        found = attributes.values[cache.index as usize];
                                    }
                                }
                            } else if cache.kind == CacheKind::ClassAttribute && cache.class == object {
                                found = cache.value;
                            }
                        }
                    }
                    if found.is_undefined() {
                        save!();
                        if object.is_undefined() {
                            return Stop::Thrown(self.unbound(code, ins.b));
                        }
                        let name = code.names[code.code.sites[ins.c as usize] as usize];
                        let outcome = self.load_attribute_cached(object, name, site);
                        if ins.flags & TEMP_B != 0 {
                            drop_register!(ins.b);
                        }
                        cycles = self.cycles;
                        set!(ins.a, attempt!(outcome));
                    } else {
                        self.heap.retain(found);
                        if ins.flags & TEMP_B != 0 {
                            drop_register!(ins.b);
                        }
                        set!(ins.a, found);
                    }
                }
                Op::StoreAttr => {
                    let object = register!(ins.a);
                    let site = (code.sites + u32::from(ins.c)) as usize;
                    let value = register!(ins.b);
                    let mut stored = false;
                    // Scalars and texts cannot close a cycle; they go straight into a known field.
                    if let Value::Obj(object) = object {
                        if !self.is_container(value) && !value.is_undefined() && !self.heap.is_frozen(object) {
                            let cache = self.caches[site];
                            let epoch = self.heap.type_epoch;
                            if cache.epoch == epoch && cache.kind == CacheKind::Field {
                                let slot = self.heap.slot_mut(object);
                                if slot.class == cache.class {
                                    if let Payload::Instance(attributes) = &mut slot.payload {
                                        if attributes.shape == cache.shape && attributes.dict.is_none() {
                                            let value = take!(ins.b, ins.flags & TEMP_B != 0);
                                            if let Payload::Instance(attributes) = self.heap.payload_mut(object) {
                                                let old = std::mem::replace(&mut attributes.values[cache.index as usize], value);
                                                self.heap.release(old);
                                            }
                                            stored = true;
                                        }
                                    }
                                }
                            } else if cache.epoch == epoch && cache.kind == CacheKind::Transition {
                                let slot = self.heap.slot(object);
                                if slot.class == cache.class {
                                    if let Payload::Instance(attributes) = &slot.payload {
                                        if attributes.shape == cache.shape && attributes.dict.is_none() {
                                            let value = take!(ins.b, ins.flags & TEMP_B != 0);
                                            if let Payload::Instance(attributes) = self.heap.payload_mut(object) {
                                                attributes.shape = cache.index;
                                                attributes.values.push(value);
                                            }
                                            self.heap.use_memory(8);
                                            stored = true;
                                        }
                                    }
                                }
                            }
                        }
                    }
                    if !stored {
                        save!();
                        if object.is_undefined() || value.is_undefined() {
                            return Stop::Thrown(self.unbound(code, if object.is_undefined() { ins.a } else { ins.b }));
                        }
                        let name = code.names[code.code.sites[ins.c as usize] as usize];
                        let outcome = self.store_attribute_cached(object, name, value, site);
                        if ins.flags & TEMP_B != 0 {
                            drop_register!(ins.b);
                        }
                        if ins.flags & TEMP_A != 0 {
                            drop_register!(ins.a);
                        }
                        cycles = self.cycles;
                        attempt!(outcome.map_err(discard));
                    } else if ins.flags & TEMP_A != 0 {
                        drop_register!(ins.a);
                    }
                }
                Op::DeleteAttr => {
                    save!();
                    let object = register!(ins.a);
                    let outcome = if object.is_undefined() {
                        Err(self.unbound(code, ins.a))
                    } else {
                        self.delete_attribute(object, code.names[ins.b as usize])
                    };
                    if ins.flags & TEMP_A != 0 {
                        drop_register!(ins.a);
                    }
                    attempt!(outcome.map_err(discard));
                }
                Op::LoadMethod => {
                    let object = register!(ins.b);
                    let site = (code.sites + u32::from(ins.c)) as usize;
                    let mut found = Value::Undefined;
                    if let Value::Obj(object) = object {
                        let cache = &self.caches[site];
                        if cache.kind == CacheKind::Method && cache.epoch == self.heap.type_epoch {
                            let slot = self.heap.slot(object);
                            if cache.class == slot.class {
                                match &slot.payload {
                                    Payload::Instance(attributes) => {
                                        if attributes.shape == cache.shape && attributes.dict.is_none() {
                                            found = cache.value;
                                        }
                                    }
                                    _ => found = cache.value,
                                }
                            }
                        }
                    }
                    if found.is_undefined() {
                        save!();
                        if object.is_undefined() {
                            return Stop::Thrown(self.unbound(code, ins.b));
                        }
                        let name = code.names[code.code.sites[ins.c as usize] as usize];
                        let outcome = self.load_method(object, name, site);
                        cycles = self.cycles;
                        match outcome {
                            Ok((function, true)) => {
                                let receiver = take!(ins.b, ins.flags & TEMP_B != 0);
                                set!(ins.a, function);
                                set!(ins.a + 1, receiver);
                            }
                            Ok((function, false)) => {
                                if ins.flags & TEMP_B != 0 {
                                    drop_register!(ins.b);
                                }
                                set!(ins.a, Value::Undefined);
                                set!(ins.a + 1, function);
                            }
                            Err(Throw::Call(mut call)) => {
                                if ins.flags & TEMP_B != 0 {
                                    drop_register!(ins.b);
                                }
                                set!(ins.a, Value::Undefined);
                                // The value of a property or `__getattr__` is called without a receiver.
                                call.on_return = self.redirect(call.on_return);
                                return match self.begin_call(*call, base + ins.a as usize + 1) {
                                    Ok(()) => Stop::Reload,
                                    Err(throw) => Stop::Thrown(throw),
                                };
                            }
                            Err(throw) => return Stop::Thrown(throw),
                        }
                    } else {
                        self.heap.retain(found);
                        let receiver = take!(ins.b, ins.flags & TEMP_B != 0);
                        set!(ins.a, found);
                        set!(ins.a + 1, receiver);
                    }
                }
                Op::LoadSpecial => {
                    save!();
                    let object = register!(ins.b);
                    let outcome = if object.is_undefined() {
                        Err(self.unbound(code, ins.b))
                    } else {
                        self.load_special(object, code.names[ins.c as usize])
                    };
                    let (function, receiver) = match outcome {
                        Ok(pair) => pair,
                        Err(throw) => {
                            if ins.flags & TEMP_B != 0 {
                                drop_register!(ins.b);
                            }
                            return Stop::Thrown(throw);
                        }
                    };
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    if receiver.is_undefined() {
                        set!(ins.a, Value::Undefined);
                        set!(ins.a + 1, function);
                    } else {
                        set!(ins.a, function);
                        set!(ins.a + 1, receiver);
                    }
                }
                Op::GetItem => {
                    let (object, key) = (register!(ins.b), register!(ins.c));
                    let mut found = Value::Undefined;
                    if let Value::Obj(object) = object {
                        let payload = self.heap.payload(object);
                        match (payload, key) {
                            (Payload::List(list), Value::Int(index)) => {
                                let length = list.items.len() as i64;
                                let index = if index < 0 { index + length } else { index };
                                if let Some(&value) = usize::try_from(index).ok().and_then(|index| list.items.get(index)) {
                                    found = value;
                                }
                            }
                            (Payload::Tuple(items), Value::Int(index)) => {
                                let length = items.len() as i64;
                                let index = if index < 0 { index + length } else { index };
                                if let Some(&value) = usize::try_from(index).ok().and_then(|index| items.get(index)) {
                                    found = value;
                                }
                            }
                            (Payload::Dict(dict), key) => {
                                if let Some(position) = self.heap.find_simple(dict, key) {
                                    found = dict.entries[position].value;
                                }
                            }
                            _ => {}
                        }
                    }
                    if found.is_undefined() {
                        save!();
                        let outcome = if object.is_undefined() || key.is_undefined() {
                            Err(self.unbound(code, if object.is_undefined() { ins.b } else { ins.c }))
                        } else {
                            self.get_item(object, key)
                        };
                        if ins.flags & TEMP_C != 0 {
                            drop_register!(ins.c);
                        }
                        if ins.flags & TEMP_B != 0 {
                            drop_register!(ins.b);
                        }
                        cycles = self.cycles;
                        set!(ins.a, attempt!(outcome));
                    } else {
                        self.heap.retain(found);
                        if ins.flags & TEMP_C != 0 {
                            drop_register!(ins.c);
                        }
                        if ins.flags & TEMP_B != 0 {
                            drop_register!(ins.b);
                        }
                        set!(ins.a, found);
                    }
                }
                Op::SetItem => {
                    let (object, key, value) = (register!(ins.a), register!(ins.b), register!(ins.c));
                    if let (Value::Obj(object), Value::Int(index)) = (object, key) {
                        if !self.is_container(value) && !value.is_undefined() && !self.heap.is_frozen(object) {
                            if let Payload::List(list) = self.heap.payload_mut(object) {
                                let length = list.items.len() as i64;
                                let index = if index < 0 { index + length } else { index };
                                if let Some(place) = usize::try_from(index).ok().and_then(|index| list.items.get_mut(index)) {
                                    let old = std::mem::replace(place, value);
                                    if ins.flags & TEMP_C != 0 {
                                        register!(ins.c) = Value::Undefined;
                                    } else {
                                        self.heap.retain(value);
                                    }
                                    self.heap.release(old);
                                    if ins.flags & TEMP_A != 0 {
                                        drop_register!(ins.a);
                                    }
                                    continue;
                                }
                            }
                        }
                    }
                    save!();
                    let outcome = if object.is_undefined() || key.is_undefined() || value.is_undefined() {
                        let unbound = if object.is_undefined() {
                            ins.a
                        } else if key.is_undefined() {
                            ins.b
                        } else {
                            ins.c
                        };
                        Err(self.unbound(code, unbound))
                    } else {
                        self.set_item(object, key, value)
                    };
                    if ins.flags & TEMP_C != 0 {
                        drop_register!(ins.c);
                    }
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    if ins.flags & TEMP_A != 0 {
                        drop_register!(ins.a);
                    }
                    cycles = self.cycles;
                    attempt!(outcome.map_err(discard));
                }
                Op::DeleteItem => {
                    save!();
                    let (object, key) = (register!(ins.a), register!(ins.b));
                    let outcome = if object.is_undefined() || key.is_undefined() {
                        Err(self.unbound(code, if object.is_undefined() { ins.a } else { ins.b }))
                    } else {
                        self.delete_item(object, key)
                    };
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    if ins.flags & TEMP_A != 0 {
                        drop_register!(ins.a);
                    }
                    cycles = self.cycles;
                    attempt!(outcome.map_err(discard));
                }
                Op::BuildSlice => {
                    let mut parts = [Value::Undefined; 3];
                    for (offset, part) in parts.iter_mut().enumerate() {
                        *part = std::mem::replace(&mut register!(ins.b as usize + offset), Value::Undefined);
                    }
                    let slice = self.heap.make(ty::SLICE, Payload::Slice(Box::new(parts)));
                    set!(ins.a, slice);
                }
                Op::BuildList | Op::BuildTuple => {
                    let first = base + ins.b as usize;
                    let mut items = Vec::with_capacity(ins.c as usize);
                    for index in first..first + ins.c as usize {
                        items.push(std::mem::replace(&mut self.registers[index], Value::Undefined));
                    }
                    save!();
                    let value = if ins.op == Op::BuildList { self.list(items) } else { self.tuple(items) };
                    set!(ins.a, value);
                }
                Op::BuildSet | Op::BuildDict => {
                    save!();
                    let outcome = self.build_table(ins.op == Op::BuildDict, base + ins.b as usize, ins.c as usize);
                    cycles = self.cycles;
                    set!(ins.a, attempt!(outcome));
                }
                Op::ListAppend => {
                    let value = take!(ins.b, ins.flags & TEMP_B != 0);
                    if value.is_undefined() {
                        save!();
                        return Stop::Thrown(self.unbound(code, ins.b));
                    }
                    let list = register!(ins.a);
                    save!();
                    attempt!(self.list_push(list, value));
                }
                Op::ListExtend => {
                    save!();
                    let (list, source) = (register!(ins.a), register!(ins.b));
                    let outcome = self.extend_for_display(list, source, if ins.c == 0 { Value::Undefined } else { register!(ins.c - 1) });
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    cycles = self.cycles;
                    attempt!(outcome.map_err(discard));
                }
                Op::ListToTuple => {
                    save!();
                    let list = register!(ins.b);
                    let items = self.list_items(list);
                    let items = self.heap.retain_all(&items);
                    let tuple = self.tuple(items);
                    drop_register!(ins.b);
                    set!(ins.a, tuple);
                }
                Op::SetAdd => {
                    save!();
                    let (set, value) = (register!(ins.a), register!(ins.b));
                    let outcome = self.set_add(set, value);
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    cycles = self.cycles;
                    attempt!(outcome.map_err(discard));
                }
                Op::SetUpdate => {
                    save!();
                    let (set, source) = (register!(ins.a), register!(ins.b));
                    let outcome =
                        self.helper_or("set_update", &[set, source], |vm, args| crate::objects::set::update_in_place(vm, args[0], args[1]));
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    cycles = self.cycles;
                    attempt!(outcome.map_err(discard));
                }
                Op::DictSet => {
                    save!();
                    let (dict, key, value) = (register!(ins.a), register!(ins.b), register!(ins.c));
                    let outcome = self.set_item(dict, key, value);
                    if ins.flags & TEMP_C != 0 {
                        drop_register!(ins.c);
                    }
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    cycles = self.cycles;
                    attempt!(outcome.map_err(discard));
                }
                Op::DictUpdate | Op::DictMerge => {
                    save!();
                    let (dict, source) = (register!(ins.a), register!(ins.b));
                    let callee = if ins.op == Op::DictMerge { register!(ins.c) } else { Value::None };
                    let outcome = self.dict_merge(dict, source, ins.op == Op::DictMerge, callee);
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    cycles = self.cycles;
                    attempt!(outcome.map_err(discard));
                }
                Op::BuildString => {
                    save!();
                    let outcome = self.build_string(base + ins.b as usize, ins.c as usize);
                    cycles = self.cycles;
                    set!(ins.a, attempt!(outcome));
                }
                Op::Format => {
                    save!();
                    let value = register!(ins.b);
                    let spec = if ins.c == u16::MAX { Value::Undefined } else { register!(ins.c) };
                    let outcome = if value.is_undefined() {
                        Err(self.unbound(code, ins.b))
                    } else {
                        self.format_instruction(value, spec, (ins.flags >> 4) & 3)
                    };
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    if ins.c != u16::MAX {
                        drop_register!(ins.c);
                    }
                    cycles = self.cycles;
                    set!(ins.a, attempt!(outcome));
                }
                Op::Call => {
                    save!();
                    let mut at = base + ins.b as usize;
                    let mut count = ins.c as usize;
                    if ins.flags & METHOD != 0 {
                        if self.registers[at].is_undefined() {
                            at += 1;
                        } else {
                            count += 1;
                        }
                    }
                    match self.call_registers(at, count, None, base + ins.a as usize) {
                        Ok(true) => reload!(),
                        Ok(false) => cycles = self.cycles,
                        Err(throw) => return Stop::Thrown(throw),
                    }
                }
                Op::CallKeyword => {
                    let names = code.consts[instructions[pc].wide() as usize];
                    pc += 1;
                    save!();
                    let mut at = base + ins.b as usize;
                    let mut count = ins.c as usize;
                    if ins.flags & METHOD != 0 {
                        if self.registers[at].is_undefined() {
                            at += 1;
                        } else {
                            count += 1;
                        }
                    }
                    match self.call_registers(at, count, names.object(), base + ins.a as usize) {
                        Ok(true) => reload!(),
                        Ok(false) => cycles = self.cycles,
                        Err(throw) => return Stop::Thrown(throw),
                    }
                }
                Op::CallSpread => {
                    save!();
                    match self.call_spread(base + ins.b as usize, base + ins.a as usize) {
                        Ok(()) => return Stop::Reload,
                        Err(throw) => return Stop::Thrown(throw),
                    }
                }
                Op::Return | Op::ReturnNone => {
                    let value = if ins.op == Op::ReturnNone { Value::None } else { take!(ins.b, ins.flags & TEMP_B != 0) };
                    if value.is_undefined() {
                        save!();
                        return Stop::Thrown(self.unbound(code, ins.b));
                    }
                    save!();
                    match self.return_value(value, code) {
                        Ok(()) => reload!(),
                        Err(throw) => return Stop::Thrown(throw),
                    }
                }
                Op::MakeFunction => {
                    save!();
                    let function = self.make_function(code, ins, base);
                    set!(ins.a, function);
                }
                Op::GetIter => {
                    save!();
                    let iterable = take!(ins.b, ins.flags & TEMP_B != 0);
                    if iterable.is_undefined() {
                        return Stop::Thrown(self.unbound(code, ins.b));
                    }
                    attempt!(self.begin_iteration(iterable, base + ins.a as usize));
                }
                Op::ForIter => {
                    let iterator = base + ins.b as usize;
                    match self.registers[iterator] {
                        Value::Int(step) => {
                            if let (Value::Int(next), Value::Int(left)) = (self.registers[iterator + 1], self.registers[iterator + 2]) {
                                if left > 0 {
                                    self.registers[iterator + 1] = Value::Int(next.wrapping_add(step));
                                    self.registers[iterator + 2] = Value::Int(left - 1);
                                    set!(ins.a, Value::Int(next));
                                    continue;
                                }
                            }
                            self.registers[iterator] = Value::Undefined;
                            pc += ins.c as usize;
                        }
                        Value::Obj(source) => {
                            if let (Payload::List(list), Value::Int(index)) = (self.heap.payload(source), self.registers[iterator + 1]) {
                                if let Some(&item) = list.items.get(index as usize) {
                                    self.registers[iterator + 1] = Value::Int(index + 1);
                                    self.heap.retain(item);
                                    set!(ins.a, item);
                                    continue;
                                }
                                drop_register!(ins.b);
                                pc += ins.c as usize;
                                continue;
                            }
                            save!();
                            let exit = (pc + ins.c as usize) as u32;
                            match self.advance(iterator, base + ins.a as usize, exit) {
                                Ok(super::iterate::Advance::Item(item)) => {
                                    cycles = self.cycles;
                                    set!(ins.a, item);
                                }
                                Ok(super::iterate::Advance::Exhausted) => {
                                    cycles = self.cycles;
                                    drop_register!(ins.b);
                                    pc = exit as usize;
                                }
                                Ok(super::iterate::Advance::Pushed) => reload!(),
                                Err(throw) => return Stop::Thrown(throw),
                            }
                        }
                        _ => pc += ins.c as usize,
                    }
                }
                Op::Unpack => {
                    save!();
                    let value = register!(ins.b);
                    let outcome = if value.is_undefined() {
                        Err(self.unbound(code, ins.b))
                    } else {
                        self.unpack(value, ins.c as usize, base + ins.a as usize)
                    };
                    let outcome = match outcome {
                        Err(Throw::Fallback) => match self.call_helper("unpack", &[value, Value::Int(i64::from(ins.c))]) {
                            Err(Throw::Call(call)) => return self.unpack_by_helper(*call, ins, base, frame_index, pc),
                            outcome => outcome.map(|_| ()),
                        },
                        outcome => outcome,
                    };
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    cycles = self.cycles;
                    attempt!(outcome);
                }
                Op::UnpackRest => {
                    let counts = instructions[pc];
                    pc += 1;
                    save!();
                    let value = register!(ins.b);
                    let outcome = if value.is_undefined() {
                        Err(self.unbound(code, ins.b))
                    } else {
                        self.unpack_rest(value, counts.b as usize, counts.c as usize, base + ins.a as usize)
                    };
                    if let Err(Throw::Fallback) = outcome {
                        let outcome = self.call_helper("as_tuple", &[value]);
                        if let Err(Throw::Call(call)) = outcome {
                            return self.unpack_by_helper(*call, ins, base, frame_index, pc - 1);
                        }
                    }
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    cycles = self.cycles;
                    attempt!(outcome);
                }
                Op::Raise => {
                    save!();
                    let exception = register!(ins.b);
                    let cause = if ins.flags & NEGATE != 0 { register!(ins.c) } else { Value::Undefined };
                    return Stop::Thrown(self.raise_instruction(exception, cause));
                }
                Op::Reraise => {
                    save!();
                    let exception = take!(ins.a, true);
                    return Stop::Thrown(self.reraise(exception));
                }
                Op::RaiseCurrent => {
                    save!();
                    return Stop::Thrown(self.raise_current());
                }
                Op::PushHandled => {
                    let exception = register!(ins.a);
                    self.heap.retain(exception);
                    self.handled.push(exception);
                }
                Op::PopHandled => {
                    if let Some(exception) = self.handled.pop() {
                        self.heap.release(exception);
                    }
                    drop_register!(ins.a);
                }
                Op::MatchException => {
                    save!();
                    let (exception, class) = (register!(ins.b), register!(ins.c));
                    let outcome = self.match_exception(exception, class);
                    if ins.flags & TEMP_C != 0 {
                        drop_register!(ins.c);
                    }
                    set!(ins.a, Value::Bool(attempt!(outcome)));
                }
                Op::AssertionFailed => {
                    save!();
                    let message = if ins.c == 0 { Value::Undefined } else { take!(ins.b, false) };
                    let exception = self.exception(ty::ASSERTION_ERROR, message);
                    return Stop::Thrown(Throw::Raise(exception));
                }
                Op::Yield => {
                    save!();
                    let value = take!(ins.b, ins.flags & TEMP_B != 0);
                    if value.is_undefined() {
                        return Stop::Thrown(self.unbound(code, ins.b));
                    }
                    let delegate = if ins.flags & NEGATE != 0 { Some(ins.c) } else { None };
                    match self.yield_value(value, ins.a, delegate, code) {
                        Ok(()) => reload!(),
                        Err(throw) => return Stop::Thrown(throw),
                    }
                }
                Op::YieldFromIter | Op::Await => {
                    save!();
                    let value = register!(ins.b);
                    let outcome = if value.is_undefined() {
                        Err(self.unbound(code, ins.b))
                    } else if ins.op == Op::Await {
                        self.awaitable(value)
                    } else {
                        self.iterator(value)
                    };
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    set!(ins.a, attempt!(outcome));
                }
                Op::Send => {
                    save!();
                    let done = (pc as i64 + ins.immediate()) as u32;
                    let value = take!(ins.a, true);
                    let iterator = register!(ins.b);
                    match self.send_step(iterator, value, base + ins.a as usize, done) {
                        Ok(()) => reload!(),
                        Err(throw) => return Stop::Thrown(throw),
                    }
                }
                Op::Import => {
                    save!();
                    let outcome = self.import(code.names[ins.b as usize], ins.c == 0);
                    cycles = self.cycles;
                    set!(ins.a, attempt!(outcome));
                }
                Op::ImportFrom => {
                    save!();
                    let module = register!(ins.b);
                    let value = attempt!(self.import_from(module, code.names[ins.c as usize]));
                    set!(ins.a, value);
                }
                Op::ImportStar => {
                    save!();
                    let module = register!(ins.a);
                    let globals = self.frames[frame_index].globals;
                    attempt!(self.import_star(module, globals));
                    cycles = self.cycles;
                }
                Op::LoadBuildClass => {
                    save!();
                    let function = self.helper("build_class");
                    self.heap.retain(function);
                    set!(ins.a, function);
                }
                Op::MatchSequence | Op::MatchMapping => {
                    save!();
                    let subject = register!(ins.b);
                    let matched = self.match_kind(subject, ins.op == Op::MatchSequence);
                    set!(ins.a, Value::Bool(matched));
                }
                Op::MatchLength => {
                    save!();
                    let subject = register!(ins.b);
                    let outcome = self.length(subject);
                    set!(ins.a, attempt!(outcome));
                }
                Op::MatchKeys => {
                    save!();
                    let (subject, keys) = (register!(ins.b), register!(ins.c));
                    let outcome = self.match_keys(subject, keys);
                    cycles = self.cycles;
                    set!(ins.a, attempt!(outcome));
                }
                Op::MatchClass => {
                    let counts = instructions[pc];
                    pc += 1;
                    save!();
                    let (subject, class) = (register!(ins.b), register!(ins.c));
                    let names = code.consts[counts.c as usize];
                    let outcome = self.match_class(subject, class, counts.b as usize, names);
                    cycles = self.cycles;
                    set!(ins.a, attempt!(outcome));
                }
                Op::MatchRest => {
                    save!();
                    let (subject, keys) = (register!(ins.b), register!(ins.c));
                    let outcome = self.match_rest(subject, keys);
                    cycles = self.cycles;
                    set!(ins.a, attempt!(outcome));
                }
                Op::AsyncIter => {
                    save!();
                    let value = register!(ins.b);
                    let outcome = self.async_iter(value);
                    if ins.flags & TEMP_B != 0 {
                        drop_register!(ins.b);
                    }
                    set!(ins.a, attempt!(outcome));
                }
                Op::AsyncNext => {
                    save!();
                    let value = register!(ins.b);
                    let outcome = self.async_next(value);
                    set!(ins.a, attempt!(outcome));
                }
                Op::EndAsyncFor => {
                    save!();
                    let exception = take!(ins.a, true);
                    if self.is_instance(exception, ty::STOP_ASYNC_ITERATION) {
                        self.heap.release(exception);
                        pc = ins.wide() as usize;
                    } else {
                        return Stop::Thrown(self.reraise(exception));
                    }
                }
                Op::SetupAnnotations => {
                    save!();
                    attempt!(self.setup_annotations(frame_index));
                }
                Op::PrepareReraiseStar => {
                    save!();
                    let (group, raised) = (register!(ins.b), register!(ins.c));
                    let outcome = self.helper_or("prepare_reraise_star", &[group, raised], |_, _| Err(Throw::Fallback));
                    drop_register!(ins.c);
                    set!(ins.a, attempt!(outcome));
                }
                Op::MatchGroup => {
                    save!();
                    let (group, class) = (register!(ins.b), register!(ins.c));
                    let outcome = self.helper_or("match_group", &[group, class], |_, _| Err(Throw::Fallback));
                    if ins.flags & TEMP_C != 0 {
                        drop_register!(ins.c);
                    }
                    if let Err(Throw::Call(call)) = outcome {
                        return self.unpack_pair(*call, ins.a, base);
                    }
                    attempt!(outcome);
                }
            }
        }
    }

    /// Lets the two results of a helper arrive in registers `first` and the next.
    fn unpack_pair(&mut self, mut call: crate::error::PendingCall, first: u16, base: usize) -> Stop {
        call.on_return = OnReturn::Other(Box::new(Pending::Unpack { count: 2 }));
        match self.begin_call(call, base + usize::from(first)) {
            Ok(()) => Stop::Reload,
            Err(throw) => Stop::Thrown(throw),
        }
    }

    /// Lets a helper make a tuple, from which the instruction at `pc - 1` then unpacks.
    fn unpack_by_helper(
        &mut self,
        mut call: crate::error::PendingCall,
        ins: crate::opcode::Instruction,
        base: usize,
        frame_index: usize,
        pc: usize,
    ) -> Stop {
        let (before, after) = if ins.op == Op::UnpackRest {
            let frame = &self.frames[frame_index];
            let counts = self.program.codes[frame.code as usize].code.instructions[pc];
            self.frames[frame_index].pc = pc as u32 + 1;
            (usize::from(counts.b), Some(usize::from(counts.c)))
        } else {
            self.frames[frame_index].pc = pc as u32;
            (usize::from(ins.c), None)
        };
        if ins.flags & TEMP_B != 0 {
            let old = std::mem::replace(&mut self.registers[base + usize::from(ins.b)], Value::Undefined);
            self.heap.release(old);
        }
        call.on_return = OnReturn::Other(Box::new(match after {
            None => Pending::Unpack { count: before },
            Some(after) => Pending::UnpackRest { before, after },
        }));
        match self.begin_call(call, base + usize::from(ins.a)) {
            Ok(()) => Stop::Reload,
            Err(throw) => Stop::Thrown(throw),
        }
    }

    /// UnboundLocalError for a register.
    #[cold]
    pub(crate) fn unbound(&mut self, code: &LinkedCode, register: u16) -> Throw {
        let name = code.code.local_names.get(usize::from(register)).cloned().unwrap_or_default();
        let message = format!("cannot access local variable '{name}' where it is not associated with a value");
        self.raise(ty::UNBOUND_LOCAL_ERROR, &message)
    }

    #[cold]
    fn unbound_cell(&mut self, code: &LinkedCode, register: u16) -> Throw {
        let name = code.code.local_names.get(usize::from(register)).cloned().unwrap_or_default();
        if register >= code.code.free_start && code.code.free_names.contains(&name) {
            let message = format!("cannot access free variable '{name}' where it is not associated with a value in enclosing scope");
            return self.raise(ty::NAME_ERROR, &message);
        }
        self.unbound(code, register)
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

    /// The result of a call that stands in a method position goes where it was asked to.
    fn redirect(&mut self, on_return: OnReturn) -> OnReturn {
        on_return
    }

    /// Jumps by the truth of a value that is not a plain scalar.
    fn jump_truth(&mut self, value: Value, when: bool, target: u32) -> Outcome<bool> {
        if value.is_undefined() {
            return Err(self.unbound_top());
        }
        self.truth_or_call(value, OnReturn::Jump { when, target })
    }

    /// The error for the unbound register that operand `a` of the current instruction names.
    fn unbound_top(&mut self) -> Throw {
        let program = Arc::clone(&self.program);
        let frame = self.frames.last().expect("an instruction is running");
        let code = &program.codes[frame.code as usize];
        let ins = code.code.instructions[frame.pc as usize - 1];
        self.unbound(code, ins.a)
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

#[inline(always)]
pub(crate) fn floor_div(left: i64, right: i64) -> Option<i64> {
    if right == 0 {
        return None;
    }
    let quotient = left.checked_div(right)?;
    Some(if (left % right != 0) && ((left < 0) != (right < 0)) { quotient - 1 } else { quotient })
}

#[inline(always)]
pub(crate) fn floor_mod(left: i64, right: i64) -> Option<i64> {
    if right == 0 {
        return None;
    }
    let remainder = left.checked_rem(right)?;
    Some(if remainder != 0 && ((remainder < 0) != (right < 0)) { remainder + right } else { remainder })
}

/// Whether an augmented assignment is asked for.
pub(crate) fn is_inplace(flags: u8) -> bool {
    flags & INPLACE != 0
}
