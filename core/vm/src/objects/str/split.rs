//! Splitting: at separators, at blanks and at the ends of lines.

use super::{argument, receiver};
use crate::costs::{TEXT_HALVED, TEXT_PART};
use crate::error::Outcome;
use crate::objects::ascii;
use crate::runtime::Vm;
use crate::runtime::allowance::Items;
use crate::value::Value;
use cowboy_num::sizes;
use cowboy_unicode::is_space as is_python_space;

/// Parts of a text as a list; each is paid for before it is made.
fn texts<'a>(vm: &mut Vm, parts: impl Iterator<Item = &'a str>) -> Outcome {
    let items = Items::new(TEXT_PART.once()).texts(vm, parts)?;
    Ok(vm.heap.list(items))
}

/// The same for parts that come from the end.
fn texts_from_end<'a>(vm: &mut Vm, parts: impl Iterator<Item = &'a str>) -> Outcome {
    let mut items = Items::new(TEXT_PART.once()).texts(vm, parts)?;
    items.reverse();
    Ok(vm.heap.list(items))
}

/// Parts between blanks, at most `most` cuts from the left.
fn split_blanks(text: &str, most: usize) -> impl Iterator<Item = &str> {
    crate::objects::cut(text.trim_start_matches(is_python_space), most, |rest| {
        let (part, after) = rest.split_at(rest.find(is_python_space).unwrap_or(rest.len()));
        (part, after.trim_start_matches(is_python_space))
    })
}

/// The same with cuts from the right: the last part first.
fn rsplit_blanks(text: &str, most: usize) -> impl Iterator<Item = &str> {
    crate::objects::cut(text.trim_end_matches(is_python_space), most, |rest| {
        let start = rest.char_indices().rev().find(|(_, c)| is_python_space(*c)).map_or(0, |(at, c)| at + c.len_utf8());
        let (before, part) = rest.split_at(start);
        (part, before.trim_end_matches(is_python_space))
    })
}

/// Lines, with their ends where those are kept.
fn lines(text: &str, keep: bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let ends = |c: char| matches!(c, '\n' | '\r' | '\x0b' | '\x0c' | '\x1c'..='\x1e' | '\u{85}' | '\u{2028}' | '\u{2029}');
        let Some(at) = rest.find(ends) else { return Some(std::mem::take(&mut rest)) };
        let width = if rest[at..].starts_with("\r\n") { 2 } else { rest[at..].chars().next().map_or(0, char::len_utf8) };
        let line = &rest[..if keep { at + width } else { at }];
        rest = &rest[at + width..];
        Some(line)
    })
}

fn separator(vm: &mut Vm, value: Value) -> Outcome<Option<String>> {
    if value.is_undefined() || value.is_none() {
        return Ok(None);
    }
    let separator = argument(vm, value, "")?;
    if separator.is_empty() {
        return Err(vm.value_error("empty separator"));
    }
    Ok(Some(separator))
}

fn most(vm: &mut Vm, value: Value) -> Outcome<usize> {
    if value.is_undefined() {
        return Ok(usize::MAX);
    }
    Ok(sizes::index(vm.whole(value)?).unwrap_or(usize::MAX))
}

/// What `split` and `rsplit` take as a separator is text or nothing.
fn check_separator(vm: &mut Vm, value: Value) -> Outcome<()> {
    if value.is_undefined() || value.is_none() || vm.heap.text(value).is_some() {
        return Ok(());
    }
    let message = format!("must be str or None, not {}", vm.heap.class_name(value));
    Err(vm.type_error(message))
}

pub(super) fn split(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(outcome) = ascii::split(vm, args) {
        return outcome;
    }
    let text = receiver(vm, args[0])?;
    let most = most(vm, args[2])?;
    check_separator(vm, args[1])?;
    match separator(vm, args[1])? {
        Some(separator) => texts(vm, text.splitn(most.saturating_add(1), &separator)),
        None => texts(vm, split_blanks(&text, most)),
    }
}

pub(super) fn rsplit(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let most = most(vm, args[2])?;
    check_separator(vm, args[1])?;
    match separator(vm, args[1])? {
        Some(separator) => texts_from_end(vm, text.rsplitn(most.saturating_add(1), &separator)),
        None => texts_from_end(vm, rsplit_blanks(&text, most)),
    }
}

pub(super) fn splitlines(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let length = text.len();
    vm.spend(TEXT_HALVED.of(length))?;
    let keep = vm.integer_option(args[1])?;
    texts(vm, lines(&text, keep))
}

fn three(vm: &mut Vm, parts: [&str; 3]) -> Outcome {
    let parts = parts.into_iter().map(|part| vm.heap.str(part)).collect();
    Ok(vm.heap.tuple(parts))
}

pub(super) fn partition(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let Some(separator) = separator(vm, args[1])? else { return Err(vm.type_error("must be str, not NoneType")) };
    match text.split_once(&separator) {
        Some((before, after)) => three(vm, [before, &separator, after]),
        None => three(vm, [&text, "", ""]),
    }
}

pub(super) fn rpartition(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let Some(separator) = separator(vm, args[1])? else { return Err(vm.type_error("must be str, not NoneType")) };
    match text.rsplit_once(&separator) {
        Some((before, after)) => three(vm, [before, &separator, after]),
        None => three(vm, ["", "", &text]),
    }
}
