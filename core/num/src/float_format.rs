//! Floats as text: `repr`, `format()` and `%`, from exact decimal digits.

use dashu_int::UBig;
use dashu_int::ops::DivRem;

use super::F64;
use super::format_spec::{FormatError, NumberText, Spec, lay_out, pad};
use crate::half_even::{rounded_half_even, shift_right_half_even};
use crate::shortest::shortest_digits;
use crate::sizes;

/// How a float is written: C's letters, or Python's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notation {
    /// `e`: one digit, a point, `precision` digits, an exponent.
    Exponent,
    /// `f`: `precision` digits after the point.
    Fixed,
    /// `g`: `precision` significant digits, the shorter of the two above, no zeros at the end.
    General,
    /// The shortest digits that read back as the same float.
    Shortest,
}

/// What `PyOS_double_to_string` takes.
#[derive(Clone, Copy, Debug)]
pub struct FloatStyle {
    /// How it is written.
    pub notation: Notation,
    /// See [`Notation`]; not used by `Shortest`.
    pub precision: usize,
    /// Upper-case `E`, `INF`, `NAN`.
    pub uppercase: bool,
    /// `#`: always a point, and zeros at the end kept.
    pub alternate: bool,
    /// At least one digit after the point unless there is an exponent.
    pub point_zero: bool,
    /// No sign on a result of minus zero.
    pub positive_zero: bool,
}

impl FloatStyle {
    /// The style of `repr`.
    pub const REPR: FloatStyle = FloatStyle {
        notation: Notation::Shortest,
        precision: 0,
        uppercase: false,
        alternate: false,
        point_zero: true,
        positive_zero: false,
    };

    /// The style of a conversion letter, `e`, `f`, `g` or their capitals, as in `'%.3f' % x`; `None` for others.
    pub fn of_conversion(letter: char, precision: usize, alternate: bool) -> Option<FloatStyle> {
        let notation = match letter.to_ascii_lowercase() {
            'e' => Notation::Exponent,
            'f' => Notation::Fixed,
            'g' => Notation::General,
            _ => return None,
        };
        let uppercase = letter.is_ascii_uppercase();
        Some(FloatStyle { notation, precision, uppercase, alternate, point_zero: false, positive_zero: false })
    }
}

/// No binary64 number has more significant digits or decimal places than this, so more only add zeros.
const MAX_DIGITS: usize = 1100;

/// The digits of a finite number without zeros at the end, and where the point stands: `0.DIGITS * 10^point`.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    fn of(value: F64, style: &FloatStyle) -> Decimal {
        match style.notation {
            Notation::Fixed => Decimal::to_places(value, style.precision),
            _ if value.is_zero() => Decimal { digits: b"0".to_vec(), point: 1 },
            Notation::Shortest => {
                let (digits, point) = shortest_digits(value);
                Decimal { digits, point: i64::from(point) }
            }
            Notation::Exponent => Decimal::to_significant(value, style.precision.saturating_add(1)),
            Notation::General => Decimal::to_significant(value, style.precision.max(1)),
        }
    }

    fn trimmed(mut digits: Vec<u8>, point: i64) -> Decimal {
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        Decimal { digits, point }
    }

    /// Rounded to `places` digits after the point.
    fn to_places(value: F64, places: usize) -> Decimal {
        if value.is_zero() {
            return Decimal { digits: b"0".to_vec(), point: 1 };
        }
        let places = i64::try_from(places.min(MAX_DIGITS)).expect("bounded just above");
        let scaled = scaled_by_ten(value, places);
        if scaled.is_zero() {
            return Decimal { digits: Vec::new(), point: -places };
        }
        let digits = scaled.to_string().into_bytes();
        let point = length(&digits) - places;
        Decimal::trimmed(digits, point)
    }

    /// Rounded to `count` significant digits.
    fn to_significant(value: F64, count: usize) -> Decimal {
        let count = i64::try_from(count.min(MAX_DIGITS)).expect("bounded just above");
        let (shortest, point) = shortest_digits(value);
        // A power of ten may be the shortest text for a number just below it, which has one digit less.
        let mut point = i64::from(point) - i64::from(shortest == b"1");
        loop {
            let digits = scaled_by_ten(value, count - point).to_string().into_bytes();
            let carried = digits[1..].iter().all(|&digit| digit == b'0');
            if length(&digits) == count || carried {
                let point = point + length(&digits) - count;
                return Decimal::trimmed(digits, point);
            }
            point += 1;
        }
    }
}

fn length(digits: &[u8]) -> i64 {
    i64::try_from(digits.len()).expect("at most a few thousand digits")
}

/// `|value| * 10^power` rounded to nearest even.
fn scaled_by_ten(value: F64, power: i64) -> UBig {
    let (significand, exponent) = value.significand_and_exponent();
    let ten = UBig::from(10u8).pow(usize::try_from(power.unsigned_abs()).expect("at most a few thousand"));
    let mut numerator = UBig::from(significand);
    if power >= 0 {
        numerator *= &ten;
    }
    let distance = usize::try_from(exponent.unsigned_abs()).expect("at most 1074");
    if power >= 0 && exponent < 0 {
        return shift_right_half_even(numerator, distance);
    }
    let (numerator, twos) = if exponent >= 0 { (numerator << distance, 0) } else { (numerator, distance) };
    if power >= 0 {
        return numerator;
    }
    let denominator = ten << twos;
    let (quotient, remainder) = numerator.div_rem(&denominator);
    rounded_half_even(quotient, remainder, &denominator)
}

/// A float as text in a style (CPython's `PyOS_double_to_string`).
pub fn float_to_text(value: F64, style: &FloatStyle) -> String {
    if !value.is_finite() {
        let word = match (value.is_nan(), style.uppercase) {
            (true, false) => "nan",
            (true, true) => "NAN",
            (false, false) => "inf",
            (false, true) => "INF",
        };
        let negative = value.is_negative() && !value.is_nan();
        return if negative { format!("-{word}") } else { word.to_string() };
    }
    let decimal = Decimal::of(value, style);
    let is_zero = matches!(decimal.digits[..], [] | [b'0']);
    let negative = value.is_negative() && !(style.positive_zero && is_zero);
    write_decimal(&decimal, negative, style)
}

fn write_decimal(decimal: &Decimal, negative: bool, style: &FloatStyle) -> String {
    let digits = &decimal.digits[..];
    let precision = i64::try_from(style.precision).unwrap_or(i64::MAX);
    let (with_exponent, wanted) = match style.notation {
        Notation::Exponent => (true, precision.saturating_add(1)),
        Notation::Fixed => (false, decimal.point.saturating_add(precision)),
        Notation::General => {
            let most = precision.max(1) - i64::from(style.point_zero);
            let wanted = if style.alternate { precision.max(1) } else { length(digits) };
            (decimal.point <= -4 || decimal.point > most, wanted)
        }
        // CPython writes an exponent below 1e-4 and from 1e16 on.
        Notation::Shortest => (decimal.point <= -4 || decimal.point > 16, length(digits)),
    };
    let point = if with_exponent { 1 } else { decimal.point };
    // `end` is where the digits end, counted from the first of them: at least at the point.
    let least = if style.point_zero && !with_exponent { point + 1 } else { point };
    let end = wanted.max(least);
    let mut out = String::with_capacity(24);
    if negative {
        out.push('-');
    }
    push_digits(&mut out, digits, point, end);
    if out.ends_with('.') && !style.alternate {
        out.pop();
    }
    if with_exponent {
        push_exponent(&mut out, if style.uppercase { 'E' } else { 'e' }, decimal.point - 1);
    }
    out
}

/// Digits with zeros on either side as far as needed, and exactly one point.
fn push_digits(out: &mut String, digits: &[u8], point: i64, end: i64) {
    let zeros = |out: &mut String, count: i64| out.extend(std::iter::repeat_n('0', sizes::saturating(count)));
    let text = |out: &mut String, digits: &[u8]| out.extend(digits.iter().map(|&digit| char::from(digit)));
    let count = length(digits);
    if point <= 0 {
        out.push_str("0.");
        zeros(out, -point);
        text(out, digits);
        zeros(out, end - count);
    } else if point <= count {
        let (whole, fraction) = digits.split_at(usize::try_from(point).expect("positive and at most the length"));
        text(out, whole);
        out.push('.');
        text(out, fraction);
        zeros(out, end - count);
    } else {
        text(out, digits);
        zeros(out, point - count);
        out.push('.');
        zeros(out, end - point);
    }
}

/// An exponent as C prints it: a sign and at least two digits.
fn push_exponent(out: &mut String, letter: char, exponent: i64) {
    out.push(letter);
    out.push(if exponent < 0 { '-' } else { '+' });
    let magnitude = exponent.unsigned_abs();
    if magnitude < 10 {
        out.push('0');
    }
    out.push_str(&magnitude.to_string());
}

/// `format(value, spec)` of a float.
pub fn format_float(value: F64, spec: &Spec) -> Result<String, FormatError> {
    let percent = spec.kind == Some('%');
    let (notation, default_precision) = match spec.kind {
        None if spec.precision.is_none() => (Notation::Shortest, 0),
        None | Some('g' | 'G' | 'n') => (Notation::General, 6),
        Some('e' | 'E') => (Notation::Exponent, 6),
        Some('f' | 'F' | '%') => (Notation::Fixed, 6),
        Some(code) => return Err(FormatError::UnknownCode(code)),
    };
    let style = FloatStyle {
        notation,
        precision: spec.precision.unwrap_or(default_precision),
        uppercase: matches!(spec.kind, Some('E' | 'F' | 'G')),
        alternate: spec.alternate,
        point_zero: spec.kind.is_none(),
        positive_zero: spec.positive_zero,
    };
    let value = if percent { value * F64::from_i64(100) } else { value };
    let mut text = float_to_text(value, &style);
    if percent {
        text.push('%');
    }
    Ok(lay_out_float(&text, spec))
}

/// Lays out a float's text, splitting it into sign, whole digits and the rest.
fn lay_out_float(text: &str, spec: &Spec) -> String {
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => (true, unsigned),
        None => (false, text),
    };
    let whole = unsigned.bytes().take_while(u8::is_ascii_digit).count();
    let (digits, rest) = unsigned.split_at(whole);
    lay_out(&NumberText { negative, prefix: "", digits, rest }, spec)
}

/// `format(complex(real, imaginary), spec)`.
pub fn format_complex(real: F64, imaginary: F64, spec: &Spec) -> Result<String, FormatError> {
    use super::format_spec::Align;
    if let Some(code) = spec.kind.filter(|kind| !matches!(kind, 'e' | 'E' | 'f' | 'F' | 'g' | 'G' | 'n')) {
        return Err(FormatError::UnknownCode(code));
    }
    if spec.fill == '0' {
        return Err(FormatError::value("Zero padding is not allowed in complex format specifier"));
    }
    if spec.align == Align::AfterSign {
        return Err(FormatError::value("'=' alignment flag is not allowed in complex format specifier"));
    }
    // Without a type each part is written as in str(): no ".0", no real part if it is a positive zero, and parentheses around both.
    let bare = spec.kind.is_none();
    let part = |value: F64, sign: Option<char>| {
        let style = FloatStyle {
            notation: match spec.kind {
                None if spec.precision.is_none() => Notation::Shortest,
                None | Some('g' | 'G' | 'n') => Notation::General,
                Some('e' | 'E') => Notation::Exponent,
                Some(_) => Notation::Fixed,
            },
            precision: spec.precision.unwrap_or(6),
            uppercase: matches!(spec.kind, Some('E' | 'F' | 'G')),
            alternate: spec.alternate,
            point_zero: false,
            positive_zero: spec.positive_zero,
        };
        let unpadded = Spec { width: None, sign, ..spec.clone() };
        lay_out_float(&float_to_text(value, &style), &unpadded)
    };
    let skip_real = bare && real.0 == F64::ZERO.0;
    let text = if skip_real {
        part(imaginary, spec.sign) + "j"
    } else {
        let both = part(real, spec.sign) + &part(imaginary, Some('+')) + "j";
        if bare { format!("({both})") } else { both }
    };
    Ok(pad(&text, spec))
}
