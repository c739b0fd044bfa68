//! `object` and `type`: what every value and class can do.

use crate::costs::{NAME_SORTED, OWN_NAME, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::frame::CompareOp;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Compare, Display, GetAttributes, Hashing, SetAttributes};
use crate::types::{nm, ty};
use crate::value::Value;

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `object` and `type`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "object.__new__", "cls, /, *args, **kwargs", 10, new, ""),
    NativeRow(S, "NoneType.__new__", "cls, /", 1, none_new, ""),
    NativeRow(S, "NotImplementedType.__new__", "cls, /", 1, not_implemented_new, ""),
    NativeRow(S, "ellipsis.__new__", "cls, /", 1, ellipsis_new, ""),
    NativeRow(M, "function.__call__", "self, /, *args, **kwargs", 25, call, ""),
    NativeRow(M, "method.__call__", "self, /, *args, **kwargs", 1, call, ""),
    NativeRow(M, "method.__eq__", "self, value, /", 2, method_compare, ""),
    NativeRow(M, "method.__ne__", "self, value, /", 2, method_differs, ""),
    NativeRow(M, "method.__hash__", "self, /", 2, method_hash, ""),
    NativeRow(M, "builtin_function_or_method.__call__", "self, /, *args, **kwargs", 1, call, ""),
    NativeRow(M, "method_descriptor.__call__", "self, /, *args, **kwargs", 1, call, ""),
    NativeRow(M, "object.__init__", "self, /, *args, **kwargs", 1, init, ""),
    NativeRow(M, "object.__repr__", "self, /", 5, repr, "object_repr"),
    NativeRow(M, "object.__str__", "self, /", 5, object_str, ""),
    NativeRow(M, "str.__str__", "self, /", 5, str, ""),
    NativeRow(M, "object.__format__", "self, format_spec, /", 5, format, ""),
    NativeRow(M, "object.__hash__", "self, /", 2, hash, ""),
    NativeRow(M, "object.__eq__", "self, value, /", 1, eq, ""),
    NativeRow(M, "object.__ne__", "self, value, /", 1, ne, ""),
    NativeRow(M, "object.__lt__", "self, other, /", 1, order, ""),
    NativeRow(M, "object.__le__", "self, other, /", 1, order, ""),
    NativeRow(M, "object.__gt__", "self, other, /", 1, order, ""),
    NativeRow(M, "object.__ge__", "self, other, /", 1, order, ""),
    NativeRow(M, "object.__getattribute__", "self, name, /", 3, getattribute, ""),
    NativeRow(M, "object.__setattr__", "self, name, value, /", 8, setattr, ""),
    NativeRow(M, "object.__delattr__", "self, name, /", 3, delattr, ""),
    NativeRow(C, "object.__init_subclass__", "cls, /, *args, **kwargs", 1, init_subclass, ""),
    NativeRow(M, "object.__dir__", "self, /", 10, dir, ""),
    NativeRow(C, "object.__subclasshook__", "cls, other, /", 1, subclasshook, ""),
    NativeRow(S, "type.__new__", "cls, /, *args, **kwargs", 20, type_new, ""),
    NativeRow(M, "type.__init__", "self, /, *args, **kwargs", 1, init, ""),
    NativeRow(M, "type.__call__", "self, /, *args, **kwargs", 25, type_call, ""),
    NativeRow(M, "type.mro", "self, /", 5, mro, ""),
    NativeRow(M, "type.__instancecheck__", "self, instance, /", 3, instancecheck, ""),
    NativeRow(M, "type.__subclasscheck__", "self, subclass, /", 3, subclasscheck, ""),
    NativeRow(C, "type.__prepare__", "cls, /, *args, **kwargs", 15, prepare, ""),
];

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(class) = args[0].object().filter(|&class| matches!(vm.heap.payload(class), Payload::Class(_))) else {
        let message = format!("object.__new__(X): X is not a type object ({})", vm.heap.class_name(args[0]));
        return Err(vm.type_error(message));
    };
    let own_new = vm.lookup(class, nm::NEW).and_then(|f| vm.heap.native_row(f)).is_none();
    let own_init = vm.lookup(class, nm::INIT).and_then(|f| vm.heap.native_row(f)).is_none();
    let has_arguments = args.len() > 2 || !vm.heap.dict_pairs(args[1]).is_empty();
    if has_arguments && !own_init {
        let message = if own_new {
            "object.__new__() takes exactly one argument (the type to instantiate)".to_owned()
        } else {
            format!("{}() takes no arguments", vm.heap.name_of_class(class))
        };
        return Err(vm.type_error(message));
    }
    if vm.heap.layout(class) == crate::types::Layout::Object {
        vm.new_instance(class)
    } else if class.0 < crate::types::FIXED_COUNT {
        let name = vm.heap.name_of_class(class);
        Err(vm.type_error(format!("object.__new__({name}) is not safe, use {name}.__new__()")))
    } else {
        vm.new_builtin(class)
    }
}

fn init(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.heap.class_of(args[0]);
    let is = |vm: &mut Vm, name: crate::value::Ref, wanted: &str| {
        vm.lookup(class, name).and_then(|f| vm.heap.native_row(f)).is_some_and(|row| vm.native(row).name == wanted)
    };
    let own_init = !is(vm, nm::INIT, "object.__init__");
    let plain_new = is(vm, nm::NEW, "object.__new__");
    let is_class = matches!(args[0], Value::Obj(object) if matches!(vm.heap.payload(object), Payload::Class(_)));
    if (args.len() > 2 || !vm.heap.dict_pairs(args[1]).is_empty()) && !is_class && (own_init || plain_new) {
        let message = if own_init {
            "object.__init__() takes exactly one argument (the instance to initialize)".to_owned()
        } else {
            format!("{}.__init__() takes exactly one argument (the instance to initialize)", vm.heap.name_of_class(class))
        };
        return Err(vm.type_error(message));
    }
    Ok(Value::None)
}

/// Objects have no order of their own.
fn order(_: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::NotImplemented)
}

fn repr(vm: &mut Vm, args: &[Value]) -> Outcome {
    match args[0] {
        Value::Obj(object) if matches!(vm.heap.payload(object), Payload::Class(_)) => {
            let name = vm.qualified_name(object);
            Ok(vm.heap.string(format!("<class '{name}'>")))
        }
        Value::Obj(object) if matches!(vm.heap.payload(object).core(), Payload::GenericAlias { .. }) => {
            let mut out = String::new();
            let outcome = vm.write_object(&mut out, object);
            vm.spend(TEXT_WRITTEN.of(out.len()))?;
            outcome.map(|()| vm.heap.string(out))
        }
        Value::Obj(object) if !matches!(vm.heap.payload(object), Payload::Instance(_) | Payload::Plain) => {
            // A builtin content's own form, even when the class has a __repr__ written in Python.
            if vm.python_method(args[0], nm::REPR).is_none() {
                return vm.repr_value(args[0]);
            }
            let plain = super::plain(vm, args[0]);
            let outcome = if plain.is(args[0]) {
                let class = vm.heap.class_of(args[0]);
                let name = vm.full_name(class);
                let items = vm.heap.exception_data(args[0]).map(|row| row.args);
                match items {
                    Some(items) => vm.repr_native(items).map(|text| {
                        let text = text.strip_suffix(",)").map_or(text.clone(), |text| format!("{text})"));
                        vm.heap.string(format!("{name}{text}"))
                    }),
                    None => {
                        let name = vm.qualified_name(class);
                        Ok(vm.heap.string(format!("<{name} object at {:#x}>", object.0)))
                    }
                }
            } else {
                vm.repr_value(plain)
            };
            vm.heap.release(plain);
            outcome
        }
        Value::Obj(object) => {
            let class = vm.heap.slot(object).class;
            let name = vm.qualified_name(class);
            Ok(vm.heap.string(format!("<{name} object at {:#x}>", object.0)))
        }
        value => vm.repr_value(value),
    }
}

/// `object.__str__`: what `repr` says.
fn object_str(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.repr_value(args[0])
}

fn str(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Value::Obj(object) = args[0] {
        match vm.heap.payload(object).core() {
            Payload::Str(text) => {
                let text = text.text.clone();
                return Ok(vm.heap.string(text));
            }
            Payload::Exception(_) => {
                return match super::exception_text::message(vm, args[0]) {
                    Ok(text) => Ok(vm.heap.string(text)),
                    Err(Throw::Fallback) => vm.call_helper("exception_str", &[args[0]]),
                    Err(throw) => Err(throw),
                };
            }
            _ => {}
        }
    }
    vm.repr_value(args[0])
}

fn format(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(spec) = vm.heap.text(args[1]).map(str::to_owned) else {
        let message = format!("__format__() argument must be str, not {}", super::codec::shown(vm, args[1]));
        return Err(vm.type_error(message));
    };
    if spec.is_empty() {
        return vm.str_value(args[0]);
    }
    vm.format_builtin(args[0], &spec)
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    match args[0] {
        Value::Obj(object) if matches!(vm.heap.payload(object), Payload::Instance(_) | Payload::Plain) => {
            Ok(Value::Int(object.number().wrapping_mul(16).wrapping_add(0x7000_0000)))
        }
        value => {
            let plain = super::plain(vm, value);
            let outcome = if plain.is(value) {
                Ok(value.object().map_or(0, |object| object.number().wrapping_mul(16).wrapping_add(0x7000_0000)))
            } else {
                vm.hash_native(plain)
            };
            vm.heap.release(plain);
            outcome.map(Value::Int)
        }
    }
}

fn eq(_: &mut Vm, args: &[Value]) -> Outcome {
    Ok(if args[0].is(args[1]) { Value::truth(true) } else { Value::NotImplemented })
}

/// Bound methods are equal where their functions and receivers are the same.
fn method_compare(vm: &mut Vm, args: &[Value]) -> Outcome {
    compare_methods(vm, CompareOp::Eq, args)
}

fn method_differs(vm: &mut Vm, args: &[Value]) -> Outcome {
    compare_methods(vm, CompareOp::Ne, args)
}

fn compare_methods(vm: &mut Vm, op: CompareOp, args: &[Value]) -> Outcome {
    if vm.heap.class_of(args[0]) != ty::METHOD || vm.heap.class_of(args[1]) != ty::METHOD {
        return Ok(Value::NotImplemented);
    }
    Ok(vm.compare_native(op, args[0], args[1])?.map_or(Value::NotImplemented, Value::truth))
}

fn method_hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.hash_native(args[0]).map(Value::Int)
}

fn ne(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.python_method(args[0], nm::EQ).is_some() {
        return vm.call_helper("object_ne", &[args[0], args[1]]);
    }
    Ok(if args[0].is(args[1]) { Value::truth(false) } else { Value::NotImplemented })
}

fn getattribute(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    let class = vm.heap.class_of(args[0]);
    vm.get_attribute_plain(args[0], class, name)
}

fn setattr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    vm.set_attribute_plain(args[0], name, args[2]).map(|()| Value::None)
}

fn delattr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    vm.delete_attribute_plain(args[0], name).map(|()| Value::None)
}

fn init_subclass(vm: &mut Vm, args: &[Value]) -> Outcome {
    let problem = match args.len().saturating_sub(2) {
        _ if !vm.heap.dict_pairs(args[1]).is_empty() => "takes no keyword arguments".to_owned(),
        0 => return Ok(Value::None),
        given => format!("takes no arguments ({given} given)"),
    };
    let class = vm.class_argument(args[0])?;
    let name = vm.heap.name_of_class(class);
    Err(vm.type_error(format!("{name}.__init_subclass__() {problem}")))
}

fn subclasshook(_: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::NotImplemented)
}

/// Names of the attributes of a value, sorted.
pub(crate) fn dir(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut names: Vec<String> = Vec::new();
    let value = args[0];
    let class = match value {
        Value::Obj(object) if matches!(vm.heap.payload(object), Payload::Class(_)) => object,
        _ => vm.heap.class_of(value),
    };
    if let Value::Obj(object) = value {
        let own: Vec<Value> = match vm.heap.payload(object) {
            Payload::Module { dict, .. } => vm.heap.sequence_snapshot(Value::Obj(*dict)),
            payload => match payload.attributes() {
                Some(attributes) => match attributes.dict.get() {
                    Some(dict) => vm.heap.sequence_snapshot(Value::Obj(dict)),
                    None => vm.heap.shape(attributes.shape).names.iter().map(|&name| Value::Obj(name)).collect(),
                },
                None => Vec::new(),
            },
        };
        vm.spend(OWN_NAME.of(own.len()))?;
        for &name in &own {
            vm.owe_name(vm.heap.text(name).map_or(0, str::len));
        }
        names.extend(own.into_iter().filter_map(|name| vm.heap.text(name).map(str::to_owned)));
        if matches!(vm.heap.payload(object), Payload::Module { .. }) {
            names.sort();
            let items = names.iter().map(|name| vm.heap.str(name)).collect();
            return Ok(vm.heap.list(items));
        }
    }
    let mro = match vm.heap.payload(class) {
        Payload::Class(row) => row.mro.clone(),
        _ => Vec::new(),
    };
    for base in mro {
        let own = vm.heap.own_names(base);
        for name in own {
            vm.owe_name(vm.heap.name_text(name).len());
            names.push(vm.heap.name_text(name).to_owned());
        }
    }
    names.push("__class__".to_owned());
    names.sort();
    names.dedup();
    vm.spend(NAME_SORTED.of(names.len()))?;
    let items = names.iter().map(|name| vm.heap.str(name)).collect();
    Ok(vm.heap.list(items))
}

fn type_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let &[class, keywords, name, bases, namespace] = args else {
        return Err(vm.type_error(format!("type.__new__() takes exactly 3 arguments ({} given)", args.len().saturating_sub(2))));
    };
    class_name(vm, name)?;
    vm.call_helper("type_new", &[class, name, bases, namespace, keywords])
}

/// The name of a class that is to be made.
pub(crate) fn class_name(vm: &mut Vm, name: Value) -> Outcome<String> {
    if let Some(text) = vm.heap.text(name) {
        return Ok(text.to_owned());
    }
    let message = format!("type.__new__() argument 1 must be str, not {}", vm.heap.class_name(name));
    Err(vm.type_error(message))
}

fn type_call(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = args[0];
    let keywords = vm.heap.dict_pairs(args[1]);
    let function = vm.helper("instantiate");
    vm.heap.retain(function);
    let mut arguments = vec![class];
    arguments.extend(args[2..].iter().copied());
    let arguments = vm.heap.retain_all(&arguments);
    let mut named = Vec::new();
    for (key, value) in keywords {
        if let Some(name) = key.object().and_then(|key| vm.heap.intern_object(key)) {
            named.push((name, vm.heap.retain(value)));
        }
    }
    Err(Throw::Call(Box::new(crate::error::PendingCall {
        function,
        arguments,
        keywords: named,
        namespace: Value::Undefined,
        on_return: crate::frame::OnReturn::Store,
    })))
}

fn none_new(_: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::None)
}

fn not_implemented_new(_: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::NotImplemented)
}

fn ellipsis_new(_: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::Ellipsis)
}

/// `f.__call__(...)`
fn call(vm: &mut Vm, args: &[Value]) -> Outcome {
    let function = vm.heap.retain(args[0]);
    let arguments = vm.heap.retain_all(&args[2..]);
    let mut keywords = Vec::new();
    for (key, value) in vm.heap.dict_pairs(args[1]) {
        if let Some(name) = key.object().and_then(|key| vm.heap.intern_object(key)) {
            keywords.push((name, vm.heap.retain(value)));
        }
    }
    Err(Throw::Call(Box::new(crate::error::PendingCall {
        function,
        arguments,
        keywords,
        namespace: Value::Undefined,
        on_return: crate::frame::OnReturn::Store,
    })))
}

fn mro(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mro = match args[0].object().map(|class| vm.heap.payload(class)) {
        Some(Payload::Class(row)) => row.mro.iter().map(|&class| Value::Obj(class)).collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    let mro = vm.heap.retain_all(&mro);
    Ok(vm.heap.list(mro))
}

fn instancecheck(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    if vm.heap.is_instance(args[1], class) {
        return Ok(Value::truth(true));
    }
    Ok(Value::truth(false))
}

fn subclasscheck(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    let Some(other) = args[1].object().filter(|&other| matches!(vm.heap.payload(other), Payload::Class(_))) else {
        return Err(vm.type_error("issubclass() arg 1 must be a class"));
    };
    Ok(Value::truth(vm.heap.is_subclass(other, class)))
}

fn prepare(vm: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::Obj(vm.heap.new_dict()))
}

/// The class that has to be a class.
pub(crate) fn is_class(vm: &Vm, value: Value) -> bool {
    matches!(value, Value::Obj(object) if matches!(vm.heap.payload(object), Payload::Class(_)))
}
