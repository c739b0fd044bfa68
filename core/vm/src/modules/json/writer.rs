//! Values to text.

use super::rounds;
use crate::costs::{BIT_READ, JSON_BYTES, JSON_ESCAPED, JSON_FLOAT, JSON_SORTED, JSON_STEP, JSON_VALUE, TEXT_COMPARED};
use crate::error::{Outcome, Throw};
use crate::escapes::push_json;
use crate::heap::numbers::Number;
use crate::heap::order::SHORT_TEXT;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::types::{nm, ty};
use crate::value::{Ref, Truth, Value};
use cowboy_num::{F64, int, repr};

/// Bytes of a text that are escaped between two looks at how large the result is.
const PIECE: usize = 4_096;

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
pub(super) fn encode(vm: &mut Vm, arguments: &[Value]) -> Outcome {
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

pub(super) fn quote(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let Some(text) = vm.heap.text(arguments[0]).map(str::to_owned) else {
        let message = format!("first argument must be a string, not {}", vm.heap.class_name(arguments[0]));
        return Err(vm.type_error(message));
    };
    vm.reserve(text.len())?;
    let mut out = String::with_capacity(text.len() + 2);
    quoted(vm, &mut out, &text, matches!(arguments[1], Value::Bool(Truth::True)))?;
    Ok(vm.heap.string(out))
}
