//! What `str`, `bytes`, `bytearray`, `list` and `tuple` share: they are repeated and joined.

use crate::costs::{BYTES_MADE, ITEMS_REPEATED};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::operator::BinaryOp;
use crate::runtime::protocol::Operate;
use crate::types::{FIXED_COUNT, nm, ty};
use crate::value::Value;
use cowboy_num::sizes;

/// `sequence * count`
pub(super) fn repeat(vm: &mut Vm, sequence: Value, count: Value) -> Outcome<Option<Value>> {
    let count = match vm.heap.number(count) {
        Some(Number::Small(count)) => sizes::saturating(count),
        Some(Number::Big(_)) => return Err(vm.raise(ty::OVERFLOW_ERROR, "cannot fit 'int' into an index-sized integer")),
        _ => return Ok(None),
    };
    let Value::Obj(object) = sequence else { return Ok(None) };
    let (unit, length) = match vm.heap.payload(object).core() {
        Payload::Str(text) => (1, text.text.len()),
        Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => (1, bytes.len()),
        Payload::List(list) => (8, list.items.len()),
        Payload::Tuple(items) => (8, items.len()),
        _ => return Ok(None),
    };
    // Nothing is nothing, however often.
    let count = if length == 0 { count.min(1) } else { count };
    let total = length.saturating_mul(count);
    vm.reserve(total.saturating_mul(unit))?;
    // The sequence is copied first, however often it is repeated.
    vm.spend(if unit == 1 { BYTES_MADE.of(total) } else { ITEMS_REPEATED.of(total).or_more(BYTES_MADE.of(length)) })?;
    // Once an unchangeable sequence is that sequence itself.
    let plain = object.0 < FIXED_COUNT || matches!(vm.heap.slot(object).class, ty::STR | ty::BYTES | ty::TUPLE);
    if count == 1 && plain {
        return Ok(Some(vm.heap.retain(sequence)));
    }
    let value = match vm.heap.payload(object).core() {
        Payload::Str(text) => {
            let text = text.text.repeat(count);
            vm.heap.string(text)
        }
        Payload::Bytes(bytes) => {
            let bytes = bytes.repeat(count);
            vm.heap.make(ty::BYTES, Payload::Bytes(bytes))
        }
        Payload::ByteArray(bytes, _) => {
            let bytes = bytes.repeat(count);
            vm.heap.make(ty::BYTEARRAY, Payload::ByteArray(bytes, 0))
        }
        _ => {
            let items = vm.heap.sequence_snapshot(sequence);
            let mut all = Vec::with_capacity(total);
            for _ in 0..count {
                all.extend(vm.heap.retain_all(&items));
            }
            if matches!(vm.heap.payload(object).core(), Payload::List(_)) { vm.heap.list(all) } else { vm.heap.tuple(all) }
        }
    };
    Ok(Some(value))
}

/// `sequence.__mul__(count)` by name, which refuses whatever is no integer itself, where the operator asks the other side.
pub(super) fn repeated(vm: &mut Vm, args: &[Value]) -> Outcome {
    match repeat(vm, args[0], args[1])? {
        Some(value) => Ok(value),
        None if vm.python_method(args[1], nm::INDEX).is_some() => Err(Throw::Fallback),
        None => Err(vm.not_an_integer(args[1])),
    }
}

/// `sequence.__add__(other)` by name, in the same way.
pub(super) fn joined(vm: &mut Vm, args: &[Value]) -> Outcome {
    match vm.binary_core(BinaryOp::Add, args[0], args[1])? {
        Some(value) => Ok(value),
        None => {
            let message = not_joined(vm, args[0], args[1]).unwrap_or_default();
            Err(vm.type_error(message))
        }
    }
}

/// What CPython says where `left + right` of a sequence is nothing.
pub(crate) fn not_joined(vm: &Vm, left: Value, right: Value) -> Option<String> {
    let name = vm.heap.class_name(right);
    let class = [ty::STR, ty::LIST, ty::TUPLE, ty::BYTES, ty::BYTEARRAY].into_iter().find(|&class| vm.heap.is_instance(left, class))?;
    let of = vm.heap.name_of_class(class);
    Some(match class {
        ty::BYTES | ty::BYTEARRAY => format!("can't concat {name} to {of}"),
        _ => format!("can only concatenate {of} (not \"{name}\") to {of}"),
    })
}
