//! What Python's string methods ask of characters, by the tables of Unicode 14.0.0 that CPython 3.11 has.
//!
//! Strings are sequences of scalar values: a lone surrogate cannot occur. ASCII takes a shorter way, to the
//! same answers.

#![deny(unsafe_code)]

mod tables;

use tables::{ALPHA, CASE_IGNORABLE, CONTINUE, DECIMAL, DIGIT, LOWER, NUMERIC, PRINTABLE, SPACE, START, TITLE, UPPER};

/// The properties of a character, as bits of `tables`.
fn properties(character: char) -> u16 {
    let code = u32::from(character);
    // The last run that starts at or before the character.
    let after = tables::RUNS.partition_point(|&run| run >> 8 <= code);
    let run = after.checked_sub(1).and_then(|at| tables::RUNS.get(at)).copied().unwrap_or(0);
    let class = usize::from(run.to_le_bytes()[0]);
    tables::CLASSES.get(class).copied().unwrap_or(0)
}

fn has(character: char, wanted: u16) -> bool {
    properties(character) & wanted != 0
}

/// Whether `str.isalpha` holds of the character.
pub fn is_alpha(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_alphabetic() } else { has(character, ALPHA) }
}

/// Whether `str.isdecimal` holds: it is a digit of a decimal number.
pub fn is_decimal(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_digit() } else { has(character, DECIMAL) }
}

/// Whether `str.isdigit` holds: it is a decimal digit or one raised, circled and the like.
pub fn is_digit(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_digit() } else { has(character, DIGIT) }
}

/// Whether `str.isnumeric` holds: it has a numeric value.
pub fn is_numeric(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_digit() } else { has(character, NUMERIC) }
}

/// Whether `str.isalnum` holds.
pub fn is_alnum(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_alphanumeric() } else { has(character, ALPHA | DECIMAL | DIGIT | NUMERIC) }
}

/// Whether `str.isspace` holds; what `str.split` and `str.strip` take for a blank.
pub fn is_space(character: char) -> bool {
    if character.is_ascii() { matches!(character, '\t'..='\r' | '\x1c'..='\x1f' | ' ') } else { has(character, SPACE) }
}

/// Whether `str.isprintable` holds: `repr` shows it as itself.
pub fn is_printable(character: char) -> bool {
    if character.is_ascii() { matches!(character, ' '..='~') } else { has(character, PRINTABLE) }
}

/// Whether the character is lower case.
pub fn is_lower(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_lowercase() } else { has(character, LOWER) }
}

/// Whether the character is upper case.
pub fn is_upper(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_uppercase() } else { has(character, UPPER) }
}

/// Whether the character is title case, such as U+01C5.
pub fn is_title(character: char) -> bool {
    !character.is_ascii() && has(character, TITLE)
}

/// Whether the character is of any case.
pub fn is_cased(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_alphabetic() } else { has(character, LOWER | UPPER | TITLE) }
}

/// Whether casing looks past the character to find a word's start or end.
pub fn is_case_ignorable(character: char) -> bool {
    has(character, CASE_IGNORABLE)
}

/// Whether an identifier may start with the character.
pub fn is_identifier_start(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_alphabetic() || character == '_' } else { has(character, START) }
}

/// Whether an identifier may continue with the character.
pub fn is_identifier_continue(character: char) -> bool {
    if character.is_ascii() { character.is_ascii_alphanumeric() || character == '_' } else { has(character, CONTINUE) }
}

/// The value of a decimal digit of any script.
pub fn decimal_value(character: char) -> Option<u8> {
    let code = u32::from(character);
    if code < 0x80 {
        return character.to_digit(10).and_then(|digit| u8::try_from(digit).ok());
    }
    let after = tables::ZEROS.partition_point(|&zero| zero <= code);
    let zero = after.checked_sub(1).and_then(|at| tables::ZEROS.get(at))?;
    u8::try_from(code - zero).ok().filter(|&digit| digit < 10)
}

/// A table of images: runs of characters with one distance, and images of several characters.
struct Mapping {
    runs: &'static [(u32, u32, u32, i32)],
    special: &'static [(u32, &'static str)],
}

const LOWER_CASE: Mapping = Mapping { runs: &tables::LOWER_CASE, special: &tables::LOWER_CASE_SPECIAL };
const UPPER_CASE: Mapping = Mapping { runs: &tables::UPPER_CASE, special: &tables::UPPER_CASE_SPECIAL };
const TITLE_CASE: Mapping = Mapping { runs: &tables::TITLE_CASE, special: &tables::TITLE_CASE_SPECIAL };
const FOLDED_CASE: Mapping = Mapping { runs: &tables::FOLDED_CASE, special: &tables::FOLDED_CASE_SPECIAL };

impl Mapping {
    /// Appends a character's image.
    fn push(&self, out: &mut String, character: char) {
        match self.special.binary_search_by_key(&u32::from(character), |row| row.0) {
            Ok(at) => out.push_str(self.special[at].1),
            Err(_) => out.push(self.plain(character)),
        }
    }

    /// A character's image where that is one character.
    fn single(&self, character: char) -> Option<char> {
        match self.special.binary_search_by_key(&u32::from(character), |row| row.0) {
            Ok(at) => {
                let mut image = self.special[at].1.chars();
                image.next().filter(|_| image.next().is_none())
            }
            Err(_) => Some(self.plain(character)),
        }
    }

    /// The image of a character that is not special.
    fn plain(&self, character: char) -> char {
        let code = u32::from(character);
        let after = self.runs.partition_point(|run| run.0 <= code);
        let image = after.checked_sub(1).and_then(|at| self.runs.get(at)).and_then(|&(first, last, step, distance)| {
            let inside = code <= last && (code - first).is_multiple_of(step);
            if inside { code.checked_add_signed(distance).and_then(char::from_u32) } else { None }
        });
        image.unwrap_or(character)
    }
}

/// The lower case of a character where that is one character.
pub fn lower_of(character: char) -> Option<char> {
    LOWER_CASE.single(character)
}

/// The upper case of a character where that is one character.
pub fn upper_of(character: char) -> Option<char> {
    UPPER_CASE.single(character)
}

/// `str.lower`.
pub fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        push_lower(&mut out, text, at, character);
    }
    out
}

/// Appends the lower case of the character at a place in a text: a capital sigma looks around.
fn push_lower(out: &mut String, text: &str, at: usize, character: char) {
    if character != '\u{3a3}' {
        return LOWER_CASE.push(out, character);
    }
    let before = text[..at].chars().rev().find(|&character| !is_case_ignorable(character));
    let after = text[at..].chars().skip(1).find(|&character| !is_case_ignorable(character));
    let is_last = before.is_some_and(is_cased) && !after.is_some_and(is_cased);
    out.push(if is_last { '\u{3c2}' } else { '\u{3c3}' });
}

/// `str.upper`.
pub fn upper(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_uppercase() } else { mapped(text, &UPPER_CASE) }
}

/// `str.casefold`.
pub fn casefold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { mapped(text, &FOLDED_CASE) }
}

fn mapped(text: &str, mapping: &Mapping) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        mapping.push(&mut out, character);
    }
    out
}

/// `str.title`.
pub fn title(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut inside_word = false;
    for (at, character) in text.char_indices() {
        if inside_word {
            push_lower(&mut out, text, at, character);
        } else {
            TITLE_CASE.push(&mut out, character);
        }
        inside_word = is_cased(character);
    }
    out
}

/// `str.capitalize`.
pub fn capitalize(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if at == 0 {
            TITLE_CASE.push(&mut out, character);
        } else {
            push_lower(&mut out, text, at, character);
        }
    }
    out
}

/// `str.swapcase`.
pub fn swapcase(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, character) in text.char_indices() {
        if is_upper(character) {
            push_lower(&mut out, text, at, character);
        } else if is_lower(character) {
            UPPER_CASE.push(&mut out, character);
        } else {
            out.push(character);
        }
    }
    out
}

/// `str.islower`: something is lower case and nothing upper or title case.
pub fn is_lower_text(text: &str) -> bool {
    text.chars().any(is_lower) && !text.chars().any(|character| is_upper(character) || is_title(character))
}

/// `str.isupper`: something is upper case and nothing lower or title case.
pub fn is_upper_text(text: &str) -> bool {
    text.chars().any(is_upper) && !text.chars().any(|character| is_lower(character) || is_title(character))
}

/// `str.istitle`: upper or title case starts every run of cased characters, lower case continues one.
pub fn is_title_text(text: &str) -> bool {
    let mut inside_word = false;
    let mut any = false;
    for character in text.chars() {
        let starts = is_upper(character) || is_title(character);
        let continues = is_lower(character);
        if (starts && inside_word) || (continues && !inside_word) {
            return false;
        }
        inside_word = starts || continues;
        any |= inside_word;
    }
    any
}

/// `str.isidentifier`.
pub fn is_identifier(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(is_identifier_start) && characters.all(is_identifier_continue)
}
