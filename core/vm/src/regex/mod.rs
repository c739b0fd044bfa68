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

/// Entries of the longest stack whose buffer is kept between searches.
const KEPT_STACK: usize = 256;

/// Buffers of a search, for the next one.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    /// Begin and end of each group, of the last match.
    pub marks: Vec<usize>,
    counters: Vec<(u32, usize)>,
    stack: Vec<matcher::Entry>,
}
