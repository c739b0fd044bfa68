//! Python's integers over `dashu_int`: what its operators, `int` methods and `math` do beyond plain arithmetic.
//!
//! Sums, products, comparison and the bitwise operators are `IBig`'s own: it too acts as an endless two's
//! complement. Integers are capped at [`MAX_BITS`]; what can grow past it returns [`NumberError::TOO_LARGE`]
//! before doing the work.

mod bytes;
mod combinatorics;
mod format;
mod power;
mod small;
mod text;

pub use bytes::{from_bytes, to_bytes};
pub use combinatorics::{comb, factorial, perm};
pub use format::{format_int, percent_int};
pub use power::{pow, pow_mod};
pub use small::{PlainSpec, decimal, push_decimal};
pub use text::{ParseIntError, parse_int, to_base};

use std::borrow::Cow;

use dashu_int::ops::{Abs, DivRem, Gcd, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig, Word};

use crate::half_even::divide_half_even;
use crate::sizes;
use crate::softfloat::{F64, ratio_to_f64};

/// `value & mask` for a mask that is not negative.
#[allow(clippy::useless_conversion, reason = "a word is 32 bits in a browser")]
pub fn low_bits(value: &IBig, mask: i64) -> i64 {
    let (sign, words) = value.as_sign_words();
    let low = words.iter().take(64 / Word::BITS as usize).rev().fold(0_u64, |low, &word| {
        // A word of 64 bits is the only one, and leaves nothing to shift.
        low.checked_shl(Word::BITS).unwrap_or(0) | u64::from(word)
    });
    let low = if sign == Sign::Negative { low.wrapping_neg() } else { low };
    low.cast_signed() & mask
}

/// The most bits an integer's magnitude may have.
pub const MAX_BITS: usize = 4096;

/// An exception that a number operation raises, with its message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// ZeroDivisionError.
    ZeroDivision(&'static str),
    /// ValueError.
    Value(Cow<'static, str>),
    /// OverflowError.
    Overflow(Cow<'static, str>),
}

impl NumberError {
    /// An integer would pass the cap.
    pub const TOO_LARGE: NumberError = NumberError::overflow("integer has more than 4096 bits");

    pub(crate) const fn value(message: &'static str) -> NumberError {
        NumberError::Value(Cow::Borrowed(message))
    }

    pub(crate) const fn overflow(message: &'static str) -> NumberError {
        NumberError::Overflow(Cow::Borrowed(message))
    }
}

/// The integer itself if it is within the cap.
pub fn capped(value: IBig) -> Result<IBig, NumberError> {
    if bit_length(&value) <= MAX_BITS { Ok(value) } else { Err(NumberError::TOO_LARGE) }
}

/// `n.bit_length()`: bits of the magnitude.
#[inline(always)]
pub fn bit_length(value: &IBig) -> usize {
    let (_, words) = value.as_sign_words();
    let Some(top) = words.last() else { return 0 };
    words.len() * Word::BITS as usize - top.leading_zeros() as usize
}

/// Words of 64 bits that a number is charged for: those of its magnitude, and one more where the last is full.
#[inline]
pub fn limbs(value: &IBig) -> usize {
    bit_length(value) / 64 + 1
}

/// `n.bit_count()`: ones in the magnitude.
pub fn bit_count(value: &IBig) -> usize {
    value.unsigned_abs().count_ones()
}

/// `divmod(a, b)`: the quotient rounded down, and a remainder with the sign of `b`.
pub fn divmod(a: &IBig, b: &IBig) -> Result<(IBig, IBig), NumberError> {
    if b.is_zero() {
        return Err(NumberError::ZeroDivision("integer division or modulo by zero"));
    }
    let (quotient, remainder) = a.div_rem(b);
    if !remainder.is_zero() && remainder.sign() != b.sign() {
        return Ok((quotient - IBig::ONE, remainder + b));
    }
    Ok((quotient, remainder))
}

/// `a // b`.
pub fn floor_div(a: &IBig, b: &IBig) -> Result<IBig, NumberError> {
    if a.sign() == Sign::Positive && b.sign() == Sign::Positive && !b.is_zero() {
        return Ok(a / b);
    }
    divmod(a, b).map(|(quotient, _)| quotient)
}

/// `a % b`.
#[inline(always)]
pub fn floor_mod(a: &IBig, b: &IBig) -> Result<IBig, NumberError> {
    if b.is_zero() {
        return Err(NumberError::ZeroDivision("integer modulo by zero"));
    }
    let remainder = a % b;
    Ok(if !remainder.is_zero() && remainder.sign() != b.sign() { remainder + b } else { remainder })
}

/// `a % b` for a divisor that is not zero, in the buffer of `a`.
#[inline(always)]
pub fn floor_mod_in_place(a: IBig, b: &IBig) -> IBig {
    let remainder = a % b;
    if !remainder.is_zero() && remainder.sign() != b.sign() { remainder + b } else { remainder }
}

/// `a / b`, the float nearest to the quotient.
pub fn true_divide(a: &IBig, b: &IBig) -> Result<F64, NumberError> {
    if b.is_zero() {
        return Err(NumberError::ZeroDivision("division by zero"));
    }
    let magnitude =
        ratio_to_f64(&a.unsigned_abs(), &b.unsigned_abs()).ok_or(NumberError::overflow("integer division result too large for a float"))?;
    // A zero dividend gives a zero of either sign as in CPython: 0 / -5 is -0.0.
    let negative = (a.sign() == Sign::Negative) != (b.sign() == Sign::Negative);
    Ok(if negative { -magnitude } else { magnitude })
}

/// `a << distance`.
pub fn shift_left(value: &IBig, distance: &IBig) -> Result<IBig, NumberError> {
    if distance.sign() == Sign::Negative {
        return Err(NumberError::value("negative shift count"));
    }
    if value.is_zero() {
        return Ok(IBig::ZERO);
    }
    match sizes::index(distance) {
        Some(distance) if distance <= MAX_BITS => capped(value << distance),
        _ => Err(NumberError::TOO_LARGE),
    }
}

/// By how many bits a shift to the left makes a number larger, at most [`MAX_BITS`].
pub fn shifted_bits(distance: &IBig) -> usize {
    let bits = if distance.sign() == Sign::Negative { Some(0) } else { sizes::index(distance) };
    bits.map_or(MAX_BITS, |bits| bits.min(MAX_BITS))
}

/// `a >> distance`, rounding down.
#[inline(always)]
pub fn shift_right(value: &IBig, distance: &IBig) -> Result<IBig, NumberError> {
    if distance.sign() == Sign::Negative {
        return Err(NumberError::value("negative shift count"));
    }
    Ok(match sizes::index(distance) {
        Some(distance) => value >> distance,
        None if value.sign() == Sign::Negative => IBig::NEG_ONE,
        None => IBig::ZERO,
    })
}

/// `math.isqrt(n)`: the root rounded down.
pub fn isqrt(value: &IBig) -> Result<IBig, NumberError> {
    if value.sign() == Sign::Negative {
        return Err(NumberError::value("isqrt() argument must be nonnegative"));
    }
    Ok(IBig::from(value.unsigned_abs().sqrt()))
}

/// `math.gcd(a, b)`, never negative.
pub fn gcd(a: &IBig, b: &IBig) -> IBig {
    match (a.is_zero(), b.is_zero()) {
        (true, _) => b.clone().abs(),
        (_, true) => a.clone().abs(),
        _ => IBig::from(a.gcd(b)),
    }
}

/// `math.lcm(a, b)`, never negative.
pub fn lcm(a: &IBig, b: &IBig) -> Result<IBig, NumberError> {
    if a.is_zero() || b.is_zero() {
        return Ok(IBig::ZERO);
    }
    capped((a / gcd(a, b) * b).abs())
}

/// `round(n, places)`: to a power of ten if `places` is negative, a tie to the even multiple.
pub fn round_to_places(value: &IBig, places: &IBig) -> Result<IBig, NumberError> {
    if places.sign() == Sign::Positive {
        return Ok(value.clone());
    }
    // Three bits a digit at least: a number of fewer than half the power rounds to zero, and the power need not be known.
    let digits = match sizes::index(places.unsigned_abs()) {
        Some(digits) if digits.saturating_mul(3) <= bit_length(value) + 1 => digits,
        _ => return Ok(IBig::ZERO),
    };
    let power = UBig::from(10u8).pow(digits);
    let (sign, magnitude) = value.clone().into_parts();
    capped(IBig::from_parts(sign, divide_half_even(magnitude, &power) * power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_bits_are_those_of_the_twos_complement() {
        for bits in [1_usize, 62, 63, 64, 65, 127, 128, 200, 1_000] {
            for offset in [-12_345_i64, -1, 0, 1, 12_345] {
                let value = (IBig::ONE << bits) + IBig::from(offset);
                for mask in [0, 1, 1_023, 0x5555_5555_5555_5555, i64::MAX] {
                    for value in [&value, &-&value] {
                        assert_eq!(IBig::from(low_bits(value, mask)), value & IBig::from(mask), "{value} & {mask}");
                    }
                }
            }
        }
    }
}
