//! Why a source is refused, and where.

use cowboy_num::sizes;
use ruff_text_size::TextRange;
use std::fmt;

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
    pub(crate) range: TextRange,
}

impl CompileError {
    pub(crate) fn at(range: TextRange, message: impl Into<String>) -> Self {
        Self { line: 0, column: 0, width: 1, message: message.into(), kind: CompileErrorKind::Syntax, range }
    }

    pub(crate) fn forbidden(range: TextRange, message: impl Into<String>) -> Self {
        Self { kind: CompileErrorKind::Forbidden, ..Self::at(range, message) }
    }

    pub(crate) fn too_large(range: TextRange, message: impl Into<String>) -> Self {
        Self { kind: CompileErrorKind::TooLarge, ..Self::at(range, message) }
    }

    /// Fills line and column in from the byte range.
    pub(crate) fn located(mut self, source: &str) -> Self {
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
