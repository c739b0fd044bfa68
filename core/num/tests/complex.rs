//! complex numbers against CPython 3.11.

use cowboy_num::F64;
use cowboy_num::complex::{Complex, ComplexError};

use super::oracle::{EDGES, Random, check_against_python, quoted};

fn python(z: Complex) -> String {
    format!("complex(F({:#x}), F({:#x}))", z.real.0, z.imaginary.0)
}

fn bits(z: Complex) -> String {
    format!("{:016x} {:016x}", z.real.0, z.imaginary.0)
}

#[test]
fn a_67_complex_arithmetic_equals_cpython() {
    let mut random = Random::new(95);
    let mut rows = Vec::new();
    for round in 0..4_000 {
        let mut part = || {
            let edge = EDGES[random.below(EDGES.len() as u64) as usize] | random.below(2) << 63;
            let bits = if round % 3 == 0 { edge } else { random.short_decimal().to_bits() };
            F64::from_bits(bits)
        };
        let (a, b) = (Complex::new(part(), part()), Complex::new(part(), part()));
        let shown = |operator: &str| format!("'%s %s' % (lambda z: (B(z.real), B(z.imag)))({} {operator} {})", python(a), python(b));
        rows.push((shown("+"), bits(a + b)));
        rows.push((shown("-"), bits(a - b)));
        rows.push((shown("*"), bits(a * b)));
        let quotient = a.divided(b).map_or("ZeroDivisionError: complex division by zero".to_string(), bits);
        rows.push((shown("/"), quotient));
        let magnitude = a.magnitude().map_or("OverflowError: absolute value too large".to_string(), |x| format!("{:016x}", x.0));
        if round % 3 == 0 {
            rows.push((format!("B(abs({}))", python(a)), magnitude));
        }
        rows.push((format!("repr({})", python(a)), a.repr()));
        let exponent = Complex::new(F64::from_i64(random.below(12) as i64 - 4), F64::ZERO);
        let power = match a.power(exponent) {
            Ok(z) => bits(z),
            Err(ComplexError::Range) => "OverflowError: complex exponentiation".to_string(),
            Err(ComplexError::ZeroDivision) => "ZeroDivisionError: 0.0 to a negative or complex power".to_string(),
        };
        rows.push((format!("'%s %s' % (lambda z: (B(z.real), B(z.imag)))({} ** {})", python(a), python(exponent)), power));
    }
    check_against_python(&rows);
}

#[test]
fn a_67_complex_texts_parse_as_in_cpython() {
    let rows: Vec<(String, String)> = [
        "1",
        "1j",
        "j",
        "-j",
        "+J",
        "1+j",
        "1-2j",
        " ( 1.5e-3-2E+4j ) ",
        "1e5",
        "1e5j",
        "1e+5j",
        "inf+nanj",
        "-infinityj",
        "1_0+2_0j",
        "",
        "()",
        "(1",
        "1)",
        "1+",
        "1+-2j",
        "1--2j",
        "1 +2j",
        "jj",
        "1j+2",
        "1e",
        "nanj",
        "(j)",
        "\u{661}+\u{662}j",
        "+-j",
        "1e5-j",
    ]
    .iter()
    .map(|text| {
        let ours = Complex::parse(text).map_or("ValueError: complex() arg is a malformed string".to_string(), Complex::repr);
        (format!("repr(complex({}))", quoted(text)), ours)
    })
    .collect();
    check_against_python(&rows);
}
