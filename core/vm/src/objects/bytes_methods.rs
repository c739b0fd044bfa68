//! Methods that `bytes` and `bytearray` share: searching, splitting, trimming, padding, case.

use super::bytes::{byte, bytes_like, content, first_place, receiver, same_sort};
use super::codec;
use crate::costs::{BYTES_HALVED, BYTES_JOINED_ITEM, BYTES_MADE, BYTES_PART, BYTES_REPLACED, HEX_WRITTEN, TAB_EXPANDED};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::objects::list;
use crate::payload::Payload;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::Iterate;
use crate::runtime::{Vm, allowance::Items};
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num::sizes;
use memchr::memmem;

const M: NativeKind = NativeKind::Method;

macro_rules! both {
    ($($name:literal $signature:literal $cycles:literal $function:path, $helper:literal;)*) => {
        /// Rows of methods that both types have.
        pub(crate) const ROWS: &[NativeRow] = &[
            $(
                NativeRow(M, concat!("bytes.", $name), $signature, $cycles, $function, $helper),
                NativeRow(M, concat!("bytearray.", $name), $signature, $cycles, $function, $helper),
            )*
            NativeRow(NativeKind::Static, "bytes.maketrans", "frm, to, /", 5, maketrans, ""),
            NativeRow(NativeKind::Static, "bytearray.maketrans", "frm, to, /", 5, maketrans, ""),
        ];
    };
}

both! {
    "capitalize" "self, /" 2 capitalize, "";
    "center" "self, width, fillchar=, /" 6 center, "retry_index";
    "count" "self, sub, start=, end=, /" 2 count, "retry_index";
    "decode" "self, encoding=, errors=" 3 decode, "";
    "endswith" "self, suffix, start=, end=, /" 2 endswith, "retry_index";
    "expandtabs" "self, tabsize=" 6 expandtabs, "retry_index";
    "find" "self, sub, start=, end=, /" 2 find, "retry_index";
    "hex" "self, sep=, bytes_per_sep=" 3 hex, "retry_index";
    "index" "self, sub, start=, end=, /" 2 index, "retry_index";
    "isalnum" "self, /" 2 isalnum, "";
    "isalpha" "self, /" 2 isalpha, "";
    "isascii" "self, /" 2 isascii, "";
    "isdigit" "self, /" 2 isdigit, "";
    "islower" "self, /" 2 islower, "";
    "isspace" "self, /" 2 isspace, "";
    "istitle" "self, /" 2 istitle, "";
    "isupper" "self, /" 2 isupper, "";
    "join" "self, iterable_of_bytes, /" 2 join, "retry_items";
    "ljust" "self, width, fillchar=, /" 6 ljust, "retry_index";
    "lower" "self, /" 2 lower, "";
    "lstrip" "self, bytes=, /" 2 lstrip, "";
    "partition" "self, sep, /" 8 partition, "";
    "removeprefix" "self, prefix, /" 2 removeprefix, "";
    "removesuffix" "self, suffix, /" 2 removesuffix, "";
    "replace" "self, old, new, count=, /" 2 replace, "retry_index";
    "rfind" "self, sub, start=, end=, /" 2 rfind, "retry_index";
    "rindex" "self, sub, start=, end=, /" 2 rindex, "retry_index";
    "rjust" "self, width, fillchar=, /" 6 rjust, "retry_index";
    "rpartition" "self, sep, /" 8 rpartition, "";
    "rsplit" "self, sep=, maxsplit=" 2 rsplit, "retry_index";
    "rstrip" "self, bytes=, /" 2 rstrip, "";
    "split" "self, sep=, maxsplit=" 2 split, "retry_index";
    "splitlines" "self, keepends=" 2 splitlines, "retry_index";
    "startswith" "self, prefix, start=, end=, /" 2 startswith, "retry_index";
    "strip" "self, bytes=, /" 2 strip, "";
    "swapcase" "self, /" 2 swapcase, "";
    "title" "self, /" 2 title, "";
    "translate" "self, table, /, delete=" 2 translate, "";
    "upper" "self, /" 2 upper, "";
    "zfill" "self, width, /" 6 zfill, "retry_index";
    "__len__" "self, /" 1 len, "";
    "__iter__" "self, /" 1 list::iter, "";
    "__getitem__" "self, key, /" 2 list::getitem, "";
    "__contains__" "self, key, /" 2 list::contains, "";
    "__repr__" "self, /" 2 super::tuple::repr, "";
    "__str__" "self, /" 2 super::tuple::repr, "";
    "__mod__" "self, value, /" 5 percent, "";
    "__rmod__" "self, value, /" 1 not_implemented, "";
    "__rmul__" "self, value, /" 1 super::mul, "";
}

fn int(value: usize) -> Value {
    Value::Int(i64::try_from(value).unwrap_or(i64::MAX))
}

fn percent(vm: &mut Vm, args: &[Value]) -> Outcome {
    super::percent::format_bytes(vm, args[0], args[1])
}

fn not_implemented(_: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::NotImplemented)
}

fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(int(match args[0].object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) => bytes.len(),
        _ => 0,
    }))
}

fn decode(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let text = codec::decode(vm, &bytes, args[1], args[2], "decode")?;
    Ok(vm.heap.string(text))
}

pub(super) fn hex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    vm.spend(HEX_WRITTEN.of(bytes.len()))?;
    vm.reserve(bytes.len().saturating_mul(3))?;
    let separator = if args[1].is_undefined() {
        None
    } else if let Some(text) = vm.heap.text(args[1]).map(str::to_owned) {
        Some(text)
    } else if let Some(bytes) = content(vm, args[1]) {
        Some(bytes.iter().map(|&byte| char::from(byte)).collect())
    } else {
        let message = format!("object of type '{}' has no len()", vm.heap.class_name(args[1]));
        return Err(vm.type_error(message));
    };
    if let Some(text) = &separator {
        if text.chars().count() != 1 {
            return Err(vm.value_error("sep must be length 1."));
        }
        if !text.is_ascii() {
            return Err(vm.value_error("sep must be ASCII."));
        }
    }
    let group = if args[2].is_undefined() { 1 } else { vm.whole(args[2])? };
    let size = sizes::index(group.unsigned_abs()).unwrap_or(usize::MAX);
    let mut text = String::with_capacity(bytes.len() * 2);
    for (index, byte) in bytes.iter().enumerate() {
        let edge = if group > 0 { (bytes.len() - index).is_multiple_of(size) } else { size > 0 && index.is_multiple_of(size) };
        if let Some(separator) = separator.as_ref().filter(|_| index > 0 && edge) {
            text.push_str(separator);
        }
        for digit in [byte >> 4, byte & 15] {
            text.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
        }
    }
    Ok(vm.heap.string(text))
}

fn join(vm: &mut Vm, args: &[Value]) -> Outcome {
    let separator = receiver(vm, args[0])?;
    if vm.special(args[1], nm::ITER).is_none() && vm.special(args[1], nm::GETITEM).is_none() {
        return Err(vm.type_error("can only join an iterable"));
    }
    let items = vm.collect(args[1])?;
    vm.owe(BYTES_JOINED_ITEM.of(items.len()));
    let mut bytes = Vec::new();
    for (index, &item) in items.iter().enumerate() {
        if index > 0 {
            bytes.extend(&separator);
        }
        match content(vm, item) {
            Some(part) => bytes.extend(part),
            None => {
                let message = format!("sequence item {index}: expected a bytes-like object, {} found", vm.heap.class_name(item));
                vm.heap.release_all(items);
                return Err(vm.type_error(message));
            }
        }
        vm.allow(bytes.len(), BYTES_MADE.of(bytes.len()))?;
    }
    vm.heap.release_all(items);
    vm.spend(BYTES_MADE.of(bytes.len()))?;
    same_sort(vm, args[0], bytes)
}

/// Where two optional positions lie in a sequence; `None` when the first lies past its end.
pub(super) fn bounds(vm: &mut Vm, start: Value, end: Value, length: usize) -> Outcome<Option<(usize, usize)>> {
    for part in [start, end] {
        if vm.python_method(part, nm::INDEX).is_some() {
            return Err(Throw::Fallback);
        }
    }
    let (first, _, count) = vm.slice_bounds(&[start.or(Value::None), end.or(Value::None), Value::None], length)?;
    if let Some(Number::Small(start)) = vm.heap.number(start) {
        if sizes::saturating(start) > length {
            return Ok(None);
        }
    }
    if count == 0 && vm.ends_before(end, first, length) {
        return Ok(None);
    }
    let first = sizes::saturating(first);
    Ok(Some((first, first + count)))
}

fn affix(vm: &mut Vm, args: &[Value], name: &str, test: fn(&[u8], &[u8]) -> bool) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let window = bounds(vm, args[2], args[3], bytes.len())?;
    let many = vm.heap.is_instance(args[1], ty::TUPLE);
    for index in 0..super::tuple::alternatives(vm, args[1]) {
        let candidate = super::tuple::alternative(vm, args[1], index, bytes.len())?;
        let Some(affix) = content(vm, candidate) else {
            super::views::check_contiguous(vm, candidate)?;
            let class = vm.heap.class_name(candidate);
            let message = if many {
                format!("a bytes-like object is required, not '{class}'")
            } else {
                format!("{name} first arg must be bytes or a tuple of bytes, not {class}")
            };
            return Err(vm.type_error(message));
        };
        if window.is_some_and(|(first, end)| test(&bytes[first..end], &affix)) {
            return Ok(Value::truth(true));
        }
    }
    Ok(Value::truth(false))
}

fn startswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, "startswith", <[u8]>::starts_with)
}

fn endswith(vm: &mut Vm, args: &[Value]) -> Outcome {
    affix(vm, args, "endswith", <[u8]>::ends_with)
}

/// What is searched for: bytes, or one byte by its number.
fn needle(vm: &mut Vm, value: Value) -> Outcome<Vec<u8>> {
    if let Some(bytes) = content(vm, value) {
        return Ok(bytes);
    }
    if vm.heap.as_int(value).is_some() || vm.python_method(value, nm::INDEX).is_some() {
        return Ok(vec![byte(vm, value, "byte must be in range(0, 256)")?]);
    }
    super::views::check_contiguous(vm, value)?;
    let message = format!("argument should be integer or bytes-like object, not '{}'", vm.heap.class_name(value));
    Err(vm.type_error(message))
}

/// Where `needle` begins first, or last, in `bytes`.
fn search(bytes: &[u8], needle: &[u8], last: bool) -> Option<usize> {
    if needle.is_empty() {
        return Some(if last { bytes.len() } else { 0 });
    }
    if last && needle.len() <= bytes.len() { memmem::rfind(bytes, needle) } else { first_place(bytes, needle) }
}

fn position(vm: &mut Vm, args: &[Value], last: bool) -> Outcome<Option<usize>> {
    let bytes = receiver(vm, args[0])?;
    let needle = needle(vm, args[1])?;
    let Some((first, end)) = bounds(vm, args[2], args[3], bytes.len())? else { return Ok(None) };
    vm.spend(BYTES_MADE.of(end - first))?;
    Ok(search(&bytes[first..end], &needle, last).map(|at| first + at))
}

fn find(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(position(vm, args, false)?.map_or(Value::Int(-1), int))
}

fn rfind(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(position(vm, args, true)?.map_or(Value::Int(-1), int))
}

fn index(vm: &mut Vm, args: &[Value]) -> Outcome {
    let found = position(vm, args, false)?;
    found.map(int).ok_or_else(|| vm.value_error("subsection not found"))
}

fn rindex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let found = position(vm, args, true)?;
    found.map(int).ok_or_else(|| vm.value_error("subsection not found"))
}

/// Where a separator begins in `bytes`, the first times or the last times.
fn cuts<'a>(bytes: &'a [u8], separator: &'a [u8], most: usize, last: bool) -> impl Iterator<Item = usize> + 'a {
    // To prepare a search takes the length of what is looked for.
    let most = if separator.len() > bytes.len() { 0 } else { most };
    let (forwards, backwards) = match last {
        true => (None, Some(memmem::rfind_iter(bytes, separator))),
        false => (Some(memmem::find_iter(bytes, separator)), None),
    };
    forwards.into_iter().flatten().chain(backwards.into_iter().flatten()).take(most)
}

/// Parts of `bytes` between separators, at most `most` cuts from the left.
fn pieces<'a>(bytes: &'a [u8], separator: &'a [u8], most: usize) -> impl Iterator<Item = &'a [u8]> {
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

fn count(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let needle = needle(vm, args[1])?;
    let Some((first, end)) = bounds(vm, args[2], args[3], bytes.len())? else { return Ok(Value::Int(0)) };
    vm.spend(BYTES_MADE.of(end - first))?;
    let count = if needle.is_empty() { end - first + 1 } else { cuts(&bytes[first..end], &needle, usize::MAX, false).count() };
    Ok(int(count))
}

/// What `bytes.split()` takes for blank.
fn is_blank(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn most(vm: &mut Vm, value: Value) -> Outcome<usize> {
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
    super::cut(bytes.trim_blank_start(), most, |rest| {
        let (part, after) = rest.split_at(rest.iter().position(is_blank).unwrap_or(rest.len()));
        (part, after.trim_blank_start())
    })
}

/// The same with cuts from the right: the last part first.
fn between_blanks_from_end(bytes: &[u8], most: usize) -> impl Iterator<Item = &[u8]> {
    super::cut(bytes.trim_blank_end(), most, |rest| {
        let (before, part) = rest.split_at(rest.iter().rposition(is_blank).map_or(0, |at| at + 1));
        (part, before.trim_blank_end())
    })
}

fn split(vm: &mut Vm, args: &[Value]) -> Outcome {
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

fn rsplit(vm: &mut Vm, args: &[Value]) -> Outcome {
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

fn splitlines(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let keep = vm.integer_option(args[1])?;
    list_of(vm, args[0], lines(&bytes, keep))
}

fn three(vm: &mut Vm, like: Value, parts: [&[u8]; 3]) -> Outcome {
    let mut items = Vec::with_capacity(3);
    for part in parts {
        items.push(same_sort(vm, like, part.to_vec())?);
    }
    Ok(vm.heap.tuple(items))
}

fn parted(vm: &mut Vm, args: &[Value], last: bool) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let needle = bytes_like(vm, args[1])?;
    if needle.is_empty() {
        return Err(vm.value_error("empty separator"));
    }
    vm.spend(BYTES_MADE.of(bytes.len()))?;
    match search(&bytes, &needle, last) {
        Some(at) => three(vm, args[0], [&bytes[..at], &needle, &bytes[at + needle.len()..]]),
        None if last => three(vm, args[0], [b"", b"", &bytes]),
        None => three(vm, args[0], [&bytes, b"", b""]),
    }
}

fn partition(vm: &mut Vm, args: &[Value]) -> Outcome {
    parted(vm, args, false)
}

fn rpartition(vm: &mut Vm, args: &[Value]) -> Outcome {
    parted(vm, args, true)
}

fn replace(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let (old, new) = (bytes_like(vm, args[1])?, bytes_like(vm, args[2])?);
    let most = most(vm, args[3])?;
    vm.spend(BYTES_MADE.of(bytes.len()))?;
    let count = if old.is_empty() { most.min(bytes.len() + 1) } else { cuts(&bytes, &old, most, false).count() };
    let size = bytes.len().saturating_sub(count * old.len()).saturating_add(count.saturating_mul(new.len()));
    vm.spend(BYTES_MADE.of(size) + BYTES_REPLACED.of(count))?;
    vm.reserve(size)?;
    let mut out = Vec::with_capacity(size);
    if old.is_empty() {
        for (index, &byte) in bytes.iter().enumerate() {
            if index < count {
                out.extend(&new);
            }
            out.push(byte);
        }
        if count > bytes.len() {
            out.extend(&new);
        }
    } else {
        for (index, piece) in pieces(&bytes, &old, most).enumerate() {
            if index > 0 {
                out.extend(&new);
            }
            out.extend(piece);
        }
    }
    same_sort(vm, args[0], out)
}

fn trimmed(vm: &mut Vm, args: &[Value], left: bool, right: bool) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let chars = if args[1].is_undefined() || args[1].is_none() { b" \t\n\r\x0b\x0c".to_vec() } else { bytes_like(vm, args[1])? };
    vm.spend(BYTES_MADE.of(chars.len()))?;
    let mut goes = [false; 256];
    chars.iter().for_each(|&byte| goes[usize::from(byte)] = true);
    let mut part = bytes.as_slice();
    while left && part.first().is_some_and(|&byte| goes[usize::from(byte)]) {
        part = &part[1..];
    }
    while right && part.last().is_some_and(|&byte| goes[usize::from(byte)]) {
        part = &part[..part.len() - 1];
    }
    same_sort(vm, args[0], part.to_vec())
}

fn strip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, true, true)
}

fn lstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, true, false)
}

fn rstrip(vm: &mut Vm, args: &[Value]) -> Outcome {
    trimmed(vm, args, false, true)
}

/// The receiver, what goes before it and what goes after it.
fn padded(vm: &mut Vm, args: &[Value], name: &str, left: impl Fn(usize, usize) -> usize) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let width = sizes::saturating(vm.whole(args[1])?);
    let fill = match args.get(2).copied().filter(|fill| !fill.is_undefined()) {
        None => b' ',
        Some(fill) => match content(vm, fill).as_deref() {
            Some(&[only]) => only,
            _ => {
                let message = format!("{name}() argument 2 must be a byte string of length 1, not {}", vm.heap.class_name(fill));
                return Err(vm.type_error(message));
            }
        },
    };
    let missing = width.saturating_sub(bytes.len());
    vm.reserve(missing)?;
    vm.spend(BYTES_MADE.of(missing))?;
    let left = left(missing, width);
    let mut out = vec![fill; left];
    out.extend(bytes);
    out.resize(out.len() + missing - left, fill);
    same_sort(vm, args[0], out)
}

fn rjust(vm: &mut Vm, args: &[Value]) -> Outcome {
    padded(vm, args, "rjust", |missing, _| missing)
}

fn ljust(vm: &mut Vm, args: &[Value]) -> Outcome {
    padded(vm, args, "ljust", |_, _| 0)
}

fn center(vm: &mut Vm, args: &[Value]) -> Outcome {
    padded(vm, args, "center", |missing, width| missing / 2 + (missing & width & 1))
}

fn zfill(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let width = sizes::saturating(vm.whole(args[1])?);
    let missing = width.saturating_sub(bytes.len());
    vm.reserve(missing)?;
    vm.spend(BYTES_MADE.of(missing))?;
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut out = bytes[..sign].to_vec();
    out.resize(sign + missing, b'0');
    out.extend(&bytes[sign..]);
    same_sort(vm, args[0], out)
}

fn expandtabs(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let size = if args[1].is_undefined() { 8 } else { vm.whole(args[1])? };
    let size = sizes::saturating(size);
    vm.spend(BYTES_HALVED.of(bytes.len()))?;
    let (mut out, mut column) = (Vec::new(), 0);
    for byte in bytes {
        match byte {
            b'\t' if size > 0 => {
                let blanks = size - column % size;
                vm.spend(BYTES_MADE.of(blanks) + TAB_EXPANDED.once())?;
                vm.reserve(out.len().saturating_add(blanks))?;
                out.resize(out.len() + blanks, b' ');
                column += blanks;
            }
            b'\t' => {}
            b'\n' | b'\r' => {
                out.push(byte);
                column = 0;
            }
            byte => {
                out.push(byte);
                column += 1;
            }
        }
    }
    same_sort(vm, args[0], out)
}

fn removeprefix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let prefix = bytes_like(vm, args[1])?;
    let rest = bytes.strip_prefix(prefix.as_slice()).unwrap_or(&bytes).to_vec();
    same_sort(vm, args[0], rest)
}

fn removesuffix(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let suffix = bytes_like(vm, args[1])?;
    let rest = bytes.strip_suffix(suffix.as_slice()).unwrap_or(&bytes).to_vec();
    same_sort(vm, args[0], rest)
}

macro_rules! mapped {
    ($($name:ident |$bytes:ident| $result:expr;)*) => {
        $(fn $name(vm: &mut Vm, args: &[Value]) -> Outcome {
            let $bytes = receiver(vm, args[0])?;
            let result: Vec<u8> = $result;
            same_sort(vm, args[0], result)
        })*
    };
}

mapped! {
    lower |bytes| bytes.to_ascii_lowercase();
    upper |bytes| bytes.to_ascii_uppercase();
    swapcase |bytes| bytes.iter().map(|byte| if byte.is_ascii_lowercase() { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() }).collect();
    capitalize |bytes| {
        let mut bytes = bytes.to_ascii_lowercase();
        if let Some(first) = bytes.first_mut() {
            first.make_ascii_uppercase();
        }
        bytes
    };
    title |bytes| {
        let mut inside = false;
        bytes.iter().map(|byte| {
            let mapped = if inside { byte.to_ascii_lowercase() } else { byte.to_ascii_uppercase() };
            inside = byte.is_ascii_alphabetic();
            mapped
        }).collect()
    };
}

macro_rules! tested {
    ($($name:ident |$bytes:ident| $result:expr;)*) => {
        $(fn $name(vm: &mut Vm, args: &[Value]) -> Outcome {
            let $bytes = receiver(vm, args[0])?;
            Ok(Value::truth($result))
        })*
    };
}

tested! {
    isascii |bytes| bytes.is_ascii();
    isdigit |bytes| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    isalpha |bytes| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_alphabetic);
    isalnum |bytes| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_alphanumeric);
    isspace |bytes| !bytes.is_empty() && bytes.iter().all(is_blank);
    islower |bytes| bytes.iter().any(u8::is_ascii_lowercase) && !bytes.iter().any(u8::is_ascii_uppercase);
    isupper |bytes| bytes.iter().any(u8::is_ascii_uppercase) && !bytes.iter().any(u8::is_ascii_lowercase);
    istitle |bytes| {
        let (mut inside, mut cased, mut fine) = (false, false, true);
        for byte in &bytes {
            fine &= if inside { !byte.is_ascii_uppercase() } else { !byte.is_ascii_lowercase() };
            inside = byte.is_ascii_alphabetic();
            cased |= inside;
        }
        fine && cased
    };
}

fn maketrans(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (from, to) = (bytes_like(vm, args[0])?, bytes_like(vm, args[1])?);
    if from.len() != to.len() {
        return Err(vm.value_error("maketrans arguments must have same length"));
    }
    let mut table: Vec<u8> = (0..=255).collect();
    for (from, to) in from.into_iter().zip(to) {
        table[usize::from(from)] = to;
    }
    Ok(vm.heap.make(ty::BYTES, Payload::Bytes(table)))
}

fn translate(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bytes = receiver(vm, args[0])?;
    let table = if args[1].is_none() { (0..=255).collect() } else { bytes_like(vm, args[1])? };
    if table.len() != 256 {
        return Err(vm.value_error("translation table must be 256 characters long"));
    }
    let doomed = if args[2].is_undefined() { Vec::new() } else { bytes_like(vm, args[2])? };
    vm.spend(BYTES_MADE.of(bytes.len()) + BYTES_MADE.of(doomed.len()))?;
    let mut gone = [false; 256];
    doomed.iter().for_each(|&byte| gone[usize::from(byte)] = true);
    let result = bytes.iter().filter(|&&byte| !gone[usize::from(byte)]).map(|&byte| table[usize::from(byte)]).collect();
    same_sort(vm, args[0], result)
}
