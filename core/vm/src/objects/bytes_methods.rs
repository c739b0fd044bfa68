//! Methods that `bytes` and `bytearray` share: searching, splitting, trimming, padding, case.

mod case;
mod search;
mod split;
mod trim;

use super::bytes::{bytes_like, content, receiver, same_sort};
use super::codec;
use crate::costs::{BYTES_JOINED_ITEM, BYTES_MADE, BYTES_REPLACED, HEX_WRITTEN};
use crate::error::Outcome;
use crate::objects::list;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::Iterate;
use crate::types::{nm, ty};
use crate::value::Value;
use case::{capitalize, isalnum, isalpha, isascii, isdigit, islower, isspace, istitle, isupper, lower, swapcase, title, upper};
use cowboy_num::sizes;
use search::{count, cuts, endswith, find, index, partition, rfind, rindex, rpartition, startswith};
use split::{most, pieces, rsplit, split, splitlines};
use trim::{center, expandtabs, ljust, lstrip, removeprefix, removesuffix, rjust, rstrip, strip, zfill};

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
    let group = if args[2].is_undefined() { 1 } else { vm.whole(args[2])? };
    let separator = if args[1].is_undefined() {
        None
    } else if let Some(text) = vm.heap.text(args[1]).map(str::to_owned) {
        Some(text)
    } else if let Some(bytes) = content(vm, args[1]) {
        Some(bytes.iter().map(|&byte| char::from(byte)).collect())
    } else {
        let has_length = vm.special(args[1], nm::LEN).is_some();
        let class = vm.heap.class_name(args[1]);
        let message = if has_length { "sep must be str or bytes.".to_owned() } else { format!("object of type '{class}' has no len()") };
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
