//! Splitting: at separators, at blanks and at the ends of lines.

use super::search::cuts;
use crate::costs::{BYTES_MADE, BYTES_PART};
use crate::error::Outcome;
use crate::objects::bytes::{bytes_like, receiver, same_sort};
use crate::runtime::Vm;
use crate::runtime::allowance::Items;
use crate::value::Value;
use cowboy_num::sizes;

/// Parts of `bytes` between separators, at most `most` cuts from the left.
pub(super) fn pieces<'a>(bytes: &'a [u8], separator: &'a [u8], most: usize) -> impl Iterator<Item = &'a [u8]> {
    let mut cuts = cuts(bytes, separator, most, false);
    let mut rest = Some(0);
    std::iter::from_fn(move || {
        let first = rest?;
        match cuts.next() {
            Some(at) => {
                rest = Some(at + separator.len());
                Some(&bytes[first..at])
            }
            None => {
                rest = None;
                Some(&bytes[first..])
            }
        }
    })
}

/// The same with cuts from the right: the last part first.
fn pieces_from_end<'a>(bytes: &'a [u8], separator: &'a [u8], most: usize) -> impl Iterator<Item = &'a [u8]> {
    let mut cuts = cuts(bytes, separator, most, true);
    let mut rest = Some(bytes.len());
    std::iter::from_fn(move || {
        let end = rest?;
        match cuts.next() {
            Some(at) => {
                rest = Some(at);
                Some(&bytes[at + separator.len()..end])
            }
            None => {
                rest = None;
                Some(&bytes[..end])
            }
        }
    })
}

/// What `bytes.split()` takes for blank.
pub(super) fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

pub(super) fn most(vm: &mut Vm, value: Value) -> Outcome<usize> {
    if value.is_undefined() {
        return Ok(usize::MAX);
    }
    Ok(sizes::index(vm.whole(value)?).unwrap_or(usize::MAX))
}

/// Parts of the receiver's sort; each is paid for before it is made.
fn items_of<'a>(vm: &mut Vm, like: Value, parts: impl Iterator<Item = &'a [u8]>) -> Outcome<Vec<Value>> {
    let mut items = Items::new(BYTES_PART.once());
    for part in parts {
        items.pay(vm)?;
        items.push(same_sort(vm, like, part.to_vec())?);
    }
    Ok(items.into_values())
}

fn list_of<'a>(vm: &mut Vm, like: Value, parts: impl Iterator<Item = &'a [u8]>) -> Outcome {
    let items = items_of(vm, like, parts)?;
    Ok(vm.heap.list(items))
}

fn list_from_end<'a>(vm: &mut Vm, like: Value, parts: impl Iterator<Item = &'a [u8]>) -> Outcome {
    let mut items = items_of(vm, like, parts)?;
    items.reverse();
    Ok(vm.heap.list(items))
}

fn separator(vm: &mut Vm, value: Value) -> Outcome<Option<Vec<u8>>> {
    if value.is_undefined() || value.is_none() {
        return Ok(None);
    }
    let separator = bytes_like(vm, value)?;
    if separator.is_empty() { Err(vm.value_error("empty separator")) } else { Ok(Some(separator)) }
}

/// Parts between blanks, at most `most` cuts from the left.
fn between_blanks(bytes: &[u8], most: usize) -> impl Iterator<Item = &[u8]> {
    crate::objects::cut(bytes.trim_blank_start(), most, |rest| {
        let (part, after) = rest.split_at(rest.iter().position(is_blank).unwrap_or(rest.len()));
        (part, after.trim_blank_start())
    })
}

/// The same with cuts from the right: the last part first.
fn between_blanks_from_end(bytes: &[u8], most: usize) -> impl Iterator<Item = &[u8]> {
    crate::objects::cut(bytes.trim_blank_end(), most, |rest| {
        let (before, part) = rest.split_at(rest.iter().rposition(is_blank).map_or(0, |at| at + 1));
        (part, before.trim_blank_end())
    })
}

pub(super) fn split(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let most = most(vm, args[2])?;
    match separator(vm, args[1])? {
        Some(separator) => {
            vm.spend(BYTES_MADE.of(bytes.len()))?;
            list_of(vm, args[0], pieces(&bytes, &separator, most))
        }
        None => list_of(vm, args[0], between_blanks(&bytes, most)),
    }
}

pub(super) fn rsplit(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let most = most(vm, args[2])?;
    match separator(vm, args[1])? {
        Some(separator) => {
            vm.spend(BYTES_MADE.of(bytes.len()))?;
            list_from_end(vm, args[0], pieces_from_end(&bytes, &separator, most))
        }
        None => list_from_end(vm, args[0], between_blanks_from_end(&bytes, most)),
    }
}

trait Blank {
    fn trim_blank_start(&self) -> &[u8];
    fn trim_blank_end(&self) -> &[u8];
}

impl Blank for [u8] {
    fn trim_blank_start(&self) -> &[u8] {
        &self[self.iter().position(|byte| !is_blank(byte)).unwrap_or(self.len())..]
    }

    fn trim_blank_end(&self) -> &[u8] {
        &self[..self.iter().rposition(|byte| !is_blank(byte)).map_or(0, |at| at + 1)]
    }
}

/// Lines, with their ends where those are kept.
fn lines(bytes: &[u8], keep: bool) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let Some(at) = memchr::memchr2(b'\r', b'\n', rest) else { return Some(std::mem::take(&mut rest)) };
        let end = if rest[at..].starts_with(b"\r\n") { at + 2 } else { at + 1 };
        let line = &rest[..if keep { end } else { at }];
        rest = &rest[end..];
        Some(line)
    })
}

pub(super) fn splitlines(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let keep = vm.integer_option(args[1])?;
    list_of(vm, args[0], lines(&bytes, keep))
}
