//! `float`.

use crate::costs::{FLOAT_POWER, FLOAT_ROOT, TEXT_READ};
use crate::error::Outcome;
use crate::frame::Expect;
use crate::heap::numbers::Number;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::operator::BinaryOp;
use crate::runtime::protocol::{Display, Operate};
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num::{self, F64};

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `float`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "float.__new__", "cls, x=, /", 3, new, "retry_index"),
    NativeRow(M, "float.is_integer", "self, /", 1, is_integer, ""),
    NativeRow(M, "float.as_integer_ratio", "self, /", 5, ratio, ""),
    NativeRow(M, "float.hex", "self, /", 10, hex, ""),
    NativeRow(C, "float.fromhex", "cls, text, /", 10, fromhex, ""),
    NativeRow(M, "float.conjugate", "self, /", 1, same, ""),
    NativeRow(M, "float.__float__", "self, /", 1, same, ""),
    NativeRow(M, "float.__int__", "self, /", 1, truncate, ""),
    NativeRow(M, "float.__trunc__", "self, /", 1, truncate, ""),
    NativeRow(M, "float.__floor__", "self, /", 1, floor, ""),
    NativeRow(M, "float.__ceil__", "self, /", 1, ceil, ""),
    NativeRow(M, "float.__round__", "self, ndigits=, /", 30, round, "retry_index"),
    NativeRow(M, "float.__bool__", "self, /", 1, truth, ""),
    NativeRow(M, "float.__neg__", "self, /", 1, neg, ""),
    NativeRow(M, "float.__pos__", "self, /", 1, same, ""),
    NativeRow(M, "float.__abs__", "self, /", 1, abs, ""),
    NativeRow(M, "float.__hash__", "self, /", 1, hash, ""),
    NativeRow(M, "float.__repr__", "self, /", 10, repr, ""),
    NativeRow(M, "float.__format__", "self, format_spec, /", 5, format, ""),
    NativeRow(M, "float.__rmod__", "self, value, /", 1, rmodulo, ""),
];

fn number(vm: &Vm, value: Value) -> F64 {
    match vm.heap.number(value) {
        Some(Number::Float(value)) => value,
        _ => F64::ZERO,
    }
}

/// `float(x)` of a builtin value; a call for others.
pub(crate) fn convert(vm: &mut Vm, value: Value) -> Outcome<F64> {
    if vm.python_method(value, nm::FLOAT).is_none() {
        if let Some(number) = vm.heap.number(value) {
            return vm.to_float(&number);
        }
    }
    for (name, expect) in [(nm::FLOAT, Expect::Float), (nm::INDEX, Expect::Index)] {
        if let Some(function) = vm.python_method(value, name) {
            return Err(vm.call_expecting(function, &[value], expect));
        }
    }
    let text = match vm.heap.text(value) {
        Some(text) => text.to_owned(),
        None => match value.object().map(|object| vm.heap.payload(object).core()) {
            Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) => String::from_utf8_lossy(bytes).into_owned(),
            Some(Payload::MemoryView(_)) => String::from_utf8_lossy(&super::bytes::bytes_like(vm, value)?).into_owned(),
            _ => {
                let message = format!("float() argument must be a string or a real number, not '{}'", vm.heap.class_name(value));
                return Err(vm.type_error(message));
            }
        },
    };
    vm.spend(TEXT_READ.of(text.len()))?;
    match cowboy_num::parse_float(&text) {
        Some(number) => Ok(number),
        None => {
            let shown = vm.repr_native(value)?;
            Err(vm.value_error(format!("could not convert string to float: {shown}")))
        }
    }
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    // What a special method gives becomes an instance of a class below `float` afterwards.
    if !args[0].is(Value::Obj(ty::FLOAT)) && vm.python_method(args[1], nm::FLOAT).is_some() {
        return vm.call_helper("number_new", &[args[0], args[1]]);
    }
    // What is an integer by `__index__` alone is one first.
    if vm.python_method(args[1], nm::FLOAT).is_none() && vm.python_method(args[1], nm::INDEX).is_some() && vm.heap.number(args[1]).is_none()
    {
        return Err(crate::error::Throw::Fallback);
    }
    let number = if args[1].is_undefined() { F64::ZERO } else { convert(vm, args[1])? };
    match args[0] {
        Value::Obj(class) if class != ty::FLOAT => Ok(vm.heap.wrap_builtin(class, Payload::Scalar(Value::Float(number)))),
        _ => Ok(Value::Float(number)),
    }
}

/// Whether `a ** b` is a square root, which needs no power.
#[inline(always)]
pub(crate) fn is_root(a: F64, b: F64) -> bool {
    b == F64::HALF && a.is_normal() && !a.is_negative()
}

/// `a ** b`
pub(crate) fn power(vm: &mut Vm, a: F64, b: F64) -> Outcome {
    if is_root(a, b) {
        vm.spend(FLOAT_ROOT.once())?;
        return Ok(Value::Float(a.sqrt()));
    }
    vm.spend(FLOAT_POWER.once())?;
    match cowboy_num::math::py_pow(a, b) {
        Ok(value) => Ok(Value::Float(value)),
        Err(cowboy_num::math::PowerError::ZeroToNegative) => {
            Err(vm.raise(ty::ZERO_DIVISION_ERROR, "0.0 cannot be raised to a negative power"))
        }
        Err(cowboy_num::math::PowerError::Range) => {
            let message = vm.heap.str("Numerical result out of range");
            let args = vm.heap.tuple(vec![Value::Int(34), message]);
            let exception = vm.exception_with(ty::OVERFLOW_ERROR, args);
            Err(crate::error::Throw::Raise(exception))
        }
        Err(cowboy_num::math::PowerError::Complex) => super::complex::operate(vm, BinaryOp::Pow, Value::Float(a), Value::Float(b)),
    }
}

fn is_integer(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::truth(number(vm, args[0]).is_integer()))
}

fn ratio(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]);
    match value.as_integer_ratio() {
        Some((numerator, denominator)) => {
            let numerator = vm.int_value(numerator)?;
            let denominator = vm.int_value(denominator.into())?;
            Ok(vm.heap.tuple(vec![numerator, denominator]))
        }
        None if value.is_nan() => Err(vm.value_error("cannot convert NaN to integer ratio")),
        None => Err(vm.raise(ty::OVERFLOW_ERROR, "cannot convert Infinity to integer ratio")),
    }
}

fn hex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = cowboy_num::repr::hex(number(vm, args[0]));
    Ok(vm.heap.string(text))
}

fn fromhex(vm: &mut Vm, args: &[Value]) -> Outcome {
    let Some(text) = vm.heap.text(args[1]).map(str::to_owned) else {
        return Err(vm.type_error("bad argument type for built-in operation"));
    };
    vm.spend(TEXT_READ.of(text.len()))?;
    match cowboy_num::repr::parse_hex(&text) {
        Ok(value) if args[0].is(Value::Obj(ty::FLOAT)) => Ok(Value::Float(value)),
        Ok(value) => Err(vm.call_later(args[0], &[Value::Float(value)], crate::frame::OnReturn::Store)),
        Err(cowboy_num::repr::HexError::TooLarge) => {
            Err(vm.raise(ty::OVERFLOW_ERROR, "hexadecimal value too large to represent as a float"))
        }
        Err(cowboy_num::repr::HexError::Invalid) => Err(vm.value_error("invalid hexadecimal floating-point string")),
    }
}

fn same(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::Float(number(vm, args[0])))
}

/// A float's whole part as integer.
pub(crate) fn whole(vm: &mut Vm, value: F64) -> Outcome {
    match value.to_int() {
        Some(number) => vm.int_value(number),
        None if value.is_nan() => Err(vm.value_error("cannot convert float NaN to integer")),
        None => Err(vm.raise(ty::OVERFLOW_ERROR, "cannot convert float infinity to integer")),
    }
}

fn truncate(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]);
    whole(vm, value)
}

fn floor(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]).floor();
    whole(vm, value)
}

fn ceil(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]).ceil();
    whole(vm, value)
}

fn round(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]);
    if args[1].is_undefined() || args[1].is_none() {
        return whole(vm, value.round_half_even());
    }
    let places = match vm.heap.number(args[1]) {
        Some(Number::Small(places)) => places,
        Some(Number::Big(places)) => {
            if places.sign() == dashu_int::Sign::Negative {
                i64::MIN
            } else {
                i64::MAX
            }
        }
        _ if vm.python_method(args[1], nm::INDEX).is_some() => return Err(crate::error::Throw::Fallback),
        _ => {
            let message = format!("'{}' object cannot be interpreted as an integer", vm.heap.class_name(args[1]));
            return Err(vm.type_error(message));
        }
    };
    match value.round_to_places(places) {
        Some(value) => Ok(Value::Float(value)),
        None => Err(vm.raise(ty::OVERFLOW_ERROR, "rounded value too large to represent")),
    }
}

fn truth(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::truth(!number(vm, args[0]).is_zero()))
}

fn neg(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::Float(-number(vm, args[0])))
}

fn abs(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::Float(number(vm, args[0]).abs()))
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::Int(cowboy_num::hash_f64(number(vm, args[0]))))
}

fn repr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = cowboy_num::repr(number(vm, args[0]));
    Ok(vm.heap.string(text))
}

/// `other % self` of numbers: text and bytes on the left are templates.
fn rmodulo(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.number(args[1]).is_none() {
        return Ok(Value::NotImplemented);
    }
    vm.binary_core(BinaryOp::Mod, args[1], args[0]).map(|value| value.unwrap_or(Value::NotImplemented))
}

fn format(vm: &mut Vm, args: &[Value]) -> Outcome {
    let spec = super::int::format_spec(vm, args[1])?;
    if spec.is_empty() {
        return vm.str_value(args[0]);
    }
    vm.format_builtin(args[0], &spec)
}
