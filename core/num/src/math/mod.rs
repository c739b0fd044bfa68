//! The functions of Python's `math`, correctly rounded: the result is the float nearest to the true value, so it
//! is defined by mathematics and not by a library.
//!
//! A function computes its value in integers with an error bound ([`ball`]) and, if the bound leaves two floats
//! possible, once more with more bits. Special cases and errors are those of CPython's `math`.

mod ball;
mod constants;
mod elementary;
pub(crate) mod kernels;
mod power;
mod special;
mod sums;
mod wide;
mod wide_tables;

pub(crate) use ball::Ball;
pub use elementary::{
    acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, exp, exp2, expm1, log, log_int, log_int_2, log_int_10, log1p, log2, log10,
    sin, sinh, tan, tanh,
};
pub use power::{PowerError, cbrt, dist, hypot, pow, py_pow};
pub use special::{erf, erfc, gamma, lgamma};
pub use sums::{ExactSum, SumError, degrees, is_close, radians};

use super::{F64, NumberError};

/// `math.pi`.
pub const PI: F64 = F64(0x4009_21fb_5444_2d18);
/// `math.e`.
pub const E: F64 = F64(0x4005_bf0a_8b14_5769);
/// `math.tau`.
pub const TAU: F64 = F64(0x4019_21fb_5444_2d18);

/// Why a function has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MathError {
    /// The argument is outside the function's domain: ValueError "math domain error".
    Domain,
    /// The result is too large to represent: OverflowError "math range error".
    Range,
}

impl From<MathError> for NumberError {
    fn from(error: MathError) -> NumberError {
        match error {
            MathError::Domain => NumberError::value("math domain error"),
            MathError::Range => NumberError::overflow("math range error"),
        }
    }
}

/// What a function of `math` returns.
pub type Outcome = Result<F64, MathError>;

/// A result that must be finite.
fn finite(value: F64) -> Outcome {
    if value.is_infinite() { Err(MathError::Range) } else { Ok(value) }
}

/// `math.sqrt(x)`.
pub fn sqrt(x: F64) -> Outcome {
    if x.is_negative() && !x.is_zero() { Err(MathError::Domain) } else { Ok(x.sqrt()) }
}

/// `math.fmod(x, y)`.
pub fn fmod(x: F64, y: F64) -> Outcome {
    defined(x % y, x, y)
}

/// `math.remainder(x, y)`.
pub fn remainder(x: F64, y: F64) -> Outcome {
    defined(x.ieee_remainder(y), x, y)
}

/// A NaN that did not come from an argument is a domain error.
fn defined(value: F64, x: F64, y: F64) -> Outcome {
    if value.is_nan() && !x.is_nan() && !y.is_nan() { Err(MathError::Domain) } else { Ok(value) }
}

/// `math.ldexp(x, exponent)`; clamp an exponent that does not fit.
pub fn ldexp(x: F64, exponent: i64) -> Outcome {
    x.ldexp(exponent).ok_or(MathError::Range)
}
