//! Real numbers known up to an error: a middle and how far off it may be.
//!
//! Every operation returns a ball that surely holds the true result, cut to about as many bits as asked. So the
//! formulas above this file need no error analysis of their own: if a result's ball rounds to one float, that
//! float is right, and otherwise the formula runs again with more bits.

use dashu_int::ops::{BitTest, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};

use super::constants;
use crate::F64;
use crate::int::bit_length;
use crate::softfloat::{SIGN_BIT, round_scaled};

/// All reals within `error * 2^exponent` of `middle * 2^exponent`.
#[derive(Clone, Debug)]
pub(crate) struct Ball {
    middle: IBig,
    exponent: i64,
    /// `u64::MAX` stands for "no idea": such a ball never rounds.
    error: u64,
}

/// `error * 2^shift`, rounded up.
fn scale_error(error: u64, shift: i64) -> u64 {
    if error == 0 || error == u64::MAX {
        return error;
    }
    if shift <= 0 {
        return match u32::try_from(-shift) {
            Ok(distance @ 0..64) => (error >> distance) + 1,
            _ => 1,
        };
    }
    match u32::try_from(shift) {
        Ok(distance) if distance < error.leading_zeros() => error << distance,
        _ => u64::MAX,
    }
}

/// An error is kept to about this many bits: more only say that fewer of the middle's are right.
const ERROR_BITS: i64 = 40;

fn bits_in(error: u64) -> i64 {
    64 - i64::from(error.leading_zeros())
}

fn sum_errors(errors: &[u64]) -> u64 {
    errors.iter().fold(0, |sum, &error| sum.saturating_add(error))
}

fn length(value: &IBig) -> i64 {
    i64::try_from(bit_length(value)).expect("a number in memory")
}

fn shifted(value: &IBig, shift: i64) -> IBig {
    let distance = usize::try_from(shift.unsigned_abs()).expect("a number in memory");
    if shift >= 0 { value << distance } else { value >> distance }
}

impl Ball {
    /// `middle * 2^exponent` exactly.
    pub(crate) fn exact(middle: IBig, exponent: i64) -> Ball {
        Ball { middle, exponent, error: 0 }
    }

    /// `middle * 2^exponent`, off by at most `error * 2^exponent`.
    pub(crate) fn new(middle: IBig, exponent: i64, error: u64) -> Ball {
        Ball { middle, exponent, error }
    }

    pub(crate) fn integer(value: i64) -> Ball {
        Ball::exact(IBig::from(value), 0)
    }

    /// A finite float, exactly.
    pub(crate) fn of(value: F64) -> Ball {
        let (significand, exponent) = value.significand_and_exponent();
        Ball::exact(IBig::from_parts(value.sign(), UBig::from(significand)), i64::from(exponent))
    }

    /// A constant of `constants`, to `bits` bits.
    fn constant(words: &[u64; constants::WORDS], bits: i64) -> Ball {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ball::new(IBig::from(UBig::from_le_bytes(&bytes)), -constants::PLACES, 1).cut(bits)
    }

    pub(crate) fn pi(bits: i64) -> Ball {
        Ball::constant(&constants::PI, bits)
    }

    pub(crate) fn ln_2(bits: i64) -> Ball {
        Ball::constant(&constants::LN_2, bits)
    }

    pub(crate) fn ln_10(bits: i64) -> Ball {
        Ball::constant(&constants::LN_10, bits)
    }

    /// At most this many bits, the error grown by what is cut off.
    pub(crate) fn cut(self, bits: i64) -> Ball {
        let excess = length(&self.middle) - bits;
        if excess <= 0 { self } else { self.at_exponent(self.exponent + excess) }
    }

    /// With this exponent; the middle rounds down if that is larger than before.
    fn at_exponent(&self, exponent: i64) -> Ball {
        let shift = self.exponent - exponent;
        let lost = u64::from(shift < 0);
        let error = scale_error(self.error, shift).saturating_add(lost);
        Ball { middle: shifted(&self.middle, shift), exponent, error }
    }

    /// The integer nearest to the middle times two to the `places`, and the error beside it.
    pub(crate) fn fixed_point(&self, places: i64) -> (IBig, u64) {
        let fixed = self.at_exponent(-places);
        (fixed.middle, fixed.error)
    }

    /// The ball with `2^exponent` more error.
    pub(crate) fn widened(&self, exponent: i64) -> Ball {
        let unit = self.exponent.max(exponent - ERROR_BITS);
        let ball = self.at_exponent(unit);
        Ball { error: ball.error.saturating_add(scale_error(1, exponent - unit)), ..ball }
    }

    /// The least and the greatest of the ball as integers times a power of two; `None` of "no idea".
    pub(crate) fn bounds(&self) -> Option<(IBig, IBig, i64)> {
        let error = IBig::from(Some(self.error).filter(|&error| error != u64::MAX)?);
        Some((&self.middle - &error, &self.middle + error, self.exponent))
    }

    /// The middle as an integer times a power of two.
    pub(crate) fn parts(&self) -> (&IBig, i64) {
        (&self.middle, self.exponent)
    }

    /// Binary places after the point.
    pub(crate) fn places(&self) -> i64 {
        (-self.exponent).max(0)
    }

    /// Whether this is zero, surely.
    pub(crate) fn is_zero(&self) -> bool {
        self.error == 0 && self.middle.is_zero()
    }

    /// An exponent `t` with `|middle| < 2^t`, and at least `2^(t-1)` unless it is zero.
    pub(crate) fn top(&self) -> i64 {
        self.exponent + length(&self.middle)
    }

    pub(crate) fn is_negative(&self) -> bool {
        self.middle.sign() == Sign::Negative
    }

    /// The integer nearest to the middle.
    pub(crate) fn nearest_integer(&self) -> IBig {
        if self.exponent >= 0 {
            return shifted(&self.middle, self.exponent);
        }
        // Half a unit and rounding down.
        (shifted(&self.middle, self.exponent + 1) + IBig::ONE) >> 1usize
    }

    /// Times two to the `shift`.
    pub(crate) fn scaled(&self, shift: i64) -> Ball {
        Ball { exponent: self.exponent + shift, ..self.clone() }
    }

    pub(crate) fn negated(&self) -> Ball {
        Ball { middle: -&self.middle, ..self.clone() }
    }

    /// The least exponent at which this error is still a number of moderate size.
    fn finest_exponent(&self) -> i64 {
        if self.error == 0 { i64::MIN } else { self.exponent + bits_in(self.error) - ERROR_BITS }
    }

    pub(crate) fn plus(&self, other: &Ball, bits: i64) -> Ball {
        let exponent = self
            .exponent
            .min(other.exponent)
            .max(self.top().max(other.top()) - bits - 2)
            .max(self.finest_exponent())
            .max(other.finest_exponent());
        let (a, b) = (self.at_exponent(exponent), other.at_exponent(exponent));
        Ball::new(a.middle + b.middle, exponent, sum_errors(&[a.error, b.error]))
    }

    pub(crate) fn minus(&self, other: &Ball, bits: i64) -> Ball {
        self.plus(&other.negated(), bits)
    }

    pub(crate) fn times(&self, other: &Ball, bits: i64) -> Ball {
        let (a, b) = (length(&self.middle), length(&other.middle));
        // In units of the product, one factor's error is as many bits longer as the other factor has.
        let longest_error = [(other.error, a), (self.error, b)].map(|(error, factor)| match error {
            0 => i64::MIN,
            _ => factor + bits_in(error) - ERROR_BITS,
        });
        let shift = (a + b - bits).max(longest_error[0]).max(longest_error[1]).max(0);
        let error = sum_errors(&[
            scale_error(other.error, a - shift),
            scale_error(self.error, b - shift),
            if self.error == 0 { 0 } else { scale_error(other.error, bits_in(self.error) - shift) },
            u64::from(shift > 0),
        ]);
        Ball::new(shifted(&(&self.middle * &other.middle), -shift), self.exponent + other.exponent + shift, error)
    }

    /// The quotient; "no idea" if the divisor is zero or nearly so.
    pub(crate) fn over(&self, other: &Ball, bits: i64) -> Ball {
        let (a, b) = (length(&self.middle), length(&other.middle));
        // The divisor's least magnitude must be at least a quarter of its power of two.
        if other.middle.is_zero() || (other.error != 0 && bits_in(other.error) > b - 2) {
            return Ball::new(IBig::ZERO, 0, u64::MAX);
        }
        let mut shift = bits + 2 + b - a;
        if self.error != 0 {
            shift = shift.min(ERROR_BITS - bits_in(self.error) + b - 2);
        }
        if other.error != 0 {
            shift = shift.min(ERROR_BITS - bits_in(other.error) + 2 * b - a - 2);
        }
        let shift = shift.max(0);
        let quotient = shifted(&self.middle, shift) / &other.middle;
        let error = sum_errors(&[scale_error(self.error, shift - b + 2), scale_error(other.error, length(&quotient) - b + 2), 1]);
        Ball::new(quotient, self.exponent - shift - other.exponent, error).cut(bits)
    }

    /// The square root of a ball whose middle is positive.
    pub(crate) fn square_root(&self, bits: i64) -> Ball {
        let own = length(&self.middle);
        let mut shift = 2 * bits + 2 - own;
        if self.error != 0 {
            shift = shift.min(own + 2 * (ERROR_BITS - bits_in(self.error)));
        }
        // The exponent left over must be even.
        shift = shift.max(0);
        shift += (self.exponent - shift).rem_euclid(2);
        let root = IBig::from(shifted(&self.middle, shift).unsigned_abs().sqrt());
        let error = scale_error(self.error, shift - length(&root) + 1).saturating_add(1);
        Ball::new(root, (self.exponent - shift) / 2, error).cut(bits)
    }

    /// The one float that every real in the ball rounds to; `None` if there are several.
    pub(crate) fn rounded(&self) -> Option<F64> {
        if self.error == u64::MAX {
            return None;
        }
        let low = nearest_float(&(&self.middle - IBig::from(self.error)), self.exponent);
        let high = nearest_float(&(&self.middle + IBig::from(self.error)), self.exponent);
        (low.0 == high.0).then_some(low)
    }

    /// The float nearest to the middle.
    pub(crate) fn middle(&self) -> F64 {
        nearest_float(&self.middle, self.exponent)
    }
}

/// The float nearest to `value * 2^exponent`; infinity if it is too large.
pub(crate) fn nearest_float(value: &IBig, exponent: i64) -> F64 {
    let sign = if value.sign() == Sign::Negative { SIGN_BIT } else { 0 };
    let magnitude = value.unsigned_abs();
    let excess = magnitude.bit_len().saturating_sub(120);
    let inexact = magnitude.trailing_zeros().is_some_and(|zeros| zeros < excess);
    let significand = u128::try_from(magnitude >> excess).expect("cut to 120 bits");
    let exponent = exponent + i64::try_from(excess).expect("a number in memory");
    let exponent = i32::try_from(exponent.clamp(-100_000, 100_000)).expect("clamped");
    round_scaled(sign, significand, exponent, inexact)
}

/// Runs a formula with more and more bits until its ball rounds to one float.
///
/// The formulas' exact results are never halfway between two floats (their callers take those cases out), so
/// it ends long before the last step; there the middle decides, the same on every machine.
pub(crate) fn correctly_rounded(formula: impl Fn(i64) -> Ball) -> F64 {
    const STEPS: [i64; 5] = [96, 160, 320, 640, 1200];
    let mut last = F64::NAN;
    for bits in STEPS {
        let ball = formula(bits);
        if let Some(value) = ball.rounded() {
            return value;
        }
        last = ball.middle();
    }
    last
}
