//! Numbers: what Python computes with, as pure functions without the object model.
//!
//! Nothing here uses the machine's floating point: [`F64`] is a bit pattern and [`softfloat`] computes it.
//! Functions return `Option` or a small error; the caller turns that into Python's exception.

pub mod float_format;
pub mod format_spec;
pub mod hash;
pub mod int;
pub mod math;
pub mod repr;
pub mod softfloat;

pub use float_format::format_float;
pub use format_spec::{FormatError, Spec, Subject, format_str};
pub use hash::{hash_f64, hash_i64, hash_int, siphash13};
pub use int::{NumberError, format_int, parse_int};
pub use repr::{parse_float, repr};
pub use softfloat::F64;

/// Whether `str.strip()`, `int()` and `float()` take the character for a blank.
pub(crate) fn is_python_space(character: char) -> bool {
    // U+001C to U+001F separate information for Python, not for Unicode's White_Space.
    character.is_whitespace() || matches!(character, '\x1c'..='\x1f')
}

/// The value of a decimal digit of any script.
pub(crate) fn decimal_digit(character: char) -> Option<u8> {
    character.to_digit(10).and_then(|digit| u8::try_from(digit).ok())
}
