//! Builtin functions, and the intrinsics that the helpers written in Python use.

mod attributes;
mod instances;
mod intrinsics;
mod iterables;
mod numbers;
mod protocols;

use crate::error::{Outcome, Throw};
use crate::frame::{Expect, OnReturn, Pending};
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Hashing, Subscript};
use crate::types::nm;
use crate::value::Value;
use attributes::{delattr, dir, getattr, hasattr, locals, setattr, vars};
use iterables::{aiter, all, anext, any, iter, max, min, next, sorted, sum};
use numbers::{abs, bin, chr, divmod, hex, oct, ord, pow, round};

const F: NativeKind = NativeKind::Function;

/// Rows of the module `builtins`.
pub(crate) const ROWS: &[&[NativeRow]] = &[BUILTINS, intrinsics::ROWS, protocols::ROWS];

const BUILTINS: &[NativeRow] = &[
    NativeRow(F, "abs", "x, /", 1, abs, ""),
    NativeRow(F, "aiter", "async_iterable, /", 2, aiter, ""),
    NativeRow(F, "anext", "aiterator, default=, /", 2, anext, ""),
    NativeRow(F, "all", "iterable, /", 1, all, "all_slow"),
    NativeRow(F, "any", "iterable, /", 1, any, "any_slow"),
    NativeRow(F, "bin", "x, /", 2, bin, ""),
    NativeRow(F, "callable", "x, /", 1, callable, ""),
    NativeRow(F, "chr", "i, /", 1, chr, "retry_last"),
    NativeRow(F, "delattr", "object, name, /", 3, delattr, ""),
    NativeRow(F, "dir", "object=, /", 30, dir, ""),
    NativeRow(F, "divmod", "x, y, /", 1, divmod, ""),
    NativeRow(F, "format", "value, format_spec=, /", 2, format, ""),
    NativeRow(F, "getattr", "object, name, default=, /", 3, getattr, ""),
    NativeRow(F, "hasattr", "object, name, /", 3, hasattr, ""),
    NativeRow(F, "hash", "x, /", 1, hash, "hash_slow"),
    NativeRow(F, "hex", "x, /", 2, hex, ""),
    NativeRow(F, "id", "x, /", 1, id, ""),
    NativeRow(F, "isinstance", "object, class_or_tuple, /", 2, instances::isinstance, "isinstance_slow"),
    NativeRow(F, "issubclass", "cls, class_or_tuple, /", 2, instances::issubclass, "issubclass_slow"),
    NativeRow(F, "iter", "object, sentinel=, /", 2, iter, ""),
    NativeRow(F, "len", "x, /", 1, len, ""),
    NativeRow(F, "max", "*args, key=, default=", 4, max, ""),
    NativeRow(F, "min", "*args, key=, default=", 4, min, ""),
    NativeRow(F, "next", "iterator, default=, /", 2, next, "next_slow"),
    NativeRow(F, "oct", "x, /", 2, oct, ""),
    NativeRow(F, "ord", "c, /", 1, ord, ""),
    NativeRow(F, "pow", "base, exp, mod=", 2, pow, ""),
    NativeRow(F, "print", "*args, sep=, end=, file=, flush=", 5, print, "print_slow"),
    NativeRow(F, "repr", "x, /", 2, repr, ""),
    NativeRow(F, "round", "number, ndigits=", 1, round, ""),
    NativeRow(F, "setattr", "object, name, value, /", 3, setattr, ""),
    NativeRow(F, "sorted", "iterable, /, *, key=, reverse=", 5, sorted, "sorted_slow"),
    NativeRow(F, "sum", "iterable, /, start=", 3, sum, "sum_slow"),
    NativeRow(F, "locals", "", 5, locals, ""),
    NativeRow(F, "vars", "object=, /", 3, vars, ""),
    NativeRow(F, "__build_class__", "body, name, /, *bases, **kwargs", 10, build_class, ""),
];

fn callable(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::truth(is_callable(vm, args[0])))
}

fn is_callable(vm: &mut Vm, value: Value) -> bool {
    match value.object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Function(_) | Payload::Native(_) | Payload::BoundMethod { .. } | Payload::Class(_) | Payload::StaticMethod(_)) => {
            true
        }
        _ => vm.special(value, nm::CALL).is_some(),
    }
}

fn format(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.format_value(args[0], args[1])
}

/// Releases a call that is not made, and what its result would have been used with.
fn drop_call(vm: &mut Vm, call: crate::error::PendingCall) {
    vm.heap.release_all(call.arguments);
    vm.heap.release(call.function);
    let OnReturn::Other(pending) = call.on_return else { return };
    if let Pending::Binary { rest, left, right, .. } | Pending::Compare { rest, left, right, .. } = *pending {
        vm.release_alternatives(rest);
        vm.heap.release(left);
        vm.heap.release(right);
    }
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(function) = vm.python_method(args[0], nm::HASH).filter(|function| !function.is_none()) {
        return Err(vm.call_expecting(function, &[args[0]], Expect::Hash));
    }
    vm.hash_native(args[0]).map(Value::Int)
}

fn id(_: &mut Vm, args: &[Value]) -> Outcome {
    // Numbers of allocation, never addresses.
    Ok(Value::Int(match args[0] {
        Value::Obj(object) => 0x1000 + object.number(),
        Value::Int(value) => (1 << 62) ^ value,
        Value::Float(value) => (1 << 61) ^ (i64::from_ne_bytes(value.0.to_ne_bytes()) >> 2),
        Value::Bool(value) => 16 + i64::from(value),
        Value::None | Value::Undefined => 1,
        Value::NotImplemented => 2,
        Value::Ellipsis => 3,
    }))
}

fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.length(args[0])
}

fn print(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !args[2].is_undefined() && !args[2].is_none() {
        return Err(Throw::Fallback);
    }
    let mut line = String::new();
    let part = |vm: &mut Vm, value: Value, default: &str, name: &str| -> Outcome<String> {
        if value.is_undefined() || value.is_none() {
            return Ok(default.to_owned());
        }
        match vm.heap.text(value) {
            Some(text) => Ok(text.to_owned()),
            None => {
                let message = format!("{name} must be None or a string, not {}", vm.heap.class_name(value));
                Err(vm.type_error(message))
            }
        }
    };
    let separator = part(vm, args[0], " ", "sep")?;
    let end = part(vm, args[1], "\n", "end")?;
    for (index, &value) in args[4..].iter().enumerate() {
        if index > 0 {
            vm.write(&mut line, &separator)?;
        }
        let text = crate::objects::exception_text::display(vm, value)?;
        vm.write(&mut line, &text)?;
    }
    vm.write(&mut line, &end)?;
    vm.write_output(&line)?;
    Ok(Value::None)
}

fn repr(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.repr_value(args[0])
}

fn build_class(vm: &mut Vm, _: &[Value]) -> Outcome {
    Err(vm.type_error("__build_class__ is for class statements"))
}
