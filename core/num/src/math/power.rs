//! Powers, roots and distances.

use dashu_int::ops::{BitTest, SquareRoot};
use dashu_int::{IBig, UBig};

use super::ball::{Ball, correctly_rounded};
use super::kernels;
use super::{F64, MathError, Outcome, wide};
use crate::softfloat::round_scaled;

/// Why `x ** y` of floats has no float value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PowerError {
    /// ZeroDivisionError "0.0 cannot be raised to a negative power".
    ZeroToNegative,
    /// OverflowError "(34, 'Numerical result out of range')".
    Range,
    /// A negative number to a power that is not whole: the result is complex.
    Complex,
}

/// `x ** y` of floats.
pub fn py_pow(x: F64, y: F64) -> Result<F64, PowerError> {
    power(x, y)
}

/// `math.pow(x, y)`.
pub fn pow(x: F64, y: F64) -> Outcome {
    power(x, y).map_err(|error| match error {
        PowerError::Range => MathError::Range,
        PowerError::ZeroToNegative | PowerError::Complex => MathError::Domain,
    })
}

fn power(x: F64, y: F64) -> Result<F64, PowerError> {
    if y.is_zero() || x == F64::ONE {
        return Ok(F64::ONE);
    }
    if x.is_nan() || y.is_nan() {
        return Ok(F64::NAN);
    }
    let magnitude = x.abs();
    if y.is_infinite() {
        return Ok(if magnitude == F64::ONE {
            F64::ONE
        } else if (magnitude > F64::ONE) != y.is_negative() {
            F64::INFINITY
        } else {
            F64::ZERO
        });
    }
    let whole = y.is_integer();
    let odd = whole && !(y * F64::HALF).is_integer();
    let sign = if odd { x } else { F64::ONE };
    if x.is_infinite() {
        return Ok(if y.is_negative() { F64::ZERO } else { F64::INFINITY }.copysign(sign));
    }
    if x.is_zero() {
        return if y.is_negative() { Err(PowerError::ZeroToNegative) } else { Ok(F64::ZERO.copysign(sign)) };
    }
    if x.is_negative() && !whole {
        return Err(PowerError::Complex);
    }
    let result = power_of_positive(magnitude, y);
    if result.is_infinite() { Err(PowerError::Range) } else { Ok(result.copysign(sign)) }
}

/// `x^y` of a positive finite `x` and a finite `y`; infinity if it is too large.
fn power_of_positive(x: F64, y: F64) -> F64 {
    // Rounded once as they are, these are the powers.
    match y {
        _ if x == F64::ONE => return F64::ONE,
        _ if y == F64::ONE => return x,
        _ if y == F64::TWO => return x * x,
        _ if y == F64::HALF => return x.sqrt(),
        _ if y == F64::NEG_ONE => return F64::ONE / x,
        _ => {}
    }
    if let Some(value) = wide::pow(x, y) {
        return value;
    }
    if let Some(exact) = exact_power(x, y) {
        return exact;
    }
    let (base, exponent) = (Ball::of(x), Ball::of(y));
    let estimate = kernels::log(&base, 64).times(&exponent, 64);
    // Past e^(2^12) everything overflows or vanishes.
    if estimate.top() > 12 {
        return if estimate.is_negative() { F64::ZERO } else { F64::INFINITY };
    }
    correctly_rounded(|bits| {
        let wide = bits + 8 + estimate.top().max(0);
        kernels::exp(&kernels::log(&base, wide).times(&exponent, wide), bits)
    })
}

/// The power where it is a whole number of at most 108 bits times a power of two. No other power is a float or
/// halfway between two: only those would keep [`correctly_rounded`] from ending.
fn exact_power(x: F64, y: F64) -> Option<F64> {
    let (significand, exponent) = x.significand_and_exponent();
    let twos = significand.trailing_zeros();
    let mut odd = significand >> twos;
    let mut exponent = exponent + i32::try_from(twos).expect("fewer than 53");
    let (numerator, denominator) = y.as_integer_ratio()?;
    // y is a fraction over 2^halvings: that many square roots must come out even.
    let halvings = denominator.bit_len() - 1;
    if halvings > 11 {
        return None;
    }
    for _ in 0..halvings {
        let root = odd.isqrt();
        if root * root != odd || exponent % 2 != 0 {
            return None;
        }
        (odd, exponent) = (root, exponent / 2);
    }
    let power = i64::try_from(&numerator).unwrap_or(if numerator < IBig::ZERO { i64::MIN } else { i64::MAX });
    let twos = i64::from(exponent).saturating_mul(power).clamp(-100_000, 100_000);
    let twos = i32::try_from(twos).expect("clamped");
    if odd == 1 {
        return Some(round_scaled(0, 1, twos, false));
    }
    let power = u32::try_from(power).ok()?;
    let least_bits = odd.ilog2().checked_mul(power)?;
    (least_bits <= 54).then(|| round_scaled(0, u128::from(odd).pow(power), twos, false))
}

/// `math.cbrt(x)`.
pub fn cbrt(x: F64) -> F64 {
    if x.is_zero() || !x.is_finite() {
        return x;
    }
    let (significand, exponent) = x.significand_and_exponent();
    // Shift so that the root has about 68 bits and the exponent is a multiple of three.
    let shift = 150 + (exponent - 150).rem_euclid(3);
    let radicand = UBig::from(significand) << usize::try_from(shift).expect("at most 152");
    let root = radicand.nth_root(3);
    let inexact = root.pow(3) != radicand;
    let root = u128::try_from(&root).expect("a third of 205 bits");
    round_scaled(0, root, (exponent - shift) / 3, inexact).copysign(x)
}

/// `math.hypot(*coordinates)`: the distance from the origin.
pub fn hypot(coordinates: &[F64]) -> F64 {
    if coordinates.iter().any(|value| value.is_infinite()) {
        return F64::INFINITY;
    }
    if coordinates.iter().any(|value| value.is_nan()) {
        return F64::NAN;
    }
    let parts = || coordinates.iter().filter(|value| !value.is_zero()).map(|value| value.significand_and_exponent());
    let Some(least) = parts().map(|(_, exponent)| exponent).min() else { return F64::ZERO };
    let mut sum = UBig::ZERO;
    for (significand, exponent) in parts() {
        let distance = usize::try_from(2 * (exponent - least)).expect("least is the least");
        sum += UBig::from(u128::from(significand) * u128::from(significand)) << distance;
    }
    root_of(&sum, 2 * least)
}

/// The float nearest to `sqrt(value * 2^exponent)` for an even exponent.
fn root_of(value: &UBig, exponent: i32) -> F64 {
    // A root of at least 64 bits and at most a hundred: cut what is longer, in pairs of bits.
    let length = i32::try_from(value.bit_len()).expect("two floats' ranges");
    let shift = (140 - length) & !1;
    let distance = usize::try_from(shift.unsigned_abs()).expect("two floats' ranges");
    let (radicand, cut) = if shift >= 0 {
        (value << distance, false)
    } else {
        (value >> distance, value.trailing_zeros().is_some_and(|zeros| zeros < distance))
    };
    let root = radicand.sqrt();
    let inexact = cut || &root * &root != radicand;
    round_scaled(0, u128::try_from(&root).expect("about 70 bits"), (exponent - shift) / 2, inexact)
}

/// `math.dist(p, q)`: the distance between two points, whose differences are rounded as CPython rounds them.
pub fn dist(p: &[F64], q: &[F64]) -> F64 {
    let differences: Vec<F64> = p.iter().zip(q).map(|(&a, &b)| (a - b).abs()).collect();
    hypot(&differences)
}
