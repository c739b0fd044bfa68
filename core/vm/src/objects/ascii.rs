//! The frequent methods of `str` for ASCII text: on bytes, where the text lies, without a copy of it. `None` means that the general
//! form has to see to it; nothing has been charged then. What is charged is the same.

use crate::costs::{TEXT_CASED, TEXT_JOINED_ITEM, TEXT_PART, TEXT_PASSED, TEXT_WRITTEN};
use crate::error::{Outcome, Throw, Trap};
use crate::payload::{Payload, Str};
use crate::runtime::Vm;
use crate::types::ty;
use crate::value::{Ref, Value};
use crate::window::afresh;
use cowboy_num::sizes;
use std::ops::Range;

/// `\t` to `\r`, the separators from 28 to 31, and the blank.
const BLANKS: u128 = 0x1_f000_3e00;

/// Plain text of ASCII characters.
#[inline]
fn plain<'vm>(vm: &'vm Vm, value: &Value) -> Option<(Ref, &'vm Str)> {
    #[cfg(test)]
    if vm.is_general() {
        return None;
    }
    let Value::Obj(object) = *value else { return None };
    match vm.heap.payload(object) {
        Payload::Str(text) if text.ascii() => Some((object, text)),
        _ => None,
    }
}

/// Whether a method may give the very text back that it was called on.
#[inline]
fn returns_itself(vm: &Vm, object: Ref) -> bool {
    vm.heap.slot(object).class == ty::STR
}

/// A part of a text, as text of its own.
#[inline]
fn part(vm: &mut Vm, object: Ref, range: Range<usize>) -> Value {
    let piece = vm.heap.piece(object, range);
    vm.heap.ascii(piece)
}

/// What is left of a text when characters go from its ends.
#[inline(always)]
fn stripped(bytes: &[u8], left: bool, right: bool, goes: impl Fn(u8) -> bool) -> Range<usize> {
    let (mut first, mut last) = (0, bytes.len());
    while left && first < last && goes(bytes[first]) {
        first += 1;
    }
    while right && first < last && goes(bytes[last - 1]) {
        last -= 1;
    }
    first..last
}

/// `strip`, `lstrip` and `rstrip`; `general` for text that is not ASCII.
#[inline(always)]
pub(super) fn strip(
    vm: &mut Vm,
    args: &[Value],
    left: bool,
    right: bool,
    general: fn(&mut Vm, &[Value], bool, bool) -> Outcome,
) -> Outcome {
    let Some((object, text)) = plain(vm, &args[0]) else { return general(vm, args, left, right) };
    let bytes = text.text.as_bytes();
    let (length, mut set) = (bytes.len(), 0);
    let rest = match &args[1] {
        Value::Undefined | Value::None => stripped(bytes, left, right, |byte| BLANKS >> byte & 1 != 0),
        chars => match plain(vm, chars) {
            Some((_, chars)) => {
                set = chars.text.len();
                match *chars.text.as_bytes() {
                    // Most sets are of one or two characters.
                    [only] => stripped(bytes, left, right, |byte| byte == only),
                    [one, other] => stripped(bytes, left, right, |byte| byte == one || byte == other),
                    _ => {
                        let set = chars.text.bytes().fold(0_u128, |set, byte| set | 1 << byte);
                        stripped(bytes, left, right, |byte| set >> byte & 1 != 0)
                    }
                }
            }
            None => return general(vm, args, left, right),
        },
    };
    vm.spend(TEXT_PASSED.of(length) + TEXT_PASSED.of(set))?;
    Ok(if rest.len() == length && returns_itself(vm, object) { vm.heap.retain(args[0]) } else { part(vm, object, rest) })
}

/// `lower` and `upper`; `general` for text that is not ASCII.
#[inline(always)]
pub(super) fn recase(vm: &mut Vm, args: &[Value], upper: bool, general: fn(&mut Vm, &[Value]) -> Outcome) -> Outcome {
    let Some((object, text)) = plain(vm, &args[0]) else { return general(vm, args) };
    let length = text.text.len();
    let changes = |byte: u8| if upper { byte.is_ascii_lowercase() } else { byte.is_ascii_uppercase() };
    // Without a way out of the loop, so that many bytes are looked at at once.
    let same = !text.text.bytes().fold(false, |found, byte| found | changes(byte));
    vm.spend(TEXT_PASSED.of(length) + TEXT_CASED.of(length))?;
    if same && returns_itself(vm, object) {
        return Ok(vm.heap.retain(args[0]));
    }
    let mut changed = vm.heap.piece(object, 0..length);
    if upper {
        changed.make_ascii_uppercase();
    } else {
        changed.make_ascii_lowercase();
    }
    Ok(vm.heap.ascii(changed))
}

/// Where the parts between blanks are.
fn between_blanks(text: &[u8], most: usize, mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let blank = |byte: u8| byte <= b' ' && BLANKS >> byte & 1 != 0;
    let mut at = 0;
    loop {
        while at < text.len() && blank(text[at]) {
            at += 1;
        }
        if at == text.len() {
            return parts;
        }
        if parts.len() == most {
            parts.push(at..text.len());
            return parts;
        }
        let first = at;
        while at < text.len() && !blank(text[at]) {
            at += 1;
        }
        parts.push(first..at);
    }
}

/// Where the parts between separators are.
fn between(text: &str, separator: &str, most: usize, mut parts: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut first = 0;
    let mut cut = |at: usize| {
        parts.push(first..at);
        first = at + separator.len();
    };
    match separator.as_bytes() {
        // A search for one byte needs no preparation.
        [only] => text.bytes().enumerate().filter(|(_, byte)| byte == only).take(most).for_each(|(at, _)| cut(at)),
        _ => text.match_indices(separator).take(most).for_each(|(at, _)| cut(at)),
    }
    parts.push(first..text.len());
    parts
}

/// `split`; `most` is the number of cuts.
pub(super) fn split(vm: &mut Vm, args: &[Value]) -> Option<Outcome> {
    let (object, text) = plain(vm, &args[0])?;
    let most = match args[2] {
        Value::Undefined => usize::MAX,
        Value::Int(most) => sizes::index(most).unwrap_or(usize::MAX),
        _ => return None,
    };
    let mut price = TEXT_PASSED.of(text.text.len());
    let blanks = matches!(args[1], Value::Undefined | Value::None);
    if !blanks {
        let (_, separator) = plain(vm, &args[1])?;
        if separator.text.is_empty() {
            return None;
        }
        price = price + TEXT_PASSED.of(separator.text.len());
    }
    if let Err(throw) = vm.spend(price) {
        return Some(Err(throw));
    }
    // More parts than that end the run, so nobody sees where the last one would have ended.
    let most = most.min(vm.affordable(TEXT_PART));
    let room = std::mem::take(&mut vm.heap.spares.ranges);
    let (_, text) = plain(vm, &args[0])?;
    let parts = match plain(vm, &args[1]) {
        Some((_, separator)) if !blanks => between(&text.text, &separator.text, most, room),
        _ => between_blanks(text.text.as_bytes(), most, room),
    };
    Some(listed(vm, object, parts))
}

/// The parts of a text as a list.
fn listed(vm: &mut Vm, object: Ref, parts: Vec<Range<usize>>) -> Outcome {
    vm.spend(TEXT_PART.of(parts.len()))?;
    vm.reserve(parts.len().saturating_mul(size_of::<u64>()))?;
    let mut items = Vec::with_capacity(parts.len());
    for range in &parts {
        let item = part(vm, object, range.clone());
        items.push(afresh(&item));
        if vm.heap.exhausted() {
            return Err(Throw::Trap(Trap::OutOfMemory));
        }
    }
    vm.heap.spares.keep_ranges(parts);
    Ok(vm.heap.list(items))
}

/// Where a text begins in another one, the first or the last time, with neither start nor end given; `Some(None)` when it does not.
pub(super) fn position(vm: &mut Vm, args: &[Value], last: bool) -> Option<Outcome<Option<usize>>> {
    let (_, text) = plain(vm, &args[0])?;
    let (_, needle) = plain(vm, &args[1])?;
    if !args[2].is_undefined() || !args[3].is_undefined() {
        return None;
    }
    let (length, sought) = (text.text.len(), needle.text.len());
    let found = match sought <= length {
        true if last => text.text.rfind(needle.text.as_str()),
        true => text.text.find(needle.text.as_str()),
        false => None,
    };
    Some(vm.spend(TEXT_PASSED.of(length)).and_then(|()| vm.spend(TEXT_PASSED.of(sought))).map(|()| found))
}

/// Whether a text begins or ends with another one, neither start nor end given.
pub(super) fn affix(vm: &mut Vm, args: &[Value], test: fn(&str, &str) -> bool) -> Option<Outcome> {
    let (_, text) = plain(vm, &args[0])?;
    let (_, candidate) = plain(vm, &args[1])?;
    if !args[2].is_undefined() || !args[3].is_undefined() {
        return None;
    }
    let (length, truth) = (text.text.len(), test(&text.text, &candidate.text));
    Some(vm.spend(TEXT_PASSED.of(length)).map(|()| Value::truth(truth)))
}

/// `join` of a list or tuple of plain texts.
pub(super) fn join(vm: &mut Vm, args: &[Value]) -> Option<Outcome> {
    let (_, separator) = plain(vm, &args[0])?;
    let Value::Obj(object) = args[1] else { return None };
    let items = match vm.heap.payload(object) {
        Payload::List(list) if vm.heap.slot(object).class == ty::LIST => &list.items,
        Payload::Tuple(items) if vm.heap.slot(object).class == ty::TUPLE => &items[..],
        _ => return None,
    };
    let mut size = separator.text.len().saturating_mul(items.len());
    for item in items {
        size = size.checked_add(plain(vm, item)?.1.text.len())?;
    }
    let (count, prepared) = (items.len(), TEXT_PASSED.of(separator.text.len()));
    let charged = vm.spend(TEXT_JOINED_ITEM.of(count) + prepared).and_then(|()| vm.reserve(count.saturating_mul(8)));
    Some(charged.and_then(|()| vm.spend(TEXT_WRITTEN.of(size))).and_then(|()| vm.reserve(size)).map(|()| {
        let mut joined = String::with_capacity(size);
        if let (Some((_, separator)), Payload::List(_) | Payload::Tuple(_)) = (plain(vm, &args[0]), vm.heap.payload(object)) {
            for (index, item) in vm.heap.items(object).unwrap_or_default().iter().enumerate() {
                if index > 0 {
                    joined.push_str(&separator.text);
                }
                joined.push_str(plain(vm, item).map_or("", |(_, text)| text.text.as_str()));
            }
        }
        vm.heap.ascii(joined)
    }))
}
