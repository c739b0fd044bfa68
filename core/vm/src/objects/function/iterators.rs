//! Iterators, and those that go through others.

use super::generators::generator_next;
use crate::costs::ITERATOR_MADE;
use crate::error::{Outcome, Throw};
use crate::frame::OnReturn;
use crate::payload::{Iter, Payload};
use crate::runtime::Vm;
use crate::runtime::protocol::Iterate;
use crate::runtime::sequences::ITERATOR_NESTING;
use crate::types::{nm, ty};
use crate::value::Value;

/// How many items an iterator still has.
pub(super) fn length_hint(vm: &mut Vm, args: &[Value]) -> Outcome {
    let state = match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Iterator(state)) => (**state).clone(),
        _ => return Ok(Value::Int(0)),
    };
    let left = match state {
        Iter::Sequence { sequence: Value::Obj(sequence), index } => vm.heap.sequence_length(sequence).saturating_sub(index),
        Iter::Reversed { sequence: Value::Obj(sequence), left } => {
            if left > vm.heap.sequence_length(sequence) {
                0
            } else {
                left
            }
        }
        Iter::Range { left, .. } => return Ok(Value::Int(i64::try_from(left).unwrap_or(i64::MAX))),
        Iter::Dict { dict: Value::Obj(dict), index, size, .. } => {
            vm.spend(crate::costs::ITEMS_PASSED.of(size))?;
            match vm.heap.table(dict) {
                Some(table) if table.len() == size => table.entries.iter().skip(index).filter(|entry| !entry.key.is_undefined()).count(),
                _ => 0,
            }
        }
        Iter::ReversedDict { dict: Value::Obj(dict), left, size, .. } => {
            vm.spend(crate::costs::ITEMS_PASSED.of(size))?;
            match vm.heap.table(dict) {
                Some(table) if table.len() == size => table.entries.iter().take(left).filter(|entry| !entry.key.is_undefined()).count(),
                _ => 0,
            }
        }
        _ => 0,
    };
    Ok(Value::Int(i64::try_from(left).unwrap_or(i64::MAX)))
}

pub(super) fn map(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.heap.dict_pairs(args[1]).is_empty() {
        return Err(vm.type_error("map() takes no keyword arguments"));
    }
    if args.len() < 4 {
        return Err(vm.type_error("map() must have at least two arguments."));
    }
    let iterables = vm.heap.retain_all(&args[3..]);
    let iterables = vm.heap.tuple(iterables);
    let outcome = vm.call_helper("map_new", &[args[0], args[2], iterables]);
    vm.heap.release(iterables);
    outcome
}

pub(super) fn filter(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("filter_new", &[args[0], args[1], args[2]])
}

/// `next` of a builtin iterator.
pub(super) fn iterator_next(vm: &mut Vm, args: &[Value]) -> Outcome {
    match vm.next_native(args[0])? {
        Some(item) => Ok(item),
        None => Err(vm.stop_iteration(Value::None)),
    }
}

/// `next` of an iterator that is a generator where its steps need Python code.
pub(super) fn dressed_next(vm: &mut Vm, args: &[Value]) -> Outcome {
    match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Generator(_)) => generator_next(vm, args),
        _ => iterator_next(vm, args),
    }
}

/// The iterator of a value when that and its steps need no Python code, with the nesting of a builtin iterator around it.
/// RecursionError when that is more than a step may go through.
fn native_iterator(vm: &mut Vm, value: Value) -> Outcome<Option<(Value, u8)>> {
    match vm.iterator(value) {
        Ok(iterator) => match vm.heap.iterator_nesting(iterator) {
            Some(nesting) if nesting < ITERATOR_NESTING => Ok(Some((iterator, nesting + 1))),
            nesting => {
                vm.heap.release(iterator);
                match nesting {
                    Some(_) => {
                        Err(vm.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded: too many iterators inside one another"))
                    }
                    None => Ok(None),
                }
            }
        },
        Err(Throw::Call(call)) => {
            vm.heap.release_all(call.arguments);
            vm.heap.release(call.function);
            Ok(None)
        }
        Err(throw) => Err(throw),
    }
}

/// Where a native `enumerate` may begin, so that no run counts up to the end of 64 bits.
const LAST_START: i64 = i64::MAX / 2;

pub(super) fn enumerate(vm: &mut Vm, args: &[Value]) -> Outcome {
    let start = args[2].or(Value::Int(0));
    let Value::Int(count) = start else {
        if vm.heap.as_int(start).is_none() {
            return Err(vm.not_an_integer(start));
        }
        return vm.call_helper("enumerate_generator", &[args[1], start]);
    };
    // What may leave 64 bits is counted in Python.
    if count > LAST_START {
        return vm.call_helper("enumerate_generator", &[args[1], start]);
    }
    match native_iterator(vm, args[1])? {
        Some((inner, nesting)) => Ok(vm.heap.make(ty::ENUMERATE, Payload::Iterator(Box::new(Iter::Enumerate { inner, count, nesting })))),
        None => vm.call_helper("enumerate_generator", &[args[1], start]),
    }
}

pub(super) fn zip(vm: &mut Vm, args: &[Value]) -> Outcome {
    let strict = vm.option(args[1])?;
    let (mut inner, mut deepest) = (Vec::new(), 1);
    vm.spend(ITERATOR_MADE.of(args[2..].len().saturating_sub(2)))?;
    for &iterable in &args[2..] {
        match native_iterator(vm, iterable) {
            Err(throw) => {
                vm.heap.release_all(inner);
                return Err(throw);
            }
            Ok(Some((iterator, nesting))) => {
                inner.push(iterator);
                deepest = deepest.max(nesting);
            }
            Ok(None) => {
                vm.heap.release_all(inner);
                let items = vm.heap.retain_all(&args[2..]);
                let items = vm.heap.tuple(items);
                let outcome = vm.call_helper("zip_generator", &[items, Value::truth(strict)]);
                vm.heap.release(items);
                return outcome;
            }
        }
    }
    Ok(vm.heap.make(ty::ZIP, Payload::Iterator(Box::new(Iter::Zip { inner, strict, nesting: deepest }))))
}

fn not_reversible(vm: &mut Vm, value: Value) -> Throw {
    let message = format!("'{}' object is not reversible", vm.heap.class_name(value));
    vm.type_error(message)
}

pub(super) fn reversed(vm: &mut Vm, args: &[Value]) -> Outcome {
    match vm.special(args[1], nm::REVERSED) {
        Some(Value::None) => Err(not_reversible(vm, args[1])),
        Some(function) => Err(vm.call_special(function, &[args[1]], OnReturn::Store)),
        _ => {
            let sequence = vm.special(args[1], nm::GETITEM).is_some() && vm.special(args[1], nm::LEN).is_some();
            match vm.heap.class_of(args[1]) {
                ty::TUPLE | ty::STR | ty::BYTES | ty::BYTEARRAY => crate::objects::list::reversed(vm, &args[1..]),
                _ if sequence => vm.call_helper("reversed_by_index", &[args[1]]),
                _ => Err(not_reversible(vm, args[1])),
            }
        }
    }
}
