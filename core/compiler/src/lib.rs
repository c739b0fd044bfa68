//! From Python source to checked register code: parse, check, resolve names, emit, verify.
//!
//! [`compile`] does it for an actor or a script. [`opcode`] has the instructions, one row each with its cycles and operands; [`code`] is what
//! comes out. Nothing runs here.
#![deny(unsafe_code)]
#![allow(
    clippy::cast_possible_truncation,
    clippy::as_conversions,
    reason = "registers, jumps and indices are bounded by the limits of a code body"
)]
#![allow(clippy::wrong_self_convention, reason = "`into` says in which register the value of an expression goes")]
#![allow(
    clippy::collapsible_if,
    clippy::collapsible_match,
    reason = "what kind of node it is comes first, what is asked of it second: nested, the two stay apart"
)]

mod checks;
pub mod code;
mod disassemble;
mod emit;
mod error;
mod forbidden;
mod lowering;
mod nesting;
pub mod opcode;
pub mod operand;
mod scope;
mod verify;

pub use code::Unit;
pub use disassemble::disassemble;
pub use error::{CompileError, CompileErrorKind};

use ruff_python_ast::PythonVersion;
use ruff_python_parser::{Mode, ParseOptions};
use ruff_text_size::{Ranged, TextRange};
use std::borrow::Cow;
use std::sync::Arc;

/// Largest source, in bytes, that is compiled.
const SOURCE_LIMIT: usize = 1 << 20;

/// How much a source may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// An actor or script: the whitelist and the forbidden names apply.
    Actor,
    /// A module that comes with the VM.
    Frozen,
    /// Helpers of builtins: as frozen, and its frames stay out of tracebacks.
    Hidden,
}

/// Compiles the source of an actor or script called `name`.
///
/// Nothing runs. Refuses with the first error: syntax, a forbidden import or name (003 "Forbidden Operations"), or a size limit.
pub fn compile(source: &str, name: &str) -> Result<Arc<Unit>, CompileError> {
    compile_trusted(source, "__main__", name, Trust::Actor).map(Arc::new)
}

/// Everything for which a source would be refused, in the order of the source: what [`compile`] stops at, and what comes after that.
pub fn check(source: &str) -> Vec<CompileError> {
    let source = &*canonical(source);
    let mut errors = found(source);
    errors.sort_by_key(|error| error.range.start());
    errors.into_iter().map(|error| error.located(source)).collect()
}

fn found(source: &str) -> Vec<CompileError> {
    if source.len() <= SOURCE_LIMIT && checks::text(source).is_ok() {
        let options = ParseOptions::from(Mode::Module).with_target_version(PythonVersion::PY311);
        let parsed = ruff_python_parser::parse_unchecked(source, options);
        let errors = parsed.errors().iter().map(|error| CompileError::at(error.location, error.error.to_string()));
        let newer = parsed.unsupported_syntax_errors().iter().map(|error| CompileError::at(error.range(), error.to_string()));
        let errors: Vec<CompileError> = errors.chain(newer).take(checks::REFUSALS).collect();
        if !errors.is_empty() {
            return errors;
        }
        let module = parsed.try_into_module().expect("the parser was asked for a module").into_syntax();
        let errors = checks::actor(&module.body, &[], source);
        if !errors.is_empty() {
            return errors;
        }
    }
    compile_ranged(source, "__main__", "", Trust::Actor, &[]).err().into_iter().collect()
}

/// Compiles the source of a module for `file`, with what its trust allows.
pub fn compile_trusted(source: &str, module: &str, file: &str, trust: Trust) -> Result<Unit, CompileError> {
    compile_beside(source, module, file, trust, &[])
}

/// Compiles a source that may also import the modules named here.
pub fn compile_beside(source: &str, module: &str, file: &str, trust: Trust, more: &[String]) -> Result<Unit, CompileError> {
    let source = &*canonical(source);
    compile_ranged(source, module, file, trust, more).map_err(|error| error.located(source))
}

/// The text as Python reads it: without a byte order mark, its lines ending with a line feed only.
fn canonical(source: &str) -> Cow<'_, str> {
    let source = source.strip_prefix('\u{feff}').unwrap_or(source);
    if source.contains('\r') { Cow::Owned(source.replace("\r\n", "\n").replace('\r', "\n")) } else { Cow::Borrowed(source) }
}

fn compile_ranged(source: &str, module: &str, file: &str, trust: Trust, more: &[String]) -> Result<Unit, CompileError> {
    if source.len() > SOURCE_LIMIT {
        let message = format!("source has {} bytes, the limit is {SOURCE_LIMIT}", source.len());
        return Err(CompileError::too_large(TextRange::default(), message));
    }
    checks::text(source)?;
    let options = ParseOptions::from(Mode::Module).with_target_version(PythonVersion::PY311);
    let parsed = ruff_python_parser::parse(source, options).map_err(|error| CompileError::at(error.location, error.error.to_string()))?;
    if let Some(error) = parsed.unsupported_syntax_errors().first() {
        return Err(CompileError::at(error.range(), error.to_string()));
    }
    let mut body = parsed.try_into_module().expect("the parser was asked for a module").into_syntax().body;
    if trust == Trust::Actor {
        if let Some(first) = checks::actor(&body, more, source).into_iter().next() {
            return Err(first);
        }
        body = lowering::module(body)?;
    }
    let scopes = scope::analyse(&body)?;
    let codes = emit::module(&body, &scopes, source, trust == Trust::Hidden)?;
    Ok(Unit { name: module.to_owned(), file: file.to_owned(), source: source.to_owned(), codes })
}
