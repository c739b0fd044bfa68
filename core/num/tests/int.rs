//! Integers of any size against CPython 3.11.

use cowboy_num::int::{
    MAX_BITS, NumberError, ParseIntError, bit_count, bit_length, comb, divmod, factorial, from_bytes, gcd, isqrt, lcm, parse_int, perm,
    pow, pow_mod, round_to_places, shift_left, shift_right, to_base, to_bytes, true_divide,
};
use dashu_int::IBig;

use super::oracle::{Random, check_against_python, quoted};

fn shown<T: std::fmt::Display>(result: Result<T, NumberError>) -> String {
    match result {
        Ok(value) => value.to_string(),
        Err(NumberError::ZeroDivision(message)) => format!("ZeroDivisionError: {message}"),
        Err(NumberError::Value(message)) => format!("ValueError: {message}"),
        Err(NumberError::Overflow(message)) => format!("OverflowError: {message}"),
    }
}

fn random_int(random: &mut Random) -> IBig {
    let words = 1 + random.below(9);
    let mut value = IBig::ZERO;
    for _ in 0..words {
        value = (value << 64usize) + IBig::from(random.bits());
    }
    value >>= random.below(64 * words + 1) as usize;
    if random.below(2) == 0 { value } else { -value }
}

#[test]
fn operators_equal_cpython() {
    let mut random = Random::new(80);
    let mut rows = Vec::new();
    for _ in 0..3_000 {
        let (a, b) = (random_int(&mut random), random_int(&mut random));
        let pair = || divmod(&a, &b).map(|(quotient, remainder)| format!("({quotient}, {remainder})"));
        rows.push((format!("divmod({a}, {b})"), shown(pair())));
        rows.push((format!("B({a} / {b})"), shown(true_divide(&a, &b).map(|x| format!("{:016x}", x.0)))));
        rows.push((format!("{a} & {b}"), (&a & &b).to_string()));
        rows.push((format!("{a} | {b}"), (&a | &b).to_string()));
        rows.push((format!("{a} ^ {b}"), (&a ^ &b).to_string()));
        rows.push((format!("~{a}"), (!&a).to_string()));
        let distance = IBig::from(random.below(700) as i64 - 20);
        rows.push((format!("{a} << {distance}"), shown(shift_left(&a, &distance))));
        rows.push((format!("{a} >> {distance}"), shown(shift_right(&a, &distance))));
        rows.push((format!("({a}).bit_length()"), bit_length(&a).to_string()));
        rows.push((format!("({a}).bit_count()"), bit_count(&a).to_string()));
        rows.push((format!("math.gcd({a}, {b})"), gcd(&a, &b).to_string()));
        rows.push((format!("math.lcm({a}, {b})"), shown(lcm(&a, &b))));
        rows.push((format!("math.isqrt({a})"), shown(isqrt(&a))));
        let small = IBig::from(random.below(40) as i64 - 20);
        let exponent = IBig::from(random.below(60));
        rows.push((format!("({small}) ** {exponent}"), shown(pow(&small, &exponent))));
        rows.push((format!("pow({a}, {small}, {b})"), shown(pow_mod(&a, &small, &b))));
        rows.push((format!("pow({a}, {b}, {small})"), shown(pow_mod(&a, &b, &small))));
        let places = IBig::from(random.below(90) as i64 - 80);
        rows.push((format!("round({a}, {places})"), shown(round_to_places(&a, &places))));
        rows.push((format!("round({}, -1)", &small * 5), shown(round_to_places(&(&small * 5), &IBig::from(-1)))));
    }
    let huge = true_divide(&(IBig::ONE << 2000), &IBig::from(3));
    rows.push(("(1 << 2000) / 3".to_string(), shown(huge.map(|quotient| format!("{quotient:?}")))));
    for (a, b) in [(0, -5), (1, 3), (7, 0), (0, 0), (-7, 2), (i64::MIN, -1)] {
        let (a, b) = (IBig::from(a), IBig::from(b));
        rows.push((format!("B({a} / {b})"), shown(true_divide(&a, &b).map(|x| format!("{:016x}", x.0)))));
        rows.push((format!("math.gcd({a}, {b})"), gcd(&a, &b).to_string()));
    }
    check_against_python(&rows);
}

/// A divisor of 64 bits is divided by in another way than a longer one.
#[test]
fn a_quotient_by_a_short_divisor_is_that_of_longer_integers() {
    let factor = (IBig::ONE << 64usize) + IBig::ONE;
    for divisor in [1, 2, 3, 7, 10, (1 << 53) - 1, 1 << 53, (1 << 53) + 1, 1 << 63, u64::MAX - 1, u64::MAX] {
        let divisor = IBig::from(divisor);
        for bits in [0usize, 1, 52, 53, 54, 55, 56, 57, 63, 64, 65, 117, 120, 121, 127, 128, 129, 900] {
            // Where the divisor is a factor, these lie on and beside the middle of two floats.
            for near in [(IBig::ONE << bits) + IBig::ONE, ((IBig::ONE << bits) + IBig::ONE) * &divisor, (IBig::from(3) << bits) * &divisor]
            {
                for offset in -1..=1 {
                    let dividend = &near + IBig::from(offset);
                    let quotient = true_divide(&dividend, &divisor).expect("it fits a float");
                    let longer = true_divide(&(&dividend * &factor), &(&divisor * &factor)).expect("it fits a float");
                    assert_eq!(quotient.0, longer.0, "{dividend} / {divisor}");
                }
            }
        }
    }
}

#[test]
fn combinatorics_equal_cpython() {
    let mut random = Random::new(81);
    let mut rows = Vec::new();
    for n in -2..60 {
        let n = IBig::from(n);
        rows.push((format!("math.factorial({n})"), shown(factorial(&n))));
        for k in -1..12 {
            let k = IBig::from(k * 5);
            rows.push((format!("math.comb({n}, {k})"), shown(comb(&n, &k))));
            rows.push((format!("math.perm({n}, {k})"), shown(perm(&n, &k))));
        }
    }
    for _ in 0..100 {
        let (n, k) = (IBig::from(random.bits() >> 20), IBig::from(random.below(60)));
        rows.push((format!("math.comb({n}, {k})"), shown(comb(&n, &k))));
        rows.push((format!("math.comb({n}, {n} - {k})"), shown(comb(&n, &(&n - &k)))));
        rows.push((format!("math.perm({n}, {k})"), shown(perm(&n, &k))));
    }
    check_against_python(&rows);
}

#[test]
fn results_past_the_cap_are_refused_without_the_work() {
    let huge = IBig::ONE << 4095;
    let endless = IBig::ONE << 4000;
    let error = || NumberError::TOO_LARGE;
    for (name, result, expected) in [
        ("2 ** 4095", pow(&IBig::from(2), &IBig::from(4095)), Ok(huge.clone())),
        ("2 ** 4096", pow(&IBig::from(2), &IBig::from(4096)), Err(error())),
        ("2 ** 2 ** 4000", pow(&IBig::from(2), &endless), Err(error())),
        ("(-1) ** 2 ** 4000", pow(&IBig::NEG_ONE, &endless), Ok(IBig::ONE)),
        ("1 << 4095", shift_left(&IBig::ONE, &IBig::from(4095)), Ok(huge.clone())),
        ("1 << 4096", shift_left(&IBig::ONE, &IBig::from(MAX_BITS)), Err(error())),
        ("0 << 2 ** 4000", shift_left(&IBig::ZERO, &endless), Ok(IBig::ZERO)),
        ("-1 >> 2 ** 4000", shift_right(&IBig::NEG_ONE, &endless), Ok(IBig::NEG_ONE)),
        ("factorial(2 ** 4000)", factorial(&endless), Err(error())),
        ("comb(2 ** 4000, 2 ** 3999)", comb(&endless, &(IBig::ONE << 3999)), Err(error())),
        ("lcm", lcm(&huge, &(&huge - IBig::ONE)), Err(error())),
    ] {
        assert_eq!(result, expected, "{name}");
    }
    let digits = "9".repeat(1300);
    assert_eq!(parse_int(&digits, 10), Err(ParseIntError::Other(error())));
}

#[test]
fn texts_equal_cpython() {
    let mut rows = Vec::new();
    let mut check = |text: &str, base: u32| {
        let ours = match parse_int(text, base) {
            Ok(value) => value.to_string(),
            Err(ParseIntError::Invalid) => {
                format!("ValueError: invalid literal for int() with base {base}: '{text}'")
            }
            Err(ParseIntError::Other(error)) => shown::<IBig>(Err(error)),
        };
        rows.push((format!("int({}, {base})", quoted(text)), ours));
    };
    for text in [
        "",
        "-",
        "+",
        "0",
        "-0",
        "00",
        "007",
        "7",
        " 7 ",
        "- 7",
        "+-7",
        "1_000",
        "1__0",
        "_1",
        "1_",
        "0_0",
        "0_7",
        "0x1f",
        "0X1F",
        "0x_1f",
        "0x",
        "0x_",
        "0b101",
        "0b_1",
        "0b2",
        "0o17",
        "0o8",
        "ff",
        "zz",
        "Zz",
        "12a",
        "1.5",
        "0xg",
        "-0x1f",
        "0b",
        "0_b1",
        "00x1",
        "1 2",
        "a_b",
        "0b11_01",
        "\u{661}\u{662}",
        "９9",
        "\u{661}_\u{662}",
        "1\u{a0}",
    ] {
        for base in [0, 1, 2, 8, 10, 16, 36, 37] {
            check(text, base);
        }
    }
    check(&"1".repeat(4301), 10);
    check(&("0".repeat(4290) + "12345678901"), 10);
    check(&("0".repeat(4290) + "1234567890"), 10);
    check(&("0".repeat(5000) + "1"), 16);
    let mut random = Random::new(82);
    for _ in 0..500 {
        let value = random_int(&mut random);
        for base in [2u8, 3, 8, 10, 16, 32, 36] {
            check(&to_base(&value, base), u32::from(base));
        }
    }
    check_against_python(&rows);
}

#[test]
fn bytes_equal_cpython() {
    let mut random = Random::new(83);
    let mut rows = Vec::new();
    for round in 0..3_000 {
        let value = if round < 1200 { IBig::from(round / 2 - 300) } else { random_int(&mut random) };
        let length = random.below(if round < 1200 { 4 } else { 80 });
        let (big, signed) = (random.below(2) == 1, random.below(3) != 0);
        let (order, signed_text) = (if big { "big" } else { "little" }, if signed { "True" } else { "False" });
        let result = to_bytes(&value, length as usize, big, signed);
        if let Ok(bytes) = &result {
            assert_eq!(from_bytes(bytes, big, signed), value, "{value} {order} {signed}");
        }
        let hex = result.map(|bytes| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        rows.push((format!("({value}).to_bytes({length}, '{order}', signed={signed_text}).hex()"), shown(hex)));
    }
    check_against_python(&rows);
}
