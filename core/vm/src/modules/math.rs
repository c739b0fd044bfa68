//! The module `math`: Python's arguments and errors around [`cowboy_num::math`].

use crate::costs::{BIT_READ, BITS_FOLDED, FACTOR, FLOAT_READ, FLOAT_SUMMED, PRODUCT_ITEM};
use crate::error::{Outcome, Throw};
use crate::heap::numbers::Number;
use crate::runtime::Vm;
use crate::runtime::native::NativeKind::Function;
use crate::runtime::native::NativeRow;
use crate::runtime::protocol::{Iterate, Operate};
use crate::types::{nm, ty};
use crate::value::Value;
use cowboy_num::math::{self, ExactSum, MathError, SumError};
use cowboy_num::sizes;
use cowboy_num::{F64, NumberError, int};
use dashu_int::IBig;

// Prices follow the time of the rarest, slowest case, in which more bits are needed to round correctly.
/// Cycles of the functions that usually need only 128 bits.
const QUICK: u32 = 200;
/// Cycles of a function that is computed in wide integers to the last bit.
const TRANSCENDENTAL: u32 = 1_200;
/// Cycles of the error functions.
const ERROR_FUNCTION: u32 = 9_000;
/// Cycles of the gamma functions.
const GAMMA: u32 = 32_000;
/// Cycles of an exact operation on floats.
const EXACT: u32 = 2;

macro_rules! unary {
    ($($name:literal $cycles:ident $function:expr;)*) => {
        &[$(NativeRow(Function, concat!("math.", $name), "x, /", $cycles, |vm, arguments| {
            let x = float(vm, arguments[0])?;
            let outcome: Result<F64, MathError> = $function(x);
            match outcome {
                Ok(value) => Ok(Value::Float(value)),
                Err(error) => Err(math_error(vm, error)),
            }
        }, "retry_real"),)*]
    };
}

/// Functions of one float.
pub(crate) const UNARY: &[NativeRow] = unary! {
    "sqrt" EXACT math::sqrt;
    "exp" QUICK math::exp;
    "exp2" TRANSCENDENTAL math::exp2;
    "expm1" TRANSCENDENTAL math::expm1;
    "log1p" TRANSCENDENTAL math::log1p;
    "sin" QUICK math::sin;
    "cos" QUICK math::cos;
    "tan" TRANSCENDENTAL math::tan;
    "asin" TRANSCENDENTAL math::asin;
    "acos" TRANSCENDENTAL math::acos;
    "atan" TRANSCENDENTAL |x| Ok(math::atan(x));
    "sinh" TRANSCENDENTAL math::sinh;
    "cosh" TRANSCENDENTAL math::cosh;
    "tanh" TRANSCENDENTAL |x| Ok(math::tanh(x));
    "asinh" TRANSCENDENTAL |x| Ok(math::asinh(x));
    "acosh" TRANSCENDENTAL math::acosh;
    "atanh" TRANSCENDENTAL math::atanh;
    "cbrt" TRANSCENDENTAL |x| Ok(math::cbrt(x));
    "erf" ERROR_FUNCTION |x| Ok(math::erf(x));
    "erfc" ERROR_FUNCTION |x| Ok(math::erfc(x));
    "gamma" GAMMA math::gamma;
    "lgamma" GAMMA math::lgamma;
    "fabs" EXACT |x: F64| Ok(x.abs());
    "degrees" EXACT |x| Ok(math::degrees(x));
    "radians" EXACT |x| Ok(math::radians(x));
    "ulp" EXACT |x: F64| Ok(x.ulp());
};

/// The other functions.
pub(crate) const ROWS: &[NativeRow] = &[
    NativeRow(Function, "math.fmod", "x, y, /", EXACT, |vm, a| remainder(vm, a, math::fmod), "retry_real"),
    NativeRow(Function, "math.remainder", "x, y, /", 6, |vm, a| remainder(vm, a, math::remainder), "retry_real"),
    NativeRow(Function, "math.copysign", "x, y, /", EXACT, |vm, a| binary(vm, a, |x, y| Ok(x.copysign(y))), "retry_real"),
    NativeRow(Function, "math.nextafter", "x, y, /", EXACT, |vm, a| binary(vm, a, |x, y| Ok(x.next_after(y))), "retry_real"),
    NativeRow(Function, "math.atan2", "y, x, /", TRANSCENDENTAL, |vm, a| binary(vm, a, |y, x| Ok(math::atan2(y, x))), "retry_real"),
    NativeRow(Function, "math.pow", "x, y, /", QUICK, |vm, a| binary(vm, a, math::pow), "retry_real"),
    NativeRow(Function, "math.log", "x, base=, /", QUICK, log, "retry_real"),
    NativeRow(Function, "math.log2", "x, /", QUICK, |vm, a| log_of(vm, a[0], math::log2, math::log_int_2), "retry_real"),
    NativeRow(Function, "math.log10", "x, /", QUICK, |vm, a| log_of(vm, a[0], math::log10, math::log_int_10), "retry_real"),
    NativeRow(Function, "math.floor", "x, /", EXACT, |vm, a| whole(vm, a[0], F64::floor), "math_floor"),
    NativeRow(Function, "math.ceil", "x, /", EXACT, |vm, a| whole(vm, a[0], F64::ceil), "math_ceil"),
    NativeRow(Function, "math.trunc", "x, /", EXACT, |vm, a| whole(vm, a[0], F64::trunc), "math_trunc"),
    NativeRow(Function, "math.isnan", "x, /", EXACT, |vm, a| Ok(Value::truth(float(vm, a[0])?.is_nan())), "retry_real"),
    NativeRow(Function, "math.isinf", "x, /", EXACT, |vm, a| Ok(Value::truth(float(vm, a[0])?.is_infinite())), "retry_real"),
    NativeRow(Function, "math.isfinite", "x, /", EXACT, |vm, a| Ok(Value::truth(float(vm, a[0])?.is_finite())), "retry_real"),
    NativeRow(Function, "math.isclose", "a, b, *, rel_tol=, abs_tol=", EXACT, is_close, "retry_close"),
    NativeRow(Function, "math.frexp", "x, /", EXACT, frexp, "retry_real"),
    NativeRow(Function, "math.ldexp", "x, i, /", EXACT, ldexp, "retry_real"),
    NativeRow(Function, "math.modf", "x, /", EXACT, modf, "retry_real"),
    NativeRow(Function, "math.factorial", "x, /", TRANSCENDENTAL, factorial, "retry_integer"),
    NativeRow(Function, "math.comb", "n, k, /", TRANSCENDENTAL, |vm, a| integers(vm, a, int::comb), "retry_integer"),
    NativeRow(Function, "math.perm", "n, k=, /", TRANSCENDENTAL, perm, "retry_integer"),
    NativeRow(Function, "math.isqrt", "n, /", EXACT, isqrt, "retry_integer"),
    NativeRow(Function, "math.gcd", "*integers", EXACT, |vm, a| fold(vm, a, IBig::ZERO, |x, y| Ok(int::gcd(x, y))), "retry_integer"),
    NativeRow(Function, "math.lcm", "*integers", EXACT, |vm, a| fold(vm, a, IBig::ONE, int::lcm), "retry_integer"),
    NativeRow(Function, "math.hypot", "*coordinates", TRANSCENDENTAL, hypot, "retry_real"),
    NativeRow(Function, "math.dist", "p, q, /", TRANSCENDENTAL, dist, "math_dist"),
    NativeRow(Function, "math.fsum", "seq, /", EXACT, fsum, "math_fsum"),
    NativeRow(Function, "math.prod", "iterable, /, *, start=", 3, prod, ""),
];

/// Constants of the module.
pub(crate) const CONSTANTS: [(&str, F64); 5] =
    [("pi", math::PI), ("e", math::E), ("tau", math::TAU), ("inf", F64::INFINITY), ("nan", F64::NAN)];

fn math_error(vm: &mut Vm, error: MathError) -> Throw {
    vm.number_error(NumberError::from(error))
}

/// An argument as float. An object with `__float__` goes through `float()` first.
fn float(vm: &mut Vm, value: Value) -> Outcome<F64> {
    match vm.heap.number(value) {
        Some(Number::Small(_) | Number::Big(_)) if vm.python_method(value, nm::FLOAT).is_some() => Err(Throw::Fallback),
        Some(number) => vm.to_float(&number),
        None if vm.python_method(value, nm::FLOAT).is_some() || vm.python_method(value, nm::INDEX).is_some() => Err(Throw::Fallback),
        None => {
            let message = format!("must be real number, not {}", vm.heap.class_name(value));
            Err(vm.type_error(message))
        }
    }
}

/// An argument as integer.
fn integer(vm: &mut Vm, value: Value) -> Outcome<IBig> {
    match vm.heap.as_int(value) {
        Some(number) => Ok(number),
        None => Err(vm.not_an_integer(value)),
    }
}

fn binary(vm: &mut Vm, arguments: &[Value], function: fn(F64, F64) -> math::Outcome) -> Outcome {
    let (x, y) = (float(vm, arguments[0])?, float(vm, arguments[1])?);
    match function(x, y) {
        Ok(value) => Ok(Value::Float(value)),
        Err(error) => Err(math_error(vm, error)),
    }
}

/// A remainder, which is found bit by bit.
fn remainder(vm: &mut Vm, arguments: &[Value], function: fn(F64, F64) -> math::Outcome) -> Outcome {
    let (x, y) = (float(vm, arguments[0])?, float(vm, arguments[1])?);
    vm.spend(crate::costs::remainder(x, y))?;
    binary(vm, arguments, function)
}

/// The logarithm of a float or of an integer of any size.
fn log_of(vm: &mut Vm, value: Value, of_float: fn(F64) -> math::Outcome, of_int: fn(&IBig) -> math::Outcome) -> Outcome {
    let outcome = match vm.heap.as_int(value) {
        Some(number) => of_int(&number),
        None => of_float(float(vm, value)?),
    };
    match outcome {
        Ok(value) => Ok(Value::Float(value)),
        Err(error) => Err(math_error(vm, error)),
    }
}

fn log(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let numerator = log_of(vm, arguments[0], math::log, math::log_int)?;
    if arguments[1].is_undefined() {
        return Ok(numerator);
    }
    let denominator = log_of(vm, arguments[1], math::log, math::log_int)?;
    match (numerator, denominator) {
        (Value::Float(_), Value::Float(denominator)) if denominator.is_zero() => {
            Err(vm.raise(ty::ZERO_DIVISION_ERROR, "float division by zero"))
        }
        (Value::Float(numerator), Value::Float(denominator)) => Ok(Value::Float(numerator / denominator)),
        _ => Ok(Value::None),
    }
}

fn whole(vm: &mut Vm, value: Value, round: fn(F64) -> F64) -> Outcome {
    if vm.heap.is_python_instance(value) {
        return Err(Throw::Fallback);
    }
    if let Some(number) = vm.heap.as_int(value) {
        return vm.int_value(number);
    }
    let x = float(vm, value)?;
    match round(x).to_int() {
        Some(number) => vm.int_value(number),
        None if x.is_nan() => Err(vm.value_error("cannot convert float NaN to integer")),
        None => Err(vm.raise(ty::OVERFLOW_ERROR, "cannot convert float infinity to integer")),
    }
}

fn is_close(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (a, b) = (float(vm, arguments[0])?, float(vm, arguments[1])?);
    // 1e-09
    let relative = if arguments[2].is_undefined() { F64(0x3e11_2e0b_e826_d695) } else { float(vm, arguments[2])? };
    let absolute = if arguments[3].is_undefined() { F64::ZERO } else { float(vm, arguments[3])? };
    match math::is_close(a, b, relative, absolute) {
        Some(close) => Ok(Value::truth(close)),
        None => Err(vm.value_error("tolerances must be non-negative")),
    }
}

fn frexp(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (mantissa, exponent) = float(vm, arguments[0])?.frexp();
    Ok(vm.heap.tuple(vec![Value::Float(mantissa), Value::Int(i64::from(exponent))]))
}

fn ldexp(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let x = float(vm, arguments[0])?;
    let Some(exponent) = vm.heap.as_int(arguments[1]) else {
        return Err(vm.type_error("Expected an int as second argument to ldexp."));
    };
    let far = if exponent < IBig::ZERO { i64::MIN } else { i64::MAX };
    match math::ldexp(x, i64::try_from(&exponent).unwrap_or(far)) {
        Ok(value) => Ok(Value::Float(value)),
        Err(error) => Err(math_error(vm, error)),
    }
}

fn modf(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (fraction, whole) = float(vm, arguments[0])?.modf();
    Ok(vm.heap.tuple(vec![Value::Float(fraction), Value::Float(whole)]))
}

fn number(vm: &mut Vm, outcome: Result<IBig, NumberError>) -> Outcome {
    match outcome {
        Ok(value) => vm.int_value(value),
        Err(error) => Err(vm.number_error(error)),
    }
}

/// Cycles of combinatorics: a multiplication for each factor, before any is made.
fn spend_factors(vm: &mut Vm, factors: &IBig) -> Outcome<()> {
    let most = int::MAX_BITS;
    let factors = sizes::index(factors).unwrap_or(if *factors < IBig::ZERO { 0 } else { most });
    vm.spend(FACTOR.of(factors.min(most)))
}

fn integers(vm: &mut Vm, arguments: &[Value], function: fn(&IBig, &IBig) -> Result<IBig, NumberError>) -> Outcome {
    let (n, k) = (integer(vm, arguments[0])?, integer(vm, arguments[1])?);
    spend_factors(vm, &k)?;
    number(vm, function(&n, &k))
}

fn factorial(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let n = integer(vm, arguments[0])?;
    spend_factors(vm, &n)?;
    number(vm, int::factorial(&n))
}

fn perm(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    if arguments[1].is_undefined() || arguments[1].is_none() { factorial(vm, arguments) } else { integers(vm, arguments, int::perm) }
}

fn isqrt(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let n = integer(vm, arguments[0])?;
    vm.spend(BIT_READ.of(int::bit_length(&n)))?;
    number(vm, int::isqrt(&n))
}

fn fold(vm: &mut Vm, arguments: &[Value], start: IBig, function: fn(&IBig, &IBig) -> Result<IBig, NumberError>) -> Outcome {
    let mut result = start;
    for &value in arguments {
        let next = integer(vm, value)?;
        vm.spend(BITS_FOLDED.of(int::bit_length(&next)))?;
        result = match function(&result, &next) {
            Ok(value) => value,
            Err(error) => return Err(vm.number_error(error)),
        };
    }
    vm.int_value(result)
}

fn floats(vm: &mut Vm, values: &[Value]) -> Outcome<Vec<F64>> {
    vm.spend(FLOAT_READ.of(values.len()))?;
    values.iter().map(|&value| float(vm, value)).collect()
}

fn hypot(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let coordinates = floats(vm, arguments)?;
    Ok(Value::Float(math::hypot(&coordinates)))
}

fn collected(vm: &mut Vm, iterable: Value) -> Outcome<Vec<F64>> {
    let values = vm.collect(iterable)?;
    vm.with_owned(values, floats)
}

fn dist(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let (p, q) = (collected(vm, arguments[0])?, collected(vm, arguments[1])?);
    if p.len() != q.len() {
        return Err(vm.value_error("both points must have the same number of dimensions"));
    }
    Ok(Value::Float(math::dist(&p, &q)))
}

fn fsum(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let items = vm.collect(arguments[0])?;
    let values = match floats(vm, &items) {
        // An iterator has given its items already.
        Err(Throw::Fallback) => {
            let list = vm.heap.list(items);
            let outcome = vm.call_helper("math_fsum", &[list]);
            vm.heap.release(list);
            return outcome;
        }
        outcome => outcome,
    };
    vm.heap.release_all(items);
    let values = values?;
    let mut sum = ExactSum::default();
    for value in values {
        let met = sum.include(value).map_err(|error| sum_error(vm, error))?;
        vm.spend(FLOAT_SUMMED.of(met + 1))?;
    }
    sum.total().map(Value::Float).map_err(|error| sum_error(vm, error))
}

fn sum_error(vm: &mut Vm, error: SumError) -> Throw {
    match error {
        SumError::Overflow => vm.raise(ty::OVERFLOW_ERROR, "intermediate overflow in fsum"),
        SumError::OppositeInfinities => vm.value_error("-inf + inf in fsum"),
    }
}

/// The product of numbers; of anything else Python code makes it.
fn prod(vm: &mut Vm, arguments: &[Value]) -> Outcome {
    let start = arguments[1].or(Value::Int(1));
    let items = match vm.collect(arguments[0]) {
        Ok(items) => items,
        Err(Throw::Fallback) => return prod_slowly(vm, arguments[0], start),
        Err(throw) => return Err(throw),
    };
    vm.owe(PRODUCT_ITEM.of(items.len()));
    let plain = [start].iter().chain(&items).all(|&value| vm.heap.number(value).is_some() && !vm.heap.is_python_instance(value));
    if !plain {
        vm.heap.release_all(items);
        return prod_slowly(vm, arguments[0], start);
    }
    vm.with_owned(items, |vm, items| {
        let mut product = vm.heap.retain(start);
        for item in items {
            let next = vm.binary_core(crate::runtime::operator::BinaryOp::Mul, product, *item);
            vm.heap.release(product);
            product = next?.unwrap_or(Value::NotImplemented);
        }
        Ok(product)
    })
}

fn prod_slowly(vm: &mut Vm, iterable: Value, start: Value) -> Outcome {
    crate::modules::functools::leave(vm, "_product", &[iterable, start])
}
