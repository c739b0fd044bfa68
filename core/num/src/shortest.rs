//! The shortest decimal digits of a float.

use crate::softfloat::F64;

/// The shortest decimal digits that read back as `value`, and where the point stands: the value is
/// `0.DIGITS * 10^point`. `value` must be finite and not zero; its sign is ignored.
#[expect(clippy::disallowed_types, reason = "only the bits of a host float pass through: ryu does no floating-point arithmetic")]
pub(crate) fn shortest_digits(value: F64) -> (Vec<u8>, i32) {
    let mut buffer = ryu::Buffer::new();
    let text = buffer.format_finite(f64::from_bits(value.abs().0)).as_bytes();
    let exponent_at = text.iter().position(|&byte| byte == b'e').unwrap_or(text.len());
    let (mantissa, exponent) = text.split_at(exponent_at);
    let exponent = match exponent {
        [b'e', b'-', digits @ ..] => -small_number(digits),
        [b'e', digits @ ..] => small_number(digits),
        _ => 0,
    };
    let point = mantissa.iter().position(|&byte| byte == b'.').unwrap_or(mantissa.len());
    let mut digits: Vec<u8> = mantissa.iter().copied().filter(u8::is_ascii_digit).collect();
    let leading = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..leading);
    while digits.last() == Some(&b'0') {
        digits.pop();
    }
    let count = |n: usize| i32::try_from(n).expect("a float has at most a few hundred digits");
    (digits, count(point) - count(leading) + exponent)
}

/// A short run of ASCII digits as a number.
fn small_number(digits: &[u8]) -> i32 {
    digits.iter().fold(0, |number, &digit| number * 10 + i32::from(digit - b'0'))
}
