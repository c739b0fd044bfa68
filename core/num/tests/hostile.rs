//! Nothing from outside panics or works without bound: texts and numbers that nobody writes by accident.

use cowboy_num::complex::Complex;
use cowboy_num::decimal::Decimal;
use cowboy_num::format_spec::{LARGEST_SIZE, Spec, Subject, format_str};
use cowboy_num::int::{from_bytes, to_bytes};
use cowboy_num::repr::parse_hex;
use cowboy_num::{F64, format_float, format_int, math, parse_float, parse_int};
use cowboy_unicode as unicode;
use dashu_int::IBig;

use super::oracle::Random;

fn random_text(random: &mut Random) -> String {
    const ALPHABETS: [&str; 4] =
        ["0123456789.eE+-_", "0x1fp-._infa NNsqj()", "<>=^+- #0z,_.123456789bcdeEfFgGnosxX%", "é\u{661}😀\u{0}\u{3a3}\u{345}Aa_ ßǅ"];
    let alphabet: Vec<char> = ALPHABETS[random.below(4) as usize].chars().collect();
    (0..random.below(14)).map(|_| alphabet[random.below(alphabet.len() as u64) as usize]).collect()
}

#[test]
fn random_texts_do_no_harm() {
    let mut random = Random::new(110);
    for _ in 0..100_000 {
        let text = random_text(&mut random);
        let float = parse_float(&text).unwrap_or(F64::from_bits(random.float_bits()));
        let _ = parse_hex(&text);
        let _ = Complex::parse(&text);
        let int = parse_int(&text, [0, 2, 10, 16, 36][random.below(5) as usize]).unwrap_or(IBig::from(random.bits()));
        let _ = Decimal::parse(&text).map(|number| number.to_text());
        for subject in [Subject::Str, Subject::Int, Subject::Float, Subject::Complex] {
            let Ok(spec) = Spec::parse(&text, subject) else { continue };
            if spec.min_size() > 10_000 {
                continue;
            }
            let _ = format_float(float, &spec);
            let _ = format_int(&int, &spec);
            let _ = format_str(&text, &spec);
        }
        let _ = Decimal::from_i64(7).format(&text);
        for change in [unicode::lower, unicode::upper, unicode::title, unicode::casefold, unicode::capitalize, unicode::swapcase] {
            let _ = change(&text);
        }
        let _ = to_bytes(&int, random.below(20) as usize, true, false);
        let _ = from_bytes(text.as_bytes(), false, true);
    }
}

#[test]
fn sizes_past_the_limit_are_refused() {
    let beyond = (LARGEST_SIZE + 1).to_string();
    for text in [beyond.clone(), format!(".{beyond}"), format!(".{beyond}f"), "9".repeat(30)] {
        let error = Spec::parse(&text, Subject::Float).unwrap_err();
        assert_eq!(error.message("float"), "Too many decimal digits in format string", "{text}");
    }
}

#[test]
fn every_float_has_an_answer() {
    let mut random = Random::new(111);
    for _ in 0..4_000 {
        let (x, y) = (F64::from_bits(random.float_bits()), F64::from_bits(random.float_bits()));
        for function in [
            math::exp,
            math::exp2,
            math::expm1,
            math::log,
            math::log2,
            math::log10,
            math::log1p,
            math::sin,
            math::cos,
            math::tan,
            math::asin,
            math::acos,
            math::sinh,
            math::cosh,
            math::acosh,
            math::atanh,
            math::gamma,
            math::lgamma,
        ] {
            let _ = function(x);
        }
        for function in [math::atan, math::tanh, math::asinh, math::cbrt, math::erf, math::erfc] {
            let _ = function(x);
        }
        let _ = (math::pow(x, y), math::atan2(x, y), math::hypot(&[x, y]), math::fmod(x, y), math::remainder(x, y));
        let _ = (x.round_to_places(random.bits() as i64), x.ldexp(random.bits() as i64));
    }
}

#[test]
fn far_decimals_have_an_answer() {
    let texts = [
        "1e999999999999999999",
        "-1e999999999999999999",
        "1e-999999999999999999",
        "123456789e500000000000000000",
        "9e-500000000000000000",
        "0e999999999999999999",
        "7",
        "-0.5",
        "1.0000000000000000000000000000000000000001",
        "0.5",
        "1e40",
        "-3",
        "3e17",
        "NaN",
        "Infinity",
    ];
    let numbers: Vec<Decimal> =
        texts.iter().map(|text| Decimal::parse(text).unwrap()).chain([Decimal::parse(&"9".repeat(3_000)).unwrap()]).collect();
    for a in &numbers {
        for function in [
            Decimal::negated,
            Decimal::normalized,
            Decimal::to_integral,
            Decimal::square_root,
            Decimal::exponential,
            Decimal::natural_logarithm,
            Decimal::common_logarithm,
        ] {
            let _ = function(a).map(|result| result.to_text());
        }
        let _ =
            (a.to_f64(), a.to_int(), a.floor(), a.round_to_int(), a.hash(), a.as_integer_ratio(), a.to_engineering_text(), a.format(".3f"));
        for b in &numbers {
            for function in [
                Decimal::plus,
                Decimal::minus,
                Decimal::times,
                Decimal::over,
                Decimal::floor_over,
                Decimal::modulo,
                Decimal::remainder_near,
                Decimal::quantized,
                Decimal::compare,
                Decimal::maximum,
                Decimal::scaled_by,
                Decimal::power,
            ] {
                let _ = function(a, b).map(|result| result.to_text());
            }
            let _ = a.times_plus(b, a);
        }
    }
}
