//! Numbers against the host's FPU and against CPython 3.11.

mod complex;
mod decimal;
mod float;
mod format;
mod hash;
mod hostile;
mod int;
mod math;
pub(crate) mod oracle;
mod repr;
mod sizes;
