//! Floats as text and back: `repr`, `float("…")`, hexadecimal.

use dashu_int::UBig;
use std::fmt;

use super::float_format::{FloatStyle, float_to_text};

use super::softfloat::{F64, ratio_to_f64, round_scaled};
use cowboy_unicode as unicode;

/// Python's `repr(x)`: the shortest text that reads back as the same float.
pub fn repr(value: F64) -> String {
    float_to_text(value, &FloatStyle::REPR)
}

impl fmt::Debug for F64 {
    /// Python's repr, then the bits: what a failing test needs to see.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:#018x})", repr(*self), self.0)
    }
}

/// Python's `float(text)`: correctly rounded, with underscores between digits and blanks around; `None` if it
/// is no number. Decimal digits may be of any script.
pub fn parse_float(text: &str) -> Option<F64> {
    if !text.is_ascii() {
        return parse_ascii(&with_ascii_digits(text));
    }
    parse_ascii(text)
}

/// The text with an ASCII digit for each decimal digit and a blank for each blank.
fn with_ascii_digits(text: &str) -> String {
    let ascii = |character| match unicode::decimal_value(character) {
        Some(digit) => char::from(b'0' + digit),
        None if unicode::is_space(character) => ' ',
        None => character,
    };
    text.chars().map(ascii).collect()
}

fn parse_ascii(text: &str) -> Option<F64> {
    let text = text.trim_matches(unicode::is_space);
    if !text.contains('_') {
        return parse_plain(text.as_bytes());
    }
    parse_plain(&without_underscores(text.as_bytes())?)
}

/// The text less its underscores, each of which must stand between two digits.
pub(crate) fn without_underscores(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    for (index, &byte) in text.iter().enumerate() {
        if byte != b'_' {
            out.push(byte);
            continue;
        }
        let before = index.checked_sub(1).and_then(|at| text.get(at));
        let after = text.get(index + 1);
        if !before.is_some_and(u8::is_ascii_digit) || !after.is_some_and(u8::is_ascii_digit) {
            return None;
        }
    }
    Some(out)
}

/// A float literal without blanks or underscores, signed or not.
pub(crate) fn parse_plain(text: &[u8]) -> Option<F64> {
    let (negative, text) = split_sign(text);
    let magnitude =
        if text.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.') { parse_decimal(text)? } else { parse_word(text)? };
    Some(if negative { -magnitude } else { magnitude })
}

pub(crate) fn split_sign(text: &[u8]) -> (bool, &[u8]) {
    match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    }
}

fn parse_word(text: &[u8]) -> Option<F64> {
    if text.eq_ignore_ascii_case(b"inf") || text.eq_ignore_ascii_case(b"infinity") {
        Some(F64::INFINITY)
    } else if text.eq_ignore_ascii_case(b"nan") {
        Some(F64::NAN)
    } else {
        None
    }
}

/// Past this, an exponent only says "zero" or "infinite": no text in memory has that many digits.
const EXPONENT_LIMIT: i64 = 1 << 40;

/// Digits with an optional point and exponent.
fn parse_decimal(text: &[u8]) -> Option<F64> {
    let exponent_at = text.iter().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(exponent_at);
    let mut exponent = match exponent {
        [_, digits @ ..] => parse_exponent(digits)?,
        [] => 0,
    };
    let mut digits: Vec<u8> = Vec::with_capacity(mantissa.len());
    let mut point_seen = false;
    let mut any_digit = false;
    for &byte in mantissa {
        match byte {
            b'.' if !point_seen => point_seen = true,
            b'0'..=b'9' => {
                any_digit = true;
                exponent -= i64::from(point_seen);
                if byte != b'0' || !digits.is_empty() {
                    digits.push(byte);
                }
            }
            _ => return None,
        }
    }
    if !any_digit {
        return None;
    }
    while digits.last() == Some(&b'0') {
        digits.pop();
        exponent += 1;
    }
    Some(decimal_to_f64(&digits, exponent))
}

fn parse_exponent(text: &[u8]) -> Option<i64> {
    let (negative, digits) = split_sign(text);
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let magnitude = digits.iter().fold(0, |number, &digit| (number * 10 + i64::from(digit - b'0')).min(EXPONENT_LIMIT));
    Some(if negative { -magnitude } else { magnitude })
}

/// Every number with more digits than this rounds like its first ones followed by a one: a point halfway
/// between two floats has at most 767 significant digits.
const DIGITS_THAT_MATTER: usize = 800;

/// The float nearest to `DIGITS * 10^exponent`, infinity if it is too large. Neither the first nor the last
/// digit may be zero.
pub(crate) fn decimal_to_f64(digits: &[u8], exponent: i64) -> F64 {
    let count = i64::try_from(digits.len()).expect("the text is in memory");
    if digits.is_empty() || exponent + count < -400 {
        return F64::ZERO;
    }
    if exponent + count > 400 {
        return F64::INFINITY;
    }
    if digits.len() <= 19 && (-27..=19).contains(&exponent) {
        let significand = digits.iter().fold(0u64, |number, &digit| number * 10 + u64::from(digit - b'0'));
        return small_decimal_to_f64(significand, exponent);
    }
    let mut exponent = exponent;
    let mut shortened;
    let digits = if digits.len() > DIGITS_THAT_MATTER {
        exponent += count - i64::try_from(DIGITS_THAT_MATTER).expect("a small constant") - 1;
        shortened = digits[..DIGITS_THAT_MATTER].to_vec();
        shortened.push(b'1');
        &shortened[..]
    } else {
        digits
    };
    let text = std::str::from_utf8(digits).expect("only ASCII digits were kept");
    let significand = UBig::from_str_radix(text, 10).expect("only digits were kept");
    let power = UBig::from(10u8).pow(usize::try_from(exponent.unsigned_abs()).expect("at most a few thousand"));
    let value = if exponent >= 0 { ratio_to_f64(&(significand * power), &UBig::ONE) } else { ratio_to_f64(&significand, &power) };
    value.unwrap_or(F64::INFINITY)
}

/// The common case: up to 19 digits and a power of five that fits in 64 bits, all in 128-bit arithmetic.
fn small_decimal_to_f64(significand: u64, exponent: i64) -> F64 {
    let shift = i32::try_from(exponent).expect("the caller keeps it small");
    let power = 5u64.pow(shift.unsigned_abs());
    if shift >= 0 {
        return round_scaled(0, u128::from(significand) * u128::from(power), shift, false);
    }
    // Significand and divisor below 2^64, so the quotient of the left-aligned one keeps at least 64 bits.
    let zeros = significand.leading_zeros();
    let numerator = u128::from(significand << zeros) << 64;
    let quotient = numerator / u128::from(power);
    let inexact = quotient * u128::from(power) != numerator;
    let scale = 64 + i32::try_from(zeros).expect("at most 64");
    round_scaled(0, quotient, shift - scale, inexact)
}

/// Python's `x.hex()`.
pub fn hex(value: F64) -> String {
    if !value.is_finite() {
        return repr(value);
    }
    let sign = if value.is_negative() { "-" } else { "" };
    if value.is_zero() {
        return format!("{sign}0x0.0p+0");
    }
    let field = (value.0 >> 52) & 0x7ff;
    let fraction = value.0 & ((1 << 52) - 1);
    let (leading, exponent) = if field == 0 { (0, -1022) } else { (1, i64::try_from(field).expect("eleven bits") - 1023) };
    format!("{sign}0x{leading}.{fraction:013x}p{exponent:+}")
}

/// Why `float.fromhex` refuses a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HexError {
    /// It is not a hexadecimal float: ValueError "invalid hexadecimal floating-point string".
    Invalid,
    /// It is too large: OverflowError "hexadecimal value too large to represent as a float".
    TooLarge,
}

/// Python's `float.fromhex(text)`, correctly rounded.
pub fn parse_hex(text: &str) -> Result<F64, HexError> {
    let text = text.trim_matches(|c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\x0b' | '\x0c')).as_bytes();
    let (negative, text) = split_sign(text);
    if let Some(word) = parse_word(text) {
        return Ok(if negative { -word } else { word });
    }
    let text = match text {
        [b'0', b'x' | b'X', rest @ ..] => rest,
        _ => text,
    };
    let exponent_at = text.iter().position(|byte| matches!(byte, b'p' | b'P')).unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(exponent_at);
    let mut exponent = match exponent {
        [_, digits @ ..] => parse_exponent(digits).ok_or(HexError::Invalid)?,
        [] => 0,
    };
    let mut significand = 0u128;
    let mut inexact = false;
    let (mut point_seen, mut any_digit) = (false, false);
    for &byte in mantissa {
        if byte == b'.' && !point_seen {
            point_seen = true;
            continue;
        }
        let digit = char::from(byte).to_digit(16).ok_or(HexError::Invalid)?;
        any_digit = true;
        if significand >> 120 == 0 {
            significand = significand << 4 | u128::from(digit);
            exponent -= if point_seen { 4 } else { 0 };
        } else {
            // More than enough bits are kept; of the rest it only matters whether any is set.
            inexact |= digit != 0;
            exponent += if point_seen { 0 } else { 4 };
        }
    }
    if !any_digit {
        return Err(HexError::Invalid);
    }
    let exponent = i32::try_from(exponent.clamp(-1_000_000, 1_000_000)).expect("clamped");
    let magnitude = round_scaled(0, significand, exponent, inexact);
    if magnitude.is_infinite() {
        return Err(HexError::TooLarge);
    }
    Ok(if negative { -magnitude } else { magnitude })
}
