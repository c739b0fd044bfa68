//! The core of the module `re`, over [`crate::regex`]; `frozen/re.py` has the classes around it.

use crate::costs::{Charge, MATCH_BYTES, MATCH_MADE, MATCH_MARK, MATCH_PIECE, PART_REPLACED, PATTERN_CHARACTER, TEXT_READ};
use crate::error::{Outcome, Throw, Trap};
use crate::payload::Payload;
use crate::regex::{ENTRY, Matcher, Mode, Program, Refusal, Stop, UNSET};
use crate::runtime::Vm;
use crate::runtime::native::NativeKind::Function;
use crate::runtime::native::NativeRow;
use crate::types::ty;
use crate::value::{Truth, Value};
use cowboy_num::sizes;
use std::sync::Arc;

/// Rows of the module `_re`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(Function, "_re.compile", "pattern, flags, /", 100, compile_pattern, ""),
    NativeRow(Function, "_re.match", "program, string, pos, endpos, mode, moving, /", 12, one_match, ""),
    NativeRow(Function, "_re.findall", "program, string, pos, endpos, /", 12, findall, ""),
    NativeRow(Function, "_re.spans", "program, string, pos, endpos, count, /", 12, spans, "retry_last"),
    NativeRow(Function, "_re.split", "program, string, maxsplit, /", 12, split, "retry_last"),
    NativeRow(Function, "_re.sub", "program, string, parts, count, /", 12, sub, "retry_last"),
    NativeRow(Function, "_re.is_identifier", "text, /", 2, is_identifier, ""),
];

fn is_identifier(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let length = vm.heap.text(arguments[0]).map_or(0, str::len);
    vm.spend(TEXT_READ.of(length))?;
    Ok(Value::truth(vm.heap.text(arguments[0]).is_some_and(cowboy_unicode::is_identifier)))
}

/// Compiles: (program, flags, groups, names with numbers), or (message, place) of a `re.error`.
fn compile_pattern(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (characters, is_text) = match arguments[0].object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Str(text)) => (text.text.chars().map(u32::from).collect::<Vec<u32>>(), true),
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) => (bytes.iter().map(|&byte| u32::from(byte)).collect(), false),
        _ => return Err(vm.type_error("first argument must be string or compiled pattern")),
    };
    let flags = match arguments[1] {
        Value::Int(flags) => u32::try_from(flags).unwrap_or(0),
        _ => 0,
    };
    vm.spend(PATTERN_CHARACTER.of(characters.len()))?;
    vm.reserve(characters.len().saturating_mul(64))?;
    let outcome = crate::regex::parse(&characters, is_text, flags).and_then(|pattern| {
        let mut spend = |charge: Charge| vm.spend(charge).map_err(|_| Refusal::Cycles);
        crate::regex::compile(&pattern, is_text, &mut spend).map(|program| (pattern, program))
    });
    let (pattern, program) = match outcome {
        Ok(compiled) => compiled,
        Err(Refusal::Syntax(message, place)) => {
            let message = vm.heap.string(message);
            let place = place.map_or(Value::None, |place| Value::Int(i64::try_from(place).unwrap_or(i64::MAX)));
            return Ok(vm.heap.tuple(vec![message, place]));
        }
        Err(Refusal::Value(message)) => return Err(vm.value_error(message)),
        Err(Refusal::Overflow(message)) => return Err(vm.raise(ty::OVERFLOW_ERROR, message)),
        Err(Refusal::Depth) => return Err(vm.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded")),
        Err(Refusal::Cycles) => return Err(Throw::Trap(Trap::OutOfCycles)),
    };
    let program = vm.heap.make(ty::REGEX, Payload::Regex(Arc::new(program)));
    let mut names = Vec::with_capacity(pattern.names.len());
    for (name, group) in pattern.names {
        let name = vm.heap.string(name);
        names.push(vm.heap.tuple(vec![name, Value::Int(i64::try_from(group).unwrap_or(i64::MAX))]));
    }
    let names = vm.heap.tuple(names);
    let groups = i64::try_from(pattern.groups - 1).unwrap_or(i64::MAX);
    Ok(vm.heap.tuple(vec![program, Value::Int(i64::from(pattern.flags)), Value::Int(groups), names]))
}

// ---- texts ----

/// A text to search: its bytes, and whether its characters may be several bytes.
fn subject(vm: &Vm, string: Value) -> Option<(&[u8], bool, bool)> {
    match vm.heap.payload(string.object()?).core() {
        Payload::Str(text) => Some((text.text.as_bytes(), !text.ascii(), true)),
        Payload::Bytes(bytes) | Payload::ByteArray(bytes, _) => Some((bytes, false, false)),
        Payload::MemoryView(_) => crate::objects::views::beside(vm, string).map(|bytes| (bytes, false, false)),
        _ => None,
    }
}

/// The byte where a character begins, and the number of the character at a byte.
struct Places {
    wide: bool,
    byte: usize,
    index: usize,
    /// Bytes that were gone through to find them, there and back.
    passed: usize,
}

impl Places {
    fn new(wide: bool) -> Places {
        Places { wide, byte: 0, index: 0, passed: 0 }
    }

    /// The byte where a character of a number begins; the text's length when there is none.
    fn byte_of(&self, text: &[u8], index: i64) -> usize {
        let index = sizes::saturating(index);
        if !self.wide {
            return index.min(text.len());
        }
        let begins = |byte: &u8| byte & 0xc0 != 0x80;
        text.iter().enumerate().filter(|(_, byte)| begins(byte)).map(|(at, _)| at).nth(index).unwrap_or(text.len())
    }

    /// The number of the character at a byte, from the one that was asked for before.
    fn index_of(&mut self, text: &[u8], byte: usize) -> Value {
        if byte == UNSET {
            return Value::Int(-1);
        }
        if !self.wide {
            return Value::Int(i64::try_from(byte).unwrap_or(i64::MAX));
        }
        let characters = |from: usize, to: usize| text[from..to].iter().filter(|&byte| byte & 0xc0 != 0x80).count();
        if byte < self.byte {
            self.index -= characters(byte, self.byte);
        } else {
            self.index += characters(self.byte, byte);
        }
        self.passed += byte.abs_diff(self.byte);
        self.byte = byte;
        Value::Int(i64::try_from(self.index).unwrap_or(i64::MAX))
    }
}

fn number(value: Value) -> i64 {
    match value {
        Value::Int(number) => number,
        Value::Bool(truth) => i64::from(truth),
        _ => 0,
    }
}

/// The program and the bytes of the text between which to search.
fn opened(vm: &mut Vm, program: Value, string: Value, pos: i64, endpos: i64) -> Outcome<(Arc<Program>, usize, usize)> {
    let Some(Payload::Regex(program)) = program.object().map(|object| vm.heap.payload(object)) else {
        return Err(vm.type_error("expected a compiled pattern"));
    };
    let program = Arc::clone(program);
    let Some((text, wide, is_text)) = subject(vm, string) else {
        let message = format!("expected string or bytes-like object, got '{}'", vm.heap.class_name(string));
        return Err(vm.type_error(message));
    };
    if is_text != program.is_text {
        let message = if is_text {
            "cannot use a bytes pattern on a string-like object"
        } else {
            "cannot use a string pattern on a bytes-like object"
        };
        return Err(vm.type_error(message));
    }
    let places = Places::new(wide);
    let length = text.len();
    let end = if endpos >= i64::try_from(length).unwrap_or(i64::MAX) { length } else { places.byte_of(text, endpos) };
    let start = if pos == 0 { 0 } else { places.byte_of(text, pos) };
    if wide {
        vm.spend(MATCH_BYTES.of(length))?;
    }
    Ok((program, start.min(end), end))
}

/// Searches with what the run has left, and takes what the search used.
fn search<T>(
    vm: &mut Vm,
    program: &Program,
    string: Value,
    end: usize,
    job: impl FnOnce(&mut Matcher<'_>) -> Result<T, Stop>,
) -> Outcome<T> {
    let memory = vm.heap.limit.saturating_sub(vm.heap.memory);
    let cycles = vm.meter.cycles;
    let buffers = std::mem::take(&mut vm.heap.spares.search);
    let Some((text, wide, _)) = subject(vm, string) else { return Err(Throw::Trap(Trap::Internal)) };
    let mut matcher = Matcher::new(program, &text[..end], wide, cycles, memory, buffers);
    let outcome = job(&mut matcher);
    let (left, deepest) = (matcher.cycles, matcher.deepest);
    vm.heap.spares.search = matcher.into_buffers();
    vm.meter.cycles = left;
    vm.heap.use_memory(deepest * ENTRY);
    vm.heap.free_memory(deepest * ENTRY);
    match outcome {
        Ok(found) => Ok(found),
        Err(Stop::Cycles) => Err(Throw::Trap(Trap::OutOfCycles)),
        Err(Stop::Memory) => Err(Throw::Trap(Trap::OutOfMemory)),
    }
}

/// Every match in order, at most `count` (all for 0): marks of each, one after the other.
fn every(matcher: &mut Matcher<'_>, start: usize, count: i64, mut visit: impl FnMut(&Matcher<'_>)) -> Result<(), Stop> {
    let (mut at, mut moving, mut found) = (start, false, 0_i64);
    while count == 0 || found < count {
        if !matcher.find(at, Mode::Search, moving)? {
            break;
        }
        visit(matcher);
        found += 1;
        let (begin, end) = (matcher.marks[0], matcher.marks[1]);
        moving = begin == end;
        at = end;
        if found.saturating_mul(8 * i64::try_from(matcher.marks.len()).unwrap_or(1)) > i64::try_from(matcher.memory).unwrap_or(i64::MAX) {
            return Err(Stop::Memory);
        }
    }
    Ok(())
}

/// A part of the text as a value; `absent` for a group that did not match.
fn piece(vm: &mut Vm, string: Value, begin: usize, end: usize, absent: Value) -> Outcome {
    if begin == UNSET || end == UNSET {
        return Ok(absent);
    }
    vm.spend(MATCH_PIECE.once() + MATCH_BYTES.of(end - begin))?;
    let mut part = vm.heap.spares.empty_text(end - begin);
    let bytes = match subject(vm, string) {
        Some((text, _, true)) => {
            part.push_str(std::str::from_utf8(&text[begin..end]).unwrap_or_default());
            return Ok(vm.heap.string(part));
        }
        Some((bytes, ..)) => bytes[begin..end].to_vec(),
        None => return Ok(absent),
    };
    vm.heap.spares.keep_text(part);
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(bytes)))
}

// ---- rows ----

/// One match: begin and end of every group and the last group closed, or None.
fn one_match(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let string = arguments[1];
    let (program, start, end) = opened(vm, arguments[0], string, number(arguments[2]), number(arguments[3]))?;
    // Behind its end a text holds nothing, not even an empty match.
    if number(arguments[2]) > number(arguments[3]) {
        return Ok(Value::None);
    }
    let mode = match number(arguments[4]) {
        0 => Mode::Search,
        1 => Mode::Match,
        _ => Mode::Full,
    };
    let moving = matches!(arguments[5], Value::Bool(Truth::True));
    let found = search(vm, &program, string, end, |matcher| Ok(matcher.find(start, mode, moving)?.then_some(matcher.last)))?;
    let Some(last) = found else { return Ok(Value::None) };
    let marks = std::mem::take(&mut vm.heap.spares.search.marks);
    let mut places = text_begin(vm, string);
    let outcome = marks_tuple(vm, string, &marks, last, &mut places);
    vm.heap.spares.search.marks = marks;
    outcome
}

/// The beginning of a text, for the marks of matches in it.
fn text_begin(vm: &Vm, string: Value) -> Places {
    Places::new(subject(vm, string).is_some_and(|(_, wide, _)| wide))
}

/// What a match is to Python. Matches of one text are asked for in their order, with the same places.
fn marks_tuple(vm: &mut Vm, string: Value, marks: &[usize], last: usize, places: &mut Places) -> Outcome {
    vm.spend(MATCH_MADE.once() + MATCH_MARK.of(marks.len()))?;
    let mut items = vm.heap.spares.values(marks.len() + 1);
    let Some((text, ..)) = subject(vm, string) else { return Ok(Value::None) };
    let (begun, passed) = (places.byte, places.passed);
    for pair in marks.chunks(2) {
        let set = pair[0] != UNSET && pair[1] != UNSET;
        for &mark in pair {
            items.push(places.index_of(text, if set { mark } else { UNSET }));
        }
    }
    items.push(Value::Int(i64::try_from(last).unwrap_or(i64::MAX)));
    // To go through the text once is paid for with it.
    let again = (places.passed - passed).saturating_sub(places.byte.saturating_sub(begun));
    vm.spend(MATCH_BYTES.of(again))?;
    Ok(vm.heap.tuple(items))
}

fn findall(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let string = arguments[1];
    let (program, start, end) = opened(vm, arguments[0], string, number(arguments[2]), number(arguments[3]))?;
    if number(arguments[2]) > number(arguments[3]) {
        return Ok(vm.heap.list(Vec::new()));
    }
    let skipped = if program.groups > 1 { 2 } else { 0 };
    let width = 2 * program.groups - skipped;
    let mut found: Vec<usize> = Vec::new();
    search(vm, &program, string, end, |matcher| every(matcher, start, 0, |matcher| found.extend_from_slice(&matcher.marks[skipped..])))?;
    vm.reserve(found.len() * 8)?;
    let empty = piece(vm, string, 0, 0, Value::None)?;
    let mut items = Vec::new();
    for marks in found.chunks(width) {
        let mut groups = Vec::with_capacity(width / 2);
        for pair in marks.chunks(2) {
            vm.heap.retain(empty);
            groups.push(piece(vm, string, pair[0], pair[1], empty)?);
            if pair[0] != UNSET && pair[1] != UNSET {
                vm.heap.release(empty);
            }
        }
        items.push(if groups.len() == 1 { groups.remove(0) } else { vm.heap.tuple(groups) });
        vm.reserve(items.len() * size_of::<u64>())?;
    }
    vm.heap.release(empty);
    Ok(vm.heap.list(items))
}

fn spans(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let string = arguments[1];
    let count = vm.whole(arguments[4])?;
    let (program, start, end) = opened(vm, arguments[0], string, number(arguments[2]), number(arguments[3]))?;
    let width = 2 * program.groups + 1;
    let mut found: Vec<usize> = Vec::new();
    if count >= 0 {
        search(vm, &program, string, end, |matcher| {
            every(matcher, start, count, |matcher| {
                found.extend_from_slice(&matcher.marks);
                found.push(matcher.last);
            })
        })?;
    }
    let (mut items, mut places) = (Vec::new(), text_begin(vm, string));
    for row in found.chunks(width) {
        let (last, marks) = row.split_last().unwrap_or((&0, &[]));
        items.push(marks_tuple(vm, string, marks, *last, &mut places)?);
        vm.reserve(items.len() * size_of::<u64>())?;
    }
    Ok(vm.heap.list(items))
}

fn split(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let string = arguments[1];
    let most = vm.whole(arguments[2])?;
    let (program, start, end) = opened(vm, arguments[0], string, 0, i64::MAX)?;
    let mut found: Vec<usize> = Vec::new();
    if most >= 0 {
        search(vm, &program, string, end, |matcher| every(matcher, start, most, |matcher| found.extend_from_slice(&matcher.marks)))?;
    }
    let mut items = Vec::new();
    let mut last = 0;
    for marks in found.chunks(2 * program.groups) {
        items.push(piece(vm, string, last, marks[0], Value::None)?);
        for pair in marks[2..].chunks(2) {
            items.push(piece(vm, string, pair[0], pair[1], Value::None)?);
        }
        last = marks[1];
        vm.reserve(items.len() * size_of::<u64>())?;
    }
    items.push(piece(vm, string, last, end, Value::None)?);
    Ok(vm.heap.list(items))
}

/// A part of a replacement.
enum Part {
    Text(Vec<u8>),
    Group(usize),
}

/// Replaces: (the new text, how many were replaced).
fn sub(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let string = arguments[1];
    let count = vm.whole(arguments[3])?;
    let (program, start, end) = opened(vm, arguments[0], string, 0, i64::MAX)?;
    let mut parts = Vec::new();
    for part in vm.heap.sequence_snapshot(arguments[2]) {
        parts.push(match part {
            Value::Int(group) => Part::Group(sizes::saturating(group)),
            part => match subject(vm, part) {
                Some((text, _, is_text)) if is_text == program.is_text => Part::Text(text.to_vec()),
                _ => {
                    let wanted = if program.is_text { "str instance" } else { "a bytes-like object" };
                    let message = format!("sequence item 0: expected {wanted}, {} found", vm.heap.class_name(part));
                    return Err(vm.type_error(message));
                }
            },
        });
    }
    let (out, replaced, length) = search(vm, &program, string, end, |matcher| {
        let mut out: Vec<u8> = Vec::new();
        let (mut at, mut moving, mut last, mut replaced) = (start, false, 0, 0_i64);
        while count == 0 || replaced < count {
            if !matcher.find(at, Mode::Search, moving)? {
                break;
            }
            let (begin, end) = (matcher.marks[0], matcher.marks[1]);
            let length = out.len();
            out.extend_from_slice(&matcher.text[last..begin]);
            for part in &parts {
                match part {
                    Part::Text(text) => out.extend_from_slice(text),
                    Part::Group(group) => {
                        let pair = matcher.marks.chunks(2).nth(*group).unwrap_or(&[UNSET, UNSET]);
                        if pair[0] != UNSET && pair[1] != UNSET {
                            out.extend_from_slice(&matcher.text[pair[0]..pair[1]]);
                        }
                    }
                }
                if out.len() > matcher.memory {
                    return Err(Stop::Memory);
                }
            }
            matcher.spend(MATCH_BYTES.of(out.len() - length) + PART_REPLACED.of(parts.len()))?;
            replaced += 1;
            moving = begin == end;
            at = end;
            last = end;
        }
        let length = out.len() + matcher.text.len() - last;
        if replaced > 0 {
            out.extend_from_slice(&matcher.text[last..]);
        }
        Ok((out, replaced, length))
    })?;
    vm.spend(MATCH_BYTES.of(length))?;
    vm.reserve(length)?;
    let text = if replaced == 0 {
        vm.heap.retain(string)
    } else if program.is_text {
        vm.heap.string(String::from_utf8(out).unwrap_or_default())
    } else {
        vm.heap.make(ty::BYTES, Payload::Bytes(out))
    };
    Ok(vm.heap.tuple(vec![text, Value::Int(replaced)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each match begins where the one before it ended, not at the beginning of the text; a group goes back by no more than its match.
    #[test]
    fn marks_are_found_from_the_marks_before_them() {
        let text = "é".repeat(100);
        let mut places = Places::new(true);
        for index in 0..=100 {
            assert!(
                matches!(places.index_of(text.as_bytes(), 2 * index), Value::Int(found) if sizes::saturating(found) == index),
                "{index}"
            );
        }
        assert_eq!(places.passed, text.len());
        assert!(matches!(places.index_of(text.as_bytes(), 2 * 97), Value::Int(97)));
        assert_eq!(places.passed, text.len() + 6);
    }
}
