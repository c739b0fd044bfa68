//! Binary64 numbers computed with integers only, so that every machine gets the same bits (003 Overview).
//!
//! The algorithms are those of Berkeley SoftFloat 3 told anew: unpack, work on a significand with spare low
//! bits that remember what fell off, round once to nearest even, pack. Every NaN is the one canonical NaN.
//!
//! Bit-twiddling is the subject here, so plain shifts, masks and `as` between same-sized or wider integers
//! are allowed in this folder; each is exact by the ranges stated beside it.

mod arithmetic;
mod convert;
mod division;
mod parts;
mod rounding;

pub use convert::ratio_to_f64;
pub(crate) use convert::round_scaled;

use std::cmp::Ordering;

pub(crate) const SIGN_BIT: u64 = 1 << 63;
pub(crate) const FRACTION_BITS: u32 = 52;
pub(crate) const FRACTION_MASK: u64 = (1 << FRACTION_BITS) - 1;
pub(crate) const HIDDEN_BIT: u64 = 1 << FRACTION_BITS;
pub(crate) const EXPONENT_MASK: u64 = 0x7ff << FRACTION_BITS;

/// A binary64 number as its bit pattern.
///
/// `==` and `<` compare as numbers: `-0.0 == 0.0`, and a NaN differs from everything. Operators round to
/// nearest even. `%` is the remainder of the truncated quotient (C `fmod`); Python's is [`F64::py_mod`].
#[derive(Clone, Copy, Default)]
pub struct F64(pub u64);

impl F64 {
    /// Positive zero.
    pub const ZERO: F64 = F64(0);
    /// Negative zero.
    pub const NEG_ZERO: F64 = F64(SIGN_BIT);
    /// One half.
    pub const HALF: F64 = F64(0x3fe0_0000_0000_0000);
    /// One.
    pub const ONE: F64 = F64(0x3ff0_0000_0000_0000);
    /// Minus one.
    pub const NEG_ONE: F64 = F64(0xbff0_0000_0000_0000);
    /// Two.
    pub const TWO: F64 = F64(0x4000_0000_0000_0000);
    /// Positive infinity.
    pub const INFINITY: F64 = F64(EXPONENT_MASK);
    /// Negative infinity.
    pub const NEG_INFINITY: F64 = F64(EXPONENT_MASK | SIGN_BIT);
    /// The only NaN there is.
    pub const NAN: F64 = F64(0x7ff8_0000_0000_0000);
    /// The largest finite number.
    pub const MAX: F64 = F64(0x7fef_ffff_ffff_ffff);
    /// The smallest positive normal number.
    pub const MIN_POSITIVE: F64 = F64(0x0010_0000_0000_0000);
    /// The distance from one to the next larger number.
    pub const EPSILON: F64 = F64(0x3cb0_0000_0000_0000);

    /// The number with these bits, any NaN made canonical: for bits that come from outside.
    pub const fn from_bits(bits: u64) -> F64 {
        if bits & !SIGN_BIT > EXPONENT_MASK { F64::NAN } else { F64(bits) }
    }

    /// The bit pattern.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// Whether this is the NaN.
    pub const fn is_nan(self) -> bool {
        self.0 & !SIGN_BIT > EXPONENT_MASK
    }

    /// Whether this is an infinity.
    pub const fn is_infinite(self) -> bool {
        self.0 & !SIGN_BIT == EXPONENT_MASK
    }

    /// Whether this is neither an infinity nor a NaN.
    pub const fn is_finite(self) -> bool {
        self.0 & EXPONENT_MASK != EXPONENT_MASK
    }

    /// Whether this is neither zero nor subnormal, infinite or a NaN.
    pub const fn is_normal(self) -> bool {
        let exponent = self.0 & EXPONENT_MASK;
        exponent != 0 && exponent != EXPONENT_MASK
    }

    /// Whether this is a zero of either sign.
    pub const fn is_zero(self) -> bool {
        self.0 & !SIGN_BIT == 0
    }

    /// Whether the sign bit is set; true of `-0.0`.
    pub const fn is_negative(self) -> bool {
        self.0 & SIGN_BIT != 0
    }

    /// The magnitude.
    pub const fn abs(self) -> F64 {
        F64(self.0 & !SIGN_BIT)
    }

    /// This magnitude with the sign of `sign`.
    pub const fn copysign(self, sign: F64) -> F64 {
        if self.is_nan() { F64::NAN } else { F64(self.0 & !SIGN_BIT | sign.0 & SIGN_BIT) }
    }

    /// How two numbers compare, or `None` if either is a NaN.
    pub fn compare(self, other: F64) -> Option<Ordering> {
        if self.is_nan() || other.is_nan() {
            return None;
        }
        Some(self.order_key().cmp(&other.order_key()))
    }

    /// A signed integer that orders as the number does; both zeros map to 0.
    const fn order_key(self) -> i64 {
        let magnitude = (self.0 & !SIGN_BIT) as i64;
        if self.is_negative() { -magnitude } else { magnitude }
    }

    /// The next number in the direction of `toward`.
    pub fn next_after(self, toward: F64) -> F64 {
        match self.compare(toward) {
            None => F64::NAN,
            Some(Ordering::Equal) => toward,
            Some(_) if self.is_zero() => F64(1).copysign(toward),
            Some(Ordering::Less) if !self.is_negative() => F64(self.0 + 1),
            Some(Ordering::Greater) if self.is_negative() => F64(self.0 + 1),
            Some(_) => F64(self.0 - 1),
        }
    }

    /// The value of the last place: the distance to the next number away from zero (Python `math.ulp`).
    pub fn ulp(self) -> F64 {
        let magnitude = self.abs();
        if !magnitude.is_finite() {
            return magnitude;
        }
        if magnitude.0 == F64::MAX.0 {
            return magnitude - F64(magnitude.0 - 1);
        }
        F64(magnitude.0 + 1) - magnitude
    }
}

impl PartialEq for F64 {
    #[inline]
    fn eq(&self, other: &F64) -> bool {
        !self.is_nan() && !other.is_nan() && (self.0 == other.0 || (self.0 | other.0) & !SIGN_BIT == 0)
    }
}

impl PartialOrd for F64 {
    #[inline]
    fn partial_cmp(&self, other: &F64) -> Option<Ordering> {
        self.compare(*other)
    }

    #[inline]
    fn lt(&self, other: &F64) -> bool {
        !self.is_nan() && !other.is_nan() && self.order_key() < other.order_key()
    }

    #[inline]
    fn le(&self, other: &F64) -> bool {
        !self.is_nan() && !other.is_nan() && self.order_key() <= other.order_key()
    }

    #[inline]
    fn gt(&self, other: &F64) -> bool {
        other < self
    }

    #[inline]
    fn ge(&self, other: &F64) -> bool {
        other <= self
    }
}

impl std::ops::Neg for F64 {
    type Output = F64;

    #[inline]
    fn neg(self) -> F64 {
        if self.is_nan() { self } else { F64(self.0 ^ SIGN_BIT) }
    }
}
