//! How deep a source nests, found in one pass over its bytes before anything is parsed.
//!
//! Parser, visitors, emitter and the freeing of the tree go down the tree natively, so its height has to be bounded before there is one.
//! This pass finds an upper bound: every level of the tree stands for a bracket, an operator, a word or an indentation of the source.
//! A chain leans by one level for each operator. The bound holds for sources that are no Python as well, because the parser continues
//! behind an error: lines inside brackets count as lines, and f-strings have to be what CPython 3.11 accepts, so that no text is a
//! field for one reader and not for the other.

use crate::CompileError;
use ruff_text_size::{TextRange, TextSize};

/// Levels of one line's tree: operators, calls and attributes that one expression chains, with what is in their brackets.
pub(super) const HEIGHT_LIMIT: usize = 500;

/// Expressions and blocks inside one another that the emitter follows. A chain of operators is one.
pub(super) const NESTING_LIMIT: usize = 100;

/// Indentations inside one another, as in CPython.
pub(super) const INDENTATION_LIMIT: usize = 100;

/// Format specifications inside one another, as in CPython 3.11.
const SPECIFICATIONS: usize = 2;

/// Refuses a source whose tree could be higher than the native stack bears: the VM names how much that is.
pub(super) fn check(source: &str) -> Result<(), CompileError> {
    let bytes = source.as_bytes();
    let mut scan = Scan { bytes, at: 0, frames: vec![Frame::module(bytes.len())], lines: Vec::new() };
    scan.line()?;
    while scan.at < bytes.len() {
        match scan.top().kind {
            Kind::Text(_) | Kind::Specification => scan.literal()?,
            Kind::Code(_) | Kind::Field => scan.code()?,
        }
    }
    while scan.frames.len() > 1 {
        scan.close(1)?;
    }
    scan.height(scan.top()).map(|_| ())
}

/// What the bytes at hand are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Code in a bracket, with the byte that closes it; 0 for the module.
    Code(u8),
    /// The text of an f-string, with the place behind its last quote.
    Text(usize),
    /// A replacement field of an f-string.
    Field,
    /// The format specification of a field.
    Specification,
}

/// Something that was opened and is not closed yet.
#[derive(Clone, Copy, Debug)]
struct Frame {
    kind: Kind,
    /// Where the innermost f-string's text around ends, or the source.
    end: usize,
    /// Format specifications around, in the innermost f-string, and whether that is raw.
    specifications: usize,
    is_raw: bool,
    /// Operators of the element at hand.
    operators: usize,
    /// Lambdas whose parameters are at hand: commas are theirs.
    parameters: usize,
    /// Yields, which reach over commas to what follows.
    reaching: usize,
    /// The highest of what was closed in this element.
    inner: usize,
    /// The highest of the elements before.
    best: usize,
}

impl Frame {
    /// A frame in another one.
    fn within(self, kind: Kind) -> Self {
        Self { kind, operators: 0, parameters: 0, reaching: 0, inner: 0, best: 0, ..self }
    }

    fn module(end: usize) -> Self {
        Self { kind: Kind::Code(0), end, specifications: 0, is_raw: false, operators: 0, parameters: 0, reaching: 0, inner: 0, best: 0 }
    }

    fn height(&self) -> usize {
        self.best.max(self.operators + self.inner) + self.reaching
    }

    /// The next element begins.
    fn next(&mut self) {
        if self.reaching == 0 && self.parameters == 0 {
            (self.best, self.operators, self.inner) = (self.height(), 0, 0);
        }
    }
}

/// A line that is less indented than the one at hand, or that line.
#[derive(Clone, Copy, Debug)]
struct Line {
    width: usize,
    /// Levels of the tree above its statements.
    depth: usize,
    /// Words of it that begin a block, should several stand in one line.
    blocks: usize,
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    frames: Vec<Frame>,
    lines: Vec<Line>,
}

/// Where a text literal lies.
struct Literal {
    start: usize,
    end: usize,
    after: usize,
}

fn place(offset: usize) -> TextRange {
    let offset = TextSize::new(u32::try_from(offset).unwrap_or(u32::MAX));
    TextRange::new(offset, offset)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

impl Scan<'_> {
    fn top(&self) -> &Frame {
        self.frames.last().expect("the module's frame stays")
    }

    fn top_mut(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the module's frame stays")
    }

    fn next_is(&self, byte: u8) -> bool {
        self.bytes.get(self.at + 1) == Some(&byte)
    }

    fn refuse<T>(&self, message: &str) -> Result<T, CompileError> {
        Err(CompileError::at(place(self.at), message))
    }

    fn too_high(&self) -> CompileError {
        let message = format!("more than {HEIGHT_LIMIT} operations in one expression: name the parts");
        CompileError::too_large(place(self.at), message)
    }

    /// The height of what a frame holds, unless that is too much together with the blocks around it.
    fn height(&self, frame: &Frame) -> Result<usize, CompileError> {
        let blocks = self.lines.last().map_or(0, |line| line.blocks);
        let height = frame.height();
        if height + blocks > HEIGHT_LIMIT { Err(self.too_high()) } else { Ok(height) }
    }

    fn open(&mut self, kind: Kind) -> Result<(), CompileError> {
        self.push(self.top().within(kind))
    }

    fn push(&mut self, frame: Frame) -> Result<(), CompileError> {
        if self.frames.len() >= HEIGHT_LIMIT {
            return Err(self.too_high());
        }
        self.frames.push(frame);
        Ok(())
    }

    /// Leaves the innermost frame, which counts as `operators` of what it lies in.
    fn close(&mut self, operators: usize) -> Result<(), CompileError> {
        let height = self.height(self.top())?;
        self.frames.pop();
        let around = self.top_mut();
        around.inner = around.inner.max(height + 1);
        around.operators += operators;
        Ok(())
    }

    /// A physical line begins: notes how far it is indented, unless there is nothing in it.
    fn line(&mut self) -> Result<(), CompileError> {
        let mut width = 0;
        let mut at = self.at;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b' ' | b'\t' => width += 1,
                b'\x0c' => width = 0,
                _ => break,
            }
            at += 1;
        }
        if matches!(self.bytes.get(at), None | Some(b'\n' | b'#')) {
            return Ok(());
        }
        while self.lines.last().is_some_and(|line| line.width >= width) {
            self.lines.pop();
        }
        let depth = self.lines.last().map_or(0, |line| line.depth + line.blocks.max(1));
        if self.lines.len() > INDENTATION_LIMIT || depth > HEIGHT_LIMIT {
            return Err(CompileError::too_large(place(at), "too many levels of indentation"));
        }
        self.lines.push(Line { width, depth, blocks: 0 });
        Ok(())
    }

    /// Reads one token of code.
    fn code(&mut self) -> Result<(), CompileError> {
        let Frame { kind, end, .. } = *self.top();
        let in_field = end < self.bytes.len();
        if self.at >= end {
            return self.refuse("f-string: expecting '}' (the quotes of an f-string cannot be used inside it)");
        }
        let byte = self.bytes[self.at];
        match byte {
            b'\n' => {
                self.at += 1;
                if self.frames.len() == 1 {
                    self.height(self.top())?;
                    *self.top_mut() = Frame::module(end);
                }
                return self.line();
            }
            b'#' if in_field => return self.refuse("f-string expression part cannot include '#'"),
            b'#' => {
                while self.bytes.get(self.at).is_some_and(|&byte| byte != b'\n') {
                    self.at += 1;
                }
                return Ok(());
            }
            b'\\' if in_field => return self.refuse("f-string expression part cannot include a backslash"),
            b'\'' | b'"' => return self.string(b""),
            b'(' | b'[' | b'{' => self.open(Kind::Code(if byte == b'(' { b')' } else { byte + 2 }))?,
            b')' | b']' | b'}' => self.closing(byte, in_field)?,
            b',' | b';' => self.top_mut().next(),
            b':' if kind == Kind::Field => {
                self.open(Kind::Specification)?;
                self.top_mut().specifications += 1;
            }
            b':' if self.next_is(b'=') => self.top_mut().operators += 1,
            b':' if self.top().parameters > 0 => self.top_mut().parameters -= 1,
            b':' => self.top_mut().next(),
            b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'<' | b'>' | b'.' | b'~' => self.top_mut().operators += 1,
            b'0'..=b'9' => {
                self.number();
                return Ok(());
            }
            byte if is_word(byte) => return self.word(),
            _ => {}
        }
        self.at += 1;
        if self.top().operators > HEIGHT_LIMIT { Err(self.too_high()) } else { Ok(()) }
    }

    fn closing(&mut self, byte: u8, in_field: bool) -> Result<(), CompileError> {
        let mark = char::from(byte);
        match self.top().kind {
            Kind::Field if byte == b'}' => self.close(0),
            Kind::Field => self.refuse(&format!("f-string: unmatched '{mark}'")),
            Kind::Code(closer) if in_field && closer != byte => {
                self.refuse(&format!("f-string: closing parenthesis '{mark}' does not match the opening one"))
            }
            _ if self.frames.len() > 1 => self.close(1),
            _ => {
                self.top_mut().operators += 1;
                Ok(())
            }
        }
    }

    /// Digits with at most one point: a second one would be an attribute's.
    fn number(&mut self) {
        let mut points = 0;
        while let Some(&byte) = self.bytes.get(self.at) {
            points += usize::from(byte == b'.');
            if points > 1 || !(byte.is_ascii_digit() || matches!(byte, b'_' | b'.')) {
                break;
            }
            self.at += 1;
        }
    }

    fn word(&mut self) -> Result<(), CompileError> {
        let start = self.at;
        while self.bytes.get(self.at).is_some_and(|&byte| is_word(byte)) {
            self.at += 1;
        }
        let word = &self.bytes[start..self.at];
        if word.len() <= 2 && matches!(self.bytes.get(self.at), Some(b'\'' | b'"')) {
            let prefix = word.to_ascii_lowercase();
            if matches!(&prefix[..], b"r" | b"u" | b"b" | b"br" | b"rb" | b"f" | b"fr" | b"rf" | b"t" | b"tr" | b"rt") {
                return self.string(&prefix);
            }
        }
        let (is_operator, is_block) = match word {
            b"not" | b"await" | b"from" | b"lambda" => (true, false),
            b"if" | b"else" => (true, true),
            b"yield" => (false, false),
            b"for" | b"while" | b"with" | b"try" | b"except" | b"finally" | b"elif" | b"class" | b"def" | b"match" | b"case" => {
                (false, true)
            }
            _ => return Ok(()),
        };
        let (is_lambda, is_yield) = (word == b"lambda", word == b"yield");
        let top = self.top_mut();
        top.operators += usize::from(is_operator);
        top.parameters += usize::from(is_lambda);
        top.reaching += usize::from(is_yield);
        if let Some(line) = self.lines.last_mut() {
            line.blocks += usize::from(is_block);
        }
        self.height(self.top()).map(|_| ())
    }

    /// Where the text literal lies whose first quote is at hand. One of a single line that nothing closes ends with the line.
    fn literal_here(&self) -> Option<Literal> {
        let quote = self.bytes[self.at];
        let triple = self.bytes[self.at..].starts_with(&[quote; 3]);
        let marks = if triple { 3 } else { 1 };
        let start = self.at + marks;
        let mut at = start;
        while at < self.bytes.len() {
            match self.bytes[at] {
                b'\\' => at += 1,
                b'\n' if !triple => return None,
                byte if byte == quote && (!triple || self.bytes[at..].starts_with(&[quote; 3])) => {
                    return Some(Literal { start, end: at, after: at + marks });
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Where reading continues behind a literal that nothing closes.
    fn behind_open_literal(&self) -> usize {
        let quote = self.bytes[self.at];
        if self.bytes[self.at..].starts_with(&[quote; 3]) {
            return self.bytes.len();
        }
        let mut at = self.at + 1;
        while at < self.bytes.len() && self.bytes[at] != b'\n' {
            at += if self.bytes[at] == b'\\' { 2 } else { 1 };
        }
        at.min(self.bytes.len())
    }

    /// A text literal, whose first quote is at hand.
    fn string(&mut self, prefix: &[u8]) -> Result<(), CompileError> {
        let end = self.top().end;
        let is_formatted = prefix.iter().any(|byte| matches!(byte, b'f' | b't'));
        match self.literal_here() {
            Some(literal) if literal.after > end => self.refuse("f-string: unterminated string"),
            None if is_formatted || end < self.bytes.len() => self.refuse("f-string: unterminated string"),
            Some(literal) if is_formatted => {
                self.at = literal.start;
                let (end, is_raw) = (literal.end, prefix.contains(&b'r'));
                self.push(Frame { end, is_raw, specifications: 0, ..self.top().within(Kind::Text(literal.after)) })
            }
            Some(literal) => {
                // Behind an error, the parser may take what stands in a field's texts for fields.
                if end < self.bytes.len() {
                    let braces = self.bytes[literal.start..literal.end].iter().filter(|&&byte| byte == b'{').count();
                    let top = self.top_mut();
                    top.inner = top.inner.max(braces);
                }
                self.at = literal.after;
                Ok(())
            }
            None => {
                self.at = self.behind_open_literal();
                Ok(())
            }
        }
    }

    /// Reads the text of an f-string, or of a format specification in one, up to the next field or its end.
    fn literal(&mut self) -> Result<(), CompileError> {
        let Frame { kind, end, specifications, is_raw, .. } = *self.top();
        let is_specification = kind == Kind::Specification;
        // `\N{name}` is no field.
        let mut is_named = false;
        while self.at < end {
            match self.bytes[self.at] {
                b'\\' => {
                    let rest = &self.bytes[self.at + 1..end];
                    if rest.starts_with(b"N{") && !is_raw {
                        is_named = true;
                        self.at += 3;
                    } else {
                        self.at += if matches!(rest.first(), Some(b'{' | b'}')) { 1 } else { 2 };
                    }
                }
                b'{' if self.next_is(b'{') && !is_specification => self.at += 2,
                b'{' => {
                    if specifications >= SPECIFICATIONS {
                        return self.refuse("f-string: expressions nested too deeply");
                    }
                    self.open(Kind::Field)?;
                    self.at += 1;
                    return Ok(());
                }
                b'}' if is_named => {
                    is_named = false;
                    self.at += 1;
                }
                b'}' if is_specification => {
                    self.close(0)?;
                    self.close(0)?;
                    self.at += 1;
                    return Ok(());
                }
                b'}' if self.next_is(b'}') => self.at += 2,
                b'}' => return self.refuse("f-string: single '}' is not allowed"),
                _ => self.at += 1,
            }
        }
        match kind {
            Kind::Text(after) => {
                self.close(0)?;
                self.at = after;
                Ok(())
            }
            _ => self.refuse("f-string: expecting '}'"),
        }
    }
}
