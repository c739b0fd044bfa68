//! What passes from a block to the proposer of the next.

use cowboy_chain::{ChainConfig, input::BaseFees};
use cowboy_types::{Height, units::Price};

/// What a proposer needs to know about the parent of its block, beside the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carry {
    /// Whether there is work for the next block even without a transaction.
    pub has_work: bool,
    /// The height of the next timer, where one is set.
    pub next_timer: Option<Height>,
    /// What the next block burns.
    pub base_fees: BaseFees,
}

impl Carry {
    /// Before the first block: genesis is yet to be written, which is work.
    pub fn genesis(chain: &ChainConfig) -> Self {
        let least = Price(chain.params.fees.base_fee_min);
        Self { has_work: true, next_timer: None, base_fees: BaseFees { cycle: least, cell: least } }
    }

    /// The carry as the ledger keeps it: flag, prices, and the timer's height where there is one.
    pub fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![u8::from(self.has_work)];
        bytes.extend(self.base_fees.cycle.0.to_be_bytes());
        bytes.extend(self.base_fees.cell.0.to_be_bytes());
        bytes.extend(self.next_timer.iter().flat_map(|height| height.0.to_be_bytes()));
        bytes
    }

    /// The carry from the ledger, or `None` where the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (has_work, rest) = bytes.split_first()?;
        let mut numbers = rest.chunks(8).map(|number| number.try_into().ok().map(u64::from_be_bytes));
        let base_fees = BaseFees { cycle: Price(numbers.next()??), cell: Price(numbers.next()??) };
        Some(Self { has_work: *has_work != 0, next_timer: numbers.next().flatten().map(Height), base_fees })
    }
}
