//! Attributes of objects by name, and the variables of frames.

use super::drop_call;
use crate::costs::{ATTRIBUTE_MISSED, NAME_IMPORTED};
use crate::error::{Outcome, Throw};
use crate::frame::{OnReturn, Pending};
use crate::objects::object;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::types::{nm, ty};
use crate::value::Value;

pub(super) fn delattr(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn dir(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn getattr(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn hasattr(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn setattr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let name = vm.attribute_name(args[1])?;
    vm.set_attribute(args[0], name, args[2]).map(|()| Value::None).map_err(none_result)
}

/// The variables of the calling frame that have values, as a dict of its own; in a class body its namespace.
pub(super) fn locals(vm: &mut Vm, _: &[Value]) -> Outcome {
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

pub(super) fn vars(vm: &mut Vm, args: &[Value]) -> Outcome {
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
