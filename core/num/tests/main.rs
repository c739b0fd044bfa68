//! Numbers against the host's FPU and against CPython 3.11.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "tests are not part of the protocol: they read files, run CPython and print"
)]

mod complex;
mod decimal;
mod float;
mod format;
mod hash;
mod hostile;
mod int;
mod math;
mod oracle;
mod repr;
