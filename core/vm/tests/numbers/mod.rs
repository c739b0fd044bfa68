//! Numbers against the host's FPU and against CPython 3.11.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test is not part of the protocol: it may read files and print"
)]

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
