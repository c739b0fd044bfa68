//! Functions, properties, generators, iterators and the like.

use crate::costs::ITERATOR_MADE;
use crate::error::{Outcome, Throw};
use crate::frame::{OnReturn, Pending, Wake};
use crate::payload::{GeneratorState, Iter, Payload};
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Iterate, SetAttributes};
use crate::runtime::{Vm, sequences::ITERATOR_NESTING};
use crate::types::{nm, ty};
use crate::value::Value;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;

/// Rows of these types.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "property.__new__", "cls, /, *args, **kwargs", 12, property_new, ""),
    NativeRow(M, "property.__init__", "self, fget=, fset=, fdel=, doc=", 12, property_init, ""),
    NativeRow(M, "property.getter", "self, fget, /", 12, property_getter, ""),
    NativeRow(M, "property.setter", "self, fset, /", 12, property_setter, ""),
    NativeRow(M, "property.deleter", "self, fdel, /", 12, property_deleter, ""),
    NativeRow(M, "property.__get__", "self, instance, owner=, /", 12, property_get, ""),
    NativeRow(M, "property.__set__", "self, instance, value, /", 12, property_set, ""),
    NativeRow(S, "staticmethod.__new__", "cls, function, /, *rest", 3, staticmethod, ""),
    NativeRow(S, "classmethod.__new__", "cls, function, /, *rest", 3, classmethod, ""),
    NativeRow(M, "staticmethod.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(M, "classmethod.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(M, "function.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(M, "member_descriptor.__get__", "self, instance, owner=, /", 3, descriptor_get, ""),
    NativeRow(S, "super.__new__", "cls, type=, object=, /", 3, super_new, ""),
    NativeRow(M, "super.__get__", "self, instance, owner=, /", 3, super_get, ""),
    NativeRow(M, "member_descriptor.__set__", "self, instance, value, /", 3, member_set, ""),
    NativeRow(M, "member_descriptor.__delete__", "self, instance, /", 3, member_delete, ""),
    NativeRow(M, "property.__delete__", "self, instance, /", 12, property_delete, ""),
    NativeRow(S, "method.__new__", "cls, function, instance, /", 3, method_new, ""),
    NativeRow(S, "mappingproxy.__new__", "cls, mapping, /", 3, proxy_new, ""),
    NativeRow(M, "generator.__iter__", "self, /", 1, same, ""),
    NativeRow(M, "generator.__next__", "self, /", 3, generator_next, ""),
    NativeRow(M, "generator.send", "self, value, /", 3, generator_send, ""),
    NativeRow(M, "generator.throw", "self, type, value=, traceback=, /", 3, generator_throw, ""),
    NativeRow(M, "generator.close", "self, /", 3, generator_close, ""),
    NativeRow(M, "coroutine.send", "self, value, /", 3, generator_send, ""),
    NativeRow(M, "coroutine.throw", "self, type, value=, traceback=, /", 3, generator_throw, ""),
    NativeRow(M, "coroutine.close", "self, /", 3, generator_close, ""),
    NativeRow(M, "coroutine.__await__", "self, /", 3, coroutine_await, ""),
    NativeRow(M, "coroutine_wrapper.__iter__", "self, /", 1, same, ""),
    NativeRow(M, "coroutine_wrapper.__next__", "self, /", 3, generator_next, ""),
    NativeRow(M, "coroutine_wrapper.send", "self, value, /", 3, generator_send, ""),
    NativeRow(M, "coroutine_wrapper.throw", "self, type, value=, traceback=, /", 3, generator_throw, ""),
    NativeRow(M, "coroutine_wrapper.close", "self, /", 3, generator_close, ""),
    NativeRow(M, "async_generator.__aiter__", "self, /", 1, same, ""),
    NativeRow(M, "async_generator.__anext__", "self, /", 3, async_next, ""),
    NativeRow(M, "async_generator.asend", "self, value, /", 3, async_send, ""),
    NativeRow(M, "async_generator.athrow", "self, type, value=, traceback=, /", 3, async_throw, "async_generator_throw"),
    NativeRow(M, "async_generator.aclose", "self, /", 3, async_close, ""),
    NativeRow(M, "async_generator_asend.__await__", "self, /", 1, same, ""),
    NativeRow(S, "enumerate.__new__", "cls, iterable, start=", 3, enumerate, "retry_last"),
    NativeRow(S, "zip.__new__", "cls, /, *iterables, strict=", 3, zip, ""),
    NativeRow(S, "map.__new__", "cls, /, *args, **kwargs", 3, map, ""),
    NativeRow(S, "filter.__new__", "cls, function, iterable, /", 3, filter, ""),
    NativeRow(S, "reversed.__new__", "cls, sequence, /", 3, reversed, ""),
];

macro_rules! iterators {
    ($($name:literal $next:ident $helper:literal;)*) => {
        /// Rows of the builtin iterators.
        pub(crate) const ITERATORS: &[NativeRow] = &[
            $(
                NativeRow(M, concat!($name, ".__iter__"), "self, /", 1, same, ""),
                NativeRow(M, concat!($name, ".__next__"), "self, /", 1, $next, $helper),
            )*
        ];
    };
}

iterators! {
    "list_iterator" iterator_next ""; "tuple_iterator" iterator_next ""; "str_ascii_iterator" iterator_next "";
    "bytes_iterator" iterator_next ""; "bytearray_iterator" iterator_next ""; "range_iterator" iterator_next "";
    "dict_keyiterator" iterator_next ""; "dict_valueiterator" iterator_next ""; "dict_itemiterator" iterator_next "";
    "set_iterator" iterator_next ""; "reversed" dressed_next ""; "list_reverseiterator" iterator_next "";
    "dict_reversekeyiterator" iterator_next ""; "dict_reversevalueiterator" iterator_next ""; "dict_reverseitemiterator" iterator_next "";
    "enumerate" dressed_next ""; "zip" dressed_next ""; "map" generator_next ""; "filter" generator_next "";
    "callable_iterator" generator_next ""; "iterator" generator_next "";
}

macro_rules! sized {
    ($($name:literal;)*) => {
        /// Rows of the iterators that know how much is left.
        pub(crate) const SIZED_ITERATORS: &[NativeRow] = &[
            $(NativeRow(M, concat!($name, ".__length_hint__"), "self, /", 2, length_hint, ""),)*
        ];
    };
}

sized! {
    "list_iterator"; "tuple_iterator"; "str_ascii_iterator"; "bytes_iterator"; "bytearray_iterator"; "range_iterator"; "dict_keyiterator";
    "dict_valueiterator"; "dict_itemiterator"; "set_iterator"; "reversed"; "list_reverseiterator"; "dict_reversekeyiterator";
    "dict_reversevalueiterator"; "dict_reverseitemiterator";
}

/// How many items an iterator still has.
fn length_hint(vm: &mut Vm, args: &[Value]) -> Outcome {
    let state = match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Iterator(state)) => (**state).clone(),
        _ => return Ok(Value::Int(0)),
    };
    let left = match state {
        Iter::Sequence { sequence: Value::Obj(sequence), index } => vm.heap.sequence_length(sequence).saturating_sub(index),
        Iter::Reversed { sequence: Value::Obj(sequence), left } => {
            if left > vm.heap.sequence_length(sequence) {
                0
            } else {
                left
            }
        }
        Iter::Range { left, .. } => return Ok(Value::Int(i64::try_from(left).unwrap_or(i64::MAX))),
        Iter::Dict { dict: Value::Obj(dict), index, size, .. } => {
            vm.spend(crate::costs::ITEMS_PASSED.of(size))?;
            match vm.heap.table(dict) {
                Some(table) if table.len() == size => table.entries.iter().skip(index).filter(|entry| !entry.key.is_undefined()).count(),
                _ => 0,
            }
        }
        Iter::ReversedDict { dict: Value::Obj(dict), left, size, .. } => {
            vm.spend(crate::costs::ITEMS_PASSED.of(size))?;
            match vm.heap.table(dict) {
                Some(table) if table.len() == size => table.entries.iter().take(left).filter(|entry| !entry.key.is_undefined()).count(),
                _ => 0,
            }
        }
        _ => 0,
    };
    Ok(Value::Int(i64::try_from(left).unwrap_or(i64::MAX)))
}

fn map(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.heap.dict_pairs(args[1]).is_empty() {
        return Err(vm.type_error("map() takes no keyword arguments"));
    }
    if args.len() < 4 {
        return Err(vm.type_error("map() must have at least two arguments."));
    }
    let iterables = vm.heap.retain_all(&args[3..]);
    let iterables = vm.heap.tuple(iterables);
    let outcome = vm.call_helper("map_new", &[args[0], args[2], iterables]);
    vm.heap.release(iterables);
    outcome
}

fn filter(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("filter_new", &[args[0], args[1], args[2]])
}

fn coroutine_await(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("coroutine_await", &[args[0]])
}

fn same(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(vm.heap.retain(args[0]))
}

// ---- properties ----

fn property_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn property_parts(vm: &Vm, value: Value) -> [Value; 5] {
    match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Property(parts)) => **parts,
        _ => [Value::None; 5],
    }
}

fn property_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    let parts = [args[1].or(Value::None), args[2].or(Value::None), args[3].or(Value::None), args[4].or(Value::None), Value::None];
    for part in parts {
        vm.heap.retain(part);
    }
    if let Value::Obj(object) = args[0] {
        if let Payload::Property(row) = vm.heap.payload_mut(object).core_mut() {
            **row = parts;
        }
    }
    Ok(Value::None)
}

fn property_with(vm: &mut Vm, args: &[Value], index: usize) -> Outcome {
    let mut parts = property_parts(vm, args[0]);
    parts[index] = args[1];
    let class = vm.heap.class_of(args[0]);
    let property = vm.new_builtin(class)?;
    property_init(vm, &[property, parts[0], parts[1], parts[2], parts[3]])?;
    Ok(property)
}

fn property_getter(vm: &mut Vm, args: &[Value]) -> Outcome {
    property_with(vm, args, 0)
}

fn property_setter(vm: &mut Vm, args: &[Value]) -> Outcome {
    property_with(vm, args, 1)
}

fn property_deleter(vm: &mut Vm, args: &[Value]) -> Outcome {
    property_with(vm, args, 2)
}

fn property_get(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[1].is_none() {
        return Ok(vm.heap.retain(args[0]));
    }
    let getter = property_parts(vm, args[0])[0];
    if getter.is_none() {
        return Err(vm.raise(ty::ATTRIBUTE_ERROR, "property has no getter"));
    }
    Err(vm.call_later(getter, &[args[1]], OnReturn::Store))
}

fn property_set(vm: &mut Vm, args: &[Value]) -> Outcome {
    let setter = property_parts(vm, args[0])[1];
    if setter.is_none() {
        return Err(vm.raise(ty::ATTRIBUTE_ERROR, "property has no setter"));
    }
    Err(vm.call_later(setter, &[args[1], args[2]], OnReturn::Store))
}

fn property_delete(vm: &mut Vm, args: &[Value]) -> Outcome {
    let deleter = property_parts(vm, args[0])[2];
    if deleter.is_none() {
        return Err(vm.raise(ty::ATTRIBUTE_ERROR, "property has no deleter"));
    }
    Err(vm.call_later(deleter, &[args[1]], OnReturn::Store))
}

/// The slot that a descriptor stands for, after a check that the instance has it.
fn member_of(vm: &mut Vm, args: &[Value]) -> Outcome<crate::value::Ref> {
    let (name, class) = match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Member { name, class, .. }) => (*name, *class),
        _ => return Err(vm.type_error("a slot's descriptor is needed")),
    };
    if vm.heap.is_instance(args[1], class) {
        return Ok(name);
    }
    let message = format!(
        "descriptor '{}' for '{}' objects doesn't apply to a '{}' object",
        vm.heap.name_text(name),
        vm.heap.name_of_class(class),
        vm.heap.class_name(args[1])
    );
    Err(vm.type_error(message))
}

fn member_set(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = member_of(vm, args)?;
    vm.set_attribute_plain(args[1], name, args[2]).map(|()| Value::None)
}

fn member_delete(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = member_of(vm, args)?;
    vm.delete_attribute_plain(args[1], name).map(|()| Value::None)
}

/// `types.MethodType(function, instance)`
fn method_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.special(args[1], nm::CALL).is_none() {
        return Err(vm.type_error("first argument must be callable"));
    }
    if args[2].is_none() {
        return Err(vm.type_error("instance must not be None"));
    }
    vm.heap.retain(args[1]);
    vm.heap.retain(args[2]);
    Ok(vm.heap.bound_method(args[1], args[2]))
}

/// `types.MappingProxyType(mapping)`
fn proxy_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.heap.is_instance(args[1], ty::DICT) {
        let message = format!("mappingproxy() argument must be a mapping, not {}", vm.heap.class_name(args[1]));
        return Err(vm.type_error(message));
    }
    vm.heap.retain(args[1]);
    Ok(vm.heap.make(ty::MAPPING_PROXY, Payload::MappingProxy(args[1])))
}

fn staticmethod(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.heap.retain(args[1]);
    Ok(vm.heap.wrap_builtin(class, Payload::StaticMethod(args[1])))
}

fn classmethod(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.heap.retain(args[1]);
    Ok(vm.heap.wrap_builtin(class, Payload::ClassMethod(args[1])))
}

fn descriptor_get(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = match args[2] {
        Value::Obj(class) if super::object::is_class(vm, args[2]) => class,
        _ => vm.heap.class_of(args[1]),
    };
    if args[1].is_none() && !args[2].is_undefined() && !args[2].is_none() {
        return vm.bind_to_class(args[0], class);
    }
    vm.bind_attribute(args[0], args[1], class, nm::GET)
}

fn super_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[1].is_undefined() {
        return Err(vm.raise(ty::RUNTIME_ERROR, "super(): no arguments"));
    }
    vm.make_super(args[1], args[2].or(Value::None))
}

fn super_get(vm: &mut Vm, args: &[Value]) -> Outcome {
    match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Super { class, receiver, .. }) if receiver.is_none() && !args[1].is_none() => {
            let class = Value::Obj(*class);
            vm.make_super(class, args[1])
        }
        _ => Ok(vm.heap.retain(args[0])),
    }
}

// ---- generators ----

fn generator_next(_: &mut Vm, args: &[Value]) -> Outcome {
    Err(resume(args[0], Wake::Send(Value::None), Pending::Next))
}

fn generator_send(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = vm.heap.retain(args[1]);
    Err(resume(args[0], Wake::Send(value), Pending::Next))
}

fn resume(generator: Value, wake: Wake, pending: Pending) -> Throw {
    Throw::Resume(generator.object().unwrap_or(ty::NONE), Box::new((wake, OnReturn::Other(Box::new(pending)))))
}

fn generator_throw(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[2].is_undefined() && vm.throws_into_object(args[0]) {
        vm.heap.retain(args[1]);
        return Err(resume(args[0], Wake::Throw(args[1]), Pending::Next));
    }
    let exception = if vm.heap.exception_class(args[1]).is_some() {
        if args[2].is_undefined() || args[2].is_none() {
            return vm.call_helper("generator_throw", &[args[0], args[1]]);
        }
        if vm.heap.exception_data(args[2]).is_some() {
            args[2]
        } else {
            return vm.call_helper("generator_throw", &[args[0], args[1], args[2]]);
        }
    } else if vm.heap.exception_data(args[1]).is_some() {
        if !args[2].is_undefined() && !args[2].is_none() {
            return Err(vm.type_error("instance exception may not have a separate value"));
        }
        args[1]
    } else {
        let message = format!("exceptions must be classes or instances deriving from BaseException, not {}", vm.heap.class_name(args[1]));
        return Err(vm.type_error(message));
    };
    vm.heap.retain(exception);
    Err(resume(args[0], Wake::Throw(exception), Pending::Next))
}

fn generator_close(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Value::Obj(object) = args[0] else { return Ok(Value::None) };
    let state = match vm.heap.payload(object) {
        Payload::Generator(row) => row.state,
        _ => GeneratorState::Done,
    };
    match state {
        GeneratorState::Created => {
            vm.heap.finish_generator(object);
            Ok(Value::None)
        }
        GeneratorState::Done => Ok(Value::None),
        GeneratorState::Running => Err(vm.value_error("generator already executing")),
        GeneratorState::Suspended => vm.call_helper("generator_close", &[args[0]]),
    }
}

fn async_next(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.async_next(args[0])
}

fn async_send(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.heap.retain(args[0]);
    vm.heap.retain(args[1]);
    Ok(vm.heap.make(ty::ASYNC_STEP, Payload::AsyncStep { generator: args[0], sent: args[1], kind: 0 }))
}

fn async_throw(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.exception_data(args[1]).is_none() {
        return Err(Throw::Fallback);
    }
    vm.heap.retain(args[0]);
    vm.heap.retain(args[1]);
    let step = Payload::AsyncStep { generator: args[0], sent: args[1], kind: crate::runtime::generators::THROWN };
    Ok(vm.heap.make(ty::ASYNC_STEP, step))
}

fn async_close(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("async_generator_close", &[args[0]])
}

// ---- iterators ----

/// `next` of a builtin iterator.
pub(crate) fn iterator_next(vm: &mut Vm, args: &[Value]) -> Outcome {
    match vm.next_native(args[0])? {
        Some(item) => Ok(item),
        None => Err(vm.stop_iteration(Value::None)),
    }
}

/// `next` of an iterator that is a generator where its steps need Python code.
fn dressed_next(vm: &mut Vm, args: &[Value]) -> Outcome {
    match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Generator(_)) => generator_next(vm, args),
        _ => iterator_next(vm, args),
    }
}

/// The iterator of a value when that and its steps need no Python code, with the nesting of a builtin iterator around it.
/// RecursionError when that is more than a step may go through.
fn native_iterator(vm: &mut Vm, value: Value) -> Outcome<Option<(Value, u8)>> {
    match vm.iterator(value) {
        Ok(iterator) => match vm.heap.iterator_nesting(iterator) {
            Some(nesting) if nesting < ITERATOR_NESTING => Ok(Some((iterator, nesting + 1))),
            nesting => {
                vm.heap.release(iterator);
                match nesting {
                    Some(_) => {
                        Err(vm.raise(ty::RECURSION_ERROR, "maximum recursion depth exceeded: too many iterators inside one another"))
                    }
                    None => Ok(None),
                }
            }
        },
        Err(Throw::Call(call)) => {
            vm.heap.release_all(call.arguments);
            vm.heap.release(call.function);
            Ok(None)
        }
        Err(throw) => Err(throw),
    }
}

/// Where a native `enumerate` may begin, so that no run counts up to the end of 64 bits.
const LAST_START: i64 = i64::MAX / 2;

fn enumerate(vm: &mut Vm, args: &[Value]) -> Outcome {
    let start = args[2].or(Value::Int(0));
    let Value::Int(count) = start else {
        if vm.heap.as_int(start).is_none() {
            return Err(vm.not_an_integer(start));
        }
        return vm.call_helper("enumerate_generator", &[args[1], start]);
    };
    // What may leave 64 bits is counted in Python.
    if count > LAST_START {
        return vm.call_helper("enumerate_generator", &[args[1], start]);
    }
    match native_iterator(vm, args[1])? {
        Some((inner, nesting)) => Ok(vm.heap.make(ty::ENUMERATE, Payload::Iterator(Box::new(Iter::Enumerate { inner, count, nesting })))),
        None => vm.call_helper("enumerate_generator", &[args[1], start]),
    }
}

fn zip(vm: &mut Vm, args: &[Value]) -> Outcome {
    let strict = vm.option(args[1])?;
    let (mut inner, mut deepest) = (Vec::new(), 1);
    vm.spend(ITERATOR_MADE.of(args[2..].len().saturating_sub(2)))?;
    for &iterable in &args[2..] {
        match native_iterator(vm, iterable) {
            Err(throw) => {
                vm.heap.release_all(inner);
                return Err(throw);
            }
            Ok(Some((iterator, nesting))) => {
                inner.push(iterator);
                deepest = deepest.max(nesting);
            }
            Ok(None) => {
                vm.heap.release_all(inner);
                let items = vm.heap.retain_all(&args[2..]);
                let items = vm.heap.tuple(items);
                let outcome = vm.call_helper("zip_generator", &[items, Value::truth(strict)]);
                vm.heap.release(items);
                return outcome;
            }
        }
    }
    Ok(vm.heap.make(ty::ZIP, Payload::Iterator(Box::new(Iter::Zip { inner, strict, nesting: deepest }))))
}

fn not_reversible(vm: &mut Vm, value: Value) -> Throw {
    let message = format!("'{}' object is not reversible", vm.heap.class_name(value));
    vm.type_error(message)
}

fn reversed(vm: &mut Vm, args: &[Value]) -> Outcome {
    match vm.special(args[1], nm::REVERSED) {
        Some(Value::None) => Err(not_reversible(vm, args[1])),
        Some(function) => Err(vm.call_special(function, &[args[1]], OnReturn::Store)),
        _ => {
            let sequence = vm.special(args[1], nm::GETITEM).is_some() && vm.special(args[1], nm::LEN).is_some();
            match vm.heap.class_of(args[1]) {
                ty::TUPLE | ty::STR | ty::BYTES | ty::BYTEARRAY => super::list::reversed(vm, &args[1..]),
                _ if sequence => vm.call_helper("reversed_by_index", &[args[1]]),
                _ => Err(not_reversible(vm, args[1])),
            }
        }
    }
}
