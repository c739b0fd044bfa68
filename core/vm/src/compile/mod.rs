//! From source text to code: parse, check, resolve names, emit.

mod awaits;
mod call;
mod checks;
pub(crate) mod code;
mod comprehension;
pub(crate) mod disassemble;
mod display;
mod emit;
mod expr;
mod literal;
mod loops;
mod lowering;
mod nesting;
mod pattern;
mod scope;
mod stmt;
mod verify;

use crate::num::sizes;
pub(crate) use call::{HAS_ANNOTATIONS, HAS_CLOSURE, HAS_DEFAULTS, HAS_KEYWORD_DEFAULTS};
use code::Unit;
use ruff_python_ast::PythonVersion;
use ruff_python_parser::{Mode, ParseOptions};
use ruff_text_size::{Ranged, TextRange};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Largest source, in bytes, that is compiled.
pub(crate) const SOURCE_LIMIT: usize = 1 << 20;

/// Why a source is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompileErrorKind {
    /// It is not Python 3.11.
    Syntax,
    /// It is Python, but uses what an actor may not use.
    Forbidden,
    /// A limit of the compiler is exceeded.
    TooLarge,
}

/// A refusal of a source, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompileError {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Characters of that line that it is about, at least 1.
    pub width: u32,
    /// What is wrong and how to put it right.
    pub message: String,
    /// The sort of refusal.
    pub kind: CompileErrorKind,
    range: TextRange,
}

impl CompileError {
    fn at(range: TextRange, message: impl Into<String>) -> Self {
        Self { line: 0, column: 0, width: 1, message: message.into(), kind: CompileErrorKind::Syntax, range }
    }

    fn forbidden(range: TextRange, message: impl Into<String>) -> Self {
        Self { kind: CompileErrorKind::Forbidden, ..Self::at(range, message) }
    }

    fn too_large(range: TextRange, message: impl Into<String>) -> Self {
        Self { kind: CompileErrorKind::TooLarge, ..Self::at(range, message) }
    }

    /// Fills line and column in from the byte range.
    fn located(mut self, source: &str) -> Self {
        let offset = self.range.start().to_usize().min(source.len());
        let before = source.get(..offset).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |index| index + 1);
        self.line = u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX);
        self.column = u32::try_from(before[line_start..].chars().count() + 1).unwrap_or(u32::MAX);
        let text = source.get(offset..self.range.end().to_usize().min(source.len())).unwrap_or_default();
        self.width = u32::try_from(text.lines().next().unwrap_or_default().chars().count()).unwrap_or(u32::MAX).max(1);
        self
    }
}

impl CompileError {
    /// The place as CPython shows it, in three lines: file and line, the source line, and carets under what is wrong.
    pub fn shown(&self, file: &str, source: &str) -> Vec<String> {
        let line = sizes::index(self.line).unwrap_or(usize::MAX);
        let text = source.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        let indent = text.chars().take_while(|letter| letter.is_whitespace()).count();
        let column = sizes::saturating(self.column).saturating_sub(1);
        let wrong = source.get(self.range.start().to_usize()..self.range.end().to_usize()).unwrap_or_default();
        let rest = text.trim_end().chars().count().saturating_sub(column);
        let carets = wrong.lines().next().unwrap_or_default().trim_end().chars().count().clamp(1, rest.max(1));
        vec![
            format!("  File \"{file}\", line {}", self.line),
            format!("    {}", text.trim()),
            format!("    {}{}", " ".repeat(column.saturating_sub(indent)), "^".repeat(carets)),
        ]
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for CompileError {}

/// How much a source may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trust {
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

pub(crate) fn compile_trusted(source: &str, module: &str, file: &str, trust: Trust) -> Result<Unit, CompileError> {
    compile_beside(source, module, file, trust, &[])
}

/// Compiles a source that may also import the modules named here.
pub(crate) fn compile_beside(source: &str, module: &str, file: &str, trust: Trust, more: &[String]) -> Result<Unit, CompileError> {
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
