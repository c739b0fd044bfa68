//! The format mini-language: `[[fill]align][sign][z][#][0][width][grouping][.precision][type]`.
//!
//! The parser, CPython's refusals in its order, the layout shared by all numbers, and the formatting of strings.
//! A width or precision past [`LARGEST_SIZE`] is refused; below it the caller compares [`Spec::min_size`] with
//! the memory left.

use std::fmt::Write;

/// The largest width or precision: CPython would take as much memory as there is, an invocation has 10 MiB.
pub const LARGEST_SIZE: usize = 10 << 20;

/// What is to be formatted: it decides defaults and messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A string: left-aligned, type `s`.
    Str,
    /// An integer: right-aligned, type `d`.
    Int,
    /// A float: right-aligned, no type, which means nearly `repr`.
    Float,
    /// A complex number: like a float.
    Complex,
}

/// Where the padding goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// `<`: after the text.
    Left,
    /// `>`: before the text.
    Right,
    /// `^`: on both sides, the larger half after it.
    Center,
    /// `=`: between the sign and the digits.
    AfterSign,
}

/// What separates groups of digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Nothing.
    None,
    /// A comma every three digits.
    Comma,
    /// An underscore every three digits.
    Underscore,
    /// An underscore every four digits: binary, octal and hexadecimal.
    UnderscoreFour,
}

impl Grouping {
    const fn separator(self) -> Option<char> {
        match self {
            Grouping::None => None,
            Grouping::Comma => Some(','),
            Grouping::Underscore | Grouping::UnderscoreFour => Some('_'),
        }
    }

    const fn group_length(self) -> usize {
        match self {
            Grouping::None => usize::MAX,
            Grouping::Comma | Grouping::Underscore => 3,
            Grouping::UnderscoreFour => 4,
        }
    }
}

/// A parsed format specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The padding character.
    pub fill: char,
    /// Where the padding goes.
    pub align: Align,
    /// `+`, `-` or a blank, if given.
    pub sign: Option<char>,
    /// `z`: a result of minus zero loses its sign.
    pub positive_zero: bool,
    /// `#`: the alternate form.
    pub alternate: bool,
    /// The least number of characters, if given.
    pub width: Option<usize>,
    /// What separates groups of digits.
    pub grouping: Grouping,
    /// Digits after the point, significant digits, or the most characters of a string, if given.
    pub precision: Option<usize>,
    /// The presentation type, or the subject's default; `None` for a float without one.
    pub kind: Option<char>,
}

/// Why a format specification is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FormatError {
    /// A ValueError with this message.
    Value(String),
    /// An OverflowError with this message.
    Overflow(&'static str),
    /// A ValueError: the presentation type is none of the subject's.
    UnknownCode(char),
    /// A ValueError: the text does not follow the grammar.
    InvalidSpec(String),
}

impl FormatError {
    /// CPython's message; `type_name` is the subject's class.
    pub fn message(&self, type_name: &str) -> String {
        match self {
            FormatError::Value(message) => message.clone(),
            FormatError::Overflow(message) => (*message).to_string(),
            FormatError::UnknownCode(code) => {
                format!("Unknown format code '{}' for object of type '{type_name}'", shown(*code))
            }
            FormatError::InvalidSpec(text) => {
                format!("Invalid format specifier '{text}' for object of type '{type_name}'")
            }
        }
    }

    /// Whether the exception is OverflowError rather than ValueError.
    pub const fn is_overflow(&self) -> bool {
        matches!(self, FormatError::Overflow(_))
    }

    pub(crate) fn value(message: &str) -> FormatError {
        FormatError::Value(message.to_string())
    }
}

/// A code in a message: itself if it is printable ASCII, otherwise its number.
fn shown(code: char) -> String {
    if matches!(code, '!'..='\x7f') { code.to_string() } else { format!("\\x{:x}", u32::from(code)) }
}

/// Reads a specification from the left.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next_if(&mut self, wanted: impl Fn(char) -> bool) -> Option<char> {
        let found = self.peek().filter(|&character| wanted(character))?;
        self.rest = &self.rest[found.len_utf8()..];
        Some(found)
    }

    fn takes(&mut self, wanted: char) -> bool {
        self.next_if(|character| character == wanted).is_some()
    }

    /// A run of decimal digits; `None` if there is none.
    fn number(&mut self) -> Result<Option<usize>, FormatError> {
        let too_many = || FormatError::value("Too many decimal digits in format string");
        let mut number: Option<i64> = None;
        while let Some(digit) = self.peek().and_then(cowboy_unicode::decimal_value) {
            self.next_if(|_| true);
            let grown = number.unwrap_or(0).checked_mul(10).and_then(|tens| tens.checked_add(i64::from(digit)));
            number = Some(grown.ok_or_else(too_many)?);
        }
        match number.map(usize::try_from) {
            None => Ok(None),
            Some(Ok(size)) if size <= LARGEST_SIZE => Ok(Some(size)),
            Some(_) => Err(too_many()),
        }
    }

    fn alignment(&mut self) -> Option<Align> {
        let align = align_of(self.peek()?)?;
        self.next_if(|_| true);
        Some(align)
    }
}

const fn align_of(character: char) -> Option<Align> {
    match character {
        '<' => Some(Align::Left),
        '>' => Some(Align::Right),
        '^' => Some(Align::Center),
        '=' => Some(Align::AfterSign),
        _ => None,
    }
}

impl Spec {
    /// Parses a specification for a subject. The empty text gives the defaults, for which `format` is `str`.
    pub fn parse(text: &str, subject: Subject) -> Result<Spec, FormatError> {
        let (default_align, default_kind) = match subject {
            Subject::Str => (Align::Left, Some('s')),
            Subject::Int => (Align::Right, Some('d')),
            Subject::Float | Subject::Complex => (Align::Right, None),
        };
        let mut reader = Reader { rest: text };
        let (fill, align) = fill_and_align(&mut reader);
        let sign = reader.next_if(|character| matches!(character, ' ' | '+' | '-'));
        let positive_zero = reader.takes('z');
        let alternate = reader.takes('#');
        let zero_padded = fill.is_none() && reader.takes('0');
        let width = reader.number()?;
        let grouping = grouping(&mut reader)?;
        let mut precision = None;
        if reader.takes('.') {
            let missing = || FormatError::value("Format specifier missing precision");
            precision = Some(reader.number()?.ok_or_else(missing)?);
        }
        let kind = reader.next_if(|_| true).or(default_kind);
        if !reader.rest.is_empty() {
            return Err(FormatError::InvalidSpec(text.to_string()));
        }
        let implied = if zero_padded && default_align == Align::Right { Align::AfterSign } else { default_align };
        Ok(Spec {
            fill: fill.unwrap_or(if zero_padded { '0' } else { ' ' }),
            align: align.unwrap_or(implied),
            sign,
            positive_zero,
            alternate,
            width,
            grouping: allowed_grouping(grouping, kind)?,
            precision,
            kind,
        })
    }

    /// The smallest number of characters or digits the result takes: what to compare with the memory left
    /// before formatting.
    pub fn min_size(&self) -> usize {
        let width = self.width.unwrap_or(0);
        // A string's precision only shortens it.
        if self.kind == Some('s') { width } else { width.max(self.precision.unwrap_or(0)) }
    }
}

fn fill_and_align(reader: &mut Reader<'_>) -> (Option<char>, Option<Align>) {
    let mut characters = reader.rest.chars();
    if let (Some(fill), Some(align)) = (characters.next(), characters.next().and_then(align_of)) {
        reader.rest = characters.as_str();
        return (Some(fill), Some(align));
    }
    (None, reader.alignment())
}

fn grouping(reader: &mut Reader<'_>) -> Result<Grouping, FormatError> {
    let both = || FormatError::value("Cannot specify both ',' and '_'.");
    let comma = reader.takes(',');
    let underscore = reader.takes('_');
    if underscore && (comma || reader.peek() == Some(',')) {
        return Err(both());
    }
    Ok(match (comma, underscore) {
        (true, _) => Grouping::Comma,
        (_, true) => Grouping::Underscore,
        _ => Grouping::None,
    })
}

fn allowed_grouping(grouping: Grouping, kind: Option<char>) -> Result<Grouping, FormatError> {
    let Some(separator) = grouping.separator() else {
        return Ok(grouping);
    };
    match kind {
        None | Some('d' | 'e' | 'f' | 'g' | 'E' | 'F' | 'G' | '%') => Ok(grouping),
        Some('b' | 'o' | 'x' | 'X') if grouping == Grouping::Underscore => Ok(Grouping::UnderscoreFour),
        Some(kind) => Err(FormatError::Value(format!("Cannot specify '{separator}' with '{}'.", shown(kind)))),
    }
}

/// A number ready to be laid out: `[sign][prefix][digits][rest]`, where only `digits` are grouped.
pub(crate) struct NumberText<'a> {
    pub(crate) negative: bool,
    pub(crate) prefix: &'a str,
    /// ASCII digits before the point; empty for a character, an infinity or NaN.
    pub(crate) digits: &'a str,
    /// The point and all after it, or what stands in the place of digits.
    pub(crate) rest: &'a str,
}

/// Lays a number out as the specification says.
pub(crate) fn lay_out(number: &NumberText<'_>, spec: &Spec) -> String {
    let sign = match (number.negative, spec.sign) {
        (true, _) => "-",
        (false, Some('+')) => "+",
        (false, Some(' ')) => " ",
        _ => "",
    };
    let rest_length = number.rest.chars().count();
    let around = sign.len() + number.prefix.len() + rest_length;
    let width = spec.width.unwrap_or(0);
    let zero_filled = spec.fill == '0' && spec.align == Align::AfterSign;
    let least_digits = if zero_filled { width.saturating_sub(around) } else { 0 };
    let grouped = if number.digits.is_empty() { String::new() } else { group(number.digits, least_digits, spec.grouping) };
    let padding = width.saturating_sub(around + grouped.len());
    let (before, inside, after) = match spec.align {
        Align::Left => (0, 0, padding),
        Align::Right => (padding, 0, 0),
        Align::Center => (padding / 2, 0, padding - padding / 2),
        Align::AfterSign => (0, padding, 0),
    };
    let mut out = String::with_capacity(before + inside + after + around + grouped.len());
    out.extend(std::iter::repeat_n(spec.fill, before));
    out.push_str(sign);
    out.push_str(number.prefix);
    out.extend(std::iter::repeat_n(spec.fill, inside));
    out.push_str(&grouped);
    out.push_str(number.rest);
    out.extend(std::iter::repeat_n(spec.fill, after));
    out
}

/// Groups digits from the right, with zeros before them until the whole has `least` characters; a separator is
/// never the first character, so the result may be one longer.
fn group(digits: &str, least: usize, grouping: Grouping) -> String {
    let Some(separator) = grouping.separator() else {
        return "0".repeat(least.saturating_sub(digits.len())) + digits;
    };
    let mut reversed = Vec::with_capacity(least.max(digits.len() + digits.len() / 3));
    let mut source = digits.bytes().rev().fuse();
    let mut in_group = 0;
    loop {
        let digit = source.next();
        if digit.is_none() && reversed.len() >= least {
            break;
        }
        if in_group == grouping.group_length() {
            reversed.push(u8::try_from(separator).expect("a comma or an underscore"));
            in_group = 0;
        }
        reversed.push(digit.unwrap_or(b'0'));
        in_group += 1;
    }
    reversed.iter().rev().map(|&byte| char::from(byte)).collect()
}

/// `format(text, spec)` of a string.
pub fn format_str(text: &str, spec: &Spec) -> Result<String, FormatError> {
    if let Some(code) = spec.kind.filter(|&kind| kind != 's') {
        return Err(FormatError::UnknownCode(code));
    }
    let refusals = [
        (spec.sign == Some(' '), "Space not allowed in string format specifier"),
        (spec.sign.is_some(), "Sign not allowed in string format specifier"),
        (spec.positive_zero, "Negative zero coercion (z) not allowed in string format specifier"),
        (spec.alternate, "Alternate form (#) not allowed in string format specifier"),
        (spec.align == Align::AfterSign, "'=' alignment not allowed in string format specifier"),
    ];
    if let Some((_, message)) = refusals.iter().find(|(refused, _)| *refused) {
        return Err(FormatError::value(message));
    }
    let kept = match spec.precision.and_then(|most| text.char_indices().nth(most)) {
        Some((end, _)) => &text[..end],
        None => text,
    };
    Ok(pad(kept, spec))
}

/// The text between its padding.
pub(super) fn pad(text: &str, spec: &Spec) -> String {
    let padding = spec.width.unwrap_or(0).saturating_sub(text.chars().count());
    let before = match spec.align {
        Align::Left | Align::AfterSign => 0,
        Align::Right => padding,
        Align::Center => padding / 2,
    };
    let mut out = String::with_capacity(text.len() + padding);
    out.extend(std::iter::repeat_n(spec.fill, before));
    let _ = out.write_str(text);
    out.extend(std::iter::repeat_n(spec.fill, padding - before));
    out
}
