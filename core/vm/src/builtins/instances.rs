//! `isinstance` and `issubclass`.

use crate::costs::CLASS_TESTED;
use crate::error::{Outcome, Throw};
use crate::objects::object;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::types::{FIXED_COUNT, nm, ty};
use crate::value::{Ref, Value};

/// Tuples inside one another in which classes are looked for natively; deeper ones are left to Python.
const CLASS_NESTING: usize = 32;

/// Classes in a class, tuple of classes or union, appended to `found`; `false` when something else is among them.
fn classes(vm: &mut Vm, value: Value, found: &mut Vec<Value>, depth: usize) -> Outcome<bool> {
    let Value::Obj(object) = value else {
        if value.is_none() && depth > 0 {
            found.push(Value::Obj(ty::NONE));
            return Ok(true);
        }
        return Ok(false);
    };
    let items = match vm.heap.payload(object).core() {
        Payload::Class(_) => {
            found.push(value);
            return Ok(true);
        }
        Payload::Tuple(items) if depth < CLASS_NESTING => items.to_vec(),
        Payload::Union(items) => vm.heap.tuple_items(*items),
        _ => return Ok(false),
    };
    // The same tuple may stand in many places, so that there is more to visit than there is memory.
    vm.spend(CLASS_TESTED.of(items.len()))?;
    vm.reserve(found.len().saturating_add(items.len()).saturating_mul(size_of::<Value>()))?;
    for item in items {
        if !classes(vm, item, found, depth + 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn has_hook(vm: &mut Vm, classes: &[Value], name: Ref) -> bool {
    classes
        .iter()
        .any(|&class| vm.heap.class_of(class) != ty::TYPE && vm.special(class, name).is_some_and(|f| vm.heap.native_row(f).is_none()))
}

/// Whether a value is made of classes in a way that is left to Python where something else is among them.
fn is_composed(vm: &Vm, value: Value) -> bool {
    value.object().is_some_and(|object| {
        matches!(vm.heap.payload(object).core(), Payload::Tuple(_) | Payload::Union(_) | Payload::GenericAlias { .. })
    })
}

pub(super) fn isinstance(vm: &mut Vm, args: &[Value]) -> Outcome {
    // Most ask for one class of the usual kind.
    if let Value::Obj(object) = args[1] {
        let slot = vm.heap.slot(object);
        if slot.class == ty::TYPE && matches!(slot.payload, Payload::Class(_)) {
            let class = vm.heap.class_of(args[0]);
            if class == object || vm.heap.is_subclass(class, object) {
                return Ok(Value::truth(true));
            }
            return says_otherwise(vm, args[0], class);
        }
    }
    let mut found = Vec::new();
    if !classes(vm, args[1], &mut found, 0)? {
        if vm.heap.is_python_instance(args[1]) && vm.special(args[1], nm::INSTANCECHECK).is_some() {
            return Err(Throw::Fallback);
        }
        if is_composed(vm, args[1]) {
            return Err(Throw::Fallback);
        }
        return Err(vm.type_error("isinstance() arg 2 must be a type, a tuple of types, or a union"));
    }
    let class = vm.heap.class_of(args[0]);
    if found.iter().any(|candidate| candidate.is(Value::Obj(class))) {
        return Ok(Value::truth(true));
    }
    if has_hook(vm, &found, nm::INSTANCECHECK) {
        return Err(Throw::Fallback);
    }
    if found.iter().any(|candidate| candidate.object().is_some_and(|base| vm.heap.is_subclass(class, base))) {
        return Ok(Value::truth(true));
    }
    says_otherwise(vm, args[0], class)
}

/// False for an object whose class is not among those asked for, unless it may say itself of which class it is.
fn says_otherwise(vm: &mut Vm, object: Value, class: Ref) -> Outcome {
    let says = class.0 >= FIXED_COUNT && (vm.lookup(class, nm::CLASS).is_some() || vm.python_method(object, nm::GETATTRIBUTE).is_some());
    if says { Err(Throw::Fallback) } else { Ok(Value::truth(false)) }
}

pub(super) fn issubclass(vm: &mut Vm, args: &[Value]) -> Outcome {
    let mut found = Vec::new();
    // What is below a tuple is one, whatever its class says.
    let is_tuple = args[1].object().is_some_and(|object| matches!(vm.heap.payload(object).core(), Payload::Tuple(_)));
    if !is_tuple && vm.heap.is_python_instance(args[1]) && vm.special(args[1], nm::SUBCLASSCHECK).is_some() {
        return Err(Throw::Fallback);
    }
    let Some(class) = args[0].object().filter(|_| object::is_class(vm, args[0])) else {
        return Err(vm.type_error("issubclass() arg 1 must be a class"));
    };
    if !classes(vm, args[1], &mut found, 0)? {
        if vm.heap.is_python_instance(args[1]) && vm.special(args[1], nm::SUBCLASSCHECK).is_some() {
            return Err(Throw::Fallback);
        }
        if is_composed(vm, args[1]) {
            return Err(Throw::Fallback);
        }
        return Err(vm.type_error("issubclass() arg 2 must be a class, a tuple of classes, or a union"));
    }
    if has_hook(vm, &found, nm::SUBCLASSCHECK) {
        return Err(Throw::Fallback);
    }
    Ok(Value::truth(found.iter().any(|candidate| candidate.object().is_some_and(|base| vm.heap.is_subclass(class, base)))))
}
