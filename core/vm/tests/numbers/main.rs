//! Numbers against the host's FPU and against CPython 3.11.

mod float;
mod hash;
mod oracle;
mod repr;
