//! `format()` of floats, integers, strings and complex numbers, against CPython 3.11.

use cowboy_num::float_format::{FloatStyle, float_to_text, format_complex};
use cowboy_num::format_spec::{FormatError, Spec, Subject, format_str};
use cowboy_num::int::percent_int;
use cowboy_num::{F64, format_float, format_int};
use dashu_int::IBig;

use super::oracle::{Random, check_against_python, quoted};

/// A value, as Python text and as ours.
enum Value {
    Float(F64),
    Int(IBig),
    Str(&'static str),
    Complex(F64, F64),
}

impl Value {
    fn python(&self) -> String {
        match self {
            Value::Float(value) => format!("F({:#x})", value.0),
            Value::Int(value) => value.to_string(),
            Value::Str(value) => quoted(value),
            Value::Complex(real, imaginary) => {
                format!("complex(F({:#x}), F({:#x}))", real.0, imaginary.0)
            }
        }
    }

    fn formatted(&self, text: &str) -> String {
        let (subject, name) = match self {
            Value::Float(_) => (Subject::Float, "float"),
            Value::Int(_) => (Subject::Int, "int"),
            Value::Str(_) => (Subject::Str, "str"),
            Value::Complex(..) => (Subject::Complex, "complex"),
        };
        let result = Spec::parse(text, subject).and_then(|spec| match self {
            Value::Float(value) => format_float(*value, &spec),
            Value::Int(value) => format_int(value, &spec),
            Value::Str(value) => format_str(value, &spec),
            Value::Complex(real, imaginary) => format_complex(*real, *imaginary, &spec),
        });
        result.unwrap_or_else(|error: FormatError| {
            let kind = if error.is_overflow() { "OverflowError" } else { "ValueError" };
            format!("{kind}: {}", error.message(name))
        })
    }
}

fn row(value: &Value, spec: &str) -> (String, String) {
    (format!("format({}, {})", value.python(), quoted(spec)), value.formatted(spec))
}

#[test]
fn a_67_refusals_read_as_in_cpython() {
    let float = Value::Float(F64(1.5f64.to_bits()));
    let int = Value::Int(IBig::from(5));
    let text = Value::Str("aé");
    let mut rows = Vec::new();
    for spec in [
        "",
        "+5",
        " 5",
        "-5",
        "z5",
        "#5",
        "=5",
        "05",
        "<05",
        "005",
        ",5",
        "5,",
        "5_",
        "d",
        ".2",
        ".0",
        "5.x",
        "5.2xx",
        "xyz",
        "z",
        ".2f",
        "+c",
        "#c",
        "c",
        ",x",
        "_x",
        ",n",
        ",_",
        "_,",
        ",,",
        "\u{1}",
        ",\u{1}",
        ",é",
        "é",
        "99999999999999999999",
        "s",
        ",c",
        "_c",
        ",b",
        "_b",
        "_o",
        "_X",
        ".",
        ".f",
        "5c",
        "05c",
        "^5c",
        "*^9",
        "é>9",
        "==9",
        "<<9",
        "<",
        "=",
        "010",
        "٥",
        "%",
        "n",
        "=+#010,.3f",
        "#x",
        "#X",
        "#b",
        "#o",
        "08,",
        "09,",
        "010,",
        "+08,d",
        " 012_x",
        "#012_x",
        "0=12",
        "0<12",
        "012",
        "z.0f",
    ] {
        for value in [&float, &int, &text] {
            rows.push(row(value, spec));
        }
    }
    for (number, spec) in [(-1, "c"), (0x11_0000, "c"), (0x10_ffff, "c"), (65, "c"), (-5, "#x"), (-5, "08"), (0, "x"), (-255, "#012_X")] {
        rows.push(row(&Value::Int(IBig::from(number)), spec));
    }
    rows.push(row(&Value::Int(IBig::ONE << 70), "c"));
    rows.push(row(&Value::Int(IBig::ONE << 2000), "f"));
    check_against_python(&rows);
}

fn random_spec(random: &mut Random, kinds: &str) -> String {
    let mut spec = String::new();
    let mut one_of = |choices: &[&str]| choices[usize::try_from(random.below(choices.len() as u64)).unwrap()].to_string();
    spec += &one_of(&["", "", "", "<", ">", "^", "=", "*<", "0=", "é^", "0>"]);
    spec += &one_of(&["", "", "", "+", "-", " "]);
    spec += &one_of(&["", "", "", "", "z"]);
    spec += &one_of(&["", "", "", "#"]);
    spec += &one_of(&["", "", "0"]);
    spec += &one_of(&["", "", "1", "7", "12", "25"]);
    spec += &one_of(&["", "", "", ",", "_"]);
    spec += &one_of(&["", "", ".0", ".1", ".2", ".3", ".6", ".17", ".30"]);
    let kinds: Vec<char> = kinds.chars().collect();
    let kind = kinds[usize::try_from(random.below(kinds.len() as u64)).unwrap()];
    if kind != '.' {
        spec.push(kind);
    }
    spec
}

#[test]
fn a_67_random_specifications_format_as_in_cpython() {
    let mut random = Random::new(75);
    let mut rows = Vec::new();
    for round in 0..24_000 {
        let bits = if round % 2 == 0 { random.float_bits() } else { random.short_decimal().to_bits() };
        let float = F64::from_bits(bits);
        rows.push(row(&Value::Float(float), &random_spec(&mut random, "......eEfFgGn%eEfFgG%d")));
        let int = (IBig::from(random.bits() as i64) >> random.below(64) as usize) << (random.below(8) * random.below(30)) as usize;
        rows.push(row(&Value::Int(int), &random_spec(&mut random, "...bdoxXnfge%s")));
        rows.push(row(&Value::Str("añ€😀z"), &random_spec(&mut random, "....sssd")));
        if round % 4 == 0 {
            let imaginary = F64::from_bits(random.float_bits());
            rows.push(row(&Value::Complex(float, imaginary), &random_spec(&mut random, "...eEfFgGnd")));
        }
    }
    check_against_python(&rows);
}

#[test]
fn a_67_rounding_digits_are_exact() {
    let mut random = Random::new(76);
    let mut rows = Vec::new();
    let powers_of_ten = (0..308).map(|exponent| format!("1e{exponent}").parse::<f64>().unwrap().to_bits());
    let ties = [0.5, 1.5, 2.5, 0.125, 0.375, 2.675, 1e15 + 0.5, 1e22, 5e-324, 9.995, 99999.5, 999999.5, 0.00001, 0.0001].map(f64::to_bits);
    let near: Vec<u64> = powers_of_ten.chain(ties).flat_map(|bits| [bits - 1, bits, bits + 1]).collect();
    for bits in near {
        for letter in ["e", "f", "g"] {
            let spec = format!(".{}{letter}", random.below(25));
            rows.push(row(&Value::Float(F64(bits)), &spec));
        }
    }
    for _ in 0..3_000 {
        let places = random.below(400);
        let letter = ["e", "f", "g", ""][random.below(4) as usize];
        rows.push(row(&Value::Float(F64::from_bits(random.float_bits())), &format!(".{places}{letter}")));
    }
    check_against_python(&rows);
}

#[test]
fn a_67_percent_formats_as_in_cpython() {
    let mut random = Random::new(77);
    let mut rows = Vec::new();
    for _ in 0..4_000 {
        let float = F64::from_bits(random.float_bits());
        let letter = ['e', 'E', 'f', 'F', 'g', 'G'][random.below(6) as usize];
        let precision = random.below(20) as usize;
        let alternate = random.below(2) == 1;
        let hash = if alternate { "#" } else { "" };
        let style = FloatStyle::of_conversion(letter, precision, alternate).unwrap();
        rows.push((format!("'%{hash}.{precision}{letter}' % F({:#x})", float.0), float_to_text(float, &style)));
        let int = (IBig::from(random.bits() as i64)) >> random.below(64) as usize;
        let letter = ['d', 'i', 'u', 'o', 'x', 'X'][random.below(6) as usize];
        let given = (random.below(2) == 1).then_some(precision);
        let shown = given.map_or(String::new(), |precision| format!(".{precision}"));
        rows.push((format!("'%{hash}{shown}{letter}' % {int}"), percent_int(&int, letter, alternate, given)));
    }
    check_against_python(&rows);
}
