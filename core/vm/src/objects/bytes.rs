//! `bytes` and `bytearray`.

use crate::error::{Outcome, Throw};
use crate::interp::Vm;
use crate::interp::operators::Number;
use crate::native::{NativeKind, NativeRow};
use crate::objects::list;
use crate::objects::payload::Payload;
use crate::types::ty;
use crate::value::Value;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `bytes` and `bytearray`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "bytes.__new__", "cls, source=, encoding=, errors=", 3, new, "bytes_new"),
    NativeRow(S, "bytearray.__new__", "cls, /, *args, **kwargs", 3, array_new, ""),
    NativeRow(M, "bytearray.__init__", "self, source=, encoding=, errors=", 3, array_init, "bytearray_init"),
    NativeRow(M, "bytes.hex", "self, sep=, bytes_per_sep=", 3, hex, ""),
    NativeRow(M, "bytearray.hex", "self, sep=, bytes_per_sep=", 3, hex, ""),
    NativeRow(C, "bytes.fromhex", "cls, text, /", 3, fromhex, ""),
    NativeRow(C, "bytearray.fromhex", "cls, text, /", 3, fromhex, ""),
    NativeRow(M, "bytes.decode", "self, encoding=, errors=", 3, decode, ""),
    NativeRow(M, "bytearray.decode", "self, encoding=, errors=", 3, decode, ""),
    NativeRow(M, "bytes.join", "self, iterable, /", 3, join, "bytes_join"),
    NativeRow(M, "bytes.startswith", "self, prefix, start=, end=, /", 2, startswith, ""),
    NativeRow(M, "bytes.endswith", "self, suffix, start=, end=, /", 2, endswith, ""),
    NativeRow(M, "bytes.find", "self, sub, start=, end=, /", 2, find, ""),
    NativeRow(M, "bytes.index", "self, sub, start=, end=, /", 2, index, ""),
    NativeRow(M, "bytes.count", "self, sub, start=, end=, /", 2, count, ""),
    NativeRow(M, "bytes.split", "self, sep=, maxsplit=", 2, split, ""),
    NativeRow(M, "bytes.replace", "self, old, new, /", 2, replace, ""),
    NativeRow(M, "bytes.strip", "self, chars=, /", 2, strip, ""),
    NativeRow(M, "bytes.lstrip", "self, chars=, /", 2, lstrip, ""),
    NativeRow(M, "bytes.rstrip", "self, chars=, /", 2, rstrip, ""),
    NativeRow(M, "bytes.rjust", "self, width, fillchar=, /", 2, rjust, ""),
    NativeRow(M, "bytes.ljust", "self, width, fillchar=, /", 2, ljust, ""),
    NativeRow(M, "bytes.removeprefix", "self, prefix, /", 2, removeprefix, ""),
    NativeRow(M, "bytes.removesuffix", "self, suffix, /", 2, removesuffix, ""),
    NativeRow(M, "bytes.lower", "self, /", 2, lower, ""),
    NativeRow(M, "bytes.upper", "self, /", 2, upper, ""),
    NativeRow(M, "bytes.isascii", "self, /", 2, isascii, ""),
    NativeRow(M, "bytes.isdigit", "self, /", 2, isdigit, ""),
    NativeRow(M, "bytes.__len__", "self, /", 1, len, ""),
    NativeRow(M, "bytes.__iter__", "self, /", 1, list::iter, ""),
    NativeRow(M, "bytes.__getitem__", "self, key, /", 2, list::getitem, ""),
    NativeRow(M, "bytes.__contains__", "self, key, /", 2, list::contains, ""),
    NativeRow(M, "bytes.__hash__", "self, /", 2, hash, ""),
    NativeRow(M, "bytes.__repr__", "self, /", 2, super::tuple::repr, ""),
    NativeRow(M, "bytearray.append", "self, item, /", 2, append, ""),
    NativeRow(M, "bytearray.extend", "self, iterable, /", 2, extend, ""),
    NativeRow(M, "bytearray.pop", "self, index=, /", 2, pop, ""),
    NativeRow(M, "bytearray.clear", "self, /", 2, clear, ""),
    NativeRow(M, "bytearray.__len__", "self, /", 1, len, ""),
    NativeRow(M, "bytearray.__iter__", "self, /", 1, list::iter, ""),
    NativeRow(M, "bytearray.__getitem__", "self, key, /", 2, list::getitem, ""),
    NativeRow(M, "bytearray.__setitem__", "self, key, value, /", 2, list::setitem, ""),
    NativeRow(M, "bytearray.__delitem__", "self, key, /", 2, list::delitem, ""),
    NativeRow(M, "bytearray.__contains__", "self, key, /", 2, list::contains, ""),
];

/// Python's repr of bytes.
pub(crate) fn write_repr(out: &mut String, bytes: &[u8]) {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') { b'"' } else { b'\'' };
    out.push('b');
    out.push(char::from(quote));
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            byte if byte == quote => {
                out.push('\\');
                out.push(char::from(byte));
            }
            0x20..=0x7e => out.push(char::from(byte)),
            byte => out.push_str(&format!("\\x{byte:02x}")),
        }
    }
    out.push(char::from(quote));
}

/// The content of bytes or a bytearray.
pub(crate) fn content(vm: &Vm, value: Value) -> Option<Vec<u8>> {
    match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes)) => Some(bytes.clone()),
        _ => None,
    }
}

/// The content of a bytes-like argument.
pub(crate) fn bytes_like(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    match content(vm, value) {
        Some(bytes) => Ok(bytes),
        None => {
            let message = format!("a bytes-like object is required, not '{}'", vm.class_name(value));
            Err(vm.type_error(message))
        }
    }
}

fn receiver(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    let bytes = content(vm, value).unwrap_or_default();
    vm.spend(bytes.len() / 4)?;
    Ok(bytes)
}

/// A result of the receiver's sort.
fn same_sort(vm: &mut Vm, like: Value, bytes: Vec<u8>) -> Outcome {
    vm.reserve(bytes.len())?;
    Ok(if vm.is_instance(like, ty::BYTEARRAY) {
        vm.heap.make(ty::BYTEARRAY, Payload::ByteArray(bytes))
    } else {
        vm.heap.make(ty::BYTES, Payload::Bytes(bytes))
    })
}

fn build(vm: &mut Vm, source: Value, encoding: Value) -> Outcome<Vec<u8>> {
    if source.is_undefined() {
        return Ok(Vec::new());
    }
    if let Some(text) = vm.text(source) {
        if encoding.is_undefined() {
            return Err(vm.type_error("string argument without an encoding"));
        }
        let text = text.to_owned();
        let name = super::str::encoding(vm, encoding)?;
        if name != "utf-8" && !text.is_ascii() {
            return Err(vm.raise(ty::UNICODE_ENCODE_ERROR, &format!("'{name}' codec can't encode characters")));
        }
        return Ok(text.into_bytes());
    }
    if let Some(bytes) = content(vm, source) {
        vm.spend(bytes.len() / 4)?;
        return Ok(bytes);
    }
    match vm.number(source) {
        Some(Number::Small(count)) => {
            let Ok(count) = usize::try_from(count) else { return Err(vm.value_error("negative count")) };
            vm.reserve(count)?;
            vm.spend(count / 8)?;
            return Ok(vec![0; count]);
        }
        Some(Number::Big(_)) => return Err(vm.raise(ty::OVERFLOW_ERROR, "cannot fit 'int' into an index-sized integer")),
        Some(Number::Float(_)) | None => {}
    }
    let items = match vm.collect(source) {
        Ok(items) => items,
        Err(Throw::Raise(exception)) => {
            vm.heap.release(exception);
            let message = format!("cannot convert '{}' object to bytes", vm.class_name(source));
            return Err(vm.type_error(message));
        }
        Err(throw) => return Err(throw),
    };
    let mut bytes = Vec::with_capacity(items.len());
    for item in items {
        match vm.number(item) {
            Some(Number::Small(byte)) => match u8::try_from(byte) {
                Ok(byte) => bytes.push(byte),
                Err(_) => return Err(vm.value_error("bytes must be in range(0, 256)")),
            },
            _ => {
                let message = format!("'{}' object cannot be interpreted as an integer", vm.class_name(item));
                return Err(vm.type_error(message));
            }
        }
    }
    Ok(bytes)
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    if let Some(function) = vm.python_method(args[1], crate::types::nm::BYTES) {
        return Err(vm.call_expecting(function, &[args[1]], crate::interp::Expect::Bytes));
    }
    if class == ty::BYTES && vm.heap.class_of(args[1]) == ty::BYTES && !args[1].is_undefined() {
        return Ok(vm.heap.retain(args[1]));
    }
    let bytes = build(vm, args[1], args[2])?;
    Ok(vm.wrap_builtin(class, Payload::Bytes(bytes)))
}

fn array_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn array_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = build(vm, args[1], args[2])?;
    set_content(vm, args[0], bytes);
    Ok(Value::None)
}

fn set_content(vm: &mut Vm, value: Value, bytes: Vec<u8>) {
    let Value::Obj(object) = value else { return };
    let before = vm.heap.payload(object).size();
    if let Payload::ByteArray(row) = vm.heap.payload_mut(object).core_mut() {
        *row = bytes;
    }
    let after = vm.heap.payload(object).size();
    vm.heap.resize_memory(before, after);
}

/// `a + b`
pub(crate) fn concatenate(vm: &mut Vm, left: Value, right: Value) -> Outcome {
    let mut bytes = content(vm, left).unwrap_or_default();
    bytes.extend(content(vm, right).unwrap_or_default());
    vm.spend(bytes.len() / 4)?;
    same_sort(vm, left, bytes)
}

fn hex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    vm.spend(bytes.len())?;
    vm.reserve(bytes.len() * 2)?;
    let separator = vm.text(args[1]).unwrap_or_default().to_owned();
    let group = match vm.number(args[2]) {
        Some(Number::Small(group)) => group,
        _ => 1,
    };
    let mut text = String::with_capacity(bytes.len() * 2);
    let size = usize::try_from(group.unsigned_abs()).unwrap_or(1).max(1);
    for (index, byte) in bytes.iter().enumerate() {
        let edge = if group > 0 { (bytes.len() - index) % size == 0 } else { index % size == 0 };
        if index > 0 && edge {
            text.push_str(&separator);
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Ok(vm.heap.string(text))
}

fn fromhex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(text) = vm.text(args[1]).map(str::to_owned) else {
        let message = format!("fromhex() argument must be str, not {}", vm.class_name(args[1]));
        return Err(vm.type_error(message));
    };
    vm.spend(text.len())?;
    let mut bytes = Vec::new();
    let mut pending: Option<u32> = None;
    for (index, c) in text.chars().enumerate() {
        if pending.is_none() && c.is_ascii_whitespace() {
            continue;
        }
        let Some(digit) = c.to_digit(16) else {
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
    Ok(if class == ty::BYTEARRAY { vm.heap.make(class, Payload::ByteArray(bytes)) } else { vm.wrap_builtin(class, Payload::Bytes(bytes)) })
}

/// `bytes.decode`
pub(crate) fn decode(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(bytes) = content(vm, args[0]) else {
        let message = format!("decoding to str: need a bytes-like object, {} found", vm.class_name(args[0]));
        return Err(vm.type_error(message));
    };
    vm.spend(bytes.len() / 4)?;
    vm.reserve(bytes.len())?;
    let encoding = super::str::encoding(vm, args[1])?;
    let errors = vm.text(args[2]).unwrap_or("strict").to_owned();
    let text = match encoding.as_str() {
        "latin-1" => bytes.iter().map(|&byte| char::from(byte)).collect(),
        "ascii" => match bytes.iter().position(|byte| !byte.is_ascii()) {
            None => String::from_utf8_lossy(&bytes).into_owned(),
            Some(_) if errors == "ignore" => bytes.iter().filter(|byte| byte.is_ascii()).map(|&byte| char::from(byte)).collect(),
            Some(position) => {
                let message =
                    format!("'ascii' codec can't decode byte 0x{:02x} in position {position}: ordinal not in range(128)", bytes[position]);
                return Err(vm.raise(ty::UNICODE_DECODE_ERROR, &message));
            }
        },
        _ => match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) if errors == "replace" => String::from_utf8_lossy(error.as_bytes()).into_owned(),
            Err(error) if errors == "ignore" => error.as_bytes().utf8_chunks().map(|chunk| chunk.valid()).collect(),
            Err(error) => {
                let (position, length) = (error.utf8_error().valid_up_to(), error.utf8_error().error_len());
                let byte = error.as_bytes()[position];
                let reason = match length {
                    None => "unexpected end of data",
                    Some(_) if !(0xc2..=0xf4).contains(&byte) => "invalid start byte",
                    Some(_) => "invalid continuation byte",
                };
                let total = error.as_bytes().len();
                let place = match length {
                    None if total - position > 1 => format!("bytes in position {position}-{}", total - 1),
                    _ => format!("byte 0x{byte:02x} in position {position}"),
                };
                let message = format!("'utf-8' codec can't decode {place}: {reason}");
                return Err(vm.raise(ty::UNICODE_DECODE_ERROR, &message));
            }
        },
    };
    Ok(vm.heap.string(text))
}

fn join(vm: &mut Vm, args: &[Value]) -> Outcome {
    let separator = receiver(vm, args[0])?;
    let items = vm.collect(args[1])?;
    let mut bytes = Vec::new();
    for (index, &item) in items.iter().enumerate() {
        if index > 0 {
            bytes.extend(&separator);
        }
        match content(vm, item) {
            Some(part) => bytes.extend(part),
            None => {
                let message = format!("sequence item {index}: expected a bytes-like object, {} found", vm.class_name(item));
                return Err(vm.type_error(message));
            }
        }
        vm.reserve(bytes.len())?;
    }
    vm.heap.release_all(items);
    vm.spend(bytes.len() / 4)?;
    same_sort(vm, args[0], bytes)
}

fn affix(vm: &mut Vm, args: &[Value], test: fn(&[u8], &[u8]) -> bool) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let (start, _, count) = vm.slice_bounds([args[2].or(Value::None), args[3].or(Value::None), Value::None], bytes.len())?;
    let start = usize::try_from(start).unwrap_or(0);
    let candidates = if vm.is_instance(args[1], ty::TUPLE) { vm.tuple_items(args[1]) } else { vec![args[1]] };
    for candidate in candidates {
        let candidate = bytes_like(vm, candidate)?;
        if test(&bytes[start..start + count], &candidate) {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn startswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, |bytes, prefix| bytes.starts_with(prefix))
}

fn endswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, |bytes, suffix| bytes.ends_with(suffix))
}

fn needle(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    match vm.number(value) {
        Some(Number::Small(byte)) => match u8::try_from(byte) {
            Ok(byte) => Ok(vec![byte]),
            Err(_) => Err(vm.value_error("byte must be in range(0, 256)")),
        },
        _ => bytes_like(vm, value),
    }
}

fn position(vm: &mut Vm, args: &[Value]) -> Outcome<Option<usize>> {
    let bytes = receiver(vm, args[0])?;
    let needle = needle(vm, args[1])?;
    let (start, _, count) = vm.slice_bounds([args[2].or(Value::None), args[3].or(Value::None), Value::None], bytes.len())?;
    let start = usize::try_from(start).unwrap_or(0);
    if needle.is_empty() {
        return Ok(Some(start));
    }
    Ok(bytes[start..start + count].windows(needle.len()).position(|window| window == needle).map(|at| start + at))
}

fn find(vm: &mut Vm, args: &[Value]) -> Outcome {
    let found = position(vm, args)?;
    Ok(Value::Int(found.and_then(|at| i64::try_from(at).ok()).unwrap_or(-1)))
}

fn index(vm: &mut Vm, args: &[Value]) -> Outcome {
    match position(vm, args)? {
        Some(at) => Ok(Value::Int(i64::try_from(at).unwrap_or(i64::MAX))),
        None => Err(vm.value_error("subsection not found")),
    }
}

fn pieces(bytes: &[u8], separator: &[u8], most: usize) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    let mut rest = bytes;
    while parts.len() < most {
        match rest.windows(separator.len()).position(|window| window == separator) {
            Some(at) => {
                parts.push(rest[..at].to_vec());
                rest = &rest[at + separator.len()..];
            }
            None => break,
        }
    }
    parts.push(rest.to_vec());
    parts
}

fn count(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let needle = needle(vm, args[1])?;
    let count = if needle.is_empty() { bytes.len() + 1 } else { pieces(&bytes, &needle, usize::MAX).len() - 1 };
    Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}

fn split(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let most = match vm.number(args[2]) {
        Some(Number::Small(most)) => usize::try_from(most).unwrap_or(usize::MAX),
        _ => usize::MAX,
    };
    let parts: Vec<Vec<u8>> = if args[1].is_undefined() || args[1].is_none() {
        bytes.split(u8::is_ascii_whitespace).filter(|part| !part.is_empty()).map(<[u8]>::to_vec).collect()
    } else {
        let separator = bytes_like(vm, args[1])?;
        if separator.is_empty() {
            return Err(vm.value_error("empty separator"));
        }
        pieces(&bytes, &separator, most)
    };
    vm.spend(parts.len())?;
    let mut items = Vec::with_capacity(parts.len());
    for part in parts {
        items.push(same_sort(vm, args[0], part)?);
    }
    Ok(vm.list(items))
}

fn replace(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let (old, new) = (bytes_like(vm, args[1])?, bytes_like(vm, args[2])?);
    if old.is_empty() {
        return Err(vm.value_error("replace() of empty bytes is not supported"));
    }
    let parts = pieces(&bytes, &old, usize::MAX);
    vm.reserve(parts.len().saturating_mul(new.len()))?;
    let joined = parts.join(new.as_slice());
    vm.spend(joined.len() / 4)?;
    same_sort(vm, args[0], joined)
}

fn trimmed(vm: &mut Vm, args: &[Value], left: bool, right: bool) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let chars = if args[1].is_undefined() || args[1].is_none() { b" \t\n\r\x0b\x0c".to_vec() } else { bytes_like(vm, args[1])? };
    let mut part = bytes.as_slice();
    while left && part.first().is_some_and(|byte| chars.contains(byte)) {
        part = &part[1..];
    }
    while right && part.last().is_some_and(|byte| chars.contains(byte)) {
        part = &part[..part.len() - 1];
    }
    same_sort(vm, args[0], part.to_vec())
}

fn strip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, true, true)
}

fn lstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, true, false)
}

fn rstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, false, true)
}

fn padding(vm: &mut Vm, args: &[Value]) -> Outcome<(Vec<u8>, Vec<u8>)> {
    let bytes = receiver(vm, args[0])?;
    let width = match vm.number(args[1]) {
        Some(Number::Small(width)) => usize::try_from(width).unwrap_or(0),
        _ => 0,
    };
    let fill = if args[2].is_undefined() { b' ' } else { bytes_like(vm, args[2])?.first().copied().unwrap_or(b' ') };
    let missing = width.saturating_sub(bytes.len());
    vm.reserve(missing)?;
    vm.spend(missing / 4)?;
    Ok((bytes, vec![fill; missing]))
}

fn rjust(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (bytes, mut fill) = padding(vm, args)?;
    fill.extend(bytes);
    same_sort(vm, args[0], fill)
}

fn ljust(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (mut bytes, fill) = padding(vm, args)?;
    bytes.extend(fill);
    same_sort(vm, args[0], bytes)
}

fn removeprefix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let prefix = bytes_like(vm, args[1])?;
    let rest = bytes.strip_prefix(prefix.as_slice()).unwrap_or(&bytes).to_vec();
    same_sort(vm, args[0], rest)
}

fn removesuffix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let suffix = bytes_like(vm, args[1])?;
    let rest = bytes.strip_suffix(suffix.as_slice()).unwrap_or(&bytes).to_vec();
    same_sort(vm, args[0], rest)
}

fn lower(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?.to_ascii_lowercase();
    same_sort(vm, args[0], bytes)
}

fn upper(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?.to_ascii_uppercase();
    same_sort(vm, args[0], bytes)
}

fn isascii(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::Bool(receiver(vm, args[0])?.is_ascii()))
}

fn isdigit(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    Ok(Value::Bool(!bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)))
}

fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    let length = content(vm, args[0]).unwrap_or_default().len();
    Ok(Value::Int(i64::try_from(length).unwrap_or(i64::MAX)))
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    Ok(Value::Int(crate::num::siphash13(&bytes)))
}

fn append(vm: &mut Vm, args: &[Value]) -> Outcome {
    let byte = needle(vm, args[1])?;
    let mut bytes = content(vm, args[0]).unwrap_or_default();
    bytes.extend(byte);
    set_content(vm, args[0], bytes);
    Ok(Value::None)
}

fn extend(vm: &mut Vm, args: &[Value]) -> Outcome {
    let more = build(vm, args[1], Value::Undefined)?;
    let mut bytes = receiver(vm, args[0])?;
    vm.reserve(more.len())?;
    bytes.extend(more);
    set_content(vm, args[0], bytes);
    Ok(Value::None)
}

fn pop(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut bytes = receiver(vm, args[0])?;
    let index = match vm.number(args[1].or(Value::Int(-1))) {
        Some(Number::Small(index)) => index,
        _ => -1,
    };
    if bytes.is_empty() {
        return Err(vm.raise(ty::INDEX_ERROR, "pop from empty bytearray"));
    }
    let Some(at) = crate::interp::subscript::absolute(index, bytes.len()) else {
        return Err(vm.raise(ty::INDEX_ERROR, "pop index out of range"));
    };
    let byte = bytes.remove(at);
    set_content(vm, args[0], bytes);
    Ok(Value::Int(i64::from(byte)))
}

fn clear(vm: &mut Vm, args: &[Value]) -> Outcome {
    set_content(vm, args[0], Vec::new());
    Ok(Value::None)
}

/// `bytearray[a:b:c] = value`
pub(crate) fn set_slice(vm: &mut Vm, object: crate::value::Ref, parts: [Value; 3], value: Value) -> Outcome<()> {
    let receiver = Value::Obj(object);
    let mut bytes = content(vm, receiver).unwrap_or_default();
    vm.spend(bytes.len() / 8)?;
    let more = if vm.number(value).is_some() {
        return Err(vm.type_error("can assign only bytes, buffers, or iterables of ints in range(0, 256)"));
    } else {
        build(vm, value, Value::Undefined)?
    };
    let (start, step, count) = vm.slice_bounds(parts, bytes.len())?;
    if step == 1 {
        let first = usize::try_from(start).unwrap_or(0);
        vm.reserve(more.len())?;
        bytes.splice(first..first + count, more);
    } else if more.len() == count {
        for (index, byte) in more.into_iter().enumerate() {
            let at = start + step * i64::try_from(index).unwrap_or(0);
            if let Some(place) = usize::try_from(at).ok().and_then(|at| bytes.get_mut(at)) {
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
pub(crate) fn delete_slice(vm: &mut Vm, object: crate::value::Ref, parts: [Value; 3]) -> Outcome<()> {
    let receiver = Value::Obj(object);
    let bytes = content(vm, receiver).unwrap_or_default();
    vm.spend(bytes.len() / 8)?;
    let (start, step, count) = vm.slice_bounds(parts, bytes.len())?;
    let mut dead = vec![false; bytes.len()];
    for index in 0..count {
        let at = start + step * i64::try_from(index).unwrap_or(0);
        if let Some(mark) = usize::try_from(at).ok().and_then(|at| dead.get_mut(at)) {
            *mark = true;
        }
    }
    let kept = bytes.into_iter().zip(dead).filter(|(_, dead)| !dead).map(|(byte, _)| byte).collect();
    set_content(vm, receiver, kept);
    Ok(())
}
