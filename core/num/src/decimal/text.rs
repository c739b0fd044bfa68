//! Decimals as text and back.

use dashu_int::UBig;

use super::rounding::rescaled;
use super::{Decimal, DecimalError, Outcome, Value, WRITTEN_EXPONENT_LIMIT, digit_count, length};
use crate::format_spec::{Align, FormatError, Grouping, NumberText, Spec, Subject, lay_out};
use crate::sizes;
use cowboy_unicode as unicode;

/// The longest text, width or precision that formatting takes: CPython would run out of memory at some length.
const LONGEST_TEXT: usize = 100_000;

/// An infinity or NaN as written.
fn special(text: &str, negative: bool) -> Option<Decimal> {
    let lower = text.to_ascii_lowercase();
    if lower == "inf" || lower == "infinity" {
        return Some(Decimal::infinity(negative));
    }
    let (signaling, digits) = match lower.strip_prefix("snan") {
        Some(digits) => (true, digits),
        None => (false, lower.strip_prefix("nan")?),
    };
    let payload = digits_to_coefficient(digits)?;
    Some(Decimal { negative, value: Value::Nan { payload, signaling } })
}

/// ASCII digits as a number; none are zero.
fn digits_to_coefficient(digits: &str) -> Option<UBig> {
    if digits.is_empty() {
        return Some(UBig::ZERO);
    }
    digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| UBig::from_str_radix(digits, 10).ok())?
}

impl Decimal {
    /// `Decimal(text)`: exactly the number written, with blanks around and underscores anywhere.
    pub fn parse(text: &str) -> Outcome {
        let plain: String = text
            .trim_matches(unicode::is_space)
            .chars()
            .filter(|&character| character != '_')
            .map(|character| unicode::decimal_value(character).map_or(character, |digit| char::from(b'0' + digit)))
            .collect();
        let number = Decimal::parse_plain(&plain).ok_or(DecimalError::ConversionSyntax)?;
        let in_reach = number.adjusted().abs() <= WRITTEN_EXPONENT_LIMIT;
        if in_reach { Ok(number) } else { Err(DecimalError::InvalidOperation) }
    }

    fn parse_plain(text: &str) -> Option<Decimal> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        if text.starts_with(|character: char| character.is_ascii_alphabetic()) {
            return special(text, negative);
        }
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, written_exponent(exponent)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() && fraction.is_empty() {
            return None;
        }
        let coefficient = digits_to_coefficient(&[whole, fraction].concat())?;
        Some(Decimal::finite(negative, coefficient, exponent - length(fraction.len())))
    }

    /// Digits that fit a coefficient, with where the point stands in `str` or `to_eng_string`.
    fn layout(&self, coefficient: &str, exponent: i64, engineering: bool) -> String {
        let count = length(coefficient.len());
        let left = exponent + count;
        let point = if exponent <= 0 && left > -6 {
            left
        } else if !engineering {
            1
        } else if coefficient == "0" {
            (left + 1).rem_euclid(3) - 1
        } else {
            (left - 1).rem_euclid(3) + 1
        };
        let (whole, fraction) = split(coefficient, point);
        let sign = if self.negative { "-" } else { "" };
        let dot = if fraction.is_empty() { "" } else { "." };
        let shown_exponent = if left == point { String::new() } else { format!("E{:+}", left - point) };
        format!("{sign}{whole}{dot}{fraction}{shown_exponent}")
    }

    /// `str(self)`, in scientific notation.
    pub fn to_text(&self) -> String {
        self.written(false)
    }

    /// `self.to_eng_string()`: with exponents that are multiples of three.
    pub fn to_engineering_text(&self) -> String {
        self.written(true)
    }

    fn written(&self, engineering: bool) -> String {
        match &self.value {
            Value::Finite { coefficient, exponent } => self.layout(&coefficient.to_string(), *exponent, engineering),
            _ => format!("{}{}", if self.negative { "-" } else { "" }, self.word()),
        }
    }

    /// An infinity or NaN without its sign.
    fn word(&self) -> String {
        match &self.value {
            Value::Nan { payload, signaling } => {
                let name = if *signaling { "sNaN" } else { "NaN" };
                if payload.is_zero() { name.to_string() } else { format!("{name}{payload}") }
            }
            _ => "Infinity".to_string(),
        }
    }

    /// `format(self, spec)`; malformed specifications are a ValueError "invalid format string".
    pub fn format(&self, text: &str) -> Result<String, FormatError> {
        let invalid = || FormatError::value("invalid format string");
        let mut spec = Spec::parse(text, Subject::Float).map_err(|_| invalid())?;
        let known = matches!(spec.kind, None | Some('e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n' | '%'));
        if !known || spec.alternate || matches!(spec.grouping, Grouping::Underscore | Grouping::UnderscoreFour) {
            return Err(invalid());
        }
        let exponent = match &self.value {
            Value::Finite { exponent, .. } if spec.kind == Some('%') => exponent.saturating_add(2),
            Value::Finite { exponent, .. } => *exponent,
            _ => 0,
        };
        // Without a precision, every place after the point is written out.
        let is_written_out = matches!(spec.kind, Some('f' | 'F' | '%')) && spec.precision.is_none();
        let zeros = if is_written_out { exponent.saturating_abs() } else { exponent.max(0) };
        let longest = length(spec.min_size().min(LONGEST_TEXT + 1)).saturating_add(zeros);
        if longest > length(LONGEST_TEXT) {
            return Err(FormatError::value("decimal is too long to write out"));
        }
        let Value::Finite { coefficient, .. } = &self.value else {
            if spec.fill == '0' && spec.align == Align::AfterSign {
                (spec.fill, spec.align) = (' ', Align::Right);
            }
            let mut word = self.word();
            if spec.kind == Some('%') {
                word.push('%');
            }
            return Ok(lay_out(&NumberText { negative: self.negative, prefix: "", digits: "", rest: &word }, &spec));
        };
        let (whole, rest, is_zero) = formatted_parts(coefficient.clone(), exponent, &spec);
        let negative = self.negative && !(spec.positive_zero && is_zero);
        Ok(lay_out(&NumberText { negative, prefix: "", digits: &whole, rest: &rest }, &spec))
    }
}

/// The digits before the point, all after them, and whether the rounded number is zero.
fn formatted_parts(coefficient: UBig, exponent: i64, spec: &Spec) -> (String, String, bool) {
    let kind = spec.kind.unwrap_or('G');
    let precision = spec.precision.map(length);
    let (coefficient, zeros, mut exponent) = match (kind, precision) {
        ('e' | 'E', Some(places)) => to_significant(coefficient, exponent, places.saturating_add(1)),
        ('f' | 'F' | '%', Some(places)) => at_exponent(coefficient, exponent, -places),
        ('g' | 'G' | 'n', Some(places)) if digit_count(&coefficient) > places => to_significant(coefficient, exponent, places.max(1)),
        _ => (coefficient, 0, exponent),
    };
    let is_zero = coefficient.is_zero();
    let mut text = coefficient.to_string() + &"0".repeat(sizes::saturating(zeros));
    if matches!(kind, 'f' | 'F' | '%') && exponent > 0 {
        let zeros = usize::try_from(exponent).expect("the caller bounds the text");
        text = if is_zero { text } else { text + &"0".repeat(zeros) };
        exponent = 0;
    }
    let left = exponent + length(text.len());
    let point = match kind {
        'e' | 'E' => precision.filter(|_| is_zero).map_or(1, |places| 1 - places),
        'f' | 'F' | '%' => left,
        _ if exponent <= 0 && left > -6 => left,
        _ => 1,
    };
    let (whole, fraction) = split(&text, point);
    let mut rest = if fraction.is_empty() { String::new() } else { format!(".{fraction}") };
    if left != point || matches!(kind, 'e' | 'E') {
        let letter = if matches!(kind, 'e' | 'g' | 'n') { 'e' } else { 'E' };
        rest += &format!("{letter}{:+}", left - point);
    }
    if kind == '%' {
        rest.push('%');
    }
    (whole, rest, is_zero)
}

/// A number at another exponent: its coefficient, zeros to be written behind it, and the exponent. A number with 100,000 zeros would take
/// long to compute, and longer to write out.
fn at_exponent(coefficient: UBig, exponent: i64, target: i64) -> (UBig, i64, i64) {
    if target < exponent && !coefficient.is_zero() {
        return (coefficient, exponent - target, target);
    }
    (rescaled(&coefficient, exponent, target), 0, target)
}

/// The same, rounded to a number of significant digits.
fn to_significant(coefficient: UBig, exponent: i64, places: i64) -> (UBig, i64, i64) {
    if coefficient.is_zero() {
        return (coefficient, 0, exponent);
    }
    let target = exponent + digit_count(&coefficient) - places;
    let (rounded, zeros, target) = at_exponent(coefficient, exponent, target);
    if digit_count(&rounded) + zeros > places { (rounded / UBig::from(10u8), 0, target + 1) } else { (rounded, zeros, target) }
}

/// Digits before and after a point, with zeros where there are none.
fn split(digits: &str, point: i64) -> (String, String) {
    let zeros = |count: i64| "0".repeat(sizes::saturating(count));
    if point <= 0 {
        return ("0".to_string(), zeros(-point) + digits);
    }
    let count = length(digits.len());
    if point >= count {
        return (digits.to_string() + &zeros(point - count), String::new());
    }
    let (whole, fraction) = digits.split_at(usize::try_from(point).expect("positive and less than the length"));
    (whole.to_string(), fraction.to_string())
}

fn written_exponent(text: &str) -> Option<i64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // One too long for the limit is refused later; here it only must not overflow.
    let magnitude = digits.parse().unwrap_or(i64::MAX).min(2 * WRITTEN_EXPONENT_LIMIT);
    Some(if negative { -magnitude } else { magnitude })
}
