//! the functions of `math` are correctly rounded, with CPython's special cases and errors.

use cowboy_num::math::{self, ExactSum, MathError, Outcome, PowerError, SumError};
use cowboy_num::{F64, parse_float};
use dashu_int::IBig;

use super::oracle::{EDGES, Random, check_against_python, python};

type Unary = fn(F64) -> Outcome;
type Binary = fn(F64, F64) -> Outcome;

/// Functions of one argument, and by how many units in the last place CPython may differ: its C library does
/// not round correctly everywhere.
const UNARY: [(&str, Unary, u64); 24] = [
    ("sqrt", math::sqrt, 0),
    ("exp", math::exp, 1),
    ("exp2", math::exp2, 1),
    ("expm1", math::expm1, 1),
    ("log", math::log, 1),
    ("log2", math::log2, 1),
    ("log10", math::log10, 1),
    ("log1p", math::log1p, 1),
    ("sin", math::sin, 1),
    ("cos", math::cos, 1),
    ("tan", math::tan, 1),
    ("asin", math::asin, 1),
    ("acos", math::acos, 1),
    ("atan", |x| Ok(math::atan(x)), 1),
    ("sinh", math::sinh, 2),
    ("cosh", math::cosh, 2),
    ("tanh", |x| Ok(math::tanh(x)), 2),
    ("asinh", |x| Ok(math::asinh(x)), 2),
    ("acosh", math::acosh, 2),
    ("atanh", math::atanh, 2),
    ("cbrt", |x| Ok(math::cbrt(x)), 3),
    ("erf", |x| Ok(math::erf(x)), 1),
    ("erfc", |x| Ok(math::erfc(x)), 4),
    ("gamma", math::gamma, 10),
];

const BINARY: [(&str, Binary, u64); 5] = [
    ("pow", math::pow, 1),
    ("atan2", |y, x| Ok(math::atan2(y, x)), 1),
    ("hypot", |x, y| Ok(math::hypot(&[x, y])), 1),
    ("fmod", math::fmod, 0),
    ("remainder", math::remainder, 0),
];

fn shown(outcome: Outcome) -> String {
    match outcome {
        Ok(value) => format!("{:016x}", value.0),
        Err(MathError::Domain) => "ValueError: math domain error".to_string(),
        Err(MathError::Range) => "OverflowError: math range error".to_string(),
    }
}

#[test]
fn a_68_results_are_the_nearest_floats() {
    let rows = include_str!("math_golden.txt").lines().filter(|line| !line.starts_with('#'));
    let mut count = 0;
    for line in rows {
        let words: Vec<&str> = line.split(' ').collect();
        let bits = |word: &str| F64(u64::from_str_radix(word, 16).unwrap());
        let outcome = match words[..] {
            ["lgamma", x, _] => math::lgamma(bits(x)),
            [name, x, _] => (UNARY.iter().find(|row| row.0 == name).unwrap().1)(bits(x)),
            [name, x, y, _] => (BINARY.iter().find(|row| row.0 == name).unwrap().1)(bits(x), bits(y)),
            _ => panic!("a row has a function, arguments and a result: {line}"),
        };
        let shown = match outcome {
            Ok(value) => format!("{:016x}", value.0),
            Err(error) => format!("{error:?}"),
        };
        assert_eq!(shown, words[words.len() - 1], "{line}");
        count += 1;
    }
    assert!(count > 900, "the golden file holds rows for every function, not {count}");
}

/// Units in the last place between two results, or none if they differ in kind.
fn distance(ours: &str, theirs: &str) -> Option<u64> {
    if ours == theirs {
        return Some(0);
    }
    let ordered = |text: &str| {
        let bits = u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16)?;
        let magnitude = (bits & !(1 << 63)) as i64;
        Some(if bits >> 63 == 1 { -magnitude } else { magnitude })
    };
    Some(ordered(ours)?.abs_diff(ordered(theirs)?))
}

/// Compares rows of expression, result and tolerance with CPython.
fn check_within(rows: &[(String, String, u64)]) {
    let expressions: Vec<String> = rows.iter().map(|row| row.0.clone()).collect();
    let Some(answers) = python(&expressions) else { return };
    let wrong: Vec<String> = rows
        .iter()
        .zip(&answers)
        .filter(|((_, ours, tolerance), theirs)| distance(ours, theirs).is_none_or(|units| units > *tolerance))
        .map(|((expression, ours, _), theirs)| format!("{expression}: ours {ours}, theirs {theirs}"))
        .collect();
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), rows.len(), wrong[..wrong.len().min(12)].join("\n"));
}

#[test]
fn a_68_special_cases_are_those_of_cpython() {
    let mut rows = Vec::new();
    let more = [
        "0.5", "2", "3", "4", "10", "100", "1000", "0.1", "1e22", "1e23", "709.78", "709.79", "-745.1", "-745.2", "170.6", "171.7", "-1.5",
        "-170.5", "-184.5", "-201.5", "27.2", "1e-310",
    ];
    let edges: Vec<F64> = EDGES.into_iter().map(F64).chain(more.iter().map(|text| parse_float(text).unwrap())).collect();
    let signed: Vec<F64> = edges.iter().flat_map(|&x| [x, -x]).collect();
    for &x in &signed {
        for (name, ours, tolerance) in UNARY {
            rows.push((format!("B(math.{name}(F({:#x})))", x.0), shown(ours(x)), tolerance));
        }
        // Near its zeros CPython's is only right absolutely.
        let near_zeros = x > F64::HALF && x < F64::from_i64(3);
        rows.push((format!("B(math.lgamma(F({:#x})))", x.0), shown(math::lgamma(x)), if near_zeros { 1 << 60 } else { 10 }));
        rows.push((format!("B(math.degrees(F({:#x})))", x.0), shown(Ok(math::degrees(x))), 0));
        rows.push((format!("B(math.radians(F({:#x})))", x.0), shown(Ok(math::radians(x))), 0));
        for &y in &signed {
            for (name, ours, tolerance) in BINARY {
                rows.push((format!("B(math.{name}(F({:#x}), F({:#x})))", x.0, y.0), shown(ours(x, y)), tolerance));
            }
        }
    }
    check_within(&rows);
}

#[test]
fn a_68_random_arguments_agree_with_cpython() {
    let mut random = Random::new(90);
    let mut rows = Vec::new();
    for _ in 0..400 {
        for (name, ours, tolerance) in UNARY {
            let x = F64(random.short_decimal().to_bits());
            rows.push((format!("B(math.{name}(F({:#x})))", x.0), shown(ours(x)), tolerance));
        }
        let (x, y) = (F64(random.short_decimal().to_bits()), F64(random.short_decimal().to_bits()));
        for (name, ours, tolerance) in BINARY {
            rows.push((format!("B(math.{name}(F({:#x}), F({:#x})))", x.0, y.0), shown(ours(x, y)), tolerance));
        }
        let z = F64(random.short_decimal().to_bits());
        rows.push((format!("B(math.hypot(F({:#x}), F({:#x}), F({:#x})))", x.0, y.0, z.0), shown(Ok(math::hypot(&[x, y, z]))), 1));
        rows.push((
            format!("B(math.dist((F({:#x}), 0.5), (F({:#x}), F({:#x}))))", x.0, y.0, z.0),
            shown(Ok(math::dist(&[x, F64::HALF], &[y, z]))),
            1,
        ));
    }
    check_within(&rows);
}

#[test]
fn a_68_powers_of_floats_agree_with_cpython() {
    let mut random = Random::new(91);
    let mut rows = Vec::new();
    let mut check = |x: F64, y: F64| {
        let ours = match math::py_pow(x, y) {
            Ok(value) => format!("{:016x}", value.0),
            Err(PowerError::ZeroToNegative) => "ZeroDivisionError: 0.0 cannot be raised to a negative power".to_string(),
            Err(PowerError::Range) => "OverflowError: (34, 'Numerical result out of range')".to_string(),
            Err(PowerError::Complex) => "complex".to_string(),
        };
        let expression = format!("power(F({:#x}), F({:#x}))", x.0, y.0);
        rows.push((expression, ours, 1));
    };
    for x in EDGES {
        for y in EDGES {
            for signs in 0..4u64 {
                check(F64(x ^ (signs & 1) << 63), F64(y ^ (signs >> 1) << 63));
            }
        }
    }
    for _ in 0..2_000 {
        check(F64(random.short_decimal().to_bits()), F64(random.short_decimal().to_bits()));
        check(F64::from_i64(random.below(40) as i64 - 8), F64::from_i64(random.below(40) as i64 - 20));
        check(F64::from_i64(random.below(4000) as i64), F64::from_i64(random.below(40) as i64 - 20) / F64::from_i64(8));
    }
    check_within(&rows);
}

#[test]
fn a_68_logarithms_of_big_integers_agree_with_cpython() {
    let mut random = Random::new(92);
    let mut rows = Vec::new();
    for round in 0..600 {
        let shift = random.below(3900) as usize;
        let value = match round % 3 {
            0 => IBig::ONE << shift,
            1 => IBig::from(10).pow(shift / 4),
            _ => IBig::from(random.bits() >> 1) << shift,
        };
        rows.push((format!("B(math.log({value}))"), shown(math::log_int(&value)), 2));
        rows.push((format!("B(math.log2({value}))"), shown(math::log_int_2(&value)), 2));
        rows.push((format!("B(math.log10({value}))"), shown(math::log_int_10(&value)), 2));
    }
    for value in [0, -1] {
        let value = IBig::from(value);
        rows.push((format!("B(math.log({value}))"), shown(math::log_int(&value)), 0));
        rows.push((format!("B(math.log2({value}))"), shown(math::log_int_2(&value)), 0));
        rows.push((format!("B(math.log10({value}))"), shown(math::log_int_10(&-(IBig::ONE << 3000))), 0));
    }
    check_within(&rows);
}

#[test]
fn a_67_sums_and_closeness_equal_cpython() {
    let mut random = Random::new(93);
    let mut rows = Vec::new();
    for round in 0..3_000 {
        let count = random.below(12);
        let values: Vec<F64> = (0..count)
            .map(|_| match round % 4 {
                0 => F64::from_bits(random.float_bits()),
                1 => F64(random.short_decimal().to_bits()),
                // Close together, so that halfway cases and cancellation happen.
                2 => F64((0x3ff0_0000_0000_0000 + (random.below(120) << 52) + random.below(4)) | (random.below(2) << 63)),
                _ => F64((0x7fe0_0000_0000_0000 + random.below(1 << 52)) | (random.below(2) << 63)),
            })
            .collect();
        let listed: String = values.iter().map(|value| format!("F({:#x}), ", value.0)).collect();
        let mut sum = ExactSum::default();
        let total = values.iter().try_for_each(|value| sum.include(*value).map(drop)).and_then(|()| sum.total());
        let ours = match total {
            Ok(value) => format!("{:016x}", value.0),
            Err(SumError::Overflow) => "OverflowError: intermediate overflow in fsum".to_string(),
            Err(SumError::OppositeInfinities) => "ValueError: -inf + inf in fsum".to_string(),
        };
        rows.push((format!("B(math.fsum([{listed}]))"), ours));
        let (a, b) = (F64::from_bits(random.float_bits()), F64(random.short_decimal().to_bits()));
        let near = F64(b.0 + random.below(1 << 24));
        let tolerances = [F64(0x3e11_2e0b_e826_d695), F64::ZERO, F64::ONE, -F64::ONE];
        let (relative, absolute) = (tolerances[random.below(4) as usize], tolerances[random.below(3) as usize]);
        for (a, b) in [(a, b), (b, near)] {
            let close = math::is_close(a, b, relative, absolute);
            let ours = close.map_or("ValueError: tolerances must be non-negative", |close| if close { "True" } else { "False" });
            rows.push((
                format!("math.isclose(F({:#x}), F({:#x}), rel_tol=F({:#x}), abs_tol=F({:#x}))", a.0, b.0, relative.0, absolute.0),
                ours.to_string(),
            ));
        }
    }
    check_against_python(&rows);
}
