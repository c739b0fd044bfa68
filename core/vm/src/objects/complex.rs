//! `complex`.

use super::plain;
use crate::costs::{COMPLEX_POWER, TEXT_READ};
use crate::error::{Outcome, Throw};
use crate::frame::CompareOp;
use crate::heap::numbers::Number;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::operator::BinaryOp;
use crate::runtime::protocol::Display;
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num::complex::{Complex, ComplexError};
use cowboy_num::{self, F64};

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;

/// Rows of `complex`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "complex.__new__", "cls, real=, imag=", 3, new, "complex_new"),
    NativeRow(M, "complex.conjugate", "self, /", 1, conjugate, ""),
    NativeRow(M, "complex.__complex__", "self, /", 1, same, ""),
    NativeRow(M, "complex.__pos__", "self, /", 1, same, ""),
    NativeRow(M, "complex.__neg__", "self, /", 1, neg, ""),
    NativeRow(M, "complex.__abs__", "self, /", 20, abs, ""),
    NativeRow(M, "complex.__bool__", "self, /", 1, truth, ""),
    NativeRow(M, "complex.__hash__", "self, /", 1, hash, ""),
    NativeRow(M, "complex.__repr__", "self, /", 35, repr, ""),
    NativeRow(M, "complex.__format__", "self, format_spec, /", 40, format, ""),
    NativeRow(M, "complex.__getnewargs__", "self, /", 2, parts, ""),
    NativeRow(M, "complex.__add__", "self, value, /", 1, add, ""),
    NativeRow(M, "complex.__radd__", "self, value, /", 1, radd, ""),
    NativeRow(M, "complex.__sub__", "self, value, /", 1, sub, ""),
    NativeRow(M, "complex.__rsub__", "self, value, /", 1, rsub, ""),
    NativeRow(M, "complex.__mul__", "self, value, /", 2, mul, ""),
    NativeRow(M, "complex.__rmul__", "self, value, /", 2, rmul, ""),
    NativeRow(M, "complex.__truediv__", "self, value, /", 8, truediv, ""),
    NativeRow(M, "complex.__rtruediv__", "self, value, /", 8, rtruediv, ""),
    NativeRow(M, "complex.__pow__", "self, value, mod=, /", 100, pow, ""),
    NativeRow(M, "complex.__rpow__", "self, value, mod=, /", 100, rpow, ""),
    NativeRow(M, "complex.__eq__", "self, value, /", 1, eq, ""),
    NativeRow(M, "complex.__ne__", "self, value, /", 1, ne, ""),
    NativeRow(M, "complex.__lt__", "self, value, /", 1, unordered, ""),
    NativeRow(M, "complex.__le__", "self, value, /", 1, unordered, ""),
    NativeRow(M, "complex.__gt__", "self, value, /", 1, unordered, ""),
    NativeRow(M, "complex.__ge__", "self, value, /", 1, unordered, ""),
];

/// The complex number in an object.
pub(crate) fn content(vm: &Vm, value: Value) -> Option<Complex> {
    match vm.heap.payload(value.object()?).core() {
        Payload::Complex(number) => Some(*number),
        _ => None,
    }
}

fn number(vm: &Vm, value: Value) -> Complex {
    content(vm, value).unwrap_or(Complex::new(F64::ZERO, F64::ZERO))
}

/// A complex number as an object.
pub(crate) fn make(vm: &mut Vm, number: Complex) -> Value {
    vm.heap.make(ty::COMPLEX, Payload::Complex(number))
}

/// A complex or real number; `None` for anything else.
fn any_number(vm: &mut Vm, value: Value) -> Outcome<Option<Complex>> {
    if let Some(number) = content(vm, value) {
        return Ok(Some(number));
    }
    match vm.heap.number(value) {
        Some(number) => Ok(Some(Complex::new(vm.to_float(&number)?, F64::ZERO))),
        None => Ok(None),
    }
}

fn of_class(vm: &mut Vm, class: Value, number: Complex) -> Value {
    match class {
        Value::Obj(class) if class != ty::COMPLEX => vm.heap.wrap_builtin(class, Payload::Complex(number)),
        _ => make(vm, number),
    }
}

/// Whether a class written in Python says how its instances become a number.
fn converts(vm: &mut Vm, value: Value) -> bool {
    [nm::COMPLEX, nm::FLOAT, nm::INDEX].into_iter().any(|name| vm.python_method(value, name).is_some())
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    let [class, real, imaginary] = [args[0], args[1], args[2]];
    let length = vm.heap.text(real).map_or(0, str::len);
    vm.spend(TEXT_READ.of(length))?;
    if let Some(text) = vm.heap.text(real).map(str::to_owned) {
        if !imaginary.is_undefined() {
            return Err(vm.type_error("complex() can't take second arg if first is a string"));
        }
        return match Complex::parse(&text) {
            Some(number) => Ok(of_class(vm, class, number)),
            None => Err(vm.value_error("complex() arg is a malformed string")),
        };
    }
    if vm.heap.text(imaginary).is_some() {
        return Err(vm.type_error("complex() second arg can't be a string"));
    }
    if imaginary.is_undefined() && class.is(Value::Obj(ty::COMPLEX)) && vm.heap.class_of(real) == ty::COMPLEX {
        return Ok(vm.heap.retain(real));
    }
    if converts(vm, real) || converts(vm, imaginary) {
        return Err(Throw::Fallback);
    }
    let mut result = Complex::new(F64::ZERO, F64::ZERO);
    if !real.is_undefined() {
        match any_number(vm, real)? {
            Some(number) => result = number,
            None => {
                let message = format!("complex() first argument must be a string or a number, not '{}'", vm.heap.class_name(real));
                return Err(vm.type_error(message));
            }
        }
    }
    if !imaginary.is_undefined() {
        match any_number(vm, imaginary)? {
            Some(number) if content(vm, imaginary).is_some() => {
                result = Complex::new(
                    result.real - number.imaginary,
                    if content(vm, real).is_some() { result.imaginary + number.real } else { number.real },
                );
            }
            Some(number) => {
                let own = if content(vm, real).is_some() { result.imaginary + number.real } else { number.real };
                result = Complex::new(result.real, own);
            }
            None => {
                let message = format!("complex() second argument must be a number, not '{}'", vm.heap.class_name(imaginary));
                return Err(vm.type_error(message));
            }
        }
    }
    Ok(of_class(vm, class, result))
}

fn same(vm: &mut Vm, args: &[Value]) -> Outcome {
    if vm.heap.class_of(args[0]) == ty::COMPLEX {
        return Ok(vm.heap.retain(args[0]));
    }
    Ok(plain(vm, args[0]))
}

fn conjugate(vm: &mut Vm, args: &[Value]) -> Outcome {
    let z = number(vm, args[0]);
    Ok(make(vm, Complex::new(z.real, -z.imaginary)))
}

fn neg(vm: &mut Vm, args: &[Value]) -> Outcome {
    let z = number(vm, args[0]);
    Ok(make(vm, -z))
}

fn abs(vm: &mut Vm, args: &[Value]) -> Outcome {
    match number(vm, args[0]).magnitude() {
        Some(size) => Ok(Value::Float(size)),
        None => Err(vm.raise(ty::OVERFLOW_ERROR, "absolute value too large")),
    }
}

fn truth(vm: &mut Vm, args: &[Value]) -> Outcome {
    let z = number(vm, args[0]);
    Ok(Value::truth(!z.real.is_zero() || !z.imaginary.is_zero()))
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    let z = number(vm, args[0]);
    Ok(Value::Int(cowboy_num::hash::hash_complex(z.real, z.imaginary)))
}

fn repr(vm: &mut Vm, args: &[Value]) -> Outcome {
    let text = number(vm, args[0]).repr();
    Ok(vm.heap.string(text))
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

fn parts(vm: &mut Vm, args: &[Value]) -> Outcome {
    let z = number(vm, args[0]);
    Ok(vm.heap.tuple(vec![Value::Float(z.real), Value::Float(z.imaginary)]))
}

fn failed(vm: &mut Vm, error: ComplexError, op: BinaryOp) -> Throw {
    match error {
        ComplexError::ZeroDivision if op == BinaryOp::Pow => vm.raise(ty::ZERO_DIVISION_ERROR, "0.0 to a negative or complex power"),
        ComplexError::ZeroDivision => vm.raise(ty::ZERO_DIVISION_ERROR, "complex division by zero"),
        ComplexError::Range => vm.raise(ty::OVERFLOW_ERROR, "complex exponentiation"),
    }
}

/// `left op right` when both are numbers.
pub(crate) fn operate(vm: &mut Vm, op: BinaryOp, left: Value, right: Value) -> Outcome {
    let (Some(a), Some(b)) = (any_number(vm, left)?, any_number(vm, right)?) else { return Ok(Value::NotImplemented) };
    if op == BinaryOp::Pow {
        vm.spend(COMPLEX_POWER.once())?;
    }
    let result = match op {
        BinaryOp::Add => Ok(a + b),
        BinaryOp::Sub => Ok(a - b),
        BinaryOp::Mul => Ok(a * b),
        BinaryOp::TrueDiv => a.divided(b),
        BinaryOp::Pow => a.power(b),
        _ => return Ok(Value::NotImplemented),
    };
    match result {
        Ok(number) => Ok(make(vm, number)),
        Err(error) => Err(failed(vm, error, op)),
    }
}

macro_rules! arithmetic {
    ($($function:ident $reflected:ident $op:ident;)*) => {
        $(
            fn $function(vm: &mut Vm, args: &[Value]) -> Outcome {
                operate(vm, BinaryOp::$op, args[0], args[1])
            }

            fn $reflected(vm: &mut Vm, args: &[Value]) -> Outcome {
                operate(vm, BinaryOp::$op, args[1], args[0])
            }
        )*
    };
}

arithmetic! { add radd Add; sub rsub Sub; mul rmul Mul; truediv rtruediv TrueDiv; power rpower Pow; }

fn without_modulo(vm: &mut Vm, args: &[Value]) -> Outcome<()> {
    let is_number = content(vm, args[1]).is_some() || vm.heap.number(args[1]).is_some();
    if !is_number || args[2].is_undefined() || args[2].is_none() { Ok(()) } else { Err(vm.value_error("complex modulo")) }
}

fn pow(vm: &mut Vm, args: &[Value]) -> Outcome {
    without_modulo(vm, args)?;
    power(vm, args)
}

fn rpow(vm: &mut Vm, args: &[Value]) -> Outcome {
    without_modulo(vm, args)?;
    rpower(vm, args)
}

/// Whether a complex number equals another number; `None` when the other value is none.
pub(crate) fn equals(vm: &Vm, left: Complex, right: Value) -> Option<bool> {
    if let Some(other) = content(vm, right) {
        return Some(left.real == other.real && left.imaginary == other.imaginary);
    }
    let number = vm.heap.number(right)?;
    Some(left.imaginary.is_zero() && crate::heap::numbers::compare_numbers(CompareOp::Eq, &Number::Float(left.real), &number))
}

fn eq(vm: &mut Vm, args: &[Value]) -> Outcome {
    let z = number(vm, args[0]);
    Ok(equals(vm, z, args[1]).map_or(Value::NotImplemented, Value::truth))
}

fn ne(vm: &mut Vm, args: &[Value]) -> Outcome {
    let z = number(vm, args[0]);
    Ok(equals(vm, z, args[1]).map_or(Value::NotImplemented, |same| Value::truth(!same)))
}

fn unordered(_: &mut Vm, _: &[Value]) -> Outcome {
    Ok(Value::NotImplemented)
}
