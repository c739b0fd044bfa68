//! Comparison by special methods, in Python's order.

use super::{Alternative, CompareOp, OnReturn, Pending, Then, Vm};
use crate::costs::SPECIAL_COMPARISON;
use crate::error::{Outcome, Throw, Trap};
use crate::runtime::native::Role;
use crate::value::Value;

impl Vm {
    /// Special methods, in Python's order.
    pub(super) fn compare_special(&mut self, op: CompareOp, left: Value, right: Value, then: Then) -> Outcome<bool> {
        let (left_class, right_class) = (self.heap.class_of(left), self.heap.class_of(right));
        self.spend(SPECIAL_COMPARISON.once())?;
        let mut alternatives = Vec::new();
        let mut order = vec![(left_class, op, false), (right_class, op.reflected(), true)];
        if left_class != right_class && self.heap.is_subclass(right_class, left_class) {
            order.reverse();
        }
        for (class, op, swapped) in order {
            let mut function = self.lookup(class, op.method());
            if function.and_then(|found| self.heap.native_row(found)).is_some_and(|row| self.native(row).role == Role::ObjectOrder) {
                function = None;
            }
            let mut negate = false;
            if op == CompareOp::Ne {
                if let Some(equality) = self.own_equality(class) {
                    function = Some(equality);
                    negate = true;
                }
            }
            if let Some(function) = function {
                self.heap.retain(function);
                alternatives.push(Alternative { function, swapped, negate });
            }
        }
        // Containers that hold such instances compare item by item, in Python.
        let containers = !(self.own_special(left_class, op.method()).is_some()
            || self.own_special(right_class, op.reflected().method()).is_some())
            && alternatives.iter().all(|alternative| self.heap.native_row(alternative.function).is_some());
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
            let mut throw = match self.call_helper(name, &[left, right]) {
                Err(throw) => throw,
                Ok(_) => Throw::Trap(Trap::Internal),
            };
            if let (Throw::Call(call), Then::Jump { when, target }) = (&mut throw, then) {
                call.on_return = OnReturn::Jump { when, target };
            }
            return Err(throw);
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
        let pending = Pending::Compare { rest, negate: next.negate, left, right, op, then };
        let throw = self.call_special(next.function, &arguments, OnReturn::Other(Box::new(pending)));
        self.heap.release(next.function);
        Ok(Ok(throw))
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
}
