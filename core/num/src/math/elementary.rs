//! Exponential, logarithmic, trigonometric and hyperbolic functions with Python's special cases.

use dashu_int::IBig;

use super::ball::{Ball, correctly_rounded};
use super::kernels;
use super::{F64, MathError, Outcome, finite, wide};
use crate::int::bit_length;
use crate::softfloat::round_scaled;

/// Below two to this, `x` plus or minus its cube rounds to `x`.
const CUBE_VANISHES: i64 = -28;
/// Below two to this, `x` plus or minus its square rounds to `x`.
const SQUARE_VANISHES: i64 = -56;

/// A float's exponent as [`Ball::top`] counts it: `|x| < 2^top`.
fn top(x: F64) -> i64 {
    Ball::of(x).top()
}

/// How many bits a result loses that is about as small as `x`.
fn smallness(x: &Ball) -> i64 {
    (-x.top()).max(0)
}

/// `e^x` where the result may overflow or vanish.
fn exp_of(exponent: impl Fn(i64) -> Ball, estimate: F64) -> Outcome {
    // e^710 is infinite and e^-746 less than half of the least float, whatever the rounding.
    if estimate > F64::from_i64(720) {
        return Err(MathError::Range);
    }
    if estimate < F64::from_i64(-760) {
        return Ok(F64::ZERO);
    }
    finite(correctly_rounded(|bits| kernels::exp(&exponent(bits), bits)))
}

/// `math.exp(x)`.
pub fn exp(x: F64) -> Outcome {
    match x {
        _ if x.is_nan() => Ok(x),
        _ if x.is_infinite() => Ok(if x.is_negative() { F64::ZERO } else { x }),
        _ if x.is_zero() => Ok(F64::ONE),
        _ => match wide::exp(x) {
            Some(value) => finite(value),
            None => exp_of(|_| Ball::of(x), x),
        },
    }
}

/// `math.exp2(x)`.
pub fn exp2(x: F64) -> Outcome {
    if x.is_nan() {
        return Ok(x);
    }
    if x.is_infinite() {
        return Ok(if x.is_negative() { F64::ZERO } else { x });
    }
    if let (true, Some(exponent)) = (x.is_integer(), x.to_i64()) {
        return F64::ONE.ldexp(exponent).ok_or(MathError::Range);
    }
    let estimate = x * F64(0x3fe6_2e42_fefa_39ef);
    exp_of(|bits| Ball::of(x).times(&Ball::ln_2(bits + 16), bits + 16), estimate)
}

/// `math.expm1(x)`.
pub fn expm1(x: F64) -> Outcome {
    if x.is_nan() || x.is_zero() {
        return Ok(x);
    }
    if x.is_infinite() {
        return Ok(if x.is_negative() { F64::NEG_ONE } else { x });
    }
    if top(x) < SQUARE_VANISHES {
        return Ok(x);
    }
    if x > F64::from_i64(720) {
        return Err(MathError::Range);
    }
    if x < F64::from_i64(-50) {
        return Ok(F64::NEG_ONE);
    }
    finite(correctly_rounded(|bits| expm1_ball(&Ball::of(x), bits)))
}

fn expm1_ball(x: &Ball, bits: i64) -> Ball {
    let wide = bits + smallness(x);
    kernels::exp(x, wide).minus(&Ball::integer(1), wide)
}

/// A logarithm's special cases; the rest is positive and finite.
fn log_special(x: F64) -> Option<Outcome> {
    if x.is_nan() || x.0 == F64::INFINITY.0 {
        Some(Ok(x))
    } else if x.is_zero() || x.is_negative() {
        Some(Err(MathError::Domain))
    } else if x.0 == F64::ONE.0 {
        Some(Ok(F64::ZERO))
    } else {
        None
    }
}

/// `math.log(x)` of a float.
pub fn log(x: F64) -> Outcome {
    log_special(x).unwrap_or_else(|| {
        let slow = || correctly_rounded(|bits| kernels::log(&Ball::of(x), bits));
        Ok(wide::log(x).unwrap_or_else(slow))
    })
}

/// `math.log2(x)` of a float.
pub fn log2(x: F64) -> Outcome {
    if let Some(outcome) = log_special(x) {
        return outcome;
    }
    let (mantissa, exponent) = x.frexp();
    if mantissa == F64::HALF {
        return Ok(F64::from_i64(i64::from(exponent) - 1));
    }
    Ok(wide::log2(x).unwrap_or_else(|| log_to_base(&Ball::of(x), Ball::ln_2)))
}

/// `math.log10(x)` of a float.
pub fn log10(x: F64) -> Outcome {
    if let Some(outcome) = log_special(x) {
        return outcome;
    }
    // 10^22 is the last power of ten that a float holds exactly.
    let last_power = F64(0x4480_f0cf_064d_d592);
    let whole = x.to_int().filter(|_| x.is_integer() && x <= last_power);
    if let Some(exact) = whole.and_then(|whole| exact_log10(&whole)) {
        return Ok(F64::from_i64(exact));
    }
    Ok(wide::log10(x).unwrap_or_else(|| log_to_base(&Ball::of(x), Ball::ln_10)))
}

/// The exponent of a power of ten.
fn exact_log10(value: &IBig) -> Option<i64> {
    // One decimal digit for 3.32 bits, so the power before or after is tried too.
    let estimate = bit_length(value) * 30_103 / 100_000;
    let near = estimate.saturating_sub(1)..=estimate + 1;
    let exponent = near.into_iter().find(|&exponent| *value == IBig::from(10).pow(exponent))?;
    i64::try_from(exponent).ok()
}

fn log_to_base(x: &Ball, log_of_base: fn(i64) -> Ball) -> F64 {
    correctly_rounded(|bits| kernels::log(x, bits).over(&log_of_base(bits), bits))
}

/// A logarithm of a positive integer of any size.
fn log_of_int(value: &IBig, of_float: fn(F64) -> Outcome, of_ball: impl Fn(&Ball) -> F64) -> Outcome {
    // As in CPython, an integer that a float can hold is rounded to one first.
    match F64::from_int(value) {
        Some(float) => of_float(float),
        None if *value < IBig::ZERO => Err(MathError::Domain),
        None => Ok(of_ball(&Ball::exact(value.clone(), 0))),
    }
}

/// `math.log(n)` of an integer.
pub fn log_int(value: &IBig) -> Outcome {
    log_of_int(value, log, |ball| correctly_rounded(|bits| kernels::log(ball, bits)))
}

/// `math.log2(n)` of an integer.
pub fn log_int_2(value: &IBig) -> Outcome {
    if *value > IBig::ZERO && value.trailing_zeros() == Some(bit_length(value) - 1) {
        return Ok(F64::from_i64(i64::try_from(bit_length(value) - 1).expect("a number in memory")));
    }
    log_of_int(value, log2, |ball| log_to_base(ball, Ball::ln_2))
}

/// `math.log10(n)` of an integer.
pub fn log_int_10(value: &IBig) -> Outcome {
    if let Some(exact) = exact_log10(value) {
        return Ok(F64::from_i64(exact));
    }
    log_of_int(value, log10, |ball| log_to_base(ball, Ball::ln_10))
}

/// `math.log1p(x)`.
pub fn log1p(x: F64) -> Outcome {
    if x.is_nan() || x.is_zero() || x.0 == F64::INFINITY.0 {
        return Ok(x);
    }
    if x <= F64::NEG_ONE {
        return Err(MathError::Domain);
    }
    if top(x) < SQUARE_VANISHES {
        return Ok(x);
    }
    let sum = exactly_plus_one(&Ball::of(x));
    Ok(correctly_rounded(|bits| kernels::log(&sum, bits)))
}

/// `1 + x` without rounding, for an exact `x`.
fn exactly_plus_one(x: &Ball) -> Ball {
    x.plus(&Ball::integer(1), 2200)
}

/// A trigonometric function's special cases: infinities have no sine.
fn turn_special(x: F64) -> Option<Outcome> {
    if x.is_nan() {
        Some(Ok(x))
    } else if x.is_infinite() {
        Some(Err(MathError::Domain))
    } else {
        None
    }
}

/// `math.sin(x)`.
pub fn sin(x: F64) -> Outcome {
    let slow = || odd(x, |ball, bits| kernels::sin_cos(ball, bits).0);
    turn_special(x).unwrap_or_else(|| Ok(if x.is_zero() { x } else { wide::sin(x).unwrap_or_else(slow) }))
}

/// `math.cos(x)`.
pub fn cos(x: F64) -> Outcome {
    if let Some(outcome) = turn_special(x) {
        return outcome;
    }
    if top(x) < CUBE_VANISHES {
        return Ok(F64::ONE);
    }
    let slow = || correctly_rounded(|bits| kernels::sin_cos(&Ball::of(x), bits).1);
    Ok(wide::cos(x).unwrap_or_else(slow))
}

/// `math.tan(x)`.
pub fn tan(x: F64) -> Outcome {
    let tangent = |ball: &Ball, bits| {
        let (sine, cosine) = kernels::sin_cos(ball, bits);
        sine.over(&cosine, bits)
    };
    turn_special(x).unwrap_or_else(|| Ok(odd(x, tangent)))
}

/// An odd function that is `x` plus a multiple of `x^3` near zero.
fn odd(x: F64, function: impl Fn(&Ball, i64) -> Ball) -> F64 {
    if x.is_nan() || x.is_zero() || top(x) < CUBE_VANISHES {
        return x;
    }
    let ball = Ball::of(x);
    correctly_rounded(|bits| function(&ball, bits))
}

/// `math.asin(x)`.
pub fn asin(x: F64) -> Outcome {
    if x.abs() > F64::ONE {
        return Err(MathError::Domain);
    }
    Ok(odd(x, asin_ball))
}

/// `asin x = atan(x / sqrt(1 - x^2))`.
fn asin_ball(x: &Ball, bits: i64) -> Ball {
    let wide = bits + 8;
    let beside = one_less_square(x, wide);
    if beside.is_zero() {
        let quarter = Ball::pi(bits).scaled(-1);
        return if x.is_negative() { quarter.negated() } else { quarter };
    }
    kernels::atan(&x.over(&beside.square_root(wide), wide), bits)
}

/// `(1 - x)(1 + x)`, the factors exact.
fn one_less_square(x: &Ball, bits: i64) -> Ball {
    exactly_plus_one(&x.negated()).times(&exactly_plus_one(x), bits)
}

/// `math.acos(x)`.
pub fn acos(x: F64) -> Outcome {
    if x.is_nan() {
        return Ok(x);
    }
    if x.abs() > F64::ONE {
        return Err(MathError::Domain);
    }
    if x.0 == F64::ONE.0 {
        return Ok(F64::ZERO);
    }
    if top(x) < -70 {
        return Ok(correctly_rounded(|bits| Ball::pi(bits).scaled(-1)));
    }
    let ball = Ball::of(x);
    Ok(correctly_rounded(|bits| {
        let wide = bits + 8;
        let quarter = Ball::pi(wide).scaled(-1);
        if x > F64::HALF {
            // Near one the difference from a quarter turn would lose bits.
            let beside = one_less_square(&ball, wide).square_root(wide);
            return kernels::atan(&beside.over(&ball, wide), bits);
        }
        quarter.minus(&asin_ball(&ball, wide), wide)
    }))
}

/// `math.atan(x)`.
pub fn atan(x: F64) -> F64 {
    if x.is_infinite() {
        return correctly_rounded(|bits| Ball::pi(bits).scaled(-1)).copysign(x);
    }
    odd(x, kernels::atan)
}

/// `math.atan2(y, x)`: the angle of the point `(x, y)`.
pub fn atan2(y: F64, x: F64) -> F64 {
    if x.is_nan() || y.is_nan() {
        return F64::NAN;
    }
    let eighths = |count: i64| {
        let turned = |bits: i64| Ball::pi(bits + 4).times(&Ball::integer(count), bits).scaled(-2);
        correctly_rounded(turned).copysign(y)
    };
    match (y.is_infinite(), x.is_infinite()) {
        (true, true) => return eighths(if x.is_negative() { 3 } else { 1 }),
        (true, false) => return eighths(2),
        (false, true) => return if x.is_negative() { eighths(4) } else { F64::ZERO.copysign(y) },
        (false, false) => {}
    }
    if y.is_zero() {
        return if x.is_negative() { eighths(4) } else { y };
    }
    if x.is_zero() {
        return eighths(2);
    }
    let (up, right) = (Ball::of(y.abs()), Ball::of(x.abs()));
    // Far apart, the angle is the quotient to all the bits that matter, or its distance from a half turn.
    let ratio_top = up.top() - right.top();
    if x.is_negative() && ratio_top < -80 {
        return eighths(4);
    }
    if ratio_top > 80 {
        return eighths(2);
    }
    if ratio_top < -80 {
        return quotient_less_a_hair(y, x);
    }
    correctly_rounded(|bits| {
        let wide = bits + 8;
        let angle = kernels::atan(&up.over(&right, wide), wide);
        if x.is_negative() { Ball::pi(wide).minus(&angle, wide) } else { angle }
    })
    .copysign(y)
}

/// `atan(y / x)` of a tiny quotient: less than the quotient, by less than tells two floats apart, so that a
/// quotient halfway between two (of which there are some below the normal numbers) goes to the lower one.
fn quotient_less_a_hair(y: F64, x: F64) -> F64 {
    let ((up, up_exponent), (right, right_exponent)) = (y.significand_and_exponent(), x.significand_and_exponent());
    let zeros = u128::from(up).leading_zeros() - 1;
    let (up, right) = (u128::from(up) << zeros, u128::from(right));
    let quotient = up / right;
    let below = if up.is_multiple_of(right) { 2 * quotient - 1 } else { 2 * quotient };
    let shift = i32::try_from(zeros).expect("at most 127") + 1;
    round_scaled(0, below, up_exponent - right_exponent - shift, true).copysign(y)
}

/// `math.sinh(x)`.
pub fn sinh(x: F64) -> Outcome {
    if x.is_infinite() {
        return Ok(x);
    }
    if x.abs() > F64::from_i64(720) {
        return Err(MathError::Range);
    }
    finite(odd(x, |ball, bits| {
        let wide = bits + smallness(ball);
        let (up, down) = (kernels::exp(ball, wide), kernels::exp(&ball.negated(), wide));
        up.minus(&down, wide).scaled(-1)
    }))
}

/// `math.cosh(x)`.
pub fn cosh(x: F64) -> Outcome {
    if x.is_nan() {
        return Ok(x);
    }
    if x.is_infinite() {
        return Ok(x.abs());
    }
    if x.abs() > F64::from_i64(720) {
        return Err(MathError::Range);
    }
    if top(x) < CUBE_VANISHES {
        return Ok(F64::ONE);
    }
    let ball = Ball::of(x);
    finite(correctly_rounded(|bits| {
        let (up, down) = (kernels::exp(&ball, bits), kernels::exp(&ball.negated(), bits));
        up.plus(&down, bits).scaled(-1)
    }))
}

/// `math.tanh(x)`.
pub fn tanh(x: F64) -> F64 {
    if x.abs() > F64::from_i64(40) {
        return F64::ONE.copysign(x);
    }
    odd(x, |ball, bits| {
        let less_one = expm1_ball(&ball.scaled(1), bits + 4);
        less_one.over(&less_one.plus(&Ball::integer(2), bits + 4), bits)
    })
}

/// `math.asinh(x)`.
pub fn asinh(x: F64) -> F64 {
    if x.is_infinite() {
        return x;
    }
    odd(x, |ball, bits| if ball.is_negative() { asinh_ball(&ball.negated(), bits).negated() } else { asinh_ball(ball, bits) })
}

/// `ln(x + sqrt(x^2 + 1))` of a positive `x`.
fn asinh_ball(x: &Ball, bits: i64) -> Ball {
    let wide = bits + 8 + smallness(x);
    let root = x.times(x, 2 * wide).plus(&Ball::integer(1), 2 * wide).square_root(wide);
    kernels::log(&x.plus(&root, wide), bits)
}

/// `math.acosh(x)`.
pub fn acosh(x: F64) -> Outcome {
    if x.is_nan() || x.0 == F64::INFINITY.0 {
        return Ok(x);
    }
    if x < F64::ONE {
        return Err(MathError::Domain);
    }
    if x == F64::ONE {
        return Ok(F64::ZERO);
    }
    let ball = Ball::of(x);
    Ok(correctly_rounded(|bits| {
        // Near one the logarithm of nearly one loses half of the 52 bits.
        let wide = bits + 40;
        let root = one_less_square(&ball, 2 * wide).negated().square_root(wide);
        kernels::log(&ball.plus(&root, wide), bits)
    }))
}

/// `math.atanh(x)`.
pub fn atanh(x: F64) -> Outcome {
    if x.abs() >= F64::ONE {
        return Err(MathError::Domain);
    }
    Ok(odd(x, |ball, bits| {
        let wide = bits + 8 + smallness(ball);
        let ratio = exactly_plus_one(ball).over(&exactly_plus_one(&ball.negated()), wide);
        kernels::log(&ratio, bits).scaled(-1)
    }))
}
