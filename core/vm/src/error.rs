//! Ways a run ends or is interrupted.

use crate::frame::{OnReturn, Wake};
use crate::host::{HostCall, HostValue};
use crate::value::Value;

/// Why a run is over at once and cannot be continued by the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub enum Trap {
    /// The cycles are used up.
    OutOfCycles,
    /// The cells are used up.
    OutOfCells,
    /// More modelled memory than allowed was in use at once.
    OutOfMemory,
    /// More time than a delivery may take, by the frozen weights.
    OutOfWeight,
    /// The VM contradicted itself: a defect of ours, contained.
    Internal,
}

impl Trap {
    /// A stable word for the trap.
    pub const fn slug(self) -> &'static str {
        match self {
            Trap::OutOfCycles => "out_of_cycles",
            Trap::OutOfCells => "out_of_cells",
            Trap::OutOfMemory => "out_of_memory",
            Trap::OutOfWeight => "out_of_weight",
            Trap::Internal => "internal",
        }
    }
}

/// An exception that nobody caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PyError {
    /// Name of its class, with its module unless that is builtin or the script.
    pub type_name: String,
    /// `str()` of it, as far as that needs no Python code.
    pub message: String,
    /// What CPython prints, line by line: the traceback, the exception itself, its notes and its group.
    pub traceback: Vec<String>,
    /// The class's `slug` attribute or the exception's, when it is text.
    pub slug: Option<String>,
    /// The `code` attribute, when it is a number that fits.
    pub code: Option<u32>,
}

/// Why [`crate::Vm::run`] came back.
#[derive(Clone, Debug)]
pub enum Exit {
    /// The entry returned this.
    Return(HostValue),
    /// The entry raised this.
    Raise(PyError),
    /// A limit was hit.
    Trap(Trap),
    /// The host has to answer; go on with [`crate::Vm::resume`].
    HostCall(HostCall),
}

/// A call that a native function or an instruction leaves to the interpreter.
#[derive(Debug)]
pub(crate) struct PendingCall {
    /// What to call.
    pub function: Value,
    /// Positional arguments. References are the call's.
    pub arguments: Vec<Value>,
    /// Keyword arguments by interned name.
    pub keywords: Vec<(crate::value::Ref, Value)>,
    /// The namespace of a class body.
    pub namespace: Value,
    /// What happens to the result.
    pub on_return: OnReturn,
}

/// Why an operation did not give a value. Its tag is a whole word for the reason that [`Value`] has.
#[derive(Debug)]
#[repr(u64)]
pub(crate) enum Throw {
    /// An exception object; the reference is the throw's.
    Raise(Value),
    /// The run is over.
    Trap(Trap),
    /// The native function cannot do this without running Python code: its helper has to.
    Fallback,
    /// The result is that of this call.
    Call(Box<PendingCall>),
    /// The host has to answer.
    Host(Box<HostCall>),
    /// A frame was pushed; the loop goes on there.
    Reload,
    /// A traced line comes: the instruction in whose place the saved position is, has yet to run.
    Line,
    /// A generator has to go on, and what it gives is the result.
    Resume(crate::value::Ref, Box<(Wake, OnReturn)>),
}

/// The outcome of an operation.
pub(crate) type Outcome<T = Value> = Result<T, Throw>;
