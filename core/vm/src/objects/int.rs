//! `int` and `bool`.

use crate::costs::{BITS_FOLDED, LARGE_HASH, LIMBS_ROUNDED, MODULAR, MODULAR_LIMBS, ROUNDED, TEXT_READ, TEXT_WRITTEN};
use crate::error::{Outcome, Throw};
use crate::frame::Expect;
use crate::heap::numbers::Number;
use crate::objects::codec;
use crate::payload::Payload;
use crate::runtime::Vm;
use crate::runtime::native::{NativeKind, NativeRow};
use crate::runtime::protocol::{Compare, Display};
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num as num;
use cowboy_num::sizes;
use dashu_int::{IBig, Sign};

const M: NativeKind = NativeKind::Method;
const S: NativeKind = NativeKind::Static;
const C: NativeKind = NativeKind::ClassMethod;

/// Rows of `int` and `bool`.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(S, "int.__new__", "cls, x=, /, base=", 3, new, "retry_index"),
    NativeRow(S, "bool.__new__", "cls, x=, /", 2, bool_new, ""),
    NativeRow(M, "int.bit_length", "self, /", 1, bit_length, ""),
    NativeRow(M, "int.bit_count", "self, /", 1, bit_count, ""),
    NativeRow(M, "int.to_bytes", "self, length=, byteorder=, *, signed=", 5, to_bytes, "int_to_bytes"),
    NativeRow(C, "int.from_bytes", "cls, bytes, byteorder=, *, signed=", 5, from_bytes, "int_from_bytes"),
    NativeRow(M, "int.conjugate", "self, /", 1, same, ""),
    NativeRow(M, "int.as_integer_ratio", "self, /", 2, ratio, ""),
    NativeRow(M, "int.__int__", "self, /", 1, same, ""),
    NativeRow(M, "int.__index__", "self, /", 1, same, ""),
    NativeRow(M, "int.__trunc__", "self, /", 1, same, ""),
    NativeRow(M, "int.__floor__", "self, /", 1, same, ""),
    NativeRow(M, "int.__ceil__", "self, /", 1, same, ""),
    NativeRow(M, "int.__round__", "self, ndigits=, /", 1, round, "retry_last"),
    NativeRow(M, "int.__float__", "self, /", 15, float, ""),
    NativeRow(M, "int.__bool__", "self, /", 1, truth, ""),
    NativeRow(M, "int.__neg__", "self, /", 1, neg, ""),
    NativeRow(M, "int.__pos__", "self, /", 1, same, ""),
    NativeRow(M, "int.__abs__", "self, /", 1, abs, ""),
    NativeRow(M, "int.__invert__", "self, /", 1, invert, ""),
    NativeRow(M, "int.__hash__", "self, /", 1, hash, ""),
    NativeRow(M, "int.__repr__", "self, /", 1, repr, ""),
    NativeRow(M, "int.__format__", "self, format_spec, /", 2, format, ""),
];

/// `pow(base, exponent, modulus)` of three integers; `None` where one is none.
pub(crate) fn pow_modulo(vm: &mut Vm, base: Value, exponent: Value, modulus: Value) -> Outcome<Option<Value>> {
    let (Some(base), Some(exponent), Some(modulus)) = (vm.heap.as_int(base), vm.heap.as_int(exponent), vm.heap.as_int(modulus)) else {
        return Ok(None);
    };
    let limbs = num::int::bit_length(&modulus) / 64 + 1;
    let bits = num::int::bit_length(&exponent) + 1;
    if exponent.sign() == Sign::Negative {
        vm.spend(BITS_FOLDED.of(2 * num::int::bit_length(&modulus)))?;
    }
    vm.spend((MODULAR_LIMBS.of(limbs * limbs) + MODULAR.once()).times(bits) + MODULAR.once())?;
    match num::int::pow_mod(&base, &exponent, &modulus) {
        Ok(value) => vm.int_value(value).map(Some),
        Err(error) => Err(vm.number_error(error)),
    }
}

fn number(vm: &Vm, value: Value) -> IBig {
    vm.heap.as_int(value).unwrap_or(IBig::ZERO)
}

/// Makes an `int`, or an instance of a class below it.
pub(crate) fn of_class(vm: &mut Vm, class: Value, value: Value) -> Outcome {
    match class {
        Value::Obj(class) if class != ty::INT && class != ty::BOOL => Ok(vm.heap.wrap_builtin(class, Payload::Scalar(value))),
        _ => Ok(value),
    }
}

fn new(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[0].is(Value::Obj(ty::BOOL)) {
        return Err(vm.type_error("int.__new__(bool) is not safe, use bool.__new__()"));
    }
    // What a special method gives becomes an instance afterwards.
    let is_asked = |vm: &mut Vm| [nm::INT, nm::INDEX, nm::TRUNC].iter().any(|&name| vm.python_method(args[1], name).is_some());
    if !args[0].is(Value::Obj(ty::INT)) && args[2].is_undefined() && is_asked(vm) {
        return vm.call_helper("number_new", &[args[0], args[1]]);
    }
    let value = convert(vm, args[1], args[2])?;
    of_class(vm, args[0], value)
}

/// `int(x, base)`
fn convert(vm: &mut Vm, value: Value, base: Value) -> Outcome {
    if value.is_undefined() {
        if !base.is_undefined() {
            return Err(vm.type_error("int() missing string argument"));
        }
        return Ok(Value::Int(0));
    }
    if base.is_undefined() {
        if vm.python_method(value, nm::INT).is_none() {
            match vm.heap.number(value) {
                Some(Number::Float(number)) => {
                    if number.is_nan() {
                        return Err(vm.value_error("cannot convert float NaN to integer"));
                    }
                    return match number.to_int() {
                        Some(number) => vm.int_value(number),
                        None => Err(vm.raise(ty::OVERFLOW_ERROR, "cannot convert float infinity to integer")),
                    };
                }
                Some(Number::Small(number)) => return Ok(Value::Int(number)),
                Some(Number::Big(number)) => return vm.int_value(number),
                None => {}
            }
        }
        for (name, expect) in [(nm::INT, Expect::Int), (nm::INDEX, Expect::Index), (nm::TRUNC, Expect::Trunc)] {
            if let Some(function) = vm.python_method(value, name) {
                return Err(vm.call_expecting(function, &[value], expect));
            }
        }
    }
    if vm.python_method(base, nm::INDEX).is_some() {
        return Err(Throw::Fallback);
    }
    let radix = match vm.heap.number(base) {
        _ if base.is_undefined() => 10,
        Some(Number::Float(_)) => return Err(vm.type_error("'float' object cannot be interpreted as an integer")),
        Some(Number::Small(radix)) if radix == 0 || (2..=36).contains(&radix) => u32::try_from(radix).unwrap_or(10),
        Some(_) => return Err(vm.value_error("int() base must be >= 2 and <= 36, or 0")),
        None => {
            let message = format!("'{}' object cannot be interpreted as an integer", vm.heap.class_name(base));
            return Err(vm.type_error(message));
        }
    };
    let text = match vm.heap.text(value) {
        Some(text) => text.to_owned(),
        None => match value.object().map(|object| vm.heap.payload(object).core()) {
            Some(Payload::Bytes(bytes) | Payload::ByteArray(bytes, _)) => String::from_utf8_lossy(bytes).into_owned(),
            Some(Payload::MemoryView(_)) if base.is_undefined() => {
                String::from_utf8_lossy(&super::bytes::bytes_like(vm, value)?).into_owned()
            }
            _ => {
                let message = if base.is_undefined() {
                    format!("int() argument must be a string, a bytes-like object or a real number, not '{}'", vm.heap.class_name(value))
                } else {
                    "int() can't convert non-string with explicit base".to_owned()
                };
                return Err(vm.type_error(message));
            }
        },
    };
    vm.spend(TEXT_READ.of(text.len()))?;
    match num::parse_int(&text, radix) {
        Ok(number) => vm.int_value(number),
        Err(num::int::ParseIntError::Other(error)) => Err(vm.number_error(error)),
        Err(num::int::ParseIntError::Invalid) => {
            let shown: String = vm.repr_native(value)?.chars().take(200).collect();
            Err(vm.value_error(format!("invalid literal for int() with base {radix}: {shown}")))
        }
    }
}

fn bool_new(vm: &mut Vm, args: &[Value]) -> Outcome {
    if args[1].is_undefined() {
        return Ok(Value::truth(false));
    }
    if matches!(vm.special(args[1], nm::BOOL), Some(Value::None)) {
        return Err(vm.type_error("'NoneType' object is not callable"));
    }
    vm.truth(args[1]).map(Value::truth)
}

fn same(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]);
    vm.int_value(value)
}

fn bit_length(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bits = match args[0] {
        Value::Obj(object) => match vm.heap.payload(object) {
            Payload::BigInt(large) => num::int::bit_length(large),
            _ => num::int::bit_length(&number(vm, args[0])),
        },
        Value::Int(small) => sizes::saturating(64 - small.unsigned_abs().leading_zeros()),
        _ => num::int::bit_length(&number(vm, args[0])),
    };
    Ok(Value::Int(i64::try_from(bits).unwrap_or(i64::MAX)))
}

fn bit_count(vm: &mut Vm, args: &[Value]) -> Outcome {
    let bits = num::int::bit_count(&number(vm, args[0]));
    Ok(Value::Int(i64::try_from(bits).unwrap_or(i64::MAX)))
}

fn big_endian(vm: &mut Vm, order: Value, function: &str) -> Outcome<bool> {
    match vm.heap.text(order) {
        None if order.is_undefined() => Ok(true),
        None => {
            let message = format!("{function}() argument 'byteorder' must be str, not {}", codec::shown(vm, order));
            Err(vm.type_error(message))
        }
        Some("big") => Ok(true),
        Some("little") => Ok(false),
        Some(_) => Err(vm.value_error("byteorder must be either 'little' or 'big'")),
    }
}

fn to_bytes(vm: &mut Vm, args: &[Value]) -> Outcome {
    let length = match vm.heap.number(args[1].or(Value::Int(1))) {
        Some(Number::Small(length)) => match sizes::not_negative(length) {
            Some(length) => length,
            None => return Err(vm.value_error("length argument must be non-negative")),
        },
        Some(Number::Big(_)) => return Err(vm.raise(ty::OVERFLOW_ERROR, "Python int too large to convert to C ssize_t")),
        _ => return Err(vm.not_an_integer(args[1])),
    };
    let big = big_endian(vm, args[2], "to_bytes")?;
    let signed = vm.option(args[3])?;
    vm.reserve(length)?;
    vm.spend(TEXT_READ.of(length))?;
    let value = number(vm, args[0]);
    match num::int::to_bytes(&value, length, big, signed) {
        Ok(bytes) => Ok(vm.heap.make(ty::BYTES, Payload::Bytes(bytes))),
        Err(error) => Err(vm.number_error(error)),
    }
}

fn from_bytes(vm: &mut Vm, args: &[Value]) -> Outcome {
    let big = big_endian(vm, args[2], "from_bytes")?;
    let bytes = super::bytes::of_argument(vm, args[1])?;
    let signed = vm.option(args[3])?;
    vm.spend(TEXT_READ.of(bytes.len()))?;
    let value = num::int::from_bytes(&bytes, big, signed);
    let value = vm.int_value(value)?;
    if args[0].is(Value::Obj(ty::INT)) {
        return Ok(value);
    }
    // Other classes are called with the number, as CPython does.
    let call = vm.call_later(args[0], &[value], crate::frame::OnReturn::Store);
    vm.heap.release(value);
    Err(call)
}

fn ratio(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = same(vm, args)?;
    Ok(vm.heap.tuple(vec![value, Value::Int(1)]))
}

fn round(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]);
    if args[1].is_undefined() || args[1].is_none() {
        return vm.int_value(value);
    }
    let Some(places) = vm.heap.as_int(args[1]) else { return Err(vm.not_an_integer(args[1])) };
    let limbs = num::int::bit_length(&value) / 64 + 1;
    vm.spend(LIMBS_ROUNDED.of(limbs * limbs) + ROUNDED.once())?;
    match num::int::round_to_places(&value, &places) {
        Ok(value) => vm.int_value(value),
        Err(error) => Err(vm.number_error(error)),
    }
}

fn float(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]);
    vm.to_float(&Number::Big(value)).map(Value::Float)
}

fn truth(vm: &mut Vm, args: &[Value]) -> Outcome {
    Ok(Value::truth(!number(vm, args[0]).is_zero()))
}

fn neg(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = -number(vm, args[0]);
    vm.int_value(value)
}

fn abs(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = number(vm, args[0]);
    let value = if value.sign() == Sign::Negative { -value } else { value };
    vm.int_value(value)
}

fn invert(vm: &mut Vm, args: &[Value]) -> Outcome {
    let value = -number(vm, args[0]) - IBig::ONE;
    vm.int_value(value)
}

fn hash(vm: &mut Vm, args: &[Value]) -> Outcome {
    let whole = number(vm, args[0]);
    if i64::try_from(&whole).is_err() {
        vm.spend(LARGE_HASH.once())?;
    }
    Ok(Value::Int(num::hash_int(&whole)))
}

fn repr(vm: &mut Vm, args: &[Value]) -> Outcome {
    if let Value::Bool(truth) = args[0] {
        return Ok(vm.heap.str(if bool::from(truth) { "True" } else { "False" }));
    }
    let text = number(vm, args[0]).to_string();
    vm.spend(TEXT_WRITTEN.of(text.len()))?;
    Ok(vm.heap.string(text))
}

/// The specification that `__format__` of a builtin class is given.
pub(super) fn format_spec(vm: &mut Vm, value: Value) -> Outcome<String> {
    if let Some(spec) = vm.heap.text(value) {
        return Ok(spec.to_owned());
    }
    let message = format!("__format__() argument must be str, not {}", codec::shown(vm, value));
    Err(vm.type_error(message))
}

fn format(vm: &mut Vm, args: &[Value]) -> Outcome {
    let spec = format_spec(vm, args[1])?;
    if spec.is_empty() {
        return vm.str_value(args[0]);
    }
    vm.format_builtin(args[0], &spec)
}
