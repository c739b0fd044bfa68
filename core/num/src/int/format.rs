//! `format()` and `%` of integers.

use dashu_int::ops::UnsignedAbs;
use dashu_int::{IBig, Sign};

use super::to_base;
use crate::F64;
use crate::float_format::format_float;
use crate::format_spec::{FormatError, NumberText, Spec, lay_out};

/// `format(n, spec)` of an integer.
pub fn format_int(value: &IBig, spec: &Spec) -> Result<String, FormatError> {
    let (base, prefix) = match spec.kind {
        None | Some('d' | 'n') => (10, ""),
        Some('b') => (2, "0b"),
        Some('o') => (8, "0o"),
        Some('x') => (16, "0x"),
        Some('X') => (16, "0X"),
        Some('c') => return format_character(value, spec),
        Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%') => {
            let float = F64::from_int(value).ok_or(FormatError::Overflow("int too large to convert to float"))?;
            return format_float(float, spec);
        }
        Some(code) => return Err(FormatError::UnknownCode(code)),
    };
    refuse_float_options(spec)?;
    let mut digits = to_base(&IBig::from(value.unsigned_abs()), base);
    if spec.kind == Some('X') {
        digits.make_ascii_uppercase();
    }
    let prefix = if spec.alternate { prefix } else { "" };
    let negative = value.sign() == Sign::Negative;
    Ok(lay_out(&NumberText { negative, prefix, digits: &digits, rest: "" }, spec))
}

fn refuse_float_options(spec: &Spec) -> Result<(), FormatError> {
    if spec.precision.is_some() {
        return Err(FormatError::value("Precision not allowed in integer format specifier"));
    }
    if spec.positive_zero {
        return Err(FormatError::value("Negative zero coercion (z) not allowed in integer format specifier"));
    }
    Ok(())
}

/// Type `c`: the character with this number.
fn format_character(value: &IBig, spec: &Spec) -> Result<String, FormatError> {
    refuse_float_options(spec)?;
    if spec.sign.is_some() {
        return Err(FormatError::value("Sign not allowed with integer format specifier 'c'"));
    }
    if spec.alternate {
        return Err(FormatError::value("Alternate form (#) not allowed with integer format specifier 'c'"));
    }
    let number = i64::try_from(value).map_err(|_| FormatError::Overflow("Python int too large to convert to C long"))?;
    let character = u32::try_from(number).ok().filter(|&number| number <= 0x10_ffff);
    let character = character.ok_or(FormatError::Overflow("%c arg not in range(0x110000)"))?;
    // A surrogate is no character here: strings are sequences of scalar values.
    let character = char::from_u32(character).ok_or(FormatError::Overflow("%c arg is a surrogate"))?;
    Ok(lay_out(&NumberText { negative: false, prefix: "", digits: "", rest: character.encode_utf8(&mut [0; 4]) }, spec))
}

/// The unpadded text of `'%d' % n` and its like: `conversion` is one of `d`, `i`, `u`, `o`, `x`, `X`, and
/// `precision` the least number of digits. The sign, if any, comes first.
pub fn percent_int(value: &IBig, conversion: char, alternate: bool, precision: Option<usize>) -> String {
    let (base, prefix) = match conversion {
        'o' => (8, "0o"),
        'x' => (16, "0x"),
        'X' => (16, "0X"),
        _ => (10, ""),
    };
    let mut digits = to_base(&IBig::from(value.unsigned_abs()), base);
    if conversion == 'X' {
        digits.make_ascii_uppercase();
    }
    let sign = if value.sign() == Sign::Negative { "-" } else { "" };
    let prefix = if alternate { prefix } else { "" };
    let zeros = "0".repeat(precision.unwrap_or(0).saturating_sub(digits.len()));
    format!("{sign}{prefix}{zeros}{digits}")
}
