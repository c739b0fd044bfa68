//! Searching: where a text occurs, how often, and what begins or ends with it.

use super::{argument, receiver};
use crate::error::Outcome;
use crate::heap::numbers::Number;
use crate::objects::ascii;
use crate::runtime::Vm;
use crate::types::ty;
use crate::value::Value;
use cowboy_num::sizes;

/// The part of a text between two optional positions, and its first character's position.
fn window(vm: &mut Vm, text: &str, start: Value, end: Value) -> Outcome<Option<(String, usize)>> {
    if start.is_undefined() && end.is_undefined() {
        return Ok(Some((text.to_owned(), 0)));
    }
    let length = text.chars().count();
    if let Some(Number::Small(start)) = vm.heap.number(start) {
        if sizes::saturating(start) > length {
            return Ok(None);
        }
    }
    let (first, _, count) = vm.slice_bounds(&[start.or(Value::None), end.or(Value::None), Value::None], length)?;
    if count == 0 && vm.ends_before(end, first, length) {
        return Ok(None);
    }
    let first = sizes::saturating(first);
    if length == text.len() {
        return Ok(Some((text[first..first + count].to_owned(), first)));
    }
    Ok(Some((text.chars().skip(first).take(count).collect(), first)))
}

fn position(vm: &mut Vm, args: &[Value], last: bool) -> Outcome<Option<usize>> {
    if vm.heap.text(args[1]).is_none() {
        vm.check_bounds(args)?;
    }
    if let Some(outcome) = ascii::position(vm, args, last) {
        return outcome;
    }
    let text = receiver(vm, args[0])?;
    let needle = argument(vm, args[1], "")?;
    let Some((part, first)) = window(vm, &text, args[2], args[3])? else { return Ok(None) };
    let found = if last { part.rfind(&needle) } else { part.find(&needle) };
    Ok(found.map(|offset| first + part[..offset].chars().count()))
}

fn found(position: Option<usize>) -> Value {
    Value::Int(position.and_then(|position| i64::try_from(position).ok()).unwrap_or(-1))
}

pub(super) fn find(vm: &mut Vm, args: &[Value]) -> Outcome {
    position(vm, args, false).map(found)
}

pub(super) fn rfind(vm: &mut Vm, args: &[Value]) -> Outcome {
    position(vm, args, true).map(found)
}

pub(super) fn index(vm: &mut Vm, args: &[Value]) -> Outcome {
    match position(vm, args, false)? {
        None => Err(vm.value_error("substring not found")),
        position => Ok(found(position)),
    }
}

pub(super) fn rindex(vm: &mut Vm, args: &[Value]) -> Outcome {
    match position(vm, args, true)? {
        None => Err(vm.value_error("substring not found")),
        position => Ok(found(position)),
    }
}

pub(super) fn count(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.check_bounds(args)?;
    let text = receiver(vm, args[0])?;
    let needle = argument(vm, args[1], "")?;
    let Some((part, _)) = window(vm, &text, args[2], args[3])? else { return Ok(Value::Int(0)) };
    let count = if needle.is_empty() { part.chars().count() + 1 } else { part.matches(&needle).count() };
    Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}

fn affix(vm: &mut Vm, args: &[Value], method: &str, test: fn(&str, &str) -> bool) -> Outcome {
    if let Some(outcome) = ascii::affix(vm, args, test) {
        return outcome;
    }
    let text = receiver(vm, args[0])?;
    let Some((part, _)) = window(vm, &text, args[2], args[3])? else { return Ok(Value::truth(false)) };
    for index in 0..crate::objects::tuple::alternatives(vm, args[1]) {
        let candidate = crate::objects::tuple::alternative(vm, args[1], index, part.len())?;
        match vm.heap.text(candidate) {
            Some(candidate) if test(&part, candidate) => return Ok(Value::truth(true)),
            Some(_) => {}
            None => {
                let name = vm.heap.class_name(candidate);
                let message = if vm.heap.is_instance(args[1], ty::TUPLE) {
                    format!("tuple for {method} must only contain str, not {name}")
                } else {
                    format!("{method} first arg must be str or a tuple of str, not {name}")
                };
                return Err(vm.type_error(message));
            }
        }
    }
    Ok(Value::truth(false))
}

pub(super) fn startswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, "startswith", |text, prefix| text.starts_with(prefix))
}

pub(super) fn endswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, "endswith", |text, suffix| text.ends_with(suffix))
}
