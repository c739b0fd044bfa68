//! What looks at a traced run.

use super::Vm;
use crate::runtime::profile::Recorder;
use cowboy_compiler::opcode::Op;
use std::collections::BTreeMap;

/// A line that is about to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEvent<'a> {
    /// What a traceback calls the file.
    pub file: &'a str,
    /// The line, from 1.
    pub line: u32,
    /// Its text, without the indentation.
    pub text: &'a str,
    /// The function that it belongs to.
    pub function: &'a str,
    /// How many functions of the program are running, from 1.
    pub depth: usize,
    /// Whether the function begins here, or goes on where it yielded.
    pub is_call: bool,
    /// Cycles used so far.
    pub cycles: u64,
    /// What was printed since the line before. It is taken out of the run's output.
    pub printed: String,
}

/// Who looks at a traced run.
#[derive(Debug)]
pub(crate) enum Watch {
    /// A hook, before every line.
    Lines(fn(&LineEvent<'_>)),
    /// A profile, before every instruction.
    Cycles(Box<Recorder>),
    /// Nobody; inline caches are emptied before every instruction.
    Forgetful,
    /// Nobody; every instruction takes its general form.
    #[cfg(test)]
    General,
}

/// What a traced run remembers.
#[derive(Debug)]
pub(crate) struct Tracer {
    pub watch: Watch,
    /// The opcodes that `Line` stands for, by code.
    pub hidden: BTreeMap<u32, Vec<Op>>,
    /// The one instruction that shows its opcode: code and position.
    pub open: Option<(u32, u32)>,
    /// Where each frame of the traced codes was last: depth, code, position, line.
    pub places: Vec<(usize, u32, u32, u32)>,
}

impl Vm {
    /// Whether everything takes its general form.
    #[cfg(test)]
    pub(crate) fn is_general(&self) -> bool {
        self.tracer.as_ref().is_some_and(|tracer| matches!(tracer.watch, Watch::General))
    }
}
