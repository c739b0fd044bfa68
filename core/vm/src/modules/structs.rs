//! The core of the module `struct`: values to and from bytes by a plan that `frozen/struct.py` has made of the format.
//!
//! A plan has ten bytes for each field: the code, the size of one, the count and the place, both little-endian. Whatever is not plain is
//! left to Python, which finds the words for what is wrong.

use crate::costs::{BYTES_COPIED, STRUCT_FIELD, STRUCT_VALUE};
use crate::error::Outcome;
use crate::objects::packed::{bits_of, value_of};
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::NativeKind::Function;
use crate::runtime::native::NativeRow;
use crate::types::ty;
use crate::value::{Truth, Value};
use cowboy_num::sizes;

/// Rows of the module `_struct`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(Function, "_struct.pack", "plan, little, size, values, /", 10, pack, ""),
    NativeRow(Function, "_struct.unpack", "plan, little, size, buffer, start, /", 10, unpack, ""),
];

#[derive(Clone, Copy)]
struct Field {
    code: u8,
    size: usize,
    count: usize,
    place: usize,
}

/// The fields of a plan; none when it reaches beyond `size`, since an actor may have put anything there.
fn plan(vm: &Vm, value: Value, size: usize) -> Option<Vec<Field>> {
    let Some(Payload::Bytes(bytes)) = value.object().map(|object| vm.heap.payload(object)) else { return None };
    let number = |bytes: &[u8]| sizes::saturating(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
    let fields: Vec<Field> = bytes
        .chunks_exact(10)
        .map(|row| Field { code: row[0], size: usize::from(row[1]), count: number(&row[2..6]), place: number(&row[6..10]) })
        .collect();
    let within = |field: &Field| field.size.saturating_mul(field.count).saturating_add(field.place) <= size;
    let sound = |field: &Field| match field.code {
        b'x' | b's' | b'p' | b'c' | b'?' | b'b' | b'B' => field.size == 1,
        b'e' | b'h' | b'H' => field.size == 2,
        b'f' | b'i' | b'I' => field.size == 4,
        b'd' | b'q' | b'Q' | b'n' | b'N' | b'P' => field.size == 8,
        b'l' | b'L' => matches!(field.size, 4 | 8),
        _ => false,
    };
    fields.iter().all(|field| within(field) && sound(field)).then_some(fields)
}

fn size(value: Value) -> usize {
    match value {
        Value::Int(size) => sizes::saturating(size),
        _ => 0,
    }
}

/// The values as bytes; `NotImplemented` when one of them is not plain or does not fit.
fn pack(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let little = matches!(arguments[1], Value::Bool(Truth::True));
    let size = size(arguments[2]);
    let Some(fields) = plan(vm, arguments[0], size) else { return Ok(Value::NotImplemented) };
    let values = vm.heap.tuple_items(arguments[3]);
    vm.spend(STRUCT_VALUE.of(values.len()) + STRUCT_FIELD.of(fields.len()) + BYTES_COPIED.of(size))?;
    vm.reserve(size)?;
    let mut out = vec![0; size];
    let mut rest = values.into_iter();
    for field in fields {
        match field.code {
            b'x' => {}
            b's' | b'p' => {
                let text = match rest.next().and_then(Value::object).map(|object| vm.heap.payload(object).core()) {
                    Some(Payload::Bytes(text) | Payload::ByteArray(text, _)) => text,
                    _ => return Ok(Value::NotImplemented),
                };
                if field.code == b's' {
                    let length = text.len().min(field.count);
                    out[field.place..field.place + length].copy_from_slice(&text[..length]);
                } else if field.count > 0 {
                    // As CPython: what the length byte cannot count is written too.
                    let length = text.len().min(field.count - 1);
                    out[field.place] = u8::try_from(length).unwrap_or(255);
                    out[field.place + 1..=field.place + length].copy_from_slice(&text[..length]);
                }
            }
            code => {
                for index in 0..field.count {
                    let Some(value) = rest.next() else { return Ok(Value::NotImplemented) };
                    let Some(bits) = bits_of(vm, value, code, field.size) else { return Ok(Value::NotImplemented) };
                    let place = field.place + index * field.size;
                    let bytes = bits.to_le_bytes();
                    let target = &mut out[place..place + field.size];
                    target.copy_from_slice(&bytes[..field.size]);
                    if !little {
                        target.reverse();
                    }
                }
            }
        }
    }
    if rest.next().is_some() {
        return Ok(Value::NotImplemented);
    }
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(out)))
}

/// The values in bytes from a place on, as a tuple. Python has checked that there are enough.
fn unpack(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let little = matches!(arguments[1], Value::Bool(Truth::True));
    let (size, start) = (size(arguments[2]), size(arguments[4]));
    let Some(fields) = plan(vm, arguments[0], size) else { return Ok(Value::NotImplemented) };
    let buffer = match arguments[3].object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) if start.saturating_add(size) <= bytes.len() => {
            bytes[start..start + size].to_vec()
        }
        _ => return Ok(Value::NotImplemented),
    };
    let count =
        fields.iter().map(|field| if matches!(field.code, b'x' | b's' | b'p') { 1 } else { field.count }).fold(0, usize::saturating_add);
    vm.spend(STRUCT_VALUE.of(count) + BYTES_COPIED.of(size))?;
    vm.reserve(size.saturating_add(count.saturating_mul(8)))?;
    let mut values = Vec::with_capacity(count);
    for field in fields {
        let bytes = |place: usize, length: usize| buffer[place..place + length].to_vec();
        match field.code {
            b'x' => {}
            b's' => values.push(vm.heap.make(ty::BYTES, Payload::Bytes(bytes(field.place, field.count)))),
            b'p' => {
                let length = if field.count == 0 { 0 } else { usize::from(buffer[field.place]).min(field.count - 1) };
                let text = if length == 0 { Vec::new() } else { bytes(field.place + 1, length) };
                values.push(vm.heap.make(ty::BYTES, Payload::Bytes(text)));
            }
            code => {
                for index in 0..field.count {
                    let raw = bytes(field.place + index * field.size, field.size);
                    values.push(value_of(vm, raw, code, little)?);
                }
            }
        }
    }
    Ok(vm.heap.tuple(values))
}
