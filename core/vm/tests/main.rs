//! The VM from outside: the language against CPython 3.11, its limits, its costs and its interfaces.
//!
//! One program, because each one links the VM anew. `allowance.rs` is a program of its own: it counts what the process allocates.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests are not part of the protocol: they read files, run CPython and print"
)]

mod author_tools;
mod cbor;
mod conformance;
mod continuations;
mod costs;
mod decimal_cases;
mod differential;
mod escapes;
mod generated;
mod handlers;
mod modules;
mod owned;
mod patterns;
mod prices;
mod random;
mod sandbox;
mod sdk;
mod sizes;
mod stack;
mod tracing;
