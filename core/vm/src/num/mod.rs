//! Numbers: what Python computes with, as pure functions without the object model.
//!
//! Nothing here uses the machine's floating point: [`F64`] is a bit pattern and [`softfloat`] computes it.
//! Functions return `Option` or a small error; the caller turns that into Python's exception.

pub mod complex;
pub mod decimal;
pub mod float_format;
pub mod format_spec;
pub mod hash;
pub mod int;
pub mod math;
pub mod repr;
pub(crate) mod sizes;
pub mod softfloat;

pub use float_format::format_float;
pub use format_spec::{FormatError, Spec, Subject, format_str};
pub use hash::{hash_f64, hash_i64, hash_int, siphash13};
pub use int::{NumberError, format_int, parse_int};
pub use repr::{parse_float, repr};
pub use softfloat::F64;
