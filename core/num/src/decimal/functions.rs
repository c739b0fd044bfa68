//! Root, exponential, logarithms and powers, correctly rounded.

use dashu_int::ops::{BitTest, SquareRoot, UnsignedAbs};
use dashu_int::{IBig, UBig};

use super::{
    Decimal, DecimalError, LARGEST_EXPONENT, Outcome, PRECISION, TINY_EXPONENT, WRITTEN_EXPONENT_LIMIT, digit_count, power_of_ten,
};
use crate::half_even::divide_half_even;
use crate::math::{Ball, kernels};
use crate::sizes;

/// Bits of a first try; 28 digits are 93.
const STEPS: [i64; 4] = [160, 320, 640, 1200];

/// Runs a formula with more and more bits until its ball rounds to one decimal of the context's precision. An exact
/// result may never do so; then the last middle is close enough to tell.
fn correctly_rounded(formula: impl Fn(i64) -> Ball) -> (bool, UBig, i64) {
    let mut last = (false, UBig::ZERO, 0);
    for bits in STEPS {
        let ball = formula(bits);
        if let Some((low, high, exponent)) = ball.bounds() {
            let (low, high) = (nearest_decimal(&low, exponent), nearest_decimal(&high, exponent));
            if low == high {
                return low;
            }
        }
        let (middle, exponent) = ball.parts();
        last = nearest_decimal(middle, exponent);
    }
    last
}

/// `value * 2^exponent` with [`PRECISION`] significant digits: sign, coefficient and exponent of ten.
fn nearest_decimal(value: &IBig, exponent: i64) -> (bool, UBig, i64) {
    let magnitude = value.unsigned_abs();
    if magnitude.is_zero() {
        return (false, UBig::ZERO, 0);
    }
    let negative = *value < IBig::ZERO;
    let top = exponent + i64::try_from(magnitude.bit_len()).expect("a number in memory");
    // The digits before the point, perhaps one too many.
    let mut digits = top * 30_103 / 100_000 + 1;
    loop {
        let places = PRECISION - digits;
        let scaled = if places >= 0 { &magnitude * power_of_ten(places) } else { magnitude.clone() };
        let divisor = if places >= 0 { UBig::ONE } else { power_of_ten(-places) };
        let distance = usize::try_from(exponent.unsigned_abs()).expect("callers reduce their arguments");
        let rounded =
            if exponent >= 0 { divide_half_even(scaled << distance, &divisor) } else { divide_half_even(scaled, &(divisor << distance)) };
        match digit_count(&rounded) - PRECISION {
            0 => return (negative, rounded, -places),
            1 if rounded == power_of_ten(PRECISION) => return (negative, power_of_ten(PRECISION - 1), 1 - places),
            longer => digits += longer,
        }
    }
}

/// A finite number as a ball.
fn ball_of(negative: bool, coefficient: &UBig, exponent: i64, bits: i64) -> Ball {
    let signed = if negative { -IBig::from(coefficient.clone()) } else { IBig::from(coefficient.clone()) };
    let power = Ball::exact(IBig::from(power_of_ten(exponent.abs())), 0);
    if exponent >= 0 { Ball::exact(signed, 0).times(&power, bits) } else { Ball::exact(signed, 0).over(&power, bits) }
}

/// `ln(coefficient * 10^exponent)`, without the power of ten itself, which may be huge.
fn log_ball(coefficient: &UBig, exponent: i64, bits: i64) -> Ball {
    // Near one the parts cancel, and so they are multiplied out first.
    if exponent.abs() <= 2 * digit_count(coefficient) + 8 {
        return kernels::log(&ball_of(false, coefficient, exponent, bits + 64), bits);
    }
    let tens = Ball::integer(exponent).times(&Ball::ln_10(bits + 24), bits + 24);
    kernels::log(&Ball::exact(IBig::from(coefficient.clone()), 0), bits + 24).plus(&tens, bits)
}

/// `e^x` as a decimal, `x` given as a ball.
fn exp_rounded(argument: impl Fn(i64) -> Ball) -> (UBig, i64) {
    let tens = argument(96).over(&Ball::ln_10(96), 96).nearest_integer();
    let shift = i64::try_from(&tens).unwrap_or(0);
    let (_, coefficient, exponent) = correctly_rounded(|bits| {
        let wide = bits + 40;
        let reduced = argument(wide).minus(&Ball::exact(tens.clone(), 0).times(&Ball::ln_10(wide), wide), wide);
        kernels::exp(&reduced, bits)
    });
    (coefficient, exponent + shift)
}

impl Decimal {
    /// `self.sqrt()`.
    pub fn square_root(&self) -> Outcome {
        if let Some(outcome) = self.as_nan() {
            return outcome;
        }
        let Some((coefficient, exponent)) = self.parts() else {
            return if self.negative { Err(DecimalError::InvalidOperation) } else { Ok(self.clone()) };
        };
        if coefficient.is_zero() {
            return Decimal::zero(self.negative, exponent >> 1).fitted();
        }
        if self.negative {
            return Err(DecimalError::InvalidOperation);
        }
        // One more digit than the precision, an even exponent, and a last digit that shows inexactness.
        let mut half = exponent >> 1;
        let (radicand, half_length) = if exponent & 1 == 1 {
            (coefficient * UBig::from(10u8), (digit_count(coefficient) >> 1) + 1)
        } else {
            (coefficient.clone(), (digit_count(coefficient) + 1) >> 1)
        };
        let shift = PRECISION + 1 - half_length;
        let power = power_of_ten(2 * shift.abs());
        let (scaled, mut exact) = if shift >= 0 {
            (radicand * power, true)
        } else {
            let quotient = &radicand / &power;
            let whole = &quotient * &power == radicand;
            (quotient, whole)
        };
        half -= shift;
        let mut root = scaled.sqrt();
        exact &= &root * &root == scaled;
        if exact {
            root = if shift >= 0 { root / power_of_ten(shift) } else { root * power_of_ten(-shift) };
            half += shift;
        } else if (&root % 5u8) == 0 {
            root += UBig::ONE;
        }
        Decimal::finite(false, root, half).fitted()
    }

    /// `self.exp()`.
    pub fn exponential(&self) -> Outcome {
        if let Some(outcome) = self.as_nan() {
            return outcome;
        }
        let Some((coefficient, exponent)) = self.parts() else {
            return Ok(if self.negative { Decimal::zero(false, 0) } else { self.clone() });
        };
        if coefficient.is_zero() {
            return Ok(Decimal::from_i64(1));
        }
        let adjusted = self.adjusted();
        // e^(10^8) is far beyond the largest exponent.
        if adjusted >= 8 {
            return overflow_or_underflow(false, !self.negative);
        }
        if adjusted < -PRECISION - 1 {
            // One and less than a unit: the hair decides the rounding, not the result's digits.
            let one = power_of_ten(PRECISION + 1);
            let hair = if self.negative { one - UBig::ONE } else { one + UBig::ONE };
            return Decimal::finite(false, hair, -PRECISION - 1).fitted();
        }
        let (digits, power) = exp_rounded(|bits| ball_of(self.negative, coefficient, exponent, bits));
        Decimal::finite(false, digits, power).fitted()
    }

    /// `self.ln()`.
    pub fn natural_logarithm(&self) -> Outcome {
        self.logarithm(|_| None, |ball, _| ball)
    }

    /// `self.log10()`.
    pub fn common_logarithm(&self) -> Outcome {
        let exact = |number: &Decimal| {
            let (coefficient, _) = number.parts()?;
            let is_power = *coefficient == power_of_ten(digit_count(coefficient) - 1);
            is_power.then(|| Decimal::from_i64(number.adjusted()))
        };
        self.logarithm(exact, |ball, bits| ball.over(&Ball::ln_10(bits), bits))
    }

    fn logarithm(&self, exact: impl Fn(&Decimal) -> Option<Decimal>, scaled: impl Fn(Ball, i64) -> Ball) -> Outcome {
        if let Some(outcome) = self.as_nan() {
            return outcome;
        }
        if self.is_zero() {
            return Ok(Decimal::infinity(true));
        }
        if self.negative {
            return Err(DecimalError::InvalidOperation);
        }
        let Some((coefficient, exponent)) = self.parts() else { return Ok(self.clone()) };
        if self.order(&Decimal::from_i64(1)) == Some(std::cmp::Ordering::Equal) {
            return Ok(Decimal::zero(false, 0));
        }
        if let Some(exact) = exact(self) {
            return exact.fitted();
        }
        let (negative, digits, power) = correctly_rounded(|bits| scaled(log_ball(coefficient, exponent, bits), bits));
        Decimal::finite(negative, digits, power).fitted()
    }

    /// Whether this is finite and whole, and if so whether it is odd.
    fn parity(&self) -> Option<bool> {
        let (coefficient, exponent) = self.parts()?;
        if coefficient.is_zero() || exponent > 0 {
            return Some(false);
        }
        if -exponent >= digit_count(coefficient) && exponent != 0 {
            return None;
        }
        let power = power_of_ten(-exponent);
        let whole = coefficient / &power;
        (&whole * power == *coefficient).then(|| whole.bit(0))
    }

    /// `self ** other`.
    pub fn power(&self, other: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(other) {
            return outcome;
        }
        if other.is_zero() {
            return if self.is_zero() { Err(DecimalError::InvalidOperation) } else { Ok(Decimal::from_i64(1)) };
        }
        let parity = other.parity();
        let negative = self.negative && parity == Some(true);
        if self.negative && parity.is_none() && !self.is_zero() {
            return Err(DecimalError::InvalidOperation);
        }
        let small = || Decimal::zero(negative, 0);
        if self.is_zero() || self.is_infinite() {
            let vanishes = self.is_zero() != other.negative;
            return Ok(if vanishes { small() } else { Decimal::infinity(negative) });
        }
        let magnitude = self.with_sign(false);
        let side = magnitude.order(&Decimal::from_i64(1)).unwrap_or(std::cmp::Ordering::Equal);
        if side == std::cmp::Ordering::Equal {
            return magnitude.power_of_one(other, parity.is_some(), negative);
        }
        let grows = side.is_gt() != other.negative;
        if other.is_infinite() {
            return Ok(if grows { Decimal::infinity(negative) } else { small() });
        }
        if let Some(exact) = magnitude.whole_power(other, parity.is_some())? {
            return exact.with_sign(negative).fitted();
        }
        magnitude.general_power(other, grows, negative)
    }

    /// One to any power: as many zeros behind the point as the exponent asks for.
    fn power_of_one(&self, other: &Decimal, whole: bool, negative: bool) -> Outcome {
        let (_, exponent) = self.parts().ok_or(DecimalError::InvalidOperation)?;
        let places = if !whole {
            PRECISION - 1
        } else if other.negative {
            0
        } else {
            let factor = other.to_int().ok().and_then(|n| i64::try_from(&n).ok()).unwrap_or(PRECISION).min(PRECISION);
            exponent.saturating_mul(factor).saturating_neg().clamp(0, PRECISION - 1)
        };
        Ok(Decimal::finite(negative, power_of_ten(places), -places))
    }

    /// The power to a whole exponent small enough to multiply out.
    fn whole_power(&self, other: &Decimal, whole: bool) -> Result<Option<Decimal>, DecimalError> {
        let Some((coefficient, exponent)) = self.parts().filter(|_| whole) else { return Ok(None) };
        let Some(count) = other.to_int().ok().and_then(|n| u64::try_from(n.unsigned_abs()).ok()) else { return Ok(None) };
        let digits = digit_count(coefficient);
        let zeros = digit_count(coefficient) - 1;
        if (zeros == 0 || other.negative) && *coefficient == power_of_ten(zeros) {
            // Powers of ten are exact, however large, and show one digit.
            let turns = i64::try_from(count).unwrap_or(i64::MAX);
            let reached = (exponent + zeros).saturating_mul(turns).clamp(-4 * WRITTEN_EXPONENT_LIMIT, 4 * WRITTEN_EXPONENT_LIMIT);
            return Ok(Some(Decimal::finite(false, UBig::ONE, if other.negative { -reached } else { reached })));
        }
        if digits.saturating_mul(i64::try_from(count).unwrap_or(i64::MAX)) > 300 {
            return Ok(None);
        }
        // Far out of the context's bounds all the same, and no later sum overflows.
        let exponent = exponent
            .saturating_mul(i64::try_from(count).expect("at most 300"))
            .clamp(-4 * WRITTEN_EXPONENT_LIMIT, 4 * WRITTEN_EXPONENT_LIMIT);
        let power = Decimal::finite(false, coefficient.pow(sizes::saturating(count)), exponent);
        if !other.negative {
            return Ok(Some(power));
        }
        Decimal::from_i64(1).over(&power).map(Some)
    }

    /// `e^(other * ln self)` of a positive number that is not one.
    fn general_power(&self, other: &Decimal, grows: bool, negative: bool) -> Outcome {
        let (Some((base, base_exponent)), Some((factor, factor_exponent))) = (self.parts(), other.parts()) else {
            return Err(DecimalError::InvalidOperation);
        };
        let logarithm = |bits| log_ball(base, base_exponent, bits);
        // |ln self| is at least 10^-(digits), so this tells safely when the power is out of all bounds or nearly one.
        let estimate = logarithm(160).top() * 30_103 / 100_000 + other.adjusted();
        if estimate >= 8 {
            return overflow_or_underflow(negative, grows);
        }
        if estimate < -PRECISION - 4 {
            let one = power_of_ten(PRECISION + 1);
            let hair = if grows { one + UBig::ONE } else { one - UBig::ONE };
            return Decimal::finite(negative, hair, -PRECISION - 1).fitted();
        }
        let argument = |bits: i64| {
            let wide = bits + 40;
            logarithm(wide).times(&ball_of(other.negative, factor, factor_exponent, wide), wide)
        };
        let (digits, power) = exp_rounded(argument);
        Decimal::finite(negative, digits, power).fitted()
    }
}

/// The result of a function whose value is out of all bounds.
fn overflow_or_underflow(negative: bool, overflows: bool) -> Outcome {
    if overflows {
        return Decimal::finite(negative, UBig::ONE, LARGEST_EXPONENT + 1).fitted();
    }
    Decimal::finite(negative, UBig::ONE, TINY_EXPONENT - 1).fitted()
}
