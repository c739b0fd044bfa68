//! The core of the module `json`: values to text and back without running Python code. What needs some (hooks, `default`, odd keys) is
//! left to `frozen/json.py`.
//!
//! Neither direction recurses on the host's stack: open containers wait on a stack of their own, at most as many as Python calls may nest.

use crate::costs::{
    BIT_READ, JSON_BYTES, JSON_DIGIT, JSON_ESCAPED, JSON_FLOAT, JSON_LOOKED_AT, JSON_READ, JSON_SORTED, JSON_STEP, JSON_VALUE,
    TEXT_COMPARED, TEXT_MARKED, TEXT_READ,
};
use crate::error::{Outcome, Throw};
use crate::escapes::push_json;
use crate::heap::numbers::Number;
use crate::heap::order::SHORT_TEXT;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind::Function, NativeRow};
use crate::types::{nm, ty};
use crate::value::{Ref, Truth, Value};
use cowboy_num::hash::{hash_str, siphash13};
use cowboy_num::sizes;
use cowboy_num::{F64, int, repr};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Bytes of a text that are escaped between two looks at how large the result is.
const PIECE: usize = 4_096;
/// Longest run of digits that always fits 64 bits.
const SHORT_INTEGER: usize = 18;

/// Rows of the module `_json`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(
        Function,
        "_json.encode",
        "obj, skipkeys, ensure_ascii, allow_nan, sort_keys, indent, item_separator, key_separator, /",
        10,
        encode,
        "",
    ),
    NativeRow(Function, "_json.quote", "text, ensure_ascii, /", 4, quote, ""),
    NativeRow(Function, "_json.decode", "text, index, strict, /", 10, decode, ""),
    NativeRow(Function, "_json.scan_string", "text, index, strict, /", 4, scan_string, ""),
];

// ---- writing ----

/// How to write.
struct Style {
    skip_keys: bool,
    ascii: bool,
    nan: bool,
    sort: bool,
    indent: Option<String>,
    item_separator: String,
    key_separator: String,
}

/// A container whose items are being written.
enum Open {
    Array { items: Vec<Value>, next: usize },
    Object { pairs: Vec<(Value, Value)>, next: usize, written: bool },
}

/// The JSON text; `NotImplemented` when Python code has to decide something.
fn encode(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let truth = |value: Value| matches!(value, Value::Bool(Truth::True));
    let style = Style {
        skip_keys: truth(arguments[1]),
        ascii: truth(arguments[2]),
        nan: truth(arguments[3]),
        sort: truth(arguments[4]),
        indent: vm.heap.text(arguments[5]).map(str::to_owned),
        item_separator: vm.heap.text(arguments[6]).unwrap_or_default().to_owned(),
        key_separator: vm.heap.text(arguments[7]).unwrap_or_default().to_owned(),
    };
    for separator in [arguments[6], arguments[7]] {
        if vm.heap.text(separator).is_none() {
            let message = format!("make_encoder() argument must be str, not {}", vm.heap.class_name(separator));
            return Err(vm.type_error(message));
        }
    }
    let mut writer = Writer { style, out: String::new(), open: Vec::new() };
    match writer.write(vm, arguments[0]) {
        Ok(()) => {
            vm.reserve(writer.out.len())?;
            Ok(vm.heap.string(writer.out))
        }
        Err(Throw::Fallback) => Ok(Value::NotImplemented),
        Err(throw) => Err(throw),
    }
}

struct Writer {
    style: Style,
    out: String,
    open: Vec<Open>,
}

impl Writer {
    fn write(&mut self, vm: &mut Vm, value: Value) -> Outcome<()> {
        self.value(vm, value)?;
        while let Some(open) = self.open.last_mut() {
            let (value, close) = match open {
                Open::Array { items, next } => match items.get(*next).copied() {
                    Some(item) => {
                        let first = *next == 0;
                        *next += 1;
                        self.separate(vm, first)?;
                        (item, "")
                    }
                    None => (Value::None, "]"),
                },
                Open::Object { pairs, next, written } => match pairs.get(*next).copied() {
                    Some((key, item)) => {
                        let first = !*written;
                        *next += 1;
                        let Some(key) = key_text(vm, &self.style, key)? else { continue };
                        *written = true;
                        self.separate(vm, first)?;
                        self.text(vm, &key)?;
                        put(vm, &mut self.out, &self.style.key_separator)?;
                        (item, "")
                    }
                    None => (Value::None, "}"),
                },
            };
            if close.is_empty() {
                self.value(vm, value)?;
                continue;
            }
            self.open.pop();
            self.line(vm)?;
            self.out.push_str(close);
        }
        Ok(())
    }

    /// What stands between two items.
    fn separate(&mut self, vm: &mut Vm, first: bool) -> Outcome<()> {
        if first {
            return Ok(());
        }
        put(vm, &mut self.out, &self.style.item_separator)?;
        self.line(vm)
    }

    /// A new line, indented by the open containers.
    fn line(&mut self, vm: &mut Vm) -> Outcome<()> {
        if let Some(indent) = &self.style.indent {
            self.out.push('\n');
            for _ in 0..self.open.len() {
                vm.spend(JSON_STEP.once())?;
                put(vm, &mut self.out, indent)?;
            }
        }
        Ok(())
    }

    fn value(&mut self, vm: &mut Vm, value: Value) -> Outcome<()> {
        vm.spend(JSON_VALUE.once())?;
        match value {
            Value::None => self.out.push_str("null"),
            Value::Bool(Truth::True) => self.out.push_str("true"),
            Value::Bool(Truth::False) => self.out.push_str("false"),
            Value::Int(_) | Value::Float(_) => {
                let text = number_text(vm, &self.style, value)?.ok_or(Throw::Fallback)?;
                self.out.push_str(&text);
            }
            Value::Obj(object) => return self.object(vm, object),
            _ => return Err(Throw::Fallback),
        }
        Ok(())
    }

    fn object(&mut self, vm: &mut Vm, object: Ref) -> Outcome<()> {
        let value = Value::Obj(object);
        let open = match vm.heap.payload(object).core() {
            Payload::Str(text) => {
                let text = text.text.clone();
                return self.text(vm, &text);
            }
            Payload::BigInt(_) | Payload::Scalar(_) => {
                let text = number_text(vm, &self.style, value)?.ok_or(Throw::Fallback)?;
                self.out.push_str(&text);
                return Ok(());
            }
            Payload::List(_) | Payload::Tuple(_) => {
                if vm.python_method(value, nm::ITER).is_some() || vm.python_method(value, nm::LEN).is_some() {
                    return Err(Throw::Fallback);
                }
                vm.spend(JSON_BYTES.of(vm.heap.sequence_length(object)))?;
                Open::Array { items: vm.heap.sequence_snapshot(value), next: 0 }
            }
            Payload::Dict(_) => {
                if vm.heap.slot(object).class != ty::DICT && has_own_items(vm, object) {
                    return Err(Throw::Fallback);
                }
                vm.spend(JSON_BYTES.of(2 * vm.heap.dict_len(object)))?;
                let mut pairs = vm.heap.dict_pairs(value);
                if self.style.sort {
                    sort(vm, &mut pairs)?;
                }
                Open::Object { pairs, next: 0, written: false }
            }
            _ => return Err(Throw::Fallback),
        };
        let (count, brackets) = match &open {
            Open::Array { items, .. } => (items.len(), "[]"),
            Open::Object { pairs, .. } => (pairs.len(), "{}"),
        };
        if count == 0 {
            self.out.push_str(brackets);
            return Ok(());
        }
        vm.reserve(self.out.len() + count * size_of::<Value>())?;
        if self.open.len() >= vm.meter.limits.recursion {
            return Err(vm.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded while encoding a JSON object"));
        }
        self.open.push(open);
        self.out.push_str(&brackets[..1]);
        self.line(vm)
    }

    fn text(&mut self, vm: &mut Vm, text: &str) -> Outcome<()> {
        quoted(vm, &mut self.out, text, self.style.ascii)
    }
}

/// Writes a piece of what stands between values: a cycle for some bytes, and room for all of it, before it is copied.
fn put(vm: &mut Vm, out: &mut String, piece: &str) -> Outcome<()> {
    vm.spend(JSON_BYTES.of(piece.len()))?;
    vm.reserve(out.len() + piece.len())?;
    out.push_str(piece);
    Ok(())
}

/// Writes a text between quotes, charged by what it becomes.
fn quoted(vm: &mut Vm, out: &mut String, text: &str, ascii: bool) -> Outcome<()> {
    vm.spend(JSON_BYTES.of(text.len()))?;
    out.push('"');
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        let before = out.len();
        push_json(out, piece, ascii);
        vm.spend(JSON_ESCAPED.of(out.len() - before - piece.len()))?;
        vm.reserve(out.len())?;
        rest = after;
    }
    out.push('"');
    Ok(())
}

/// Whether a subclass of dict has its own idea of its items.
fn has_own_items(vm: &mut Vm, object: Ref) -> bool {
    let items = vm.heap.intern("items");
    let class = vm.heap.slot(object).class;
    vm.lookup(class, items).is_none_or(|function| vm.heap.native_row(function).is_none())
}

/// How often each of `count` keys is compared where they are sorted, or where one of them is found.
fn rounds(count: usize) -> usize {
    sizes::saturating(count.max(1).ilog2()) + 1
}

/// Sorts entries by key, as far as keys are texts or integers only.
fn sort(vm: &mut Vm, pairs: &mut [(Value, Value)]) -> Outcome<()> {
    let (count, rounds) = (pairs.len(), rounds(pairs.len()));
    vm.spend(JSON_SORTED.of(count.saturating_mul(rounds)))?;
    // Long keys that begin alike are read to their ends in each round.
    let long = pairs.iter().map(|(key, _)| vm.heap.text(*key).map_or(0, str::len).saturating_sub(SHORT_TEXT)).sum::<usize>();
    vm.spend(TEXT_COMPARED.of(long.saturating_mul(rounds)))?;
    if pairs.iter().all(|(key, _)| vm.heap.text(*key).is_some()) {
        pairs.sort_by(|(a, _), (b, _)| vm.heap.text(*a).cmp(&vm.heap.text(*b)));
    } else if pairs.iter().all(|(key, _)| matches!(key, Value::Int(_) | Value::Bool(_))) {
        pairs.sort_by_key(|(key, _)| match key {
            Value::Int(number) => *number,
            Value::Bool(truth) => i64::from(*truth),
            _ => 0,
        });
    } else if count > 1 {
        return Err(Throw::Fallback);
    }
    Ok(())
}

/// The text of a key; `None` when it is skipped.
fn key_text(vm: &mut Vm, style: &Style, key: Value) -> Outcome<Option<String>> {
    vm.spend(JSON_STEP.once())?;
    if let Some(text) = vm.heap.text(key) {
        return Ok(Some(text.to_owned()));
    }
    let word = match key {
        Value::None => "null",
        Value::Bool(Truth::True) => "true",
        Value::Bool(Truth::False) => "false",
        _ => match number_text(vm, style, key)? {
            Some(text) => return Ok(Some(text)),
            None if style.skip_keys => return Ok(None),
            None => return Err(Throw::Fallback),
        },
    };
    Ok(Some(word.to_owned()))
}

/// A number as JSON has it; `None` for what is no number.
fn number_text(vm: &mut Vm, style: &Style, value: Value) -> Outcome<Option<String>> {
    let Some(number) = vm.heap.number(value) else { return Ok(None) };
    Ok(Some(match number {
        Number::Small(number) => number.to_string(),
        Number::Big(number) => {
            vm.spend(BIT_READ.of(int::bit_length(&number)))?;
            number.to_string()
        }
        Number::Float(number) if number.is_finite() => {
            vm.spend(JSON_FLOAT.once())?;
            repr::repr(number)
        }
        Number::Float(number) => {
            if !style.nan {
                // CPython's two writers differ in words: the one that indents names the value.
                let mut message = "Out of range float values are not JSON compliant".to_owned();
                if style.indent.is_some() {
                    message.push_str(": ");
                    message.push_str(&repr::repr(number));
                }
                return Err(vm.value_error(message));
            }
            if number.is_nan() {
                "NaN".to_owned()
            } else if number == F64::INFINITY {
                "Infinity".to_owned()
            } else {
                "-Infinity".to_owned()
            }
        }
    }))
}

fn quote(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let Some(text) = vm.heap.text(arguments[0]).map(str::to_owned) else {
        let message = format!("first argument must be a string, not {}", vm.heap.class_name(arguments[0]));
        return Err(vm.type_error(message));
    };
    vm.reserve(text.len())?;
    let mut out = String::with_capacity(text.len() + 2);
    quoted(vm, &mut out, &text, matches!(arguments[1], Value::Bool(Truth::True)))?;
    Ok(vm.heap.string(out))
}

// ---- reading ----

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
fn decode(vm: &mut Vm, arguments: &[Value]) -> Outcome {
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
fn scan_string(vm: &mut Vm, arguments: &[Value]) -> Outcome {
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
                Some(opening @ (b'[' | b'{')) => {
                    self.at += 1;
                    self.blanks();
                    let object = opening == b'{';
                    if self.peek() == Some(if object { b'}' } else { b']' }) {
                        self.at += 1;
                        if object { Value::Obj(vm.heap.new_dict()) } else { vm.heap.list(Vec::new()) }
                    } else {
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
                        continue;
                    }
                }
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
            vm.spend(JSON_READ.once() + TEXT_READ.of(text.len()))?;
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
