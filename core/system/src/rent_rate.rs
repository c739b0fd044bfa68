//! The price of bytes that stand in the state for a time: of what actors keep, whose rent 0x0A collects by epochs, and of timers of accounts, whose rent is paid
//! ahead (003 §17.5; decisions 234 and 743).

use cowboy_params::Params;
use cowboy_state::{Key, Miss, World};
use cowboy_types::record;
use cowboy_types::units::{Amount, Count};

record! {
    /// All storage of the chain, and the rate that follows it.
    pub struct RentRate {
        /// Base units for a byte and a year.
        pub rate: Amount,
        /// The epoch for which the rate was last moved.
        pub epoch: Count,
        /// Bytes of all actors' storage and code.
        pub bytes: Count,
    }
}

/// Where the rate stands, and all storage there is.
pub fn key() -> Key {
    Key::system(cowboy_types::actors::STORAGE, "system:cip4:rent_rate")
}

/// The rate of the running block: the parameter, unless governance set a size to steer to.
pub fn current(world: &World, params: &Params) -> Result<Amount, Miss> {
    let fixed = Amount(params.rent.rate);
    if params.rent.target_state_size == 0 {
        return Ok(fixed);
    }
    Ok(world.read::<RentRate>(&key())?.map_or(fixed, |record| record.rate))
}

/// Rent of bytes for a year, in base units.
fn yearly(rate: Amount, bytes: u64) -> u128 {
    u128::from(bytes).saturating_mul(u128::from(rate.0))
}

/// A share of a year's rent, `numerator` / `denominator`, rounded down; as much as there is where it does not fit.
pub(crate) fn share_of_year(rate: Amount, bytes: u64, numerator: u64, denominator: u64) -> Amount {
    let part = yearly(rate, bytes).saturating_mul(u128::from(numerator)) / u128::from(denominator);
    u64::try_from(part).map_or(Amount::MAX, Amount)
}

/// Rent of bytes for a number of blocks, rounded up, so that no time is free; as much as there is where it does not fit.
pub fn of_blocks(params: &Params, rate: Amount, bytes: u64, blocks: u64) -> Amount {
    let year = u128::from(params.rent.epochs_per_year).saturating_mul(u128::from(params.rent.epoch));
    let part = yearly(rate, bytes).saturating_mul(u128::from(blocks)).div_ceil(year);
    u64::try_from(part).map_or(Amount::MAX, Amount)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision 743: what is paid by blocks costs what is collected by epochs, and a base unit more at most.
    #[test]
    fn blocks_cost_what_epochs_cost() {
        let params = &Params::GENESIS;
        let rate = Amount(params.rent.rate);
        let rows = [(0, 86_400, 0), (1, 1, 1), (1, 86_400, 2_740), (365, 86_400, 1_000_000), (131_072, 2_592_000, 10_773_041_096)];
        for (bytes, blocks, expected) in rows {
            assert_eq!(of_blocks(params, rate, bytes, blocks), Amount(expected), "{bytes} bytes for {blocks} blocks");
            let epochs = blocks.div_ceil(params.rent.epoch);
            assert!(
                share_of_year(rate, bytes, epochs, params.rent.epochs_per_year).0.abs_diff(expected) <= 1 || blocks < params.rent.epoch
            );
        }
        assert_eq!(of_blocks(params, Amount::ZERO, u64::MAX, u64::MAX), Amount::ZERO);
        assert_eq!(of_blocks(params, Amount::MAX, u64::MAX, u64::MAX), Amount::MAX, "what does not fit is all there is");
    }
}
