//! `text.format(…)` and `text % values` where every field is a number or text in a plain form. Anything else, errors among it, is for
//! the helpers written in Python: `None` says so, and nothing has happened then.

use crate::costs::{FIELD, KEYWORD_SOUGHT, TEMPLATE_COPIED, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::payload::Payload;
use crate::payload::dict::NEAR;
use crate::runtime::Vm;
use crate::runtime::protocol::Display;
use crate::types::ty;
use crate::value::Value;
use cowboy_num::hash::hash_str;
use cowboy_num::int::decimal;
use cowboy_num::sizes;

/// Whether formatting the value runs no Python code.
fn plain(vm: &Vm, value: Value) -> bool {
    match value {
        Value::Int(_) | Value::Float(_) => true,
        Value::Obj(object) => {
            matches!(vm.heap.payload(object), Payload::Str(_) | Payload::BigInt(_))
                && matches!(vm.heap.slot(object).class, ty::STR | ty::INT)
        }
        _ => false,
    }
}

/// Writes a value by a format specification.
fn write(vm: &mut Vm, out: &mut String, value: Value, spec: &str) -> Outcome<Option<()>> {
    vm.spend(FIELD.once())?;
    if spec.is_empty() {
        match value {
            Value::Int(number) => {
                let text = decimal(number);
                vm.write(out, &text)?;
                return Ok(Some(()));
            }
            Value::Obj(_) => {
                if vm.heap.text(value).is_some() {
                    return write_text(vm, out, value).map(Some);
                }
            }
            _ => {}
        }
    }
    let outcome = if spec.is_empty() { vm.str_value(value) } else { vm.format_builtin(value, spec) };
    match outcome {
        Ok(text) => {
            write_text(vm, out, text)?;
            vm.heap.release(text);
            Ok(Some(()))
        }
        Err(Throw::Raise(exception)) => {
            // The helper raises it again, in the right words.
            vm.heap.release(exception);
            Ok(None)
        }
        Err(throw) => Err(throw),
    }
}

/// Writes the text that a value is, as [`Vm::write`] does.
fn write_text(vm: &mut Vm, out: &mut String, value: Value) -> Outcome<()> {
    let length = vm.heap.text(value).map_or(0, str::len);
    vm.spend(TEXT_WRITTEN.of(length))?;
    vm.reserve(out.len() + length)?;
    out.push_str(vm.heap.text(value).unwrap_or_default());
    Ok(())
}

/// The value of a keyword, where it is near where its hash says; `None` leaves it to the helper.
fn keyword(vm: &mut Vm, keywords: Value, name: &str) -> Outcome<Option<Value>> {
    vm.spend(KEYWORD_SOUGHT.of(name.len()))?;
    let Some(table) = keywords.object().and_then(|keywords| vm.heap.table(keywords)) else { return Ok(None) };
    let found = table.find(hash_str(name), NEAR, |key| vm.heap.text(*key) == Some(name)).flatten();
    Ok(found.and_then(|position| table.entries.get(position)).map(|entry| entry.value))
}

/// `template.format(*positional, **keywords)`
pub(crate) fn format(vm: &mut Vm, template: Value, positional: &[Value], keywords: Value) -> Outcome<Option<Value>> {
    let template = template_text(vm, template)?;
    let mut out = String::new();
    let mut rest = template.as_str();
    let mut automatic = 0;
    while let Some(brace) = rest.find(['{', '}']) {
        vm.write(&mut out, &rest[..brace])?;
        let doubled = rest[brace..].starts_with("{{") || rest[brace..].starts_with("}}");
        if doubled {
            vm.write(&mut out, &rest[brace..=brace])?;
            rest = &rest[brace + 2..];
            continue;
        }
        if rest[brace..].starts_with('}') {
            return Ok(None);
        }
        let Some((field, after)) = rest[brace + 1..].split_once('}') else { return Ok(None) };
        let (name, spec) = field.split_once(':').unwrap_or((field, ""));
        if field.contains('{') {
            return Ok(None);
        }
        let value = if name.is_empty() && automatic >= 0 {
            automatic += 1;
            sizes::index(automatic - 1).and_then(|index| positional.get(index).copied())
        } else if automatic <= 0 && name.len() < 4 && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            automatic = -1;
            name.parse::<usize>().ok().and_then(|index| positional.get(index).copied())
        } else if !name.is_empty()
            && !name.as_bytes()[0].is_ascii_digit()
            && name.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        {
            keyword(vm, keywords, name)?
        } else {
            None
        };
        let Some(value) = value.filter(|value| plain(vm, *value)) else { return Ok(None) };
        if write(vm, &mut out, value, spec)?.is_none() {
            return Ok(None);
        }
        rest = after;
    }
    vm.write(&mut out, rest)?;
    Ok(Some(vm.heap.string(out)))
}

/// A copy of a template, charged.
fn template_text(vm: &mut Vm, template: Value) -> Outcome<String> {
    let length = vm.heap.text(template).map_or(0, str::len);
    vm.spend(TEMPLATE_COPIED.of(length))?;
    Ok(vm.heap.text(template).unwrap_or_default().to_owned())
}

/// `template % values`
pub(crate) fn percent(vm: &mut Vm, template: Value, values: Value) -> Outcome<Option<Value>> {
    let values = match values {
        Value::Obj(object) => match vm.heap.payload(object) {
            Payload::Tuple(items) => items.to_vec(),
            _ => vec![values],
        },
        _ => vec![values],
    };
    vm.spend(TEMPLATE_COPIED.of(values.len()))?;
    let template = template_text(vm, template)?;
    let mut values = values.into_iter();
    let mut out = String::new();
    let mut rest = template.as_str();
    while let Some(at) = rest.find('%') {
        vm.write(&mut out, &rest[..at])?;
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            vm.write(&mut out, "%")?;
            rest = after;
            continue;
        }
        let (Some(value), Some((spec, letter, after))) = (values.next().filter(|value| plain(vm, *value)), directive(rest)) else {
            return Ok(None);
        };
        let number = matches!(value, Value::Int(_) | Value::Float(_)) || vm.heap.text(value).is_none();
        let fits = match letter {
            's' => !number || spec.is_empty(),
            'd' | 'x' | 'X' => number && !matches!(value, Value::Float(_)),
            'e' | 'f' | 'g' => matches!(value, Value::Float(_)),
            _ => false,
        };
        let spec = if spec.is_empty() && matches!(letter, 's' | 'd') { String::new() } else { format!("{spec}{letter}") };
        if !fits || write(vm, &mut out, value, &spec)?.is_none() {
            return Ok(None);
        }
        rest = after;
    }
    vm.write(&mut out, rest)?;
    if values.next().is_some() {
        return Ok(None);
    }
    Ok(Some(vm.heap.string(out)))
}

/// How many digits a text begins with.
fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// A directive after its `%`: the format specification without the letter, the letter, and what follows.
fn directive(text: &str) -> Option<(String, char, &str)> {
    let mut spec = String::new();
    let left = text.starts_with('-');
    let zero = text.starts_with('0');
    let mut rest = &text[usize::from(left || zero)..];
    let width = digits(rest);
    // A zero after the minus is no fill.
    if width > 3 || (width == 0 && (left || zero)) || (left && rest.starts_with('0')) {
        return None;
    }
    if width > 0 {
        spec.push_str(if left {
            "<"
        } else if zero {
            "0"
        } else {
            ">"
        });
        spec.push_str(&rest[..width]);
        rest = &rest[width..];
    }
    let precise = rest.starts_with('.');
    if precise {
        let count = digits(&rest[1..]);
        if count == 0 || count > 2 {
            return None;
        }
        spec.push_str(&rest[..=count]);
        rest = &rest[count + 1..];
    }
    let mut characters = rest.chars();
    let letter = characters.next()?;
    // `%.3d` and `%05s` have meanings of their own.
    let own = (precise && matches!(letter, 'd' | 'x' | 'X')) || (zero && letter == 's');
    if own { None } else { Some((spec, letter, characters.as_str())) }
}
