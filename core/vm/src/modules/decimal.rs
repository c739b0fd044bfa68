//! The core of the module `decimal`: arithmetic under the one fixed context (003 Overview, A-69). `frozen/decimal` has the class
//! `Decimal` around it; an instance keeps its number in the slot `_n`.

use crate::costs::{
    Charge, DECIMAL_DIGITS, DECIMAL_FORMAT, DECIMAL_OF_FLOAT, DECIMAL_READ, DECIMAL_READ_WORDS, DECIMAL_ROOT, DECIMAL_TRANSCENDENTAL,
    DECIMAL_WORDS,
};
use crate::error::{Outcome, Throw, Trap};
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::NativeKind::{Function, Method};
use crate::runtime::native::NativeRow;
use crate::types::{MODULES_DICT, nm, ty};
use crate::value::{Ref, Truth, Value};
use cowboy_num::decimal::{Decimal, DecimalError, Rounding};
use cowboy_num::{NumberError, format_spec::FormatError};
use std::cmp::Ordering;

/// Cycles of a sum, product or comparison.
const SIMPLE: u32 = 60;
/// Cycles of a quotient or a conversion.
const QUOTIENT: u32 = 80;

type Binary = fn(&Decimal, &Decimal) -> Result<Decimal, DecimalError>;
type Unary = fn(&Decimal) -> Result<Decimal, DecimalError>;

macro_rules! operators {
    ($($name:literal $reflected:literal $cycles:ident $function:path;)*) => {
        /// Operators, as methods of `Decimal`.
        const OPERATORS: &[NativeRow] = &[$(
            NativeRow(Method, concat!("_decimal.", $name), "self, other, /", $cycles, |vm, a| operate(vm, a[0], a[1], $function), ""),
            NativeRow(Method, concat!("_decimal.", $reflected), "self, other, /", $cycles, |vm, a| operate(vm, a[1], a[0], $function), ""),
        )*];
    };
}

operators! {
    "add" "radd" SIMPLE Decimal::plus;
    "sub" "rsub" SIMPLE Decimal::minus;
    "mul" "rmul" SIMPLE Decimal::times;
    "truediv" "rtruediv" QUOTIENT Decimal::over;
    "floordiv" "rfloordiv" QUOTIENT Decimal::floor_over;
    "mod" "rmod" QUOTIENT Decimal::modulo;
}

/// Rows of the module `_decimal`.
const ROWS: &[NativeRow] = &[
    NativeRow(Function, "_decimal.number", "value, /", QUOTIENT, number, ""),
    NativeRow(Method, "_decimal.neg", "self, /", SIMPLE, |vm, a| unary(vm, a[0], Decimal::negated), ""),
    NativeRow(Method, "_decimal.pos", "self, /", SIMPLE, |vm, a| unary(vm, a[0], Decimal::posited), ""),
    NativeRow(Method, "_decimal.abs", "self, /", SIMPLE, |vm, a| unary(vm, a[0], Decimal::absolute), ""),
    NativeRow(Function, "_decimal.apply", "name, self, other=, third=, /", QUOTIENT, apply, ""),
    NativeRow(Function, "_decimal.divmod", "self, other, /", QUOTIENT, divmod, ""),
    NativeRow(Function, "_decimal.order", "self, other, total=, /", SIMPLE, order, ""),
    NativeRow(Function, "_decimal.quantize", "self, unit, rounding, /", QUOTIENT, quantize, ""),
    NativeRow(Function, "_decimal.integral", "self, rounding, /", QUOTIENT, integral, ""),
    NativeRow(Function, "_decimal.text", "self, engineering, /", QUOTIENT, text, ""),
    NativeRow(Function, "_decimal.format", "self, spec, /", QUOTIENT, format, ""),
    NativeRow(Function, "_decimal.hash", "self, /", SIMPLE, hash, ""),
    NativeRow(Function, "_decimal.number_class", "self, /", 4, number_class, ""),
    NativeRow(Function, "_decimal.parts", "self, /", QUOTIENT, parts, ""),
    NativeRow(Function, "_decimal.to_int", "self, direction, /", QUOTIENT, to_int, ""),
    NativeRow(Function, "_decimal.to_float", "self, /", QUOTIENT, to_float, ""),
    NativeRow(Function, "_decimal.ratio", "self, /", QUOTIENT, ratio, ""),
    NativeRow(Function, "_decimal.same_quantum", "self, other, /", 4, same_quantum, ""),
];

/// The tables of the module.
pub(crate) const TABLES: [&[NativeRow]; 2] = [OPERATORS, ROWS];

/// The number of a `Decimal` or an integer; `None` for anything else.
fn operand(vm: &mut Vm, value: Value) -> Outcome<Option<Decimal>> {
    let inner = match value {
        Value::Obj(object) => match vm.heap.payload(object) {
            Payload::Decimal(number) => return Ok(Some((**number).clone())),
            _ => vm.heap.instance_attribute(value, nm::DECIMAL_NUMBER),
        },
        _ => None,
    };
    let found = match inner.and_then(Value::object).map(|object| vm.heap.payload(object)) {
        Some(Payload::Decimal(number)) => Some((**number).clone()),
        _ => vm.heap.as_int(value).map(|number| Decimal::from_int(&number)),
    };
    if let Some(number) = &found {
        let words = number.bytes() / 8;
        vm.spend(DECIMAL_WORDS.of(words.saturating_mul(words)))?;
    }
    Ok(found)
}

/// The number of a `Decimal`; TypeError for anything else.
fn own(vm: &mut Vm, value: Value) -> Outcome<Decimal> {
    match operand(vm, value)? {
        Some(number) => Ok(number),
        None => {
            let message = format!("conversion from {} to Decimal is not supported", vm.heap.class_name(value));
            Err(vm.type_error(message))
        }
    }
}

/// A name of the module `decimal`.
fn named(vm: &mut Vm, name: Ref) -> Outcome<Ref> {
    let module = vm.heap.dict_get_name(MODULES_DICT, nm::DECIMAL_MODULE).and_then(Value::object);
    let dict = match module.map(|module| vm.heap.payload(module)) {
        Some(Payload::Module { dict, .. }) => *dict,
        _ => return Err(Throw::Trap(Trap::Internal)),
    };
    vm.heap.dict_get_name(dict, name).and_then(Value::object).ok_or(Throw::Trap(Trap::Internal))
}

fn raw(vm: &mut Vm, number: Decimal) -> Value {
    vm.heap.make(ty::DECIMAL, Payload::Decimal(Box::new(number)))
}

/// A new `Decimal`.
fn instance(vm: &mut Vm, number: Decimal) -> Outcome {
    let class = named(vm, nm::DECIMAL)?;
    let value = vm.new_instance(class)?;
    let number = raw(vm, number);
    vm.put_attribute(value, nm::DECIMAL_NUMBER, number);
    vm.heap.release(number);
    Ok(value)
}

/// Raises the exception of a condition, with the list of conditions' classes that CPython gives.
fn signal(vm: &mut Vm, error: DecimalError) -> Throw {
    let names: &[&str] = match error {
        DecimalError::InvalidOperation => &["InvalidOperation"],
        DecimalError::ConversionSyntax => &["ConversionSyntax"],
        DecimalError::DivisionByZero => &["DivisionByZero"],
        DecimalError::DivisionUndefined => &["DivisionUndefined"],
        DecimalError::DivmodByZero => &["InvalidOperation", "DivisionByZero"],
        DecimalError::DivisionImpossible => &["DivisionImpossible"],
        DecimalError::Overflow => &["Overflow"],
    };
    let mut classes = Vec::new();
    for name in names {
        let name = vm.heap.intern(name);
        match named(vm, name) {
            Ok(class) => classes.push(vm.heap.retain(Value::Obj(class))),
            Err(throw) => return throw,
        }
    }
    let list = vm.heap.list(classes);
    let name = vm.heap.intern(error.exception());
    match named(vm, name) {
        Ok(class) => Throw::Raise(vm.exception(class, list)),
        Err(throw) => throw,
    }
}

fn finished(vm: &mut Vm, outcome: Result<Decimal, DecimalError>) -> Outcome {
    match outcome {
        Ok(number) => instance(vm, number),
        Err(error) => Err(signal(vm, error)),
    }
}

fn operate(vm: &mut Vm, left: Value, right: Value, function: Binary) -> Outcome {
    let (Some(left), Some(right)) = (operand(vm, left)?, operand(vm, right)?) else { return Ok(Value::NotImplemented) };
    finished(vm, function(&left, &right))
}

fn unary(vm: &mut Vm, value: Value, function: Unary) -> Outcome {
    let number = own(vm, value)?;
    finished(vm, function(&number))
}

/// The bare number for a text, integer, float or `Decimal`: what a new instance keeps.
fn number(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let value = arguments[0];
    if let Some(text) = vm.heap.text(value).map(str::to_owned) {
        // Digits are read in more than linear time.
        let words = text.len() / 16;
        vm.spend(DECIMAL_READ.of(text.len()) + DECIMAL_READ_WORDS.of(words.saturating_mul(words)))?;
        return match Decimal::parse(&text) {
            Ok(number) => Ok(raw(vm, number)),
            Err(error) => Err(signal(vm, error)),
        };
    }
    if let Some(crate::heap::numbers::Number::Float(number)) = vm.heap.number(value) {
        vm.spend(DECIMAL_OF_FLOAT.once())?;
        return Ok(raw(vm, Decimal::from_f64(number)));
    }
    let number = own(vm, value)?;
    Ok(raw(vm, number))
}

/// An operation by name, on one to three numbers.
fn apply(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let name = vm.heap.text(arguments[0]).unwrap_or_default().to_owned();
    let number = own(vm, arguments[1])?;
    let one: Option<(Charge, Unary)> = match name.as_str() {
        "sqrt" => Some((DECIMAL_ROOT.once(), Decimal::square_root)),
        "exp" => Some((DECIMAL_TRANSCENDENTAL.once(), Decimal::exponential)),
        "ln" => Some((DECIMAL_TRANSCENDENTAL.once(), Decimal::natural_logarithm)),
        "log10" => Some((DECIMAL_TRANSCENDENTAL.once(), Decimal::common_logarithm)),
        "normalize" => Some((Charge::NONE, Decimal::normalized)),
        "copy_abs" => Some((Charge::NONE, |number| Ok(number.with_sign(false)))),
        "copy_negate" => Some((Charge::NONE, |number| Ok(number.with_sign(!number.is_signed())))),
        _ => None,
    };
    if let Some((charge, function)) = one {
        vm.spend(charge)?;
        return finished(vm, function(&number));
    }
    let other = own(vm, arguments[2])?;
    let outcome = match name.as_str() {
        "compare" => number.compare(&other),
        "max" => number.maximum(&other),
        "min" => number.minimum(&other),
        "power" => {
            vm.spend(DECIMAL_TRANSCENDENTAL.of(2))?;
            number.power(&other)
        }
        "remainder_near" => number.remainder_near(&other),
        "scaleb" => number.scaled_by(&other),
        "copy_sign" => Ok(number.with_sign(other.is_signed())),
        "fma" => {
            let third = own(vm, arguments[3])?;
            number.times_plus(&other, &third)
        }
        _ => return Err(vm.value_error("unknown operation")),
    };
    finished(vm, outcome)
}

fn divmod(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (Some(left), Some(right)) = (operand(vm, arguments[0])?, operand(vm, arguments[1])?) else { return Ok(Value::NotImplemented) };
    match left.divmod(&right) {
        Ok((quotient, remainder)) => {
            let quotient = instance(vm, quotient)?;
            let remainder = instance(vm, remainder)?;
            Ok(vm.heap.tuple(vec![quotient, remainder]))
        }
        Err(error) => Err(signal(vm, error)),
    }
}

/// -1, 0 or 1; `None` beside a NaN. By value, or by the order of all representations.
fn order(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let left = own(vm, arguments[0])?;
    let right = match vm.heap.number(arguments[1]) {
        Some(crate::heap::numbers::Number::Float(number)) => Some(Decimal::from_f64(number)),
        _ => operand(vm, arguments[1])?,
    };
    let Some(right) = right else { return Ok(Value::NotImplemented) };
    let order = if matches!(arguments[2], Value::Bool(Truth::True)) { Some(left.total_order(&right)) } else { left.order(&right) };
    Ok(order.map_or(Value::None, |order| {
        Value::Int(match order {
            Ordering::Less => -1,
            Ordering::Equal => 0,
            Ordering::Greater => 1,
        })
    }))
}

fn rounding(vm: &mut Vm, value: Value) -> Outcome<Rounding> {
    if value.is_none() {
        return Ok(Rounding::HalfEven);
    }
    match vm.heap.text(value).and_then(Rounding::named) {
        Some(rounding) => Ok(rounding),
        None => Err(vm.type_error(
            "valid values for rounding are:\n  [ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_DOWN,\n   ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN,\n   ROUND_05UP]",
        )),
    }
}

fn quantize(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (number, unit) = (own(vm, arguments[0])?, own(vm, arguments[1])?);
    let rounding = rounding(vm, arguments[2])?;
    finished(vm, number.quantized_as(&unit, rounding))
}

fn integral(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let number = own(vm, arguments[0])?;
    let rounding = rounding(vm, arguments[1])?;
    finished(vm, number.to_integral_as(rounding))
}

/// Charges for digits written out, in more than linear time.
fn digits(vm: &mut Vm, number: &Decimal) -> Outcome<()> {
    let bytes = number.bytes();
    vm.spend(DECIMAL_DIGITS.of(bytes))?;
    vm.reserve(bytes.saturating_mul(3))
}

fn text(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let number = own(vm, arguments[0])?;
    digits(vm, &number)?;
    let text = if matches!(arguments[1], Value::Bool(Truth::True)) { number.to_engineering_text() } else { number.to_text() };
    Ok(vm.heap.string(text))
}

fn format(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let number = own(vm, arguments[0])?;
    let Some(spec) = vm.heap.text(arguments[1]).map(str::to_owned) else { return Err(vm.type_error("format arg must be str")) };
    digits(vm, &number)?;
    vm.spend(DECIMAL_FORMAT.of(spec.len()))?;
    match number.format(&spec) {
        Ok(text) => {
            vm.spend(DECIMAL_FORMAT.of(text.len()))?;
            vm.reserve(text.len())?;
            Ok(vm.heap.string(text))
        }
        Err(error) => {
            let class = if matches!(error, FormatError::Overflow(_)) { ty::OVERFLOW_ERROR } else { ty::VALUE_ERROR };
            Err(vm.raise(class, &error.message("Decimal")))
        }
    }
}

fn hash(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    match own(vm, arguments[0])?.hash() {
        Some(hash) => Ok(Value::Int(hash)),
        None => Err(vm.type_error("Cannot hash a signaling NaN value")),
    }
}

fn number_class(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let number = own(vm, arguments[0])?;
    Ok(vm.heap.str(number.number_class()))
}

/// (sign, text of the digits, exponent or one of the letters F, n, N).
fn parts(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let number = own(vm, arguments[0])?;
    digits(vm, &number)?;
    let (negative, digits, exponent) = number.as_tuple();
    let text: String = digits.iter().map(|&digit| char::from(b'0' + digit)).collect();
    let text = vm.heap.string(text);
    let exponent = match exponent {
        Some(exponent) => Value::Int(exponent),
        None if number.is_infinite() => vm.heap.str("F"),
        None if number.is_signaling() => vm.heap.str("N"),
        None => vm.heap.str("n"),
    };
    Ok(vm.heap.tuple(vec![Value::Int(i64::from(negative)), text, exponent]))
}

fn to_int(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let number = own(vm, arguments[0])?;
    digits(vm, &number)?;
    let outcome = match vm.heap.text(arguments[1]).unwrap_or_default() {
        "floor" => number.floor(),
        "ceil" => number.ceil(),
        "round" => number.round_to_int(),
        _ => number.to_int(),
    };
    integer(vm, outcome)
}

fn integer(vm: &mut Vm, outcome: Result<dashu_int::IBig, NumberError>) -> Outcome {
    match outcome {
        Ok(number) => vm.int_value(number),
        Err(error) => Err(vm.number_error(error)),
    }
}

fn to_float(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let number = own(vm, arguments[0])?;
    digits(vm, &number)?;
    match number.to_f64() {
        Some(number) => Ok(Value::Float(number)),
        None => Err(vm.value_error("cannot convert signaling NaN to float")),
    }
}

fn ratio(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let number = own(vm, arguments[0])?;
    digits(vm, &number)?;
    match number.as_integer_ratio() {
        Ok((numerator, denominator)) => {
            let numerator = vm.int_value(numerator)?;
            let denominator = vm.int_value(denominator)?;
            Ok(vm.heap.tuple(vec![numerator, denominator]))
        }
        Err(error) => Err(vm.number_error(error)),
    }
}

fn same_quantum(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (left, right) = (own(vm, arguments[0])?, own(vm, arguments[1])?);
    Ok(Value::truth(left.same_quantum(&right)))
}
