//! Values as bytes of a native format of one character, as `struct` and `memoryview` have them.

use crate::error::Outcome;
use crate::heap::numbers::Number;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::types::ty;
use crate::value::Value;
use cowboy_num::F64;

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
        b'e' | b'f' | b'd' => match vm.heap.number(value)? {
            Number::Float(number) => narrowed(number, code),
            Number::Small(number) => narrowed(F64::from_i64(number), code),
            Number::Big(_) => None,
        },
        _ => {
            let bits = u32::try_from(size * 8).ok()?;
            let signed = matches!(code, b'b' | b'h' | b'i' | b'l' | b'q' | b'n');
            let number = match vm.heap.number(value)? {
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

/// The value that bytes stand for.
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
            Err(_) => vm.int_value(cowboy_num::int::from_bytes(&bytes, false, false))?,
        },
    })
}
