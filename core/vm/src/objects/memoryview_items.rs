//! The items of a `memoryview`: where they lie, reading and writing them.

use super::views::{self, gathered, live, octets, places, seen, step};
use crate::costs::{BYTES_COPIED, VIEW_INDEX, VIEW_ITEM};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::objects::packed;
use crate::payload::{Format, Payload, View};
use crate::runtime::Vm;
use crate::runtime::protocol::Compare;
use crate::runtime::sequences::absolute;
use crate::types::{nm, ty};
use crate::value::{Ref, Value};
use cowboy_num::sizes;

/// The item at a byte.
pub(super) fn read(vm: &mut Vm, object: Value, place: usize, format: Format) -> Outcome {
    let bytes = octets(vm, object).and_then(|bytes| bytes.get(place..place.saturating_add(format.size()))).unwrap_or_default();
    match (format.code, bytes) {
        (b'B', [byte]) => Ok(Value::Int(i64::from(*byte))),
        (code, bytes) => {
            let raw = bytes.to_vec();
            packed::value_of(vm, raw, code, true)
        }
    }
}

/// Lists in lists, one level a dimension.
pub(super) fn nested(vm: &mut Vm, view: &View, dimension: usize, at: i64) -> Outcome {
    let (Some(&length), Some(&stride)) = (view.shape.get(dimension), view.strides.get(dimension)) else {
        return read(vm, view.object, sizes::index(at).unwrap_or(usize::MAX / 2), view.format);
    };
    let mut items = Vec::with_capacity(length);
    let mut at = at;
    for _ in 0..length {
        items.push(nested(vm, view, dimension + 1, at)?);
        at = at.saturating_add(stride);
    }
    Ok(vm.heap.list(items))
}

fn not_implemented(vm: &mut Vm, message: &str) -> Throw {
    vm.raise(ty::NOT_IMPLEMENTED_ERROR, message)
}

fn out_of_bounds(vm: &mut Vm, dimension: usize) -> Throw {
    vm.raise(ty::INDEX_ERROR, &format!("index out of bounds on dimension {}", dimension + 1))
}

/// What a subscript says.
enum Key {
    /// The only item of a view without dimensions.
    Only,
    /// `...` for a view without dimensions.
    Itself,
    /// An item.
    Index(i64),
    /// Start, stop and step.
    Slice([Value; 3]),
    /// One index for each dimension.
    Indices(Vec<i64>),
    /// One slice for each dimension.
    Slices,
    /// An index that Python code has to tell.
    Unknown,
}

fn key_of(vm: &mut Vm, view: &View, key: Value) -> Outcome<Key> {
    let parts = vm.heap.is_instance(key, ty::TUPLE).then(|| vm.heap.tuple_items(key));
    let count = parts.as_ref().map_or(0, Vec::len);
    vm.spend(VIEW_INDEX.of(count))?;
    if view.shape.is_empty() {
        return match (key, parts) {
            (_, Some(parts)) if parts.is_empty() => Ok(Key::Only),
            (Value::Ellipsis, _) => Ok(Key::Itself),
            _ => Err(vm.type_error("invalid indexing of 0-dim memory")),
        };
    }
    if let Some(index) = vm.index_number(key)? {
        return Ok(Key::Index(index));
    }
    let is_slice = |vm: &Vm, key: Value| match key.object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Slice(parts)) => Some(**parts),
        _ => None,
    };
    if let Some(parts) = is_slice(vm, key) {
        let asks = parts.iter().any(|part| vm.python_method(*part, nm::INDEX).is_some());
        return Ok(if asks { Key::Unknown } else { Key::Slice(parts) });
    }
    if vm.python_method(key, nm::INDEX).is_some() {
        return Ok(Key::Unknown);
    }
    if let Some(parts) = parts {
        if !parts.is_empty() && parts.iter().all(|part| is_slice(vm, *part).is_some()) {
            return Ok(Key::Slices);
        }
        let mut indices = Vec::with_capacity(parts.len());
        for part in parts {
            indices.extend(vm.index_number(part)?);
        }
        if indices.len() == vm.heap.tuple_ref(key).len() {
            return Ok(Key::Indices(indices));
        }
    }
    Err(vm.type_error("memoryview: invalid slice key"))
}

/// The byte of the item at one index for each dimension.
fn place_of(vm: &mut Vm, view: &View, indices: &[i64]) -> Outcome<usize> {
    if indices.len() < view.shape.len() {
        return Err(not_implemented(vm, "sub-views are not implemented"));
    }
    if indices.len() > view.shape.len() {
        let message = format!("cannot index {}-dimension view with {}-element tuple", view.shape.len(), indices.len());
        return Err(vm.type_error(message));
    }
    let mut place = view.start;
    for (dimension, &index) in indices.iter().enumerate() {
        let Some(at) = absolute(index, view.shape[dimension]) else { return Err(out_of_bounds(vm, dimension)) };
        place = step(place, view.strides[dimension], at);
    }
    Ok(place)
}

/// The view of a slice of the first dimension.
fn sliced(vm: &mut Vm, view: &View, parts: &[Value; 3]) -> Outcome<View> {
    let (start, stride, count) = vm.slice_bounds(parts, view.shape[0])?;
    let mut part = view.clone();
    part.start = step(part.start, part.strides[0], sizes::saturating(start));
    part.shape[0] = count;
    part.strides[0] = part.strides[0].saturating_mul(stride);
    Ok(part)
}

/// `view[key]`
pub(crate) fn get_item(vm: &mut Vm, receiver: Ref, key: Value) -> Outcome {
    if let (Value::Int(index), Payload::MemoryView(view)) = (key, vm.heap.payload(receiver)) {
        if let Some(at) = view.shape.first().and_then(|&length| absolute(index, length)) {
            if let Some(item) = item(vm, receiver, at)? {
                return Ok(item);
            }
        }
    }
    let value = Value::Obj(receiver);
    let view = live(vm, value)?;
    match key_of(vm, &view, key)? {
        Key::Only => read(vm, view.object, view.start, view.format),
        Key::Itself => Ok(vm.heap.retain(value)),
        Key::Index(_) if view.shape.len() > 1 => Err(not_implemented(vm, "multi-dimensional sub-views are not implemented")),
        Key::Index(index) => {
            let place = place_of(vm, &view, &[index])?;
            read(vm, view.object, place, view.format)
        }
        Key::Indices(indices) => {
            let place = place_of(vm, &view, &indices)?;
            read(vm, view.object, place, view.format)
        }
        Key::Slice(parts) => {
            let part = sliced(vm, &view, &parts)?;
            Ok(views::make(vm, part))
        }
        Key::Slices => Err(not_implemented(vm, "multi-dimensional slicing is not implemented")),
        Key::Unknown => {
            let is_slice = vm.heap.is_instance(key, ty::SLICE);
            vm.call_helper(if is_slice { "getitem_slice" } else { "getitem_index" }, &[value, key])
        }
    }
}

/// The bytes of a value as an item.
fn packed(vm: &mut Vm, value: Value, format: Format) -> Outcome<Vec<u8>> {
    let (code, size) = (format.code, format.size());
    let wrong = |vm: &mut Vm, is_type: bool| {
        let what = if is_type { "type" } else { "value" };
        let message = format!("memoryview: invalid {what} for format '{}'", char::from(code));
        if is_type { vm.type_error(message) } else { vm.value_error(message) }
    };
    let bits = match code {
        b'c' => match value.object().map(|object| vm.heap.payload(object).core()) {
            Some(Payload::Bytes(bytes)) if bytes.len() == 1 => return Ok(bytes.clone()),
            Some(Payload::Bytes(_)) => return Err(wrong(vm, false)),
            _ => return Err(wrong(vm, true)),
        },
        b'?' if vm.heap.is_python_instance(value) => return Err(Throw::Fallback),
        b'?' => u64::from(vm.truth(value)?),
        b'f' | b'd' => {
            if vm.python_method(value, nm::FLOAT).is_some() || vm.python_method(value, nm::INDEX).is_some() {
                return Err(Throw::Fallback);
            }
            let Some(number) = vm.heap.number(value) else { return Err(wrong(vm, true)) };
            let number = vm.to_float(&number)?;
            // As in C, a number too large for the format is infinite.
            packed::narrowed(number, code).unwrap_or(if number.0 >> 63 == 1 { 0xff80_0000 } else { 0x7f80_0000 })
        }
        _ => match vm.heap.number(value) {
            Some(Number::Small(_) | Number::Big(_)) => match packed::bits_of(vm, value, code, size) {
                Some(bits) => bits,
                None => return Err(wrong(vm, false)),
            },
            _ if vm.python_method(value, nm::INDEX).is_some() => return Err(Throw::Fallback),
            _ => return Err(wrong(vm, true)),
        },
    };
    Ok(bits.to_le_bytes()[..size].to_vec())
}

/// Overwrites bytes of the bytearray behind a view.
fn write(vm: &mut Vm, object: Value, place: usize, raw: &[u8]) {
    let Value::Obj(object) = object else { return };
    if let Payload::ByteArray(bytes, _) = vm.heap.payload_mut(object).core_mut() {
        if let Some(target) = bytes.get_mut(place..place.saturating_add(raw.len())) {
            target.copy_from_slice(raw);
        }
    }
}

/// `view[key] = value`
pub(crate) fn set_item(vm: &mut Vm, receiver: Ref, key: Value, value: Value) -> Outcome<()> {
    let view = live(vm, Value::Obj(receiver))?;
    if view.is_readonly {
        return Err(vm.type_error("cannot modify read-only memory"));
    }
    let place = match key_of(vm, &view, key)? {
        Key::Only | Key::Itself => view.start,
        Key::Index(_) if view.shape.len() > 1 => return Err(not_implemented(vm, "sub-views are not implemented")),
        Key::Index(index) => place_of(vm, &view, &[index])?,
        Key::Indices(indices) => place_of(vm, &view, &indices)?,
        Key::Slice(parts) if view.shape.len() == 1 => {
            let part = sliced(vm, &view, &parts)?;
            return set_slice(vm, &part, value);
        }
        Key::Slice(_) | Key::Slices => {
            return Err(not_implemented(vm, "memoryview slice assignments are currently restricted to ndim = 1"));
        }
        Key::Unknown => return Err(Throw::Fallback),
    };
    let raw = packed(vm, value, view.format)?;
    write(vm, view.object, place, &raw);
    Ok(())
}

fn set_slice(vm: &mut Vm, target: &View, value: Value) -> Outcome<()> {
    let Some(source) = seen(vm, value)? else {
        let message = format!("a bytes-like object is required, not '{}'", vm.heap.class_name(value));
        return Err(vm.type_error(message));
    };
    if source.format.code != target.format.code || source.shape != target.shape {
        return Err(vm.value_error("memoryview assignment: lvalue and rvalue have different structures"));
    }
    vm.spend(BYTES_COPIED.of(target.bytes()))?;
    vm.reserve(target.bytes())?;
    let bytes = gathered(vm, &source, false);
    if target.is_contiguous(false) {
        write(vm, target.object, target.start, &bytes);
        return Ok(());
    }
    vm.spend(VIEW_ITEM.of(target.count()))?;
    for (place, raw) in places(target, false).zip(bytes.chunks(target.format.size())) {
        write(vm, target.object, place, raw);
    }
    Ok(())
}

/// Why nothing can be deleted from a view.
pub(crate) fn no_deletion(vm: &mut Vm, receiver: Ref) -> Throw {
    match live(vm, Value::Obj(receiver)) {
        Err(throw) => throw,
        Ok(view) if view.is_readonly => vm.type_error("cannot modify read-only memory"),
        Ok(_) => vm.type_error("cannot delete memory"),
    }
}

/// The item of a view of one dimension at a position; `None` past its end.
pub(crate) fn item(vm: &mut Vm, object: Ref, index: usize) -> Outcome<Option<Value>> {
    let Payload::MemoryView(view) = vm.heap.payload(object) else { return Ok(None) };
    let ([length], [stride]) = (view.shape.as_slice(), view.strides.as_slice()) else { return Ok(None) };
    if index >= *length || view.object.is_undefined() {
        return Ok(None);
    }
    let place = step(view.start, *stride, index);
    let (shown, format) = (view.object, view.format);
    read(vm, shown, place, format).map(Some)
}
