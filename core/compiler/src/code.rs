//! Compiled code: what the compiler hands to an image, before names and constants become heap objects.

use crate::opcode::Instruction;
use cowboy_num::F64;
use dashu_int::IBig;

/// A literal of the source.
#[derive(Clone, Debug, PartialEq)]
pub enum Const {
    /// `None`
    None,
    /// `...`
    Ellipsis,
    /// `True` or `False`
    Bool(bool),
    /// An integer of at most 64 bits.
    Int(i64),
    /// A larger integer.
    BigInt(IBig),
    /// A binary64 number.
    Float(F64),
    /// A number times the imaginary unit.
    Imaginary(F64),
    /// Text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A tuple of literals.
    Tuple(Vec<Const>),
}

/// Which register range jumps where when an exception passes: the first row that covers the instruction wins.
#[derive(Clone, Copy, Debug)]
pub struct Handler {
    /// First covered instruction.
    pub start: u32,
    /// One past the last covered instruction.
    pub end: u32,
    /// Where the handler begins.
    pub target: u32,
    /// The register that receives the exception; it and those above are released first.
    pub depth: u16,
    /// How many exceptions the frame itself was handling when the range was entered.
    pub handled: u16,
}

/// How a code body runs when called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeKind {
    /// Runs to its return.
    Plain,
    /// A call makes a generator.
    Generator,
    /// A call makes a coroutine.
    Coroutine,
    /// A call makes an asynchronous generator.
    AsyncGenerator,
}

/// One compiled function, class body or module body.
#[derive(Clone, Debug)]
pub struct Code {
    /// `__name__`
    pub name: String,
    /// `__qualname__`
    pub qualname: String,
    /// How it runs.
    pub kind: CodeKind,
    /// The instructions.
    pub instructions: Vec<Instruction>,
    /// The source line of each instruction.
    pub lines: Vec<u32>,
    /// Literals, by index.
    pub consts: Vec<Const>,
    /// Identifiers, by index.
    pub names: Vec<String>,
    /// Inline cache sites: the name index each one is about.
    pub sites: Vec<u16>,
    /// Registers in all.
    pub registers: u16,
    /// Names of the registers that hold local variables (parameters first).
    pub local_names: Vec<String>,
    /// Positional-only parameters.
    pub positional_only: u16,
    /// Positional parameters, positional-only ones included.
    pub positional: u16,
    /// Keyword-only parameters.
    pub keyword_only: u16,
    /// Whether `*args` is taken.
    pub var_positional: bool,
    /// Whether `**kwargs` is taken.
    pub var_keyword: bool,
    /// The first of the registers that receive the closure's cells.
    pub free_start: u16,
    /// Names of the closure's cells.
    pub free_names: Vec<String>,
    /// Where comprehensions stand that run in the frame around them: first instruction, and one past the last.
    pub comprehensions: Vec<(u32, u32)>,
    /// Exception handlers, innermost first.
    pub handlers: Vec<Handler>,
    /// Line of the definition.
    pub first_line: u32,
    /// Whether a traceback leaves its frames out (helpers written in Python).
    pub hidden: bool,
    /// `__doc__`
    pub doc: Option<String>,
}

impl Code {
    /// Whether the instruction before `pc` stands inside a `try` or `with`.
    pub fn guards(&self, pc: u32) -> bool {
        self.handlers.iter().any(|handler| handler.start < pc && pc <= handler.end)
    }

    /// Whether the instruction before `pc` belongs to a comprehension that runs in this frame.
    pub fn is_in_comprehension(&self, pc: u32) -> bool {
        self.comprehensions.iter().any(|&(start, end)| start < pc && pc <= end)
    }

    /// Number of parameters of every sort: the registers a call fills.
    pub fn parameters(&self) -> usize {
        usize::from(self.positional) + usize::from(self.keyword_only) + usize::from(self.var_positional) + usize::from(self.var_keyword)
    }
}

/// A compiled module: its body is code 0. Only the compiler makes one, so every code body in it has passed the verifier.
#[derive(Clone, Debug)]
pub struct Unit {
    pub(crate) name: String,
    pub(crate) file: String,
    pub(crate) source: String,
    pub(crate) codes: Vec<Code>,
}

impl Unit {
    /// `__name__` of the module.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What a traceback calls the file.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The source lines, for tracebacks.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Every code body.
    pub fn codes(&self) -> &[Code] {
        &self.codes
    }
}
