//! The base fee of the timer lane (003 §5.1b).

use cowboy_params::Params;
use cowboy_types::units::Price;

/// The next base fee, after a block in which timers used this many cycles: it moves by (used − target) / target, `auction_max_change` of it at most.
pub(crate) fn next(params: &Params, fee: Price, used: u64) -> Price {
    let rows = &params.timers;
    let fee = u128::from(fee.0);
    let target = (u128::from(params.lanes.timer_cycles) * u128::from(rows.auction_target) / 10_000).max(1);
    // A fee of which the largest part is none moves by a base unit (decision 766); one of zero stays.
    let by_use = |distance: u128| match fee * u128::from(rows.auction_max_change) / 10_000 {
        0 => distance.min(fee).min(1),
        most => (fee.saturating_mul(distance) / target).min(most),
    };
    let moved = match u128::from(used).checked_sub(target) {
        Some(over) => fee.saturating_add(by_use(over)),
        None => fee.saturating_sub(by_use(target.saturating_sub(u128::from(used)))),
    };
    let moved = u64::try_from(moved).unwrap_or(u64::MAX);
    Price(moved.clamp(params.fees.base_fee_min, params.fees.base_fee_max.max(params.fees.base_fee_min)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// at half the lane the base fee stands still; above and below it moves, an eighth at most. Decision 766: where the largest part of it is none, it
    /// moves all the same.
    #[test]
    fn the_base_fee_follows_the_lane() {
        let params = &Params::GENESIS;
        let lane = params.lanes.timer_cycles;
        let target = lane / 2;
        let after = |params: &Params, fee: u64, used: u64| next(params, Price(fee), used).0;
        let rows = [
            (target, 800_000),
            (lane, 900_000),
            (0, 700_000),
            (target + target / 16, 800_000 + 50_000 - 1),
            (target - target / 16, 800_000 - 50_000 + 1),
        ];
        for (used, expected) in rows {
            let moved = after(params, 800_000, used);
            assert!(moved.abs_diff(expected) <= 1, "{used}: {moved}");
        }
        assert_eq!(after(params, params.fees.base_fee_min, 0), params.fees.base_fee_min);
        assert_eq!(after(params, u64::MAX, u64::MAX), params.fees.base_fee_max);
        let mut low = Params::GENESIS;
        low.fees.base_fee_min = 1;
        for (fee, used, expected) in [(1, target + 1, 2), (3, lane, 4), (7, target, 7), (7, target - 1, 6), (1, 0, 1), (0, lane, 1)] {
            assert_eq!(after(&low, fee, used), expected, "{fee} where {used} cycles were used");
        }
    }
}
