//! Python's numbers as pure functions, without the object model: integers, floats, complex numbers, decimals, their text and their hashes.
//!
//! Nothing here uses the computer's floating point: [`F64`] is a bit pattern and [`softfloat`] computes it.
//! Functions return `Option` or a small error; the caller turns that into Python's exception.
#![deny(unsafe_code)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::as_conversions,
    reason = "bits are the subject; each conversion is exact by the range beside it"
)]

pub mod complex;
pub mod decimal;
pub mod float_format;
pub mod format_spec;
mod half_even;
pub mod hash;
pub mod int;
pub mod math;
pub mod repr;
mod shortest;
pub mod sizes;
pub mod softfloat;

pub use float_format::format_float;
pub use format_spec::{FormatError, Spec, Subject, format_str};
pub use hash::{hash_f64, hash_i64, hash_int, siphash13};
pub use int::{NumberError, format_int, parse_int};
pub use repr::{parse_float, repr};
pub use softfloat::F64;
