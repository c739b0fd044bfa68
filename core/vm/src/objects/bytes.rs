//! `bytes` and `bytearray`.

mod array;

use crate::costs::{BYTES_COPIED, BYTES_FILLED, BYTES_MADE, TEXT_READ};
use crate::error::{Outcome, Throw};
use crate::frame::OnReturn;
use crate::heap::numbers::Number;
use crate::objects::views::{self, octets};
use crate::objects::{codec, list};
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::Iterate;
use crate::types::{nm, ty};
use crate::value::Value;
use array::{append, clear, copy, extend, iadd, imul, insert, pop, remove, reverse};
use cowboy_num::sizes;
use memchr::memmem;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `bytes` and `bytearray`: making them and changing them.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "bytes.__new__", "cls, source=, encoding=, errors=", 3, new, "bytes_new"),
    NativeRow(S, "bytearray.__new__", "cls, /, *args, **kwargs", 3, array_new, ""),
    NativeRow(M, "bytearray.__init__", "self, source=, encoding=, errors=", 3, array_init, "bytearray_init"),
    NativeRow(C, "bytes.fromhex", "cls, text, /", 3, fromhex, ""),
    NativeRow(C, "bytearray.fromhex", "cls, text, /", 3, fromhex, ""),
    NativeRow(M, "bytes.__hash__", "self, /", 2, hash, ""),
    NativeRow(M, "bytes.__bytes__", "self, /", 1, own_bytes, ""),
    NativeRow(M, "bytearray.append", "self, item, /", 2, append, "retry_index"),
    NativeRow(M, "bytearray.extend", "self, iterable_of_ints, /", 2, extend, "bytearray_extend"),
    NativeRow(M, "bytearray.insert", "self, index, item, /", 2, insert, "retry_index"),
    NativeRow(M, "bytearray.remove", "self, value, /", 2, remove, "retry_index"),
    NativeRow(M, "bytearray.reverse", "self, /", 2, reverse, ""),
    NativeRow(M, "bytearray.pop", "self, index=, /", 2, pop, "retry_index"),
    NativeRow(M, "bytearray.copy", "self, /", 2, copy, ""),
    NativeRow(M, "bytearray.clear", "self, /", 2, clear, ""),
    NativeRow(M, "bytearray.__setitem__", "self, key, value, /", 2, list::setitem, "bytearray_setitem"),
    NativeRow(M, "bytearray.__delitem__", "self, key, /", 2, list::delitem, "delitem_slow"),
    NativeRow(M, "bytearray.__iadd__", "self, value, /", 2, iadd, ""),
    NativeRow(M, "bytearray.__imul__", "self, count, /", 2, imul, "retry_index"),
];

/// A copy of the content of bytes or a bytearray, charged.
pub(crate) fn content(vm: &mut Vm, value: Value) -> Option<Vec<u8>> {
    let Some(bytes) = octets(vm, value) else { return views::content(vm, value) };
    let length = bytes.len();
    vm.owe(BYTES_COPIED.of(length));
    octets(vm, value).map(<[u8]>::to_vec)
}

/// The same with views whose items lie apart.
fn any_content(vm: &mut Vm, value: Value) -> Option<Vec<u8>> {
    content(vm, value).or_else(|| views::scattered(vm, value))
}

/// BufferError when a bytearray is to change its length while somebody views it.
pub(crate) fn may_resize(vm: &mut Vm, value: Value, changes: bool) -> Outcome<()> {
    match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::ByteArray(_, 1..)) if changes => {
            Err(vm.raise(ty::BUFFER_ERROR, "Existing exports of data: object cannot be re-sized"))
        }
        _ => Ok(()),
    }
}

/// `item in bytes`: a byte by its number, or bytes.
pub(crate) fn holds(vm: &mut Vm, bytes: Value, item: Value) -> Outcome<bool> {
    let length = octets(vm, bytes).map_or(0, <[u8]>::len);
    vm.spend(BYTES_MADE.of(length))?;
    match vm.heap.number(item) {
        Some(Number::Small(number)) if (0..256).contains(&number) => {
            let number = u8::try_from(number).unwrap_or_default();
            Ok(octets(vm, bytes).is_some_and(|bytes| memchr::memchr(number, bytes).is_some()))
        }
        Some(Number::Small(_) | Number::Big(_)) => Err(vm.value_error("byte must be in range(0, 256)")),
        _ => {
            if let Some(part) = octets(vm, item) {
                return Ok(octets(vm, bytes).is_some_and(|bytes| first_place(bytes, part).is_some()));
            }
            if let Some(part) = views::content(vm, item) {
                return Ok(octets(vm, bytes).is_some_and(|bytes| first_place(bytes, &part).is_some()));
            }
            views::check_contiguous(vm, item)?;
            if vm.python_method(item, nm::INDEX).is_some() {
                return Err(Throw::Fallback);
            }
            let message = format!("a bytes-like object is required, not '{}'", vm.heap.class_name(item));
            Err(vm.type_error(message))
        }
    }
}

/// Where `part` begins first in `bytes`, in time that is linear in `bytes`.
pub(super) fn first_place(bytes: &[u8], part: &[u8]) -> Option<usize> {
    // To prepare a search takes the length of what is looked for.
    if part.len() > bytes.len() { None } else { memmem::find(bytes, part) }
}

/// The content of a bytes-like argument.
pub(crate) fn bytes_like(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    match content(vm, value) {
        Some(bytes) => Ok(bytes),
        None => {
            views::check_contiguous(vm, value)?;
            let message = format!("a bytes-like object is required, not '{}'", vm.heap.class_name(value));
            Err(vm.type_error(message))
        }
    }
}

pub(super) fn receiver(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    let Some(length) = octets(vm, value).map(<[u8]>::len) else {
        let message = format!("descriptor requires a 'bytes' object but received a '{}'", vm.heap.class_name(value));
        return Err(vm.type_error(message));
    };
    vm.spend(BYTES_MADE.of(length))?;
    Ok(octets(vm, value).unwrap_or_default().to_vec())
}

/// A result of the receiver's sort.
pub(super) fn same_sort(vm: &mut Vm, like: Value, bytes: Vec<u8>) -> Outcome {
    vm.reserve(bytes.len())?;
    Ok(if vm.heap.is_instance(like, ty::BYTEARRAY) {
        vm.heap.make(ty::BYTEARRAY, Payload::ByteArray(bytes, 0))
    } else {
        vm.heap.make(ty::BYTES, Payload::Bytes(bytes))
    })
}

/// The number of a byte, from 0 to 255.
pub(crate) fn byte(vm: &mut Vm, value: Value, message: &str) -> Outcome<u8> {
    match vm.heap.number(value) {
        Some(Number::Small(byte)) => u8::try_from(byte).map_err(|_| vm.value_error(message)),
        Some(Number::Big(_)) => Err(vm.value_error(message)),
        _ => Err(vm.not_an_integer(value)),
    }
}

/// The bytes that `bytes(source, encoding, errors)` has, for the class of that name.
fn build(vm: &mut Vm, source: Value, encoding: Value, errors: Value, class: &str) -> Outcome<Vec<u8>> {
    codec::check_names(vm, encoding, errors, class)?;
    if source.is_undefined() {
        if !encoding.is_undefined() || !errors.is_undefined() {
            let which = if encoding.is_undefined() { "errors" } else { "encoding" };
            return Err(vm.type_error(format!("{which} without a string argument")));
        }
        return Ok(Vec::new());
    }
    if vm.heap.text(source).is_some() {
        if encoding.is_undefined() {
            return Err(vm.type_error("string argument without an encoding"));
        }
        return codec::encode(vm, source, encoding, errors, class);
    }
    if !encoding.is_undefined() || !errors.is_undefined() {
        let which = if encoding.is_undefined() { "errors" } else { "encoding" };
        return Err(vm.type_error(format!("{which} without a string argument")));
    }
    if let Some(bytes) = any_content(vm, source) {
        vm.spend(BYTES_MADE.of(bytes.len()))?;
        return Ok(bytes);
    }
    views::check(vm, source)?;
    if vm.python_method(source, nm::INDEX).is_some() {
        return Err(Throw::Fallback);
    }
    match vm.heap.number(source) {
        Some(Number::Small(count)) => {
            let Some(count) = sizes::not_negative(count) else { return Err(vm.value_error("negative count")) };
            vm.reserve(count)?;
            vm.spend(BYTES_FILLED.of(count))?;
            return Ok(vec![0; count]);
        }
        Some(Number::Big(_)) => return Err(vm.raise(ty::OVERFLOW_ERROR, "cannot fit 'int' into an index-sized integer")),
        Some(Number::Float(_)) | None => {}
    }
    items(vm, source, class)
}

/// The bytes of an argument that is a bytes-like object or an iterable of integers, as `int.from_bytes` takes it.
pub(super) fn of_argument(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    if vm.python_method(value, nm::BYTES).is_some() {
        return Err(Throw::Fallback);
    }
    if let Some(bytes) = any_content(vm, value) {
        return Ok(bytes);
    }
    views::check(vm, value)?;
    if vm.heap.text(value).is_some() {
        return Err(vm.type_error("cannot convert 'str' object to bytes"));
    }
    items(vm, value, "bytes")
}

/// The bytes in an iterable of integers.
fn items(vm: &mut Vm, source: Value, class: &str) -> Outcome<Vec<u8>> {
    if vm.special(source, nm::ITER).is_none() && vm.special(source, nm::GETITEM).is_none() {
        let message = format!("cannot convert '{}' object to {class}", vm.heap.class_name(source));
        return Err(vm.type_error(message));
    }
    let items = vm.collect(source)?;
    let message = if class == "bytes" { "bytes must be in range(0, 256)" } else { "byte must be in range(0, 256)" };
    let bytes = items.iter().map(|&item| byte(vm, item, message)).collect();
    vm.heap.release_all(items);
    bytes
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    if let Some(function) = vm.python_method(args[1], nm::BYTES).filter(|_| args[2].is_undefined() && args[3].is_undefined()) {
        if class != ty::BYTES {
            return Err(Throw::Fallback);
        }
        return Err(vm.call_expecting(function, &[args[1]], crate::frame::Expect::Bytes));
    }
    let alone = args[2].is_undefined() && args[3].is_undefined();
    if alone && class == ty::BYTES && !args[1].is_undefined() && vm.heap.class_of(args[1]) == ty::BYTES {
        return Ok(vm.heap.retain(args[1]));
    }
    let bytes = build(vm, args[1], args[2], args[3], "bytes")?;
    Ok(vm.heap.wrap_builtin(class, Payload::Bytes(bytes)))
}

fn array_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn array_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    let length = length(vm, args[0]);
    may_resize(vm, args[0], length > 0)?;
    let bytes = build(vm, args[1], args[2], args[3], "bytearray")?;
    set_content(vm, args[0], bytes);
    Ok(Value::None)
}

/// Gives a buffer back that is much larger than what it holds: that is all that is modelled.
pub(crate) fn settle(bytes: &mut Vec<u8>) {
    if bytes.capacity() > 4 * bytes.len() + ROOM {
        bytes.shrink_to(2 * bytes.len());
    }
}

/// Bytes that an emptied buffer may keep.
const ROOM: usize = 256;

fn set_content(vm: &mut Vm, value: Value, bytes: Vec<u8>) {
    let Value::Obj(object) = value else { return };
    let before = vm.heap.payload(object).size();
    if let Payload::ByteArray(row, _) = vm.heap.payload_mut(object).core_mut() {
        *row = bytes;
        settle(row);
    }
    let after = vm.heap.payload(object).size();
    vm.heap.resize_memory(before, after);
}

/// Gives a bytearray the content of another one, which is released.
pub(crate) fn take_over(vm: &mut Vm, target: Value, other: Value) {
    let bytes = content(vm, other).unwrap_or_default();
    set_content(vm, target, bytes);
    vm.heap.release(other);
}

/// `a + b`
pub(crate) fn concatenate(vm: &mut Vm, left: Value, right: Value) -> Outcome {
    let mut bytes = content(vm, left).unwrap_or_default();
    let Some(more) = content(vm, right) else {
        let message = format!("can't concat {} to {}", vm.heap.class_name(right), vm.heap.class_name(left));
        return Err(vm.type_error(message));
    };
    bytes.extend(more);
    vm.spend(BYTES_MADE.of(bytes.len()))?;
    same_sort(vm, left, bytes)
}

fn fromhex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(text) = vm.heap.text(args[1]).map(str::to_owned) else {
        let message = format!(
            "fromhex() argument must be str, not {}",
            if args[1].is_none() { "None".to_owned() } else { vm.heap.class_name(args[1]) }
        );
        return Err(vm.type_error(message));
    };
    vm.spend(TEXT_READ.of(text.len()))?;
    let mut bytes = Vec::new();
    let mut pending: Option<u32> = None;
    for (index, c) in text.chars().enumerate() {
        if pending.is_none() && matches!(c, ' ' | '\t'..='\r') {
            continue;
        }
        let Some(digit) = c.to_digit(16).filter(|_| c.is_ascii()) else {
            return Err(vm.value_error(format!("non-hexadecimal number found in fromhex() arg at position {index}")));
        };
        match pending.take() {
            Some(high) => bytes.push(u8::try_from(high * 16 + digit).unwrap_or(0)),
            None => pending = Some(digit),
        }
    }
    if pending.is_some() {
        return Err(vm.value_error(format!("non-hexadecimal number found in fromhex() arg at position {}", text.chars().count())));
    }
    let class = vm.class_argument(args[0])?;
    let base = if vm.heap.is_subclass(class, ty::BYTEARRAY) { ty::BYTEARRAY } else { ty::BYTES };
    let payload = if base == ty::BYTEARRAY { Payload::ByteArray(bytes, 0) } else { Payload::Bytes(bytes) };
    let value = vm.heap.make(base, payload);
    if class == base {
        return Ok(value);
    }
    // A subclass is called with the plain value, as CPython does.
    let call = vm.call_later(args[0], &[value], OnReturn::Store);
    vm.heap.release(value);
    Err(call)
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    Ok(Value::Int(cowboy_num::siphash13(&bytes)))
}

fn own_bytes(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.class_of(args[0]) == ty::BYTES {
        return Ok(vm.heap.retain(args[0]));
    }
    let bytes = receiver(vm, args[0])?;
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(bytes)))
}

fn length(vm: &Vm, value: Value) -> usize {
    match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) => bytes.len(),
        _ => 0,
    }
}

/// `bytearray[a:b:c] = value`
pub(crate) fn set_slice(vm: &mut Vm, object: crate::value::Ref, parts: &[Value; 3], value: Value) -> Outcome<()> {
    let receiver = Value::Obj(object);
    let mut bytes = content(vm, receiver).unwrap_or_default();
    vm.spend(BYTES_FILLED.of(bytes.len()))?;
    let more = if vm.heap.number(value).is_some() || vm.heap.text(value).is_some() {
        return Err(vm.type_error("can assign only bytes, buffers, or iterables of ints in range(0, 256)"));
    } else if let Some(bytes) = any_content(vm, value) {
        bytes
    } else {
        items(vm, value, "bytearray")?
    };
    let (start, step, count) = vm.slice_bounds(parts, bytes.len())?;
    if step == 1 {
        let first = sizes::saturating(start);
        may_resize(vm, receiver, more.len() != count)?;
        vm.reserve(more.len())?;
        bytes.splice(first..first + count, more);
    } else if more.is_empty() {
        may_resize(vm, receiver, true)?;
        return delete_slice(vm, object, parts);
    } else if more.len() == count {
        for (index, byte) in more.into_iter().enumerate() {
            let at = start.saturating_add(step.saturating_mul(i64::try_from(index).unwrap_or(0)));
            if let Some(place) = sizes::index(at).and_then(|at| bytes.get_mut(at)) {
                *place = byte;
            }
        }
    } else {
        let message = format!("attempt to assign bytes of size {} to extended slice of size {count}", more.len());
        return Err(vm.value_error(message));
    }
    set_content(vm, receiver, bytes);
    Ok(())
}

/// `del bytearray[a:b:c]`
pub(crate) fn delete_slice(vm: &mut Vm, object: crate::value::Ref, parts: &[Value; 3]) -> Outcome<()> {
    let receiver = Value::Obj(object);
    let bytes = content(vm, receiver).unwrap_or_default();
    vm.spend(BYTES_FILLED.of(bytes.len()))?;
    let (start, step, count) = vm.slice_bounds(parts, bytes.len())?;
    may_resize(vm, receiver, count > 0 || step != 1)?;
    let mut dead = vec![false; bytes.len()];
    for index in 0..count {
        let at = start.saturating_add(step.saturating_mul(i64::try_from(index).unwrap_or(0)));
        if let Some(mark) = sizes::index(at).and_then(|at| dead.get_mut(at)) {
            *mark = true;
        }
    }
    let kept = bytes.into_iter().zip(dead).filter(|(_, dead)| !dead).map(|(byte, _)| byte).collect();
    set_content(vm, receiver, kept);
    Ok(())
}
