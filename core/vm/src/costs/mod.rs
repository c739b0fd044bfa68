//! Prices: a row for all work beside instructions and functions, and charges, which only rows make.

mod charge;
mod rows;

pub(crate) use charge::{Charge, Cost, Priced};
pub(crate) use rows::*;

use cowboy_num::{F64, sizes};

/// The price of the remainder of two floats. It is found bit by bit, as many as the exponents are apart.
pub(crate) fn remainder(a: F64, b: F64) -> Charge {
    let exponent = |number: F64| sizes::saturating((number.to_bits() >> 52) & 0x7ff);
    FLOAT_REMAINDER.once() + EXPONENTS_APART.of(exponent(a).saturating_sub(exponent(b)))
}

/// The price of joining two lists or tuples into one of `items` items.
pub(crate) fn sequences_joined(items: usize) -> Charge {
    SEQUENCES_JOINED.once() + ITEMS_JOINED.of(items)
}
