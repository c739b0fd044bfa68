//! Arithmetic of integers beyond 64 bits, and sums of texts, in their quick form: what the general form in [`super::operators`] does, for
//! the same charge, where the operands are plain and nothing can go wrong. A result takes the buffer of an operand that nobody sees any
//! more.

use super::Vm;
use super::operators::price_of_large;
use super::registers::{consume, set};
use crate::costs::{Charge, LARGE, LIMBS_ADDED, LIMBS_COMPARED, TEXT_APPENDED, TEXT_WRITTEN};
use crate::error::Outcome;
use crate::payload::{Payload, big_size};
use crate::runtime::operator::BinaryOp;
use crate::types::ty;
use crate::value::{Ref, Value};
use crate::window::{afresh, moved};
use cowboy_compiler::opcode::{Instruction, Op, TEMP_B, TEMP_C};
use cowboy_num::int;
use cowboy_num::sizes;
use dashu_int::IBig;
use std::cmp::Ordering;

/// The right operand of an operation whose left one is an integer beyond 64 bits.
#[derive(Clone, Copy)]
enum Right {
    Small(i64),
    Big(Ref),
}

/// `a op b`, with or without the buffers of its operands.
macro_rules! operate {
    ($op:expr, $a:expr, $b:expr) => {
        match $op {
            BinaryOp::Sub => $a - $b,
            BinaryOp::Mul => $a * $b,
            BinaryOp::And => $a & $b,
            BinaryOp::Or => $a | $b,
            BinaryOp::Xor => $a ^ $b,
            _ => $a + $b,
        }
    };
}

/// `a op b` for operations that are no error.
#[inline(always)]
fn compute(op: BinaryOp, a: &IBig, b: &IBig) -> IBig {
    match op {
        BinaryOp::Mod => int::floor_mod(a, b).unwrap_or_default(),
        BinaryOp::FloorDiv => int::floor_div(a, b).unwrap_or_default(),
        op => operate!(op, a, b),
    }
}

/// The same with the buffer of the left operand, which is moved once only.
macro_rules! compute_in_place {
    ($op:expr, $a:expr, $b:expr) => {
        match $op {
            BinaryOp::Mod => int::floor_mod_in_place(moved($a), $b),
            BinaryOp::FloorDiv => int::floor_div(&$a, $b).unwrap_or_default(),
            op => operate!(op, moved($a), $b),
        }
    };
}

/// The operation of an instruction, where it is a frequent one.
#[inline(always)]
fn operation(op: Op) -> Option<(BinaryOp, bool)> {
    Some(match op {
        Op::Add => (BinaryOp::Add, false),
        Op::Sub => (BinaryOp::Sub, false),
        Op::Mul => (BinaryOp::Mul, false),
        Op::And => (BinaryOp::And, false),
        Op::Or => (BinaryOp::Or, false),
        Op::Xor => (BinaryOp::Xor, false),
        Op::Mod => (BinaryOp::Mod, false),
        Op::FloorDiv => (BinaryOp::FloorDiv, false),
        Op::RightShift => (BinaryOp::RightShift, false),
        Op::AddInt => (BinaryOp::Add, true),
        Op::SubInt => (BinaryOp::Sub, true),
        Op::MulInt => (BinaryOp::Mul, true),
        Op::AndInt => (BinaryOp::And, true),
        Op::OrInt => (BinaryOp::Or, true),
        Op::XorInt => (BinaryOp::Xor, true),
        Op::RightShiftInt => (BinaryOp::RightShift, true),
        Op::ModInt => (BinaryOp::Mod, true),
        Op::FloorDivInt => (BinaryOp::FloorDiv, true),
        _ => return None,
    })
}

impl Vm {
    /// Runs a binary instruction of the top frame whose operands or result are integers beyond 64 bits, or that adds texts: whether that was
    /// all.
    #[inline(never)]
    pub(super) fn compute_large(&mut self, ins: Instruction) -> bool {
        let base = self.top_base;
        let Some((op, immediate)) = operation(ins.op) else { return false };
        let left = afresh(&self.registers[base + usize::from(ins.b)]);
        let right = if immediate { Value::Int(ins.immediate()) } else { afresh(&self.registers[base + usize::from(ins.c)]) };
        let temporary = ins.flags & TEMP_B != 0;
        let right_temporary = !immediate && ins.flags & TEMP_C != 0;
        let result = match (left, right) {
            (Value::Obj(left), Value::Obj(right)) if ins.op == Op::Add && matches!(self.heap.payload(left), Payload::Str(_)) => {
                return self.add_texts(ins, base, left, right);
            }
            (Value::Obj(left), Value::Int(right)) => self.with_large(op, left, Right::Small(right), (temporary, immediate)),
            (Value::Obj(left), Value::Obj(right)) => self.with_large(op, left, Right::Big(right), (temporary, right_temporary)),
            (Value::Int(left), Value::Int(right)) => self.overflowing(op, left, right),
            (Value::Int(left), Value::Obj(right)) => self.with_small(op, left, right),
            _ => None,
        };
        let Some(value) = result else { return false };
        consume!(self, base, ins.c, right_temporary);
        consume!(self, base, ins.b, temporary);
        set!(self, base, ins.a, value);
        true
    }

    /// Adds a text to another one, in place where nobody else sees that one.
    fn add_texts(&mut self, ins: Instruction, base: usize, target: Ref, more: Ref) -> bool {
        let slot = self.heap.slot(target);
        let (Payload::Str(text), Payload::Str(other)) = (&slot.payload, self.heap.payload(more)) else { return false };
        let (is_ascii, joined) = (text.ascii() && other.ascii(), text.text.len() + other.text.len());
        let (chars, bytes) = (other.chars as usize, other.text.len());
        let plain = slot.class == ty::STR && !text.interned;
        let temporary = ins.flags & TEMP_B != 0;
        let references = self.heap.references(target);
        if references == 2 && temporary && ins.a == ins.b {
            // The next instruction may let the other reference go.
            return false;
        }
        if references == 1 && plain && target != more && (temporary || ins.a == ins.b) {
            if self.heap.memory.saturating_add(bytes) > self.heap.limit || self.charge_quickly(TEXT_APPENDED.of(chars)).is_none() {
                return false;
            }
            self.heap.append_text(target, more);
            consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
            if ins.a != ins.b {
                let value = afresh(&self.registers[base + usize::from(ins.b)]);
                self.registers[base + usize::from(ins.b)] = Value::Undefined;
                set!(self, base, ins.a, value);
            }
            return true;
        }
        if !is_ascii || self.heap.memory.saturating_add(joined) > self.heap.limit || self.charge_quickly(TEXT_WRITTEN.of(joined)).is_none()
        {
            return false;
        }
        let mut sum = self.heap.spares.empty_text(joined);
        for part in [target, more] {
            if let Payload::Str(text) = self.heap.payload(part) {
                sum.push_str(&text.text);
            }
        }
        let value = self.heap.ascii(moved(sum));
        consume!(self, base, ins.c, ins.flags & TEMP_C != 0);
        consume!(self, base, ins.b, temporary);
        set!(self, base, ins.a, value);
        true
    }

    /// A sum, difference or product of two words.
    #[inline(always)]
    fn overflowing(&mut self, op: BinaryOp, left: i64, right: i64) -> Option<Value> {
        let (left, right) = (i128::from(left), i128::from(right));
        let wide = match op {
            BinaryOp::Add => left + right,
            BinaryOp::Sub => left - right,
            BinaryOp::Mul => left * right,
            _ => return None,
        };
        if let Ok(small) = i64::try_from(wide) {
            return Some(Value::Int(small));
        }
        self.charge_quickly(price_of_large(op, 1, 1, 0))?;
        let size = big_size(128 - wide.unsigned_abs().leading_zeros() as usize);
        Some(Value::Obj(self.heap.alloc_sized(ty::INT, Payload::BigInt(moved(IBig::from(wide))), size)))
    }

    /// The integer beyond 64 bits that an object is.
    #[inline(always)]
    fn large(&self, object: Ref) -> Option<&IBig> {
        match self.heap.payload(object) {
            Payload::BigInt(number) => Some(number),
            _ => None,
        }
    }

    /// Charges an operation, where the cycles last for it.
    #[inline(always)]
    fn charge_quickly(&mut self, charge: Charge) -> Option<()> {
        let left = self.meter.cycles.checked_sub(charge.cycles())?;
        if left < 0 {
            return None;
        }
        self.meter.cycles = left;
        Some(())
    }

    /// An operation with a large left operand. Whether that one is a temporary; and whether the right one is, or, when it is small, whether
    /// it is an immediate one.
    #[inline(always)]
    fn with_large(&mut self, op: BinaryOp, left: Ref, right: Right, (temporary, other): (bool, bool)) -> Option<Value> {
        let a = self.large(left)?;
        let bits = int::bit_length(a);
        let limbs = bits / 64 + 1;
        let more = match right {
            Right::Small(_) => 0,
            Right::Big(right) => int::bit_length(self.large(right)?),
        };
        let cost = price_of_large(op, limbs, more / 64 + 1, 0);
        let most = match (op, right) {
            (BinaryOp::And, Right::Small(mask @ 0..)) => {
                // The lowest bits make no large integer.
                let low = int::low_bits(a, mask);
                self.charge_quickly(cost)?;
                return Some(Value::Int(low));
            }
            (BinaryOp::RightShift, Right::Small(distance)) => {
                let distance = sizes::not_negative(distance)?;
                let in_place = temporary && self.heap.references(left) == 1;
                self.charge_quickly(cost)?;
                if in_place && self.heap.slot(left).class == ty::INT {
                    let a = self.take_large(left);
                    let result = moved(a >> distance);
                    return Some(if other {
                        self.replace_large(left, bits, moved(result))
                    } else {
                        self.put_large(left, bits, moved(result))
                    });
                }
                let result = moved(self.large(left)? >> distance);
                return Some(self.fresh_large(moved(result)));
            }
            (BinaryOp::FloorDiv | BinaryOp::Mod, Right::Small(0)) | (BinaryOp::RightShift, _) => return None,
            (BinaryOp::Mul, Right::Small(_)) => bits + 64,
            (BinaryOp::Mul, Right::Big(_)) => bits + more,
            (BinaryOp::Mod | BinaryOp::FloorDiv, _) => bits,
            _ => bits.max(more) + 1,
        };
        // Nothing is taken out of its place for a result that might be too large.
        if most > int::MAX_BITS {
            return None;
        }
        self.charge_quickly(cost)?;
        let in_place = temporary && self.heap.references(left) == 1 && self.heap.slot(left).class == ty::INT;
        match right {
            // Such a result is an object of its own, though it has the buffer.
            Right::Small(right) if in_place && other => {
                let a = self.take_large(left);
                let result = moved(compute_in_place!(op, a, &IBig::from(right)));
                Some(self.replace_large(left, bits, moved(result)))
            }
            Right::Small(right) if in_place => {
                let a = self.take_large(left);
                let result = moved(compute_in_place!(op, a, &IBig::from(right)));
                Some(self.put_large(left, bits, moved(result)))
            }
            Right::Small(right) => {
                let result = moved(compute(op, self.large(left)?, &IBig::from(right)));
                Some(self.fresh_large(moved(result)))
            }
            Right::Big(right) if in_place && left != right => {
                let a = self.take_large(left);
                let result = match self.large(right) {
                    Some(right) => moved(compute_in_place!(op, a, right)),
                    None => a,
                };
                Some(self.put_large(left, bits, moved(result)))
            }
            Right::Big(right) => {
                let same = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
                if same && other && self.heap.references(right) == 1 && self.heap.slot(right).class == ty::INT {
                    let bits = int::bit_length(self.large(right)?);
                    let b = self.take_large(right);
                    let result = moved(operate!(op, self.large(left)?, moved(b)));
                    return Some(self.replace_large(right, bits, moved(result)));
                }
                let result = moved(compute(op, self.large(left)?, self.large(right)?));
                Some(self.fresh_large(moved(result)))
            }
        }
    }

    /// An operation with a large right operand only.
    #[inline(always)]
    fn with_small(&mut self, op: BinaryOp, left: i64, right: Ref) -> Option<Value> {
        let b = self.large(right)?;
        let bits = int::bit_length(b);
        if matches!(op, BinaryOp::RightShift) || bits + 64 > int::MAX_BITS {
            return None;
        }
        self.charge_quickly(price_of_large(op, 1, bits / 64 + 1, 0))?;
        let result = moved(compute(op, &IBig::from(left), self.large(right)?));
        Some(self.fresh_large(moved(result)))
    }

    /// Takes a large integer out of its object, for a result to be put there.
    #[inline(always)]
    fn take_large(&mut self, object: Ref) -> IBig {
        match self.heap.payload_mut(object) {
            Payload::BigInt(number) => moved(std::mem::replace(number, IBig::ZERO)),
            _ => IBig::ZERO,
        }
    }

    /// Leaves nothing of an object whose integer was taken out.
    #[inline(always)]
    fn vacate(&mut self, object: Ref) {
        // What is there has no buffer.
        std::mem::forget(std::mem::replace(self.heap.payload_mut(object), Payload::Free));
    }

    /// Puts a result into the object that had an integer of so many bits; its value, with a reference of its own.
    #[inline(always)]
    fn put_large(&mut self, object: Ref, bits: usize, result: IBig) -> Value {
        let (before, after) = (big_size(bits), int::bit_length(&result));
        if after <= 64 {
            if let Ok(small) = i64::try_from(&result) {
                // Nothing is left of the object, which dies with its register.
                self.vacate(object);
                self.heap.free_memory(before);
                return Value::Int(small);
            }
        }
        if let Payload::BigInt(place) = self.heap.payload_mut(object) {
            // What is there has no buffer.
            std::mem::forget(std::mem::replace(place, moved(result)));
        }
        self.heap.resize_memory(before, big_size(after));
        self.heap.retain(Value::Obj(object))
    }

    /// The value of a result in the buffer of an object that had an integer of so many bits and dies with its register.
    #[inline(always)]
    fn replace_large(&mut self, object: Ref, bits: usize, result: IBig) -> Value {
        let value = self.fresh_large(moved(result));
        self.vacate(object);
        self.heap.free_memory(big_size(bits));
        value
    }

    /// The value of a result that is within the limit.
    #[inline(always)]
    fn fresh_large(&mut self, result: IBig) -> Value {
        let bits = int::bit_length(&result);
        debug_assert!(bits <= int::MAX_BITS, "checked before");
        if bits <= 64 {
            if let Ok(small) = i64::try_from(&result) {
                return Value::Int(small);
            }
        }
        Value::Obj(self.heap.alloc_sized(ty::INT, Payload::BigInt(moved(result)), big_size(bits)))
    }
}

impl Vm {
    /// Charges an operation on one integer, when that is beyond 64 bits.
    pub(super) fn spend_on_large(&mut self, value: Value) -> Outcome<()> {
        let limbs = self.heap.large_integer(value).map(|value| int::bit_length(value) / 64 + 1);
        limbs.map_or(Ok(()), |limbs| self.spend(LARGE.once() + LIMBS_ADDED.of(limbs)))
    }

    /// How two integers compare, of which one at least is beyond 64 bits and none is of a class written in Python.
    pub(super) fn order_of_large(&mut self, left: Value, right: Value) -> Outcome<Option<Ordering>> {
        let is_large = |value: Value| matches!(value, Value::Obj(object) if matches!(self.heap.payload(object), Payload::BigInt(_)));
        let is_small = |value: Value| matches!(value, Value::Int(_));
        let (one, other) = (is_large(left), is_large(right));
        if !(one && (other || is_small(right)) || other && is_small(left)) {
            return Ok(None);
        }
        let limbs = |vm: &Vm, value: Value| vm.heap.large_integer(value).map_or(1, |value| int::bit_length(value) / 64 + 1);
        // Where one has more limbs, nothing else is looked at.
        let shorter = limbs(self, left).min(limbs(self, right));
        self.spend(LARGE.once() + LIMBS_COMPARED.of(shorter))?;
        Ok(match (self.heap.large_integer(left), self.heap.large_integer(right)) {
            (Some(a), Some(b)) => Some(a.cmp(b)),
            // Beyond 64 bits, the sign says it.
            (Some(a), None) => Some(if a.sign() == dashu_int::Sign::Negative { Ordering::Less } else { Ordering::Greater }),
            (None, Some(b)) => Some(if b.sign() == dashu_int::Sign::Negative { Ordering::Greater } else { Ordering::Less }),
            (None, None) => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Entry, Exit, Limits, Vm, compile, script_image};

    /// A result may take the buffer of an operand only where nobody else sees it.
    #[test]
    fn operands_that_somebody_sees_stay_as_they_are() {
        let rows = [
            "a = 2**100\nb = a\na += 1\nassert (a - b, b) == (1, 2**100)",
            "a = 2**100\nb = [a]\na ^= b[0] >> 1\nassert b == [2**100] and a == 2**100 + 2**99",
            "a = 3**90\nb = (a * 1) & (a + 0)\nassert a == b == 3**90 and b is not a",
            "a = 2**64\nassert [a - 1 - (a - 2), (a + a) // a, a % (a - 1), (a * a) >> 64, -(a * 3) % a] == [1, 2, 1, a, 0]",
            "a = 2**63\nassert a - 1 == 9223372036854775807 and -a - 1 + 1 == -a and (a - 1) * 2 + 2 == a * 2",
            "a = -(2**70)\nassert [a % 7, a // 7, 5 - a, 5 * a, 5 & a, 5 | a, 5 ^ a] == [5, -168655945816773043347, 2**70 + 5, -5 * 2**70, 0, a + 5, a + 5]",
            "def f(x):\n    return (x + 2**80) ^ (x + 2**81)\nassert f(1) == f(1) == 2**80 + 2**81",
            "a = 'ab'\nb = a + 'cd'\nc = b\nb += 'e'\nassert (a, b, c) == ('ab', 'abcde', 'abcd')",
            "a = 'a' + str(1)\na += a\nb = a + 'é'\nb += 'x'\nassert (a, b, len(b)) == ('a1a1', 'a1a1éx', 6)",
            "d = {}\na = 'k' + str(7)\nd[a] = 1\na += '!'\nassert d == {'k7': 1} and d.get('k7') == 1 and d.get(a) is None and d.get(a, 5) == 5",
        ];
        for source in rows {
            let unit = compile(source, "program.py").expect("valid source");
            let exit = Vm::start(script_image(&unit), Entry::Script, Limits::default()).run();
            assert!(matches!(exit, Exit::Return(_)), "{source}\n{exit:?}");
        }
    }
}
