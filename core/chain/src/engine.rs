//! The virtual machine, as deliveries see it: one engine for each handler, which stops whenever it needs the host.

use cowboy_types::{Abort, Hash, error};
pub(crate) use cowboy_vm::{Access, Exit, F64, HostCall, HostError, HostFn, HostValue, Limits, PyError, Rules, Trap, Usage};
use cowboy_vm::{CompileError, CompileErrorKind, Entry, Failure, Profiler, Vm};
use std::fmt::Debug;
use std::sync::Arc;

/// What tracebacks call an actor's source.
const FILE: &str = "actor.py";

/// A compiled actor, shared by every run of it.
#[derive(Clone, Debug)]
pub struct Image {
    program: Arc<dyn Program>,
    profiler: Option<Profiler>,
}

impl Image {
    /// The image of a program.
    pub fn new(program: Arc<dyn Program>) -> Self {
        Self { program, profiler: None }
    }

    /// The same image, whose runs a profiler sees: for the tools of authors. Nothing else about them is different.
    pub fn profiled(mut self, profiler: Profiler) -> Self {
        self.profiler = Some(profiler);
        self
    }

    /// Bytes that it takes, roughly, for a bounded cache.
    pub fn footprint(&self) -> usize {
        self.program.footprint()
    }

    /// A handler that has not begun.
    pub(crate) fn start(&self, method: &str, payload: &[u8], limits: Limits) -> Box<dyn Engine> {
        Arc::clone(&self.program).start(method, payload, limits, self.profiler.as_ref())
    }
}

/// Compiles actors, and keeps what was compiled between blocks: a cache that never changes a result.
pub trait Images: Send + Sync {
    /// Compiles canonical source and runs its module body. Chains that run Python keep this as it is.
    fn build(&self, source: &str, limits: Limits) -> Result<(Image, Usage), BuildError> {
        build(source, limits)
    }
    /// The image of a code hash, where it is kept.
    fn get(&self, code_hash: &Hash) -> Option<Image>;
    /// Keeps an image.
    fn put(&self, code_hash: Hash, image: Image);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoImages;

impl Images for NoImages {
    fn get(&self, _: &Hash) -> Option<Image> {
        None
    }
    fn put(&self, _: Hash, _: Image) {}
}

/// A compiled source of an actor. On a network it is Python; tests of the host bring programs of their own.
pub trait Program: Debug + Send + Sync {
    /// A handler that has not begun.
    fn start(self: Arc<Self>, method: &str, payload: &[u8], limits: Limits, profiler: Option<&Profiler>) -> Box<dyn Engine>;
    /// Bytes that it takes, roughly, for a bounded cache.
    fn footprint(&self) -> usize;
}

/// A handler under way, which stops whenever it needs the host.
pub trait Engine: Send {
    /// Runs until it needs something.
    fn run(&mut self) -> Exit;
    /// Resumes with the host's answer.
    fn resume(&mut self, answer: Result<HostValue, HostError>) -> Exit;
    /// Deducts what the host's work costs.
    fn charge(&mut self, cycles: u64, cells: u64, weight: u64) -> Result<(), Trap>;
    /// What was printed since the last call.
    fn take_printed(&mut self) -> String;
    /// What was used so far.
    fn usage(&self) -> Usage;
}

/// Why a handler failed, in words: a Python exception that it did not catch, or an argument that a system actor refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exception {
    /// The class's name.
    pub name: String,
    /// What it says.
    pub message: String,
    /// What CPython prints about it, line by line: the traceback, outermost frame first, and the exception with notes and group.
    pub traceback: Vec<String>,
}

impl Exception {
    /// Bytes of its texts.
    pub fn size(&self) -> usize {
        self.traceback.iter().map(String::len).fold(self.name.len().saturating_add(self.message.len()), usize::saturating_add)
    }

    /// The exception in at most so many bytes, beside its class: the beginning of its message, and the innermost lines of its traceback.
    pub(crate) fn cut(&self, room: usize) -> Self {
        if self.size() <= room {
            return self.clone();
        }
        let cut = |text: &str, room: usize| text[..text.floor_char_boundary(room)].to_owned();
        let message = cut(&self.message, room / 4);
        let mut left = room.saturating_sub(message.len());
        let mut traceback: Vec<String> = Vec::new();
        for line in self.traceback.iter().rev() {
            let line = cut(line, room / 4);
            let Some(rest) = left.checked_sub(line.len()) else { break };
            left = rest;
            traceback.push(line);
        }
        traceback.reverse();
        Self { name: cut(&self.name, 256), message, traceback }
    }
}

/// Why a source makes no image, and what finding out cost.
pub struct BuildError {
    pub(crate) abort: Abort,
    pub(crate) exception: Exception,
    pub(crate) usage: Usage,
}

/// Compiles canonical Python source and runs its module body.
pub fn build(source: &str, limits: Limits) -> Result<(Image, Usage), BuildError> {
    let unit = cowboy_vm::compile(source, FILE).map_err(|error| refused(source, &error))?;
    let (image, usage) = cowboy_vm::build_image(&unit, limits).map_err(|(failure, usage)| failed(failure, usage))?;
    Ok((Image::new(image), usage))
}

/// A source that is refused before anything runs: as CPython shows a syntax error.
fn refused(source: &str, error: &CompileError) -> BuildError {
    let (abort, name) = match error.kind {
        CompileErrorKind::Syntax => (error::SYNTAX_ERROR, "SyntaxError"),
        CompileErrorKind::Forbidden => (error::FORBIDDEN_SOURCE, "ForbiddenSource"),
        CompileErrorKind::TooLarge => (error::FORBIDDEN_SOURCE, "SourceTooLarge"),
    };
    let message = format!("{} (line {}, column {})", error.message, error.line, error.column);
    let traceback = [error.shown(FILE, source), vec![format!("{name}: {message}")]].concat();
    BuildError { abort, exception: Exception { name: name.to_string(), message, traceback }, usage: Usage::default() }
}

/// A module body that failed.
fn failed(failure: Failure, usage: Usage) -> BuildError {
    match failure {
        Failure::Raise(error) => {
            let exception = Exception { name: error.type_name, message: error.message, traceback: error.traceback };
            BuildError { abort: error::MODULE_FAILED, exception, usage }
        }
        Failure::Trap(trap) => BuildError { abort: abort_of_trap(trap), exception: Exception::default(), usage },
    }
}

/// The row of the error table for a limit that was hit.
pub(crate) fn abort_of_trap(trap: Trap) -> Abort {
    match trap {
        Trap::OutOfCycles => error::OUT_OF_CYCLES,
        Trap::OutOfCells => error::OUT_OF_CELLS,
        Trap::OutOfMemory => error::OUT_OF_MEMORY,
        Trap::OutOfWeight => error::OUT_OF_TIME,
        Trap::Internal => error::INTERNAL,
    }
}

impl Program for cowboy_vm::Image {
    fn start(self: Arc<Self>, method: &str, payload: &[u8], limits: Limits, profiler: Option<&Profiler>) -> Box<dyn Engine> {
        let entry = Entry::Handler { method: method.to_string(), payload: payload.to_vec() };
        let mut vm = Vm::start(self, entry, limits);
        if let Some(profiler) = profiler {
            vm.profile(profiler);
        }
        Box::new(vm)
    }

    fn footprint(&self) -> usize {
        Self::footprint(self)
    }
}

impl Engine for Vm {
    fn run(&mut self) -> Exit {
        Self::run(self)
    }

    fn resume(&mut self, answer: Result<HostValue, HostError>) -> Exit {
        Self::resume(self, answer)
    }

    fn charge(&mut self, cycles: u64, cells: u64, weight: u64) -> Result<(), Trap> {
        Self::charge(self, cycles, cells, weight)
    }

    fn take_printed(&mut self) -> String {
        self.take_output()
    }

    fn usage(&self) -> Usage {
        Self::usage(self)
    }
}
