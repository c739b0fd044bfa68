//! Operators by special methods, in Python's order, and what is left when these do not help.

use super::{Alternative, OnReturn, Pending, Vm};
use crate::costs::SPECIAL_OPERATOR;
use crate::error::{Outcome, Throw};
use crate::objects::set;
use crate::payload::Payload;
use crate::runtime::operator::BinaryOp;
use crate::types::{nm, ty};
use crate::value::Value;

impl Vm {
    /// Special methods, in Python's order.
    pub(super) fn binary_special(&mut self, op: BinaryOp, left: Value, right: Value, inplace: bool) -> Outcome {
        self.spend(SPECIAL_OPERATOR.once())?;
        let (method, reflected, augmented) = op.methods();
        let (left_class, right_class) = (self.heap.class_of(left), self.heap.class_of(right));
        let alternative = |function: Option<Value>, swapped: bool| Some(Alternative { function: function?, swapped, negate: false });
        let augmented = if inplace { self.lookup(left_class, augmented) } else { None };
        let augmented = augmented.filter(|&function| op != BinaryOp::Mul || self.takes_operand(function, op, right));
        let forward = self.lookup(left_class, method).filter(|&function| self.takes_operand(function, op, right));
        let backward = if left_class == right_class { None } else { self.lookup(right_class, reflected) };
        let backward = backward.filter(|&function| self.takes_operand(function, op, left));
        let right_first = left_class != right_class
            && self.heap.is_subclass(right_class, left_class)
            && backward.is_some()
            && !self.lookup(left_class, reflected).is_some_and(|theirs| backward.is_some_and(|ours| ours.is(theirs)));
        let (forward, backward) = (alternative(forward, false), alternative(backward, true));
        let (second, third) = if right_first { (backward, forward) } else { (forward, backward) };
        let mut in_order = [alternative(augmented, false), second, third].into_iter().flatten();
        let next = in_order.next();
        // Most operands have one method that is asked: a list of others takes no memory then.
        let mut rest: Vec<Alternative> = in_order.collect();
        rest.reverse();
        for alternative in next.iter().chain(&rest) {
            self.heap.retain(alternative.function);
        }
        self.heap.retain(left);
        self.heap.retain(right);
        let symbol = match (inplace, op) {
            (false, op) => op.symbol(),
            (true, BinaryOp::Pow) => "**=",
            (true, op) => inplace_symbol(op),
        };
        match next {
            Some(next) => Err(self.try_alternative(next, rest, left, right, symbol)),
            None => self.last_resort(left, right, symbol),
        }
    }

    /// Whether a method may be asked by an operator. Those of builtin sequences raise what is no operand of theirs, and on CPython they come
    /// after all others: whatever they would refuse is left to those.
    fn takes_operand(&self, function: Value, op: BinaryOp, other: Value) -> bool {
        let Some(row) = self.heap.native_row(function) else { return true };
        let classes: &[_] = match self.native(row).owner {
            "str" => &[ty::STR],
            "list" => &[ty::LIST],
            "tuple" => &[ty::TUPLE],
            "bytes" | "bytearray" => &[ty::BYTES, ty::BYTEARRAY, ty::MEMORYVIEW],
            _ => return true,
        };
        match op {
            BinaryOp::Mul => self.heap.as_int(other).is_some(),
            BinaryOp::Add => classes.iter().any(|&class| self.heap.is_instance(other, class)),
            _ => true,
        }
    }

    /// The call of an alternative, with the others waiting.
    fn try_alternative(&mut self, next: Alternative, rest: Vec<Alternative>, left: Value, right: Value, symbol: &'static str) -> Throw {
        let arguments = if next.swapped { [right, left] } else { [left, right] };
        let pending = Pending::Binary { rest, left, right, symbol };
        let throw = self.call_special(next.function, &arguments, OnReturn::Other(Box::new(pending)));
        self.heap.release(next.function);
        throw
    }

    /// Goes on after a method returned `NotImplemented`.
    pub(crate) fn next_binary(
        &mut self,
        mut rest: Vec<Alternative>,
        left: Value,
        right: Value,
        symbol: &'static str,
        dest: usize,
    ) -> Outcome<()> {
        match rest.pop().map(|next| self.try_alternative(next, rest, left, right, symbol)) {
            Some(Throw::Call(call)) => self.begin_call(*call, dest),
            Some(throw) => Err(throw),
            None => match self.last_resort(left, right, symbol) {
                Err(Throw::Call(call)) => self.begin_call(*call, dest),
                outcome => outcome.and_then(|value| self.give_back(value, OnReturn::Store, dest)),
            },
        }
    }

    /// A sequence repeated by what has an `__index__`, a view of a dict combined with any iterable, or TypeError: for operands whose methods
    /// do not help. Releases them.
    fn last_resort(&mut self, left: Value, right: Value, symbol: &'static str) -> Outcome {
        let set_op = SET_OPS.into_iter().find(|op| op.symbol() == symbol || inplace_symbol(*op) == symbol);
        if let (Some(op), true) = (set_op, set::is_view(self, left) || set::is_view(self, right)) {
            let outcome = self.combine_views(op, left, right);
            self.heap.release(left);
            self.heap.release(right);
            return outcome;
        }
        if matches!(symbol, "*" | "*=") {
            let (sequence, count) = if self.is_repeatable(left) { (left, right) } else { (right, left) };
            // The sequence on the right of `*=` is not repeated.
            let asked = symbol == "*" || sequence.is(left);
            if asked && self.is_repeatable(sequence) && self.special(count, nm::INDEX).is_some() {
                let helper = if symbol == "*=" { "repeat_in_place" } else { "repeated" };
                let outcome = self.call_helper(helper, &[sequence, count]);
                self.heap.release(left);
                self.heap.release(right);
                return outcome;
            }
        }
        Err(self.unsupported(left, right, symbol))
    }

    /// `left op right` where one of them is a view of a dict.
    fn combine_views(&mut self, op: BinaryOp, left: Value, right: Value) -> Outcome {
        let is_iterator = |value: Value| value.object().is_some_and(|object| matches!(self.heap.payload(object), Payload::Iterator(_)));
        // What is used up by iterating over it is left to the helper at once.
        let by_helper = is_iterator(left) || is_iterator(right);
        match if by_helper { Err(Throw::Fallback) } else { set::operate(self, op, left, right) } {
            Err(Throw::Fallback) => self.call_helper(set_helper(op), &[left, right]),
            outcome => outcome,
        }
    }

    /// Whether a value is a sequence that a number may repeat.
    fn is_repeatable(&self, value: Value) -> bool {
        [ty::STR, ty::LIST, ty::TUPLE, ty::BYTES, ty::BYTEARRAY].into_iter().any(|class| self.heap.is_instance(value, class))
    }

    /// TypeError for operands; releases them.
    fn unsupported(&mut self, left: Value, right: Value, symbol: &str) -> Throw {
        let (a, b) = (self.heap.class_name(left), self.heap.class_name(right));
        let not_joined = crate::objects::sequences::not_joined(self, left, right).filter(|_| matches!(symbol, "+" | "+="));
        // What has a length and cannot be repeated keeps `*=` from the other side.
        let left_class = self.heap.class_of(left);
        let is_sized = symbol == "*=" && self.lookup(left_class, crate::types::nm::LEN).is_some();
        let message = match symbol {
            _ if not_joined.is_some() => not_joined.unwrap_or_default(),
            "*" | "*=" if self.is_repeatable(left) => format!("can't multiply sequence by non-int of type '{b}'"),
            "*" | "*=" if self.is_repeatable(right) && !is_sized && (symbol == "*" || !self.heap.is_python_instance(left)) => {
                format!("can't multiply sequence by non-int of type '{a}'")
            }
            _ => format!("unsupported operand type(s) for {symbol}: '{a}' and '{b}'"),
        };
        self.heap.release(left);
        self.heap.release(right);
        self.type_error(message)
    }

    /// Drops methods that are not needed any more.
    pub(crate) fn release_alternatives(&mut self, rest: Vec<Alternative>) {
        for alternative in rest {
            self.heap.release(alternative.function);
        }
    }
}

/// The operators of sets.
const SET_OPS: [BinaryOp; 4] = [BinaryOp::And, BinaryOp::Or, BinaryOp::Sub, BinaryOp::Xor];

/// What combines sets, dicts and views whose keys compare in Python.
pub(super) fn set_helper(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::And => "and_slow",
        BinaryOp::Sub => "sub_slow",
        BinaryOp::Xor => "xor_slow",
        _ => "or_slow",
    }
}

fn inplace_symbol(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "+=",
        BinaryOp::Sub => "-=",
        BinaryOp::Mul => "*=",
        BinaryOp::TrueDiv => "/=",
        BinaryOp::FloorDiv => "//=",
        BinaryOp::Mod => "%=",
        BinaryOp::LeftShift => "<<=",
        BinaryOp::RightShift => ">>=",
        BinaryOp::And => "&=",
        BinaryOp::Or => "|=",
        BinaryOp::Xor => "^=",
        BinaryOp::MatMul => "@=",
        BinaryOp::Pow => "**=",
        BinaryOp::DivMod => "divmod()",
    }
}
