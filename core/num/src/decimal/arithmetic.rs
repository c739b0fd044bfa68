//! Sum, product, quotients and remainders.

use dashu_int::ops::{DivRem, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};

use super::rounding::rescaled;
use super::{Decimal, DecimalError, Outcome, PRECISION, TINY_EXPONENT, digit_count, power_of_ten};

/// Two numbers as integers of one exponent. A number too small to matter beside the other becomes the smallest
/// that rounds alike, so that the integers stay short.
fn aligned(a: (&UBig, i64), b: (&UBig, i64)) -> (UBig, UBig, i64) {
    if a.1 < b.1 {
        let (b, a, exponent) = aligned(b, a);
        return (a, b, exponent);
    }
    let ((large, large_exponent), (small, small_exponent)) = (a, b);
    let least = large_exponent + (digit_count(large) - PRECISION - 2).min(-1);
    let negligible = digit_count(small) + small_exponent - 1 < least;
    let (small, exponent) = if negligible { (UBig::ONE, least) } else { (small.clone(), small_exponent) };
    (large * power_of_ten(large_exponent - exponent), small, exponent)
}

fn signed(negative: bool, magnitude: UBig) -> IBig {
    IBig::from_parts(if negative { Sign::Negative } else { Sign::Positive }, magnitude)
}

impl Decimal {
    /// `self + other`.
    pub fn plus(&self, other: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(other) {
            return outcome;
        }
        let (Some((a, a_exponent)), Some((b, b_exponent))) = (self.parts(), other.parts()) else {
            if self.is_infinite() && other.is_infinite() && self.negative != other.negative {
                return Err(DecimalError::InvalidOperation);
            }
            return Ok(if self.is_infinite() { self.clone() } else { other.clone() });
        };
        let exponent = a_exponent.min(b_exponent);
        match (a.is_zero(), b.is_zero()) {
            (true, true) => Decimal::zero(self.negative && other.negative, exponent).fitted(),
            (true, false) => other.beside_zero(b, b_exponent, exponent),
            (false, true) => self.beside_zero(a, a_exponent, exponent),
            (false, false) => {
                let (a, b, aligned_exponent) = aligned((a, a_exponent), (b, b_exponent));
                let sum = signed(self.negative, a) + signed(other.negative, b);
                if sum.is_zero() {
                    return Decimal::zero(self.negative && other.negative, exponent).fitted();
                }
                Decimal::finite(sum.sign() == Sign::Negative, sum.unsigned_abs(), aligned_exponent).fitted()
            }
        }
    }

    /// This plus a zero: with the zero's places as far as they fit.
    fn beside_zero(&self, coefficient: &UBig, own: i64, least: i64) -> Outcome {
        let exponent = least.max(own - PRECISION - 1);
        Decimal::finite(self.negative, rescaled(coefficient, own, exponent), exponent).fitted()
    }

    /// `self - other`.
    pub fn minus(&self, other: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(other) {
            return outcome;
        }
        self.plus(&other.with_sign(!other.negative))
    }

    /// `-self`: rounded, and never minus zero.
    pub fn negated(&self) -> Outcome {
        self.rounded_with_sign(!self.negative)
    }

    /// `+self`: rounded.
    pub fn posited(&self) -> Outcome {
        self.rounded_with_sign(self.negative)
    }

    /// `abs(self)`: rounded.
    pub fn absolute(&self) -> Outcome {
        self.rounded_with_sign(false)
    }

    fn rounded_with_sign(&self, negative: bool) -> Outcome {
        if let Some(outcome) = self.as_nan() {
            return outcome;
        }
        self.with_sign(negative && !self.is_zero()).fitted()
    }

    /// `self * other`.
    pub fn times(&self, other: &Decimal) -> Outcome {
        self.exact_product(other)?.fitted()
    }

    /// The product before rounding.
    fn exact_product(&self, other: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(other) {
            return outcome;
        }
        let negative = self.negative != other.negative;
        match (self.parts(), other.parts()) {
            (Some((a, a_exponent)), Some((b, b_exponent))) => Ok(Decimal::finite(negative, a * b, a_exponent.saturating_add(b_exponent))),
            _ if self.is_zero() || other.is_zero() => Err(DecimalError::InvalidOperation),
            _ => Ok(Decimal::infinity(negative)),
        }
    }

    /// `self.fma(other, third)`: `self * other + third`, rounded once.
    pub fn times_plus(&self, other: &Decimal, third: &Decimal) -> Outcome {
        if self.is_signaling() || other.is_signaling() {
            return Err(DecimalError::InvalidOperation);
        }
        if let Some(outcome) = self.nan_of(other) {
            return if third.is_signaling() { Err(DecimalError::InvalidOperation) } else { outcome };
        }
        self.exact_product(other)?.plus(third)
    }

    /// `self / other`.
    pub fn over(&self, other: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(other) {
            return outcome;
        }
        let negative = self.negative != other.negative;
        let (Some((a, a_exponent)), Some((b, b_exponent))) = (self.parts(), other.parts()) else {
            return match (self.is_infinite(), other.is_infinite()) {
                (true, true) => Err(DecimalError::InvalidOperation),
                (true, false) => Ok(Decimal::infinity(negative)),
                _ => Ok(Decimal::zero(negative, TINY_EXPONENT)),
            };
        };
        if b.is_zero() {
            return Err(if a.is_zero() { DecimalError::DivisionUndefined } else { DecimalError::DivisionByZero });
        }
        let ideal = a_exponent.saturating_sub(b_exponent);
        if a.is_zero() {
            return Decimal::zero(negative, ideal).fitted();
        }
        let shift = digit_count(b) - digit_count(a) + PRECISION + 1;
        let (mut quotient, remainder) =
            if shift >= 0 { (a * power_of_ten(shift)).div_rem(b) } else { a.div_rem(&(b * power_of_ten(-shift))) };
        let mut exponent = ideal.saturating_sub(shift);
        if remainder.is_zero() {
            let ten = UBig::from(10u8);
            while exponent < ideal {
                let (shorter, digit) = (&quotient).div_rem(&ten);
                if !digit.is_zero() {
                    break;
                }
                (quotient, exponent) = (shorter, exponent + 1);
            }
        } else if (&quotient % 5u8) == 0 {
            // A last digit of 0 or 5 must not look exact.
            quotient += UBig::ONE;
        }
        Decimal::finite(negative, quotient, exponent).fitted()
    }

    /// The whole quotient and the remainder, both before rounding, of finite numbers and a divisor not zero.
    fn divided(&self, other: &Decimal) -> Result<(Decimal, Decimal), DecimalError> {
        let negative = self.negative != other.negative;
        let (a, a_exponent) = self.parts().ok_or(DecimalError::InvalidOperation)?;
        let ideal = other.parts().map_or(a_exponent, |(_, b_exponent)| a_exponent.min(b_exponent));
        let difference = self.adjusted() - other.adjusted();
        let Some((b, b_exponent)) = other.parts().filter(|_| !a.is_zero() && difference > -2) else {
            let remainder = Decimal::finite(self.negative, rescaled(a, a_exponent, ideal), ideal);
            return Ok((Decimal::zero(negative, 0), remainder));
        };
        if difference > PRECISION {
            return Err(DecimalError::DivisionImpossible);
        }
        let numerator = a * power_of_ten(a_exponent - ideal);
        let (quotient, remainder) = numerator.div_rem(&(b * power_of_ten(b_exponent - ideal)));
        if digit_count(&quotient) > PRECISION {
            return Err(DecimalError::DivisionImpossible);
        }
        Ok((Decimal::finite(negative, quotient, 0), Decimal::finite(self.negative, remainder, ideal)))
    }

    /// `self // other`, toward zero.
    pub fn floor_over(&self, other: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(other) {
            return outcome;
        }
        if self.is_infinite() {
            let both = other.is_infinite();
            return if both { Err(DecimalError::InvalidOperation) } else { Ok(Decimal::infinity(self.negative != other.negative)) };
        }
        if other.is_zero() {
            return Err(if self.is_zero() { DecimalError::DivisionUndefined } else { DecimalError::DivisionByZero });
        }
        self.divided(other)?.0.fitted()
    }

    /// `self % other`, with the sign of `self`.
    pub fn modulo(&self, other: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(other) {
            return outcome;
        }
        self.refuse_remainder(other)?;
        self.divided(other)?.1.fitted()
    }

    fn refuse_remainder(&self, other: &Decimal) -> Result<(), DecimalError> {
        if self.is_infinite() {
            return Err(DecimalError::InvalidOperation);
        }
        match (other.is_zero(), self.is_zero()) {
            (true, true) => Err(DecimalError::DivisionUndefined),
            (true, false) => Err(DecimalError::InvalidOperation),
            _ => Ok(()),
        }
    }

    /// `divmod(self, other)`.
    pub fn divmod(&self, other: &Decimal) -> Result<(Decimal, Decimal), DecimalError> {
        if let Some(outcome) = self.nan_of(other) {
            return outcome.map(|nan| (nan.clone(), nan));
        }
        if self.is_infinite() {
            return Err(DecimalError::InvalidOperation);
        }
        if other.is_zero() {
            return Err(if self.is_zero() { DecimalError::DivisionUndefined } else { DecimalError::DivmodByZero });
        }
        let (quotient, remainder) = self.divided(other)?;
        Ok((quotient.fitted()?, remainder.fitted()?))
    }

    /// `self.remainder_near(other)`: from the nearest whole quotient, the even one in a tie.
    pub fn remainder_near(&self, other: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(other) {
            return outcome;
        }
        self.refuse_remainder(other)?;
        let (Some((a, a_exponent)), Some((b, b_exponent))) = (self.parts(), other.parts()) else {
            return self.clone().fitted();
        };
        let ideal = a_exponent.min(b_exponent);
        let difference = self.adjusted() - other.adjusted();
        if a.is_zero() || difference <= -2 {
            return Decimal::finite(self.negative, rescaled(a, a_exponent, ideal), ideal).fitted();
        }
        if difference > PRECISION {
            return Err(DecimalError::DivisionImpossible);
        }
        let divisor = b * power_of_ten(b_exponent - ideal);
        let (mut quotient, remainder) = (a * power_of_ten(a_exponent - ideal)).div_rem(&divisor);
        let odd = (&quotient % 2u8) != 0;
        let twice = &remainder << 1usize;
        let (flipped, remainder) = if twice > divisor || (twice == divisor && odd) {
            quotient += UBig::ONE;
            (true, divisor - remainder)
        } else {
            (false, remainder)
        };
        if digit_count(&quotient) > PRECISION {
            return Err(DecimalError::DivisionImpossible);
        }
        Decimal::finite(self.negative != flipped, remainder, ideal).fitted()
    }
}
