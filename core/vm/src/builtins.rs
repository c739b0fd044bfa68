//! Builtin functions, and the intrinsics that the helpers written in Python use.

use crate::error::{Outcome, Throw};
use crate::interp::generator::Wake;
use crate::interp::operators::{BinaryOp, Number};
use crate::interp::{CompareOp, Expect, OnReturn, Pending, Vm};
use crate::native::{NativeKind, NativeRow};
use crate::objects::payload::{GeneratorState, Payload};
use crate::objects::{list, object};
use crate::types::{nm, ty};
use crate::value::Value;

const F: NativeKind = NativeKind::Function;

/// Rows of the module `builtins`.
pub(crate) const ROWS: &[&[NativeRow]] = &[BUILTINS, INTRINSICS];

const BUILTINS: &[NativeRow] = &[
    NativeRow(F, "abs", "x, /", 1, abs, ""),
    NativeRow(F, "all", "iterable, /", 1, all, "all_slow"),
    NativeRow(F, "any", "iterable, /", 1, any, "any_slow"),
    NativeRow(F, "bin", "x, /", 2, bin, ""),
    NativeRow(F, "callable", "x, /", 1, callable, ""),
    NativeRow(F, "chr", "i, /", 1, chr, ""),
    NativeRow(F, "delattr", "object, name, /", 3, delattr, ""),
    NativeRow(F, "dir", "object=, /", 10, dir, ""),
    NativeRow(F, "divmod", "x, y, /", 1, divmod, ""),
    NativeRow(F, "format", "value, format_spec=, /", 2, format, ""),
    NativeRow(F, "getattr", "object, name, default=, /", 3, getattr, ""),
    NativeRow(F, "hasattr", "object, name, /", 3, hasattr, ""),
    NativeRow(F, "hash", "x, /", 1, hash, "hash_slow"),
    NativeRow(F, "hex", "x, /", 2, hex, ""),
    NativeRow(F, "id", "x, /", 1, id, ""),
    NativeRow(F, "isinstance", "object, class_or_tuple, /", 2, isinstance, "isinstance_slow"),
    NativeRow(F, "issubclass", "cls, class_or_tuple, /", 2, issubclass, "issubclass_slow"),
    NativeRow(F, "iter", "object, sentinel=, /", 2, iter, ""),
    NativeRow(F, "len", "x, /", 1, len, ""),
    NativeRow(F, "max", "*args, key=, default=", 2, max, "max_slow"),
    NativeRow(F, "min", "*args, key=, default=", 2, min, "min_slow"),
    NativeRow(F, "next", "iterator, default=, /", 2, next, "next_slow"),
    NativeRow(F, "oct", "x, /", 2, oct, ""),
    NativeRow(F, "ord", "c, /", 1, ord, ""),
    NativeRow(F, "pow", "base, exp, mod=", 2, pow, ""),
    NativeRow(F, "print", "*args, sep=, end=, file=, flush=", 5, print, "print_slow"),
    NativeRow(F, "repr", "x, /", 2, repr, ""),
    NativeRow(F, "round", "number, ndigits=", 1, round, ""),
    NativeRow(F, "setattr", "object, name, value, /", 3, setattr, ""),
    NativeRow(F, "sorted", "iterable, /, *, key=, reverse=", 5, sorted, "sorted_slow"),
    NativeRow(F, "sum", "iterable, /, start=", 1, sum, "sum_slow"),
    NativeRow(F, "locals", "", 5, locals, ""),
    NativeRow(F, "vars", "object=, /", 3, vars, ""),
    NativeRow(F, "__build_class__", "body, name, /, *bases, **kwargs", 10, build_class, ""),
];

const INTRINSICS: &[NativeRow] = &[
    NativeRow(F, "_vm.run_body", "body, namespace, /", 5, run_body, ""),
    NativeRow(F, "_vm.create_class", "meta, name, bases, namespace, /", 50, create_class, ""),
    NativeRow(F, "_vm.type_lookup", "cls, name, /", 2, type_lookup, ""),
    NativeRow(F, "_vm.dict_find", "d, key, hash, start, /", 2, dict_candidate, ""),
    NativeRow(F, "_vm.dict_key", "d, position, /", 1, dict_key, ""),
    NativeRow(F, "_vm.dict_value", "d, position, /", 1, dict_value, ""),
    NativeRow(F, "_vm.dict_replace", "d, position, value, /", 1, dict_replace, ""),
    NativeRow(F, "_vm.dict_add", "d, key, hash, value, /", 2, dict_add, ""),
    NativeRow(F, "_vm.dict_delete", "d, position, /", 1, dict_delete, ""),
    NativeRow(F, "_vm.entries", "table, /", 2, entries, ""),
    NativeRow(F, "_vm.tuple_hash", "hashes, /", 2, tuple_hash, ""),
    NativeRow(F, "_vm.new", "cls, /", 2, new_builtin, ""),
    NativeRow(F, "_vm.fill_list", "target, items, /", 2, fill_list, ""),
    NativeRow(F, "_vm.own", "value, name, /", 2, own, ""),
    NativeRow(F, "_vm.raw_format", "value, spec, /", 2, raw_format, ""),
    NativeRow(F, "_vm.inner", "iterator, /", 2, inner, ""),
    NativeRow(F, "_vm.set_cause", "exception, cause, /", 1, set_cause, ""),
    NativeRow(F, "_vm.copy_trace", "source, target, /", 2, copy_trace, ""),
    NativeRow(F, "_vm.dress", "generator, cls, /", 2, dress, ""),
    NativeRow(F, "_vm.cell_content", "cell, /", 1, cell_content, ""),
    NativeRow(F, "_vm.module_name", "", 1, module_name, ""),
    NativeRow(F, "_vm.alias", "origin, arguments, starred=, /", 3, alias, ""),
    NativeRow(NativeKind::Static, "types.GenericAlias.__new__", "cls, origin, args, /", 3, alias_new, ""),
    NativeRow(NativeKind::Method, "types.GenericAlias.__getitem__", "self, items, /", 3, in_python, "alias_getitem"),
    NativeRow(NativeKind::Method, "types.GenericAlias.__call__", "self, /, *args, **kwargs", 1, in_python, "alias_call"),
    NativeRow(NativeKind::Method, "types.GenericAlias.__iter__", "self, /", 3, in_python, "alias_iter"),
    NativeRow(F, "_vm.alias_filled", "alias, items, /", 3, in_python, "alias_filled"),
    NativeRow(F, "_vm.slice_bounds", "slice, length, /", 3, in_python, "slice_bounds"),
    NativeRow(F, "_vm.make_class", "name, bases, namespace, /", 3, in_python, "make_class"),
    NativeRow(F, "_vm.set_mro", "class, mro, /", 10, set_mro, ""),
    NativeRow(F, "_vm.caller_module", "", 3, caller_module, ""),
    NativeRow(F, "_vm.first_line", "function, /", 3, first_line, ""),
    NativeRow(F, "_vm.close", "generator, /", 2, close, ""),
    NativeRow(F, "_vm.is_subclass", "cls, base, /", 1, is_subclass, ""),
    NativeRow(F, "_vm.wrap", "cls, value, /", 2, wrap, ""),
    NativeRow(F, "_vm.code", "function, /", 5, code, ""),
    NativeRow(F, "_vm.output", "text, /", 2, output, ""),
    NativeRow(F, "_vm.globals", "", 2, globals, ""),
    NativeRow(F, "_vm.ascii", "text, /", 2, ascii, ""),
];

fn abs(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.is_python_instance(args[0]) {
        match vm.number(args[0]) {
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
        Some(function) => Err(vm.call_later(function, &[args[0]], OnReturn::Store)),
        None => {
            let message = format!("bad operand type for abs(): '{}'", vm.class_name(args[0]));
            Err(vm.type_error(message))
        }
    }
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
    Ok(Value::Bool(result))
}

fn all(vm: &mut Vm, args: &[Value]) -> Outcome {
    quantify(vm, args, false)
}

fn any(vm: &mut Vm, args: &[Value]) -> Outcome {
    quantify(vm, args, true)
}

fn in_base(vm: &mut Vm, value: Value, base: u8, prefix: &str) -> Outcome {
    let Some(number) = vm.as_int(value) else {
        if let Some(function) = vm.python_method(value, nm::INDEX) {
            let _ = function;
            return vm.call_helper("in_base", &[value, Value::Int(i64::from(base))]);
        }
        let message = format!("'{}' object cannot be interpreted as an integer", vm.class_name(value));
        return Err(vm.type_error(message));
    };
    let text = crate::num::int::to_base(&number, base);
    vm.spend(text.len())?;
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
    Ok(Value::Bool(is_callable(vm, args[0])))
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
    match vm.number(args[0]) {
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
        _ => {
            let message = format!("'{}' object cannot be interpreted as an integer", vm.class_name(args[0]));
            Err(vm.type_error(message))
        }
    }
}

fn ord(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(text) = vm.text(args[0]) {
        let mut characters = text.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            return Ok(Value::Int(i64::from(u32::from(only))));
        }
        let length = text.chars().count();
        vm.spend(length / 4)?;
        return Err(vm.type_error(format!("ord() expected a character, but string of length {length} found")));
    }
    if let Some(bytes) = crate::objects::bytes::content(vm, args[0]) {
        if let [only] = bytes.as_slice() {
            return Ok(Value::Int(i64::from(*only)));
        }
        return Err(vm.type_error(format!("ord() expected a character, but string of length {} found", bytes.len())));
    }
    let message = format!("ord() expected string of length 1, but {} found", vm.class_name(args[0]));
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
        Err(Throw::Raise(exception)) if vm.is_instance(exception, ty::ATTRIBUTE_ERROR) => {
            vm.heap.release(exception);
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
            Ok(Value::Bool(true))
        }
        Err(Throw::Raise(exception)) if vm.is_instance(exception, ty::ATTRIBUTE_ERROR) => {
            vm.heap.release(exception);
            Ok(Value::Bool(false))
        }
        Err(Throw::Call(call)) => {
            drop_call(vm, *call);
            vm.call_helper("hasattr_slow", &[args[0], args[1]])
        }
        Err(throw) => Err(throw),
    }
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Some(function) = vm.python_method(args[0], nm::HASH) {
        return Err(vm.call_expecting(function, &[args[0]], Expect::Hash));
    }
    vm.hash_native(args[0]).map(Value::Int)
}

fn id(_: &mut Vm, args: &[Value]) -> Outcome {
    // Numbers of allocation, never addresses.
    Ok(Value::Int(match args[0] {
        Value::Obj(object) => 0x1000 + i64::from(object.0),
        Value::Int(value) => (1 << 62) ^ value,
        Value::Float(value) => (1 << 61) ^ (i64::from_ne_bytes(value.0.to_ne_bytes()) >> 2),
        Value::Bool(value) => 16 + i64::from(value),
        Value::None | Value::Undefined => 1,
        Value::NotImplemented => 2,
        Value::Ellipsis => 3,
    }))
}

/// Classes in a class, tuple of classes or union; `None` when something else is among them.
fn classes(vm: &mut Vm, value: Value, found: &mut Vec<Value>, depth: usize) -> bool {
    let Value::Obj(object) = value else {
        if value.is_none() && depth > 0 {
            found.push(Value::Obj(ty::NONE));
            return true;
        }
        return false;
    };
    match vm.heap.payload(object) {
        Payload::Class(_) => {
            found.push(value);
            true
        }
        Payload::Tuple(items) if depth < 32 => {
            let items = items.to_vec();
            items.into_iter().all(|item| classes(vm, item, found, depth + 1))
        }
        Payload::Union(items) => {
            let items = vm.tuple_items(*items);
            items.into_iter().all(|item| classes(vm, item, found, depth + 1))
        }
        _ => false,
    }
}

fn has_hook(vm: &mut Vm, classes: &[Value], name: crate::value::Ref) -> bool {
    classes.iter().any(|&class| vm.heap.class_of(class) != ty::TYPE && vm.special(class, name).is_some_and(|f| vm.native_row(f).is_none()))
}

fn isinstance(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut found = Vec::new();
    if !classes(vm, args[1], &mut found, 0) {
        if vm.is_python_instance(args[1]) && vm.special(args[1], nm::INSTANCECHECK).is_some() {
            return Err(Throw::Fallback);
        }
        if let Value::Obj(object) = args[1] {
            if matches!(vm.heap.payload(object), Payload::Tuple(_)) {
                return Err(Throw::Fallback);
            }
        }
        return Err(vm.type_error("isinstance() arg 2 must be a type, a tuple of types, or a union"));
    }
    let class = vm.heap.class_of(args[0]);
    if found.iter().any(|candidate| candidate.is(Value::Obj(class))) {
        return Ok(Value::Bool(true));
    }
    if has_hook(vm, &found, nm::INSTANCECHECK) {
        return Err(Throw::Fallback);
    }
    if found.iter().any(|candidate| candidate.object().is_some_and(|base| vm.is_subclass(class, base))) {
        return Ok(Value::Bool(true));
    }
    // An object may say itself of which class it is.
    let says = class.0 >= crate::types::FIXED_COUNT
        && (vm.lookup(class, nm::CLASS).is_some() || vm.python_method(args[0], nm::GETATTRIBUTE).is_some());
    if says { Err(Throw::Fallback) } else { Ok(Value::Bool(false)) }
}

fn issubclass(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut found = Vec::new();
    if vm.is_python_instance(args[1]) && vm.special(args[1], nm::SUBCLASSCHECK).is_some() {
        return Err(Throw::Fallback);
    }
    let Some(class) = args[0].object().filter(|_| object::is_class(vm, args[0])) else {
        return Err(vm.type_error("issubclass() arg 1 must be a class"));
    };
    if !classes(vm, args[1], &mut found, 0) {
        if vm.is_python_instance(args[1]) && vm.special(args[1], nm::SUBCLASSCHECK).is_some() {
            return Err(Throw::Fallback);
        }
        return Err(vm.type_error("issubclass() arg 2 must be a class, a tuple of classes, or a union"));
    }
    if has_hook(vm, &found, nm::SUBCLASSCHECK) {
        return Err(Throw::Fallback);
    }
    Ok(Value::Bool(found.iter().any(|candidate| candidate.object().is_some_and(|base| vm.is_subclass(class, base)))))
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
    let (key, default, rest) = (args[0], args[1], &args[2..]);
    if !key.is_undefined() && !key.is_none() {
        return Err(Throw::Fallback);
    }
    if rest.is_empty() {
        return Err(vm.type_error(format!("{name} expected at least 1 argument, got 0")));
    }
    if rest.len() > 1 && !default.is_undefined() {
        return Err(vm.type_error(format!("Cannot specify a default for {name}() with multiple positional arguments")));
    }
    let items = if rest.len() == 1 { vm.collect(rest[0])? } else { vm.heap.retain_all(rest) };
    let Some(&first) = items.first() else {
        if default.is_undefined() {
            return Err(vm.value_error(format!("{name}() arg is an empty sequence")));
        }
        return Ok(vm.heap.retain(default));
    };
    let mut best = first;
    for &item in &items[1..] {
        match vm.compare_native(op, item, best) {
            Ok(Some(true)) => best = item,
            Ok(Some(false)) => {}
            Ok(None) => {
                let (a, b) = (vm.class_name(item), vm.class_name(best));
                return Err(vm.type_error(format!("'{}' not supported between instances of '{a}' and '{b}'", op.symbol())));
            }
            Err(throw) => {
                if rest.len() == 1 && matches!(rest[0], Value::Obj(object) if matches!(vm.heap.payload(object), Payload::Iterator(_))) {
                    // The iterator is spent already: the helper gets what it gave.
                    let items = vm.list(items);
                    let outcome = vm.call_helper(if op == CompareOp::Gt { "max_list" } else { "min_list" }, &[items]);
                    vm.heap.release(items);
                    return outcome;
                }
                vm.heap.release_all(items);
                return Err(throw);
            }
        }
    }
    vm.heap.retain(best);
    vm.heap.release_all(items);
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
        let message = format!("'{}' object is not an iterator", vm.class_name(args[0]));
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
                Err(vm.call_later(function, &[args[0]], on_return))
            }
            None => {
                let message = format!("'{}' object is not an iterator", vm.class_name(args[0]));
                Err(vm.type_error(message))
            }
        },
    }
}

fn pow(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[2].is_undefined() || args[2].is_none() {
        return vm.binary(BinaryOp::Pow, args[0], args[1]);
    }
    match (vm.as_int(args[0]), vm.as_int(args[1]), vm.as_int(args[2])) {
        (Some(base), Some(exponent), Some(modulus)) => {
            let limbs = crate::num::int::bit_length(&modulus) / 64 + 1;
            let bits = crate::num::int::bit_length(&exponent) + 1;
            vm.spend(limbs * limbs * bits / 8 + 10)?;
            match crate::num::int::pow_mod(&base, &exponent, &modulus) {
                Ok(value) => vm.int_value(value),
                Err(error) => Err(vm.number_error(error)),
            }
        }
        _ => vm.call_helper("pow_three", &[args[0], args[1], args[2]]),
    }
}

fn print(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut line = String::new();
    let part = |vm: &mut Vm, value: Value, default: &str, name: &str| -> Outcome<String> {
        if value.is_undefined() || value.is_none() {
            return Ok(default.to_owned());
        }
        match vm.text(value) {
            Some(text) => Ok(text.to_owned()),
            None => {
                let message = format!("{name} must be None or a string, not {}", vm.class_name(value));
                Err(vm.type_error(message))
            }
        }
    };
    let separator = part(vm, args[0], " ", "sep")?;
    let end = part(vm, args[1], "\n", "end")?;
    for (index, &value) in args[4..].iter().enumerate() {
        if index > 0 {
            line.push_str(&separator);
        }
        line.push_str(&crate::objects::exception::display(vm, value)?);
    }
    line.push_str(&end);
    vm.spend(line.len())?;
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
            Err(vm.call_later(function, &arguments, OnReturn::Store))
        }
        None => {
            let message = format!("type {} doesn't define __round__ method", vm.class_name(args[0]));
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
    let reverse = match args[2] {
        Value::Undefined => false,
        value => vm.truth(value)?,
    };
    let items = vm.collect(args[0])?;
    match list::sorted(vm, items.clone(), reverse) {
        Ok(items) => Ok(vm.list(items)),
        Err(Throw::Fallback) => {
            let items = vm.list(items);
            let outcome = vm.call_helper("sorted_slow", &[items, Value::None, Value::Bool(reverse)]);
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
    if vm.text(start).is_some() {
        return Err(vm.type_error("sum() can't sum strings [use ''.join(seq) instead]"));
    }
    for (class, name) in [(ty::BYTES, "bytes"), (ty::BYTEARRAY, "bytearray")] {
        if vm.is_instance(start, class) {
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
                let rest = vm.list(rest);
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
    let Some(frame) = vm.frames.last() else { return Ok(Value::Obj(vm.new_dict())) };
    if !frame.namespace.is_undefined() {
        let namespace = frame.namespace;
        return Ok(vm.heap.retain(namespace));
    }
    let (base, globals) = (frame.base as usize, frame.globals);
    let code = std::sync::Arc::clone(&vm.program.codes[frame.code as usize]);
    let dict = vm.new_dict();
    if code.code.name == "<module>" {
        for (name, value) in vm.dict_pairs(Value::Obj(globals)) {
            vm.spend(1)?;
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
        vm.spend(1)?;
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

// ---- intrinsics ----

fn run_body(vm: &mut Vm, args: &[Value]) -> Outcome {
    Err(vm.run_class_body(args[0], args[1]))
}

fn create_class(vm: &mut Vm, args: &[Value]) -> Outcome {
    let meta = vm.class_argument(args[0])?;
    let Some(name) = vm.text(args[1]).map(str::to_owned) else {
        let message = format!("type.__new__() argument 1 must be str, not {}", vm.class_name(args[1]));
        return Err(vm.type_error(message));
    };
    let mut bases = Vec::new();
    for base in vm.tuple_items(args[2]) {
        match base.object().filter(|_| object::is_class(vm, base)) {
            Some(base) => bases.push(base),
            None => return Err(vm.type_error("bases must be types")),
        }
    }
    let namespace = vm.class_argument(args[3])?;
    vm.spend(vm.dict_len(namespace))?;
    vm.create_class(meta, &name, &bases, namespace)
}

/// What a class or its bases define under a name, unbound; `None` when nothing.
fn type_lookup(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let name = vm.attribute_name(args[1])?;
    let found = vm.lookup(class, name).unwrap_or(Value::None);
    Ok(vm.heap.retain(found))
}

/// The next position at or after `start` whose key has the hash and may be equal.
fn dict_candidate(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = vm.class_argument(args[0])?;
    let (Value::Int(hash), Value::Int(start)) = (args[2], args[3]) else { return Ok(Value::Int(-1)) };
    let Some(table) = vm.table(object) else { return Ok(Value::Int(-1)) };
    let mut probe = table.probe(hash);
    let mut positions = Vec::new();
    while let Some(position) = table.next(&mut probe, hash) {
        positions.push(i64::try_from(position).unwrap_or(i64::MAX));
    }
    vm.spend(positions.len())?;
    positions.sort_unstable();
    Ok(Value::Int(positions.into_iter().find(|&position| position >= start).unwrap_or(-1)))
}

fn position(vm: &Vm, dict: Value, position: Value) -> Option<crate::objects::dict::Entry> {
    let (Value::Obj(object), Value::Int(position)) = (dict, position) else { return None };
    let table = vm.table(object)?;
    table.entries.get(usize::try_from(position).ok()?).copied().filter(|entry| !entry.key.is_undefined())
}

fn dict_key(vm: &mut Vm, args: &[Value]) -> Outcome {
    let key = position(vm, args[0], args[1]).map_or(Value::None, |entry| entry.key);
    Ok(vm.heap.retain(key))
}

fn dict_value(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = position(vm, args[0], args[1]).map_or(Value::None, |entry| entry.value);
    Ok(vm.heap.retain(value))
}

fn dict_replace(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = vm.class_argument(args[0])?;
    if let (Some(entry), Value::Int(at)) = (position(vm, args[0], args[1]), args[1]) {
        vm.heap.retain(entry.key);
        vm.heap.retain(args[2]);
        vm.dict_put(object, entry.key, args[2], entry.hash, usize::try_from(at).ok())?;
    }
    Ok(Value::None)
}

fn dict_add(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = vm.class_argument(args[0])?;
    let Value::Int(hash) = args[2] else { return Ok(Value::None) };
    vm.heap.retain(args[1]);
    vm.heap.retain(args[3]);
    vm.dict_put(object, args[1], args[3], hash, None)?;
    Ok(Value::None)
}

fn dict_delete(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = vm.class_argument(args[0])?;
    if let (Some(_), Value::Int(at)) = (position(vm, args[0], args[1]), args[1]) {
        vm.dict_remove_at(object, usize::try_from(at).unwrap_or(0));
    }
    Ok(Value::None)
}

/// Keys and hashes of a builtin dict or set, `None` for anything else.
fn entries(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(pairs) = crate::objects::set::entries(vm, args[0]) else { return Ok(Value::None) };
    vm.spend(pairs.len())?;
    vm.reserve(pairs.len().saturating_mul(64))?;
    let mut items = Vec::with_capacity(pairs.len());
    for (key, hash) in pairs {
        vm.heap.retain(key);
        items.push(vm.tuple(vec![key, Value::Int(hash)]));
    }
    Ok(vm.list(items))
}

fn tuple_hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    let hashes: Vec<i64> = vm
        .sequence_snapshot(args[0])
        .into_iter()
        .map(|hash| match hash {
            Value::Int(hash) => hash,
            _ => 0,
        })
        .collect();
    Ok(Value::Int(crate::num::hash::hash_tuple(hashes.into_iter())))
}

fn new_builtin(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn fill_list(vm: &mut Vm, args: &[Value]) -> Outcome {
    let items = vm.sequence_snapshot(args[1]);
    let items = vm.heap.retain_all(&items);
    let fresh = vm.list(items);
    let target = vm.class_argument(args[0])?;
    list::replace(vm, target, fresh);
    Ok(Value::None)
}

/// The method written in Python that the value's class has, or `None`.
fn own(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    let found = vm.python_method(args[0], name).unwrap_or(Value::None);
    Ok(vm.heap.retain(found))
}

fn raw_format(vm: &mut Vm, args: &[Value]) -> Outcome {
    let spec = vm.text(args[1]).unwrap_or_default().to_owned();
    vm.format_builtin(args[0], &spec)
}

/// The iterators inside a builtin iterator.
fn inner(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut held = Vec::new();
    if let Value::Obj(object) = args[0] {
        vm.heap.payload(object).each(&mut |value| held.push(value));
    }
    let held = vm.heap.retain_all(&held);
    Ok(vm.list(held))
}

/// `origin[arguments]` without asking the origin.
fn alias(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.heap.retain(args[0]);
    vm.heap.retain(args[1]);
    let starred = matches!(args[2], Value::Bool(true));
    Ok(vm.heap.make(ty::GENERIC_ALIAS, Payload::GenericAlias { origin: args[0], arguments: args[1], starred }))
}

/// `types.GenericAlias(origin, arguments)`
fn alias_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.heap.retain(args[1]);
    vm.heap.retain(args[2]);
    let arguments = if vm.is_instance(args[2], ty::TUPLE) { args[2] } else { vm.tuple(vec![args[2]]) };
    Ok(vm.wrap_builtin(class, Payload::GenericAlias { origin: args[1], arguments, starred: false }))
}

/// Gives a class the order of resolution that its metaclass asked for.
fn set_mro(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let mut order = Vec::new();
    for item in vm.sequence_snapshot(args[1]) {
        match item.object().filter(|_| object::is_class(vm, item)) {
            Some(base) => order.push(base),
            None => {
                let message = format!("mro() returned a non-class ('{}')", vm.class_name(item));
                return Err(vm.type_error(message));
            }
        }
    }
    vm.spend(order.len())?;
    vm.replace_mro(class, order);
    Ok(Value::None)
}

/// What only the helper does.
fn in_python(_: &mut Vm, _: &[Value]) -> Outcome {
    Err(Throw::Fallback)
}

/// `__name__` of the first module down the calls that is not the one asking.
fn caller_module(vm: &mut Vm, _: &[Value]) -> Outcome {
    let mut names = Vec::new();
    for frame in vm.frames.iter().rev() {
        if !vm.program.codes[frame.code as usize].code.hidden {
            names.push(frame.globals);
        }
    }
    let asking = names.first().and_then(|&globals| vm.dict_get_name(globals, nm::NAME)).and_then(|name| vm.text(name)).map(str::to_owned);
    for globals in names {
        let Some(name) = vm.dict_get_name(globals, nm::NAME) else { continue };
        if vm.text(name) != asking.as_deref() {
            return Ok(vm.heap.retain(name));
        }
    }
    Ok(Value::None)
}

/// The line at which a function's code begins.
fn first_line(vm: &mut Vm, args: &[Value]) -> Outcome {
    let code = match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Function(row)) => row.code,
        _ => return Err(vm.raise(ty::ATTRIBUTE_ERROR, "only functions have lines")),
    };
    Ok(Value::Int(vm.program.codes[code as usize].code.first_line.into()))
}

/// What a cell holds; `None` when nothing.
fn cell_content(vm: &mut Vm, args: &[Value]) -> Outcome {
    let inner = match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Cell(inner)) => inner.or(Value::None),
        _ => Value::None,
    };
    Ok(vm.heap.retain(inner))
}

/// `__name__` of the module whose code called the helper that asks.
fn module_name(vm: &mut Vm, _: &[Value]) -> Outcome {
    let caller = vm.frames.iter().rev().find(|frame| !vm.program.codes[frame.code as usize].code.hidden).map(|frame| frame.globals);
    let name = caller.and_then(|globals| vm.dict_get_name(globals, nm::NAME)).unwrap_or(Value::None);
    Ok(vm.heap.retain(name))
}

/// Makes a generator an iterator of another class, given itself or by its name.
fn dress(vm: &mut Vm, args: &[Value]) -> Outcome {
    let named = vm.text(args[1]).and_then(|name| crate::types::TYPES.iter().position(|row| row.name == name));
    let class = match named {
        Some(index) => crate::value::Ref(u32::try_from(index).unwrap_or_default()),
        None => vm.class_argument(args[1])?,
    };
    let generator = vm.class_argument(args[0])?;
    vm.heap.retain(Value::Obj(class));
    let old = std::mem::replace(&mut vm.heap.slot_mut(generator).class, class);
    vm.heap.release(Value::Obj(old));
    Ok(vm.heap.retain(args[0]))
}

/// Gives an exception the traceback of another one.
fn copy_trace(vm: &mut Vm, args: &[Value]) -> Outcome {
    let trace = vm.exception_data(args[0]).map(|row| row.trace.clone()).unwrap_or_default();
    let shown = vm.traceback_of(args[0]);
    if let Some(row) = vm.exception_row(args[1]) {
        row.trace = trace;
        let old = std::mem::replace(&mut row.shown, shown);
        vm.heap.release(old);
    }
    Ok(Value::None)
}

fn set_cause(vm: &mut Vm, args: &[Value]) -> Outcome {
    let cause = vm.heap.retain(args[1]);
    vm.set_cause(args[0], cause);
    Ok(Value::None)
}

fn close(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = vm.class_argument(args[0])?;
    let exception = vm.exception(ty::GENERATOR_EXIT, Value::Undefined);
    Err(Throw::Resume(object, Box::new((Wake::Throw(exception), OnReturn::Other(Box::new(Pending::Next))))))
}

fn is_subclass(vm: &mut Vm, args: &[Value]) -> Outcome {
    let (class, base) = (vm.class_argument(args[0])?, vm.class_argument(args[1])?);
    Ok(Value::Bool(vm.is_subclass(class, base)))
}

/// An instance of a class below a builtin one, with the content of a builtin value.
fn wrap(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let inner = match args[1] {
        Value::Obj(object) => match vm.heap.payload(object).core() {
            Payload::BigInt(_) => {
                vm.heap.retain(args[1]);
                Payload::Scalar(args[1])
            }
            payload => {
                let payload = payload.clone();
                let mut held = Vec::new();
                payload.each(&mut |value| held.push(value));
                vm.heap.retain_all(&held);
                payload
            }
        },
        value => Payload::Scalar(value),
    };
    let value = vm.wrap_builtin(class, inner);
    vm.label_children(value);
    Ok(value)
}

/// What `__code__` tells of a function: positional count, keyword-only count, names, flags.
fn code(vm: &mut Vm, args: &[Value]) -> Outcome {
    let number = match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Function(row)) => row.code,
        _ => return Ok(Value::None),
    };
    let program = std::sync::Arc::clone(&vm.program);
    let code = &program.codes[number as usize].code;
    let names = code.local_names.iter().take(code.parameters()).map(|name| vm.heap.str(name)).collect();
    let names = vm.tuple(names);
    let flags = i64::from(code.var_positional) * 4 + i64::from(code.var_keyword) * 8;
    let kind = match code.kind {
        crate::compile::code::CodeKind::Plain => 0,
        crate::compile::code::CodeKind::Generator => 0x20,
        crate::compile::code::CodeKind::Coroutine => 0x80,
        crate::compile::code::CodeKind::AsyncGenerator => 0x200,
    };
    let parts = vec![
        Value::Int(i64::from(code.positional)),
        Value::Int(i64::from(code.keyword_only)),
        Value::Int(i64::from(code.positional_only)),
        names,
        Value::Int(flags | kind),
        Value::Int(i64::from(code.first_line)),
    ];
    Ok(vm.tuple(parts))
}

fn output(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = vm.text(args[0]).unwrap_or_default().to_owned();
    vm.write_output(&text)?;
    Ok(Value::None)
}

fn globals(vm: &mut Vm, _: &[Value]) -> Outcome {
    let globals = vm.frames.last().map(|frame| Value::Obj(frame.globals)).unwrap_or(Value::None);
    Ok(vm.heap.retain(globals))
}

fn ascii(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = vm.text(args[0]).unwrap_or_default().to_owned();
    let mut out = String::new();
    for c in text.chars() {
        let code = u32::from(c);
        match code {
            0..=0x7e => out.push(c),
            0x7f..=0xff => out.push_str(&format!("\\x{code:02x}")),
            0x100..=0xffff => out.push_str(&format!("\\u{code:04x}")),
            _ => out.push_str(&format!("\\U{code:08x}")),
        }
    }
    Ok(vm.heap.string(out))
}
