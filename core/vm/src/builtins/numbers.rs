//! Arithmetic, digits of integers, and the numbers of characters.

use crate::costs::{TEXT_PASSED, TEXT_WRITTEN};
use crate::error::Outcome;
use crate::frame::OnReturn;
use crate::heap::numbers::Number;
use crate::runtime::Vm;
use crate::runtime::operator::BinaryOp;
use crate::types::{nm, ty};
use crate::value::Value;

pub(super) fn abs(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn bin(vm: &mut Vm, args: &[Value]) -> Outcome {
    in_base(vm, args[0], 2, "0b")
}

pub(super) fn oct(vm: &mut Vm, args: &[Value]) -> Outcome {
    in_base(vm, args[0], 8, "0o")
}

pub(super) fn hex(vm: &mut Vm, args: &[Value]) -> Outcome {
    in_base(vm, args[0], 16, "0x")
}

pub(super) fn chr(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn ord(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn divmod(vm: &mut Vm, args: &[Value]) -> Outcome {
    vm.binary(BinaryOp::DivMod, args[0], args[1])
}

pub(super) fn pow(vm: &mut Vm, args: &[Value]) -> Outcome {
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

pub(super) fn round(vm: &mut Vm, args: &[Value]) -> Outcome {
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
