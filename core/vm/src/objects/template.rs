//! `text.format(…)` and `text % values` where every field is a number or text in a plain form. Anything else, errors among it, is for
//! the helpers written in Python: `None` says so, and nothing has happened then.

use crate::error::{Outcome, Throw};
use crate::interp::Vm;
use crate::objects::payload::Payload;
use crate::types::ty;
use crate::value::Value;
use std::iter::Peekable;
use std::str::Chars;

/// Cycles for each field, beside those of what it writes.
const FIELD: usize = 8;

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
    vm.spend(FIELD)?;
    if spec.is_empty() {
        match value {
            Value::Int(number) => {
                use std::fmt::Write as _;
                if write!(out, "{number}").is_ok() {
                    return Ok(Some(()));
                }
            }
            Value::Obj(_) => {
                if let Some(text) = vm.text(value) {
                    out.push_str(text);
                    return Ok(Some(()));
                }
            }
            _ => {}
        }
    }
    let outcome = if spec.is_empty() { vm.str_value(value) } else { vm.format_builtin(value, spec) };
    match outcome {
        Ok(text) => {
            out.push_str(vm.text(text).unwrap_or_default());
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

fn finish(vm: &mut Vm, out: String) -> Outcome<Option<Value>> {
    vm.spend(out.len())?;
    vm.reserve(out.len())?;
    Ok(Some(vm.heap.string(out)))
}

/// `template.format(*positional, **keywords)`
pub(crate) fn format(vm: &mut Vm, template: Value, positional: &[Value], keywords: Value) -> Outcome<Option<Value>> {
    let Some(template) = vm.text(template).map(str::to_owned) else { return Ok(None) };
    let mut out = String::new();
    let mut rest = template.as_str();
    let mut automatic = 0;
    while let Some(brace) = rest.find(['{', '}']) {
        out.push_str(&rest[..brace]);
        let doubled = rest[brace..].starts_with("{{") || rest[brace..].starts_with("}}");
        if doubled {
            out.push_str(&rest[brace..=brace]);
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
            usize::try_from(automatic - 1).ok().and_then(|index| positional.get(index).copied())
        } else if automatic <= 0 && name.len() < 4 && !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
            automatic = -1;
            name.parse::<usize>().ok().and_then(|index| positional.get(index).copied())
        } else if !name.is_empty() && !name.as_bytes()[0].is_ascii_digit() && name.chars().all(|c| c == '_' || c.is_alphanumeric()) {
            vm.dict_pairs(keywords).into_iter().find(|(key, _)| vm.text(*key) == Some(name)).map(|(_, value)| value)
        } else {
            None
        };
        let Some(value) = value.filter(|value| plain(vm, *value)) else { return Ok(None) };
        if write(vm, &mut out, value, spec)?.is_none() {
            return Ok(None);
        }
        rest = after;
    }
    out.push_str(rest);
    finish(vm, out)
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
    let Some(template) = vm.text(template).map(str::to_owned) else { return Ok(None) };
    let mut values = values.into_iter();
    let mut out = String::new();
    let mut characters = template.chars().peekable();
    while let Some(character) = characters.next() {
        if character != '%' {
            out.push(character);
            continue;
        }
        if characters.next_if_eq(&'%').is_some() {
            out.push('%');
            continue;
        }
        let (Some(value), Some((spec, letter))) = (values.next().filter(|value| plain(vm, *value)), directive(&mut characters)) else {
            return Ok(None);
        };
        let number = matches!(value, Value::Int(_) | Value::Float(_)) || vm.text(value).is_none();
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
    }
    if values.next().is_some() {
        return Ok(None);
    }
    finish(vm, out)
}

/// A directive after its `%`: the format specification without the letter, and the letter.
fn directive(characters: &mut Peekable<Chars<'_>>) -> Option<(String, char)> {
    let mut spec = String::new();
    let left = characters.next_if_eq(&'-').is_some();
    let zero = !left && characters.next_if_eq(&'0').is_some();
    let mut number = String::new();
    while let Some(digit) = characters.next_if(char::is_ascii_digit) {
        number.push(digit);
    }
    if number.len() > 3 || (number.is_empty() && (left || zero)) {
        return None;
    }
    if !number.is_empty() {
        spec.push_str(if left {
            "<"
        } else if zero {
            "0"
        } else {
            ">"
        });
        spec.push_str(&number);
    }
    let mut precise = false;
    if characters.next_if_eq(&'.').is_some() {
        precise = true;
        spec.push('.');
        let mut digits = 0;
        while let Some(digit) = characters.next_if(char::is_ascii_digit) {
            spec.push(digit);
            digits += 1;
        }
        if digits == 0 || digits > 2 {
            return None;
        }
    }
    let letter = characters.next()?;
    // `%.3d` and `%05s` have meanings of their own.
    let own = (precise && matches!(letter, 'd' | 'x' | 'X')) || (zero && letter == 's');
    if own { None } else { Some((spec, letter)) }
}
