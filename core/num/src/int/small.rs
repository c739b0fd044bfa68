//! Text of integers of 64 bits: decimal digits, and the frequent format specifications, without the general machinery.

/// The longest decimal text: a sign and 19 digits.
const DECIMAL: usize = 20;
/// The longest text: a sign and 64 binary digits.
const LONGEST: usize = 65;
/// The largest width that is laid out here.
const WIDEST: usize = 64;
const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Digits from the right end of a buffer; where they begin.
fn write_digits(buffer: &mut [u8; LONGEST], mut magnitude: u64, base: u64) -> usize {
    let mut at = LONGEST;
    loop {
        let digit = usize::try_from(magnitude % base).expect("a digit is below 16");
        at -= 1;
        buffer[at] = DIGITS[digit];
        magnitude /= base;
        if magnitude == 0 {
            return at;
        }
    }
}

/// Appends `str(n)`.
pub fn push_decimal(out: &mut String, number: i64) {
    let mut buffer = [0; DECIMAL];
    let (mut at, mut rest) = (DECIMAL, number.unsigned_abs());
    loop {
        // The constant base lets the division become a multiplication.
        let digit = u8::try_from(rest % 10).expect("a digit is below 10");
        (at, rest) = (at - 1, rest / 10);
        buffer[at] = b'0' + digit;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        at -= 1;
        buffer[at] = b'-';
    }
    out.push_str(std::str::from_utf8(&buffer[at..]).expect("digits and signs are ASCII"));
}

/// `str(n)`.
pub fn decimal(number: i64) -> String {
    let mut text = String::with_capacity(DECIMAL);
    push_decimal(&mut text, number);
    text
}

/// A format specification made of an alignment by `<` or `>`, a `0`, a width, and `d` or `x`, each if given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainSpec {
    /// The least number of characters.
    pub width: usize,
    left: bool,
    zeros: bool,
    hexadecimal: bool,
}

impl PlainSpec {
    /// Reads a specification; `None` where it has anything else.
    pub fn parse(spec: &str) -> Option<Self> {
        let bytes = spec.as_bytes();
        let (align, bytes) = match bytes {
            [align @ (b'<' | b'>'), rest @ ..] => (Some(*align), rest),
            _ => (None, bytes),
        };
        let (zeros, bytes) = match bytes {
            [b'0', rest @ ..] if align.is_none() => (true, rest),
            [b'0', ..] => return None,
            _ => (false, bytes),
        };
        let (kind, digits) = match bytes {
            [digits @ .., kind @ (b'd' | b'x')] => (*kind, digits),
            _ => (b'd', bytes),
        };
        if digits.len() > 2 || !digits.iter().all(u8::is_ascii_digit) {
            return None;
        }
        let width = digits.iter().fold(0, |width, digit| width * 10 + usize::from(digit - b'0'));
        (width <= WIDEST).then_some(Self { width, left: align == Some(b'<'), zeros, hexadecimal: kind == b'x' })
    }

    /// `format(n, spec)`.
    pub fn format(self, number: i64) -> String {
        let mut buffer = [0; LONGEST];
        let magnitude = number.unsigned_abs();
        let mut at = if self.hexadecimal { write_digits(&mut buffer, magnitude, 16) } else { write_digits(&mut buffer, magnitude, 10) };
        let signs = usize::from(number < 0);
        while self.zeros && LONGEST - at + signs < self.width {
            at -= 1;
            buffer[at] = b'0';
        }
        if number < 0 {
            at -= 1;
            buffer[at] = b'-';
        }
        let length = LONGEST - at;
        let mut out = String::with_capacity(self.width.max(length));
        let blanks = self.width.saturating_sub(length);
        out.extend(std::iter::repeat_n(' ', if self.left { 0 } else { blanks }));
        out.push_str(std::str::from_utf8(&buffer[at..]).expect("digits and signs are ASCII"));
        out.extend(std::iter::repeat_n(' ', if self.left { blanks } else { 0 }));
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Spec, Subject, format_int};
    use dashu_int::IBig;

    #[test]
    fn plain_specifications_agree_with_the_general_form() {
        for number in [0, 7, -7, 42, -255, 65_535, i64::MAX, i64::MIN] {
            assert_eq!(decimal(number), number.to_string());
            for spec in
                ["", "d", "x", "5", "05", "05d", ">6", "<6", "<06", "064", "64x", "<64d", "10x", "010x", "0", "0x", ">", "5X", "+5", "065"]
            {
                let general = format_int(&IBig::from(number), &Spec::parse(spec, Subject::Int).expect("a valid specification"));
                if let Some(plain) = PlainSpec::parse(spec) {
                    assert_eq!(plain.format(number), general.expect("an integer's specification"), "{number} by {spec:?}");
                    assert_eq!(plain.width, Spec::parse(spec, Subject::Int).expect("a valid specification").min_size());
                }
            }
        }
    }
}
