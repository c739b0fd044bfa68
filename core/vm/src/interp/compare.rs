//! Comparison and truth.

use super::{CompareOp, Expect, Then, Vm};
use crate::costs::{
    ENTRY_COMPARED, ENTRY_LISTED, INT_WITH_FLOAT, ITEMS_COMPARED, ITEMS_COMPARED_LONG, ITEMS_COMPARED_SHORT, LARGE, TEXT_COMPARED,
    UNLIKE_COMPARED,
};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::{Number, compare_numbers};
use crate::heap::order::SHORT_TEXT;
use crate::limits::NATIVE_DEPTH;
use crate::payload::{DictPart, Payload};
use crate::runtime::protocol::{Compare, Hashing};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use cowboy_compiler::opcode::{Instruction, TEMP_A, TEMP_B, TEMP_C};
use std::cmp::Ordering;

/// What two objects are compared by.
enum Kind {
    /// The items that both have, and the order of the lengths.
    Items(Vec<Value>, Vec<Value>, Ordering),
    /// An order that is known.
    Ordering(Ordering),
    /// The pairs of two dicts.
    Dicts,
    /// Subset relations.
    Sets,
    /// Whether they are equal; they have no order.
    Same(bool),
    /// Identity.
    Other,
}

impl Compare for Vm {
    fn equal_native(&mut self, left: Value, right: Value) -> Outcome<bool> {
        if left.is(right) {
            return Ok(true);
        }
        if let (Value::Int(left), Value::Int(right)) = (left, right) {
            return Ok(left == right);
        }
        if let (Value::Int(_), Value::Obj(other)) | (Value::Obj(other), Value::Int(_)) = (left, right) {
            // Integers of 64 bits are never objects, unless of a class of their own.
            if self.heap.slot(other).class == ty::INT {
                return Ok(false);
            }
        }
        if let (Value::Obj(a), Value::Obj(b)) = (left, right) {
            let (a, b) = (self.heap.slot(a).class, self.heap.slot(b).class);
            let is_plain = |class: Ref| matches!(class, ty::STR | ty::BYTES | ty::LIST | ty::TUPLE | ty::DICT);
            if a != b && is_plain(a) && is_plain(b) {
                return Ok(false);
            }
        }
        Ok(self.compare_native(CompareOp::Eq, left, right)?.unwrap_or(false))
    }

    fn compare_native(&mut self, op: CompareOp, left: Value, right: Value) -> Outcome<Option<bool>> {
        if let (Value::Obj(a), Value::Obj(b)) = (left, right) {
            self.spend_on_texts(op, a, b)?;
            if let (Payload::Str(one), Payload::Str(other)) = (self.heap.payload(a), self.heap.payload(b)) {
                let truth = match op {
                    CompareOp::Eq | CompareOp::Ne => {
                        let same = a == b || (!(one.interned && other.interned) && one.text == other.text);
                        same == (op == CompareOp::Eq)
                    }
                    op => op.holds(one.text.cmp(&other.text)),
                };
                return Ok(Some(truth));
            }
            // Longer ones are charged by their length.
            if matches!((self.heap.payload(a), self.heap.payload(b)), (Payload::Tuple(a), Payload::Tuple(b)) if a.len().min(b.len()) < 4) {
                if let Some(ordering) = self.heap.order(&left, &right) {
                    return Ok(Some(op.holds(ordering)));
                }
            }
        }
        if let Some(ordering) = self.order_of_large(left, right)? {
            return Ok(Some(op.holds(ordering)));
        }
        if let (Some(a), Some(b)) = (self.heap.number(left), self.heap.number(right)) {
            if matches!(a, Number::Float(_)) != matches!(b, Number::Float(_)) {
                // Exact, without rounding the integer.
                let is_large = matches!((&a, &b), (Number::Big(_), _) | (_, Number::Big(_)));
                self.spend(INT_WITH_FLOAT.once() + LARGE.of(usize::from(is_large)))?;
            }
            if self.has_own_comparison(left, op) || self.has_own_comparison(right, op.reflected()) {
                return Err(Throw::Fallback);
            }
            return Ok(Some(compare_numbers(op, &a, &b)));
        }
        self.spend(UNLIKE_COMPARED.once())?;
        if self.has_own_comparison(left, op) || self.has_own_comparison(right, op.reflected()) {
            return Err(Throw::Fallback);
        }
        if self.native_depth > NATIVE_DEPTH {
            return Err(self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded in comparison"));
        }
        self.native_depth += 1;
        let outcome = self.compare_containers(op, left, right);
        self.native_depth -= 1;
        outcome
    }

    fn truth(&mut self, value: Value) -> Outcome<bool> {
        let Value::Obj(object) = value else {
            return Ok(match value {
                Value::None | Value::Undefined => false,
                Value::Bool(truth) => truth.into(),
                Value::Int(number) => number != 0,
                Value::Float(number) => !number.is_zero(),
                _ => true,
            });
        };
        if self.heap.is_python_instance(value) {
            let class = self.heap.slot(object).class;
            if let Some(function) = self.own_special(class, nm::BOOL) {
                return Err(self.call_expecting(function, &[value], Expect::Bool));
            }
            let has_truth = self.lookup(class, nm::BOOL).is_some();
            if let Some(function) = self.own_special(class, nm::LEN).filter(|_| !has_truth) {
                return Err(self.call_expecting(function, &[value], Expect::LenTruth));
            }
        }
        Ok(match self.heap.payload(object).core() {
            Payload::Str(text) => !text.text.is_empty(),
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => !bytes.is_empty(),
            Payload::List(list) => !list.items.is_empty(),
            Payload::Tuple(items) => !items.is_empty(),
            Payload::Dict(dict) | Payload::Set(dict) => dict.len() > 0,
            Payload::Range(range) => range.len() > 0,
            Payload::MemoryView(_) => {
                crate::objects::views::check(self, value)?;
                self.heap.sequence_length(object) > 0
            }
            Payload::Complex(z) => !z.real.is_zero() || !z.imaginary.is_zero(),
            Payload::Scalar(inner) => {
                let inner = *inner;
                return self.truth(inner);
            }
            Payload::DictView { dict, .. } => match dict {
                Value::Obj(dict) => self.heap.dict_len(*dict) > 0,
                _ => true,
            },
            Payload::MappingProxy(Value::Obj(dict)) if matches!(self.heap.payload(*dict).core(), Payload::Dict(_)) => {
                self.heap.dict_len(*dict) > 0
            }
            _ => true,
        })
    }
}

impl Vm {
    /// A comparison instruction whose operands are not both small integers or floats.
    #[inline(never)]
    pub(crate) fn compare_registers(&mut self, ins: Instruction, base: usize, op: CompareOp, then: Then) -> Outcome {
        let (b, c) = (base + usize::from(ins.b), base + usize::from(ins.c));
        let (left, right) = (self.registers[b], self.registers[c]);
        let outcome = if left.is_undefined() || right.is_undefined() {
            Err(self.unbound_register(if left.is_undefined() { ins.b } else { ins.c }))
        } else {
            self.compare(op, left, right, then)
        };
        if ins.flags & TEMP_C != 0 {
            let old = std::mem::replace(&mut self.registers[c], Value::Undefined);
            self.heap.release(old);
        }
        if ins.flags & TEMP_B != 0 {
            let old = std::mem::replace(&mut self.registers[b], Value::Undefined);
            self.heap.release(old);
        }
        outcome.map(Value::truth)
    }

    /// A comparing jump; the truth when it is known at once.
    #[inline(never)]
    pub(crate) fn compare_jump(&mut self, ins: Instruction, base: usize, op: CompareOp, target: u32) -> Outcome<bool> {
        let (a, b) = (base + usize::from(ins.a), base + usize::from(ins.b));
        let (left, right) = (self.registers[a], self.registers[b]);
        let when = ins.flags & cowboy_compiler::opcode::NEGATE == 0;
        let outcome = if left.is_undefined() || right.is_undefined() {
            Err(self.unbound_register(if left.is_undefined() { ins.a } else { ins.b }))
        } else {
            self.compare(op, left, right, Then::Jump { when, target })
        };
        if ins.flags & TEMP_B != 0 {
            let old = std::mem::replace(&mut self.registers[b], Value::Undefined);
            self.heap.release(old);
        }
        if ins.flags & TEMP_A != 0 {
            let old = std::mem::replace(&mut self.registers[a], Value::Undefined);
            self.heap.release(old);
        }
        outcome
    }

    /// The same with an immediate right operand.
    #[inline(never)]
    pub(crate) fn compare_jump_immediate(
        &mut self,
        ins: Instruction,
        base: usize,
        op: CompareOp,
        right: i64,
        target: u32,
    ) -> Outcome<bool> {
        let a = base + usize::from(ins.a);
        let left = self.registers[a];
        let when = ins.flags & cowboy_compiler::opcode::NEGATE == 0;
        let outcome = if left.is_undefined() {
            Err(self.unbound_register(ins.a))
        } else {
            self.compare(op, left, Value::Int(right), Then::Jump { when, target })
        };
        if ins.flags & TEMP_A != 0 {
            let old = std::mem::replace(&mut self.registers[a], Value::Undefined);
            self.heap.release(old);
        }
        outcome
    }

    /// `left op right`; a call when a class written in Python decides.
    pub(crate) fn compare(&mut self, op: CompareOp, left: Value, right: Value, then: Then) -> Outcome<bool> {
        match self.compare_native(op, left, right) {
            Ok(Some(truth)) => Ok(truth),
            Ok(None) => Err(self.not_comparable(op, left, right)),
            Err(Throw::Fallback) => self.compare_special(op, left, right, then),
            Err(throw) => Err(throw),
        }
    }

    /// Charges the comparison of two texts, or of two objects that hold bytes, by what has to be looked at.
    fn spend_on_texts(&mut self, op: CompareOp, a: Ref, b: Ref) -> Outcome<()> {
        let (one, other, at_once) = match (self.heap.payload(a).core(), self.heap.payload(b).core()) {
            (Payload::Str(one), Payload::Str(other)) => (one.text.len(), other.text.len(), a == b || (one.interned && other.interned)),
            (Payload::Bytes(one) | Payload::ByteArray(one, _), Payload::Bytes(other) | Payload::ByteArray(other, _)) => {
                (one.len(), other.len(), false)
            }
            _ => return Ok(()),
        };
        let looks = !matches!(op, CompareOp::Eq | CompareOp::Ne) || (one == other && !at_once);
        if looks && one.min(other) > SHORT_TEXT { self.spend(TEXT_COMPARED.of(one.min(other))) } else { Ok(()) }
    }

    /// Whether a class written in Python says how its instances compare.
    fn has_own_comparison(&mut self, value: Value, op: CompareOp) -> bool {
        if !self.heap.is_python_instance(value) {
            return false;
        }
        let class = self.heap.class_of(value);
        self.own_special(class, op.method()).is_some() || (op == CompareOp::Ne && self.own_equality(class).is_some())
    }

    /// The `__eq__` that a class sets itself and that `!=` asks, as `object.__ne__` does: other builtin types have a `__ne__` of their own.
    pub(super) fn own_equality(&mut self, class: Ref) -> Option<Value> {
        let inherited = self.lookup(ty::OBJECT, nm::NE)?;
        if !self.lookup(class, nm::NE)?.is(inherited) {
            return None;
        }
        self.own_special(class, nm::EQ)
    }

    /// The dict that a read-only view shows; anything else is itself.
    pub(super) fn behind_proxy(&self, object: Ref) -> Ref {
        match self.heap.payload(object) {
            Payload::MappingProxy(Value::Obj(inner)) if matches!(self.heap.payload(*inner).core(), Payload::Dict(_)) => *inner,
            _ => object,
        }
    }

    fn compare_containers(&mut self, op: CompareOp, left: Value, right: Value) -> Outcome<Option<bool>> {
        let identity = match op {
            CompareOp::Eq => Some(left.is(right)),
            CompareOp::Ne => Some(!left.is(right)),
            _ => None,
        };
        for (one, other) in [(left, right), (right, left)] {
            if let Some(same) = crate::objects::complex::content(self, one).and_then(|z| crate::objects::complex::equals(self, z, other)) {
                return Ok(match op {
                    CompareOp::Eq => Some(same),
                    CompareOp::Ne => Some(!same),
                    _ => None,
                });
            }
        }
        let (Value::Obj(a), Value::Obj(b)) = (left, right) else { return Ok(identity) };
        let (a, b) = (self.behind_proxy(a), self.behind_proxy(b));
        if let (CompareOp::Eq | CompareOp::Ne, Some(same)) = (op, crate::objects::memoryview::equals(self, left, right)?) {
            return Ok(Some(same == (op == CompareOp::Eq)));
        }
        self.spend_on_items(op, a, b)?;
        match self.kind_of_comparison(op, a, b)? {
            Kind::Items(a, b, lengths) => self.compare_items(op, &a, &b, lengths).map(Some),
            Kind::Ordering(ordering) => Ok(Some(op.holds(ordering))),
            Kind::Same(same) => match op {
                CompareOp::Eq => Ok(Some(same)),
                CompareOp::Ne => Ok(Some(!same)),
                _ => Ok(None),
            },
            Kind::Dicts => match op {
                CompareOp::Eq => self.dicts_equal(a, b).map(Some),
                CompareOp::Ne => self.dicts_equal(a, b).map(|same| Some(!same)),
                _ => Ok(None),
            },
            Kind::Sets => crate::objects::set::compare(self, op, left, right).map(Some),
            Kind::Other => Ok(identity),
        }
    }

    fn kind_of_comparison(&self, op: CompareOp, a: Ref, b: Ref) -> Outcome<Kind> {
        // Only the items that both have are compared, and copied before.
        let common = |a: &[Value], b: &[Value]| {
            let count = a.len().min(b.len());
            Kind::Items(a[..count].to_vec(), b[..count].to_vec(), a.len().cmp(&b.len()))
        };
        Ok(match (self.heap.payload(a).core(), self.heap.payload(b).core()) {
            (Payload::List(a), Payload::List(b)) => {
                if matches!(op, CompareOp::Eq | CompareOp::Ne) && a.items.len() != b.items.len() {
                    Kind::Same(false)
                } else {
                    common(&a.items, &b.items)
                }
            }
            (Payload::Tuple(a), Payload::Tuple(b)) => {
                if matches!(op, CompareOp::Eq | CompareOp::Ne) && a.len() != b.len() {
                    Kind::Same(false)
                } else {
                    common(a, b)
                }
            }
            (Payload::Str(a), Payload::Str(b)) => Kind::Ordering(a.text.cmp(&b.text)),
            (Payload::Bytes(a) | Payload::ByteArray(a, _), Payload::Bytes(b) | Payload::ByteArray(b, _)) => match op {
                CompareOp::Eq | CompareOp::Ne if a.len() != b.len() => Kind::Same(false),
                _ => Kind::Ordering(a.cmp(b)),
            },
            (Payload::Dict(_), Payload::Dict(_)) => Kind::Dicts,
            (Payload::Set(_), Payload::Set(_)) => Kind::Sets,
            // Views of values are no sets: each is equal only to itself.
            (Payload::DictView { part: DictPart::Values, .. }, _) | (_, Payload::DictView { part: DictPart::Values, .. }) => Kind::Other,
            (Payload::DictView { .. }, Payload::Set(_) | Payload::DictView { .. }) | (Payload::Set(_), Payload::DictView { .. }) => {
                Kind::Sets
            }
            (Payload::Range(a), Payload::Range(b)) => {
                let same = a.len() == b.len() && (a.len() == 0 || (a.start == b.start && (a.len() == 1 || a.step == b.step)));
                Kind::Same(same)
            }
            (Payload::BoundMethod { function: f, receiver: r }, Payload::BoundMethod { function: g, receiver: s }) => {
                Kind::Same(f.is(*g) && r.is(*s))
            }
            (Payload::Slice(a), Payload::Slice(b)) => common(&a[..], &b[..]),
            (
                Payload::GenericAlias { origin: o, arguments: x, starred: s },
                Payload::GenericAlias { origin: p, arguments: y, starred: t },
            ) => common(&[*o, *x, Value::truth(*s)], &[*p, *y, Value::truth(*t)]),
            (Payload::Union(_), Payload::Union(_)) => return Err(Throw::Fallback),
            _ => Kind::Other,
        })
    }

    /// Compares two lists or tuples by the items that both have, and where these are equal by their lengths.
    fn compare_items(&mut self, op: CompareOp, a: &[Value], b: &[Value], lengths: Ordering) -> Outcome<bool> {
        for (&x, &y) in a.iter().zip(b) {
            if self.equal_native(x, y)? {
                continue;
            }
            return match op {
                CompareOp::Eq => Ok(false),
                CompareOp::Ne => Ok(true),
                op => match self.compare_native(op, x, y)? {
                    Some(truth) => Ok(truth),
                    None => Err(self.not_comparable(op, x, y)),
                },
            };
        }
        Ok(op.holds(lengths))
    }

    /// Charges the comparison of two lists or tuples.
    fn spend_on_items(&mut self, op: CompareOp, a: Ref, b: Ref) -> Outcome<()> {
        let length = |object: Ref| match self.heap.payload(object).core() {
            Payload::List(list) => Some(list.items.len()),
            Payload::Tuple(items) => Some(items.len()),
            _ => None,
        };
        let (Some(one), Some(other)) = (length(a), length(b)) else { return Ok(()) };
        if one != other && matches!(op, CompareOp::Eq | CompareOp::Ne) {
            return Ok(());
        }
        // What both have is copied before it is compared.
        self.spend(ITEMS_COMPARED.once() + ITEMS_COMPARED_SHORT.of(one.min(other)) + ITEMS_COMPARED_LONG.of(one.max(other)))
    }

    fn dicts_equal(&mut self, a: Ref, b: Ref) -> Outcome<bool> {
        let count = self.heap.dict_len(a);
        if count != self.heap.dict_len(b) {
            return Ok(false);
        }
        self.spend(ENTRY_LISTED.of(count) + ENTRY_COMPARED.of(count))?;
        let pairs = self.heap.dict_pairs(Value::Obj(a));
        for (key, value) in pairs {
            let hash = self.hash_native(key)?;
            match self.dict_find(b, key, hash)? {
                Some(position) => {
                    let other = self.heap.dict_value_at(b, position);
                    if !self.equal_native(value, other)? {
                        return Ok(false);
                    }
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    pub(super) fn not_comparable(&mut self, op: CompareOp, left: Value, right: Value) -> Throw {
        let message = format!(
            "'{}' not supported between instances of '{}' and '{}'",
            op.symbol(),
            self.heap.class_name(left),
            self.heap.class_name(right)
        );
        self.type_error(message)
    }
}
