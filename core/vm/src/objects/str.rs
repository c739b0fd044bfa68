//! `str`.

mod case;
mod search;
mod split;
mod trim;

use crate::costs::{TEXT_PASSED, TEXT_PASSED_WIDE, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::objects::{ascii, codec, list};
use crate::payload::{Payload, Str};
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Display, Iterate};
use crate::types::ty;
use crate::value::Value;
use crate::window::moved;
use case::{
    capitalize, casefold, isalnum, isalpha, isascii, isdecimal, isdigit, isidentifier, islower, isnumeric, isprintable, isspace, istitle,
    isupper, lower, swapcase, title, upper,
};
use cowboy_num::sizes;
use search::{count, endswith, find, index, rfind, rindex, startswith};
use split::{partition, rpartition, rsplit, split, splitlines};
use trim::{center, expandtabs, ljust, lstrip, removeprefix, removesuffix, rjust, rstrip, strip, zfill};

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
        codec::check_names(vm, args[2], args[3], "str")?;
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
    let spec = super::int::format_spec(vm, args[1])?;
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
    vm.with_owned(items, |vm, items| joined(vm, items, &separator))
}

fn joined(vm: &mut Vm, items: &[Value], separator: &str) -> Outcome {
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
    if let [one] = *items {
        if vm.heap.class_of(one) == ty::STR {
            return Ok(vm.heap.retain(one));
        }
    }
    vm.reserve(size)?;
    let mut joined = String::with_capacity(size);
    for (index, &item) in items.iter().enumerate() {
        if index > 0 {
            joined.push_str(separator);
        }
        joined.push_str(vm.heap.text(item).unwrap_or_default());
    }
    Ok(vm.heap.string(joined))
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
