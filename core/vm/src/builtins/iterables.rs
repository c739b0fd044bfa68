//! What works on iterables: their iterators, and what is made of all their items.

use super::{drop_call, is_callable};
use crate::costs::{ITERATION, SUM_ITEM, SUM_UNLIKE};
use crate::error::{Outcome, Throw};
use crate::frame::{CompareOp, OnReturn, Pending, Wake};
use crate::objects::sorting;
use crate::payload::{GeneratorState, Payload};
use crate::runtime::Vm;
use crate::runtime::operator::BinaryOp;
use crate::runtime::protocol::{Compare, Iterate};
use crate::types::{nm, ty};
use crate::value::Value;

pub(super) fn aiter(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.special(args[0], nm::AITER).is_none() {
        let message = format!("'{}' object is not an async iterable", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    }
    vm.async_iter(args[0])
}

pub(super) fn anext(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.special(args[0], nm::ANEXT).is_none() {
        let message = format!("'{}' object is not an async iterator", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    }
    if args[1].is_undefined() {
        return vm.async_next(args[0]);
    }
    vm.call_helper("anext_default", &[args[0], args[1]])
}

fn quantify(vm: &mut Vm, args: &[Value], stop: bool) -> Outcome {
    let Value::Obj(source) = args[0] else { return Err(vm.not_iterable(args[0])) };
    if matches!(vm.heap.payload(source), Payload::Iterator(_)) {
        return Err(Throw::Fallback);
    }
    let items = vm.collect(args[0])?;
    vm.with_owned(items, |vm, items| {
        for &item in items {
            match vm.truth(item) {
                Ok(truth) if truth == stop => return Ok(Value::truth(stop)),
                Ok(_) => {}
                Err(Throw::Call(call)) => {
                    drop_call(vm, *call);
                    return Err(Throw::Fallback);
                }
                Err(throw) => return Err(throw),
            }
        }
        Ok(Value::truth(!stop))
    })
}

pub(super) fn all(vm: &mut Vm, args: &[Value]) -> Outcome {
    quantify(vm, args, false)
}

pub(super) fn any(vm: &mut Vm, args: &[Value]) -> Outcome {
    quantify(vm, args, true)
}

pub(super) fn iter(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !args[1].is_undefined() {
        if !is_callable(vm, args[0]) {
            return Err(vm.type_error("iter(v, w): v must be callable"));
        }
        return vm.call_helper("iter_sentinel", &[args[0], args[1]]);
    }
    vm.iterator(args[0])
}

fn extreme(vm: &mut Vm, args: &[Value], op: CompareOp, name: &str) -> Outcome {
    match extreme_native(vm, args, op, name) {
        Err(Throw::Fallback) => {
            let (key, default, rest) = (args[0], args[1], &args[2..]);
            let given = [key.or(Value::None), default.or(Value::None), Value::truth(!default.is_undefined())];
            vm.call_helper(if op == CompareOp::Gt { "max_slow" } else { "min_slow" }, &[&given, rest].concat())
        }
        outcome => outcome,
    }
}

fn extreme_native(vm: &mut Vm, args: &[Value], op: CompareOp, name: &str) -> Outcome {
    let (key, default, rest) = (args[0], args[1], &args[2..]);
    if rest.is_empty() {
        return Err(vm.type_error(format!("{name} expected at least 1 argument, got 0")));
    }
    if rest.len() > 1 && !default.is_undefined() {
        return Err(vm.type_error(format!("Cannot specify a default for {name}() with multiple positional arguments")));
    }
    if !key.is_undefined() && !key.is_none() {
        return Err(Throw::Fallback);
    }
    if let (1, Some(Payload::Range(range))) = (rest.len(), rest[0].object().map(|object| vm.heap.payload(object))) {
        if let Some((first, last)) = range.ends() {
            return Ok(Value::Int(if (op == CompareOp::Gt) == (first < last) { last } else { first }));
        }
    }
    if rest.len() > 1 {
        return best_of(vm, rest, op, false);
    }
    let items = vm.collect(rest[0])?;
    if items.is_empty() {
        if default.is_undefined() {
            return Err(vm.value_error(format!("{name}() arg is an empty sequence")));
        }
        return Ok(vm.heap.retain(default));
    }
    let is_spent = matches!(rest[0], Value::Obj(object) if matches!(vm.heap.payload(object), Payload::Iterator(_)));
    vm.with_owned(items, |vm, items| best_of(vm, items, op, is_spent))
}

/// The largest or smallest of some items; of those of an iterator, which is spent then, the helper takes what it gave.
fn best_of(vm: &mut Vm, items: &[Value], op: CompareOp, is_spent: bool) -> Outcome {
    vm.owe(ITERATION.of(items.len()));
    let mut best = items[0];
    for &item in &items[1..] {
        match vm.compare_native(op, item, best) {
            Ok(Some(true)) => best = item,
            Ok(Some(false)) => {}
            Ok(None) => {
                let (a, b) = (vm.heap.class_name(item), vm.heap.class_name(best));
                return Err(vm.type_error(format!("'{}' not supported between instances of '{a}' and '{b}'", op.symbol())));
            }
            Err(Throw::Fallback) if is_spent => {
                let held = vm.heap.retain_all(items);
                let held = vm.heap.list(held);
                let outcome = vm.call_helper(if op == CompareOp::Gt { "max_list" } else { "min_list" }, &[held]);
                vm.heap.release(held);
                return outcome;
            }
            Err(throw) => return Err(throw),
        }
    }
    Ok(vm.heap.retain(best))
}

pub(super) fn max(vm: &mut Vm, args: &[Value]) -> Outcome {
    extreme(vm, args, CompareOp::Gt, "max")
}

pub(super) fn min(vm: &mut Vm, args: &[Value]) -> Outcome {
    extreme(vm, args, CompareOp::Lt, "min")
}

pub(super) fn next(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Value::Obj(object) = args[0] else {
        let message = format!("'{}' object is not an iterator", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    };
    match vm.heap.payload(object) {
        Payload::Iterator(_) => match vm.next_native(args[0])? {
            Some(item) => Ok(item),
            None if args[1].is_undefined() => Err(vm.stop_iteration(Value::None)),
            None => Ok(vm.heap.retain(args[1])),
        },
        Payload::Generator(row) if !matches!(vm.heap.slot(object).class, ty::COROUTINE | ty::ASYNC_GENERATOR) => {
            if row.state == GeneratorState::Done && !args[1].is_undefined() {
                return Ok(vm.heap.retain(args[1]));
            }
            let pending = if args[1].is_undefined() { Pending::Next } else { Pending::NextDefault { default: vm.heap.retain(args[1]) } };
            Err(Throw::Resume(object, Box::new((Wake::Send(Value::None), OnReturn::Other(Box::new(pending))))))
        }
        _ => match vm.special(args[0], nm::NEXT) {
            Some(function) => {
                let on_return = if args[1].is_undefined() {
                    OnReturn::Store
                } else {
                    OnReturn::Other(Box::new(Pending::NextDefault { default: vm.heap.retain(args[1]) }))
                };
                Err(vm.call_special(function, &[args[0]], on_return))
            }
            None => {
                let message = format!("'{}' object is not an iterator", vm.heap.class_name(args[0]));
                Err(vm.type_error(message))
            }
        },
    }
}

pub(super) fn sorted(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !args[1].is_undefined() && !args[1].is_none() {
        return Err(Throw::Fallback);
    }
    let reverse = vm.integer_option(args[2])?;
    let items = vm.collect(args[0])?;
    match sorting::sorted(vm, items.clone(), reverse) {
        Ok(items) => Ok(vm.heap.list(items)),
        Err(Throw::Fallback) => {
            let items = vm.heap.list(items);
            let outcome = vm.call_helper("sorted_slow", &[items, Value::None, Value::truth(reverse)]);
            vm.heap.release(items);
            outcome
        }
        Err(throw) => {
            vm.heap.release_all(items);
            Err(throw)
        }
    }
}

pub(super) fn sum(vm: &mut Vm, args: &[Value]) -> Outcome {
    let start = args[1].or(Value::Int(0));
    if vm.heap.text(start).is_some() {
        return Err(vm.type_error("sum() can't sum strings [use ''.join(seq) instead]"));
    }
    for (class, name) in [(ty::BYTES, "bytes"), (ty::BYTEARRAY, "bytearray")] {
        if vm.heap.is_instance(start, class) {
            return Err(vm.type_error(format!("sum() can't sum {name} [use b''.join(seq) instead]")));
        }
    }
    let items = vm.collect(args[0])?;
    vm.owe(SUM_ITEM.of(items.len()));
    vm.with_owned(items, |vm, items| total_of(vm, items, start))
}

fn total_of(vm: &mut Vm, items: &[Value], start: Value) -> Outcome {
    let mut total = vm.heap.retain(start);
    for (index, &item) in items.iter().enumerate() {
        match (total, item) {
            (Value::Int(left), Value::Int(right)) => {
                if let Some(next) = left.checked_add(right) {
                    total = Value::Int(next);
                    continue;
                }
            }
            (Value::Float(left), Value::Float(right)) => {
                total = Value::Float(left + right);
                continue;
            }
            _ => {}
        }
        vm.owe(SUM_UNLIKE.once());
        match vm.binary(BinaryOp::Add, total, item) {
            Ok(next) => {
                vm.heap.release(total);
                total = next;
            }
            Err(Throw::Call(call)) => {
                drop_call(vm, *call);
                let rest = vm.heap.retain_all(&items[index..]);
                let rest = vm.heap.list(rest);
                let outcome = vm.call_helper("sum_slow", &[rest, total]);
                vm.heap.release(rest);
                vm.heap.release(total);
                return outcome;
            }
            Err(throw) => {
                vm.heap.release(total);
                return Err(throw);
            }
        }
    }
    Ok(total)
}
