//! Numbers against the host's FPU and against CPython 3.11.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "it runs beside the law: it may read files and talk to people"
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
mod sizes;
