//! Arithmetic: fast paths are in the loop, builtin types here, special methods in `operator_methods`.

use super::operator_methods::set_helper;
use super::{CacheKind, OnReturn, Vm};
use crate::costs::{
    BITS_SHIFTED, BYTES_MADE, Charge, LARGE, LARGE_AS_FLOAT, LIMBS_ADDED, LIMBS_MULTIPLIED, LIMBS_RAISED, TEXT_APPENDED, TRUTH_AS_NUMBER,
};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::payload::Payload;
use crate::runtime::operator::BinaryOp;
use crate::runtime::protocol::Operate;
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use crate::window::afresh;
use cowboy_compiler::opcode::{INPLACE, Instruction, Op, TEMP_B, TEMP_C};
use cowboy_num::sizes;
use cowboy_num::{F64, int};
use dashu_int::IBig;

/// The price of an operation on integers of so many limbs, one of which or the result is beyond 64 bits; a left shift by so many bits.
#[inline(always)]
pub(super) fn price_of_large(op: BinaryOp, left: usize, right: usize, shifted: usize) -> Charge {
    LARGE.once()
        + match op {
            BinaryOp::Mul | BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::DivMod => LIMBS_MULTIPLIED.of(left * right),
            BinaryOp::TrueDiv => LIMBS_MULTIPLIED.of(left * right) + LARGE_AS_FLOAT.once(),
            BinaryOp::Pow => LIMBS_RAISED.of(left * left),
            // What it makes: as many limbs as bits are shifted.
            BinaryOp::LeftShift => LIMBS_ADDED.of(left.max(right)) + BITS_SHIFTED.of(shifted),
            _ => LIMBS_ADDED.of(left.max(right)),
        }
}

impl Operate for Vm {
    fn binary_core(&mut self, op: BinaryOp, left: Value, right: Value) -> Outcome<Option<Value>> {
        match (self.heap.number(left), self.heap.number(right)) {
            (Some(a), Some(b)) => {
                if matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor) {
                    if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
                        self.spend(TRUTH_AS_NUMBER.once())?;
                        return Ok(Some(Value::truth(match op {
                            BinaryOp::And => bool::from(a) & bool::from(b),
                            BinaryOp::Or => bool::from(a) | bool::from(b),
                            _ => a != b,
                        })));
                    }
                }
                if matches!(left, Value::Bool(_)) || matches!(right, Value::Bool(_)) {
                    self.spend(TRUTH_AS_NUMBER.once())?;
                }
                self.number_op(op, a, b)
            }
            _ => crate::objects::binary(self, op, left, right),
        }
    }
}

impl Vm {
    /// A binary instruction whose operands are not both small integers or floats.
    #[inline(never)]
    pub(crate) fn binary_instruction(&mut self, ins: Instruction, base: usize, op: BinaryOp) -> Outcome<()> {
        let (b, c) = (base + usize::from(ins.b), base + usize::from(ins.c));
        let (left, right) = (afresh(&self.registers[b]), afresh(&self.registers[c]));
        if left.is_undefined() || right.is_undefined() {
            return Err(self.unbound_register(if left.is_undefined() { ins.b } else { ins.c }));
        }
        // Text and bytes that nobody else can see grow in place: `s += t` costs what it appends.
        if op == BinaryOp::Add && (ins.a == ins.b || ins.flags & TEMP_B != 0) {
            if let (Value::Obj(target), Value::Obj(more)) = (left, right) {
                if target != more && self.may_grow(target, ins) && self.append(target, more)? {
                    if ins.flags & TEMP_C != 0 {
                        let old = std::mem::replace(&mut self.registers[c], Value::Undefined);
                        self.heap.release(old);
                    }
                    if ins.a != ins.b {
                        let value = std::mem::replace(&mut self.registers[b], Value::Undefined);
                        let a = base + usize::from(ins.a);
                        let old = std::mem::replace(&mut self.registers[a], value);
                        self.heap.release(old);
                    }
                    return Ok(());
                }
            }
        }
        if let (BinaryOp::Add, &Value::Obj(target), &Value::Obj(more)) = (op, &left, &right) {
            let texts = matches!((self.heap.payload(target), self.heap.payload(more)), (Payload::Str(_), Payload::Str(_)));
            if texts {
                let outcome = crate::objects::str::concatenate(self, left, right);
                return self.store_result(ins, base, outcome);
            }
        }
        let outcome = if is_inplace(ins.flags) { self.binary_inplace(op, left, right) } else { self.binary(op, left, right) };
        self.store_result(ins, base, outcome)
    }

    /// Consumes the operands of a binary instruction that are temporaries, and stores the result.
    #[inline(always)]
    fn store_result(&mut self, ins: Instruction, base: usize, outcome: Outcome) -> Outcome<()> {
        let (b, c) = (base + usize::from(ins.b), base + usize::from(ins.c));
        if ins.flags & TEMP_C != 0 {
            let old = std::mem::replace(&mut self.registers[c], Value::Undefined);
            self.heap.release(old);
        }
        if ins.flags & TEMP_B != 0 {
            let old = std::mem::replace(&mut self.registers[b], Value::Undefined);
            self.heap.release(old);
        }
        let place = &mut self.registers[base + usize::from(ins.a)];
        let old = place.object();
        match &outcome {
            Ok(value) => *place = afresh(value),
            Err(_) => return outcome.map(|_| ()),
        }
        if let Some(old) = old {
            self.heap.release_object(old);
        }
        Ok(())
    }

    /// The same with an immediate right operand.
    #[inline(never)]
    pub(crate) fn immediate_instruction(&mut self, ins: Instruction, base: usize, op: BinaryOp) -> Outcome<()> {
        let b = base + usize::from(ins.b);
        let left = afresh(&self.registers[b]);
        if left.is_undefined() {
            return Err(self.unbound_register(ins.b));
        }
        let right = Value::Int(ins.immediate());
        let outcome = if is_inplace(ins.flags) { self.binary_inplace(op, left, right) } else { self.binary(op, left, right) };
        if ins.flags & TEMP_B != 0 {
            let old = std::mem::replace(&mut self.registers[b], Value::Undefined);
            self.heap.release(old);
        }
        let value = outcome?;
        let a = base + usize::from(ins.a);
        let old = std::mem::replace(&mut self.registers[a], value);
        self.heap.release(old);
        Ok(())
    }

    /// UnboundLocalError for a register of the top frame.
    pub(crate) fn unbound_register(&mut self, register: u16) -> Throw {
        let program = std::sync::Arc::clone(&self.program);
        let code = self.frames.last().map_or(0, |frame| frame.code);
        self.unbound(&program.codes[code as usize], register)
    }

    /// Whether the left operand may be changed instead of copied: the operand is its only reference, or the one other
    /// reference is the variable that the next instruction overwrites with the result.
    fn may_grow(&self, target: Ref, ins: Instruction) -> bool {
        match self.heap.references(target) {
            1 => true,
            2 => ins.a == ins.b && ins.flags & TEMP_B != 0 && is_inplace(ins.flags) && self.overwritten_next(target, ins.a),
            _ => false,
        }
    }

    /// Whether the next instruction stores register `result` where `target` is held now, without running any code.
    fn overwritten_next(&self, target: Ref, result: u16) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let code = &self.program.codes[frame.code as usize];
        let Some(next) = code.code.instructions.get(frame.pc as usize) else { return false };
        let register = |index: u16| self.registers[frame.base as usize + usize::from(index)];
        let op = if next.op == Op::Line { self.hidden_op(frame.code, frame.pc) } else { next.op };
        let held = match (op, register(next.a)) {
            (Op::StoreGlobal, _) if next.a == result => self.heap.dict_get_name(frame.globals, code.names[usize::from(next.b)]),
            (Op::StoreCell, Value::Obj(cell)) if next.b == result => match self.heap.payload(cell) {
                Payload::Cell(content) => Some(*content),
                _ => None,
            },
            (Op::StoreAttr, Value::Obj(object)) if next.b == result => {
                let cache = &self.caches[(self.sites() + u32::from(next.c)) as usize];
                let slot = self.heap.slot(object);
                match &slot.payload {
                    Payload::Instance(attributes)
                        if cache.kind == CacheKind::Field
                            && cache.epoch == self.heap.type_epoch
                            && cache.class == slot.class
                            && cache.shape == attributes.shape
                            && attributes.dict.is_none() =>
                    {
                        attributes.values.get(cache.index as usize).copied()
                    }
                    _ => None,
                }
            }
            (Op::SetItem, Value::Obj(object)) if next.c == result => match (self.heap.payload(object), register(next.b)) {
                (Payload::Dict(dict), key) => self.heap.find_known(dict, &key).flatten().map(|position| dict.entries[position].value),
                (Payload::List(list), Value::Int(index)) => sizes::index(index).and_then(|index| list.items.get(index).copied()),
                _ => None,
            },
            _ => None,
        };
        held.is_some_and(|held| held.is(Value::Obj(target)))
    }

    /// Appends text to text or bytes to bytes in place; `false` when they are something else.
    fn append(&mut self, target: Ref, more: Ref) -> Outcome<bool> {
        let class = self.heap.slot(target).class;
        let (charge, bytes) = match (self.heap.payload(target), self.heap.payload(more)) {
            (Payload::Str(text), Payload::Str(other)) if class == ty::STR && !text.interned => {
                (TEXT_APPENDED.of(other.chars as usize), other.text.len())
            }
            (Payload::Bytes(_), Payload::Bytes(other)) if class == ty::BYTES => (BYTES_MADE.of(other.len()), other.len()),
            _ => return Ok(false),
        };
        self.spend(charge)?;
        self.reserve(bytes)?;
        if class == ty::STR {
            self.heap.append_text(target, more);
            return Ok(true);
        }
        let mut grown = std::mem::replace(self.heap.payload_mut(target), Payload::Free);
        let before = grown.size();
        if let (Payload::Bytes(text), Payload::Bytes(other)) = (&mut grown, self.heap.payload(more)) {
            text.extend_from_slice(other);
        }
        self.heap.resize_memory(before, grown.size());
        *self.heap.payload_mut(target) = grown;
        Ok(true)
    }

    /// `left op right`, retained.
    pub(crate) fn binary(&mut self, op: BinaryOp, left: Value, right: Value) -> Outcome {
        if let Some(value) = self.binary_builtin(op, left, right)? {
            return Ok(value);
        }
        self.binary_special(op, left, right, false)
    }

    /// `left op= right`, retained.
    pub(crate) fn binary_inplace(&mut self, op: BinaryOp, left: Value, right: Value) -> Outcome {
        if let Value::Obj(target) = left {
            if let Some(helper) = self.asks_right_first(op, target, right) {
                return self.call_helper(helper, &[left, right]);
            }
            if let Some(value) = crate::objects::inplace(self, op, target, right)? {
                return Ok(value);
            }
        }
        if let Some(value) = self.binary_builtin(op, left, right)? {
            return Ok(value);
        }
        self.binary_special(op, left, right, true)
    }

    /// The result for builtin types that no class written in Python overrides.
    pub(crate) fn binary_builtin(&mut self, op: BinaryOp, left: Value, right: Value) -> Outcome<Option<Value>> {
        // Instances may override what their builtin base does.
        if self.heap.is_python_instance(left) || self.heap.is_python_instance(right) {
            return Ok(None);
        }
        match self.binary_core(op, left, right) {
            // Sets and dicts whose keys compare in Python.
            Err(Throw::Fallback) => self.call_helper(set_helper(op), &[left, right]).map(Some),
            outcome => outcome,
        }
    }

    fn number_op(&mut self, op: BinaryOp, left: Number, right: Number) -> Outcome<Option<Value>> {
        if op == BinaryOp::MatMul {
            return Ok(None);
        }
        if let (Number::Float(_), _) | (_, Number::Float(_)) = (&left, &right) {
            let a = self.to_float(&left)?;
            let b = self.to_float(&right)?;
            return self.float_op(op, a, b);
        }
        let sizes = (left.limbs(), right.limbs());
        if let (Number::Small(a), Number::Small(b)) = (&left, &right) {
            let (a, b) = (*a, *b);
            let quick = match op {
                BinaryOp::Add => a.checked_add(b),
                BinaryOp::Sub => a.checked_sub(b),
                BinaryOp::Mul => a.checked_mul(b),
                BinaryOp::FloorDiv => floor_div(a, b),
                BinaryOp::Mod => floor_mod(a, b),
                BinaryOp::And => Some(a & b),
                BinaryOp::Or => Some(a | b),
                BinaryOp::Xor => Some(a ^ b),
                BinaryOp::LeftShift => super::aside::shifted(a, b),
                BinaryOp::RightShift if b >= 0 => Some(a >> b.min(63)),
                BinaryOp::Pow if b >= 0 => u32::try_from(b).ok().and_then(|b| a.checked_pow(b)),
                _ => None,
            };
            if let Some(value) = quick {
                return Ok(Some(Value::Int(value)));
            }
            if op == BinaryOp::TrueDiv && b != 0 && a.unsigned_abs() < 1 << 53 && b.unsigned_abs() < 1 << 53 {
                return Ok(Some(Value::Float(F64::from_i64(a) / F64::from_i64(b))));
            }
        }
        self.big_op(op, left.into_big(), right.into_big(), sizes).map(Some)
    }

    /// Integers of any size; charged by their limbs.
    fn big_op(&mut self, op: BinaryOp, a: IBig, b: IBig, sizes: (usize, usize)) -> Outcome {
        let shifted = if op == BinaryOp::LeftShift { int::shifted_bits(&b) } else { 0 };
        self.spend(price_of_large(op, sizes.0, sizes.1, shifted))?;
        if op == BinaryOp::Pow && b.sign() == dashu_int::Sign::Negative {
            let (a, b) = (self.to_float(&Number::Big(a))?, self.to_float(&Number::Big(b))?);
            return self.float_op(op, a, b).map(|value| value.unwrap_or(Value::NotImplemented));
        }
        let result = match op {
            BinaryOp::Add => Ok(a + b),
            BinaryOp::Sub => Ok(a - b),
            BinaryOp::Mul => Ok(a * b),
            BinaryOp::FloorDiv => int::floor_div(&a, &b),
            BinaryOp::Mod => int::floor_mod(&a, &b),
            BinaryOp::Pow => int::pow(&a, &b),
            BinaryOp::LeftShift => int::shift_left(&a, &b),
            BinaryOp::RightShift => int::shift_right(&a, &b),
            BinaryOp::And => Ok(a & b),
            BinaryOp::Or => Ok(a | b),
            BinaryOp::Xor => Ok(a ^ b),
            BinaryOp::TrueDiv => {
                return match int::true_divide(&a, &b) {
                    Ok(value) => Ok(Value::Float(value)),
                    Err(error) => Err(self.number_error(error)),
                };
            }
            BinaryOp::DivMod => {
                return match int::divmod(&a, &b) {
                    Ok((quotient, remainder)) => {
                        let quotient = self.int_value(quotient)?;
                        let remainder = self.int_value(remainder)?;
                        Ok(self.heap.tuple(vec![quotient, remainder]))
                    }
                    Err(error) => Err(self.number_error(error)),
                };
            }
            BinaryOp::MatMul => return Ok(Value::NotImplemented),
        };
        match result {
            Ok(value) => self.int_value(value),
            Err(error) => Err(self.number_error(error)),
        }
    }

    fn float_op(&mut self, op: BinaryOp, a: F64, b: F64) -> Outcome<Option<Value>> {
        if matches!(op, BinaryOp::FloorDiv | BinaryOp::Mod | BinaryOp::DivMod) {
            self.spend(crate::costs::remainder(a, b))?;
        }
        let value = match op {
            BinaryOp::Add => a + b,
            BinaryOp::Sub => a - b,
            BinaryOp::Mul => a * b,
            BinaryOp::TrueDiv => {
                if b.is_zero() {
                    return Err(self.raise(ty::ZERO_DIVISION_ERROR, "float division by zero"));
                }
                a / b
            }
            BinaryOp::FloorDiv => match a.py_floordiv(b) {
                Some(value) => value,
                None => return Err(self.raise(ty::ZERO_DIVISION_ERROR, "float floor division by zero")),
            },
            BinaryOp::Mod => match a.py_mod(b) {
                Some(value) => value,
                None => return Err(self.raise(ty::ZERO_DIVISION_ERROR, "float modulo")),
            },
            BinaryOp::DivMod => match a.py_divmod(b) {
                Some((quotient, remainder)) => {
                    return Ok(Some(self.heap.tuple(vec![Value::Float(quotient), Value::Float(remainder)])));
                }
                None => return Err(self.raise(ty::ZERO_DIVISION_ERROR, "float divmod()")),
            },
            BinaryOp::Pow => return crate::objects::float::power(self, a, b).map(Some),
            _ => return Ok(Some(Value::NotImplemented)).map(|_| None),
        };
        Ok(Some(Value::Float(value)))
    }

    /// `-x`, `+x`, `~x`
    pub(crate) fn unary(&mut self, op: Op, operand: Value) -> Outcome {
        if operand.is_undefined() {
            let register = self.current_instruction().map_or(0, |ins| ins.b);
            return Err(self.unbound_register(register));
        }
        if !self.heap.is_python_instance(operand) {
            self.spend_on_large(operand)?;
            match (op, self.heap.number(operand)) {
                (Op::Negative, Some(Number::Float(value))) => return Ok(Value::Float(-value)),
                (Op::Positive, Some(Number::Float(value))) => return Ok(Value::Float(value)),
                (Op::Negative, Some(Number::Small(value))) => return self.int_value(-IBig::from(value)),
                (Op::Invert, Some(Number::Small(value))) => return Ok(Value::Int(!value)),
                (Op::Negative, Some(Number::Big(value))) => return self.int_value(-value),
                (Op::Positive, Some(number)) => return self.int_value(number.into_big()),
                (Op::Invert, Some(Number::Big(value))) => return self.int_value(-value - IBig::ONE),
                _ => {}
            }
        }
        let (name, symbol) = match op {
            Op::Negative => (nm::NEG, "-"),
            Op::Positive => (nm::POS, "+"),
            _ => (nm::INVERT, "~"),
        };
        match self.special(operand, name) {
            Some(function) => Err(self.call_special(function, &[operand], OnReturn::Store)),
            None => {
                let message = format!("bad operand type for unary {symbol}: '{}'", self.heap.class_name(operand));
                Err(self.type_error(message))
            }
        }
    }
}

/// `left // right`; `None` when the quotient does not fit or is none.
#[inline(always)]
pub(crate) fn floor_div(left: i64, right: i64) -> Option<i64> {
    if right == 0 {
        return None;
    }
    let quotient = left.checked_div(right)?;
    Some(if (left % right != 0) && ((left < 0) != (right < 0)) { quotient - 1 } else { quotient })
}

/// `left % right`
#[inline(always)]
pub(crate) fn floor_mod(left: i64, right: i64) -> Option<i64> {
    if right == 0 {
        return None;
    }
    let remainder = left.checked_rem(right)?;
    Some(if remainder != 0 && ((remainder < 0) != (right < 0)) { remainder + right } else { remainder })
}

/// Whether an augmented assignment is asked for.
fn is_inplace(flags: u8) -> bool {
    flags & INPLACE != 0
}
