//! Sum, difference, product, and the one place that rounds.

use super::{EXPONENT_MASK, F64, FRACTION_BITS, FRACTION_MASK, HIDDEN_BIT, SIGN_BIT};

/// Shifts right; the lowest bit of the result remembers whether anything but zeros fell off.
#[inline]
pub(super) const fn shift_right_jam(value: u64, distance: u32) -> u64 {
    if distance == 0 {
        value
    } else if distance < 64 {
        (value >> distance) | ((value << (64 - distance) != 0) as u64)
    } else {
        (value != 0) as u64
    }
}

#[inline]
pub(super) const fn exponent_field(bits: u64) -> i32 {
    ((bits >> FRACTION_BITS) & 0x7ff) as i32
}

/// Exponent field and fraction of a subnormal, scaled until the hidden bit is in place.
#[inline]
pub(super) const fn normalized_subnormal(fraction: u64) -> (i32, u64) {
    let shift = fraction.leading_zeros() as i32 - 11;
    (1 - shift, fraction << shift)
}

/// Rounds to nearest even and packs.
///
/// `significand` has its leading one at bit 62, so ten bits below the fraction decide the rounding, and
/// `exponent` is the exponent field less one: the leading one itself adds the one.
#[inline]
pub(super) fn round_pack(sign: u64, mut exponent: i32, mut significand: u64) -> F64 {
    if !(0..0x7fd).contains(&exponent) {
        if exponent < 0 {
            significand = shift_right_jam(significand, exponent.unsigned_abs());
            exponent = 0;
        } else if exponent > 0x7fd || significand + 0x200 >= SIGN_BIT {
            return F64(sign | EXPONENT_MASK);
        }
    }
    let dropped = significand & 0x3ff;
    significand = (significand + 0x200) >> 10;
    significand &= !((dropped == 0x200) as u64);
    if significand == 0 {
        exponent = 0;
    }
    F64(sign | (((exponent as u64) << FRACTION_BITS) + significand))
}

/// The same for a significand whose leading one is at or below bit 62.
#[inline]
pub(super) fn normalize_round_pack(sign: u64, exponent: i32, significand: u64) -> F64 {
    if significand == 0 {
        return F64(sign);
    }
    let shift = significand.leading_zeros() as i32 - 1;
    round_pack(sign, exponent - shift, significand << shift)
}

/// `|a| + |b|` with the given sign.
#[inline]
fn add_magnitudes(a: u64, b: u64, sign: u64) -> F64 {
    let (exponent_a, exponent_b) = (exponent_field(a), exponent_field(b));
    let (fraction_a, fraction_b) = (a & FRACTION_MASK, b & FRACTION_MASK);
    let difference = exponent_a - exponent_b;
    if difference == 0 {
        if exponent_a == 0 {
            // Two subnormals: the sum is exact, and a carry becomes the smallest exponent by itself.
            return F64(sign | (fraction_a + fraction_b));
        }
        if exponent_a == 0x7ff {
            return if fraction_a | fraction_b != 0 { F64::NAN } else { F64(sign | EXPONENT_MASK) };
        }
        let significand = (2 * HIDDEN_BIT + fraction_a + fraction_b) << 9;
        return round_pack(sign, exponent_a, significand);
    }
    let (mut exponent, large, small, small_exponent, distance) = if difference > 0 {
        (exponent_a, fraction_a, fraction_b, exponent_b, difference)
    } else {
        (exponent_b, fraction_b, fraction_a, exponent_a, -difference)
    };
    if exponent == 0x7ff {
        return if large != 0 { F64::NAN } else { F64(sign | EXPONENT_MASK) };
    }
    let large = (large | HIDDEN_BIT) << 9;
    let small = if small_exponent == 0 { small << 10 } else { (small | HIDDEN_BIT) << 9 };
    let mut significand = large + shift_right_jam(small, distance.unsigned_abs());
    if significand < 1 << 62 {
        exponent -= 1;
        significand <<= 1;
    }
    round_pack(sign, exponent, significand)
}

/// `|a| - |b|`, its sign flipped if `sign` is set.
#[inline]
fn subtract_magnitudes(a: u64, b: u64, sign: u64) -> F64 {
    let (exponent_a, exponent_b) = (exponent_field(a), exponent_field(b));
    let (fraction_a, fraction_b) = (a & FRACTION_MASK, b & FRACTION_MASK);
    let difference = exponent_a - exponent_b;
    if difference == 0 {
        if exponent_a == 0x7ff {
            return F64::NAN;
        }
        if fraction_a == fraction_b {
            return F64::ZERO;
        }
        let (sign, remainder) =
            if fraction_a > fraction_b { (sign, fraction_a - fraction_b) } else { (sign ^ SIGN_BIT, fraction_b - fraction_a) };
        // Exact; scaled as far as the exponent allows, further would be subnormal.
        let exponent = if exponent_a == 0 { 0 } else { exponent_a - 1 };
        let shift = (remainder.leading_zeros() as i32 - 11).min(exponent);
        return F64(sign | ((((exponent - shift) as u64) << FRACTION_BITS) + (remainder << shift)));
    }
    let (sign, exponent, large, small, small_exponent) = if difference > 0 {
        (sign, exponent_a, fraction_a, fraction_b, exponent_b)
    } else {
        (sign ^ SIGN_BIT, exponent_b, fraction_b, fraction_a, exponent_a)
    };
    if exponent == 0x7ff {
        return if large != 0 { F64::NAN } else { F64(sign | EXPONENT_MASK) };
    }
    let large = (large | HIDDEN_BIT) << 10;
    let small = if small_exponent == 0 { small << 11 } else { (small | HIDDEN_BIT) << 10 };
    let significand = large - shift_right_jam(small, difference.unsigned_abs());
    normalize_round_pack(sign, exponent - 1, significand)
}

/// Rounds a normal number to nearest even and packs; `None` where the result is not normal or may overflow.
///
/// `significand` has its leading one at bit 63, so eleven bits decide the rounding, and `exponent` is the exponent field.
#[inline(always)]
fn round_pack_normal(sign: u64, exponent: i32, significand: u64) -> Option<F64> {
    if !(1..0x7fe).contains(&exponent) {
        return None;
    }
    let fraction = significand >> 11;
    let up = ((significand & 0x7ff) + 0x3ff + (fraction & 1)) >> 11;
    // The hidden bit adds one to the exponent, and so does a carry out of the rounding.
    Some(F64(sign | ((((exponent - 1) as u64) << FRACTION_BITS) + fraction + up)))
}

/// The sum of two normal numbers, without a branch that depends on their signs or sizes: those are guessed wrong half of the time.
/// `None` where an operand or the result is not normal.
#[inline(always)]
fn add_normal(a: u64, b: u64) -> Option<F64> {
    let (magnitude_a, magnitude_b) = (a & !SIGN_BIT, b & !SIGN_BIT);
    let swap = magnitude_a < magnitude_b;
    let (large, small) = if swap { (magnitude_b, magnitude_a) } else { (magnitude_a, magnitude_b) };
    let sign = if swap { b } else { a } & SIGN_BIT;
    let (exponent_large, exponent_small) = ((large >> FRACTION_BITS) as i32, (small >> FRACTION_BITS) as i32);
    if exponent_small == 0 || exponent_large == 0x7ff {
        return None;
    }
    let large = (large & FRACTION_MASK | HIDDEN_BIT) << 10;
    let small = (small & FRACTION_MASK | HIDDEN_BIT) << 10;
    let distance = (exponent_large - exponent_small).min(63) as u32;
    let lost = small & ((1 << distance) - 1) != 0;
    let small = small >> distance | lost as u64;
    // All ones when the signs differ: the smaller one is then subtracted.
    let mask = (((a ^ b) as i64) >> 63) as u64;
    let sum = large.wrapping_add((small ^ mask).wrapping_sub(mask));
    if sum == 0 {
        return Some(F64::ZERO);
    }
    let shift = sum.leading_zeros();
    round_pack_normal(sign, exponent_large + 1 - shift as i32, sum << shift)
}

/// `a + b` for any operands.
#[cold]
#[inline(never)]
fn add_any(a: F64, b: F64) -> F64 {
    let sign = a.0 & SIGN_BIT;
    if (a.0 ^ b.0) & SIGN_BIT == 0 { add_magnitudes(a.0, b.0, sign) } else { subtract_magnitudes(a.0, b.0, sign) }
}

impl std::ops::Add for F64 {
    type Output = F64;

    #[inline]
    fn add(self, other: F64) -> F64 {
        match add_normal(self.0, other.0) {
            Some(sum) => sum,
            None => add_any(self, other),
        }
    }
}

impl std::ops::Sub for F64 {
    type Output = F64;

    #[inline]
    #[allow(clippy::suspicious_arithmetic_impl, reason = "a difference is a sum with the other sign")]
    fn sub(self, other: F64) -> F64 {
        match add_normal(self.0, other.0 ^ SIGN_BIT) {
            Some(difference) => difference,
            None => subtract_any(self, other),
        }
    }
}

/// `a - b` for any operands.
#[cold]
#[inline(never)]
fn subtract_any(a: F64, b: F64) -> F64 {
    let sign = a.0 & SIGN_BIT;
    if (a.0 ^ b.0) & SIGN_BIT == 0 { subtract_magnitudes(a.0, b.0, sign) } else { add_magnitudes(a.0, b.0, sign) }
}

/// The product where an operand is zero, subnormal, infinite or a NaN, or the product is not normal.
#[cold]
#[inline(never)]
fn multiply_special(a: F64, b: F64, sign: u64) -> F64 {
    if a.is_nan() || b.is_nan() {
        return F64::NAN;
    }
    if !a.is_finite() || !b.is_finite() {
        return if a.is_zero() || b.is_zero() { F64::NAN } else { F64(sign | EXPONENT_MASK) };
    }
    if a.is_zero() || b.is_zero() {
        return F64(sign);
    }
    let (exponent_a, significand_a) = a.normal_parts();
    let (exponent_b, significand_b) = b.normal_parts();
    multiply_normal(sign, exponent_a + exponent_b, significand_a, significand_b)
}

/// Multiplies two significands with hidden bits; `exponents` is the sum of the exponent fields.
#[inline]
fn multiply_normal(sign: u64, exponents: i32, a: u64, b: u64) -> F64 {
    let product = u128::from(a << 10) * u128::from(b << 11);
    let mut significand = (product >> 64) as u64 | ((product as u64 != 0) as u64);
    let mut exponent = exponents - 0x3ff;
    if significand < 1 << 62 {
        exponent -= 1;
        significand <<= 1;
    }
    round_pack(sign, exponent, significand)
}

impl std::ops::Mul for F64 {
    type Output = F64;

    #[inline]
    fn mul(self, other: F64) -> F64 {
        let sign = (self.0 ^ other.0) & SIGN_BIT;
        let (exponent_a, exponent_b) = (exponent_field(self.0), exponent_field(other.0));
        if !(1..0x7ff).contains(&exponent_a) || !(1..0x7ff).contains(&exponent_b) {
            return multiply_special(self, other, sign);
        }
        let a = (self.0 & FRACTION_MASK | HIDDEN_BIT) << 11;
        let b = (other.0 & FRACTION_MASK | HIDDEN_BIT) << 11;
        let product = u128::from(a) * u128::from(b);
        let significand = (product >> 64) as u64 | (product as u64 != 0) as u64;
        let shift = significand.leading_zeros();
        match round_pack_normal(sign, exponent_a + exponent_b - 0x3fe - shift as i32, significand << shift) {
            Some(product) => product,
            None => multiply_special(self, other, sign),
        }
    }
}

impl F64 {
    /// Exponent field and significand with hidden bit of a finite number other than zero; the field of a
    /// subnormal is zero or below.
    #[inline]
    pub(super) const fn normal_parts(self) -> (i32, u64) {
        let fraction = self.0 & FRACTION_MASK;
        match exponent_field(self.0) {
            0 => normalized_subnormal(fraction),
            exponent => (exponent, fraction | HIDDEN_BIT),
        }
    }
}
