//! Supply.

use crate::table::rows;

rows! {
    /// Supply (003 §8).
    0x0A economics: Economics {
        /// CBY at genesis.
        0x01 genesis_supply: Amount = 1_000_000_000_000_000_000 in 1_000_000_000_000_000_000..=1_000_000_000_000_000_000, Fixed, "003 §8.1";
        /// Gross inflation of year 1.
        0x02 inflation_year_1: BasisPoints = 800 in 0..=1_000, T3, "003 §8.2";
        /// Gross inflation of year 2.
        0x03 inflation_year_2: BasisPoints = 600 in 0..=1_000, T3, "003 §8.2";
        /// Gross inflation of year 3.
        0x04 inflation_year_3: BasisPoints = 400 in 0..=1_000, T3, "003 §8.2";
        /// Gross inflation of year 4.
        0x05 inflation_year_4: BasisPoints = 300 in 0..=1_000, T3, "003 §8.2";
        /// Gross inflation from year 5 on.
        0x06 inflation_floor: BasisPoints = 200 in 0..=1_000, T3, "003 §8.2";
        /// The maximum inflation that governance may set.
        0x07 inflation_cap: BasisPoints = 1_000 in 1_000..=1_000, Fixed, "003 §8.2";
        /// The maximum change of inflation in a year.
        0x08 inflation_step: BasisPoints = 200 in 200..=200, Fixed, "003 §8.2";
        /// Blocks of a year.
        0x09 year: Blocks = 31_536_000 in 31_536_000..=31_536_000, Fixed, "004 §10; decision 75";
        /// The amount that the faucet of a dev or test chain pays out.
        0x0A faucet: Amount = 5_000_000_000_000 in 0..=1_000_000_000_000_000, T0, "CIP notes";
        /// The staked share of all CBY below which inflation is raised; 0 never raises it.
        0x0B security_floor: BasisPoints = 0 in 0..=10_000, T3, "003 §8.2; decision 293";
        /// By how much inflation is raised while less than the floor is staked.
        0x0C security_increase: BasisPoints = 200 in 0..=200, T3, "003 §8.2; decision 293";
    }
}
