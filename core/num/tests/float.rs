//! arithmetic gives the bits that IEEE 754 prescribes, as the host's FPU does.

use std::hint::black_box;

use cowboy_num::F64;
use dashu_int::IBig;

use super::oracle::{EDGES, Random, check_against_python};

/// The bits of what the FPU computed, every NaN as ours.
///
/// Opaque to the compiler: inlined, `sqrt` of a negative number was folded to a NaN of which `is_nan` was folded to `false`.
fn canonical(value: f64) -> u64 {
    let value = black_box(value);
    if value.is_nan() { F64::NAN.0 } else { value.to_bits() }
}

#[derive(Clone, Copy)]
struct Operation {
    name: &'static str,
    ours: fn(F64, F64) -> F64,
    host: fn(f64, f64) -> f64,
}

const OPERATIONS: [Operation; 6] = [
    Operation { name: "+", ours: |a, b| a + b, host: |a, b| a + b },
    Operation { name: "-", ours: |a, b| a - b, host: |a, b| a - b },
    Operation { name: "*", ours: |a, b| a * b, host: |a, b| a * b },
    Operation { name: "/", ours: |a, b| a / b, host: |a, b| a / b },
    Operation { name: "fmod", ours: |a, b| a % b, host: |a, b| a % b },
    Operation { name: "sqrt", ours: |a, _| a.sqrt(), host: |a, _| a.sqrt() },
];

fn check(a: u64, b: u64) {
    let (a, b) = (F64::from_bits(a), F64::from_bits(b));
    let (host_a, host_b) = (f64::from_bits(a.0), f64::from_bits(b.0));
    for operation in OPERATIONS {
        let ours = (operation.ours)(a, b).0;
        let host = canonical((operation.host)(host_a, host_b));
        assert_eq!(ours, host, "{:#x} {} {:#x}: {ours:#x}, not {host:#x}", a.0, operation.name, b.0);
    }
    assert_eq!(a.compare(b), host_a.partial_cmp(&host_b), "{a:?} <=> {b:?}");
    assert_eq!((a == b, a < b, a <= b), (host_a == host_b, host_a < host_b, host_a <= host_b), "{a:?} {b:?}");
}

#[test]
fn a_67_arithmetic_equals_the_host_on_edges() {
    for a in EDGES {
        for b in EDGES {
            for signs in 0..4u64 {
                check(a ^ (signs & 1) << 63, b ^ (signs >> 1) << 63);
            }
        }
    }
}

#[test]
fn a_67_arithmetic_equals_the_host_on_a_million_pairs() {
    let mut random = Random::new(67);
    for _ in 0..1_000_000 {
        check(random.float_bits(), random.float_bits());
    }
}

#[test]
fn a_67_rounding_to_whole_numbers_equals_the_host() {
    let mut random = Random::new(68);
    for _ in 0..500_000 {
        let a = F64::from_bits(random.float_bits());
        let host = f64::from_bits(a.0);
        for (name, ours, theirs) in [
            ("trunc", a.trunc(), host.trunc()),
            ("floor", a.floor(), host.floor()),
            ("ceil", a.ceil(), host.ceil()),
            ("round", a.round_half_even(), host.round_ties_even()),
            ("up", a.next_after(F64::INFINITY), host.next_up()),
            ("down", a.next_after(F64::NEG_INFINITY), host.next_down()),
        ] {
            assert_eq!(ours.0, canonical(theirs), "{name} {a:?}");
        }
    }
}

#[test]
fn a_67_integers_convert_as_on_the_host() {
    let mut random = Random::new(69);
    for _ in 0..500_000 {
        let value = (random.bits() as i64) >> random.below(64);
        assert_eq!(F64::from_i64(value).0, (value as f64).to_bits(), "{value}");
        assert_eq!(F64::from_u64(value as u64).0, (value as u64 as f64).to_bits(), "{value}");
        assert_eq!(F64::from_int(&IBig::from(value)).unwrap().0, (value as f64).to_bits(), "{value}");
        let near = F64((value as f64).to_bits() ^ random.below(4));
        let host = f64::from_bits(near.0);
        assert_eq!(near.to_int().unwrap(), IBig::from(host as i128), "{near:?}");
        let exactly = (host.trunc() as i128).cmp(&i128::from(value)).then(host.partial_cmp(&host.trunc()).unwrap());
        assert_eq!(near.compare_i64(value), Some(exactly), "{near:?} <=> {value}");
        assert_eq!(near.compare_int(&IBig::from(value)), Some(exactly), "{near:?} <=> {value}");
    }
}

/// The bits, or the error that Python's `message` row raises.
fn bits(value: Option<F64>, error: &str) -> String {
    value.map_or(error.to_string(), |value| format!("{:016x}", value.0))
}

#[test]
fn a_67_division_with_remainder_equals_cpython() {
    let mut random = Random::new(70);
    let mut rows = Vec::new();
    for round in 0..4_000 {
        let (a, b) = if round < 2_000 {
            (random.float_bits(), random.float_bits())
        } else {
            (random.short_decimal().to_bits(), random.short_decimal().to_bits())
        };
        let (x, y) = (F64::from_bits(a), F64::from_bits(b));
        let pair = format!("F({:#x}), F({:#x})", x.0, y.0);
        let error = "ZeroDivisionError: float divmod()";
        rows.push((format!("B(divmod({pair})[0])"), bits(x.py_floordiv(y), error)));
        rows.push((format!("B(divmod({pair})[1])"), bits(x.py_divmod(y).map(|both| both.1), error)));
        rows.push((format!("B(F({:#x}) % F({:#x}))", x.0, y.0), bits(x.py_mod(y), "ZeroDivisionError: float modulo")));
        let domain = "ValueError: math domain error";
        let remainder = x.ieee_remainder(y);
        let undefined = remainder.is_nan() && !x.is_nan() && !y.is_nan();
        rows.push((format!("B(math.remainder({pair}))"), bits((!undefined).then_some(remainder), domain)));
        let (mantissa, exponent) = x.frexp();
        if x.is_finite() {
            rows.push((format!("B(math.frexp({:#x} and F({:#x}))[0])", x.0 | 1, x.0), format!("{:016x}", mantissa.0)));
            rows.push((format!("math.frexp(F({:#x}))[1]", x.0), exponent.to_string()));
            let (numerator, denominator) = x.as_integer_ratio().unwrap();
            rows.push((format!("F({:#x}).as_integer_ratio()", x.0), format!("({numerator}, {denominator})")));
        }
        let (fraction, whole) = x.modf();
        rows.push((format!("'%s %s' % tuple(map(B, math.modf(F({:#x}))))", x.0), format!("{:016x} {:016x}", fraction.0, whole.0)));
        rows.push((format!("B(math.ulp(F({:#x})))", x.0), format!("{:016x}", x.ulp().0)));
        rows.push((format!("B(math.nextafter({pair}))"), format!("{:016x}", x.next_after(y).0)));
        let shift = random.below(2400) as i64 - 1200;
        rows.push((format!("B(math.ldexp(F({:#x}), {shift}))", x.0), bits(x.ldexp(shift), "OverflowError: math range error")));
        let places = random.below(40) as i64 - 20;
        let too_large = "OverflowError: rounded value too large to represent";
        rows.push((format!("B(round(F({:#x}), {places}))", x.0), bits(x.round_to_places(places), too_large)));
        let any_places = random.below(700) as i64 - 345;
        rows.push((format!("B(round(F({:#x}), {any_places}))", x.0), bits(x.round_to_places(any_places), too_large)));
    }
    for text in ["0.5", "1.5", "2.5", "2.675", "1e22", "1.7976931348623157e308", "5e-324", "0.125", "0.375", "-0.05"] {
        for places in [-309, -308, -2, -1, 0, 1, 2, 3, 323, 324] {
            let x = F64(text.parse::<f64>().unwrap().to_bits());
            let too_large = "OverflowError: rounded value too large to represent";
            rows.push((format!("B(round({text}, {places}))"), bits(x.round_to_places(places), too_large)));
        }
    }
    check_against_python(&rows);
}

#[test]
fn a_67_big_integers_convert_and_compare_as_in_cpython() {
    let mut random = Random::new(71);
    let mut rows = Vec::new();
    for _ in 0..3_000 {
        let mut value = IBig::from(random.bits() as i64);
        let shift = usize::try_from(random.below(1_050)).unwrap();
        value = (value << shift) + IBig::from(random.below(3) as i64 - 1);
        rows.push((format!("B(float({value}))"), bits(F64::from_int(&value), "OverflowError: int too large to convert to float")));
        if let Some(near) = F64::from_int(&value) {
            let near = F64(near.0 ^ random.below(2));
            let sign = near.compare_int(&value).unwrap() as i8;
            rows.push((format!("(F({:#x}) > {value}) - (F({:#x}) < {value})", near.0, near.0), sign.to_string()));
            rows.push((format!("int(F({:#x}))", near.0), near.to_int().unwrap().to_string()));
        }
    }
    check_against_python(&rows);
}
