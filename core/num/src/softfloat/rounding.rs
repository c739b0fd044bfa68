//! Rounding to whole numbers and to decimal places.

use dashu_int::UBig;

use super::arithmetic::exponent_field;
use super::convert::ratio_to_f64;
use super::{F64, FRACTION_BITS, FRACTION_MASK, SIGN_BIT};
use crate::half_even::divide_half_even;

/// Beyond this many decimal places every binary64 number is its own rounding.
const MAX_PLACES: i64 = 323;
/// At this many places left of the point every binary64 number rounds to zero.
const FEWEST_PLACES: i64 = -308;

impl F64 {
    /// Rounds toward zero.
    pub fn trunc(self) -> F64 {
        let exponent = exponent_field(self.0) - 0x3ff;
        if exponent < 0 {
            F64(self.0 & SIGN_BIT)
        } else if exponent >= FRACTION_BITS as i32 {
            self
        } else {
            F64(self.0 & !(FRACTION_MASK >> exponent))
        }
    }

    /// Rounds toward negative infinity.
    pub fn floor(self) -> F64 {
        let whole = self.trunc();
        if whole == self || self.is_nan() || !self.is_negative() { whole } else { whole - F64::ONE }
    }

    /// Rounds toward positive infinity.
    pub fn ceil(self) -> F64 {
        let whole = self.trunc();
        if whole == self || self.is_nan() || self.is_negative() { whole } else { whole + F64::ONE }
    }

    /// Rounds to the nearest whole number, a tie to the even one (Python `round(x)`).
    pub fn round_half_even(self) -> F64 {
        let exponent = exponent_field(self.0) - 0x3ff;
        if exponent >= FRACTION_BITS as i32 {
            return self;
        }
        let magnitude = self.abs();
        let whole = magnitude.trunc();
        let fraction = magnitude - whole;
        let odd = (whole * F64::HALF).trunc() * F64::TWO != whole;
        let up = fraction > F64::HALF || (fraction == F64::HALF && odd);
        (if up { whole + F64::ONE } else { whole }).copysign(self)
    }

    /// Rounds to `places` decimal places, a tie to the even digit (Python `round(x, places)`), by exact decimal
    /// conversion; `None` if the result is too large to represent.
    pub fn round_to_places(self, places: i64) -> Option<F64> {
        if !self.is_finite() || self.is_zero() || places > MAX_PLACES {
            return Some(self);
        }
        if places < FEWEST_PLACES {
            return Some(F64(self.0 & SIGN_BIT));
        }
        let (significand, exponent) = self.significand_and_exponent();
        let power = UBig::from(10u8).pow(places.unsigned_abs() as usize);
        let mut numerator = UBig::from(significand);
        let mut denominator = UBig::ONE;
        if exponent >= 0 {
            numerator <<= exponent.unsigned_abs() as usize;
        } else {
            denominator <<= exponent.unsigned_abs() as usize;
        }
        if places >= 0 {
            numerator *= &power;
        } else {
            denominator *= &power;
        }
        let rounded = divide_half_even(numerator, &denominator);
        let magnitude = if places >= 0 { ratio_to_f64(&rounded, &power) } else { ratio_to_f64(&(rounded * power), &UBig::ONE) };
        magnitude.map(|magnitude| magnitude.copysign(self))
    }
}
