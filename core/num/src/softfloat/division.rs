//! Quotient, square root and the remainders, C's and Python's.

use super::arithmetic::{exponent_field, round_pack};
use super::{EXPONENT_MASK, F64, FRACTION_MASK, HIDDEN_BIT, SIGN_BIT};

/// The quotient where an operand is zero, subnormal, infinite or a NaN.
#[cold]
fn divide_special(a: F64, b: F64, sign: u64) -> F64 {
    if a.is_nan() || b.is_nan() || (a.is_infinite() && b.is_infinite()) || (a.is_zero() && b.is_zero()) {
        return F64::NAN;
    }
    if a.is_infinite() || b.is_zero() {
        return F64(sign | EXPONENT_MASK);
    }
    if b.is_infinite() || a.is_zero() {
        return F64(sign);
    }
    let (exponent_a, significand_a) = a.normal_parts();
    let (exponent_b, significand_b) = b.normal_parts();
    divide_normal(sign, exponent_a - exponent_b, significand_a, significand_b)
}

/// Divides two significands with hidden bits; `exponents` is the difference of the exponent fields.
///
/// One 64-bit division makes a reciprocal of the divisor's high half, low by a few units; two multiplications
/// by it give the quotient's two halves. Only where the estimate lies near a rounding boundary is the
/// remainder computed.
#[inline]
fn divide_normal(sign: u64, exponents: i32, a: u64, b: u64) -> F64 {
    let (exponent, a) = if a < b { (exponents + 0x3fd, a << 11) } else { (exponents + 0x3fe, a << 10) };
    let b = b << 11;
    let (b_high, b_low) = (b >> 32, (b & 0xffff_ffff) >> 4);
    let reciprocal = 0x7fff_ffff_ffff_ffff / b_high - 2;
    let high = ((a >> 32) * reciprocal) >> 32;
    let remainder = after_subtracting(a, 2 * high, b_high, b_low);
    let low = (((remainder >> 32) * reciprocal) >> 32) + 4;
    let mut quotient = (high << 32) + (low << 4);
    if quotient & 0x1ff < 4 << 4 {
        quotient &= !0x7f;
        let remainder = after_subtracting(remainder, 2 * (low & !7), b_high, b_low);
        if remainder & SIGN_BIT != 0 {
            quotient -= 1 << 7;
        } else {
            quotient |= (remainder != 0) as u64;
        }
    }
    round_pack(sign, exponent, quotient)
}

/// What is left of `value`, scaled by 2^28, after `digit` times the divisor; two's complement.
#[inline]
const fn after_subtracting(value: u64, digit: u64, b_high: u64, b_low: u64) -> u64 {
    (value.wrapping_sub(digit.wrapping_mul(b_high)) << 28).wrapping_sub(digit.wrapping_mul(b_low))
}

impl std::ops::Div for F64 {
    type Output = F64;

    #[inline]
    fn div(self, other: F64) -> F64 {
        let sign = (self.0 ^ other.0) & SIGN_BIT;
        let (exponent_a, exponent_b) = (exponent_field(self.0), exponent_field(other.0));
        if !(1..0x7ff).contains(&exponent_a) || !(1..0x7ff).contains(&exponent_b) {
            return divide_special(self, other, sign);
        }
        let a = self.0 & FRACTION_MASK | HIDDEN_BIT;
        let b = other.0 & FRACTION_MASK | HIDDEN_BIT;
        divide_normal(sign, exponent_a - exponent_b, a, b)
    }
}

impl std::ops::Rem for F64 {
    type Output = F64;

    /// C's `fmod`: exact, with the sign of the dividend.
    fn rem(self, other: F64) -> F64 {
        if self.is_nan() || other.is_nan() || self.is_infinite() || other.is_zero() {
            return F64::NAN;
        }
        if other.is_infinite() || self.is_zero() || self.abs() < other.abs() {
            return self;
        }
        let (exponent_a, a) = self.normal_parts();
        let (exponent_b, b) = other.normal_parts();
        let remainder = shifted_remainder(a, exponent_a.abs_diff(exponent_b), b);
        exact(self.0 & SIGN_BIT, exponent_b, remainder)
    }
}

/// `(a * 2^shift) mod b` for significands of at most 53 bits, eleven bits a step.
fn shifted_remainder(a: u64, mut shift: u32, b: u64) -> u64 {
    let mut remainder = a % b;
    while shift > 0 && remainder != 0 {
        let step = shift.min(11);
        remainder = (remainder << step) % b;
        shift -= step;
    }
    remainder
}

/// Packs `significand * 2^(exponent - 1075)`, which must be representable.
fn exact(sign: u64, exponent: i32, significand: u64) -> F64 {
    if significand == 0 {
        return F64(sign);
    }
    let shift = significand.leading_zeros() as i32 - 1;
    round_pack(sign, exponent + 9 - shift, significand << shift)
}

/// By how much an approximate root may be wrong, in units of its last place, and more.
const ROOT_ERROR: u64 = 32;

/// Reciprocals of the square roots of what begins with the nine bits of the position, as fractions of 2^16.
const ROOT_RECIPROCALS: [u16; 512] = {
    let mut table = [0; 512];
    let mut index = 128;
    while index < 512 {
        // The middle of the numbers from index / 128 to (index + 1) / 128.
        let reciprocal = ((1_u64 << 40) / (2 * index as u64 + 1)).isqrt();
        table[index] = if reciprocal > 0xffff { 0xffff } else { reciprocal as u16 };
        index += 1;
    }
    table
};

/// The square root of a number from 1 to 4, in units of 2^-62, as the root is.
///
/// Two steps of Newton's make a reciprocal of the root from the table's, right to some 2^-31; the third makes the root of it.
#[inline]
fn approximate_root(radicand: u64) -> u64 {
    let high = radicand >> 32;
    let mut reciprocal = u64::from(ROOT_RECIPROCALS[(radicand >> 55) as usize & 511]) << 16;
    for _ in 0..2 {
        let square = (reciprocal * reciprocal) >> 32;
        let correction = (3_u64 << 62).wrapping_sub(square * high) >> 32;
        reciprocal = ((reciprocal * correction) >> 31).min(0xffff_ffff);
    }
    let root = (u128::from(radicand) * u128::from(reciprocal)) >> 32;
    let square = root.wrapping_mul(root);
    let rest = (u128::from(radicand) << 62).wrapping_sub(square).cast_signed() >> 62;
    let correction = (rest * i128::from(reciprocal)) >> 33;
    (root as u64).wrapping_add(correction as u64)
}

impl F64 {
    /// The square root; of a negative number, NaN.
    pub fn sqrt(self) -> F64 {
        if self.is_zero() || self.is_nan() || self.0 == EXPONENT_MASK {
            return self;
        }
        if self.is_negative() {
            return F64::NAN;
        }
        let (exponent, significand) = self.normal_parts();
        let unbiased = exponent - 0x3ff;
        // An even power of two goes out of the root; what is left is at least 1 and below 4.
        let radicand = significand << (10 + (unbiased & 1) as u32);
        let mut root = approximate_root(radicand);
        let dropped = root & 0x1ff;
        root = if (ROOT_ERROR..0x200 - ROOT_ERROR).contains(&dropped) {
            // Far enough from what rounds to a float, or to the middle of two: the error decides nothing, and the root is not exact.
            root | 1
        } else {
            // On which side of that number the root lies decides everything.
            let boundary = (root + 0x100) & !0x1ff;
            match (u128::from(boundary) * u128::from(boundary)).cmp(&(u128::from(radicand) << 62)) {
                std::cmp::Ordering::Less => boundary | 1,
                std::cmp::Ordering::Equal => boundary,
                std::cmp::Ordering::Greater => boundary - 1,
            }
        };
        round_pack(0, (unbiased >> 1) + 0x3fe, root)
    }

    /// Python's `divmod(self, other)`; `None` for a zero divisor.
    pub fn py_divmod(self, other: F64) -> Option<(F64, F64)> {
        if other.is_zero() {
            return None;
        }
        let mut remainder = self % other;
        let mut quotient = (self - remainder) / other;
        if remainder.is_zero() {
            remainder = F64::ZERO.copysign(other);
        } else if other.is_negative() != remainder.is_negative() {
            remainder = remainder + other;
            quotient = quotient - F64::ONE;
        }
        let floored = if quotient.is_zero() {
            F64::ZERO.copysign(self / other)
        } else {
            let floor = quotient.floor();
            if quotient - floor > F64::HALF { floor + F64::ONE } else { floor }
        };
        Some((floored, remainder))
    }

    /// Python's `self % other`, which has the sign of the divisor; `None` for a zero divisor.
    pub fn py_mod(self, other: F64) -> Option<F64> {
        if other.is_zero() {
            return None;
        }
        let remainder = self % other;
        if remainder.is_zero() {
            Some(F64::ZERO.copysign(other))
        } else if other.is_negative() != remainder.is_negative() {
            Some(remainder + other)
        } else {
            Some(remainder)
        }
    }

    /// Python's `self // other`; `None` for a zero divisor.
    pub fn py_floordiv(self, other: F64) -> Option<F64> {
        self.py_divmod(other).map(|(quotient, _)| quotient)
    }

    /// The remainder of the quotient rounded to nearest even (IEEE 754 `remainder`, Python `math.remainder`);
    /// NaN where undefined.
    pub fn ieee_remainder(self, other: F64) -> F64 {
        if self.is_nan() || other.is_nan() || self.is_infinite() || other.is_zero() {
            return F64::NAN;
        }
        if other.is_infinite() {
            return self;
        }
        let (magnitude, divisor) = (self.abs(), other.abs());
        let remainder = magnitude % divisor;
        // Compare remainder with its complement: exact, since both are multiples of the smaller ulp.
        let complement = divisor - remainder;
        let nearest = if remainder < complement {
            remainder
        } else if remainder > complement {
            -complement
        } else {
            // A tie: the quotient must be even, so look at the remainder by twice the divisor.
            remainder - F64::TWO * ((magnitude - remainder) * F64::HALF % divisor)
        };
        if self.is_negative() { -nearest } else { nearest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At both ends of what each row of the table is for, where the estimate is worst, and at as many numbers in between.
    #[test]
    fn approximate_roots_are_within_their_error() {
        let mut seed = 0x2545_f491_4f6c_dd1d_u64;
        for row in 128..512_u64 {
            for step in 0..100_u64 {
                seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
                for radicand in [(row << 55) + (step << 10), (row << 55) + (((1 << 45) - 1 - step) << 10), (row << 55) + (seed >> 19 << 10)]
                {
                    let exact = (u128::from(radicand) << 62).isqrt() as u64;
                    let error = approximate_root(radicand).abs_diff(exact);
                    assert!(error < ROOT_ERROR / 2, "{radicand:#x} is wrong by {error}");
                }
            }
        }
    }
}
