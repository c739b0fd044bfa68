//! Fitting numbers to the context, and to a given exponent.

use dashu_int::UBig;
use dashu_int::ops::DivRem;

use super::{Decimal, DecimalError, LARGEST_EXPONENT, Outcome, PRECISION, TINY_EXPONENT, TOP_EXPONENT, Value, digit_count, power_of_ten};
use crate::half_even::divide_half_even;

/// A coefficient for another exponent, rounded half to even if digits fall off.
pub(super) fn rescaled(coefficient: &UBig, exponent: i64, target: i64) -> UBig {
    if coefficient.is_zero() {
        return UBig::ZERO;
    }
    if exponent >= target {
        return coefficient * power_of_ten(exponent - target);
    }
    // More than the digits there are: what is left is less than half a unit.
    if target - exponent > digit_count(coefficient) {
        return UBig::ZERO;
    }
    divide_half_even(coefficient.clone(), &power_of_ten(target - exponent))
}

/// Where digits that fall off are rounded to, when an operation is told. The context's own is half to even.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To nearest, the even one in a tie.
    HalfEven,
    /// To nearest, away from zero in a tie.
    HalfUp,
    /// To nearest, toward zero in a tie.
    HalfDown,
    /// Away from zero.
    Up,
    /// Toward zero.
    Down,
    /// Toward infinity.
    Ceiling,
    /// Toward minus infinity.
    Floor,
    /// Away from zero if the last digit would be 0 or 5, else toward zero.
    ZeroFiveUp,
}

impl Rounding {
    /// The mode that Python's constant of this name stands for.
    pub fn named(name: &str) -> Option<Rounding> {
        Some(match name {
            "ROUND_HALF_EVEN" => Rounding::HalfEven,
            "ROUND_HALF_UP" => Rounding::HalfUp,
            "ROUND_HALF_DOWN" => Rounding::HalfDown,
            "ROUND_UP" => Rounding::Up,
            "ROUND_DOWN" => Rounding::Down,
            "ROUND_CEILING" => Rounding::Ceiling,
            "ROUND_FLOOR" => Rounding::Floor,
            "ROUND_05UP" => Rounding::ZeroFiveUp,
            _ => return None,
        })
    }
}

/// A coefficient for another exponent, rounded as told if digits fall off.
pub(super) fn rescaled_as(coefficient: &UBig, exponent: i64, target: i64, rounding: Rounding, negative: bool) -> UBig {
    if rounding == Rounding::HalfEven || coefficient.is_zero() || exponent >= target {
        return rescaled(coefficient, exponent, target);
    }
    // One digit more than there are is as good as all others.
    let places = (target - exponent).min(digit_count(coefficient) + 1);
    let power = power_of_ten(places);
    let (quotient, remainder) = coefficient.div_rem(&power);
    if remainder.is_zero() {
        return quotient;
    }
    let twice = remainder << 1usize;
    let up = match rounding {
        Rounding::HalfEven => false,
        Rounding::HalfUp => twice >= power,
        Rounding::HalfDown => twice > power,
        Rounding::Up => true,
        Rounding::Down => false,
        Rounding::Ceiling => !negative,
        Rounding::Floor => negative,
        Rounding::ZeroFiveUp => (&quotient % 5u8) == 0,
    };
    if up { quotient + UBig::ONE } else { quotient }
}

impl Decimal {
    /// This rounded to the context.
    pub(super) fn fitted(self) -> Outcome {
        let (coefficient, exponent) = match self.value {
            Value::Finite { coefficient, exponent } => (coefficient, exponent),
            Value::Infinity => return Ok(self),
            Value::Nan { payload, signaling } => {
                let kept = payload % power_of_ten(PRECISION);
                return Ok(Decimal { negative: self.negative, value: Value::Nan { payload: kept, signaling } });
            }
        };
        if coefficient.is_zero() {
            return Ok(Decimal::zero(self.negative, exponent.clamp(TINY_EXPONENT, LARGEST_EXPONENT)));
        }
        let digits = digit_count(&coefficient);
        let least = (digits + exponent - PRECISION).max(TINY_EXPONENT);
        if digits + exponent - PRECISION > TOP_EXPONENT {
            return Err(DecimalError::Overflow);
        }
        if exponent >= least {
            return Ok(Decimal::finite(self.negative, coefficient, exponent));
        }
        let mut rounded = rescaled(&coefficient, exponent, least);
        let mut exponent = least;
        if digit_count(&rounded) > PRECISION {
            // Rounded up to a power of ten: its last digit is a zero.
            rounded /= UBig::from(10u8);
            exponent += 1;
        }
        if exponent > TOP_EXPONENT { Err(DecimalError::Overflow) } else { Ok(Decimal::finite(self.negative, rounded, exponent)) }
    }

    /// If this is a NaN, what an operation on it gives: itself, or an error if it is signaling.
    pub(super) fn as_nan(&self) -> Option<Outcome> {
        match &self.value {
            Value::Nan { signaling: true, .. } => Some(Err(DecimalError::InvalidOperation)),
            Value::Nan { .. } => Some(self.clone().fitted()),
            _ => None,
        }
    }

    /// The same for two operands: a signaling NaN first, then the first NaN.
    pub(super) fn nan_of(&self, other: &Decimal) -> Option<Outcome> {
        if self.is_signaling() || other.is_signaling() {
            return Some(Err(DecimalError::InvalidOperation));
        }
        self.as_nan().or_else(|| other.as_nan())
    }

    /// `quantize(unit)`: rounded to the exponent of `unit`.
    pub fn quantized(&self, unit: &Decimal) -> Outcome {
        self.quantized_as(unit, Rounding::HalfEven)
    }

    /// `quantize(unit, rounding)`.
    pub fn quantized_as(&self, unit: &Decimal, rounding: Rounding) -> Outcome {
        if let Some(outcome) = self.nan_of(unit) {
            return outcome;
        }
        let (Some((coefficient, exponent)), Some((_, target))) = (self.parts(), unit.parts()) else {
            let both = self.is_infinite() && unit.is_infinite();
            return if both { Ok(self.clone()) } else { Err(DecimalError::InvalidOperation) };
        };
        if !(TINY_EXPONENT..=LARGEST_EXPONENT).contains(&target) {
            return Err(DecimalError::InvalidOperation);
        }
        if coefficient.is_zero() {
            return Decimal::zero(self.negative, target).fitted();
        }
        if self.adjusted() > LARGEST_EXPONENT || self.adjusted() - target + 1 > PRECISION {
            return Err(DecimalError::InvalidOperation);
        }
        let rescaled = rescaled_as(coefficient, exponent, target, rounding, self.negative);
        let result = Decimal::finite(self.negative, rescaled, target);
        if result.adjusted() > LARGEST_EXPONENT || result.parts().is_some_and(|(digits, _)| digit_count(digits) > PRECISION) {
            return Err(DecimalError::InvalidOperation);
        }
        result.fitted()
    }

    /// `to_integral_value()`: rounded to a whole number.
    pub fn to_integral(&self) -> Outcome {
        self.to_integral_as(Rounding::HalfEven)
    }

    /// `to_integral_value(rounding)`.
    pub fn to_integral_as(&self, rounding: Rounding) -> Outcome {
        if let Some(outcome) = self.as_nan() {
            return outcome;
        }
        Ok(match self.parts() {
            Some((coefficient, exponent)) if exponent < 0 => {
                Decimal::finite(self.negative, rescaled_as(coefficient, exponent, 0, rounding, self.negative), 0)
            }
            _ => self.clone(),
        })
    }

    /// `normalize()`: rounded, without zeros at the end.
    pub fn normalized(&self) -> Outcome {
        if let Some(outcome) = self.as_nan() {
            return outcome;
        }
        let fitted = self.clone().fitted()?;
        let Some((coefficient, exponent)) = fitted.parts() else { return Ok(fitted) };
        if coefficient.is_zero() {
            return Ok(Decimal::zero(self.negative, 0));
        }
        let (mut coefficient, mut exponent) = (coefficient.clone(), exponent);
        let ten = UBig::from(10u8);
        while exponent < LARGEST_EXPONENT {
            let (quotient, remainder) = (&coefficient).div_rem(&ten);
            if !remainder.is_zero() {
                break;
            }
            (coefficient, exponent) = (quotient, exponent + 1);
        }
        Ok(Decimal::finite(self.negative, coefficient, exponent))
    }

    /// `scaleb(places)`: times ten to a whole power.
    pub fn scaled_by(&self, places: &Decimal) -> Outcome {
        if let Some(outcome) = self.nan_of(places) {
            return outcome;
        }
        let limit = 2 * (LARGEST_EXPONENT + PRECISION);
        let shift = match places.parts() {
            Some((coefficient, 0)) => i64::try_from(coefficient).ok().filter(|&shift| shift <= limit),
            _ => None,
        };
        let shift = shift.ok_or(DecimalError::InvalidOperation)?;
        let shift = if places.negative { -shift } else { shift };
        match self.parts() {
            Some((coefficient, exponent)) => Decimal::finite(self.negative, coefficient.clone(), exponent + shift).fitted(),
            None => Ok(self.clone()),
        }
    }
}
