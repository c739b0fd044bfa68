//! Quotients rounded to nearest, a tie to the even one.

use dashu_int::UBig;
use dashu_int::ops::{BitTest, DivRem};
use std::cmp::Ordering;

/// The quotient rounded to nearest even.
pub(crate) fn divide_half_even(numerator: UBig, denominator: &UBig) -> UBig {
    let (quotient, remainder) = numerator.div_rem(denominator);
    rounded_half_even(quotient, remainder, denominator)
}

/// A quotient rounded to nearest even by its remainder.
pub(crate) fn rounded_half_even(quotient: UBig, remainder: UBig, denominator: &UBig) -> UBig {
    match (remainder << 1usize).cmp(denominator) {
        Ordering::Greater => quotient + UBig::ONE,
        Ordering::Equal if quotient.bit(0) => quotient + UBig::ONE,
        _ => quotient,
    }
}

/// `numerator / 2^distance` rounded to nearest even.
pub(crate) fn shift_right_half_even(numerator: UBig, distance: usize) -> UBig {
    if distance == 0 {
        return numerator;
    }
    let half = numerator.bit(distance - 1);
    let below_half = numerator.trailing_zeros().is_some_and(|zeros| zeros < distance - 1);
    let quotient = numerator >> distance;
    if half && (below_half || quotient.bit(0)) { quotient + UBig::ONE } else { quotient }
}
