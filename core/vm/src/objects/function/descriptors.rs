//! Properties, slots, methods and `super`.

use crate::error::Outcome;
use crate::frame::OnReturn;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::protocol::{GetAttributes, SetAttributes};
use crate::types::{FIXED_COUNT, nm, ty};
use crate::value::{Ref, Value};

pub(super) fn property_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    vm.new_builtin(class)
}

fn property_parts(vm: &Vm, value: Value) -> [Value; 5] {
    match value.object().map(|object| vm.heap.payload(object).core()) {
        Some(Payload::Property(parts)) => **parts,
        _ => [Value::None; 5],
    }
}

pub(super) fn property_init(vm: &mut Vm, args: &[Value]) -> Outcome {
    let parts = [args[1].or(Value::None), args[2].or(Value::None), args[3].or(Value::None), args[4].or(Value::None), Value::None];
    for part in parts {
        vm.heap.retain(part);
    }
    let mut old = parts;
    if let Value::Obj(object) = args[0] {
        if let Payload::Property(row) = vm.heap.payload_mut(object).core_mut() {
            old = std::mem::replace(&mut **row, parts);
        }
    }
    for part in old {
        vm.heap.release(part);
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

pub(super) fn property_getter(vm: &mut Vm, args: &[Value]) -> Outcome {
    property_with(vm, args, 0)
}

pub(super) fn property_setter(vm: &mut Vm, args: &[Value]) -> Outcome {
    property_with(vm, args, 1)
}

pub(super) fn property_deleter(vm: &mut Vm, args: &[Value]) -> Outcome {
    property_with(vm, args, 2)
}

pub(super) fn property_get(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[1].is_none() {
        return Ok(vm.heap.retain(args[0]));
    }
    let getter = property_parts(vm, args[0])[0];
    if getter.is_none() {
        return Err(vm.raise(ty::ATTRIBUTE_ERROR, "property has no getter"));
    }
    Err(vm.call_later(getter, &[args[1]], OnReturn::Store))
}

pub(super) fn property_set(vm: &mut Vm, args: &[Value]) -> Outcome {
    let setter = property_parts(vm, args[0])[1];
    if setter.is_none() {
        return Err(vm.raise(ty::ATTRIBUTE_ERROR, "property has no setter"));
    }
    Err(vm.call_later(setter, &[args[1], args[2]], OnReturn::Store))
}

pub(super) fn property_delete(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn member_set(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = member_of(vm, args)?;
    vm.set_attribute_plain(args[1], name, args[2]).map(|()| Value::None)
}

pub(super) fn member_delete(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = member_of(vm, args)?;
    vm.delete_attribute_plain(args[1], name).map(|()| Value::None)
}

/// `types.MethodType(function, instance)`
pub(super) fn method_new(vm: &mut Vm, args: &[Value]) -> Outcome {
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
pub(super) fn proxy_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    if !vm.heap.is_instance(args[1], ty::DICT) {
        let message = format!("mappingproxy() argument must be a mapping, not {}", vm.heap.class_name(args[1]));
        return Err(vm.type_error(message));
    }
    vm.heap.retain(args[1]);
    Ok(vm.heap.make(ty::MAPPING_PROXY, Payload::MappingProxy(args[1])))
}

/// More than one argument is for the `__init__` of a class below.
fn takes_one(vm: &mut Vm, class: Ref, args: &[Value]) -> Outcome<()> {
    if class.0 >= FIXED_COUNT || args.len() == 2 {
        return Ok(());
    }
    let message = format!("{} expected 1 argument, got {}", vm.heap.name_of_class(class), args.len() - 1);
    Err(vm.type_error(message))
}

pub(super) fn staticmethod(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    takes_one(vm, class, args)?;
    vm.heap.retain(args[1]);
    Ok(vm.heap.wrap_builtin(class, Payload::StaticMethod(args[1])))
}

pub(super) fn classmethod(vm: &mut Vm, args: &[Value]) -> Outcome {
    let class = vm.class_argument(args[0])?;
    takes_one(vm, class, args)?;
    vm.heap.retain(args[1]);
    Ok(vm.heap.wrap_builtin(class, Payload::ClassMethod(args[1])))
}

pub(super) fn descriptor_get(vm: &mut Vm, args: &[Value]) -> Outcome {
    // A field of a builtin type is no attribute of the instance.
    if let Some(Payload::Member { class, .. }) = args[0].object().map(|object| vm.heap.payload(object)) {
        if class.0 < FIXED_COUNT && !args[1].is_none() {
            let name = member_of(vm, args)?;
            let class = vm.heap.class_of(args[1]);
            return vm.get_attribute_plain(args[1], class, name);
        }
    }
    let class = match args[2] {
        Value::Obj(class) if crate::objects::object::is_class(vm, args[2]) => class,
        _ => vm.heap.class_of(args[1]),
    };
    if args[1].is_none() && !args[2].is_undefined() && !args[2].is_none() {
        return vm.bind_to_class(args[0], class);
    }
    vm.bind_attribute(args[0], args[1], class, nm::GET)
}

pub(super) fn super_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[1].is_undefined() {
        return Err(vm.raise(ty::RUNTIME_ERROR, "super(): no arguments"));
    }
    vm.make_super(args[1], args[2].or(Value::None))
}

pub(super) fn super_get(vm: &mut Vm, args: &[Value]) -> Outcome {
    match args[0].object().map(|object| vm.heap.payload(object)) {
        Some(Payload::Super { class, receiver, .. }) if receiver.is_none() && !args[1].is_none() => {
            let class = Value::Obj(*class);
            vm.make_super(class, args[1])
        }
        _ => Ok(vm.heap.retain(args[0])),
    }
}
