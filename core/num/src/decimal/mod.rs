//! Decimal numbers as Python's `decimal` has them, under one fixed context (003 Overview, A-69): 28 digits,
//! rounding half to even, exponents to 999,999, and errors for invalid operations, division by zero and overflow.
//!
//! The semantics are those of the General Decimal Arithmetic specification. Operations round their result to the
//! context; construction, comparison and conversion are exact.

mod arithmetic;
mod compare;
mod convert;
mod functions;
mod rounding;
mod text;

pub use rounding::Rounding;

use dashu_int::UBig;

/// Significant digits of a result.
pub const PRECISION: i64 = 28;
/// The largest exponent of a result in scientific notation.
pub const LARGEST_EXPONENT: i64 = 999_999;
/// The smallest exponent of a normal result in scientific notation.
pub const SMALLEST_EXPONENT: i64 = -999_999;
/// The exponent of the last digit of the smallest subnormal number.
const TINY_EXPONENT: i64 = SMALLEST_EXPONENT - PRECISION + 1;
/// The largest exponent of the last digit of a full coefficient.
const TOP_EXPONENT: i64 = LARGEST_EXPONENT - PRECISION + 1;
/// Beyond this a written exponent is refused, as the C module refuses it.
const WRITTEN_EXPONENT_LIMIT: i64 = 999_999_999_999_999_999;

/// A decimal number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decimal {
    negative: bool,
    value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Value {
    /// `coefficient * 10^exponent`.
    Finite {
        coefficient: UBig,
        exponent: i64,
    },
    Infinity,
    /// A NaN with its payload, zero if it has none.
    Nan {
        payload: UBig,
        signaling: bool,
    },
}

/// Why an operation has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecimalError {
    /// An operand is outside the operation's domain.
    InvalidOperation,
    /// A text is no number.
    ConversionSyntax,
    /// A number other than zero divided by zero.
    DivisionByZero,
    /// Zero divided by zero.
    DivisionUndefined,
    /// Quotient and remainder of a number other than zero by zero.
    DivmodByZero,
    /// A whole quotient has too many digits.
    DivisionImpossible,
    /// The result is too large.
    Overflow,
}

impl DecimalError {
    /// The exception's class in `decimal`.
    pub const fn exception(self) -> &'static str {
        match self {
            DecimalError::DivisionByZero => "DivisionByZero",
            DecimalError::Overflow => "Overflow",
            _ => "InvalidOperation",
        }
    }

    /// The message: the list of the conditions' classes.
    pub const fn message(self) -> &'static str {
        match self {
            DecimalError::InvalidOperation => "[<class 'decimal.InvalidOperation'>]",
            DecimalError::ConversionSyntax => "[<class 'decimal.ConversionSyntax'>]",
            DecimalError::DivisionByZero => "[<class 'decimal.DivisionByZero'>]",
            DecimalError::DivisionUndefined => "[<class 'decimal.DivisionUndefined'>]",
            DecimalError::DivmodByZero => "[<class 'decimal.InvalidOperation'>, <class 'decimal.DivisionByZero'>]",
            DecimalError::DivisionImpossible => "[<class 'decimal.DivisionImpossible'>]",
            DecimalError::Overflow => "[<class 'decimal.Overflow'>]",
        }
    }
}

/// What an operation returns.
pub type Outcome = Result<Decimal, DecimalError>;

impl Decimal {
    /// `(-1)^negative * coefficient * 10^exponent`.
    pub const fn finite(negative: bool, coefficient: UBig, exponent: i64) -> Decimal {
        Decimal { negative, value: Value::Finite { coefficient, exponent } }
    }

    /// An infinity.
    pub const fn infinity(negative: bool) -> Decimal {
        Decimal { negative, value: Value::Infinity }
    }

    /// A quiet NaN without payload.
    pub const fn nan() -> Decimal {
        Decimal { negative: false, value: Value::Nan { payload: UBig::ZERO, signaling: false } }
    }

    const fn zero(negative: bool, exponent: i64) -> Decimal {
        Decimal::finite(negative, UBig::ZERO, exponent)
    }

    /// Coefficient and exponent of a finite number.
    fn parts(&self) -> Option<(&UBig, i64)> {
        match &self.value {
            Value::Finite { coefficient, exponent } => Some((coefficient, *exponent)),
            _ => None,
        }
    }

    /// Modelled bytes of the coefficient, and what work on it is charged by.
    pub fn bytes(&self) -> usize {
        use dashu_int::ops::BitTest;
        match &self.value {
            Value::Finite { coefficient, .. } => coefficient.bit_len() / 8,
            Value::Nan { payload, .. } => payload.bit_len() / 8,
            Value::Infinity => 0,
        }
    }

    /// Whether the sign is minus; also of zeros, infinities and NaNs.
    pub const fn is_signed(&self) -> bool {
        self.negative
    }

    /// Whether this is neither an infinity nor a NaN.
    pub const fn is_finite(&self) -> bool {
        matches!(self.value, Value::Finite { .. })
    }

    /// Whether this is an infinity.
    pub const fn is_infinite(&self) -> bool {
        matches!(self.value, Value::Infinity)
    }

    /// Whether this is a NaN of either kind.
    pub const fn is_nan(&self) -> bool {
        matches!(self.value, Value::Nan { .. })
    }

    /// Whether this is a signaling NaN.
    pub const fn is_signaling(&self) -> bool {
        matches!(self.value, Value::Nan { signaling: true, .. })
    }

    /// Whether this is a zero.
    pub const fn is_zero(&self) -> bool {
        match &self.value {
            Value::Finite { coefficient, .. } => coefficient.is_zero(),
            _ => false,
        }
    }

    /// Whether this is finite, not zero and not subnormal.
    pub fn is_normal(&self) -> bool {
        self.is_finite() && !self.is_zero() && self.adjusted() >= SMALLEST_EXPONENT
    }

    /// Whether this is finite, not zero and below the smallest normal number.
    pub fn is_subnormal(&self) -> bool {
        self.is_finite() && !self.is_zero() && self.adjusted() < SMALLEST_EXPONENT
    }

    /// The exponent in scientific notation; 0 of an infinity or NaN.
    pub fn adjusted(&self) -> i64 {
        self.parts().map_or(0, |(coefficient, exponent)| exponent + digit_count(coefficient) - 1)
    }

    /// This with the sign given.
    pub fn with_sign(&self, negative: bool) -> Decimal {
        Decimal { negative, value: self.value.clone() }
    }

    /// `number_class`: where on the number line this lies.
    pub fn number_class(&self) -> &'static str {
        let sides: [&'static str; 2] = match &self.value {
            Value::Nan { signaling: true, .. } => ["sNaN", "sNaN"],
            Value::Nan { .. } => ["NaN", "NaN"],
            Value::Infinity => ["+Infinity", "-Infinity"],
            Value::Finite { .. } if self.is_zero() => ["+Zero", "-Zero"],
            Value::Finite { .. } if self.is_subnormal() => ["+Subnormal", "-Subnormal"],
            Value::Finite { .. } => ["+Normal", "-Normal"],
        };
        sides[usize::from(self.negative)]
    }
}

/// Decimal digits of a coefficient; zero has one.
fn digit_count(coefficient: &UBig) -> i64 {
    if let Ok(small) = u128::try_from(coefficient) {
        return i64::from(small.checked_ilog10().unwrap_or(0)) + 1;
    }
    length(coefficient.ilog(&UBig::from(10u8))) + 1
}

fn length(count: usize) -> i64 {
    i64::try_from(count).expect("a number in memory")
}

/// Ten to a power that is not negative.
fn power_of_ten(exponent: i64) -> UBig {
    match u32::try_from(exponent) {
        Ok(small @ 0..39) => UBig::from(10u128.pow(small)),
        _ => UBig::from(10u8).pow(usize::try_from(exponent).expect("callers keep powers of ten in memory")),
    }
}
