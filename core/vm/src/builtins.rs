//! Builtin functions, and the intrinsics that the helpers written in Python use.

mod instances;
mod intrinsics;
mod protocols;

use crate::costs::{ATTRIBUTE_MISSED, ITERATION, NAME_IMPORTED, TEXT_PASSED, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::frame::{CompareOp, Expect, OnReturn, Pending, Wake};
use crate::heap::numbers::Number;
use crate::objects::{object, sorting};
use crate::payload::{GeneratorState, Payload};
use crate::runtime::protocol::{Compare, Hashing, Iterate, Subscript};
use crate::runtime::{Vm, native::NativeKind, native::NativeRow, operator::BinaryOp};
use crate::types::{nm, ty};
use crate::value::Value;

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

fn abs(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.heap.is_python_instance(args[0]) {
        match vm.heap.number(args[0]) {
            Some(Number::Float(value)) => return Ok(Value::Float(value.abs())),
            Some(number) => {
                let value = number.into_big();
                let value = if value.sign() == dashu_int::Sign::Negative { -value } else { value };
                return vm.int_value(value);
            }
            None => {}
        }
    }
    match vm.special(args[0], nm::ABS) {
        Some(function) => Err(vm.call_special(function, &[args[0]], OnReturn::Store)),
        None => {
            let message = format!("bad operand type for abs(): '{}'", vm.heap.class_name(args[0]));
            Err(vm.type_error(message))
        }
    }
}

fn aiter(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.special(args[0], nm::AITER).is_none() {
        let message = format!("'{}' object is not an async iterable", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    }
    vm.async_iter(args[0])
}

fn anext(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.special(args[0], nm::ANEXT).is_none() {
        let message = format!("'{}' object is not an async iterator", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    }
    if args[1].is_undefined() {
        return vm.async_next(args[0]);
    }
    vm.call_helper("anext_default", &[args[0], args[1]])
}

fn quantify(vm: &mut Vm, args: &[Value], stop: bool) -> Outcome {
    let Value::Obj(source) = args[0] else { return Err(vm.not_iterable(args[0])) };
    if matches!(vm.heap.payload(source), Payload::Iterator(_)) {
        return Err(Throw::Fallback);
    }
    let items = vm.collect(args[0])?;
    let mut result = !stop;
    for &item in &items {
        match vm.truth(item) {
            Ok(truth) if truth == stop => {
                result = stop;
                break;
            }
            Ok(_) => {}
            Err(Throw::Call(call)) => {
                vm.heap.release_all(call.arguments);
                vm.heap.release(call.function);
                vm.heap.release_all(items);
                return Err(Throw::Fallback);
            }
            Err(throw) => return Err(throw),
        }
    }
    vm.heap.release_all(items);
    Ok(Value::truth(result))
}

fn all(vm: &mut Vm, args: &[Value]) -> Outcome {
    quantify(vm, args, false)
}

fn any(vm: &mut Vm, args: &[Value]) -> Outcome {
    quantify(vm, args, true)
}

fn in_base(vm: &mut Vm, value: Value, base: u8, prefix: &str) -> Outcome {
    let Some(number) = vm.heap.as_int(value) else {
        if let Some(function) = vm.python_method(value, nm::INDEX) {
            let _ = function;
            return vm.call_helper("in_base", &[value, Value::Int(i64::from(base))]);
        }
        let message = format!("'{}' object cannot be interpreted as an integer", vm.heap.class_name(value));
        return Err(vm.type_error(message));
    };
    let text = cowboy_num::int::to_base(&number, base);
    vm.spend(TEXT_WRITTEN.of(text.len()))?;
    let text = match text.strip_prefix('-') {
        Some(digits) => format!("-{prefix}{digits}"),
        None => format!("{prefix}{text}"),
    };
    Ok(vm.heap.string(text))
}

fn bin(vm: &mut Vm, args: &[Value]) -> Outcome {
    in_base(vm, args[0], 2, "0b")
}

fn oct(vm: &mut Vm, args: &[Value]) -> Outcome {
    in_base(vm, args[0], 8, "0o")
}

fn hex(vm: &mut Vm, args: &[Value]) -> Outcome {
    in_base(vm, args[0], 16, "0x")
}

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

fn chr(vm: &mut Vm, args: &[Value]) -> Outcome {
    match vm.heap.number(args[0]) {
        Some(Number::Small(code)) if i32::try_from(code).is_err() => {
            Err(vm.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C int"))
        }
        Some(Number::Small(code)) => {
            let character = u32::try_from(code).ok().filter(|code| *code < 0x11_0000);
            match character {
                None => Err(vm.value_error("chr() arg not in range(0x110000)")),
                Some(code) => match char::from_u32(code) {
                    Some(character) => Ok(vm.heap.str(character.encode_utf8(&mut [0; 4]))),
                    None => Err(vm.value_error("chr() of a surrogate is not supported: text is Unicode scalar values")),
                },
            }
        }
        Some(Number::Big(_)) => Err(vm.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C int")),
        _ => Err(vm.not_an_integer(args[0])),
    }
}

fn ord(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(text) = vm.heap.text(args[0]) {
        let mut characters = text.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            return Ok(Value::Int(i64::from(u32::from(only))));
        }
        let length = text.chars().count();
        vm.spend(TEXT_PASSED.of(length))?;
        return Err(vm.type_error(format!("ord() expected a character, but string of length {length} found")));
    }
    if let Some(bytes) = crate::objects::bytes::content(vm, args[0]) {
        if let [only] = bytes.as_slice() {
            return Ok(Value::Int(i64::from(*only)));
        }
        return Err(vm.type_error(format!("ord() expected a character, but string of length {} found", bytes.len())));
    }
    let message = format!("ord() expected string of length 1, but {} found", vm.heap.class_name(args[0]));
    Err(vm.type_error(message))
}

fn delattr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    vm.delete_attribute(args[0], name).map(|()| Value::None).map_err(none_result)
}

/// A call whose own result does not matter gives `None`.
fn none_result(throw: Throw) -> Throw {
    match throw {
        Throw::Call(mut call) => {
            if matches!(call.on_return, OnReturn::Discard) {
                call.on_return = OnReturn::Other(Box::new(Pending::Close));
            }
            Throw::Call(call)
        }
        throw => throw,
    }
}

fn dir(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[0].is_undefined() {
        let variables = locals(vm, args)?;
        let outcome = vm.call_helper("sorted_slow", &[variables]);
        vm.heap.release(variables);
        return outcome;
    }
    if let Some(function) = vm.python_method(args[0], nm::DIR) {
        let _ = function;
        return vm.call_helper("dir_slow", &[args[0]]);
    }
    object::dir(vm, args)
}

fn divmod(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.binary(BinaryOp::DivMod, args[0], args[1])
}

fn format(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.format_value(args[0], args[1])
}

fn getattr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    let outcome = vm.get_attribute(args[0], name);
    if args[2].is_undefined() {
        return outcome;
    }
    match outcome {
        Err(Throw::Raise(exception)) if vm.heap.is_instance(exception, ty::ATTRIBUTE_ERROR) => {
            vm.heap.release(exception);
            vm.spend(ATTRIBUTE_MISSED.once())?;
            Ok(vm.heap.retain(args[2]))
        }
        Err(Throw::Call(call)) => {
            drop_call(vm, *call);
            vm.call_helper("getattr_default", &[args[0], args[1], args[2]])
        }
        outcome => outcome,
    }
}

fn drop_call(vm: &mut Vm, call: crate::error::PendingCall) {
    vm.heap.release_all(call.arguments);
    vm.heap.release(call.function);
}

fn hasattr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    match vm.get_attribute(args[0], name) {
        Ok(value) => {
            vm.heap.release(value);
            Ok(Value::truth(true))
        }
        Err(Throw::Raise(exception)) if vm.heap.is_instance(exception, ty::ATTRIBUTE_ERROR) => {
            vm.heap.release(exception);
            vm.spend(ATTRIBUTE_MISSED.once())?;
            Ok(Value::truth(false))
        }
        Err(Throw::Call(call)) => {
            drop_call(vm, *call);
            vm.call_helper("hasattr_slow", &[args[0], args[1]])
        }
        Err(throw) => Err(throw),
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

fn iter(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !args[1].is_undefined() {
        if !is_callable(vm, args[0]) {
            return Err(vm.type_error("iter(v, w): v must be callable"));
        }
        return vm.call_helper("iter_sentinel", &[args[0], args[1]]);
    }
    vm.iterator(args[0])
}

fn len(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.length(args[0])
}

fn extreme(vm: &mut Vm, args: &[Value], op: CompareOp, name: &str) -> Outcome {
    match extreme_native(vm, args, op, name) {
        Err(Throw::Fallback) => {
            let (key, default, rest) = (args[0], args[1], &args[2..]);
            let given = [key.or(Value::None), default.or(Value::None), Value::truth(!default.is_undefined())];
            vm.call_helper(if op == CompareOp::Gt { "max_slow" } else { "min_slow" }, &[&given, rest].concat())
        }
        outcome => outcome,
    }
}

fn extreme_native(vm: &mut Vm, args: &[Value], op: CompareOp, name: &str) -> Outcome {
    let (key, default, rest) = (args[0], args[1], &args[2..]);
    if rest.is_empty() {
        return Err(vm.type_error(format!("{name} expected at least 1 argument, got 0")));
    }
    if rest.len() > 1 && !default.is_undefined() {
        return Err(vm.type_error(format!("Cannot specify a default for {name}() with multiple positional arguments")));
    }
    if !key.is_undefined() && !key.is_none() {
        return Err(Throw::Fallback);
    }
    let held = if rest.len() == 1 { vm.collect(rest[0])? } else { Vec::new() };
    let items = if rest.len() == 1 { &held } else { rest };
    let Some(&first) = items.first() else {
        if default.is_undefined() {
            return Err(vm.value_error(format!("{name}() arg is an empty sequence")));
        }
        return Ok(vm.heap.retain(default));
    };
    vm.owe(ITERATION.of(items.len()));
    let mut best = first;
    for &item in &items[1..] {
        match vm.compare_native(op, item, best) {
            Ok(Some(true)) => best = item,
            Ok(Some(false)) => {}
            Ok(None) => {
                let (a, b) = (vm.heap.class_name(item), vm.heap.class_name(best));
                return Err(vm.type_error(format!("'{}' not supported between instances of '{a}' and '{b}'", op.symbol())));
            }
            Err(throw) => {
                if rest.len() == 1 && matches!(rest[0], Value::Obj(object) if matches!(vm.heap.payload(object), Payload::Iterator(_))) {
                    // The iterator is spent already: the helper gets what it gave.
                    let items = vm.heap.list(held);
                    let outcome = vm.call_helper(if op == CompareOp::Gt { "max_list" } else { "min_list" }, &[items]);
                    vm.heap.release(items);
                    return outcome;
                }
                vm.heap.release_all(held);
                return Err(throw);
            }
        }
    }
    vm.heap.retain(best);
    vm.heap.release_all(held);
    Ok(best)
}

fn max(vm: &mut Vm, args: &[Value]) -> Outcome {
    extreme(vm, args, CompareOp::Gt, "max")
}

fn min(vm: &mut Vm, args: &[Value]) -> Outcome {
    extreme(vm, args, CompareOp::Lt, "min")
}

fn next(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Value::Obj(object) = args[0] else {
        let message = format!("'{}' object is not an iterator", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    };
    match vm.heap.payload(object) {
        Payload::Iterator(_) => match vm.next_native(args[0])? {
            Some(item) => Ok(item),
            None if args[1].is_undefined() => Err(vm.stop_iteration(Value::None)),
            None => Ok(vm.heap.retain(args[1])),
        },
        Payload::Generator(row) if !matches!(vm.heap.slot(object).class, ty::COROUTINE | ty::ASYNC_GENERATOR) => {
            if row.state == GeneratorState::Done && !args[1].is_undefined() {
                return Ok(vm.heap.retain(args[1]));
            }
            let pending = if args[1].is_undefined() { Pending::Next } else { Pending::NextDefault { default: vm.heap.retain(args[1]) } };
            Err(Throw::Resume(object, Box::new((Wake::Send(Value::None), OnReturn::Other(Box::new(pending))))))
        }
        _ => match vm.special(args[0], nm::NEXT) {
            Some(function) => {
                let on_return = if args[1].is_undefined() {
                    OnReturn::Store
                } else {
                    OnReturn::Other(Box::new(Pending::NextDefault { default: vm.heap.retain(args[1]) }))
                };
                Err(vm.call_special(function, &[args[0]], on_return))
            }
            None => {
                let message = format!("'{}' object is not an iterator", vm.heap.class_name(args[0]));
                Err(vm.type_error(message))
            }
        },
    }
}

fn pow(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[2].is_undefined() || args[2].is_none() {
        return vm.binary(BinaryOp::Pow, args[0], args[1]);
    }
    // Of the three, only the base is asked for a method of its own.
    if vm.python_method(args[0], nm::POW).is_none() {
        if let Some(power) = crate::objects::int::pow_modulo(vm, args[0], args[1], args[2])? {
            return Ok(power);
        }
    }
    vm.call_helper("pow_three", &[args[0], args[1], args[2]])
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

fn round(vm: &mut Vm, args: &[Value]) -> Outcome {
    match vm.special(args[0], nm::ROUND) {
        Some(function) => {
            let arguments = if args[1].is_undefined() || args[1].is_none() { vec![args[0]] } else { vec![args[0], args[1]] };
            Err(vm.call_special(function, &arguments, OnReturn::Store))
        }
        None => {
            let message = format!("type {} doesn't define __round__ method", vm.heap.class_name(args[0]));
            Err(vm.type_error(message))
        }
    }
}

fn setattr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    vm.set_attribute(args[0], name, args[2]).map(|()| Value::None).map_err(none_result)
}

fn sorted(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !args[1].is_undefined() && !args[1].is_none() {
        return Err(Throw::Fallback);
    }
    let reverse = vm.integer_option(args[2])?;
    let items = vm.collect(args[0])?;
    match sorting::sorted(vm, items.clone(), reverse) {
        Ok(items) => Ok(vm.heap.list(items)),
        Err(Throw::Fallback) => {
            let items = vm.heap.list(items);
            let outcome = vm.call_helper("sorted_slow", &[items, Value::None, Value::truth(reverse)]);
            vm.heap.release(items);
            outcome
        }
        Err(throw) => {
            vm.heap.release_all(items);
            Err(throw)
        }
    }
}

fn sum(vm: &mut Vm, args: &[Value]) -> Outcome {
    let start = args[1].or(Value::Int(0));
    if vm.heap.text(start).is_some() {
        return Err(vm.type_error("sum() can't sum strings [use ''.join(seq) instead]"));
    }
    for (class, name) in [(ty::BYTES, "bytes"), (ty::BYTEARRAY, "bytearray")] {
        if vm.heap.is_instance(start, class) {
            return Err(vm.type_error(format!("sum() can't sum {name} [use b''.join(seq) instead]")));
        }
    }
    let items = vm.collect(args[0])?;
    let mut total = vm.heap.retain(start);
    for (index, &item) in items.iter().enumerate() {
        // What is charged for integers and floats is the same: nothing.
        match (total, item) {
            (Value::Int(left), Value::Int(right)) => {
                if let Some(next) = left.checked_add(right) {
                    total = Value::Int(next);
                    continue;
                }
            }
            (Value::Float(left), Value::Float(right)) => {
                total = Value::Float(left + right);
                continue;
            }
            _ => {}
        }
        match vm.binary(BinaryOp::Add, total, item) {
            Ok(next) => {
                vm.heap.release(total);
                total = next;
            }
            Err(Throw::Call(call)) => {
                drop_call(vm, *call);
                let rest = vm.heap.retain_all(&items[index..]);
                let rest = vm.heap.list(rest);
                let outcome = vm.call_helper("sum_slow", &[rest, total]);
                vm.heap.release(rest);
                vm.heap.release_all(items);
                return outcome;
            }
            Err(throw) => {
                vm.heap.release_all(items);
                return Err(throw);
            }
        }
    }
    vm.heap.release_all(items);
    Ok(total)
}

/// The variables of the calling frame that have values, as a dict of its own; in a class body its namespace.
fn locals(vm: &mut Vm, _: &[Value]) -> Outcome {
    let Some(frame) = vm.frames.last() else { return Ok(Value::Obj(vm.heap.new_dict())) };
    if !frame.namespace.is_undefined() {
        let namespace = frame.namespace;
        return Ok(vm.heap.retain(namespace));
    }
    let (base, globals) = (frame.base as usize, frame.globals);
    let code = std::sync::Arc::clone(&vm.program.codes[frame.code as usize]);
    let dict = vm.heap.new_dict();
    if code.code.name == "<module>" {
        for (name, value) in vm.heap.dict_pairs(Value::Obj(globals)) {
            vm.spend(NAME_IMPORTED.once())?;
            vm.heap.retain(name);
            vm.heap.retain(value);
            vm.dict_insert_text(dict, name, value);
        }
        return Ok(Value::Obj(dict));
    }
    // Parameters and plain variables first, then those that closures share, as CPython lists them.
    let own = code.code.local_names.iter().enumerate();
    let free = usize::from(code.code.free_start);
    let outer = code.code.free_names.iter().enumerate().map(|(index, name)| (free + index, name));
    let mut plain = Vec::new();
    let mut shared = Vec::new();
    for (register, name) in own.chain(outer) {
        let (value, cell) = match vm.registers[base + register] {
            Value::Obj(object) => match vm.heap.payload(object) {
                Payload::Cell(inner) => (*inner, true),
                _ => (Value::Obj(object), false),
            },
            value => (value, false),
        };
        if value.is_undefined() || name.is_empty() || name.starts_with('.') || name == "__class__" {
            continue;
        }
        if cell && register >= code.code.parameters() { shared.push((name, value)) } else { plain.push((name, value)) }
    }
    for (name, value) in plain.into_iter().chain(shared) {
        vm.spend(NAME_IMPORTED.once())?;
        let name = vm.heap.intern(name);
        vm.heap.retain(value);
        vm.dict_set_name(dict, name, value);
    }
    Ok(Value::Obj(dict))
}

fn vars(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[0].is_undefined() {
        return locals(vm, args);
    }
    match vm.get_attribute(args[0], nm::DICT) {
        Err(Throw::Raise(exception)) => {
            vm.heap.release(exception);
            Err(vm.type_error("vars() argument must have __dict__ attribute"))
        }
        outcome => outcome,
    }
}

fn build_class(vm: &mut Vm, _: &[Value]) -> Outcome {
    Err(vm.type_error("__build_class__ is for class statements"))
}
