//! From and to integers and floats, and hashes.

use dashu_int::ops::{BitTest, DivRem, UnsignedAbs};
use dashu_int::{IBig, Sign, UBig};

use super::rounding::rescaled;
use super::{Decimal, Value, digit_count, power_of_ten};
use crate::F64;
use crate::int::{NumberError, capped};
use crate::repr::decimal_to_f64;

/// More digits than an integer within the cap has.
const MAX_INTEGER_DIGITS: i64 = 4096 / 3;

impl Decimal {
    /// An integer, exactly.
    pub fn from_i64(value: i64) -> Decimal {
        Decimal::finite(value < 0, UBig::from(value.unsigned_abs()), 0)
    }

    /// An integer of any size, exactly.
    pub fn from_int(value: &IBig) -> Decimal {
        Decimal::finite(value.sign() == Sign::Negative, value.unsigned_abs(), 0)
    }

    /// A float, exactly.
    pub fn from_f64(value: F64) -> Decimal {
        let Some((numerator, denominator)) = value.as_integer_ratio() else {
            return if value.is_nan() { Decimal::nan() } else { Decimal::infinity(value.is_negative()) };
        };
        // Over 2^k is 5^k over 10^k.
        let twos = denominator.bit_len() - 1;
        let exponent = -i64::try_from(twos).expect("at most 1074");
        Decimal::finite(value.is_negative(), numerator.unsigned_abs() * UBig::from(5u8).pow(twos), exponent)
    }

    /// The nearest float; `None` of a signaling NaN (ValueError "cannot convert signaling NaN to float").
    pub fn to_f64(&self) -> Option<F64> {
        let magnitude = match &self.value {
            Value::Nan { signaling: true, .. } => return None,
            Value::Nan { .. } => return Some(F64::NAN),
            Value::Infinity => F64::INFINITY,
            Value::Finite { coefficient, exponent } => {
                let text = coefficient.to_string();
                let digits = text.trim_end_matches('0');
                let zeros = i64::try_from(text.len() - digits.len()).expect("a number in memory");
                decimal_to_f64(digits.as_bytes(), exponent.saturating_add(zeros))
            }
        };
        Some(if self.negative { -magnitude } else { magnitude })
    }

    /// `int(self)`, toward zero. Errors: of a NaN ValueError, of an infinity or past the cap OverflowError.
    pub fn to_int(&self) -> Result<IBig, NumberError> {
        let (coefficient, exponent) = self.whole_parts()?;
        let magnitude = if exponent >= 0 {
            coefficient * power_of_ten(exponent)
        } else if -exponent > digit_count(coefficient) {
            UBig::ZERO
        } else {
            coefficient / power_of_ten(-exponent)
        };
        capped(self.signed(magnitude))
    }

    fn signed(&self, magnitude: UBig) -> IBig {
        IBig::from_parts(if self.negative { Sign::Negative } else { Sign::Positive }, magnitude)
    }

    /// The parts of a number whose whole part may be within the cap.
    fn whole_parts(&self) -> Result<(&UBig, i64), NumberError> {
        match &self.value {
            Value::Nan { .. } => Err(NumberError::value("cannot convert NaN to integer")),
            Value::Infinity => Err(NumberError::overflow("cannot convert Infinity to integer")),
            Value::Finite { coefficient, .. } if coefficient.is_zero() => Ok((coefficient, 0)),
            Value::Finite { coefficient, exponent } if self.adjusted() <= MAX_INTEGER_DIGITS => Ok((coefficient, *exponent)),
            Value::Finite { .. } => Err(NumberError::TOO_LARGE),
        }
    }

    /// `round(self)`: the nearest integer, the even one in a tie.
    pub fn round_to_int(&self) -> Result<IBig, NumberError> {
        let (coefficient, exponent) = self.whole_parts()?;
        capped(self.signed(rescaled(coefficient, exponent, 0)))
    }

    /// `math.floor(self)`.
    pub fn floor(&self) -> Result<IBig, NumberError> {
        self.toward(true)
    }

    /// `math.ceil(self)`.
    pub fn ceil(&self) -> Result<IBig, NumberError> {
        self.toward(false)
    }

    /// The whole part, away from zero for a fraction on the side given.
    fn toward(&self, down: bool) -> Result<IBig, NumberError> {
        let whole = self.to_int()?;
        let exact = self.order(&Decimal::from_int(&whole)) == Some(std::cmp::Ordering::Equal);
        if exact || self.negative != down {
            return Ok(whole);
        }
        capped(whole + IBig::from(if down { -1 } else { 1 }))
    }

    /// `as_integer_ratio()`: the fraction in lowest terms. Errors as [`Decimal::to_int`]'s.
    pub fn as_integer_ratio(&self) -> Result<(IBig, IBig), NumberError> {
        let (coefficient, exponent) = match &self.value {
            Value::Nan { .. } => return Err(NumberError::value("cannot convert NaN to integer ratio")),
            Value::Infinity => return Err(NumberError::overflow("cannot convert Infinity to integer ratio")),
            Value::Finite { coefficient, exponent } => (coefficient, *exponent),
        };
        if coefficient.is_zero() {
            return Ok((IBig::ZERO, IBig::ONE));
        }
        if exponent >= 0 {
            return Ok((self.to_int()?, IBig::ONE));
        }
        if -exponent > MAX_INTEGER_DIGITS + digit_count(coefficient) {
            return Err(NumberError::TOO_LARGE);
        }
        let denominator = power_of_ten(-exponent);
        let divisor = dashu_int::ops::Gcd::gcd(coefficient, &denominator);
        let numerator = coefficient / &divisor;
        Ok((capped(self.signed(numerator))?, capped(IBig::from(denominator / divisor))?))
    }

    /// `as_tuple()`: sign, digits, and an exponent unless this is an infinity or NaN.
    pub fn as_tuple(&self) -> (bool, Vec<u8>, Option<i64>) {
        let digits = |number: &UBig| number.to_string().bytes().map(|digit| digit - b'0').collect();
        match &self.value {
            Value::Finite { coefficient, exponent } => (self.negative, digits(coefficient), Some(*exponent)),
            Value::Infinity => (self.negative, vec![0], None),
            Value::Nan { payload, .. } if payload.is_zero() => (self.negative, Vec::new(), None),
            Value::Nan { payload, .. } => (self.negative, digits(payload), None),
        }
    }

    /// `hash(self)`, equal to that of an equal integer or float; `None` of a signaling NaN (TypeError).
    pub fn hash(&self) -> Option<i64> {
        const MODULUS: u64 = (1 << 61) - 1;
        let (coefficient, exponent) = match &self.value {
            Value::Nan { signaling, .. } => return (!signaling).then_some(0),
            Value::Infinity => return Some(if self.negative { -314_159 } else { 314_159 }),
            Value::Finite { coefficient, exponent } => (coefficient, *exponent),
        };
        // The inverse of ten modulo 2^61 - 1, for digits behind the point.
        let base = if exponent >= 0 { 10 } else { 2_075_258_708_292_324_556 };
        let power = power_modulo(base, exponent.unsigned_abs(), MODULUS);
        let (_, residue) = (UBig::from(coefficient % MODULUS) * UBig::from(power)).div_rem(UBig::from(MODULUS));
        let residue = i64::try_from(&residue).expect("a residue of 2^61 - 1");
        let hash = if self.negative { -residue } else { residue };
        Some(if hash == -1 { -2 } else { hash })
    }
}

/// `base^exponent mod modulus` for a modulus below 2^62.
fn power_modulo(base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let multiply = |a: u64, b: u64| u64::try_from(u128::from(a) * u128::from(b) % u128::from(modulus)).expect("a residue of the modulus");
    let (mut result, mut square) = (1, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, square);
        }
        square = multiply(square, square);
        exponent >>= 1;
    }
    result
}
