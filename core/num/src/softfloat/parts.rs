//! Taking numbers apart and scaling them by powers of two.

use super::arithmetic::round_pack;
use super::{F64, SIGN_BIT};

impl F64 {
    /// `(m, e)` with `self = m * 2^e` and `0.5 <= |m| < 1`; `(self, 0)` of a zero, an infinity or NaN.
    pub fn frexp(self) -> (F64, i32) {
        if self.is_zero() || !self.is_finite() {
            return (self, 0);
        }
        let (exponent, significand) = self.normal_parts();
        (round_pack(self.0 & SIGN_BIT, 0x3fd, significand << 10), exponent - 0x3fe)
    }

    /// `self * 2^exponent`, rounded once, or `None` if that is too large to represent.
    pub fn ldexp(self, exponent: i64) -> Option<F64> {
        if self.is_zero() || !self.is_finite() {
            return Some(self);
        }
        let (field, significand) = self.normal_parts();
        // Past these bounds the result is zero or too large whatever the number.
        let shift = i32::try_from(exponent.clamp(-5000, 5000)).expect("clamped to a few thousand");
        let scaled = round_pack(self.0 & SIGN_BIT, field - 1 + shift, significand << 10);
        scaled.is_finite().then_some(scaled)
    }

    /// The fractional and the whole part, both with this sign.
    pub fn modf(self) -> (F64, F64) {
        if self.is_infinite() {
            return (F64::ZERO.copysign(self), self);
        }
        let whole = self.trunc();
        ((self - whole).copysign(self), whole)
    }
}
