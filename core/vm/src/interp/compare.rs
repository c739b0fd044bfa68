//! Comparison, truth, hashing, membership and the cycle barrier.

use super::operators::Number;
use super::{Alternative, CompareOp, Expect, OnReturn, Pending, Then, Vm};
use crate::error::{Outcome, PendingCall, Throw, Trap};
use crate::heap::Heap;
use crate::num::{hash_f64, hash_i64, hash_int};
use crate::objects::dict::Dict;
use crate::objects::payload::Payload;
use crate::opcode::{Instruction, TEMP_A, TEMP_B, TEMP_C};
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use std::cmp::Ordering;

/// Bytes of text whose comparison an instruction's own price covers.
pub(crate) const SHORT_TEXT: usize = 64;

/// Cycles of the hash of an integer beyond 64 bits, of which there are 4,096 at most.
const LARGE_HASH: usize = 40;
/// Entries of a table that is searched from end to end.
const SMALL_TABLE: usize = 8;
/// Nesting of containers that comparison, hashing and repr follow.
pub(crate) const NATIVE_DEPTH: usize = 200;

impl CompareOp {
    /// How messages write it.
    pub(crate) fn symbol(self) -> &'static str {
        match self {
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }

    /// The special method.
    pub(crate) fn method(self) -> Ref {
        match self {
            CompareOp::Lt => nm::LT,
            CompareOp::Le => nm::LE,
            CompareOp::Eq => nm::EQ,
            CompareOp::Ne => nm::NE,
            CompareOp::Gt => nm::GT,
            CompareOp::Ge => nm::GE,
        }
    }

    /// The operator with the operands exchanged.
    pub(crate) fn reflected(self) -> CompareOp {
        match self {
            CompareOp::Lt => CompareOp::Gt,
            CompareOp::Le => CompareOp::Ge,
            CompareOp::Gt => CompareOp::Lt,
            CompareOp::Ge => CompareOp::Le,
            same => same,
        }
    }

    /// Its answer for an ordering.
    pub(crate) fn holds(self, ordering: Ordering) -> bool {
        match self {
            CompareOp::Lt => ordering == Ordering::Less,
            CompareOp::Le => ordering != Ordering::Greater,
            CompareOp::Eq => ordering == Ordering::Equal,
            CompareOp::Ne => ordering != Ordering::Equal,
            CompareOp::Gt => ordering == Ordering::Greater,
            CompareOp::Ge => ordering != Ordering::Less,
        }
    }
}

impl Heap {
    /// The hash of a text or number, without running code.
    #[inline]
    pub(crate) fn simple_hash(&self, value: Value) -> Option<i64> {
        match value {
            Value::Int(value) => Some(hash_i64(value)),
            Value::Obj(object) => match self.payload(object) {
                Payload::Str(text) => Some(text.hash()),
                _ => None,
            },
            _ => None,
        }
    }

    /// The hashes of few small integers and texts that were hashed before; `None` for everything else.
    fn number_hashes<'into>(&self, items: &[Value], into: &'into mut [i64; SMALL_TABLE]) -> Option<&'into [i64]> {
        let hashes = into.get_mut(..items.len())?;
        for (hash, item) in hashes.iter_mut().zip(items) {
            *hash = match *item {
                Value::Int(number) => hash_i64(number),
                Value::Obj(object) => match self.payload(object) {
                    Payload::Str(text) if text.is_hashed() => text.hash(),
                    _ => return None,
                },
                _ => return None,
            };
        }
        Some(hashes)
    }

    /// How two numbers, two texts, or two short tuples of them compare; `None` for everything else.
    pub(crate) fn order(&self, left: &Value, right: &Value) -> Option<Ordering> {
        match (left, right) {
            (Value::Int(a), Value::Int(b)) => Some(a.cmp(b)),
            (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
            (Value::Obj(a), Value::Obj(b)) => match (self.payload(*a), self.payload(*b)) {
                // Longer ones are charged by their length.
                (Payload::Str(a), Payload::Str(b)) if a.text.len().min(b.text.len()) > SHORT_TEXT => None,
                (Payload::Str(a), Payload::Str(b)) => Some(a.text.cmp(&b.text)),
                (Payload::Tuple(a), Payload::Tuple(b)) if a.len() <= 4 && b.len() <= 4 => {
                    for (a, b) in a.iter().zip(b) {
                        // Tuples inside tuples take the general way, so that this does not nest.
                        if matches!(a, Value::Obj(inner) if matches!(self.payload(*inner), Payload::Tuple(_))) {
                            return None;
                        }
                        match self.order(a, b)? {
                            Ordering::Equal => {}
                            ordering => return Some(ordering),
                        }
                    }
                    Some(a.len().cmp(&b.len()))
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The position of a text or small integer in a dict; `None` also when the key is of another sort.
    #[inline]
    pub(crate) fn find_simple(&self, dict: &Dict, key: Value) -> Option<usize> {
        self.find_certain(dict, &key, usize::MAX).flatten()
    }

    /// Whether and where a dict has a text or small integer; `None` when that is not certain without running code or charging for it: the
    /// key is of another sort or has to be hashed at length, or one of another sort has the same hash.
    #[inline]
    pub(crate) fn find_known(&self, dict: &Dict, key: &Value) -> Option<Option<usize>> {
        if let Value::Obj(object) = *key {
            // The very same text in a small table is found soonest by looking for it.
            if dict.entries.len() <= SMALL_TABLE {
                let found = dict.entries.iter().position(|entry| matches!(entry.key, Value::Obj(known) if known == object));
                if found.is_some() {
                    return Some(found);
                }
            }
            if matches!(self.payload(object), Payload::Str(text) if text.text.len() > SHORT_TEXT && !text.is_hashed()) {
                return None;
            }
        }
        self.find_certain(dict, key, SHORT_TEXT)
    }

    /// The same for texts that are hashed already, whatever their length; not certain when one that is longer than `most` would have to be
    /// compared with another one.
    #[inline]
    pub(super) fn find_certain(&self, dict: &Dict, key: &Value, most: usize) -> Option<Option<usize>> {
        let mut certain = true;
        let found = match *key {
            Value::Int(number) => dict.find(hash_i64(number), |known| match known {
                Value::Int(known) => known == number,
                Value::Bool(known) => i64::from(known) == number,
                Value::Obj(known) if matches!(self.payload(known), Payload::Str(_)) => false,
                _ => {
                    certain = false;
                    false
                }
            }),
            Value::Obj(object) => {
                let Payload::Str(text) = self.payload(object) else { return None };
                dict.find(text.hash(), |known| match known {
                    Value::Obj(known) if known == object => true,
                    Value::Obj(known) => match self.payload(known) {
                        Payload::Str(other) if text.interned && other.interned || other.text.len() != text.text.len() => false,
                        Payload::Str(_) if text.text.len() > most => {
                            certain = false;
                            false
                        }
                        Payload::Str(other) => other.text == text.text,
                        _ => {
                            certain = false;
                            false
                        }
                    },
                    _ => false,
                })
            }
            _ => return None,
        };
        if found.is_none() && !certain { None } else { Some(found) }
    }
}

impl Vm {
    // ---- instructions ----

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
        outcome.map(Value::Bool)
    }

    /// A comparing jump; the truth when it is known at once.
    #[inline(never)]
    pub(crate) fn compare_jump(&mut self, ins: Instruction, base: usize, op: CompareOp, target: u32) -> Outcome<bool> {
        let (a, b) = (base + usize::from(ins.a), base + usize::from(ins.b));
        let (left, right) = (self.registers[a], self.registers[b]);
        let when = ins.flags & crate::opcode::NEGATE == 0;
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
        let when = ins.flags & crate::opcode::NEGATE == 0;
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

    // ---- comparison ----

    /// `left op right`; a call when a class written in Python decides.
    pub(crate) fn compare(&mut self, op: CompareOp, left: Value, right: Value, then: Then) -> Outcome<bool> {
        match self.compare_native(op, left, right) {
            Ok(Some(truth)) => Ok(truth),
            Ok(None) => Err(self.not_comparable(op, left, right)),
            Err(Throw::Fallback) => self.compare_special(op, left, right, then),
            Err(throw) => Err(throw),
        }
    }

    /// `left == right` between values whose comparison needs no Python code.
    pub(crate) fn equal_native(&mut self, left: Value, right: Value) -> Outcome<bool> {
        if left.is(right) {
            return Ok(true);
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

    /// The answer of the builtin types; `None` when they cannot be ordered; `Fallback` when Python code has to decide.
    pub(crate) fn compare_native(&mut self, op: CompareOp, left: Value, right: Value) -> Outcome<Option<bool>> {
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
        if let (Some(a), Some(b)) = (self.number(left), self.number(right)) {
            if matches!(
                (&a, &b),
                (Number::Float(_), Number::Small(_) | Number::Big(_)) | (Number::Small(_) | Number::Big(_), Number::Float(_))
            ) {
                // Exact, without rounding the integer.
                self.spend(2)?;
            }
            if self.has_own_comparison(left, op) || self.has_own_comparison(right, op) {
                return Err(Throw::Fallback);
            }
            return Ok(Some(compare_numbers(op, &a, &b)));
        }
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

    /// Charges the comparison of two texts, or of two objects that hold bytes, by what has to be looked at.
    fn spend_on_texts(&mut self, op: CompareOp, a: Ref, b: Ref) -> Outcome<()> {
        let (one, other, at_once) = match (self.heap.payload(a).core(), self.heap.payload(b).core()) {
            (Payload::Str(one), Payload::Str(other)) => (one.text.len(), other.text.len(), a == b || (one.interned && other.interned)),
            (Payload::Bytes(one) | Payload::ByteArray(one), Payload::Bytes(other) | Payload::ByteArray(other)) => {
                (one.len(), other.len(), false)
            }
            _ => return Ok(()),
        };
        let looks = !matches!(op, CompareOp::Eq | CompareOp::Ne) || (one == other && !at_once);
        if looks && one.min(other) > SHORT_TEXT { self.spend(one.min(other) / 32) } else { Ok(()) }
    }

    /// Whether a class written in Python says how its instances compare.
    fn has_own_comparison(&mut self, value: Value, op: CompareOp) -> bool {
        if !self.is_python_instance(value) {
            return false;
        }
        let class = self.heap.class_of(value);
        let is_python = |vm: &mut Vm, name: Ref| {
            vm.lookup(class, name).and_then(Value::object).is_some_and(|function| !matches!(vm.heap.payload(function), Payload::Native(_)))
        };
        is_python(self, op.method()) || (op == CompareOp::Ne && is_python(self, nm::EQ))
    }

    /// The dict that a read-only view shows; anything else is itself.
    fn behind_proxy(&self, object: Ref) -> Ref {
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
        self.spend_on_items(op, a, b)?;
        enum Kind {
            Items(Vec<Value>, Vec<Value>),
            Ordering(Ordering),
            Dicts,
            Sets,
            Same(bool),
            Other,
        }
        let kind = match (self.heap.payload(a).core(), self.heap.payload(b).core()) {
            (Payload::List(a), Payload::List(b)) => {
                if matches!(op, CompareOp::Eq | CompareOp::Ne) && a.items.len() != b.items.len() {
                    Kind::Same(false)
                } else {
                    Kind::Items(a.items.clone(), b.items.clone())
                }
            }
            (Payload::Tuple(a), Payload::Tuple(b)) => {
                if matches!(op, CompareOp::Eq | CompareOp::Ne) && a.len() != b.len() {
                    Kind::Same(false)
                } else {
                    Kind::Items(a.to_vec(), b.to_vec())
                }
            }
            (Payload::Str(a), Payload::Str(b)) => Kind::Ordering(a.text.cmp(&b.text)),
            (Payload::Bytes(a) | Payload::ByteArray(a), Payload::Bytes(b) | Payload::ByteArray(b)) => match op {
                CompareOp::Eq | CompareOp::Ne if a.len() != b.len() => Kind::Same(false),
                _ => Kind::Ordering(a.cmp(b)),
            },
            (Payload::Dict(_), Payload::Dict(_)) => Kind::Dicts,
            (Payload::Set(_), Payload::Set(_)) => Kind::Sets,
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
            (Payload::Slice(a), Payload::Slice(b)) => Kind::Items(a.to_vec(), b.to_vec()),
            (
                Payload::GenericAlias { origin: o, arguments: x, starred: s },
                Payload::GenericAlias { origin: p, arguments: y, starred: t },
            ) => Kind::Items(vec![*o, *x, Value::Bool(*s)], vec![*p, *y, Value::Bool(*t)]),
            (Payload::Union(_), Payload::Union(_)) => return Err(Throw::Fallback),
            _ => Kind::Other,
        };
        match kind {
            Kind::Items(a, b) => self.compare_items(op, &a, &b).map(Some),
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

    fn compare_items(&mut self, op: CompareOp, a: &[Value], b: &[Value]) -> Outcome<bool> {
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
        Ok(op.holds(a.len().cmp(&b.len())))
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
        // Both are copied before their items are compared.
        self.spend(4 + one.min(other) / 2 + one.max(other) / 8)
    }

    fn dicts_equal(&mut self, a: Ref, b: Ref) -> Outcome<bool> {
        let count = self.dict_len(a);
        if count != self.dict_len(b) {
            return Ok(false);
        }
        self.spend(count)?;
        let pairs = self.dict_pairs(Value::Obj(a));
        for (key, value) in pairs {
            let hash = self.hash_native(key)?;
            match self.dict_find(b, key, hash)? {
                Some(position) => {
                    let other = self.dict_value_at(b, position);
                    if !self.equal_native(value, other)? {
                        return Ok(false);
                    }
                }
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn not_comparable(&mut self, op: CompareOp, left: Value, right: Value) -> Throw {
        let message =
            format!("'{}' not supported between instances of '{}' and '{}'", op.symbol(), self.class_name(left), self.class_name(right));
        self.type_error(message)
    }

    /// Special methods, in Python's order.
    fn compare_special(&mut self, op: CompareOp, left: Value, right: Value, then: Then) -> Outcome<bool> {
        let (left_class, right_class) = (self.heap.class_of(left), self.heap.class_of(right));
        let mut alternatives = Vec::new();
        let mut order = vec![(left_class, op, false), (right_class, op.reflected(), true)];
        if left_class != right_class && self.is_subclass(right_class, left_class) {
            order.reverse();
        }
        for (class, op, swapped) in order {
            let mut function = self.lookup(class, op.method()).filter(|function| !function.is_none());
            let mut negate = false;
            if op == CompareOp::Ne {
                // `object.__ne__` asks `__eq__`.
                let inherited = function.and_then(|f| self.native_row(f)).is_some();
                let own_eq = self.lookup(class, nm::EQ).filter(|f| self.native_row(*f).is_none() && !f.is_none());
                if inherited && own_eq.is_some() {
                    function = own_eq;
                    negate = true;
                }
            }
            if let Some(function) = function {
                self.heap.retain(function);
                alternatives.push(Alternative { function, swapped, negate });
            }
        }
        // Containers that hold such instances compare item by item, in Python.
        let containers = alternatives.iter().all(|alternative| self.native_row(alternative.function).is_some());
        if containers {
            self.release_alternatives(alternatives);
            let name = match op {
                CompareOp::Eq => "compare_eq",
                CompareOp::Ne => "compare_ne",
                CompareOp::Lt => "compare_lt",
                CompareOp::Le => "compare_le",
                CompareOp::Gt => "compare_gt",
                CompareOp::Ge => "compare_ge",
            };
            let throw = match self.call_helper(name, &[left, right]) {
                Err(throw) => throw,
                Ok(_) => Throw::Trap(Trap::Internal),
            };
            if let (Throw::Call(mut call), Then::Jump { when, target }) = (throw, then) {
                call.on_return = OnReturn::Jump { when, target };
                return Err(Throw::Call(call));
            }
            return match self.call_helper(name, &[left, right]) {
                Err(throw) => Err(throw),
                Ok(_) => Err(Throw::Trap(Trap::Internal)),
            };
        }
        alternatives.reverse();
        self.heap.retain(left);
        self.heap.retain(right);
        match self.try_compare(alternatives, left, right, op, then)? {
            Ok(throw) => Err(throw),
            Err(truth) => Ok(truth),
        }
    }

    /// The call of the next method, or the truth that is left when there is none; the operands are released then.
    fn try_compare(
        &mut self,
        mut rest: Vec<Alternative>,
        left: Value,
        right: Value,
        op: CompareOp,
        then: Then,
    ) -> Outcome<Result<Throw, bool>> {
        let Some(next) = rest.pop() else {
            let truth = match op {
                CompareOp::Eq => left.is(right),
                CompareOp::Ne => !left.is(right),
                op => {
                    let throw = self.not_comparable(op, left, right);
                    self.heap.release(left);
                    self.heap.release(right);
                    return Err(throw);
                }
            };
            self.heap.release(left);
            self.heap.release(right);
            return Ok(Err(truth));
        };
        let arguments = if next.swapped { [right, left] } else { [left, right] };
        let arguments = self.heap.retain_all(&arguments);
        let pending = Pending::Compare { rest, negate: next.negate, left, right, op, then };
        Ok(Ok(Throw::Call(Box::new(PendingCall {
            function: next.function,
            arguments,
            keywords: Vec::new(),
            namespace: Value::Undefined,
            on_return: OnReturn::Other(Box::new(pending)),
        }))))
    }

    /// Goes on after a method returned `NotImplemented`.
    pub(crate) fn next_compare(
        &mut self,
        rest: Vec<Alternative>,
        left: Value,
        right: Value,
        op: CompareOp,
        then: Then,
        dest: usize,
    ) -> Outcome<()> {
        match self.try_compare(rest, left, right, op, then)? {
            Ok(Throw::Call(call)) => self.begin_call(*call, dest),
            Ok(throw) => Err(throw),
            Err(truth) => {
                self.settle(truth, then, dest);
                Ok(())
            }
        }
    }

    // ---- truth ----

    /// `bool(value)`; a call when a class written in Python decides.
    pub(crate) fn truth(&mut self, value: Value) -> Outcome<bool> {
        let Value::Obj(object) = value else {
            return Ok(match value {
                Value::None | Value::Undefined => false,
                Value::Bool(truth) => truth,
                Value::Int(number) => number != 0,
                Value::Float(number) => !number.is_zero(),
                _ => true,
            });
        };
        if self.is_python_instance(value) {
            let class = self.heap.slot(object).class;
            let own = |vm: &mut Vm, name: Ref| {
                vm.lookup(class, name).filter(|function| vm.native_row(*function).is_none() && !function.is_none())
            };
            if let Some(function) = own(self, nm::BOOL) {
                return Err(self.call_expecting(function, &[value], Expect::Bool));
            }
            if let Some(function) = own(self, nm::LEN) {
                return Err(self.call_expecting(function, &[value], Expect::LenTruth));
            }
        }
        Ok(match self.heap.payload(object).core() {
            Payload::Str(text) => !text.text.is_empty(),
            Payload::Bytes(bytes) | Payload::ByteArray(bytes) => !bytes.is_empty(),
            Payload::List(list) => !list.items.is_empty(),
            Payload::Tuple(items) => !items.is_empty(),
            Payload::Dict(dict) | Payload::Set(dict) => dict.len() > 0,
            Payload::Range(range) => range.len() > 0,
            Payload::Complex(z) => !z.real.is_zero() || !z.imaginary.is_zero(),
            Payload::Scalar(inner) => {
                let inner = *inner;
                return self.truth(inner);
            }
            Payload::DictView { dict, .. } => match dict {
                Value::Obj(dict) => self.dict_len(*dict) > 0,
                _ => true,
            },
            Payload::MappingProxy(Value::Obj(dict)) if matches!(self.heap.payload(*dict).core(), Payload::Dict(_)) => {
                self.dict_len(*dict) > 0
            }
            _ => true,
        })
    }

    // ---- hashing ----

    /// `hash(value)` when that needs no Python code.
    pub(crate) fn hash_native(&mut self, value: Value) -> Outcome<i64> {
        let Value::Obj(object) = value else {
            return Ok(match value {
                Value::Int(number) => hash_i64(number),
                Value::Bool(truth) => i64::from(truth),
                Value::Float(number) => hash_f64(number),
                Value::None => crate::num::hash::HASH_NONE,
                Value::NotImplemented => 0x1357_9bdf,
                Value::Ellipsis => 0x2468_ace0,
                Value::Undefined | Value::Obj(_) => 0,
            });
        };
        if let Payload::Str(text) = self.heap.payload(object) {
            if !text.is_hashed() && !self.heap.is_frozen(object) {
                let length = text.text.len();
                self.spend(length / 8)?;
            }
            return Ok(self.heap.simple_hash(value).unwrap_or(0));
        }
        let class = self.heap.slot(object).class;
        if class.0 >= crate::types::FIXED_COUNT {
            match self.lookup(class, nm::HASH) {
                Some(Value::None) => return Err(self.unhashable(value)),
                Some(function) if self.native_row(function).is_none() => return Err(Throw::Fallback),
                _ => {}
            }
        }
        if self.native_depth > NATIVE_DEPTH {
            return Err(self.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded"));
        }
        // Nothing remembers these hashes.
        if let Payload::Bytes(bytes) = self.heap.payload(object).core() {
            let length = bytes.len();
            self.spend(length / 8)?;
        } else if let Some(text) = self.text(value) {
            let length = text.len();
            self.spend(length / 8)?;
        }
        match self.heap.payload(object).core() {
            Payload::Str(text) => Ok(crate::num::hash::hash_str(&text.text)),
            Payload::BigInt(number) => {
                let hash = hash_int(number);
                self.spend(LARGE_HASH)?;
                Ok(hash)
            }
            Payload::Scalar(inner) => {
                let inner = *inner;
                self.hash_native(inner)
            }
            Payload::Complex(z) => Ok(crate::num::hash::hash_complex(z.real, z.imaginary)),
            Payload::GenericAlias { origin, arguments, .. } => {
                let (origin, arguments) = (*origin, *arguments);
                Ok(self.hash_native(origin)? ^ self.hash_native(arguments)?)
            }
            Payload::Union(_) => Err(Throw::Fallback),
            Payload::Bytes(bytes) => Ok(crate::num::siphash13(bytes)),
            Payload::Tuple(items) => {
                let mut hashes = [0; SMALL_TABLE];
                if let Some(hashes) = self.heap.number_hashes(items, &mut hashes) {
                    self.spend(hashes.len())?;
                    return Ok(crate::num::hash::hash_tuple(hashes.iter().copied()));
                }
                let items = items.to_vec();
                self.spend(items.len())?;
                let mut hashes = Vec::with_capacity(items.len());
                self.native_depth += 1;
                for item in items {
                    match self.hash_native(item) {
                        Ok(hash) => hashes.push(hash),
                        Err(throw) => {
                            self.native_depth -= 1;
                            return Err(throw);
                        }
                    }
                }
                self.native_depth -= 1;
                Ok(crate::num::hash::hash_tuple(hashes.into_iter()))
            }
            Payload::Set(set) if self.is_subclass(class, ty::FROZENSET) => {
                let hashes: Vec<i64> = set.iter().map(|entry| entry.hash).collect();
                Ok(crate::num::hash::hash_frozenset(hashes.into_iter()))
            }
            Payload::Range(range) => {
                let range = *range;
                let length = i64::try_from(range.len()).unwrap_or(i64::MAX);
                let start = if length == 0 { Value::None } else { Value::Int(range.start) };
                let step = if length <= 1 { Value::None } else { Value::Int(range.step) };
                let parts = [Value::Int(length), start, step];
                let hashes: Vec<i64> = parts.iter().map(|part| self.heap.simple_hash(*part).unwrap_or(0)).collect();
                Ok(crate::num::hash::hash_tuple(hashes.into_iter()))
            }
            Payload::List(_) | Payload::Dict(_) | Payload::Set(_) | Payload::ByteArray(_) | Payload::Slice(_) => {
                Err(self.unhashable(value))
            }
            Payload::BoundMethod { function, receiver } => {
                let (function, receiver) = (*function, *receiver);
                let hash = |value: Value| value.object().map_or(0, |object| i64::from(object.0));
                Ok(hash(function) ^ (hash(receiver) << 16))
            }
            // By identity: the handle, spread as CPython spreads addresses.
            _ => Ok(i64::from(object.0).wrapping_mul(16).wrapping_add(0x7000_0000)),
        }
    }

    /// TypeError for a key that cannot be hashed.
    pub(crate) fn unhashable(&mut self, value: Value) -> Throw {
        let message = format!("unhashable type: '{}'", self.class_name(value));
        self.type_error(message)
    }

    // ---- membership ----

    /// `item in container`; a call when Python code decides, which then gives the opposite when `negate`.
    pub(crate) fn contains_or_call(&mut self, container: Value, item: Value, negate: bool) -> Outcome<bool> {
        let outcome = self.contains_native(container, item);
        let throw = match outcome {
            Ok(found) => return Ok(found),
            Err(Throw::Fallback) => match self.call_helper("contains", &[container, item]) {
                Err(throw) => throw,
                Ok(_) => Throw::Trap(Trap::Internal),
            },
            Err(throw) => throw,
        };
        match throw {
            Throw::Call(mut call) => {
                call.on_return = OnReturn::Truth { negate };
                Err(Throw::Call(call))
            }
            throw => Err(throw),
        }
    }

    /// `item in container` for builtin containers.
    pub(crate) fn contains_native(&mut self, container: Value, item: Value) -> Outcome<bool> {
        let class = self.heap.class_of(container);
        if self.is_python_instance(container) || self.heap.slot_class_is_type(container) {
            if let Some(function) = self.lookup(class, nm::CONTAINS) {
                if self.native_row(function).is_none() {
                    if function.is_none() {
                        let message = format!("'{}' object is not a container", self.class_name(container));
                        return Err(self.type_error(message));
                    }
                    return Err(self.call_later(function, &[container, item], OnReturn::Truth { negate: false }));
                }
            } else {
                return Err(Throw::Fallback);
            }
        }
        let Value::Obj(object) = container else {
            let message = format!("argument of type '{}' is not iterable", self.class_name(container));
            return Err(self.type_error(message));
        };
        match self.heap.payload(object).core() {
            Payload::Dict(_) | Payload::Set(_) => {
                let key = crate::objects::set::frozen_key(self, object, item)?;
                let found = self.hash_native(key).and_then(|hash| self.dict_find(object, key, hash));
                self.heap.release(key);
                found.map(|found| found.is_some())
            }
            Payload::DictView { dict: Value::Obj(dict), part: crate::objects::payload::DictPart::Keys } => {
                let dict = *dict;
                let hash = self.hash_native(item)?;
                Ok(self.dict_find(dict, item, hash)?.is_some())
            }
            Payload::MappingProxy(inner) => {
                let inner = *inner;
                if matches!(inner, Value::Obj(dict) if matches!(self.heap.payload(dict).core(), Payload::Dict(_))) {
                    return self.contains_native(inner, item);
                }
                let name = self.attribute_name(item)?;
                Ok(match inner {
                    Value::Obj(class) => match self.heap.payload(class) {
                        Payload::Class(row) => row.attributes.contains_key(&name),
                        _ => false,
                    },
                    _ => false,
                })
            }
            Payload::Str(text) => {
                let cost = text.text.len();
                if self.text(item).is_none() {
                    let message = format!("'in <string>' requires string as left operand, not {}", self.class_name(item));
                    return Err(self.type_error(message));
                }
                self.spend(cost / 4)?;
                let found = self.text(container).zip(self.text(item)).is_some_and(|(text, needle)| text.contains(needle));
                Ok(found)
            }
            Payload::Bytes(_) | Payload::ByteArray(_) => crate::objects::bytes::holds(self, container, item),
            Payload::Range(range) => {
                let range = *range;
                match self.number(item) {
                    Some(Number::Small(value)) => {
                        let inside = if range.step > 0 {
                            range.start <= value && value < range.stop
                        } else {
                            range.stop < value && value <= range.start
                        };
                        Ok(inside && value.abs_diff(range.start) % range.step.unsigned_abs() == 0)
                    }
                    Some(Number::Float(value)) => Ok(match value.to_i64() {
                        Some(whole) if value.is_integer() => self.contains_native(container, Value::Int(whole))?,
                        _ => false,
                    }),
                    Some(Number::Big(_)) => Ok(false),
                    None => Err(Throw::Fallback),
                }
            }
            Payload::List(_) | Payload::Tuple(_) => {
                // No Python code runs in between, so the items stay where they are; a copy of all would be work before its price.
                for index in 0.. {
                    let value = match self.heap.payload(object).core() {
                        Payload::List(list) => list.items.get(index).copied(),
                        Payload::Tuple(items) => items.get(index).copied(),
                        _ => None,
                    };
                    let Some(value) = value else { break };
                    self.spend(2)?;
                    if self.equal_native(value, item)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            _ => match self.special(container, nm::ITER).or_else(|| self.special(container, nm::GETITEM)) {
                Some(_) => Err(Throw::Fallback),
                None => {
                    let message = format!("argument of type '{}' is not iterable", self.class_name(container));
                    Err(self.type_error(message))
                }
            },
        }
    }

    // ---- the cycle barrier ----

    /// Whether a value can be part of a reference cycle.
    #[inline]
    pub(crate) fn is_container(&self, value: Value) -> bool {
        match value {
            Value::Obj(object) => is_tracked(self.heap.payload(object)),
            _ => false,
        }
    }

    /// Labels a container that was just made around its children: it is above all of them.
    ///
    /// A container without a label holds no other container and was never stored into one.
    pub(crate) fn label_children(&mut self, value: Value) {
        let Value::Obj(object) = value else { return };
        let items: &[Value] = match self.heap.payload(object) {
            Payload::List(list) => &list.items,
            Payload::Tuple(items) => items,
            _ => &[Value::Obj(object)],
        };
        // Numbers hold nothing.
        if !items.iter().any(|item| matches!(item, Value::Obj(_))) {
            return;
        }
        let mut lowest = i32::MAX;
        let mut leaves = Vec::new();
        let mut look = |child: Value| {
            if let Value::Obj(child) = child {
                let slot = self.heap.slot(child);
                if is_tracked(&slot.payload) {
                    if slot.depth == i32::MAX {
                        leaves.push(child);
                    }
                    lowest = lowest.min(if slot.depth == i32::MAX { 0 } else { slot.depth });
                }
            }
        };
        match self.heap.payload(object) {
            Payload::List(_) | Payload::Tuple(_) => items.iter().for_each(|&item| look(item)),
            payload => payload.each(&mut look),
        }
        for leaf in leaves {
            // A method is bound without a label: most are called and gone. One that is kept holds its object.
            if matches!(self.heap.payload(leaf), Payload::BoundMethod { .. }) {
                self.label_children(Value::Obj(leaf));
            }
            let slot = self.heap.slot_mut(leaf);
            if slot.depth == i32::MAX {
                slot.depth = 0;
            }
            lowest = lowest.min(slot.depth);
        }
        if lowest != i32::MAX {
            self.heap.slot_mut(object).depth = lowest.saturating_sub(1);
        }
    }

    /// Before `child` is stored into `parent`: keeps every label below those of what it holds, or raises DeterminismError
    /// when that is impossible because the child already leads to the parent.
    pub(crate) fn store_barrier(&mut self, parent: Ref, child: Value) -> Outcome<()> {
        let Value::Obj(child) = child else { return Ok(()) };
        if !is_tracked(self.heap.payload(child)) || !is_tracked(self.heap.payload(parent)) {
            return Ok(());
        }
        if child == parent {
            return Err(self.cycle_error());
        }
        if matches!(self.heap.payload(child), Payload::BoundMethod { .. }) && self.heap.slot(child).depth == i32::MAX {
            self.label_children(Value::Obj(child));
        }
        let (p, c) = (self.heap.slot(parent).depth, self.heap.slot(child).depth);
        match (p, c) {
            (i32::MAX, i32::MAX) => {
                self.heap.slot_mut(child).depth = 0;
                self.heap.slot_mut(parent).depth = -1;
            }
            (i32::MAX, c) => self.heap.slot_mut(parent).depth = c.saturating_sub(1),
            (p, i32::MAX) => self.heap.slot_mut(child).depth = p.saturating_add(1),
            (p, c) if c > p => {}
            _ => return self.push_below(parent, child),
        }
        Ok(())
    }

    /// Containers directly inside an object.
    fn children(&self, object: Ref) -> Vec<Ref> {
        let mut found = Vec::new();
        self.heap.payload(object).each(&mut |value| {
            if let Value::Obj(child) = value {
                if is_tracked(self.heap.payload(child)) {
                    found.push(child);
                }
            }
        });
        found
    }

    /// Moves the child and what it holds below the parent; meeting the parent means a cycle, and nothing has changed then.
    fn push_below(&mut self, parent: Ref, child: Ref) -> Outcome<()> {
        let mut before: Vec<(Ref, i32)> = Vec::new();
        let floor = self.heap.slot(parent).depth.saturating_add(1);
        let mut stack = vec![(child, floor)];
        while let Some((object, least)) = stack.pop() {
            if object == parent {
                for (object, depth) in before.into_iter().rev() {
                    self.heap.slot_mut(object).depth = depth;
                }
                return Err(self.cycle_error());
            }
            let depth = self.heap.slot(object).depth;
            if depth != i32::MAX && depth >= least {
                continue;
            }
            self.spend(1)?;
            before.push((object, depth));
            self.heap.slot_mut(object).depth = least;
            for inner in self.children(object) {
                stack.push((inner, least.saturating_add(1)));
            }
        }
        Ok(())
    }

    fn cycle_error(&mut self) -> Throw {
        self.raise(ty::DETERMINISM_ERROR, "this store would create a reference cycle: keep a key or an index instead of the object itself")
    }
}

/// Whether an object can hold others in a way that programs change: what the barrier watches. Functions, classes, modules and cells
/// belong to the invocation's arena and are exempt.
pub(crate) fn is_tracked(payload: &Payload) -> bool {
    matches!(
        payload,
        Payload::List(_)
            | Payload::Dict(_)
            | Payload::Tuple(_)
            | Payload::Set(_)
            | Payload::Instance(_)
            | Payload::Extended(_)
            | Payload::BoundMethod { .. }
            | Payload::Iterator(_)
    )
}

pub(crate) fn compare_numbers(op: CompareOp, a: &Number, b: &Number) -> bool {
    let ordering = match (a, b) {
        (Number::Small(a), Number::Small(b)) => Some(a.cmp(b)),
        (Number::Float(a), Number::Float(b)) => a.compare(*b),
        (Number::Float(a), Number::Small(b)) => a.compare_i64(*b),
        (Number::Small(a), Number::Float(b)) => b.compare_i64(*a).map(Ordering::reverse),
        (Number::Float(a), Number::Big(b)) => a.compare_int(b),
        (Number::Big(a), Number::Float(b)) => b.compare_int(a).map(Ordering::reverse),
        (Number::Big(a), Number::Big(b)) => Some(a.cmp(b)),
        (Number::Big(a), Number::Small(b)) => Some(a.cmp(&dashu_int::IBig::from(*b))),
        (Number::Small(a), Number::Big(b)) => Some(dashu_int::IBig::from(*a).cmp(b)),
    };
    match ordering {
        Some(ordering) => op.holds(ordering),
        None => op == CompareOp::Ne,
    }
}
