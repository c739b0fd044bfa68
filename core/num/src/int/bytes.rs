//! `int.to_bytes` and `int.from_bytes`.

use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, Sign, UBig};

use super::{NumberError, bit_length};

/// `n.to_bytes(length, order, signed=signed)`.
pub fn to_bytes(value: &IBig, length: usize, big_endian: bool, signed: bool) -> Result<Vec<u8>, NumberError> {
    let negative = value.sign() == Sign::Negative;
    if negative && !signed {
        return Err(NumberError::overflow("can't convert negative int to unsigned"));
    }
    let bits = if signed {
        // In two's complement -2^n takes n + 1 bits, as 2^n - 1 does.
        bit_length(&if negative { value + IBig::ONE } else { value.clone() }) + 1
    } else {
        bit_length(value)
    };
    // Signed zero is let into no bytes at all.
    if bits > length.saturating_mul(8) && !(value.is_zero() && length == 0) {
        return Err(NumberError::overflow("int too big to convert"));
    }
    let mut bytes = if negative { vec![0xff; length] } else { vec![0; length] };
    let complement = if negative { (!value).unsigned_abs() } else { value.unsigned_abs() };
    for (place, byte) in bytes.iter_mut().zip(complement.to_le_bytes().iter()) {
        *place ^= *byte;
    }
    if big_endian {
        bytes.reverse();
    }
    Ok(bytes)
}

/// `int.from_bytes(bytes, order, signed=signed)`. The caller bounds the length by the cap.
pub fn from_bytes(bytes: &[u8], big_endian: bool, signed: bool) -> IBig {
    let magnitude = if big_endian { UBig::from_be_bytes(bytes) } else { UBig::from_le_bytes(bytes) };
    let top = if big_endian { bytes.first() } else { bytes.last() };
    if signed && top.is_some_and(|&byte| byte >= 0x80) {
        return IBig::from(magnitude) - (IBig::ONE << (bytes.len() * 8));
    }
    IBig::from(magnitude)
}
