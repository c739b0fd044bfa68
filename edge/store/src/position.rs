//! Where a receipt stands, and whom it concerns.

use cowboy_types::Address;

/// Where a receipt stands: the block, and the place in the block's receipts, transactions first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The block's number.
    pub number: u64,
    /// The place in it, from 0.
    pub index: u32,
}

pub(crate) fn place(number: u64, index: u32) -> Place {
    Place { number, index }
}

/// An address that a receipt of a block concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Concern {
    /// The address.
    pub address: Address,
    /// The receipt's place in the block.
    pub receipt: u32,
}
