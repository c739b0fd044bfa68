//! floats as text, against CPython 3.11.

use cowboy_num::repr::{HexError, hex, parse_hex};
use cowboy_num::{F64, parse_float, repr};

use super::oracle::{EDGES, Random, check_against_python, quoted};

fn parsed(text: &str) -> String {
    parse_float(text)
        .map_or(format!("ValueError: could not convert string to float: {text:?}").replace('"', "'"), |x| format!("{:016x}", x.0))
}

#[test]
fn a_67_repr_equals_cpython_and_reads_back() {
    let mut random = Random::new(72);
    let mut rows = Vec::new();
    for round in 0..20_000 {
        let bits = match EDGES.get(round) {
            Some(&edge) => edge,
            None if round % 2 == 0 => random.float_bits(),
            None => random.short_decimal().to_bits(),
        };
        let value = F64::from_bits(bits);
        let text = repr(value);
        assert_eq!(parse_float(&text).unwrap().0, value.0, "{text}");
        rows.push((format!("repr(F({:#x}))", value.0), text));
        rows.push((format!("F({:#x}).hex()", value.0), hex(value)));
        assert_eq!(parse_hex(&hex(value)).unwrap().0, value.0, "{}", hex(value));
    }
    check_against_python(&rows);
}

#[test]
fn a_67_parsing_equals_cpython() {
    let mut rows = Vec::new();
    let mut check = |text: &str| rows.push((format!("B(float({}))", quoted(text)), parsed(text)));
    for text in [
        "0",
        "-0",
        "1",
        "1.",
        ".5",
        ".",
        "",
        "-",
        "e5",
        "1e",
        "1e+",
        "1e5",
        "1E-5",
        "1_0.0_1e1_0",
        "1__0",
        "_1",
        "1_",
        "1_.5",
        "1._5",
        "1e_5",
        "inf",
        "-Infinity",
        "+INF",
        "infinit",
        "nan",
        "-nan",
        "NaN0",
        " 1.5 ",
        "\t1.5\n",
        "1 .5",
        "\u{661}\u{662}.\u{665}",
        "\u{a0}1\u{3000}",
        "\u{b2}",
        "1.5.5",
        "0x10",
        "1e400",
        "-1e400",
        "1e-400",
        "1e99999999999999999999",
        "1e-99999999999999999999",
        "0e99999999999999999999",
        "2.2250738585072012e-308",
        "2.2250738585072011e-308",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "179769313486231580793e289",
        "9007199254740993",
        "9007199254740992.99999",
        "9007199254740993.0000000000000000000001",
        "123456789012345678901234567890",
        "0.000000000000000000000000000000000001",
        "8.5e22",
        "1e23",
        "1e22",
        "6929495644600919.5",
    ] {
        check(text);
    }
    let mut random = Random::new(73);
    for _ in 0..20_000 {
        let length = match random.below(4) {
            0 => 1 + random.below(25),
            1 => 17,
            2 => 18 + random.below(3),
            _ => 1 + random.below(60),
        };
        let digits: String = (0..length).map(|_| char::from(b'0' + random.below(10) as u8)).collect();
        let exponent = match random.below(3) {
            0 => random.below(60) as i64 - 30,
            1 => random.below(700) as i64 - 350,
            _ => 0,
        };
        let (whole, fraction) = digits.split_at(usize::try_from(random.below(length)).unwrap());
        check(&format!("{whole}.{fraction}e{exponent}"));
    }
    // Halfway between two floats and a hair beside it, the hardest to read.
    for _ in 0..2_000 {
        let low = random.bits() >> 2;
        let (a, b) = (F64::from_bits(low), F64::from_bits(low + 1));
        if !b.is_finite() {
            continue;
        }
        let halfway = exact_decimal_of_halfway(a, b);
        check(&halfway);
        check(&format!("{halfway}0000000000001"));
        check(&format!("{}4999999999", &halfway[..halfway.len() - 1]));
    }
    check_against_python(&rows);
}

/// The number halfway between two neighbours, all its digits.
fn exact_decimal_of_halfway(a: F64, b: F64) -> String {
    use dashu_int::{IBig, UBig};
    let ((n1, d1), (n2, d2)) = (a.as_integer_ratio().unwrap(), b.as_integer_ratio().unwrap());
    let numerator = n1 * IBig::from(d2.clone()) + n2 * IBig::from(d1.clone());
    let denominator: UBig = d1 * d2 * UBig::from(2u8);
    // The denominator is a power of two, so as many decimal places as it has zeros make the quotient whole.
    let places = denominator.trailing_zeros().unwrap();
    with_point(&(numerator * IBig::from(5u8).pow(places)).to_string(), places)
}

fn with_point(digits: &str, places: usize) -> String {
    let padded = format!("{}{digits}", "0".repeat((places + 1).saturating_sub(digits.len())));
    let (whole, fraction) = padded.split_at(padded.len() - places);
    format!("{whole}.{fraction}")
}

#[test]
fn a_67_hexadecimal_floats_parse_as_in_cpython() {
    let mut rows = Vec::new();
    let mut random = Random::new(74);
    let mut check = |text: &str| {
        let ours = match parse_hex(text) {
            Ok(value) => format!("{:016x}", value.0),
            Err(HexError::Invalid) => "ValueError: invalid hexadecimal floating-point string".to_string(),
            Err(HexError::TooLarge) => "OverflowError: hexadecimal value too large to represent as a float".to_string(),
        };
        rows.push((format!("B(float.fromhex({}))", quoted(text)), ours));
    };
    for text in [
        "0x1p0",
        "1",
        "0x",
        "0x.",
        "0x1.8",
        "-0x1.8p3",
        " 0x1p-1074 ",
        "0x1p-1075",
        "0x1.8p-1075",
        "0x1p1024",
        "0x1.fffffffffffff8p1023",
        "0x1.fffffffffffff7p1023",
        "inf",
        "-nan",
        "0x1p",
        "0x1p+",
        "0xg",
        "0x0p99999999999",
        "0x1p99999999999",
        "0x1p-99999999999",
        "1.5p2",
        "0X1P3",
        "0x1..2",
        "0x1_0",
        "0x123456789abcdef0123456789abcdef0123456789",
        "0x.000000000000000000000000000000000000000000000000001",
    ] {
        check(text);
    }
    for _ in 0..3_000 {
        let exponent = random.below(2300) as i64 - 1200;
        check(&format!("0x{:x}.{:x}p{exponent}", random.bits() >> random.below(64), random.bits() >> random.below(64)));
    }
    check_against_python(&rows);
}
