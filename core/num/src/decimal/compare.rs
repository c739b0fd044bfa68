//! Order and equality.

use std::cmp::Ordering;

use super::{Decimal, DecimalError, Outcome, Value, digit_count, power_of_ten};

/// Compares two magnitudes of finite numbers other than zero.
fn compare_magnitudes(a: &Decimal, b: &Decimal) -> Ordering {
    let (Some((a_digits, a_exponent)), Some((b_digits, b_exponent))) = (a.parts(), b.parts()) else { return Ordering::Equal };
    a.adjusted().cmp(&b.adjusted()).then_with(|| {
        // The same adjusted exponent: the shorter coefficient takes as many zeros as the other has more digits.
        let least = a_exponent.min(b_exponent);
        let scaled = |digits, exponent: i64| digits * power_of_ten(exponent - least);
        debug_assert!(digit_count(a_digits) + a_exponent == digit_count(b_digits) + b_exponent, "compared just above");
        scaled(a_digits, a_exponent).cmp(&scaled(b_digits, b_exponent))
    })
}

impl Decimal {
    /// How two numbers compare, exactly; `None` if either is a NaN.
    pub fn order(&self, other: &Decimal) -> Option<Ordering> {
        if self.is_nan() || other.is_nan() {
            return None;
        }
        let side = |number: &Decimal| match (number.is_zero(), number.negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        };
        let sides = side(self).cmp(&side(other));
        if sides != Ordering::Equal || self.is_zero() {
            return Some(sides);
        }
        let magnitudes = match (self.is_infinite(), other.is_infinite()) {
            (false, false) => compare_magnitudes(self, other),
            (left, right) => left.cmp(&right),
        };
        Some(if self.negative { magnitudes.reverse() } else { magnitudes })
    }

    /// `self == other`: a NaN equals nothing, and a signaling one is an error.
    pub fn equals(&self, other: &Decimal) -> Result<bool, DecimalError> {
        if self.is_signaling() || other.is_signaling() {
            return Err(DecimalError::InvalidOperation);
        }
        Ok(self.order(other) == Some(Ordering::Equal))
    }

    /// The order for `<`, `<=`, `>` and `>=`, which refuse every NaN.
    pub fn ordered(&self, other: &Decimal) -> Result<Ordering, DecimalError> {
        self.order(other).ok_or(DecimalError::InvalidOperation)
    }

    /// `self.compare(other)`: -1, 0 or 1, or a NaN.
    pub fn compare(&self, other: &Decimal) -> Outcome {
        match self.order(other) {
            Some(order) => Ok(Decimal::from_i64(match order {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            })),
            None => self.nan_of(other).unwrap_or(Err(DecimalError::InvalidOperation)),
        }
    }

    /// `compare_total`: an order of all representations, in which 1.0 comes before 1.
    pub fn total_order(&self, other: &Decimal) -> Ordering {
        let sides = other.negative.cmp(&self.negative);
        if sides != Ordering::Equal {
            return sides;
        }
        let kind = |number: &Decimal| match &number.value {
            Value::Finite { .. } => 0,
            Value::Infinity => 1,
            Value::Nan { signaling: true, .. } => 2,
            Value::Nan { .. } => 3,
        };
        let magnitudes = kind(self).cmp(&kind(other)).then_with(|| match (&self.value, &other.value) {
            (Value::Nan { payload: a, .. }, Value::Nan { payload: b, .. }) => a.cmp(b),
            (Value::Finite { exponent: a, .. }, Value::Finite { exponent: b, .. }) => {
                let positive = |number: &Decimal| number.with_sign(false);
                positive(self).order(&positive(other)).unwrap_or(Ordering::Equal).then(a.cmp(b))
            }
            _ => Ordering::Equal,
        });
        if self.negative { magnitudes.reverse() } else { magnitudes }
    }

    /// `self.max(other)`: the larger; a number rather than a quiet NaN.
    pub fn maximum(&self, other: &Decimal) -> Outcome {
        self.extreme(other, Ordering::Less)
    }

    /// `self.min(other)`: the smaller; a number rather than a quiet NaN.
    pub fn minimum(&self, other: &Decimal) -> Outcome {
        self.extreme(other, Ordering::Greater)
    }

    /// The other operand if this one compares to it as given.
    fn extreme(&self, other: &Decimal, unwanted: Ordering) -> Outcome {
        if self.is_signaling() || other.is_signaling() {
            return Err(DecimalError::InvalidOperation);
        }
        match (self.is_nan(), other.is_nan()) {
            (false, true) => return self.clone().fitted(),
            (true, false) => return other.clone().fitted(),
            (true, true) => return self.clone().fitted(),
            (false, false) => {}
        }
        let order = self.order(other).unwrap_or(Ordering::Equal).then_with(|| self.total_order(other));
        if order == unwanted { other.clone().fitted() } else { self.clone().fitted() }
    }

    /// `same_quantum`: equal exponents, or both infinite, or both NaNs.
    pub fn same_quantum(&self, other: &Decimal) -> bool {
        match (self.parts(), other.parts()) {
            (Some((_, a)), Some((_, b))) => a == b,
            _ => self.is_infinite() && other.is_infinite() || self.is_nan() && other.is_nan(),
        }
    }
}
