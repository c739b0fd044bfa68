//! Text to values.

use super::rounds;
use crate::costs::{JSON_BYTES, JSON_DIGIT, JSON_LOOKED_AT, JSON_READ, JSON_SCALED, JSON_SORTED, JSON_STEP, TEXT_MARKED, TEXT_READ};
use crate::error::{Outcome, Throw};
use crate::runtime::Vm;
use crate::types::ty;
use crate::value::{Ref, Truth, Value};
use cowboy_num::hash::{hash_str, siphash13};
use cowboy_num::{F64, int, repr, sizes};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Longest run of digits that always fits 64 bits.
const SHORT_INTEGER: usize = 18;

/// Longest text of a float without an exponent that is read without integers of any size.
const PLAIN_FLOAT: usize = 20;

/// Why a text is not JSON: what was expected, and the byte where.
struct Refusal(&'static str, usize);

/// How reading fails: the text is wrong, or the run ends.
enum Stop {
    Refused(Refusal),
    Thrown(Throw),
}

impl From<Throw> for Stop {
    fn from(throw: Throw) -> Stop {
        Stop::Thrown(throw)
    }
}

fn refused<T>(message: &'static str, at: usize) -> Result<T, Stop> {
    Err(Stop::Refused(Refusal(message, at)))
}

/// The byte where the character of a number begins.
fn byte_of(text: &str, index: usize) -> Option<usize> {
    if text.is_ascii() {
        return (index <= text.len()).then_some(index);
    }
    text.char_indices().map(|(at, _)| at).chain([text.len()]).nth(index)
}

/// The number of the character that begins at a byte.
fn index_of(text: &str, byte: usize) -> Value {
    let index = if text.is_ascii() { byte } else { text[..byte].chars().count() };
    Value::Int(i64::try_from(index).unwrap_or(i64::MAX))
}

/// Arguments of the reading functions: the text, the byte to begin at, and whether control characters are refused.
fn reading(vm: &mut Vm, arguments: &[Value]) -> Outcome<(String, Option<usize>, bool)> {
    let index = match arguments[1] {
        Value::Int(index) => sizes::not_negative(index),
        Value::Obj(_) => return Err(vm.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C ssize_t")),
        _ => Some(0),
    };
    let Some((length, is_ascii)) = vm.heap.text(arguments[0]).map(|text| (text.len(), text.is_ascii())) else {
        let message = format!("first argument must be a string, not {}", vm.heap.class_name(arguments[0]));
        return Err(vm.type_error(message));
    };
    // Beyond ASCII, the characters up to a place have to be counted.
    let counted = if is_ascii || arguments[1].is_none() { 0 } else { length };
    vm.spend(JSON_LOOKED_AT.of(length) + TEXT_MARKED.of(counted))?;
    let text = vm.heap.text(arguments[0]).unwrap_or_default().to_owned();
    let start = index.and_then(|index| byte_of(&text, index));
    Ok((text, start, matches!(arguments[2], Value::Bool(Truth::True))))
}

/// What a reading function gives: (value, end), or (what was expected, where, None).
fn answer(vm: &mut Vm, text: &str, outcome: Result<(Value, usize), Stop>) -> Outcome {
    match outcome {
        Ok((value, end)) => {
            let end = index_of(text, end);
            Ok(vm.heap.tuple(vec![value, end]))
        }
        Err(Stop::Refused(Refusal(message, at))) => {
            let message = vm.heap.str(message);
            let at = index_of(text, at);
            Ok(vm.heap.tuple(vec![message, at, Value::None]))
        }
        Err(Stop::Thrown(throw)) => Err(throw),
    }
}

/// The value at a place of a text, with the blanks around it when no place is given.
pub(super) fn decode(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (text, start, strict) = reading(vm, arguments)?;
    let whole = arguments[1].is_none();
    let Some(start) = start else { return answer(vm, &text, refused("Expecting value", text.len())) };
    let mut reader = Reader { text: &text, at: start, strict, open: Vec::new(), keys: BTreeMap::new() };
    if whole {
        reader.blanks();
    }
    let mut outcome = reader.value(vm).map(|value| (value, reader.at));
    if whole && outcome.is_ok() {
        reader.blanks();
        if reader.at != text.len() {
            if let Ok((value, _)) = outcome {
                vm.heap.release(value);
            }
            outcome = refused("Extra data", reader.at);
        }
    }
    let Reader { open, keys, .. } = reader;
    for container in open {
        container.release(vm);
    }
    for key in keys.into_values() {
        vm.heap.release(key);
    }
    answer(vm, &text, outcome)
}

/// The text whose opening quote stands before a place.
pub(super) fn scan_string(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (text, start, strict) = reading(vm, arguments)?;
    let Some(start) = start else { return Err(vm.value_error("end is out of bounds")) };
    let mut reader = Reader { text: &text, at: start, strict, open: Vec::new(), keys: BTreeMap::new() };
    let outcome = reader.string(vm).map(|string| (vm.heap.string(string), reader.at));
    answer(vm, &text, outcome)
}

/// A container whose items are being read.
enum Partial {
    Array(Vec<Value>),
    Object { dict: Ref, key: Value },
}

impl Partial {
    fn release(self, vm: &mut Vm) {
        match self {
            Partial::Array(items) => vm.heap.release_all(items),
            Partial::Object { dict, key } => {
                vm.heap.release(key);
                vm.heap.release(Value::Obj(dict));
            }
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    strict: bool,
    open: Vec<Partial>,
    /// One object for each key, however often it occurs, by its hash.
    keys: BTreeMap<i64, Value>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn value(&mut self, vm: &mut Vm) -> Result<Value, Stop> {
        loop {
            vm.spend(JSON_READ.once())?;
            let mut value = match self.peek() {
                Some(opening @ (b'[' | b'{')) => match self.container(vm, opening)? {
                    Some(empty) => empty,
                    None => continue,
                },
                _ => self.scalar(vm)?,
            };
            // A value is complete: it goes where it belongs and closes what it completes.
            loop {
                let close = match self.open.last_mut() {
                    None => return Ok(value),
                    Some(Partial::Array(items)) => {
                        items.push(value);
                        if items.len() % 256 == 0 {
                            vm.reserve(items.len() * 8)?;
                        }
                        b']'
                    }
                    Some(Partial::Object { dict, key }) => {
                        let key = std::mem::replace(key, Value::Undefined);
                        vm.dict_insert_text(*dict, key, value);
                        b'}'
                    }
                };
                self.blanks();
                match self.peek() {
                    Some(byte) if byte == close => {
                        self.at += 1;
                        value = match self.open.pop() {
                            Some(Partial::Array(items)) => vm.heap.list(items),
                            Some(Partial::Object { dict, .. }) => {
                                vm.heap.label_children(Value::Obj(dict));
                                Value::Obj(dict)
                            }
                            None => Value::None,
                        };
                    }
                    Some(b',') => {
                        self.at += 1;
                        self.blanks();
                        if close == b'}' {
                            self.key(vm)?;
                        }
                        break;
                    }
                    _ => return refused("Expecting ',' delimiter", self.at),
                }
            }
        }
    }

    /// Reads an opening bracket. An empty container is a value; any other is now the innermost one, and its first key is read.
    fn container(&mut self, vm: &mut Vm, opening: u8) -> Result<Option<Value>, Stop> {
        self.at += 1;
        self.blanks();
        let object = opening == b'{';
        if self.peek() == Some(if object { b'}' } else { b']' }) {
            self.at += 1;
            return Ok(Some(if object { Value::Obj(vm.heap.new_dict()) } else { vm.heap.list(Vec::new()) }));
        }
        if self.open.len() >= vm.meter.limits.recursion {
            let kind = if object { "object" } else { "array" };
            let message = format!("maximum recursion depth exceeded while decoding a JSON {kind} from a unicode string");
            return Err(Stop::Thrown(vm.raise(ty::RECURSION_ERROR, &message)));
        }
        if object {
            let dict = vm.heap.new_dict();
            self.open.push(Partial::Object { dict, key: Value::Undefined });
            self.key(vm)?;
        } else {
            self.open.push(Partial::Array(Vec::new()));
        }
        Ok(None)
    }

    /// A key with its colon, for the innermost object.
    fn key(&mut self, vm: &mut Vm) -> Result<(), Stop> {
        vm.spend(JSON_READ.once())?;
        if self.peek() != Some(b'"') {
            return refused("Expecting property name enclosed in double quotes", self.at);
        }
        self.at += 1;
        let text = self.string(vm)?;
        let hash = if text.is_ascii() { siphash13(text.as_bytes()) } else { hash_str(&text) };
        let known = self.keys.get(&hash).copied().filter(|&known| vm.heap.text(known) == Some(&text));
        let value = match known {
            Some(known) => vm.heap.instead_of(text, known),
            None => {
                vm.spend(JSON_SORTED.of(rounds(self.keys.len() + 1)))?;
                let made = vm.heap.string(text);
                // Where two keys have one hash, only the first is shared.
                if let Entry::Vacant(place) = self.keys.entry(hash) {
                    place.insert(vm.heap.retain(made));
                }
                made
            }
        };
        if let Some(Partial::Object { key, .. }) = self.open.last_mut() {
            *key = value;
        }
        self.blanks();
        if self.peek() != Some(b':') {
            return refused("Expecting ':' delimiter", self.at);
        }
        self.at += 1;
        self.blanks();
        Ok(())
    }

    fn scalar(&mut self, vm: &mut Vm) -> Result<Value, Stop> {
        let rest = &self.text[self.at..];
        let words = [
            ("null", Value::None),
            ("true", Value::truth(true)),
            ("false", Value::truth(false)),
            ("NaN", Value::Float(F64::NAN)),
            ("Infinity", Value::Float(F64::INFINITY)),
            ("-Infinity", Value::Float(-F64::INFINITY)),
        ];
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                let text = self.string(vm)?;
                Ok(vm.heap.string(text))
            }
            Some(b'-' | b'0'..=b'9') if !rest.starts_with("-I") => self.number(vm),
            _ => match words.iter().find(|(word, _)| rest.starts_with(word)) {
                Some((word, value)) => {
                    self.at += word.len();
                    Ok(*value)
                }
                None => refused("Expecting value", self.at),
            },
        }
    }

    fn digits(&self, mut at: usize) -> usize {
        while self.text.as_bytes().get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    }

    fn number(&mut self, vm: &mut Vm) -> Result<Value, Stop> {
        let bytes = self.text.as_bytes();
        let start = self.at;
        let first = start + usize::from(bytes[start] == b'-');
        let mut end = match bytes.get(first) {
            Some(b'0') => first + 1,
            Some(b'1'..=b'9') => self.digits(first),
            _ => return refused("Expecting value", start),
        };
        let whole = end;
        if bytes.get(end) == Some(&b'.') && bytes.get(end + 1).is_some_and(u8::is_ascii_digit) {
            end = self.digits(end + 1);
        }
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let exponent = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
            if bytes.get(exponent).is_some_and(u8::is_ascii_digit) {
                end = self.digits(exponent);
            }
        }
        let text = &self.text[start..end];
        self.at = end;
        if end > whole {
            // These take arithmetic with integers of any size.
            let scaled = usize::from(text.len() > PLAIN_FLOAT || text.contains(['e', 'E']));
            vm.spend(JSON_READ.once() + TEXT_READ.of(text.len()) + JSON_SCALED.of(scaled))?;
            return Ok(Value::Float(repr::parse_float(text).unwrap_or(F64::NAN)));
        }
        if text.len() <= SHORT_INTEGER {
            return Ok(Value::Int(text.parse().unwrap_or(0)));
        }
        vm.spend(JSON_DIGIT.of(text.len()))?;
        match int::parse_int(text, 10) {
            Ok(number) => Ok(vm.int_value(number)?),
            Err(int::ParseIntError::Other(error)) => Err(Stop::Thrown(vm.number_error(error))),
            Err(int::ParseIntError::Invalid) => refused("Expecting value", start),
        }
    }

    /// The text that goes on here, behind its opening quote.
    fn string(&mut self, vm: &mut Vm) -> Result<String, Stop> {
        let bytes = self.text.as_bytes();
        let (begin, strict) = (self.at.saturating_sub(1), self.strict);
        let is_end = |&byte: &u8| byte == b'"' || byte == b'\\' || (byte < 0x20 && strict);
        let mut out = String::new();
        loop {
            let start = self.at;
            let length = bytes[start..].iter().position(is_end).unwrap_or(bytes.len() - start);
            self.at += length;
            vm.spend(JSON_BYTES.of(length))?;
            vm.reserve(out.len() + length)?;
            out = vm.heap.spares.longer(out, &self.text[start..self.at]);
            match self.peek() {
                None => return refused("Unterminated string starting at", begin),
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => {}
                Some(_) => return refused("Invalid control character at", self.at),
            }
            vm.spend(JSON_STEP.once())?;
            let escape = self.at;
            let Some(&kind) = bytes.get(escape + 1) else { return refused("Unterminated string starting at", begin) };
            self.at = escape + 2;
            out.push(match kind {
                b'"' | b'\\' | b'/' => char::from(kind),
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'n' => '\n',
                b'r' => '\r',
                b't' => '\t',
                b'u' => self.unicode(vm, escape)?,
                _ => return refused("Invalid \\escape", escape),
            });
        }
    }

    /// The character of `\uXXXX`, or of two of them.
    fn unicode(&mut self, vm: &mut Vm, escape: usize) -> Result<char, Stop> {
        let Some(high) = self.hex(escape + 2) else { return refused("Invalid \\uXXXX escape", escape + 1) };
        self.at = escape + 6;
        let mut units = vec![high];
        if (0xd800..0xdc00).contains(&high) && self.text.as_bytes()[self.at..].starts_with(b"\\u") {
            if let Some(low) = self.hex(self.at + 2).filter(|low| (0xdc00..0xe000).contains(low)) {
                vm.spend(JSON_STEP.once())?;
                self.at += 6;
                units.push(low);
            }
        }
        match char::decode_utf16(units).next() {
            Some(Ok(character)) => Ok(character),
            _ => Err(Stop::Thrown(
                vm.value_error(format!("a lone surrogate (\\u{high:04x}) is no character: text here is Unicode scalar values")),
            )),
        }
    }

    fn hex(&self, at: usize) -> Option<u16> {
        let digits = self.text.as_bytes().get(at..at + 4)?;
        let mut value = 0;
        for &digit in digits {
            value = value << 4 | u16::try_from(char::from(digit).to_digit(16)?).ok()?;
        }
        Some(value)
    }
}
