//! What only the library's own Python sees: the module `_vm`.

use crate::costs::{ASCII_READ, CLASS_COPIED, ENTRY_LISTED, KEY_STEP, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::escapes::push_escape;
use crate::frame::{OnReturn, Pending, Wake};
use crate::objects::{list, object};
use crate::payload::Payload;
use crate::payload::dict::NEAR;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::Display;
use crate::types::{nm, ty};
use crate::value::{Truth, Value};
use cowboy_num::sizes;
const F: NativeKind = NativeKind::Function;

/// Rows of the module `_vm`.
pub(super) const ROWS: &[NativeRow] = &[
    NativeRow(F, "_vm.run_body", "body, namespace, /", 5, run_body, ""),
    NativeRow(F, "_vm.create_class", "meta, name, bases, namespace, /", 400, create_class, ""),
    NativeRow(F, "_vm.type_lookup", "cls, name, /", 2, type_lookup, ""),
    NativeRow(F, "_vm.dict_find", "d, key, hash, start, /", 2, dict_candidate, ""),
    NativeRow(F, "_vm.dict_key", "d, position, /", 1, dict_key, ""),
    NativeRow(F, "_vm.dict_holds", "d, position, key, /", 1, dict_holds, ""),
    NativeRow(F, "_vm.dict_value", "d, position, /", 1, dict_value, ""),
    NativeRow(F, "_vm.dict_replace", "d, position, value, /", 1, dict_replace, ""),
    NativeRow(F, "_vm.dict_add", "d, key, hash, value, /", 2, dict_add, ""),
    NativeRow(F, "_vm.dict_delete", "d, position, /", 1, dict_delete, ""),
    NativeRow(F, "_vm.entries", "table, /", 2, entries, ""),
    NativeRow(F, "_vm.tuple_hash", "hashes, /", 2, tuple_hash, ""),
    NativeRow(F, "_vm.new", "cls, /", 2, new_builtin, ""),
    NativeRow(F, "_vm.fill_list", "target, items, /", 2, fill_list, ""),
    NativeRow(F, "_vm.own", "value, name, /", 2, own, ""),
    NativeRow(F, "_vm.bind", "found, object, cls, /", 2, bind, ""),
    NativeRow(F, "_vm.raw_format", "value, spec, /", 2, raw_format, ""),
    NativeRow(F, "_vm.set_cause", "exception, cause, /", 1, set_cause, ""),
    NativeRow(F, "_vm.copy_trace", "source, target, /", 2, copy_trace, ""),
    NativeRow(F, "_vm.same_trace", "one, other, /", 10, same_trace, ""),
    NativeRow(F, "_vm.dress", "generator, cls, renews=, /", 2, dress, ""),
    NativeRow(F, "_vm.filled", "cls, names, values, /", 5, filled, ""),
    NativeRow(F, "_vm.read_only", "cls, names, /", 5, read_only, ""),
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
    NativeRow(F, "_vm.ascii", "text, /", 2, ascii, ""),
];

fn run_body(vm: &mut Vm, args: &[Value]) -> Outcome {
    Err(vm.run_class_body(args[0], args[1]))
}

fn create_class(vm: &mut Vm, args: &[Value]) -> Outcome {
    let meta = vm.class_argument(args[0])?;
    let name = object::class_name(vm, args[1])?;
    let mut bases = Vec::new();
    for base in vm.heap.tuple_items(args[2]) {
        match base.object().filter(|_| object::is_class(vm, base)) {
            Some(base) => bases.push(base),
            None => return Err(vm.type_error("bases must be types")),
        }
    }
    let namespace = vm.class_argument(args[3])?;
    vm.spend(CLASS_COPIED.of(vm.heap.dict_len(namespace)))?;
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
    let Some(table) = vm.heap.table(object) else { return Ok(Value::Int(-1)) };
    let mut probe = table.probe(hash);
    let mut positions = Vec::new();
    while let Some(position) = table.next(&mut probe, hash) {
        positions.push(i64::try_from(position).unwrap_or(i64::MAX));
    }
    vm.spend(ENTRY_LISTED.of(positions.len()))?;
    if probe.steps > NEAR {
        vm.spend(KEY_STEP.of(probe.steps as usize))?;
    }
    positions.sort_unstable();
    Ok(Value::Int(positions.into_iter().find(|&position| position >= start).unwrap_or(-1)))
}

fn position(vm: &Vm, dict: Value, position: Value) -> Option<crate::payload::dict::Entry> {
    let (Value::Obj(object), Value::Int(position)) = (dict, position) else { return None };
    let table = vm.heap.table(object)?;
    table.entries.get(sizes::index(position)?).copied().filter(|entry| !entry.key.is_undefined())
}

fn dict_key(vm: &mut Vm, args: &[Value]) -> Outcome {
    let key = position(vm, args[0], args[1]).map_or(Value::None, |entry| entry.key);
    Ok(vm.heap.retain(key))
}

/// Whether this very key is at a position.
fn dict_holds(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::truth(position(vm, args[0], args[1]).is_some_and(|entry| entry.key.is(args[2]))))
}

fn dict_value(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = position(vm, args[0], args[1]).map_or(Value::None, |entry| entry.value);
    Ok(vm.heap.retain(value))
}

fn dict_replace(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = vm.class_argument(args[0])?;
    if let (Some(entry), Value::Int(at)) = (position(vm, args[0], args[1]), args[1]) {
        vm.dict_store(object, entry.key, args[2], entry.hash, sizes::index(at))?;
    }
    Ok(Value::None)
}

fn dict_add(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = vm.class_argument(args[0])?;
    let Value::Int(hash) = args[2] else { return Ok(Value::None) };
    vm.dict_store(object, args[1], args[3], hash, None)?;
    Ok(Value::None)
}

fn dict_delete(vm: &mut Vm, args: &[Value]) -> Outcome {
    let object = vm.class_argument(args[0])?;
    if let (Some(_), Value::Int(at)) = (position(vm, args[0], args[1]), args[1]) {
        vm.dict_remove_at(object, sizes::saturating(at));
    }
    Ok(Value::None)
}

/// Keys and hashes of a builtin dict or set, `None` for anything else.
fn entries(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(pairs) = crate::objects::tables::entries(vm, args[0]) else { return Ok(Value::None) };
    vm.spend(ENTRY_LISTED.of(pairs.len()))?;
    vm.reserve(pairs.len().saturating_mul(64))?;
    let mut items = Vec::with_capacity(pairs.len());
    for (key, hash) in pairs {
        vm.heap.retain(key);
        items.push(vm.heap.tuple(vec![key, Value::Int(hash)]));
    }
    Ok(vm.heap.list(items))
}

fn tuple_hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    let hashes: Vec<i64> = vm
        .heap
        .sequence_snapshot(args[0])
        .into_iter()
        .map(|hash| match hash {
            Value::Int(hash) => hash,
            _ => 0,
        })
        .collect();
    Ok(Value::Int(cowboy_num::hash::hash_tuple(hashes.into_iter())))
}

fn new_builtin(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn fill_list(vm: &mut Vm, args: &[Value]) -> Outcome {
    let items = vm.heap.sequence_snapshot(args[1]);
    let items = vm.heap.retain_all(&items);
    let fresh = vm.heap.list(items);
    let target = vm.class_argument(args[0])?;
    list::replace(vm, target, fresh);
    Ok(Value::None)
}

/// The method written in Python that the value's class has, or `None`.
fn own(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    let found = match vm.python_method(args[0], name) {
        // It is there and cannot be called: not what stands for "nothing there".
        Some(Value::None) => Value::Ellipsis,
        found => found.unwrap_or(Value::None),
    };
    Ok(vm.heap.retain(found))
}

/// What an attribute of a class gives for an instance.
fn bind(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[2])?;
    vm.bind_attribute(args[0], args[1], class, nm::CALL)
}

fn raw_format(vm: &mut Vm, args: &[Value]) -> Outcome {
    let spec = vm.heap.text(args[1]).unwrap_or_default().to_owned();
    vm.format_builtin(args[0], &spec)
}

/// `origin[arguments]` without asking the origin.
fn alias(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.heap.retain(args[0]);
    vm.heap.retain(args[1]);
    let starred = matches!(args[2], Value::Bool(Truth::True));
    Ok(vm.heap.make(ty::GENERIC_ALIAS, Payload::GenericAlias { origin: args[0], arguments: args[1], starred }))
}

/// `types.GenericAlias(origin, arguments)`
fn alias_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.heap.retain(args[1]);
    vm.heap.retain(args[2]);
    let arguments = if vm.heap.is_instance(args[2], ty::TUPLE) { args[2] } else { vm.heap.tuple(vec![args[2]]) };
    Ok(vm.heap.wrap_builtin(class, Payload::GenericAlias { origin: args[1], arguments, starred: false }))
}

/// Gives a class the order of resolution that its metaclass asked for.
fn set_mro(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let mut order = Vec::new();
    for item in vm.heap.sequence_snapshot(args[1]) {
        match item.object().filter(|_| object::is_class(vm, item)) {
            Some(base) => order.push(base),
            None => {
                let message = format!("mro() returned a non-class ('{}')", vm.heap.class_name(item));
                return Err(vm.type_error(message));
            }
        }
    }
    vm.spend(CLASS_COPIED.of(order.len()))?;
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
    let asking =
        names.first().and_then(|&globals| vm.heap.dict_get_name(globals, nm::NAME)).and_then(|name| vm.heap.text(name)).map(str::to_owned);
    for globals in names {
        let Some(name) = vm.heap.dict_get_name(globals, nm::NAME) else { continue };
        if vm.heap.text(name) != asking.as_deref() {
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
    let name = caller.and_then(|globals| vm.heap.dict_get_name(globals, nm::NAME)).unwrap_or(Value::None);
    Ok(vm.heap.retain(name))
}

/// Gives a generator another class, if one is named, and says whether all that it has beside its arguments lies in them: then it goes on
/// after an exception, and makes a step while another one is under way, as iterators written in C do.
fn dress(vm: &mut Vm, args: &[Value]) -> Outcome {
    let generator = vm.class_argument(args[0])?;
    if matches!(args[2], Value::Bool(Truth::True)) {
        let arguments = match vm.heap.payload(generator) {
            Payload::Generator(row) => {
                let count = vm.program.codes[row.code as usize].code.parameters();
                row.registers[..count.min(row.registers.len())].to_vec()
            }
            _ => Vec::new(),
        };
        vm.heap.retain_each(&arguments);
        if let Payload::Generator(row) = vm.heap.payload_mut(generator) {
            row.again = arguments.into();
        }
    }
    if !args[1].is_none() {
        let named = vm.heap.text(args[1]).and_then(|name| crate::types::TYPES.iter().position(|row| row.name == name));
        let class = match named {
            Some(index) => crate::value::Ref::fixed(index),
            None => vm.class_argument(args[1])?,
        };
        vm.heap.retain(Value::Obj(class));
        let old = std::mem::replace(&mut vm.heap.slot_mut(generator).class, class);
        vm.heap.release(Value::Obj(old));
    }
    Ok(vm.heap.retain(args[0]))
}

/// An instance of a class with `__slots__`, filled with values in the order of `names`.
fn filled(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let instance = vm.new_instance(class)?;
    for (name, value) in vm.heap.tuple_items(args[1]).into_iter().zip(vm.heap.tuple_items(args[2])) {
        let name = vm.attribute_name(name)?;
        if let Err(throw) = vm.set_instance_attribute(instance, name, value) {
            vm.heap.release(instance);
            return Err(throw);
        }
    }
    Ok(instance)
}

/// Makes slots of a class read-only: `_vm.filled` alone sets them.
fn read_only(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    for name in vm.heap.tuple_items(args[1]) {
        let name = vm.attribute_name(name)?;
        if let Some(Value::Obj(member)) = vm.lookup(class, name) {
            if let Payload::Member { read_only, .. } = vm.heap.payload_mut(member) {
                *read_only = true;
            }
        }
    }
    Ok(Value::None)
}

/// Gives an exception the traceback of another one.
fn copy_trace(vm: &mut Vm, args: &[Value]) -> Outcome {
    let trace = vm.heap.exception_data(args[0]).map(|row| row.trace.clone()).unwrap_or_default();
    let shown = vm.traceback_of(args[0]);
    if let Some(row) = vm.heap.exception_row(args[1]) {
        row.trace = trace;
        let old = std::mem::replace(&mut row.shown, shown);
        vm.heap.release(old);
    }
    Ok(Value::None)
}

/// Whether two exceptions were raised at the same lines of the same calls.
fn same_trace(vm: &mut Vm, args: &[Value]) -> Outcome {
    let one = vm.heap.exception_data(args[0]).map(|row| &row.trace);
    let other = vm.heap.exception_data(args[1]).map(|row| &row.trace);
    Ok(Value::truth(one == other))
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
    Ok(Value::truth(vm.heap.is_subclass(class, base)))
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
    let value = vm.heap.wrap_builtin(class, inner);
    vm.heap.label_children(value);
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
    let names = vm.heap.tuple(names);
    let flags = i64::from(code.var_positional) * 4 + i64::from(code.var_keyword) * 8;
    let kind = match code.kind {
        cowboy_compiler::code::CodeKind::Plain => 0,
        cowboy_compiler::code::CodeKind::Generator => 0x20,
        cowboy_compiler::code::CodeKind::Coroutine => 0x80,
        cowboy_compiler::code::CodeKind::AsyncGenerator => 0x200,
    };
    let parts = vec![
        Value::Int(i64::from(code.positional)),
        Value::Int(i64::from(code.keyword_only)),
        Value::Int(i64::from(code.positional_only)),
        names,
        Value::Int(flags | kind),
        Value::Int(i64::from(code.first_line)),
    ];
    Ok(vm.heap.tuple(parts))
}

fn output(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = vm.heap.text(args[0]).unwrap_or_default().to_owned();
    vm.write_output(&text)?;
    Ok(Value::None)
}

/// Characters that `ascii` looks at between two looks at how large its result is.
const AT_ONCE: usize = 4_096;

fn ascii(vm: &mut Vm, args: &[Value]) -> Outcome {
    let length = vm.heap.text(args[0]).map_or(0, str::len);
    vm.spend(ASCII_READ.of(length))?;
    let text = vm.heap.text(args[0]).unwrap_or_default().to_owned();
    let mut out = String::new();
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(AT_ONCE));
        for c in piece.chars() {
            match c {
                '\0'..='\x7e' => out.push(c),
                c => push_escape(&mut out, u32::from(c)),
            }
        }
        vm.allow(out.len(), TEXT_WRITTEN.of(out.len()))?;
        rest = after;
    }
    vm.spend(TEXT_WRITTEN.of(out.len()))?;
    Ok(vm.heap.string(out))
}
