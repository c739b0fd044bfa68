//! The virtual machine, as deliveries see it: one engine a handler, which comes back whenever it needs the host.

use crate::input::Exception;
use cowboy_types::{Abort, error};
pub(crate) use cowboy_vm::{Access, Exit, F64, HostCall, HostError, HostFn, HostValue, Limits, PyError, Rules, Trap, Usage};
use cowboy_vm::{CompileError, CompileErrorKind, Entry, Failure, Profiler, Vm};
use std::sync::Arc;

/// What tracebacks call an actor's source.
const FILE: &str = "actor.py";

/// A compiled actor, shared by every run of it.
#[derive(Clone, Debug)]
pub struct Image(Inner, Option<Profiler>);

#[derive(Clone, Debug)]
enum Inner {
    Python(Arc<cowboy_vm::Image>),
    #[cfg(test)]
    Script(Arc<script::Program>),
}

impl Image {
    /// The same image, whose runs a profiler sees: for the tools of authors. Nothing else about them is different.
    pub fn profiled(mut self, profiler: Profiler) -> Self {
        self.1 = Some(profiler);
        self
    }

    /// Bytes that it takes, roughly, for a bounded cache.
    pub fn footprint(&self) -> usize {
        match &self.0 {
            Inner::Python(image) => image.footprint(),
            #[cfg(test)]
            Inner::Script(_) => 0,
        }
    }
}

/// Why a source makes no image, and what finding out cost.
pub(crate) struct BuildError {
    pub(crate) abort: Abort,
    pub(crate) exception: Exception,
    pub(crate) usage: Usage,
}

/// Compiles canonical source and runs its module body.
pub(crate) fn build(source: &str, limits: Limits) -> Result<(Image, Usage), BuildError> {
    #[cfg(test)]
    if let Some(program) = source.strip_prefix("#script\n") {
        return Ok((Image(Inner::Script(Arc::new(script::Program::parse(program))), None), Usage { cycles: 100, ..Usage::default() }));
    }
    let unit = cowboy_vm::compile(source, FILE).map_err(|error| refused(source, &error))?;
    let (image, usage) = cowboy_vm::build_image(&unit, limits).map_err(|(failure, usage)| failed(failure, usage))?;
    Ok((Image(Inner::Python(image), None), usage))
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

/// A handler under way.
pub(crate) enum Engine {
    Python(Box<Vm>),
    #[cfg(test)]
    Script(Box<script::Run>),
}

impl Engine {
    /// A handler that has not begun.
    pub(crate) fn start(image: &Image, method: &str, payload: &[u8], limits: Limits) -> Self {
        match &image.0 {
            Inner::Python(python) => {
                let entry = Entry::Handler { method: method.to_string(), payload: payload.to_vec() };
                let mut vm = Box::new(Vm::start(python.clone(), entry, limits));
                if let Some(profiler) = &image.1 {
                    vm.profile(profiler);
                }
                Self::Python(vm)
            }
            #[cfg(test)]
            Inner::Script(program) => Self::Script(Box::new(script::Run::start(program.clone(), method, payload, limits))),
        }
    }

    /// Runs until it needs something.
    pub(crate) fn run(&mut self) -> Exit {
        match self {
            Self::Python(vm) => vm.run(),
            #[cfg(test)]
            Self::Script(run) => run.run(),
        }
    }

    /// Resumes with the host's answer.
    pub(crate) fn resume(&mut self, answer: Result<HostValue, HostError>) -> Exit {
        match self {
            Self::Python(vm) => vm.resume(answer),
            #[cfg(test)]
            Self::Script(run) => run.resume(answer),
        }
    }

    /// Deducts what the host's work costs.
    pub(crate) fn charge(&mut self, cycles: u64, cells: u64, weight: u64) -> Result<(), Trap> {
        match self {
            Self::Python(vm) => vm.charge(cycles, cells, weight),
            #[cfg(test)]
            Self::Script(run) => run.charge(cycles, cells, weight),
        }
    }

    /// What was printed since the last call.
    pub(crate) fn take_printed(&mut self) -> String {
        match self {
            Self::Python(vm) => vm.take_output(),
            #[cfg(test)]
            Self::Script(_) => String::new(),
        }
    }

    /// What was used so far.
    pub(crate) fn usage(&self) -> Usage {
        match self {
            Self::Python(vm) => vm.usage(),
            #[cfg(test)]
            Self::Script(run) => run.usage(),
        }
    }
}

#[cfg(test)]
pub(crate) mod script;
