//! Searching: where bytes occur, how often, and what is before and after them.

use super::int;
use crate::costs::BYTES_MADE;
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::objects::bytes::{byte, bytes_like, content, first_place, receiver, same_sort};
use crate::runtime::Vm;
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num::sizes;
use memchr::memmem;

/// Where two optional positions lie in a sequence; `None` when the first lies past its end.
fn bounds(vm: &mut Vm, start: Value, end: Value, length: usize) -> Outcome<Option<(usize, usize)>> {
    for part in [start, end] {
        if vm.python_method(part, nm::INDEX).is_some() {
            return Err(Throw::Fallback);
        }
    }
    let (first, _, count) = vm.slice_bounds(&[start.or(Value::None), end.or(Value::None), Value::None], length)?;
    if let Some(Number::Small(start)) = vm.heap.number(start) {
        if sizes::saturating(start) > length {
            return Ok(None);
        }
    }
    if count == 0 && vm.ends_before(end, first, length) {
        return Ok(None);
    }
    let first = sizes::saturating(first);
    Ok(Some((first, first + count)))
}

fn affix(vm: &mut Vm, args: &[Value], name: &str, test: fn(&[u8], &[u8]) -> bool) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let window = bounds(vm, args[2], args[3], bytes.len())?;
    let many = vm.heap.is_instance(args[1], ty::TUPLE);
    for index in 0..crate::objects::tuple::alternatives(vm, args[1]) {
        let candidate = crate::objects::tuple::alternative(vm, args[1], index, bytes.len())?;
        let Some(affix) = content(vm, candidate) else {
            crate::objects::views::check_contiguous(vm, candidate)?;
            let class = vm.heap.class_name(candidate);
            let message = if many {
                format!("a bytes-like object is required, not '{class}'")
            } else {
                format!("{name} first arg must be bytes or a tuple of bytes, not {class}")
            };
            return Err(vm.type_error(message));
        };
        if window.is_some_and(|(first, end)| test(&bytes[first..end], &affix)) {
            return Ok(Value::truth(true));
        }
    }
    Ok(Value::truth(false))
}

pub(super) fn startswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, "startswith", <[u8]>::starts_with)
}

pub(super) fn endswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, "endswith", <[u8]>::ends_with)
}

/// What is searched for: bytes, or one byte by its number.
fn needle(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    if let Some(bytes) = content(vm, value) {
        return Ok(bytes);
    }
    if vm.heap.as_int(value).is_some() || vm.python_method(value, nm::INDEX).is_some() {
        return Ok(vec![byte(vm, value, "byte must be in range(0, 256)")?]);
    }
    crate::objects::views::check_contiguous(vm, value)?;
    let message = format!("argument should be integer or bytes-like object, not '{}'", vm.heap.class_name(value));
    Err(vm.type_error(message))
}

/// Where `needle` begins first, or last, in `bytes`.
fn search(bytes: &[u8], needle: &[u8], last: bool) -> Option<usize> {
    if needle.is_empty() {
        return Some(if last { bytes.len() } else { 0 });
    }
    if last && needle.len() <= bytes.len() { memmem::rfind(bytes, needle) } else { first_place(bytes, needle) }
}

fn position(vm: &mut Vm, args: &[Value], last: bool) -> Outcome<Option<usize>> {
    vm.check_bounds(args)?;
    let bytes = receiver(vm, args[0])?;
    let needle = needle(vm, args[1])?;
    let Some((first, end)) = bounds(vm, args[2], args[3], bytes.len())? else { return Ok(None) };
    vm.spend(BYTES_MADE.of(end - first))?;
    Ok(search(&bytes[first..end], &needle, last).map(|at| first + at))
}

pub(super) fn find(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(position(vm, args, false)?.map_or(Value::Int(-1), int))
}

pub(super) fn rfind(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(position(vm, args, true)?.map_or(Value::Int(-1), int))
}

pub(super) fn index(vm: &mut Vm, args: &[Value]) -> Outcome {
    let found = position(vm, args, false)?;
    found.map(int).ok_or_else(|| vm.value_error("subsection not found"))
}

pub(super) fn rindex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let found = position(vm, args, true)?;
    found.map(int).ok_or_else(|| vm.value_error("subsection not found"))
}

/// Where a separator begins in `bytes`, the first times or the last times.
pub(super) fn cuts<'a>(bytes: &'a [u8], separator: &'a [u8], most: usize, last: bool) -> impl Iterator<Item = usize> + 'a {
    // To prepare a search takes the length of what is looked for.
    let most = if separator.len() > bytes.len() { 0 } else { most };
    let (forwards, backwards) = match last {
        true => (None, Some(memmem::rfind_iter(bytes, separator))),
        false => (Some(memmem::find_iter(bytes, separator)), None),
    };
    forwards.into_iter().flatten().chain(backwards.into_iter().flatten()).take(most)
}

pub(super) fn count(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.check_bounds(args)?;
    let bytes = receiver(vm, args[0])?;
    let needle = needle(vm, args[1])?;
    let Some((first, end)) = bounds(vm, args[2], args[3], bytes.len())? else { return Ok(Value::Int(0)) };
    vm.spend(BYTES_MADE.of(end - first))?;
    let count = if needle.is_empty() { end - first + 1 } else { cuts(&bytes[first..end], &needle, usize::MAX, false).count() };
    Ok(int(count))
}

fn three(vm: &mut Vm, like: Value, parts: [&[u8]; 3]) -> Outcome {
    let mut items = Vec::with_capacity(3);
    for part in parts {
        items.push(same_sort(vm, like, part.to_vec())?);
    }
    Ok(vm.heap.tuple(items))
}

fn parted(vm: &mut Vm, args: &[Value], last: bool) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let needle = bytes_like(vm, args[1])?;
    if needle.is_empty() {
        return Err(vm.value_error("empty separator"));
    }
    vm.spend(BYTES_MADE.of(bytes.len()))?;
    match search(&bytes, &needle, last) {
        Some(at) => three(vm, args[0], [&bytes[..at], &needle, &bytes[at + needle.len()..]]),
        None if last => three(vm, args[0], [b"", b"", &bytes]),
        None => three(vm, args[0], [&bytes, b"", b""]),
    }
}

pub(super) fn partition(vm: &mut Vm, args: &[Value]) -> Outcome {
    parted(vm, args, false)
}

pub(super) fn rpartition(vm: &mut Vm, args: &[Value]) -> Outcome {
    parted(vm, args, true)
}
