//! Complex numbers, with CPython's formulas step by step so that every rounding is the same.

use super::float_format::format_complex;
use super::format_spec::{Spec, Subject};
use super::repr::{parse_plain, without_underscores};
use super::{F64, math};
use cowboy_unicode as unicode;

/// A complex number: real and imaginary part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Complex {
    /// The real part.
    pub real: F64,
    /// The imaginary part.
    pub imaginary: F64,
}

/// Why a complex power has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComplexError {
    /// ZeroDivisionError: "complex division by zero", or of a power "0.0 to a negative or complex power".
    ZeroDivision,
    /// OverflowError "complex exponentiation".
    Range,
}

impl Complex {
    const ONE: Complex = Complex { real: F64::ONE, imaginary: F64::ZERO };

    /// The number with these parts.
    pub const fn new(real: F64, imaginary: F64) -> Complex {
        Complex { real, imaginary }
    }

    /// The quotient, scaled by the divisor's larger part (Smith's method).
    pub fn divided(self, other: Complex) -> Result<Complex, ComplexError> {
        let (real_size, imaginary_size) = (other.real.abs(), other.imaginary.abs());
        if real_size >= imaginary_size {
            if real_size.is_zero() {
                return Err(ComplexError::ZeroDivision);
            }
            let ratio = other.imaginary / other.real;
            let divisor = other.real + other.imaginary * ratio;
            return Ok(Complex {
                real: (self.real + self.imaginary * ratio) / divisor,
                imaginary: (self.imaginary - self.real * ratio) / divisor,
            });
        }
        if imaginary_size < real_size || real_size.is_nan() || imaginary_size.is_nan() {
            return Ok(Complex::new(F64::NAN, F64::NAN));
        }
        let ratio = other.real / other.imaginary;
        let divisor = other.real * ratio + other.imaginary;
        Ok(Complex { real: (self.real * ratio + self.imaginary) / divisor, imaginary: (self.imaginary * ratio - self.real) / divisor })
    }

    /// `abs(z)`; `None` if it is too large (OverflowError "absolute value too large").
    pub fn magnitude(self) -> Option<F64> {
        let size = math::hypot(&[self.real, self.imaginary]);
        let expected = self.real.is_finite() && self.imaginary.is_finite();
        (!expected || size.is_finite()).then_some(size)
    }

    /// `self ** exponent`.
    pub fn power(self, exponent: Complex) -> Result<Complex, ComplexError> {
        let small_integer = Some(exponent.real)
            .filter(|real| exponent.imaginary.is_zero() && real.is_integer() && real.abs() <= F64::from_i64(100))
            .and_then(F64::to_i64);
        let power = match small_integer {
            Some(n) if n >= 0 => self.whole_power(n.unsigned_abs()),
            Some(n) => Complex::ONE.divided(self.whole_power(n.unsigned_abs()))?,
            None => self.general_power(exponent)?,
        };
        if power.real.is_infinite() || power.imaginary.is_infinite() { Err(ComplexError::Range) } else { Ok(power) }
    }

    /// By repeated squaring.
    fn whole_power(self, exponent: u64) -> Complex {
        let (mut result, mut square) = (Complex::ONE, self);
        let mut left = exponent;
        while left > 0 {
            if left & 1 == 1 {
                result = result * square;
            }
            square = square * square;
            left >>= 1;
        }
        result
    }

    /// By logarithm and angle.
    fn general_power(self, exponent: Complex) -> Result<Complex, ComplexError> {
        if exponent.real.is_zero() && exponent.imaginary.is_zero() {
            return Ok(Complex::ONE);
        }
        if self.real.is_zero() && self.imaginary.is_zero() {
            let undefined = !exponent.imaginary.is_zero() || exponent.real < F64::ZERO;
            return if undefined { Err(ComplexError::ZeroDivision) } else { Ok(Complex::new(F64::ZERO, F64::ZERO)) };
        }
        let size = math::hypot(&[self.real, self.imaginary]);
        let angle = math::atan2(self.imaginary, self.real);
        let mut length = or_infinite(math::pow(size, exponent.real));
        let mut phase = angle * exponent.real;
        if !exponent.imaginary.is_zero() {
            length = length * or_infinite(math::exp(-angle * exponent.imaginary));
            phase = phase + exponent.imaginary * math::log(size).unwrap_or(F64::NAN);
        }
        Ok(Complex { real: length * math::cos(phase).unwrap_or(F64::NAN), imaginary: length * math::sin(phase).unwrap_or(F64::NAN) })
    }

    /// `repr(z)`.
    pub fn repr(self) -> String {
        let plain = Spec::parse("", Subject::Complex).expect("the empty specification is valid");
        format_complex(self.real, self.imaginary, &plain).expect("the empty specification refuses nothing")
    }

    /// `complex(text)`; `None` where it is malformed.
    pub fn parse(text: &str) -> Option<Complex> {
        let mut text = text.trim_matches(unicode::is_space);
        if let Some(inner) = text.strip_prefix('(') {
            text = inner.strip_suffix(')')?.trim_matches(unicode::is_space);
        }
        let ascii: String = text.chars().map(|c| unicode::decimal_value(c).map_or(c, |digit| char::from(b'0' + digit))).collect();
        let plain = without_underscores(ascii.as_bytes())?;
        let Some((b'j' | b'J', body)) = plain.split_last() else {
            return Some(Complex::new(parse_plain(&plain)?, F64::ZERO));
        };
        // The imaginary part starts at the last sign that is not an exponent's.
        let is_split = |at: usize| matches!(body[at], b'+' | b'-') && !matches!(body[at - 1], b'e' | b'E');
        let split = (1..body.len()).rev().find(|&at| is_split(at)).unwrap_or(0);
        let (real, imaginary) = body.split_at(split);
        let real = if real.is_empty() { F64::ZERO } else { parse_plain(real)? };
        let imaginary = match imaginary {
            [] | [b'+'] => F64::ONE,
            [b'-'] => F64::NEG_ONE,
            digits => parse_plain(digits)?,
        };
        Some(Complex::new(real, imaginary))
    }
}

/// An overflow as C's functions return it.
fn or_infinite(outcome: math::Outcome) -> F64 {
    match outcome {
        Ok(value) => value,
        Err(math::MathError::Range) => F64::INFINITY,
        Err(math::MathError::Domain) => F64::NAN,
    }
}

impl std::ops::Add for Complex {
    type Output = Complex;

    fn add(self, other: Complex) -> Complex {
        Complex::new(self.real + other.real, self.imaginary + other.imaginary)
    }
}

impl std::ops::Sub for Complex {
    type Output = Complex;

    fn sub(self, other: Complex) -> Complex {
        Complex::new(self.real - other.real, self.imaginary - other.imaginary)
    }
}

impl std::ops::Mul for Complex {
    type Output = Complex;

    fn mul(self, other: Complex) -> Complex {
        Complex {
            real: self.real * other.real - self.imaginary * other.imaginary,
            imaginary: self.real * other.imaginary + self.imaginary * other.real,
        }
    }
}

impl std::ops::Neg for Complex {
    type Output = Complex;

    fn neg(self) -> Complex {
        Complex::new(-self.real, -self.imaginary)
    }
}
