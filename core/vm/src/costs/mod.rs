//! Prices: a row for all work beside instructions and functions, and charges, which only rows make.

mod charge;
mod rows;

pub(crate) use charge::{Charge, Cost, Priced};
pub(crate) use rows::*;

/// The price of joining two lists or tuples into one of `items` items.
pub(crate) fn sequences_joined(items: usize) -> Charge {
    SEQUENCES_JOINED.once() + ITEMS_JOINED.of(items)
}
