//! Integers as text and back.

use dashu_int::{IBig, UBig};

use super::{MAX_BITS, NumberError, capped};
use cowboy_unicode::{decimal_value, is_space};

/// The most digits that a conversion from a base that is no power of two takes.
const MAX_DIGITS: usize = 4300;

/// Why `int(text, base)` refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ParseIntError {
    /// ValueError "invalid literal for int() with base {base}: {text!r}", with the base as given.
    Invalid,
    /// Any other exception.
    Other(NumberError),
}

/// Python's `int(text, base)`: blanks around, a sign, a prefix that fits the base, underscores between digits,
/// decimal digits of any script. Base 0 takes the base from the prefix.
pub fn parse_int(text: &str, base: u32) -> Result<IBig, ParseIntError> {
    if base == 1 || base > 36 {
        return Err(ParseIntError::Other(NumberError::value("int() base must be >= 2 and <= 36, or 0")));
    }
    let text = text.trim_matches(is_space);
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (base, text, prefixed) = base_of(text, base);
    let digits = digits_of(text, base, prefixed).ok_or(ParseIntError::Invalid)?;
    let base = if base == 0 { 10 } else { base };
    if !base.is_power_of_two() && digits.len() > MAX_DIGITS {
        let message = format!(
            "Exceeds the limit ({MAX_DIGITS} digits) for integer string conversion: value has {} digits; \
             use sys.set_int_max_str_digits() to increase the limit",
            digits.len()
        );
        return Err(ParseIntError::Other(NumberError::Value(message.into())));
    }
    let digits = digits.trim_start_matches('0');
    // Two to a bit a digit at least: far more than the cap needs no conversion to be refused.
    if digits.len() > MAX_BITS {
        return Err(ParseIntError::Other(NumberError::TOO_LARGE));
    }
    let magnitude = match digits {
        "" => UBig::ZERO,
        digits => UBig::from_str_radix(digits, base).expect("only digits of the base were kept"),
    };
    let value = IBig::from(magnitude);
    capped(if negative { -value } else { value }).map_err(ParseIntError::Other)
}

/// The base to read in, the text after its prefix, and whether there was one.
fn base_of(text: &str, base: u32) -> (u32, &str, bool) {
    for (letters, of_prefix) in [(['x', 'X'], 16), (['o', 'O'], 8), (['b', 'B'], 2)] {
        let rest = text.strip_prefix('0').and_then(|rest| rest.strip_prefix(letters));
        if let (true, Some(rest)) = (base == 0 || base == of_prefix, rest) {
            return (of_prefix, rest, true);
        }
    }
    (base, text, false)
}

/// The digits alone, as ASCII; `None` if something else stands among them. With base 0 and no prefix, `base`
/// is still 0: decimal, without zeros before another digit.
fn digits_of(text: &str, base: u32, prefixed: bool) -> Option<String> {
    let radix = if base == 0 { 10 } else { base };
    let mut digits = String::with_capacity(text.len());
    // An underscore may follow a prefix or a digit, and a digit must follow it.
    let mut underscore_allowed = prefixed;
    let mut digit_needed = true;
    for character in text.chars() {
        if character == '_' {
            if !underscore_allowed {
                return None;
            }
            underscore_allowed = false;
            digit_needed = true;
            continue;
        }
        let digit = match decimal_value(character) {
            Some(digit) => u32::from(digit),
            None => character.to_digit(36)?,
        };
        digits.push(char::from_digit(digit, radix)?);
        underscore_allowed = true;
        digit_needed = false;
    }
    let leading_zero = base == 0 && digits.starts_with('0') && digits.bytes().any(|digit| digit != b'0');
    (!digit_needed && !leading_zero).then_some(digits)
}

/// Digits in a base from 2 to 36, lower case, after a sign if negative: no prefix.
pub fn to_base(value: &IBig, base: u8) -> String {
    if base == 10 { value.to_string() } else { value.in_radix(base).to_string() }
}
