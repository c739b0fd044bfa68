//! Prices: what is reserved, what a delivery costs, and how the base fees move (003 §2.3, §4.2, §17.8).

use cowboy_params::Params;
use cowboy_types::units::{Amount, Cells, Cycles, Price};

/// What was used of the two meters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Used {
    /// Compute.
    pub cycles: Cycles,
    /// Cells (bytes).
    pub cells: Cells,
}

/// The prices that are burned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BaseFees {
    /// Per cycle.
    pub cycle: Price,
    /// Per cell.
    pub cell: Price,
}

/// An offer for one unit of one meter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The most paid, tip included.
    pub max: Price,
    /// The tip.
    pub priority: Price,
}

/// Offers for both meters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Per cycle.
    pub cycle: Offer,
    /// Per cell.
    pub cell: Offer,
}

/// The prices of one unit of one meter in one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnitPrice {
    /// Burned.
    pub base: Price,
    /// The tip, paid to the proposer.
    pub tip: Price,
}

/// The prices of both meters in one block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prices {
    /// Per cycle.
    pub cycle: UnitPrice,
    /// Per cell.
    pub cell: UnitPrice,
}

/// What used units cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Burned.
    pub burned: Amount,
    /// The tip, paid to the proposer.
    pub tip: Amount,
}

impl Cost {
    /// Both together.
    pub fn total(&self) -> Amount {
        self.burned.saturating_add(self.tip)
    }
}

impl Offer {
    /// What one unit costs under a base fee: the base fee, and as much of the tip as the maximum leaves.
    /// A maximum below the base fee pays the maximum: what an origin reserved is all there is (decision 125).
    pub fn at(&self, base_fee: Price) -> UnitPrice {
        let base = base_fee.min(self.max);
        UnitPrice { base, tip: self.priority.min(self.max.saturating_sub(base)) }
    }
}

impl Offers {
    /// What units cost under base fees.
    pub fn at(&self, base_fee_cycle: Price, base_fee_cell: Price) -> Prices {
        Prices { cycle: self.cycle.at(base_fee_cycle), cell: self.cell.at(base_fee_cell) }
    }

    /// The most that these limits can cost, or `None` where that is more than any balance holds.
    pub fn reserve(&self, limits: Used) -> Option<Amount> {
        amount_of(limits, self.cycle.max, self.cell.max)
    }
}

impl UnitPrice {
    /// Base fee and tip.
    pub fn total(&self) -> Price {
        self.base.saturating_add(self.tip)
    }
}

impl Prices {
    /// What used units cost. Never more than was reserved for at least as many units.
    pub fn cost(&self, used: Used) -> Cost {
        let part = |cycle: Price, cell: Price| amount_of(used, cycle, cell).expect("a cost is at most its reserve, which fits");
        Cost { burned: part(self.cycle.base, self.cell.base), tip: part(self.cycle.tip, self.cell.tip) }
    }
}

fn amount_of(used: Used, cycle: Price, cell: Price) -> Option<Amount> {
    let cycles = u128::from(used.cycles.0) * u128::from(cycle.0);
    let cells = u128::from(used.cells.0) * u128::from(cell.0);
    u64::try_from(cycles.checked_add(cells)?).ok().map(Amount)
}

/// The next block's base fee: ± min(fee·|used − target| / (target·alpha), fee / denominator), between floor and
/// ceiling, divisions rounding down (decision 15). Above the target a fee below the denominator rises by one, as that part of it is none (decision 766).
pub fn next_base_fee(params: &Params, base_fee: Price, used: u64, target: u64) -> Price {
    let fee = u128::from(base_fee.0);
    let distance = u128::from(used.abs_diff(target));
    let by_use = fee.saturating_mul(distance) / (u128::from(target) * u128::from(params.fees.alpha)).max(1);
    let denominator = u128::from(params.fees.max_change_denominator);
    let change = by_use.min(fee / denominator).max(u128::from(used > target && (1..denominator).contains(&fee)));
    let moved = if used >= target { fee.saturating_add(change) } else { fee.saturating_sub(change) };
    let moved = u64::try_from(moved).unwrap_or(u64::MAX);
    Price(moved.clamp(params.fees.base_fee_min, params.fees.base_fee_max.max(params.fees.base_fee_min)))
}
