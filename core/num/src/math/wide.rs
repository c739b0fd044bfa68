//! The functions that programs call most, in 128-bit fixed point: a first try that nearly always tells the
//! nearest float, fifty times faster than [`super::ball`], which answers where this cannot.
//!
//! Each result carries a bound on its error, counted up in the comments in units of its last place ("units").

use super::F64;
use super::wide_tables::{
    COSINES, EXP_64THS, EXP_4096THS, FINE_LOGARITHMS, FINE_RECIPROCALS, INVERSE_FACTORIALS, INVERSES, LOGARITHMS, RECIPROCALS, SINES,
    TWO_OVER_PI,
};
use crate::sizes;
use crate::softfloat::{SIGN_BIT, round_scaled};

/// A number within `error` of `magnitude`, times two to the `exponent`.
struct Estimate {
    negative: bool,
    magnitude: u128,
    exponent: i32,
    error: u128,
}

impl Estimate {
    /// The one float that every number within the error rounds to.
    fn rounded(&self) -> Option<F64> {
        let sign = if self.negative { SIGN_BIT } else { 0 };
        let low = round_scaled(sign, self.magnitude.checked_sub(self.error)?, self.exponent, false);
        let high = round_scaled(sign, self.magnitude.checked_add(self.error)?, self.exponent, false);
        (low.0 == high.0).then_some(low)
    }

    /// Times a constant given to 128 binary places after a power of two, `constant * 2^(scale - 128)`.
    fn times(&self, constant: u128, scale: i32) -> Option<Estimate> {
        let zeros = self.magnitude.leading_zeros();
        let magnitude = multiply_high(self.magnitude.checked_shl(zeros)?, constant);
        let error = (self.error << zeros).checked_add(4)?;
        let shift = i32::try_from(zeros).ok()?;
        Some(Estimate { magnitude, exponent: self.exponent - shift + scale, error, ..*self })
    }
}

const LOW: u128 = 0xffff_ffff_ffff_ffff;

/// The high half of the product, too low by two at most.
#[inline]
const fn multiply_high(a: u128, b: u128) -> u128 {
    let (a_high, a_low, b_high, b_low) = (a >> 64, a & LOW, b >> 64, b & LOW);
    let (left, right) = (a_high * b_low, a_low * b_high);
    a_high * b_high + (left >> 64) + (right >> 64) + (((left & LOW) + (right & LOW)) >> 64)
}

/// Binary places of an exponential's argument.
const ARGUMENT_PLACES: i32 = 116;
/// ln 2 to those places, and 64 more.
const LN_2: i128 = 0x000b_1721_7f7d_1cf7_9abc_9e3b_3980_3f2f;
const LN_2_MORE: i128 = 0x6af4_0f34_3267_298b;
/// 1 / ln 2 to 60 places.
const LOG2_E: i128 = 0x1715_4765_2b82_fe17;
/// Arguments beyond this overflow or vanish: the slow way tells which.
const LARGEST_ARGUMENT: u128 = 760 << ARGUMENT_PLACES;

/// `e^x` of an `x` given to 116 places, with its error in units of those.
fn exp_of_fixed(negative: bool, magnitude: u128, error: u128) -> Option<Estimate> {
    if magnitude > LARGEST_ARGUMENT || error > 1 << 64 {
        return None;
    }
    let x = i128::try_from(magnitude).ok()?;
    let x = if negative { -x } else { x };
    let mut twos = ((x >> 76) * LOG2_E) >> 100;
    let mut rest = x - twos * LN_2 - ((twos * LN_2_MORE) >> 64);
    if rest < 0 {
        rest += LN_2;
        twos -= 1;
    } else if rest >= LN_2 {
        rest -= LN_2;
        twos += 1;
    }
    // To 128 places; 0 <= rest < ln 2. Twelve more bits stand for the coarser argument and two units of ln 2.
    let rest = u128::try_from(rest).ok()? << 12;
    let error = ((error + 4) << 12) + 64;
    let (coarse, fine) = (rest >> 122, (rest >> 116) & 63);
    let small = rest & ((1 << 116) - 1);
    // (e^small - 1 - small) / small^2, for small below 2^-12: up to the term that is worth 2^-126.
    let mut series = INVERSE_FACTORIALS[7];
    for coefficient in INVERSE_FACTORIALS[..7].iter().rev() {
        series = coefficient + multiply_high(small, series);
    }
    let less_one = small + multiply_high(small, multiply_high(small, series));
    let table = multiply_high(*EXP_64THS.get(sizes::index(coarse)?)?, *EXP_4096THS.get(sizes::index(fine)?)?) << 1;
    let magnitude = table.checked_add(multiply_high(table, less_one))?;
    Some(Estimate { negative: false, magnitude, exponent: i32::try_from(twos).ok()? - 127, error })
}

/// `|x|` to 116 places, and its error.
fn fixed_argument(x: F64) -> Option<(u128, u128)> {
    let (significand, exponent) = x.significand_and_exponent();
    let significand = u128::from(significand);
    let shift = exponent + ARGUMENT_PLACES;
    if shift >= 0 {
        let distance = u32::try_from(shift).ok().filter(|&distance| distance <= 74)?;
        return Some((significand << distance, 0));
    }
    Some((significand.checked_shr(shift.unsigned_abs()).unwrap_or(0), 1))
}

/// `e^x`, infinity if it is too large.
pub(super) fn exp(x: F64) -> Option<F64> {
    exp_estimate(x)?.rounded()
}

fn exp_estimate(x: F64) -> Option<Estimate> {
    let (magnitude, error) = fixed_argument(x)?;
    exp_of_fixed(x.is_negative(), magnitude, error)
}

/// Binary places of a logarithm.
const LOG_PLACES: i32 = 117;
/// ln 2 to those places, and 64 more.
const LN_2_LOG: i128 = 0x0016_2e42_fefa_39ef_3579_3c76_7300_7e5e;
const LN_2_LOG_MORE: i128 = 0xd5e8_1e68_64ce_5316;

/// `ln x` to 117 places, within four units, of a positive `x` that is not one.
fn log_fixed(x: F64) -> Option<i128> {
    let (mantissa, exponent) = x.frexp();
    // The mantissa is normal: 1 <= m < 2 with 52 places, and x = m * 2^twos.
    let (significand, _) = mantissa.significand_and_exponent();
    let twos = i128::from(exponent) - 1;
    let index = sizes::index((significand >> 45) & 127)?;
    // Times a reciprocal of nine bits: 1 + g to 61 places, |g| < 2^-7.
    let near = significand * RECIPROCALS.get(index)?;
    let step = (near.cast_signed() - (1 << 61) + (1 << 47)) >> 48;
    let fine_index = sizes::index(step + 72)?;
    // Times another of 16 bits: 1 + f to 77 places, exactly, |f| < 2^-13.
    let nearer = u128::from(near) * u128::from(*FINE_RECIPROCALS.get(fine_index)?);
    let (below_one, distance) = if nearer < 1 << 77 { (true, (1 << 77) - nearer) } else { (false, nearer - (1 << 77)) };
    let f = distance << 51;
    // ln(1 + f) up to the eighth power; the ninth is worth less than 2^-119.
    let mut series = INVERSES[6];
    for inverse in INVERSES[..6].iter().rev() {
        let term = multiply_high(f, series);
        series = if below_one { inverse + term } else { inverse - term };
    }
    let curve = multiply_high(f, multiply_high(f, series));
    let of_f = if below_one { -i128::try_from((f + curve) >> 1).ok()? } else { i128::try_from((f - curve) >> 1).ok()? };
    let of_mantissa = (LOGARITHMS.get(index)? + FINE_LOGARITHMS.get(fine_index)? + of_f) >> 10;
    Some(twos * LN_2_LOG + ((twos * LN_2_LOG_MORE) >> 64) + of_mantissa)
}

fn log_estimate(x: F64) -> Option<Estimate> {
    let value = log_fixed(x)?;
    Some(Estimate { negative: value < 0, magnitude: value.unsigned_abs(), exponent: -LOG_PLACES, error: 4 })
}

/// `ln x` of a positive `x` that is not one.
pub(super) fn log(x: F64) -> Option<F64> {
    log_estimate(x)?.rounded()
}

/// `log2 x` of a positive `x` that is no power of two.
pub(super) fn log2(x: F64) -> Option<F64> {
    log_estimate(x)?.times(0xb8aa_3b29_5c17_f0bb_be87_fed0_691d_3e88, 1)?.rounded()
}

/// `log10 x` of a positive `x` that is no power of ten.
pub(super) fn log10(x: F64) -> Option<F64> {
    log_estimate(x)?.times(0x6f2d_ec54_9b94_38ca_9aad_d557_d699_ee19, 0)?.rounded()
}

/// `x^y` of a positive `x` that is not one and a finite `y` that is not zero; infinity if it is too large.
pub(super) fn pow(x: F64, y: F64) -> Option<F64> {
    pow_estimate(x, y)?.rounded()
}

fn pow_estimate(x: F64, y: F64) -> Option<Estimate> {
    let logarithm = log_fixed(x)?;
    let (mantissa, exponent) = y.frexp();
    let (factor, _) = mantissa.significand_and_exponent();
    let (size, factor) = (logarithm.unsigned_abs(), u128::from(factor));
    // |y ln x| to 64 places fewer: within four units, the logarithm's own error being below one.
    let product = (size >> 64) * factor + (((size & LOW) * factor) >> 64);
    // y = factor * 2^(exponent - 53).
    let shift = exponent - 53 + 64 + ARGUMENT_PLACES - LOG_PLACES;
    let (magnitude, error) = if shift >= 0 {
        let distance = u32::try_from(shift).ok().filter(|&distance| distance < 60 && distance < product.leading_zeros())?;
        (product << distance, 4 << distance)
    } else {
        (product.checked_shr(shift.unsigned_abs()).unwrap_or(0), 5)
    };
    exp_of_fixed((logarithm < 0) != y.is_negative(), magnitude, error)
}

/// `2 * pi / 4` to 127 places.
const QUARTER_TURN: u128 = 0xc90f_daa2_2168_c234_c4c6_628b_80dc_1cd1;

/// Quarter turns in `|x|`: the whole ones modulo four, and the rest to 126 places, less than one and a unit off.
fn quarter_turns(x: F64) -> Option<(u32, u128)> {
    let (significand, exponent) = x.significand_and_exponent();
    // Bits of 2 / pi that only make multiples of four are left out: the window starts after them.
    let skipped = sizes::saturating(exponent - 2);
    let (word, shift) = (skipped / 64, skipped % 64);
    let mut window = [0u64; 3];
    for (place, pair) in window.iter_mut().zip(TWO_OVER_PI.get(word..word + 4)?.windows(2)) {
        *place = if shift == 0 { pair[0] } else { (pair[0] << shift) | (pair[1] >> (64 - shift)) };
    }
    let [high, middle, low] = window.map(u128::from);
    let significand = u128::from(significand);
    // The product's four words, of which the lowest only carries.
    let lowest = significand * low;
    let next = significand * middle + (lowest >> 64);
    let top = significand * high + (next >> 64);
    // To 126 places: with bits skipped the product has 190, else 192 less the exponent.
    let turns = if exponent >= 2 {
        (top << 64) | (next & LOW)
    } else {
        let distance = (66 - exponent).unsigned_abs() - 64;
        let lower = (next & LOW) | (top << 64);
        let upper = top >> 64;
        match distance {
            1..64 => (lower >> distance) | (upper << (128 - distance)),
            64..128 => (lower >> distance) | (upper << (128 - distance)),
            _ => return None,
        }
    };
    Some((u32::try_from(turns >> 126).ok()?, turns & ((1 << 126) - 1)))
}

/// `(sin a, cos a)` to 127 places of an angle to as many, up to an eighth turn; 40 units off with the angle 4 off.
fn sin_cos_of_fixed(angle: u128) -> Option<(u128, u128)> {
    let index = sizes::index(angle >> 121)?;
    let (sine, cosine) = (*SINES.get(index)?, *COSINES.get(index)?);
    let rest = (angle & ((1 << 121) - 1)) << 1;
    let square = multiply_high(rest, rest);
    // With a rest below 2^-6: 1 - cos up to the fourteenth power, sin to the thirteenth.
    let series = |powers: [usize; 6]| {
        let [last, others @ ..] = powers;
        others.iter().fold(INVERSE_FACTORIALS[last - 2], |sum, &power| INVERSE_FACTORIALS[power - 2] - multiply_high(square, sum))
    };
    let tail = INVERSE_FACTORIALS[0] - multiply_high(square, series([14, 12, 10, 8, 6, 4]));
    let versine = multiply_high(square, tail);
    let small_sine = rest - multiply_high(rest, multiply_high(square, series([13, 11, 9, 7, 5, 3])));
    Some((
        sine - multiply_high(sine, versine) + multiply_high(cosine, small_sine),
        cosine - multiply_high(cosine, versine) - multiply_high(sine, small_sine),
    ))
}

/// The sine (of `x` and a quarter turn if `shifted`).
fn sine(x: F64, shifted: bool) -> Option<Estimate> {
    let (mut turns, mut rest) = quarter_turns(x)?;
    let mut backward = false;
    if rest > 1 << 125 {
        rest = (1 << 126) - rest;
        turns += 1;
        backward = true;
    }
    let angle = multiply_high(rest << 2, QUARTER_TURN);
    let (sine, cosine) = sin_cos_of_fixed(angle)?;
    let turns = turns + u32::from(shifted);
    let (magnitude, mut negative) = if turns & 1 == 0 { (sine, backward) } else { (cosine, false) };
    negative ^= turns & 2 == 2;
    // The cosine is even, the sine odd.
    negative ^= x.is_negative() && !shifted;
    Some(Estimate { negative, magnitude, exponent: -127, error: 64 })
}

/// `sin x` of a finite `x`.
pub(super) fn sin(x: F64) -> Option<F64> {
    sine(x, false)?.rounded()
}

/// `cos x` of a finite `x`.
pub(super) fn cos(x: F64) -> Option<F64> {
    sine(x, true)?.rounded()
}

#[cfg(test)]
mod tests {
    //! the error bounds counted up above hold against the slow way with 300 bits.

    use dashu_int::IBig;

    use super::super::ball::Ball;
    use super::super::kernels;
    use super::*;

    const BITS: i64 = 300;

    fn random(state: &mut u64) -> u64 {
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 29) ^ *state
    }

    /// A float whose exponent lies in a range.
    fn float(state: &mut u64, least: i64, most: i64) -> F64 {
        let fraction = random(state) & ((1 << 52) - 1);
        let span = (most - least).unsigned_abs();
        let field = (1023 + least).unsigned_abs() + random(state) % span;
        F64(fraction | (field << 52))
    }

    fn check(name: &str, x: F64, estimate: Option<Estimate>, truth: &Ball) {
        let Some(estimate) = estimate else { return };
        let sign = if estimate.negative { -1 } else { 1 };
        let ours = Ball::exact(IBig::from(estimate.magnitude) * IBig::from(sign), i64::from(estimate.exponent));
        let off = ours.minus(truth, BITS).middle().abs();
        let bound = Ball::exact(IBig::from(estimate.error), i64::from(estimate.exponent)).middle();
        assert!(off <= bound, "{name} {x:?} is off by {off:?}, not {bound:?}");
    }

    #[test]
    fn a_68_error_bounds_hold() {
        let mut state = 68;
        for _ in 0..20_000 {
            let x = float(&mut state, -20, 9);
            let x = if random(&mut state) & 64 == 0 { x } else { -x };
            check("exp", x, exp_estimate(x), &kernels::exp(&Ball::of(x), BITS));
            let x = float(&mut state, -30, 40);
            let (sine_of_x, cosine_of_x) = kernels::sin_cos(&Ball::of(x), BITS);
            check("sin", x, sine(x, false), &sine_of_x);
            check("cos", x, sine(x, true), &cosine_of_x);
            let x = float(&mut state, -70, 70);
            let logarithm = kernels::log(&Ball::of(x), BITS);
            check("log", x, log_estimate(x), &logarithm);
            let y = float(&mut state, -10, 7);
            check("pow", x, pow_estimate(x, y), &kernels::exp(&logarithm.times(&Ball::of(y), BITS), BITS));
        }
    }
}
