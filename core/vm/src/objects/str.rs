//! `str`.

use crate::costs::{STRIP_SET, TEXT_CASED, TEXT_CASED_WIDE, TEXT_HALVED, TEXT_PART, TEXT_PASSED, TEXT_PASSED_WIDE, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::objects::{ascii, codec, list};
use crate::payload::{Payload, Str};
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Display, Iterate};
use crate::runtime::{Vm, allowance::Items};
use crate::types::ty;
use crate::value::Value;
use crate::window::moved;
use cowboy_num::sizes;
use cowboy_unicode::{self as unicode, is_space as is_python_space};
use std::collections::BTreeSet;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;

/// Rows of `str`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "str.__new__", "cls, object=, encoding=, errors=", 2, new, ""),
    NativeRow(M, "str.capitalize", "self, /", 6, capitalize, ""),
    NativeRow(M, "str.casefold", "self, /", 2, casefold, ""),
    NativeRow(M, "str.center", "self, width, fillchar=, /", 2, center, "retry_index"),
    NativeRow(M, "str.count", "self, sub, start=, end=, /", 2, count, "retry_index"),
    NativeRow(M, "str.encode", "self, encoding=, errors=", 2, encode, ""),
    NativeRow(M, "str.endswith", "self, suffix, start=, end=, /", 2, endswith, "retry_index"),
    NativeRow(M, "str.expandtabs", "self, tabsize=", 2, expandtabs, "retry_index"),
    NativeRow(M, "str.find", "self, sub, start=, end=, /", 2, find, "retry_index"),
    NativeRow(M, "str.format", "self, /, *args, **kwargs", 5, format, ""),
    NativeRow(M, "str.format_map", "self, mapping, /", 5, format_map, ""),
    NativeRow(M, "str.index", "self, sub, start=, end=, /", 2, index, "retry_index"),
    NativeRow(M, "str.isalnum", "self, /", 2, isalnum, ""),
    NativeRow(M, "str.isalpha", "self, /", 2, isalpha, ""),
    NativeRow(M, "str.isascii", "self, /", 2, isascii, ""),
    NativeRow(M, "str.isdecimal", "self, /", 2, isdecimal, ""),
    NativeRow(M, "str.isdigit", "self, /", 2, isdigit, ""),
    NativeRow(M, "str.isidentifier", "self, /", 2, isidentifier, ""),
    NativeRow(M, "str.islower", "self, /", 6, islower, ""),
    NativeRow(M, "str.isnumeric", "self, /", 2, isnumeric, ""),
    NativeRow(M, "str.isprintable", "self, /", 2, isprintable, ""),
    NativeRow(M, "str.isspace", "self, /", 2, isspace, ""),
    NativeRow(M, "str.istitle", "self, /", 6, istitle, ""),
    NativeRow(M, "str.isupper", "self, /", 6, isupper, ""),
    NativeRow(M, "str.join", "self, iterable, /", 2, join, "str_join"),
    NativeRow(M, "str.ljust", "self, width, fillchar=, /", 2, ljust, "retry_index"),
    NativeRow(M, "str.lower", "self, /", 2, lower, ""),
    NativeRow(M, "str.lstrip", "self, chars=, /", 2, lstrip, ""),
    NativeRow(S, "str.maketrans", "x, y=, z=, /", 5, maketrans, ""),
    NativeRow(M, "str.partition", "self, sep, /", 5, partition, ""),
    NativeRow(M, "str.removeprefix", "self, prefix, /", 2, removeprefix, ""),
    NativeRow(M, "str.removesuffix", "self, suffix, /", 2, removesuffix, ""),
    NativeRow(M, "str.replace", "self, old, new, count=, /", 2, replace, "retry_index"),
    NativeRow(M, "str.rfind", "self, sub, start=, end=, /", 2, rfind, "retry_index"),
    NativeRow(M, "str.rindex", "self, sub, start=, end=, /", 2, rindex, "retry_index"),
    NativeRow(M, "str.rjust", "self, width, fillchar=, /", 2, rjust, "retry_index"),
    NativeRow(M, "str.rpartition", "self, sep, /", 5, rpartition, ""),
    NativeRow(M, "str.rsplit", "self, sep=, maxsplit=", 6, rsplit, "retry_index"),
    NativeRow(M, "str.rstrip", "self, chars=, /", 2, rstrip, ""),
    NativeRow(M, "str.split", "self, sep=, maxsplit=", 4, split, "retry_index"),
    NativeRow(M, "str.splitlines", "self, keepends=", 6, splitlines, "retry_index"),
    NativeRow(M, "str.startswith", "self, prefix, start=, end=, /", 2, startswith, "retry_index"),
    NativeRow(M, "str.strip", "self, chars=, /", 2, strip, ""),
    NativeRow(M, "str.swapcase", "self, /", 8, swapcase, ""),
    NativeRow(M, "str.title", "self, /", 8, title, ""),
    NativeRow(M, "str.translate", "self, table, /", 2, translate, ""),
    NativeRow(M, "str.upper", "self, /", 2, upper, ""),
    NativeRow(M, "str.zfill", "self, width, /", 2, zfill, "retry_index"),
    NativeRow(M, "str.__len__", "self, /", 1, len, ""),
    NativeRow(M, "str.__iter__", "self, /", 1, list::iter, ""),
    NativeRow(M, "str.__getitem__", "self, key, /", 2, list::getitem, ""),
    NativeRow(M, "str.__contains__", "self, key, /", 2, list::contains, ""),
    NativeRow(M, "str.__hash__", "self, /", 2, hash, ""),
    NativeRow(M, "str.__repr__", "self, /", 2, super::tuple::repr, ""),
    NativeRow(M, "str.__str__", "self, /", 1, own_str, ""),
    NativeRow(M, "str.__format__", "self, format_spec, /", 2, own_format, ""),
];

/// The text of the receiver.
fn text(vm: &Vm, value: Value) -> String {
    vm.heap.text(value).unwrap_or_default().to_owned()
}

/// Charges a pass over a text.
fn receiver(vm: &mut Vm, value: Value) -> Outcome<String> {
    let (length, is_ascii) = vm.heap.text(value).map_or((0, true), |text| (text.len(), text.is_ascii()));
    vm.spend(if is_ascii { TEXT_PASSED.of(length) } else { TEXT_PASSED_WIDE.rounded_up(length) })?;
    Ok(text(vm, value))
}

/// An argument that has to be text.
fn argument(vm: &mut Vm, value: Value, what: &str) -> Outcome<String> {
    // What is searched for is prepared first, in time that is linear in it.
    let length = vm.heap.text(value).map_or(0, str::len);
    vm.spend(TEXT_PASSED.of(length))?;
    match vm.heap.text(value) {
        Some(text) => Ok(text.to_owned()),
        None => {
            let message = format!("{what}must be str, not {}", vm.heap.class_name(value));
            Err(vm.type_error(message))
        }
    }
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    if !args[2].is_undefined() || !args[3].is_undefined() {
        if vm.heap.text(args[1]).is_some() {
            return Err(vm.type_error("decoding str is not supported"));
        }
        let Some(bytes) = super::bytes::content(vm, if args[1].is_undefined() { Value::Obj(crate::types::EMPTY_BYTES) } else { args[1] })
        else {
            let message = format!("decoding to str: need a bytes-like object, {} found", vm.heap.class_name(args[1]));
            return Err(vm.type_error(message));
        };
        let text = codec::decode(vm, &bytes, args[2], args[3], "str")?;
        if class == ty::STR {
            return Ok(vm.heap.string(text));
        }
        return Ok(vm.heap.wrap_builtin(class, Payload::Str(Str::new(text))));
    }
    if args[1].is_undefined() {
        return Ok(vm.heap.wrap_builtin(class, Payload::Str(Str::new(String::new()))));
    }
    if class == ty::STR {
        return vm.str_value(args[1]);
    }
    let value = match vm.str_value(args[1]) {
        Ok(value) => value,
        Err(Throw::Call(call)) => {
            vm.heap.release_all(call.arguments);
            vm.heap.release(call.function);
            return vm.call_helper("str_subclass", &[args[0], args[1]]);
        }
        Err(throw) => return Err(throw),
    };
    let text = text(vm, value);
    vm.heap.release(value);
    Ok(vm.heap.wrap_builtin(class, Payload::Str(Str::new(text))))
}

/// `a + b`
pub(crate) fn concatenate(vm: &mut Vm, left: Value, right: Value) -> Outcome {
    let size = vm.heap.text(left).map_or(0, str::len) + vm.heap.text(right).map_or(0, str::len);
    vm.spend(TEXT_WRITTEN.of(size))?;
    vm.reserve(size)?;
    let mut joined = vm.heap.spares.empty_text(size);
    joined.push_str(vm.heap.text(left).unwrap_or_default());
    joined.push_str(vm.heap.text(right).unwrap_or_default());
    Ok(vm.heap.string(moved(joined)))
}

fn own_str(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.class_of(args[0]) == ty::STR {
        return Ok(vm.heap.retain(args[0]));
    }
    let text = receiver(vm, args[0])?;
    Ok(vm.heap.string(text))
}

fn own_format(vm: &mut Vm, args: &[Value]) -> Outcome {
    let spec = text(vm, args[1]);
    if spec.is_empty() {
        return vm.str_value(args[0]);
    }
    vm.format_builtin(args[0], &spec)
}

fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Value::Obj(object) = args[0] else { return Ok(Value::Int(0)) };
    let count = vm.heap.sequence_word(object).1;
    Ok(Value::Int(i64::try_from(count).unwrap_or(i64::MAX)))
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    Ok(Value::Int(cowboy_num::hash::hash_str(&text)))
}

macro_rules! mapped {
    ($($name:ident |$text:ident| $result:expr;)*) => {
        $(fn $name(vm: &mut Vm, args: &[Value]) -> Outcome {
            let $text = receiver(vm, args[0])?;
            vm.spend(TEXT_CASED_WIDE.of($text.len()))?;
            let result: String = $result;
            Ok(vm.heap.string(result))
        })*
    };
}

fn lower(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::recase(vm, args, false, lower_any)
}

fn upper(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::recase(vm, args, true, upper_any)
}

/// Another case of a text: half the price where it is ASCII.
fn recased(vm: &mut Vm, args: &[Value], change: fn(&str) -> String) -> Outcome {
    let text = receiver(vm, args[0])?;
    vm.spend(if text.is_ascii() { TEXT_CASED } else { TEXT_CASED_WIDE }.of(text.len()))?;
    Ok(vm.heap.string(change(&text)))
}

fn lower_any(vm: &mut Vm, args: &[Value]) -> Outcome {
    recased(vm, args, unicode::lower)
}

fn upper_any(vm: &mut Vm, args: &[Value]) -> Outcome {
    recased(vm, args, unicode::upper)
}

mapped! {
    casefold |text| unicode::casefold(&text);
    capitalize |text| unicode::capitalize(&text);
    swapcase |text| unicode::swapcase(&text);
    title |text| unicode::title(&text);
}

macro_rules! tested {
    ($($name:ident |$text:ident| $result:expr;)*) => {
        $(fn $name(vm: &mut Vm, args: &[Value]) -> Outcome {
            let $text = receiver(vm, args[0])?;
            let length = $text.len();
            vm.spend(TEXT_CASED.of(length))?;
            Ok(Value::truth($result))
        })*
    };
}

tested! {
    isalnum |text| !text.is_empty() && text.chars().all(unicode::is_alnum);
    isalpha |text| !text.is_empty() && text.chars().all(unicode::is_alpha);
    isascii |text| text.is_ascii();
    isdecimal |text| !text.is_empty() && text.chars().all(unicode::is_decimal);
    isdigit |text| !text.is_empty() && text.chars().all(unicode::is_digit);
    isnumeric |text| !text.is_empty() && text.chars().all(unicode::is_numeric);
    isprintable |text| text.chars().all(unicode::is_printable);
    isspace |text| !text.is_empty() && text.chars().all(is_python_space);
    islower |text| unicode::is_lower_text(&text);
    isupper |text| unicode::is_upper_text(&text);
    istitle |text| unicode::is_title_text(&text);
    isidentifier |text| unicode::is_identifier(&text);
}

fn fill(vm: &mut Vm, args: &[Value]) -> Outcome<(String, usize, char)> {
    let text = receiver(vm, args[0])?;
    let width = vm.whole(args[1])?;
    let fill = if args[2].is_undefined() {
        ' '
    } else {
        let fill = argument(vm, args[2], "The fill character ")?;
        let mut characters = fill.chars();
        match (characters.next(), characters.next()) {
            (Some(only), None) => only,
            _ => return Err(vm.type_error("The fill character must be exactly one character long")),
        }
    };
    let missing = sizes::saturating(width).saturating_sub(text.chars().count());
    vm.spend(TEXT_WRITTEN.of(missing))?;
    vm.reserve(missing)?;
    Ok((text, missing, fill))
}

fn pad(fill: char, count: usize) -> String {
    std::iter::repeat_n(fill, count).collect()
}

fn ljust(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (text, missing, fill) = fill(vm, args)?;
    Ok(vm.heap.string(format!("{text}{}", pad(fill, missing))))
}

fn rjust(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (text, missing, fill) = fill(vm, args)?;
    Ok(vm.heap.string(format!("{}{text}", pad(fill, missing))))
}

fn center(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (text, missing, fill) = fill(vm, args)?;
    let width = missing + text.chars().count();
    let left = missing / 2 + (missing & width & 1);
    Ok(vm.heap.string(format!("{}{text}{}", pad(fill, left), pad(fill, missing - left))))
}

fn zfill(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (text, missing, _) = fill(vm, &[args[0], args[1], Value::Undefined])?;
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (&text[..1], rest),
        None => ("", text.as_str()),
    };
    Ok(vm.heap.string(format!("{sign}{}{digits}", pad('0', missing))))
}

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

fn find(vm: &mut Vm, args: &[Value]) -> Outcome {
    position(vm, args, false).map(found)
}

fn rfind(vm: &mut Vm, args: &[Value]) -> Outcome {
    position(vm, args, true).map(found)
}

fn index(vm: &mut Vm, args: &[Value]) -> Outcome {
    match position(vm, args, false)? {
        None => Err(vm.value_error("substring not found")),
        position => Ok(found(position)),
    }
}

fn rindex(vm: &mut Vm, args: &[Value]) -> Outcome {
    match position(vm, args, true)? {
        None => Err(vm.value_error("substring not found")),
        position => Ok(found(position)),
    }
}

fn count(vm: &mut Vm, args: &[Value]) -> Outcome {
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
    for index in 0..super::tuple::alternatives(vm, args[1]) {
        let candidate = super::tuple::alternative(vm, args[1], index, part.len())?;
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

fn startswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, "startswith", |text, prefix| text.starts_with(prefix))
}

fn endswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, "endswith", |text, suffix| text.ends_with(suffix))
}

fn removeprefix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let prefix = argument(vm, args[1], "removeprefix() argument ")?;
    let rest = text.strip_prefix(prefix.as_str()).unwrap_or(&text).to_owned();
    Ok(vm.heap.string(rest))
}

fn removesuffix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let suffix = argument(vm, args[1], "removesuffix() argument ")?;
    let rest = text.strip_suffix(suffix.as_str()).unwrap_or(&text).to_owned();
    Ok(vm.heap.string(rest))
}

fn stripped(vm: &mut Vm, args: &[Value], left: bool, right: bool) -> Outcome {
    let text = receiver(vm, args[0])?;
    let chars = if args[1].is_undefined() || args[1].is_none() {
        None
    } else {
        let Some(chars) = vm.heap.text(args[1]) else {
            let name = match (left, right) {
                (true, true) => "strip",
                (true, false) => "lstrip",
                _ => "rstrip",
            };
            return Err(vm.type_error(format!("{name} arg must be None or str")));
        };
        let chars = chars.to_owned();
        vm.spend(TEXT_PASSED.of(chars.len()))?;
        Some(chars)
    };
    // What goes is looked up for each character: in a set, however long the argument is.
    if let Some(chars) = chars.as_ref().filter(|chars| !(text.is_ascii() && chars.is_ascii())) {
        vm.spend(STRIP_SET.of(chars.len()))?;
    }
    let chars = chars.map(|chars| chars.chars().collect::<BTreeSet<char>>());
    let goes = |c: char| match &chars {
        Some(chars) => chars.contains(&c),
        None => is_python_space(c),
    };
    let mut part = text.as_str();
    if left {
        part = part.trim_start_matches(goes);
    }
    if right {
        part = part.trim_end_matches(goes);
    }
    let part = part.to_owned();
    Ok(vm.heap.string(part))
}

fn strip(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::strip(vm, args, true, true, stripped)
}

fn lstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::strip(vm, args, true, false, stripped)
}

fn rstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    ascii::strip(vm, args, false, true, stripped)
}

fn replace(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let old = argument(vm, args[1], "replace() argument 1 ")?;
    let new = argument(vm, args[2], "replace() argument 2 ")?;
    let most = if args[3].is_undefined() { -1 } else { vm.whole(args[3])? };
    let occurrences = if old.is_empty() { text.chars().count() + 1 } else { text.matches(&old).count() };
    let count = sizes::index(most).unwrap_or(usize::MAX).min(occurrences);
    let size = text.len().saturating_add(count.saturating_mul(new.len()));
    vm.spend(TEXT_WRITTEN.of(size))?;
    vm.reserve(size)?;
    let result = text.replacen(&old, &new, count);
    Ok(vm.heap.string(result))
}

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
    super::cut(text.trim_start_matches(is_python_space), most, |rest| {
        let (part, after) = rest.split_at(rest.find(is_python_space).unwrap_or(rest.len()));
        (part, after.trim_start_matches(is_python_space))
    })
}

/// The same with cuts from the right: the last part first.
fn rsplit_blanks(text: &str, most: usize) -> impl Iterator<Item = &str> {
    super::cut(text.trim_end_matches(is_python_space), most, |rest| {
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

fn split(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(outcome) = ascii::split(vm, args) {
        return outcome;
    }
    let text = receiver(vm, args[0])?;
    let most = most(vm, args[2])?;
    match separator(vm, args[1])? {
        Some(separator) => texts(vm, text.splitn(most.saturating_add(1), &separator)),
        None => texts(vm, split_blanks(&text, most)),
    }
}

fn rsplit(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let most = most(vm, args[2])?;
    match separator(vm, args[1])? {
        Some(separator) => texts_from_end(vm, text.rsplitn(most.saturating_add(1), &separator)),
        None => texts_from_end(vm, rsplit_blanks(&text, most)),
    }
}

fn splitlines(vm: &mut Vm, args: &[Value]) -> Outcome {
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

fn partition(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let Some(separator) = separator(vm, args[1])? else { return Err(vm.type_error("must be str, not NoneType")) };
    match text.split_once(&separator) {
        Some((before, after)) => three(vm, [before, &separator, after]),
        None => three(vm, [&text, "", ""]),
    }
}

fn rpartition(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let Some(separator) = separator(vm, args[1])? else { return Err(vm.type_error("must be str, not NoneType")) };
    match text.rsplit_once(&separator) {
        Some((before, after)) => three(vm, [before, &separator, after]),
        None => three(vm, ["", "", &text]),
    }
}

fn join(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(outcome) = ascii::join(vm, args) {
        return outcome;
    }
    let separator = argument(vm, args[0], "")?;
    let items = match vm.collect(args[1]) {
        Ok(items) => items,
        Err(Throw::Raise(exception)) if vm.special(args[1], crate::types::nm::ITER).is_none() => {
            vm.heap.release(exception);
            return Err(vm.type_error("can only join an iterable"));
        }
        Err(throw) => return Err(throw),
    };
    let mut size = separator.len().saturating_mul(items.len());
    for (index, &item) in items.iter().enumerate() {
        match vm.heap.text(item) {
            Some(text) => size += text.len(),
            None => {
                let message = format!("sequence item {index}: expected str instance, {} found", vm.heap.class_name(item));
                return Err(vm.type_error(message));
            }
        }
    }
    vm.spend(TEXT_WRITTEN.of(size))?;
    // One text alone is the result itself.
    if let [one] = items[..] {
        if vm.heap.class_of(one) == ty::STR {
            return Ok(one);
        }
    }
    vm.reserve(size)?;
    let mut joined = String::with_capacity(size);
    for (index, &item) in items.iter().enumerate() {
        if index > 0 {
            joined.push_str(&separator);
        }
        joined.push_str(vm.heap.text(item).unwrap_or_default());
    }
    vm.heap.release_all(items);
    Ok(vm.heap.string(joined))
}

fn expandtabs(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = receiver(vm, args[0])?;
    let size = if args[1].is_undefined() { 8 } else { vm.whole(args[1])? };
    let size = sizes::saturating(size);
    vm.spend(TEXT_HALVED.of(text.len()))?;
    let (mut result, mut column, mut rest) = (String::new(), 0, text.as_str());
    while let Some(at) = rest.find(['\t', '\n', '\r']) {
        let (before, end) = (&rest[..at], &rest[at..=at]);
        vm.write(&mut result, before)?;
        vm.spend(TEXT_PART.once())?;
        if end == "\t" {
            column += before.chars().count();
            let blanks = if size > 0 { size - column % size } else { 0 };
            vm.spend(TEXT_WRITTEN.of(blanks))?;
            vm.reserve(result.len().saturating_add(blanks))?;
            result.extend(std::iter::repeat_n(' ', blanks));
            column += blanks;
        } else {
            vm.write(&mut result, end)?;
            column = 0;
        }
        rest = &rest[at + 1..];
    }
    vm.write(&mut result, rest)?;
    Ok(vm.heap.string(result))
}

fn encode(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = codec::encode(vm, args[0], args[1], args[2], "encode")?;
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(bytes)))
}

fn maketrans(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("maketrans", &[args[0], args[1].or(Value::None), args[2].or(Value::None)])
}

fn translate(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("translate", &[args[0], args[1]])
}

fn format(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(value) = super::template::format(vm, args[0], &args[2..], args[1])? {
        return Ok(value);
    }
    let positional = vm.heap.retain_all(&args[2..]);
    let positional = vm.heap.tuple(positional);
    let outcome = vm.call_helper("str_format", &[args[0], positional, args[1]]);
    vm.heap.release(positional);
    outcome
}

fn format_map(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("str_format", &[args[0], Value::None, args[1]])
}
