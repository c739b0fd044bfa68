//! The error function and the gamma function.

use dashu_int::{IBig, UBig};

use super::ball::{Ball, correctly_rounded};
use super::kernels;
use super::{F64, MathError, Outcome, finite};
use crate::int::factorial;

/// `math.erf(x)`.
pub fn erf(x: F64) -> F64 {
    if x.is_nan() || x.is_zero() {
        return x;
    }
    // 1 - erf(6.5) is 4e-20.
    if x.abs() > F64(0x401a_0000_0000_0000) {
        return F64::ONE.copysign(x);
    }
    let magnitude = Ball::of(x.abs());
    correctly_rounded(|bits| erf_ball(&magnitude, bits)).copysign(x)
}

/// `erf x = 2x / sqrt(pi) e^(-x^2) (1 + 2x^2/3 + (2x^2)^2/(3*5) + …)` of a positive `x`: no term is negative.
fn erf_ball(x: &Ball, bits: i64) -> Ball {
    let wide = bits + 16;
    let square = x.times(x, 2 * wide);
    let (doubled, square_error) = square.scaled(1).fixed_point(wide);
    let scale = usize::try_from(wide).expect("a working precision is positive");
    let mut term = IBig::ONE << scale;
    let mut sum = term.clone();
    let mut divisor: u64 = 3;
    // Terms first grow, then fall at least by half from where the divisor is twice the factor.
    loop {
        term = ((&term * &doubled) >> scale) / IBig::from(divisor);
        if term.is_zero() {
            break;
        }
        sum += &term;
        divisor += 2;
    }
    // Relative to the sum, each term brings an error below one unit of 2^-wide for each step before it.
    let error_length = 4 + 2 * i64::from(64 - divisor.leading_zeros()) + i64::from(64 - square_error.leading_zeros());
    let sum = Ball::exact(sum, -wide);
    let sum = sum.widened(sum.top() - wide + error_length);
    let decay = kernels::exp(&square.negated(), wide);
    let scaled = x.scaled(1).over(&Ball::pi(wide).square_root(wide), wide);
    scaled.times(&decay, wide).times(&sum, bits)
}

/// `math.erfc(x)`: one less `erf(x)`, precise where that is small.
pub fn erfc(x: F64) -> F64 {
    if x.is_nan() {
        return x;
    }
    if x.is_zero() {
        return F64::ONE;
    }
    // Below the least float from 27.3 on; at -6.5 within 4e-20 of two.
    if x > F64(0x403b_4ccc_cccc_cccd) {
        return F64::ZERO;
    }
    if x < F64(0xc01a_0000_0000_0000) {
        return F64::TWO;
    }
    let magnitude = Ball::of(x.abs());
    let one = Ball::integer(1);
    if x.is_negative() {
        return correctly_rounded(|bits| one.plus(&erf_ball(&magnitude, bits), bits));
    }
    // e^(-x^2) is about how much is left of one.
    let square = (x * x).to_i64().expect("below 27.3^2");
    let lost = square * 3 / 2 + 8;
    correctly_rounded(|bits| {
        // The far series' terms fall until one is about e^(-x^2).
        if lost > bits + 24 {
            return erfc_far(&magnitude, bits);
        }
        one.minus(&erf_ball(&magnitude, bits + lost), bits + lost).cut(bits)
    })
}

/// `erfc x = e^(-x^2) / (x sqrt(pi)) (1 - 1/(2x^2) + 3/(2x^2)^2 - 3*5/(2x^2)^3 + …)`: the error is less than the
/// first term left out, as long as the terms fall.
fn erfc_far(x: &Ball, bits: i64) -> Ball {
    let wide = bits + 16;
    let square = x.times(x, 2 * wide);
    let doubled = square.scaled(1);
    let mut sum = Ball::integer(1);
    let mut term = Ball::integer(1);
    let mut factor = 1;
    while term.top() > -wide {
        term = term.times(&Ball::integer(-factor), wide).over(&doubled, wide);
        sum = sum.plus(&term, wide);
        factor += 2;
    }
    let decay = kernels::exp(&square.negated(), wide);
    let divisor = x.times(&Ball::pi(wide).square_root(wide), wide);
    sum.widened(term.top()).times(&decay, wide).over(&divisor, bits)
}

/// Above this, the gamma function is larger than any float.
const LARGEST_GAMMA: i64 = 172;
/// Below minus this, it is smaller.
const SMALLEST_GAMMA: i64 = 190;
/// Below two to this, it is its pole's hyperbola to all the bits that can matter.
const HYPERBOLA: i64 = -120;

/// Whether the gamma function has a pole or an infinity of undefined sign here.
fn is_pole(x: F64) -> bool {
    x.0 == F64::NEG_INFINITY.0 || x.is_zero() || (x.is_negative() && x.is_integer())
}

/// `math.gamma(x)`.
pub fn gamma(x: F64) -> Outcome {
    if x.is_nan() || x.0 == F64::INFINITY.0 {
        return Ok(x);
    }
    if is_pole(x) {
        return Err(MathError::Domain);
    }
    if x >= F64::from_i64(LARGEST_GAMMA) {
        return Err(MathError::Range);
    }
    if x < F64::from_i64(-SMALLEST_GAMMA) {
        // Between its poles the sign alternates.
        let odd = !(x.floor() * F64::HALF).is_integer();
        return Ok(if odd { F64::NEG_ZERO } else { F64::ZERO });
    }
    if let Some(exact) = x.to_i64().filter(|_| x.is_integer()).and_then(|whole| factorial(&IBig::from(whole - 1)).ok()) {
        return F64::from_int(&exact).ok_or(MathError::Range);
    }
    let ball = Ball::of(x);
    finite(correctly_rounded(|bits| gamma_ball(&ball, x, bits)))
}

/// Gamma of an `x` that is no pole, from [`gamma_from_one_to_two`] by `gamma(x + 1) = x gamma(x)`.
fn gamma_ball(ball: &Ball, x: F64, bits: i64) -> Ball {
    if ball.top() < HYPERBOLA {
        return Ball::integer(1).over(ball, bits).widened(0);
    }
    let wide = bits + 16;
    let steps = x.floor().to_i64().expect("the caller bounds x") - 1;
    let start = ball.plus(&Ball::integer(-steps), EXACT);
    let mut product = Ball::integer(1);
    for step in 0..steps.abs() {
        let offset = if steps > 0 { step } else { -1 - step };
        product = product.times(&start.plus(&Ball::integer(offset), EXACT), wide);
    }
    let start = gamma_from_one_to_two(&start, wide);
    if steps >= 0 { start.times(&product, bits) } else { start.over(&product, bits) }
}

/// More bits than a sum of a float above 2^-120 and an integer has.
const EXACT: i64 = 300;

/// Gamma of an exact `y` in `1 <= y < 2`, as the integral up to a bound, which is a series of positive terms:
/// `n^y e^-n (1/y + n/(y(y+1)) + n^2/(y(y+1)(y+2)) + …)`. The rest of the integral is below `(n + 1) e^-n`.
fn gamma_from_one_to_two(y: &Ball, bits: i64) -> Ball {
    let bound = (bits + 20) * 7 / 10;
    let places = bits + 16;
    let own_places = y.places();
    let (fixed, _) = y.fixed_point(own_places);
    let unit = IBig::ONE << usize::try_from(own_places).expect("not negative");
    let factor = IBig::from(bound) * &unit;
    let mut divisor = fixed;
    let mut term = (IBig::ONE << usize::try_from(places + own_places).expect("positive")) / &divisor;
    let mut sum = term.clone();
    let mut count: u64 = 1;
    while !term.is_zero() {
        divisor += &unit;
        term = (&term * &factor) / &divisor;
        sum += &term;
        count += 1;
    }
    // Each of `count` terms is off by at most `4 * count` units of 2^-places relative to itself, and by
    // `4 * count` units absolutely.
    let error_length = 4 + 2 * i64::from(64 - count.leading_zeros());
    let sum = Ball::exact(sum, -places);
    let sum = sum.widened(sum.top() - places + error_length);
    let wide = bits + 16;
    let bound = Ball::integer(bound);
    let logarithm = kernels::log(&bound, wide).times(y, wide).minus(&bound, wide);
    sum.times(&kernels::exp(&logarithm, wide), bits).widened(-bits)
}

/// `math.lgamma(x)`: the natural logarithm of gamma's magnitude.
pub fn lgamma(x: F64) -> Outcome {
    if x.is_nan() {
        return Ok(x);
    }
    if x.is_infinite() {
        return Ok(F64::INFINITY);
    }
    if is_pole(x) {
        return Err(MathError::Domain);
    }
    if x == F64::ONE || x == F64::TWO {
        return Ok(F64::ZERO);
    }
    let ball = Ball::of(x);
    if ball.top() < HYPERBOLA {
        // The logarithm of the hyperbola; the rest is below |x|.
        return finite(correctly_rounded(|bits| kernels::log(&Ball::of(x.abs()), bits).negated().widened(ball.top())));
    }
    let far = F64::from_i64(170);
    finite(correctly_rounded(|bits| {
        if x.abs() < far {
            let value = gamma_ball(&ball, x, bits + 64);
            return kernels::log(&if value.is_negative() { value.negated() } else { value }, bits);
        }
        if !x.is_negative() {
            return stirling(&ball, bits);
        }
        reflected(&ball, x, bits)
    }))
}

/// `ln |gamma x|` of a negative `x` far from zero: `ln(pi / |x sin(pi x)|) - ln gamma(-x)`.
fn reflected(ball: &Ball, x: F64, bits: i64) -> Ball {
    let wide = bits + 64;
    let fraction = Ball::of(x - x.floor());
    let sine = kernels::sin_cos(&Ball::pi(wide).times(&fraction, wide), wide).0;
    let magnitude = ball.negated();
    let ratio = Ball::pi(wide).over(&magnitude.times(&sine, wide), wide);
    kernels::log(&ratio, wide).minus(&stirling(&magnitude, wide), wide)
}

/// Stirling's series of `ln gamma(x)` for `x >= 170`.
fn stirling(x: &Ball, bits: i64) -> Ball {
    let wide = bits + 16;
    let half = Ball::integer(1).scaled(-1);
    let logarithm = kernels::log(x, wide);
    let tau = Ball::pi(wide).scaled(1);
    let mut sum = x.minus(&half, wide).times(&logarithm, wide).minus(x, wide).plus(&kernels::log(&tau, wide).scaled(-1), wide);
    let least = sum.top() - bits - 8;
    let square = x.times(x, wide);
    let mut power = x.clone();
    for (index, (numerator, denominator)) in (1..).zip(bernoulli_numbers(term_count(bits))) {
        let factor = Ball::exact(denominator * IBig::from(2 * index * (2 * index - 1)), 0);
        let term = Ball::exact(numerator, 0).over(&power.times(&factor, wide), wide);
        sum = sum.plus(&term, wide);
        // What is left out is less than the last term taken in.
        if term.top() < least {
            return sum.widened(term.top()).cut(bits);
        }
        power = power.times(&square, wide);
    }
    // Too few terms for that many bits: no float tells.
    Ball::new(IBig::ZERO, 0, u64::MAX)
}

/// Terms of Stirling's series that surely suffice: above 170 each of the first hundreds is worth six bits.
fn term_count(bits: i64) -> usize {
    usize::try_from(bits / 6 + 8).expect("a working precision is positive")
}

/// The Bernoulli numbers B2, B4, …, as fractions, from the tangent numbers.
fn bernoulli_numbers(count: usize) -> Vec<(IBig, IBig)> {
    let mut tangents = vec![UBig::ONE];
    for k in 1..count {
        tangents.push(&tangents[k - 1] * UBig::from(k));
    }
    for k in 1..count {
        for j in k..count {
            tangents[j] = &tangents[j - 1] * UBig::from(j - k) + &tangents[j] * UBig::from(j - k + 2);
        }
    }
    (1..)
        .zip(tangents)
        .map(|(k, tangent)| {
            let power = IBig::ONE << (2 * k);
            let numerator = IBig::from(tangent) * IBig::from(2 * k);
            let signed = if k % 2 == 1 { numerator } else { -numerator };
            (signed, &power * (&power - IBig::ONE))
        })
        .collect()
}
