//! Sums without rounding on the way, and small helpers.

use super::F64;

/// Why `fsum` has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SumError {
    /// OverflowError "intermediate overflow in fsum".
    Overflow,
    /// ValueError "-inf + inf in fsum".
    OppositeInfinities,
}

/// `math.fsum`: a sum of floats that is rounded once, when it is read.
///
/// CPython's algorithm (Shewchuk's partial sums that do not overlap), so that it overflows where CPython does.
#[derive(Clone, Debug, Default)]
pub struct ExactSum {
    partials: Vec<F64>,
    /// The sum of infinities and NaNs.
    specials: F64,
    /// The sum of infinities alone.
    infinities: F64,
}

impl ExactSum {
    /// Adds a float, and gives the number of partial sums that it met. They are more the further apart the floats are: at most one for
    /// each 53 of the 2,098 bits between the largest float and the smallest.
    pub fn include(&mut self, value: F64) -> Result<usize, SumError> {
        let met = self.partials.len();
        let mut x = value;
        let mut kept = 0;
        for index in 0..met {
            let (high, low) = exact_sum(x, self.partials[index]);
            if !low.is_zero() {
                self.partials[kept] = low;
                kept += 1;
            }
            x = high;
        }
        self.partials.truncate(kept);
        if x.is_finite() {
            if !x.is_zero() {
                self.partials.push(x);
            }
            return Ok(met);
        }
        if value.is_finite() {
            return Err(SumError::Overflow);
        }
        if value.is_infinite() {
            self.infinities = self.infinities + value;
        }
        self.specials = self.specials + value;
        self.partials.clear();
        Ok(met)
    }

    /// The sum, rounded once.
    pub fn total(&self) -> Result<F64, SumError> {
        if self.specials.is_zero() {
            return Ok(rounded_once(&self.partials));
        }
        if self.infinities.is_nan() { Err(SumError::OppositeInfinities) } else { Ok(self.specials) }
    }
}

/// The rounded sum of two numbers and what the rounding left out, exactly.
fn exact_sum(x: F64, y: F64) -> (F64, F64) {
    let (large, small) = if x.abs() < y.abs() { (y, x) } else { (x, y) };
    let high = large + small;
    (high, small - (high - large))
}

/// The sum of partial sums that do not overlap, the least first.
fn rounded_once(partials: &[F64]) -> F64 {
    let Some((&last, mut rest)) = partials.split_last() else { return F64::ZERO };
    let mut high = last;
    let mut low = F64::ZERO;
    while let Some((&next, before)) = rest.split_last() {
        rest = before;
        let x = high;
        high = x + next;
        low = next - (high - x);
        if !low.is_zero() {
            break;
        }
    }
    // A sum halfway between two floats was rounded to even; what follows may say otherwise.
    if let Some(&next) = rest.last()
        && !low.is_zero()
        && low.is_negative() == next.is_negative()
    {
        let doubled = low * F64::TWO;
        let other = high + doubled;
        if doubled == other - high {
            high = other;
        }
    }
    high
}

/// `math.degrees(x)`.
pub fn degrees(x: F64) -> F64 {
    x * (F64::from_i64(180) / super::PI)
}

/// `math.radians(x)`.
pub fn radians(x: F64) -> F64 {
    x * (super::PI / F64::from_i64(180))
}

/// `math.isclose(a, b, rel_tol=relative, abs_tol=absolute)`; `None` for a negative tolerance (ValueError
/// "tolerances must be non-negative").
pub fn is_close(a: F64, b: F64, relative: F64, absolute: F64) -> Option<bool> {
    if relative < F64::ZERO || absolute < F64::ZERO {
        return None;
    }
    if a == b {
        return Some(true);
    }
    if a.is_infinite() || b.is_infinite() {
        return Some(false);
    }
    let difference = (b - a).abs();
    Some(difference <= (relative * b).abs() || difference <= (relative * a).abs() || difference <= absolute)
}
