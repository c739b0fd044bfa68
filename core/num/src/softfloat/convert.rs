//! To and from integers of any size, and comparison with them.

use std::cmp::Ordering;

use dashu_int::Sign;
use dashu_int::ops::{BitTest, DivRem};
use dashu_int::{IBig, UBig};

use super::arithmetic::{exponent_field, round_pack};
use super::{F64, FRACTION_MASK, HIDDEN_BIT, SIGN_BIT};

/// `significand * 2^exponent`, and a bit more if `inexact`, rounded once; overflow gives infinity.
pub(crate) fn round_scaled(sign: u64, significand: u128, exponent: i32, inexact: bool) -> F64 {
    if significand == 0 {
        return F64(sign);
    }
    // Bring the leading one to bit 126, then keep the high half and remember the low one.
    let shift = significand.leading_zeros() as i32 - 1;
    let (aligned, lost) = if shift >= 0 { (significand << shift, false) } else { (significand >> 1, significand & 1 == 1) };
    let jammed = (aligned >> 64) as u64 | ((aligned as u64 != 0 || lost || inexact) as u64);
    // aligned = jammed * 2^64, with the leading one at bit 62 worth 2^(exponent field + 1 - 1023).
    round_pack(sign, exponent.saturating_add(126 - shift + 0x3fe), jammed)
}

/// The binary64 number nearest to `numerator / denominator`, or `None` if that is too large to represent.
pub fn ratio_to_f64(numerator: &UBig, denominator: &UBig) -> Option<F64> {
    if numerator.is_zero() {
        return Some(F64::ZERO);
    }
    if let Ok(divisor) = u64::try_from(denominator) {
        return finite(ratio_by_word(numerator, divisor));
    }
    // Shift until the quotient has 65 or 66 bits, more than enough beside a bit for the remainder.
    let shift = denominator.bit_len() as i64 - numerator.bit_len() as i64 + 65;
    let distance = shift.unsigned_abs() as usize;
    let (quotient, remainder) =
        if shift >= 0 { (numerator << distance).div_rem(denominator) } else { numerator.div_rem(&(denominator << distance)) };
    let quotient = u128::try_from(&quotient).expect("the quotient was scaled to 66 bits");
    let exponent = i32::try_from(-shift).unwrap_or(if shift > 0 { i32::MIN / 2 } else { i32::MAX / 2 });
    finite(round_scaled(0, quotient, exponent, !remainder.is_zero()))
}

/// The same by a divisor of 64 bits that is not zero: the leading bits of the numerator are divided, and those below them only say that
/// something is left.
fn ratio_by_word(numerator: &UBig, divisor: u64) -> F64 {
    let divisor = u128::from(divisor);
    // The quotient has 56 or 57 bits, which are more than a float and its rounding take; what is divided has 120 at most.
    let shift = i64::from(u128::BITS - divisor.leading_zeros()) + 56 - numerator.bit_len() as i64;
    let distance = shift.unsigned_abs() as usize;
    let (leading, is_cut) = if shift >= 0 {
        (u128::try_from(numerator).expect("it has fewer bits than it is to have") << distance, false)
    } else {
        let is_cut = numerator.trailing_zeros().is_some_and(|zeros| zeros < distance);
        (u128::try_from(&(numerator >> distance)).expect("all but the leading bits are shifted out"), is_cut)
    };
    let exponent = i32::try_from(-shift).unwrap_or(i32::MAX / 2);
    round_scaled(0, leading / divisor, exponent, is_cut || leading % divisor != 0)
}

fn finite(value: F64) -> Option<F64> {
    value.is_finite().then_some(value)
}

/// Bit length and sign of an integer's value.
fn magnitude_of(value: &IBig) -> (u64, UBig) {
    let (sign, magnitude) = value.clone().into_parts();
    (if sign == Sign::Negative { SIGN_BIT } else { 0 }, magnitude)
}

impl F64 {
    /// The number nearest to an integer.
    #[inline]
    pub fn from_i64(value: i64) -> F64 {
        let sign = (value as u64) & SIGN_BIT;
        F64(F64::from_u64(value.unsigned_abs()).0 | sign)
    }

    /// The number nearest to an unsigned integer.
    #[inline]
    pub fn from_u64(value: u64) -> F64 {
        if value == 0 {
            return F64::ZERO;
        }
        let zeros = value.leading_zeros() as i32;
        if zeros == 0 {
            return round_pack(0, 0x43d, (value >> 1) | (value & 1));
        }
        round_pack(0, 0x43d - zeros, value << (zeros - 1))
    }

    /// The number nearest to an integer of any size, or `None` if it is too large (Python's OverflowError
    /// "int too large to convert to float").
    pub fn from_int(value: &IBig) -> Option<F64> {
        if let Ok(small) = i64::try_from(value) {
            return Some(F64::from_i64(small));
        }
        let (sign, magnitude) = magnitude_of(value);
        ratio_to_f64(&magnitude, &UBig::ONE).map(|rounded| F64(rounded.0 | sign))
    }

    /// Significand and exponent of a finite number: `|self| = significand * 2^exponent`, exactly.
    #[inline]
    pub(crate) const fn significand_and_exponent(self) -> (u64, i32) {
        let fraction = self.0 & FRACTION_MASK;
        match exponent_field(self.0) {
            0 => (fraction, -1074),
            exponent => (fraction | HIDDEN_BIT, exponent - 1075),
        }
    }

    /// The whole part as an `i64`, or `None` if it does not fit or this is not finite.
    #[inline]
    pub fn to_i64(self) -> Option<i64> {
        let exponent = exponent_field(self.0) - 0x3ff;
        if exponent < 0 {
            return Some(0);
        }
        if exponent >= 63 {
            return (self.0 == 0xc3e0_0000_0000_0000).then_some(i64::MIN);
        }
        let significand = self.0 & FRACTION_MASK | HIDDEN_BIT;
        let magnitude = if exponent <= 52 { significand >> (52 - exponent) } else { significand << (exponent - 52) };
        let magnitude = magnitude as i64;
        Some(if self.is_negative() { -magnitude } else { magnitude })
    }

    /// The whole part as an integer (Python `int(x)`), or `None` of an infinity or NaN.
    pub fn to_int(self) -> Option<IBig> {
        if let Some(small) = self.to_i64() {
            return Some(IBig::from(small));
        }
        if !self.is_finite() {
            return None;
        }
        // It did not fit in 63 bits, so the exponent is positive.
        let (significand, exponent) = self.significand_and_exponent();
        let magnitude = UBig::from(significand) << exponent.unsigned_abs() as usize;
        Some(IBig::from_parts(self.sign(), magnitude))
    }

    pub(crate) fn sign(self) -> Sign {
        if self.is_negative() { Sign::Negative } else { Sign::Positive }
    }

    /// Whether this is finite and whole.
    pub fn is_integer(self) -> bool {
        self.is_finite() && self.trunc() == self
    }

    /// The fraction in lowest terms that equals this number, denominator positive; `None` of an infinity or NaN.
    pub fn as_integer_ratio(self) -> Option<(IBig, UBig)> {
        if !self.is_finite() {
            return None;
        }
        let (significand, exponent) = self.significand_and_exponent();
        if significand == 0 {
            return Some((IBig::ZERO, UBig::ONE));
        }
        let twos = significand.trailing_zeros() as i32;
        let (odd, exponent) = (UBig::from(significand >> twos), exponent + twos);
        let distance = exponent.unsigned_abs() as usize;
        let (numerator, denominator) = if exponent >= 0 { (odd << distance, UBig::ONE) } else { (odd, UBig::ONE << distance) };
        Some((IBig::from_parts(self.sign(), numerator), denominator))
    }

    /// How this compares with an integer, exactly; `None` for a NaN.
    #[inline]
    pub fn compare_i64(self, other: i64) -> Option<Ordering> {
        if self.is_nan() {
            return None;
        }
        // Up to 2^53 the integer is itself a binary64 number.
        if other.unsigned_abs() <= 1 << 53 {
            return self.compare(F64::from_i64(other));
        }
        match self.to_i64() {
            Some(whole) => Some(whole.cmp(&other).then_with(|| self.fraction_sign())),
            None => Some(if self.is_negative() { Ordering::Less } else { Ordering::Greater }),
        }
    }

    /// How this compares with an integer of any size, exactly; `None` for a NaN.
    pub fn compare_int(self, other: &IBig) -> Option<Ordering> {
        if let Ok(small) = i64::try_from(other) {
            return self.compare_i64(small);
        }
        if self.is_nan() {
            return None;
        }
        match self.to_int() {
            Some(whole) => Some(whole.cmp(other).then_with(|| self.fraction_sign())),
            None => Some(if self.is_negative() { Ordering::Less } else { Ordering::Greater }),
        }
    }

    /// How this compares with its own whole part.
    fn fraction_sign(self) -> Ordering {
        if self.trunc() == self {
            Ordering::Equal
        } else if self.is_negative() {
            Ordering::Less
        } else {
            Ordering::Greater
        }
    }
}
