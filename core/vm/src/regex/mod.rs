//! Regular expressions: patterns compiled once, matched with one cycle a step.
//!
//! `parse` reads CPython 3.11's syntax, `compile` makes instructions, `matcher` runs them without recursion, `chars` knows Unicode 14.

mod chars;
mod compile;
mod matcher;
mod parse;
mod runs;
mod search;

pub(crate) use compile::{Program, compile};
pub(crate) use matcher::{ENTRY, Matcher, Mode, Stop, UNSET};
pub(crate) use parse::{Refusal, parse};
