//! The four functions that all others are made of: exp, log, sine with cosine, and arc tangent, on balls.

use dashu_int::IBig;

use super::ball::Ball;
use super::constants::ATAN_EIGHTHS;
use crate::sizes;

/// Binary places of the numbers that start an iteration.
const START_PLACES: u32 = 62;

/// Below two to this, the plain series of log and arc tangent converge fast enough by themselves.
const SMALL: i64 = -20;

fn places_of(bits: i64) -> usize {
    usize::try_from(bits).expect("a working precision is positive")
}

/// `e^x`. The middle's magnitude must be below 2^40.
pub(crate) fn exp(x: &Ball, bits: i64) -> Ball {
    let wide = bits + 8 + x.top().max(0);
    let ln_2 = Ball::ln_2(wide);
    let twos = x.over(&ln_2, x.top().max(0) + 8).nearest_integer();
    let reduced = x.minus(&Ball::exact(twos.clone(), 0).times(&ln_2, wide), wide);
    // |reduced| < 0.36; halve it k times, sum the series, square k times.
    let halvings = bits.isqrt() / 2;
    let places = bits + halvings + 8;
    let (fixed, input_error) = reduced.fixed_point(places);
    let scale = places_of(places);
    let divided = &fixed >> places_of(halvings);
    let one = IBig::ONE << scale;
    let mut sum = &one + &divided;
    let mut term = divided.clone();
    let mut terms: u64 = 2;
    while !is_negligible(&term) {
        term = ((&term * &divided) >> scale) / IBig::from(terms);
        sum += &term;
        terms += 1;
    }
    for _ in 0..halvings {
        sum = (&sum * &sum) >> scale;
    }
    // Each term is off by less than three units, dividing the argument by one; each squaring of a number below
    // 1.5 a little more than doubles the error and adds a unit. An input error is stretched by at most e^0.4.
    let doublings = 1u64 << (halvings + 1).min(62);
    let error = (3 * terms + 4).saturating_mul(doublings).saturating_add(input_error.saturating_mul(2));
    let shift = i64::try_from(&twos).unwrap_or(if x.is_negative() { -(1 << 50) } else { 1 << 50 });
    Ball::new(sum, shift - places, error).cut(bits)
}

fn is_negligible(term: &IBig) -> bool {
    term.is_zero() || *term == IBig::NEG_ONE
}

/// `ln x` of a ball whose middle is positive.
pub(crate) fn log(x: &Ball, bits: i64) -> Ball {
    // x = mantissa * 2^twos with the mantissa between 0.7 and 1.42.
    let top = x.top();
    let (sixty_two, _) = x.scaled(-top).fixed_point(i64::from(START_PLACES));
    let leading = i128::try_from(&sixty_two).expect("below one, so at most 62 bits");
    let twos = if leading < 0x2d41_3ccc_fe77_9921 { top - 1 } else { top };
    let mantissa = x.scaled(-twos);
    let one = Ball::integer(1);
    let near_one = mantissa.minus(&one, bits + 64);
    let of_mantissa = if near_one.is_zero() {
        near_one
    } else if near_one.top() < SMALL {
        log_near_one(&mantissa, &near_one, bits)
    } else {
        let start = start_of_log(if twos == top { leading } else { leading << 1 });
        let start = Ball::exact(IBig::from(start), -i64::from(START_PLACES));
        let wide = bits + 8;
        let quotient = mantissa.times(&exp(&start.negated(), wide), wide);
        start.plus(&log_near_one(&quotient, &quotient.minus(&one, wide), bits), wide)
    };
    if twos == 0 {
        return of_mantissa.cut(bits);
    }
    let wide = bits + 16;
    of_mantissa.plus(&Ball::integer(twos).times(&Ball::ln_2(wide), wide), wide).cut(bits)
}

/// `ln q` where `q - 1`, given too, is small: twice the area tangent of `(q - 1) / (q + 1)`.
fn log_near_one(quotient: &Ball, less_one: &Ball, bits: i64) -> Ball {
    let ratio = less_one.over(&quotient.plus(&Ball::integer(1), bits + 64), bits + 4);
    odd_series(&ratio, bits, false).scaled(1)
}

/// `x + x^3/3 + x^5/5 + …`, or with alternating signs, for `|x| < 2^-19`.
fn odd_series(x: &Ball, bits: i64, alternating: bool) -> Ball {
    let wide = bits + 8;
    let square = x.times(x, wide);
    let square = if alternating { square.negated() } else { square };
    let mut sum = x.clone().cut(wide);
    let mut power = sum.clone();
    let mut divisor = 3;
    let first = x.top();
    loop {
        power = power.times(&square, wide);
        let term = power.over(&Ball::integer(divisor), wide);
        // What follows a term is less than twice its size.
        if term.top() < first - bits - 2 {
            return sum.widened(first - bits).cut(bits);
        }
        sum = sum.plus(&term, wide);
        divisor += 2;
    }
}

/// `ln m` of `m` between 0.7 and 1.42, both to 62 binary places, nearly all of them right.
fn start_of_log(mantissa: i128) -> i128 {
    let one = 1i128 << START_PLACES;
    let ratio = ((mantissa - one) << START_PLACES) / (mantissa + one);
    let square = (ratio * ratio) >> START_PLACES;
    let mut power = ratio;
    let mut sum = ratio;
    for divisor in (3..27).step_by(2) {
        power = (power * square) >> START_PLACES;
        sum += power / divisor;
    }
    2 * sum
}

/// `(sin x, cos x)`; each with about `bits` significant bits.
pub(crate) fn sin_cos(x: &Ball, bits: i64) -> (Ball, Ball) {
    // The worst floats come within 2^-61 of a multiple of a quarter turn.
    let wide = bits + 72 + x.top().max(0);
    let quarter = Ball::pi(wide).scaled(-1);
    let turns = if x.top() < 0 { IBig::ZERO } else { x.over(&quarter, x.top() + 8).nearest_integer() };
    let reduced = if turns.is_zero() { x.clone() } else { x.minus(&Ball::exact(turns.clone(), 0).times(&quarter, wide), wide) };
    let (sine, cosine) = (sine_of_reduced(&reduced, bits), cosine_of_reduced(&reduced, bits));
    match i64::try_from(turns & IBig::from(3)).expect("a residue of four") {
        0 => (sine, cosine),
        1 => (cosine, sine.negated()),
        2 => (sine.negated(), cosine.negated()),
        _ => (cosine.negated(), sine),
    }
}

fn sine_of_reduced(x: &Ball, bits: i64) -> Ball {
    // The smaller the angle, the more places, so that as many bits of the sine are right.
    let places = bits + 12 - x.top().min(0);
    trigonometric_series(x, places, 2).cut(bits)
}

fn cosine_of_reduced(x: &Ball, bits: i64) -> Ball {
    trigonometric_series(x, bits + 12, 1).cut(bits)
}

/// The series of the sine (from divisor 2 on) or cosine (from 1 on) of an angle up to 0.8.
fn trigonometric_series(x: &Ball, places: i64, first_divisor: u64) -> Ball {
    let (fixed, input_error) = x.fixed_point(places);
    let scale = places_of(places);
    let square = (&fixed * &fixed) >> scale;
    let mut term = if first_divisor == 1 { IBig::ONE << scale } else { fixed };
    let mut sum = term.clone();
    let mut divisor = first_divisor;
    while !is_negligible(&term) {
        term = -(((&term * &square) >> scale) / IBig::from(divisor * (divisor + 1)));
        sum += &term;
        divisor += 2;
    }
    // Each term is off by less than three units, and no slope exceeds one.
    Ball::new(sum, -places, (3 * divisor + 4).saturating_add(input_error))
}

/// `atan x`.
pub(crate) fn atan(x: &Ball, bits: i64) -> Ball {
    if x.is_negative() {
        return atan(&x.negated(), bits).negated();
    }
    let wide = bits + 8;
    if x.top() > 0 {
        let quarter = Ball::pi(wide).scaled(-1);
        return quarter.minus(&atan_up_to_one(&Ball::integer(1).over(x, wide), wide), wide).cut(bits);
    }
    atan_up_to_one(x, bits)
}

fn atan_up_to_one(x: &Ball, bits: i64) -> Ball {
    if x.top() < SMALL {
        return odd_series(x, bits, true);
    }
    let wide = bits + 8;
    let (sixty_two, _) = x.fixed_point(i64::from(START_PLACES));
    let start = start_of_atan(i128::try_from(&sixty_two).expect("at most one, so at most 63 bits"));
    let start = Ball::exact(IBig::from(start), -i64::from(START_PLACES));
    let (sine, cosine) = sin_cos(&start, wide);
    // The tangent of the difference of the two angles.
    let rest = x.times(&cosine, wide).minus(&sine, wide).over(&cosine.plus(&x.times(&sine, wide), wide), wide);
    start.plus(&odd_series(&rest, bits, true), wide).cut(bits)
}

/// `atan x` of `x` between 0 and 1, both to 62 binary places, nearly all of them right.
fn start_of_atan(x: i128) -> i128 {
    let one = 1i128 << START_PLACES;
    let eighth = (x * 8 + one / 2) >> START_PLACES;
    let near = eighth * (one / 8);
    let ratio = ((x - near) << START_PLACES) / (one + ((x * near) >> START_PLACES));
    let square = (ratio * ratio) >> START_PLACES;
    let mut power = ratio;
    let mut sum = sizes::index(eighth).and_then(|index| ATAN_EIGHTHS.get(index)).copied().unwrap_or(0) + ratio;
    for divisor in (3..19).step_by(2) {
        power = -((power * square) >> START_PLACES);
        sum += power / divisor;
    }
    sum
}
