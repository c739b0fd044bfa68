//! Generators, coroutines and asynchronous generators.

use crate::error::{Outcome, Throw};
use crate::frame::{OnReturn, Pending, Wake};
use crate::payload::{GeneratorState, Payload};
use crate::runtime::Vm;
use crate::types::ty;
use crate::value::Value;

pub(super) fn coroutine_await(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("coroutine_await", &[args[0]])
}

pub(super) fn generator_next(_: &mut Vm, args: &[Value]) -> Outcome {
    Err(resume(args[0], Wake::Send(Value::None), Pending::Next))
}

pub(super) fn generator_send(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = vm.heap.retain(args[1]);
    Err(resume(args[0], Wake::Send(value), Pending::Next))
}

fn resume(generator: Value, wake: Wake, pending: Pending) -> Throw {
    Throw::Resume(generator.object().unwrap_or(ty::NONE), Box::new((wake, OnReturn::Other(Box::new(pending)))))
}

pub(super) fn generator_throw(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn generator_close(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn async_next(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.async_next(args[0])
}

pub(super) fn async_send(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.heap.retain(args[0]);
    vm.heap.retain(args[1]);
    Ok(vm.heap.make(ty::ASYNC_STEP, Payload::AsyncStep { generator: args[0], sent: args[1], kind: 0 }))
}

pub(super) fn async_throw(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.exception_data(args[1]).is_none() {
        return Err(Throw::Fallback);
    }
    vm.heap.retain(args[0]);
    vm.heap.retain(args[1]);
    let step = Payload::AsyncStep { generator: args[0], sent: args[1], kind: crate::runtime::generators::THROWN };
    Ok(vm.heap.make(ty::ASYNC_STEP, step))
}

pub(super) fn async_close(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.call_helper("async_generator_close", &[args[0]])
}
