//! The core of the module `struct`: values to and from bytes by a plan that `frozen/struct.py` has made of the format.
//!
//! A plan has ten bytes for each field: the code, the size of one, the count and the place, both little-endian. Whatever is not plain is
//! left to Python, which finds the words for what is wrong.

use crate::costs::{BYTES_COPIED, STRUCT_FIELD, STRUCT_VALUE};
use crate::error::Outcome;
use crate::interp::Vm;
use crate::interp::operators::Number;
use crate::native::{NativeKind::Function, NativeRow};
use crate::objects::payload::Payload;
use crate::types::ty;
use crate::value::{Truth, Value};
use cowboy_num::sizes;
use cowboy_num::{F64, int};

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

/// Bits of the fraction and the largest exponent of a float's format.
fn format(code: u8) -> (u32, i64) {
    match code {
        b'e' => (10, 15),
        b'f' => (23, 127),
        _ => (52, 1023),
    }
}

/// The bits of a float in a smaller format, rounded half to even; `None` when it is too large.
pub(crate) fn narrowed(value: F64, code: u8) -> Option<u64> {
    let (fraction_bits, bias) = format(code);
    if code == b'd' {
        return Some(value.0);
    }
    let exponent_bits = if code == b'e' { 5 } else { 8 };
    let sign = (value.0 >> 63) << (fraction_bits + exponent_bits);
    let infinity = u64::try_from(2 * bias + 1).ok()? << fraction_bits;
    let fraction = value.0 & ((1 << 52) - 1);
    let exponent = i64::try_from(value.0 >> 52 & 0x7ff).ok()?;
    if exponent == 0x7ff {
        return Some(sign | infinity | if fraction == 0 { 0 } else { 1 << (fraction_bits - 1) });
    }
    if exponent == 0 {
        // Subnormal: far below the smallest number of the format.
        return Some(sign);
    }
    let number = fraction | 1 << 52;
    let unbiased = exponent - 1023;
    let unit = unbiased.max(1 - bias);
    let shift = u32::try_from(52 - i64::from(fraction_bits) + unit - unbiased).ok()?;
    if shift > 60 {
        return Some(sign);
    }
    let (mut kept, rest, half) = (number >> shift, number & ((1 << shift) - 1), 1 << (shift - 1));
    if rest > half || (rest == half && kept & 1 == 1) {
        kept += 1;
    }
    // A carry out of the fraction moves into the exponent by itself.
    let bits = if unbiased < 1 - bias { kept } else { (u64::try_from(unit + bias - 1).ok()? << fraction_bits) + kept };
    (bits < infinity).then_some(sign | bits)
}

/// The float that bits of a smaller format stand for.
fn widened(bits: u64, code: u8) -> F64 {
    let (fraction_bits, bias) = format(code);
    if code == b'd' {
        return if F64(bits).is_nan() { F64::NAN } else { F64(bits) };
    }
    let exponent_bits = if code == b'e' { 5 } else { 8 };
    let sign = (bits >> (fraction_bits + exponent_bits)) << 63;
    let exponent = bits >> fraction_bits & ((1 << exponent_bits) - 1);
    let fraction = bits & ((1 << fraction_bits) - 1);
    if exponent == (1 << exponent_bits) - 1 {
        return if fraction == 0 { F64(sign | 0x7ff << 52) } else { F64::NAN };
    }
    let bias = bias.unsigned_abs();
    if exponent == 0 {
        if fraction == 0 {
            return F64(sign);
        }
        let shift = fraction.leading_zeros() - (63 - fraction_bits);
        let normal = (fraction << shift) & ((1 << fraction_bits) - 1);
        return F64(sign | (1024 - bias - u64::from(shift)) << 52 | normal << (52 - fraction_bits));
    }
    F64(sign | (exponent + 1023 - bias) << 52 | fraction << (52 - fraction_bits))
}

/// The values as bytes; `NotImplemented` when one of them is not plain or does not fit.
fn pack(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let little = matches!(arguments[1], Value::Bool(Truth::True));
    let size = size(arguments[2]);
    let Some(fields) = plan(vm, arguments[0], size) else { return Ok(Value::NotImplemented) };
    let values = vm.tuple_items(arguments[3]);
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

/// The bits of a plain value that fits its field.
pub(crate) fn bits_of(vm: &Vm, value: Value, code: u8, size: usize) -> Option<u64> {
    match code {
        b'?' => match value {
            Value::Bool(truth) => Some(u64::from(truth)),
            Value::Int(number) => Some(u64::from(number != 0)),
            _ => None,
        },
        b'c' => match vm.heap.payload(value.object()?).core() {
            Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) if bytes.len() == 1 => Some(u64::from(bytes[0])),
            _ => None,
        },
        b'e' | b'f' | b'd' => match vm.number(value)? {
            Number::Float(number) => narrowed(number, code),
            Number::Small(number) => narrowed(F64::from_i64(number), code),
            Number::Big(_) => None,
        },
        _ => {
            let bits = u32::try_from(size * 8).ok()?;
            let signed = matches!(code, b'b' | b'h' | b'i' | b'l' | b'q' | b'n');
            let number = match vm.number(value)? {
                Number::Small(number) => i128::from(number),
                Number::Big(number) => i128::try_from(&number).ok()?,
                Number::Float(_) => return None,
            };
            let (low, high) = if signed { (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1) } else { (0, (1_i128 << bits) - 1) };
            let fits = (low..=high).contains(&number);
            fits.then(|| u64::from_le_bytes(number.to_le_bytes()[..8].try_into().unwrap_or_default()))
        }
    }
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
    Ok(vm.tuple(values))
}

pub(crate) fn value_of(vm: &mut Vm, mut raw: Vec<u8>, code: u8, little: bool) -> Outcome {
    if code == b'c' {
        return Ok(vm.heap.make(ty::BYTES, Payload::Bytes(raw)));
    }
    if !little {
        raw.reverse();
    }
    let negative = raw.last().is_some_and(|byte| byte & 0x80 != 0);
    let mut bytes = [0; 8];
    bytes[..raw.len()].copy_from_slice(&raw);
    let bits = u64::from_le_bytes(bytes);
    Ok(match code {
        b'?' => Value::truth(bits != 0),
        b'e' | b'f' | b'd' => Value::Float(widened(bits, code)),
        b'b' | b'h' | b'i' | b'l' | b'q' | b'n' => {
            if negative {
                bytes[raw.len()..].fill(0xff);
            }
            Value::Int(i64::from_le_bytes(bytes))
        }
        _ => match i64::try_from(bits) {
            Ok(number) => Value::Int(number),
            Err(_) => vm.int_value(int::from_bytes(&bytes, false, false))?,
        },
    })
}
