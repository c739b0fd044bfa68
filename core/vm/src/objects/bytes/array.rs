//! Methods that change a `bytearray` in place.

use super::{byte, content, items, length, may_resize, receiver, same_sort, set_content, settle};
use crate::costs::{BYTES_FILLED, BYTES_MADE};
use crate::error::Outcome;
use crate::objects::views;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num::sizes;

/// Changes a bytearray in place; what it holds in memory follows.
fn change<T>(vm: &mut Vm, value: Value, work: impl FnOnce(&mut Vec<u8>) -> T) -> Option<T> {
    let object = value.object()?;
    let before = vm.heap.payload(object).size();
    let result = match vm.heap.payload_mut(object).core_mut() {
        Payload::ByteArray(bytes, _) => {
            let result = work(bytes);
            settle(bytes);
            Some(result)
        }
        _ => None,
    };
    let after = vm.heap.payload(object).size();
    vm.heap.resize_memory(before, after);
    result
}

pub(super) fn append(vm: &mut Vm, args: &[Value]) -> Outcome {
    let byte = byte(vm, args[1], "byte must be in range(0, 256)")?;
    may_resize(vm, args[0], true)?;
    vm.reserve(1)?;
    change(vm, args[0], |bytes| bytes.push(byte));
    Ok(Value::None)
}

pub(super) fn extend(vm: &mut Vm, args: &[Value]) -> Outcome {
    let more = match content(vm, args[1]) {
        Some(bytes) => bytes,
        None if vm.heap.is_instance(args[1], ty::MEMORYVIEW) => {
            views::check(vm, args[1])?;
            return Err(vm.type_error("can't set bytearray slice from memoryview"));
        }
        None if vm.heap.text(args[1]).is_some() => {
            return Err(vm.type_error("expected iterable of integers; got: 'str'"));
        }
        None if vm.special(args[1], nm::ITER).is_none() && vm.special(args[1], nm::GETITEM).is_none() => {
            let message = format!("can't extend bytearray with {}", vm.heap.class_name(args[1]));
            return Err(vm.type_error(message));
        }
        None => items(vm, args[1], "bytearray")?,
    };
    vm.spend(BYTES_MADE.of(more.len()))?;
    may_resize(vm, args[0], !more.is_empty())?;
    vm.reserve(more.len())?;
    change(vm, args[0], |bytes| bytes.extend(more));
    Ok(Value::None)
}

pub(super) fn insert(vm: &mut Vm, args: &[Value]) -> Outcome {
    let at = vm.whole(args[1])?;
    let byte = byte(vm, args[2], "byte must be in range(0, 256)")?;
    let length = length(vm, args[0]);
    let from_end = sizes::index(at.unsigned_abs()).unwrap_or(usize::MAX);
    let at = if at < 0 { length.saturating_sub(from_end) } else { from_end.min(length) };
    vm.spend(BYTES_FILLED.of(length - at))?;
    may_resize(vm, args[0], true)?;
    vm.reserve(1)?;
    change(vm, args[0], |bytes| bytes.insert(at, byte));
    Ok(Value::None)
}

pub(super) fn remove(vm: &mut Vm, args: &[Value]) -> Outcome {
    let byte = byte(vm, args[1], "byte must be in range(0, 256)")?;
    let bytes = receiver(vm, args[0])?;
    match bytes.iter().position(|&each| each == byte) {
        Some(at) => {
            may_resize(vm, args[0], true)?;
            change(vm, args[0], |bytes| bytes.remove(at));
            Ok(Value::None)
        }
        None => Err(vm.value_error("value not found in bytearray")),
    }
}

pub(super) fn reverse(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.spend(BYTES_MADE.of(length(vm, args[0])))?;
    change(vm, args[0], |bytes| bytes.reverse());
    Ok(Value::None)
}

pub(super) fn copy(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    same_sort(vm, args[0], bytes)
}

pub(super) fn pop(vm: &mut Vm, args: &[Value]) -> Outcome {
    let index = if args[1].is_undefined() { -1 } else { vm.whole(args[1])? };
    let length = length(vm, args[0]);
    if length == 0 {
        return Err(vm.raise(ty::INDEX_ERROR, "pop from empty bytearray"));
    }
    let Some(at) = crate::runtime::sequences::absolute(index, length) else {
        return Err(vm.raise(ty::INDEX_ERROR, "pop index out of range"));
    };
    vm.spend(BYTES_FILLED.of(length - at))?;
    may_resize(vm, args[0], true)?;
    let byte = change(vm, args[0], |bytes| bytes.remove(at)).unwrap_or(0);
    Ok(Value::Int(i64::from(byte)))
}

pub(super) fn clear(vm: &mut Vm, args: &[Value]) -> Outcome {
    let length = length(vm, args[0]);
    may_resize(vm, args[0], length > 0)?;
    set_content(vm, args[0], Vec::new());
    Ok(Value::None)
}

pub(super) fn iadd(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(more) = content(vm, args[1]) else {
        let message = format!("can't concat {} to bytearray", vm.heap.class_name(args[1]));
        return Err(vm.type_error(message));
    };
    vm.spend(BYTES_MADE.of(more.len()))?;
    may_resize(vm, args[0], !more.is_empty())?;
    vm.reserve(more.len())?;
    change(vm, args[0], |bytes| bytes.extend(more));
    Ok(vm.heap.retain(args[0]))
}

pub(super) fn imul(vm: &mut Vm, args: &[Value]) -> Outcome {
    let count = sizes::saturating(vm.whole(args[1])?);
    let length = length(vm, args[0]);
    let total = length.saturating_mul(count);
    may_resize(vm, args[0], total != length)?;
    vm.reserve(total)?;
    vm.spend(BYTES_MADE.of(total))?;
    change(vm, args[0], |bytes| *bytes = bytes.repeat(count));
    Ok(vm.heap.retain(args[0]))
}
